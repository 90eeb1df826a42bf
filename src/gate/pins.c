#include "pins_impl.h"
#include <stdio.h>

static const char *const state_names[] = {
    [PIN_APPROVED] = "approved", [PIN_HELD] = "held", [PIN_CHANGED] = "changed"
};

const char *pin_state_name(enum pin_state s) { return state_names[s]; }

enum definition_changes definition_changes_of(const char *word)
{
    static const char *const words[] = { [CHANGES_AUTO] = "auto",
                                         [CHANGES_HOLD] = "hold",
                                         [CHANGES_WARN] = "warn",
                                         [CHANGES_OFF] = "off" };

    for (unsigned i = 0; i < ARRAY_LEN(words); i++)
        if (strcmp(words[i], word) == 0)
            return (enum definition_changes)i;
    return CHANGES_AUTO;
}

/* ---- finding ---- */

static void put_key(struct buf *out, enum vet_kind kind, struct span name)
{
    buf_byte(out, (char)('a' + kind));
    buf_add_span(out, name);
}

static struct pin *find_in(const struct pin_server *s, enum vet_kind kind, struct span name)
{
    AUTO_BUF struct buf key = { 0 };

    put_key(&key, kind, name);
    return map_get(&s->pins, buf_span(&key));
}

static struct pin *pin_find(const struct pins *p, const char *server, enum vet_kind kind,
                            struct span name)
{
    const struct pin_server *s = map_get(&p->servers, span_of(server));
    struct pin *pin = s ? find_in(s, kind, name) : NULL;

    return pin && !pin->gone ? pin : NULL;
}

static struct pin_server *get_server(struct pins *p, const char *name)
{
    struct pin_server *s = map_get(&p->servers, span_of(name));

    if (!s) {
        s = NEW(struct pin_server);
        s->name = mem_dup(name);
        map_put(&p->servers, span_of(name), s);
    }
    return s;
}

static struct pin *add_pin(struct pins *p, struct pin_server *s, enum vet_kind kind,
                           struct span name)
{
    AUTO_BUF struct buf key = { 0 };
    struct pin *pin = mem_zero(sizeof *pin + name.n + 1);

    pin->pins = p;
    pin->server = s->name;
    pin->kind = kind;
    pin->name = span_make(name.n ? memcpy(pin + 1, name.p, name.n) : (char *)(pin + 1), name.n);
    put_key(&key, kind, name);
    map_put(&s->pins, buf_span(&key), pin);
    p->n++;
    return pin;
}

/* ---- texts that are kept to be compared ---- */

static void drop_text(struct pin *pin, struct blob **at)
{
    if (!*at)
        return;
    pin->pins->text_bytes -= (*at)->n;
    blob_unref(TAKE(*at));
}

static void keep_text(struct pin *pin, struct blob **at, struct span text)
{
    drop_text(pin, at);
    if (text.n > PINS_TEXT_BYTES - pin->pins->text_bytes)
        return;
    *at = blob_new(text);
    pin->pins->text_bytes += text.n;
}

static void drop_texts(struct pin *pin)
{
    drop_text(pin, &pin->old);
    drop_text(pin, &pin->text);
    if (pin->reading)
        store_cancel(TAKE(pin->reading));
}

void pin_free(struct pin *pin)
{
    drop_texts(pin);
    pin->pins->n--;
    free(pin);
}

static void on_old(void *ctx, struct span bytes, const struct pb_error *err)
{
    struct pin *pin = ctx;

    pin->reading = NULL;
    if (!err)
        keep_text(pin, &pin->old, bytes);
}

/* What was approved: as it stood there a moment ago, else as the store has it. */
static void fetch_old(struct pin *pin, struct span was)
{
    struct store *store = pin->pins->g->store;
    char cid[CID_CHARS + 1];

    if (was.n) {
        AUTO_BUF struct buf canonical = { 0 };

        if (pin->kind == VET_INSTRUCTIONS)
            buf_add_span(&canonical, was);
        else
            definition_canonical(&canonical, was);
        keep_text(pin, &pin->old, buf_span(&canonical));
    } else if (store && !pin->old && !pin->reading && !pin->pins->closed) {
        lock_cid(pin->approved, cid);
        pin->reading = store_object(store, cid, on_old, pin);
    }
}

