/* gate_own.c - orders for tools of our own: one name and one spelling for what is meant, and who
 * asks, in words that the caller cannot choose. */
#include "gate_impl.h"

void gate_set_own(struct gate *g, const struct own_tools *own) { g->own = *own; }

bool order_is_own(const struct order *o)
{
    return o->call.server && strcmp(o->call.server, SPEC_OWN) == 0 &&
           strcmp(o->call.method, "tools/call") == 0;
}

const struct order *own_read(const struct gate *g, const struct order *o, struct own_order *out)
{
    if (!g->own.read || !order_is_own(o))
        return o;
    g->own.read(g->own.ctx, &(struct own_wish){ o->call.subject, o->arguments, o->directory },
                &out->name, &out->arguments);
    out->order = *o;
    if (out->name.n)
        out->order.call.subject = buf_span(&out->name);
    if (out->arguments.n) {
        out->order.arguments = buf_span(&out->arguments);
        out->order.arguments_blob = NULL;
    }
    return &out->order;
}

void own_order_done(struct own_order *o)
{
    buf_done(&o->name);
    buf_done(&o->arguments);
}

/* A person asks by hand on the command line and through REST; clients and the agent are programs.
 */
static bool by_person(const struct order *o) { return o->face == FACE_CLI || o->face == FACE_REST; }

bool own_needs_permission(const struct gate *g, const struct order *o, struct buf *why)
{
    AUTO_BUF struct buf reason = { 0 };

    if (!g->own.reaches || !order_is_own(o) || by_person(o) ||
        !g->own.reaches(g->own.ctx,
                        &(struct own_wish){ o->call.subject, o->arguments, o->directory }, &reason))
        return false;
    buf_printf(why, "Operation '%.*s' requires user authorization. Reason: %s",
               SPAN_ARG(o->call.subject), buf_cstr(&reason));
    return true;
}

void own_params(struct buf *out, const struct order *o, const char *uuid)
{
    struct json_out j = json_out(out);

    json_begin_object(&j, NULL);
    json_put_span(&j, "name", o->call.subject);
    json_put_raw(&j, "arguments", o->arguments.n ? o->arguments : SPAN("{}"));
    json_begin_object(&j, "_meta");
    if (o->trace.n)
        json_put_span(&j, "traceparent", o->trace);
    json_begin_object(&j, GATE_META_CALL);
    json_put_str(&j, "id", uuid);
    json_put_str(&j, "face", order_face_name(o->face));
    json_put_str_opt(&j, "client", o->call.client);
    json_put_str(&j, "conversation", order_run(o));
    json_put_str_opt(&j, "directory", o->directory);
    json_put_bool(&j, "person", by_person(o));
    json_end(&j);
    json_end(&j);
    json_end(&j);
}
