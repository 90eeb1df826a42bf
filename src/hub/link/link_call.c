/* link_call.c - a call of a link on its way: sent at once, or waiting until it may go. One struct
 * for each call; nothing is copied that the client copies anyway, and nothing is printed. */
#include "hub/secrets/secrets.h"
#include "hub/spec/spec.h"
#include "link_impl.h"
#include "mcp/client/client.h"

/* For those who look at the call later. */
static void note_progress(struct link_call *c, const struct hub_event *e)
{
    struct span text = e->call.message;

    c->progressed = true;
    c->progress = e->call.progress;
    c->total = e->call.total;
    free(c->message);
    c->message = text.n ? mem_dupn(text.p, text.n) : NULL;
}

/* What the server says with it, for people. */
static struct span shown_text(const struct link_call *c, struct json message, struct arena *a)
{
    struct span all = json_str(message, a), cut = utf8_cut(all, LINK_PROGRESS_TEXT_MAX);
    char *text = arena_dup(a, cut);

    redact_text(c->l->hidden, text, cut.n < all.n);
    return span_of(text);
}

static void on_progress(void *ctx, struct span params)
{
    AUTO_BUF struct buf room = { 0 };
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_ARENA struct arena arena = { 0 };
    struct link_call *c = ctx;
    struct hub_event e = link_call_event(c, EVENT_CALL_PROGRESS);

    link_call_extend(c);
    params = link_cut_progress(params, &room);
    if (json_parse(&doc, params, &(struct json_opts){ .keep_depth = 1 }, NULL) < 0)
        return;
    if (json_double(json_get(json_root(&doc), "progress"), &e.call.progress, NULL) < 0)
        return;
    if (json_double(json_get(json_root(&doc), "total"), &e.call.total, NULL) < 0)
        e.call.total = 0;
    e.call.message = shown_text(c, json_get(json_root(&doc), "message"), &arena);
    note_progress(c, &e);
    if (link_calls_heard(c->l))
        link_emit(c->l, &e);
    if (c->spec.progress)
        c->spec.progress(c->spec.ctx, params);
}

static void on_log(void *ctx, struct span params) { log_message_of(ctx, params); }

static int call_send(struct link_call *c, struct span params, struct pb_error *err)
{
    const struct call_spec *s = &c->spec;
    struct client_request_spec r = {
        .method = s->method,
        .params = params,
        .plain = s->plain,
        .timeout_ms = CLIENT_NO_LIMIT, /* the link keeps the time: its clock can stand still */
        .wants_progress = s->wants_progress,
        .progress = on_progress,
        .log = s->log ? on_log : NULL,
        .wants_log = s->wants_log,
        .log_level = s->log_level,
        .raw_rounds = s->raw_rounds,
        .caps = s->caps ? s->caps : "{}",
        .reply = link_call_on_reply,
        .ctx = c,
    };
    int rc;

    c->sent = true;
    c->ch->in_flight++;
    crowd_add(&c->ch->working, &c->claim, c->spec.caller);
    if (s->wants_log)
        log_want(c->ch, s->log_level);
    rc = client_request(c->ch->client, &r, &c->client_id, err);
    if (rc == 0 && c->held)
        client_hold(c->ch->client, c->client_id, true);
    return rc;
}

static bool may_send(const struct channel *ch, const char *caller)
{
    unsigned max = ch->l->spec->max_calls;

    return ch->client && ch->ready && !ch->leaving && (!max || ch->in_flight < max) &&
           (!instances_take_turns(ch->l) || crowd_is_only(&ch->working, caller));
}

static struct link_call *first_waiting(const struct channel *ch)
{
    return list_empty(&ch->waiting) ? NULL
                                    : CONTAINER_OF(ch->waiting.next, struct link_call, in_waiting);
}

void calls_pump(struct channel *ch)
{
    struct pb_error err;
    struct client_reply reply = { .err = &err };
    struct link_call *c;

    if (ch->pumping)
        return;
    ch->pumping = true;
    while ((c = first_waiting(ch)) && may_send(ch, c->spec.caller)) {
        AUTO(blob) struct blob *params = TAKE(c->params);

        link_call_unwait(c);
        if (call_send(c, params ? blob_span(params) : SPAN(""), &err) < 0)
            link_call_end_failed(c, &reply);
    }
    ch->pumping = false;
}

/* ---- a new one ---- */

static char *put(char **at, struct span s)
{
    char *text = *at;

    if (s.n)
        memcpy(text, s.p, s.n);
    text[s.n] = '\0';
    *at += s.n + 1;
    return text;
}

