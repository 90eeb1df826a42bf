#include "trust.h"
#include "hub/config/config.h"
#include "talk.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <time.h>

enum { HEX_CHARS = 2 * SHA256_BYTES, DAMAGED_MAX = 1000 };

void trust_free(struct trust *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < t->n; i++)
        free(t->v[i].path);
    free(t->v);
    free(t);
}

static void add(struct trust *t, const char *path, const char *sha256, bool yes, int64_t at)
{
    struct trust_entry *e;

    t->v = mem_resize(t->v, (t->n + 1) * sizeof *t->v);
    e = &t->v[t->n++];
    *e = (struct trust_entry){ .path = mem_dup(path), .yes = yes, .at = at };
    memcpy(e->sha256, sha256, HEX_CHARS);
}

static void drop(struct trust *t, size_t i)
{
    free(t->v[i].path);
    memmove(t->v + i, t->v + i + 1, (--t->n - i) * sizeof *t->v);
}

/* Every answer about the file; with `sha256` only that about this content. */
static size_t drop_all(struct trust *t, const char *path, const char *sha256)
{
    size_t was = t->n;

    for (size_t i = t->n; i-- > 0;)
        if (strcmp(t->v[i].path, path) == 0 && (!sha256 || strcmp(t->v[i].sha256, sha256) == 0))
            drop(t, i);
    return was - t->n;
}

enum trust_said trust_about(const struct trust *t, const char *path, const char *sha256)
{
    enum trust_said said = TRUST_NOTHING;

    for (size_t i = 0; i < t->n; i++) {
        if (strcmp(t->v[i].path, path) != 0)
            continue;
        if (strcmp(t->v[i].sha256, sha256) == 0)
            return t->v[i].yes ? TRUST_YES : TRUST_NO;
        said = TRUST_OTHER;
    }
    return said;
}

/* ---- the text -------------------------------------------------------------------------------- */

static int read_entry(struct trust *t, struct json v, struct arena *a, struct pb_error *err)
{
    struct json yes = json_get(v, "trusted");
    const char *path = json_cstr(json_get(v, "file"), a);
    const char *sha256 = json_cstr(json_get(v, "sha256"), a);
    int64_t at;

    if (!json_is(v, JSON_OBJECT))
        return fail(err, PB_E_INVALID, "expected an object, got %s", json_type_phrase(v));
    if (!path || path[0] != '/')
        return fail(err, PB_E_INVALID, "file: expected an absolute path");
    if (!sha256 || strlen(sha256) != HEX_CHARS || strspn(sha256, "0123456789abcdef") != HEX_CHARS)
        return fail(err, PB_E_INVALID, "sha256: expected %d hex digits", HEX_CHARS);
    if (!json_is(yes, JSON_TRUE) && !json_is(yes, JSON_FALSE))
        return fail(err, PB_E_INVALID, "trusted: expected true or false, got %s",
                    json_type_phrase(yes));
    if (json_int(json_get(v, "at"), &at, err) < 0)
        return fail_in(err, "at");
    if (trust_about(t, path, sha256) >= TRUST_NO)
        return fail(err, PB_E_INVALID, "there are two answers about the same");
    add(t, path, sha256, json_is(yes, JSON_TRUE), at);
    return 0;
}

/* All of it or nothing: who cannot say what one answer was may have lost others, too. */
static int parse(struct trust **out, struct span text, struct pb_error *err)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_ARENA struct arena a = { 0 };
    AUTO(trust) struct trust *t = NEW(struct trust);
    struct json list;
    size_t i = 0;

    if (json_parse(&doc, text, &(struct json_opts){ .unique_depth = JSON_ALL }, err) < 0)
        return -(int)err->code;
    list = json_get(json_root(&doc), "projects");
    if (!json_is(list, JSON_ARRAY))
        return fail(err, PB_E_INVALID, "projects: expected an array");
    if (json_len(list) > TRUST_ENTRIES_MAX)
        return fail(err, PB_E_LIMIT, "more than %d answers", TRUST_ENTRIES_MAX);
    JSON_FOREACH(v, list) {
        if (read_entry(t, v, &a, err) < 0)
            return fail_in(err, "projects[%zu]", i);
        i++;
    }
    *out = TAKE(t);
    return 0;
}

static void write_text(struct buf *out, const struct trust *t)
{
    struct json_out o = json_out(out);

    json_begin_object(&o, NULL);
    json_begin_array(&o, "projects");
    for (size_t i = 0; i < t->n; i++) {
        json_begin_object(&o, NULL);
        json_put_str(&o, "file", t->v[i].path);
        json_put_str(&o, "sha256", t->v[i].sha256);
        json_put_bool(&o, "trusted", t->v[i].yes);
        json_put_int(&o, "at", t->v[i].at);
        json_end(&o);
    }
    json_end(&o);
    json_end(&o);
    buf_byte(out, '\n');
}

/* ---- the file -------------------------------------------------------------------------------- */

static char *file_path(void)
{
    AUTO_FREE char *home = config_home(NULL);
    AUTO_BUF struct buf path = { 0 };

    buf_printf(&path, "%s/trusted.json", home);
    return buf_take(&path);
}

/* 1: there is a file; 0: there is none. */
static int read_file(const char *path, struct buf *text, struct stat *st, struct pb_error *err)
{
    AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* it may be a pipe */

    if (fd < 0)
        return errno == ENOENT ? 0 : fail_sys(err, errno, "read '%s'", path);
    if (fstat(fd, st) < 0)
        return fail_sys(err, errno, "look at '%s'", path);
    if (!S_ISREG(st->st_mode))
        return fail(err, PB_E_SYSTEM, "'%s' is no file; remove it", path);
    while (text->n <= TRUST_BYTES_MAX) {
        ssize_t n = read(fd, buf_reserve(text, STREAM_READ_BYTES), STREAM_READ_BYTES);

        if (n < 0 && errno != EINTR)
            return fail_sys(err, errno, "read '%s'", path);
        if (n == 0)
            break;
        text->n += n > 0 ? (size_t)n : 0;
    }
    return 1;
}

