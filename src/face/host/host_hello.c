/* host_hello.c - what a client is told at first: capabilities, instructions, a title. */
#include "host_impl.h"
#include "hub/catalog/catalog.h"
#include "hub/hub/hub.h"
#include "hub/link/link.h"
#include "mcp/rpc/rpc.h"
#include "mcp/serve/serve.h"

static void put_list(struct json_out *o, const char *key, bool subscribe)
{
    json_begin_object(o, key);
    if (subscribe)
        json_put_bool(o, "subscribe", true);
    json_put_bool(o, "listChanged", true);
    json_end(o);
}

static void put_empty(struct json_out *o, const char *key)
{
    json_begin_object(o, key);
    json_end(o);
}

/* For hubs that have us among their servers. */
static void put_reach(const struct host *h, struct json_out *o)
{
    json_begin_object(o, "experimental");
    json_begin_object(o, "patchbay");
    hub_write_reach(h->set->hub, h->server_name, o, "hubs");
    json_end(o);
    json_end(o);
}

/* All of it, whatever the servers can do right now: a legacy client is told once, and a server that
 * comes later must not be without its prompts because of that. Of what nobody offers the lists are
 * empty and completions find nothing. Tasks are announced if somebody has them: a modern client
 * says with each call that it can follow one, and may do so unannounced. */
void host_capabilities(void *ctx, struct json_out *o, const struct envelope *env)
{
    struct host *h = ctx;

    if (h->set->hub)
        put_reach(h, o);
    put_list(o, "tools", false);
    put_list(o, "resources", true);
    put_list(o, "prompts", false);
    if (strcmp(env->revision->date, "2025-03-26") >= 0) /* unknown before */
        put_empty(o, "completions");
    put_empty(o, "logging");
    if (env->era == ERA_MODERN && host_has_tasks(h)) {
        json_begin_object(o, "extensions");
        put_empty(o, EXT_TASKS);
        json_end(o);
    }
}

/* ---- instructions ------------------------------------------------------------------------- */

/* What a server said at its handshake, cut where a character ends. Borrowed from the link. */
static struct span server_words(const struct link *l, size_t most, bool *cut)
{
    struct link_facts facts;

    link_facts(l, &facts);
    *cut = facts.words.n > most;
    return utf8_cut(facts.words, most);
}

struct hello {
    struct host *h;
    const struct scope *scope;
    struct buf *out;
    size_t servers;
};

/* A heading of its own would look like the words of another server: it becomes a smaller one. */
static void put_words(struct buf *out, struct span words)
{
    bool fresh = true; /* nothing but space on this line so far */

    for (size_t i = 0; i < words.n; i++) {
        char ch = words.p[i];

        if (fresh && ch == '#')
            buf_str(out, "##");
        fresh = ch == '\n' || ch == '\r' || (fresh && (ch == ' ' || ch == '\t'));
        buf_byte(out, ch);
    }
}

static void greet(void *ctx, struct link *l)
{
    struct hello *g = ctx;
    struct span words;
    size_t start = g->out->n;
    bool cut;

    if (!scope_shows_server(g->h->set->catalog, g->scope, link_name(l)))
        return;
    words = server_words(l, HOST_HELLO_SERVER_MAX, &cut);
    if (!words.n)
        return;
    buf_printf(g->out, "\n\n## %s\n", link_name(l));
    put_words(g->out, words);
    buf_str(g->out, cut ? " … (shortened)" : "");
    if (g->out->n > HOST_HELLO_MAX) {
        g->out->n = start;
        buf_printf(g->out, "\n\n## %s\n(left out: too long)", link_name(l));
        if (g->out->n > HOST_HELLO_MAX)
            g->out->n = start;
    }
    g->servers++;
}

void host_instructions(void *ctx, struct buf *out)
{
    struct host *h = ctx;
    struct hello g = { .h = h, .scope = host_view(h, NULL), .out = out };
    struct span words;
    bool cut;

    if (!g.scope || !h->set->hub || h->scope.no_external)
        return;
    if (h->server_name) {
        /* Alone it may say all of it: the client asked for this server. */
        words = server_words(hub_link(h->set->hub, h->server_name), HOST_HELLO_MAX, &cut);
        buf_add_span(out, words);
        if (cut)
            buf_str(out, " … (shortened)");
        return;
    }
    buf_str(out, "Tools of several servers, each named server__tool. What the servers say about "
                 "themselves:");
    hub_each(h->set->hub, greet, &g);
    if (!g.servers)
        out->n = 0;
}

/* ---- the title ---------------------------------------------------------------------------- */

void host_retitle(struct host *h)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_ARENA struct arena a = { 0 };
    struct link_facts facts;
    struct link *l = h->server_name ? hub_link(h->set->hub, h->server_name) : NULL;
    const char *title = NULL;

    if (!l)
        return;
    link_facts(l, &facts);
    if (facts.server_info.n && json_parse(&doc, facts.server_info, NULL, NULL) == 0)
        title = json_cstr(json_get(json_root(&doc), "title"), &a);
    server_set_title(h->server, title && title[0] ? title : link_spec(l)->display_name);
}
