#include "daemon.h"
#include "again.h"
#include "background.h"
#include "face/caller/caller.h"
#include "face/control/control.h"
#include "face/host/host.h"
#include "face/listen/listen.h"
#include "gate/gate.h"
#include "hub/config/config.h"
#include "hub/hub/hub.h"
#include "hub/secrets/secrets.h"
#include "hub/spec/spec.h"
#include "hub/warden/warden.h"
#include "mcp/serve/serve.h"
#include "records.h"
#include "reread.h"
#include "talk.h"
#include "token.h"
#include "tools/tools/tools.h"
#include <fcntl.h>
#include <signal.h>

struct daemon {
    const struct daemon_options *opts;
    struct pb_loop *loop;
    struct warden *warden;
    struct config *config;
    struct config *first; /* with whose settings it was started */
    struct vault *vault;  /* the secrets of all servers, and our own */
    struct hub *hub;
    struct store *store; /* NULL: nothing is recorded */
    struct gate *gate;
    struct webhook *webhook;
    struct otlp *otlp;
    struct hosts *hosts;
    struct serve *serve;
    struct attach *attach;
    struct watch *watch, *token_watch, *lock_watch;
    struct cli_lock lock;
    struct control_facts facts;
    char *home, *cache, *secrets, *records, *socket, *url, *token_list;
    const char **files;
    bool stopping, again;

    struct reread config_read;
    struct timer reload_again;   /* when no worker was free */
    struct config *fresh;        /* read, and not taken over yet; NULL: read_err says why not */
    struct policy *fresh_policy; /* its rules */
    struct pb_error read_err;
    struct pb_error not_taken; /* why the files as they are now were refused: facts.config_error */
    struct list waiting;       /* for the reading: struct reload_wait */
    struct list waiting_next;  /* the one that runs is too old for them */

    struct reread tokens_read;
    struct tokens *tokens; /* read, and not taken over yet; NULL: tokens_err says why not */
    struct pb_error tokens_err;
};

static const struct pb_error stopping = { PB_E_CLOSED, 0, "patchbay is stopping" };

struct reload_wait {
    struct list at; /* in daemon.waiting or .waiting_next */
    control_reloaded_fn *fn;
    void *ctx;
};

static void begin_stop(struct daemon *d);
static void reload_tokens(void *ctx);

/* ---- reload -------------------------------------------------------------------------------- */

static void reload(void *ctx);

static void read_config(void *ctx)
{
    struct daemon *d = ctx;
    struct config_request r = cli_config_request(d->opts->cli);

    r.project = d->opts->project ? &d->opts->project->source : NULL;
    d->fresh = NULL;
    d->fresh_policy = NULL;
    if (config_load(&d->fresh, &r, &d->read_err) < 0)
        d->fresh = NULL;
    else if (cli_policy(d->fresh, &d->fresh_policy, &d->read_err) < 0)
        config_free(TAKE(d->fresh));
}

/* Addresses of chats have their key in the path. */
static void learn_addresses(struct daemon *d, const struct settings *set)
{
    if (set->webhook_url && *set->webhook_url)
        vault_add(d->vault, span_of(set->webhook_url));
    if (set->otlp_url && *set->otlp_url)
        vault_add(d->vault, span_of(set->otlp_url));
}

/* What can change at once does; the rest is not passed over in silence. */
static void apply_settings(struct daemon *d)
{
    const struct settings *was = &d->config->settings, *now = &d->fresh->settings;
    struct hub_options hub = HUB_OPTIONS_INIT;
    struct pins_options pins = { .changes = definition_changes_of(now->definition_changes) };
    struct gate_options gate = { .pins = &pins };
    struct store_options store = { 0 };

    cli_hub_options(&hub, now);
    hub_tune(d->hub, &hub);
    cli_gate_options(&gate, now);
    gate_tune(d->gate, &gate);
    learn_addresses(d, now);
    webhook_set_url(d->webhook, now->webhook_url);
    otlp_set_url(d->otlp, now->otlp_url);
    cli_store_options(&store, now);
    if (d->store)
        store_tune(d->store, &store);
    hosts_set_list_wait(d->hosts, now->list_wait_ms);
    for (const struct setting *row = settings_table; row->name; row++)
        if (row->restart && !setting_same(row, was, now))
            daemon_say("settings.%s %s", row->name,
                       control_wants_restart(row, &d->first->settings, now)
                           ? "has changed; it takes effect when patchbay is started again"
                           : "is again what patchbay was started with");
}

