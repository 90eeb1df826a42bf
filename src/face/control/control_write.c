#include "control_write.h"
#include "face/host/host.h"
#include "hub/catalog/catalog.h"
#include "hub/hub/hub.h"
#include "hub/link/link.h"
#include "hub/spec/spec.h"
#include "hub/view/view.h"
#include <stdio.h>

static void put_seconds(struct json_out *o, const char *key, int64_t wall_ms)
{
    if (wall_ms)
        json_put_seconds(o, key, wall_ms);
}

/* The last lines of its stderr. */
static void last_said(struct buf *out, const struct link *l)
{
    size_t n = link_log_count(l);

    for (size_t i = n > REMEDY_LINES_MAX ? n - REMEDY_LINES_MAX : 0; i < n; i++)
        if (link_log_at(l, i)->source == LOG_OF_STDERR)
            buf_printf(out, "%s\n", link_log_at(l, i)->text);
}

static bool put_remedy(struct json_out *o, const struct link *l, const struct link_status *status)
{
    AUTO_BUF struct buf said = { 0 }, problem = { 0 }, next = { 0 };
    struct ailment a = { link_spec(l), link_last_error(l), SPAN("") };

    if (!a.err || !link_is_failed(status->state))
        return false;
    last_said(&said, l);
    a.said = buf_span(&said);
    if (!remedy_find(&a, &problem, &next))
        return false;
    json_put_span(o, "problem", buf_span(&problem));
    json_put_span(o, "next_step", buf_span(&next));
    return true;
}

/* What a person can do about it; that one is idle is no trouble. */
static void put_next_step(struct json_out *o, const struct link *l,
                          const struct link_status *status)
{
    const char *verb = advice_verb(advice_of_state(status->state));

    if (!put_remedy(o, l, status) && verb && status->state != LINK_IDLE)
        json_put_fmt(o, "next_step", "patchbay %s %s", verb, link_name(l));
}

/* Why it is as it is; NULL: for no particular reason. */
static const char *reason(const struct link *l, const struct link_status *s)
{
    const struct pb_error *err = link_last_error(l);

    if (s->message)
        return s->message;
    return err && (s->state == LINK_RECONNECTING || s->state == LINK_DISCONNECTED) ? err->msg
                                                                                   : NULL;
}

static void put_status(struct json_out *o, const struct link *l, const struct link_status *s)
{
    AUTO_BUF struct buf text = { 0 };

    link_status_put(o, s, reason(l, s));
    status_text(&text, s);
    json_put_span(o, "status", buf_span(&text));
}

/* What goes with it in a list: a dot, a badge, and what its menu offers. */
static void put_looks(struct json_out *o, const struct link_status *s)
{
    const char *tooltip = NULL;
    enum badge badge = status_badge(s, &tooltip);
    unsigned actions = row_actions(s->state);

    json_put_str(o, "color", dot_color(s->state));
    if (badge != BADGE_NONE) {
        json_begin_object(o, "badge");
        json_put_str(o, "text", badge_text(badge));
        json_put_str(o, "color", badge_color(badge));
        json_put_str_opt(o, "tooltip", tooltip);
        json_end(o);
    }
    json_begin_array(o, "actions");
    for (unsigned bit = ROW_RETRY; bit <= ROW_LOGS; bit <<= 1)
        if (actions & bit)
            json_put_str(o, NULL, row_action_text((enum row_action)bit));
    json_end(o);
}

static void put_counts(struct json_out *o, const struct hub *h, const char *name)
{
    static const char *const keys[LIST_KINDS] = { "tools", "resources", "templates", "prompts" };

    for (int k = 0; k < LIST_KINDS; k++)
        json_put_uint(o, keys[k], catalog_count(hub_catalog(h), name, (enum list_kind)k));
}

static void put_facts(struct json_out *o, const struct link_facts *f)
{
    json_put_str_opt(o, "protocol", f->protocol);
    if (f->pid)
        json_put_int(o, "pid", f->pid);
    if (f->latency_ms > 0)
        json_put_double(o, "latency_ms", f->latency_ms);
    if (f->connect_took_ms > 0)
        json_put_double(o, "connect_ms", f->connect_took_ms);
    put_seconds(o, "connected_at", f->connected_at);
    put_seconds(o, "last_used_at", f->last_used_at);
    json_put_uint(o, "calls", f->calls);
    json_put_uint(o, "failures", f->failures);
    json_put_uint(o, "in_flight", f->in_flight);
    if (f->queued)
        json_put_uint(o, "queued", f->queued);
    if (f->instances)
        json_put_uint(o, "instances", f->instances);
}

