/* pins_put.c - pins as JSON. */
#include "pins_impl.h"

static int by_place(const void *x, const void *y)
{
    const struct pin *a = *(const struct pin *const *)x, *b = *(const struct pin *const *)y;
    int c = (a->state == PIN_APPROVED) - (b->state == PIN_APPROVED);

    if (c == 0)
        c = strcmp(a->server, b->server);
    if (c == 0)
        c = strcmp(vet_kind_name(a->kind), vet_kind_name(b->kind));
    return c ? c : span_cmp(a->name, b->name);
}

/* Those that are asked for, in order; the caller frees. */
static const struct pin **choose(const struct pins *p, const struct pin_choice *c, size_t *n)
{
    const struct pin **all = mem_alloc(((p ? p->n : 0) + 1) * sizeof *all);
    struct map_slot *server, *slot;

    *n = 0;
    if (!p)
        return all;
    MAP_FOREACH(server, &p->servers) {
        const struct pin_server *s = server->value;

        for (size_t at = 0;
             (!c->server || !strcmp(c->server, s->name)) && (slot = map_next(&s->pins, &at));)
            if (pin_fits(slot->value, c))
                all[(*n)++] = slot->value;
    }
    if (*n)
        qsort(all, *n, sizeof(const struct pin *), by_place);
    return all;
}

static void version_of(const struct pin *const *all, size_t n,
                       char out[static 2 * SHA256_BYTES + 1])
{
    AUTO_BUF struct buf text = { 0 };
    char cid[CID_CHARS + 1];

    for (size_t i = 0; i < n && all[i]->state != PIN_APPROVED; i++) {
        lock_cid(all[i]->seen, cid);
        buf_printf(&text, "%s\n%s\n%zu ", all[i]->server, vet_kind_name(all[i]->kind),
                   all[i]->name.n);
        buf_add_span(&text, all[i]->name);
        buf_printf(&text, "\n%s\n", cid);
    }
    sha256_hex(buf_span(&text), out);
}

void pins_version(const struct pins *p, const struct pin_choice *c,
                  char out[static 2 * SHA256_BYTES + 1])
{
    size_t n;
    const struct pin **all = choose(p, c, &n);

    version_of(all, n, out);
    free(all);
}

struct pins_writing {
    struct json_out *o;
    size_t steps, room; /* for comparing, and for what comes of it */
    bool one;           /* somebody looks at this one */
};

/* Of texts that are too long to be looked at whole: from the last member that begins before they
 * differ. */
static void narrow(struct span *old, struct span *fresh)
{
    size_t least = old->n < fresh->n ? old->n : fresh->n, at = 0;

    if (old->n <= PIN_DIFF_TEXT_MAX && fresh->n <= PIN_DIFF_TEXT_MAX)
        return;
    while (at < least && old->p[at] == fresh->p[at])
        at++;
    while (at && !(fresh->p[at - 1] == ',' && at < fresh->n && fresh->p[at] == '"'))
        at--;
    *old = utf8_cut(span_from(*old, at < old->n ? at : old->n), PIN_DIFF_TEXT_MAX);
    *fresh = utf8_cut(span_from(*fresh, at), PIN_DIFF_TEXT_MAX);
}

/* As people may see it. Returns whether something is taken out. */
static bool put_shown(const struct gate *g, struct buf *out, struct span text)
{
    AUTO_BUF struct buf known = { 0 };
    bool redacted;

    buf_add_span(&known, text);
    redacted = g->redact && g->redact(g->redact_ctx, &known, NULL);
    diff_pretty(out, buf_span(&known));
    return redacted;
}

static void put_words(struct buf *out, const struct link *l)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_ARENA struct arena a = { 0 };
    struct link_facts facts = { 0 };

    if (l)
        link_facts(l, &facts);
    if (facts.instructions.n && json_parse(&doc, facts.instructions, NULL, NULL) == 0)
        buf_add_span(out, json_str(json_root(&doc), &a));
}

