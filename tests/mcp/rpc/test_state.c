#include "mcp/rpc/rpc.h"
#include "mcp/rpc/state.h"
#include "tap.h"

static const uint8_t key[STATE_KEY_BYTES] = { 1, 2, 3 };
enum { NOW = 1000000 };

static struct state_bond bond_of(const char *who, const char *name, const char *arguments)
{
    AUTO_JSON struct json_doc doc = { 0 };
    struct state_bond b = { .key = key, .principal = who };

    CHECK_INT(json_parse(&doc, span_of(arguments), NULL, NULL), 0);
    state_digest(b.request, SPAN("tools/call"), span_of(name), json_root(&doc));
    return b;
}

static void seal(struct buf *out, const struct state_bond *b)
{
    struct state s = { .answers = SPAN("{\"q\":{\"action\":\"accept\"}}"),
                       .user = SPAN("[1,\"two\"]"),
                       .round = 3 };

    CHECK_INT(state_seal(out, &s, b, NOW, NULL), 0);
}

static int try_open(struct span text, const struct state_bond *b, int64_t now)
{
    AUTO_ARENA struct arena a = { 0 };
    struct state s;
    struct pb_error err;
    int rc = state_open(&s, text, b, now, &a, &err);

    if (rc < 0)
        CHECK_STR(err.msg, "requestState is not valid for this request");
    return rc;
}

TEST(what_was_sealed_comes_back)
{
    AUTO_ARENA struct arena a = { 0 };
    AUTO_BUF struct buf text = { 0 };
    struct state_bond b = bond_of("ann", "tool", "{\"a\":1,\"b\":[2]}");
    struct state s;

    seal(&text, &b);
    CHECK_INT(state_open(&s, buf_span(&text), &b, NOW, &a, NULL), 0);
    CHECK_SPAN(s.answers, "{\"q\":{\"action\":\"accept\"}}");
    CHECK_SPAN(s.user, "[1,\"two\"]");
    CHECK_INT(s.round, 3);
}

TEST(the_same_request_in_another_spelling_is_the_same)
{
    AUTO_BUF struct buf text = { 0 };
    struct state_bond b = bond_of("ann", "tool", "{\"a\":1,\"b\":[2]}");
    struct state_bond same = bond_of("ann", "tool", " { \"b\" : [ 2 ], \"\\u0061\":1 } ");

    seal(&text, &b);
    CHECK_INT(try_open(buf_span(&text), &same, NOW), 0);
}

TEST(another_request_owner_key_or_time_is_refused)
{
    AUTO_BUF struct buf text = { 0 };
    struct state_bond b = bond_of("ann", "tool", "{\"a\":1}");
    struct state_bond others[] = {
        bond_of("bob", "tool", "{\"a\":1}"),  bond_of("", "tool", "{\"a\":1}"),
        bond_of("ann", "tools", "{\"a\":1}"), bond_of("ann", "tool", "{\"a\":2}"),
        bond_of("ann", "tool", "{}"),
    };
    uint8_t other_key[STATE_KEY_BYTES] = { 9 };

    seal(&text, &b);
    CHECK_INT(try_open(buf_span(&text), &b, NOW), 0);
    for (size_t i = 0; i < ARRAY_LEN(others); i++)
        CHECK_INT(try_open(buf_span(&text), &others[i], NOW), -PB_E_INVALID);
    CHECK_INT(try_open(buf_span(&text), &b, NOW + MCP_STATE_MS - 1), 0);
    CHECK_INT(try_open(buf_span(&text), &b, NOW + MCP_STATE_MS), -PB_E_INVALID);
    b.key = other_key;
    CHECK_INT(try_open(buf_span(&text), &b, NOW), -PB_E_INVALID);
}

TEST(every_changed_byte_is_noticed)
{
    AUTO_BUF struct buf text = { 0 };
    struct state_bond b = bond_of("ann", "tool", "{\"a\":1}");

    seal(&text, &b);
    for (size_t i = 0; i < text.n; i++) {
        char was = text.p[i];

        text.p[i] = was == 'A' ? 'B' : 'A';
        CHECK_INT(try_open(buf_span(&text), &b, NOW), -PB_E_INVALID);
        text.p[i] = was;
        CHECK_INT(try_open(span_make(text.p, i), &b, NOW), -PB_E_INVALID);
    }
    buf_str(&text, "-TAMPERED");
    CHECK_INT(try_open(buf_span(&text), &b, NOW), -PB_E_INVALID);
    CHECK_INT(try_open(SPAN(""), &b, NOW), -PB_E_INVALID);
    CHECK_INT(try_open(SPAN("."), &b, NOW), -PB_E_INVALID);
    CHECK_INT(try_open(SPAN("!.!"), &b, NOW), -PB_E_INVALID);
}

/* The bound, one past it and far past it. */
TEST(the_size_is_bounded)
{
    struct state_bond b = bond_of("ann", "tool", "{}");
    size_t most = 0;

    for (size_t n = MCP_STATE_BYTES_MAX / 2; n < MCP_STATE_BYTES_MAX; n++) {
        AUTO_BUF struct buf user = { 0 }, out = { 0 };
        struct state s = { .round = 1 };
        struct pb_error err;
        int rc;

        buf_byte(&user, '"');
        memset(buf_reserve(&user, n), 'x', n);
        user.n += n;
        buf_byte(&user, '"');
        s.user = buf_span(&user);
        rc = state_seal(&out, &s, &b, NOW, &err);
        if (rc == 0) {
            CHECK(out.n <= MCP_STATE_BYTES_MAX);
            CHECK_INT(try_open(buf_span(&out), &b, NOW), 0);
            most = out.n;
            n += 250;
            continue;
        }
        CHECK_INT(rc, -PB_E_LIMIT);
        CHECK_INT(out.n, 0);
        CHECK(most > MCP_STATE_BYTES_MAX - 1000);
        break;
    }
    CHECK(most);
}
