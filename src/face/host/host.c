#include "face/external/external.h"
#include "face/relay/relay.h"
#include "host_impl.h"
#include "hub/catalog/catalog.h"
#include "hub/hub/hub.h"
#include "hub/spec/spec.h"
#include "mcp/rpc/rpc.h"
#include "mcp/serve/serve.h"

/* clang-format off */
static const struct {
    const char *name;
    unsigned bit;
} groups[] = {
    { "breakpoint", HOST_BREAKPOINT },
    { "builtin",    HOST_BUILTIN },
    { "catalog",    HOST_CATALOG },
    { "external",   HOST_EXTERNAL },
};
/* clang-format on */

static unsigned group_bit(struct span name)
{
    for (size_t i = 0; i < ARRAY_LEN(groups); i++)
        if (span_is(name, groups[i].name))
            return groups[i].bit;
    return tools_group(name);
}

int host_parse_expose(const char *text, unsigned *out, struct pb_error *err)
{
    AUTO_BUF struct buf ours = { 0 };
    struct span rest = span_of(text);
    unsigned mask = 0;

    tools_write_groups(&ours, HOST_BUILTIN);
    for (bool more = true; more;) {
        const char *comma = rest.n ? memchr(rest.p, ',', rest.n) : NULL;
        struct span word = span_trim(span_make(rest.p, comma ? (size_t)(comma - rest.p) : rest.n));
        unsigned bit = group_bit(word);

        if (!bit)
            return fail(err, PB_E_INVALID,
                        "expose: '%.*s' is no group; there are breakpoint, builtin, catalog and "
                        "external, and of the built-in tools %s, separated by commas",
                        word.n > MCP_NAME_SHOWN_MAX ? MCP_NAME_SHOWN_MAX : (int)word.n,
                        word.p ? word.p : "", buf_cstr(&ours));
        mask |= bit;
        more = comma != NULL;
        if (more)
            rest = span_from(rest, (size_t)(comma - rest.p) + 1);
    }
    *out = mask;
    return 0;
}

void host_write_expose(struct buf *out, unsigned expose)
{
    const char *before = "";

    for (size_t i = 0; i < ARRAY_LEN(groups); i++) {
        if ((expose & groups[i].bit) != groups[i].bit)
            continue;
        buf_printf(out, "%s%s", before, groups[i].name);
        before = ",";
    }
    if ((expose & HOST_BUILTIN) && (expose & HOST_BUILTIN) != HOST_BUILTIN) {
        buf_str(out, before);
        tools_write_groups(out, expose);
    }
}

static const struct provider host_provider = {
    .capabilities = host_capabilities,
    .instructions = host_instructions,
    .handle = host_handle,
    .tool_schema = host_tool_schema,
    .subscribable = host_subscribable,
    .has_task = host_has_task,
    .watch_task = host_watch_task,
    .wait = host_wait_any,
    .watch = host_watch,
    .notified = host_notified,
    .congested = host_congested,
    .left = host_left,
};

/* ---- the set ------------------------------------------------------------------------------ */

struct hosts *hosts_new(struct pb_loop *l, const struct host_options *opts)
{
    struct hosts *s = NEW(struct hosts);

    s->loop = l;
    s->gate = opts->gate;
    s->hub = s->gate ? gate_hub(s->gate) : NULL;
    s->name = mem_dup_opt(opts->name);
    s->version = mem_dup_opt(opts->version);
    s->expose = opts->expose ? opts->expose : HOST_CATALOG;
    s->max_request_bytes = opts->max_request_bytes;
    s->list_wait_ms = opts->list_wait_ms;
    s->steps = CATALOG_STEPS_MAX;
    list_init(&s->hosts);
    if (s->hub) {
        s->catalog = hub_catalog(s->hub);
        s->relays = relays_new(s->gate);
        hosts_hear(s);
    } else {
        s->catalog = s->own = catalog_new();
    }
    external_define(s->catalog, HOST_EXTERNAL);
    return s;
}

void hosts_set_list_wait(struct hosts *s, uint64_t ms) { s->list_wait_ms = ms; }

struct hub *hosts_hub(const struct hosts *s) { return s->hub; }

struct gate *hosts_gate(const struct hosts *s) { return s->gate; }

struct pb_loop *hosts_loop(const struct hosts *s) { return s->loop; }

static void count_client(void *ctx, struct peer *p)
{
    size_t *n = ctx;

    /* One for all who keep no session: they are not counted. */
    *n += peer_kind(p) != PEER_STATELESS;
}

