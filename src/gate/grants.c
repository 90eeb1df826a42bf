#include "grants.h"

struct grants {
    struct pb_loop *loop;
    struct map by_key;    /* "conversation\noperation" -> struct grant */
    struct map automatic; /* conversation -> enum question_by, who said so */
    loop_fn *more;
    void *ctx;
};

struct grants *grants_new(struct pb_loop *loop, loop_fn *more, void *ctx)
{
    struct grants *g = NEW(struct grants);

    g->loop = loop;
    g->more = more;
    g->ctx = ctx;
    return g;
}

static void grant_free(struct grant *one)
{
    if (!one)
        return;
    free(one->conversation);
    free(one->operation);
    free(one);
}

void grants_free(struct grants *g)
{
    if (!g)
        return;
    grants_revoke_all(g, NULL);
    map_done(&g->by_key);
    map_done(&g->automatic);
    free(g);
}

static void write_key(struct buf *out, const char *conversation, const char *operation)
{
    buf_printf(out, "%s\n%s", conversation, operation);
}

static bool is_over(const struct grants *g, const struct grant *one)
{
    return loop_now(g->loop) >= one->due || (one->once && one->used);
}

/* Takes out what is over, so that it does not count. */
static void sweep(struct grants *g)
{
    struct map_slot *slot;

    MAP_FOREACH(slot, &g->by_key) {
        struct grant *one = slot->value;

        if (is_over(g, one)) {
            map_del(&g->by_key, span_make(slot->key, slot->key_n));
            grant_free(one);
        }
    }
}

int grants_add(struct grants *g, const char *conversation, const char *operation, uint64_t ms,
               bool once, unsigned by, const struct grant **out, struct pb_error *err)
{
    AUTO_BUF struct buf key = { 0 };
    struct grant *one;

    if (!ms)
        ms = GRANT_MS;
    if (ms > GRANT_MAX_S * UINT64_C(1000))
        return fail(err, PB_E_INVALID, "a grant is for at most %d days", GRANT_MAX_S / 86400);
    if (strlen(conversation) > GRANT_TEXT_MAX || strlen(operation) > GRANT_TEXT_MAX)
        return fail(err, PB_E_INVALID, "a conversation and an operation have at most %d bytes",
                    GRANT_TEXT_MAX);
    write_key(&key, conversation, operation);
    if (g->by_key.n >= GRANTS_MAX)
        sweep(g);
    if (g->by_key.n >= GRANTS_MAX && !map_get(&g->by_key, buf_span(&key)))
        return fail(err, PB_E_LIMIT, "there are %d grants already; revoke some", GRANTS_MAX);
    one = NEW(struct grant);
    id_new(one->id);
    one->conversation = mem_dup(conversation);
    one->operation = mem_dup(operation);
    one->made_at = loop_wall(g->loop);
    one->expires_at = one->made_at + (int64_t)ms;
    one->due = loop_now(g->loop) + ms;
    one->once = once;
    one->by = by;
    grant_free(map_put(&g->by_key, buf_span(&key), one));
    if (out)
        *out = one;
    g->more(g->ctx);
    return 0;
}

static struct grant *find(struct grants *g, const char *conversation, const char *operation)
{
    AUTO_BUF struct buf key = { 0 };
    struct grant *one;

    if (!g->by_key.n)
        return NULL;
    write_key(&key, conversation, operation);
    one = map_get(&g->by_key, buf_span(&key));
    if (!one || !is_over(g, one))
        return one;
    map_del(&g->by_key, buf_span(&key));
    grant_free(one);
    return NULL;
}

bool grants_allow(struct grants *g, const char *conversation, const char *operation, unsigned by)
{
    const struct grant *one = find(g, conversation, operation);

    return one && one->by & by;
}

bool grants_use(struct grants *g, const char *conversation, const char *operation)
{
    struct grant *one = find(g, conversation, operation);

    if (one)
        one->used++;
    return one != NULL;
}

int grants_set_auto(struct grants *g, const char *conversation, bool on, unsigned by,
                    struct pb_error *err)
{
    if (!on) {
        map_del(&g->automatic, span_of(conversation));
        return 0;
    }
    if (strlen(conversation) > GRANT_TEXT_MAX)
        return fail(err, PB_E_LIMIT, "the name of a conversation has at most %d bytes",
                    GRANT_TEXT_MAX);
    if (g->automatic.n >= GRANTS_MAX && !grants_auto(g, conversation, ~0U))
        return fail(err, PB_E_LIMIT, "%d conversations are approved as a whole already; end some",
                    GRANTS_MAX);
    map_put(&g->automatic, span_of(conversation), (void *)(uintptr_t)by);
    g->more(g->ctx);
    return 0;
}

bool grants_auto(const struct grants *g, const char *conversation, unsigned by)
{
    return g->automatic.n && (uintptr_t)map_get(&g->automatic, span_of(conversation)) & by;
}

bool grants_revoke(struct grants *g, const char *id)
{
    struct map_slot *slot;

    MAP_FOREACH(slot, &g->by_key) {
        struct grant *one = slot->value;

        if (strcmp(one->id, id) == 0) {
            map_del(&g->by_key, span_make(slot->key, slot->key_n));
            grant_free(one);
            return true;
        }
    }
    return false;
}

size_t grants_revoke_all(struct grants *g, const char *conversation)
{
    struct map_slot *slot;
    size_t n = 0;

    MAP_FOREACH(slot, &g->by_key) {
        struct grant *one = slot->value;

        if (conversation && strcmp(one->conversation, conversation) != 0)
            continue;
        map_del(&g->by_key, span_make(slot->key, slot->key_n));
        grant_free(one);
        n++;
    }
    return n;
}

void grant_write(struct json_out *o, const struct grant *one)
{
    json_begin_object(o, NULL);
    json_put_str(o, "id", one->id);
    json_put_str(o, "conversation", one->conversation);
    json_put_str(o, "operation", one->operation);
    json_put_seconds(o, "made_at", one->made_at);
    json_put_seconds(o, "expires_at", one->expires_at);
    json_put_bool(o, "once", one->once);
    json_put_uint(o, "used", one->used);
    json_end(o);
}

void grants_members(struct json_out *o, struct grants *g)
{
    struct map_slot *slot;

    sweep(g);
    json_begin_array(o, "grants");
    MAP_FOREACH(slot, &g->by_key)
        grant_write(o, slot->value);
    json_end(o);
    json_begin_array(o, "auto_approve");
    MAP_FOREACH(slot, &g->automatic)
        json_put_str(o, NULL, slot->key);
    json_end(o);
}
