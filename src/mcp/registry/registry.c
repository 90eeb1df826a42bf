#include "call.h"
#include "mcp/rpc/rpc.h"
#include "mcp/serve/serve.h"
#include "registry_impl.h"
#include "tasks.h"

/* The list that clients are told of, by kind. */
/* clang-format off */
static const char *const list_names[] = {
    [ITEM_TOOL]     = "tools",
    [ITEM_RESOURCE] = "resources",
    [ITEM_TEMPLATE] = "resources",
    [ITEM_PROMPT]   = "prompts",
};
/* clang-format on */

/* Lives as long as the server; calls that still run keep what they need of it. */
static struct registry *registry_new(struct pb_server *server)
{
    struct registry *reg = NEW(struct registry);

    atomic_store(&reg->refs, 1);
    reg->server = server;
    reg->loop = server_loop(server);
    id_random(reg->key, sizeof reg->key);
    list_init(&reg->calls);
    pthread_mutex_init(&reg->lock, NULL);
    reg->tasks = tasks_new(reg);
    return reg;
}

struct registry *registry_ref(struct registry *reg)
{
    atomic_fetch_add(&reg->refs, 1);
    return reg;
}

static void bury(struct item *dead, struct shown *dropped)
{
    while (dead) {
        struct item *next = dead->next_dead;

        item_unref(dead);
        dead = next;
    }
    while (dropped) {
        struct shown *next = dropped->next;

        shown_free(dropped);
        dropped = next;
    }
}

static void shelf_done(struct shelf *shelf)
{
    for (size_t i = 0; i < shelf->n; i++)
        item_unref(shelf->items[i]);
    free(shelf->items);
    map_done(&shelf->by_key);
    for (size_t i = 0; i < REVISIONS_MAX; i++)
        shown_free(shelf->shown[i]);
}

void registry_unref(struct registry *reg)
{
    if (!reg || atomic_fetch_sub(&reg->refs, 1) != 1)
        return;
    bury(reg->dead, reg->dropped);
    for (size_t i = 0; i < ITEM_COUNT; i++)
        shelf_done(&reg->shelves[i]);
    pthread_mutex_destroy(&reg->lock);
    free(reg);
}

void registry_free(struct registry *reg)
{
    struct list *pos, *safe;

    if (!reg)
        return;
    reg->server = NULL;
    tasks_free(TAKE(reg->tasks));
    LIST_FOREACH(pos, safe, &reg->calls) {
        call_orphan(CONTAINER_OF(pos, struct pb_call, in_registry));
    }
    registry_unref(reg);
}

struct pb_server *pb_server_new(const struct pb_server_options *opts)
{
    struct pb_server *s = server_new(opts);

    server_set_provider(s, &registry_provider, registry_new(s));
    return s;
}

/* With the next turn nobody on the loop holds on to what left a shelf. */
static void on_bury(void *ctx)
{
    struct registry *reg = ctx;
    struct item *dead;
    struct shown *dropped;

    pthread_mutex_lock(&reg->lock);
    reg->posted = false;
    dead = TAKE(reg->dead);
    dropped = TAKE(reg->dropped);
    pthread_mutex_unlock(&reg->lock);
    bury(dead, dropped);
    registry_unref(reg);
}

/* With the lock held. Posting may fail while the loop is flooded or gone: then the next change, or
 * the end, takes care of them. */
static void bury_later(struct registry *reg)
{
    if (reg->posted || (!reg->dead && !reg->dropped))
        return;
    registry_ref(reg);
    reg->posted = loop_post(reg->loop, on_bury, reg, NULL) == 0;
    if (!reg->posted)
        registry_unref(reg);
}

static void drop_shown(struct registry *reg, struct shelf *shelf)
{
    for (size_t i = 0; i < REVISIONS_MAX; i++) {
        struct shown *s = TAKE(shelf->shown[i]);

        if (!s)
            continue;
        s->next = reg->dropped;
        reg->dropped = s;
    }
}

static void retire(struct registry *reg, struct item *i)
{
    i->next_dead = reg->dead;
    reg->dead = i;
}

/* By seq, which rises along the shelf. */
static size_t shelf_index(const struct shelf *shelf, uint64_t seq)
{
    size_t low = 0, high = shelf->n;

    while (low < high) {
        size_t mid = low + (high - low) / 2;

        if (shelf->items[mid]->seq < seq)
            low = mid + 1;
        else
            high = mid;
    }
    return low;
}

static void shelf_append(struct registry *reg, struct shelf *shelf, struct item *i)
{
    if (shelf->n == shelf->cap) {
        shelf->cap = shelf->cap ? shelf->cap * 2 : 16;
        shelf->items = mem_resize(shelf->items, shelf->cap * sizeof(struct item *));
    }
    i->seq = ++reg->next_seq;
    shelf->items[shelf->n++] = i;
}

static void registry_add(struct registry *reg, struct item *take_item)
{
    struct shelf *shelf = &reg->shelves[take_item->kind];
    enum item_kind kind = take_item->kind;
    struct item *old;

    pthread_mutex_lock(&reg->lock);
    old = map_put(&shelf->by_key, take_item->key, take_item);
    if (old) {
        take_item->seq = old->seq;
        shelf->items[shelf_index(shelf, old->seq)] = take_item;
        retire(reg, old);
    } else {
        shelf_append(reg, shelf, take_item);
    }
    shelf->used = true;
    reg->completers += take_item->complete != NULL;
    reg->task_tools += (take_item->flags & (PB_TASK_ALLOWED | PB_TASK_REQUIRED)) != 0;
    drop_shown(reg, shelf);
    bury_later(reg);
    pthread_mutex_unlock(&reg->lock);
    server_list_changed(reg->server, list_names[kind]);
}

