#include "face/caller/caller.h"
#include "face/host/host.h"
#include "face/host_rig.h"
#include "hub/hub/hub.h"
#include "hub/spec/spec.h"
#include "mcp/client/client.h"
#include "mcp/serve/serve.h"
#include "mcp/serve/server_impl.h"

TEST(expose_names_groups_and_says_which_there_are)
{
    static const struct {
        const char *text;
        unsigned mask;
    } good[] = {
        { "catalog", HOST_CATALOG },
        { "catalog,external", HOST_CATALOG | HOST_EXTERNAL },
        { " builtin , breakpoint ", HOST_BUILTIN | HOST_BREAKPOINT },
        { "external,external", HOST_EXTERNAL },
        { "catalog,plain", HOST_CATALOG | TOOLS_PLAIN },
    };
    static const char *const bad[] = { "", "catalog,", "Catalog", "all", "catalog external" };
    struct pb_error err;
    unsigned mask;

    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        CHECK_INT(host_parse_expose(good[i].text, &mask, &err), 0);
        CHECK_INT(mask, good[i].mask);
    }
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        mask = 77;
        CHECK_INT(host_parse_expose(bad[i], &mask, &err), -PB_E_INVALID);
        CHECK_HAS(err.msg, "there are breakpoint, builtin, catalog and external");
        CHECK_INT(mask, 77);
    }
}

TEST(the_same_scope_gives_the_same_host_and_another_one_another)
{
    static const struct host_scope scopes[] = {
        { 0 },
        { .server = "alpha" },
        { .mode = "full" },
        { .control = true },
        { .expose = HOST_EXTERNAL },
    };
    struct hub_rig rig;
    struct host *hosts[ARRAY_LEN(scopes)];

    rig_init(&rig, NULL);
    rig_server(&rig, "alpha");
    rig_start(&rig);
    for (size_t i = 0; i < ARRAY_LEN(scopes); i++) {
        hosts[i] = rig_host(&rig, &scopes[i]);
        CHECK(rig_host(&rig, &scopes[i]) == hosts[i]);
        for (size_t k = 0; k < i; k++)
            CHECK(hosts[i] != hosts[k]);
    }
    CHECK(rig_host(&rig, &(struct host_scope){ .expose = HOST_CATALOG }) == hosts[0]);
    rig_done(&rig);
}

TEST(a_scope_that_is_not_there_is_refused_with_what_is)
{
    struct hub_rig rig;
    struct host *h = NULL;
    struct pb_error err;

    rig_init(&rig, NULL);
    rig_modes(&rig, "{\"reading\":{\"filter\":{\"tools\":[\"read\"]}}}");
    CHECK_INT(hosts_get(rig.hosts, &(struct host_scope){ .server = "nobody" }, &h, &err),
              -PB_E_NOT_FOUND);
    CHECK_INT(fault_of(&err), FAULT_NO_SERVER);
    CHECK_STR(err.msg, "there is no server 'nobody'");
    CHECK_INT(hosts_get(rig.hosts, &(struct host_scope){ .mode = "writing" }, &h, &err),
              -PB_E_NOT_FOUND);
    CHECK_STR(err.msg, "there is no mode 'writing'; there are: full, reading");
    CHECK_INT(hosts_get(rig.hosts, &(struct host_scope){ .mode = "full", .server = "x" }, &h, &err),
              -PB_E_INVALID);
    CHECK(!h);
    rig_done(&rig);
}

TEST(one_server_is_shown_under_its_own_names_and_title)
{
    struct hub_rig rig;
    struct fake_server *f;
    struct face_client c;

    rig_init(&rig, NULL);
    f = rig_server(&rig, "alpha");
    fake_tool(f, "echo", FAKE_ECHO);
    fake_tool(rig_server(&rig, "beta"), "other", FAKE_TEXT);
    rig_spec_of(&rig, "alpha")->display_name = "The first one";
    rig_start(&rig);
    TWO_ERAS(era)
    {
        face_open(&rig, &c, &(struct host_scope){ .server = "alpha" }, era);
        CHECK_STR(face_tools(&c), "echo");
        CHECK_STR(face_call(&c, "echo", "{\"x\":1}"), "{\"x\":1}");
        CHECK_HAS(face_refused(&c, "tools/call", "{\"name\":\"beta__other\"}"),
                  "Unknown tool: beta__other");
        CHECK_HAS(face_refused(&c, "tools/call", "{\"name\":\"other\"}"), "Unknown tool: other");
        face_close(&c);
    }
    face_open(&rig, &c, &(struct host_scope){ .server = "alpha" }, PB_ERA_MODERN);
    CHECK_HAS(face_get(&c, "tools/list", "{}"), "\"title\":\"The first one\"");
    face_close(&c);
    rig_done(&rig);
}

/* What the client of a fake heard at its handshake. */
static void say(struct fake_server *f, const char *instructions)
{
    f->server->opts.instructions = instructions;
}

