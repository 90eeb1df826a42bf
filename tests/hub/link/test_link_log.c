/* The log of a link: its own lines, stderr, messages of the server. */
#include "hub/link/link.h"
#include "hub/link_rig.h"
#include "hub/secrets/secrets.h"

/* S0-52 S0-53 S0-55 S0-104 */
TEST(the_log_keeps_the_last_thousand_entries_and_tells_each)
{
    struct link_rig rig;
    struct map ids = { 0 };
    char text[32];

    link_rig_init(&rig);
    link_rig_make(&rig);
    for (int i = 0; i < LINK_LOG_MAX + 5; i++)
        link_log(rig.link, PB_LOG_INFO, "line %d", i);
    CHECK_INT(link_log_count(rig.link), LINK_LOG_MAX);
    CHECK_STR(link_log_at(rig.link, 0)->text, "line 5");
    snprintf(text, sizeof text, "line %d", LINK_LOG_MAX + 4);
    CHECK_STR(link_log_at(rig.link, LINK_LOG_MAX - 1)->text, text);
    CHECK_INT(fakes_count(&rig.fakes, EVENT_LOG, "alpha", NULL), LINK_LOG_MAX + 5);
    for (size_t i = 0; i < link_log_count(rig.link); i++) {
        const struct log_entry *e = link_log_at(rig.link, i);

        CHECK_INT(strlen(e->id), UUID_CHARS);
        CHECK_INT(e->at, loop_wall(rig.fakes.loop));
        CHECK(!map_put(&ids, span_of(e->id), &rig));
    }
    map_done(&ids);
    link_rig_done(&rig);
}

/* S0-54 */
TEST(entries_have_a_level_and_a_source)
{
    static const enum pb_log_level levels[] = { PB_LOG_DEBUG, PB_LOG_INFO, PB_LOG_WARNING,
                                                PB_LOG_ERROR };
    static const char *const names[] = { "debug", "info", "warning", "error" };
    struct link_rig rig;

    link_rig_init(&rig);
    link_rig_make(&rig);
    for (size_t i = 0; i < ARRAY_LEN(levels); i++) {
        AUTO_BUF struct buf want = { 0 };

        link_log(rig.link, levels[i], "x");
        CHECK_INT(link_log_at(rig.link, i)->level, levels[i]);
        CHECK_INT(link_log_at(rig.link, i)->source, LOG_OF_LINK);
        buf_printf(&want, "\"level\":\"%s\",\"source\":\"link\"", names[i]);
        CHECK_HAS(fakes_json(&rig.fakes, EVENT_LOG, NULL, NULL), buf_cstr(&want));
    }
    link_rig_done(&rig);
}

static const struct log_entry *newest(struct link_rig *rig)
{
    size_t n = link_log_count(rig->link);

    CHECK(n > 0);
    return link_log_at(rig->link, n - 1);
}

TEST(what_a_server_says_on_stderr_is_in_its_log_cut_and_printable)
{
    struct link_rig rig;
    AUTO_FREE char *huge = mem_alloc(CHILD_STDERR_LINE_MAX + 1);

    link_rig_init(&rig);
    link_rig_start(&rig);
    fake_stderr(rig.f, "listening\033[31m on nothing");
    CHECK_STR(newest(&rig)->text, "listening on nothing");
    fake_stderr(rig.f, "\tat main\r");
    CHECK_STR(newest(&rig)->text, " at main");
    fake_stderr(rig.f, "bell\a and half a colour \033[3");
    CHECK_STR(newest(&rig)->text, "bell? and half a colour ");
    CHECK_INT(newest(&rig)->source, LOG_OF_STDERR);
    CHECK_INT(newest(&rig)->level, PB_LOG_INFO);
    memset(huge, 'x', CHILD_STDERR_LINE_MAX);
    huge[CHILD_STDERR_LINE_MAX] = '\0';
    fake_stderr(rig.f, huge);
    CHECK_INT(strlen(newest(&rig)->text), LINK_LOG_LINE_MAX);
    memcpy(huge + LINK_LOG_LINE_MAX - 1, "\xC3\xA9", 2); /* not half a character */
    fake_stderr(rig.f, huge);
    CHECK_INT(strlen(newest(&rig)->text), LINK_LOG_LINE_MAX - 1);
    link_rig_done(&rig);
}

