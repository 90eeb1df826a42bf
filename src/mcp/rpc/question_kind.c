#include "rpc.h"

/* clang-format off */
static const char *const methods[QUESTION_KINDS] = {
    [QUESTION_FORM]        = "elicitation/create",
    [QUESTION_URL]         = "elicitation/create",
    [QUESTION_MODEL]       = "sampling/createMessage",
    [QUESTION_MODEL_TOOLS] = "sampling/createMessage",
    [QUESTION_ROOTS]       = "roots/list",
};
/* clang-format on */

const char *question_method(enum question_kind kind) { return methods[kind]; }

unsigned question_kinds_of(struct span method)
{
    unsigned bits = 0;

    for (unsigned i = 0; i < QUESTION_KINDS; i++)
        bits |= span_is(method, methods[i]) ? 1U << i : 0;
    return bits;
}

static enum question_kind elicitation_kind(struct json params)
{
    struct json mode = json_get(params, "mode");

    if (json_is(mode, JSON_NONE) || json_str_is(mode, "form"))
        return QUESTION_FORM;
    return json_str_is(mode, "url") ? QUESTION_URL : QUESTION_KINDS;
}

enum question_kind question_kind_of(struct span method, struct json params)
{
    if (span_is(method, methods[QUESTION_ROOTS]))
        return QUESTION_ROOTS;
    if (span_is(method, methods[QUESTION_FORM]))
        return elicitation_kind(params);
    if (!span_is(method, methods[QUESTION_MODEL]))
        return QUESTION_KINDS;
    if (json_is(json_get(params, "tools"), JSON_NONE) &&
        json_is(json_get(params, "toolChoice"), JSON_NONE))
        return QUESTION_MODEL;
    return QUESTION_MODEL_TOOLS;
}
