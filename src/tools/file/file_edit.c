#include "file_impl.h"

/* ---- texts for others ---- */

struct replacement {
    struct span from, to;
    int64_t expected;
    size_t number; /* of several, from 1; 0: it is the only one */
};

static const char *find(struct span text, struct span what)
{
    return what.n <= text.n ? memmem(text.p, text.n, what.p, what.n) : NULL;
}

static size_t count(struct span text, struct span what)
{
    size_t n = 0;

    for (const char *at; (at = find(text, what)); n++)
        text = span_from(text, (size_t)(at - text.p) + what.n);
    return n;
}

static size_t line_of(struct span text, const char *at)
{
    size_t n = 1;

    for (const char *p = text.p; (p = memchr(p, '\n', (size_t)(at - p))); p++)
        n++;
    return n;
}

/* The first line of it that has something in it, without what is around that. */
static struct span first_words(struct span s)
{
    while (s.n) {
        struct span line = line_first(s), bare = span_trim(line);

        if (bare.n)
            return bare;
        s = span_from(s, line.n);
    }
    return s;
}

/* Where was it meant? Most often a line was remembered with other spaces, or the lines after it. */
static void tell_near(struct buf *why, struct span text, struct span wanted)
{
    struct span words = first_words(wanted);
    const char *at = words.n ? find(text, words) : NULL;
    const char *begin = at;
    struct span there;

    if (!at) {
        buf_str(why, ". Nothing in it is like its first line: read the file again");
        return;
    }
    while (begin > text.p && begin[-1] != '\n')
        begin--;
    there = span_from(text, (size_t)(begin - text.p));
    buf_printf(why,
               ". Its first line is near line %zu, but spaces or what follows differ. There is:",
               line_of(text, at));
    for (size_t i = lines_count(wanted), told = 0; i && told < 3 && there.n; i--, told++) {
        buf_str(why, "\n    ");
        line_show(why, line_first(there));
        there = span_from(there, line_first(there).n);
    }
}

static void tell_lines(struct buf *why, struct span text, struct span what)
{
    enum { TOLD = 10 };
    struct span rest = text;
    const char *at;

    for (size_t n = 0; (at = find(rest, what)); n++) {
        if (n == TOLD) {
            buf_str(why, ", …");
            return;
        }
        buf_printf(why, "%s%zu", n ? ", " : "", line_of(text, at));
        rest = span_from(rest, (size_t)(at - rest.p) + what.n);
    }
}

static void tell_which(struct buf *why, const struct replacement *r)
{
    if (r->number)
        buf_printf(why, "replacement %zu, and so none: ", r->number);
}

static int refuse_count(struct buf *why, const struct replacement *r, const char *name,
                        struct span text, struct span from, size_t n)
{
    tell_which(why, r);
    buf_printf(why, "oldString was found %zu times in '%s', expected %lld", n, name,
               (long long)r->expected);
    if (n) {
        buf_str(why, ": at line ");
        tell_lines(why, text, from);
        buf_str(why,
                ". Take more of what is around it into oldString, or set expectedReplacements");
    } else {
        tell_near(why, text, r->from);
    }
    return -PB_E_INVALID;
}

/* ---- replace_string, multi_replace_string ---- */

static int replace_one(struct buf *text, const struct replacement *r, const char *name,
                       struct buf *why)
{
    AUTO_BUF struct buf from = { 0 }, to = { 0 }, out = { 0 };
    struct span rest = buf_span(text);
    bool crlf = lines_crlf(rest);
    size_t n;

    if (!r->from.n) {
        tell_which(why, r);
        buf_str(why, "oldString is empty; insert_edit puts text at a line");
        return -PB_E_INVALID;
    }
    buf_add_span(&from, r->from);
    n = count(rest, buf_span(&from));
    if (!n && crlf) {
        from.n = 0;
        lines_put(&from, r->from, true);
        n = count(rest, buf_span(&from));
    }
    if (!n || n != (size_t)r->expected)
        return refuse_count(why, r, name, rest, buf_span(&from), n);
    lines_put(&to, r->to, crlf);
    if (to.n > from.n && (to.n - from.n) > (FILE_EDIT_BYTES - text->n) / n) {
        buf_printf(why, "'%s' would have more than %d bytes", name, FILE_EDIT_BYTES);
        return -PB_E_LIMIT;
    }
    for (const char *at; (at = find(rest, buf_span(&from)));) {
        buf_add(&out, rest.p, (size_t)(at - rest.p));
        buf_add_span(&out, buf_span(&to));
        rest = span_from(rest, (size_t)(at - rest.p) + from.n);
    }
    buf_add_span(&out, rest);
    buf_done(text);
    *text = buf_move(&out);
    return 0;
}

struct replacing {
    struct replacement *v;
    size_t n;
};

static int missing(const struct file_change *ch, struct buf *why)
{
    buf_printf(why, "there is no '%s'; create_file makes it", ch->place.name);
    return -PB_E_NOT_FOUND;
}