TEST(a_flood_on_stderr_is_bounded)
{
    struct link_rig rig;
    struct list *pos;

    link_rig_init(&rig);
    rig.opts.event = NULL;
    link_rig_make(&rig);
    link_rig_connect(&rig);
    pos = rig.f->wires.next;
    for (int i = 0; i < 100000; i++)
        fake_say_on(CONTAINER_OF(pos, struct fake_wire, link), "WARN the same again and again");
    CHECK_INT(link_log_count(rig.link), LINK_LOG_MAX);
    CHECK_INT(link_state(rig.link), LINK_CONNECTED);
    link_rig_done(&rig);
}

static uint64_t listen(struct link_rig *rig, struct fake_reply *a, enum pb_log_level level)
{
    return link_rig_call_with(
        rig, a, "slow",
        &(struct call_spec){ .wants_log = true, .log_level = level, .log = fake_on_log });
}

TEST(messages_of_a_server_go_to_the_one_call_that_wants_them_else_to_the_owner)
{
    struct link_rig rig;
    struct fake_reply a, b;

    link_rig_init(&rig);
    rig.f->era = PB_ERA_LEGACY;
    fake_tool(rig.f, "slow", FAKE_HANG);
    link_rig_start(&rig);
    pb_server_log(rig.f->server, PB_LOG_WARNING, "db", "{\"rows\":3}");
    FAKES_UNTIL(&rig.fakes, rig.n_messages == 1);
    CHECK_HAS(rig.message, "\"logger\":\"db\"");
    CHECK_STR(newest(&rig)->text, "db: {\"rows\":3}");
    CHECK_INT(newest(&rig)->source, LOG_OF_SERVER);
    CHECK_INT(newest(&rig)->level, PB_LOG_WARNING);

    listen(&rig, &a, PB_LOG_INFO);
    FAKES_UNTIL(&rig.fakes, rig.f->n_held == 1);
    pb_server_log(rig.f->server, PB_LOG_WARNING, NULL, "\"to you\"");
    FAKES_UNTIL(&rig.fakes, a.logged == 1);
    CHECK_HAS(a.log, "\"data\":\"to you\"");
    CHECK_STR(newest(&rig)->text, "to you");
    CHECK_INT(rig.n_messages, 1);

    listen(&rig, &b, PB_LOG_INFO); /* now it could be anybody's */
    FAKES_UNTIL(&rig.fakes, rig.f->n_held == 2);
    pb_server_log(rig.f->server, PB_LOG_WARNING, NULL, "\"to all\"");
    FAKES_UNTIL(&rig.fakes, rig.n_messages == 2);
    CHECK_INT(a.logged + b.logged, 1);
    link_rig_done(&rig);
}

static uint64_t call_by(struct link_rig *rig, struct fake_reply *a, const char *caller,
                        bool wants_log, enum pb_log_level level)
{
    return link_rig_call_with(
        rig, a, "slow",
        &(struct call_spec){
            .caller = caller, .wants_log = wants_log, .log_level = level, .log = fake_on_log });
}

TEST(messages_outside_a_call_are_for_a_caller_that_has_the_server_for_itself)
{
    struct link_rig rig;
    struct fake_reply errors, all, quiet, other;

    link_rig_init(&rig);
    rig.f->era = PB_ERA_LEGACY;
    fake_tool(rig.f, "slow", FAKE_HANG);
    link_rig_start(&rig);
    call_by(&rig, &errors, "x", true, PB_LOG_ERROR);
    call_by(&rig, &all, "x", true, PB_LOG_INFO);
    call_by(&rig, &quiet, "x", false, PB_LOG_DEBUG);
    FAKES_UNTIL(&rig.fakes, rig.f->n_held == 3);
    pb_server_log(rig.f->server, PB_LOG_INFO, NULL, "\"once\"");
    FAKES_UNTIL(&rig.fakes, all.logged == 1);
    CHECK_INT(errors.logged + quiet.logged + rig.n_messages, 0);

    /* It may be about what another asked for, even if that one listens to nothing. */
    call_by(&rig, &other, "y", false, PB_LOG_DEBUG);
    FAKES_UNTIL(&rig.fakes, rig.f->n_held == 4);
    pb_server_log(rig.f->server, PB_LOG_ERROR, NULL, "\"whose?\"");
    FAKES_UNTIL(&rig.fakes, rig.n_messages == 1);
    CHECK_INT(errors.logged + all.logged + quiet.logged + other.logged, 1);
    link_rig_done(&rig);
}

