#include "calls.h"
#include "when.h"

/* ---- bytes ---------------------------------------------------------------------------------- */

/* Of the request under way. A piece comes on the client's thread, the rest with the answer. */
static struct {
    calls_take_fn *take;
    void *ctx;
    bool wrong;
} taking;

static void take_from(struct span object)
{
    static const struct json_opts shallow = { .keep_depth = 1 };
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_ARENA struct arena a = { 0 };
    AUTO_BUF struct buf decoded = { 0 };
    struct json text, coded;

    if (json_parse(&doc, object, &shallow, NULL) < 0) {
        taking.wrong = true;
        return;
    }
    text = json_get(json_root(&doc), "text");
    coded = json_get(json_root(&doc), "base64");
    if (json_is(text, JSON_STRING))
        taking.take(taking.ctx, json_str(text, &a));
    else if (json_is(coded, JSON_STRING) && base64_decode(&decoded, json_str(coded, &a)))
        taking.take(taking.ctx, buf_span(&decoded));
    else if (!json_is(coded, JSON_NONE))
        taking.wrong = true;
}

static void on_piece(const char *method, const char *params)
{
    if (strcmp(method, "notifications/patchbay/piece") == 0)
        take_from(span_of(params));
}

int calls_ask_bytes(struct reach *s, const char *method, const char *params, calls_take_fn *take,
                    void *ctx, struct pb_result **result, struct pb_error *err)
{
    const char *answer;
    size_t n;
    int rc;

    taking.take = take;
    taking.ctx = ctx;
    taking.wrong = false;
    reach_listen(s, on_piece);
    rc = reach_request(s, method, params, result, err);
    reach_listen(s, NULL);
    if (rc < 0)
        return rc;
    answer = pb_result_json(*result, &n);
    take_from(span_make(answer, n));
    return taking.wrong ? fail(err, PB_E_INVALID, "the daemon's answer cannot be read") : 0;
}

static void keep_bytes(void *ctx, struct span bytes) { buf_add_span(ctx, bytes); }

int calls_object(struct reach *s, const char *cid, struct buf *out, struct pb_error *err)
{
    AUTO_FREE char *params = reach_params("id", cid);
    struct pb_result *result = NULL;
    int rc = calls_ask_bytes(s, "patchbay/object", params, keep_bytes, out, &result, err);

    pb_result_free(result);
    return rc;
}

/* ---- JSON over several lines ---------------------------------------------------------------- */

static void indent(struct buf *out, int depth)
{
    buf_byte(out, '\n');
    for (int i = 0; i < depth; i++)
        buf_str(out, "  ");
}

static void lay_out(struct buf *out, struct json v, int depth)
{
    bool object = json_is(v, JSON_OBJECT), first = true;

    if ((!object && !json_is(v, JSON_ARRAY)) || json_len(v) == 0) {
        buf_add_span(out, json_text(v));
        return;
    }
    buf_byte(out, object ? '{' : '[');
    JSON_FOREACH(child, v) {
        buf_str(out, first ? "" : ",");
        first = false;
        indent(out, depth + 1);
        if (object) {
            buf_byte(out, '"');
            buf_add_span(out, json_key(child));
            buf_str(out, "\": ");
        }
        lay_out(out, child, depth + 1);
    }
    indent(out, depth);
    buf_byte(out, object ? '}' : ']');
}

static void print_bytes(struct span bytes)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_BUF struct buf out = { 0 };

    if (json_parse(&doc, bytes, NULL, NULL) == 0) {
        buf_str(&out, "  ");
        lay_out(&out, json_root(&doc), 1);
        show_json(buf_cstr(&out));
    } else {
        buf_add_span(&out, bytes);
        show_text((char *)(uintptr_t)buf_cstr(&out));
    }
}

/* ---- one call ------------------------------------------------------------------------------- */

static void print_pair(const char *label, const char *value)
{
    if (*value)
        printf("%-12s %s\n", label, value);
}

static void print_time(const char *label, struct json call, const char *key)
{
    AUTO_BUF struct buf text = { 0 };
    double at;

    if (json_double(json_get(call, key), &at, NULL) < 0)
        return;
    when_text(&text, at);
    print_pair(label, buf_cstr(&text));
}

