/* gate_record.c - what is recorded of an order: who asked what of whom, and what came of it. */
#include "gate_impl.h"

bool gate_records(const struct gate *g, const struct tool_look *look)
{
    return g->store && !g->down && look->detail != RECORD_NONE;
}

/* ---- an order under way ---- */

static char *put(char **at, const char *text)
{
    size_t n;
    char *to = *at;

    if (!text)
        return NULL;
    n = strlen(text) + 1;
    memcpy(to, text, n);
    *at += n;
    return to;
}

static size_t room_for(const char *text) { return text ? strlen(text) + 1 : 0; }

struct run *run_new(struct gate *g, const struct order *o, const struct tool_look *look,
                    const char *rule, const char *answered_by)
{
    const struct call_spec *c = &o->call;
    bool copy = !o->arguments_blob && look->detail == RECORD_ALL;
    size_t size = sizeof(struct run) + room_for(c->method) + room_for(c->server) +
                  room_for(c->client) + room_for(c->caller) + room_for(o->conversation) +
                  room_for(o->parent) + room_for(rule) + o->trace.n + 1 + c->subject.n +
                  (copy ? o->arguments.n : 0);
    struct run *r = spare_take(size);
    char *at = (char *)(r + 1);

    *r = (struct run){ .g = g,
                       .size = size,
                       .face = o->face,
                       .detail = look->detail,
                       .answered_by = answered_by,
                       .queued_ms = loop_wall(g->loop),
                       .began = loop_now_exact(g->loop) };
    r->method = put(&at, c->method);
    r->server = put(&at, c->server);
    r->client = put(&at, c->client);
    r->key = put(&at, c->caller);
    r->conversation = put(&at, o->conversation);
    r->parent = put(&at, o->parent);
    r->rule = put(&at, rule);
    if (c->uuid)
        memcpy(r->uuid, c->uuid, UUID_CHARS);
    if (o->trace.n) {
        memcpy(at, o->trace.p, o->trace.n);
        r->trace = at;
        at += o->trace.n;
    }
    *at++ = '\0';
    if (c->subject.n)
        memcpy(at, c->subject.p, c->subject.n);
    r->tool = span_make(at, c->subject.n);
    at += c->subject.n;
    r->arguments = o->arguments;
    if (o->arguments_blob)
        r->arguments_blob = blob_ref(o->arguments_blob);
    else if (copy && o->arguments.n)
        r->arguments.p = memcpy(at, o->arguments.p, o->arguments.n);
    if (look->definition)
        r->definition = blob_ref(look->definition);
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

static struct record record_of(const struct run *r, const struct held_order *h)
{
    struct record rec = {
        .source = "mcp_client",
        .face = order_face_name(r->face),
        .method = r->method,
        .caller = r->client,
        .run = r->conversation ? r->conversation : r->key,
        .conversation = r->conversation,
        .server = r->server,
        .parent = r->parent,
        .trace = r->trace,
        .rule = r->rule,
        .answered_by = r->answered_by,
        .queued_us = r->queued_ms * 1000,
        .ended_us = r->queued_ms * 1000 + (int64_t)((loop_now_exact(r->g->loop) - r->began) * 1000),
        .detail = r->detail,
    };

    if (h) {
        rec.question = h->q.id;
        rec.rule = h->q.rule;
        rec.answered_by = h->answered_by;
        rec.queued_us = h->queued_ms * 1000;
    }
    if (r->detail != RECORD_ALL)
        return rec;
    if (r->arguments.n)
        rec.arguments = (struct object_bytes){ r->arguments, r->arguments_blob };
    if (r->definition)
        rec.definition = (struct object_bytes){ blob_span(r->definition), r->definition };
    return rec;
}

static void put_record(struct run *r, struct record *rec, const char *uuid)
{
    AUTO_ARENA struct arena a = { 0 };

    if (!uuid && !*r->uuid)
        id_uuid(r->uuid);
    if (!uuid)
        uuid = r->uuid;
    rec->uuid = uuid;
    rec->tool = arena_dup(&a, r->tool);
    store_put(r->g->store, rec);
    gate_tell_recorded(r->g);
}

void run_ended(void *ctx, const struct call_end *e)
{
    struct run *r = ctx;
    const struct client_reply *reply = e->reply;
    struct record rec;

    if (r->g->store && r->detail != RECORD_NONE) { /* what is lost is counted there */
        rec = record_of(r, r->held);
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
    rec = record_of(r, h);
    rec.status = status;
    rec.note = why->msg;
    put_record(r, &rec, h ? h->uuid : o->call.uuid);
    run_free(r);
}