static struct link_call *call_new(struct channel *ch, const struct call_spec *spec)
{
    struct link *l = ch->l;
    struct span method = span_of(spec->method), caller = span_of(spec->caller ? spec->caller : ""),
                client = utf8_cut(span_of(spec->client), MCP_CLIENT_LABEL_MAX),
                caps = span_of(spec->caps);
    size_t size =
        sizeof(struct link_call) + method.n + caller.n + client.n + caps.n + spec->subject.n + 5;
    struct link_call *c = spare_take(size);
    char *at = c->strings;

    memset(c, 0, sizeof *c);
    c->size = size;
    c->l = l;
    c->ch = ch;
    c->spec = *spec;
    c->spec.method = put(&at, method);
    c->spec.caller = put(&at, caller);
    c->spec.client = put(&at, client);
    c->spec.subject = span_make(put(&at, spec->subject), spec->subject.n);
    if (spec->caps)
        c->spec.caps = put(&at, caps);
    c->spec.origin = NULL; /* its instance has it */
    c->named = spec->uuid;
    if (spec->uuid)
        memcpy(c->uuid, spec->uuid, UUID_CHARS);
    c->spec.uuid = c->uuid;
    c->id = ++l->last_call;
    c->limit_ms = spec->timeout_ms ? spec->timeout_ms : link_call_ms(l);
    c->began = loop_now_exact(l->loop);
    c->started = (uint64_t)c->began;
    list_init(&c->in_waiting);
    list_init(&c->questions);
    timer_init(&c->timer, l->loop, link_call_on_timer, c);
    return c;
}

static int not_connected(const struct link *l, struct pb_error *err)
{
    return fault_fail(err, FAULT_NOT_CONNECTED, "Server '%s' is not connected (state: %s)",
                      link_name(l), link_state_name(l->sm.now));
}

static int choose(struct channel **out, struct link *l, const struct call_spec *spec,
                  struct pb_error *err)
{
    *out = &l->shared;
    if (l->closed || !link_in(l, LINK_CONNECTED) || l->shared.leaving)
        return not_connected(l, err);
    if (instances_wanted(l) && spec->caller && *spec->caller) {
        *out = instance_find(l, spec->caller);
        if (!*out)
            return instance_open(out, l, spec, err);
        list_remove(&(*out)->at);
        list_append(&l->instances, &(*out)->at);
    }
    return 0;
}

static int check_room(const struct channel *ch, const char *caller, struct pb_error *err)
{
    const struct link *l = ch->l;
    bool now = may_send(ch, caller ? caller : "");

    if (now && l->n_calls - l->n_waiting >= LINK_CALLS_MAX)
        return fault_fail(err, FAULT_BUSY, "Server '%s' works on %d calls already", link_name(l),
                          LINK_CALLS_MAX);
    if (!now && l->n_waiting >= LINK_QUEUE_MAX)
        return fault_fail(err, FAULT_BUSY, "%d calls wait for server '%s' already", LINK_QUEUE_MAX,
                          link_name(l));
    return 0;
}

static int send_or_wait(struct link_call *c, struct span params, struct pb_error *err)
{
    struct channel *ch = c->ch;
    struct pb_error why;

    if (may_send(ch, c->spec.caller) && list_empty(&ch->waiting)) {
        if (call_send(c, params, &why) == 0)
            return 0;
        link_call_explain(c, &why, &why);
        if (err)
            *err = why;
        return -(int)why.code;
    }
    c->params = params.n ? blob_new(params) : NULL;
    list_append(&ch->waiting, &c->in_waiting);
    ch->n_waiting++;
    c->l->n_waiting++;
    return 0;
}

int link_call(struct link *l, const struct call_spec *spec, uint64_t *out_id, struct pb_error *err)
{
    struct channel *ch;
    struct link_call *c;
    int rc;

    link_owned(l);
    rc = choose(&ch, l, spec, err);
    if (rc == 0)
        rc = check_room(ch, spec->caller, err);
    if (rc < 0)
        return rc;
    c = call_new(ch, spec);
    link_call_tell_started(c);
    link_call_enlist(c);
    rc = l->closed || ch->leaving ? not_connected(l, err) : send_or_wait(c, spec->params, err);
    if (rc < 0) {
        link_call_retire(c);
        link_call_tell_failed(c);
        link_call_free(c);
        return rc;
    }
    timer_start(&c->timer, c->limit_ms);
    if (ch->caller)
        instance_idle(ch);
    if (out_id)
        *out_id = c->id;
    return 0;
}