/* The peer answers logging/setLevel by itself: what it lets through shows which level is set. */
static bool hears(struct link_rig *rig, enum pb_log_level level)
{
    size_t before = link_log_count(rig->link);

    pb_server_log(rig->f->server, level, NULL, "\"probe\"");
    fakes_settle(&rig->fakes);
    return link_log_count(rig->link) > before;
}

/* A server that was told to drop a call may still talk about it. */
TEST(messages_are_not_for_a_caller_while_another_ones_cancelled_call_may_go_on)
{
    struct link_rig rig;
    struct fake_reply x, y;
    uint64_t id;

    link_rig_init(&rig);
    rig.f->era = PB_ERA_LEGACY;
    fake_tool(rig.f, "slow", FAKE_HANG);
    link_rig_start(&rig);
    id = link_rig_call_with(&rig, &x, "slow", &(struct call_spec){ .caller = "x" });
    link_rig_call_with(&rig, &y, "slow",
                       &(struct call_spec){ .caller = "y", .wants_log = true, .log = fake_on_log });
    fakes_settle(&rig.fakes);
    CHECK(link_cancel(rig.link, id, CALL_BY_USER));
    fake_say_raw(rig.f, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{"
                        "\"level\":\"error\",\"data\":\"secret of x\"}}");
    fakes_settle(&rig.fakes);
    CHECK_INT(y.logged, 0);
    CHECK_INT(rig.n_messages, 1); /* the owner's */
    link_rig_done(&rig);
}

TEST(the_vault_knows_what_a_server_was_started_with)
{
    AUTO(vault) struct vault *v = vault_new();
    AUTO_BUF struct buf text = { 0 };
    struct link_rig rig;

    buf_str(&text, "{\"text\":\"it is sesame-4711-open\"}");
    CHECK(!vault_redact(v, &text, NULL));
    link_rig_init(&rig);
    spec_unref(rig.spec);
    rig.spec = spec_stdio("alpha", "echo",
                          (const char *const[]){ "--token=sesame-4711-open", NULL }, NULL);
    rig.opts.vault = v;
    link_rig_start(&rig);
    CHECK(vault_redact(v, &text, NULL));
    CHECK_STR(buf_cstr(&text), "{\"text\":\"it is ***\"}");
    link_rig_done(&rig);
}

TEST(a_call_that_wants_more_lowers_the_level_of_a_legacy_server_once)
{
    struct link_rig rig;
    struct fake_reply a, b;

    link_rig_init(&rig);
    rig.f->era = PB_ERA_LEGACY;
    fake_tool(rig.f, "slow", FAKE_HANG);
    link_rig_start(&rig);
    CHECK(!hears(&rig, PB_LOG_DEBUG)); /* info until told otherwise */
    call_by(&rig, &a, "x", true, PB_LOG_ERROR);
    fakes_settle(&rig.fakes);
    CHECK(!hears(&rig, PB_LOG_DEBUG));
    CHECK(hears(&rig, PB_LOG_INFO)); /* others and the log want more than this call */
    CHECK_INT(a.logged, 0);
    call_by(&rig, &b, "x", true, PB_LOG_DEBUG);
    fakes_settle(&rig.fakes);
    CHECK(hears(&rig, PB_LOG_DEBUG));
    CHECK(link_cancel(rig.link, 2, CALL_BY_USER));
    fakes_settle(&rig.fakes);

    /* The other call still wants errors only: what it did not want is left out. */
    a.logged = 0;
    rig.n_messages = 0;
    CHECK(hears(&rig, PB_LOG_DEBUG));
    CHECK_INT(a.logged, 0);
    CHECK_INT(rig.n_messages, 0);
    CHECK(hears(&rig, PB_LOG_CRITICAL));
    CHECK_INT(a.logged, 1);
    link_rig_done(&rig);
}

TEST(a_modern_call_gets_the_messages_of_its_own_stream)
{
    struct link_rig rig;
    struct fake_reply a;

    link_rig_init(&rig);
    rig.f->era = PB_ERA_MODERN;
    fake_tool(rig.f, "slow", FAKE_TALK);
    link_rig_start(&rig);
    listen(&rig, &a, PB_LOG_INFO);
    FAKES_UNTIL(&rig.fakes, a.count);
    CHECK_INT(a.logged, 1);
    CHECK_HAS(a.log, "\"data\":\"careful\"");
    CHECK_INT(fakes_count(&rig.fakes, EVENT_LOG, NULL, "\"source\":\"server\""), 1);
    fake_reply_done(&a);
    link_rig_done(&rig);
}
