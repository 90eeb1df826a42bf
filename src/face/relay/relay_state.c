#include "face/caller/caller.h"
#include "hub/hub/hub.h"
#include "mcp/rpc/rpc.h"
#include "mcp/serve/serve.h"
#include "relay_impl.h"

const char *subject_key(const struct request *r)
{
    return span_is(r->method, "resources/read") ? "uri" : "name";
}

/* What a state belongs to: a client, and what it asked for, in its own words. */
static void bind(struct state_bond *out, const struct relays *s, const struct request *r,
                 struct buf *caller)
{
    AUTO_ARENA struct arena arena = { 0 };

    caller_key(r, caller);
    out->key = s->key;
    out->principal = buf_cstr(caller);
    state_digest(out->request, r->method, json_str(json_get(r->params, subject_key(r)), &arena),
                 json_get(r->params, "arguments"));
}

int relay_seal(struct buf *out, const struct relays *s, const struct request *r,
               const struct relay_state *st, unsigned round, struct pb_error *err)
{
    AUTO_BUF struct buf caller = { 0 }, user = { 0 };
    struct json_out o = json_out(&user);
    struct state_bond bond;
    struct state state = { .round = round };
    int rc;

    json_begin_object(&o, NULL);
    if (st->ticket.n) {
        json_put_span(&o, "ticket", st->ticket);
    } else {
        json_put_span(&o, "server", st->server);
        json_put_span(&o, "subject", st->subject);
        json_put_raw(&o, "upstream", st->upstream);
    }
    json_end(&o);
    state.user = buf_span(&user);
    bind(&bond, s, r, &caller);
    rc = state_seal(out, &state, &bond, loop_wall(hub_loop(s->hub)), err);
    if (rc < 0)
        return fail(err, PB_E_LIMIT, "the server's requestState is too large to be passed on");
    return 0;
}

int relay_open(struct relay_state *out, const struct relays *s, const struct request *r,
               struct json text, struct arena *arena, struct pb_error *err)
{
    static const struct json_field fields[] = {
        { "ticket", JSON_FIELD_STRING, offsetof(struct relay_state, ticket), 0 },
        { "server", JSON_FIELD_STRING, offsetof(struct relay_state, server), 0 },
        { "subject", JSON_FIELD_STRING, offsetof(struct relay_state, subject), 0 },
        { 0 },
    };
    AUTO_BUF struct buf caller = { 0 };
    AUTO_JSON struct json_doc doc = { 0 };
    struct state_bond bond;
    struct state state = { 0 };
    int rc;

    bind(&bond, s, r, &caller);
    rc = state_open(&state, json_str(text, arena), &bond, loop_wall(hub_loop(s->hub)), arena, err);
    if (rc < 0)
        return rc;
    /* The text is our own; its spans lie in the arena, as state_open() has put it there. */
    if (json_parse(&doc, state.user, NULL, NULL) < 0 ||
        json_fields(json_root(&doc), fields, out, arena, NULL) < 0)
        return fail(err, PB_E_INVALID, "requestState is not valid for this request");
    out->upstream = json_text(json_get(json_root(&doc), "upstream"));
    return 0;
}
