/* The HTTP client against servers that lie, drip, flood, vanish, or cannot prove who they are. */
#include "http_client_rig.h"
#include "io/http/http.h"
#include "temp_dir.h"
#include <fcntl.h>
#include <spawn.h>

extern char **environ;

/* One GET to a raw server with this script; the result is the caller's. */
static void ask(struct result *r, struct raw_script script, const struct http_client_request *req)
{
    struct client_rig c = { 0 };
    struct raw w = { 0 };
    struct http_client_request copy = req ? *req : (struct http_client_request){ 0 };

    raw_add(&w, script);
    raw_open(&w);
    client_rig_open(&c);
    copy.url = w.url;
    client_send(&c, r, &copy);
    client_until(&c, &r->done);
    client_rig_close(&c);
    raw_close(&w);
    buf_done(&w.seen);
}

#define OK_HEAD "HTTP/1.1 200 OK\r\n"

TEST(answers_that_break_off_or_make_no_sense_are_errors_that_name_the_server)
{
    static const struct {
        struct span answer;
        int code;
        int heads;
        const char *want;
    } cases[] = {
        /* clang-format off */
        { SPAN_CONST(""),                                                   PB_E_CLOSED,  0, "Empty reply" },
        { SPAN_CONST("HTTP/1.1 200"),                                       PB_E_CLOSED,  0, "" },
        { SPAN_CONST(OK_HEAD "Content-Length: 10\r\n\r\nhalf"),             PB_E_CLOSED,  1, "6 bytes remaining" },
        { SPAN_CONST(OK_HEAD "Transfer-Encoding: chunked\r\n\r\n5\r\nhel"), PB_E_CLOSED,  1, "" },
        { SPAN_CONST(OK_HEAD "Transfer-Encoding: chunked\r\n\r\nxyz\r\n"),  PB_E_CLOSED,  1, "" },
        { SPAN_CONST("SSH-2.0-x\r\n"),                                      PB_E_INVALID, 0, "HTTP/0.9" },
        { SPAN_CONST(OK_HEAD "A: b\0c\r\n\r\n"),                            PB_E_INVALID, 0, "" },
        { SPAN_CONST(OK_HEAD "Content-Encoding: gzip\r\n\r\nx"),            PB_E_INVALID, 0, "compressed, which was not asked for" },
        { SPAN_CONST(OK_HEAD "Content-Encoding: br, gzip\r\n\r\nx"),        PB_E_INVALID, 0, "compressed, which was not asked for" },
        { SPAN_CONST(OK_HEAD "Content-Encoding: gzip\r\nContent-Encoding: gzip\r\n\r\nx"), PB_E_INVALID, 0, "compressed" },
        { SPAN_CONST(OK_HEAD "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"), PB_E_INVALID, 0, "transfer coding" },
        /* clang-format on */
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct result r = { 0 };

        ask(&r, (struct raw_script){ .first = cases[i].answer }, NULL);
        if (!r.failed || (int)r.err.code != cases[i].code || r.heads != cases[i].heads ||
            !strstr(r.err.msg, cases[i].want))
            TAP_FAIL("case %zu: %d heads, code %d: %s", i, r.heads, r.err.code, r.err.msg);
        CHECK_HAS(r.err.msg, "http://127.0.0.1:");
        result_free(&r);
    }
}

