/* rest_metrics.c - GET /metrics: numbers for Prometheus, in its text format 0.0.4. Counters are of
 * this run of the program; those of a server begin anew when it is removed. */
#include "face/control/control.h"
#include "face/host/host.h"
#include "hub/catalog/catalog.h"
#include "hub/hub/hub.h"
#include "hub/link/link.h"
#include "io/http/http.h"
#include "rest_impl.h"
#include <inttypes.h>
#include <stdio.h>
#include <sys/resource.h>

/* Upper bounds in seconds; one more bucket holds the rest. */
static const double bounds[] = { 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30 };
enum { BOUNDS = ARRAY_LEN(bounds) };

enum metrics_outcome { OUTCOME_OK, OUTCOME_FAILED, OUTCOME_CANCELLED, OUTCOME_TIMEOUT, OUTCOMES };
static const char *const outcomes[] = { "ok", "failed", "cancelled", "timeout" };
_Static_assert(ARRAY_LEN(outcomes) == OUTCOMES, "every outcome has a name");

struct numbers {
    uint64_t calls[OUTCOMES], buckets[BOUNDS + 1], connects, losses, reconnects;
    double seconds;
};

struct rest_metrics {
    struct map servers; /* name -> struct numbers */
};

struct rest_metrics *rest_metrics_new(void) { return NEW(struct rest_metrics); }

void rest_metrics_free(struct rest_metrics *m)
{
    struct map_slot *slot;

    MAP_FOREACH(slot, &m->servers)
        free(slot->value);
    map_done(&m->servers);
    free(m);
}

/* ---- counting ---- */

/* NULL: the server was removed. Its calls end after it; they must not begin it anew. */
static struct numbers *numbers_of(struct rest_metrics *m, const struct hub *h, const char *server)
{
    struct numbers *n = map_get(&m->servers, span_of(server));

    if (!n && hub_link(h, server)) {
        n = NEW(struct numbers);
        map_put(&m->servers, span_of(server), n);
    }
    return n;
}

static void count_call(struct numbers *n, enum metrics_outcome outcome, double ms)
{
    size_t i = 0;

    if (!n)
        return;
    n->calls[outcome]++;
    n->seconds += ms / 1000;
    while (i < BOUNDS && ms / 1000 > bounds[i])
        i++;
    n->buckets[i]++;
}

static void count_state(struct numbers *n, const struct hub_event *e)
{
    if (!n)
        return;
    n->connects += e->state.to.state == LINK_CONNECTED;
    n->reconnects += e->state.to.state == LINK_RECONNECTING;
    /* With a message: it was not asked to go. */
    n->losses += e->state.from.state == LINK_CONNECTED && e->state.to.message;
}

void rest_metrics_hub(struct rest_metrics *m, const struct hub *h, const struct hub_event *e)
{
    switch (e->kind) {
    case EVENT_SERVER_REMOVED:
        free(map_del(&m->servers, span_of(e->server)));
        break;
    case EVENT_STATE:
        count_state(numbers_of(m, h, e->server), e);
        break;
    case EVENT_CALL_COMPLETED:
        count_call(numbers_of(m, h, e->server), e->call.success ? OUTCOME_OK : OUTCOME_FAILED,
                   e->call.ms);
        break;
    case EVENT_CALL_CANCELLED:
        count_call(numbers_of(m, h, e->server),
                   e->call.why == CALL_TIMED_OUT ? OUTCOME_TIMEOUT : OUTCOME_CANCELLED, e->call.ms);
        break;
    default:
        break;
    }
}

/* ---- writing ---- */

struct metrics_page {
    struct buf *out;
    struct rest *rest;
    const char *name; /* of the metric that is being written */
    size_t by_state[LINK_COUNT];
};

