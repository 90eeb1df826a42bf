#include "mcp/rpc/rpc.h"
#include "peer_impl.h"

/* A client is asked only for what its revision knows; what it declares beyond that is not
 * believed, as it could not have been tested against anything. */
void envelope_set_caps(struct envelope *env, struct json caps)
{
    struct json elicit = json_get(caps, "elicitation");
    struct json sampling = json_get(caps, "sampling");
    bool url = !json_is(json_get(elicit, "url"), JSON_NONE);
    bool form = !json_is(json_get(elicit, "form"), JSON_NONE) || !url; /* bare {} means forms */
    bool modern = env->era == ERA_MODERN;

    env->can_elicit = env->revision->elicitation && json_is(elicit, JSON_OBJECT) && form;
    env->can_elicit_url = env->revision->url_elicitation && json_is(elicit, JSON_OBJECT) && url;
    env->can_sample = json_is(sampling, JSON_OBJECT);
    env->can_sample_tools = env->can_sample && (modern || env->revision->priming) &&
                            json_is(json_get(sampling, "tools"), JSON_OBJECT);
    env->can_list_roots = json_is(json_get(caps, "roots"), JSON_OBJECT);
    env->has_tasks =
        modern && json_is(json_get(json_get(caps, "extensions"), EXT_TASKS), JSON_OBJECT);
}

const char *envelope_set_token(struct envelope *env, struct json params)
{
    struct json token = json_get(json_get(params, "_meta"), "progressToken");

    _Static_assert(RPC_TOKEN_BYTES_MAX == 4096, "the text below says so");
    if (json_is(token, JSON_NONE))
        return NULL;
    if (!json_is(token, JSON_STRING) && !json_is(token, JSON_NUMBER))
        return "progressToken must be a string or a number";
    if (json_text(token).n > RPC_TOKEN_BYTES_MAX)
        return "progressToken is longer than 4096 bytes";
    env->progress_token = json_text(token);
    return NULL;
}

/* ---- who it is, for people ---------------------------------------------------------------- */

void envelope_label(struct buf *out, struct json info)
{
    AUTO_ARENA struct arena a = { 0 };
    struct span title = json_str(json_get(info, "title"), &a);
    struct span name = title.n ? title : json_str(json_get(info, "name"), &a);
    struct span version = json_str(json_get(info, "version"), &a);
    size_t begin = out->n;

    buf_add_span(out, utf8_cut(name, MCP_CLIENT_LABEL_MAX));
    if (name.n && version.n && name.n + 1 < MCP_CLIENT_LABEL_MAX) {
        buf_byte(out, ' ');
        buf_add_span(out, utf8_cut(version, MCP_CLIENT_LABEL_MAX - name.n - 1));
    }
    buf_cstr(out);
    text_make_printable(out->p + begin);
}

void request_client(const struct request *r, struct buf *out)
{
    if (r->env.label.n)
        buf_add_span(out, r->env.label);
    else if (r->env.era == ERA_MODERN)
        envelope_label(out, json_get(json_get(r->params, "_meta"), META_CLIENT_INFO));
}
