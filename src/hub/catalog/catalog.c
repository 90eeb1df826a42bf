#include "catalog_impl.h"
#include "hub/link/link.h"
#include "hub/spec/spec.h"

struct catalog *catalog_new(void)
{
    struct catalog *c = NEW(struct catalog);

    c->orders = mem_zero(LIST_KINDS * sizeof *c->orders);
    list_init(&c->seen_age);
    return c;
}

static void server_free(struct catalog_server *s)
{
    for (size_t k = 0; k < LIST_KINDS; k++) {
        listing_done(&s->lists[k]);
        listing_done(&s->before[k]);
        listing_done(&s->had[k]);
    }
    free(s->name);
    free(s);
}

void catalog_free(struct catalog *c)
{
    struct map_slot *slot;

    if (!c)
        return;
    MAP_FOREACH(slot, &c->servers)
        server_free(slot->value);
    map_done(&c->servers);
    for (size_t k = 0; k < LIST_KINDS; k++) {
        for (size_t i = 0; i < c->shelves[k].n_builtins; i++)
            free(c->shelves[k].builtins[i]);
        free(c->shelves[k].builtins);
        renders_drop(&c->shelves[k]);
        sequence_done(&c->orders[k]);
    }
    MAP_FOREACH(slot, &c->aliases)
        free(slot->value);
    map_done(&c->aliases);
    free(c->orders);
    seen_drop(c, NULL);
    map_done(&c->seen);
    map_done(&c->mentions);
    free(c);
}

/* ---- Changing ---------------------------------------------------------------------------- */

static void mark_changed(struct catalog *c, enum list_kind kind)
{
    c->shelves[kind].version++;
    renders_drop(&c->shelves[kind]);
    /* Which servers a filter shows depends on their tools; how the pages of tools are written, on
     * whose each URI is. */
    for (size_t k = 0; kind == LIST_TOOLS && k < LIST_KINDS; k++)
        renders_drop_filtered(&c->shelves[k]);
    if (catalog_kinds[kind].uri)
        renders_drop(&c->shelves[LIST_TOOLS]);
}

static bool any_glob(const char *const *globs, struct span name)
{
    for (; globs && *globs; globs++)
        if (glob_match(*globs, name))
            return true;
    return false;
}

static bool is_enabled(const struct spec *spec, struct span name)
{
    bool some = spec->enabled_tools && spec->enabled_tools[0];

    return (!some || any_glob(spec->enabled_tools, name)) && !any_glob(spec->disabled_tools, name);
}

static bool apply_spec(struct listing *tools, const struct spec *spec)
{
    bool changed = false;

    for (size_t i = 0; i < tools->n; i++) {
        struct entry *e = &tools->items[i].e;
        bool on = is_enabled(spec, e->name);

        changed |= on != e->enabled;
        e->enabled = on;
    }
    return changed;
}

static struct catalog_server *get_server(struct catalog *c, const char *name)
{
    struct catalog_server *s = map_get(&c->servers, span_of(name));

    if (!s) {
        s = NEW(struct catalog_server);
        s->name = mem_dup(name);
        map_put(&c->servers, span_of(name), s);
    }
    s->away = false;
    return s;
}

static void replace(struct catalog *c, enum list_kind kind, struct catalog_server *s,
                    const struct listing *fresh)
{
    struct catalog_shelf *shelf = &c->shelves[kind];
    struct listing *old = &s->lists[kind];

    shelf->items += fresh->n - old->n;
    shelf->bytes += fresh->text_n - old->text_n;
    c->orders[kind].valid = false;
    listing_done(&s->before[kind]);
    s->before[kind] = *old;
    *old = *fresh;
}

/* What it had while it was away is what it has, or not any more. */
static void forget_had(struct catalog *c, struct catalog_server *s, enum list_kind kind)
{
    c->shelves[kind].away -= s->had[kind].n;
    listing_done(&s->had[kind]);
    c->orders[kind].valid = false;
}

/* Is there room for it beside what others have? */
static int check_room(const struct catalog_shelf *shelf, const struct listing *old,
                      const struct listing *fresh, struct span what, struct pb_error *err)
{
    if (fresh->n > CATALOG_ITEMS_MAX - (shelf->items - old->n))
        return fail(err, PB_E_LIMIT, "%.*s would be more than %d in all", SPAN_ARG(what),
                    CATALOG_ITEMS_MAX);
    if (fresh->text_n > CATALOG_BYTES_MAX - (shelf->bytes - old->text_n))
        return fail(err, PB_E_LIMIT, "%.*s would make more than %d bytes in all", SPAN_ARG(what),
                    CATALOG_BYTES_MAX);
    return 0;
}

