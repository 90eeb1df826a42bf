/* handshake.c - the legacy way to begin: initialize, its answer, and the notification that it was
 * understood. Also what follows when it is refused: over HTTP a server of the first revision. */
#include "client_impl.h"
#include "mcp/rpc/rpc.h"
#include "mcp/wire/wire.h"

static int take_welcome(struct client *c, struct span result, struct pb_error *err)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_ARENA struct arena arena = { 0 };
    const struct revision *rev;
    struct json root;
    struct span version;

    if (json_parse(&doc, result, &(struct json_opts){ .keep_depth = 1 }, err) < 0)
        return -(int)PB_E_INVALID;
    root = json_root(&doc);
    version = json_str(json_get(root, "protocolVersion"), &arena);
    rev = revision_find(version);
    if (!rev || rev->era != ERA_LEGACY)
        return fail(err, PB_E_UNSUPPORTED, "the server wants to speak '%.*s', which is not known",
                    (int)(version.n < 40 ? version.n : 40), version.p);
    if (c->opts.protocol && strcmp(rev->date, c->opts.protocol) != 0)
        return fail(err, PB_E_UNSUPPORTED, "the server speaks %s, but %s is wanted", rev->date,
                    c->opts.protocol);
    c->rev = rev;
    return client_opening_keep(c, json_get(root, "capabilities"), json_get(root, "serverInfo"),
                               json_get(root, "instructions"), err);
}

static void welcomed(struct client *c)
{
    if (c->wire->ops->listen)
        c->wire->ops->listen(c->wire);
    client_opening_done(c);
}

/* Requests must not overtake it: strict servers refuse them before it. */
static void say_initialized(struct client *c)
{
    AUTO_BUF struct buf text = { 0 };
    struct wire_out out = { .method = "notifications/initialized" };
    struct pb_error err;

    rpc_write_request(&text, SPAN(""), out.method, SPAN(""));
    out.text = buf_span(&text);
    if (c->wire->ops->acks)
        out.id = c->opening.hello = ++c->next_id;
    if (c->wire->ops->agreed)
        c->wire->ops->agreed(c->wire, c->rev);
    if (c->wire->ops->send(c->wire, &out, &err) < 0)
        client_opening_failed(c, &err);
    else if (!out.id)
        welcomed(c);
}

void client_opening_delivered(struct client *c, uint64_t id)
{
    if (!id || id != c->opening.hello || c->closing || client_in(c, CL_DEAD))
        return;
    c->opening.hello = 0;
    welcomed(c);
}

static bool try_old_sse(struct client *c, const struct client_reply *reply)
{
    int status = reply->http_status;

    if (!client_over_http(c) || c->opts.transport == PB_TRANSPORT_HTTP ||
        c->opening.way.now == WAY_OLD_SSE || client_in(c, CL_RESHAKING) ||
        (status != 400 && status != 404 && status != 405))
        return false;
    c->opening.first = *reply->err;
    client_opening_reopen(c, WAY_OLD_SSE);
    return true;
}

static void on_initialized(void *ctx, const struct client_reply *reply)
{
    struct client *c = ctx;
    struct pb_error err;

    if (c->closing || (!client_in(c, CL_SHAKING) && !client_in(c, CL_RESHAKING)))
        return;
    if (reply->err) {
        if (client_opening_was_modern(c))
            client_opening_done(c);
        else if (!try_old_sse(c, reply))
            client_opening_failed(c, reply->err);
        return;
    }
    if (take_welcome(c, reply->result, &err) < 0)
        client_opening_failed(c, &err);
    else
        say_initialized(c);
}

int client_opening_greet(struct client *c, struct pb_error *err)
{
    AUTO_BUF struct buf params = { 0 };
    struct json_out o = json_out(&params);
    struct client_request_spec spec = {
        .method = "initialize",
        .timeout_ms = c->opts.connect_ms,
        .reply = on_initialized,
        .ctx = c,
    };

    if (!client_in(c, CL_RESHAKING))
        c->rev = NULL;
    json_begin_object(&o, NULL);
    json_put_str(&o, "protocolVersion", c->opts.protocol ? c->opts.protocol : MCP_NEWEST_LEGACY);
    json_put_raw(&o, "capabilities", span_of(c->legacy_caps));
    json_put_raw(&o, "clientInfo", span_of(c->info));
    json_end(&o);
    spec.params = buf_span(&params);
    return client_call_new(c, &spec, CALL_IS_SHAKING, &c->opening.call, err);
}

/* From a probe that led to nothing. */
void client_opening_shake(struct client *c)
{
    struct client_call *probe = client_call_find(c, c->opening.call);
    struct pb_error err;

    timer_stop(&c->opening.patience);
    client_move(c, CL_SHAKING);
    if (probe) {
        probe->spec.reply = NULL;
        client_call_finish(probe, NULL);
    }
    if (client_opening_greet(c, &err) < 0)
        client_opening_failed(c, &err);
}

void client_opening_again(struct client *c)
{
    struct pb_error err;

    log_info("the server has forgotten the session, shaking hands again");
    client_move(c, CL_RESHAKING);
    client_questions_forget(c, NULL);
    if (c->wire->ops->reset)
        c->wire->ops->reset(c->wire);
    timer_start(&c->opening.limit, c->opts.connect_ms);
    if (client_opening_greet(c, &err) < 0)
        client_opening_failed(c, &err);
    client_questions_withdraw_all(c);
}
