#include "listen.h"
#include "mcp/rpc/rpc.h"
#include "peer_impl.h"

/* The lists a client can listen to: the member of the filter, and where the capability says that
 * changes are told. */
static const struct {
    const char *list, *member, *method;
} lists[] = {
    { "tools", "toolsListChanged", "notifications/tools/list_changed" },
    { "prompts", "promptsListChanged", "notifications/prompts/list_changed" },
    { "resources", "resourcesListChanged", "notifications/resources/list_changed" },
};

struct listen {
    struct list in_server;
    struct request *request;
    bool wants[ARRAY_LEN(lists)];
    struct map uris, tasks; /* the values mean nothing */
};

static void listen_free(struct listen *l)
{
    map_done(&l->uris);
    map_done(&l->tasks);
    free(l);
}

/* ---- writing ------------------------------------------------------------------------------ */

/* Every message of the stream says to which request it belongs, as that wrote its id. */
static void put_tag(struct json_out *o, const struct listen *l)
{
    json_begin_object(o, "_meta");
    json_put_raw(o, META_SUBSCRIPTION_ID, l->request->id);
    json_end(o);
}

static void tell(struct listen *l, const char *method, const char *member, struct span value)
{
    AUTO_BUF struct buf params = { 0 };
    struct json_out o = json_out(&params);

    json_begin_object(&o, NULL);
    put_tag(&o, l);
    if (member)
        json_put_span(&o, member, value);
    json_end(&o);
    request_notify(l->request, method, buf_span(&params));
}

static void put_names(struct json_out *o, const char *key, const struct map *names)
{
    struct map_slot *slot;

    if (!names->n)
        return;
    json_begin_array(o, key);
    MAP_FOREACH(slot, names)
        json_put_span(o, NULL, span_make(slot->key, slot->key_n));
    json_end(o);
}

static void acknowledge(struct listen *l)
{
    AUTO_BUF struct buf params = { 0 };
    struct json_out o = json_out(&params);

    json_begin_object(&o, NULL);
    put_tag(&o, l);
    json_begin_object(&o, "notifications");
    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        if (l->wants[i])
            json_put_bool(&o, lists[i].member, true);
    put_names(&o, "resourceSubscriptions", &l->uris);
    put_names(&o, "taskIds", &l->tasks);
    json_end(&o);
    json_end(&o);
    request_notify(l->request, "notifications/subscriptions/acknowledged", buf_span(&params));
}

void listen_end(struct request *r)
{
    AUTO_BUF struct buf result = { 0 };
    struct json_out o = json_out(&result);

    json_begin_object(&o, NULL);
    json_put_str(&o, "resultType", "complete");
    put_tag(&o, r->work);
    json_end(&o);
    request_reply(r, buf_span(&result));
}

/* ---- reading the filter ------------------------------------------------------------------- */

static const char *read_lists(struct listen *l, struct json filter, struct json caps)
{
    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        struct json wanted = json_get(filter, lists[i].member);
        struct json offered = json_get(json_get(caps, lists[i].list), "listChanged");

        if (!json_is(wanted, JSON_NONE) && !json_is(wanted, JSON_TRUE) &&
            !json_is(wanted, JSON_FALSE))
            return "the members of notifications that name a list must be true or false";
        l->wants[i] = json_is(wanted, JSON_TRUE) && json_is(offered, JSON_TRUE);
    }
    return NULL;
}

/* Strings into a set; `keep` says which of them are honoured. */
static const char *read_names(struct map *out, struct json names, struct request *r,
                              bool (*keep)(struct request *r, struct span name))
{
    if (json_is(names, JSON_NONE))
        return NULL;
    if (!json_is(names, JSON_ARRAY))
        return "resourceSubscriptions and taskIds must be arrays of strings";
    if (json_len(names) > MCP_SUBSCRIPTIONS_MAX)
        return "too many resourceSubscriptions or taskIds";
    JSON_FOREACH(name, names) {
        struct span text = json_str(name, &r->message->arena);

        if (!json_is(name, JSON_STRING))
            return "resourceSubscriptions and taskIds must be arrays of strings";
        if (keep(r, text))
            map_put(out, text, r);
    }
    return NULL;
}

static bool keep_uri(struct request *r, struct span uri)
{
    struct pb_server *s = r->server;

    return s->provider->subscribable && s->provider->subscribable(s->provider_ctx, uri);
}

/* Is any of the resources not there yet that this may be about? Then r is kept until it is. */
static bool must_wait(struct listen *l, struct request *r)
{
    struct json uris = json_get(json_get(r->params, "notifications"), "resourceSubscriptions");
    struct pb_server *s = r->server;

    return json_is(uris, JSON_ARRAY) && l->uris.n < json_len(uris) && s->provider->wait &&
           s->provider->wait(s->provider_ctx, r);
}

static bool keep_none(struct request *r, struct span name)
{
    (void)r, (void)name;
    return false;
}

static bool keep_task(struct request *r, struct span id)
{
    struct pb_server *s = r->server;

    return r->env.has_tasks && s->provider->has_task &&
           s->provider->has_task(s->provider_ctx, r, id);
}