int catalog_set(struct catalog *c, const struct spec *spec, enum list_kind kind, struct span array,
                bool *changed, struct pb_error *err)
{
    struct catalog_server *s = get_server(c, spec->name);
    struct listing *list = &s->lists[kind], fresh = { 0 };
    AUTO_BUF struct buf what = { 0 };
    bool differs;
    int rc;

    array = array.n ? array : SPAN("[]");
    if (listing_is(list, array)) {
        *changed = kind == LIST_TOOLS && catalog_respec(c, spec);
        return 0;
    }
    rc = listing_read(&fresh, s->name, kind, array, err);
    if (rc < 0)
        return rc;
    buf_printf(&what, "the %ss of server '%s'", catalog_kinds[kind].noun, s->name);
    rc = check_room(&c->shelves[kind], list, &fresh, buf_span(&what), err);
    if (rc < 0) {
        listing_done(&fresh);
        return rc;
    }
    differs = list->n || fresh.n;
    if (kind == LIST_TOOLS)
        apply_spec(&fresh, spec);
    listing_inherit(&fresh, list->n ? list : &s->had[kind], ++c->since);
    forget_had(c, s, kind);
    replace(c, kind, s, &fresh);
    if (differs)
        mark_changed(c, kind);
    *changed = differs;
    return 0;
}

bool catalog_respec(struct catalog *c, const struct spec *spec)
{
    struct catalog_server *s = catalog_server(c, span_of(spec->name));
    bool changed = s && apply_spec(&s->lists[LIST_TOOLS], spec);

    if (changed)
        mark_changed(c, LIST_TOOLS);
    return changed;
}

bool catalog_hold(struct catalog *c, const char *server, enum list_kind kind, catalog_hold_fn *fn,
                  void *ctx)
{
    struct catalog_server *s = catalog_server(c, span_of(server));
    bool changed = false;

    if (!s)
        return false;
    for (size_t i = 0; i < s->lists[kind].n; i++) {
        struct catalog_item *item = &s->lists[kind].items[i];
        const struct catalog_item *was = listing_find(&s->before[kind], item->e.name);
        bool held = fn && fn(ctx, &item->e, item->at, was ? was->e.text : SPAN(""));

        changed |= held != item->e.held;
        item->e.held = held;
    }
    listing_done(&s->before[kind]);
    if (changed)
        mark_changed(c, kind);
    return changed;
}

/* Returns whether there was anything. */
static bool take_lists(struct catalog *c, struct catalog_server *s)
{
    bool any = false;

    for (unsigned k = 0; k < LIST_KINDS; k++) {
        if (s->lists[k].n) {
            mark_changed(c, (enum list_kind)k);
            any = true;
        }
        replace(c, (enum list_kind)k, s, &(struct listing){ 0 });
        listing_done(&s->before[k]);
    }
    return any;
}

bool catalog_drop(struct catalog *c, const char *server)
{
    struct catalog_server *s = map_del(&c->servers, span_of(server));
    bool any;

    if (!s)
        return false;
    any = take_lists(c, s);
    for (unsigned k = 0; k < LIST_KINDS; k++)
        forget_had(c, s, (enum list_kind)k);
    seen_drop(c, s->name);
    server_free(s);
    return any;
}

bool catalog_knows(const struct catalog *c, const char *server)
{
    return catalog_server(c, span_of(server)) != NULL;
}

bool catalog_put_away(struct catalog *c, const char *server)
{
    struct catalog_server *s = catalog_server(c, span_of(server));
    bool any = false;

    if (!s)
        return false;
    for (unsigned k = 0; k < LIST_KINDS; k++) {
        struct catalog_shelf *shelf = &c->shelves[k];
        struct listing *list = &s->lists[k];

        if (!list->n || shelf->away + list->n > CATALOG_ITEMS_MAX)
            continue;
        forget_had(c, s, (enum list_kind)k);
        shelf->items -= list->n;
        shelf->bytes -= list->text_n;
        shelf->away += list->n;
        listing_put_away(list);
        s->had[k] = *list;
        *list = (struct listing){ 0 };
        mark_changed(c, (enum list_kind)k);
        any = true;
    }
    any |= take_lists(c, s);
    s->away = true;
    return any;
}

static void put_builtin(struct catalog *c, struct catalog_item *fresh)
{
    enum list_kind kind = fresh->e.kind;
    struct catalog_shelf *shelf = &c->shelves[kind];
    size_t at = 0;

    while (at < shelf->n_builtins && !span_eq(shelf->builtins[at]->e.name, fresh->e.name))
        at++;
    if (at < shelf->n_builtins) {
        free(shelf->builtins[at]);
    } else {
        shelf->builtins =
            mem_resize(shelf->builtins, (shelf->n_builtins + 1) * sizeof(struct catalog_item *));
        shelf->n_builtins++;
    }
    shelf->builtins[at] = fresh;
    c->orders[kind].valid = false;
    mark_changed(c, kind);
}

