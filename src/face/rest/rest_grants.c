/* rest_grants.c - what people have allowed for a while, or until they take it back. */
#include "gate/gate.h"
#include "io/http/http.h"
#include "rest_impl.h"

void rest_grants(struct rest_call *c)
{
    AUTO_BUF struct buf body = { 0 };
    struct json_out o = json_out(&body);

    json_begin_object(&o, NULL);
    grants_members(&o, gate_grants(c->rest->gate));
    json_end(&o);
    rest_reply(c->r, 200, &body);
}

/* A name that cannot be typed is not meant. False: refused and answered. */
static bool check_name(struct rest_call *c, const char *key)
{
    const char *text = rest_text(c, key);
    size_t n = strlen(text);

    for (size_t i = 0; i < n; i++)
        if ((unsigned char)text[i] < ' ')
            n = 0;
    if (n && n <= GRANT_TEXT_MAX)
        return true;
    rest_refuse(c->r, "%s: expected 1 to %d bytes, without control characters", key,
                GRANT_TEXT_MAX);
    return false;
}

/* False: refused and answered. */
static bool read_time(struct rest_call *c, uint64_t *ms)
{
    const struct rest_value *seconds = rest_value(c, "seconds"), *text = rest_value(c, "duration");

    *ms = 0;
    if (seconds->given && text->given)
        rest_refuse(c->r, "seconds and duration say the same: expected one of them");
    else if (seconds->given && !(seconds->number >= 0.001 && seconds->number <= GRANT_MAX_S))
        rest_refuse(c->r, "seconds: expected 0.001 to %d", GRANT_MAX_S);
    else if (text->given && (!duration_parse(span_of(text->text), ms) || !*ms))
        rest_refuse(c->r, "duration: expected a time such as 5m or 1h30m, got '%.*s'",
                    MCP_NAME_SHOWN_MAX, text->text);
    else {
        if (seconds->given)
            *ms = (uint64_t)(seconds->number * 1000);
        return true;
    }
    return false;
}

void rest_grants_add(struct rest_call *c)
{
    AUTO_BUF struct buf body = { 0 };
    struct json_out o = json_out(&body);
    const struct grant *one;
    struct pb_error err;
    uint64_t ms;

    if (!check_name(c, "conversation") || !check_name(c, "operation") || !read_time(c, &ms))
        return;
    if (grants_add(gate_grants(c->rest->gate), rest_text(c, "conversation"),
                   rest_text(c, "operation"), ms, rest_yes(c, "once"), ASK_CONSOLE, &one,
                   &err) < 0) {
        rest_fail_hub(c->r, &err, NULL, NULL);
        return;
    }
    grant_write(&o, one);
    rest_reply(c->r, 201, &body);
}

void rest_grant_revoke(struct rest_call *c)
{
    const char *id = rest_text(c, "id");

    if (grants_revoke(gate_grants(c->rest->gate), id))
        rest_reply_ok(c->r);
    else
        rest_fail(c->r,
                  &(struct rest_failure){ 404, "grant_not_found", "id", span_of(id),
                                          .message = "There is no such grant, or it is over" });
}

void rest_grants_revoke(struct rest_call *c)
{
    AUTO_BUF struct buf body = { 0 };
    struct json_out o = json_out(&body);

    json_begin_object(&o, NULL);
    json_put_str(&o, "status", "ok");
    json_put_uint(&o, "revoked",
                  grants_revoke_all(gate_grants(c->rest->gate), rest_text(c, "conversation")));
    json_end(&o);
    rest_reply(c->r, 200, &body);
}

void rest_auto_approve(struct rest_call *c)
{
    struct pb_error err;

    if (!check_name(c, "conversation"))
        return;
    if (grants_set_auto(gate_grants(c->rest->gate), rest_text(c, "conversation"), rest_yes(c, "on"),
                        ASK_CONSOLE, &err) < 0)
        rest_fail(c->r, &(struct rest_failure){ 503, "busy", .message = err.msg,
                                                .next = "switch it off for some" });
    else
        rest_reply_ok(c->r);
}
