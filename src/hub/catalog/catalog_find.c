#include "catalog_impl.h"
#include "hub/link/link.h"
#include "hub/spec/spec.h"

/* A tool of our own, or an operation of one. */
static const struct entry *find_own(const struct catalog *c, struct span name)
{
    const struct entry *e = sequence_find(catalog_order(c, LIST_TOOLS), name);
    const struct catalog_item *alias;

    if (e && e->group && e->server)
        return e;
    alias = map_get(&c->aliases, name);
    return alias ? &alias->e : NULL;
}

static const struct entry *find_in(const struct catalog *c, struct span server, enum list_kind kind,
                                   struct span name)
{
    const struct catalog_server *s = catalog_server(c, server);
    const struct catalog_item *i = s ? listing_find(&s->lists[kind], name) : NULL;

    if (span_is(server, SPEC_OWN) && kind == LIST_TOOLS)
        return find_own(c, name);
    return i ? &i->e : NULL;
}

/* The part before the first `sep`; false: there is none. */
static bool split(struct span name, char sep, struct span *left, struct span *right)
{
    const char *at = name.n ? memchr(name.p, sep, name.n) : NULL;

    if (!at)
        return false;
    *left = span_make(name.p, (size_t)(at - name.p));
    *right = span_from(name, left->n + 1);
    return true;
}

/* A server's name holds none of these, so the first one ends it. In a URI only "/" can be meant. */
static const struct entry *find_split(const struct catalog *c, const struct scope *s,
                                      enum list_kind kind, struct span name)
{
    const char *separators = catalog_kinds[kind].uri ? "/" : "/.:";
    struct span left, right;

    for (; *separators; separators++) {
        const struct entry *e =
            split(name, *separators, &left, &right) ? find_in(c, left, kind, right) : NULL;

        if (e && scope_shows(c, s, e))
            return e;
    }
    return NULL;
}

static const struct entry *find(const struct catalog *c, const struct scope *s, enum list_kind kind,
                                struct span name)
{
    const struct entry *e = s->server ? find_in(c, span_of(s->server), kind, name) : NULL;

    if (e && scope_shows(c, s, e))
        return e;
    e = sequence_find(catalog_order(c, kind), name);
    if (e && scope_shows(c, s, e))
        return e;
    e = kind == LIST_TOOLS ? find_own(c, name) : NULL;
    if (e && scope_shows(c, s, e))
        return e;
    return find_split(c, s, kind, name);
}

/* Does the name say which server it means, and is that one not here? */
static bool names_stranger(const struct catalog *c, const struct scope *s, struct span name,
                           struct span *server)
{
    struct span rest;

    if (!split(name, '/', server, &rest) && !split(name, '.', server, &rest))
        return false;
    if (s->server)
        return catalog_server(c, *server) && !span_is(*server, s->server);
    return memchr(name.p, '/', name.n) && !catalog_server(c, *server);
}

static int shown(struct span s) { return s.n < MCP_NAME_SHOWN_MAX ? (int)s.n : MCP_NAME_SHOWN_MAX; }

static void tell(const struct catalog *c, const struct scope *s, enum list_kind kind,
                 struct span name, struct pb_error *err)
{
    const struct kind *k = &catalog_kinds[kind];
    AUTO_BUF struct buf like = { 0 };
    struct span server;

    catalog_like(c, s, kind, name, &like);
    if (!k->uri && names_stranger(c, s, name, &server)) {
        if (s->server)
            fault_fail(err, k->missing, "'%.*s' is not a %s of server '%s'%s", shown(name), name.p,
                       k->noun, s->server, buf_cstr(&like));
        else
            fault_fail(err, FAULT_NO_SERVER, "there is no server '%.*s'%s", shown(server), server.p,
                       buf_cstr(&like));
    } else {
        fault_fail(err, k->missing, "there is no %s '%.*s'%s", k->noun, shown(name), name.p,
                   buf_cstr(&like));
    }
    text_make_printable(err->msg);
}

const struct entry *catalog_find(const struct catalog *c, const struct scope *s,
                                 enum list_kind kind, struct span name, struct pb_error *err)
{
    const struct entry *e = find(c, s, kind, name);

    if (!e && err)
        tell(c, s, kind, name, err);
    return e;
}

const struct entry *catalog_find_any(const struct catalog *c, const struct scope *s,
                                     enum list_kind kind, struct span name, struct pb_error *err)
{
    struct scope wide = *s;
    const struct entry *e;

    wide.held_too = true;
    e = find(c, &wide, kind, name);
    if (!e && err)
        tell(c, s, kind, name, err);
    return e;
}
