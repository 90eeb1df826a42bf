#include "schema_parts.h"

enum { LOOK_STEP = 4 }; /* members passed over that count as one step */

/* Going through a value costs, even when no schema is applied to its children. */
static int spend_children(struct check *c, struct json v)
{
    return check_spend(c, v, json_len(v) / LOOK_STEP);
}

/* ---- Keys that must be there ------------------------------------------------------------- */

/* Sets *out to the key of a member among `names`, or NULL. */
static int find_name(struct check *c, const struct names *names, struct json member,
                     const struct name **out)
{
    struct span key;

    if (check_chars(c, member_name(member), &key) < 0)
        return -PB_E_LIMIT;
    *out = names_find(names, key);
    return 0;
}

/* Sets *missing to the first of `names` that v lacks, or NULL. */
static int find_missing(struct check *c, const struct names *names, struct json v,
                        const struct name **missing)
{
    struct seen seen;
    uint32_t found = 0;

    *missing = NULL;
    if (seen_init(c, &seen, names->n, v) < 0 || spend_children(c, v) < 0)
        return -PB_E_LIMIT;
    JSON_FOREACH(m, v) {
        const struct name *name;
        size_t i;

        if (find_name(c, names, m, &name) < 0)
            return -PB_E_LIMIT;
        i = name ? (size_t)(name - names->list) : 0;
        if (name && !seen_has(&seen, i)) {
            seen_mark(&seen, i);
            found++;
        }
    }
    for (uint32_t i = 0; i < names->n && found < names->n; i++)
        if (!seen_has(&seen, i) && (!*missing || names->list[i].order < (*missing)->order))
            *missing = &names->list[i];
    return 0;
}

int check_required(struct check *c, const struct kw *k, struct place *p)
{
    const struct name *missing;

    if (find_missing(c, &k->names, p->v, &missing) < 0)
        return -PB_E_LIMIT;
    return missing ? check_miss(c, k, p->v, (uint64_t)(missing - k->names.list)) : 0;
}

static int check_trigger(struct check *c, const struct kw *k, const struct place *p,
                         const struct name *trigger)
{
    const struct depends *d = k->depends;
    const struct names *names = &d->required[trigger->order];
    const struct name *missing;

    if (d->subs[trigger->order])
        return check_apply(c, p, d->subs[trigger->order], p->v, p->seen);
    if (find_missing(c, names, p->v, &missing) < 0)
        return -PB_E_LIMIT;
    if (!missing)
        return 0;
    check_miss(c, k, p->v, (uint64_t)(trigger - d->triggers.list));
    c->why.also = (uint64_t)(missing - names->list);
    return -PB_E_INVALID;
}

