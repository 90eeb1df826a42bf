/* link_cut.c - log messages and progress of a server, cut to what is passed on. Each goes to every
 * client that sees the server, and is kept for those who come back: one message must not be worth
 * hundreds of megabytes. What was cut says so. */
#include "link_impl.h"
#include <stdio.h>

enum { MEMBER_MAX = 1024 }; /* of what is no text: levels, numbers, tokens */

struct cut_rule {
    const char *member; /* of params */
    size_t max;         /* of its text, which is cut; 0: it is passed on as it is, or not at all */
};

/* A JSON string without quotes, cut between its characters and escapes. */
static struct span cut_inside(struct span inside, size_t max)
{
    struct span cut = utf8_cut(inside, max);
    size_t at = 0, whole = 0;

    while (at < cut.n) {
        whole = at;
        if (cut.p[at] != '\\')
            at++;
        else
            at += at + 1 < cut.n && cut.p[at + 1] == 'u' ? 6 : 2;
    }
    return at > cut.n ? span_make(cut.p, whole) : cut;
}

static void put_text(struct json_out *o, const char *key, struct json value, size_t max)
{
    AUTO_BUF struct buf text = { 0 };
    struct span all = json_text(value), cut;
    char mark[48];

    if (all.n <= max) {
        json_put_raw(o, key, all);
        return;
    }
    if (json_is(value, JSON_STRING)) {
        all = span_make(all.p + 1, all.n - 2);
        cut = cut_inside(all, max);
        buf_byte(&text, '"');
        buf_add_span(&text, cut);
    } else { /* half of an object is none: it becomes a string */
        struct json_out inner = json_out(&text);

        cut = utf8_cut(all, max);
        json_put_span(&inner, NULL, cut);
        text.n--; /* its closing quote */
    }
    snprintf(mark, sizeof mark, "… [%zu bytes cut]\"", all.n - cut.n);
    buf_str(&text, mark);
    json_put_raw(o, key, buf_span(&text));
}

static struct span cut(struct span params, const struct cut_rule *rules, size_t n, struct buf *room)
{
    AUTO_JSON struct json_doc doc = { 0 };
    struct json_out o = json_out(room);

    if (params.n <= LINK_TOLD_MAX ||
        json_parse(&doc, params, &(struct json_opts){ .keep_depth = 1 }, NULL) < 0 ||
        !json_is(json_root(&doc), JSON_OBJECT))
        return params;
    json_begin_object(&o, NULL);
    for (size_t i = 0; i < n; i++) {
        struct json value = json_get(json_root(&doc), rules[i].member);

        if (json_is(value, JSON_NONE))
            continue;
        if (rules[i].max)
            put_text(&o, rules[i].member, value, rules[i].max);
        else if (json_text(value).n <= MEMBER_MAX)
            json_put_raw(&o, rules[i].member, json_text(value));
    }
    json_end(&o);
    return buf_span(room);
}

struct span link_cut_log(struct span params, struct buf *room)
{
    static const struct cut_rule rules[] = { { "level", 0 },
                                             { "logger", MEMBER_MAX },
                                             { "data", LINK_TOLD_MAX } };

    return cut(params, rules, ARRAY_LEN(rules), room);
}

struct span link_cut_progress(struct span params, struct buf *room)
{
    static const struct cut_rule rules[] = {
        { "progressToken", 0 }, { "progress", 0 }, { "total", 0 }, { "message", LINK_TOLD_MAX }
    };

    return cut(params, rules, ARRAY_LEN(rules), room);
}
