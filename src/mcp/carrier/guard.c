#include "guard.h"
#include "io/http/http.h"
#include <stdio.h>

enum { TOKEN_WORDS = 32 };

/* A token with zeros behind it: all of it is compared, so that no length leaks. */
struct padded {
    uint64_t words[TOKEN_WORDS];
    size_t n;
};

struct guard {
    struct map hosts, origins; /* sets */
    bool wants_token;
    struct padded token; /* n 0: it is longer, and compared by its digest */
    uint8_t digest[SHA256_BYTES];
    char principal[ID_CHARS + 1];
};

static const char *const loopback_names[] = { "localhost", "127.0.0.1", "[::1]" };

static void add(struct map *set, const char *text)
{
    static char there;

    map_put(set, span_of(text), &there);
}

/* A host as it may stand in Host: with the port, and without where the port is the default. */
static void add_host(struct guard *g, const char *name, int port, bool bare)
{
    AUTO_BUF struct buf text = { 0 };

    buf_printf(&text, "%s:%d", name, port);
    add(&g->hosts, buf_cstr(&text));
    if (bare || port == 80)
        add(&g->hosts, name);
}

static void add_origin(struct guard *g, const char *name, int port)
{
    AUTO_BUF struct buf text = { 0 };

    buf_printf(&text, "http://%s", name);
    if (port == 80)
        add(&g->origins, buf_cstr(&text));
    buf_printf(&text, ":%d", port);
    add(&g->origins, buf_cstr(&text));
}

static void add_loopback(struct guard *g, int port)
{
    for (size_t i = 0; i < ARRAY_LEN(loopback_names); i++) {
        add_host(g, loopback_names[i], port, false);
        add_origin(g, loopback_names[i], port);
    }
}

/* An IPv6 address stands in brackets; the address that means "all" is nobody's name. */
static void add_listen_address(struct guard *g, const char *host, int port)
{
    AUTO_BUF struct buf name = { 0 };
    const char *text;

    if (!host || !strcmp(host, "0.0.0.0") || !strcmp(host, "::"))
        return;
    if (strchr(host, ':') && host[0] != '[')
        buf_printf(&name, "[%s]", host);
    else
        buf_str(&name, host);
    text = buf_cstr(&name);
    add_host(g, text, port, false);
    add_origin(g, text, port);
}

static bool has_port(struct span host)
{
    const char *close = host.n ? memchr(host.p, ']', host.n) : NULL;
    struct span rest = close ? span_from(host, (size_t)(close - host.p)) : host;

    return rest.n && memchr(rest.p, ':', rest.n);
}

static void add_listed(struct guard *g, const char *list, int port, bool hosts)
{
    struct span rest = span_of(list);

    while (rest.n) {
        const char *comma = memchr(rest.p, ',', rest.n);
        struct span item = span_make(rest.p, comma ? (size_t)(comma - rest.p) : rest.n);
        AUTO_FREE char *text = NULL;

        rest = span_from(rest, item.n + (comma != NULL));
        item = span_trim(item);
        if (!item.n)
            continue;
        text = mem_dupn(item.p, item.n);
        if (!hosts)
            add(&g->origins, text);
        else if (has_port(item))
            add(&g->hosts, text);
        else
            add_host(g, text, port, true);
    }
}

static bool pad(struct padded *out, struct span token)
{
    *out = (struct padded){ 0 };
    if (token.n > sizeof out->words)
        return false;
    memcpy(out->words, token.p, token.n);
    out->n = token.n;
    return true;
}

/* Takes the same time wherever they differ. */
static bool same_padded(const struct padded *a, const struct padded *b)
{
    uint64_t differ = a->n ^ b->n;

    for (size_t i = 0; i < TOKEN_WORDS; i++)
        differ |= a->words[i] ^ b->words[i];
    return differ == 0;
}

struct guard *guard_new(const struct guard_options *opts)
{
    struct guard *g = NEW(struct guard);

    add_loopback(g, opts->port);
    add_listen_address(g, opts->host, opts->port);
    add_listed(g, opts->allowed_hosts, opts->port, true);
    add_listed(g, opts->allowed_origins, opts->port, false);
    if (opts->token) {
        g->wants_token = true;
        sha256(span_of(opts->token), g->digest);
        pad(&g->token, span_of(opts->token));
        /* Random, so that whoever sees a principal learns nothing about the token. */
        id_new(g->principal);
    }
    return g;
}

void guard_free(struct guard *g)
{
    if (!g)
        return;
    map_done(&g->hosts);
    map_done(&g->origins);
    free(g);
}

const char *guard_principal(const struct guard *g) { return g->principal; }

bool guard_host_ok(const struct guard *g, struct span host)
{
    return host.p && map_get(&g->hosts, host);
}

bool guard_origin_ok(const struct guard *g, struct span origin)
{
    return !origin.p || map_get(&g->origins, origin);
}

bool guard_token_ok(const struct guard *g, struct span authorization)
{
    static const char scheme[] = "Bearer ";
    size_t n = sizeof scheme - 1;
    uint8_t digest[SHA256_BYTES];
    struct padded given;
    struct span token;

    if (!g->wants_token)
        return true;
    if (authorization.n <= n || !span_is_nocase(span_make(authorization.p, n), scheme))
        return false;
    token = span_trim(span_from(authorization, n));
    /* A digest for each request would cost as much as reading it. */
    if (g->token.n && pad(&given, token))
        return same_padded(&given, &g->token);
    sha256(token, digest);
    return bytes_equal_const_time(digest, g->digest, sizeof digest);
}

/* "http://name:port/path" names a host besides the Host header: both must be the same. */
static bool target_agrees(struct span target, struct span host)
{
    const char *authority, *slash;
    size_t n;

    if (!target.n || target.p[0] == '/' || span_is(target, "*"))
        return true;
    if (!span_starts(target, "http://"))
        return false;
    authority = target.p + strlen("http://");
    n = target.n - strlen("http://");
    slash = memchr(authority, '/', n);
    return span_eq(span_make(authority, slash ? (size_t)(slash - authority) : n), host);
}

static struct guard_verdict refuse(int status, const char *why, const char *headers)
{
    return (struct guard_verdict){ status, why, headers, "", false };
}

struct guard_verdict guard_check(const struct guard *g, const struct http_request *r)
{
    size_t hosts, origins, tokens;
    struct span host = http_header(r, "Host", &hosts);
    struct span origin = http_header(r, "Origin", &origins);
    struct span token = http_header(r, "Authorization", &tokens);

    if (hosts != 1 || !guard_host_ok(g, host) || !target_agrees(http_target(r), host))
        return refuse(403, "Forbidden: this Host is not served here", NULL);
    if (origins > 1 || !guard_origin_ok(g, origin))
        return refuse(403, "Forbidden: this Origin is not allowed", NULL);
    if (g->wants_token && !tokens)
        return refuse(401, "Unauthorized: a bearer token is needed",
                      "WWW-Authenticate: Bearer\r\n");
    if (g->wants_token && (tokens > 1 || !guard_token_ok(g, token))) {
        struct guard_verdict v = refuse(401, "Unauthorized: the bearer token is wrong",
                                        "WWW-Authenticate: Bearer error=\"invalid_token\"\r\n");

        v.wrong_token = true;
        return v;
    }
    return (struct guard_verdict){ .principal = g->principal };
}