static void apply_config(struct daemon *d)
{
    struct hub_changes n;

    apply_settings(d);
    gate_set_policy(d->gate, d->fresh_policy);
    policy_unref(TAKE(d->fresh_policy));
    n = hub_apply(d->hub, d->fresh);

    for (size_t i = 0; i < d->fresh->n_warnings; i++)
        daemon_say("warning: %s", d->fresh->warnings[i]);
    if (d->config != d->first)
        config_free(d->config);
    d->config = TAKE(d->fresh);
    d->facts.settings = &d->config->settings;
    if (d->opts->announce && n.added + n.removed + n.restarted + n.updated)
        daemon_say("config: %zu added, %zu removed, %zu restarted, %zu updated", n.added, n.removed,
                   n.restarted, n.updated);
}

/* Kept for who asks how the daemon is: a line on stderr is read by nobody who edits a file. */
static void keep_outcome(struct daemon *d, const struct pb_error *err)
{
    const char *was = d->facts.config_error;

    if (was && err ? strcmp(was, err->msg) == 0 : !was && !err)
        return;
    if (!err)
        daemon_say("the config is taken again");
    d->not_taken = err ? *err : (struct pb_error){ 0 };
    d->facts.config_error = err ? d->not_taken.msg : NULL;
    if (d->serve)
        serve_config_changed(d->serve);
}

/* Those who wait for the reading that is over; who came while it ran waits for the next. */
static void tell_waiting(struct daemon *d, const struct pb_error *err)
{
    struct list now = LIST_INIT(now);

    list_move(&now, &d->waiting);
    list_move(&d->waiting, &d->waiting_next);
    while (!list_empty(&now)) {
        struct reload_wait *w = CONTAINER_OF(now.next, struct reload_wait, at);

        list_remove(&w->at);
        w->fn(w->ctx, err);
        free(w);
    }
}

/* No reading will come for them. */
static void tell_all_waiting(struct daemon *d, const struct pb_error *err)
{
    while (!list_empty(&d->waiting) || !list_empty(&d->waiting_next))
        tell_waiting(d, err);
}

static void on_config_read(void *ctx)
{
    struct daemon *d = ctx;
    bool good = d->fresh != NULL, stale = reread_over(&d->config_read);

    if (d->stopping) {
        config_free(TAKE(d->fresh));
        policy_unref(TAKE(d->fresh_policy));
        return;
    }
    if (good)
        apply_config(d);
    else
        daemon_complain("the config is not taken: %s", d->read_err.msg);
    keep_outcome(d, good ? NULL : &d->read_err);
    tell_waiting(d, good ? NULL : &d->read_err);
    if (stale && !reread_runs(&d->config_read))
        reload(d);
}

static void reload(void *ctx)
{
    struct daemon *d = ctx;
    struct pb_error err;

    if (d->stopping || reread_start(&d->config_read, &err) == 0)
        return;
    fail_in(&err, "the config cannot be read now");
    daemon_complain("%s; it is tried again", err.msg);
    timer_start(&d->reload_again, DAEMON_REREAD_MS);
    tell_all_waiting(d, &err);
}

static void reload_then(void *ctx, control_reloaded_fn *fn, void *fn_ctx)
{
    struct daemon *d = ctx;
    struct reload_wait *w = NEW(struct reload_wait);

    *w = (struct reload_wait){ .fn = fn, .ctx = fn_ctx };
    list_append(reread_runs(&d->config_read) ? &d->waiting_next : &d->waiting, &w->at);
    /* Before it is read: what is edited after this is told. */
    if (d->watch)
        watch_seen(d->watch);
    reload(d);
    if (d->stopping)
        tell_all_waiting(d, &stopping);
}

static void watch_config(struct daemon *d)
{
    struct pb_error err;

    d->files = mem_zero((d->config->n_files + 1) * sizeof *d->files);
    for (size_t i = 0; i < d->config->n_files; i++)
        d->files[i] = mem_dup(d->config->files[i].path);
    if (d->config->n_files && watch_files(&d->watch, d->loop, d->files, reload, d, &err) < 0)
        talk_warn("changes of the config will not be noticed: %s", err.msg);
}

