/* host_rig.h - a hub over fake servers (hub/hub_rig.h), the hosts in front of it, and clients of
 * both eras that remember what they are told.
 *
 *     struct hub_rig rig;
 *     struct face_client c;
 *
 *     rig_init(&rig, NULL);
 *     fake_tool(rig_server(&rig, "alpha"), "echo", FAKE_ECHO);
 *     rig_start(&rig);
 *     face_open(&rig, &c, NULL, PB_ERA_LEGACY);
 *     CHECK_STR(face_call(&c, "alpha__echo", "{\"a\":1}"), ...);
 *     face_close(&c);
 *     rig_done(&rig); */
#pragma once
#include "face/caller/caller.h"
#include "face/control/control.h"
#include "face/external/external.h"
#include "face/host/host.h"
#include "gate/gate.h"
#include "hub/catalog/catalog.h"
#include "hub/hub/hub.h"
#include "hub/hub_rig.h"
#include "hub/link/link.h"
#include "hub/spec/spec.h"
#include "mcp/client/client.h"

/* Once for each. */
static const enum pb_era rig_eras[] = { PB_ERA_LEGACY, PB_ERA_MODERN };
#define TWO_ERAS(era)                                                     \
    for (size_t era##_at = 0; era##_at < ARRAY_LEN(rig_eras); era##_at++) \
        for (enum pb_era era = rig_eras[era##_at], *once_ = &era; once_; once_ = NULL)

enum { FACE_NOTES_MAX = 65536, FACE_ANSWERS_MAX = 256, RIG_OBJECT_MAX = 1 << 20 };

/* dir NULL: nothing is recorded. */
static inline void rig_init_store(struct hub_rig *rig, const struct host_options *opts,
                                  const char *dir)
{
    struct host_options h = opts ? *opts : (struct host_options){ 0 };
    struct pb_error err;

    hub_rig_init(rig);
    rig->opts.health_ms = 0;
    hub_rig_start(rig);
    if (dir && store_open(&rig->store,
                          &(struct store_options){
                              .loop = rig->fakes.loop, .dir = dir, .object_bytes = RIG_OBJECT_MAX },
                          &err) < 0)
        TAP_FAIL("%s", err.msg);
    rig->gate = h.gate = gate_new(&(struct gate_options){ .hub = rig->hub, .store = rig->store });
    rig->hosts = hosts_new(rig->fakes.loop, &h);
    control_start(rig->hosts);
}

static inline void rig_init(struct hub_rig *rig, const struct host_options *opts)
{
    rig_init_store(rig, opts, NULL);
}

/* A server that rig_start() connects. */
static inline struct fake_server *rig_server(struct hub_rig *rig, const char *name)
{
    CHECK(rig->n_specs < HUB_RIG_SERVERS_MAX);
    rig->specs[rig->n_specs++] = spec_stdio(name, "fake", NULL, NULL);
    return fakes_add(&rig->fakes, name);
}

static inline struct spec *rig_spec_of(struct hub_rig *rig, const char *name)
{
    for (size_t i = 0; i < rig->n_specs; i++)
        if (strcmp(rig->specs[i]->name, name) == 0)
            return rig->specs[i];
    TAP_FAIL("there is no server '%s'", name);
    return NULL;
}

/* Adds and connects all that have come since the last time, and waits for what waits for nothing
 * but the loop. */
static inline void rig_start(struct hub_rig *rig)
{
    hub_start_all(rig->hub, rig->specs, rig->n_specs);
    while (rig->n_specs)
        spec_unref(rig->specs[--rig->n_specs]);
    fakes_settle(&rig->fakes);
}

static inline void rig_on_hosts_closed(void *ctx)
{
    struct hub_rig *rig = ctx;

    if (rig->gate)
        gate_close(rig->gate);
    rig->hosts_closed = true;
}

static inline void rig_on_store_closed(void *ctx)
{
    struct hub_rig *rig = ctx;

    rig->store_closed = true;
}

/* Hosts, hub and servers; those that the test has closed itself stay closed. */
static inline void rig_done(struct hub_rig *rig)
{
    if (!rig->hosts_closed)
        hosts_close(rig->hosts, rig_on_hosts_closed, rig);
    FAKES_UNTIL(&rig->fakes, rig->hosts_closed);
    if (!rig->closed)
        hub_close(rig->hub, hub_rig_closed, rig);
    for (int i = 0; i < 20 && !rig->closed; i++) {
        fakes_settle(&rig->fakes);
        loop_advance(rig->fakes.loop, 1000);
    }
    CHECK(rig->closed);
    gate_free(rig->gate);
    if (rig->store) {
        store_close(rig->store, rig_on_store_closed, rig);
        while (!rig->store_closed)
            loop_turn(rig->fakes.loop, true);
    }
    hub_rig_done(rig);
}

static inline struct link *rig_link(struct hub_rig *rig, const char *name)
{
    struct link *l = hub_link(rig->hub, name);

    CHECK(l != NULL);
    return l;
}

/* What a server lists, as if it had said so. */
static inline void rig_list(struct hub_rig *rig, const char *server, enum list_kind kind,
                            const char *array)
{
    struct pb_error err;
    bool changed;

    CHECK_INT(catalog_set(hub_catalog(rig->hub), link_spec(rig_link(rig, server)), kind,
                          span_of(array), &changed, &err),
              0);
}

/* Modes {"id":filter,…}. */
static inline void rig_modes(struct hub_rig *rig, const char *json)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_ARENA struct arena a = { 0 };
    struct mode_set *set = mode_set_new();
    struct pb_error err;

    CHECK_INT(json_parse(&doc, span_of(json), NULL, &err), 0);
    JSON_FOREACH(mode, json_root(&doc)) {
        if (mode_set_add(set, json_key_str(mode, &a), mode, &err) < 0)
            TAP_FAIL("%s", err.msg);
    }
    hub_set_modes(rig->hub, set);
    mode_set_unref(set);
}

/* ---- clients ---- */

struct face_client {
    struct fakes *fakes;
    struct client *client;
    bool opened;
    struct pb_error err;
    char notes[FACE_NOTES_MAX]; /* "method params\n" */
    struct fake_reply answers[FACE_ANSWERS_MAX];
    size_t n;
};

static inline void face_opened(void *ctx, const struct pb_error *err)
{
    struct face_client *c = ctx;

    c->opened = true;
    if (err)
        c->err = *err;
}

static inline void face_note(void *ctx, struct span method, struct span params)
{
    struct face_client *c = ctx;
    size_t n = strlen(c->notes);

    snprintf(c->notes + n, sizeof c->notes - n, "%.*s%s%.*s\n", SPAN_ARG(method),
             params.n ? " " : "", SPAN_ARG(params));
}

static inline void face_closed(void *ctx, const struct pb_error *why) { (void)ctx, (void)why; }

static inline struct host *rig_host(struct hub_rig *rig, const struct host_scope *scope)
{
    static const struct host_scope everything = { 0 };
    struct host *h = NULL;
    struct pb_error err;

    if (hosts_get(rig->hosts, scope ? scope : &everything, &h, &err) < 0)
        TAP_FAIL("%s", err.msg);
    return h;
}

static inline void face_connect(struct fakes *fakes, struct face_client *c, struct host *h,
                                enum pb_era era)
{
    static const struct client_events events = {
        .opened = face_opened,
        .notification = face_note,
        .closed = face_closed,
    };
    struct pb_client_options o = PB_CLIENT_OPTIONS_INIT;

    *c = (struct face_client){ .fakes = fakes };
    o.server = host_server(h);
    o.era = era;
    o.timeout_ms = UINT32_MAX; /* the hub's limits are the ones that count */
    CHECK_INT(client_open(&c->client, fakes->loop, &o, &events, c, &c->err), 0);
    FAKES_UNTIL(fakes, c->opened);
    if (c->err.code)
        TAP_FAIL("open: %s", c->err.msg);
}

/* scope NULL: everything. */
static inline void face_open(struct hub_rig *rig, struct face_client *c,
                             const struct host_scope *scope, enum pb_era era)
{
    face_connect(&rig->fakes, c, rig_host(rig, scope), era);
}

static inline void face_close(struct face_client *c)
{
    client_close(TAKE(c->client), NULL, NULL);
    fakes_settle(c->fakes);
    for (size_t i = 0; i < c->n; i++)
        fake_reply_done(&c->answers[i]);
    c->n = 0;
}

/* Sends a request; its answer will be in what is returned. */
static inline struct fake_reply *face_send(struct face_client *c, const char *method,
                                           const char *params)
{
    struct fake_reply *a = &c->answers[c->n++];
    struct client_request_spec spec = {
        .method = method,
        .params = span_of(params),
        .wants_progress = true,
        .progress = fake_on_progress,
        .reply = fake_on_reply,
        .ctx = a,
    };
    struct pb_error err;
    uint64_t id;

    CHECK(c->n <= FACE_ANSWERS_MAX);
    CHECK_INT(client_request(c->client, &spec, &id, &err), 0);
    return a;
}

static inline struct fake_reply *face_ask(struct face_client *c, const char *method,
                                          const char *params)
{
    struct fake_reply *a = face_send(c, method, params);

    FAKES_UNTIL(c->fakes, a->count);
    return a;
}

/* The result, which there must be. */
static inline const char *face_get(struct face_client *c, const char *method, const char *params)
{
    const struct fake_reply *a = face_ask(c, method, params);

    if (!a->result)
        TAP_FAIL("%s: %s", method, a->err.msg);
    return a->result;
}

/* The JSON-RPC error, which there must be. */
static inline const char *face_refused(struct face_client *c, const char *method,
                                       const char *params)
{
    const struct fake_reply *a = face_ask(c, method, params);

    if (!a->error)
        TAP_FAIL("%s: %s", method, a->result ? a->result : a->err.msg);
    return a->error;
}

/* The text of the one content item of a tool's result; "error: ..." if isError. Good until the
 * next call. */
static inline const char *face_text(const char *result)
{
    static char text[1 << 20];
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_ARENA struct arena a = { 0 };
    struct json content;

    CHECK_INT(json_parse(&doc, span_of(result), NULL, NULL), 0);
    content = json_get(json_root(&doc), "content");
    CHECK_INT(json_len(content), 1);
    CHECK(json_str_is(json_get(json_item(content, 0), "type"), "text"));
    snprintf(text, sizeof text, "%s%.*s",
             json_bool(json_get(json_root(&doc), "isError"), false) ? "error: " : "",
             SPAN_ARG(json_str(json_get(json_item(content, 0), "text"), &a)));
    return text;
}

static inline const char *face_call(struct face_client *c, const char *tool, const char *arguments)
{
    AUTO_BUF struct buf params = { 0 };
    struct json_out o = json_out(&params);

    json_begin_object(&o, NULL);
    json_put_str(&o, "name", tool);
    json_put_raw(&o, "arguments", span_of(arguments));
    json_end(&o);
    return face_text(face_get(c, "tools/call", buf_cstr(&params)));
}

/* "a b c": the names (or URIs) of a list. Good until the next call. */
static inline const char *face_names(const char *result, const char *member, const char *key)
{
    static char text[1 << 20];
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_ARENA struct arena a = { 0 };
    size_t n = 0;

    CHECK_INT(json_parse(&doc, span_of(result), NULL, NULL), 0);
    CHECK(json_is(json_get(json_root(&doc), member), JSON_ARRAY));
    text[0] = '\0';
    JSON_FOREACH(item, json_get(json_root(&doc), member)) {
        n += (size_t)snprintf(text + n, sizeof text - n, "%s%.*s", n ? " " : "",
                              SPAN_ARG(json_str(json_get(item, key), &a)));
    }
    return text;
}

static inline const char *face_tools(struct face_client *c)
{
    return face_names(face_get(c, "tools/list", "{}"), "tools", "name");
}
