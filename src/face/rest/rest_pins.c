/* rest_pins.c - what was approved of the definitions of servers, and letting in what has changed.
 */
#include "gate/gate.h"
#include "hub/hub/hub.h"
#include "io/http/http.h"
#include "rest_impl.h"

/* False: answered. Of what is left out *kind stays as it is. */
static bool read_kind(struct rest_call *c, int *kind)
{
    const char *word = rest_text(c, "kind");

    for (int k = 0; word && k < VET_KINDS; k++)
        if (strcmp(word, vet_kind_name((enum vet_kind)k)) == 0) {
            *kind = k;
            return true;
        }
    if (word)
        rest_refuse(c->r, "kind: expected tool, prompt or instructions");
    return !word;
}

void rest_pins(struct rest_call *c)
{
    const char *name = rest_text(c, "name");
    struct pin_choice choice = { .server = rest_text(c, "server"), .kind = -1 };
    AUTO_BUF struct buf body = { 0 };
    struct json_out o = json_out(&body);

    if (!read_kind(c, &choice.kind))
        return;
    if (name || choice.kind == VET_INSTRUCTIONS)
        choice.name = span_of(name ? name : "");
    if (choice.server && !hub_link(c->hub, choice.server)) {
        rest_fail(c->r,
                  &(struct rest_failure){ 404, "server_not_found", "server", span_of(choice.server),
                                          .message = "There is no server of this name" });
        return;
    }
    json_begin_object(&o, NULL);
    pins_put(gate_pins(c->rest->gate), &o, &choice);
    json_end(&o);
    rest_reply(c->r, 200, &body);
}

/* Somebody who waits until it is in the lock. */
struct rest_approval {
    struct http_request *r; /* NULL: gone */
    size_t n;
};

static void on_gone(void *ctx)
{
    struct rest_approval *a = ctx;

    a->r = NULL;
}

static void on_synced(void *ctx, const struct pb_error *err)
{
    struct rest_approval *a = ctx;
    AUTO_BUF struct buf body = { 0 };
    struct json_out o = json_out(&body);

    if (a->r && err) {
        rest_fail(a->r, &(struct rest_failure){
                            500, "lock_not_written", .message = err->msg,
                            .next = "it counts until patchbay stops; see that the lock can be "
                                    "written, then approve it again" });
    } else if (a->r) {
        json_begin_object(&o, NULL);
        json_put_str(&o, "status", "ok");
        json_put_uint(&o, "approved", a->n);
        json_end(&o);
        rest_reply(a->r, 200, &body);
    }
    free(a);
}

/* False: answered. */
static bool read_choice(struct rest_call *c, struct pin_choice *out)
{
    const char *name = rest_text(c, "name");

    *out = (struct pin_choice){ .server = rest_text(c, "server"),
                                .kind = name ? VET_TOOL : -1,
                                .cid = rest_text(c, "cid"),
                                .version = rest_text(c, "version") };
    if (name)
        out->name = span_of(name);
    if (!read_kind(c, &out->kind))
        return false;
    if (out->kind == VET_INSTRUCTIONS)
        out->name = SPAN("");
    if (out->cid && !out->name.p) {
        rest_refuse(c->r, "cid: expected with a name, or of instructions");
        return false;
    }
    if (!out->cid && !out->version) { /* what nobody has looked at is not let in */
        rest_refuse(c->r, out->name.p
                              ? "cid: expected, of what was looked at: GET /api/pins says it"
                              : "version: expected, of what was looked at: GET /api/pins?server= "
                                "says it");
        return false;
    }
    return true;
}

void rest_pins_approve(struct rest_call *c)
{
    struct pins *pins = gate_pins(c->rest->gate);
    struct rest_approval *a;
    struct pin_choice choice;
    struct pb_error err;
    size_t n;

    if (!read_choice(c, &choice))
        return;
    if (!pins || pins_approve(pins, &choice, 1, &n, &err) < 0) {
        bool unknown = !pins || err.code == PB_E_NOT_FOUND;

        rest_fail(c->r, &(struct rest_failure){ unknown ? 404 : 409,
                                                unknown ? "pin_not_found" : "pin_changed", "server",
                                                span_of(choice.server),
                                                .message = pins ? err.msg : "Nothing is pinned" });
        return;
    }
    if (choice.kind < 0)
        pins_prune(pins, choice.server);
    a = NEW(struct rest_approval);
    *a = (struct rest_approval){ c->r, n };
    http_on_gone(c->r, on_gone, a);
    pins_sync(pins, on_synced, a);
}
