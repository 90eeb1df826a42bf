#include "arguments.h"
#include <errno.h>
#include <fcntl.h>

static int read_all(int fd, const char *name, struct buf *out, struct pb_error *err)
{
    for (;;) {
        ssize_t n = read(fd, buf_reserve(out, 65536), 65536);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail_sys(err, errno, "read %s", name);
        if (n == 0)
            return 0;
        out->n += (size_t)n;
        if (out->n > ARGUMENTS_FILE_MAX)
            return fail(err, PB_E_LIMIT, "%s is larger than %d bytes", name, ARGUMENTS_FILE_MAX);
    }
}

static int read_file(const char *path, struct buf *out, struct pb_error *err)
{
    AUTO_CLOSE int fd = -1;

    if (strcmp(path, "-") == 0)
        return read_all(STDIN_FILENO, "standard input", out, err);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return fail_sys(err, errno, "open '%s'", path);
    return read_all(fd, path, out, err);
}

/* A whole object: from a word, a file or standard input. */
static int take_object(const char *word, struct buf *out, struct pb_error *err)
{
    AUTO_JSON struct json_doc doc = { 0 };
    int rc = 0;

    if (word[0] == '{')
        buf_str(out, word);
    else
        rc = read_file(word[0] == '@' ? word + 1 : word, out, err);
    if (rc == 0)
        rc = json_parse(&doc, buf_span(out), NULL, err);
    if (rc < 0)
        return fail_in(err, "the arguments");
    if (!json_is(json_root(&doc), JSON_OBJECT))
        return fail(err, PB_E_INVALID, "the arguments are %s; expected an object",
                    json_type_phrase(json_root(&doc)));
    return 0;
}

static int put_word(struct json_out *o, const char *word, bool strings, struct pb_error *err)
{
    const char *eq = strchr(word, '=');
    bool json = !strings && eq && eq > word && eq[-1] == ':';
    struct span key = eq ? span_make(word, (size_t)(eq - word) - json) : SPAN("");
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_BUF struct buf value = { 0 };
    AUTO_BUF struct buf quoted = { 0 };
    int rc = 0;

    if (!eq || !key.n)
        return fail(err, PB_E_INVALID,
                    "'%s' is not k=text, k:=json, k=@file, @file or a JSON object", word);
    if (eq[1] == '@')
        rc = read_file(eq + 2, &value, err);
    else
        buf_str(&value, eq + 1);
    if (rc == 0 && json)
        rc = json_parse(&doc, buf_span(&value), NULL, err);
    if (rc < 0)
        return fail_in(err, "the value of '%.*s'", SPAN_ARG(key));
    if (!json)
        json_quote(&quoted, buf_span(&value));
    json_put_raw_key(o, key, json ? buf_span(&value) : buf_span(&quoted));
    return 0;
}

int arguments_build(char *const *words, int n, bool strings, struct buf *out, struct pb_error *err)
{
    struct json_out o = json_out(out);
    int rc = 0;

    if (n == 1 && (words[0][0] == '{' || words[0][0] == '@' || strcmp(words[0], "-") == 0))
        return take_object(words[0], out, err);
    json_begin_object(&o, NULL);
    for (int i = 0; rc == 0 && i < n; i++)
        rc = put_word(&o, words[i], strings, err);
    json_end(&o);
    return rc;
}
