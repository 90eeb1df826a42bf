#include "policy_impl.h"
#include <stdio.h>

static const char *const action_names[] = {
    [POLICY_ALLOW] = "allow", [POLICY_ASK] = "ask", [POLICY_DENY] = "deny"
};
_Static_assert(ARRAY_LEN(action_names) == POLICY_ACTIONS, "every action has a name");

const char *policy_action_name(enum policy_action a) { return action_names[a]; }

static bool action_parse(struct json v, enum policy_action *out)
{
    for (unsigned i = 0; i < POLICY_ACTIONS; i++)
        if (json_str_is(v, action_names[i])) {
            *out = (enum policy_action)i;
            return true;
        }
    return false;
}

/* ---- one rule ---- */

struct rule_reading {
    struct policy *p;
    struct rule *r;
    size_t pattern_bytes;
    struct pb_error *err;
};

/* A word or a list of them, NULL-ended. */
static const char *const *read_words(struct rule_reading *rd, struct json v)
{
    size_t n = json_is(v, JSON_ARRAY) ? json_len(v) : 1, at = 0;
    const char **words = arena_alloc(&rd->p->arena, (n + 1) * sizeof *words);

    if (json_is(v, JSON_ARRAY)) {
        JSON_FOREACH(one, v)
            if (!(words[at++] = json_cstr(one, &rd->p->arena)))
                return NULL;
    } else if (!(words[at++] = json_cstr(v, &rd->p->arena))) {
        return NULL;
    }
    words[at] = NULL;
    return at ? words : NULL;
}

static int read_globs(struct rule_reading *rd, struct json v, const char *const **out)
{
    *out = read_words(rd, v);
    return *out ? 0
                : fail(rd->err, PB_E_INVALID, "expected a string or a list of strings, got %s",
                       json_type_phrase(v));
}

static int read_action(struct rule_reading *rd, struct json v)
{
    return action_parse(v, &rd->r->action)
               ? 0
               : fail(rd->err, PB_E_INVALID, "expected \"allow\", \"ask\" or \"deny\", got %.*s",
                      SPAN_ARG(json_text(v)));
}

static int read_text(struct rule_reading *rd, struct json v, const char **out)
{
    *out = json_cstr(v, &rd->p->arena);
    return *out ? 0 : fail(rd->err, PB_E_INVALID, "expected a string, got %s", json_type_phrase(v));
}

static int read_name(struct rule_reading *rd, struct json v)
{
    return read_text(rd, v, &rd->r->name);
}
static int read_reason(struct rule_reading *rd, struct json v)
{
    return read_text(rd, v, &rd->r->reason);
}
static int read_server(struct rule_reading *rd, struct json v)
{
    return read_globs(rd, v, &rd->r->servers);
}
static int read_tool(struct rule_reading *rd, struct json v)
{
    int rc = read_globs(rd, v, &rd->r->tools);
    const char **uris;
    size_t n = 0;

    if (rc < 0)
        return rc;
    while (rd->r->tools[n])
        n++;
    uris = arena_alloc(&rd->p->arena, (n + 1) * sizeof *uris);
    for (size_t i = 0; i < n; i++)
        uris[i] = uri_glob(&rd->p->arena, rd->r->tools[i]);
    uris[n] = NULL;
    rd->r->uris = uris;
    return 0;
}
/* One that is misspelt would never apply. */
static bool is_method_glob(const char *glob)
{
    static const char *const methods[] = { "tools/call", "resources/read", "prompts/get",
                                           "completion/complete" };

    for (size_t i = 0; i < ARRAY_LEN(methods); i++)
        if (glob_match(glob, span_of(methods[i])))
            return true;
    return false;
}

static int read_method(struct rule_reading *rd, struct json v)
{
    int rc = read_globs(rd, v, &rd->r->methods);

    for (const char *const *m = rd->r->methods; rc == 0 && *m; m++)
        if (!is_method_glob(*m))
            rc = fail(rd->err, PB_E_INVALID,
                      "expected \"tools/call\", \"resources/read\", \"prompts/get\" or "
                      "\"completion/complete\", got \"%s\"",
                      *m);
    return rc;
}
static int read_caller(struct rule_reading *rd, struct json v)
{
    return read_globs(rd, v, &rd->r->callers);
}
static int read_mode(struct rule_reading *rd, struct json v)
{
    return read_globs(rd, v, &rd->r->modes);
}

static bool face_parse(struct span word, unsigned *bit)
{
    for (unsigned i = 0; i < FACE_COUNT; i++)
        if (span_is(word, order_face_name((enum order_face)i))) {
            *bit = 1U << i;
            return true;
        }
    return false;
}

