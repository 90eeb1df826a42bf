/* hub_apply.c - many servers at once: starting them, and making the hub's servers those of a
 * config that has changed. */
#include "hub/catalog/catalog.h"
#include "hub/config/config.h"
#include "hub/link/link.h"
#include "hub/spec/spec.h"
#include "hub_impl.h"

static bool add_and_start(struct hub *h, struct spec *spec)
{
    struct pb_error err;
    struct member *m;

    if (hub_add(h, spec, &err) < 0) {
        log_warn("server '%s' is left out: %s", spec->name, err.msg);
        return false;
    }
    m = hub_find(h, spec->name);
    if (!member_is_lazy(m) && link_state(m->link) != LINK_DISABLED)
        member_start(m);
    return true;
}

/* The first must not get what is the last one's. */
void hub_start_all(struct hub *h, struct spec *const *specs, size_t n)
{
    for (size_t i = 0; i < n; i++)
        claims_add(h->claims, specs[i]);
    for (size_t i = 0; i < n; i++)
        add_and_start(h, specs[i]);
    for (size_t i = 0; i < n; i++)
        claims_drop(h->claims, specs[i]);
}

/* ---- a config that has changed ---- */

static void swap_spec(struct member *m, struct spec *spec)
{
    claims_drop(m->hub->claims, link_spec(m->link));
    claims_add(m->hub->claims, spec);
    link_set_spec(m->link, spec);
    if (catalog_respec(m->hub->catalog, spec))
        hub_lists_changed(m->hub, m->name, 1U << LIST_TOOLS);
    hub_tell_member(m, EVENT_SERVER_ADDED);
}

/* It ran or not as its old spec said; the new one decides anew. */
static void restart(struct member *m, struct spec *spec)
{
    member_replace(m, spec);
    hub_tell_member(m, EVENT_SERVER_ADDED);
    member_load(m);
    if (spec->enabled && !member_is_lazy(m))
        member_start(m);
    member_touch(m);
}

static void update(struct member *m, struct spec *spec, struct hub_changes *done)
{
    const struct spec *old = link_spec(m->link);
    bool switched = old->enabled != spec->enabled;
    bool was_lazy = member_is_lazy(m);

    if (spec_equal(old, spec))
        return;
    if (!spec_same_link(old, spec)) {
        restart(m, spec);
        done->restarted++;
        return;
    }
    swap_spec(m, spec);
    done->updated++;
    if (switched) {
        if (hub_enable(m->hub, m->name, spec->enabled, NULL) < 0)
            return;
    } else if (was_lazy && !member_is_lazy(m) && link_state(m->link) == LINK_IDLE) {
        member_start(m);
    }
    hub_idle_wake(m->hub);
}

static size_t remove_others(struct hub *h, const struct config *c)
{
    AUTO_FREE uint64_t *no = NULL;
    size_t n = hub_numbers(h, &no), removed = 0;

    for (size_t i = 0; i < n; i++) {
        struct member *m = hub_by_no(h, no[i]);

        if (m && !link_spec(m->link)->runtime_only && !map_get(&c->specs, span_of(m->name)))
            removed += hub_remove(h, m->name, NULL) == 0;
    }
    return removed;
}

struct hub_changes hub_apply(struct hub *h, const struct config *c)
{
    struct hub_changes done = { 0 };
    struct map_slot *slot;

    done.removed = remove_others(h, c);
    MAP_FOREACH(slot, &c->specs)
        claims_add(h->claims, slot->value);
    MAP_FOREACH(slot, &c->specs) {
        struct spec *spec = slot->value;
        struct member *m = hub_find(h, spec->name);

        if (!m)
            done.added += add_and_start(h, spec);
        else if (!link_spec(m->link)->runtime_only)
            update(m, spec, &done);
    }
    MAP_FOREACH(slot, &c->specs)
        claims_drop(h->claims, slot->value);
    if (c->modes)
        hub_set_modes(h, c->modes);
    return done;
}
