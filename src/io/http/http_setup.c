#include "http_call.h"

static bool is_token_char(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           (c && strchr("!#$%&'*+-.^_`|~", c));
}

static bool is_token(struct span s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!is_token_char(s.p[i]))
            return false;
    return s.n;
}

/* libcurl decides about these; a wrong one would let the body be taken for another request. */
static const char *const reserved[] = { "Content-Length", "Transfer-Encoding", "Connection",
                                        "Expect" };

static int check_header(const char *line, struct span *name, struct pb_error *err)
{
    const char *colon = strchr(line, ':');

    *name = span_make(line, colon ? (size_t)(colon - line) : 0);
    if (!is_token(*name))
        return fail(err, PB_E_INVALID, "a header must have the form 'Name: value'");
    for (const char *c = colon + 1; *c; c++)
        if ((unsigned char)*c < ' ' ? *c != '\t' : *c == '\x7f')
            return fail(err, PB_E_INVALID, "the value of header %.*s holds a control character",
                        SPAN_ARG(*name));
    for (size_t i = 0; i < ARRAY_LEN(reserved); i++)
        if (span_is_nocase(*name, reserved[i]))
            return fail(err, PB_E_INVALID, "header %s is set by the client itself", reserved[i]);
    return 0;
}

static void append(struct http_call *call, const char *text)
{
    call->headers = call->client->api->slist_append(call->headers, text);
}

/* libcurl's spelling: "Name;" sends an empty field, "Name:" would remove one. */
static void append_header(struct http_call *call, const char *line, struct span name)
{
    AUTO_BUF struct buf b = { 0 };

    if (span_trim(span_of(line + name.n + 1)).n) {
        append(call, line);
        return;
    }
    buf_printf(&b, "%.*s;", SPAN_ARG(name));
    append(call, buf_cstr(&b));
}

static int take_headers(struct http_call *call, const char *const *lines, struct pb_error *err)
{
    bool typed = false;

    append(call, "Expect:"); /* or a large POST would wait for a 100 that may never come */
    for (size_t i = 0; lines && lines[i]; i++) {
        struct span name;
        int rc = check_header(lines[i], &name, err);

        if (rc < 0)
            return rc;
        typed = typed || span_is_nocase(name, "Content-Type");
        append_header(call, lines[i], name);
    }
    if (!typed)
        append(call, "Content-Type:"); /* or a form's */
    return 0;
}

int call_take_request(struct http_call *call, const struct http_client_request *req,
                      struct pb_error *err)
{
    const char *method = req->method ? req->method : req->has_body ? "POST" : "GET";
    int rc;

    if (!is_token(span_of(method)))
        return fail(err, PB_E_INVALID, "'%s' is no HTTP method", method);
    rc = origin_of(call->client->api, req->url, &call->origin, err);
    if (rc < 0)
        return rc;
    rc = take_headers(call, req->headers, err);
    if (rc < 0)
        return rc;
    call->url = mem_dup(req->url);
    call->method = mem_dup(method);
    call->has_body = req->has_body;
    buf_add_span(&call->body, req->body);
    call->connect_ms = req->connect_ms ? req->connect_ms : HTTP_CONNECT_MS;
    call->head_ms = req->head_ms;
    call->idle_ms = req->idle_ms;
    call->total_ms = req->total_ms;
    return 0;
}

static const struct {
    CURLoption option;
    long value;
} numbers[] = {
    /* clang-format off */
    { CURLOPT_NOSIGNAL,              1 },
    { CURLOPT_QUICK_EXIT,            1 }, /* a cancelled call must not wait for its name lookup */
    { CURLOPT_NOPROGRESS,            1 },
    { CURLOPT_SSL_VERIFYPEER,        1 },
    { CURLOPT_SSL_VERIFYHOST,        2 },
    { CURLOPT_SSLVERSION,            CURL_SSLVERSION_TLSv1_2 },
    { CURLOPT_HTTP_VERSION,          CURL_HTTP_VERSION_2TLS },
    { CURLOPT_HTTP09_ALLOWED,        0 },
    { CURLOPT_HTTP_CONTENT_DECODING, 0 },
    { CURLOPT_FOLLOWLOCATION,        0 }, /* origin_redirect() decides */
    { CURLOPT_NETRC,                 CURL_NETRC_IGNORED },
    { CURLOPT_SUPPRESS_CONNECT_HEADERS, 1 },
    { CURLOPT_TCP_KEEPALIVE,         1 },
    { CURLOPT_TCP_KEEPIDLE,          HTTP_PROBE_S },
    { CURLOPT_TCP_KEEPINTVL,         HTTP_PROBE_S / 4 },
    /* clang-format on */
};

