/* rest_recent.c - the last calls that ended: a ring that is filled by events, whether anybody looks
 * or not. Nothing is allocated for a call, and nothing at all before the first one. */
#include "hub/link/link.h"
#include "rest_impl.h"

enum { FIRST_ROOM = 16, METHOD_MAX = 32 };

enum recent_outcome { OUTCOME_OK, OUTCOME_ERROR, OUTCOME_CANCELLED };
static const char *const outcomes[] = { "ok", "error", "cancelled" };

struct ended {
    char id[UUID_CHARS + 1];
    char server[HUB_NAME_MAX + 1], method[METHOD_MAX + 1];
    char subject[REST_SUBJECT_MAX + 1], client[MCP_CLIENT_LABEL_MAX + 1];
    double at, ms; /* wall clock, when it ended; how long it took */
    enum recent_outcome outcome;
    enum call_cancel why; /* cancelled */
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
static void keep_subject(struct ended *c, struct span text)
{
    static const struct span more = SPAN_CONST("…");

    if (text.n <= REST_SUBJECT_MAX) {
        keep(c->subject, REST_SUBJECT_MAX, text);
        return;
    }
    keep(c->subject, REST_SUBJECT_MAX - more.n, text);
    memcpy(c->subject + strlen(c->subject), more.p, more.n + 1);
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
    keep(c->client, MCP_CLIENT_LABEL_MAX, span_of(e->call.client));
    keep_subject(c, e->call.tool);
    c->at = (double)e->at;
    c->ms = e->call.ms;
    c->outcome = e->kind == EVENT_CALL_CANCELLED ? OUTCOME_CANCELLED
                 : e->call.success               ? OUTCOME_OK
                                                 : OUTCOME_ERROR;
    c->why = e->call.why;
}

static void write_one(struct json_out *o, const struct ended *c)
{
    json_begin_object(o, NULL);
    json_put_str(o, "id", c->id);
    json_put_str(o, "server", c->server);
    json_put_str(o, "method", c->method);
    json_put_str(o, "subject", c->subject);
    if (*c->client)
        json_put_str(o, "client", c->client);
    json_put_seconds(o, "started_at", (int64_t)(c->at - c->ms));
    json_put_scaled(o, "duration", (int64_t)(c->ms * 1000), 6);
    json_put_str(o, "outcome", outcomes[c->outcome]);
    if (c->outcome == OUTCOME_CANCELLED)
        json_put_str(o, "reason", call_cancel_name(c->why));
    json_end(o);
}

void rest_recent_write(struct json_out *o, const char *key, const struct rest_recent *r,
                       uint64_t limit)
{
    uint64_t kept = r->n < r->room ? r->n : r->room;

    json_begin_array(o, key);
    for (uint64_t i = 0; i < kept && i < limit; i++)
        write_one(o, &r->ring[(r->n - 1 - i) % r->room]);
    json_end(o);
}
