/* rest_trial.c - a server is started, looked at and stopped again before anybody keeps it: on a
 * link of its own that the hub knows nothing of. */
#include "face/control/control.h"
#include "hub/config/config.h"
#include "hub/hub/hub.h"
#include "hub/link/link.h"
#include "hub/secrets/secrets.h"
#include "hub/spec/spec.h"
#include "io/http/http.h"
#include "rest_impl.h"

struct trial {
    struct list in_rest;
    struct http_request *r; /* NULL: answered, or gone */
    struct pb_loop *loop;
    struct link *link; /* NULL: on its way out */
    unsigned refs;     /* the link; a look that was put off */
    uint64_t began;
    struct buf tools;  /* as the server lists them */
    struct keys *keys; /* that were given; the link's spec borrows them */
    struct arena arena;
};

static void trial_unref(struct trial *t)
{
    if (--t->refs)
        return;
    list_remove(&t->in_rest);
    buf_done(&t->tools);
    keys_free(t->keys);
    arena_done(&t->arena);
    free(t);
}

static void on_link_closed(void *ctx) { trial_unref(ctx); }

static void stop(struct trial *t)
{
    struct link *l = TAKE(t->link);

    if (l)
        link_close(l, CALL_BY_USER, on_link_closed, t);
}

static void on_gone(void *ctx)
{
    struct trial *t = ctx;

    t->r = NULL;
    stop(t);
}

/* ---- what is told ---- */

static void put_tools(struct json_out *o, struct span list)
{
    AUTO_JSON struct json_doc doc = { 0 };

    json_begin_array(o, "tools");
    if (json_parse(&doc, list, &(struct json_opts){ .keep_depth = 2 }, NULL) == 0)
        JSON_FOREACH(tool, json_root(&doc)) {
            struct json name = json_get(tool, "name");

            if (json_is(name, JSON_STRING))
                json_put_raw(o, NULL, json_text(name));
        }
    json_end(o);
}

static void put_success(struct json_out *o, const struct trial *t)
{
    struct link_facts facts;

    link_facts(t->link, &facts);
    json_put_str_opt(o, "protocol", facts.protocol);
    control_put_said(o, "server_info", JSON_OBJECT, facts.server_info);
    put_tools(o, buf_span(&t->tools));
}

static void put_stderr(struct json_out *o, const struct link *l)
{
    AUTO_BUF struct buf words = { 0 };
    struct span rest;

    link_last_words(l, &words);
    rest = span_trim(buf_span(&words));
    if (!rest.n)
        return;
    json_begin_array(o, "stderr");
    while (rest.n) {
        const char *end = memchr(rest.p, '\n', rest.n);
        size_t n = end ? (size_t)(end - rest.p) : rest.n;

        json_put_span(o, NULL, span_make(rest.p, n));
        rest = span_from(rest, end ? n + 1 : n);
    }
    json_end(o);
}

/* What to do about it. */
static const char *advice(const struct spec *s, const struct pb_error *err)
{
    if (err->code == PB_E_AUTH)
        return "it wants a login: give it a key, or the header that it asks for";
    if (s->transport != SPEC_STDIO)
        return "is the address right, and does the server run there?";
    if (err->code == PB_E_TIMEOUT)
        return "is it an MCP server? run it by hand: it must answer JSON lines on stdin";
    return "run it by hand and read its messages; variables that it needs go into env";
}

static void put_failure(struct json_out *o, const struct trial *t, const struct pb_error *err)
{
    json_put_str(o, "error", err->code == PB_E_AUTH ? "auth_required" : "connect_failed");
    json_put_str(o, "message", err->msg);
    json_put_str(o, "next", advice(link_spec(t->link), err));
    put_stderr(o, t->link);
}

static void answer(struct trial *t)
{
    static const struct pb_error unknown = { PB_E_CLOSED, 0, "it went away" };
    const struct pb_error *err = link_last_error(t->link);
    bool ok = link_state(t->link) == LINK_CONNECTED;
    AUTO_BUF struct buf body = { 0 };
    struct json_out o = json_out(&body);

    json_begin_object(&o, NULL);
    json_put_bool(&o, "ok", ok);
    json_put_uint(&o, "took_ms", loop_now(t->loop) - t->began);
    if (ok)
        put_success(&o, t);
    else
        put_failure(&o, t, err ? err : &unknown);
    json_end(&o);
    rest_reply(TAKE(t->r), 200, &body);
}

