/* catalog.h - everything that can be called, read or used as a prompt, of all servers and
 * built-ins, under canonical ids; and the names under which each endpoint shows it. No I/O; loop
 * thread.
 *
 * Canonical id: "server/tool". Outward: "server__tool", only [A-Za-z0-9_-], at most 64 characters;
 * a name that does not fit, or that could be read in two ways, ends in "_" and eight digits of a
 * digest of its id. The name of an item depends on its id only: the same item always has the same
 * one, whatever else is there. A table maps back. Prompts are named like tools. Built-ins have no
 * prefix and come first, in the order in which they were added; then external items sorted by
 * canonical id.
 *
 * Resource URIs and templates go out as they are, unless another server has been listing the same
 * one for longer, or it begins with "patchbay://" itself: then as "patchbay://SERVER/ORIGINAL"
 * (percent-encoded where needed), a form that is always understood. What begins with "ui://" does
 * so in its long form, too: "ui://patchbay/SERVER/ORIGINAL". Texts of items stay the bytes they
 * were but for the name or URI, and that of a tool's page (MCP Apps) in its _meta. */
#pragma once
#include "hub/link/link.h"
#include "hub/spec/spec.h"

struct catalog;
struct entry;

/* What one endpoint shows. */
struct scope {
    const char *server; /* this one only (no built-ins), with its own names; NULL: all */
    /* NULL: everything. Tools, built-in ones too; and of what else servers have, all of those that
     * it lets through some tool of, or would whatever it is called. */
    const struct filter *filter;
    bool no_external;  /* built-ins only */
    unsigned builtins; /* bit mask of groups that are shown; 0: none */
    bool all_groups;   /* of built-ins: for who looks at what is called, not for lists */
    bool disabled_too; /* also what the spec's lists switch off */
    bool held_too;     /* also what is held back: for who stops calls of it, not for lists */
    bool dotted;       /* errors offer names as the command line writes them: "server.tool" */
};

struct entry {
    enum list_kind kind;
    const char *server; /* NULL: a built-in of the host; of other built-ins SPEC_OWN */
    struct span name;   /* its own name, or URI, or URI template */
    struct span id;     /* "server/name" */
    struct span wire;   /* outward name or URI, in scopes without `server` */
    struct span text;   /* the item as the server wrote it */
    unsigned group;     /* built-ins: bit; else 0 */
    bool enabled;       /* not switched off by the spec's lists */
    bool held;          /* is not what was approved: nobody is shown it. catalog_hold() */
};

struct catalog *catalog_new(void);
void catalog_free(struct catalog *c);
AUTO_DEFINE(catalog, catalog_free)

/* Replaces what a server lists; `array` is copied; an empty one is "[]". From then on the server is
 * known. Left out, with a warning: items without a name, with one that is empty, longer than
 * CATALOG_NAME_MAX (URIs: MCP_URI_BYTES_MAX) or holds control characters or such as hide text, with
 * a member twice, and all but the first of one name. So that no server takes the room of all
 * others it has the first catalog_most() of its items and those that end within
 * CATALOG_SERVER_BYTES_MAX; catalog_left_out() counts the rest. *changed: whether anything differs.
 * -PB_E_INVALID when it is no JSON array, -PB_E_LIMIT when all servers together pass
 * CATALOG_ITEMS_MAX or CATALOG_BYTES_MAX; nothing changes then. */
int catalog_set(struct catalog *c, const struct spec *spec, enum list_kind kind, struct span array,
                bool *changed, struct pb_error *err);
/* It has been set since it was dropped or put away, or was tried to be. */
bool catalog_knows(const struct catalog *c, const char *server);
/* The spec's tool lists changed. */
bool catalog_respec(struct catalog *c, const struct spec *spec);
/* Marks what is held back of one list, whose entries come one after the other: `at` is the place of
 * one in the array that it came in, `was` what the server listed under that name before the last
 * catalog_set(), or empty. Right after that one, before anybody else looks. fn NULL: nothing is.
 * Returns whether there is anything that was not held back and is, or the other way. */
typedef bool catalog_hold_fn(void *ctx, const struct entry *e, size_t at, struct span was);
bool catalog_hold(struct catalog *c, const char *server, enum list_kind kind, catalog_hold_fn *fn,
                  void *ctx);
/* Takes all of a server out, and what is known of it. Returns whether there was anything. */
bool catalog_drop(struct catalog *c, const char *server);
/* The same, but it may come back: until it lists again, or is dropped, nobody else gets the
 * outward names and URIs that it had, and what asks for one leads to it. */
bool catalog_put_away(struct catalog *c, const char *server);
/* A built-in that the host answers itself: `text` is a tool, prompt… object, copied. Replaces one
 * of the same name. */