static void pin_in_store(const struct pin *pin, struct span text)
{
    AUTO_BUF struct buf name = { 0 };

    if (!pin->pins->g->store || !text.n)
        return;
    buf_printf(&name, "%s %s/", vet_kind_name(pin->kind), pin->server);
    buf_add_span(&name, pin->name);
    store_pin(pin->pins->g->store, buf_cstr(&name), text);
}

/* ---- what is told of it ---- */

static void put_names(struct buf *out, const struct pin_server *s, enum pin_state state)
{
    struct map_slot *slot;
    size_t n = 0;

    MAP_FOREACH(slot, &s->pins) {
        const struct pin *pin = slot->value;
        size_t shown = pin->name.n < MCP_NAME_SHOWN_MAX ? pin->name.n : MCP_NAME_SHOWN_MAX;

        if (pin->gone || pin->state != state || n++ >= PINS_TOLD_MAX)
            continue;
        buf_str(out, n > 1 ? ", " : " ");
        if (pin->kind == VET_INSTRUCTIONS)
            buf_str(out, "its instructions");
        else
            buf_printf(out, "%s '%.*s'", vet_kind_name(pin->kind), (int)shown, pin->name.p);
    }
    if (n > PINS_TOLD_MAX)
        buf_printf(out, " and %zu more", n - PINS_TOLD_MAX);
}

static size_t beyond_of(const struct pin_server *s)
{
    size_t n = 0;

    for (int k = 0; k < VET_KINDS; k++)
        n += s->beyond[k];
    return n;
}

static void write_message(struct buf *out, const struct pin_server *s)
{
    size_t beyond = beyond_of(s);

    if (s->held) {
        buf_str(out, "Changed since it was approved, and held back:");
        put_names(out, s, PIN_HELD);
    }
    if (s->changed) {
        buf_str(out,
                out->n ? ". Changed since it was approved:" : "Changed since it was approved:");
        put_names(out, s, PIN_CHANGED);
    }
    if (beyond)
        buf_printf(out, "%sHeld back: %zu definitions beyond the %d that are kept of one server",
                   out->n ? ". " : "", beyond, PINS_SERVER_MAX);
    buf_printf(out, ". 'patchbay verify %s' shows what, 'patchbay approve %s' lets it in", s->name,
               s->name);
}

static void tell_server(struct pins *p, struct pin_server *s)
{
    AUTO_BUF struct buf message = { 0 };
    struct link *l = hub_link(p->g->hub, s->name);
    size_t beyond = beyond_of(s);
    bool well = !s->held && !s->changed && !beyond;
    uint64_t hash;

    s->news = false;
    if (!l)
        return;
    if (!well)
        write_message(&message, s);
    hash = hash_keyed(buf_span(&message));
    if (s->told == hash)
        return;
    s->told = hash;
    if (!well) {
        link_log(l, PB_LOG_WARNING, "%s", buf_cstr(&message));
        log_warn("server '%s': %s", s->name, buf_cstr(&message));
    }
    hub_tell_pins(p->g->hub, s->name, s->held + beyond, s->changed,
                  well ? NULL : buf_cstr(&message));
}

/* At the end of the turn, once for all that a server said in it. Who is told may take servers away,
 * not pins. */
static void tell(void *ctx)
{
    struct pins *p = ctx;
    struct map_slot *slot;

    p->deferred = false;
    if (p->freed) {
        free(p);
        return;
    }
    for (size_t at = 0; !p->closed && (slot = map_next(&p->servers, &at));) {
        struct pin_server *s = slot->value;

        if (s->news)
            tell_server(p, s);
    }
}

static void tell_later(struct pins *p, struct pin_server *s)
{
    s->news = true;
    if (!p->deferred) {
        p->deferred = true;
        loop_defer(p->loop, tell, p);
    }
}

