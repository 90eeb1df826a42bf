/* item.h - one thing that a server offers: a tool, a resource, a template or a prompt, copied from
 * what the program registered, checked once, and counted, because a call may outlive its removal.
 */
#pragma once
#include "mcp/rpc/rpc.h"
#include "params.h"
#include "json/json.h"
#include <stdatomic.h>

enum item_kind { ITEM_TOOL, ITEM_RESOURCE, ITEM_TEMPLATE, ITEM_PROMPT, ITEM_COUNT };

struct item {
    atomic_uint refs;
    enum item_kind kind;
    uint64_t seq; /* order of registration; a replacement keeps its predecessor's */
    struct arena arena;
    struct item *next_dead; /* the registry's */

    struct span key; /* a tool's or prompt's name, a resource's URI, a template */
    const char *name, *title, *description, *mime_type;
    struct span icons, annotations, meta; /* JSON; empty: none */
    int64_t size;
    unsigned flags;
    uint32_t timeout_ms;
    pb_handler *run, *complete;
    void *ctx;

    struct params *params;      /* tools with typed parameters */
    struct schema *input;       /* tools with a schema of their own */
    struct schema *output;      /* or NULL */
    struct span input_schema;   /* text; tools always have one */
    struct span output_schema;  /* text; empty: none */
    bool output_is_object;      /* the only kind that legacy clients know */
    struct uri_template *match; /* templates */
    struct pb_prompt_arg *args; /* prompts */
    size_t n_args;
};

/* Each checks and copies; -PB_E_INVALID names what is wrong. The result has one reference. */
MUST_CHECK int item_of_tool(struct item **out, const struct pb_tool *t, struct pb_error *err);
MUST_CHECK int item_of_resource(struct item **out, const struct pb_resource *r, bool is_template,
                                struct pb_error *err);
MUST_CHECK int item_of_prompt(struct item **out, const struct pb_prompt *p, struct pb_error *err);

/* [any thread] */
struct item *item_ref(struct item *i);
void item_unref(struct item *i);
AUTO_DEFINE(item, item_unref)

/* Appends the item as a list of this revision shows it: fields that came later are left out. */
void item_write(const struct item *i, struct buf *out, const struct revision *rev);