void catalog_add_builtin(struct catalog *c, enum list_kind kind, unsigned group, struct span text);
/* A tool of the server SPEC_OWN. */
void catalog_add_own(struct catalog *c, unsigned group, struct span text);
/* The same, which is found by its name and by this one (NULL: by its name alone), but is in no
 * list: an operation of another. */
void catalog_add_alias(struct catalog *c, unsigned group, struct span text, const char *alias);

/* Enabled or not. server NULL: of all, and the built-ins. */
size_t catalog_count(const struct catalog *c, const char *server, enum list_kind kind);

/* Of one server: how many of a kind it may have, and how many of its last list were too many. */
size_t catalog_most(enum list_kind kind);
size_t catalog_left_out(const struct catalog *c, const char *server, enum list_kind kind);

/* All entries of a kind, in order, disabled ones too. Borrowed until the next change. */
size_t catalog_all(const struct catalog *c, enum list_kind kind, const struct entry *const **out);
/* Entry i of one server, in order, disabled ones too; NULL: there are no more. Its `wire` may be an
 * old one: unlike catalog_all(), this does not look at what all others list, so that a hundred
 * servers that come up one after the other cost no more than a hundred times one. */
const struct entry *catalog_entry(const struct catalog *c, const char *server, enum list_kind kind,
                                  size_t i);
/* Would be shown if it were enabled. */
bool scope_holds(const struct catalog *c, const struct scope *s, const struct entry *e);
bool scope_shows(const struct catalog *c, const struct scope *s, const struct entry *e);
/* Whether it may be known that there is such a server, and anything but its tools be had of it. */
bool scope_shows_server(const struct catalog *c, const struct scope *s, const char *server);

/* A name as a caller wrote it, tried in the order of C1: outward name, canonical "server/tool",
 * "server.tool", "server:tool"; in a scope of one server its own name first. Filtered and disabled
 * ones are not found, nor what is held back. NULL: err says FAULT_NO_SERVER (the part before "/" is
 * no known server), FAULT_NO_TOOL, FAULT_NO_RESOURCE or FAULT_NO_PROMPT, and which names are like
 * it. Making that text looks at every name: pass NULL when nobody reads it. */
const struct entry *catalog_find(const struct catalog *c, const struct scope *s,
                                 enum list_kind kind, struct span name, struct pb_error *err);

/* The same, and what is held back, too: for who makes a call of it, which the gate then stops and
 * says why. */
const struct entry *catalog_find_any(const struct catalog *c, const struct scope *s,
                                     enum list_kind kind, struct span name, struct pb_error *err);

/* Where a URI belongs: listed, "patchbay://…", a template that it fits, or one that a server
 * mentioned in a result. Templates are tried for URIs of at most CATALOG_FIT_BYTES_MAX, and for
 * CATALOG_STEPS_MAX steps. `uri` is what the server knows it as, in the arena when it was decoded.
 * In a scope of one server everything is that server's. */
struct uri_route {
    const char *server; /* NULL: nobody knows it; or a built-in, then there is an entry */
    struct span uri;
    const struct entry *entry; /* listed or template; may be NULL */
};
struct uri_route catalog_route(const struct catalog *c, const struct scope *s, struct span uri,
                               struct arena *a);
/* The same within *steps, from which it takes what it has cost. */
struct uri_route catalog_route_within(const struct catalog *c, const struct scope *s,
                                      struct span uri, struct arena *a, size_t *steps);
/* How a server's URI is written for the clients of this scope, so that catalog_route() leads back.
 * Lies in the arena or is `uri`. Note unlisted ones with catalog_note_uri(), too. Takes what it has
 * cost to match templates from *steps, CATALOG_STEPS_MAX for all URIs of one result; when there are
 * none left every URI is written in the long form, which always leads back. */
struct span catalog_out_uri(const struct catalog *c, const struct scope *s, const char *server,
                            struct span uri, struct arena *a, size_t *steps);
/* A server's result named this URI: kept (the last CATALOG_SEEN_MAX, CATALOG_SEEN_SERVER_MAX of one
 * server) to route reads of it. The first who names it has it. */
void catalog_note_uri(struct catalog *c, const char *server, struct span uri);

/* The array's text of a list for a scope, made once per version and shared. Unreference it. */
struct blob *catalog_render(struct catalog *c, const struct scope *s, enum list_kind kind);
/* The members of a _meta, of a tool or a result, that name the page which a host shows for it: one
 * as MCP Apps has it, the others as it was before and elsewhere. Returns how many there are. */
enum { META_PAGES = 3 };
size_t meta_pages(struct json meta, struct json out[static META_PAGES]);
/* The input schema of a tool entry, as written; empty if it has none. */
struct span entry_schema(const struct entry *e);
/* The description, decoded; "" if there is none. */
struct span entry_description(const struct entry *e, struct arena *a);

/* Appends the outward name of a tool or prompt. */
void wire_name(struct buf *out, struct span server, struct span tool);