size_t hosts_clients(const struct hosts *s)
{
    size_t n = 0;

    for (const struct list *pos = s->hosts.next; pos != &s->hosts; pos = pos->next)
        server_each_peer(CONTAINER_OF(pos, struct host, in_set)->server, count_client, &n);
    return n;
}

void hosts_set_control(struct hosts *s, control_fn *fn) { s->control = fn; }

void hosts_keep(struct hosts *s, void *take_p, void (*free_fn)(void *p))
{
    if (s->kept)
        s->kept_free(s->kept);
    s->kept = take_p;
    s->kept_free = free_fn;
}

void *hosts_kept(const struct hosts *s) { return s->kept; }

static void hosts_free(void *ctx)
{
    struct hosts *s = ctx;
    loop_fn *fn = s->closed_fn;
    void *fn_ctx = s->closed_ctx;

    hosts_keep(s, NULL, NULL);
    relays_free(s->relays);
    catalog_free(s->own);
    buf_done(&s->params);
    map_done(&s->by_scope);
    map_done(&s->tasks);
    map_done(&s->asked);
    map_done(&s->moved);
    free(s->name);
    free(s->version);
    free(s);
    if (fn)
        fn(fn_ctx);
}

void hosts_release(struct hosts *s)
{
    if (--s->open == 0)
        hosts_free(s);
}

void host_free(struct host *h)
{
    struct hosts *s = h->set;

    list_remove(&h->in_set);
    mode_set_unref(h->modes);
    free(h->server_name);
    free(h->mode);
    free(h->directory);
    free(h);
    hosts_release(s);
}

static void on_server_ended(void *ctx)
{
    struct host *h = ctx;

    host_waits_drop(h);
    host_watches_done(h);
    h->closing = true;
    if (!h->check_due)
        host_free(h);
}

void hosts_close(struct hosts *s, loop_fn *fn, void *ctx)
{
    struct list *pos, *safe;

    if (!s || s->closing)
        return;
    s->closing = true;
    s->closed_fn = fn;
    s->closed_ctx = ctx;
    hosts_stop_asking(s);
    if (s->news)
        hub_unlisten(TAKE(s->news));
    if (list_empty(&s->hosts)) {
        loop_defer(s->loop, hosts_free, s);
        return;
    }
    LIST_FOREACH(pos, safe, &s->hosts) {
        struct host *h = CONTAINER_OF(pos, struct host, in_set);

        server_close(h->server, on_server_ended, h);
    }
}

/* ---- one of it ---------------------------------------------------------------------------- */

/* Who sees no built-in tools works nowhere in particular; the command line says it with each call.
 */
static const char *directory_of(const struct host_scope *s, unsigned expose)
{
    return (expose & HOST_BUILTIN) && !s->control ? s->directory : NULL;
}

static struct host *host_new(struct hosts *s, const struct host_scope *want, unsigned expose)
{
    struct pb_server_options opts = PB_SERVER_OPTIONS_INIT;
    struct host *h = NEW(struct host);

    h->set = s;
    h->server_name = mem_dup_opt(want->server);
    h->mode = mem_dup_opt(want->mode);
    h->directory = mem_dup_opt(directory_of(want, expose));
    h->expose = expose;
    h->control = want->control;
    h->scope.server = h->server_name;
    h->scope.no_external = !(expose & HOST_CATALOG);
    h->scope.builtins = expose & ~(unsigned)HOST_CATALOG;
    if (h->control) /* who works at a terminal has them anyway */
        h->scope.builtins |= HOST_BUILTIN;
    list_init(&h->waiting);
    list_init(&h->due);
    timer_init(&h->wait, s->loop, host_waits_over, h);
    opts.loop = s->loop;
    opts.name = s->name;
    opts.version = s->version;
    opts.max_request_bytes = s->max_request_bytes;
    h->server = server_new(&opts);
    server_set_provider(h->server, &host_provider, h);
    host_retitle(h);
    list_append(&s->hosts, &h->in_set);
    s->open++;
    return h;
}

static void put_mode_names(struct buf *out, const struct mode_set *modes)
{
    for (size_t i = 0; i < modes->n; i++)
        buf_printf(out, "%s%s", i ? ", " : "", modes->modes[i].id);
}

