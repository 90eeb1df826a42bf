/* catalog_uris.c - whose is a URI? One that goes out as it is belongs to the server that has been
 * listing it for longest; if none does, to the one that has had a tool of that page for longest, or
 * came first with a template that it fits or by mentioning it. That stays so while this server is
 * away. Every other one goes out as
 *
 *     patchbay://SERVER/ORIGINAL     if the original has only characters that a URI may have
 *     patchbay://SERVER/%66ile...    otherwise, with the first byte and all that must be encoded
 *     ui://patchbay/SERVER/...       the same of what begins with "ui://"
 *
 * No URI begins with "%", so what follows the server tells which of the two it is, and the original
 * comes back exactly. A server's own "patchbay://" is always wrapped: such a server is a hub
 * behind this one, or would like to be taken for another. */
#include "catalog_impl.h"
#include "hub/link/link.h"
#include "mcp/rpc/rpc.h"

/* Hosts want the URIs of pages to begin with "ui://". */
static const char plain_form[] = "patchbay://", page_form[] = "ui://patchbay/";

static bool begins(struct span uri, const char *with)
{
    size_t n = strlen(with);

    return uri.n >= n && span_is_nocase(span_make(uri.p, n), with);
}

bool uri_is_ours(struct span uri) { return begins(uri, plain_form) || begins(uri, page_form); }

/* RFC 3986: what may stand in a URI, "%" aside. */
static bool is_uri_char(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c && strchr("-._~:/?#[]@!$&'()*+,;=", c));
}

static bool is_uri_text(struct span s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!is_uri_char(s.p[i]) && s.p[i] != '%')
            return false;
    return s.n && s.p[0] != '%';
}

static void encode(struct buf *out, struct span uri)
{
    for (size_t i = 0; i < uri.n; i++)
        if (i && is_uri_char(uri.p[i]))
            buf_byte(out, uri.p[i]);
        else
            buf_printf(out, "%%%02x", (unsigned char)uri.p[i]);
}

void uri_wrap(struct buf *out, struct span server, struct span uri, enum list_kind kind)
{
    buf_str(out, begins(uri, "ui://") ? page_form : plain_form);
    buf_add_span(out, server);
    buf_byte(out, '/');
    /* a template stays one: whoever fills it in encodes its values and literals */
    if (kind == LIST_TEMPLATES || is_uri_text(uri))
        buf_add_span(out, uri);
    else
        encode(out, uri);
}

