/* What a server says of itself at the handshake: bounded, and read once. */
#include "hub/hub/hub.h"
#include "hub/hub_rig.h"
#include "hub/link/link.h"
#include "mcp/serve/serve.h"
#include "mcp/serve/server_impl.h"

static char filling[2 * MCP_HELLO_BYTES_MAX];

static void fill(size_t n)
{
    memset(filling, 'x', n);
    filling[n] = '\0';
}

static void filled_capabilities(void *ctx, struct json_out *o, const struct envelope *env)
{
    fake_provider.capabilities(ctx, o, env);
    json_put_str(o, "filling", filling);
}

static struct provider provider;

/* One server that says all this; "error" or "connected". */
static const char *begin(struct hub_rig *r, enum pb_era era, const char *instructions)
{
    struct fake_server *f;

    hub_rig_init(r);
    hub_rig_start(r);
    f = hub_rig_server(r, "a");
    fake_resource(f, "x:y", "z");
    f->era = era;
    provider = fake_provider;
    provider.capabilities = filled_capabilities;
    f->server->opts.instructions = instructions;
    server_set_provider(f->server, &provider, f);
    hub_rig_begin(r, "a", (struct rig_spec){ .no_reconnect = true });
    FAKES_UNTIL(&r->fakes,
                hub_rig_state(r, "a") == LINK_CONNECTED || hub_rig_state(r, "a") == LINK_ERROR);
    return link_state_name(hub_rig_state(r, "a"));
}

static struct link_facts facts_of(struct hub_rig *r)
{
    struct link_facts facts;

    link_facts(hub_link(r->hub, "a"), &facts);
    return facts;
}

TEST(capabilities_are_bounded_and_a_server_with_more_is_refused)
{
    static const enum pb_era eras[] = { PB_ERA_LEGACY, PB_ERA_MODERN };
    static const size_t past[] = { 0, 1, MCP_HELLO_BYTES_MAX };

    for (size_t e = 0; e < ARRAY_LEN(eras); e++) {
        struct hub_rig r;
        size_t least;

        fill(0);
        CHECK_STR(begin(&r, eras[e], NULL), "connected");
        least = facts_of(&r).capabilities.n;
        hub_rig_done(&r);
        for (size_t i = 0; i < ARRAY_LEN(past); i++) {
            fill(MCP_HELLO_BYTES_MAX - least + past[i]);
            CHECK_STR(begin(&r, eras[e], NULL), i ? "error" : "connected");
            if (i == 0)
                CHECK_INT(facts_of(&r).capabilities.n, MCP_HELLO_BYTES_MAX);
            else
                CHECK_HAS(link_last_error(hub_link(r.hub, "a"))->msg,
                          "the server's capabilities have");
            hub_rig_done(&r);
        }
    }
}

TEST(what_a_server_can_do_is_read_once)
{
    struct hub_rig r;
    const struct link *l;
    uint64_t before;

    fill(1000);
    CHECK_STR(begin(&r, PB_ERA_LEGACY, NULL), "connected");
    l = hub_link(r.hub, "a");
    before = mem_count();
    CHECK(link_has(l, "tools"));
    CHECK(link_has(l, "resources"));
    CHECK(!link_has(l, "completions"));
    CHECK_INT(mem_count() - before, 0);
    hub_rig_done(&r);
}

TEST(of_long_instructions_the_beginning_is_kept)
{
    static const size_t lengths[] = { HOST_HELLO_MAX, MCP_HELLO_BYTES_MAX - 2,
                                      MCP_HELLO_BYTES_MAX - 1, 10 * MCP_HELLO_BYTES_MAX };

    fill(0);
    for (size_t i = 0; i < ARRAY_LEN(lengths); i++) {
        AUTO_FREE char *text = mem_zero(lengths[i] + 1);
        struct hub_rig r;

        memset(text, 'w', lengths[i]);
        CHECK_STR(begin(&r, PB_ERA_MODERN, text), "connected");
        CHECK_INT(facts_of(&r).instructions.n,
                  i < 2 ? lengths[i] + 2 : MCP_HELLO_BYTES_MAX / 2 + 2);
        CHECK(facts_of(&r).words.n <= HOST_HELLO_MAX + 4);
        CHECK(facts_of(&r).words.n >= HOST_HELLO_MAX);
        CHECK(span_starts(facts_of(&r).words, "www"));
        hub_rig_done(&r);
    }
}

static void info_of(struct buf *out, size_t picture)
{
    out->n = 0;
    buf_str(out, "{\"name\":\"a\",\"title\":\"A\",\"version\":\"1\",\"icons\":[{\"src\":\"data:");
    memset(buf_reserve(out, picture), 'x', picture);
    out->n += picture;
    buf_str(out, "\"}]}");
}

TEST(of_a_long_description_the_names_are_kept)
{
    static const size_t past[] = { 0, 1, MCP_HELLO_BYTES_MAX };

    for (size_t i = 0; i < ARRAY_LEN(past); i++) {
        AUTO_BUF struct buf info = { 0 };
        struct hub_rig r;
        struct fake_server *f;

        info_of(&info, 0);
        info_of(&info, MCP_HELLO_BYTES_MAX - info.n + past[i]);
        hub_rig_init(&r);
        hub_rig_start(&r);
        f = hub_rig_server(&r, "a");
        for (size_t k = 0; k < ARRAY_LEN(f->server->info); k++) {
            f->server->info[k].n = 0;
            buf_add_span(&f->server->info[k], buf_span(&info));
        }
        hub_rig_begin(&r, "a", (struct rig_spec){ 0 });
        HUB_RIG_REACHES(&r, "a", LINK_CONNECTED);
        if (i)
            CHECK_SPAN(facts_of(&r).server_info,
                       "{\"name\":\"a\",\"title\":\"A\",\"version\":\"1\"}");
        else
            CHECK_INT(facts_of(&r).server_info.n, MCP_HELLO_BYTES_MAX);
        hub_rig_done(&r);
    }
}
