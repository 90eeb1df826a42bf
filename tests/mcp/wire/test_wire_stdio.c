/* test_wire_stdio.c - servers that are processes, well behaved and not. */
#include "mcp/client/client.h"
#include "mcp/client/client_impl.h"
#include "mcp/client_rig.h"
#include "mcp/registry/registry.h"
#include <malloc.h>
#include <signal.h>
#include <sys/wait.h>

#define LOOP(cases)  "while read -r l; do " cases "; done\n"
#define SERVE(cases) LOOP("legacy || case $l in " cases " esac")
#define CALL         "{\"name\":\"x\"}"

static void open_script(struct rig *r, bool manual, const char *body,
                        struct pb_client_options *more)
{
    struct rig_script s;
    struct pb_client_options o = rig_script(&s, body);

    if (more) {
        struct pb_client_options given = *more;

        given.command = o.command;
        given.args = o.args;
        o = given;
    }
    rig_init(r, manual);
    rig_open_well(r, &o);
    free(s.text);
}

/* ---- the process ---- */

/* S1-9 S1-10 S1-14 S1-15 */
TEST(a_server_gets_its_environment_over_ours)
{
    static const char *const env[] = { "TEST_VAR=test", "API_KEY=k1", "OURS=theirs", NULL };
    struct pb_client_options o = PB_CLIENT_OPTIONS_INIT;
    struct rig r;

    setenv("OURS", "ours", 1);
    setenv("ONLY_OURS", "kept", 1);
    o.env = env;
    o.cwd = "/";
    open_script(&r, false,
                SERVE("*tools/call*) ok "
                      "\"{\\\"env\\\":\\\"$TEST_VAR $API_KEY $OURS $ONLY_OURS $PWD\\\"}\";;"),
                &o);
    RIG_RESULT(&r, "tools/call", CALL, "{\"env\":\"test k1 theirs kept /\"}");
    rig_done(&r);
}

/* S1-11 S1-16 */
TEST(an_empty_environment_list_changes_nothing)
{
    static const char *const env[] = { NULL };
    struct pb_client_options o = PB_CLIENT_OPTIONS_INIT;
    struct rig r;

    o.env = env;
    open_script(&r, false, SERVE("*ping*) ok '{}';;"), &o);
    RIG_RESULT(&r, "ping", NULL, "{}");
    rig_done(&r);
}

/* Otherwise who chooses the arguments could send the server messages of his own. */
TEST(line_ends_between_the_tokens_of_a_message_do_not_end_its_line)
{
    static const char params[] = "{\"name\":\"x\",\"arguments\":{\"a\":\n{\"id\":7,\"method\":"
                                 "\"tools/call\"}\r\n,\"b\":\r1}}";
    struct rig r;

    open_script(&r, false,
                SERVE("*tools/call*'{\"a\": {\"id\":7,\"method\":\"tools/call\"}  ,\"b\": 1}'*) ok "
                      "'{\"whole\":true}';; *) echo \"part: $l\" >&2;;"),
                NULL);
    RIG_RESULT(&r, "tools/call", params, "{\"whole\":true}");
    CHECK(!strstr(r.words, "part: "));
    rig_done(&r);
}

TEST(what_a_server_writes_to_stderr_is_passed_on_and_no_error)
{
    struct rig r;

    open_script(&r, false, SERVE("*ping*) echo one >&2; echo two >&2; ok '{}';;"), NULL);
    RIG_RESULT(&r, "ping", NULL, "{}");
    RIG_UNTIL(&r, strstr(r.words, "two"));
    CHECK_STR(r.words, "one\ntwo\n");
    CHECK(!r.closed);
    rig_done(&r);
}

