#include "config_entry.h"
#include "hub/spec/spec.h"
#include <stdio.h>

enum { KEY_TEXT_MAX = 160 };

/* ---- Strings ------------------------------------------------------------------------------- */

int value_string(struct config_entry *e, struct json v, const char *key, const char **out)
{
    char *s;

    if (!json_is(v, JSON_STRING))
        return entry_fail_type(e, v, key, "a string");
    if (json_text(v).n > CONFIG_VALUE_MAX)
        return entry_fail(e, v, key, "longer than %d bytes", CONFIG_VALUE_MAX);
    s = json_cstr(v, &e->spec->arena);
    if (!s)
        return entry_fail(e, v, key, "a NUL character is not allowed here");
    *out = s;
    return 0;
}

struct unset {
    struct config_entry *e;
    struct json v;
    const char *key;
};

static void warn_unset(void *ctx, struct span variable)
{
    struct unset *u = ctx;
    char shown[SHOWN_MAX + 1];

    if (mask_wants(SPAN(""), span_make(variable.p + 2, variable.n - 3)))
        variable = SPAN("${" SPEC_MASKED "}"); /* the key itself, where its variable should be */
    show_head(shown, variable, SHOWN_MAX);
    entry_warn(u->e, u->v, u->key, "the variable %s is not set; it stays as it is written", shown);
}

/* A variable from which a secret was made is nobody else's business. */
static void note_used(void *ctx, const char *name, const char *value)
{
    struct config_entry *e = ((struct unset *)ctx)->e;

    if (mask_wants(span_of(name), span_of(value)) || mask_wants(e->pair, span_of(value)))
        map_put(&e->filled_from, span_of(name), e);
}

int value_expanded(struct config_entry *e, struct json v, const char *key, const char **out)
{
    struct unset u = { e, v, key };
    const struct expand_hooks hooks = { warn_unset, note_used, &u };
    AUTO_BUF struct buf text = { 0 };
    const char *s;
    int rc = value_string(e, v, key, &s);

    if (rc < 0)
        return rc;
    expand_each(&text, span_of(s), e->source->r, &hooks);
    if (text.n > CONFIG_VALUE_MAX)
        return entry_fail(e, v, key, "longer than %d bytes with its variables filled in",
                          CONFIG_VALUE_MAX);
    *out = arena_dup(&e->spec->arena, buf_span(&text));
    return 0;
}

int value_words(struct config_entry *e, struct json v, const char *key, bool expand,
                const char *const **out)
{
    char place[KEY_TEXT_MAX];
    const char **words;
    size_t i = 0;

    if (!json_is(v, JSON_ARRAY))
        return entry_fail_type(e, v, key, "an array of strings");
    if (json_len(v) > SPEC_WORDS_MAX)
        return entry_fail(e, v, key, "%zu items; at most %d are allowed", json_len(v),
                          SPEC_WORDS_MAX);
    words = arena_alloc(&e->spec->arena, (json_len(v) + 1) * sizeof *words);
    JSON_FOREACH(item, v) {
        int rc;

        snprintf(place, sizeof place, "%s[%zu]", key, i);
        rc = expand ? value_expanded(e, item, place, &words[i])
                    : value_string(e, item, place, &words[i]);
        if (rc < 0)
            return rc;
        i++;
    }
    *out = words;
    return 0;
}

static bool header_name(const char *name)
{
    for (const char *p = name; *p; p++)
        if (*p <= ' ' || *p >= 0x7f || strchr("()<>@,;:\\\"/[]?={}", *p))
            return false;
    return *name != '\0';
}

static bool header_value(const char *value)
{
    for (const unsigned char *p = (const unsigned char *)value; *p; p++)
        if ((*p < ' ' && *p != '\t') || *p == 0x7f)
            return false;
    return true;
}

static int check_pair(struct config_entry *e, struct json v, const char *place, const char *name,
                      const char *value, bool header)
{
    if (header ? !header_name(name) : !*name || strchr(name, '='))
        return entry_fail(e, v, place, "this is no name for %s",
                          header ? "a header" : "an environment variable");
    if (header && !header_value(value))
        return entry_fail(e, v, place, "a line break or control character cannot be sent");
    return 0;
}

int value_pairs(struct config_entry *e, struct json v, const char *key, const char *separator,
                const char *const **out)
{
    struct arena *a = &e->spec->arena;
    bool header = separator[0] == ':';
    const char **pairs;
    size_t i = 0;

    if (!json_is(v, JSON_OBJECT))
        return entry_fail_type(e, v, key, "an object");
    if (json_len(v) > SPEC_WORDS_MAX)
        return entry_fail(e, v, key, "%zu members; at most %d are allowed", json_len(v),
                          SPEC_WORDS_MAX);
    pairs = arena_alloc(a, (json_len(v) + 1) * sizeof *pairs);
    JSON_FOREACH(m, v) {
        struct span name = json_key_str(m, a);
        char shown[SHOWN_MAX + 1], place[KEY_TEXT_MAX];
        const char *value = NULL;
        int rc;

        show_head(shown, name, 64);
        snprintf(place, sizeof place, "%s.%s", key, shown);
        if (json_is(m, JSON_NUMBER) || json_is(m, JSON_TRUE) || json_is(m, JSON_FALSE))
            return entry_fail(e, m, place, "expected a string, got %s; put it in quotes",
                              json_type_phrase(m));
        if (memchr(name.p, 0, name.n))
            return entry_fail(e, m, place, "a NUL character is not allowed here");
        e->pair = name;
        rc = value_expanded(e, m, place, &value);
        e->pair = SPAN("");
        if (rc == 0)
            rc = check_pair(e, m, place, arena_dup(a, name), value, header);
        if (rc < 0)
            return rc;
        pairs[i++] = arena_printf(a, "%.*s%s%s", SPAN_ARG(name), separator, value);
    }
    *out = pairs;
    return 0;
}

