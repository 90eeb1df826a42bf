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

bool envelope_set_token(struct envelope *env, struct json params)
{
    struct json token = json_get(json_get(params, "_meta"), "progressToken");

    if (json_is(token, JSON_NONE))
        return true;
    if (!json_is(token, JSON_STRING) && !json_is(token, JSON_NUMBER))
        return false;
    env->progress_token = json_text(token);
    return env->progress_token.n <= RPC_TOKEN_BYTES_MAX;
}