static void head(struct metrics_page *p, const char *name, const char *type, const char *help)
{
    p->name = name;
    buf_printf(p->out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* As the format wants it: backslash, quote and line end are escaped. */
static void put_label(struct buf *out, const char *value)
{
    for (; *value; value++) {
        if (*value == '\\' || *value == '"')
            buf_byte(out, '\\');
        if (*value == '\n')
            buf_str(out, "\\n");
        else
            buf_byte(out, *value);
    }
}

static void put_double(struct buf *out, double v)
{
    struct json_out o = json_out(out);

    json_put_double(&o, NULL, v);
    buf_byte(out, '\n');
}

static void value(struct metrics_page *p, double v)
{
    buf_printf(p->out, "%s ", p->name);
    put_double(p->out, v);
}

/* label NULL: only the server. */
static void of_server(struct metrics_page *p, const char *suffix, const char *server,
                      const char *label, const char *label_value, double v)
{
    buf_printf(p->out, "%s%s{server=\"", p->name, suffix);
    put_label(p->out, server);
    buf_byte(p->out, '"');
    if (label) {
        buf_printf(p->out, ",%s=\"", label);
        put_label(p->out, label_value);
        buf_byte(p->out, '"');
    }
    buf_str(p->out, "} ");
    put_double(p->out, v);
}

typedef void put_fn(struct metrics_page *p, const char *server, const struct numbers *n);

static void each_server(struct metrics_page *p, put_fn *put)
{
    const struct map *servers = &p->rest->metrics->servers;
    struct map_slot *slot;

    MAP_FOREACH(slot, servers) {
        AUTO_FREE char *name = mem_dupn(slot->key, slot->key_n);

        put(p, name, slot->value);
    }
}

static void put_calls(struct metrics_page *p, const char *server, const struct numbers *n)
{
    for (int i = 0; i < OUTCOMES; i++)
        of_server(p, "", server, "outcome", outcomes[i], (double)n->calls[i]);
}

static void put_durations(struct metrics_page *p, const char *server, const struct numbers *n)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < BOUNDS; i++) {
        char bound[32];

        snprintf(bound, sizeof bound, "%g", bounds[i]);
        sum += n->buckets[i];
        of_server(p, "_bucket", server, "le", bound, (double)sum);
    }
    sum += n->buckets[BOUNDS];
    of_server(p, "_bucket", server, "le", "+Inf", (double)sum);
    of_server(p, "_sum", server, NULL, NULL, n->seconds);
    of_server(p, "_count", server, NULL, NULL, (double)sum);
}

static void put_connects(struct metrics_page *p, const char *server, const struct numbers *n)
{
    of_server(p, "", server, NULL, NULL, (double)n->connects);
}

static void put_losses(struct metrics_page *p, const char *server, const struct numbers *n)
{
    of_server(p, "", server, NULL, NULL, (double)n->losses);
}

static void put_reconnects(struct metrics_page *p, const char *server, const struct numbers *n)
{
    of_server(p, "", server, NULL, NULL, (double)n->reconnects);
}

/* ---- what the hub knows itself ---- */

static void put_up(void *ctx, struct link *l)
{
    struct metrics_page *p = ctx;

    p->by_state[link_state(l)]++;
    of_server(p, "", link_name(l), NULL, NULL, link_is_connected(link_state(l)));
}

static void put_tools(void *ctx, struct link *l)
{
    struct metrics_page *p = ctx;

    of_server(p, "", link_name(l), NULL, NULL,
              (double)catalog_count(hub_catalog(p->rest->hub), link_name(l), LIST_TOOLS));
}

static void put_in_flight(void *ctx, struct link *l)
{
    struct link_facts f;

    link_facts(l, &f);
    of_server(ctx, "", link_name(l), NULL, NULL, (double)(f.in_flight + f.queued));
}

static void put_restarts(void *ctx, struct link *l)
{
    struct metrics_page *p = ctx;
    struct hub_counters n;

    hub_counters(p->rest->hub, link_name(l), &n);
    of_server(p, "", link_name(l), NULL, NULL, n.restarts);
}

static void put_states(struct metrics_page *p)
{
    head(p, "patchbay_servers", "gauge", "Servers by state.");
    for (int i = 0; i < LINK_COUNT; i++)
        buf_printf(p->out, "patchbay_servers{state=\"%s\"} %zu\n",
                   link_state_name((enum link_state)i), p->by_state[i]);
}

