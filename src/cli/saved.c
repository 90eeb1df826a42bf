#include "saved.h"
#include "hub_flags.h"
#include "show.h"
#include "talk.h"
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <strings.h>

enum { STEM_CHARS_MAX = 48, STEM_TRIES_MAX = 1000 };

struct saving {
    const char *dir;
    int fd; /* of the directory */
    struct pb_error *err;
};

/* ---- names ----------------------------------------------------------------------------------- */

/* clang-format off */
static const struct {
    const char *type, *extension;
} extensions[] = {
    { "application/gzip", "gz" },  { "application/json", "json" }, { "application/pdf", "pdf" },
    { "application/xml", "xml" },  { "application/zip", "zip" },   { "audio/aac", "aac" },
    { "audio/flac", "flac" },      { "audio/mp4", "m4a" },         { "audio/mpeg", "mp3" },
    { "audio/ogg", "ogg" },        { "audio/wav", "wav" },         { "audio/webm", "weba" },
    { "audio/x-wav", "wav" },      { "image/avif", "avif" },       { "image/bmp", "bmp" },
    { "image/gif", "gif" },        { "image/jpeg", "jpg" },        { "image/png", "png" },
    { "image/svg+xml", "svg" },    { "image/tiff", "tiff" },       { "image/webp", "webp" },
    { "text/css", "css" },         { "text/csv", "csv" },          { "text/html", "html" },
    { "text/markdown", "md" },     { "text/plain", "txt" },        { "video/mp4", "mp4" },
    { "video/webm", "webm" },
};
/* clang-format on */

static const char *extension_of(const char *type)
{
    size_t n = strcspn(type, "; ");

    for (size_t i = 0; i < ARRAY_LEN(extensions); i++)
        if (strlen(extensions[i].type) == n && strncasecmp(extensions[i].type, type, n) == 0)
            return extensions[i].extension;
    return "bin";
}

/* The last part of the URI without its extension, of such characters as no file system, shell or
 * terminal takes for anything; `fallback` when nothing is left. */
static const char *stem_of(struct span uri, const char *fallback, struct arena *a)
{
    char stem[STEM_CHARS_MAX + 1];
    size_t from, end = uri.n, n = 0;

    for (size_t i = 0; i < end; i++)
        if (uri.p[i] == '?' || uri.p[i] == '#')
            end = i;
    for (from = end; from && uri.p[from - 1] != '/' && uri.p[from - 1] != ':';)
        from--;
    for (size_t i = end; i > from + 1; i--)
        if (uri.p[i - 1] == '.') {
            end = i - 1;
            break;
        }
    for (; from < end && n < STEM_CHARS_MAX; from++)
        if (isalnum((unsigned char)uri.p[from]) ||
            (n && (uri.p[from] == '-' || uri.p[from] == '_')))
            stem[n++] = uri.p[from];
    return n ? arena_dup(a, span_make(stem, n)) : fallback;
}

/* ---- files ----------------------------------------------------------------------------------- */

/* A new one: what is there, be it a link, is left alone and another name is taken. */
static int create(const struct saving *s, const char *stem, const char *extension, char **name)
{
    for (int i = 1; i <= STEM_TRIES_MAX; i++) {
        AUTO_BUF struct buf b = { 0 };
        int fd;

        if (i == 1)
            buf_printf(&b, "%s.%s", stem, extension);
        else
            buf_printf(&b, "%s-%d.%s", stem, i, extension);
        fd =
            openat(s->fd, buf_cstr(&b), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666);
        if (fd >= 0)
            *name = buf_take(&b);
        if (fd >= 0)
            return fd;
        if (errno != EEXIST)
            return fail_sys(s->err, errno, "make '%s' in '%s'", buf_cstr(&b), s->dir);
    }
    return fail(s->err, PB_E_LIMIT, "'%s' has %d files called '%s.%s' already", s->dir,
                STEM_TRIES_MAX, stem, extension);
}

