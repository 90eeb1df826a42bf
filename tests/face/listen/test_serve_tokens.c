/* What a token opened ends with it: streams, sessions, calls, and what is kept for them. */
#include "face/caller/caller.h"
#include "face/listen/listen.h"
#include "face/rest_rig.h"

#define BEARER(token) "Authorization: Bearer " token "\r\n"
#define MCP_HEADERS   REST_JSON "Accept: application/json, text/event-stream\r\n"
#define INITIALIZE                                                                               \
    "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":\"" \
    "2025-06-18\",\"capabilities\":{},\"clientInfo\":{\"name\":\"t\",\"version\":\"1\"}}}"
#define MODERN(method, more)                                                                     \
    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"" method "\",\"params\":{" more                  \
    "\"_meta\":{\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","                     \
    "\"io.modelcontextprotocol/clientCapabilities\":{},\"io.modelcontextprotocol/clientInfo\":{" \
    "\"name\":\"t\",\"version\":\"1\"}}}}"
#define MODERN_HEADERS(method) "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: " method "\r\n"

static void add_token(struct tokens *t, const char *text, enum token_may may)
{
    uint8_t digest[SHA256_BYTES];
    struct pb_error err;

    sha256(span_of(text), digest);
    CHECK_INT(tokens_add(t, span_of(text), may, digest, 1700000000, &err), 0);
}

/* `mine` has what it may; `yours` stays. */
static void set_tokens(struct rest_rig *w, unsigned mine)
{
    struct tokens *t = tokens_new();

    if (mine)
        add_token(t, "mine", (enum token_may)mine);
    add_token(t, "yours", TOKEN_ALL);
    serve_set_tokens(w->serve, t);
}

static void init(struct rest_rig *w)
{
    rest_init(w, NULL);
    fake_tool(rig_server(&w->hub, "alpha"), "echo", FAKE_ECHO);
    fake_tool(rig_server(&w->hub, "beta"), "hang", FAKE_HANG);
    rest_start(w);
    set_tokens(w, TOKEN_ALL);
}

/* Everything that one client can have open. */
enum { OPEN_EVENTS, OPEN_SESSION, OPEN_SSE, OPEN_LISTEN, OPEN_CALL, OPEN_COUNT };

struct holder {
    struct line lines[OPEN_COUNT];
    char session[64]; /* its header */
};

static void say(struct line *s, const char *request, const char *token, const char *headers,
                const char *body)
{
    AUTO_BUF struct buf all = { 0 };

    buf_printf(&all, BEARER("%s") "%s", token, headers);
    line_ask(s, request, NULL, buf_cstr(&all), body);
}

static void open_session(struct line *s, const char *token, struct holder *c)
{
    AUTO_BUF struct buf headers = { 0 };
    const char *id;

    say(s, "POST /mcp", token, MCP_HEADERS, INITIALIZE);
    CHECK_INT(line_answer(s), 200);
    id = strstr(rest_head, "Mcp-Session-Id: ");
    CHECK(id);
    snprintf(c->session, sizeof c->session, "%.*s\r\n", (int)strcspn(id, "\r"), id);
    s->in.n = 0;
    buf_printf(&headers, "%sAccept: text/event-stream\r\n", c->session);
    say(s, "GET /mcp", token, buf_cstr(&headers), "");
}

static void holder_open(struct holder *c, struct rest_rig *w, const char *token)
{
    for (int i = 0; i < OPEN_COUNT; i++)
        line_open(w, &c->lines[i]);
    say(&c->lines[OPEN_EVENTS], "GET /api/events", token, "", "");
    open_session(&c->lines[OPEN_SESSION], token, c);
    say(&c->lines[OPEN_SSE], "GET /mcp/alpha/sse", token, "Accept: text/event-stream\r\n", "");
    say(&c->lines[OPEN_LISTEN], "POST /mcp", token,
        MCP_HEADERS MODERN_HEADERS("subscriptions/listen"),
        MODERN("subscriptions/listen", "\"notifications\":{\"toolsListChanged\":true},"));
    for (int i = 0; i < OPEN_CALL; i++)
        line_until(&c->lines[i], "text/event-stream");
    say(&c->lines[OPEN_CALL], "POST /mcp", token,
        MCP_HEADERS MODERN_HEADERS("tools/call") "Mcp-Name: beta__hang\r\n",
        MODERN("tools/call", "\"name\":\"beta__hang\",\"arguments\":{},"));
    for (int i = 0; i < 20; i++)
        line_turn(&c->lines[OPEN_CALL]);
}