TEST(harmless_codings_and_endings_are_accepted)
{
    static const struct {
        struct span answer;
        const char *body;
    } cases[] = {
        { SPAN_CONST(OK_HEAD "Content-Encoding: identity\r\nContent-Length: 2\r\n\r\nok"), "ok" },
        { SPAN_CONST(OK_HEAD "Content-Encoding:\r\nContent-Length: 2\r\n\r\nok"), "ok" },
        { SPAN_CONST(OK_HEAD "transfer-encoding: Chunked\r\n\r\n2\r\nok\r\n0\r\nT: x\r\n\r\n"),
          "ok" },
        { SPAN_CONST(OK_HEAD "\r\nuntil the end"), "until the end" },
        { SPAN_CONST("HTTP/1.0 200 OK\r\n\r\nold"), "old" },
        { SPAN_CONST("HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nX: 1\r\n\r\n" OK_HEAD
                     "Content-Length: 2\r\n\r\nok"),
          "ok" },
        { SPAN_CONST("HTTP/1.1 204 No Content\r\n\r\n"), "" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct result r = { .want = "X" };

        ask(&r, (struct raw_script){ .first = cases[i].answer }, NULL);
        if (r.failed)
            TAP_FAIL("case %zu: %s", i, r.err.msg);
        CHECK_STR(buf_cstr(&r.body), cases[i].body);
        CHECK_STR(buf_cstr(&r.header), "(absent)"); /* a hint's header is not the answer's */
        CHECK_INT(r.heads, 1);
        result_free(&r);
    }
}

TEST(headers_of_one_name_are_joined_and_found_in_any_case)
{
    struct result r = { .want = "x-MANY" };

    ask(&r,
        (struct raw_script){ .first = SPAN(OK_HEAD
                                           "X-Many: a\r\nOther: x-many: no\r\nx-many:   b, c  \r\n"
                                           "X-MANY:\r\nContent-Length: 0\r\n\r\n") },
        NULL);
    CHECK(!r.failed);
    CHECK_STR(buf_cstr(&r.header), "a, b, c, ");
    result_free(&r);
}

/* As many as fit into a head: joined one by one they take a hundred times as long. */
TEST(a_header_that_comes_many_times_is_joined_in_one_pass)
{
    enum { TIMES = 4500 };
    AUTO_BUF struct buf head = { 0 };
    struct result r = { .want = "x" };

    buf_str(&head, OK_HEAD "Content-Length: 0\r\n");
    for (int i = 0; i < TIMES; i++)
        buf_str(&head, "x:abcdefgh\r\n");
    buf_str(&head, "\r\n");
    ask(&r, (struct raw_script){ .first = buf_span(&head) }, NULL);
    CHECK(!r.failed);
    CHECK_INT(r.header.n, TIMES * 8 + (TIMES - 1) * 2);
    printf("# %.1f ms\n", r.header_ms);
    CHECK(r.header_ms < 50);
    result_free(&r);
}

TEST(the_head_of_an_answer_has_a_bound)
{
    static char big[1 << 20];
    static const struct {
        struct span first, again;
        size_t times;
    } floods[] = {
        { SPAN_CONST(OK_HEAD "X: "), { big, sizeof big }, 1 },
        { SPAN_CONST(OK_HEAD), SPAN_CONST("X: y\r\n"), SIZE_MAX },
        { SPAN_CONST(""), SPAN_CONST("HTTP/1.1 100 Continue\r\n\r\n"), SIZE_MAX },
        { SPAN_CONST(OK_HEAD "Transfer-Encoding: chunked\r\n\r\n0\r\n"),
          SPAN_CONST("T: trailer\r\n"), SIZE_MAX },
    };

    memset(big, 'x', sizeof big);
    for (size_t i = 0; i < ARRAY_LEN(floods); i++) {
        struct result r = { 0 };

        ask(&r, (struct raw_script){ floods[i].first, floods[i].again, floods[i].times, false },
            NULL);
        CHECK(r.failed);
        CHECK_INT(r.err.code, PB_E_LIMIT);
        if (i > 0) /* a single line that long is libcurl's own to refuse */
            CHECK_HAS(r.err.msg, "the head of the answer is larger than 65536 bytes");
        result_free(&r);
    }
    /* At the bound and one past it. */
    for (int extra = 0; extra < 2; extra++) {
        AUTO_BUF struct buf head = { 0 };
        struct result r = { 0 };

        buf_str(&head, OK_HEAD "Content-Length: 0\r\n");
        while (head.n < HTTP_REPLY_HEAD_MAX - 1000)
            buf_printf(&head, "X: %0990d\r\n", 1);
        buf_printf(&head, "X: %0*d\r\n\r\n", HTTP_REPLY_HEAD_MAX - (int)head.n - 7 + extra, 1);
        ask(&r, (struct raw_script){ .first = buf_span(&head) }, NULL);
        CHECK_INT(r.failed, extra);
        result_free(&r);
    }
}

/* The server says something and then nothing more; time passes by hand. */
TEST(every_wait_for_a_server_ends)
{
    static const struct {
        struct http_client_request req;
        struct span said;
        bool head;
        uint64_t ms;
        const char *want;
    } cases[] = {
        { { .head_ms = 5000 },
          SPAN_CONST(""),
          false,
          5000,
          "an answer did not come within 5000 ms" },
        { { .head_ms = 5000 }, SPAN_CONST("HTTP/1.1 200 OK\r\nX: drip"), false, 5000, "an answer" },
        { { .head_ms = 5000 },
          SPAN_CONST("HTTP/1.1 100 Continue\r\n\r\n"),
          false,
          5000,
          "an answer" },
        { { .idle_ms = 7000, .head_ms = 100 },
          SPAN_CONST(OK_HEAD "\r\nx"),
          true,
          7000,
          "more of the answer did not come within 7000 ms" },
        { { .total_ms = 9000, .idle_ms = 20000 },
          SPAN_CONST(OK_HEAD "\r\nx"),
          true,
          9000,
          "the whole answer did not come within 9000 ms" },
        { { .total_ms = 9000 }, SPAN_CONST(""), false, 9000, "the whole answer" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct client_rig c = { 0 };
        struct raw w = { 0 };
        struct result r = { 0 };
        struct http_client_request req = cases[i].req;

        raw_add(&w, (struct raw_script){ .first = cases[i].said, .hold = true });
        raw_open(&w);
        client_rig_open(&c);
        req.url = w.url;
        client_send(&c, &r, &req);
        if (cases[i].head)
            client_until(&c, &r.datas);
        loop_advance(c.rig.loop, cases[i].ms - 1);
        CHECK_INT(r.done, 0);
        loop_advance(c.rig.loop, 1);
        CHECK_INT(r.done, 1);
        CHECK(r.failed);
        CHECK_INT(r.err.code, PB_E_TIMEOUT);
        CHECK_HAS(r.err.msg, cases[i].want);
        CHECK_HAS(r.err.msg, w.url);
        client_rig_close(&c);
        raw_close(&w);
        buf_done(&w.seen);
        result_free(&r);
    }
}

TEST(bytes_keep_a_stream_alive_and_a_pause_is_not_the_servers_silence)
{
    struct client_rig c = { 0 };
    struct result r = { 0 };
    struct span tick = SPAN("tick");
    char url[80];

    client_rig_open(&c);
    snprintf(url, sizeof url, "%s/stream", c.url);
    client_send(&c, &r, &(struct http_client_request){ .url = url, .idle_ms = 1000 });
    client_until(&c, &r.heads);
    for (int i = 1; i <= 5; i++) {
        loop_advance(c.rig.loop, 900);
        http_write(c.rig.kept[0], &tick, 1);
        while (r.body.n < (size_t)i * 4)
            loop_turn(c.rig.loop, true);
    }
    r.pause = true;
    http_write(c.rig.kept[0], &tick, 1);
    client_until(&c, &r.paused);
    loop_advance(c.rig.loop, 100000);
    CHECK_INT(r.done, 0);
    r.pause = false;
    http_call_resume(r.call);
    while (r.body.n < 24)
        loop_turn(c.rig.loop, true);
    loop_advance(c.rig.loop, 999);
    CHECK_INT(r.done, 0);
    loop_advance(c.rig.loop, 1);
    CHECK_INT(r.done, 1);
    CHECK_INT(r.err.code, PB_E_TIMEOUT);
    result_free(&r);
    client_rig_close(&c);
}

TEST(connecting_has_a_deadline_of_its_own)
{
    struct client_rig c = { 0 };
    struct result r = { 0 };
    struct full full;
    char url[64];

    full_open(&full);
    client_rig_open(&c);
    snprintf(url, sizeof url, "http://127.0.0.1:%d/", full.port);
    client_send(&c, &r, &(struct http_client_request){ .url = url });
    for (int i = 0; i < 100; i++)
        loop_turn(c.rig.loop, false);
    loop_advance(c.rig.loop, HTTP_CONNECT_MS - 1);
    CHECK_INT(r.done, 0);
    loop_advance(c.rig.loop, 1);
    CHECK_INT(r.done, 1);
    CHECK_INT(r.err.code, PB_E_TIMEOUT);
    CHECK_HAS(r.err.msg, "a connection did not come within 10000 ms");
    client_rig_close(&c);
    full_close(&full);
}

TEST(nobody_there_is_said_with_the_address)
{
    int port, fd = loopback_bind(&port);
    struct client_rig c = { 0 };
    struct result r = { 0 };
    char url[64];

    client_rig_open(&c);
    snprintf(url, sizeof url, "http://127.0.0.1:%d/?secret=1", port);
    client_send(&c, &r, &(struct http_client_request){ .url = url });
    client_until(&c, &r.done);
    CHECK_INT(r.err.code, PB_E_CLOSED);
    CHECK_INT(r.err.sys, ECONNREFUSED);
    CHECK_HAS(r.err.msg, "http://127.0.0.1:");
    CHECK(!strstr(r.err.msg, "secret"));
    client_rig_close(&c);
    close(fd);
}

/* ---- TLS, with the openssl program as the other side -------------------------------------- */

struct tls {
    pid_t pid;
    int port;
    int out; /* its stdout */
    int in;  /* its stdin: it ends when that does */
};

static void run(char *const *argv)
{
    posix_spawn_file_actions_t fa;
    int status;
    pid_t pid;

    posix_spawn_file_actions_init(&fa);
    posix_spawn_file_actions_addopen(&fa, 2, "/dev/null", O_WRONLY, 0);
    CHECK_INT(posix_spawnp(&pid, argv[0], &fa, NULL, argv, environ), 0);
    posix_spawn_file_actions_destroy(&fa);
    waitpid(pid, &status, 0);
    CHECK_INT(status, 0);
}

static char *const *words(const char *v[]) { return (char *const *)(uintptr_t)v; }

static void make_certificate(const char *key, const char *cert, const char *name)
{
    run(words((const char *[]){ "openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                                "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
                                "/CN=test", "-addext", name, "-keyout", key, "-out", cert, NULL }));
}

/* openssl s_server on a free port; -www answers GET with a page. */
static void tls_open(struct tls *t, const char *name, const char *extra)
{
    const char *key = temp_path("key"), *cert = temp_path("cert");
    const char *argv[] = { "openssl", "s_server", "-accept", "127.0.0.1:0",
                           "-www",    "-key",     key,       "-cert",
                           cert,      extra,      "-cipher", "ALL:@SECLEVEL=0",
                           NULL };
    char text[512] = "";
    int out[2], in[2];
    size_t n = 0;
    posix_spawn_file_actions_t fa;

    make_certificate(key, cert, name);
    CHECK_INT(pipe2(out, O_CLOEXEC) + pipe2(in, O_CLOEXEC), 0);
    posix_spawn_file_actions_init(&fa);
    posix_spawn_file_actions_adddup2(&fa, in[0], 0);
    posix_spawn_file_actions_adddup2(&fa, out[1], 1);
    posix_spawn_file_actions_addopen(&fa, 2, "/dev/null", O_WRONLY, 0);
    CHECK_INT(posix_spawnp(&t->pid, argv[0], &fa, NULL, words(argv), environ), 0);
    posix_spawn_file_actions_destroy(&fa);
    close(out[1]);
    close(in[0]);
    t->out = out[0];
    t->in = in[1];
    while (!strstr(text, "ACCEPT") || !strchr(strstr(text, "ACCEPT"), '\n')) {
        ssize_t got = read(t->out, text + n, sizeof text - 1 - n);

        CHECK(got > 0);
        n += (size_t)got;
        text[n] = '\0';
    }
    t->port = (int)strtol(strrchr(strstr(text, "ACCEPT"), ':') + 1, NULL, 10);
    CHECK(t->port > 0);
}

static void tls_close(struct tls *t)
{
    kill(t->pid, SIGKILL);
    waitpid(t->pid, NULL, 0);
    close(t->in);
    close(t->out);
}

static bool have_openssl(void) { return access("/usr/bin/openssl", X_OK) == 0; }

static void tls_get(struct result *r, const char *host, int port)
{
    struct client_rig c = { 0 };
    char url[64];

    client_rig_open(&c);
    snprintf(url, sizeof url, "https://%s:%d", host, port);
    client_get(&c, r, url, "/");
    client_until(&c, &r->done);
    client_rig_close(&c);
}

TEST(a_server_that_cannot_prove_its_name_is_refused)
{
    static const struct {
        const char *name, *host, *extra;
        bool trusted;
        const char *want; /* NULL: fine */
    } cases[] = {
        { "subjectAltName=IP:127.0.0.1", "127.0.0.1", "-tls1_2", true, NULL },
        { "subjectAltName=IP:127.0.0.1", "127.0.0.1", "-tls1_3", true, NULL },
        { "subjectAltName=IP:127.0.0.1", "127.0.0.1", "-tls1_2", false, "self-signed certificate" },
        { "subjectAltName=IP:127.0.0.2", "127.0.0.1", "-tls1_2", true, "127.0.0.1" },
        { "subjectAltName=DNS:example.com", "127.0.0.1", "-tls1_2", true, "127.0.0.1" },
        { "subjectAltName=IP:127.0.0.1", "127.0.0.1", "-tls1_1", true, "protocol" },
        { "subjectAltName=IP:127.0.0.1", "127.0.0.1", "-tls1", true, "protocol" },
    };

    if (!have_openssl())
        TAP_SKIP("install the package openssl to test TLS");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct tls t;
        struct result r = { 0 };

        tls_open(&t, cases[i].name, cases[i].extra);
        if (cases[i].trusted)
            setenv("SSL_CERT_FILE", temp_path("cert"), 1);
        else
            unsetenv("SSL_CERT_FILE");
        tls_get(&r, cases[i].host, t.port);
        if (!cases[i].want) {
            if (r.failed)
                TAP_FAIL("case %zu: %s", i, r.err.msg);
            CHECK_INT(r.status, 200);
        } else {
            if (!r.failed || r.heads || r.err.code != PB_E_INVALID ||
                !strstr(r.err.msg, cases[i].want))
                TAP_FAIL("case %zu: %s", i, r.failed ? r.err.msg : "was accepted");
            CHECK_HAS(r.err.msg, "https://127.0.0.1:");
        }
        tls_close(&t);
        result_free(&r);
    }
}

TEST(https_never_falls_back_to_plain_http)
{
    struct client_rig c = { 0 };
    struct result r = { 0 };
    char url[64];

    client_rig_open(&c);
    snprintf(url, sizeof url, "https://127.0.0.1:%d", http_server_port(c.rig.server));
    client_get(&c, &r, url, "/");
    client_until(&c, &r.done);
    CHECK(r.failed);
    CHECK_INT(r.err.code, PB_E_INVALID);
    CHECK_INT(c.rig.n_requests, 0);
    client_rig_close(&c);
}
