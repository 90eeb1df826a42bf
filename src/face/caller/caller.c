#include "caller.h"
#include "mcp/serve/serve.h"

static const char peer_word[] = "peer ";

void caller_peer_key(const struct peer *p, struct buf *out)
{
    buf_str(out, peer_word);
    buf_uint(out, peer_serial(p));
}

uint64_t caller_serial(const char *key)
{
    size_t n = sizeof peer_word - 1;

    return strncmp(key, peer_word, n) == 0 ? strtoull(key + n, NULL, 10) : 0;
}

const char *caller_origin(const struct request *r)
{
    return peer_kind(r->peer) == PEER_STATELESS ? peer_principal(r->peer) : NULL;
}

void caller_key(const struct request *r, struct buf *out)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_ARENA struct arena a = { 0 };
    struct span name = SPAN("");

    if (peer_kind(r->peer) != PEER_STATELESS) {
        caller_peer_key(r->peer, out);
        return;
    }
    if (json_parse(&doc, r->env.client_info, NULL, NULL) == 0)
        name = json_str(json_get(json_root(&doc), "name"), &a);
    if (name.n > MCP_NAME_SHOWN_MAX)
        name.n = MCP_NAME_SHOWN_MAX;
    /* Quoted, so that no name can be made to look like another principal's. */
    buf_str(out, "client ");
    json_quote(out, span_of(peer_principal(r->peer)));
    buf_byte(out, ' ');
    json_quote(out, name);
}
