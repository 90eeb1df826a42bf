/* config_kit.h - what the tests of the config loader share: texts read as files, an environment of
 * their own, files in a directory of their own. */
#pragma once
#include "hub/config/config.h"
#include "hub/spec/spec.h"
#include "tap.h"
#include <sys/stat.h>

/* "NAME=value", NULL-ended. */
static const char *kit_env(void *ctx, const char *name)
{
    for (const char *const *v = ctx; v && *v; v++)
        if (!strncmp(*v, name, strlen(name)) && (*v)[strlen(name)] == '=')
            return *v + strlen(name) + 1;
    return NULL;
}

static inline struct config_request kit_request(const char *const *env)
{
    return (struct config_request){ .env = kit_env, .env_ctx = (void *)(uintptr_t)env };
}

static inline int kit_try(struct config **out, const char *text, const char *const *env,
                          struct pb_error *err)
{
    AUTO(config) struct config *c = config_new();
    struct config_request r = kit_request(env);
    int rc = config_parse(c, "f.json", span_of(text), &r, err);

    if (rc == 0)
        *out = TAKE(c);
    return rc;
}

static inline struct config *kit_parse(const char *text, const char *const *env)
{
    struct config *c = NULL;
    struct pb_error err = { 0 };

    if (kit_try(&c, text, env, &err) < 0 || !c)
        TAP_FAIL("%s: %s", text, err.msg);
    return c;
}

static inline const struct spec *kit_spec(const struct config *c, const char *name)
{
    const struct spec *s = map_get(&c->specs, span_of(name));

    if (!s)
        TAP_FAIL("there is no server %s", name);
    return s;
}

struct kit_refusal {
    const char *text, *why; /* the whole message */
};

static inline void kit_refused(const struct kit_refusal *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct config *c = NULL;
        struct pb_error err = { 0 };

        if (kit_try(&c, cases[i].text, NULL, &err) != -PB_E_INVALID)
            TAP_FAIL("%s is accepted", cases[i].text);
        CHECK_STR(err.msg, cases[i].why);
    }
}

/* All warnings, one a line. */
static inline const char *kit_warnings(struct buf *out, const struct config *c)
{
    out->n = 0;
    for (size_t i = 0; i < c->n_warnings; i++)
        buf_printf(out, "%s%s", i ? "\n" : "", c->warnings[i]);
    return buf_cstr(out);
}

/* A directory that is gone when the test is. */
struct kit_dir {
    char path[64];
};

static inline void kit_dir_done(struct kit_dir *d)
{
    pid_t pid = fork();

    if (pid == 0) {
        execlp("rm", "rm", "-rf", d->path, (char *)NULL);
        _exit(127);
    }
    waitpid(pid, NULL, 0);
}

#define KIT_DIR(name)                                                                             \
    __attribute__((cleanup(kit_dir_done))) struct kit_dir name = { "/tmp/patchbay-test-XXXXXX" }; \
    CHECK(mkdtemp(name.path) != NULL)

/* The path lies in the arena. */
static inline const char *kit_write(struct arena *a, const struct kit_dir *d, const char *name,
                                    const char *text)
{
    const char *path = arena_printf(a, "%s/%s", d->path, name);
    FILE *f = fopen(path, "w");

    CHECK(f != NULL);
    CHECK(fputs(text, f) >= 0);
    CHECK_INT(fclose(f), 0);
    return path;
}
