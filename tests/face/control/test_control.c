/* The methods by which a command line rules a hub. */
#include "face/control/control.h"
#include "face/host/host.h"
#include "face/host_rig.h"
#include "hub/hub/hub.h"
#include "hub/link/link.h"
#include "hub/spec/spec.h"
#include "temp_dir.h"
#include <poll.h>

static const struct host_scope control = { .control = true };

/* Two servers: one with everything, one that cannot be connected. */
static void control_init(struct hub_rig *rig)
{
    struct fake_server *f;

    rig_init(rig, NULL);
    f = rig_server(rig, "alpha");
    fake_tool(f, "echo", FAKE_ECHO);
    fake_tool(f, "hang", FAKE_HANG);
    fake_resource(f, "test://one", "1");
    fake_template(f, "test://{x}");
    fake_prompt(f, "greet", "hello");
    f = rig_server(rig, "broken");
    f->connect = FAKE_CONNECT_FAIL;
    f->connect_text = "it does not want to";
}

static void control_rig_start(struct hub_rig *rig, struct face_client *c)
{
    control_init(rig);
    rig_start(rig);
    face_open(rig, c, &control, PB_ERA_LEGACY);
}

static void control_done(struct hub_rig *rig, struct face_client *c)
{
    face_close(c);
    rig_done(rig);
}

TEST(methods_are_sorted_and_carry_their_prefix)
{
    for (const struct control_method *m = control_methods; m->name; m++) {
        CHECK(strncmp(m->name, "patchbay/", 9) == 0);
        CHECK(m->run && m->params && *m->help);
        if (m[1].name)
            CHECK(strcmp(m->name, m[1].name) < 0);
    }
}

TEST(only_a_host_with_control_answers_them)
{
    struct face_client c;
    struct hub_rig rig;

    control_init(&rig);
    rig_start(&rig);
    face_open(&rig, &c, NULL, PB_ERA_LEGACY);
    for (const struct control_method *m = control_methods; m->name; m++)
        CHECK_HAS(face_refused(&c, m->name, "{}"), "-32601");
    control_done(&rig, &c);
}

TEST(without_a_hub_they_say_so)
{
    struct fakes fakes;
    struct hosts *hosts;
    struct host *host;
    struct face_client c;
    struct pb_error err;

    fakes_init(&fakes);
    hosts = hosts_new(fakes.loop, &(struct host_options){ 0 });
    control_start(hosts);
    CHECK_INT(hosts_get(hosts, &control, &host, &err), 0);
    face_connect(&fakes, &c, host, PB_ERA_LEGACY);
    for (const struct control_method *m = control_methods; m->name; m++)
        CHECK_HAS(face_refused(&c, m->name, "{}"), "there is no hub here");
    face_close(&c);
    hosts_close(hosts, NULL, NULL);
    fakes_settle(&fakes);
    fakes_done(&fakes);
}

TEST(wrong_parameters_are_refused_by_name)
{
    static const struct {
        const char *method, *params, *says;
    } cases[] = {
        { "patchbay/tools", "{\"server\":7}", "server" },
        { "patchbay/logs", "{\"lines\":-1}", "lines" },
        { "patchbay/logs", "{\"follow\":\"yes\"}", "follow" },
        { "patchbay/server", "{}", "server: expected a name" },
        { "patchbay/connect", "{}", "server: expected a name" },
        { "patchbay/disconnect", "{\"server\":null}", "server" },
        { "patchbay/find", "{}", "expected one of tool and prompt" },
        { "patchbay/find", "{\"tool\":\"a\",\"prompt\":\"b\"}", "expected one of tool and prompt" },
        { "patchbay/tools", "{\"mode\":\"none\"}", "there is no mode 'none'" },
        { "patchbay/cancel", "{\"id\":\"none\"}", "no call 'none' is running" },
        { "patchbay/cancel", "{}", "no call '' is running" },
        { "patchbay/server", "{\"server\":\"alhpa\"}",
          "there is no server 'alhpa'; did you mean "
          "'alpha'?" },
        { "patchbay/logs", "{\"server\":\"x\"}", "there is no server 'x'; 'patchbay list' shows" },
        { "patchbay/tools", "{\"server\":\"beta\"}", "server_not_found" },
    };
    struct face_client c;
    struct hub_rig rig;

    control_rig_start(&rig, &c);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *error = face_refused(&c, cases[i].method, cases[i].params);

        bool missing = strstr(cases[i].says, "there is no") || strstr(cases[i].says, "no call") ||
                       strstr(cases[i].says, "not_found");

        CHECK_HAS(error, missing ? "\"code\":-32091" : "\"code\":-32602");
        CHECK_HAS(error, cases[i].says);
    }
    control_done(&rig, &c);
}

