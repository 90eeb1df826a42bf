#include "rpc.h"

static bool all_digits(struct span s)
{
    size_t i = s.n && s.p[0] == '-';

    if (i == s.n)
        return false;
    for (; i < s.n; i++)
        if (s.p[i] < '0' || s.p[i] > '9')
            return false;
    return true;
}

#define ID_BYTES_TEXT "4096"
_Static_assert(RPC_ID_BYTES_MAX == 4096, "the text says so");

static bool is_id_type(struct json v)
{
    return json_is(v, JSON_STRING) || (json_is(v, JSON_NUMBER) && all_digits(json_text(v)));
}

bool rpc_id_valid(struct json id) { return is_id_type(id) && json_text(id).n <= RPC_ID_BYTES_MAX; }

static void invalid(struct rpc *out, int code, const char *why)
{
    out->kind = RPC_INVALID;
    out->code = code;
    out->why = why;
}

/* The members of a message. */
enum {
    MEMBER_JSONRPC,
    MEMBER_ID,
    MEMBER_METHOD,
    MEMBER_PARAMS,
    MEMBER_RESULT,
    MEMBER_ERROR,
    MEMBERS
};

static void read_call(struct rpc *out, const struct json members[MEMBERS], struct arena *arena)
{
    struct json id = members[MEMBER_ID], params = members[MEMBER_PARAMS];

    if (!json_is(members[MEMBER_METHOD], JSON_STRING)) {
        invalid(out, RPC_INVALID_REQUEST, "method must be a string");
        return;
    }
    if (!json_is(id, JSON_NONE) && !out->id.n) {
        invalid(out, RPC_INVALID_REQUEST,
                is_id_type(id) ? "id is longer than " ID_BYTES_TEXT " bytes"
                               : "id must be a string or an integer");
        return;
    }
    out->method = json_str(members[MEMBER_METHOD], arena);
    if (json_is(params, JSON_OBJECT) || json_is(params, JSON_ARRAY)) {
        out->params = params;
    } else if (!json_is(params, JSON_NONE) && !json_is(params, JSON_NULL)) {
        invalid(out, RPC_INVALID_REQUEST, "params must be an object");
        return;
    }
    out->kind = json_is(id, JSON_NONE) ? RPC_NOTIFICATION : RPC_REQUEST;
}

static void read_answer(struct rpc *out, const struct json members[MEMBERS])
{
    out->result = members[MEMBER_RESULT];
    out->error = members[MEMBER_ERROR];
    if (json_is(out->error, JSON_NULL) && !json_is(out->result, JSON_NONE))
        out->error = (struct json){ 0 }; /* JSON-RPC 1.0 wrote both, and some still do */
    if (json_is(out->result, JSON_NONE) && json_is(out->error, JSON_NONE)) {
        invalid(out, RPC_INVALID_REQUEST, "a message needs a method, a result or an error");
        return;
    }
    if (!json_is(out->result, JSON_NONE) && !json_is(out->error, JSON_NONE)) {
        invalid(out, RPC_INVALID_REQUEST, "an answer has a result or an error, not both");
        return;
    }
    if (json_is(out->error, JSON_NONE)) {
        out->kind = RPC_RESPONSE;
        if (!out->id.n)
            invalid(out, RPC_INVALID_REQUEST, "a result needs the id of its request");
        return;
    }
    out->kind = RPC_ERROR; /* its id may be null or absent: the peer could not read ours */
    if (!json_is(out->error, JSON_OBJECT))
        invalid(out, RPC_INVALID_REQUEST, "error must be an object");
}

/* Done for each key of each message: by length first. */
static size_t which_member(struct span key)
{
    switch (key.n) {
    case sizeof "id" - 1:
        return span_is(key, "id") ? MEMBER_ID : MEMBERS;
    case sizeof "error" - 1:
        return span_is(key, "error") ? MEMBER_ERROR : MEMBERS;
    case sizeof "method" - 1:
        if (span_is(key, "method"))
            return MEMBER_METHOD;
        if (span_is(key, "params"))
            return MEMBER_PARAMS;
        return span_is(key, "result") ? MEMBER_RESULT : MEMBERS;
    case sizeof "jsonrpc" - 1:
        return span_is(key, "jsonrpc") ? MEMBER_JSONRPC : MEMBERS;
    default:
        return MEMBERS;
    }
}

