/* catalog_impl.h - what the files of the catalog share; nobody else includes it.
 *
 * Per server and kind one listing: the array as it came, one struct catalog_item per entry, sorted
 * by name, and one block of names. Ids are "server/name", and a server's name holds no "/", so all
 * entries in order are the listings one after the other, in the order of "server/". That sequence
 * and the index of outward names (struct sequence) are made when something is read after a change.
 * Of entries that want the same outward name the one that has been listed for longest has it, also
 * while its server is away.
 *
 *   catalog.c          servers and what they list; what a scope shows
 *   catalog_list.c     reading one list
 *   catalog_names.c    outward names
 *   catalog_order.c    all entries in order, and by outward name
 *   catalog_find.c     an entry by any of its names
 *   catalog_near.c     names like one that is not there
 *   catalog_pages.c    the pages of MCP Apps that tools name
 *   catalog_render.c   a list as its clients see it, made once
 *   catalog_uris.c     whose a URI is */
#pragma once
#include "catalog.h"
#include "hub/link/link.h"
#include "hub/spec/spec.h"
#include "mcp/rpc/rpc.h"

/* What is fixed about a kind of list. */
struct kind {
    const char *noun, *key; /* "tool"; the member that names an item */
    size_t name_max, most;  /* most: of one server */
    enum fault missing;
    bool uri; /* its names are URIs or templates */
};
extern const struct kind catalog_kinds[LIST_KINDS];

/* Where a tool's text names the page of an MCP App, and which one that is. */
struct pages {
    size_t n;
    struct page {
        size_t at, n; /* of the value in e.text, quotes included */
        struct span uri;
    } v[META_PAGES];
    struct arena arena;
};

struct catalog_item {
    struct entry e;
    uint32_t value_at, value_n; /* of its name or URI in e.text, quotes included */
    uint32_t at;                /* its place in the array, those that were left out counted */
    uint8_t wire_n;             /* tools and prompts: the outward name lies behind e.id */
    struct uri_template *match; /* templates: read once; NULL: it is not understood */
    struct pages *pages;        /* tools: NULL: none */
    uint64_t since; /* when its server began to list it, as the catalog counts; built-ins: 0 */
};

/* What one server lists of one kind. */
struct listing {
    char *text;
    size_t text_n;
    struct catalog_item *items;
    size_t n;
    char *names;
    bool cut;        /* the text is not all that the server wrote, but */
    uint64_t cut_of; /* this is the hash of that */
    size_t left_out; /* items past the bounds of one server */
};

/* Whether a filter shows a server; looked up for each of its resources, so it is kept. */
struct server_shown {
    uint8_t digest[SHA256_BYTES]; /* of the filter */
    uint64_t version;             /* of the tools, + 1; 0: nothing is kept */
    bool answer;
};

struct catalog_server {
    char *name;
    bool away; /* nothing of it is here but what it had: */
    struct listing lists[LIST_KINDS];
    struct listing before[LIST_KINDS]; /* what `lists` replaced, until catalog_hold() */
    struct listing had[LIST_KINDS];    /* without texts; kept until it lists again */
    struct server_shown shown;
};

struct sequence {
    bool valid;
    const struct entry **entries; /* behind the n that are here, those of servers that are away */
    size_t n, n_all;
    uint32_t *index; /* open addressing by outward name into entries; 0: empty, else place + 1 */
    size_t mask;
    struct arena wires; /* outward URIs that had to be made */
    /* Templates that are understood, of servers that are away too, the oldest first. */
    const struct catalog_item **aged;
    size_t n_aged;
    struct map pages; /* URI of a tool's page -> the oldest item that names it */
};

/* A rendered list and the scope that it was made for. */
struct render {
    struct blob *blob; /* NULL: none */
    char *server;
    bool filtered, no_external;
    uint8_t digest[SHA256_BYTES];
    unsigned builtins;
    uint64_t used; /* when, as the catalog counts */
};

struct catalog_shelf {
    struct catalog_item **builtins;
    size_t n_builtins;
    size_t items, bytes; /* of all servers */
    size_t away;         /* items that are remembered of servers that are away */
    uint64_t version;
    struct render renders[CATALOG_RENDERS_MAX];
};

/* What the results of one server mentioned. */
struct mentions {
    struct list seen; /* the oldest first */
    size_t n;
};

struct seen_uri {
    struct list link; /* in catalog.seen_age */
    struct list own;  /* in mentions.seen */
    struct mentions *by;
    char *server;
    struct span uri;
    uint64_t since;
};

struct catalog {
    struct map servers; /* by name */
    struct catalog_shelf shelves[LIST_KINDS];
    struct sequence *orders; /* LIST_KINDS; not part of what a const catalog keeps constant */
    struct map aliases;      /* name -> struct catalog_item: tools of our own that are in no list */
    struct map seen;         /* by URI */
    struct list seen_age;    /* the oldest first */
    struct map mentions;     /* by server */
    uint64_t clock;          /* of render.used */
    uint64_t since;          /* of the last list or mention */
};

/* ---- Listings (catalog_list.c) ----------------------------------------------------------- */

/* `out` is empty before. -PB_E_INVALID. */
MUST_CHECK int listing_read(struct listing *out, const char *server, enum list_kind kind,
                            struct span array, struct pb_error *err);
/* Was it made of this text? */
bool listing_is(const struct listing *l, struct span array);
void listing_done(struct listing *l);
/* catalog_pages.c: all of a listing of tools. */
void pages_read(struct listing *l);
void pages_free(struct pages *p);
struct catalog_item *listing_find(const struct listing *l, struct span name);
/* Its server is away: what is left is whose each name is. */
void listing_put_away(struct listing *l);
/* What `old` has, too, is as old as there; all else is of now. */
void listing_inherit(struct listing *fresh, const struct listing *old, uint64_t now);
/* A built-in in one block; free() it. server NULL: the host's. */
struct catalog_item *item_of_builtin(enum list_kind kind, const char *server, unsigned group,
                                     struct span text);

static inline const struct catalog_item *item_of(const struct entry *e)
{
    return CONTAINER_OF(e, struct catalog_item, e);
}

/* NULL: it is not here. */
static inline struct catalog_server *catalog_server(const struct catalog *c, struct span name)
{
    struct catalog_server *s = map_get(&c->servers, name);

    return s && !s->away ? s : NULL;
}

/* Remembered of a server that is away. */
static inline bool entry_is_away(const struct entry *e) { return !e->text.p; }

/* ---- Order (catalog_order.c) ------------------------------------------------------------- */

const struct sequence *catalog_order(const struct catalog *c, enum list_kind kind);
/* By outward name. */
const struct entry *sequence_find(const struct sequence *o, struct span wire);
void sequence_done(struct sequence *o);

/* ---- Rendered lists (catalog_render.c) --------------------------------------------------- */

void renders_drop(struct catalog_shelf *s);
/* Only those that a filter had a say in. */
void renders_drop_filtered(struct catalog_shelf *s);

/* ---- Names like one (catalog_near.c) ----------------------------------------------------- */

/* Appends "; did you mean 'x', 'y' or 'z'?" with names that the scope shows, or nothing. */
void catalog_like(const struct catalog *c, const struct scope *s, enum list_kind kind,
                  struct span name, struct buf *out);

/* ---- URIs (catalog_uris.c) --------------------------------------------------------------- */

bool uri_is_ours(struct span uri);
/* "patchbay://SERVER/ORIGINAL". */
void uri_wrap(struct buf *out, struct span server, struct span uri, enum list_kind kind);
void seen_drop(struct catalog *c, const char *server); /* NULL: all */