TEST(when_a_server_dies_all_its_calls_fail_at_once_with_its_last_words)
{
    enum { CALLS = 50 };
    struct answer a[CALLS];
    struct rig r;

    open_script(
        &r, false,
        "n=0\n" SERVE("*tools/call*) n=$((n+1)); if [ $n = 50 ]; then echo 'panic: db gone' "
                      ">&2; printf '{\"jsonrpc\":\"2.0\",\"id\"'; kill -SEGV $$; fi;;"),
        NULL);
    for (int i = 0; i < CALLS; i++)
        rig_send(&r, &a[i], "tools/call", CALL);
    RIG_UNTIL(&r, r.closed);
    for (int i = 0; i < CALLS; i++) {
        CHECK_INT(a[i].count, 1);
        CHECK_INT(a[i].err.code, PB_E_CLOSED);
        CHECK_HAS(a[i].err.msg, "killed by signal 11");
        CHECK_HAS(a[i].err.msg, "panic: db gone");
    }
    CHECK_STR(r.why.msg, a[0].err.msg);
    /* and so does what comes later */
    rig_send(&r, &a[0], "tools/call", CALL);
    CHECK_INT(a[0].err.code, PB_E_CLOSED);
    CHECK_HAS(a[0].err.msg, "killed by signal 11");
    rig_done(&r);
}

TEST(an_answer_written_just_before_the_end_still_counts)
{
    struct answer a;
    struct rig r;

    open_script(&r, false,
                SERVE("*tools/call*) id; printf "
                      "'{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"last\":1}}' $x; exit 0;;"),
                NULL);
    rig_request(&r, &a, "tools/call", CALL);
    CHECK_STR(a.result, "{\"last\":1}");
    RIG_UNTIL(&r, r.closed);
    CHECK_HAS(r.why.msg, "exited with status 0");
    answer_done(&a);
    rig_done(&r);
}

static bool is_gone(pid_t pid) { return kill(pid, 0) < 0; }

/* It is gone before we have read all that it said, which is more than is handled in one turn; all
 * of it still counts. */
TEST(what_a_server_left_behind_is_handled_bit_by_bit)
{
    enum { LEFT = 1500 }; /* fits into a pipe */
    struct rig r;
    struct answer a;
    siginfo_t info;
    size_t most = 0;

    open_script(&r, true,
                SERVE("*tools/call*) yes '{\"jsonrpc\":\"2.0\",\"method\":\"n\"}' | head -n 1500; "
                      "ok '{}'; exit;;"),
                NULL);
    rig_send(&r, &a, "tools/call", CALL);
    loop_turn(r.loop, false);
    CHECK_INT(waitid(P_PID, (id_t)client_pid(r.client), &info, WEXITED | WNOWAIT), 0);
    while (!r.closed) {
        size_t before = strlen(r.notes) / 2, now;

        loop_turn(r.loop, true);
        loop_advance(r.loop, CHILD_LINGER_MS);
        now = strlen(r.notes) / 2;
        most = now - before > most ? now - before : most;
    }
    CHECK_INT(strlen(r.notes) / 2, LEFT);
    CHECK(most <= LEFT / 2);
    CHECK_STR(a.result, "{}");
    answer_done(&a);
    rig_done(&r);
}

static void set_flag(void *ctx) { *(bool *)ctx = true; }

TEST(a_server_that_heeds_the_end_of_its_input_is_not_killed)
{
    AUTO_FREE char *body = NULL;
    char file[] = "/tmp/patchbay-stdio-XXXXXX";
    AUTO_CLOSE int fd = mkstemp(file);
    struct buf b = { 0 };
    bool closed = false;
    char text[64] = "";
    struct rig r;

    CHECK(fd >= 0);
    buf_printf(&b, "trap 'echo terminated > %s' TERM\n" LOOP("legacy") "echo tidy > %s\n", file,
               file);
    body = buf_take(&b);
    open_script(&r, false, body, NULL);
    client_close(TAKE(r.client), set_flag, &closed);
    RIG_UNTIL(&r, closed);
    CHECK(read(fd, text, sizeof text - 1) > 0);
    CHECK_STR(text, "tidy\n");
    unlink(file);
    rig_done(&r);
}

TEST(a_server_that_heeds_nothing_is_gone_within_the_grace_time)
{
    bool closed = false;
    struct rig r;
    pid_t pid;

    open_script(&r, true,
                "trap '' TERM; echo up >&2\n" LOOP("legacy") "while :; do sleep 100; done", NULL);
    RIG_UNTIL(&r, r.words[0]);
    pid = client_pid(r.client);
    client_close(TAKE(r.client), set_flag, &closed);
    loop_advance(r.loop, CHILD_STOP_MS - 1);
    CHECK(!is_gone(pid));
    loop_advance(r.loop, 1);
    RIG_UNTIL(&r, closed);
    CHECK(is_gone(pid));
    rig_done(&r);
}