void rpc_read(struct rpc *out, struct json v, struct arena *arena)
{
    struct json members[MEMBERS];

    *out = (struct rpc){ 0 };
    if (json_is(v, JSON_ARRAY)) {
        out->kind = RPC_BATCH;
        return;
    }
    if (!json_is(v, JSON_OBJECT)) {
        invalid(out, RPC_INVALID_REQUEST, "a message must be an object");
        return;
    }
    json_get_all(v, which_member, MEMBERS, members);
    if (rpc_id_valid(members[MEMBER_ID]))
        out->id = json_text(members[MEMBER_ID]);
    out->answers = json_is(members[MEMBER_METHOD], JSON_NONE);
    if (!json_str_is(members[MEMBER_JSONRPC], "2.0"))
        invalid(out, RPC_INVALID_REQUEST, "jsonrpc must be \"2.0\"");
    else if (out->answers)
        read_answer(out, members);
    else
        read_call(out, members, arena);
}

/* A scan, not a parse: the text is cut off. Depth and strings are followed, so that an "id" inside
 * params or inside a string is not taken for the request's. */
static struct span value_end(struct span s)
{
    size_t n = 0;

    if (s.n && s.p[0] == '"') {
        for (n = 1; n < s.n && s.p[n] != '"'; n++)
            if (s.p[n] == '\\')
                n++;
        return n < s.n ? span_make(s.p, n + 1) : SPAN("");
    }
    while (n < s.n && ((s.p[n] >= '0' && s.p[n] <= '9') || s.p[n] == '-'))
        n++;
    /* It must be seen to end: 12 may go on behind the cut, 1.5 is no id. */
    return n < s.n && strchr(",} \t\r\n", s.p[n]) && s.p[n] ? span_make(s.p, n) : SPAN("");
}

static bool is_id(struct span text)
{
    AUTO_JSON struct json_doc doc = { 0 };

    return json_parse(&doc, text, NULL, NULL) == 0 && rpc_id_valid(json_root(&doc));
}

/* Of what follows a string. */
static bool is_key(struct span rest)
{
    rest = span_trim(rest);
    return rest.n && rest.p[0] == ':';
}

static struct span id_after(struct span rest)
{
    struct span value = value_end(span_trim(span_from(span_trim(rest), 1)));

    return is_id(value) ? value : SPAN("");
}

/* The first id of the message itself, and whether it has a method. */
static struct span peek(struct span head, bool *has_method)
{
    struct span id = SPAN("");
    int depth = 0;

    *has_method = false;
    for (size_t i = 0; i < head.n; i++) {
        char c = head.p[i];

        if (c == '{' || c == '[') {
            depth++;
        } else if (c == '}' || c == ']') {
            depth--;
        } else if (c == '"') {
            struct span string = value_end(span_from(head, i));

            if (!string.n)
                return id;
            i += string.n - 1;
            if (depth != 1 || !is_key(span_from(head, i + 1)))
                continue;
            if (span_is(string, "\"method\""))
                *has_method = true;
            else if (span_is(string, "\"id\"") && !id.n)
                id = id_after(span_from(head, i + 1));
        }
    }
    return id;
}

struct span rpc_id_peek(struct span head)
{
    bool has_method;

    return peek(head, &has_method);
}

struct span rpc_answer_peek(struct span head)
{
    bool has_method;
    struct span id = peek(head, &has_method);

    return has_method ? SPAN("") : id;
}

void rpc_write_result_head(struct buf *out, struct span id)
{
    buf_str(out, "{\"jsonrpc\":\"2.0\",\"id\":");
    buf_add_span(out, id);
    buf_str(out, ",\"result\":");
}

void rpc_write_error(struct buf *out, struct span id, int code, struct span message,
                     struct span data)
{
    struct json_out o = json_out(out);

    json_begin_object(&o, NULL);
    json_put_str(&o, "jsonrpc", "2.0");
    json_put_raw(&o, "id", id.n ? id : SPAN("null"));
    json_begin_object(&o, "error");
    json_put_int(&o, "code", code);
    json_put_span(&o, "message", message);
    json_put_raw(&o, "data", data);
    json_end(&o);
    json_end(&o);
}

void rpc_write_request(struct buf *out, struct span id, const char *method, struct span params)
{
    struct json_out o = json_out(out);

    json_begin_object(&o, NULL);
    json_put_str(&o, "jsonrpc", "2.0");
    json_put_raw(&o, "id", id);
    json_put_str(&o, "method", method);
    json_put_raw(&o, "params", params);
    json_end(&o);
}
