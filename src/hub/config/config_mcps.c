#include "config_entry.h"
#include "hub/spec/spec.h"
#include <stdio.h>

/* The members that S1's list has and other shapes may have, too. */

static int read_env_var(struct config_entry *e, struct json v, const char *key,
                        struct spec_env_var *out)
{
    struct json name = v, required = { 0 };
    int rc;

    if (json_is(v, JSON_OBJECT)) {
        name = json_get(v, "name");
        required = json_get(v, "required");
        if (json_is(name, JSON_NONE))
            return entry_fail(e, v, key, "missing \"name\"; expected {\"name\":…,\"required\":…}");
    }
    rc = value_string(e, name, key, &out->name);
    if (rc < 0)
        return rc;
    if (!*out->name || strchr(out->name, '='))
        return entry_fail(e, v, key, "this is no name for an environment variable");
    out->required = true;
    if (json_is(required, JSON_NONE) || json_is(required, JSON_NULL))
        return 0;
    return value_bool(e, required, key, &out->required);
}

int read_env_vars(struct config_entry *e, struct json v, const char *key)
{
    struct spec_env_var *vars;
    char place[64];
    size_t i = 0;

    if (!json_is(v, JSON_ARRAY))
        return entry_fail_type(e, v, key, "an array of {\"name\":…,\"required\":…}");
    if (json_len(v) > SPEC_WORDS_MAX)
        return entry_fail(e, v, key, "%zu items; at most %d are allowed", json_len(v),
                          SPEC_WORDS_MAX);
    vars = arena_alloc(&e->spec->arena, (json_len(v) + 1) * sizeof *vars);
    JSON_FOREACH(item, v) {
        int rc;

        snprintf(place, sizeof place, "%s[%zu]", key, i);
        rc = read_env_var(e, item, place, &vars[i++]);
        if (rc < 0)
            return rc;
    }
    e->spec->env_vars = vars;
    return 0;
}

int read_env_var_name(struct config_entry *e, struct json v, const char *key)
{
    struct spec_env_var *vars = arena_alloc(&e->spec->arena, 2 * sizeof *vars);
    int rc;

    if (!json_is(v, JSON_STRING))
        return entry_fail_type(e, v, key, "a string");
    rc = read_env_var(e, v, key, &vars[0]);
    /* The list is the newer of the two. */
    if (rc == 0 && !e->spec->env_vars[0].name)
        e->spec->env_vars = vars;
    return rc;
}

static int member(struct config_entry *e, struct json object, const char *key, const char *name,
                  const char **out)
{
    char place[64];
    struct json v = json_get(object, name);

    snprintf(place, sizeof place, "%s.%s", key, name);
    if (json_is(v, JSON_NONE) || json_is(v, JSON_NULL))
        return entry_fail(e, object, place, "missing; expected a string");
    return value_string(e, v, place, out);
}

static int read_type(struct config_entry *e, struct json v, const char *key,
                     const struct choice *choices, unsigned *out)
{
    char place[64];

    if (!json_is(v, JSON_OBJECT))
        return entry_fail_type(e, v, key, "an object");
    snprintf(place, sizeof place, "%s.type", key);
    if (json_is(json_get(v, "type"), JSON_NONE))
        return entry_fail(e, v, place, "missing; expected a string");
    return value_choice(e, json_get(v, "type"), place, choices, out);
}

int read_source(struct config_entry *e, struct json v, const char *key)
{
    static const struct choice types[] = {
        { "official", SPEC_SOURCE_OFFICIAL },
        { "smithery", SPEC_SOURCE_SMITHERY },
        { "manual", SPEC_SOURCE_MANUAL },
        { 0 },
    };
    static const char *const names[] = {
        [SPEC_SOURCE_OFFICIAL] = "name",
        [SPEC_SOURCE_SMITHERY] = "qualified_name",
        [SPEC_SOURCE_MANUAL] = "url",
    };
    struct spec *s = e->spec;
    unsigned type = 0;
    int rc;

    if (json_is(v, JSON_STRING) && !e->mcps)
        return 0; /* "custom", as Zed has it */
    rc = read_type(e, v, key, types, &type);
    if (rc == 0)
        rc = member(e, v, key, names[type], &s->source_name);
    if (rc == 0 && type == SPEC_SOURCE_OFFICIAL)
        rc = member(e, v, key, "version", &s->source_version);
    if (rc == 0)
        s->source = (enum spec_source)type;
    return rc;
}

int read_package(struct config_entry *e, struct json v, const char *key)
{
    static const struct choice types[] = {
        { "npm", SPEC_PACKAGE_NPM },
        { "docker", SPEC_PACKAGE_DOCKER },
        { "http", SPEC_PACKAGE_HTTP },
        { "oci", SPEC_PACKAGE_DOCKER, .hidden = true },
        { 0 },
    };
    struct spec *s = e->spec;
    unsigned type = 0;
    int rc = read_type(e, v, key, types, &type);

    if (rc == 0)
        rc = member(e, v, key, "identifier", &s->package_id);
    if (rc == 0 && !*s->package_id)
        rc = entry_fail(e, v, "package.identifier", "empty; expected the name of the package");
    if (rc == 0 && json_is(json_get(v, "runtime_hint"), JSON_STRING))
        rc = member(e, v, key, "runtime_hint", &s->runtime_hint);
    if (rc == 0) {
        s->package = (enum spec_package)type;
        e->package = v;
    }
    return rc;
}