int check_dependent(struct check *c, const struct kw *k, struct place *p)
{
    if (spend_children(c, p->v) < 0)
        return -PB_E_LIMIT;
    JSON_FOREACH(m, p->v) {
        const struct name *trigger;
        int rc = find_name(c, &k->depends->triggers, m, &trigger);

        if (rc == 0 && trigger)
            rc = check_trigger(c, k, p, trigger);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* ---- Children ---------------------------------------------------------------------------- */

int check_property_names(struct check *c, const struct kw *k, struct place *p)
{
    if (spend_children(c, p->v) < 0)
        return -PB_E_LIMIT;
    JSON_FOREACH(m, p->v) {
        int rc = check_apply(c, p, k->sub, member_name(m), NULL);

        if (rc < 0)
            return rc;
    }
    return 0;
}

/* `false` for what no other keyword knows is worth a clearer word than for other places. */
static int apply_rest(struct check *c, const struct kw *k, const struct place *p,
                      const struct sub *rest, struct json child)
{
    if (rest->kws == &keyword_false)
        return check_miss(c, k, child, 0);
    return check_apply(c, p, rest, child, NULL);
}

static int apply_patterns(struct check *c, const struct members *m, const struct place *p,
                          struct json child, bool *known)
{
    for (uint32_t i = 0; i < m->n_patterns; i++) {
        int rc = check_matches(c, m->patterns[i], member_name(child));

        if (rc == 0)
            continue;
        *known = true;
        rc = rc < 0 ? rc : check_apply(c, p, m->pattern_subs[i], child, NULL);
        if (rc < 0)
            return rc;
    }
    return 0;
}

static int check_member(struct check *c, const struct kw *k, const struct place *p,
                        struct json child, bool *known)
{
    const struct members *m = k->members;
    const struct name *name = NULL;
    int rc = find_name(c, &m->names, child, &name);

    *known = name != NULL;
    if (name)
        rc = check_apply(c, p, m->subs[name->order], child, NULL);
    if (rc == 0)
        rc = apply_patterns(c, m, p, child, known);
    if (rc == 0 && !*known && m->rest) {
        *known = true;
        rc = apply_rest(c, k, p, m->rest, child);
    }
    return rc;
}

int check_members(struct check *c, const struct kw *k, struct place *p)
{
    size_t i = 0;

    if (spend_children(c, p->v) < 0)
        return -PB_E_LIMIT;
    JSON_FOREACH(child, p->v) {
        bool known;
        int rc = check_member(c, k, p, child, &known);

        if (rc < 0)
            return rc;
        if (known && p->seen)
            seen_mark(p->seen, i);
        i++;
    }
    return 0;
}

int check_elements(struct check *c, const struct kw *k, struct place *p)
{
    const struct elements *e = k->elements;
    size_t i = 0;

    if (spend_children(c, p->v) < 0)
        return -PB_E_LIMIT;
    JSON_FOREACH(child, p->v) {
        int rc = 0;

        if (i >= e->first.n && !e->rest)
            break;
        rc = i < e->first.n ? check_apply(c, p, e->first.list[i], child, NULL)
                            : apply_rest(c, k, p, e->rest, child);
        if (rc < 0)
            return rc;
        if (p->seen)
            seen_mark(p->seen, i);
        i++;
    }
    return 0;
}

int check_contains(struct check *c, const struct kw *k, struct place *p)
{
    const struct contains *x = k->contains;
    uint64_t found = 0;
    size_t i = 0;

    if (spend_children(c, p->v) < 0)
        return -PB_E_LIMIT;
    JSON_FOREACH(child, p->v) {
        int rc = check_apply(c, p, x->sub, child, NULL);

        if (rc == -PB_E_LIMIT)
            return rc;
        if (rc == 0 && p->seen)
            seen_mark(p->seen, i);
        found += rc == 0;
        i++;
    }
    return found >= x->min && found <= x->max ? 0 : check_miss(c, k, p->v, found);
}

static int check_unevaluated(struct check *c, const struct kw *k, struct place *p)
{
    size_t i = 0;

    if (spend_children(c, p->v) < 0)
        return -PB_E_LIMIT;
    JSON_FOREACH(child, p->v) {
        int rc = seen_has(p->seen, i++) ? 0 : apply_rest(c, k, p, k->sub, child);

        if (rc < 0)
            return rc;
    }
    seen_mark_all(p->seen);
    return 0;
}

int check_unevaluated_items(struct check *c, const struct kw *k, struct place *p)
{
    return check_unevaluated(c, k, p);
}

int check_unevaluated_properties(struct check *c, const struct kw *k, struct place *p)
{
    return check_unevaluated(c, k, p);
}

/* ---- In place ---------------------------------------------------------------------------- */

int check_ref(struct check *c, const struct kw *k, struct place *p)
{
    return check_apply(c, p, k->sub, p->v, p->seen);
}

/* The outermost schema on the way here that declares the name wins. */
static const struct sub *dynamic_target(const struct dynamic *d, const struct place *at)
{
    const struct sub *target = d->sub;
    const struct resource *last = NULL;

    for (; at && d->name.n; at = at->up) {
        const struct resource *r = at->sub->resource;
        const struct sub *found = r == last ? NULL : map_get(&r->dynamic, d->name);

        target = found ? found : target;
        last = r;
    }
    return target;
}

int check_dynamic_ref(struct check *c, const struct kw *k, struct place *p)
{
    if (check_spend(c, p->v, p->depth / LOOK_STEP) < 0)
        return -PB_E_LIMIT;
    return check_apply(c, p, dynamic_target(&k->dynamic, p), p->v, p->seen);
}

int check_all_of(struct check *c, const struct kw *k, struct place *p)
{
    for (uint32_t i = 0; i < k->subs.n; i++) {
        int rc = check_apply(c, p, k->subs.list[i], p->v, p->seen);

        if (rc < 0)
            return rc;
    }
    return 0;
}

/* One of several: what it has looked at counts only if it is satisfied. */
static int apply_branch(struct check *c, const struct place *p, const struct sub *s)
{
    struct seen seen;
    int rc;

    if (!p->seen)
        return check_apply(c, p, s, p->v, NULL);
    if (seen_init(c, &seen, p->seen->n, p->v) < 0)
        return -PB_E_LIMIT;
    rc = check_apply(c, p, s, p->v, &seen);
    if (rc == 0)
        seen_merge(p->seen, &seen);
    return rc;
}

static int miss_all(struct check *c, const struct kw *k, const struct place *p,
                    const struct failure *first)
{
    c->first = *first;
    return check_miss(c, k, p->v, 0);
}

int check_any_of(struct check *c, const struct kw *k, struct place *p)
{
    struct failure first = { 0 };
    bool matched = false;

    for (uint32_t i = 0; i < k->subs.n; i++) {
        int rc = apply_branch(c, p, k->subs.list[i]);

        if (rc == -PB_E_LIMIT)
            return rc;
        if (rc == 0 && !p->seen)
            return 0;
        matched |= rc == 0;
        if (i == 0)
            first = c->why;
    }
    return matched ? 0 : miss_all(c, k, p, &first);
}

int check_one_of(struct check *c, const struct kw *k, struct place *p)
{
    struct failure first = { 0 };
    uint32_t matched = 0;

    for (uint32_t i = 0; i < k->subs.n; i++) {
        int rc = apply_branch(c, p, k->subs.list[i]);

        if (rc == -PB_E_LIMIT)
            return rc;
        if (rc == 0 && matched) {
            check_miss(c, k, p->v, matched);
            c->why.also = i + 1;
            return -PB_E_INVALID;
        }
        matched = rc == 0 ? i + 1 : matched;
        if (i == 0)
            first = c->why;
    }
    return matched ? 0 : miss_all(c, k, p, &first);
}

int check_not(struct check *c, const struct kw *k, struct place *p)
{
    int rc = check_apply(c, p, k->sub, p->v, NULL);

    if (rc == 0)
        return check_miss(c, k, p->v, 0);
    return rc == -PB_E_LIMIT ? rc : 0;
}

int check_if(struct check *c, const struct kw *k, struct place *p)
{
    int rc = apply_branch(c, p, k->condition->test);
    const struct sub *next = rc == 0 ? k->condition->yes : k->condition->no;

    if (rc == -PB_E_LIMIT)
        return rc;
    return next ? check_apply(c, p, next, p->v, p->seen) : 0;
}
