#include "hub/secrets/secrets.h"
#include "hub/spec/spec.h"
#include "hub/warden/warden.h"
#include "link_impl.h"
#include "mcp/client/client.h"
#include "mcp/rpc/rpc.h"
#include <stdio.h>

void link_ref(struct link *l) { l->refs++; }

static void link_free(void *p)
{
    struct link *l = p;

    lists_done(l);
    free(l->buckets);
    map_done(&l->named);
    log_ring_free(l->log);
    buf_done(&l->server_info);
    buf_done(&l->capabilities);
    buf_done(&l->instructions);
    buf_done(&l->words);
    buf_done(&l->greeting);
    buf_done(&l->hubs);
    free((char *)(uintptr_t)l->opts.marker);
    free((char *)(uintptr_t)l->opts.hub);
    free((char *)(uintptr_t)l->opts.inherit_env);
    free((char *)(uintptr_t)l->opts.secrets);
    keys_drop(l);
    redact_free(l->hidden);
    free((char *)(uintptr_t)l->status.message);
    spec_unref(l->spec);
    free(l);
}

/* Later: somebody up the stack may still look at it. */
static void on_end(void *ctx)
{
    struct link *l = ctx;
    struct pb_loop *loop = l->loop;
    loop_fn *fn = l->closed_fn;
    void *fn_ctx = l->closed_ctx;

    link_free(l);
    if (fn)
        fn(fn_ctx);
    loop_closing_end(loop);
}

void link_unref(struct link *l)
{
    if (--l->refs == 0)
        loop_defer(l->loop, on_end, l);
}

void link_duration(uint64_t ms, char out[static 32])
{
    snprintf(out, 32, "%.10gs", (double)ms / 1000);
}

struct hub_event link_event(const struct link *l, enum hub_event_kind kind)
{
    return (struct hub_event){
        .kind = kind,
        .server = l->spec->name,
        .spec = l->spec,
        .at = loop_wall(l->loop),
    };
}

void link_emit(const struct link *l, const struct hub_event *e)
{
    if (l->opts.event && !l->closed)
        l->opts.event(l->opts.ctx, e);
}

struct link *link_new(const struct link_options *opts, struct spec *spec)
{
    struct link *l = NEW(struct link);

    l->refs = 1;
    l->loop = opts->loop;
    l->opts = *opts;
    l->opts.marker = mem_dup_opt(opts->marker);
    l->opts.hub = mem_dup_opt(opts->hub);
    l->opts.inherit_env = mem_dup_opt(opts->inherit_env);
    l->opts.secrets = mem_dup_opt(opts->secrets);
    if (!l->opts.open) {
        l->opts.open = link_open_client;
        l->opts.open_ctx = &l->opts;
    }
    l->spec = spec_ref(spec);
    vault_add_spec(l->opts.vault, spec); /* also of one that is never started */
    link_state_init(l);
    id_random(l->uuid, sizeof l->uuid);
    l->log = log_ring_new();
    list_init(&l->instances);
    list_init(&l->calls);
    channel_init(&l->shared, l);
    lists_init(l);
    return l;
}

void link_close(struct link *l, enum call_cancel why, loop_fn *fn, void *ctx)
{
    loop_closing_begin(l->loop);
    timer_stop(&l->limit);
    l->program_ends = why == CALL_SHUTDOWN && warden_running();
    l->shared.leaving = true;
    calls_cancel(&l->shared, why);
    instances_drop(l, why);
    l->closed = true;
    l->closed_fn = fn;
    l->closed_ctx = ctx;
    channel_drop(&l->shared);
    link_unref(l);
}

bool link_is_clear(const struct link *l)
{
    return !l->shared.client && !l->n_instances && !l->closing;
}

void link_set_spec(struct link *l, struct spec *spec)
{
    struct spec *old = l->spec;

    l->spec = spec_ref(spec);
    vault_add_spec(l->opts.vault, spec);
    spec_unref(old);
}

void link_tune(struct link *l, const struct link_options *o)
{
    l->opts.connect_ms = o->connect_ms;
    l->opts.call_ms = o->call_ms;
    l->opts.refresh_on_change = o->refresh_on_change;
    free((char *)(uintptr_t)l->opts.inherit_env);
    l->opts.inherit_env = mem_dup_opt(o->inherit_env);
}

/* ---- what is known ---- */

const struct spec *link_spec(const struct link *l) { return l->spec; }

const char *link_name(const struct link *l) { return l->spec->name; }

enum link_state link_state(const struct link *l) { return l->sm.now; }

void link_status(const struct link *l, struct link_status *out) { *out = l->status; }

const struct pb_error *link_last_error(const struct link *l)
{
    return l->error.code ? &l->error : NULL;
}

