/* fuzz_policy.c - rules and arguments that anybody may have written: the first line is a policy,
 * the rest the arguments of a call. What decides against the call concerns its tool, and the same
 * rules decide the same again. */
#include "gate/gate.h"
#include "json/json.h"
#include <stdint.h>

static void decide(const struct policy *p, struct span arguments)
{
    struct policy_subject s = { .method = "tools/call",
                                .server = "s",
                                .tool = SPAN("t"),
                                .client = "c",
                                .annotations = policy_annotations(SPAN("")),
                                .arguments = arguments,
                                .now_ms = 1763300000000 };
    struct policy_verdict v, again;

    for (s.face = 0; s.face < FACE_COUNT; s.face++) {
        policy_decide(p, &s, &v);
        policy_decide(p, &s, &again);
        if (v.action != again.action || v.rule != again.rule ||
            (v.action != POLICY_ALLOW && !policy_concerns(p, &s)))
            __builtin_trap();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct span all = span_make((const char *)data, size);
    const char *line = size ? memchr(data, '\n', size) : NULL;
    struct span rules = line ? span_make(all.p, (size_t)(line - all.p)) : all;
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO(policy) struct policy *p = NULL, *twin = NULL;
    struct pb_error err;

    if (json_parse(&doc, rules, NULL, NULL) < 0 || policy_parse(&p, json_root(&doc), &err) < 0)
        return 0;
    if (policy_parse(&twin, json_root(&doc), &err) < 0 ||
        strcmp(policy_version(p), policy_version(twin)) != 0)
        __builtin_trap();
    decide(p, line ? span_from(all, rules.n + 1) : SPAN(""));
    return 0;
}
