#include "inherit.h"
#include "filter.h"
#include <unistd.h>

/* Who we are, and what the service manager says to us alone. */
static const char *const own[] = {
    "CREDENTIALS_DIRECTORY", "INVOCATION_ID", "JOURNAL_STREAM",
    "LISTEN_FDNAMES",        "LISTEN_FDS",    "LISTEN_PID",
    "MEMORY_PRESSURE_*",     "NOTIFY_SOCKET", "PATCHBAY_*",
    "SYSTEMD_EXEC_PID",      "WATCHDOG_PID",  "WATCHDOG_USEC",
};
/* By these the processes that come of us are found again. */
static const char *const marks[] = { "PATCHBAY_MARK", "PATCHBAY_SERVER" };

/* Proxies are not among them: their URLs hold passwords often enough. */
const char inherit_safe[] = "HOME,LANG,LANGUAGE,LC_*,LOGNAME,PATH,SHELL,TERM,TMPDIR,TZ,USER,XDG_*";

/* ---- as it is written ---- */

static bool name_char(char c, bool first)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_' ||
           (!first && c >= '0' && c <= '9');
}

static int add_name(struct buf *out, struct span name, struct pb_error *err)
{
    size_t n = name.n && name.p[name.n - 1] == '*' ? name.n - 1 : name.n;
    bool good = name.n > 0;

    for (size_t i = 0; i < n; i++)
        good &= name_char(name.p[i], i == 0);
    if (!good)
        return fail(
            err, PB_E_INVALID, "expected \"all\", \"safe\" or names of variables, not '%.*s'",
            name.n < MCP_NAME_SHOWN_MAX ? (int)name.n : MCP_NAME_SHOWN_MAX, name.n ? name.p : "");
    if (out->n)
        buf_byte(out, ',');
    buf_add_span(out, name);
    return 0;
}

static int keep(const char **out, const struct buf *names, size_t n, struct arena *a,
                struct pb_error *err)
{
    if (n > SPEC_WORDS_MAX)
        return fail(err, PB_E_LIMIT, "%zu names; at most %d are allowed", n, SPEC_WORDS_MAX);
    *out = arena_dup(a, buf_span(names));
    return 0;
}

/* The next of "A,B"; false: that was all. */
static bool next_name(struct span *rest, struct span *name)
{
    const char *comma;

    if (!rest->n)
        return false;
    comma = memchr(rest->p, ',', rest->n);
    *name = span_make(rest->p, comma ? (size_t)(comma - rest->p) : rest->n);
    *rest = span_from(*rest, name->n + (comma != NULL));
    return true;
}

int inherit_parse(const char **out, struct span text, struct arena *a, struct pb_error *err)
{
    AUTO_BUF struct buf names = { 0 };
    struct span name;
    size_t n = 0;

    if (!span_trim(text).n)
        return add_name(&names, text, err);
    for (; next_name(&text, &name); n++)
        if (add_name(&names, span_trim(name), err) < 0)
            return -(int)err->code;
    return keep(out, &names, n, a, err);
}

int inherit_read(const char **out, struct json v, struct arena *a, struct pb_error *err)
{
    AUTO_BUF struct buf names = { 0 };

    if (json_is(v, JSON_STRING))
        return inherit_parse(out, json_str(v, a), a, err);
    if (!json_is(v, JSON_ARRAY))
        return fail(err, PB_E_INVALID, "expected \"all\", \"safe\" or an array of names, got %s",
                    json_type_phrase(v));
    JSON_FOREACH(item, v) {
        if (!json_is(item, JSON_STRING))
            return fail(err, PB_E_INVALID, "expected names of variables, got %s",
                        json_type_phrase(item));
        if (add_name(&names, json_str(item, a), err) < 0)
            return -(int)err->code;
    }
    return keep(out, &names, json_len(v), a, err);
}

void inherit_write(struct json_out *o, const char *key, const char *text)
{
    struct span rest = span_of(text), name;

    if (strcmp(text, "all") == 0 || strcmp(text, "safe") == 0) {
        json_put_str(o, key, text);
        return;
    }
    json_begin_array(o, key);
    while (next_name(&rest, &name))
        json_put_span(o, NULL, name);
    json_end(o);
}