/* ---- bad manners on stdout ---- */

TEST(lines_that_are_no_messages_are_skipped)
{
    struct rig r;

    open_script(&r, false,
                SERVE("*ping*) echo 'Listening...'; printf '\\033[31mred\\033[0m\\n\\n\\r\\n'; "
                      "echo '{\"not\":\"rpc\"}'; echo '[1,2]'; echo '\"x\"'; "
                      "echo '{\"jsonrpc\":\"1.0\",\"id\":1,\"result\":{}}'; ok '{}'; echo tail;;"),
                NULL);
    RIG_RESULT(&r, "ping", NULL, "{}");
    RIG_RESULT(&r, "ping", NULL, "{}");
    CHECK(!r.closed);
    rig_done(&r);
}

TEST(too_many_of_them_end_the_connection)
{
    static const int counts[] = { MCP_GARBAGE_LINES_MAX, MCP_GARBAGE_LINES_MAX + 1, 20000 };

    for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
        struct answer a;
        char body[512];
        struct rig r;

        snprintf(body, sizeof body, SERVE("*ping*) yes garbage | head -n %d; ok '{}';;"),
                 counts[i]);
        open_script(&r, false, body, NULL);
        rig_request(&r, &a, "ping", NULL);
        if (counts[i] <= MCP_GARBAGE_LINES_MAX) {
            CHECK_STR(a.result, "{}");
        } else {
            CHECK_INT(a.err.code, PB_E_INVALID);
            CHECK_HAS(a.err.msg, "1000 lines");
            CHECK(r.closed);
        }
        answer_done(&a);
        rig_done(&r);
    }
}

TEST(the_first_answer_counts_and_late_or_foreign_ones_are_dropped)
{
    struct answer a, b;
    uint64_t id;
    struct rig r;

    open_script(
        &r, false,
        SERVE("*tools/list*) ok '{\"n\":1}'; ok '{\"n\":2}'; no -1 three; l='\"id\":9999,'; "
              "ok '{}'; l='\"id\":\"x\",'; ok '{}';; "
              "*tools/call*) held=$l;; *notifications/cancelled*) l=$held; ok '{\"n\":9}';;"),
        NULL);
    rig_request(&r, &a, "tools/list", NULL);
    CHECK_STR(a.result, "{\"n\":1}");
    id = rig_send(&r, &b, "tools/call", CALL);
    client_cancel(r.client, id, "why not");
    CHECK_INT(b.err.code, PB_E_CANCELLED);
    answer_done(&a);
    rig_request(&r, &a, "tools/list", NULL); /* after the late answer to the other */
    CHECK_STR(a.result, "{\"n\":1}");
    CHECK_INT(a.count, 1);
    CHECK_INT(b.count, 1);
    answer_done(&a);
    rig_done(&r);
}

TEST(an_error_without_an_id_is_the_only_requests_own)
{
    struct answer a, b;
    struct rig r;

    open_script(&r, false,
                SERVE("*tools/list*) echo "
                      "'{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,\"message\":"
                      "\"what?\"}}';; *tools/call*) ;; *ping*) ok '{}';;"),
                NULL);
    rig_request(&r, &a, "tools/list", NULL);
    CHECK_INT(a.err.code, PB_E_REMOTE);
    CHECK_INT(a.err.sys, -32700);
    answer_done(&a);
    rig_send(&r, &a, "tools/call", CALL);
    rig_send(&r, &b, "tools/list", NULL);
    RIG_RESULT(&r, "ping", NULL, "{}");
    CHECK_INT(a.count + b.count, 0); /* it could be either's */
    rig_done(&r);
    answer_done(&a);
}

