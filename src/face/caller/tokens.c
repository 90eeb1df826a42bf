#include "tokens.h"
#include <stdio.h>

static const struct {
    const char *name;
    enum token_may may;
} kinds[] = { { "mcp", TOKEN_MCP }, { "read", TOKEN_READ }, { "all", TOKEN_ALL } };

const char *token_may_name(enum token_may may)
{
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (kinds[i].may == may)
            return kinds[i].name;
    return "";
}

bool token_may_parse(const char *word, enum token_may *out)
{
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        if (strcmp(kinds[i].name, word) != 0)
            continue;
        *out = kinds[i].may;
        return true;
    }
    return false;
}

struct tokens *tokens_new(void) { return NEW(struct tokens); }

void tokens_free(struct tokens *t)
{
    if (!t)
        return;
    for (size_t i = 0; i < t->n; i++)
        free(t->v[i].name);
    free(t->v);
    free(t);
}

/* ---- one more, one less ---- */

static bool good_name(struct span name)
{
    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i];

        if (!((c | 0x20) >= 'a' && (c | 0x20) <= 'z') && !(c >= '0' && c <= '9') && c != '_' &&
            c != '-' && c != '.')
            return false;
    }
    return name.n > 0 && name.n <= HUB_NAME_MAX;
}

static struct token *by_name(const struct tokens *t, struct span name)
{
    for (size_t i = 0; i < t->n; i++)
        if (span_is(name, t->v[i].name))
            return &t->v[i];
    return NULL;
}

static void put_hex(char *out, const uint8_t *p, size_t n)
{
    for (size_t i = 0; i < n; i++)
        snprintf(out + 2 * i, 3, "%02x", p[i]);
}

/* Whoever sees a principal does not learn the digest. */
static void set_principal(struct token *t)
{
    uint8_t again[SHA256_BYTES];

    sha256(span_make((const char *)t->digest, sizeof t->digest), again);
    put_hex(t->principal, again, ID_CHARS / 2);
}

int tokens_add(struct tokens *t, struct span name, enum token_may may,
               const uint8_t digest[static SHA256_BYTES], int64_t created, struct pb_error *err)
{
    struct token *new;

    if (!good_name(name))
        return fail(err, PB_E_INVALID,
                    "the name of a token has 1 to %d letters, digits, '_', '-' and '.'",
                    HUB_NAME_MAX);
    if (by_name(t, name))
        return fail(err, PB_E_INVALID, "there is a token '%.*s' already", SPAN_ARG(name));
    if (t->n == TOKENS_MAX)
        return fail(err, PB_E_LIMIT, "there are %d tokens, and no more are allowed", TOKENS_MAX);
    t->v = mem_resize(t->v, (t->n + 1) * sizeof *t->v);
    new = &t->v[t->n++];
    *new = (struct token){ .name = mem_dupn(name.p, name.n), .may = may, .created = created };
    memcpy(new->digest, digest, sizeof new->digest);
    set_principal(new);
    return 0;
}

bool tokens_remove(struct tokens *t, const char *name)
{
    struct token *gone = by_name(t, span_of(name));

    if (!gone)
        return false;
    free(gone->name);
    memmove(gone, gone + 1, (size_t)(t->v + t->n - gone - 1) * sizeof *gone);
    t->n--;
    return true;
}

const struct token *tokens_find(const struct tokens *t, struct span token)
{
    const struct token *found = NULL;
    uint8_t digest[SHA256_BYTES];

    sha256(token, digest);
    for (size_t i = 0; i < t->n; i++)
        if (bytes_equal_const_time(digest, t->v[i].digest, sizeof digest))
            found = &t->v[i];
    return found;
}

/* ---- the file ---- */

static bool read_hex(uint8_t *out, size_t n, struct span text)
{
    static const char digits[] = "0123456789abcdef";

    if (text.n != 2 * n)
        return false;
    for (size_t i = 0; i < text.n; i++) {
        const char *at = text.p[i] ? strchr(digits, text.p[i]) : NULL;

        if (!at)
            return false;
        out[i / 2] = (uint8_t)(out[i / 2] << 4 | (at - digits));
    }
    return true;
}

struct token_entry {
    struct span name, sha256;
    const char *may;
    int64_t created;
};

static int read_entry(struct tokens *t, struct json v, struct arena *a, struct pb_error *err)
{
    static const struct json_field fields[] = {
        { "name", JSON_FIELD_STRING, offsetof(struct token_entry, name), JSON_REQUIRED },
        { "may", JSON_FIELD_CSTR, offsetof(struct token_entry, may), JSON_REQUIRED },
        { "sha256", JSON_FIELD_STRING, offsetof(struct token_entry, sha256), JSON_REQUIRED },
        { "created", JSON_FIELD_INT, offsetof(struct token_entry, created), 0 },
        { 0 },
    };
    uint8_t digest[SHA256_BYTES] = { 0 };
    struct token_entry e = { 0 };
    enum token_may may;

    if (json_fields(v, fields, &e, a, err) < 0)
        return -(int)err->code;
    if (!token_may_parse(e.may, &may))
        return fail(err, PB_E_INVALID, "may: expected \"mcp\", \"read\" or \"all\"");
    if (!read_hex(digest, sizeof digest, e.sha256))
        return fail(err, PB_E_INVALID, "sha256: expected %d lower-case hex digits",
                    2 * SHA256_BYTES);
    return tokens_add(t, e.name, may, digest, e.created, err);
}

int tokens_parse(struct tokens **out, struct span text, struct pb_error *err)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_ARENA struct arena a = { 0 };
    AUTO(tokens) struct tokens *t = tokens_new();
    struct json list;
    size_t i = 0;

    if (text.n > TOKENS_BYTES_MAX)
        return fail(err, PB_E_LIMIT, "longer than %d bytes", TOKENS_BYTES_MAX);
    if (span_trim(text).n) {
        if (json_parse(&doc, text, &(struct json_opts){ .unique_depth = JSON_ALL }, err) < 0)
            return -(int)err->code;
        list = json_get(json_root(&doc), "tokens");
        if (!json_is(list, JSON_ARRAY))
            return fail(err, PB_E_INVALID, "tokens: expected an array");
        JSON_FOREACH(v, list) {
            if (read_entry(t, v, &a, err) < 0)
                return fail_in(err, "tokens[%zu]", i);
            i++;
        }
    }
    *out = TAKE(t);
    return 0;
}

void tokens_write(struct buf *out, const struct tokens *t)
{
    struct json_out o = json_out(out);

    json_begin_object(&o, NULL);
    json_begin_array(&o, "tokens");
    for (size_t i = 0; i < t->n; i++) {
        char hex[2 * SHA256_BYTES + 1];

        put_hex(hex, t->v[i].digest, SHA256_BYTES);
        json_begin_object(&o, NULL);
        json_put_str(&o, "name", t->v[i].name);
        json_put_str(&o, "may", token_may_name(t->v[i].may));
        json_put_str(&o, "sha256", hex);
        json_put_int(&o, "created", t->v[i].created);
        json_end(&o);
    }
    json_end(&o);
    json_end(&o);
    buf_byte(out, '\n');
}