static int hex(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c = (char)(c | 0x20);
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* False: not of the encoded form. */
static bool decode(struct buf *out, struct span s)
{
    while (s.n) {
        int high = s.n > 2 ? hex(s.p[1]) : -1, low = s.n > 2 ? hex(s.p[2]) : -1;

        if (s.p[0] != '%') {
            buf_byte(out, s.p[0]);
            s = span_from(s, 1);
        } else if (high < 0 || low < 0) {
            return false;
        } else {
            buf_byte(out, (char)(uint8_t)(high * 16 + low));
            s = span_from(s, 3);
        }
    }
    return utf8_valid(buf_span(out));
}

/* Takes "patchbay://SERVER/..." apart; *uri lies in the text or the arena. */
static bool unwrap(struct span text, struct span *server, struct span *uri, struct arena *a)
{
    AUTO_BUF struct buf plain = { 0 };
    const char *slash;

    if (!uri_is_ours(text))
        return false;
    text = span_from(text, strlen(begins(text, plain_form) ? plain_form : page_form));
    slash = text.n ? memchr(text.p, '/', text.n) : NULL;
    if (!slash)
        return false;
    *server = span_make(text.p, (size_t)(slash - text.p));
    *uri = span_from(text, server->n + 1);
    if (uri->n && uri->p[0] == '%' && decode(&plain, *uri))
        *uri = span_make(arena_dup(a, buf_span(&plain)), plain.n);
    return uri->n > 0;
}

/* ---- Templates --------------------------------------------------------------------------- */

static bool fits(const struct catalog_item *template, struct span uri, size_t *steps)
{
    AUTO_BUF struct buf values = { 0 };

    return template->match && uri.n <= CATALOG_FIT_BYTES_MAX &&
           uri_template_match(template->match, uri, steps, &values);
}

/* Of a server that is away too: nobody else gets what is its own. */
static bool may_have(const struct catalog *c, const struct scope *s, const struct entry *e)
{
    return entry_is_away(e) ? scope_shows_server(c, s, e->server) : scope_shows(c, s, e);
}

/* The oldest that fits. When the steps do not suffice there is none, and *steps is 0. */
static const struct catalog_item *fitting(const struct catalog *c, const struct scope *s,
                                          struct span uri, size_t *steps)
{
    const struct sequence *o = catalog_order(c, LIST_TEMPLATES);

    for (size_t i = 0; i < o->n_aged && *steps; i++)
        if (may_have(c, s, &o->aged[i]->e) && fits(o->aged[i], uri, steps))
            return o->aged[i];
    return NULL;
}

/* ---- Routing ----------------------------------------------------------------------------- */

/* What one server has under its own URI. */
static const struct entry *own_entry(const struct catalog_server *s, struct span uri)
{
    const struct catalog_item *i = listing_find(&s->lists[LIST_RESOURCES], uri);
    const struct listing *templates = &s->lists[LIST_TEMPLATES];
    size_t steps = CATALOG_STEPS_MAX;

    if (i)
        return &i->e;
    for (size_t k = 0; k < templates->n && steps; k++)
        if (fits(&templates->items[k], uri, &steps))
            return &templates->items[k].e;
    return NULL;
}

/* Everything belongs to the one server, which may have more than it lists. */
static struct uri_route route_within(const struct catalog *c, const struct scope *s,
                                     struct span uri, struct arena *a)
{
    const struct catalog_server *one = catalog_server(c, span_of(s->server));
    struct uri_route r = { .server = s->server, .uri = uri };
    struct span server, inner;

    r.entry = one ? own_entry(one, uri) : NULL;
    if (!r.entry && unwrap(uri, &server, &inner, a) && span_is(server, s->server)) {
        r.uri = inner;
        r.entry = one ? own_entry(one, inner) : NULL;
    }
    return r;
}

/* It says whose it is. Nobody else may have it, by a wide template say, when that one is gone. */
static struct uri_route route_wrapped(const struct catalog *c, struct span uri, struct arena *a)
{
    struct span server, inner;
    const struct catalog_server *one =
        unwrap(uri, &server, &inner, a) ? map_get(&c->servers, server) : NULL;

    if (!one)
        return (struct uri_route){ .uri = uri };
    return (struct uri_route){ one->name, inner, own_entry(one, inner) };
}

static struct uri_route route_to(const struct entry *e, struct span uri)
{
    return (struct uri_route){ e->server, uri, entry_is_away(e) ? NULL : e };
}

static struct uri_route route(const struct catalog *c, const struct scope *s, struct span uri,
                              struct arena *a, size_t *steps)
{
    const struct entry *e = sequence_find(catalog_order(c, LIST_RESOURCES), uri);
    const struct catalog_item *template, *page;
    const struct seen_uri *seen;

    if (s->server && !s->no_external)
        return route_within(c, s, uri, a);
    if (e && may_have(c, s, e))
        return route_to(e, e->name);
    if (uri_is_ours(uri) && !s->no_external)
        return route_wrapped(c, uri, a);
    page = s->no_external ? NULL : map_get(&catalog_order(c, LIST_TOOLS)->pages, uri);
    if (page)
        return (struct uri_route){ .server = page->e.server, .uri = uri };
    template = uri_is_ours(uri) ? NULL : fitting(c, s, uri, steps);
    seen = s->no_external ? NULL : map_get(&c->seen, uri);
    if (template && (!seen || template->since <= seen->since))
        return route_to(&template->e, uri);
    if (seen)
        return (struct uri_route){ .server = seen->server, .uri = uri };
    return (struct uri_route){ .uri = uri };
}

struct uri_route catalog_route(const struct catalog *c, const struct scope *s, struct span uri,
                               struct arena *a)
{
    size_t steps = CATALOG_STEPS_MAX;

    return catalog_route_within(c, s, uri, a, &steps);
}

/* Who is hidden has nothing, however it is asked for. */
struct uri_route catalog_route_within(const struct catalog *c, const struct scope *s,
                                      struct span uri, struct arena *a, size_t *steps)
{
    struct uri_route r = route(c, s, uri, a, steps);

    if (r.server && !scope_shows_server(c, s, r.server))
        return (struct uri_route){ .uri = uri };
    return r;
}

struct span catalog_out_uri(const struct catalog *c, const struct scope *s, const char *server,
                            struct span uri, struct arena *a, size_t *steps)
{
    AUTO_BUF struct buf b = { 0 };
    struct uri_route r;

    if (s->server || !uri.n)
        return uri;
    if (!uri_is_ours(uri) && *steps) {
        r = route(c, s, uri, a, steps); /* a hidden server has it all the same */
        if (*steps && r.server && strcmp(r.server, server) == 0)
            return uri;
        /* nobody's yet, and short enough for catalog_note_uri() */
        if (*steps && !r.server && !r.entry && uri.n <= CATALOG_NAME_MAX)
            return uri;
    }
    /* Also when the steps were not enough to tell: this form is right whoever has the other. */
    uri_wrap(&b, span_of(server), uri, LIST_RESOURCES);
    return span_make(arena_dup(a, buf_span(&b)), b.n);
}

/* ---- Mentioned in results ---------------------------------------------------------------- */

static void seen_free(struct catalog *c, struct seen_uri *s)
{
    list_remove(&s->link);
    list_remove(&s->own);
    s->by->n--;
    map_del(&c->seen, s->uri);
    free(s->server);
    free(s);
}

static void mentions_free(struct catalog *c, struct mentions *m)
{
    while (m && !list_empty(&m->seen))
        seen_free(c, CONTAINER_OF(m->seen.next, struct seen_uri, own));
    free(m);
}

void seen_drop(struct catalog *c, const char *server)
{
    struct map_slot *slot;

    if (server) {
        mentions_free(c, map_del(&c->mentions, span_of(server)));
        return;
    }
    MAP_FOREACH(slot, &c->mentions)
        mentions_free(c, slot->value);
}

static struct mentions *mentions_of(struct catalog *c, const char *server)
{
    struct mentions *m = map_get(&c->mentions, span_of(server));

    if (!m) {
        m = NEW(struct mentions);
        list_init(&m->seen);
        map_put(&c->mentions, span_of(server), m);
    }
    return m;
}

/* The place of the one that was not mentioned for longest, if there is none left. */
static void make_place(struct catalog *c, struct mentions *m)
{
    if (m->n == CATALOG_SEEN_SERVER_MAX)
        seen_free(c, CONTAINER_OF(m->seen.next, struct seen_uri, own));
    else if (c->seen.n == CATALOG_SEEN_MAX)
        seen_free(c, CONTAINER_OF(c->seen_age.next, struct seen_uri, link));
}

static void seen_touch(struct catalog *c, struct seen_uri *s)
{
    list_remove(&s->link);
    list_append(&c->seen_age, &s->link);
    list_remove(&s->own);
    list_append(&s->by->seen, &s->own);
}

void catalog_note_uri(struct catalog *c, const char *server, struct span uri)
{
    struct seen_uri *s = map_get(&c->seen, uri);
    const struct catalog_server *one = catalog_server(c, span_of(server));

    if (!uri.n || uri.n > CATALOG_NAME_MAX || uri_is_ours(uri))
        return;
    /* found without our help; the places are for those that are not */
    if (!s && one && listing_find(&one->lists[LIST_RESOURCES], uri))
        return;
    if (s) {
        /* the first keeps it: clients hold that URI already */
        if (strcmp(s->server, server) == 0)
            seen_touch(c, s);
        return;
    }
    s = mem_zero(sizeof *s + uri.n);
    s->server = mem_dup(server);
    s->by = mentions_of(c, server);
    s->since = ++c->since;
    s->uri = span_make(memcpy(s + 1, uri.p, uri.n), uri.n);
    make_place(c, s->by);
    list_append(&c->seen_age, &s->link);
    list_append(&s->by->seen, &s->own);
    s->by->n++;
    map_put(&c->seen, uri, s);
}
