#include "state.h"

struct payload {
    int64_t expires;
    uint64_t round;
    struct span who, request;
    struct json answers, user;
};

static const struct json_field fields[] = {
    { "exp", JSON_FIELD_INT, offsetof(struct payload, expires), JSON_REQUIRED },
    { "round", JSON_FIELD_UINT, offsetof(struct payload, round), JSON_REQUIRED },
    { "who", JSON_FIELD_STRING, offsetof(struct payload, who), JSON_REQUIRED },
    { "req", JSON_FIELD_STRING, offsetof(struct payload, request), JSON_REQUIRED },
    { "answers", JSON_FIELD_OBJECT, offsetof(struct payload, answers), JSON_REQUIRED },
    { "user", JSON_FIELD_ANY, offsetof(struct payload, user), 0 },
    { 0 },
};

void state_digest(uint8_t out[static SHA256_BYTES], struct span method, struct span name,
                  struct json arguments)
{
    AUTO_BUF struct buf text = { 0 };

    /* lengths in front, so that no two requests run together into the same bytes */
    buf_printf(&text, "%zu %zu ", method.n, name.n);
    buf_add_span(&text, method);
    buf_add_span(&text, name);
    if (json_is(arguments, JSON_OBJECT))
        json_canonical(&text, arguments);
    else
        buf_str(&text, "{}");
    sha256(buf_span(&text), out);
}

static struct span bond_request(const struct state_bond *bond)
{
    return span_make((const char *)bond->request, sizeof bond->request);
}

int state_seal(struct buf *out, const struct state *s, const struct state_bond *bond,
               int64_t now_ms, struct pb_error *err)
{
    AUTO_BUF struct buf payload = { 0 }, digest = { 0 };
    struct json_out o = json_out(&payload);
    uint8_t mac[SHA256_BYTES];
    size_t was = out->n;

    base64url_encode(&digest, bond_request(bond));
    json_begin_object(&o, NULL);
    json_put_int(&o, "exp", now_ms + MCP_STATE_MS);
    json_put_uint(&o, "round", s->round);
    json_put_str(&o, "who", bond->principal);
    json_put_span(&o, "req", buf_span(&digest));
    json_put_raw(&o, "answers", s->answers.n ? s->answers : SPAN("{}"));
    json_put_raw(&o, "user", s->user);
    json_end(&o);

    hmac_sha256(span_make((const char *)bond->key, STATE_KEY_BYTES), buf_span(&payload), mac);
    base64url_encode(out, buf_span(&payload));
    buf_byte(out, '.');
    base64url_encode(out, span_make((const char *)mac, sizeof mac));
    if (out->n - was > MCP_STATE_BYTES_MAX) {
        out->n = was;
        return fail(err, PB_E_LIMIT,
                    "the answers so far do not fit into a requestState of %d bytes",
                    MCP_STATE_BYTES_MAX);
    }
    return 0;
}

/* The payload's text, if we signed it. */
static bool check_mac(struct span text, const uint8_t *key, struct buf *payload)
{
    const char *dot = text.n ? memchr(text.p, '.', text.n) : NULL;
    AUTO_BUF struct buf mac = { 0 };
    uint8_t want[SHA256_BYTES];

    if (!dot || text.n > MCP_STATE_BYTES_MAX)
        return false;
    if (!base64url_decode(payload, span_make(text.p, (size_t)(dot - text.p))) ||
        !base64url_decode(&mac, span_from(text, (size_t)(dot - text.p) + 1)))
        return false;
    hmac_sha256(span_make((const char *)key, STATE_KEY_BYTES), buf_span(payload), want);
    return mac.n == sizeof want && bytes_equal_const_time(mac.p, want, sizeof want);
}

static bool check_payload(const struct payload *p, const struct state_bond *bond, int64_t now_ms)
{
    AUTO_BUF struct buf digest = { 0 };

    return p->expires > now_ms && p->round <= MCP_ASK_ROUNDS_MAX &&
           span_is(p->who, bond->principal) && base64url_decode(&digest, p->request) &&
           span_eq(buf_span(&digest), bond_request(bond));
}

int state_open(struct state *out, struct span text, const struct state_bond *bond, int64_t now_ms,
               struct arena *arena, struct pb_error *err)
{
    AUTO_BUF struct buf payload = { 0 };
    AUTO_JSON struct json_doc doc = { 0 };
    struct payload p = { 0 };

    if (!check_mac(text, bond->key, &payload) ||
        json_parse(&doc, buf_span(&payload), NULL, NULL) < 0 ||
        json_fields(json_root(&doc), fields, &p, arena, NULL) < 0 ||
        !check_payload(&p, bond, now_ms))
        return fail(err, PB_E_INVALID, "requestState is not valid for this request");
    out->round = (unsigned)p.round;
    out->answers.n = json_text(p.answers).n;
    out->answers.p = arena_dup(arena, json_text(p.answers));
    out->user = (struct span){ 0 };
    if (!json_is(p.user, JSON_NONE)) {
        out->user.n = json_text(p.user).n;
        out->user.p = arena_dup(arena, json_text(p.user));
    }
    return 0;
}