static int read_face(struct rule_reading *rd, struct json v)
{
    const char *const *words = read_words(rd, v);
    unsigned bit = 0;

    for (; words && *words; words++) {
        if (!face_parse(span_of(*words), &bit))
            words = NULL;
        if (!words)
            break;
        rd->r->faces |= bit;
    }
    return words ? 0
                 : fail(rd->err, PB_E_INVALID,
                        "expected \"mcp_server\", \"rest\", \"cli\" or \"agent\", or a list of "
                        "them, got %.*s",
                        SPAN_ARG(json_text(v)));
}

static int read_annotation(struct rule_reading *rd, struct json v)
{
    const char *const *words = read_words(rd, v);
    int rc = 0;

    if (!words)
        return fail(rd->err, PB_E_INVALID, "expected a string or a list of strings, got %s",
                    json_type_phrase(v));
    for (; *words && rc == 0; words++)
        rc = annotation_read(rd->r, span_of(*words), rd->err);
    return rc;
}

static int read_arguments(struct rule_reading *rd, struct json v)
{
    size_t i = 0;

    if (!json_is(v, JSON_ARRAY))
        return fail(rd->err, PB_E_INVALID, "expected a list of conditions, got %s",
                    json_type_phrase(v));
    if (json_len(v) > POLICY_CONDITIONS_MAX)
        return fail(rd->err, PB_E_LIMIT, "there are more than %d conditions",
                    POLICY_CONDITIONS_MAX);
    rd->r->args = mem_zero((json_len(v) + 1) * sizeof *rd->r->args);
    rd->r->n_args = json_len(v);
    JSON_FOREACH(one, v) {
        if (arg_condition_read(&rd->r->args[i], one, &rd->p->arena, &rd->pattern_bytes, rd->err) <
            0)
            return fail_in(rd->err, "[%zu]", i);
        i++;
    }
    return 0;
}

static int read_when(struct rule_reading *rd, struct json v)
{
    return time_of_day_read(&rd->r->when, v, rd->err);
}

static int read_answer_by(struct rule_reading *rd, struct json v)
{
    const char *const *words = read_words(rd, v);
    unsigned by = 0;

    for (; words && *words; words++) {
        unsigned bit;

        if (!question_by_parse(span_of(*words), &bit))
            words = NULL;
        if (!words)
            break;
        by |= bit;
    }
    rd->r->by = by;
    return words ? 0
                 : fail(rd->err, PB_E_INVALID,
                        "expected \"console\", \"cli\", \"client\" or \"webhook\", or a list of "
                        "them, got %.*s",
                        SPAN_ARG(json_text(v)));
}

static int read_ask_s(struct rule_reading *rd, struct json v)
{
    double s = 0;

    if (json_double(v, &s, NULL) < 0 || s < 1 || s > GATE_ASK_MAX_MS / 1000.0)
        return fail(rd->err, PB_E_INVALID, "expected seconds from 1 to %d, got %.*s",
                    GATE_ASK_MAX_MS / 1000, SPAN_ARG(json_text(v)));
    rd->r->ask_ms = (uint64_t)(s * 1000);
    return 0;
}

/* clang-format off */
static const struct rule_member {
    const char *name;
    int (*read)(struct rule_reading *rd, struct json v);
} members[] = {
    { "action", read_action },       { "annotation", read_annotation }, { "answer_by", read_answer_by },
    { "arguments", read_arguments }, { "ask_s", read_ask_s },           { "caller", read_caller },
    { "face", read_face },           { "method", read_method },         { "mode", read_mode },
    { "name", read_name },           { "reason", read_reason },         { "server", read_server },
    { "tool", read_tool },           { "when", read_when },
};
/* clang-format on */

/* A misspelt condition that was passed over would widen what the rule is for. */
static const struct rule_member *member_named(struct json m)
{
    for (size_t i = 0; i < ARRAY_LEN(members); i++)
        if (json_key_is(m, members[i].name))
            return &members[i];
    return NULL;
}

static int read_rule(struct rule_reading *rd, struct json v, size_t i)
{
    bool acts = false;

    rd->r = &rd->p->rules[i];
    rd->r->by = ASK_ANYBODY;
    rd->p->n = i + 1;
    if (!json_is(v, JSON_OBJECT))
        return fail(rd->err, PB_E_INVALID, "rules[%zu]: expected an object, got %s", i,
                    json_type_phrase(v));
    JSON_FOREACH(m, v) {
        const struct rule_member *row = member_named(m);

        if (!row)
            return fail(rd->err, PB_E_INVALID,
                        "rules[%zu].%.*s: there is no such condition; 'patchbay help policy' "
                        "shows them",
                        i, SPAN_ARG(json_key(m)));
        if (row->read(rd, m) < 0)
            return fail_in(rd->err, "rules[%zu].%s", i, row->name);
        acts |= row->read == read_action;
    }
    if (!acts)
        return fail(rd->err, PB_E_INVALID,
                    "rules[%zu]: expected \"action\": \"allow\", \"ask\" or \"deny\"", i);
    if (!rd->r->name) {
        char number[24];

        snprintf(number, sizeof number, "%zu", i + 1);
        rd->r->name = arena_dup(&rd->p->arena, span_of(number));
    }
    return 0;
}

