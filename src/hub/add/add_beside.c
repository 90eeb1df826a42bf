/* add_beside.c - options beside a text that says what the servers are, such as
 * `patchbay add --name x -e TOKEN=y '{…}'`. */
#include "add_parts.h"

int add_put(struct config *c, struct spec *take_s, struct pb_error *err)
{
    AUTO(spec) struct spec *s = take_s;

    if (c->specs.n >= HUB_SERVERS_MAX)
        return fail(err, PB_E_LIMIT, "more than %d servers", HUB_SERVERS_MAX);
    if (map_get(&c->specs, span_of(s->name)))
        return fail(err, PB_E_INVALID, "two servers are called '%s' here", s->name);
    s->package = SPEC_PACKAGE_NONE; /* what it needs is in the command */
    map_put(&c->specs, span_of(s->name), s);
    s = NULL;
    return 0;
}

int add_move(struct config *c, const struct config *from, struct pb_error *err)
{
    struct map_slot *slot;
    int rc = 0;

    MAP_FOREACH(slot, &from->specs)
        if (rc == 0)
            rc = add_put(c, spec_ref(slot->value), err);
    return rc;
}

static bool same_key(const char *a, const char *b, char separator)
{
    const char end[] = { separator, '\0' };
    size_t n = strcspn(a, end);

    return n == strcspn(b, end) && strncasecmp(a, b, n) == 0;
}

/* Those of `more` after those that are there, in place of those that are called the same. */
static const char *const *merged(struct spec *s, const char *const *there, const char *const *more,
                                 char separator)
{
    const char **out =
        arena_alloc(&s->arena, (add_count(there) + add_count(more) + 1) * sizeof *out);
    size_t n = 0;

    for (; *there; there++) {
        bool again = false;

        for (const char *const *m = more; *m; m++)
            again |= same_key(*m, *there, separator);
        if (!again)
            out[n++] = *there;
    }
    for (; *more; more++)
        out[n++] = arena_dup(&s->arena, span_of(*more));
    return out;
}

static int take_env(struct spec *s, const char *const *env, struct pb_error *err)
{
    int rc = add_check_env(env, err);

    if (rc < 0)
        return rc;
    if (s->url)
        return fail(err, PB_E_INVALID,
                    "-e is for commands: a server at a URL takes -H \"Name: value\"");
    s->env = merged(s, s->env, env, '=');
    return 0;
}

static int take_headers(struct spec *s, const char *const *headers, struct pb_error *err)
{
    const char **read = arena_alloc(&s->arena, (add_count(headers) + 1) * sizeof *read);

    if (!s->url)
        return fail(err, PB_E_INVALID, "-H is for URLs: a command takes -e NAME=value");
    for (size_t i = 0; headers[i]; i++) {
        int rc = add_read_header(&s->arena, headers[i], &read[i], err);

        if (rc < 0)
            return rc;
    }
    s->headers = merged(s, s->headers, read, ':');
    return 0;
}

static int take_all(struct spec *s, const struct add_request *r, struct pb_error *err)
{
    int rc = 0;

    if (r->transport)
        return fail(err, PB_E_INVALID, "--transport is for a URL or a command: this text says it");
    if (add_count(r->env))
        rc = take_env(s, r->env, err);
    if (rc == 0 && add_count(r->headers))
        rc = take_headers(s, r->headers, err);
    if (rc == 0)
        rc = add_check_cwd(r->cwd, s->url != NULL, err);
    if (rc == 0 && r->inherit_env &&
        inherit_parse(&s->inherit_env, span_of(r->inherit_env), &s->arena, err) < 0)
        rc = fail_in(err, "--inherit-env");
    if (rc == 0 && r->cwd)
        s->cwd = arena_dup(&s->arena, span_of(r->cwd));
    if (rc == 0)
        add_run_here(s, r);
    if (rc == 0 && r->lazy)
        s->start = SPEC_LAZY;
    return rc;
}

static int take_name(struct config *c, struct spec *s, const char *name, struct pb_error *err)
{
    int rc = add_check_name(name, err);
    bool titled = strcmp(s->display_name, s->name) != 0;

    if (rc < 0)
        return rc;
    map_del(&c->specs, span_of(s->name));
    s->name = arena_dup(&s->arena, span_of(name));
    if (!titled)
        s->display_name = s->name;
    map_put(&c->specs, span_of(s->name), s);
    return 0;
}

int add_take_beside(struct config *c, const struct add_request *r, struct pb_error *err)
{
    struct spec *only = NULL;
    struct map_slot *slot;
    int rc = 0;

    if (!r)
        return 0;
    MAP_FOREACH(slot, &c->specs)
        only = slot->value;
    if (c->specs.n > 1 && (r->name || add_count(r->env) || add_count(r->headers) || r->cwd))
        return fail(err, PB_E_INVALID,
                    "%zu servers are described here: a name, variables, headers and a directory "
                    "are for one",
                    c->specs.n);
    MAP_FOREACH(slot, &c->specs)
        if (rc == 0)
            rc = take_all(slot->value, r, err);
    return rc == 0 && r->name && only ? take_name(c, only, r->name, err) : rc;
}