TEST(an_answer_past_the_size_limit_fails_its_call_and_nothing_else)
{
    static const struct {
        int fill;
        bool good;
    } cases[] = { { 8192 - 43, true }, { 8192 - 42, false }, { 5000000, false } };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct pb_client_options o = PB_CLIENT_OPTIONS_INIT;
        struct answer a;
        char body[512];
        struct rig r;

        /* 43 bytes around the filling, with an id of one digit and the newline */
        o.max_message_bytes = 8192;
        snprintf(
            body, sizeof body,
            SERVE("*tools/call*) id; printf '{\"jsonrpc\":\"2.0\",\"id\":%%s,\"result\":{\"x\":"
                  "\"' $x; head -c %d /dev/zero | tr '\\0' a; printf '\"}}\\n';; *ping*) ok "
                  "'{}';;"),
            cases[i].fill);
        open_script(&r, false, body, &o);
        rig_request(&r, &a, "tools/call", CALL);
        CHECK_INT(a.err.code, cases[i].good ? PB_OK : PB_E_LIMIT);
        if (!cases[i].good)
            CHECK_HAS(a.err.msg, "the limit is 8192");
        RIG_RESULT(&r, "ping", NULL, "{}");
        answer_done(&a);
        rig_done(&r);
    }
}

TEST(a_result_keeps_its_bytes)
{
    struct rig r;

    open_script(&r, false,
                SERVE("*tools/call*) ok '{ \"a\":1.0, \"b\":12345678901234567890,"
                      "\"c\":\"\\ud800\",\"d\":1e400,\"e\":{\"f\":1,\"f\":2} }';;"),
                NULL);
    RIG_RESULT(&r, "tools/call", CALL,
               "{ \"a\":1.0, \"b\":12345678901234567890,\"c\":\"\\ud800\",\"d\":1e400,"
               "\"e\":{\"f\":1,\"f\":2} }");
    rig_done(&r);
}

/* Of two members of one name parsers choose differently: what is decided on must be what is seen.
 */
TEST(an_answer_that_is_no_valid_json_fails_its_call_at_once)
{
    static const char *const bad[] = {
        "{\"a\":1,\"a\":2}", "{\"a\":1", "{\"a\":1},\"result\":{}", "{\"a\":\"\xff\"}", "nothing",
    };

    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        AUTO_BUF struct buf body = { 0 };
        struct answer a;
        struct rig r;

        buf_printf(&body, LOOP("legacy || ok '%s'"), bad[i]);
        open_script(&r, true, buf_cstr(&body), NULL);
        rig_request(&r, &a, "tools/call", CALL);
        CHECK_INT(a.err.code, PB_E_INVALID);
        CHECK_HAS(a.err.msg, "tools/call: the answer is no valid JSON");
        CHECK(!r.closed);
        rig_done(&r);
    }
}

/* What the script prints, with the id of the request twice if it wants to. */
#define PRINTS(format) LOOP("legacy || { id; printf '" format "\\n' \"$x\"; }")
#define ENVELOPE       "{\"jsonrpc\":\"2.0\",\"id\":%s"

TEST(a_malformed_answer_that_names_its_call_ends_it_at_once)
{
    static const struct {
        const char *body, *why;
        int code;
    } cases[] = {
        { PRINTS(ENVELOPE ",\"result\":{},\"error\":{\"code\":1,\"message\":\"m\"}}"),
          "the answer is malformed: an answer has a result or an error, not both", PB_E_INVALID },
        { PRINTS(ENVELOPE "}"),
          "the answer is malformed: a message needs a method, a result or an error", PB_E_INVALID },
        { PRINTS(ENVELOPE ",\"error\":\"no\"}"), "the answer is malformed: error must be an object",
          PB_E_INVALID },
        { PRINTS(ENVELOPE ",\"result\":[]}"), "the result is no object", PB_E_INVALID },
        { PRINTS("{\"id\":%s,\"result\":{}}"), "the answer is malformed: jsonrpc must be \"2.0\"",
          PB_E_INVALID },
        { PRINTS("{\"jsonrpc\":\"2.0\",\"id\":\"%s\",\"result\":{}}"),
          "the answer is malformed: its id is a string, but a number was sent", PB_E_INVALID },
        { PRINTS(ENVELOPE ",\"result\":{},\"result\":{}}"),
          "the answer is no valid JSON: line 1, column 37: a key that", PB_E_INVALID },
        { PRINTS(ENVELOPE ",\"id\":7,\"result\":{}}"), "the answer is no valid JSON",
          PB_E_INVALID },
        { LOOP("legacy || { id; printf '" ENVELOPE ",\"result\":{' \"$x\";"
               "seq -f '\"k%.0f\":0,' 600000 | tr -d '\\n'; echo '\"k\":0}}'; }"),
          "the answer cannot be read: line 1, column ", PB_E_LIMIT },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct answer a;
        struct rig r;

        open_script(&r, true, cases[i].body, NULL);
        rig_request(&r, &a, "tools/call", CALL);
        CHECK_INT(a.err.code, cases[i].code);
        CHECK_HAS(a.err.msg, "tools/call: the ");
        CHECK_HAS(a.err.msg, cases[i].why);
        CHECK(!r.closed);
        rig_done(&r);
    }
}