static void put_hub(struct metrics_page *p)
{
    head(p, "patchbay_server_up", "gauge", "Whether the server is connected.");
    hub_each(p->rest->hub, put_up, p);
    put_states(p);
    head(p, "patchbay_tools", "gauge", "Tools that the server lists.");
    hub_each(p->rest->hub, put_tools, p);
    head(p, "patchbay_calls_in_flight", "gauge", "Requests without an answer, those in line too.");
    hub_each(p->rest->hub, put_in_flight, p);
    head(p, "patchbay_server_restarts", "gauge",
         "Restarts after crashes since it was last steady.");
    hub_each(p->rest->hub, put_restarts, p);
    head(p, "patchbay_calls_total", "counter", "Requests to servers that have ended.");
    each_server(p, put_calls);
    head(p, "patchbay_call_duration_seconds", "histogram", "How long they took.");
    each_server(p, put_durations);
    head(p, "patchbay_connects_total", "counter", "Connections made.");
    each_server(p, put_connects);
    head(p, "patchbay_connections_lost_total", "counter", "Connections that ended by themselves.");
    each_server(p, put_losses);
    head(p, "patchbay_reconnects_total", "counter", "Attempts to connect again.");
    each_server(p, put_reconnects);
}

/* ---- who is there ---- */

/* One thread does everything: what holds it up is felt by all. */
static void put_loop(struct metrics_page *p)
{
    struct loop_stats s = loop_stats(p->rest->loop);

    head(p, "patchbay_loop_slow_callbacks_total", "counter", "Callbacks that held up all others.");
    buf_printf(p->out, "%s{over=\"%dms\"} %" PRIu64 "\n", p->name, LOOP_BUSY_MS, s.busy);
    buf_printf(p->out, "%s{over=\"%dms\"} %" PRIu64 "\n", p->name, LOOP_SLOW_MS, s.slow);
    head(p, "patchbay_loop_busy_callbacks_total", "counter",
         "Of those, the ones that worked so long themselves; the others waited for the processor.");
    buf_printf(p->out, "%s{over=\"%dms\"} %" PRIu64 "\n", p->name, LOOP_BUSY_MS, s.worked);
    head(p, "patchbay_loop_longest_callback_seconds", "gauge", "The longest of them.");
    value(p, s.longest_ms / 1000);
}

static void put_process(struct metrics_page *p)
{
    const struct control_facts *f = control_facts_of(p->rest->hosts);
    struct rusage use;

    head(p, "patchbay_build_info", "gauge", "Which program this is.");
    buf_printf(p->out, "patchbay_build_info{version=\"%s\"} 1\n", pb_version());
    head(p, "patchbay_mcp_clients", "gauge", "MCP clients with a session or a connection.");
    value(p, (double)hosts_clients(p->rest->hosts));
    head(p, "patchbay_event_streams", "gauge", "Clients that listen at /api/events.");
    value(p, (double)rest_events_streams(p->rest->events));
    if (p->rest->http) {
        head(p, "patchbay_http_connections", "gauge", "Open HTTP connections.");
        value(p, (double)http_server_connections(p->rest->http));
    }
    head(p, "process_resident_memory_bytes", "gauge", "Resident memory size in bytes.");
    value(p, (double)control_resident_bytes());
    head(p, "patchbay_allocations_total", "counter", "Blocks of memory asked for so far.");
    value(p, (double)mem_count());
    if (getrusage(RUSAGE_SELF, &use) == 0) {
        head(p, "process_cpu_seconds_total", "counter", "User and system CPU time in seconds.");
        value(p, (double)(use.ru_utime.tv_sec + use.ru_stime.tv_sec) +
                     (double)(use.ru_utime.tv_usec + use.ru_stime.tv_usec) / 1e6);
    }
    if (f->started_at) {
        head(p, "process_start_time_seconds", "gauge", "Start time since the epoch in seconds.");
        value(p, (double)f->started_at / 1000);
        head(p, "patchbay_uptime_seconds", "gauge", "How long the program has been running.");
        value(p, (double)(loop_wall(p->rest->loop) - f->started_at) / 1000);
    }
}

void rest_metrics(struct rest_call *c)
{
    AUTO_BUF struct buf out = { 0 };
    struct metrics_page p = { .out = &out, .rest = c->rest };
    struct span body;

    put_process(&p);
    put_loop(&p);
    if (c->hub)
        put_hub(&p);
    body = buf_span(&out);
    http_reply(c->r, 200,
               "Content-Type: text/plain; version=0.0.4; charset=utf-8\r\n"
               "Cache-Control: no-store\r\nX-Content-Type-Options: nosniff\r\n",
               &body, 1);
}
