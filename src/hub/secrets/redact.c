#include "redact.h"
#include "hub/spec/spec.h"
#include "secrets.h"
#include <unistd.h>

enum {
    PREFIX = REDACT_MIN, /* bytes by which a word is looked up */
    BUCKET_BITS = 8,     /* most servers have some ten words, and each server has its buckets */
    BUCKETS = 1 << BUCKET_BITS,
};

struct word {
    struct word *next;
    size_t n;
    char text[];
};

struct redact {
    struct word *buckets[BUCKETS];
    size_t n, bytes;
    bool full;
};

struct redact *redact_new(void) { return NEW(struct redact); }

void redact_free(struct redact *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < BUCKETS; i++)
        while (r->buckets[i]) {
            struct word *w = r->buckets[i];

            r->buckets[i] = w->next;
            explicit_bzero(w->text, w->n);
            free(w);
        }
    free(r);
}

/* ---- what is hidden ---- */

static size_t bucket_of(const char *p)
{
    uint32_t first;

    _Static_assert(PREFIX == sizeof first, "a prefix is one number");
    memcpy(&first, p, sizeof first);
    return (first * UINT32_C(2654435761)) >> (32 - BUCKET_BITS);
}

static void add_word(struct redact *r, struct span text)
{
    struct word **at, *w;

    if (text.n < PREFIX || r->full)
        return;
    at = &r->buckets[bucket_of(text.p)];
    for (w = *at; w; w = w->next)
        if (span_eq(span_make(w->text, w->n), text))
            return;
    if (r->n == REDACT_WORDS_MAX || text.n > REDACT_BYTES_MAX - r->bytes) {
        r->full = true;
        return;
    }
    w = mem_alloc(sizeof *w + text.n);
    w->next = *at;
    w->n = text.n;
    memcpy(w->text, text.p, text.n);
    *at = w;
    r->n++;
    r->bytes += text.n;
}

static void add_in_json(struct redact *r, struct span secret)
{
    AUTO_SECRET struct buf text = { 0 };
    struct json_out o = json_out(&text);

    json_put_span(&o, NULL, secret);
    add_word(r, span_make(text.p + 1, text.n - 2));
}

static bool is_unreserved(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c && strchr("-._~", c));
}

static void add_in_url(struct redact *r, struct span secret, const char digits[static 16])
{
    AUTO_SECRET struct buf text = { 0 };

    buf_reserve(&text, secret.n * 3); /* it leaves no copy behind where it grew */
    for (size_t i = 0; i < secret.n; i++) {
        unsigned char c = (unsigned char)secret.p[i];

        if (is_unreserved(secret.p[i])) {
            buf_byte(&text, secret.p[i]);
        } else {
            buf_byte(&text, '%');
            buf_byte(&text, digits[c >> 4]);
            buf_byte(&text, digits[c & 15]);
        }
    }
    add_word(r, buf_span(&text));
}

/* Wherever it begins within what was encoded, the characters that are made of its bits alone. */
static void add_in_base64(struct redact *r, struct span secret)
{
    static const size_t mixed[] = { 0, 2, 3 };

    for (size_t shift = 0; shift < ARRAY_LEN(mixed); shift++) {
        AUTO_SECRET struct buf plain = { 0 }, text = { 0 }, url = { 0 };
        size_t n = (secret.n + shift) * 8 / 6 - mixed[shift];

        buf_reserve(&plain, secret.n + shift);
        buf_add(&plain, "\0\0", shift);
        buf_add_span(&plain, secret);
        base64_encode(&text, buf_span(&plain));
        base64url_encode(&url, buf_span(&plain));
        add_word(r, span_make(text.p + mixed[shift], n));
        add_word(r, span_make(url.p + mixed[shift], n));
    }
}

/* The log writes a tab as a space, and other control characters not at all. */
static void add_line(struct redact *r, struct span line)
{
    AUTO_SECRET struct buf shown = { 0 };

    add_word(r, line);
    buf_add_span(&shown, line);
    for (size_t i = 0; i < shown.n; i++)
        if (shown.p[i] == '\t')
            shown.p[i] = ' ';
    add_word(r, buf_span(&shown));
}

/* Texts come line by line, and some keys have many. */
static void add_lines(struct redact *r, struct span secret)
{
    while (secret.n) {
        size_t n = 0;

        while (n < secret.n && secret.p[n] != '\n' && secret.p[n] != '\r')
            n++;
        add_line(r, span_make(secret.p, n));
        secret = span_from(secret, n < secret.n ? n + 1 : n);
    }
}

static void add_secret(struct redact *r, struct span secret, size_t min)
{
    secret = span_trim(secret);
    if (secret.n < min || r->full)
        return;
    add_word(r, secret);
    add_lines(r, secret);
    add_in_json(r, secret);
    if (secret.n < REDACT_GUESS_MIN)
        return; /* what is left of so little is found everywhere */
    add_in_url(r, secret, "0123456789ABCDEF");
    add_in_url(r, secret, "0123456789abcdef");
    add_in_base64(r, secret);
}