/* Their ids are their own: that one of them is ours as well says nothing. */
TEST(a_servers_malformed_request_ends_no_call)
{
    static const char *const bodies[] = {
        LOOP("legacy || { id; printf '" ENVELOPE ",\"method\":3}\\n' \"$x\"; ok '{}'; }"),
        LOOP("legacy || { id; printf '" ENVELOPE ",\"method\":\"ping\",\\n' \"$x\"; ok '{}'; }"),
    };

    for (size_t i = 0; i < ARRAY_LEN(bodies); i++) {
        struct rig r;

        open_script(&r, true, bodies[i], NULL);
        RIG_RESULT(&r, "tools/call", CALL, "{}");
        rig_done(&r);
    }
}

/* ---- time ---- */

TEST(a_call_that_is_not_answered_ends_in_time_and_the_server_is_told)
{
    struct answer a;
    struct rig r;

    open_script(
        &r, true,
        SERVE("*tools/call*) echo called >&2;; *notifications/cancelled*) echo \"$l\" >&2;;"),
        NULL);
    rig_send_spec(&r, &a,
                  (struct client_request_spec){ .method = "tools/call", .timeout_ms = 500 });
    RIG_UNTIL(&r, strstr(r.words, "called"));
    loop_advance(r.loop, 499);
    CHECK_INT(a.count, 0);
    loop_advance(r.loop, 1);
    CHECK_INT(a.err.code, PB_E_TIMEOUT);
    CHECK_STR(a.err.msg, "tools/call: no answer within 500 ms");
    RIG_UNTIL(&r, strstr(r.words, "cancelled"));
    CHECK_HAS(r.words, "\"params\":{\"requestId\":");
    CHECK_INT(r.client->by_id.n, 0);
    rig_done(&r);
}

TEST(a_stopped_server_does_not_stop_us)
{
    struct answer a;
    struct rig r;

    open_script(&r, true, SERVE("*tools/call*) echo called >&2; kill -STOP $$;;"), NULL);
    rig_send(&r, &a, "tools/call", CALL);
    RIG_UNTIL(&r, strstr(r.words, "called"));
    loop_advance(r.loop, MCP_CALL_MS);
    CHECK_INT(a.err.code, PB_E_TIMEOUT);
    rig_done(&r);
}

TEST(a_server_that_does_not_read_makes_us_busy_not_fat)
{
    AUTO_BUF struct buf params = { 0 };
    struct answer a[80];
    int sent = 0, busy = 0;
    struct rig r;

    open_script(&r, true, "read -r l; legacy; read -r l; legacy; read -r l; sleep 1000", NULL);
    buf_str(&params, "{\"x\":\"");
    while (params.n < 1 << 20)
        buf_str(&params, "0123456789abcdef");
    buf_str(&params, "\"}");
    for (size_t i = 0; i < ARRAY_LEN(a); i++) {
        rig_send(&r, &a[i], "tools/call", buf_cstr(&params));
        sent += a[i].count == 0;
        busy += a[i].err.code == PB_E_BUSY;
    }
    CHECK_INT(sent + busy, (int)ARRAY_LEN(a));
    CHECK(sent >= 60 && busy >= 10); /* 64 MiB and what the pipe took */
    CHECK_INT(r.client->by_id.n, (size_t)sent);
    rig_done(&r);
}

