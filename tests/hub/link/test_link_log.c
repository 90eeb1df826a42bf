/* The log of a link: its own lines, stderr, messages of the server. */
#include "hub/link/link.h"
#include "hub/link_kit.h"

/* S0-52 S0-53 S0-55 */
TEST(the_log_keeps_the_last_thousand_entries_and_tells_each)
{
    struct link_kit k;
    struct map ids = { 0 };
    char text[32];

    kit_init(&k);
    kit_link(&k);
    for (int i = 0; i < LINK_LOG_MAX + 5; i++)
        link_log(k.link, PB_LOG_INFO, "line %d", i);
    CHECK_INT(link_log_count(k.link), LINK_LOG_MAX);
    CHECK_STR(link_log_at(k.link, 0)->text, "line 5");
    CHECK_INT(link_log_at(k.link, 0)->seq, 6);
    snprintf(text, sizeof text, "line %d", LINK_LOG_MAX + 4);
    CHECK_STR(link_log_at(k.link, LINK_LOG_MAX - 1)->text, text);
    CHECK_INT(fakes_count(&k.fakes, EVENT_LOG, "alpha", NULL), LINK_LOG_MAX + 5);
    for (size_t i = 0; i < link_log_count(k.link); i++) {
        const struct log_entry *e = link_log_at(k.link, i);

        CHECK_INT(strlen(e->id), UUID_CHARS);
        CHECK_INT(e->at, loop_wall(k.fakes.loop));
        CHECK(!map_put(&ids, span_of(e->id), &k));
    }
    map_done(&ids);
    kit_done(&k);
}

/* S0-54 */
TEST(entries_have_a_level_and_a_source)
{
    static const enum pb_log_level levels[] = { PB_LOG_DEBUG, PB_LOG_INFO, PB_LOG_WARNING,
                                                PB_LOG_ERROR };
    static const char *const names[] = { "debug", "info", "warning", "error" };
    struct link_kit k;

    kit_init(&k);
    kit_link(&k);
    for (size_t i = 0; i < ARRAY_LEN(levels); i++) {
        AUTO_BUF struct buf want = { 0 };

        link_log(k.link, levels[i], "x");
        CHECK_INT(link_log_at(k.link, i)->level, levels[i]);
        CHECK_INT(link_log_at(k.link, i)->source, LOG_OF_LINK);
        buf_printf(&want, "\"level\":\"%s\",\"source\":\"link\"", names[i]);
        CHECK_HAS(fakes_json(&k.fakes, EVENT_LOG, NULL, NULL), buf_cstr(&want));
    }
    kit_done(&k);
}

static const struct log_entry *newest(struct link_kit *k)
{
    size_t n = link_log_count(k->link);

    CHECK(n > 0);
    return link_log_at(k->link, n - 1);
}

TEST(what_a_server_says_on_stderr_is_in_its_log_cut_and_printable)
{
    struct link_kit k;
    AUTO_FREE char *huge = mem_alloc(CHILD_STDERR_LINE_MAX + 1);

    kit_init(&k);
    kit_start(&k);
    fake_stderr(k.f, "listening\033[31m on nothing");
    CHECK_STR(newest(&k)->text, "listening on nothing");
    fake_stderr(k.f, "\tat main\r");
    CHECK_STR(newest(&k)->text, " at main");
    fake_stderr(k.f, "bell\a and half a colour \033[3");
    CHECK_STR(newest(&k)->text, "bell? and half a colour ");
    CHECK_INT(newest(&k)->source, LOG_OF_STDERR);
    CHECK_INT(newest(&k)->level, PB_LOG_INFO);
    memset(huge, 'x', CHILD_STDERR_LINE_MAX);
    huge[CHILD_STDERR_LINE_MAX] = '\0';
    fake_stderr(k.f, huge);
    CHECK_INT(strlen(newest(&k)->text), LINK_LOG_LINE_MAX);
    memcpy(huge + LINK_LOG_LINE_MAX - 1, "\xC3\xA9", 2); /* not half a character */
    fake_stderr(k.f, huge);
    CHECK_INT(strlen(newest(&k)->text), LINK_LOG_LINE_MAX - 1);
    kit_done(&k);
}

