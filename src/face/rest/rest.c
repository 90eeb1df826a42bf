#include "face/host/host.h"
#include "hub/hub/hub.h"
#include "hub/link/link.h"
#include "hub/view/view.h"
#include "io/http/http.h"
#include "mcp/carrier/carrier.h"
#include "rest_impl.h"
#include <stdio.h>

bool rest_owns(struct span path)
{
    static const char *const pages[] = { "/openapi.json", "/docs", "/metrics", "/api" };

    for (size_t i = 0; i < ARRAY_LEN(pages); i++)
        if (span_is(path, pages[i]))
            return true;
    return span_starts(path, "/api/");
}

/* ---- what the hub tells ---- */

static void on_event(void *ctx, const struct hub_event *e)
{
    struct rest *s = ctx;

    rest_metrics_hub(s->metrics, s->hub, e);
    rest_recent_hub(s->recent, e);
    rest_events_hub(s->events, e);
    rest_events_toast(s->events, e);
    if (view_apply(s->view, e))
        rest_events_tell(s->events, "alertsChanged");
}

/* With no server it is the modes that changed; told for each kind of list. */
static void on_list_changed(void *ctx, enum list_kind kind, const char *server)
{
    struct rest *s = ctx;

    if (!*server && kind == LIST_TOOLS)
        rest_events_tell(s->events, "modesChanged");
}

/* Servers that were there before us. */
static void view_link(void *ctx, struct link *l)
{
    struct rest *s = ctx;
    struct hub_event e = { .kind = EVENT_SERVER_ADDED,
                           .server = link_name(l),
                           .spec = link_spec(l),
                           .at = loop_wall(s->loop) };

    view_apply(s->view, &e);
    e.kind = EVENT_STATE;
    link_status(l, &e.state.to);
    view_apply(s->view, &e);
}

static void on_question(void *ctx, const struct question *q, bool over)
{
    struct rest *s = ctx;

    rest_events_question(s->events, q, over);
}

/* ---- life ---- */

struct rest *rest_new(const struct rest_options *o)
{
    struct rest *s = NEW(struct rest);
    struct hub_listener listener = { .event = on_event, .list_changed = on_list_changed, .ctx = s };

    s->hosts = o->hosts;
    s->loop = hosts_loop(o->hosts);
    s->gate = hosts_gate(o->hosts);
    s->hub = hosts_hub(o->hosts);
    s->http = o->http;
    s->view = view_new();
    s->events = rest_events_new(s);
    s->metrics = rest_metrics_new();
    s->recent = rest_recent_new();
    list_init(&s->jobs);
    list_init(&s->trials);
    list_init(&s->lookups);
    list_init(&s->reads);
    if (s->gate)
        gate_listen(s->gate, &(struct gate_listener){ .question = on_question, .ctx = s });
    if (s->hub) {
        hub_each(s->hub, view_link, s);
        s->news = hub_listen(s->hub, &listener);
    }
    return s;
}

void rest_config_changed(struct rest *s) { rest_events_tell(s->events, "configChanged"); }

void rest_end_streams(struct rest *s, bool (*may)(void *ctx, const char *principal), void *ctx)
{
    rest_events_end(s->events, may, ctx);
}

void rest_drain(struct rest *s)
{
    rest_events_end(s->events, NULL, NULL);
    rest_trials_end(s);
    rest_lookups_end(s);
    rest_reads_end(s);
}

void rest_free(struct rest *s)
{
    if (!s)
        return;
    if (s->news)
        hub_unlisten(s->news);
    if (s->gate)
        gate_unlisten(s->gate, s);
    rest_reads_end(s);
    rest_jobs_leave(s);
    rest_trials_leave(s);
    rest_events_free(s->events);
    rest_metrics_free(s->metrics);
    rest_recent_free(s->recent);
    view_free(s->view);
    free(s);
}

/* ---- one request ---- */

static void refuse_by_guard(struct http_request *r, const struct guard_verdict *v)
{
    rest_fail(r, &(struct rest_failure){ .status = v->status,
                                         .error = v->status == 401   ? "unauthorized"
                                                  : v->status == 429 ? "too_many_wrong_tokens"
                                                                     : "forbidden",
                                         .message = v->why,
                                         .headers = v->headers });
}

static void refuse_more(struct http_request *r)
{
    rest_fail(r, &(struct rest_failure){ 503, "too_many_requests",
                                         .message = "Too many requests are under way",
                                         .next = "wait for some to be answered, then try again",
                                         .headers = "Retry-After: 1\r\n" });
}

static void refuse_route(struct http_request *r, struct buf *allow)
{
    struct rest_failure f = { 404, "not_found", .message = "There is nothing at this path" };
    AUTO_BUF struct buf line = { 0 };

    if (allow->n) {
        buf_printf(&line, "Allow: %s\r\n", buf_cstr(allow));
        f.status = 405;
        f.error = "method_not_allowed";
        f.message = "This path does not take this method";
        f.next = buf_cstr(allow);
        f.headers = buf_cstr(&line);
    }
    rest_fail(r, &f);
}

static void reply_options(struct http_request *r, struct buf *allow)
{
    AUTO_BUF struct buf headers = { 0 };

    buf_printf(&headers, "Allow: %s\r\nCache-Control: no-store\r\n", buf_cstr(allow));
    http_reply(r, 204, buf_cstr(&headers), NULL, 0);
}

static void run(struct rest_call *c)
{
    bool stream = c->route->flags & REST_STREAM;

    if (!stream && c->rest->under_way >= REST_REQUESTS_MAX) {
        refuse_more(c->r);
        return;
    }
    if (!stream)
        http_count(c->r, &c->rest->under_way);
    if (c->route->flags & REST_NEEDS_HUB && !c->hub)
        rest_fail(c->r, &(struct rest_failure){ 503, "no_client_manager",
                                                .message = "There is no hub behind this server" });
    else if (rest_read(c))
        c->route->run(c);
}

bool rest_takes_body(const struct http_request *r)
{
    AUTO_BUF struct buf allow = { 0 };
    const struct rest_route *route = rest_find(http_method(r), http_path(r), &allow);

    if (!route)
        return false;
    for (const struct rest_param *p = route->params; p && p->name; p++)
        if (p->in == REST_BODY)
            return true;
    return route->flags & REST_OPEN_BODY;
}

void rest_handle(struct rest *s, struct http_request *r, const struct guard_verdict *v)
{
    struct span method = http_method(r);
    AUTO_BUF struct buf allow = { 0 };
    struct rest_call c = { .rest = s, .hub = s->hub, .r = r, .principal = v->principal };

    if (v->status) {
        refuse_by_guard(r, v);
        return;
    }
    c.route = rest_find(span_is(method, "HEAD") ? SPAN("GET") : method, http_path(r), &allow);
    if (c.route)
        run(&c);
    else if (allow.n && span_is(method, "OPTIONS"))
        reply_options(r, &allow);
    else
        refuse_route(r, &allow);
    json_doc_done(&c.doc);
    arena_done(&c.arena);
}