/* ---- what there is ---- */

TEST(servers_are_told_with_their_state_and_what_to_do)
{
    struct face_client c;
    struct hub_rig rig;
    const char *all;

    control_rig_start(&rig, &c);
    all = face_get(&c, "patchbay/servers", "{}");
    CHECK_STR(face_names(all, "servers", "name"), "alpha broken");
    CHECK_STR(face_names(all, "servers", "state"), "connected reconnecting");
    CHECK_HAS(all, "\"tools\":2,\"resources\":1,\"templates\":1,\"prompts\":1");
    CHECK_HAS(all, "it does not want to");
    CHECK_HAS(all, "\"attempt\":1,\"max_attempts\":5,");
    CHECK(!strstr(all, "\"spec\""));
    all = face_get(&c, "patchbay/server", "{\"server\":\"alpha\"}");
    CHECK_HAS(all, "\"spec\":{");
    CHECK_HAS(all, "\"server_info\":{");
    control_done(&rig, &c);
}

/* Values of variables and headers are never told. */
TEST(a_spec_is_told_with_its_secrets_masked)
{
    static const char *const env[] = { "TOKEN=hush-hush", NULL };
    struct face_client c;
    struct hub_rig rig;
    const char *text;

    control_init(&rig);
    spec_unref(rig.specs[0]);
    rig.specs[0] = spec_stdio("alpha", "fake", NULL, env);
    rig_start(&rig);
    face_open(&rig, &c, &control, PB_ERA_LEGACY);
    text = face_get(&c, "patchbay/server", "{\"server\":\"alpha\"}");
    CHECK_HAS(text, "\"TOKEN\":\"***\"");
    CHECK(!strstr(text, "hush-hush"));
    CHECK(!strstr(face_get(&c, "patchbay/servers", "{}"), "hush-hush"));
    control_done(&rig, &c);
}

TEST(lists_tell_which_servers_are_missing_and_why)
{
    static const char *const methods[] = { "patchbay/tools", "patchbay/resources",
                                           "patchbay/prompts" };
    struct face_client c;
    struct hub_rig rig;

    control_rig_start(&rig, &c);
    for (size_t i = 0; i < ARRAY_LEN(methods); i++) {
        const char *all = face_get(&c, methods[i], "{}");

        CHECK_STR(face_names(all, "failed", "server"), "broken");
        CHECK_STR(face_names(all, "failed", "error"), "server_not_connected");
        CHECK_HAS(all, "it does not want to");
        CHECK_STR(
            face_names(face_get(&c, methods[i], "{\"server\":\"alpha\"}"), "failed", "server"), "");
        CHECK_STR(
            face_names(face_get(&c, methods[i], "{\"server\":\"broken\"}"), "failed", "state"),
            "reconnecting");
    }
    CHECK_STR(face_names(face_get(&c, "patchbay/tools", "{}"), "tools", "name"),
              "alpha/echo alpha/hang");
    CHECK_STR(face_names(face_get(&c, "patchbay/tools", "{}"), "tools", "wire"),
              "alpha__echo alpha__hang");
    CHECK_STR(face_names(face_get(&c, "patchbay/resources", "{}"), "resources", "uri"),
              "test://one");
    CHECK_STR(face_names(face_get(&c, "patchbay/prompts", "{}"), "prompts", "name"), "alpha/greet");
    control_done(&rig, &c);
}

TEST(one_that_was_switched_off_is_missed_only_when_it_is_asked_for)
{
    struct face_client c;
    struct hub_rig rig;

    control_rig_start(&rig, &c);
    CHECK_INT(hub_disconnect(rig.hub, "alpha", NULL), 0);
    fakes_settle(&rig.fakes);
    CHECK_STR(face_names(face_get(&c, "patchbay/tools", "{}"), "failed", "server"), "broken");
    CHECK_STR(
        face_names(face_get(&c, "patchbay/tools", "{\"server\":\"alpha\"}"), "failed", "state"),
        "disconnected");
    control_done(&rig, &c);
}