TEST(a_flood_on_stderr_is_bounded)
{
    struct link_kit k;
    struct list *pos;

    kit_init(&k);
    k.opts.event = NULL;
    kit_link(&k);
    kit_connect(&k);
    pos = k.f->wires.next;
    for (int i = 0; i < 100000; i++)
        fake_say_on(CONTAINER_OF(pos, struct fake_wire, link), "WARN the same again and again");
    CHECK_INT(link_log_count(k.link), LINK_LOG_MAX);
    CHECK_INT(link_state(k.link), LINK_CONNECTED);
    kit_done(&k);
}

static uint64_t listen(struct link_kit *k, struct fake_reply *a, enum pb_log_level level)
{
    return kit_call_with(
        k, a, "slow",
        &(struct call_spec){ .wants_log = true, .log_level = level, .log = fake_on_log });
}

TEST(messages_of_a_server_go_to_the_one_call_that_wants_them_else_to_the_owner)
{
    struct link_kit k;
    struct fake_reply a, b;

    kit_init(&k);
    k.f->era = PB_ERA_LEGACY;
    fake_tool(k.f, "slow", FAKE_HANG);
    kit_start(&k);
    pb_server_log(k.f->server, PB_LOG_WARNING, "db", "{\"rows\":3}");
    FAKES_UNTIL(&k.fakes, k.n_messages == 1);
    CHECK_HAS(k.message, "\"logger\":\"db\"");
    CHECK_STR(newest(&k)->text, "db: {\"rows\":3}");
    CHECK_INT(newest(&k)->source, LOG_OF_SERVER);
    CHECK_INT(newest(&k)->level, PB_LOG_WARNING);

    listen(&k, &a, PB_LOG_INFO);
    FAKES_UNTIL(&k.fakes, k.f->n_held == 1);
    pb_server_log(k.f->server, PB_LOG_WARNING, NULL, "\"to you\"");
    FAKES_UNTIL(&k.fakes, a.logged == 1);
    CHECK_HAS(a.log, "\"data\":\"to you\"");
    CHECK_STR(newest(&k)->text, "to you");
    CHECK_INT(k.n_messages, 1);

    listen(&k, &b, PB_LOG_INFO); /* now it could be anybody's */
    FAKES_UNTIL(&k.fakes, k.f->n_held == 2);
    pb_server_log(k.f->server, PB_LOG_WARNING, NULL, "\"to all\"");
    FAKES_UNTIL(&k.fakes, k.n_messages == 2);
    CHECK_INT(a.logged + b.logged, 1);
    kit_done(&k);
}

static uint64_t call_by(struct link_kit *k, struct fake_reply *a, const char *caller,
                        bool wants_log, enum pb_log_level level)
{
    return kit_call_with(
        k, a, "slow",
        &(struct call_spec){
            .caller = caller, .wants_log = wants_log, .log_level = level, .log = fake_on_log });
}

TEST(messages_outside_a_call_are_for_a_caller_that_has_the_server_for_itself)
{
    struct link_kit k;
    struct fake_reply errors, all, quiet, other;

    kit_init(&k);
    k.f->era = PB_ERA_LEGACY;
    fake_tool(k.f, "slow", FAKE_HANG);
    kit_start(&k);
    call_by(&k, &errors, "x", true, PB_LOG_ERROR);
    call_by(&k, &all, "x", true, PB_LOG_INFO);
    call_by(&k, &quiet, "x", false, PB_LOG_DEBUG);
    FAKES_UNTIL(&k.fakes, k.f->n_held == 3);
    pb_server_log(k.f->server, PB_LOG_INFO, NULL, "\"once\"");
    FAKES_UNTIL(&k.fakes, all.logged == 1);
    CHECK_INT(errors.logged + quiet.logged + k.n_messages, 0);

    /* It may be about what another asked for, even if that one listens to nothing. */
    call_by(&k, &other, "y", false, PB_LOG_DEBUG);
    FAKES_UNTIL(&k.fakes, k.f->n_held == 4);
    pb_server_log(k.f->server, PB_LOG_ERROR, NULL, "\"whose?\"");
    FAKES_UNTIL(&k.fakes, k.n_messages == 1);
    CHECK_INT(errors.logged + all.logged + quiet.logged + other.logged, 1);
    kit_done(&k);
}

