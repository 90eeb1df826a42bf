/* catalog_impl.h - what the files of the catalog share; nobody else includes it.
 *
 * Per server and kind one listing: the array as it came, one struct item per entry, sorted by
 * name, and one block of names. Ids are "server/name", and a server's name holds no "/", so all
 * entries in order are the listings one after the other, in the order of "server/". That sequence
 * and the index of outward names (struct order) are made when something is read after a change. */
#pragma once
#include "catalog.h"

/* What is fixed about a kind of list. */
struct kind {
    const char *noun, *key; /* "tool"; the member that names an item */
    size_t name_max, most;  /* most: of one server */
    enum fault missing;
    bool uri; /* its names are URIs or templates */
};
extern const struct kind catalog_kinds[LIST_KINDS];

struct item {
    struct entry e;
    uint32_t value_at, value_n; /* of its name or URI in e.text, quotes included */
    uint8_t wire_n;             /* tools and prompts: the outward name lies behind e.id */
    struct uri_template *match; /* templates: read once; NULL: it is not understood */
};

/* What one server lists of one kind. */
struct listing {
    char *text;
    size_t text_n;
    struct item *items;
    size_t n;
    char *names;
    bool cut;        /* the text is not all that the server wrote, but */
    uint64_t cut_of; /* this is the hash of that */
    size_t left_out; /* items past the bounds of one server */
};

/* Whether a filter shows a server; looked up for each of its resources, so it is kept. */
struct shown {
    uint8_t digest[SHA256_BYTES]; /* of the filter */
    uint64_t version;             /* of the tools, + 1; 0: nothing is kept */
    bool answer;
};

struct server {
    char *name;
    struct listing lists[LIST_KINDS];
    struct shown shown;
};

struct order {
    bool valid;
    const struct entry **entries;
    size_t n;
    uint32_t *index; /* open addressing by outward name into entries; 0: empty, else place + 1 */
    size_t mask;
    struct arena wires; /* outward URIs that had to be made */
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

struct shelf {
    struct item **builtins;
    size_t n_builtins;
    size_t items, bytes; /* of all servers */
    uint64_t version;
    struct render renders[CATALOG_RENDERS_MAX];
};

struct seen {
    struct list link;
    char *server;
    struct span uri;
};

struct catalog {
    struct map servers; /* by name */
    struct shelf shelves[LIST_KINDS];
    struct order *orders; /* LIST_KINDS; not part of what a const catalog keeps constant */
    struct map seen;      /* by URI */
    struct list seen_age; /* the oldest first */
    uint64_t clock;       /* of render.used */
};

/* ---- Listings (catalog_list.c) ----------------------------------------------------------- */

/* `out` is empty before. -PB_E_INVALID. */
MUST_CHECK int listing_read(struct listing *out, const char *server, enum list_kind kind,
                            struct span array, struct pb_error *err);
/* Was it made of this text? */
bool listing_is(const struct listing *l, struct span array);
void listing_done(struct listing *l);
struct item *listing_find(const struct listing *l, struct span name);
/* A built-in in one block; free() it. */
struct item *item_of_builtin(enum list_kind kind, unsigned group, struct span text);

static inline const struct item *item_of(const struct entry *e)
{
    return CONTAINER_OF(e, struct item, e);
}

static inline struct server *catalog_server(const struct catalog *c, struct span name)
{
    return map_get(&c->servers, name);
}

/* ---- Order (catalog_order.c) ------------------------------------------------------------- */

const struct order *catalog_order(const struct catalog *c, enum list_kind kind);
/* By outward name. */
const struct entry *order_find(const struct order *o, struct span wire);
void order_done(struct order *o);

/* ---- Rendered lists (catalog_render.c) --------------------------------------------------- */

void renders_drop(struct shelf *s);
/* Only those that a filter had a say in. */
void renders_drop_filtered(struct shelf *s);

/* ---- Names like one (catalog_near.c) ----------------------------------------------------- */

/* Appends "; did you mean 'x', 'y' or 'z'?" with names that the scope shows, or nothing. */
void catalog_like(const struct catalog *c, const struct scope *s, enum list_kind kind,
                  struct span name, struct buf *out);

/* ---- URIs (catalog_uris.c) --------------------------------------------------------------- */

bool uri_is_ours(struct span uri);
/* "patchbay://SERVER/ORIGINAL". */
void uri_wrap(struct buf *out, struct span server, struct span uri, enum list_kind kind);
void seen_drop(struct catalog *c, const char *server); /* NULL: all */
