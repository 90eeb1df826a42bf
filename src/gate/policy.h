/* policy.h - rules about calls. Of a list the first that applies decides; when none does, what is
 * usual for the face the call came through. Immutable once read, and shared by reference.
 *
 *     "policy": {
 *       "default": { "mcp_server": "allow", "agent": "ask" },
 *       "rules": [
 *         { "action": "ask", "server": "filesystem", "tool": "write_*" },
 *         { "action": "deny", "annotation": "destructive", "caller": "Cursor*",
 *           "arguments": [ { "at": "/path", "glob": "/etc*" } ], "reason": "not there" }
 *       ]
 *     }
 *
 * What a rule may say, all of which must hold:
 *
 *     action       "allow", "ask" or "deny"
 *     name         what it is called in questions and records; else its number, from 1
 *     server tool  globs of names, or lists of them; without `tool` it is for all that is asked of
 *                  the server, also resources and prompts
 *     method       glob of "tools/call", "resources/read", "prompts/get", "completion/complete"
 *     caller       glob of what the client calls itself
 *     face         "mcp_server", "rest", "cli", "agent"
 *     mode         glob of the mode that the caller uses
 *     annotation   "read_only", "destructive", "idempotent", "open_world", or with "!" before it;
 * or a list. What a tool does not say is taken as the protocol has it: not read only, destructive,
 * not idempotent, open world arguments    conditions on places of the arguments: "at", a JSON
 * pointer in which "*" is every element or member, and one of "glob", "regex", "equals", "present"
 *     when         { "from": "22:00", "to": "06:00", "days": ["sat", "sun"] }, local time
 *     reason       what people are told
 *     answer_by    who may answer: "console", "cli", "client", "webhook", or a list; else all
 *     ask_s        how long a question waits
 *
 * Of a resource `tool` is its URI, held against it as it was sent and as a server may take it: one
 * is enough for a rule that asks or denies, both must fit one that allows.
 *
 * A condition that cannot be decided (a pattern that takes too long) counts against the call: it
 * holds in a rule that asks or denies, and does not in one that allows. */
#pragma once
#include "hub/catalog/catalog.h"
#include "json/json.h"

struct policy;

enum policy_action { POLICY_ALLOW, POLICY_ASK, POLICY_DENY, POLICY_ACTIONS };
const char *policy_action_name(enum policy_action a); /* "allow", "ask", "deny" */

/* `v` is fully taped, the value of "policy". -PB_E_INVALID says where and what is wrong:
 * "rules[2].action: expected …". -PB_E_LIMIT past POLICY_RULES_MAX or the bounds of patterns. */
MUST_CHECK int policy_parse(struct policy **out, struct json v, struct pb_error *err);
/* No rules: what is usual. */
struct policy *policy_new(void);
struct policy *policy_ref(const struct policy *p);
void policy_unref(struct policy *p);
AUTO_DEFINE(policy, policy_unref)
/* Differs when the rules do. Hex. */
const char *policy_version(const struct policy *p);
size_t policy_rules(const struct policy *p);
/* As it was read. */
struct span policy_text(const struct policy *p);

/* What is decided about. */
struct policy_subject {
    const char *method;
    const char *server; /* NULL: a built-in */
    struct span tool;   /* or URI, or prompt */
    const char *client, *mode;
    unsigned face;         /* enum order_face */
    unsigned annotations;  /* policy_annotations() of the tool */
    struct span arguments; /* JSON; empty: none */
    int64_t now_ms;        /* wall clock */
};
/* What a tool's definition says about it, for rules; empty: it is not known, and nothing is said.
 */
unsigned policy_annotations(struct span definition);
struct policy_verdict {
    enum policy_action action;
    const char *rule;   /* its name; NULL: none applied */
    const char *reason; /* may be NULL */
    unsigned by;        /* enum question_by */
    uint64_t ask_ms;    /* 0: as usual */
};
/* Whether a rule could apply to some call of this tool by anybody, or what is usual is not to
 * allow: to be asked once for a tool, not for each call. */
bool policy_concerns(const struct policy *p, const struct policy_subject *s);
void policy_decide(const struct policy *p, const struct policy_subject *s,
                   struct policy_verdict *out);
