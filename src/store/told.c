/* told.c - a record as everybody is told of it: REST, the command line, exports. */
#include "store.h"

enum { MICRO = 6 };

static void put_time(struct json_out *o, const char *key, int64_t us)
{
    if (us)
        json_put_scaled(o, key, us, MICRO);
}

/* Of the server's process; what reads call trees looks for these three. */
static void put_process(struct json_out *o, const struct record *r)
{
    if (!r->pid)
        return;
    json_put_int(o, "process_pid", r->pid);
    json_put_scaled(o, "process_start_time", r->process_us, MICRO);
    json_put_fmt(o, "process_key", "%lld.%06d+%lld", (long long)(r->process_us / 1000000),
                 (int)(r->process_us % 1000000), (long long)r->pid);
}

static void put_object(struct json_out *o, const char *cid_key, const char *cid,
                       const char *bytes_key, uint64_t bytes)
{
    if (!cid || !*cid)
        return;
    json_put_str(o, cid_key, cid);
    if (bytes_key)
        json_put_uint(o, bytes_key, bytes);
}

static void put_name(struct json_out *o, const struct record *r)
{
    if (r->tool && r->server && *r->server)
        json_put_fmt(o, "name", "%s/%s", r->server, r->tool);
    else
        json_put_str_opt(o, "name", r->tool);
}

const char *record_detail_name(enum record_detail d)
{
    static const char *const names[] = {
        [RECORD_ALL] = "all", [RECORD_META] = "meta", [RECORD_NONE] = "none"
    };

    return names[d];
}

void call_record_members(struct json_out *o, const struct call_record *c)
{
    const struct record *r = &c->r;

    json_put_str_opt(o, "id", r->uuid);
    json_put_uint(o, "no", c->no);
    json_put_str_opt(o, "status", r->status);
    json_put_str_opt(o, "note", r->note);
    json_put_str_opt(o, "server", r->server);
    json_put_str_opt(o, "tool", r->tool);
    put_name(o, r);
    json_put_str_opt(o, "method", r->method);
    json_put_str_opt(o, "caller", r->caller);
    json_put_str_opt(o, "source", r->source);
    json_put_str_opt(o, "face", r->face);
    json_put_str_opt(o, "run", r->run);
    json_put_str_opt(o, "conversation", r->conversation);
    json_put_str_opt(o, "parent", r->parent);
    json_put_str_opt(o, "question", r->question);
    json_put_str_opt(o, "answered_by", r->answered_by);
    json_put_str_opt(o, "rule", r->rule);
    json_put_str_opt(o, "traceparent", r->trace);
    put_time(o, "queued_at", r->queued_us);
    put_time(o, "started_at", r->started_us);
    put_time(o, "ended_at", r->ended_us);
    if (r->queued_us && r->ended_us >= r->queued_us)
        json_put_scaled(o, "duration", r->ended_us - r->queued_us, MICRO);
    put_process(o, r);
    json_put_str(o, "detail", record_detail_name(r->detail));
    put_object(o, "arguments_cid", c->arguments_cid, "arguments_bytes", c->arguments_bytes);
    put_object(o, "result_cid", c->result_cid, "result_bytes", c->result_bytes);
    put_object(o, "definition_cid", c->definition_cid, NULL, 0);
    if (c->redacted)
        json_put_raw(o, "redacted", span_of(c->redacted));
}