TEST(a_mode_chooses_among_the_tools)
{
    struct face_client c;
    struct hub_rig rig;

    control_rig_start(&rig, &c);
    rig_modes(&rig, "{\"quiet\":{\"filter\":{\"tools\":[\"echo\"]}}}");
    CHECK_STR(face_names(face_get(&c, "patchbay/tools", "{\"mode\":\"quiet\"}"), "tools", "name"),
              "alpha/echo");
    CHECK_HAS(face_get(&c, "patchbay/modes", "{}"), "\"id\":\"quiet\"");
    control_done(&rig, &c);
}

static void check_names(struct face_client *c, const char *method, const char *member,
                        const char *key, const char *names)
{
    CHECK_STR(face_names(face_get(c, method, "{\"mode\":\"quiet\"}"), member, key), names);
}

TEST(a_mode_chooses_among_the_servers_whose_resources_and_prompts_are_listed)
{
    struct face_client c;
    struct hub_rig rig;
    struct fake_server *f;

    control_init(&rig);
    f = rig_server(&rig, "beta");
    fake_tool(f, "other", FAKE_TEXT);
    fake_resource(f, "test://echo", "1");
    fake_template(f, "test://echo/{x}");
    fake_prompt(f, "echo", "hello");
    rig_start(&rig);
    face_open(&rig, &c, &control, PB_ERA_LEGACY);
    rig_modes(&rig, "{\"quiet\":{\"filter\":{\"tools\":[\"echo\"]}}}");
    check_names(&c, "patchbay/prompts", "prompts", "name", "alpha/greet");
    check_names(&c, "patchbay/resources", "resources", "uri", "test://one");
    check_names(&c, "patchbay/resources", "resourceTemplates", "uriTemplate", "test://{x}");
    control_done(&rig, &c);
}

TEST(a_mode_whose_pattern_takes_too_long_is_refused)
{
    AUTO_BUF struct buf array = { 0 };
    struct face_client c;
    struct hub_rig rig;

    control_rig_start(&rig, &c);
    for (int i = 0; i < 2000; i++)
        buf_printf(&array, "%s{\"name\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa%d\"}",
                   i ? "," : "[", i);
    buf_str(&array, "]");
    rig_list(&rig, "alpha", LIST_TOOLS, buf_cstr(&array));
    rig_modes(&rig, "{\"slow\":{\"filter\":{\"pattern\":\"^(a|a|b)*$\"}}}");
    CHECK_HAS(face_refused(&c, "patchbay/tools", "{\"mode\":\"slow\"}"),
              "the mode 'slow' takes too long");
    CHECK_HAS(face_get(&c, "patchbay/tools", "{}"), "aaa1999");
    control_done(&rig, &c);
}

/* A server that is still on its way is waited for; others do not hold up what it is not about. */
TEST(lists_wait_for_the_servers_they_are_about)
{
    struct face_client c;
    struct hub_rig rig;
    struct fake_server *slow;
    struct fake_reply *all, *one;

    control_init(&rig);
    slow = rig_server(&rig, "slow");
    fake_tool(slow, "later", FAKE_TEXT);
    slow->connect = FAKE_CONNECT_DELAY;
    slow->connect_ms = 500;
    rig_start(&rig);
    face_open(&rig, &c, &control, PB_ERA_LEGACY);
    CHECK_HAS(face_get(&c, "patchbay/tools", "{\"server\":\"alpha\"}"), "alpha/echo");
    CHECK_HAS(face_get(&c, "patchbay/servers", "{}"), "\"state\":\"connecting\"");
    all = face_send(&c, "patchbay/tools", "{}");
    one = face_send(&c, "patchbay/tools", "{\"server\":\"slow\"}");
    fakes_settle(&rig.fakes);
    CHECK(!all->count && !one->count);
    loop_advance(rig.fakes.loop, 500);
    FAKES_UNTIL(&rig.fakes, all->count && one->count);
    CHECK_HAS(all->result, "slow/later");
    CHECK_STR(face_names(one->result, "tools", "name"), "slow/later");
    control_done(&rig, &c);
}

