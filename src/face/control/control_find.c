/* control_find.c - is there such a tool or prompt, and if not, why: asked before a call, so that a
 * person hears of a slip of the pen or of a server that is down, and not just "unknown". */
#include "control_impl.h"
#include "face/caller/caller.h"
#include "face/host/host.h"
#include "hub/catalog/catalog.h"
#include "hub/hub/hub.h"
#include "hub/link/link.h"
#include "hub/spec/spec.h"
#include "hub/view/view.h"
#include "mcp/rpc/rpc.h"
#include "mcp/serve/serve.h"

/* ---- names of servers ---------------------------------------------------------------------- */

int control_no_server(const char *item, const char *const *names, struct pb_error *err)
{
    struct span server = item_server_part(span_of(item));
    AUTO_BUF struct buf text = { 0 };

    buf_printf(&text, "there is no server '%.*s'",
               server.n < HUB_NAME_MAX ? (int)server.n : HUB_NAME_MAX, server.p);
    if (!near_write_of(&text, server, names))
        buf_str(&text, *names ? "; 'patchbay list' shows those there are"
                              : ", nor any other; 'patchbay add' adds one");
    return fault_fail(err, FAULT_NO_SERVER, "%s", buf_cstr(&text));
}

struct naming {
    const char **names;
    size_t n;
};

static void take_name(void *ctx, struct link *l)
{
    struct naming *to = ctx;

    to->names[to->n++] = link_name(l);
}

int control_no_server_of(const struct hub *h, const char *item, struct pb_error *err)
{
    AUTO_FREE const char **names = mem_zero((hub_count(h) + 1) * sizeof *names);

    hub_each(h, take_name, &(struct naming){ names, 0 });
    return control_no_server(item, names, err);
}

/* ---- the method ---------------------------------------------------------------------------- */

static const char *item_of(const struct control_params *p) { return p->tool ? p->tool : p->prompt; }

static const struct entry *look_up_in(struct hosts *s, const struct scope *scope,
                                      const struct control_params *p, struct pb_error *err)
{
    struct catalog *c = hub_catalog(hosts_hub(s));

    return p->tool ? catalog_find(c, scope, LIST_TOOLS, span_of(p->tool), err)
                   : catalog_find(c, scope, LIST_PROMPTS, span_of(p->prompt), err);
}

static const struct entry *look_up(struct hosts *s, const struct control_params *p,
                                   struct pb_error *err)
{
    return look_up_in(s, &(struct scope){ .builtins = ~0U, .dotted = true }, p, err);
}

/* Asked when it is not found: is it there, but switched off? */
static const struct entry *look_up_disabled(struct hosts *s, const struct control_params *p)
{
    const struct entry *e = look_up_in(s, &(struct scope){ .disabled_too = true }, p, NULL);

    return e && !e->enabled && e->text.n ? e : NULL; /* without a text it is put away */
}

/* The same: is it there, but held back? Then err says why. */
static bool is_held(struct hosts *s, const struct control_params *p, struct pb_error *err)
{
    const struct hub *h = hosts_hub(s);
    const struct entry *e =
        catalog_find_any(hub_catalog(h), &(struct scope){ .dotted = true },
                         p->tool ? LIST_TOOLS : LIST_PROMPTS, span_of(item_of(p)), NULL);

    return e && hub_holds(h, e->server, p->tool ? VET_TOOL : VET_PROMPT, e->name, err);
}

static bool lists_word(const char *const *words, struct span word)
{
    for (; *words; words++)
        if (span_is(word, *words))
            return true;
    return false;
}

/* What was switched off by its name is switched on by it; a pattern is for whoever wrote it. */
static void tell_disabled(const struct hub *h, const struct entry *e, struct pb_error *err)
{
    const struct spec *spec = link_spec(hub_link(h, e->server));
    AUTO_BUF struct buf next = { 0 };

    if (lists_word(spec->disabled_tools, e->name))
        buf_printf(&next, "'patchbay enable %s.%.*s' switches it on", e->server, SPAN_ARG(e->name));
    else
        buf_printf(&next, "see enabledTools and disabledTools at %s:%u",
                   spec->file ? spec->file : e->server, spec->line);
    fault_fail(err, FAULT_NO_TOOL, "the tool '%s.%.*s' is disabled; %s", e->server,
               SPAN_ARG(e->name), buf_cstr(&next));
}

