#include "collect.h"
#include "secrets.h"
#include <unistd.h>

static void tell(const struct collector *c, struct span secret, size_t min, bool whole)
{
    secret = span_trim(secret);
    if (secret.n >= min)
        c->fn(c->ctx, secret, whole);
}

/* "user:password" */
static void add_login(const struct collector *c, struct span login)
{
    const char *colon = login.n ? memchr(login.p, ':', login.n) : NULL;

    tell(c, login, REDACT_GUESS_MIN, colon != NULL);
    if (colon)
        tell(c, span_from(login, (size_t)(colon - login.p) + 1), REDACT_MIN, false);
}

static bool is_scheme(struct span word)
{
    static const char *const schemes[] = { "apikey", "basic", "bearer", "digest", "token" };

    for (size_t i = 0; i < ARRAY_LEN(schemes); i++)
        if (span_is_nocase(word, schemes[i]))
            return true;
    return false;
}

/* "Bearer KEY" gives the key away without its first word, too. */
static void add_value(const struct collector *c, struct span value, size_t min)
{
    AUTO_SECRET struct buf login = { 0 };
    const char *space;
    struct span rest, scheme;

    value = span_trim(value);
    space = value.n ? memchr(value.p, ' ', value.n) : NULL;
    if (!space) {
        tell(c, value, min, false);
        return;
    }
    scheme = span_make(value.p, (size_t)(space - value.p));
    rest = span_trim(span_from(value, scheme.n));
    tell(c, value, min, is_scheme(scheme));
    tell(c, rest, min, false);
    if (span_is_nocase(scheme, "basic") && base64_decode(&login, rest))
        add_login(c, buf_span(&login));
}

void collect_value(const struct collector *c, struct span value)
{
    add_value(c, value, REDACT_MIN);
}

static void on_secret(void *ctx, struct span secret)
{
    const struct collector *c = ctx;

    if (secret.n && memchr(secret.p, ':', secret.n))
        add_login(c, secret);
    else
        add_value(c, secret, REDACT_GUESS_MIN);
}

static struct collector *unconst(const struct collector *c)
{
    return (struct collector *)(uintptr_t)c;
}

/* ---- what only looks like one ---- */

/* Words that stand for themselves in many texts, whatever variable has them as its value. */
static bool is_ordinary(struct span value)
{
    static const char *const words[] = { "changeme", "disabled",  "localhost", "password",
                                         "postgres", "127.0.0.1", "undefined" };

    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (span_is_nocase(value, words[i]))
            return true;
    return false;
}

/* Where a key lies is no secret, and half of it would be everybody's home. */
static bool is_path(struct span value)
{
    static const char *const roots[] = { "/Users/", "/dev/",  "/etc/", "/home/", "/mnt/",
                                         "/opt/",   "/proc/", "/root", "/run/",  "/srv/",
                                         "/tmp/",   "/usr/",  "/var/", "~/" };

    for (size_t i = 0; i < ARRAY_LEN(roots); i++)
        if (span_starts(value, roots[i]))
            return true;
    return false;
}

static void add_guess(const struct collector *c, struct span value)
{
    value = span_trim(value);
    if (is_ordinary(value) || is_path(value))
        return;
    if (value.n && memmem(value.p, value.n, "://", 3))
        mask_find_in_url(value, on_secret, unconst(c));
    else
        add_value(c, value, REDACT_GUESS_MIN);
}

/* ---- of a spec ---- */

/* Does the login name it? Then it is a secret whatever it looks like. */
static bool is_login(const struct spec *s, struct span name)
{
    for (const struct spec_env_var *v = s ? s->env_vars : NULL; v && v->name; v++)
        if (span_is_nocase(name, v->name))
            return true;
    return false;
}

static void add_pairs(const struct collector *c, const struct spec *s, const char *const *pairs,
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
            add_value(c, value, REDACT_MIN);
        else if (mask_wants(name, value))
            add_guess(c, value);
    }
}

/* Of variables that every shell has, and whose names or values promise what they do not hold. */
static bool is_place(struct span name)
{
    static const char *const names[] = { "HOSTNAME",       "INVOCATION_ID",
                                         "OLDPWD",         "PWD",
                                         "SSH_AUTH_SOCK",  "TERM_SESSION_ID",
                                         "XDG_SESSION_ID", "XAUTHORITY" };

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        if (span_is(name, names[i]))
            return true;
    return false;
}

void collect_from_environment(const struct collector *c, const struct spec *s)
{
    for (char **p = environ; p && *p; p++) {
        const char *at = strchr(*p, '=');
        struct span name = span_make(*p, at ? (size_t)(at - *p) : 0);

        if (!at || is_place(name))
            continue;
        if (is_login(s, name))
            add_value(c, span_of(at + 1), REDACT_MIN);
        else if (mask_wants(name, span_of(at + 1)))
            add_guess(c, span_of(at + 1));
    }
}

void collect_from_spec(const struct collector *c, const struct spec *s)
{
    const char *before = NULL;

    for (const char *const *p = s->keys; *p; p++)
        add_value(c, span_of(*p + strcspn(*p, "=:") + 1), REDACT_MIN);
    add_pairs(c, s, s->env, '=');
    if (s->transport == SPEC_STDIO)
        collect_from_environment(c, s);
    add_pairs(c, s, s->headers, ':');
    for (const char *const *word = s->args; *word; before = *word++)
        mask_find_in_word(*word, before, on_secret, unconst(c));
    if (s->url)
        mask_find_in_url(span_of(s->url), on_secret, unconst(c));
}
