#include "gate.h"

/* clang-format off */
static const struct { enum question_by by; const char *name; } answerers[] = {
    { ASK_CONSOLE, "console" }, { ASK_CLI, "cli" }, { ASK_CLIENT, "client" }, { ASK_WEBHOOK, "webhook" },
};
/* clang-format on */

const char *question_by_name(enum question_by by)
{
    for (size_t i = 0; i < ARRAY_LEN(answerers); i++)
        if (answerers[i].by == by)
            return answerers[i].name;
    return "";
}

bool question_by_parse(struct span word, unsigned *out)
{
    for (size_t i = 0; i < ARRAY_LEN(answerers); i++)
        if (span_is(word, answerers[i].name)) {
            *out = answerers[i].by;
            return true;
        }
    return false;
}

static const char *const choices[] = {
    [CHOICE_ONCE] = "approve", [CHOICE_GRANT] = "grant", [CHOICE_DENY] = "deny"
};
_Static_assert(ARRAY_LEN(choices) == CHOICE_COUNT, "every choice has a name");

const char *question_choice_name(enum question_choice c) { return choices[c]; }

void question_write(struct json_out *o, const char *key, const struct question *q)
{
    json_begin_object(o, key);
    json_put_str(o, "id", q->id);
    json_put_str(o, "kind", q->kind);
    json_put_str(o, "text", q->text);
    json_put_str_opt(o, "reason", q->reason);
    json_put_str_opt(o, "rule", q->rule);
    json_put_str(o, "call", q->uuid);
    json_put_str(o, "server", q->server);
    json_put_str(o, "tool", q->tool);
    json_put_str(o, "method", q->method);
    json_put_str(o, "caller", q->caller);
    json_put_str(o, "run", q->run);
    json_put_str(o, "face", q->face);
    json_put_raw(o, "arguments", span_of(q->arguments));
    json_put_str(o, "digest", q->digest);
    json_begin_array(o, "choices");
    for (unsigned i = 0; i < CHOICE_COUNT; i++)
        json_put_str(o, NULL, choices[i]);
    json_end(o);
    json_begin_array(o, "answer_by");
    for (size_t i = 0; i < ARRAY_LEN(answerers); i++)
        if (q->by & answerers[i].by)
            json_put_str(o, NULL, answerers[i].name);
    json_end(o);
    json_put_seconds(o, "asked_at", q->asked_at);
    json_put_seconds(o, "expires_at", q->expires_at);
    json_end(o);
}