void control_put_said(struct json_out *o, const char *key, enum json_type type, struct span said)
{
    static const struct json_opts shallow = { .keep_depth = 1 };
    AUTO_JSON struct json_doc doc = { 0 };

    if (said.n && json_parse(&doc, said, &shallow, NULL) == 0 && json_is(json_root(&doc), type))
        json_put_raw(o, key, said);
}

static void put_spec(struct json_out *o, const struct spec *spec, const struct link_facts *f)
{
    AUTO_BUF struct buf text = { 0 };

    spec_write_masked(&text, spec);
    json_put_raw(o, "spec", buf_span(&text));
    control_put_said(o, "server_info", JSON_OBJECT, f->server_info);
    control_put_said(o, "capabilities", JSON_OBJECT, f->capabilities);
    if (!f->muted)
        control_put_said(o, "instructions", JSON_STRING, f->instructions);
}

void control_write_server(struct json_out *o, const char *key, const struct hub *h, struct link *l,
                          bool full)
{
    const struct spec *spec = link_spec(l);
    AUTO_BUF struct buf what = { 0 };
    struct hub_counters counters;
    struct link_status status;
    struct link_facts facts;

    link_status(l, &status);
    link_facts(l, &facts);
    hub_counters(h, spec->name, &counters);
    spec_describe(&what, spec);
    json_begin_object(o, key);
    json_put_str(o, "name", spec->name);
    json_put_str(o, "display_name", spec->display_name);
    json_put_str(o, "transport", spec_transport_name(spec->transport));
    json_put_span(o, "target", buf_span(&what));
    put_status(o, l, &status);
    put_next_step(o, l, &status);
    put_looks(o, &status);
    put_counts(o, h, spec->name);
    put_facts(o, &facts);
    json_put_uint(o, "reconnects", counters.reconnects);
    json_put_uint(o, "restarts", counters.restarts);
    if (spec->file) {
        json_put_str(o, "file", spec->file);
        json_put_uint(o, "line", spec->line);
    }
    if (full)
        put_spec(o, spec, &facts);
    json_end(o);
}

/* A line of a server's log; both borrowed. */
struct logged {
    const char *server;
    const struct log_entry *entry;
};

struct control_writing {
    struct json_out *o;
    const struct hub *hub;
    const char *server;
    size_t lines;
    uint64_t room; /* for calls */
    struct logged *logged;
    size_t n_logged, logged_room;
};

static void write_one_server(void *ctx, struct link *l)
{
    struct control_writing *w = ctx;

    control_write_server(w->o, NULL, w->hub, l, false);
}

void control_write_servers(struct json_out *o, const char *key, const struct hub *h)
{
    struct control_writing w = { .o = o, .hub = h };

    json_begin_array(o, key);
    hub_each(h, write_one_server, &w);
    json_end(o);
}

void control_put_entry(struct json_out *o, const struct entry *e)
{
    bool named = e->kind == LIST_TOOLS || e->kind == LIST_PROMPTS;

    json_put_span(o,
                  named                       ? "name"
                  : e->kind == LIST_RESOURCES ? "uri"
                                              : "uriTemplate",
                  named ? e->id : e->wire);
    if (named)
        json_put_span(o, "wire", e->wire);
    json_put_str_opt(o, "server", e->server);
    if (!e->enabled)
        json_put_bool(o, "enabled", false);
    json_put_raw(o, "definition", e->text);
}

void control_write_entry(struct json_out *o, const struct entry *e)
{
    json_begin_object(o, NULL);
    control_put_entry(o, e);
    json_end(o);
}

struct scope control_scope(const char *server, const struct mode *mode)
{
    return (struct scope){ .server = server,
                           .filter = mode ? mode->filter : NULL,
                           .builtins = server && strcmp(server, SPEC_OWN) == 0 ? HOST_BUILTIN
                                                                               : HOST_BREAKPOINT };
}

bool control_write_entries(struct json_out *o, const struct hub *h, enum list_kind kind,
                           const struct scope *scope)
{
    const struct entry *const *all = NULL;
    size_t n = catalog_all(hub_catalog(h), kind, &all);

    json_begin_array(o, list_kind_name(kind));
    for (size_t i = 0; i < n; i++) {
        if (scope->filter && loop_is_slow(hub_loop(h)))
            return false;
        if (!all[i]->held && scope_holds(hub_catalog(h), scope, all[i]))
            control_write_entry(o, all[i]);
    }
    json_end(o);
    return true;
}

