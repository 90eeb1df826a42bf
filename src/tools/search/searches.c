/* searches.c - the last results of each conversation, in memory; the least recently used go when
 * all together are too large. */
#include "search_impl.h"

struct searches {
    pthread_mutex_t lock;
    struct map by_whose; /* struct kept_entry */
    struct list order;   /* the oldest first */
    size_t bytes;
};

struct kept_entry {
    struct list at;
    char *whose;
    struct kept_search kept;
};

void search_state_init(struct search_state *s)
{
    s->last = NEW(struct searches);
    pthread_mutex_init(&s->last->lock, NULL);
    list_init(&s->last->order);
}

static size_t size_of(const struct kept_entry *e)
{
    return sizeof *e + strlen(e->whose) + strlen(e->kept.title) + e->kept.found.bytes;
}

static void entry_drop(struct searches *s, struct kept_entry *e)
{
    s->bytes -= size_of(e);
    list_remove(&e->at);
    map_del(&s->by_whose, span_of(e->whose));
    found_done(&e->kept.found);
    free(e->kept.title);
    free(e->whose);
    free(e);
}

static struct kept_entry *oldest(const struct searches *s)
{
    return CONTAINER_OF(s->order.next, struct kept_entry, at);
}

void search_state_done(struct search_state *s)
{
    while (!list_empty(&s->last->order))
        entry_drop(s->last, oldest(s->last));
    map_done(&s->last->by_whose);
    pthread_mutex_destroy(&s->last->lock);
    free(TAKE(s->last));
}

void searches_put(struct searches *s, const char *whose, struct kept_search *k)
{
    struct kept_entry *e = NEW(struct kept_entry), *before;

    e->whose = mem_dup(whose);
    e->kept = *k;
    *k = (struct kept_search){ 0 };
    pthread_mutex_lock(&s->lock);
    before = map_get(&s->by_whose, span_of(whose));
    if (before)
        entry_drop(s, before);
    map_put(&s->by_whose, span_of(whose), e);
    list_append(&s->order, &e->at);
    s->bytes += size_of(e);
    while (s->bytes > SEARCH_KEPT_BYTES && oldest(s) != e)
        entry_drop(s, oldest(s));
    pthread_mutex_unlock(&s->lock);
}

bool searches_get(struct searches *s, const char *whose, kept_fn *fn, void *ctx)
{
    struct kept_entry *e;

    pthread_mutex_lock(&s->lock);
    e = map_get(&s->by_whose, span_of(whose));
    if (e) {
        list_remove(&e->at);
        list_append(&s->order, &e->at);
        fn(&e->kept, ctx);
    }
    pthread_mutex_unlock(&s->lock);
    return e != NULL;
}