static void set_state(struct pin *pin, enum pin_state state)
{
    struct pin_server *s = map_get(&pin->pins->servers, span_of(pin->server));

    s->held -= pin->state == PIN_HELD;
    s->changed -= pin->state == PIN_CHANGED;
    s->held += state == PIN_HELD;
    s->changed += state == PIN_CHANGED;
    if (state == PIN_HELD) {
        pin->first = false; /* the lock must hear of it, whatever it knows by now */
        memcpy(pin->refused, pin->seen, SHA512_BYTES);
    }
    if (pin->state != state && (pin->state == PIN_HELD || state == PIN_HELD)) {
        pin_touch(pin); /* the lock says what is held back */
        gate_forget_looks(pin->pins->g);
    }
    pin->state = state;
    tell_later(pin->pins, s);
}

/* ---- looking ---- */

static void approve_now(struct pin *pin, const uint8_t *digest)
{
    memcpy(pin->approved, digest, SHA512_BYTES);
    memset(pin->refused, 0, SHA512_BYTES);
    pin->approved_at = loop_wall(pin->pins->loop) / 1000 * 1000;
    if (pin->state != PIN_APPROVED)
        set_state(pin, PIN_APPROVED);
    drop_texts(pin);
    pin->first = false;
    pin_touch(pin);
}

/* The first time is trusted. False: there are too many of them to be kept. */
static bool first_seen(struct pins *p, struct pin_server *s, struct pin *gone,
                       const struct vet_item *i)
{
    struct pin *pin = gone;

    if (!pin && (s->pins.n >= PINS_SERVER_MAX || p->n >= PINS_MAX)) {
        s->beyond[i->kind]++;
        tell_later(p, s);
        return false;
    }
    if (!pin)
        pin = add_pin(p, s, i->kind, i->name);
    pin->gone = false;
    pin->seen_at = loop_wall(p->loop);
    approve_now(pin, i->digest);
    pin->first = true;
    pin_in_store(pin, i->canonical);
    return true;
}

/* What becomes of one that differs. */
static enum pin_state judge(const struct pin *pin, const struct spec *spec,
                            const struct vet_item *i, bool running)
{
    bool told = pin->state == PIN_CHANGED && memcmp(pin->seen, i->digest, SHA512_BYTES) == 0;

    switch (pin->pins->changes) {
    case CHANGES_HOLD:
        return PIN_HELD;
    case CHANGES_WARN:
        return PIN_CHANGED;
    default:
        if (pin->state == PIN_HELD || memcmp(pin->refused, i->digest, SHA512_BYTES) == 0)
            return PIN_HELD;
        return (running && !told) || spec_is_foreign(spec) ? PIN_HELD : PIN_CHANGED;
    }
}

static void note_change(struct pin *pin, const struct vet_item *i, enum pin_state state)
{
    AUTO_BUF struct buf canonical = { 0 };
    bool fresh = pin->state == PIN_APPROVED;
    bool other = fresh || memcmp(pin->seen, i->digest, SHA512_BYTES) != 0;

    if (pin->state == state && !other &&
        pin->text) /* and it has been told since the program runs */
        return;
    buf_add_span(&canonical, i->canonical);
    if (!canonical.n)
        definition_canonical(&canonical, i->text);
    fetch_old(pin, fresh ? i->was : SPAN(""));
    keep_text(pin, &pin->text, buf_span(&canonical));
    memcpy(pin->seen, i->digest, SHA512_BYTES);
    if (other && state == PIN_HELD)
        pin_touch(pin);
    set_state(pin, state);
}

/* All of one list is about to be looked at. */
static void begin_look(void *ctx, const char *server, enum vet_kind kind)
{
    struct pins *p = ctx;
    struct pin_server *s = map_get(&p->servers, span_of(server));

    if (!s || !s->beyond[kind])
        return;
    s->beyond[kind] = 0;
    tell_later(p, s);
}

static bool look(void *ctx, const struct spec *spec, const struct vet_item *i, bool running)
{
    struct pins *p = ctx;
    struct pin_server *s;
    struct pin *pin;
    enum pin_state state;

    if (p->changes == CHANGES_OFF)
        return false;
    s = get_server(p, spec->name);
    pin = find_in(s, i->kind, i->name);
    if (!pin || pin->gone)
        return !first_seen(p, s, pin, i);
    pin->seen_at = loop_wall(p->loop);
    if (memcmp(pin->approved, i->digest, SHA512_BYTES) == 0) {
        if (pin->state != PIN_APPROVED)
            set_state(pin, PIN_APPROVED);
        drop_texts(pin);
        return false;
    }
    state = judge(pin, spec, i, running);
    note_change(pin, i, state);
    return state == PIN_HELD;
}