static CURLcode set_pointers(struct http_call *call)
{
    const struct {
        CURLoption option;
        const void *value;
    } pointers[] = {
        { CURLOPT_URL, call->url },
        { CURLOPT_PROTOCOLS_STR, "http,https" },
        { CURLOPT_USERAGENT, "patchbay/" PB_VERSION },
        { CURLOPT_HTTPHEADER, call->headers },
        { CURLOPT_PRIVATE, call },
        { CURLOPT_ERRORBUFFER, call->curl_text },
        { CURLOPT_HEADERDATA, call },
        { CURLOPT_WRITEDATA, call },
        { CURLOPT_PREREQDATA, call },
        { CURLOPT_CAINFO, getenv("SSL_CERT_FILE") },
        { CURLOPT_CAPATH, getenv("SSL_CERT_DIR") },
        { CURLOPT_PROXY, origin_is_loopback(call->origin) ? "" : NULL },
    };
    const struct curl_api *api = call->client->api;

    for (size_t i = 0; i < ARRAY_LEN(pointers); i++) {
        CURLcode code = CURLE_OK;

        if (pointers[i].value)
            code = api->easy_setopt(call->easy, pointers[i].option, pointers[i].value);
        if (code != CURLE_OK)
            return code;
    }
    return CURLE_OK;
}

static CURLcode set_method(struct http_call *call)
{
    const struct curl_api *api = call->client->api;
    CURLcode code = CURLE_OK;

    if (call->has_body) {
        code = api->easy_setopt(call->easy, CURLOPT_POST, 1L);
        if (code == CURLE_OK)
            code =
                api->easy_setopt(call->easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)call->body.n);
        if (code == CURLE_OK)
            code =
                api->easy_setopt(call->easy, CURLOPT_POSTFIELDS, call->body.p ? call->body.p : "");
    }
    if (code == CURLE_OK && !strcmp(call->method, "HEAD"))
        return api->easy_setopt(call->easy, CURLOPT_NOBODY, 1L);
    if (code == CURLE_OK && strcmp(call->method, call->has_body ? "POST" : "GET"))
        code = api->easy_setopt(call->easy, CURLOPT_CUSTOMREQUEST, call->method);
    return code;
}

int call_setup(struct http_call *call)
{
    const struct curl_api *api = call->client->api;
    CURLcode code = CURLE_OK;

    for (size_t i = 0; i < ARRAY_LEN(numbers) && code == CURLE_OK; i++) {
        code = api->easy_setopt(call->easy, numbers[i].option, numbers[i].value);
        if (code == CURLE_UNKNOWN_OPTION && numbers[i].option == CURLOPT_QUICK_EXIT)
            code = CURLE_OK; /* 7.87; it only saves time */
    }
    if (code == CURLE_OK)
        code = set_pointers(call);
    /* Each address may take half of what is left of it; the whole is ours, on the loop's clock. */
    if (code == CURLE_OK)
        code = api->easy_setopt(call->easy, CURLOPT_CONNECTTIMEOUT_MS,
                                (long)(call->connect_ms + call->connect_ms / 4));
    if (code == CURLE_OK)
        code = set_method(call);
    if (code == CURLE_OK)
        code = api->easy_setopt(call->easy, CURLOPT_HEADERFUNCTION, call_on_header);
    if (code == CURLE_OK)
        code = api->easy_setopt(call->easy, CURLOPT_WRITEFUNCTION, call_on_body);
    if (code == CURLE_OK)
        code = api->easy_setopt(call->easy, CURLOPT_PREREQFUNCTION, call_on_connected);
    if (code == CURLE_OK)
        return 0;
    return fail(&call->err, PB_E_UNSUPPORTED, "libcurl does not take an option: %s",
                api->easy_strerror(code));
}