TEST(who_waits_may_leave_and_the_hub_may_close)
{
    struct face_client c, other;
    struct hub_rig rig;
    struct fake_server *never;

    control_init(&rig);
    never = rig_server(&rig, "never");
    never->connect = FAKE_CONNECT_HANG;
    rig_start(&rig);
    face_open(&rig, &c, &control, PB_ERA_LEGACY);
    face_open(&rig, &other, &control, PB_ERA_LEGACY);
    face_send(&c, "patchbay/tools", "{}");
    face_send(&c, "patchbay/settled", "{}");
    face_send(&c, "patchbay/find", "{\"tool\":\"never.x\"}");
    face_send(&c, "patchbay/connect", "{\"server\":\"never\"}");
    face_send(&other, "patchbay/settled", "{}");
    face_send(&other, "patchbay/logs", "{\"follow\":true}");
    fakes_settle(&rig.fakes);
    face_close(&c);
    CHECK_INT(hub_cancel_connect(rig.hub, "never", NULL), 0);
    fakes_settle(&rig.fakes);
    CHECK_INT(hub_connect(rig.hub, "never", NULL), 0);
    fakes_settle(&rig.fakes);
    face_send(&other, "patchbay/settled", "{}");
    fakes_settle(&rig.fakes);
    hosts_close(rig.hosts, rig_on_hosts_closed, &rig);
    fakes_settle(&rig.fakes);
    face_close(&other);
    FAKES_UNTIL(&rig.fakes, rig.hosts_closed);
    rig_done(&rig);
}

/* ---- is there such a thing? ---- */

TEST(find_tells_what_is_there_and_what_is_like_it)
{
    static const struct {
        const char *params, *has;
    } found[] = {
        { "{\"tool\":\"alpha/echo\"}", "\"wire\":\"alpha__echo\"" },
        { "{\"tool\":\"alpha.echo\"}", "\"name\":\"alpha/echo\"" },
        { "{\"tool\":\"alpha:echo\"}", "\"server\":\"alpha\"" },
        { "{\"tool\":\"alpha__echo\"}", "\"server\":\"alpha\"" },
        { "{\"prompt\":\"alpha.greet\"}", "\"wire\":\"alpha__greet\"" },
    };
    static const struct {
        const char *params, *code, *says;
    } missing[] = {
        { "{\"tool\":\"alpha.ecko\"}", "-32091", "did you mean 'alpha.echo'?" },
        { "{\"tool\":\"echo\"}", "-32091", "did you mean 'alpha.echo'?" },
        { "{\"tool\":\"alhpa.echo\"}", "-32091",
          "there is no server 'alhpa'; did you mean 'alpha'?" },
        { "{\"tool\":\"zzz.echo\"}", "-32091",
          "there is no server 'zzz'; 'patchbay list' shows those there are" },
        { "{\"prompt\":\"alpha.echo\"}", "-32091", "prompt" },
        { "{\"tool\":\"broken.x\"}", "-32000", "it does not want to" },
        { "{\"tool\":\"broken.x\"}", "-32000", "'patchbay doctor broken' looks into it" },
        { "{\"tool\":\"\"}", "-32091", "tool" },
    };
    struct face_client c;
    struct hub_rig rig;

    control_rig_start(&rig, &c);
    for (size_t i = 0; i < ARRAY_LEN(found); i++)
        CHECK_HAS(face_get(&c, "patchbay/find", found[i].params), found[i].has);
    for (size_t i = 0; i < ARRAY_LEN(missing); i++) {
        const char *error = face_refused(&c, "patchbay/find", missing[i].params);

        CHECK_HAS(error, missing[i].code);
        CHECK_HAS(error, missing[i].says);
    }
    control_done(&rig, &c);
}

TEST(find_says_what_to_do_about_a_server_that_is_off)
{
    struct face_client c;
    struct hub_rig rig;

    control_init(&rig);
    rig_start(&rig);
    face_open(&rig, &c, &control, PB_ERA_LEGACY);
    CHECK_INT(hub_disconnect(rig.hub, "alpha", NULL), 0);
    fakes_settle(&rig.fakes);
    CHECK_HAS(face_refused(&c, "patchbay/find", "{\"tool\":\"alpha.echo\"}"),
              "'patchbay reconnect alpha' tries again");
    control_done(&rig, &c);
}

TEST(find_waits_for_a_server_that_is_on_its_way)
{
    struct face_client c;
    struct hub_rig rig;
    struct fake_server *slow;
    struct fake_reply *there, *not_there;

    control_init(&rig);
    slow = rig_server(&rig, "slow");
    fake_tool(slow, "later", FAKE_TEXT);
    slow->connect = FAKE_CONNECT_DELAY;
    slow->connect_ms = 500;
    rig_start(&rig);
    face_open(&rig, &c, &control, PB_ERA_LEGACY);
    there = face_send(&c, "patchbay/find", "{\"tool\":\"slow.later\"}");
    not_there = face_send(&c, "patchbay/find", "{\"tool\":\"slow.sooner\"}");
    fakes_settle(&rig.fakes);
    CHECK(!there->count && !not_there->count);
    loop_advance(rig.fakes.loop, 500);
    FAKES_UNTIL(&rig.fakes, there->count && not_there->count);
    CHECK_HAS(there->result, "slow/later");
    CHECK_HAS(not_there->error, "-32091");
    control_done(&rig, &c);
}