static void holder_close(struct holder *c)
{
    for (int i = 0; i < OPEN_COUNT; i++)
        line_close(&c->lines[i]);
}

static bool has_ended(struct line *s)
{
    for (int i = 0; i < 20; i++)
        line_turn(s);
    return s->over || strstr(buf_cstr(&s->in), "\r\n0\r\n\r\n") ||
           strstr(buf_cstr(&s->in), "Content-Length: ");
}

/* The bits of what has ended. */
static unsigned ended(struct holder *c)
{
    unsigned bits = 0;

    for (int i = 0; i < OPEN_COUNT; i++)
        bits |= (unsigned)has_ended(&c->lines[i]) << i;
    return bits;
}

static int use_session(struct holder *c, struct rest_rig *w, const char *token)
{
    AUTO_BUF struct buf headers = { 0 };

    buf_printf(&headers, BEARER("%s") MCP_HEADERS "%s", token, c->session);
    return rest_ask(w, "POST /mcp", NULL, buf_cstr(&headers),
                    "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}");
}

enum { ALL_ENDED = (1 << OPEN_COUNT) - 1 };

TEST(with_a_token_ends_all_that_it_opened_and_nothing_else)
{
    struct holder mine, yours;
    struct rest_rig w;

    init(&w);
    holder_open(&yours, &w, "yours");
    holder_open(&mine, &w, "mine");
    set_tokens(&w, TOKEN_ALL); /* read again: the same token */
    CHECK_INT(ended(&mine), 0);
    CHECK_INT(use_session(&mine, &w, "mine"), 200);

    set_tokens(&w, 0);
    CHECK_INT(ended(&mine), ALL_ENDED);
    CHECK_HAS(buf_cstr(&mine.lines[OPEN_CALL].in), "HTTP/1.1 503");
    CHECK_HAS(buf_cstr(&mine.lines[OPEN_CALL].in), "the token was taken back");
    CHECK_INT(use_session(&mine, &w, "mine"), 401);
    CHECK_INT(ended(&yours), 0);
    CHECK_INT(use_session(&yours, &w, "yours"), 200);

    set_tokens(&w, TOKEN_ALL); /* given again: what it had is gone all the same */
    CHECK_INT(use_session(&mine, &w, "mine"), 404);
    holder_close(&mine);
    holder_close(&yours);
    rest_done(&w);
}

TEST(a_token_that_may_less_loses_what_it_may_not_have)
{
    static const struct {
        unsigned may, ended;
    } cases[] = {
        { TOKEN_READ, ALL_ENDED & ~(1U << OPEN_EVENTS) },
        { TOKEN_MCP, 1U << OPEN_EVENTS },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct holder mine;
        struct rest_rig w;

        init(&w);
        holder_open(&mine, &w, "mine");
        set_tokens(&w, cases[i].may);
        CHECK_INT(ended(&mine), cases[i].ended);
        holder_close(&mine);
        rest_done(&w);
    }
}

TEST(tokens_that_cannot_be_read_open_nothing_and_a_stop_follows)
{
    struct holder mine;
    struct rest_rig w;

    init(&w);
    holder_open(&mine, &w, "mine");
    serve_set_tokens(w.serve, NULL);
    CHECK_INT(ended(&mine), ALL_ENDED);
    holder_close(&mine);
    rest_done(&w);
}
