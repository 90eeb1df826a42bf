#include "config_entry.h"
#include "hub/spec/spec.h"

/* What is relative in the file is meant from there, wherever in the project somebody works. */
static void settle_directory(struct spec *s, const char *dir)
{
    if (s->transport != SPEC_STDIO)
        return;
    if (!s->cwd)
        s->cwd = arena_dup(&s->arena, span_of(dir));
    else if (s->cwd[0] != '/')
        s->cwd = arena_printf(&s->arena, "%s/%s", dir, s->cwd);
}

/* It would get the keys that are kept under it, whosever they are. */
static void drop_uuid(struct config *c, struct spec *s, const char *path)
{
    AUTO_BUF struct buf text = { 0 };

    if (!s->uuid)
        return;
    s->uuid = NULL;
    buf_printf(&text, "%s: server '%s': its id is not taken from a project's file: keys are yours",
               path, s->name);
    config_warn(c, buf_cstr(&text));
}

int config_read_project(struct config **out, const struct config_project *p,
                        const char *(*env)(void *ctx, const char *name), void *env_ctx,
                        struct pb_error *err)
{
    const struct config_request r = { .servers_only = true, .env = env, .env_ctx = env_ctx };
    const char *slash = strrchr(p->path, '/');
    AUTO_FREE char *dir = mem_dupn(p->path, slash == p->path ? 1 : (size_t)(slash - p->path));
    AUTO(config) struct config *c = config_new();
    struct map_slot *slot;
    int rc = config_parse(c, p->path, p->text, &r, err);

    if (rc < 0)
        return rc;
    MAP_FOREACH(slot, &c->specs) {
        settle_directory(slot->value, dir);
        drop_uuid(c, slot->value, p->path);
    }
    *out = TAKE(c);
    return 0;
}

int config_take_project(struct config *c, const struct config_project *p, struct pb_error *err)
{
    AUTO(config) struct config *own = NULL;
    struct map_slot *slot;
    int rc = config_read_project(&own, p, NULL, NULL, err);

    if (rc < 0)
        return rc;
    for (size_t i = 0; i < own->n_warnings; i++)
        config_warn(c, own->warnings[i]);
    MAP_FOREACH(slot, &own->specs) {
        struct spec *s = slot->value, *was = map_get(&c->specs, span_of(s->name));

        if (was)
            spec_unref(map_put(&c->hidden, span_of(s->name), spec_ref(was)));
        rc = rc < 0 ? rc : config_put(c, spec_ref(s), err);
    }
    return rc;
}