static const char *instructions_of(struct face_client *c)
{
    static char text[1 << 17];
    struct span s = client_instructions(c->client);
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_ARENA struct arena a = { 0 };

    text[0] = '\0';
    if (!s.n)
        return text;
    CHECK_INT(json_parse(&doc, s, NULL, NULL), 0);
    snprintf(text, sizeof text, "%.*s", SPAN_ARG(json_str(json_root(&doc), &a)));
    return text;
}

TEST(instructions_are_those_of_the_servers_that_a_client_sees)
{
    struct hub_rig rig;
    struct face_client c;
    struct fake_server *f;

    rig_init(&rig, NULL);
    f = rig_server(&rig, "alpha");
    fake_tool(f, "echo", FAKE_ECHO);
    say(f, "Echo first.");
    f = rig_server(&rig, "beta");
    fake_tool(f, "read", FAKE_ECHO);
    say(f, "Read then.");
    rig_server(&rig, "quiet");
    rig_start(&rig);
    rig_modes(&rig, "{\"b\":{\"filter\":{\"servers\":[\"beta\"]}}}");
    TWO_ERAS(era)
    {
        face_open(&rig, &c, NULL, era);
        CHECK_HAS(instructions_of(&c), "\n\n## alpha\nEcho first.\n\n## beta\nRead then.");
        CHECK(!strstr(instructions_of(&c), "quiet"));
        face_close(&c);
        face_open(&rig, &c, &(struct host_scope){ .server = "beta" }, era);
        CHECK_STR(instructions_of(&c), "Read then.");
        face_close(&c);
        face_open(&rig, &c, &(struct host_scope){ .mode = "b" }, era);
        CHECK_HAS(instructions_of(&c), "## beta");
        CHECK(!strstr(instructions_of(&c), "alpha"));
        face_close(&c);
        face_open(&rig, &c, &(struct host_scope){ .server = "quiet" }, era);
        CHECK_STR(instructions_of(&c), "");
        face_close(&c);
    }
    rig_done(&rig);
}

TEST(instructions_are_cut_where_a_character_ends_and_say_so)
{
    enum { SERVERS = 6 };
    struct hub_rig rig;
    struct face_client c;
    static char name[SERVERS][8];
    AUTO_BUF struct buf words = { 0 };
    const char *text;

    for (int i = 0; i < HOST_HELLO_SERVER_MAX; i++)
        buf_str(&words, i ? "é" : "x"); /* so that the limit falls into one */
    rig_init(&rig, NULL);
    for (int i = 0; i < SERVERS; i++) {
        snprintf(name[i], sizeof name[i], "s%d", i);
        say(rig_server(&rig, name[i]), buf_cstr(&words));
    }
    rig_start(&rig);
    face_open(&rig, &c, NULL, PB_ERA_LEGACY);
    text = instructions_of(&c);
    CHECK(utf8_valid(span_of(text)));
    CHECK(strlen(text) <= HOST_HELLO_MAX);
    CHECK_HAS(text, "é … (shortened)\n\n## s1\n");
    CHECK_HAS(text, "## s5\n(left out: too long)");
    face_close(&c);
    rig_done(&rig);
}

TEST(a_mode_is_looked_up_anew_so_that_it_may_change_or_go)
{
    struct hub_rig rig;
    struct fake_server *f;
    struct face_client c;

    rig_init(&rig, NULL);
    f = rig_server(&rig, "alpha");
    fake_tool(f, "read", FAKE_TEXT);
    fake_tool(f, "write", FAKE_TEXT);
    rig_start(&rig);
    rig_modes(&rig, "{\"m\":{\"filter\":{\"tools\":[\"read\"]}}}");
    face_open(&rig, &c, &(struct host_scope){ .mode = "m" }, PB_ERA_LEGACY);
    CHECK_STR(face_tools(&c), "alpha__read");
    fakes_settle(&rig.fakes);
    c.notes[0] = '\0';

    rig_modes(&rig, "{\"m\":{\"filter\":{\"tools\":[\"write\"]}}}");
    fakes_settle(&rig.fakes);
    CHECK_STR(c.notes, "notifications/tools/list_changed\n");
    CHECK_STR(face_tools(&c), "alpha__write");
    CHECK_HAS(face_refused(&c, "tools/call", "{\"name\":\"alpha__read\"}"), "Unknown tool");

    rig_modes(&rig, "{}");
    CHECK_HAS(face_refused(&c, "tools/list", "{}"), "Mode 'm' was removed");
    CHECK_HAS(face_refused(&c, "tools/call", "{\"name\":\"alpha__write\"}"), "mode_not_found");

    rig_modes(&rig, "{\"m\":{\"filter\":\"all\"}}");
    CHECK_STR(face_tools(&c), "alpha__read alpha__write");
    face_close(&c);
    rig_done(&rig);
}