/* ---- actions ---- */

TEST(servers_are_connected_and_stopped)
{
    struct face_client c;
    struct hub_rig rig;
    const char *text;

    control_rig_start(&rig, &c);
    CHECK_HAS(face_get(&c, "patchbay/disconnect", "{\"server\":\"alpha\"}"),
              "\"state\":\"disconnected\"");
    CHECK_HAS(face_get(&c, "patchbay/connect", "{\"server\":\"alpha\"}"),
              "\"state\":\"connected\"");
    CHECK_HAS(face_get(&c, "patchbay/reconnect", "{\"server\":\"alpha\"}"),
              "\"state\":\"connected\"");
    CHECK_HAS(face_get(&c, "patchbay/restart", "{\"server\":\"alpha\"}"),
              "\"state\":\"connected\"");
    text = face_refused(&c, "patchbay/connect", "{\"server\":\"broken\"}");
    CHECK_HAS(text, "\"code\":-32000");
    CHECK_HAS(text, "\"error\":\"connect_failed\"");
    CHECK_HAS(text, "it does not want to");
    control_done(&rig, &c);
}

TEST(only_an_attempt_that_runs_can_be_cancelled)
{
    struct face_client c;
    struct hub_rig rig;
    struct fake_server *never;

    control_init(&rig);
    never = rig_server(&rig, "never");
    never->connect = FAKE_CONNECT_HANG;
    rig_start(&rig);
    face_open(&rig, &c, &control, PB_ERA_LEGACY);
    CHECK_HAS(face_get(&c, "patchbay/cancel-connect", "{\"server\":\"never\"}"),
              "\"state\":\"idle\"");
    CHECK_HAS(face_refused(&c, "patchbay/cancel-connect", "{\"server\":\"alpha\"}"),
              "server 'alpha' is connected: there is no attempt to cancel");
    control_done(&rig, &c);
}

TEST(calls_are_shown_and_cancelled)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_ARENA struct arena a = { 0 };
    struct face_client c;
    struct hub_rig rig;
    struct fake_reply *call;
    const char *id;

    control_rig_start(&rig, &c);
    CHECK_STR(face_get(&c, "patchbay/calls", "{}"), "{\"calls\":[]}");
    call = face_send(&c, "tools/call", "{\"name\":\"alpha__hang\",\"arguments\":{}}");
    fakes_settle(&rig.fakes);
    CHECK_INT(json_parse(&doc, span_of(face_get(&c, "patchbay/calls", "{}")), NULL, NULL), 0);
    id = json_cstr(json_get(json_item(json_get(json_root(&doc), "calls"), 0), "id"), &a);
    CHECK_HAS(face_get(&c, "patchbay/status", "{}"), id);
    CHECK_STR(face_get(&c, "patchbay/cancel", arena_printf(&a, "{\"id\":\"%s\"}", id)),
              "{\"cancelled\":true}");
    FAKES_UNTIL(&rig.fakes, call->count);
    CHECK_HAS(call->result ? call->result : call->error, "cancel");
    CHECK_STR(face_get(&c, "patchbay/calls", "{}"), "{\"calls\":[]}");
    control_done(&rig, &c);
}

TEST(logs_are_told_and_followed)
{
    struct face_client c;
    struct hub_rig rig;
    struct fake_reply *follow;

    control_rig_start(&rig, &c);
    CHECK_HAS(face_get(&c, "patchbay/logs", "{\"server\":\"alpha\"}"),
              "\"message\":\"State: connecting → connected\"");
    CHECK(!strstr(face_get(&c, "patchbay/logs", "{\"server\":\"alpha\"}"), "broken"));
    CHECK_STR(face_names(face_get(&c, "patchbay/logs", "{\"lines\":1}"), "entries", "server"),
              "broken alpha"); /* by time */
    CHECK_STR(face_get(&c, "patchbay/logs", "{\"lines\":0}"), "{\"entries\":[]}");
    follow = face_send(&c, "patchbay/logs", "{\"server\":\"alpha\",\"lines\":1,\"follow\":true}");
    fakes_settle(&rig.fakes);
    CHECK_HAS(c.notes, "notifications/patchbay/logs {\"entries\":[{");
    link_log(rig_link(&rig, "alpha"), PB_LOG_WARNING, "look here");
    link_log(rig_link(&rig, "broken"), PB_LOG_WARNING, "not here");
    fakes_settle(&rig.fakes);
    CHECK_HAS(c.notes, "notifications/patchbay/log {\"id\":");
    CHECK_HAS(c.notes, "\"level\":\"warning\",\"source\":\"link\",\"message\":\"look here\"}");
    CHECK(!strstr(c.notes, "not here"));
    CHECK(!follow->count);
    control_done(&rig, &c);
}