/* Answers let a server go on, but one that asks and never reads must not make us fat either. */
TEST(a_server_that_asks_without_reading_is_not_answered_past_a_mark)
{
    struct rig r;
    struct answer a;
    size_t before;

    open_script(&r, false,
                "read -r l; legacy; read -r l; legacy; read -r l; read -r l;"
                "i=$(printf '%04000d' 0); yes \"{\\\"jsonrpc\\\":\\\"2.0\\\",\\\"id\\\":\\\"$i\\\","
                "\\\"method\\\":\\\"ping\\\"}\" | head -n 25000; ok '{}'; sleep 1000",
                NULL);
    before = mallinfo2().uordblks + mallinfo2().hblkhd;
    rig_request(&r, &a, "tools/call", CALL);
    CHECK_STR(a.result, "{}");
    CHECK(mallinfo2().uordblks + mallinfo2().hblkhd - before <
          (size_t)MCP_CLIENT_QUEUE_BYTES * 5 / 4);
    answer_done(&a);
    rig_done(&r);
}

/* ---- questions ---- */

TEST(questions_are_put_only_if_they_were_declared)
{
    struct pb_client_options o = PB_CLIENT_OPTIONS_INIT;
    struct rig r;

    o.can_elicit = true;
    open_script(
        &r, false,
        "ask(){ printf '{\"jsonrpc\":\"2.0\",\"id\":\"%s\",\"method\":\"%s\",\"params\":%s}\\n' \"$1\" "
        "\"$2\" \"$3\"; read -r l; echo \"$l\" >&2; }\n" SERVE(
            "*tools/call*) call=$l; ask a ping '{}'; ask b sampling/createMessage '{}'; "
            "ask c roots/list '{}'; ask d shell/run '{}'; "
            "ask e elicitation/create '{\"mode\":\"url\",\"url\":\"http://x\"}'; "
            "ask f elicitation/create '{\"mode\":\"hologram\"}'; "
            "ask g elicitation/create '{\"message\":\"m\"}'; l=$call; ok '{\"done\":1}';;"),
        &o);
    {
        struct answer a;

        rig_send(&r, &a, "tools/call", CALL);
        RIG_UNTIL(&r, r.n_asked);
        CHECK_STR(r.asked[0], "0 elicitation/create {\"message\":\"m\"}");
        client_answer(r.questions[0], SPAN("{\"action\":\"accept\",\"content\":{\"n\":1.0}}"));
        RIG_UNTIL(&r, a.count);
        CHECK_STR(a.result, "{\"done\":1}");
        answer_done(&a);
    }
    CHECK_INT(r.n_asked, 1);
    CHECK_HAS(r.words, "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"result\":{}}\n");
    CHECK_HAS(r.words, "\"id\":\"b\",\"error\":{\"code\":-32601,");
    CHECK_HAS(r.words, "\"id\":\"c\",\"error\":{\"code\":-32601,");
    CHECK_HAS(r.words, "\"id\":\"d\",\"error\":{\"code\":-32601,");
    CHECK_HAS(r.words, "\"id\":\"e\",\"error\":{\"code\":-32602,");
    CHECK_HAS(r.words, "\"id\":\"f\",\"error\":{\"code\":-32602,");
    RIG_UNTIL(&r, strstr(r.words, "\"id\":\"g\""));
    CHECK_HAS(r.words, "\"id\":\"g\",\"result\":{\"action\":\"accept\",\"content\":{\"n\":1.0}}}");
    rig_done(&r);
}

TEST(a_question_that_the_server_took_back_is_not_answered)
{
    struct pb_client_options o = PB_CLIENT_OPTIONS_INIT;
    struct answer a;
    struct rig r;

    o.can_sample = true;
    open_script(
        &r, false,
        SERVE("*tools/call*) echo "
              "'{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"sampling/createMessage\"}'; echo "
              "'{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"sampling/createMessage\"}'; echo "
              "'{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{"
              "\"requestId\":1}}'; ok '{}';; *result*|*error*) echo \"$l\" >&2;; "
              "*ping*) ok '{}';;"),
        &o);
    rig_request(&r, &a, "tools/call", CALL);
    CHECK_INT(r.n_asked, 2);
    client_answer(r.questions[0], SPAN("{\"model\":\"none\"}"));
    client_refuse(r.questions[1], -32000, "not today");
    RIG_RESULT(&r, "ping", NULL, "{}");
    RIG_UNTIL(&r, r.words[0]);
    CHECK_STR(
        r.words,
        "{\"jsonrpc\":\"2.0\",\"id\":2,\"error\":{\"code\":-32000,\"message\":\"not today\"}}\n");
    answer_done(&a);
    rig_done(&r);
}