static int replace_all(struct file_change *ch, void *ctx, struct buf *why)
{
    const struct replacing *all = ctx;
    int rc = 0;

    if (!ch->there)
        return missing(ch, why);
    ch->text.n = 0;
    buf_add_span(&ch->text, buf_span(&ch->was));
    for (size_t i = 0; i < all->n && rc == 0; i++)
        rc = replace_one(&ch->text, &all->v[i], ch->place.name, why);
    return rc;
}

static int run_replacing(struct tool_call *c, struct replacing *all)
{
    AUTO_PLACE struct tool_place place = { .root = -1 };
    int64_t n = 0;
    int rc = file_edit(c, replace_all, all, true, &place);

    if (rc < 0)
        return rc;
    for (size_t i = 0; i < all->n; i++)
        n += all->v[i].expected;
    return pb_reply_text(c->call, "Replaced %lld %s in '%s'", (long long)n,
                         n == 1 ? "occurrence" : "occurrences", place.path);
}

int file_replace_string(struct tool_call *c)
{
    struct replacement one = { span_of(pb_arg_string(c->call, "oldString")),
                               span_of(pb_arg_string(c->call, "newString")),
                               pb_arg_int(c->call, "expectedReplacements"), 0 };

    return run_replacing(c, &(struct replacing){ &one, 1 });
}

/* In one spelling or the other. */
static struct json member(struct json v, const char *name, const char *other)
{
    struct json m = json_get(v, name);

    return json_is(m, JSON_STRING) ? m : json_get(v, other);
}

int file_multi_replace(struct tool_call *c)
{
    AUTO_ARENA struct arena a = { 0 };
    AUTO_JSON struct json_doc doc = { 0 };
    struct replacing all = { 0 };

    if (json_parse(&doc, span_of(pb_arg_json(c->call, "replacements")), NULL, NULL) < 0)
        return pb_fail(c->call, "Missing required parameter: replacements");
    all.v = arena_alloc(&a, FILE_REPLACEMENTS_MAX * sizeof *all.v);
    JSON_FOREACH(v, json_root(&doc)) {
        struct json from = member(v, "oldString", "old_string");
        struct json to = member(v, "newString", "new_string");
        int64_t expected = 1;

        if (all.n == FILE_REPLACEMENTS_MAX)
            return pb_fail(c->call, "At most %d replacements are made by one call",
                           FILE_REPLACEMENTS_MAX);
        if (!json_is(from, JSON_STRING) || !json_is(to, JSON_STRING))
            return pb_fail(c->call, "Missing required parameter: replacements[%zu].%s", all.n,
                           json_is(from, JSON_STRING) ? "newString" : "oldString");
        if (json_int(json_get(v, "expectedReplacements"), &expected, NULL) < 0)
            expected = 1;
        all.v[all.n] =
            (struct replacement){ json_str(from, &a), json_str(to, &a), expected, all.n + 1 };
        all.n++;
    }
    if (!all.n)
        return pb_fail(c->call, "replacements is empty: there is nothing to replace");
    return run_replacing(c, &all);
}

/* ---- insert_edit ---- */

struct inserting {
    int64_t line;
    struct span text;
    bool replace;
};

static int insert_lines(struct file_change *ch, void *ctx, struct buf *why)
{
    const struct inserting *in = ctx;
    struct span rest = buf_span(&ch->was), line;
    bool crlf = lines_crlf(rest), last;
    size_t n = lines_count(rest);

    if (!ch->there)
        return missing(ch, why);
    if (in->line < 1 || (uint64_t)in->line > n + !in->replace) {
        buf_printf(why, "'%s' has %zu lines; lineNumber is %lld, and may be 1 to %zu",
                   ch->place.name, n, (long long)in->line, n + !in->replace);
        return -PB_E_INVALID;
    }
    for (int64_t i = 1; i < in->line; i++)
        rest = span_from(rest, line_first(rest).n);
    ch->text.n = 0;
    buf_add(&ch->text, ch->was.p, ch->was.n - rest.n);
    if (ch->text.n && ch->text.p[ch->text.n - 1] != '\n')
        buf_str(&ch->text, crlf ? "\r\n" : "\n");
    lines_put(&ch->text, in->text, crlf);
    line = in->replace ? line_first(rest) : SPAN("");
    rest = span_from(rest, line.n);
    /* The last line of a file need not have an end; a text for any other is given one. */
    last = !rest.n && (line.n ? line.p[line.n - 1] != '\n' : n && ch->was.p[ch->was.n - 1] != '\n');
    if (in->text.n && in->text.p[in->text.n - 1] != '\n' && !last)
        buf_str(&ch->text, crlf ? "\r\n" : "\n");
    buf_add_span(&ch->text, rest);
    return 0;
}

int file_insert(struct tool_call *c)
{
    AUTO_PLACE struct tool_place place = { .root = -1 };
    const char *how = pb_arg_string(c->call, "insertOperation");
    struct inserting in = { pb_arg_int(c->call, "lineNumber"),
                            span_of(pb_arg_string(c->call, "newText")),
                            how && strcmp(how, "replace") == 0 };
    int rc = file_edit(c, insert_lines, &in, true, &place);

    if (rc < 0)
        return rc;
    return pb_reply_text(c->call, "%s line %lld of '%s'", in.replace ? "Replaced" : "Inserted at",
                         (long long)in.line, place.path);
}
