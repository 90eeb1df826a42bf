/* fake_server.h - servers that do what a test says, behind real clients: each is a pb_server in
 * this process, reached over a wire that can fail, hang, speak on stderr and break. Everything
 * lives on one loop whose clock stands still unless moved.
 *
 *     struct fakes fakes;
 *     struct fake_server *f;
 *
 *     fakes_init(&fakes);
 *     f = fakes_add(&fakes, "alpha");
 *     fake_tool(f, "echo", FAKE_ECHO);
 *     fake_tool(f, "slow", FAKE_DELAY)->ms = 500;
 *     f->connect = FAKE_CONNECT_DELAY, f->connect_ms = 100;
 *
 * hub_options.open = fake_open, .open_ctx = &fakes (link_options alike), listener.event =
 * fake_on_event with ctx &fakes. FAKES_UNTIL(&fakes, cond) turns the loop; loop_advance() moves
 * time. fakes_done() after the hub or the links have been closed. */
#pragma once
#include "fake_answers.h"
#include "fake_events.h"
#include "fake_wire.h"
#include "hub/hub/hub.h"
#include "hub/spec/spec.h"
#include "manual_clock.h"
#include "mcp/client/client.h"
#include "mcp/serve/serve.h"

static inline void fakes_init(struct fakes *s)
{
    *s = (struct fakes){ 0 };
    manual_clock_init(&s->clock);
    s->loop = loop_new(&s->clock.clock);
    s->events = mem_zero(FAKE_EVENTS_MAX * sizeof *s->events);
}

static inline struct fake_server *fakes_add(struct fakes *s, const char *name)
{
    struct pb_server_options o = PB_SERVER_OPTIONS_INIT;
    struct fake_server *f = NEW(struct fake_server);

    CHECK(s->n < FAKE_SERVERS_MAX);
    o.loop = s->loop;
    o.name = name;
    f->fakes = s;
    f->name = name;
    list_init(&f->wires);
    f->server = pb_server_new(&o);
    server_set_provider(f->server, &fake_provider, f);
    s->servers[s->n++] = f;
    return f;
}

static inline struct fake_tool *fake_tool(struct fake_server *f, const char *name,
                                          enum fake_tool_kind kind)
{
    struct fake_tool *t = &f->tools[f->n_tools++];

    CHECK(f->n_tools <= FAKE_ITEMS_MAX);
    *t = (struct fake_tool){ .name = name, .kind = kind, .text = "mock", .code = -32000 };
    t->method = "elicitation/create";
    return t;
}

static inline void fake_resource(struct fake_server *f, const char *uri, const char *text)
{
    f->resources[f->n_resources++] = (struct fake_item){ uri, text };
}

static inline void fake_template(struct fake_server *f, const char *uri)
{
    f->templates[f->n_templates++] = (struct fake_item){ uri, "" };
}

static inline void fake_prompt(struct fake_server *f, const char *name, const char *text)
{
    f->prompts[f->n_prompts++] = (struct fake_item){ name, text };
}

static inline struct fake_server *fakes_find(struct fakes *s, const char *name)
{
    for (size_t i = 0; i < s->n; i++)
        if (strcmp(s->servers[i]->name, name) == 0)
            return s->servers[i];
    if (s->fallback)
        return s->fallback;
    TAP_FAIL("there is no fake server '%s'", name);
    return NULL;
}

/* Forgets what happened, not what it does. */
static inline void fake_reset(struct fake_server *f)
{
    f->connects = f->closes = f->calls = f->cancellations = f->watched = f->unwatched = 0;
    memset(f->lists, 0, sizeof f->lists);
    f->history.n = f->words.n = 0;
    f->last_args[0] = f->last_caller[0] = f->last_answer[0] = '\0';
    for (size_t i = 0; i < f->n_tools; i++)
        f->tools[i].calls = 0;
}

/* One line on stderr of every connection. */
static inline void fake_stderr(struct fake_server *f, const char *line)
{
    struct list *pos, *safe;

    fake_keep_words(f, line);
    LIST_FOREACH(pos, safe, &f->wires)
        fake_say_on(CONTAINER_OF(pos, struct fake_wire, link), line);
}

/* Words of its newest connection that no pb_server would say. */
static inline void fake_say_raw(struct fake_server *f, const char *text)
{
    CHECK(!list_empty(&f->wires));
    fake_wire_message(CONTAINER_OF(f->wires.prev, struct fake_wire, link), span_of(text));
}

/* An answer to the i-th call that hangs, while the pb_server believes that it still works on it. */
static inline void fake_answer_raw(struct fake_server *f, size_t i, const char *result)
{
    AUTO_BUF struct buf text = { 0 };

    buf_printf(&text, "{\"jsonrpc\":\"2.0\",\"id\":%.*s,\"result\":%s}",
               SPAN_ARG(fake_held(f, i)->id), result);
    fake_say_raw(f, buf_cstr(&text));
}

/* The server dies: every connection breaks, calls that hang are never answered. */
static inline void fake_break(struct fake_server *f, const char *why)
{
    for (bool found = true; found;) {
        struct list *pos, *safe;

        found = false;
        LIST_FOREACH(pos, safe, &f->wires) {
            struct fake_wire *w = CONTAINER_OF(pos, struct fake_wire, link);

            if (w->over)
                continue;
            found = true;
            fake_wire_break(w, why); /* may close it, and others */
            break;
        }
    }
}

static inline void fakes_forget_events(struct fakes *s)
{
    while (s->n_events) {
        struct fake_event *e = &s->events[--s->n_events];

        free(e->server);
        free(e->text);
        free(e->json);
    }
}

static inline void fakes_done(struct fakes *s)
{
    fakes_settle(s);
    for (size_t i = 0; i < s->n; i++) {
        struct fake_server *f = s->servers[i];

        pb_server_free(f->server);
        CHECK_INT(f->n_held, 0);
        buf_done(&f->words);
        buf_done(&f->history);
        free(f);
    }
    loop_free(s->loop);
    buf_done(&s->opened);
    fakes_forget_events(s);
    free(s->events);
}

/* Every server that is there and not switched off. */
static inline void fakes_disconnect(struct fakes *s, struct hub *h)
{
    for (size_t i = 0; i < s->n; i++) {
        const struct link *l = hub_link(h, s->servers[i]->name);

        if (l && link_state(l) != LINK_DISABLED)
            CHECK_INT(hub_disconnect(h, s->servers[i]->name, NULL), 0);
    }
}

/* The opener; ctx is struct fakes. */
static inline int fake_open(void *ctx, struct client **out, struct pb_loop *loop,
                            const struct spec *spec, const char *caller,
                            const struct client_events *events, void *events_ctx,
                            struct pb_error *err)
{
    struct fake_server *f = fakes_find(ctx, spec->name);
    struct pb_client_options o = PB_CLIENT_OPTIONS_INIT;

    buf_printf(&f->fakes->opened, "%s\n", spec->name);
    if (f->fakes->open_error)
        return fail(err, PB_E_CLOSED, "%s", f->fakes->open_error);
    f->connects++;
    snprintf(f->last_caller, sizeof f->last_caller, "%s", caller);
    o.server = f->server;
    o.ctx = f;
    o.era = f->era ? f->era : spec->era;
    o.connect_ms = UINT32_MAX; /* the link's limit is the one that counts */
    o.can_elicit = o.can_elicit_url = o.can_sample = o.can_list_roots = true;
    return client_open_on(out, loop, fake_wire_open, &o, events, events_ctx, err);
}
