#include "http_call.h"
#include <strings.h>

struct curl_url {
    const struct curl_api *api;
    CURLU *u;
};

static void url_done(struct curl_url *u)
{
    if (u->u)
        u->api->url_cleanup(u->u);
}

#define AUTO_URL __attribute__((cleanup(url_done)))

/* Ours to free(). */
static char *part(const struct curl_url *u, CURLUPart what, unsigned flags)
{
    char *text = NULL, *copy;

    if (u->api->url_get(u->u, what, &text, flags) != CURLUE_OK)
        return NULL;
    copy = mem_dup(text);
    u->api->free(text);
    return copy;
}

static char *join_origin(const struct curl_url *u)
{
    AUTO_FREE char *scheme = part(u, CURLUPART_SCHEME, 0);
    AUTO_FREE char *host = part(u, CURLUPART_HOST, 0);
    AUTO_FREE char *port = part(u, CURLUPART_PORT, CURLU_DEFAULT_PORT);
    AUTO_BUF struct buf out = { 0 };

    if (!scheme || !host || !port || (strcmp(scheme, "http") && strcmp(scheme, "https")))
        return NULL;
    buf_printf(&out, "%s://%s:%s", scheme, host, port);
    return buf_take(&out);
}

int origin_of(const struct curl_api *api, const char *url, char **out, struct pb_error *err)
{
    AUTO_URL struct curl_url u = { api, api->url() };
    CURLUcode code = api->url_set(u.u, CURLUPART_URL, url, 0);
    char *origin;

    if (code != CURLUE_OK)
        return fail(err, PB_E_INVALID, "this is no URL that can be used: %s",
                    api->url_strerror(code));
    origin = join_origin(&u);
    if (!origin)
        return fail(err, PB_E_INVALID, "only http:// and https:// URLs can be used");
    *out = origin;
    return 0;
}

static bool ends_with(struct span s, const char *tail)
{
    size_t n = strlen(tail);

    return s.n >= n && span_is_nocase(span_from(s, s.n - n), tail);
}

bool origin_is_loopback(const char *origin)
{
    struct span host = span_of(strstr(origin, "://") + 3);

    host.n = (size_t)(strrchr(host.p, ':') - host.p);
    return span_is_nocase(host, "localhost") || ends_with(host, ".localhost") ||
           span_is(host, "[::1]") || span_starts(host, "127.");
}

char *origin_redirect(const struct curl_api *api, const char *url, struct span location)
{
    AUTO_URL struct curl_url u = { api, api->url() };
    AUTO_FREE char *text = mem_dupn(location.p, location.n);
    AUTO_FREE char *before = NULL;
    AUTO_FREE char *after = NULL;
    AUTO_FREE char *user = NULL;

    if (strlen(text) != location.n || api->url_set(u.u, CURLUPART_URL, url, 0) != CURLUE_OK)
        return NULL;
    before = join_origin(&u);
    user = part(&u, CURLUPART_USER, 0);
    if (api->url_set(u.u, CURLUPART_URL, text, 0) != CURLUE_OK)
        return NULL;
    after = join_origin(&u);
    if (!before || !after || strcasecmp(before, after))
        return NULL;
    if (!user) {
        user = part(&u, CURLUPART_USER, 0);
        if (user)
            return NULL; /* a name and password of the server's choice */
    }
    return part(&u, CURLUPART_URL, 0);
}