static void explain(void *ctx, const char *server, enum vet_kind kind, struct span name,
                    struct pb_error *err)
{
    const struct pin *pin = pin_find(ctx, server, kind, name);
    int shown = name.n < MCP_NAME_SHOWN_MAX ? (int)name.n : MCP_NAME_SHOWN_MAX;
    char at[CLOCK_ISO_CHARS + 1] = "";

    if (!pin) {
        fault_fail(err, FAULT_HELD,
                   "'%.*s' of server '%s' is held back: what is kept of definitions is full (%d of "
                   "one server, %d of all); 'patchbay approve %s' forgets those that it does not "
                   "list any more, and makes room",
                   shown, name.p, server, PINS_SERVER_MAX, PINS_MAX, server);
        return;
    }
    clock_iso(pin->approved_at, at);
    fault_fail(
        err, FAULT_HELD,
        "the definition of '%.*s' of server '%s' has changed since it was approved on %.10s; "
        "'patchbay verify %s' shows what changed, 'patchbay approve %s.%.*s' lets it in",
        shown, name.p, server, at, server, server, shown, name.p);
    text_make_printable(err->msg);
}

/* ---- approving ---- */

bool pin_fits(const struct pin *pin, const struct pin_choice *c)
{
    return !pin->gone && (!c->server || strcmp(c->server, pin->server) == 0) &&
           (c->kind < 0 || c->kind == (int)pin->kind) &&
           (!c->name.p || span_eq(c->name, pin->name));
}

static bool is_listed(const struct pins *p, const struct pin *pin)
{
    struct scope one = { .server = pin->server, .disabled_too = true, .held_too = true };

    return pin->kind == VET_INSTRUCTIONS || !catalog_knows(hub_catalog(p->g->hub), pin->server) ||
           catalog_find(hub_catalog(p->g->hub), &one,
                        pin->kind == VET_TOOL ? LIST_TOOLS : LIST_PROMPTS, pin->name, NULL);
}

static void forget(struct pin *pin)
{
    if (pin->state != PIN_APPROVED)
        set_state(pin, PIN_APPROVED);
    drop_texts(pin);
    pin->gone = true;
    pin_touch(pin);
}

static int check_version(const struct pins *p, const struct pin_choice *c, struct pb_error *err)
{
    struct pin_choice whole = { .server = c->server, .kind = -1 };
    char now[2 * SHA256_BYTES + 1];

    if (!c->version)
        return 0;
    pins_version(p, &whole, now);
    return strcmp(now, c->version) == 0
               ? 0
               : fail(err, PB_E_INVALID,
                      "what has changed of server '%s' is not what was looked at any more: look at "
                      "it again, then approve that",
                      c->server);
}

static int check_choice(const struct pins *p, const struct pin_choice *c, struct pb_error *err)
{
    const struct pin_server *s = c->server ? map_get(&p->servers, span_of(c->server)) : NULL;
    char cid[CID_CHARS + 1];
    struct map_slot *slot;
    size_t n = 0;

    if (c->server && !s)
        return fail(err, PB_E_NOT_FOUND, "nothing is known of a server '%.*s'", HUB_NAME_MAX,
                    c->server);
    if (check_version(p, c, err) < 0)
        return -PB_E_INVALID;
    for (size_t at = 0; s && (slot = map_next(&s->pins, &at));) {
        const struct pin *pin = slot->value;

        if (!pin_fits(pin, c))
            continue;
        n++;
        lock_cid(pin->state == PIN_APPROVED ? pin->approved : pin->seen, cid);
        if (c->cid && strcmp(c->cid, cid) != 0)
            return fail(err, PB_E_INVALID,
                        "'%.*s' of server '%s' has changed again since it was looked at",
                        SPAN_ARG(pin->name), pin->server);
        if (c->name.p && pin->state != PIN_APPROVED && !pin->seen_at)
            return fail(
                err, PB_E_INVALID,
                "server '%s' has not said '%.*s' since patchbay runs; 'patchbay connect %s' "
                "asks it",
                pin->server, SPAN_ARG(pin->name), pin->server);
    }
    if (s && c->name.p && !n)
        return fail(err, PB_E_NOT_FOUND, "server '%s' has no '%.*s' that was ever approved",
                    c->server, SPAN_ARG(c->name));
    return 0;
}

