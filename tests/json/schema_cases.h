/* schema_cases.h - tables of (schema, value, verdict) for the tests of the schema checker. So that
 * the tables can be read, ' stands for " in schemas and values. */
#pragma once
#include "tap.h"
#include "json/json.h"

struct schema_case {
    const char *schema, *value;
    const char *want; /* the text of the failure; NULL: it is satisfied */
};

static inline char *with_quotes(const char *s)
{
    char *text = mem_dup(s);

    for (char *p = text; (p = strchr(p, '\'')) != NULL; p++)
        *p = '"';
    return text;
}

/* The verdict on one case, and its text in *err. -1000: the schema or the value is unusable. */
static inline int verdict_on(const char *schema, const char *value, struct pb_error *err)
{
    AUTO_FREE char *schema_text = with_quotes(schema);
    AUTO_FREE char *value_text = with_quotes(value);
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO(schema) struct schema *s = NULL;

    err->msg[0] = '\0';
    if (schema_compile(&s, span_of(schema_text), err) < 0 ||
        json_parse(&doc, span_of(value_text), NULL, err) < 0)
        return -1000;
    return schema_check(s, json_root(&doc), err);
}

static inline void run_cases(const struct schema_case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const struct schema_case *x = &cases[i];
        struct pb_error err;
        int rc = verdict_on(x->schema, x->value, &err);

        if (rc != (x->want ? -PB_E_INVALID : 0) || strcmp(err.msg, x->want ? x->want : ""))
            TAP_FAIL("%s on %s: %d \"%s\", expected \"%s\"", x->schema, x->value, rc, err.msg,
                     x->want ? x->want : "");
    }
}

#define RUN_CASES(cases) run_cases(cases, ARRAY_LEN(cases))

/* Schemas that are refused, with the text. */
static inline void run_refusals(const struct schema_case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        AUTO_FREE char *text = with_quotes(cases[i].schema);
        struct schema *s = NULL;
        struct pb_error err = { 0 };
        int rc = schema_compile(&s, span_of(text), &err);

        schema_free(s);
        if (rc != -PB_E_INVALID || strcmp(err.msg, cases[i].want))
            TAP_FAIL("%s: %d \"%s\", expected \"%s\"", cases[i].schema, rc, err.msg, cases[i].want);
    }
}

#define RUN_REFUSALS(cases) run_refusals(cases, ARRAY_LEN(cases))
