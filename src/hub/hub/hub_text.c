/* hub_text.c - servers, tools and resources as JSON, in the one shape that every face shows. */
#include "hub/catalog/catalog.h"
#include "hub/link/link.h"
#include "hub/spec/spec.h"
#include "hub_impl.h"

static bool belongs(const struct entry *e, const char *server)
{
    return e->server && e->enabled && !e->held && (server ? !strcmp(e->server, server) : !e->group);
}

static void write_names(struct json_out *o, const char *key, const struct hub *h,
                        const char *server)
{
    const struct entry *const *all;
    size_t n = catalog_all(h->catalog, LIST_TOOLS, &all);

    json_begin_array(o, key);
    for (size_t i = 0; i < n; i++)
        if (belongs(all[i], server))
            json_put_span(o, NULL, all[i]->id);
    json_end(o);
}

static void write_server(struct json_out *o, const struct member *m)
{
    struct link_status st;
    struct link_facts facts;

    link_status(m->link, &st);
    link_facts(m->link, &facts);
    json_begin_object(o, m->name);
    json_put_str(o, "status", link_state_name(st.state));
    json_put_str(o, "transport", spec_transport_name(link_spec(m->link)->transport));
    write_names(o, "tools", m->hub, m->name);
    if (st.state == LINK_CONNECTED)
        json_put_seconds(o, "connected_at", facts.connected_at);
    else
        json_put_str_opt(o, "error", st.message);
    json_end(o);
}

void hub_write_servers(struct json_out *o, const char *key, const struct hub *h)
{
    struct list *pos, *safe;

    json_begin_object(o, key);
    LIST_FOREACH(pos, safe, &h->members)
        write_server(o, CONTAINER_OF(pos, struct member, at));
    json_end(o);
}

static void write_tool(struct json_out *o, const struct entry *e)
{
    AUTO_ARENA struct arena a = { 0 };
    struct span schema = entry_schema(e);

    json_begin_object(o, NULL);
    json_put_span(o, "name", e->id);
    json_put_str(o, "server", e->server);
    json_put_span(o, "original_name", e->name);
    json_put_span(o, "description", entry_description(e, &a));
    json_put_raw(o, "input_schema", schema.n ? schema : SPAN("{}"));
    json_end(o);
}

void hub_write_tools(struct json_out *o, const char *key, const struct hub *h, const char *server)
{
    const struct entry *const *all;
    size_t n = catalog_all(h->catalog, LIST_TOOLS, &all);

    json_begin_array(o, key);
    for (size_t i = 0; i < n; i++)
        if (belongs(all[i], server))
            write_tool(o, all[i]);
    json_end(o);
}

static void put_text(struct json_out *o, const char *key, struct json v)
{
    if (json_is(v, JSON_STRING))
        json_put_raw(o, key, json_text(v));
    else
        json_put_null(o, key);
}

static void write_resource(struct json_out *o, const struct entry *e)
{
    AUTO_JSON struct json_doc doc = { 0 };
    static const struct json_opts opts = { .keep_depth = 1 };
    struct json v;

    if (json_parse(&doc, e->text, &opts, NULL) < 0)
        return;
    v = json_root(&doc);
    json_begin_object(o, NULL);
    json_put_span(o, "uri", e->name);
    json_put_str(o, "server", e->server);
    put_text(o, "name", json_get(v, "name"));
    put_text(o, "description", json_get(v, "description"));
    put_text(o, "mime_type", json_get(v, "mimeType"));
    json_end(o);
}

void hub_write_resources(struct json_out *o, const char *key, const struct hub *h,
                         const char *server)
{
    const struct entry *const *all;
    size_t n = catalog_all(h->catalog, LIST_RESOURCES, &all);

    json_begin_array(o, key);
    for (size_t i = 0; i < n; i++)
        if (belongs(all[i], server))
            write_resource(o, all[i]);
    json_end(o);
}
