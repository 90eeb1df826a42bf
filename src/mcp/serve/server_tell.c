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

/* Something that all clients are to hear who want to. */
struct note {
    struct list link;
    enum { NOTE_LIST, NOTE_RESOURCE, NOTE_LOG } kind;
    size_t list;             /* of `lists` */
    enum pb_log_level level; /* of a log line */
    struct span uri, params; /* behind the struct */
    uint64_t told;           /* the serial of the last one that was asked whether it wants it */
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

/* Sessions that have shaken hands. */
static bool wants(const struct peer *p, const struct note *n)
{
    if (p->era != ERA_LEGACY || !p->initialized)
        return false;
    switch (n->kind) {
    case NOTE_LOG:
        return n->level >= p->log_level;
    case NOTE_RESOURCE:
        return map_get(&p->subscriptions, n->uri) != NULL;
    default:
        return true;
    }
}

static const char *method_of(const struct note *n)
{
    switch (n->kind) {
    case NOTE_LOG:
        return "notifications/message";
    case NOTE_RESOURCE:
        return "notifications/resources/updated";
    default:
        return lists[n->list].method;
    }
}

/* Peers stand in the order of their serials. False: there is no more time in this turn, and others
 * are left. */
static bool tell_sessions(struct pb_server *s, struct note *n, size_t *left)
{
    struct list *pos, *safe;

    LIST_FOREACH(pos, safe, &s->peers) {
        struct peer *p = CONTAINER_OF(pos, struct peer, in_server);

        if (p->serial <= n->told || !wants(p, n))
            continue;
        if (!*left)
            return false;
        --*left;
        n->told = p->serial;
        peer_notify(p, NULL, method_of(n), n->params);
    }
    return true;
}

/* Modern clients hear of log lines with their requests only, by request_log(). */
static void tell_listens(struct pb_server *s, const struct note *n)
{
    if (n->kind == NOTE_LIST)
        listen_list_changed(s, lists[n->list].list);
    else if (n->kind == NOTE_RESOURCE)
        listen_resource_updated(s, n->uri);
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

static struct note *note_new(struct span uri, struct span params);

/* Before the others: what they tell of may be new on a list. */
static void add_lists(struct list *notes, unsigned changed)
{
    for (size_t i = ARRAY_LEN(lists); i-- > 0;) {
        struct note *n;

        if (!(changed & (1U << i)))
            continue;
        n = note_new(SPAN(""), SPAN(""));
        n->kind = NOTE_LIST;
        n->list = i;
        list_append(notes->next, &n->link); /* before the first */
    }
}

static void tell_all(void *ctx)
{
    struct pb_server *s = ctx;
    struct inbox *in = &s->inbox;
    struct list notes;
    size_t left = MCP_TELLS_PER_TURN;
    unsigned changed;

    pthread_mutex_lock(&in->mu);
    in->posted = false;
    changed = in->lists;
    in->lists = 0;
    in->n = in->bytes = 0;
    move_notes(&notes, &in->notes);
    pthread_mutex_unlock(&in->mu);

    add_lists(&notes, changed);
    while (!list_empty(&notes) && !s->ending && left) {
        struct note *n = CONTAINER_OF(notes.next, struct note, link);

        if (!tell_sessions(s, n, &left))
            break;
        left -= left > 0; /* a note that nobody wants is work, too */
        tell_listens(s, n);
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
    if (params.n)
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
    struct note *n;

    json_begin_object(&o, NULL);
    json_put_span(&o, "uri", uri);
    json_end(&o);
    n = note_new(uri, buf_span(&params));
    n->kind = NOTE_RESOURCE;
    add_note(s, n);
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
    n->kind = NOTE_LOG;
    n->level = level;
    add_note(s, n);
}