static void reply_entry(struct request *r, const struct hub *h, const struct entry *e)
{
    AUTO_BUF struct buf b = { 0 };
    struct json_out o = json_out(&b);

    json_begin_object(&o, NULL);
    control_put_entry(&o, e);
    control_put_remembered(&o, h, e->server);
    json_end(&o);
    request_reply(r, buf_span(&b));
}

const struct entry *control_look_up(struct hosts *s, const struct control_params *p,
                                    struct pb_error *err)
{
    const char *name = item_of(p);
    const struct entry *e = look_up(s, p, err);
    const struct entry *off = e ? NULL : look_up_disabled(s, p);

    if (off)
        tell_disabled(hosts_hub(s), off, err);
    else if (!e && is_held(s, p, err))
        log_debug("control: '%s' is held back", name);
    else if (!e && item_names_server(span_of(name)) && !hub_link_of(hosts_hub(s), name, NULL))
        control_no_server_of(hosts_hub(s), name, err);
    else if (!e && p->failed.code)
        *err = p->failed;
    return e;
}

static void answer(struct hosts *s, struct request *r, const struct control_params *p)
{
    struct pb_error err = { 0 };
    const struct entry *e = control_look_up(s, p, &err);

    if (e)
        reply_entry(r, hosts_hub(s), e);
    else
        control_refuse(r, &err);
}

/* The same error, with what a person can do about it. */
void control_add_advice(struct pb_error *err, const char *server)
{
    enum fault fault = fault_of(err);
    AUTO_BUF struct buf advice = { 0 };
    AUTO_FREE char *text = mem_dup(err->msg);

    advice_text(&advice, advice_of_fault(fault), server);
    if (advice.n)
        fault_fail(err, fault, "%s%s", text, buf_cstr(&advice));
}

static void on_connected(void *ctx, const struct pb_error *err)
{
    struct control_wait *w = ctx;

    if (err && w->r && !look_up(w->hosts, &w->params, NULL)) {
        struct link *l = hub_link_of(hosts_hub(w->hosts), item_of(&w->params), NULL);

        w->params.failed = *err;
        if (l)
            control_add_advice(&w->params.failed, link_name(l));
    }
    control_wait_over(w);
}

static void on_relisted(void *ctx) { control_wait_over(ctx); }

void control_when_found(struct hosts *s, struct request *r, control_then_fn *then)
{
    struct control_wait *w = control_wait_new(s, r, then);
    struct hub *hub = hosts_hub(s);
    struct link *l;

    if (!w)
        return;
    if (!w->params.tool == !w->params.prompt) {
        request_fail(r, RPC_INVALID_PARAMS, SPAN(""), "expected one of tool and prompt");
        control_wait_end(w);
        return;
    }
    l = hub_link_of(hub, item_of(&w->params), NULL);
    if (!l || look_up_disabled(s, &w->params) ||
        (is_held(s, &w->params, NULL) && !w->params.refresh) ||
        (look_up(s, &w->params, NULL) && !w->params.refresh)) {
        control_wait_over(w);
        return;
    }
    if (w->params.refresh && link_refresh_all(l, on_relisted, w))
        return;
    /* What is known of a server that is idle may be old. */
    if (link_state(l) == LINK_IDLE && hub_connect(hub, link_name(l), NULL) < 0)
        log_debug("control: '%s' does not start", link_name(l));
    if (hub_when_connected(hub, link_name(l), on_connected, w, NULL) < 0)
        control_wait_over(w);
}

void control_find(struct hosts *s, struct request *r) { control_when_found(s, r, answer); }
