#include "arguments.h"
#include <errno.h>
#include <fcntl.h>

void arguments_done(struct arguments *a) { arena_done(&a->arena); }

int arguments_add(struct arguments *a, enum argument_kind kind, struct span key, struct span text,
                  struct pb_error *err)
{
    struct argument *one;

    if (!utf8_valid(key))
        return fail(err, PB_E_INVALID, "the name of an argument is not UTF-8");
    if (!utf8_valid(text))
        return fail(err, PB_E_INVALID,
                    "the value of '%.*s' is not UTF-8; tools mostly take other bytes as base64",
                    SPAN_ARG(key));
    one = arena_alloc(&a->arena, sizeof *one);
    *one = (struct argument){ .kind = kind, .key = key, .text = text };
    if (a->last)
        a->last->next = one;
    else
        a->first = one;
    a->last = one;
    return 0;
}

int arguments_add_json(struct arguments *a, enum argument_kind kind, struct span key,
                       struct span text, struct pb_error *err)
{
    static const struct json_opts opts = { .unique_depth = JSON_ALL };
    AUTO_JSON struct json_doc doc = { 0 };
    int rc = json_parse(&doc, text, &opts, err);

    if (rc < 0 && kind == ARGUMENT_OBJECT)
        return fail_in(err, "the arguments");
    if (rc < 0)
        return fail_in(err, "the value of '%.*s'", SPAN_ARG(key));
    if (kind == ARGUMENT_OBJECT && !json_is(json_root(&doc), JSON_OBJECT))
        return fail(err, PB_E_INVALID, "the arguments are %s; expected an object",
                    json_type_phrase(json_root(&doc)));
    return arguments_add(a, kind, key, text, err);
}

/* ---- files ---------------------------------------------------------------------------------- */

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

int arguments_read_file(const char *path, struct buf *out, struct pb_error *err)
{
    AUTO_CLOSE int fd = -1;

    if (strcmp(path, "-") == 0)
        return read_all(STDIN_FILENO, "standard input", out, err);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    return fd < 0 ? fail_sys(err, errno, "open '%s'", path) : read_all(fd, path, out, err);
}

/* The text is in the arena. */
static int read_file(struct arguments *a, const char *path, struct span *out, struct pb_error *err)
{
    AUTO_BUF struct buf text = { 0 };
    int rc = arguments_read_file(path, &text, err);

    if (rc == 0)
        *out = span_make(arena_dup(&a->arena, buf_span(&text)), text.n);
    return rc;
}

/* ---- words ---------------------------------------------------------------------------------- */

/* A whole object: from a word, a file or standard input. */
static int read_object(struct arguments *a, const char *word, struct pb_error *err)
{
    struct span text = span_of(word);

    if (word[0] != '{' && read_file(a, word[0] == '@' ? word + 1 : word, &text, err) < 0)
        return fail_in(err, "the arguments");
    return arguments_add_json(a, ARGUMENT_OBJECT, SPAN(""), text, err);
}

static int read_word(struct arguments *a, const char *word, bool strings, struct pb_error *err)
{
    const char *eq = strchr(word, '=');
    bool from_file = eq && eq[1] == '@';
    bool json = !strings && eq && eq > word && eq[-1] == ':';
    struct span key = eq ? span_make(word, (size_t)(eq - word) - json) : SPAN("");
    struct span text;
    int rc;

    if (!eq || !key.n)
        return fail(err, PB_E_INVALID, "'%s' is not k=%s, k:=json, k=@file, @file or a JSON object",
                    word, strings ? "text" : "value");
    text = span_of(eq + 1);
    if (from_file && read_file(a, eq + 2, &text, err) < 0)
        return fail_in(err, "the value of '%.*s'", SPAN_ARG(key));
    rc = json ? arguments_add_json(a, ARGUMENT_JSON, key, text, err)
              : arguments_add(a, ARGUMENT_TEXT, key, text, err);
    if (rc == 0)
        a->last->from_file = from_file;
    return rc;
}

/* "@a=b" alone is a file; among others it is a key, as some schemas have them. */
static bool is_object(const char *word, bool alone)
{
    return word[0] == '{' || strcmp(word, "-") == 0 ||
           (word[0] == '@' && (alone || !strchr(word, '=')));
}

int arguments_read(struct arguments *a, char *const *words, int n, bool strings,
                   struct pb_error *err)
{
    int rc = 0;

    for (int i = 0; rc == 0 && i < n; i++)
        rc = is_object(words[i], n == 1) ? read_object(a, words[i], err)
                                         : read_word(a, words[i], strings, err);
    return rc;
}
