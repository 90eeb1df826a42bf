/* server_tell.c - what the program tells all clients, from any thread: lists changed, a resource
 * changed, a log line. Collected under a lock and told by the loop, so that a hundred changes in
 * one turn are one message. */
#include "listen.h"
#include "mcp/rpc/rpc.h"
#include "peer_impl.h"

static const struct {
    const char *list, *method;
} lists[] = {
    { "tools", "notifications/tools/list_changed" },
    { "prompts", "notifications/prompts/list_changed" },
    { "resources", "notifications/resources/list_changed" },
};

/* One resource that changed, or one log line. */
struct note {
    struct list link;
    bool is_log;
    enum pb_log_level level;
    struct span uri, params; /* behind the struct */
    char bytes[];
};

void inbox_init(struct inbox *in)
{
    pthread_mutex_init(&in->mu, NULL);
    list_init(&in->notes);
}

static void free_notes(struct list *notes)
{
    while (!list_empty(notes)) {
        struct note *n = CONTAINER_OF(notes->next, struct note, link);

        list_remove(&n->link);
        free(n);
    }
}

void inbox_done(struct inbox *in)
{
    free_notes(&in->notes);
    pthread_mutex_destroy(&in->mu);
}

bool inbox_posted(struct inbox *in)
{
    bool posted;

    pthread_mutex_lock(&in->mu);
    posted = in->posted;
    pthread_mutex_unlock(&in->mu);
    return posted;
}

void inbox_forget_lists(struct inbox *in)
{
    pthread_mutex_lock(&in->mu);
    in->lists = 0;
    pthread_mutex_unlock(&in->mu);
}

/* ---- on the loop -------------------------------------------------------------------------- */

/* To sessions that have shaken hands; `wants` may be NULL. Returns how many were told. */
static size_t tell_sessions(struct pb_server *s, const char *method, struct span params,
                            bool (*wants)(const struct peer *p, const struct note *n),
                            const struct note *n)
{
    struct list *pos, *safe;
    size_t told = 0;

    LIST_FOREACH(pos, safe, &s->peers) {
        struct peer *p = CONTAINER_OF(pos, struct peer, in_server);

        if (p->era != ERA_LEGACY || !p->initialized || (wants && !wants(p, n)))
            continue;
        peer_notify(p, NULL, method, params);
        told++;
    }
    return told;
}

static bool wants_log(const struct peer *p, const struct note *n)
{
    return n->level >= p->log_level;
}

static bool wants_uri(const struct peer *p, const struct note *n)
{
    return map_get(&p->subscriptions, n->uri) != NULL;
}

static size_t tell_note(struct pb_server *s, const struct note *n)
{
    size_t told;

    /* Modern clients hear of requests only, by request_log(). */
    if (n->is_log)
        return tell_sessions(s, "notifications/message", n->params, wants_log, n);
    told = tell_sessions(s, "notifications/resources/updated", n->params, wants_uri, n);
    listen_resource_updated(s, n->uri);
    return told;
}

static void wake(struct pb_server *s);

/* The whole chain moves from one head to another, which is empty. */
static void move_notes(struct list *to, struct list *from)
{
    list_init(to);
    if (list_empty(from))
        return;
    *to = *from;
    to->next->prev = to->prev->next = to;
    list_init(from);
}

static size_t weight(const struct note *n) { return sizeof *n + n->uri.n + n->params.n; }

/* What this turn has no time for comes before what came meanwhile. */
static void put_back(struct pb_server *s, struct list *rest)
{
    struct inbox *in = &s->inbox;

    pthread_mutex_lock(&in->mu);
    for (struct list *pos = rest->next; pos != rest; pos = pos->next) {
        in->n++;
        in->bytes += weight(CONTAINER_OF(pos, struct note, link));
    }
    while (!list_empty(&in->notes)) {
        struct list *first = in->notes.next;

        list_remove(first);
        list_append(rest, first);
    }
    move_notes(&in->notes, rest);
    wake(s);
    pthread_mutex_unlock(&in->mu);
}

