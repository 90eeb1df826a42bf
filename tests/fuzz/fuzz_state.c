/* fuzz_state - requestState as a client may send it. The first byte chooses: the text as it comes;
 * the rest as a payload that we signed, so that what lies behind the signature is reached too; or a
 * state of our own with one byte changed. Nothing but what state_seal() made is ever opened, and
 * what it made comes back as it was. */
#include "mcp/rpc/rpc.h"
#include "mcp/rpc/state.h"

#define MUST(cond)   \
    do {             \
        if (!(cond)) \
            abort(); \
    } while (0)

enum { NOW = 1000, MODES = 3 };

static const uint8_t key[STATE_KEY_BYTES] = { 42 };

static struct state_bond bond(void)
{
    struct state_bond b = { .key = key, .principal = "me" };

    state_digest(b.request, SPAN("tools/call"), SPAN("t"), (struct json){ 0 });
    return b;
}

static bool opens(struct span text, struct state *s, struct arena *a)
{
    struct state_bond b = bond();
    struct pb_error err;

    if (state_open(s, text, &b, NOW, a, &err) == 0)
        return true;
    MUST(err.code == PB_E_INVALID);
    return false;
}

static void as_it_comes(struct span data)
{
    AUTO_ARENA struct arena a = { 0 };
    struct state s;

    MUST(!opens(data, &s, &a)); /* to be accepted it would have to guess the key */
}

static void signed_by_us(struct span data)
{
    AUTO_ARENA struct arena a = { 0 };
    AUTO_BUF struct buf text = { 0 };
    AUTO_JSON struct json_doc doc = { 0 };
    uint8_t mac[SHA256_BYTES];
    struct state s;

    hmac_sha256(span_make((const char *)key, sizeof key), data, mac);
    base64url_encode(&text, data);
    buf_byte(&text, '.');
    base64url_encode(&text, span_make((const char *)mac, sizeof mac));
    if (!opens(buf_span(&text), &s, &a))
        return;
    MUST(s.round <= MCP_ASK_ROUNDS_MAX);
    MUST(json_parse(&doc, s.answers, NULL, NULL) == 0 && json_is(json_root(&doc), JSON_OBJECT));
    MUST(!s.user.n || json_parse(&doc, s.user, NULL, NULL) == 0);
}

static void changed(struct span data)
{
    AUTO_ARENA struct arena a = { 0 };
    AUTO_BUF struct buf text = { 0 }, user = { 0 };
    struct state s = { .round = 1 }, back;
    struct state_bond b = bond();
    size_t at;

    json_quote(&user, span_from(data, 2));
    s.user = buf_span(&user);
    if (state_seal(&text, &s, &b, NOW, NULL) < 0)
        return;
    MUST(opens(buf_span(&text), &back, &a));
    MUST(span_eq(back.user, s.user) && span_is(back.answers, "{}"));
    at = ((size_t)(uint8_t)data.p[0] << 8 | (uint8_t)data.p[1]) % text.n;
    text.p[at] = (char)(text.p[at] ^ (1 << (data.p[0] & 7)));
    MUST(!opens(buf_span(&text), &back, &a));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct span rest = { (const char *)data + 1, size - 1 };

    if (size < 3)
        return 0;
    switch (data[0] % MODES) {
    case 0:
        as_it_comes(rest);
        break;
    case 1:
        signed_by_us(rest);
        break;
    default:
        changed(rest);
        break;
    }
    return 0;
}