/* Somebody else may change what is approved: another program of ours, or a person who edits it. */
static void on_lock_changed(void *ctx)
{
    struct daemon *d = ctx;

    if (d->gate)
        pins_reread(gate_pins(d->gate));
}

static void watch_lock(struct daemon *d)
{
    struct pb_error err;

    if (watch_files(&d->lock_watch, d->loop, (const char *const[]){ d->lock.path, NULL },
                    on_lock_changed, d, &err) < 0)
        talk_warn("changes of the lock will not be noticed: %s", err.msg);
}

/* ---- tokens -------------------------------------------------------------------------------- */

static void read_tokens(void *ctx)
{
    struct daemon *d = ctx;

    d->tokens = NULL;
    if (token_list_read(d->token_list, &d->tokens, &d->tokens_err) < 0)
        d->tokens = NULL;
}

/* What cannot be read opens nothing. */
static void on_tokens_read(void *ctx)
{
    struct daemon *d = ctx;
    bool stale = reread_over(&d->tokens_read);

    if (!d->tokens)
        daemon_complain("only the daemon's own token is taken: %s", d->tokens_err.msg);
    if (d->serve)
        serve_set_tokens(d->serve, TAKE(d->tokens));
    tokens_free(TAKE(d->tokens));
    if (stale)
        reload_tokens(d);
}

static void reload_tokens(void *ctx)
{
    struct daemon *d = ctx;
    struct pb_error err;

    if (!d->stopping && reread_start(&d->tokens_read, &err) < 0)
        daemon_complain("the tokens cannot be read now: %s", err.msg);
}

/* Before the first request: a client that is started with us finds its token known. */
static void start_tokens(struct daemon *d)
{
    struct tokens *t = NULL;
    struct pb_error err;

    if (!d->serve || !d->opts->serve.token)
        return;
    d->token_list = token_list_path(d->opts->cli);
    if (token_list_read(d->token_list, &t, &err) < 0)
        daemon_complain("only the daemon's own token is taken: %s", err.msg);
    serve_set_tokens(d->serve, t);
    if (watch_files(&d->token_watch, d->loop, (const char *const[]){ d->token_list, NULL },
                    reload_tokens, d, &err) < 0)
        talk_warn("new tokens will not be noticed: %s", err.msg);
}

/* ---- stopping ------------------------------------------------------------------------------ */

static void on_store_closed(void *ctx)
{
    struct daemon *d = ctx;

    loop_stop(d->loop);
}

static void on_hub_closed(void *ctx)
{
    struct daemon *d = ctx;

    gate_free(TAKE(d->gate));
    if (d->store)
        store_close(TAKE(d->store), on_store_closed, d);
    else
        loop_stop(d->loop);
}

static void on_otlp_closed(void *ctx)
{
    struct daemon *d = ctx;

    gate_close(d->gate);
    if (d->hub)
        hub_close(TAKE(d->hub), on_hub_closed, d);
    else
        on_hub_closed(d);
}

static void on_webhook_closed(void *ctx)
{
    struct daemon *d = ctx;

    if (d->otlp)
        otlp_close(TAKE(d->otlp), on_otlp_closed, d);
    else
        on_otlp_closed(d);
}

static void on_hosts_closed(void *ctx)
{
    struct daemon *d = ctx;

    if (d->webhook)
        webhook_close(TAKE(d->webhook), on_webhook_closed, d);
    else
        on_webhook_closed(d);
}

static void on_serve_closed(void *ctx)
{
    struct daemon *d = ctx;

    if (d->hosts)
        hosts_close(TAKE(d->hosts), on_hosts_closed, d);
    else
        on_hosts_closed(d);
}

static void on_attach_closed(void *ctx)
{
    struct daemon *d = ctx;

    if (d->serve)
        serve_close(TAKE(d->serve), on_serve_closed, d);
    else
        on_serve_closed(d);
}