static size_t approve_server(struct pin_server *s, const struct pin_choice *c)
{
    struct map_slot *slot;
    size_t n = 0;

    MAP_FOREACH(slot, &s->pins) {
        struct pin *pin = slot->value;

        if (!pin_fits(pin, c) || pin->state == PIN_APPROVED || !pin->seen_at)
            continue;
        pin_in_store(pin, pin->text ? blob_span(pin->text) : SPAN(""));
        approve_now(pin, pin->seen);
        n++;
    }
    return n;
}

static size_t approve(struct pins *p, const struct pin_choice *c)
{
    struct pin_server *one = c->server ? map_get(&p->servers, span_of(c->server)) : NULL;
    struct map_slot *slot;
    size_t n = 0;

    if (c->server)
        return one ? approve_server(one, c) : 0;
    MAP_FOREACH(slot, &p->servers)
        n += approve_server(slot->value, c);
    return n;
}

int pins_approve(struct pins *p, const struct pin_choice *c, size_t n, size_t *done,
                 struct pb_error *err)
{
    *done = 0;
    for (size_t i = 0; i < n; i++) {
        int rc = check_choice(p, &c[i], err);

        if (rc < 0)
            return rc;
    }
    for (size_t i = 0; i < n; i++)
        *done += approve(p, &c[i]);
    gate_forget_looks(p->g);
    hub_vet_again(p->g->hub, n == 1 ? c->server : NULL);
    return 0;
}

/* What is held back stays known however its server hides it; and of one that is away nobody knows
 * what it has. */
static bool may_prune(struct pins *p, const struct pin *pin)
{
    const struct link *l = hub_link(p->g->hub, pin->server);

    return !pin->gone && pin->state == PIN_APPROVED && l && link_state(l) == LINK_CONNECTED &&
           !is_listed(p, pin);
}

void pins_prune(struct pins *p, const char *server)
{
    struct map_slot *one, *slot;

    MAP_FOREACH(one, &p->servers) {
        struct pin_server *s = one->value;

        if (server && strcmp(server, s->name) != 0)
            continue;
        MAP_FOREACH(slot, &s->pins)
            if (may_prune(p, slot->value))
                forget(slot->value);
        if (beyond_of(s))
            tell_later(p, s);
        memset(s->beyond, 0, sizeof s->beyond);
    }
    hub_vet_again(p->g->hub, server);
}

/* ---- the lock, and life ---- */

static void take_pin(struct pins *p, const struct lock_pin *from)
{
    struct pin_server *s = get_server(p, from->server);
    struct pin *pin = find_in(s, from->kind, from->name);

    if (pin && pin->dirty && !pin->first) { /* ours is newer */
        pin->round = p->round;
        return;
    }
    if (!pin)
        pin = add_pin(p, s, from->kind, from->name);
    pin->round = p->round;
    pin->dirty = 0;
    pin->first = pin->gone = false;
    memcpy(pin->approved, from->approved, SHA512_BYTES);
    pin->approved_at = from->approved_at;
    if (from->held && pin->state == PIN_APPROVED &&
        memcmp(from->held_back, from->approved, SHA512_BYTES) != 0) {
        memcpy(pin->seen, from->held_back, SHA512_BYTES);
        pin->state = PIN_HELD; /* told when its server has said it */
        s->held++;
    }
}

/* What somebody has taken out of it is not known any more. */
static void forget_others(struct pins *p)
{
    struct map_slot *server, *slot;

    MAP_FOREACH(server, &p->servers) {
        struct pin_server *s = server->value;

        MAP_FOREACH(slot, &s->pins) {
            struct pin *pin = slot->value;

            if (pin->dirty || pin->state == PIN_HELD || pin->round == p->round)
                continue;
            if (pin->state != PIN_APPROVED)
                set_state(pin, PIN_APPROVED);
            pin->dirty = 0;
            map_del(&s->pins, span_make(slot->key, slot->key_n));
            pin_free(pin);
        }
    }
}