TEST(the_host_of_a_removed_server_says_so_until_it_comes_back)
{
    struct hub_rig rig;
    struct face_client c;
    struct host *h = NULL;
    struct pb_error err;
    struct spec *again;

    rig_init(&rig, NULL);
    fake_tool(rig_server(&rig, "alpha"), "echo", FAKE_ECHO);
    rig_start(&rig);
    face_open(&rig, &c, &(struct host_scope){ .server = "alpha" }, PB_ERA_LEGACY);
    CHECK_INT(hub_remove(rig.hub, "alpha", &err), 0);
    CHECK_HAS(face_refused(&c, "tools/list", "{}"), "Server 'alpha' was removed");
    CHECK_HAS(face_refused(&c, "tools/call", "{\"name\":\"echo\"}"),
              "{\"error\":\"server_not_found\",\"server\":\"alpha\"}");
    CHECK_INT(hosts_get(rig.hosts, &(struct host_scope){ .server = "alpha" }, &h, &err),
              -PB_E_NOT_FOUND);
    fakes_settle(&rig.fakes);

    again = spec_stdio("alpha", "fake", NULL, NULL);
    hub_start_all(rig.hub, &again, 1);
    spec_unref(again);
    fakes_settle(&rig.fakes);
    CHECK_STR(face_tools(&c), "echo");
    face_close(&c);
    rig_done(&rig);
}

TEST(without_a_hub_a_host_shows_its_own_tools_only)
{
    struct fakes fakes;
    struct hosts *hosts;
    struct host *h = NULL;
    struct face_client c;
    struct pb_error err;
    struct hub_rig done = { 0 };

    fakes_init(&fakes);
    hosts = hosts_new(fakes.loop, &(struct host_options){ .expose = HOST_CATALOG });
    CHECK_INT(hosts_get(hosts, &(struct host_scope){ .server = "a" }, &h, &err), -PB_E_NOT_FOUND);
    CHECK_INT(hosts_get(hosts, &(struct host_scope){ .mode = "full" }, &h, &err), -PB_E_NOT_FOUND);
    CHECK_INT(hosts_get(hosts, &(struct host_scope){ 0 }, &h, &err), 0);
    CHECK(!hosts_hub(hosts));
    face_connect(&fakes, &c, h, PB_ERA_LEGACY);
    CHECK_STR(face_tools(&c), "");
    CHECK_HAS(face_refused(&c, "tools/call", "{\"name\":\"a/b\"}"), "Unknown tool: a/b");
    CHECK_HAS(face_refused(&c, "resources/read", "{\"uri\":\"a:b\"}"), "-32002");
    CHECK_HAS(face_refused(&c, "prompts/get", "{\"name\":\"a/b\"}"), "Unknown prompt");
    face_close(&c);
    hosts_close(hosts, rig_on_hosts_closed, &done);
    FAKES_UNTIL(&fakes, done.hosts_closed);
    fakes_done(&fakes);
}

TEST(callers_without_a_connection_are_told_apart_by_who_they_say_they_are)
{
    static const struct {
        const char *principal, *info, *want;
    } cases[] = {
        { "", "{}", "client \"\" \"\"" },
        { "ann", "{\"name\":\"ide\",\"version\":\"1\"}", "client \"ann\" \"ide\"" },
        { "bob", "{\"name\":\"ide\",\"version\":\"2\"}", "client \"bob\" \"ide\"" },
        { "bob", "{\"name\":\"a\\\" \\\"b\\u0000\"}", "client \"bob\" \"a\\\" \\\"b\\u0000\"" },
        { "bob", "{\"name\":7}", "client \"bob\" \"\"" },
    };
    static const struct peer_ops ops = { 0 };
    struct hub_rig rig;
    struct peer *all, *one, *two;
    AUTO_BUF struct buf key = { 0 }, other = { 0 };

    rig_init(&rig, NULL);
    all = peer_new(host_server(rig_host(&rig, NULL)), PEER_STATELESS, &ops, NULL);
    one = peer_new(host_server(rig_host(&rig, NULL)), PEER_SESSION, &ops, NULL);
    two = peer_new(host_server(rig_host(&rig, &(struct host_scope){ .mode = "full" })),
                   PEER_SESSION, &ops, NULL);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct request r = { .peer = all, .env.client_info = span_of(cases[i].info) };

        peer_set_principal(all, cases[i].principal);
        key.n = 0;
        caller_key(&r, &key);
        CHECK_STR(buf_cstr(&key), cases[i].want);
    }
    key.n = 0;
    caller_key(&(struct request){ .peer = one }, &key);
    caller_key(&(struct request){ .peer = two }, &other);
    CHECK(strcmp(buf_cstr(&key), buf_cstr(&other)) != 0);
    peer_close(all);
    peer_close(one);
    peer_close(two);
    rig_done(&rig);
}

TEST(the_hub_is_ruled_only_through_hosts_that_are_made_for_it)
{
    struct hub_rig rig;
    struct face_client c;

    rig_init(&rig, NULL);
    rig_server(&rig, "alpha");
    rig_start(&rig);
    face_open(&rig, &c, NULL, PB_ERA_LEGACY);
    CHECK_HAS(face_refused(&c, "patchbay/status", "{}"), "-32601");
    face_close(&c);
    face_open(&rig, &c, &(struct host_scope){ .control = true }, PB_ERA_LEGACY);
    CHECK_HAS(face_get(&c, "patchbay/status", "{}"), "{");
    CHECK_STR(face_tools(&c), "");
    face_close(&c);
    rig_done(&rig);
}