/* The peer answers logging/setLevel by itself: what it lets through shows which level is set. */
static bool hears(struct link_kit *k, enum pb_log_level level)
{
    size_t before = link_log_count(k->link);

    pb_server_log(k->f->server, level, NULL, "\"probe\"");
    fakes_settle(&k->fakes);
    return link_log_count(k->link) > before;
}

/* A server that was told to drop a call may still talk about it. */
TEST(messages_are_not_for_a_caller_while_another_ones_cancelled_call_may_go_on)
{
    struct link_kit k;
    struct fake_reply x, y;
    uint64_t id;

    kit_init(&k);
    k.f->era = PB_ERA_LEGACY;
    fake_tool(k.f, "slow", FAKE_HANG);
    kit_start(&k);
    id = kit_call_with(&k, &x, "slow", &(struct call_spec){ .caller = "x" });
    kit_call_with(&k, &y, "slow",
                  &(struct call_spec){ .caller = "y", .wants_log = true, .log = fake_on_log });
    fakes_settle(&k.fakes);
    CHECK(link_cancel(k.link, id, CALL_BY_USER));
    fake_say_raw(k.f, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{"
                      "\"level\":\"error\",\"data\":\"secret of x\"}}");
    fakes_settle(&k.fakes);
    CHECK_INT(y.logged, 0);
    CHECK_INT(k.n_messages, 1); /* the owner's */
    kit_done(&k);
}

TEST(a_call_that_wants_more_lowers_the_level_of_a_legacy_server_once)
{
    struct link_kit k;
    struct fake_reply a, b;

    kit_init(&k);
    k.f->era = PB_ERA_LEGACY;
    fake_tool(k.f, "slow", FAKE_HANG);
    kit_start(&k);
    CHECK(!hears(&k, PB_LOG_DEBUG)); /* info until told otherwise */
    call_by(&k, &a, "x", true, PB_LOG_ERROR);
    fakes_settle(&k.fakes);
    CHECK(!hears(&k, PB_LOG_DEBUG));
    CHECK(hears(&k, PB_LOG_INFO)); /* others and the log want more than this call */
    CHECK_INT(a.logged, 0);
    call_by(&k, &b, "x", true, PB_LOG_DEBUG);
    fakes_settle(&k.fakes);
    CHECK(hears(&k, PB_LOG_DEBUG));
    CHECK(link_cancel(k.link, 2, CALL_BY_USER));
    fakes_settle(&k.fakes);

    /* The other call still wants errors only: what it did not want is left out. */
    a.logged = 0;
    k.n_messages = 0;
    CHECK(hears(&k, PB_LOG_DEBUG));
    CHECK_INT(a.logged, 0);
    CHECK_INT(k.n_messages, 0);
    CHECK(hears(&k, PB_LOG_CRITICAL));
    CHECK_INT(a.logged, 1);
    kit_done(&k);
}

TEST(a_modern_call_gets_the_messages_of_its_own_stream)
{
    struct link_kit k;
    struct fake_reply a;

    kit_init(&k);
    k.f->era = PB_ERA_MODERN;
    fake_tool(k.f, "slow", FAKE_TALK);
    kit_start(&k);
    listen(&k, &a, PB_LOG_INFO);
    FAKES_UNTIL(&k.fakes, a.count);
    CHECK_INT(a.logged, 1);
    CHECK_HAS(a.log, "\"data\":\"careful\"");
    CHECK_INT(fakes_count(&k.fakes, EVENT_LOG, NULL, "\"source\":\"server\""), 1);
    fake_reply_done(&a);
    kit_done(&k);
}