/* A lock that was read again: its pins are taken over, what it does not have is forgotten, and then
 * servers are looked at again, one by one. Each turn of the loop does a part of that. */
struct pins_taking {
    struct pins *p;
    struct lock lock;
    size_t at; /* of its pins */
    char **servers;
    size_t n_servers, server; /* and of these */
    struct timer more;
};

static void taking_free(struct pins_taking *t)
{
    timer_stop(&t->more);
    lock_done(&t->lock);
    for (size_t i = 0; i < t->n_servers; i++)
        free(t->servers[i]);
    free(t->servers);
    free(t);
}

/* Those that there are now; they may come and go while it is gone through them. */
static void list_servers(struct pins_taking *t)
{
    struct map_slot *slot;

    t->servers = mem_alloc((t->p->servers.n + 1) * sizeof *t->servers);
    MAP_FOREACH(slot, &t->p->servers)
        t->servers[t->n_servers++] = mem_dup(((struct pin_server *)slot->value)->name);
}

/* True: that was all. */
static bool take_more(struct pins_taking *t)
{
    struct pins *p = t->p;
    size_t work = 0;

    for (; t->at < t->lock.n && work < PINS_TURN_MAX; work++)
        take_pin(p, &t->lock.v[t->at++]);
    if (t->at < t->lock.n)
        return false;
    if (!t->servers) {
        forget_others(p);
        gate_forget_looks(p->g);
        list_servers(t);
        return false;
    }
    while (t->server < t->n_servers && work < PINS_TURN_MAX) {
        const char *name = t->servers[t->server++];
        const struct pin_server *s = map_get(&p->servers, span_of(name));

        hub_vet_again(p->g->hub, name);
        work += s ? s->pins.n + 1 : 1;
    }
    return t->server == t->n_servers;
}

static void on_more(void *ctx)
{
    struct pins_taking *t = ctx;
    struct pins *p = t->p;

    if (!take_more(t)) {
        timer_start(&t->more, 0);
        return;
    }
    p->taking = NULL;
    taking_free(t);
    pins_taken(p);
}

void pins_take(struct pins *p, struct lock *l)
{
    struct pins_taking *t = NEW(struct pins_taking);

    t->p = p;
    t->lock = *l;
    *l = (struct lock){ 0 };
    timer_init(&t->more, p->loop, on_more, t);
    p->taking = t;
    p->round++;
    on_more(t);
}

struct pins *pins_new(struct gate *g, const struct pins_options *o)
{
    struct pins *p = NEW(struct pins);

    p->g = g;
    p->loop = g->loop;
    p->changes = o->changes;
    pins_file_init(p, o);
    for (size_t i = 0; o->lock && i < o->lock->n; i++)
        take_pin(p, &o->lock->v[i]);
    hub_set_vet(g->hub, &(struct hub_vet){ begin_look, look, explain, p });
    return p;
}

void pins_tune(struct pins *p, enum definition_changes changes)
{
    if (p->changes == changes)
        return;
    p->changes = changes;
    gate_forget_looks(p->g);
    hub_vet_again(p->g->hub, NULL);
}

static void servers_free(struct pins *p)
{
    struct map_slot *server, *slot;

    MAP_FOREACH(server, &p->servers) {
        struct pin_server *s = server->value;

        MAP_FOREACH(slot, &s->pins)
            pin_free(slot->value);
        map_done(&s->pins);
        free(s->name);
        free(s);
    }
    map_done(&p->servers);
}

void pins_close(struct pins *p)
{
    struct map_slot *server, *slot;

    if (!p || p->closed)
        return;
    p->closed = true;
    hub_set_vet(p->g->hub, NULL);
    MAP_FOREACH(server, &p->servers)
        MAP_FOREACH(slot, &((struct pin_server *)server->value)->pins) {
            struct pin *pin = slot->value;

            if (pin->reading)
                store_cancel(TAKE(pin->reading));
        }
    if (p->taking)
        taking_free(TAKE(p->taking));
    pins_file_close(p);
}

void pins_free(struct pins *p)
{
    if (!p)
        return;
    servers_free(p);
    free(p->path);
    if (p->deferred) /* what is due at the end of this turn frees it */
        p->freed = true;
    else
        free(p);
}