/* ---- what the link tells ---- */

static void look(void *ctx)
{
    struct trial *t = ctx;

    if (t->r && t->link)
        answer(t);
    stop(t);
    trial_unref(t);
}

/* Not in the middle of the link's own work. */
static void on_event(void *ctx, const struct hub_event *e)
{
    struct trial *t = ctx;

    if (e->kind != EVENT_STATE || e->state.to.state == LINK_CONNECTING)
        return;
    t->refs++;
    loop_defer(t->loop, look, t);
}

static void on_listed(void *ctx, struct link *l, enum list_kind kind, struct span array)
{
    struct trial *t = ctx;

    (void)l;
    if (kind != LIST_TOOLS)
        return;
    t->tools.n = 0;
    buf_add_span(&t->tools, array);
}

/* ---- beginning and end ---- */

static void begin(struct rest_call *c, struct spec *spec, struct keys *take_keys)
{
    struct trial *t = NEW(struct trial);
    struct link_options o;
    struct pb_error err;

    *t = (struct trial){ .r = c->r, .loop = c->rest->loop, .refs = 1 };
    t->began = loop_now(t->loop);
    t->keys = take_keys;
    keys_apply(take_keys, spec, &t->arena);
    list_append(&c->rest->trials, &t->in_rest);
    hub_link_options(c->hub, &o);
    o.event = on_event;
    o.listed = on_listed;
    o.ctx = t;
    t->link = link_new(&o, spec);
    http_on_gone(c->r, on_gone, t);
    if (link_connect(t->link, 0, &err) < 0) {
        rest_fail_hub(TAKE(t->r), &err, NULL, NULL);
        stop(t);
    }
}

static size_t count_trials(const struct rest *s)
{
    size_t n = 0;

    for (const struct list *pos = s->trials.next; pos != &s->trials; pos = pos->next)
        n++;
    return n;
}

/* Of a server that is there: what GET did not show is put back. */
static int parse(struct rest_call *c, struct spec **out, struct pb_error *err)
{
    const char *name = rest_text(c, "name");
    const struct link *l = name ? hub_link(c->hub, name) : NULL;
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_BUF struct buf entry = { 0 }, shown = { 0 };
    struct rest_masked m = { .kept = l ? link_spec(l) : NULL };
    struct config_request request = { 0 };
    int rc = json_parse(&doc, json_text(rest_value(c, "entry")->json), NULL, err);

    if (l)
        spec_write_masked(&shown, m.kept);
    m.shown = buf_span(&shown);
    if (rc == 0)
        rc = rest_unmask(&entry, json_root(&doc), l ? &m : NULL, err);
    if (rc == 0)
        rc = spec_parse(out, name ? name : "server", buf_span(&entry), false, &request, err);
    if (rc == 0)
        (*out)->enabled = true;
    return rc;
}

void rest_servers_test(struct rest_call *c)
{
    AUTO(spec) struct spec *spec = NULL;
    AUTO(keys) struct keys *keys = keys_new();
    AUTO_SECRET struct buf secrets = { 0 };
    struct pb_error err;

    if (count_trials(c->rest) >= REST_TRIALS_MAX) {
        rest_fail(c->r,
                  &(struct rest_failure){ 503, "busy", .message = "Other servers are being tried",
                                          .next = "try again in a few seconds" });
        return;
    }
    if (parse(c, &spec, &err) < 0 || rest_secrets_take(c, &secrets, &err) < 0 ||
        rest_secrets_keys(buf_span(&secrets), spec, keys, &err) < 0)
        rest_fail_hub(c->r, &err, NULL, NULL);
    else
        begin(c, spec, TAKE(keys));
}

void rest_trials_end(struct rest *s)
{
    struct list *pos, *safe;

    LIST_FOREACH(pos, safe, &s->trials) {
        struct trial *t = CONTAINER_OF(pos, struct trial, in_rest);

        if (t->r)
            rest_fail(TAKE(t->r),
                      &(struct rest_failure){ 503, "stopping", .message = "Patchbay is stopping" });
        stop(t);
    }
}

void rest_trials_leave(struct rest *s)
{
    struct list *pos, *safe;

    LIST_FOREACH(pos, safe, &s->trials)
        list_remove(pos);
}