/* What its server says of it now, canonical, when it is not kept; nothing if it is not at hand. */
static void put_text(struct buf *out, const struct pin *pin)
{
    const struct hub *h = pin->pins->g->hub;
    struct scope one = { .server = pin->server, .disabled_too = true, .held_too = true };
    uint8_t digest[SHA512_BYTES];
    const struct entry *e = NULL;

    if (pin->kind == VET_INSTRUCTIONS)
        put_words(out, hub_link(h, pin->server));
    else
        e = catalog_find(hub_catalog(h), &one, pin->kind == VET_TOOL ? LIST_TOOLS : LIST_PROMPTS,
                         pin->name, NULL);
    if (e)
        definition_canonical(out, e->text);
    sha512(buf_span(out), digest);
    if (memcmp(digest, pin->seen, SHA512_BYTES) != 0)
        out->n = 0;
}

/* There is none: it may be approved all the same, so it is told why, and how it can be seen. */
static void put_missing(struct pins_writing *w, const struct pin *pin)
{
    json_put_str(w->o, "diff_missing", pin->seen_at ? "room" : "unsaid");
}

/* Without the old text all of the new one is what came. */
static void put_diff(struct pins_writing *w, const struct pin *pin)
{
    AUTO_BUF struct buf old = { 0 }, fresh = { 0 }, found = { 0 };
    struct span was = pin->old ? blob_span(pin->old) : SPAN("");
    struct span is = pin->text ? blob_span(pin->text) : SPAN("");
    size_t before = w->o->b->n, whole = was.n + is.n;
    const struct gate *g = pin->pins->g;
    bool redacted;
    struct diff d;

    if (!pin->text && w->one) {
        put_text(&found, pin);
        is = buf_span(&found);
        whole += is.n;
    }
    if (!is.n || !w->room) {
        put_missing(w, pin);
        return;
    }
    narrow(&was, &is);
    redacted = put_shown(g, &old, was);
    redacted |= put_shown(g, &fresh, is);
    diff_words(&d, buf_span(&old), buf_span(&fresh), &w->steps);
    if (!diff_write(w->o, "diff", &d) || was.n + is.n < whole)
        json_put_bool(w->o, "diff_cut", true);
    if (redacted)
        json_put_bool(w->o, "redacted", true);
    if (!pin->old)
        json_put_bool(w->o, "old_missing", true);
    diff_done(&d);
    w->room -= w->o->b->n - before < w->room ? w->o->b->n - before : w->room;
}

static void put_pin(struct pins_writing *w, const struct pin *pin)
{
    char cid[CID_CHARS + 1];

    json_begin_object(w->o, NULL);
    json_put_str(w->o, "server", pin->server);
    json_put_str(w->o, "kind", vet_kind_name(pin->kind));
    json_put_span(w->o, "name", pin->name);
    json_put_str(w->o, "state", pin_state_name(pin->state));
    lock_cid(pin->approved, cid);
    json_put_str(w->o, "approved_cid", cid);
    lock_cid(pin->state == PIN_APPROVED ? pin->approved : pin->seen, cid);
    json_put_str(w->o, "cid", cid);
    json_put_seconds(w->o, "approved_at", pin->approved_at);
    if (pin->seen_at)
        json_put_seconds(w->o, "seen_at", pin->seen_at);
    if (pin->state != PIN_APPROVED)
        put_diff(w, pin);
    json_end(w->o);
}

void pins_put(struct pins *p, struct json_out *o, const struct pin_choice *c)
{
    struct pins_writing w = { o, PIN_DIFF_STEPS_MAX, PIN_DIFFS_BYTES_MAX, c->name.p != NULL };
    size_t n, count[PIN_CHANGED + 1] = { 0 };
    char version[2 * SHA256_BYTES + 1];
    const struct pin **all = choose(p, c, &n);

    for (size_t i = 0; i < n; i++)
        count[all[i]->state]++;
    json_begin_array(o, "pins");
    for (size_t i = 0; i < n && i < PINS_PAGE_MAX; i++)
        put_pin(&w, all[i]);
    json_end(o);
    for (unsigned s = 0; s < ARRAY_LEN(count); s++)
        json_put_uint(o, pin_state_name((enum pin_state)s), count[s]);
    version_of(all, n, version);
    json_put_str(o, "version", version);
    json_put_str_opt(o, "lock", p ? p->path : NULL);
    if (p && p->problem.code)
        json_put_str(o, "problem", p->problem.msg);
    free(all);
}