static bool is_missed(const struct link *l, const char *server)
{
    enum link_state s = link_state(l);

    if (server)
        return strcmp(server, link_name(l)) == 0 && s != LINK_CONNECTED && s != LINK_IDLE;
    return link_is_failed(s) || s == LINK_RECONNECTING ||
           (s == LINK_DISCONNECTED && link_last_error(l));
}

static const char *failure_name(const struct link *l)
{
    const struct pb_error *err = link_last_error(l);

    if (link_state(l) == LINK_DISABLED)
        return "server_disabled";
    return err && err->code == PB_E_AUTH ? "auth_required" : "server_not_connected";
}

static void write_failed(void *ctx, struct link *l)
{
    struct control_writing *w = ctx;
    AUTO_BUF struct buf text = { 0 };
    struct link_status status;
    const char *why;

    if (!is_missed(l, w->server))
        return;
    link_status(l, &status);
    status_text(&text, &status);
    why = reason(l, &status);
    json_begin_object(w->o, NULL);
    json_put_str(w->o, "server", link_name(l));
    json_put_str(w->o, "state", link_state_name(status.state));
    json_put_str(w->o, "error", failure_name(l));
    json_put_str(w->o, "message", why ? why : buf_cstr(&text));
    put_next_step(w->o, l, &status);
    json_end(w->o);
}

void control_write_failed(struct json_out *o, const char *key, const struct hub *h,
                          const char *server)
{
    struct control_writing w = { .o = o, .hub = h, .server = server };

    json_begin_array(o, key);
    hub_each(h, write_failed, &w);
    json_end(o);
}

void control_write_pong(struct json_out *o, const struct control_act *a)
{
    json_begin_object(o, NULL);
    json_put_str(o, "status", "ok");
    json_put_str(o, "name", a->server);
    json_put_uint(o, "took_ms", a->took_ms);
    json_end(o);
}

void control_put_remembered(struct json_out *o, const struct hub *h, const char *server)
{
    put_seconds(o, "remembered_at", server ? hub_remembered_at(h, server) : 0);
}

static void write_remembered(void *ctx, struct link *l)
{
    struct control_writing *w = ctx;

    if (!hub_remembered_at(w->hub, link_name(l)) ||
        (w->server && strcmp(w->server, link_name(l)) != 0))
        return;
    json_begin_object(w->o, NULL);
    json_put_str(w->o, "server", link_name(l));
    control_put_remembered(w->o, w->hub, link_name(l));
    json_end(w->o);
}

void control_write_remembered(struct json_out *o, const char *key, const struct hub *h,
                              const char *server)
{
    struct control_writing w = { .o = o, .hub = h, .server = server };

    json_begin_array(o, key);
    hub_each(h, write_remembered, &w);
    json_end(o);
}

void control_write_modes(struct json_out *o, const char *key, const struct hub *h)
{
    const struct mode_set *modes = hub_modes(h);

    json_begin_array(o, key);
    for (size_t i = 0; modes && i < modes->n; i++)
        mode_write(o, NULL, &modes->modes[i]);
    json_end(o);
}

static void write_call(void *ctx, const struct call_view *c)
{
    struct control_writing *w = ctx;

    if (!w->room)
        return;
    w->room--;
    json_begin_object(w->o, NULL);
    json_put_str(w->o, "id", c->uuid);
    json_put_str(w->o, "server", w->server);
    json_put_str(w->o, "method", c->method);
    json_put_span(w->o, "subject", c->subject);
    if (*c->client)
        json_put_str(w->o, "client", c->client);
    json_put_seconds(w->o, "started_at", c->started_at);
    if (c->progressed)
        json_put_double(w->o, "progress", c->progress);
    if (c->total > 0)
        json_put_double(w->o, "total", c->total);
    json_put_str_opt(w->o, "message", c->message);
    json_end(w->o);
}

static void write_calls_of(void *ctx, struct link *l)
{
    struct control_writing *w = ctx;

    w->server = link_name(l);
    link_each_call(l, write_call, w);
}

void control_write_calls(struct json_out *o, const char *key, const struct hub *h)
{
    struct control_writing w = { .o = o, .hub = h, .room = CONTROL_CALLS_MAX };

    json_begin_array(o, key);
    hub_each(h, write_calls_of, &w);
    json_end(o);
}

static void take_log_of(void *ctx, struct link *l)
{
    struct control_writing *w = ctx;
    size_t n = link_log_count(l);

    if (w->server && strcmp(w->server, link_name(l)) != 0)
        return;
    for (size_t i = n > w->lines ? n - w->lines : 0; i < n; i++) {
        if (w->n_logged == w->logged_room) {
            w->logged_room = w->logged_room ? 2 * w->logged_room : 64;
            w->logged = mem_resize(w->logged, w->logged_room * sizeof *w->logged);
        }
        w->logged[w->n_logged++] = (struct logged){ link_name(l), link_log_at(l, i) };
    }
}