/* From the outside in: nobody new, answers for those who wait, then the servers. */
static void begin_stop(struct daemon *d)
{
    if (d->stopping)
        return;
    d->stopping = true;
    tell_all_waiting(d, &stopping);
    timer_stop(&d->reload_again);
    watch_free(TAKE(d->watch));
    watch_free(TAKE(d->token_watch));
    watch_free(TAKE(d->lock_watch));
    if (d->attach)
        attach_close(TAKE(d->attach), on_attach_closed, d);
    else
        on_attach_closed(d);
}

static void on_stop(void *ctx) { begin_stop(ctx); }

static void on_restart(void *ctx)
{
    struct daemon *d = ctx;

    d->again = true;
    begin_stop(d);
}

/* ---- starting ------------------------------------------------------------------------------ */

static int start_stdio(struct daemon *d, struct pb_error *err)
{
    struct host *host;
    int rc = hosts_get(d->hosts, &d->opts->scope, &host, err);

    if (rc < 0)
        return rc;
    return server_take_stdio(host_server(host), STDIN_FILENO, STDOUT_FILENO, on_stop, d, err);
}

/* A name by which the listener can be reached from here: "all addresses" is nobody's name. */
static const char *own_name(const char *host)
{
    if (!host || strcmp(host, "0.0.0.0") == 0)
        return "127.0.0.1";
    return strcmp(host, "::") == 0 ? "::1" : host;
}

static int start_http(struct daemon *d, struct pb_error *err)
{
    AUTO_BUF struct buf url = { 0 };
    const char *host = own_name(d->opts->serve.host);
    int rc = serve_start(&d->serve, d->hosts, &d->opts->serve, err);

    if (rc < 0)
        return rc;
    buf_printf(&url, strchr(host, ':') ? "http://[%s]:%d" : "http://%s:%d", host,
               serve_port(d->serve));
    d->url = buf_take(&url);
    return 0;
}

static int start_socket(struct daemon *d, struct pb_error *err)
{
    d->socket = cli_socket_path(d->opts->cli);
    return attach_listen(&d->attach, d->hosts, d->socket, err);
}

static void set_facts(struct daemon *d)
{
    static const struct control_daemon as_told = { reload_then, on_stop, on_restart };

    d->facts = (struct control_facts){
        .home = d->home,
        .socket = d->attach ? d->socket : NULL,
        .url = d->url,
        .token_from = d->opts->token_from,
        .files = d->files,
        .started_at = loop_wall(d->loop),
        .started_with = &d->first->settings,
        .settings = &d->config->settings,
        .daemon = &as_told,
        .daemon_ctx = d,
    };
    control_set_facts(d->hosts, &d->facts);
}

static void on_settled(void *ctx, const struct start_result *r)
{
    (void)ctx, (void)r;
    mem_give_back();
}

static void start_servers(struct daemon *d)
{
    AUTO_FREE struct spec **specs = NULL;
    size_t n = cli_specs(d->config, &specs);

    hub_set_modes(d->hub, d->config->modes);
    hub_start_all(d->hub, specs, n);
    hub_when_settled(d->hub, on_settled, NULL);
}

/* Asked before the terminal can be gone. */
static bool has_terminal(void)
{
    AUTO_CLOSE int fd = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC);

    return fd >= 0;
}

/* The end of the terminal is ours, too; whoever does not want that says nohup, or --background.
 * Without a terminal the signal has no such meaning, and means what daemons make of it. */
static int take_hangup(struct daemon *d, struct pb_error *err)
{
    struct sigaction was = { 0 };

    if (!has_terminal())
        return loop_on_signal(d->loop, SIGHUP, reload, d, err);
    if (sigaction(SIGHUP, NULL, &was) == 0 && was.sa_handler == SIG_IGN)
        return 0;
    return loop_on_signal(d->loop, SIGHUP, on_stop, d, err);
}

static void on_store_changed(void *ctx, const struct pb_error *err)
{
    struct daemon *d = ctx;

    if (err)
        daemon_say("calls cannot be recorded: %s", err->msg);
    else
        daemon_say("calls are recorded again");
    if (d->gate)
        gate_store_changed(d->gate, err);
}

static void on_store_drained(void *ctx)
{
    struct daemon *d = ctx;

    if (d->gate)
        gate_store_drained(d->gate);
}