TEST(while_somebody_thinks_the_calls_clock_is_the_persons)
{
    struct pb_client_options o = PB_CLIENT_OPTIONS_INIT;
    struct answer a;
    struct rig r;

    o.can_elicit = true;
    open_script(
        &r, true,
        SERVE("*tools/call*) echo "
              "'{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"elicitation/create\",\"params\":{}}'"
              "; call=$l; read -r l; l=$call; ok '{}';;"),
        &o);
    rig_send(&r, &a, "tools/call", CALL);
    RIG_UNTIL(&r, r.n_asked);
    loop_advance(r.loop, MCP_CALL_MS * 3);
    CHECK_INT(a.count, 0);
    client_answer(r.questions[0], SPAN("{\"action\":\"cancel\"}"));
    RIG_UNTIL(&r, a.count);
    CHECK_STR(a.result, "{}");
    answer_done(&a);
    rig_done(&r);
}

TEST(a_flood_of_questions_is_bounded)
{
    struct pb_client_options o = PB_CLIENT_OPTIONS_INIT;
    struct answer a;
    struct rig r;

    o.can_sample = true;
    open_script(&r, false,
                SERVE("*tools/call*) n=0; while [ $n -lt 100 ]; do n=$((n+1)); echo "
                      "'{\"jsonrpc\":\"2.0\",\"id\":'$n',\"method\":\"sampling/createMessage\"}'; "
                      "done; ok '{}';; *-32603*) echo refused >&2;;"),
                &o);
    rig_request(&r, &a, "tools/call", CALL);
    CHECK_INT(r.n_asked, MCP_QUESTIONS_MAX);
    answer_done(&a);
    rig_done(&r);
}

/* ---- batches ---- */

TEST(several_messages_in_one_array_are_for_the_revision_that_had_them)
{
    static const struct {
        const char *version;
        bool good;
    } cases[] = { { "2025-03-26", true }, { "2025-11-25", false } };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct answer a;
        char body[1024];
        struct rig r;

        snprintf(
            body, sizeof body,
            LOOP("case $l in *'\"initialize\"'*) ok "
                 "'{\"protocolVersion\":\"%s\",\"capabilities\":{}}';; *tools/list*) id; printf "
                 "'[{\"jsonrpc\":\"2.0\",\"method\":\"notifications/x\"},{\"jsonrpc\":\"2.0\","
                 "\"id\":%%s,\"result\":{\"a\":1}}]\\n' $x; ok '{\"b\":1}';; *) legacy;; esac"),
            cases[i].version);
        open_script(&r, false, body, NULL);
        rig_request(&r, &a, "tools/list", NULL);
        CHECK_STR(a.result, cases[i].good ? "{\"a\":1}" : "{\"b\":1}");
        CHECK_STR(r.notes, cases[i].good ? "notifications/x\n" : "");
        answer_done(&a);
        rig_done(&r);
    }
}

/* ---- modern over stdio ---- */

TEST(a_modern_process_is_cancelled_by_notification_and_listens_on_the_same_pipe)
{
    struct answer a;
    uint64_t id;
    struct rig r;

    open_script(
        &r, false,
        LOOP("modern || case $l in *subscriptions/listen*) id; sub=$x; printf "
             "'{\"jsonrpc\":\"2.0\",\"method\":\"notifications/subscriptions/acknowledged\","
             "\"params\":{\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":%s},"
             "\"notifications\":{\"toolsListChanged\":true}}}\\n' $sub;; "
             "*tools/call*) printf "
             "'{\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\",\"params\":"
             "{\"_meta\":{\"io.modelcontextprotocol/subscriptionId\":%s}}}\\n' $sub;; "
             "*notifications/cancelled*) echo \"$l\" >&2;; esac"),
        NULL);
    id = rig_send(&r, &a, "tools/call", CALL);
    RIG_UNTIL(&r, r.notes[0]);
    CHECK_STR(r.notes, "notifications/tools/list_changed {}\n");
    client_cancel(r.client, id, "user");
    RIG_UNTIL(&r, r.words[0]);
    CHECK_HAS(r.words, "\"reason\":\"user\"");
    rig_done(&r);
}
