#include "hub.h"
#include "hub/link/link.h"
#include "hub/spec/spec.h"
#include "hub/view/view.h"
#include "mcp/client/client.h"
#include "mcp/rpc/rpc.h"

#define BAD_ARGUMENTS "Invalid JSON arguments"

/* One call of a proxy; it needs the proxy no more. */
struct proxied_call {
    proxy_fn *fn;
    void *ctx;
    char *server, *tool;
    uint64_t timeout_ms;
    enum proxy_outcome now; /* known before anybody was asked */
    struct buf text;
};

/* ---- whom to ask ---- */

static int ask_hub(void *ctx, const struct call_spec *spec, uint64_t *id, struct pb_error *err)
{
    return hub_call(ctx, spec, id, err);
}

static bool cancel_at_hub(void *ctx, uint64_t id, enum call_cancel why)
{
    return hub_cancel(ctx, id, why);
}

struct proxy_caller proxy_caller_of(struct hub *h)
{
    return (struct proxy_caller){ ask_hub, cancel_at_hub, h, hub_loop(h) };
}

/* ---- what came of it ---- */

static void end(struct proxied_call *e, enum proxy_outcome outcome)
{
    struct proxy_result r = { outcome, buf_span(&e->text) };

    e->fn(e->ctx, &r);
    buf_done(&e->text);
    free(e->server);
    free(e->tool);
    free(e);
}

/* The limit that was really applied is known where it was applied, and said there. */
static void put_limit(struct buf *out, const struct proxied_call *e, const struct pb_error *err)
{
    static const char words[] = "timed out after ";
    const char *said = strstr(err->msg, words);
    size_t n = said ? strspn(said + sizeof words - 1, "0123456789.mhs") : 0;

    while (n && said[sizeof words - 2 + n] == '.') /* the end of a sentence */
        n--;
    if (n)
        buf_add(out, said + sizeof words - 1, n);
    else
        duration_text(out, e->timeout_ms ? e->timeout_ms : SPEC_TIMEOUT_MS);
}

static enum proxy_outcome advise(struct proxied_call *e, const struct pb_error *err)
{
    buf_printf(&e->text, "Tool '%s' on server '%s' timed out after ", e->tool, e->server);
    put_limit(&e->text, e, err);
    buf_str(&e->text, ". Try a simpler request or break into steps.");
    return PROXY_RETRY;
}

static enum proxy_outcome explain(struct proxied_call *e, const struct pb_error *err)
{
    switch (fault_of(err)) {
    case FAULT_CANCELLED:
        return PROXY_CANCELLED;
    case FAULT_NOT_CONNECTED:
    case FAULT_NO_SERVER:
    case FAULT_DISABLED:
        buf_str(&e->text, e->server);
        return PROXY_DISCONNECTED;
    case FAULT_TIMEOUT:
        return advise(e, err);
    case FAULT_CONNECT:
        buf_printf(&e->text, "Tool '%s' on server '%s' failed: %s", e->tool, e->server, err->msg);
        return PROXY_FAILED;
    default:
        break;
    }
    if (err->code == PB_E_CANCELLED)
        return PROXY_CANCELLED;
    if (err->code == PB_E_TIMEOUT)
        return advise(e, err);
    buf_str(&e->text, err->msg);
    return PROXY_FAILED;
}

static void on_reply(void *ctx, const struct client_reply *reply)
{
    struct proxied_call *e = ctx;

    if (reply->err) {
        end(e, explain(e, reply->err));
        return;
    }
    result_text(&e->text, reply->result);
    end(e, result_is_error(reply->result) ? PROXY_FAILED : PROXY_SUCCESS);
}

static void end_now(void *ctx)
{
    struct proxied_call *e = ctx;

    end(e, e->now);
}

/* ---- asking ---- */

/* An object, with every key once at every depth: what is checked is what is executed. */
static bool write_params(struct buf *out, const char *tool, const char *arguments)
{
    static const struct json_opts opts = { .unique_depth = JSON_ALL };
    AUTO_JSON struct json_doc doc = { 0 };
    struct span text = span_trim(span_of(arguments));
    struct json_out o = json_out(out);

    if (text.n == 0)
        text = SPAN("{}");
    if (json_parse(&doc, text, &opts, NULL) < 0 || !json_is(json_root(&doc), JSON_OBJECT))
        return false;
    json_begin_object(&o, NULL);
    json_put_str(&o, "name", tool);
    json_put_raw(&o, "arguments", text);
    json_end(&o);
    return true;
}

static enum proxy_outcome ask(const struct proxy *p, struct proxied_call *e, const char *arguments,
                              uint64_t *id)
{
    AUTO_BUF struct buf params = { 0 };
    struct call_spec spec = {
        .server = e->server,
        .method = "tools/call",
        .subject = span_of(e->tool),
        .timeout_ms = e->timeout_ms,
        .caller = "",
        .reply = on_reply,
        .ctx = e,
    };
    struct pb_error err = { 0 };

    if (!write_params(&params, e->tool, arguments)) {
        buf_str(&e->text, BAD_ARGUMENTS);
        return PROXY_BAD_ARGUMENTS;
    }
    spec.params = buf_span(&params);
    if (p->caller.call(p->caller.ctx, &spec, id, &err) < 0)
        return explain(e, &err);
    return PROXY_SUCCESS;
}

void proxy_call(struct proxy *p, const char *arguments, uint64_t timeout_ms, proxy_fn *fn,
                void *ctx, uint64_t *id)
{
    struct proxied_call *e = NEW(struct proxied_call);
    uint64_t asked = 0;
    enum proxy_outcome now;

    *e = (struct proxied_call){
        .fn = fn,
        .ctx = ctx,
        .server = mem_dup(p->server),
        .tool = mem_dup(p->name),
        .timeout_ms = timeout_ms,
    };
    now = ask(p, e, arguments ? arguments : "", &asked);
    if (id)
        *id = now == PROXY_SUCCESS ? asked : 0;
    if (now == PROXY_SUCCESS)
        return;
    e->now = now;
    loop_defer(p->caller.loop, end_now, e);
}

void proxy_cancel(struct proxy *p, uint64_t id)
{
    if (id)
        p->caller.cancel(p->caller.ctx, id, CALL_BY_USER);
}

/* ---- proxies themselves ---- */

static char *own(struct span text) { return mem_dupn(text.p, text.n); }

static struct proxy *proxy_new(const struct proxy_caller *caller, const struct entry *tool)
{
    struct proxy *p = NEW(struct proxy);
    AUTO_ARENA struct arena a = { 0 };

    *p = (struct proxy){
        .caller = *caller,
        .server = mem_dup(tool->server),
        .name = own(tool->name),
        .description = own(entry_description(tool, &a)),
        .definition = own(tool->text),
        .max_retries = 1,
    };
    return p;
}

void proxy_free(struct proxy *p)
{
    if (!p)
        return;
    free(p->server);
    free(p->name);
    free(p->description);
    free(p->definition);
    free(p);
}

size_t proxies_of(const struct catalog *c, const struct scope *s, const struct proxy_caller *caller,
                  struct proxy ***out)
{
    const struct entry *const *all;
    size_t n = catalog_all(c, LIST_TOOLS, &all), shown = 0;

    *out = mem_alloc((n + 1) * sizeof(struct proxy *));
    for (size_t i = 0; i < n; i++)
        if (all[i]->server && scope_shows(c, s, all[i]))
            (*out)[shown++] = proxy_new(caller, all[i]);
    (*out)[shown] = NULL;
    return shown;
}