static int open_store(struct daemon *d, struct pb_error *err)
{
    struct store_options o = { .loop = d->loop,
                               .redact = vault_redact,
                               .redact_version = vault_version,
                               .changed = on_store_changed,
                               .drained = on_store_drained,
                               .ctx = d };

    int rc;

    if (!d->opts->record)
        return 0;
    o.redact_ctx = d->vault;
    cli_store_options(&o, &d->config->settings);
    d->records = records_dir(d->opts->cli);
    rc = records_open(&d->store, d->opts->cli, &o, err);
    if (rc == 0)
        gate_set_store(d->gate, d->store);
    otlp_set_url(d->otlp, d->config->settings.otlp_url);
    return rc;
}

static int make_hub(struct daemon *d, struct pb_error *err)
{
    struct gate_options gate = { 0 };
    struct hub_options hub = HUB_OPTIONS_INIT;
    const struct settings *set = &d->config->settings;
    struct host_options hosts = { .expose = d->opts->expose,
                                  .name = set->server_name,
                                  .version = set->server_version,
                                  .max_request_bytes = set->max_request_bytes,
                                  .list_wait_ms = set->list_wait_ms };
    struct config_request r = cli_config_request(d->opts->cli);

    d->home = config_home(&r);
    d->cache = config_cache_dir(&r);
    hub.loop = d->loop;
    cli_hub_options(&hub, set);
    d->secrets = config_secrets_dir(&r);
    hub.cache_dir = d->cache;
    hub.secrets_dir = d->secrets;
    hub.vault = d->vault;
    d->hub = hub_new(&hub);
    gate.hub = d->hub;
    gate.redact = vault_redact;
    gate.redact_ctx = d->vault;
    cli_gate_options(&gate, set);
    cli_lock_read(&d->lock, d->opts->cli, set);
    gate.pins = &d->lock.options;
    d->gate = gate_new(&gate);
    gate_set_policy(d->gate, d->fresh_policy);
    policy_unref(TAKE(d->fresh_policy));
    tools_new(&(struct tools_options){ .gate = d->gate, .home = d->home, .settings = set });
    d->webhook = webhook_new(d->gate);
    learn_addresses(d, set);
    webhook_set_url(d->webhook, set->webhook_url);
    d->otlp = otlp_new(d->gate);
    hosts.gate = d->gate;
    if (!hosts.expose && set->expose && host_parse_expose(set->expose, &hosts.expose, err) < 0)
        return fail_in(err, "settings.expose");
    d->hosts = hosts_new(d->loop, &hosts);
    control_start(d->hosts);
    return 0;
}

static int start(struct daemon *d, struct pb_error *err)
{
    int rc;

    d->vault = vault_new();
    vault_add(d->vault, span_of(d->opts->serve.token));
    rc = make_hub(d, err);
    if (rc < 0)
        return rc;
    /* Our own doors first: when another daemon has them, no server is started in vain. */
    if (d->opts->socket)
        rc = start_socket(d, err);
    if (rc == 0 && d->opts->http)
        rc = start_http(d, err);
    if (rc == 0)
        rc = open_store(d, err);
    if (rc == 0)
        rc = loop_on_signal(d->loop, SIGTERM, on_stop, d, err);
    if (rc == 0)
        rc = loop_on_signal(d->loop, SIGINT, on_stop, d, err);
    if (rc == 0)
        rc = take_hangup(d, err);
    if (rc == 0)
        rc = warden_reap_on(d->loop, err);
    if (rc < 0)
        return rc;
    start_tokens(d);
    start_servers(d);
    watch_config(d);
    watch_lock(d);
    set_facts(d);
    /* Last: it may ask for a server or a mode by name. */
    return d->opts->stdio ? start_stdio(d, err) : 0;
}

/* The token is for a person's eyes: whatever is no terminal may be a log that others read. */
static void write_console(const struct daemon *d, struct buf *out, bool eyes)
{
    const char *token = d->opts->serve.token;

    if (!console_there())
        return;
    buf_str(out, "  console  ");
    token_link(out, d->url, token && eyes ? token : "");
    if (token && !eyes)
        buf_str(out, d->attach ? " ('patchbay console' prints the link that opens it)"
                               : "#token=... with the token");
    buf_byte(out, '\n');
}

