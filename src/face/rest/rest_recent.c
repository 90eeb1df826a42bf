/* rest_recent.c - the last calls that ended, for where nothing is recorded: a ring that is filled
 * by events, whether anybody looks or not. Nothing is allocated for a call, and nothing at all
 * before the first one. */
#include "hub/link/link.h"
#include "rest_impl.h"

enum { FIRST_ROOM = 16, METHOD_MAX = 32 };

/* In the words of the gate, which writes records; whether a tool failed or its server, nobody has
 * told us. */
enum recent_status { ENDED_WELL, ENDED_ERROR, ENDED_CANCELLED, ENDED_TIMEOUT, ENDED_FAILED };
static const char *const statuses[] = { "success", "error", "cancelled", "timeout", "failed" };
static const enum recent_status cancelled_as[] = {
    [CALL_BY_USER] = ENDED_CANCELLED,
    [CALL_TIMED_OUT] = ENDED_TIMEOUT,
    [CALL_DISCONNECTED] = ENDED_FAILED,
    [CALL_SHUTDOWN] = ENDED_CANCELLED,
};

struct ended {
    char id[UUID_CHARS + 1];
    char server[HUB_NAME_MAX + 1], method[METHOD_MAX + 1];
    char tool[REST_SUBJECT_MAX + 1], caller[MCP_CLIENT_LABEL_MAX + 1];
    int64_t ended_us; /* wall clock */
    int64_t took_us;
    enum recent_status status;
    const char *note; /* NULL: none */
};

struct rest_recent {
    struct ended *ring;
    size_t room; /* grows up to REST_RECENT_MAX; only then is anything overwritten */
    uint64_t n;  /* that ever ended */
};

struct rest_recent *rest_recent_new(void) { return NEW(struct rest_recent); }

void rest_recent_free(struct rest_recent *r)
{
    free(r->ring);
    free(r);
}

static void keep(char *to, size_t max, struct span text)
{
    text = utf8_cut(text, max);
    if (text.n)
        memcpy(to, text.p, text.n);
    to[text.n] = '\0';
}

/* What is missing is told. */
static void keep_tool(struct ended *c, struct span text)
{
    static const struct span more = SPAN_CONST("…");

    if (text.n <= REST_SUBJECT_MAX) {
        keep(c->tool, REST_SUBJECT_MAX, text);
        return;
    }
    keep(c->tool, REST_SUBJECT_MAX - more.n, text);
    memcpy(c->tool + strlen(c->tool), more.p, more.n + 1);
}

static struct ended *next_place(struct rest_recent *r)
{
    if (r->n == r->room && r->room < REST_RECENT_MAX) {
        r->room = r->room ? r->room * 2 : FIRST_ROOM;
        if (r->room > REST_RECENT_MAX)
            r->room = REST_RECENT_MAX;
        r->ring = mem_resize(r->ring, r->room * sizeof *r->ring);
    }
    return &r->ring[r->n++ % r->room];
}

void rest_recent_hub(struct rest_recent *r, const struct hub_event *e)
{
    struct ended *c;

    if (e->kind != EVENT_CALL_COMPLETED && e->kind != EVENT_CALL_CANCELLED)
        return;
    c = next_place(r);
    keep(c->id, UUID_CHARS, span_of(e->call.id));
    keep(c->server, HUB_NAME_MAX, span_of(e->server));
    keep(c->method, METHOD_MAX, span_of(e->call.method));
    keep(c->caller, MCP_CLIENT_LABEL_MAX, span_of(e->call.client));
    keep_tool(c, e->call.tool);
    c->ended_us = e->at * 1000;
    c->took_us = (int64_t)(e->call.ms * 1000);
    c->status = e->kind == EVENT_CALL_CANCELLED ? cancelled_as[e->call.why]
                : e->call.success               ? ENDED_WELL
                                                : ENDED_ERROR;
    c->note = e->kind == EVENT_CALL_CANCELLED ? call_cancel_name(e->call.why) : NULL;
}

/* ---- reading ---- */

static uint64_t kept(const struct rest_recent *r) { return r->n < r->room ? r->n : r->room; }

/* Those in the ring have the numbers n - kept() + 1 to n. */
static const struct ended *at(const struct rest_recent *r, uint64_t no)
{
    return &r->ring[(no - 1) % r->room];
}

/* The same members as of one that was recorded. */
static void put_members(struct json_out *o, const struct ended *c, uint64_t no)
{
    struct call_record record = { .no = no,
                                  .r = { .uuid = c->id,
                                         .status = statuses[c->status],
                                         .note = c->note,
                                         .server = c->server,
                                         .tool = c->tool,
                                         .method = c->method,
                                         .caller = *c->caller ? c->caller : NULL,
                                         .queued_us = c->ended_us - c->took_us,
                                         .ended_us = c->ended_us,
                                         .detail = RECORD_NONE } };

    call_record_members(o, &record);
}

static bool is(const char *wanted, const char *have)
{
    return !wanted || strcmp(wanted, have) == 0;
}

static bool fits(const struct ended *c, const struct call_query *q)
{
    int64_t queued = c->ended_us - c->took_us;

    return is(q->server, c->server) && is(q->tool, c->tool) && is(q->caller, c->caller) &&
           is(q->status, statuses[c->status]) && (!q->since_us || queued >= q->since_us) &&
           (!q->until_us || queued <= q->until_us);
}

void rest_recent_write(struct json_out *o, const struct rest_recent *r, const struct call_query *q)
{
    uint64_t first = r->n - kept(r), left = q->limit, next = 0;
    uint64_t no = q->before && q->before <= r->n ? q->before - 1 : r->n;

    json_begin_array(o, "recent");
    for (; no > first && left; no--) {
        if (!fits(at(r, no), q))
            continue;
        json_begin_object(o, NULL);
        put_members(o, at(r, no), no);
        json_end(o);
        left--;
        next = no;
    }
    json_end(o);
    if (!left && next > first + 1)
        json_put_uint(o, "next", next);
}

uint64_t rest_recent_count(const struct rest_recent *r) { return kept(r); }

bool rest_recent_get(struct json_out *o, const struct rest_recent *r, const char *id)
{
    for (uint64_t no = r->n; no > r->n - kept(r); no--)
        if (strcmp(at(r, no)->id, id) == 0) {
            put_members(o, at(r, no), no);
            return true;
        }
    return false;
}
