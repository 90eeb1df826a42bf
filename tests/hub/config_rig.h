/* config_rig.h - what the tests of the config loader share: texts read as files, and an environment
 * of their own. */
#pragma once
#include "hub/config/config.h"
#include "hub/spec/spec.h"
#include "tap.h"

/* "NAME=value", NULL-ended. */
static const char *config_rig_env(void *ctx, const char *name)
{
    for (const char *const *v = ctx; v && *v; v++)
        if (!strncmp(*v, name, strlen(name)) && (*v)[strlen(name)] == '=')
            return *v + strlen(name) + 1;
    return NULL;
}

static inline struct config_request config_rig_request(const char *const *env)
{
    return (struct config_request){ .env = config_rig_env, .env_ctx = (void *)(uintptr_t)env };
}

static inline int config_rig_try(struct config **out, const char *text, const char *const *env,
                                 struct pb_error *err)
{
    AUTO(config) struct config *c = config_new();
    struct config_request r = config_rig_request(env);
    int rc = config_parse(c, "f.json", span_of(text), &r, err);

    if (rc == 0)
        *out = TAKE(c);
    return rc;
}

static inline struct config *config_rig_parse(const char *text, const char *const *env)
{
    struct config *c = NULL;
    struct pb_error err = { 0 };

    if (config_rig_try(&c, text, env, &err) < 0 || !c)
        TAP_FAIL("%s: %s", text, err.msg);
    return c;
}

static inline const struct spec *config_rig_spec(const struct config *c, const char *name)
{
    const struct spec *s = map_get(&c->specs, span_of(name));

    if (!s)
        TAP_FAIL("there is no server %s", name);
    return s;
}

struct config_rig_refusal {
    const char *text, *why; /* the whole message */
};

static inline void config_rig_refused(const struct config_rig_refusal *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct config *c = NULL;
        struct pb_error err = { 0 };

        if (config_rig_try(&c, cases[i].text, NULL, &err) != -PB_E_INVALID)
            TAP_FAIL("%s is accepted", cases[i].text);
        CHECK_STR(err.msg, cases[i].why);
    }
}

/* All warnings, one a line. */
static inline const char *config_rig_warnings(struct buf *out, const struct config *c)
{
    out->n = 0;
    for (size_t i = 0; i < c->n_warnings; i++)
        buf_printf(out, "%s%s", i ? "\n" : "", c->warnings[i]);
    return buf_cstr(out);
}
