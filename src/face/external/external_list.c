/* external_list.c - the external_list_* tools, in the shapes of S4-48, S4-49 and S4-51. */
#include "external_impl.h"
#include "hub/catalog/catalog.h"
#include "hub/hub/hub.h"
#include "hub/link/link.h"

struct external_listing {
    struct external *x;
    struct json_out o;
    struct map counts; /* server -> how many tools of it are shown */
};

static void count_tools(struct external_listing *g)
{
    const struct catalog *c = hub_catalog(g->x->hub);
    const struct entry *const *all;
    size_t n = catalog_all(c, LIST_TOOLS, &all);

    for (size_t i = 0; i < n; i++) {
        struct span server = span_of(all[i]->server);
        uintptr_t so_far = (uintptr_t)map_get(&g->counts, server);

        if (server.n && scope_shows(c, &g->x->scope, all[i]))
            map_put(&g->counts, server, (void *)(so_far + 1));
    }
}

static void put_server(void *ctx, struct link *l)
{
    struct external_listing *g = ctx;
    struct link_status status = { 0 };

    if (!scope_shows_server(hub_catalog(g->x->hub), &g->x->scope, link_name(l)))
        return;
    link_status(l, &status);
    json_begin_object(&g->o, link_name(l));
    json_put_str(&g->o, "status", link_state_name(status.state));
    if (status.message)
        json_put_str(&g->o, "error", status.message);
    else
        json_put_uint(&g->o, "tool_count", (uintptr_t)map_get(&g->counts, span_of(link_name(l))));
    json_end(&g->o);
}

void external_list_servers(struct external *x)
{
    AUTO_BUF struct buf out = { 0 };
    struct external_listing g = { .x = x, .o = json_out(&out) };

    count_tools(&g);
    json_begin_object(&g.o, NULL);
    json_begin_object(&g.o, "servers");
    hub_each(x->hub, put_server, &g);
    json_end(&g.o);
    json_end(&g.o);
    map_done(&g.counts);
    external_reply(x->r, buf_span(&out), false);
}

/* Strings go out as they were written, and are always there, so that no reader has to ask. */
static void put_string(struct json_out *o, const char *key, struct json v, struct span otherwise)
{
    json_put_raw(o, key, json_is(v, JSON_STRING) ? json_text(v) : otherwise);
}

static void put_tool(struct json_out *o, const struct entry *e, struct json item)
{
    json_put_span(o, "name", e->id);
    json_put_str(o, "server", e->server);
    put_string(o, "description", json_get(item, "description"), SPAN("\"\""));
}

static void put_resource(struct json_out *o, const struct entry *e, struct json item)
{
    json_put_span(o, "uri", e->name);
    json_put_str(o, "server", e->server);
    put_string(o, "name", json_get(item, "name"), SPAN("\"\""));
    put_string(o, "description", json_get(item, "description"), SPAN("\"\""));
    put_string(o, "mime_type", json_get(item, "mimeType"), SPAN("null"));
}

static void put_prompt(struct json_out *o, const struct entry *e, struct json item)
{
    put_tool(o, e, item);
    json_put_raw(o, "arguments", json_text(json_get(item, "arguments")));
}

static void list(struct external *x, enum list_kind kind, const char *key,
                 void (*put)(struct json_out *o, const struct entry *e, struct json item))
{
    static const struct json_opts shallow = { .keep_depth = 1 };
    const struct catalog *c = hub_catalog(x->hub);
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_BUF struct buf out = { 0 };
    struct json_out o = json_out(&out);
    const struct entry *const *all;
    size_t n = catalog_all(c, kind, &all);

    json_begin_object(&o, NULL);
    json_begin_array(&o, key);
    for (size_t i = 0; i < n; i++) {
        if (!all[i]->server || !scope_shows(c, &x->scope, all[i]) ||
            (x->server.p && !span_is(x->server, all[i]->server)) ||
            json_parse(&doc, all[i]->text, &shallow, NULL) < 0)
            continue;
        json_begin_object(&o, NULL);
        put(&o, all[i], json_root(&doc));
        json_end(&o);
    }
    json_end(&o);
    json_end(&o);
    external_reply(x->r, buf_span(&out), false);
}

void external_list_tools(struct external *x) { list(x, LIST_TOOLS, "tools", put_tool); }

void external_list_resources(struct external *x)
{
    list(x, LIST_RESOURCES, "resources", put_resource);
}

void external_list_prompts(struct external *x) { list(x, LIST_PROMPTS, "prompts", put_prompt); }
