#include "call.h"
#include "mcp/rpc/rpc.h"

/* The arguments were written anew: by normalisation, or from the variables of a template. */
void call_set_written(struct pb_call *c)
{
    int rc = json_parse(&c->own_args, buf_span(&c->args_text), NULL, NULL);

    c->args = rc == 0 ? json_root(&c->own_args) : (struct json){ 0 };
}

/* Bad arguments are the model's mistake, which it can correct if it reads of it: a tool error,
 * unless the program wants all errors from JSON-RPC. */
static bool refuse_arguments(struct pb_call *c, const struct pb_error *err)
{
    AUTO_BUF struct buf text = { 0 };

    buf_printf(&text, "Invalid arguments for tool '%s': %s", c->item->name, err->msg);
    if (c->errors_as_rpc)
        call_fail_rpc(c, RPC_INVALID_PARAMS, buf_span(&text), SPAN(""));
    else
        call_fail_text(c, buf_span(&text));
    call_answer(c);
    call_over(c);
    return false;
}

bool call_set_arguments(struct pb_call *c, struct json arguments)
{
    struct pb_error err;

    if (json_is(arguments, JSON_NULL))
        arguments = (struct json){ 0 };
    if (!json_is(arguments, JSON_NONE) && !json_is(arguments, JSON_OBJECT)) {
        call_refuse(c, RPC_INVALID_PARAMS, SPAN(""), "arguments: expected an object, got %s",
                    json_type_name(arguments));
        return false;
    }
    c->args = arguments;
    if (c->item->params) {
        if (params_conform(c->item->params, arguments))
            return true;
        if (params_normalise(c->item->params, arguments, &c->args_text, &err) < 0)
            return refuse_arguments(c, &err);
        call_set_written(c);
        return true;
    }
    if (json_is(arguments, JSON_NONE)) {
        buf_str(&c->args_text, "{}");
        call_set_written(c);
    }
    if (schema_check(c->item->input, c->args, &err) < 0)
        return refuse_arguments(c, &err);
    return true;
}

static struct json arg(struct pb_call *c, const char *name) { return json_get(c->args, name); }

static const char *kept(struct pb_call *c, struct json v, bool raw)
{
    struct arg_text *t;

    for (t = c->texts; t; t = t->next)
        if (t->at == v.at && t->raw == raw)
            return t->text;
    t = arena_alloc(&c->arena, sizeof *t);
    *t = (struct arg_text){ c->texts, v.at, raw, NULL };
    t->text = raw ? arena_dup(&c->arena, json_text(v)) : json_cstr(v, &c->arena);
    c->texts = t;
    return t->text;
}

bool pb_arg_has(struct pb_call *call, const char *name)
{
    return !json_is(arg(call, name), JSON_NONE);
}

const char *pb_arg_string(struct pb_call *call, const char *name)
{
    struct json v = arg(call, name);

    return json_is(v, JSON_STRING) ? kept(call, v, false) : NULL;
}

int64_t pb_arg_int(struct pb_call *call, const char *name)
{
    int64_t v = 0;

    return json_int(arg(call, name), &v, NULL) == 0 ? v : 0;
}

double pb_arg_double(struct pb_call *call, const char *name)
{
    double v = 0;

    return json_double(arg(call, name), &v, NULL) == 0 ? v : 0;
}

bool pb_arg_bool(struct pb_call *call, const char *name)
{
    return json_bool(arg(call, name), false);
}

const char *pb_arg_json(struct pb_call *call, const char *name)
{
    struct json v = name ? arg(call, name) : call->args;

    if (json_is(v, JSON_NONE))
        return name ? NULL : "{}";
    return kept(call, v, true);
}

const char *pb_call_name(struct pb_call *call) { return call->item->name; }

const char *pb_call_uri(struct pb_call *call) { return call->uri.p; }

const char *pb_call_protocol(struct pb_call *call) { return call->rev->date; }

const char *pb_call_client_info(struct pb_call *call)
{
    call_keep_facts(call);
    return call->env.client_info.p;
}

const char *pb_call_client_capabilities(struct pb_call *call)
{
    call_keep_facts(call);
    return call->env.client_caps.p;
}

const char *pb_call_meta(struct pb_call *call)
{
    return call->meta.n ? arena_dup(&call->arena, call->meta) : "{}";
}

const char *pb_complete_argument(struct pb_call *call) { return call->typed_for.p; }

const char *pb_complete_value(struct pb_call *call) { return call->typed.p; }