static void on_found(void *ctx, const struct call_page *p, const struct pb_error *err)
{
    (void)p;
    (void)err;
    ++*(int *)ctx;
}

/* So many others ask that nobody is answered at once: who follows is told a little later. */
TEST(who_follows_goes_on_when_the_store_has_much_to_answer)
{
    struct fake_reply *follow;
    struct face_client c;
    struct hub_rig rig;
    int answered = 0;

    rig_init_store(&rig, NULL, temp_path("records"));
    rig_start(&rig);
    face_open(&rig, &c, &control, PB_ERA_LEGACY);
    for (int i = 0; i < STORE_READS_MAX; i++)
        CHECK(store_find(rig.store, &(struct call_query){ .limit = 1 }, on_found, &answered));
    follow = face_send(&c, "patchbay/records", "{\"follow\":true}");
    while (answered < STORE_READS_MAX)
        loop_turn(rig.fakes.loop, true);
    for (int i = 0; i < 1000 && !strstr(c.notes, "notifications/patchbay/records"); i++) {
        loop_advance(rig.fakes.loop, CONTROL_FOLLOW_MS);
        fakes_settle(&rig.fakes);
        poll(NULL, 0, 5);
    }
    CHECK_HAS(c.notes, "notifications/patchbay/records");
    CHECK(!follow->count);
    control_done(&rig, &c);
    temp_clean();
}

/* ---- the daemon ---- */

struct daemon {
    int reloads, stops;
    const struct pb_error *refuses;
};
static void on_reload(void *ctx, control_reloaded_fn *fn, void *fn_ctx)
{
    struct daemon *d = ctx;

    d->reloads++;
    fn(fn_ctx, d->refuses);
}
static void on_stop(void *ctx) { ((struct daemon *)ctx)->stops++; }

TEST(the_daemon_tells_about_itself_and_does_as_it_is_told)
{
    static const char *const files[] = { "/etc/a.json", "/etc/b.json", NULL };
    static const struct control_daemon daemon = { on_reload, on_stop };
    struct daemon d = { 0 };
    const struct control_facts facts = { .home = "/home",
                                         .socket = "/run/s",
                                         .url = "http://127.0.0.1:1",
                                         .files = files,
                                         .started_at = 1500,
                                         .daemon = &daemon,
                                         .daemon_ctx = &d };
    struct face_client c;
    struct hub_rig rig;
    const char *text;

    control_rig_start(&rig, &c);
    CHECK_HAS(face_refused(&c, "patchbay/reload", "{}"), "nothing was read from a file here");
    CHECK_STR(face_get(&c, "patchbay/stop", "{}"), "{\"stopping\":true}");
    control_set_facts(rig.hosts, &facts);
    text = face_get(&c, "patchbay/status", "{}");
    CHECK_HAS(text,
              "\"url\":\"http://127.0.0.1:1\",\"socket\":\"/run/s\",\"home\":\"/home\","
              "\"files\":[\"/etc/a.json\",\"/etc/b.json\"],\"restart_for\":[],\"started_at\":1.5,"
              "\"servers\":{\"total\":2,\"connected\":1,\"reconnecting\":1},\"tools\":2,");
    CHECK_STR(face_get(&c, "patchbay/reload", "{}"),
              "{\"reloaded\":true,\"files\":[\"/etc/a.json\",\"/etc/b.json\"]}");
    CHECK_INT(d.reloads, 1);
    d.refuses = &(struct pb_error){ PB_E_INVALID, 0, "/etc/a.json:3: command: expected text" };
    CHECK_HAS(face_refused(&c, "patchbay/reload", "{}"), "/etc/a.json:3: command: expected text");
    CHECK_STR(face_get(&c, "patchbay/stop", "{}"), "{\"stopping\":true}");
    CHECK_INT(d.stops, 1);
    control_done(&rig, &c);
}