static size_t count_in_flight(const struct link *l)
{
    size_t n = l->shared.in_flight;

    for (const struct list *pos = l->instances.next; pos != &l->instances; pos = pos->next)
        n += CONTAINER_OF(pos, struct channel, at)->in_flight;
    return n;
}

void link_mute(struct link *l, bool on) { l->muted = on; }

void link_facts(const struct link *l, struct link_facts *out)
{
    *out = (struct link_facts){
        .era = l->era,
        .protocol = l->protocol,
        .server_info = buf_span(&l->server_info),
        .capabilities = buf_span(&l->capabilities),
        .instructions = buf_span(&l->instructions),
        .words = l->muted ? SPAN("") : buf_span(&l->greeting),
        .muted = l->muted,
        .hubs = buf_span(&l->hubs),
        .pid = l->shared.client ? client_pid(l->shared.client) : 0,
        .in_flight = count_in_flight(l),
        .queued = l->n_waiting,
        .instances = l->n_instances,
        .calls = l->last_call,
        .failures = l->failures,
        .connected_at = l->connected_at,
        .last_used_at = l->last_used_at,
        .used_at = l->used_at,
        .latency_ms = l->latency,
        .connect_took_ms = l->connect_took,
        .crashed = l->crashed,
        .apart = l->apart,
    };
}

uint64_t link_call_ms(const struct link *l)
{
    return l->spec->timeout_ms ? l->spec->timeout_ms : l->opts.call_ms;
}

void link_set_apart(struct link *l) { l->apart = true; }

enum era link_era(const struct link *l) { return l->era; }

static const char *const capability_names[] = { "completions", "logging", "prompts", "resources",
                                                "tools" };

unsigned link_capabilities(struct json capabilities)
{
    unsigned bits = 0;

    for (size_t i = 0; i < ARRAY_LEN(capability_names); i++)
        if (!json_is(json_get(capabilities, capability_names[i]), JSON_NONE))
            bits |= 1U << i;
    return bits;
}

bool link_has(const struct link *l, const char *capability)
{
    for (size_t i = 0; i < ARRAY_LEN(capability_names); i++)
        if (strcmp(capability, capability_names[i]) == 0)
            return l->has >> i & 1;
    assert(false && "a capability that is not kept");
    return false;
}

bool link_has_tasks(const struct link *l) { return l->has_tasks; }

void link_recall_tasks(struct link *l, bool has)
{
    if (l->era == ERA_UNKNOWN)
        l->has_tasks = has;
}

void link_last_words(const struct link *l, struct buf *out)
{
    if (l->shared.client)
        channel_last_words(&l->shared, out);
    else
        buf_add_span(out, buf_span(&l->words));
}

int link_ping(struct link *l, uint64_t timeout_ms, client_reply_fn *fn, void *ctx,
              struct pb_error *err)
{
    if (!link_in(l, LINK_CONNECTED) || !l->shared.client)
        return fault_fail(err, FAULT_NOT_CONNECTED, "Server '%s' is not connected", link_name(l));
    /* What a ping brings in are the answers before its own. */
    if (client_is_held(l->shared.client))
        return fault_fail(err, FAULT_BUSY, "Server '%s' waits for a client that does not read",
                          link_name(l));
    return client_ping(l->shared.client, timeout_ms, fn, ctx, err);
}

uint64_t link_heard_at(const struct link *l)
{
    return l->shared.client ? client_heard_at(l->shared.client) : 0;
}

bool link_may_be_busy(const struct link *l)
{
    return l->shared.in_flight && l->shared.late_at <= link_heard_at(l);
}

static void tell_roots(struct channel *ch)
{
    struct pb_error err;
    bool due = ch->roots_due;

    ch->roots_due = false;
    if (due && ch->client && ch->ready && ch->legacy &&
        client_notify(ch->client, "notifications/roots/list_changed", SPAN(""), &err) < 0)
        log_debug("%s: roots: %s", link_name(ch->l), err.msg);
}

static void on_roots_due(void *ctx)
{
    struct link *l = ctx;

    l->roots_due = false;
    tell_roots(&l->shared);
    for (struct list *pos = l->instances.next; pos != &l->instances; pos = pos->next)
        tell_roots(CONTAINER_OF(pos, struct channel, at));
    link_unref(l);
}

void link_roots_changed(struct link *l, const char *caller)
{
    struct channel *own = *caller ? instance_find(l, caller) : NULL;

    l->shared.roots_due = true;
    if (own)
        own->roots_due = true;
    if (l->roots_due)
        return;
    l->roots_due = true;
    link_ref(l);
    loop_defer(l->loop, on_roots_due, l);
}