/* Whoever can write it answers in our name. */
static int check_writers(const struct stat *st, struct pb_error *err)
{
    if (st->st_uid != geteuid() && st->st_uid != 0)
        return fail(err, PB_E_INVALID, "it is another user's");
    if (st->st_mode & 022)
        return fail(err, PB_E_INVALID, "others can write it");
    return 0;
}

/* -PB_E_INVALID and -PB_E_LIMIT: it is there and cannot be believed. */
static int load(const char *path, struct trust **out, struct pb_error *err)
{
    AUTO_BUF struct buf text = { 0 };
    struct stat st;
    int rc = read_file(path, &text, &st, err);

    if (rc < 0)
        return rc;
    if (rc == 0) {
        *out = NEW(struct trust);
        return 0;
    }
    if (text.n > TRUST_BYTES_MAX)
        return fail(err, PB_E_LIMIT, "longer than %d bytes", TRUST_BYTES_MAX);
    rc = check_writers(&st, err);
    return rc < 0 ? rc : parse(out, buf_span(&text), err);
}

static bool is_damage(int rc) { return rc == -(int)PB_E_INVALID || rc == -(int)PB_E_LIMIT; }

int trust_read(struct trust **out, struct pb_error *err)
{
    AUTO_FREE char *path = file_path();
    int rc = load(path, out, err);

    if (!is_damage(rc))
        return rc;
    talk_warn("%s: %s: it is not believed, and no project is trusted until you answer again", path,
              err->msg);
    *out = NEW(struct trust);
    return 0;
}

/* Under a name that is free. */
static int keep_beside(const char *path, const struct pb_error *why, struct pb_error *err)
{
    for (int i = 1; i <= DAMAGED_MAX; i++) {
        AUTO_BUF struct buf name = { 0 };

        buf_printf(&name, "%s.damaged", path);
        if (i > 1)
            buf_printf(&name, "-%d", i);
        /* A link fails where there is something already; to rename over that would lose it. */
        if (link(path, buf_cstr(&name)) == 0) {
            unlink(path);
            talk_warn("%s: %s: it is kept as %s, and a new one is begun", path, why->msg,
                      buf_cstr(&name));
            return 0;
        }
        if (errno != EEXIST)
            return fail_sys(err, errno, "keep the damaged '%s' as '%s'", path, buf_cstr(&name));
    }
    return fail(err, PB_E_LIMIT, "'%s' is damaged, and %d such files are kept already; remove them",
                path, DAMAGED_MAX);
}

static int load_for_change(const char *path, struct trust **out, struct pb_error *err)
{
    struct pb_error why;
    int rc = load(path, out, &why);

    if (!is_damage(rc))
        return rc < 0 ? fail_copy(err, &why) : rc;
    rc = keep_beside(path, &why, err);
    if (rc == 0)
        *out = NEW(struct trust);
    return rc;
}

/* ---- changes --------------------------------------------------------------------------------- */

struct trust_change {
    const char *path, *was, *sha256;
    bool yes;
    int (*make)(struct trust *t, const struct trust_change *c, struct pb_error *err);
};

static int make_answer(struct trust *t, const struct trust_change *c, struct pb_error *err)
{
    (void)err;
    if (c->was && *c->was)
        drop_all(t, c->path, c->was);
    drop_all(t, c->path, c->sha256);
    while (t->n >= TRUST_ENTRIES_MAX)
        drop(t, 0);
    add(t, c->path, c->sha256, c->yes, (int64_t)time(NULL));
    return 0;
}

static int make_forgotten(struct trust *t, const struct trust_change *c, struct pb_error *err)
{
    return drop_all(t, c->path, NULL) ? 0
                                      : fail(err, PB_E_NOT_FOUND,
                                             "nothing was said about %s: 'patchbay trust --list' "
                                             "shows what was",
                                             c->path);
}

static int change(const struct trust_change *c, struct pb_error *err)
{
    AUTO_FREE char *path = file_path();
    AUTO_FREE char *dir = mem_dupn(path, (size_t)(strrchr(path, '/') - path));
    AUTO(trust) struct trust *t = NULL;
    AUTO_BUF struct buf text = { 0 };
    AUTO_CLOSE int lock = -1;
    int rc = file_make_directories(dir, err);

    if (rc == 0)
        rc = file_lock_directory(dir, CONFIG_LOCK_MS, &lock, err);
    if (rc == 0)
        rc = load_for_change(path, &t, err);
    if (rc == 0)
        rc = c->make(t, c, err);
    if (rc < 0)
        return rc;
    write_text(&text, t);
    return file_replace(path, buf_span(&text), (struct file_how){ .durable = true }, err);
}

int trust_keep(const char *path, const char *sha256, bool yes, struct pb_error *err)
{
    return change(
        &(struct trust_change){ .path = path, .sha256 = sha256, .yes = yes, .make = make_answer },
        err);
}

int trust_follow(const char *path, const char *was, const char *sha256, struct pb_error *err)
{
    return change(
        &(struct trust_change){
            .path = path, .was = was, .sha256 = sha256, .yes = true, .make = make_answer },
        err);
}

int trust_forget(const char *path, struct pb_error *err)
{
    return change(&(struct trust_change){ .path = path, .make = make_forgotten }, err);
}