static bool registry_remove(struct registry *reg, enum item_kind kind, struct span key)
{
    struct shelf *shelf = &reg->shelves[kind];
    struct item *old;
    size_t at;

    pthread_mutex_lock(&reg->lock);
    old = map_del(&shelf->by_key, key);
    if (old) {
        at = shelf_index(shelf, old->seq);
        memmove(&shelf->items[at], &shelf->items[at + 1],
                (shelf->n - at - 1) * sizeof(struct item *));
        shelf->n--;
        retire(reg, old);
        drop_shown(reg, shelf);
        bury_later(reg);
    }
    pthread_mutex_unlock(&reg->lock);
    if (old)
        server_list_changed(reg->server, list_names[kind]);
    return old != NULL;
}

struct item *registry_find(struct registry *reg, enum item_kind kind, struct span key)
{
    struct item *i;

    pthread_mutex_lock(&reg->lock);
    i = map_get(&reg->shelves[kind].by_key, key);
    if (i)
        item_ref(i);
    pthread_mutex_unlock(&reg->lock);
    return i;
}

struct item *registry_match(struct registry *reg, struct span uri, struct buf *args)
{
    struct shelf *shelf = &reg->shelves[ITEM_TEMPLATE];
    struct item *found = NULL;

    pthread_mutex_lock(&reg->lock);
    for (size_t i = 0; i < shelf->n && !found; i++) {
        size_t steps = MCP_TEMPLATE_STEPS_MAX;

        if (uri_template_match(shelf->items[i]->match, uri, &steps, args))
            found = item_ref(shelf->items[i]);
    }
    pthread_mutex_unlock(&reg->lock);
    return found;
}

bool registry_offers(struct registry *reg, enum item_kind kind)
{
    bool used;

    pthread_mutex_lock(&reg->lock);
    used = reg->shelves[kind].used;
    if (kind == ITEM_RESOURCE || kind == ITEM_TEMPLATE)
        used = reg->shelves[ITEM_RESOURCE].used || reg->shelves[ITEM_TEMPLATE].used;
    pthread_mutex_unlock(&reg->lock);
    return used;
}

static struct registry *registry_of(struct pb_server *server, struct pb_error *err)
{
    struct registry *reg = server_provided_by(server, &registry_provider);

    if (!reg)
        fail(err, PB_E_UNSUPPORTED, "this server has a provider of its own");
    return reg;
}

static int take_item(struct pb_server *server, struct item *take, struct pb_error *err)
{
    struct registry *reg = registry_of(server, err);

    if (!reg) {
        item_unref(take);
        return -PB_E_UNSUPPORTED;
    }
    registry_add(reg, take);
    return 0;
}

int pb_server_add_tool(struct pb_server *server, const struct pb_tool *tool, struct pb_error *err)
{
    struct item *i;
    int rc = item_of_tool(&i, tool, err);

    return rc < 0 ? rc : take_item(server, i, err);
}

int pb_server_add_resource(struct pb_server *server, const struct pb_resource *resource,
                           struct pb_error *err)
{
    struct item *i;
    int rc = item_of_resource(&i, resource, false, err);

    return rc < 0 ? rc : take_item(server, i, err);
}

int pb_server_add_template(struct pb_server *server, const struct pb_resource *template_,
                           struct pb_error *err)
{
    struct item *i;
    int rc = item_of_resource(&i, template_, true, err);

    return rc < 0 ? rc : take_item(server, i, err);
}

int pb_server_add_prompt(struct pb_server *server, const struct pb_prompt *prompt,
                         struct pb_error *err)
{
    struct item *i;
    int rc = item_of_prompt(&i, prompt, err);

    return rc < 0 ? rc : take_item(server, i, err);
}

int pb_server_remove_tool(struct pb_server *server, const char *name, struct pb_error *err)
{
    struct registry *reg = registry_of(server, err);

    if (!reg)
        return -PB_E_UNSUPPORTED;
    if (!registry_remove(reg, ITEM_TOOL, span_of(name)))
        return fail(err, PB_E_NOT_FOUND, "there is no tool '%s'", name);
    return 0;
}

int pb_server_remove_resource(struct pb_server *server, const char *uri, struct pb_error *err)
{
    struct registry *reg = registry_of(server, err);

    if (!reg)
        return -PB_E_UNSUPPORTED;
    if (!registry_remove(reg, ITEM_RESOURCE, span_of(uri)) &&
        !registry_remove(reg, ITEM_TEMPLATE, span_of(uri)))
        return fail(err, PB_E_NOT_FOUND, "there is no resource '%s'", uri);
    return 0;
}

int pb_server_remove_prompt(struct pb_server *server, const char *name, struct pb_error *err)
{
    struct registry *reg = registry_of(server, err);

    if (!reg)
        return -PB_E_UNSUPPORTED;
    if (!registry_remove(reg, ITEM_PROMPT, span_of(name)))
        return fail(err, PB_E_NOT_FOUND, "there is no prompt '%s'", name);
    return 0;
}
