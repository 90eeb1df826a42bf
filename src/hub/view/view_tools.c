/* view_tools.c - the tools of all servers as a person sees them, and answers about the whole. */
#include "hub/link/link.h"
#include "hub/spec/spec.h"
#include "view_impl.h"

enum { FIRST_ROOM = 16 };

void view_array_add(struct view_array *a, const void *p)
{
    if (a->n == a->room) {
        a->room = a->room ? a->room * 2 : FIRST_ROOM;
        a->v = mem_resize(a->v, a->room * sizeof *a->v);
    }
    a->v[a->n++] = p;
}

/* ---- taking tools in ---- */

static void free_set(struct tool_set *set)
{
    if (!set)
        return;
    free(set->tools);
    arena_done(&set->arena);
    free(set);
}

void view_drop_tools(struct view *v, struct server *s)
{
    v->answers->tools_stale |= s->tools != NULL;
    free_set(TAKE(s->tools));
    s->shown.tool_count = 0;
}

/* The definition is kept as the server wrote it. */
static void add_tool(struct tool_set *set, const char *server, struct json item, struct map *seen)
{
    struct arena *a = &set->arena;
    char *name = json_cstr(json_get(item, "name"), a);
    char *description = json_cstr(json_get(item, "description"), a);
    struct view_tool *t;

    if (!name)
        return;
    t = map_get(seen, span_of(name)); /* of two with one name the later counts */
    if (!t)
        t = &set->tools[set->n++];
    *t = (struct view_tool){
        .id = arena_printf(a, "%s.%s", server, name),
        .server = arena_dup(a, span_of(server)),
        .name = name,
        .description = description ? description : arena_dup(a, SPAN("")),
        .definition = arena_dup(a, json_text(item)),
    };
    map_put(seen, span_of(name), t);
}

void view_set_tools(struct view *v, const char *server, struct span array)
{
    static const struct json_opts opts = { .keep_depth = 2 };
    AUTO_JSON struct json_doc doc = { 0 };
    struct server *s = view_find(v, server);
    struct map seen = { 0 };
    struct tool_set *set;

    if (!s)
        return;
    set = NEW(struct tool_set);
    if (array.n && json_parse(&doc, array, &opts, NULL) == 0 &&
        json_is(json_root(&doc), JSON_ARRAY)) {
        set->tools = mem_alloc((json_len(json_root(&doc)) + 1) * sizeof *set->tools);
        JSON_FOREACH(item, json_root(&doc)) {
            if (json_is(item, JSON_OBJECT))
                add_tool(set, s->shown.id, item, &seen);
        }
    }
    map_done(&seen);
    free_set(s->tools);
    s->tools = set;
    if (link_is_connected(s->shown.status.state))
        s->shown.tool_count = set->n;
    v->answers->tools_stale = true;
}

/* ---- answers ---- */

static int by_id(const void *a, const void *b)
{
    const struct view_tool *const *x = a, *const *y = b;

    return strcmp((*x)->id, (*y)->id);
}

static const struct view_array *all_tools(const struct view *v)
{
    struct view_array *a = &v->answers->tools;

    if (!v->answers->tools_stale)
        return a;
    a->n = 0;
    for (size_t i = 0; i < v->n_servers; i++) {
        const struct tool_set *set = v->servers[i]->tools;

        for (size_t k = 0; set && k < set->n; k++)
            view_array_add(a, &set->tools[k]);
    }
    if (a->n)
        qsort(a->v, a->n, sizeof *a->v, by_id);
    v->answers->tools_stale = false;
    return a;
}

size_t view_tools(const struct view *v, const struct filter *f, const struct view_tool *const **out)
{
    const struct view_array *all = all_tools(v);
    struct view_array *some = &v->answers->some_tools;

    if (!f) {
        *out = (const struct view_tool *const *)all->v;
        return all->n;
    }
    some->n = 0;
    for (size_t i = 0; i < all->n; i++) {
        const struct view_tool *t = all->v[i];
        struct filter_subject subject = { span_of(t->server), span_of(t->name) };

        if (filter_matches(f, &subject))
            view_array_add(some, t);
    }
    *out = (const struct view_tool *const *)some->v;
    return some->n;
}

const struct view_server *view_server(const struct view *v, const char *id)
{
    const struct server *s = view_find(v, id);

    return s ? &s->shown : NULL;
}

size_t view_servers(const struct view *v, const struct view_server *const **out)
{
    struct view_array *a = &v->answers->servers;

    a->n = 0;
    for (size_t i = 0; i < v->n_servers; i++)
        view_array_add(a, &v->servers[i]->shown);
    *out = (const struct view_server *const *)a->v;
    return a->n;
}

size_t view_failed(const struct view *v, const char *const **ids)
{
    struct view_array *a = &v->answers->failed;

    a->n = 0;
    for (size_t i = 0; i < v->n_servers; i++) {
        if (link_is_failed(v->servers[i]->shown.status.state))
            view_array_add(a, v->servers[i]->shown.id);
    }
    *ids = (const char *const *)a->v;
    return a->n;
}

bool view_has_failures(const struct view *v)
{
    const char *const *ids;

    return view_failed(v, &ids) > 0;
}

size_t view_connected_count(const struct view *v)
{
    size_t n = 0;

    for (size_t i = 0; i < v->n_servers; i++)
        n += link_is_connected(v->servers[i]->shown.status.state);
    return n;
}

size_t view_total_count(const struct view *v) { return v->n_servers; }