/* ---- Numbers and words --------------------------------------------------------------------- */

int value_bool(struct config_entry *e, struct json v, const char *key, bool *out)
{
    if (!json_is(v, JSON_TRUE) && !json_is(v, JSON_FALSE))
        return entry_fail_type(e, v, key, "true or false");
    *out = json_is(v, JSON_TRUE);
    return 0;
}

int value_seconds(struct config_entry *e, struct json v, const char *key, bool zero,
                  uint64_t *out_ms)
{
    struct pb_error ignored;
    char shown[SHOWN_MAX + 1];
    double s;

    if (!json_is(v, JSON_NUMBER))
        return entry_fail_type(e, v, key, "a number of seconds");
    if (json_double(v, &s, &ignored) < 0 || s < 0 || s > SPEC_SECONDS_MAX || (!zero && s < 0.001)) {
        show_head(shown, json_text(v), 24);
        return entry_fail(e, v, key, "expected seconds %s up to %d, got %s",
                          zero ? "from 0" : "above 0", SPEC_SECONDS_MAX, shown);
    }
    *out_ms = (uint64_t)(s * 1000 + 0.5);
    return 0;
}

int value_count(struct config_entry *e, struct json v, const char *key, unsigned max, unsigned *out)
{
    struct pb_error ignored;
    char shown[SHOWN_MAX + 1];
    uint64_t n;

    if (!json_is(v, JSON_NUMBER))
        return entry_fail_type(e, v, key, "a whole number");
    if (json_uint(v, &n, &ignored) < 0 || n > max) {
        show_head(shown, json_text(v), 24);
        return entry_fail(e, v, key, "expected a whole number from 0 to %u, got %s", max, shown);
    }
    *out = (unsigned)n;
    return 0;
}

static void list_choices(struct buf *out, const struct choice *choices)
{
    const struct choice *last = NULL;
    size_t n = 0;

    for (const struct choice *c = choices; c->word; c++)
        if (!c->hidden)
            last = c;
    for (const struct choice *c = choices; c->word; c++)
        if (!c->hidden)
            buf_printf(out, "%s\"%s\"", !n++ ? "" : c == last ? " or " : ", ", c->word);
}

int value_choice(struct config_entry *e, struct json v, const char *key,
                 const struct choice *choices, unsigned *out)
{
    AUTO_BUF struct buf expected = { 0 };
    AUTO_ARENA struct arena a = { 0 };
    char shown[SHOWN_MAX + 1];

    for (const struct choice *c = choices; c->word; c++)
        if (json_str_is(v, c->word)) {
            *out = c->value;
            return 0;
        }
    list_choices(&expected, choices);
    if (!json_is(v, JSON_STRING))
        return entry_fail_type(e, v, key, buf_cstr(&expected));
    show_head(shown, json_str(v, &a), 32);
    return entry_fail(e, v, key, "expected %s, got \"%s\"", buf_cstr(&expected), shown);
}

int value_object_text(struct config_entry *e, struct json v, const char *key, const char **out)
{
    if (!json_is(v, JSON_OBJECT))
        return entry_fail_type(e, v, key, "an object");
    if (json_text(v).n > CONFIG_VALUE_MAX)
        return entry_fail(e, v, key, "longer than %d bytes", CONFIG_VALUE_MAX);
    *out = arena_dup(&e->spec->arena, json_text(v));
    return 0;
}

/* It becomes part of file names, so nothing else will do. */
int value_uuid(struct config_entry *e, struct json v, const char *key, const char **out)
{
    char *s;

    if (!json_is(v, JSON_STRING))
        return entry_fail_type(e, v, key, "a UUID");
    s = json_cstr(v, &e->spec->arena);
    if (!s || strlen(s) != UUID_CHARS)
        return entry_fail(e, v, key, "expected a UUID of %d characters", UUID_CHARS);
    for (int i = 0; i < UUID_CHARS; i++) {
        bool dash = i == 8 || i == 13 || i == 18 || i == 23;

        if (dash ? s[i] != '-' : !strchr("0123456789abcdefABCDEF", s[i]))
            return entry_fail(e, v, key, "expected a UUID such as %s",
                              "8c5f0f0a-3f0b-4d5e-9a31-2f4c1d7e6b90");
        if (s[i] >= 'A' && s[i] <= 'F')
            s[i] = (char)(s[i] | 0x20);
    }
    *out = s;
    return 0;
}