static void write_places(const struct daemon *d, struct buf *out, bool eyes)
{
    buf_printf(out, "patchbay %s: %zu server%s\n", pb_version(), d->config->specs.n,
               d->config->specs.n == 1 ? "" : "s");
    if (d->url)
        buf_printf(out, "  MCP      %s/mcp\n", d->url);
    if (d->url)
        write_console(d, out, eyes);
    if (d->url && d->opts->token_from)
        buf_printf(out, "  token    in %s\n", d->opts->token_from);
    if (d->attach)
        buf_printf(out, "  socket   %s\n", d->socket);
    if (d->store)
        buf_printf(out, "  records  %s (calls are recorded)\n", d->records);
    for (const char **f = d->files; f && *f; f++)
        buf_printf(out, "  config   %s\n", *f);
}

/* The token is not among them: `token_from` says where it is. */
static void write_places_json(const struct daemon *d, struct buf *out)
{
    struct json_out o = json_out(out);

    json_begin_object(&o, NULL);
    json_put_str(&o, "version", pb_version());
    json_put_int(&o, "pid", getpid());
    json_put_str_opt(&o, "url", d->url);
    json_put_str_opt(&o, "token_from", d->opts->token_from);
    json_put_str_opt(&o, "socket", d->attach ? d->socket : NULL);
    control_write_files(&o, "files", &d->facts);
    json_put_uint(&o, "servers", d->config->specs.n);
    json_put_str_opt(&o, "log", d->opts->log);
    json_end(&o);
    buf_byte(out, '\n');
}

static void announce(const struct daemon *d)
{
    AUTO_BUF struct buf text = { 0 };

    if (!d->opts->announce)
        return;
    if (talk_is_json())
        write_places_json(d, &text);
    else
        write_places(d, &text, isatty(STDERR_FILENO));
    if (talk_is_json() || !talk_is_quiet()) {
        fputs(buf_cstr(&text), talk_is_json() ? stdout : stderr);
        fflush(stdout);
    }
    if (d->opts->log && !talk_is_json())
        buf_printf(&text, "  pid      %d\n  log      %s\n", (int)getpid(), d->opts->log);
    if (d->opts->ready)
        background_ready(d->opts->ready, buf_span(&text));
}

static void done(struct daemon *d)
{
    if (d->config != d->first)
        config_free(d->config);
    config_free(d->first);
    policy_unref(d->fresh_policy);
    for (const char **f = d->files; f && *f; f++)
        free((char *)*f);
    free(d->files);
    free(d->home);
    free(d->cache);
    free(d->secrets);
    free(d->records);
    vault_free(d->vault);
    cli_lock_done(&d->lock);
    free(d->socket);
    free(d->url);
    free(d->token_list);
}

int daemon_run(const struct daemon_options *opts)
{
    struct daemon d = { .opts = opts };
    struct pb_error err;
    int status = CLI_OK;

    mem_share_heap();
    if (cli_load_config(opts->cli, opts->project, &d.config, &err) < 0)
        return cli_config_fail(&err);
    project_tell_hidden(d.config, opts->scope.server);
    if (cli_policy(d.config, &d.fresh_policy, &err) < 0) {
        config_free(d.config);
        return cli_config_fail(&err);
    }
    d.first = d.config;
    if (warden_start(&d.warden, &err) < 0) {
        policy_unref(d.fresh_policy);
        config_free(d.config);
        return cli_fail(&err);
    }
    child_keep_file_limit(); /* every client and every server takes some */
    d.loop = loop_new(NULL);
    list_init(&d.waiting);
    list_init(&d.waiting_next);
    reread_init(&d.config_read, d.loop, read_config, on_config_read, &d);
    timer_init(&d.reload_again, d.loop, reload, &d);
    reread_init(&d.tokens_read, d.loop, read_tokens, on_tokens_read, &d);
    daemon_log_start();
    if (start(&d, &err) < 0) {
        status = cli_fail(&err);
        begin_stop(&d);
    } else {
        announce(&d);
    }
    loop_run(d.loop);
    loop_free(d.loop);
    warden_stop(d.warden);
    done(&d);
    return d.again ? again_become(opts->cli) : status;
}