/* "user:password" */
static void add_login(struct redact *r, struct span login)
{
    const char *colon = login.n ? memchr(login.p, ':', login.n) : NULL;

    add_secret(r, login, REDACT_GUESS_MIN);
    if (colon)
        add_secret(r, span_from(login, (size_t)(colon - login.p) + 1), REDACT_MIN);
}

/* "Bearer KEY" gives the key away without its first word, too. */
static void add_value(struct redact *r, struct span value, size_t min)
{
    AUTO_SECRET struct buf login = { 0 };
    const char *space;
    struct span rest;

    value = span_trim(value);
    add_secret(r, value, min);
    space = value.n ? memchr(value.p, ' ', value.n) : NULL;
    if (!space)
        return;
    rest = span_trim(span_from(value, (size_t)(space - value.p)));
    add_secret(r, rest, min);
    if (span_is_nocase(span_make(value.p, (size_t)(space - value.p)), "basic") &&
        base64_decode(&login, rest))
        add_login(r, buf_span(&login));
}

/* ---- of a spec ---- */

/* Does the login name it? Then it is a secret whatever it looks like. */
static bool is_login(const struct spec *s, struct span name)
{
    for (const struct spec_env_var *v = s->env_vars; v->name; v++)
        if (span_is_nocase(name, v->name))
            return true;
    return false;
}

static void add_pairs(struct redact *r, const struct spec *s, const char *const *pairs,
                      char separator)
{
    for (; *pairs; pairs++) {
        const char *at = strchr(*pairs, separator);
        struct span name, value;

        if (!at)
            continue;
        name = span_make(*pairs, (size_t)(at - *pairs));
        value = span_trim(span_of(at + 1));
        if (is_login(s, name))
            add_value(r, value, REDACT_MIN);
        else if (mask_wants(name, value))
            add_value(r, value, REDACT_GUESS_MIN);
    }
}

/* Of variables that every shell has, and whose names promise what paths do not hold. */
static bool is_place(struct span name)
{
    static const char *const names[] = { "OLDPWD", "PWD", "SSH_AUTH_SOCK", "XAUTHORITY" };

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (span_is(name, names[i]))
            return true;
    return false;
}

/* What a program may inherit; what the login names is a secret whatever it looks like. */
static void add_environment(struct redact *r, const struct spec *s)
{
    for (char **p = environ; p && *p; p++) {
        const char *at = strchr(*p, '=');
        struct span name = span_make(*p, at ? (size_t)(at - *p) : 0);

        if (!at || is_place(name))
            continue;
        if (is_login(s, name))
            add_value(r, span_of(at + 1), REDACT_MIN);
        else if (mask_wants(name, span_of(at + 1)))
            add_value(r, span_of(at + 1), REDACT_GUESS_MIN);
    }
}

static void on_secret(void *ctx, struct span secret)
{
    add_value(ctx, secret, REDACT_GUESS_MIN);
    add_login(ctx, secret);
}

void redact_add_spec(struct redact *r, const struct spec *s)
{
    const char *before = NULL;

    for (const char *const *p = s->keys; *p; p++)
        add_value(r, span_of(*p + strcspn(*p, "=:") + 1), REDACT_MIN);
    add_pairs(r, s, s->env, '=');
    if (s->transport == SPEC_STDIO)
        add_environment(r, s);
    add_pairs(r, s, s->headers, ':');
    for (const char *const *word = s->args; *word; before = *word++)
        mask_find_in_word(*word, before, on_secret, r);
    if (s->url)
        mask_find_in_url(span_of(s->url), on_secret, r);
}

/* ---- taking out ---- */

/* Where the longest secret ends that begins here; `at` when none does. */
static size_t end_of_secret(const struct redact *r, struct span text, size_t at, bool cut)
{
    size_t left = text.n - at, end = at;

    if (left < PREFIX)
        return at;
    for (const struct word *w = r->buckets[bucket_of(text.p + at)]; w; w = w->next) {
        size_t n = w->n <= left ? w->n : cut ? left : 0;

        if (n && at + n > end && memcmp(w->text, text.p + at, n) == 0)
            end = at + n;
    }
    return end;
}

/* The same for secrets that lie one over the other. */
static size_t end_of_hidden(const struct redact *r, struct span text, size_t at, bool cut)
{
    size_t end = end_of_secret(r, text, at, cut);

    for (size_t i = at + 1; i < end; i++) {
        size_t further = end_of_secret(r, text, i, cut);

        if (further > end)
            end = further;
    }
    return end;
}

void redact_text(const struct redact *r, char *text, bool cut)
{
    struct span all = span_of(text);
    size_t n = 0, i = 0;

    if (!r || !r->n)
        return;
    while (i < all.n) {
        size_t end = r->full ? all.n : end_of_hidden(r, all, i, cut);

        if (end == i) {
            text[n++] = all.p[i++];
            continue;
        }
        for (const char *p = SPEC_MASKED; *p && n < end; p++)
            text[n++] = *p;
        i = end;
    }
    text[n] = '\0';
}

void redact_error(const struct redact *r, struct pb_error *err)
{
    redact_text(r, err->msg, strlen(err->msg) + 1 == sizeof err->msg);
}