static void print_redacted(struct json places, struct arena *a)
{
    JSON_FOREACH(p, places) {
        const char *in = show_member(p, "in", a), *at = show_member(p, "at", a);

        printf("%-12s %s%s%s\n", "hidden", in, *at ? " at " : "", at);
    }
}

static void print_facts(struct json call)
{
    static const struct {
        const char *label, *key;
    } rows[] = {
        { "why", "note" },          { "caller", "caller" },
        { "through", "face" },      { "answered by", "source" },
        { "run", "run" },           { "conversation", "conversation" },
        { "continues", "parent" },  { "rule", "rule" },
        { "question", "question" }, { "decided by", "answered_by" },
        { "trace", "traceparent" }, { "process", "process_key" },
    };
    AUTO_ARENA struct arena a = { 0 };
    const char *status = show_member(call, "status", &a);
    enum show_color color;
    const char *sign = calls_sign(status, &color);

    printf("%s%s%s %s  %s\n", show_on(color), sign, show_off(), calls_what(call, &a), status);
    print_pair("id", show_member(call, "id", &a));
    printf("%-12s %.*s\n", "number", SPAN_ARG(json_text(json_get(call, "no"))));
    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        print_pair(rows[i].label, show_member(call, rows[i].key, &a));
    print_time("asked", call, "queued_at");
    print_time("started", call, "started_at");
    print_time("ended", call, "ended_at");
    print_pair("took", calls_took(call, &a));
    print_redacted(json_get(call, "redacted"), &a);
    print_pair("definition", show_member(call, "definition_cid", &a));
}

/* Its bytes below its cid; or why they are not there. */
static void print_object(struct reach *s, const char *label, struct json call, const char *key)
{
    AUTO_ARENA struct arena a = { 0 };
    AUTO_BUF struct buf bytes = { 0 };
    const char *cid = show_member(call, key, &a);
    struct pb_error err;

    if (!*cid)
        return;
    print_pair(label, cid);
    if (calls_object(s, cid, &bytes, &err) < 0)
        printf("  (%s)\n", err.msg);
    else
        print_bytes(buf_span(&bytes));
}

/* As an export has it. */
static void put_object(struct json_out *o, struct reach *s, const char *key, struct json cid)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_ARENA struct arena a = { 0 };
    AUTO_BUF struct buf bytes = { 0 };

    if (!json_is(cid, JSON_STRING) ||
        calls_object(s, arena_dup(&a, json_str(cid, &a)), &bytes, NULL) < 0)
        return;
    if (json_parse(&doc, buf_span(&bytes), &(struct json_opts){ .keep_depth = 1 }, NULL) == 0)
        json_put_raw(o, key, buf_span(&bytes));
    else
        json_put_span(o, key, buf_span(&bytes));
}

static void print_json(struct reach *s, struct json call)
{
    AUTO_ARENA struct arena a = { 0 };
    AUTO_BUF struct buf out = { 0 };
    struct json_out o = json_out(&out);

    json_begin_object(&o, NULL);
    JSON_FOREACH(m, call)
        json_put_raw_key(&o, json_key_str(m, &a), json_text(m));
    put_object(&o, s, "arguments", json_get(call, "arguments_cid"));
    put_object(&o, s, "result", json_get(call, "result_cid"));
    json_end(&o);
    show_json(buf_cstr(&out));
}

int calls_show(const struct cli *cli)
{
    AUTO(reach) struct reach *s = NULL;
    AUTO_FREE char *params = reach_params("id", cli->args[1]);
    AUTO_JSON struct json_doc doc = { 0 };
    struct pb_result *result = NULL;
    struct pb_error err;
    int status = records_reach(&s, cli);

    if (status != CLI_OK)
        return status;
    if (!s)
        return talk_fail(FAILURE_NOT_FOUND, "there is no recorded call '%s'", cli->args[1]);
    if (reach_ask(s, "patchbay/record", params, &result, &doc, &err) < 0) {
        status = reach_fail(&err);
    } else if (cli_option(cli, "json")) {
        print_json(s, json_root(&doc));
    } else {
        print_facts(json_root(&doc));
        print_object(s, "arguments", json_root(&doc), "arguments_cid");
        print_object(s, "result", json_root(&doc), "result_cid");
    }
    pb_result_free(result);
    return status;
}