static void tell_all(void *ctx)
{
    struct pb_server *s = ctx;
    struct inbox *in = &s->inbox;
    struct list notes;
    size_t told = 0;
    unsigned changed;

    pthread_mutex_lock(&in->mu);
    in->posted = false;
    changed = in->lists;
    in->lists = 0;
    in->n = in->bytes = 0;
    move_notes(&notes, &in->notes);
    pthread_mutex_unlock(&in->mu);

    for (size_t i = 0; i < ARRAY_LEN(lists) && !s->ending; i++)
        if (changed & (1U << i)) {
            tell_sessions(s, lists[i].method, SPAN(""), NULL, NULL);
            listen_list_changed(s, lists[i].list);
        }
    while (!list_empty(&notes) && !s->ending && told < MCP_TELLS_PER_TURN) {
        struct note *n = CONTAINER_OF(notes.next, struct note, link);

        told += tell_note(s, n) + 1;
        list_remove(&n->link);
        free(n);
    }
    if (!list_empty(&notes) && !s->ending)
        put_back(s, &notes);
    free_notes(&notes);
    server_check_end(s);
}

/* ---- on any thread ------------------------------------------------------------------------ */

/* With the lock held. If the loop takes no more, the next one to tell tries again. */
static void wake(struct pb_server *s)
{
    struct pb_error err;

    if (s->inbox.posted)
        return;
    s->inbox.posted = loop_post(s->loop, tell_all, s, &err) == 0;
    if (!s->inbox.posted)
        log_warn("clients cannot be told yet: %s", err.msg);
}

static void add_note(struct pb_server *s, struct note *take_note)
{
    struct inbox *in = &s->inbox;
    size_t size = weight(take_note);

    if (size > MCP_TELL_BYTES_MAX)
        size = MCP_TELL_BYTES_MAX;
    pthread_mutex_lock(&in->mu);
    if (in->n < LOOP_POSTS_MAX && (!in->n || in->bytes <= MCP_TELL_BYTES_MAX - size)) {
        list_append(&in->notes, &take_note->link);
        in->n++;
        in->bytes += size;
        take_note = NULL;
    }
    wake(s);
    pthread_mutex_unlock(&in->mu);
    if (take_note)
        log_warn("more than %d messages or %d bytes wait to be told to clients; one was dropped",
                 LOOP_POSTS_MAX, MCP_TELL_BYTES_MAX);
    free(take_note);
}

static struct note *note_new(struct span uri, struct span params)
{
    struct note *n = mem_zero(sizeof *n + uri.n + params.n);

    if (uri.n)
        memcpy(n->bytes, uri.p, uri.n);
    memcpy(n->bytes + uri.n, params.p, params.n);
    n->uri = span_make(n->bytes, uri.n);
    n->params = span_make(n->bytes + uri.n, params.n);
    return n;
}

void server_list_changed(struct pb_server *s, const char *list)
{
    for (size_t i = 0; i < ARRAY_LEN(lists); i++) {
        if (strcmp(list, lists[i].list) != 0)
            continue;
        pthread_mutex_lock(&s->inbox.mu);
        s->inbox.lists |= 1U << i;
        wake(s);
        pthread_mutex_unlock(&s->inbox.mu);
    }
}

void server_resource_updated(struct pb_server *s, struct span uri)
{
    AUTO_BUF struct buf params = { 0 };
    struct json_out o = json_out(&params);

    json_begin_object(&o, NULL);
    json_put_span(&o, "uri", uri);
    json_end(&o);
    add_note(s, note_new(uri, buf_span(&params)));
}

void pb_server_resource_updated(struct pb_server *s, const char *uri)
{
    server_resource_updated(s, span_of(uri));
}

void pb_server_log(struct pb_server *s, enum pb_log_level level, const char *logger,
                   const char *data)
{
    AUTO_BUF struct buf params = { 0 };
    AUTO_JSON struct json_doc doc = { 0 };
    struct json_out o = json_out(&params);
    const char *name = log_level_name(level);
    struct note *n;

    if (!name)
        return;
    json_begin_object(&o, NULL);
    json_put_str(&o, "level", name);
    json_put_str_opt(&o, "logger", logger);
    if (data && json_parse(&doc, span_of(data), NULL, NULL) == 0)
        json_put_raw(&o, "data", span_of(data));
    else /* it was to be JSON; a plain text is what people mean */
        json_put_str(&o, "data", data ? data : "");
    json_end(&o);
    n = note_new(SPAN(""), buf_span(&params));
    n->is_log = true;
    n->level = level;
    add_note(s, n);
}