static int by_turn(const void *a, const void *b)
{
    const struct logged *x = a, *y = b;

    return x->entry->turn < y->entry->turn ? -1 : 1;
}

void control_write_logs(struct json_out *o, const char *key, const struct hub *h,
                        const char *server, size_t lines)
{
    struct control_writing w = { .o = o, .hub = h, .server = server, .lines = lines };

    hub_each(h, take_log_of, &w);
    if (w.n_logged)
        qsort(w.logged, w.n_logged, sizeof *w.logged, by_turn);
    json_begin_array(o, key);
    for (size_t i = 0; i < w.n_logged; i++)
        log_entry_put(o, NULL, w.logged[i].server, w.logged[i].entry);
    json_end(o);
    free(w.logged);
}

/* ---- the daemon ---------------------------------------------------------------------------- */

struct census {
    const struct hub *hub;
    size_t total, by_state[LINK_COUNT], in_flight, tools;
};

static void count_server(void *ctx, struct link *l)
{
    struct census *t = ctx;
    struct link_facts facts;

    link_facts(l, &facts);
    t->total++;
    t->by_state[link_state(l)]++;
    t->in_flight += facts.in_flight + facts.queued;
    t->tools += catalog_count(hub_catalog(t->hub), link_name(l), LIST_TOOLS);
}

uint64_t control_resident_bytes(void)
{
    char line[64] = "";
    FILE *f = fopen("/proc/self/statm", "re");
    const char *second;

    if (f && !fgets(line, sizeof line, f))
        line[0] = '\0';
    if (f)
        fclose(f);
    second = strchr(line, ' ');
    return second ? strtoull(second, NULL, 10) * (uint64_t)sysconf(_SC_PAGESIZE) : 0;
}

void control_write_files(struct json_out *o, const char *key, const struct control_facts *f)
{
    json_begin_array(o, key);
    for (const char *const *p = f->files; p && *p; p++)
        json_put_str(o, NULL, *p);
    json_end(o);
}

static void put_states(struct json_out *o, const struct census *t)
{
    json_begin_object(o, "servers");
    json_put_uint(o, "total", t->total);
    for (int i = 0; i < LINK_COUNT; i++)
        if (t->by_state[i])
            json_put_uint(o, link_state_name((enum link_state)i), t->by_state[i]);
    json_end(o);
}

/* Which settings have changed and do not count yet. */
static void put_restart(struct json_out *o, const struct control_facts *f)
{
    json_begin_array(o, "restart_for");
    for (const struct setting *row = settings_table; row->name; row++)
        if (control_wants_restart(row, f->started_with, f->settings))
            json_put_str(o, NULL, row->name);
    json_end(o);
}

/* What held up the one thread that does everything. */
static void put_loop(struct json_out *o, const struct pb_loop *l)
{
    struct loop_stats s = loop_stats(l);

    json_begin_object(o, "loop");
    json_put_uint(o, "over_20ms", s.busy);
    json_put_uint(o, "over_100ms", s.slow);
    json_put_uint(o, "worked_20ms", s.worked);
    json_put_uint(o, "longest_ms", (uint64_t)s.longest_ms);
    json_put_str_opt(o, "longest", s.longest);
    json_end(o);
}

void control_write_status(struct json_out *o, const struct hosts *s)
{
    const struct control_facts *f = control_facts_of(s);
    const struct hub *h = hosts_hub(s);
    struct census t = { .hub = h };

    hub_each(h, count_server, &t);
    json_begin_object(o, NULL);
    json_put_str(o, "version", pb_version());
    json_put_int(o, "pid", getpid());
    json_put_str_opt(o, "url", f->url);
    json_put_str_opt(o, "token_from", f->token_from);
    json_put_str_opt(o, "socket", f->socket);
    json_put_str_opt(o, "home", f->home);
    control_write_files(o, "files", f);
    json_put_str_opt(o, "config_error", f->config_error);
    put_restart(o, f);
    put_seconds(o, "started_at", f->started_at);
    put_states(o, &t);
    json_put_uint(o, "tools", t.tools);
    json_put_uint(o, "in_flight", t.in_flight);
    json_put_uint(o, "memory_bytes", control_resident_bytes());
    put_loop(o, hub_loop(h));
    control_write_calls(o, "calls", h);
    json_end(o);
}
