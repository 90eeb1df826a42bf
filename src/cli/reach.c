#include "reach.h"
#include "question.h"

enum {
    REACH_TIMEOUT_MS = 120000, /* servers may take their time to start; each has its own limit */
};

struct reach {
    struct pb_client *client;
    bool daemon;
    /* Of our own. */
    struct warden *warden;
    struct hub_thread *thread;
    struct config *config;
    struct hosts *hosts;
    struct host *host;
    char *cache;
};

static void on_notification(void *ctx, const char *method, const char *params)
{
    (void)ctx;
    logs_notified(method, params);
}

static void take_options(struct pb_client_options *o)
{
    *o = (struct pb_client_options)PB_CLIENT_OPTIONS_INIT;
    o->name = "patchbay-cli";
    o->version = pb_version();
    o->era = PB_ERA_LEGACY; /* one round trip to open, and both ends are ours */
    o->timeout_ms = REACH_TIMEOUT_MS;
    o->on_notification = on_notification;
    question_options(o);
}

/* ---- the daemon ---------------------------------------------------------------------------- */

static int open_daemon(struct reach *s, const struct cli *cli, struct pb_error *err)
{
    const struct host_scope scope = { .control = true };
    AUTO_FREE char *path = cli_socket_path(cli);
    struct pb_client_options o;
    int rc;

    take_options(&o);
    rc = attach_connect(&o.fd, path, &scope, err);
    if (rc < 0)
        return rc;
    s->daemon = true;
    return pb_client_open(&s->client, &o, err);
}

/* ---- our own hub --------------------------------------------------------------------------- */

static void start_hub(struct waiter *w, void *ctx)
{
    struct reach *s = ctx;
    struct hub *hub = hub_thread_hub(s->thread);
    const struct host_options opts = { .hub = hub };
    const struct host_scope scope = { .control = true };
    AUTO_FREE struct spec **specs = NULL;
    size_t n = cli_specs(s->config, &specs);
    struct pb_error err;
    int rc;

    hub_set_modes(hub, mode_set_ref(s->config->modes));
    hub_start_all(hub, specs, n);
    s->hosts = hosts_new(hub_loop(hub), &opts);
    rc = hosts_get(s->hosts, &scope, &s->host, &err);
    if (rc == 0)
        rc = warden_reap_on(hub_loop(hub), &err);
    waiter_done(w, rc < 0 ? &err : NULL, NULL, NULL);
}

static int open_own(struct reach *s, const struct cli *cli, unsigned flags, struct pb_error *err)
{
    struct config_request r = cli_config_request(cli);
    struct hub_options hub = HUB_OPTIONS_INIT;
    struct pb_client_options o;
    int rc = cli_load_config(cli, &s->config, err);

    if (rc == 0)
        rc = warden_start(&s->warden, err);
    if (rc < 0)
        return rc;
    s->cache = config_cache_dir(&r);
    hub.cache_dir = s->cache;
    hub.on_demand = !(flags & REACH_START_ALL);
    hub.retry_initial = false;
    hub.health_ms = 0;
    hub.connect_ms = 30000;
    rc = hub_thread_start(&s->thread, &hub, err);
    if (rc == 0)
        rc = loop_wait(hub_thread_loop(s->thread), start_hub, s, 0, NULL, err);
    if (rc < 0)
        return rc;
    take_options(&o);
    o.server = host_server(s->host);
    return pb_client_open(&s->client, &o, err);
}

int reach_open(struct reach **out, const struct cli *cli, unsigned flags, struct pb_error *err)
{
    struct reach *s = NEW(struct reach);
    int rc = -(int)PB_E_CLOSED;

    if ((flags & REACH_DAEMON_ONLY) || (!cli_names_config(cli) && !cli_option(cli, "standalone")))
        rc = open_daemon(s, cli, err);
    if (rc == -(int)PB_E_CLOSED && !s->daemon && !(flags & REACH_DAEMON_ONLY))
        rc = open_own(s, cli, flags, err);
    if (rc < 0) {
        reach_close(s);
        return rc;
    }
    *out = s;
    return 0;
}

static void on_hosts_closed(void *ctx) { waiter_done(ctx, NULL, NULL, NULL); }

static void close_hosts(struct waiter *w, void *ctx)
{
    struct reach *s = ctx;

    hosts_close(TAKE(s->hosts), on_hosts_closed, w);
}

void reach_close(struct reach *s)
{
    struct pb_error err;

    if (!s)
        return;
    pb_client_free(s->client);
    if (s->hosts && loop_wait(hub_thread_loop(s->thread), close_hosts, s, 0, NULL, &err) < 0)
        fprintf(stderr, "patchbay: %s\n", err.msg);
    if (s->thread) {
        hub_thread_shutdown(s->thread);
        hub_thread_free(s->thread);
    }
    if (s->warden)
        warden_stop(s->warden);
    config_free(s->config);
    free(s->cache);
    free(s);
}

bool reach_is_daemon(const struct reach *s) { return s->daemon; }

struct pb_client *reach_client(struct reach *s) { return s->client; }

int reach_request(struct reach *s, const char *method, const char *params, struct pb_result **out,
                  struct pb_error *err)
{
    return pb_client_request(s->client, method, params && *params ? params : "{}", NULL, out, err);
}

int reach_ask(struct reach *s, const char *method, const char *params, struct pb_result **out,
              struct json_doc *doc, struct pb_error *err)
{
    int rc = reach_request(s, method, params, out, err);
    const char *text;
    size_t n;

    if (rc < 0)
        return rc;
    text = pb_result_json(*out, &n);
    return json_parse(doc, span_make(text, n), NULL, err);
}

char *reach_params(const char *key, const char *value)
{
    AUTO_BUF struct buf b = { 0 };
    struct json_out o = json_out(&b);

    json_begin_object(&o, NULL);
    json_put_str_opt(&o, key, value);
    json_end(&o);
    return buf_take(&b);
}