static int write_all(int fd, struct span bytes)
{
    while (bytes.n) {
        ssize_t n = write(fd, bytes.p, bytes.n);

        if (n < 0 && errno != EINTR)
            return -1;
        bytes = span_from(bytes, n > 0 ? (size_t)n : 0);
    }
    return 0;
}

/* Standard output is the server's answer when that is JSON. */
static void tell_saved(const struct saving *s, const char *name)
{
    AUTO_BUF struct buf path = { 0 }, out = { 0 };
    struct json_out o = json_out(&out);

    buf_printf(&path, "%s/%s", s->dir, name);
    if (!talk_is_json()) {
        puts(buf_cstr(&path));
        return;
    }
    json_begin_object(&o, NULL);
    json_begin_object(&o, "saved");
    json_put_str(&o, "path", buf_cstr(&path));
    json_end(&o);
    json_end(&o);
    buf_byte(&out, '\n');
    fputs(buf_cstr(&out), stderr);
}

static int save(const struct saving *s, const char *stem, const char *type, struct span encoded)
{
    AUTO_BUF struct buf bytes = { 0 };
    AUTO_FREE char *name = NULL;
    AUTO_CLOSE int fd = -1;

    if (!base64_decode(&bytes, encoded))
        return fail(s->err, PB_E_REMOTE, "the server's bytes of type '%s' are no base64", type);
    fd = create(s, stem, extension_of(type), &name);
    if (fd < 0)
        return fd;
    if (write_all(fd, buf_span(&bytes)) < 0)
        return fail_sys(s->err, errno, "write '%s/%s'", s->dir, name);
    tell_saved(s, name);
    return 0;
}

/* ---- what there is --------------------------------------------------------------------------- */

/* {"uri","mimeType"?,"blob"} */
static int save_contents(const struct saving *s, struct json contents)
{
    AUTO_ARENA struct arena a = { 0 };
    struct json blob = json_get(contents, "blob");

    if (!json_is(blob, JSON_STRING))
        return 0;
    return save(s, stem_of(json_str(json_get(contents, "uri"), &a), "resource", &a),
                show_member(contents, "mimeType", &a), json_str(blob, &a));
}

/* {"type":"image","data","mimeType"}, the same of a sound, or a resource. */
static int save_block(const struct saving *s, struct json block)
{
    AUTO_ARENA struct arena a = { 0 };
    struct json data = json_get(block, "data"), type = json_get(block, "type");

    if (json_str_is(type, "resource"))
        return save_contents(s, json_get(block, "resource"));
    if (!json_is(data, JSON_STRING))
        return 0;
    return save(s, json_str_is(type, "audio") ? "audio" : "image",
                show_member(block, "mimeType", &a), json_str(data, &a));
}

static int save_result(const struct saving *s, struct json result)
{
    int rc = 0;

    JSON_FOREACH(block, json_get(result, "content"))
        rc = rc < 0 ? rc : save_block(s, block);
    JSON_FOREACH(message, json_get(result, "messages"))
        rc = rc < 0 ? rc : save_block(s, json_get(message, "content"));
    JSON_FOREACH(contents, json_get(result, "contents"))
        rc = rc < 0 ? rc : save_contents(s, contents);
    return rc;
}

int saved_write(const struct cli *cli, const char *result)
{
    AUTO_JSON struct json_doc doc = { 0 };
    struct pb_error err;
    struct saving s = { .dir = cli_option(cli, "save"), .fd = -1, .err = &err };
    int rc;

    if (!s.dir)
        return CLI_OK;
    rc = file_make_directories(s.dir, &err);
    if (rc == 0) {
        s.fd = open(s.dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        rc = s.fd < 0 ? fail_sys(&err, errno, "open the directory '%s'", s.dir) : 0;
    }
    if (rc == 0)
        rc = json_parse(&doc, span_of(result), NULL, &err);
    if (rc == 0)
        rc = save_result(&s, json_root(&doc));
    if (s.fd >= 0)
        close(s.fd);
    return rc == 0 ? CLI_OK : err.code == PB_E_REMOTE ? cli_fail(&err) : cli_config_fail(&err);
}