/* ---- whose keys they are ---- */

struct claims {
    struct map by_name; /* -> how many specs, as a number */
};

struct claims *claims_new(void) { return NEW(struct claims); }

void claims_free(struct claims *c)
{
    if (!c)
        return;
    map_done(&c->by_name);
    free(c);
}

static size_t count(const struct claims *c, struct span name)
{
    return c ? (size_t)(uintptr_t)map_get(&c->by_name, name) : 0;
}

static void change(struct claims *c, const char *name, bool more)
{
    size_t n = count(c, span_of(name));

    n = more ? n + 1 : n ? n - 1 : 0;
    if (n)
        map_put(&c->by_name, span_of(name), (void *)(uintptr_t)n);
    else
        map_del(&c->by_name, span_of(name));
}

static bool login_names(const struct spec *s, struct span name)
{
    for (const struct spec_env_var *v = s->env_vars; v->name; v++)
        if (span_is(name, v->name))
            return true;
    return false;
}

static bool is_filled_from(const struct spec *s, struct span name)
{
    for (const char *const *v = s->filled_from; *v; v++)
        if (span_is(name, *v))
            return true;
    return false;
}

/* Each name once for a spec, however it comes to it. */
static void change_all(struct claims *c, const struct spec *s, bool more)
{
    for (const struct spec_env_var *v = s->env_vars; v->name; v++)
        change(c, v->name, more);
    for (const char *const *v = s->filled_from; *v; v++)
        if (!login_names(s, span_of(*v)))
            change(c, *v, more);
}

void claims_add(struct claims *c, const struct spec *s) { change_all(c, s, true); }

void claims_drop(struct claims *c, const struct spec *s) { change_all(c, s, false); }

/* ---- what is passed on ---- */

static bool is_one_of(const char *const *patterns, size_t n, struct span name)
{
    for (size_t i = 0; i < n; i++)
        if (glob_match(patterns[i], name))
            return true;
    return false;
}

enum match { MATCH_NO, MATCH_PATTERN, MATCH_NAME };

static enum match match(const char *text, struct span name)
{
    struct span rest = span_of(text), item;
    enum match found = MATCH_NO;

    while (found != MATCH_NAME && next_name(&rest, &item)) {
        AUTO_FREE char *pattern = mem_dupn(item.p, item.n);

        if (span_eq(item, name))
            found = MATCH_NAME;
        else if (span_is(item, "all") || (text != inherit_safe && span_is(item, "safe") &&
                                          match(inherit_safe, name) != MATCH_NO))
            found = MATCH_PATTERN;
        else if (glob_match(pattern, name))
            found = MATCH_PATTERN;
    }
    return found;
}

static bool passes(const struct spec *s, const char *fallback, const struct claims *c,
                   struct span name)
{
    enum match found = match(s->inherit_env ? s->inherit_env : fallback, name);

    if (is_one_of(marks, ARRAY_LEN(marks), name))
        return true;
    if (is_one_of(own, ARRAY_LEN(own), name))
        return false;
    if (login_names(s, name) || (found == MATCH_NAME && s->inherit_env))
        return true;
    return found != MATCH_NO && (is_filled_from(s, name) || !count(c, name));
}

const char *const *inherit_environment(struct arena *a, const struct spec *s, const char *fallback,
                                       const struct claims *c)
{
    size_t n = 0, room = 1;
    const char **all;

    for (char **p = environ; p && *p; p++)
        room++;
    for (const char *const *p = s->env; *p; p++)
        room++;
    all = arena_alloc(a, room * sizeof *all);
    for (char **p = environ; p && *p; p++) {
        const char *equals = strchr(*p, '=');

        if (equals &&
            passes(s, fallback ? fallback : "all", c, span_make(*p, (size_t)(equals - *p))))
            all[n++] = *p;
    }
    for (const char *const *p = s->env; *p; p++)
        all[n++] = *p;
    return all;
}
