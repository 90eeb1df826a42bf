/* view_write.c - the picture as JSON, with the words and colours that go with it. */
#include "hub/link/link.h"
#include "texts.h"
#include "view_impl.h"

static void put_badge(struct json_out *o, const struct link_status *s)
{
    const char *tooltip;
    enum badge b = status_badge(s, &tooltip);

    if (b == BADGE_NONE)
        return;
    json_begin_object(o, "badge");
    json_put_str(o, "text", badge_text(b));
    json_put_str(o, "color", badge_color(b));
    json_put_str_opt(o, "tooltip", tooltip);
    json_end(o);
}

static void put_server(struct json_out *o, const struct view_server *s)
{
    AUTO_BUF struct buf text = { 0 };

    status_text(&text, &s->status);
    json_begin_object(o, NULL);
    json_put_str(o, "id", s->id);
    json_put_str(o, "displayName", s->display_name);
    json_put_str(o, "state", link_state_name(s->status.state));
    json_put_span(o, "status", buf_span(&text));
    json_put_str(o, "color", dot_color(s->status.state));
    put_badge(o, &s->status);
    json_put_str_opt(o, "authUrl", s->status.auth_url);
    if (s->status.next_retry_at)
        json_put_seconds(o, "nextRetryAt", s->status.next_retry_at);
    json_put_uint(o, "toolCount", s->tool_count);
    json_put_str_opt(o, "lastError", s->last_error);
    json_put_bool(o, "enabled", s->enabled);
    json_put_uint(o, "logCount", log_ring_count(s->logs));
    json_end(o);
}

static void put_tool(struct json_out *o, const struct view_tool *t)
{
    json_begin_object(o, NULL);
    json_put_str(o, "id", t->id);
    json_put_str(o, "server", t->server);
    json_put_str(o, "name", t->name);
    json_put_str(o, "description", t->description);
    json_put_raw(o, "definition", span_of(t->definition));
    json_end(o);
}

static void put_call(struct json_out *o, const struct view_call *c)
{
    json_begin_object(o, NULL);
    json_put_str(o, "id", c->id);
    json_put_str(o, "server", c->server);
    json_put_str(o, "tool", c->tool);
    json_put_seconds(o, "startedAt", c->started_at);
    if (c->progress > 0)
        json_put_double(o, "progress", c->progress);
    if (c->total > 0)
        json_put_double(o, "total", c->total);
    json_end(o);
}

static void put_alert(struct json_out *o, const struct view_alert *a)
{
    json_begin_object(o, NULL);
    json_put_str(o, "id", a->id);
    json_put_str(o, "server", a->server);
    json_put_str(o, "kind", alert_kind_name(a->kind));
    json_put_str(o, "message", a->message);
    json_put_seconds(o, "at", a->at);
    json_end(o);
}

void view_write(struct json_out *o, const char *key, const struct view *v)
{
    const struct view_server *const *servers;
    const struct view_tool *const *tools;
    const struct view_call *const *calls;
    const struct view_alert *const *alerts;
    size_t n;

    json_begin_object(o, key);
    json_begin_array(o, "servers");
    n = view_servers(v, &servers);
    for (size_t i = 0; i < n; i++)
        put_server(o, servers[i]);
    json_end(o);
    json_begin_array(o, "tools");
    n = view_tools(v, NULL, &tools);
    for (size_t i = 0; i < n; i++)
        put_tool(o, tools[i]);
    json_end(o);
    json_begin_array(o, "calls");
    n = view_calls(v, &calls);
    for (size_t i = 0; i < n; i++)
        put_call(o, calls[i]);
    json_end(o);
    json_begin_array(o, "alerts");
    n = view_alerts(v, &alerts);
    for (size_t i = 0; i < n; i++)
        put_alert(o, alerts[i]);
    json_end(o);
    json_end(o);
}