/* NULL, or what is wrong with it. Only what the capabilities offer is honoured. */
static const char *read_filter(struct listen *l, struct request *r)
{
    struct json filter = json_get(r->params, "notifications");
    AUTO_BUF struct buf text = { 0 };
    AUTO_JSON struct json_doc doc = { 0 };
    struct json caps, resources, tasks;
    const char *why;

    if (!json_is(filter, JSON_OBJECT))
        return "notifications must be an object";
    server_capabilities(r->server, &text, &r->env);
    if (json_parse(&doc, buf_span(&text), NULL, NULL) < 0)
        return "the server's capabilities cannot be read";
    caps = json_root(&doc);
    resources = json_get(json_get(caps, "resources"), "subscribe");
    tasks = json_get(json_get(caps, "extensions"), EXT_TASKS);
    why = read_lists(l, filter, caps);
    if (!why)
        why = read_names(&l->uris, json_get(filter, "resourceSubscriptions"), r,
                         json_is(resources, JSON_TRUE) ? keep_uri : keep_none);
    if (!why)
        why = read_names(&l->tasks, json_get(filter, "taskIds"), r,
                         json_is(tasks, JSON_OBJECT) ? keep_task : keep_none);
    return why;
}

static bool is_empty(const struct listen *l)
{
    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        if (l->wants[i])
            return false;
    return !l->uris.n && !l->tasks.n;
}

static void watch_tasks(const struct listen *l, bool on)
{
    const struct pb_server *s = l->request->server;
    struct map_slot *slot;

    if (s->provider->watch_task)
        MAP_FOREACH(slot, &l->tasks)
            s->provider->watch_task(s->provider_ctx, l->request, span_make(slot->key, slot->key_n),
                                    on);
}

void listen_open(struct request *r)
{
    struct pb_server *s = r->server;
    struct listen *l;
    struct map_slot *slot;
    const char *why;

    if (s->n_listens >= MCP_LISTEN_MAX) {
        request_fail(r, RPC_INTERNAL_ERROR, SPAN(""), "Too many listen streams; the limit is %d",
                     MCP_LISTEN_MAX);
        return;
    }
    l = NEW(struct listen);
    l->request = r;
    why = read_filter(l, r);
    if (why) {
        listen_free(l);
        request_fail(r, RPC_INVALID_PARAMS, SPAN(""), "Invalid params: %s", why);
        return;
    }
    if (must_wait(l, r)) {
        listen_free(l);
        return;
    }
    r->work = l;
    request_uncount(r);
    list_append(&s->listens, &l->in_server);
    s->n_listens++;
    MAP_FOREACH(slot, &l->uris)
        subscriptions_watch(s, span_make(slot->key, slot->key_n));
    watch_tasks(l, true);
    acknowledge(l);
    if (is_empty(l))
        listen_end(r); /* nothing would ever come */
}

void listen_forget(struct request *r)
{
    struct listen *l = TAKE(r->work);
    struct map_slot *slot;

    list_remove(&l->in_server);
    r->server->n_listens--;
    MAP_FOREACH(slot, &l->uris)
        subscriptions_unwatch(r->server, span_make(slot->key, slot->key_n));
    watch_tasks(l, false);
    listen_free(l);
}

/* ---- telling ------------------------------------------------------------------------------ */

void listen_list_changed(struct pb_server *s, const char *list)
{
    struct list *pos, *safe;

    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        if (strcmp(list, lists[i].list) != 0)
            continue;
        LIST_FOREACH(pos, safe, &s->listens) {
            struct listen *l = CONTAINER_OF(pos, struct listen, in_server);

            if (l->wants[i])
                tell(l, lists[i].method, NULL, SPAN(""));
        }
    }
}

void listen_resource_updated(struct pb_server *s, struct span uri)
{
    struct list *pos, *safe;

    LIST_FOREACH(pos, safe, &s->listens) {
        struct listen *l = CONTAINER_OF(pos, struct listen, in_server);

        if (map_get(&l->uris, uri))
            tell(l, "notifications/resources/updated", "uri", uri);
    }
}

/* The task's own members behind our tag. */
static void tell_task(struct listen *l, struct json task)
{
    AUTO_ARENA struct arena arena = { 0 };
    AUTO_BUF struct buf params = { 0 };
    struct json_out o = json_out(&params);

    json_begin_object(&o, NULL);
    put_tag(&o, l);
    JSON_FOREACH(member, task) {
        if (!json_key_is(member, "_meta"))
            json_put_raw_key(&o, json_key_str(member, &arena), json_text(member));
    }
    json_end(&o);
    request_notify(l->request, "notifications/tasks", buf_span(&params));
}

void listen_task_changed(struct pb_server *s, struct span task_id, struct span params)
{
    static const struct json_opts shallow = { .keep_depth = 1 };
    AUTO_JSON struct json_doc doc = { 0 };
    struct list *pos, *safe;

    LIST_FOREACH(pos, safe, &s->listens) {
        struct listen *l = CONTAINER_OF(pos, struct listen, in_server);

        if (!map_get(&l->tasks, task_id))
            continue;
        if (!doc.n && json_parse(&doc, params, &shallow, NULL) < 0)
            return;
        tell_task(l, json_root(&doc));
    }
}