void catalog_add_builtin(struct catalog *c, enum list_kind kind, unsigned group, struct span text)
{
    put_builtin(c, item_of_builtin(kind, NULL, group, text));
}

void catalog_add_own(struct catalog *c, unsigned group, struct span text)
{
    put_builtin(c, item_of_builtin(LIST_TOOLS, SPEC_OWN, group, text));
}

static void put_alias(struct catalog *c, struct span name, struct catalog_item *i)
{
    free(map_get(&c->aliases, name));
    map_put(&c->aliases, name, i);
}

void catalog_add_alias(struct catalog *c, unsigned group, struct span text, const char *alias)
{
    struct catalog_item *i = item_of_builtin(LIST_TOOLS, SPEC_OWN, group, text);

    put_alias(c, i->e.name, i);
    if (alias)
        put_alias(c, span_of(alias), item_of_builtin(LIST_TOOLS, SPEC_OWN, group, text));
}

/* ---- Asking ------------------------------------------------------------------------------ */

size_t catalog_count(const struct catalog *c, const char *server, enum list_kind kind)
{
    const struct catalog_server *s;

    if (!server)
        return c->shelves[kind].items + c->shelves[kind].n_builtins;
    s = catalog_server(c, span_of(server));
    return s ? s->lists[kind].n : 0;
}

size_t catalog_left_out(const struct catalog *c, const char *server, enum list_kind kind)
{
    const struct catalog_server *s = catalog_server(c, span_of(server));

    return s ? s->lists[kind].left_out : 0;
}

size_t catalog_most(enum list_kind kind) { return catalog_kinds[kind].most; }

static bool lets_through(const struct filter *f, const char *server, struct span tool)
{
    return filter_matches(f, &(struct filter_subject){ .server = span_of(server), .tool = tool });
}

static bool lets_any_through(const struct filter *f, const struct catalog_server *s)
{
    const struct listing *tools = &s->lists[LIST_TOOLS];

    for (size_t i = 0; i < tools->n; i++)
        if (tools->items[i].e.enabled && !tools->items[i].e.held &&
            lets_through(f, s->name, tools->items[i].e.name))
            return true;
    return false;
}

bool scope_shows_server(const struct catalog *c, const struct scope *s, const char *server)
{
    struct catalog_server *one = catalog_server(c, span_of(server));
    uint64_t version = c->shelves[LIST_TOOLS].version + 1;
    struct server_shown *kept = one ? &one->shown : NULL;

    if (s->no_external || (s->server && strcmp(s->server, server) != 0))
        return false;
    if (!s->filter)
        return true;
    if (!kept)
        return lets_through(s->filter, server, SPAN(""));
    if (kept->version != version ||
        memcmp(kept->digest, filter_digest(s->filter), SHA256_BYTES) != 0) {
        kept->answer =
            lets_through(s->filter, server, SPAN("")) || lets_any_through(s->filter, one);
        kept->version = version;
        memcpy(kept->digest, filter_digest(s->filter), SHA256_BYTES);
    }
    return kept->answer;
}

/* An operation of ours goes with the tool that it is of. */
static bool lets_tool_through(const struct filter *f, const struct entry *e)
{
    const char *dot = e->group && e->server ? memchr(e->name.p, '.', e->name.n) : NULL;

    return !dot || lets_through(f, e->server, span_make(e->name.p, (size_t)(dot - e->name.p)));
}

bool scope_holds(const struct catalog *c, const struct scope *s, const struct entry *e)
{
    if (s->server && (!e->server || strcmp(s->server, e->server) != 0))
        return false;
    if (e->group ? !s->all_groups && !(e->group & s->builtins) : s->no_external)
        return false;
    if (!s->filter)
        return true;
    if (!e->group && e->kind != LIST_TOOLS)
        return scope_shows_server(c, s, e->server);
    return e->kind != LIST_TOOLS ||
           (lets_through(s->filter, e->server, e->name) && lets_tool_through(s->filter, e));
}

bool scope_shows(const struct catalog *c, const struct scope *s, const struct entry *e)
{
    return (e->enabled || s->disabled_too) && (!e->held || s->held_too) && scope_holds(c, s, e);
}

static const struct json_opts member_opts = { .keep_depth = 1 };

struct span entry_schema(const struct entry *e)
{
    AUTO_JSON struct json_doc doc = { 0 };

    if (json_parse(&doc, e->text, &member_opts, NULL) < 0)
        return (struct span){ 0 };
    return json_text(json_get(json_root(&doc), "inputSchema"));
}

struct span entry_description(const struct entry *e, struct arena *a)
{
    AUTO_JSON struct json_doc doc = { 0 };

    if (json_parse(&doc, e->text, &member_opts, NULL) < 0)
        return SPAN("");
    return json_str(json_get(json_root(&doc), "description"), a);
}
