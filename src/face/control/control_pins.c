/* control_pins.c - what was approved of the definitions of servers, and letting in what has
 * changed. */
#include "control_impl.h"
#include "face/host/host.h"
#include "gate/gate.h"
#include "hub/hub/hub.h"
#include "hub/link/link.h"
#include "mcp/rpc/rpc.h"
#include "mcp/serve/serve.h"

/* ---- what there is ------------------------------------------------------------------------- */

static void send_pins(struct hosts *s, struct request *r, const struct control_params *p)
{
    struct pin_choice c = { .server = p->server, .kind = -1 };
    AUTO_BUF struct buf b = { 0 };
    struct json_out o = json_out(&b);

    if (p->tool)
        c.name = span_of(p->tool);
    json_begin_object(&o, NULL);
    pins_put(gate_pins(hosts_gate(s)), &o, &c);
    control_write_failed(&o, "failed", hosts_hub(s), p->server);
    json_end(&o);
    request_reply(r, buf_span(&b));
}

/* "server" or "server.tool". False: neither is there, and that was answered. */
static bool take_item(struct control_wait *w)
{
    const struct hub *h = hosts_hub(w->hosts);
    const struct link *l;
    struct span own = { 0 };
    struct pb_error err;

    if (!w->params.item)
        return true;
    l = hub_link(h, w->params.item);
    if (!l)
        l = hub_link_of(h, w->params.item, &own);
    if (!l) {
        control_no_server_of(h, w->params.item, &err);
        control_refuse(w->r, &err);
        return false;
    }
    w->params.server = arena_dup(&w->arena, span_of(link_name(l)));
    w->params.tool = own.n ? arena_dup(&w->arena, own) : NULL;
    return true;
}

void control_pins(struct hosts *s, struct request *r)
{
    struct control_wait *w = control_wait_new(s, r, send_pins);

    if (w && take_item(w))
        control_wait_known(w);
    else if (w)
        control_wait_end(w);
}

/* ---- approving ----------------------------------------------------------------------------- */

/* Somebody who waits until it is in the lock. */
struct approval {
    struct request *r; /* NULL: gone */
    size_t n;
};

static void on_gone(struct request *r, enum cancel_reason why)
{
    struct approval *a = r->work;

    (void)why;
    a->r = NULL;
}

static void on_synced(void *ctx, const struct pb_error *err)
{
    struct approval *a = ctx;
    AUTO_BUF struct buf b = { 0 };
    struct json_out o = json_out(&b);

    if (a->r) {
        a->r->work = NULL;
        a->r->cancel = NULL;
        json_begin_object(&o, NULL);
        json_put_uint(&o, "approved", a->n);
        if (err)
            json_put_str(&o, "problem", err->msg);
        json_end(&o);
        request_reply(a->r, buf_span(&b));
    }
    free(a);
}

static int read_kind(struct json v, int *out, struct pb_error *err)
{
    for (int k = 0; k < VET_KINDS; k++)
        if (json_str_is(v, vet_kind_name((enum vet_kind)k))) {
            *out = k;
            return 0;
        }
    return fail(err, PB_E_INVALID, "kind: expected tool, prompt or instructions");
}

/* Each names exactly what was looked at. */
static int read_items(struct json items, struct pin_choice *out, struct arena *a,
                      struct pb_error *err)
{
    JSON_FOREACH(v, items) {
        *out = (struct pin_choice){ .server = json_cstr(json_get(v, "server"), a),
                                    .name = json_str(json_get(v, "name"), a),
                                    .cid = json_cstr(json_get(v, "cid"), a) };
        if (!out->server || !out->cid)
            return fail(err, PB_E_INVALID, "items: expected objects with server, kind, name, cid");
        if (!out->name.p)
            out->name = SPAN("");
        if (read_kind(json_get(v, "kind"), &out->kind, err) < 0)
            return -PB_E_INVALID;
        out++;
    }
    return 0;
}

/* What was pruned is what servers do not list any more, of those that something is approved of. */
static void prune(struct pins *pins, const struct pin_choice *c, size_t n, const char *server)
{
    if (server)
        pins_prune(pins, server);
    for (size_t i = 0; i < n && !server; i++)
        if (!i || strcmp(c[i].server, c[i - 1].server) != 0)
            pins_prune(pins, c[i].server);
}

void control_approve(struct hosts *s, struct request *r)
{
    AUTO_ARENA struct arena arena = { 0 };
    struct pins *pins = gate_pins(hosts_gate(s));
    struct json items = json_get(r->params, "items");
    AUTO_FREE struct pin_choice *c = mem_zero((json_len(items) + 1) * sizeof *c);
    struct control_params p;
    struct pb_error err;
    struct approval *a;
    size_t done = 0;

    if (!control_read_params(r, &p, &arena))
        return;
    if (!pins || read_items(items, c, &arena, &err) < 0 ||
        pins_approve(pins, c, json_len(items), &done, &err) < 0) {
        if (!pins)
            fail(&err, PB_E_INVALID, "nothing is pinned here");
        control_refuse(r, &err);
        return;
    }
    if (p.prune)
        prune(pins, c, json_len(items), p.server);
    a = NEW(struct approval);
    *a = (struct approval){ r, done };
    r->work = a;
    r->cancel = on_gone;
    pins_sync(pins, on_synced, a);
}
