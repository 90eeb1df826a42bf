/* gate_record.c - what is recorded of an order: who asked what of whom, and what came of it. */
#include "gate_impl.h"

bool gate_records(const struct gate *g, const struct tool_look *look)
{
    return g->store && !g->down && look->detail != RECORD_NONE;
}

/* ---- an order under way ---- */

/* The strings that a run has of its own: where they come from, where they go. */
struct run_text {
    struct span from; /* p NULL: there is none */
    const char **to;
};

/* Behind the struct, each terminated. Returns what is behind them. */
static char *put_texts(char *at, const struct run_text *t, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (!t[i].from.p)
            continue;
        memcpy(at, t[i].from.p, t[i].from.n);
        *t[i].to = at;
        at += t[i].from.n;
        *at++ = '\0';
    }
    return at;
}

struct run *run_new(struct gate *g, const struct order *o, const struct tool_look *look,
                    const char *rule, const char *answered_by)
{
    const struct call_spec *c = &o->call;
    struct run made = { .g = g,
                        .face = o->face,
                        .detail = look->detail,
                        .answered_by = answered_by,
                        .arguments = o->arguments,
                        .queued_ms = loop_wall(g->loop),
                        .began = loop_now_exact(g->loop) };
    const struct run_text texts[] = {
        { span_of(c->method), &made.method },
        { span_of(c->server), &made.server },
        { span_of(c->client), &made.client },
        { span_of(c->caller), &made.key },
        { span_of(o->conversation), &made.conversation },
        { span_of(o->parent), &made.parent },
        { span_of(rule), &made.rule },
        { o->trace.n ? o->trace : (struct span){ 0 }, &made.trace },
        { c->subject.n ? c->subject : SPAN(""), &made.tool },
    };
    bool copy = !o->arguments_blob && look->detail == RECORD_ALL;
    struct run *r;
    char *at;

    made.size = sizeof made + (copy ? o->arguments.n : 0);
    for (size_t i = 0; i < ARRAY_LEN(texts); i++)
        made.size += texts[i].from.n + 1;
    r = spare_take(made.size);
    at = put_texts((char *)(r + 1), texts, ARRAY_LEN(texts));
    if (c->uuid)
        memcpy(made.uuid, c->uuid, UUID_CHARS);
    if (o->arguments_blob)
        made.arguments_blob = blob_ref(o->arguments_blob);
    else if (copy && o->arguments.n)
        made.arguments.p = memcpy(at, o->arguments.p, o->arguments.n);
    if (look->definition)
        made.definition = blob_ref(look->definition);
    *r = made;
    return r;
}

static void run_free(struct run *r)
{
    if (r->arguments_blob)
        blob_unref(r->arguments_blob);
    if (r->definition)
        blob_unref(r->definition);
    spare_give(r, r->size);
}

/* ---- the record ---- */

static const char *status_of(const struct client_reply *reply)
{
    struct json type = json_get(reply->members, "resultType");

    if (!reply->err)
        return json_bool(json_get(reply->members, "isError"), false) ? "error"
               : json_str_is(type, "input_required")                 ? "input_required"
               : json_str_is(type, "task")                           ? "task"
                                                                     : "success";
    switch (fault_of(reply->err)) {
    case FAULT_TIMEOUT:
        return "timeout";
    case FAULT_CANCELLED:
        return "cancelled";
    case FAULT_DENIED:
        return "denied";
    default:
        return "failed";
    }
}

static void fill(struct record *rec, const struct run *r, const struct held_order *h)
{
    *rec = (struct record){
        .source = "mcp_client",
        .face = order_face_name(r->face),
        .method = r->method,
        .caller = r->client,
        .run = r->conversation ? r->conversation : r->key,
        .conversation = r->conversation,
        .server = r->server,
        .tool = r->tool,
        .parent = r->parent,
        .trace = r->trace,
        .rule = h ? h->q.rule : r->rule,
        .question = h ? h->q.id : NULL,
        .answered_by = h ? h->answered_by : r->answered_by,
        .queued_us = (h ? h->queued_ms : r->queued_ms) * 1000,
        .ended_us = r->queued_ms * 1000 + (int64_t)((loop_now_exact(r->g->loop) - r->began) * 1000),
        .detail = r->detail,
    };
    if (r->detail != RECORD_ALL)
        return;
    if (r->arguments.n)
        rec->arguments = (struct object_bytes){ r->arguments, r->arguments_blob };
    if (r->definition)
        rec->definition = (struct object_bytes){ blob_span(r->definition), r->definition };
}

static void put_record(struct run *r, struct record *rec, const char *uuid)
{
    if (!uuid && !*r->uuid)
        id_uuid(r->uuid);
    rec->uuid = uuid ? uuid : r->uuid;
    store_put(r->g->store, rec);
    gate_tell_recorded(r->g);
}

void run_ended(void *ctx, const struct call_end *e)
{
    struct run *r = ctx;
    const struct client_reply *reply = e->reply;
    struct record rec;

    if (r->g->store && r->detail != RECORD_NONE) { /* what is lost is counted there */
        fill(&rec, r, r->held);
        rec.status = status_of(reply);
        rec.note = reply->err ? reply->err->msg : NULL;
        rec.started_us = e->started_at * 1000;
        if (rec.started_us && rec.started_us < rec.queued_us)
            rec.started_us = rec.queued_us;
        rec.pid = e->pid;
        rec.process_us = e->pid ? e->process_at * 1000 : 0;
        if (r->detail == RECORD_ALL)
            rec.result =
                (struct object_bytes){ reply->err ? reply->error : reply->result, reply->message };
        put_record(r, &rec, e->uuid);
    }
    if (r->held && !r->told)
        held_free(r->held);
    run_free(r);
}

void gate_record_stop(struct gate *g, const struct order *o, const struct tool_look *look,
                      const struct held_order *h, const char *rule, const char *status,
                      const struct pb_error *why)
{
    struct record rec;
    struct run *r;

    if (!g->store || look->detail == RECORD_NONE)
        return;
    r = run_new(g, o, look, rule, NULL);
    fill(&rec, r, h);
    rec.status = status;
    rec.note = why->msg;
    put_record(r, &rec, h ? h->uuid : o->call.uuid);
    run_free(r);
}