static int check_scope(const struct hosts *s, const struct host_scope *want, struct pb_error *err)
{
    const struct mode_set *modes = s->hub ? hub_modes(s->hub) : NULL;
    AUTO_BUF struct buf names = { 0 };

    if (want->server && want->mode)
        return fail(err, PB_E_INVALID, "ask for a server or for a mode, not for both");
    /* What is built in is shown by groups. */
    if (want->server &&
        (strcmp(want->server, SPEC_OWN) == 0 || !(s->hub && hub_link(s->hub, want->server))))
        return fault_fail(err, FAULT_NO_SERVER, "there is no server '%.*s'", MCP_NAME_SHOWN_MAX,
                          want->server);
    if (!want->mode || (modes && mode_find(modes, span_of(want->mode))))
        return 0;
    if (modes)
        put_mode_names(&names, modes);
    return fail(err, PB_E_NOT_FOUND, "there is no mode '%.*s'; there are: %s", MCP_NAME_SHOWN_MAX,
                want->mode, names.n ? buf_cstr(&names) : "none");
}

static bool same_name(const char *a, const char *b) { return a && b ? strcmp(a, b) == 0 : a == b; }

static bool is_of_scope(const struct host *h, const struct host_scope *scope, unsigned expose)
{
    return h->expose == expose && h->control == scope->control &&
           same_name(h->server_name, scope->server) && same_name(h->mode, scope->mode) &&
           same_name(h->directory, directory_of(scope, expose));
}

int hosts_get(struct hosts *s, const struct host_scope *scope, struct host **out,
              struct pb_error *err)
{
    unsigned expose = scope->expose ? scope->expose : s->expose;
    AUTO_BUF struct buf key = { 0 };
    struct host *h = s->found;
    int rc;

    if (s->closing)
        return fail(err, PB_E_CLOSED, "Patchbay is stopping");
    rc = check_scope(s, scope, err);
    if (rc < 0)
        return rc;
    *out = h;
    if (h && is_of_scope(h, scope, expose))
        return 0;
    buf_uint(&key, expose);
    buf_str(&key, scope->control ? " c" : " n");
    buf_byte(&key, scope->server ? 's' : scope->mode ? 'm' : 'a');
    buf_add_span(&key, span_of(scope->server ? scope->server : scope->mode));
    if (directory_of(scope, expose))
        buf_printf(&key, "\n%s", directory_of(scope, expose));
    h = map_get(&s->by_scope, buf_span(&key));
    if (!h && s->by_scope.n >= HOSTS_MAX)
        return fail(err, PB_E_LIMIT,
                    "clients work in %d different ways already; 'patchbay restart' forgets them",
                    HOSTS_MAX);
    if (!h) {
        h = host_new(s, scope, expose);
        map_put(&s->by_scope, buf_span(&key), h);
    }
    *out = s->found = h;
    return 0;
}

struct pb_server *host_server(struct host *h) { return h->server; }

/* What it shows was removed. r may be NULL. */
static void host_fail_gone(struct host *h, struct request *r)
{
    AUTO_BUF struct buf data = { 0 };
    struct json_out o = json_out(&data);

    if (!r)
        return;
    json_begin_object(&o, NULL);
    json_put_str(&o, "error", h->mode ? "mode_not_found" : "server_not_found");
    json_put_str(&o, h->mode ? "mode" : "server", h->mode ? h->mode : h->server_name);
    json_end(&o);
    request_fail(r, RPC_SERVER_ERROR, buf_span(&data), "%s '%s' was removed",
                 h->mode ? "Mode" : "Server", h->mode ? h->mode : h->server_name);
}

const struct scope *host_view(struct host *h, struct request *r)
{
    struct hub *hub = h->set->hub;
    const struct mode_set *now;
    const struct mode *m;

    if (h->server_name && !hub_link(hub, h->server_name)) {
        host_fail_gone(h, r);
        return NULL;
    }
    if (!h->mode)
        return &h->scope;
    now = hub_modes(hub);
    if (now != h->modes) {
        struct mode_set *old = h->modes;

        h->modes = mode_set_ref((struct mode_set *)now);
        mode_set_unref(old);
    }
    /* Modes may be added to a set in use: the filter is looked up each time. */
    m = mode_find(now, span_of(h->mode));
    if (!m) {
        h->scope.filter = NULL;
        h->scope.no_external = true; /* relays that still run see nothing new */
        host_fail_gone(h, r);
        return NULL;
    }
    h->scope.filter = m->filter;
    h->scope.no_external = !(h->expose & HOST_CATALOG);
    return &h->scope;
}