/* ---- all of them ---- */

static int read_usual(struct policy *p, struct json v, struct pb_error *err)
{
    if (!json_is(v, JSON_OBJECT))
        return fail(err, PB_E_INVALID, "default: expected an object, got %s", json_type_phrase(v));
    JSON_FOREACH(m, v) {
        AUTO_ARENA struct arena a = { 0 };
        unsigned bit = 0;

        if (!face_parse(json_key_str(m, &a), &bit))
            return fail(err, PB_E_INVALID,
                        "default.%.*s: expected \"mcp_server\", \"rest\", \"cli\" or \"agent\"",
                        SPAN_ARG(json_key(m)));
        if (!action_parse(m, &p->usual[__builtin_ctz(bit)]))
            return fail(err, PB_E_INVALID,
                        "default.%.*s: expected \"allow\", \"ask\" or \"deny\", got %.*s",
                        SPAN_ARG(json_key(m)), SPAN_ARG(json_text(m)));
    }
    return 0;
}

static int read_rules(struct policy *p, struct json v, struct pb_error *err)
{
    struct rule_reading rd = { .p = p, .err = err };
    size_t i = 0;

    if (!json_is(v, JSON_ARRAY))
        return fail(err, PB_E_INVALID, "rules: expected a list, got %s", json_type_phrase(v));
    if (json_len(v) > POLICY_RULES_MAX)
        return fail(err, PB_E_LIMIT, "rules: there are more than %d", POLICY_RULES_MAX);
    p->rules = mem_zero((json_len(v) + 1) * sizeof *p->rules);
    JSON_FOREACH(one, v) {
        int rc = read_rule(&rd, one, i++);

        if (rc < 0)
            return rc;
    }
    return 0;
}

static void set_version(struct policy *p, struct json v)
{
    AUTO_BUF struct buf text = { 0 };
    uint8_t digest[SHA256_BYTES];

    json_canonical(&text, v);
    sha256(buf_span(&text), digest);
    for (size_t i = 0; i < 8; i++)
        snprintf(p->version + 2 * i, 3, "%02x", digest[i]);
}

static int read_all(struct policy *p, struct json v, struct pb_error *err)
{
    if (!json_is(v, JSON_OBJECT))
        return fail(err, PB_E_INVALID, "expected an object, got %s", json_type_phrase(v));
    JSON_FOREACH(m, v) {
        int rc = json_key_is(m, "default") ? read_usual(p, m, err)
                 : json_key_is(m, "rules")
                     ? read_rules(p, m, err)
                     : fail(err, PB_E_INVALID, "%.*s: there are only \"default\" and \"rules\"",
                            SPAN_ARG(json_key(m)));

        if (rc < 0)
            return rc;
    }
    return 0;
}

int policy_parse(struct policy **out, struct json v, struct pb_error *err)
{
    AUTO(policy) struct policy *p = policy_new();
    struct span text = json_text(v);
    int rc = json_parse(&p->doc, span_make(arena_dup(&p->arena, text), text.n),
                        &(struct json_opts){ .unique_depth = JSON_ALL }, err);

    if (rc == 0)
        rc = read_all(p, json_root(&p->doc), err);
    if (rc < 0)
        return rc;
    set_version(p, json_root(&p->doc));
    *out = TAKE(p);
    return 0;
}

struct policy *policy_new(void)
{
    struct policy *p = NEW(struct policy);

    p->refs = 1;
    p->usual[FACE_AGENT] = POLICY_ASK;
    snprintf(p->version, sizeof p->version, "none");
    return p;
}

struct policy *policy_ref(const struct policy *p)
{
    ((struct policy *)p)->refs++;
    return (struct policy *)p;
}

void policy_unref(struct policy *p)
{
    if (!p || --p->refs)
        return;
    for (size_t i = 0; i < p->n; i++) {
        for (size_t k = 0; k < p->rules[i].n_args; k++)
            arg_condition_done(&p->rules[i].args[k]);
        free(p->rules[i].args);
    }
    free(p->rules);
    json_doc_done(&p->doc);
    arena_done(&p->arena);
    free(p);
}

const char *policy_version(const struct policy *p) { return p->version; }
size_t policy_rules(const struct policy *p) { return p->n; }

struct span policy_text(const struct policy *p)
{
    return p->doc.n ? json_text(json_root(&p->doc)) : SPAN("{}");
}
