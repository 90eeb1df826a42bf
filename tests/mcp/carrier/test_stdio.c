/* test_stdio.c - a client on two pipes: framing, limits, slow and vanished clients, the end.
 */
#include "mcp/serve/serve.h"
#include "mcp/server_rig.h"
#include <signal.h>
#include <sys/socket.h>

/* S2-2 S2-4 S2-77 */
TEST(a_line_in_is_a_line_out)
{
    struct rig rig;

    rig_stdio(&rig, NULL);
    rig_send(&rig, "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"ping\"}\n");
    CHECK_STR(rig_line(&rig), "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"result\":{}}");
    rig_send(&rig, RIG_CALL("7", "echo", "{\"text\":\"hello\"}"));
    CHECK_STR(rig_line(&rig), RIG_TEXT_RESULT("7", "hello"));
    rig_no_line(&rig);
    rig_close(&rig);
}

/* S2-57 S2-78 */
TEST(a_request_cut_at_every_byte_is_the_same_request)
{
    static const char request[] =
        RIG_CALL("1", "echo", "{\"text\":\"caf\\u00e9 \xc3\xa9 \xf0\x9f\x98\x80 \\ud83d\\ude00\"}");
    const char *want;
    struct rig rig;

    rig_stdio(&rig, NULL);
    rig_send(&rig, request);
    want = rig_line(&rig);
    for (size_t cut = 1; cut < sizeof request - 1; cut++) {
        rig_send_bytes(&rig, request, cut);
        rig_turn(&rig);
        rig_send_bytes(&rig, request + cut, sizeof request - 1 - cut);
        CHECK_STR(rig_line(&rig), want);
    }
    for (size_t i = 0; i < sizeof request - 1; i++) {
        rig_send_bytes(&rig, request + i, 1);
        rig_turn(&rig);
    }
    CHECK_STR(rig_line(&rig), want);
    rig_close(&rig);
}

/* S2-58 S2-59 S2-79 S2-80 */
TEST(blank_lines_and_white_space_around_lines_do_not_matter)
{
    struct rig rig;

    rig_stdio(&rig, NULL);
    rig_send(&rig, "\n\n  \t \r\n   {\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}  \t\r\n\n");
    CHECK_STR(rig_line(&rig), "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}");
    rig_no_line(&rig);
    rig_close(&rig);
}

/* S2-24 S2-34 S2-35 S2-60 S2-61 S2-83 S2-88 S2-94 */
TEST(what_is_not_json_gets_a_parse_error_and_the_next_line_works)
{
    static const struct {
        const char *line, *has;
        int errors;
    } cases[] = {
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\n", "-32700", 1 },
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":ping}\n", "-32700", 1 },
        { "{\"jsonrpc\":\"2.0\",\"id\":1\n", "-32700", 1 },
        { "\xef\xbb\xbf{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n", "-32700", 1 },
        { "{\"a\":\"\xff\xfe\"}\n", "invalid UTF-8", 1 },
        { "{\"a\":\"\xed\xa0\x80\"}\n", "invalid UTF-8", 1 },
        /* A raw line end inside a string makes two lines of it. */
        { "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"pi\nng\"}\n", "-32700", 2 },
        /* The framing of another protocol. */
        { "Content-Length: 20\r\n\r\n", "-32700", 1 },
    };
    struct rig rig;

    rig_stdio(&rig, NULL);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        rig_send(&rig, cases[i].line);
        for (int n = 0; n < cases[i].errors; n++) {
            const char *line = rig_line(&rig);

            CHECK_HAS(line, "{\"jsonrpc\":\"2.0\",\"id\":\"\",\"error\":{\"code\":-32700");
            CHECK_HAS(line, cases[i].has);
        }
        rig_send(&rig, "{\"jsonrpc\":\"2.0\",\"id\":\"next\",\"method\":\"ping\"}\n");
        CHECK_STR(rig_line(&rig), "{\"jsonrpc\":\"2.0\",\"id\":\"next\",\"result\":{}}");
    }
    rig_close(&rig);
}

static void send_padded(struct rig *rig, const char *head, size_t total)
{
    AUTO_FREE char *line = mem_alloc(total);
    size_t n = strlen(head);

    memset(line, 'x', total);
    memcpy(line, head, n);
    memcpy(line + total - 3, "\"}\n", 3);
    rig_send_bytes(rig, line, total);
}

/* S2-50 S2-63 S2-64 S2-65 S2-66 S2-67 S2-68 S2-82 */
TEST(a_line_of_ten_megabytes_is_taken_and_one_byte_more_is_not)
{
    struct rig rig;

    rig_stdio(&rig, NULL);
    send_padded(&rig, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"x\":\"",
                REQUEST_BYTES_MAX);
    CHECK_STR(rig_line(&rig), "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}");

    send_padded(&rig, "{\"jsonrpc\":\"2.0\",\"id\":\"big\",\"method\":\"ping\",\"x\":\"",
                REQUEST_BYTES_MAX + 1);
    CHECK_STR(rig_line(&rig), "{\"jsonrpc\":\"2.0\",\"id\":\"big\",\"error\":{\"code\":-32600,"
                              "\"message\":\"Request too large\"}}");
    CHECK_HAS(rig.log, "Line exceeds 10MB limit: 10485761 bytes");
    CHECK_HAS(rig.log, "Request exceeded size limit: 10MB");

    send_padded(&rig, "{\"jsonrpc\":\"2.0\",\"method\":\"ping\",\"x\":\"", 3 * REQUEST_BYTES_MAX);
    CHECK_STR(rig_line(&rig), "{\"jsonrpc\":\"2.0\",\"id\":\"\",\"error\":{\"code\":-32700,"
                              "\"message\":\"Request exceeds 10MB limit\"}}");
    rig_send(&rig, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}\n");
    CHECK_STR(rig_line(&rig), "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{}}");
    rig_close(&rig);
}

TEST(the_limit_can_be_set)
{
    struct pb_server_options o = PB_SERVER_OPTIONS_INIT;
    struct rig rig;

    o.max_request_bytes = 100;
    o.parse_error_id_null = true;
    rig_stdio(&rig, &o);
    send_padded(&rig, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"x\":\"", 100);
    CHECK_HAS(rig_line(&rig), "\"result\":{}");
    send_padded(&rig, "{\"jsonrpc\":\"2.0\",\"method\":\"ping\",\"x\":\"", 101);
    CHECK_STR(rig_line(&rig), "{\"jsonrpc\":\"2.0\",\"id\":null,\"error\":{\"code\":-32700,"
                              "\"message\":\"Request exceeds 100 byte limit\"}}");
    rig_close(&rig);
}

/* S2-53 */
TEST(ten_thousand_requests_in_one_go_are_all_answered_in_order)
{
    AUTO_BUF struct buf all = { 0 };
    struct rig rig;
    char want[64];

    rig_stdio(&rig, NULL);
    for (int i = 0; i < 10000; i++)
        buf_printf(&all, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"ping\"}\n", i);
    rig_send_bytes(&rig, all.p, all.n);
    for (int i = 0; i < 10000; i++) {
        snprintf(want, sizeof want, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\":{}}", i);
        CHECK_STR(rig_line(&rig), want);
    }
    rig_close(&rig);
}

TEST(other_things_get_their_turn_while_many_lines_wait)
{
    AUTO_BUF struct buf all = { 0 };
    struct rig rig;
    size_t answered = 0;

    rig_stdio(&rig, NULL);
    for (int i = 0; i < 1000; i++)
        buf_str(&all, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n");
    rig_send_bytes(&rig, all.p, all.n);
    rig_turn(&rig);
    while (rig_line_now(&rig))
        answered++;
    CHECK(answered >= LOOP_LINES_PER_TURN && answered <= 2 * LOOP_LINES_PER_TURN);
    rig_close(&rig);
}

/* S2-5 */
TEST(answers_of_many_threads_never_interleave)
{
    struct rig rig;
    bool seen[8] = { false };

    rig_stdio(&rig, NULL);
    for (int i = 0; i < 8; i++)
        rig_send(&rig, arena_printf(&rig.arena,
                                    "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\","
                                    "\"params\":{\"name\":\"big_on_worker\",\"arguments\":{"
                                    "\"n\":300000,\"letter\":\"%c\"}}}\n",
                                    i, 'a' + i));
    for (int i = 0; i < 8; i++) {
        AUTO_JSON struct json_doc doc = { 0 };
        const char *line = rig_line(&rig);
        struct json text;
        int64_t id;

        CHECK_INT(json_parse(&doc, span_of(line), NULL, NULL), 0);
        CHECK_INT(json_int(json_get(json_root(&doc), "id"), &id, NULL), 0);
        text = json_get(json_item(json_get(json_get(json_root(&doc), "result"), "content"), 0),
                        "text");
        CHECK_INT(json_text(text).n, 300002);
        for (size_t j = 1; j <= 300000; j++)
            if (json_text(text).p[j] != 'a' + (char)id)
                TAP_FAIL("byte %zu of answer %d is not its own", j, (int)id);
        CHECK(id >= 0 && id < 8 && !seen[id]);
        seen[id] = true;
    }
    rig_close(&rig);
}

TEST(json_of_several_lines_leaves_as_one)
{
    struct rig rig;

    rig_stdio(&rig, NULL);
    rig_send(&rig, RIG_CALL("1", "lines", "{}"));
    CHECK_HAS(rig_line(&rig), "\"structuredContent\":{");
    rig_no_line(&rig);
    rig_close(&rig);
}

/* Replies with what it was given, byte for byte, as a relay does. */
static bool mirror_handle(void *ctx, struct request *r)
{
    struct request **held = ctx;

    if (json_is(json_get(r->params, "later"), JSON_NONE))
        request_reply(r, json_text(r->params));
    else
        *held = r;
    return true;
}

static size_t mirror_running(void *ctx) { return (void)ctx, 0; }

/* Readers that end a line at CR, too, would find a forged answer behind it. */
TEST(a_carriage_return_between_tokens_never_reaches_the_client)
{
    static const struct provider mirror = { .handle = mirror_handle, .running = mirror_running };
    static const char forged[] = "{\"a\":\r{\"jsonrpc\":\"2.0\",\"id\":9,\"result\":{}}\r}";
    struct request *held = NULL;
    struct rig rig;

    rig_stdio(&rig, NULL);
    server_set_provider(rig.server, &mirror, &held);
    rig_send(&rig, arena_printf(&rig.arena,
                                "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"x\",\"params\":%s}\n",
                                forged));
    CHECK_STR(rig_line(&rig), "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"a\": {\"jsonrpc\":"
                              "\"2.0\",\"id\":9,\"result\":{}} }}");
    /* Outside of a read it is written from where it lies. */
    rig_send(&rig, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"x\",\"params\":{\"later\":1}}\n");
    RIG_UNTIL(&rig, held);
    request_reply(held, span_of(forged));
    CHECK_STR(rig_line(&rig), "{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{\"a\": {\"jsonrpc\":"
                              "\"2.0\",\"id\":9,\"result\":{}} }}");
    rig_close(&rig);
}

TEST(a_client_that_does_not_read_is_not_read_from)
{
    static const char call[] = RIG_CALL("1", "big", "{\"n\":60000}");
    size_t sent = 0, answers = 0;
    struct rig rig;

    rig_stdio(&rig, NULL);
    for (int idle = 0; idle < 50; idle++) {
        while (write(rig.to, call, sizeof call - 1) == sizeof call - 1) {
            sent++;
            idle = 0;
        }
        rig_turn(&rig);
    }
    /* What fits: the high mark and the chunk behind it, and two pipes. */
    CHECK(sent * 60000 > STREAM_QUEUE_HIGH);
    CHECK(sent < 65536 * 3 / (sizeof call - 1) + 64);
    while (answers < sent) {
        CHECK_HAS(rig_line(&rig), "xxxx");
        answers++;
    }
    rig_no_line(&rig);
    rig_close(&rig);
}

TEST(a_client_that_does_not_read_misses_logs_and_progress_but_nothing_else)
{
    enum { LINES = 300 };
    static char data[100003];
    size_t events = 0, missed = 0, changes = 0;
    const char *line = "";
    struct rig rig;

    memset(data, 'x', sizeof data - 1);
    data[0] = data[sizeof data - 2] = '"';
    rig_stdio(&rig, NULL);
    rig_send(&rig,
             RIG_INITIALIZE(
                 "2025-06-18") "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
    CHECK_HAS(rig_line(&rig), "protocolVersion");
    rig_send(&rig, RIG_CALL("1", "later", "{}"));
    RIG_UNTIL(&rig, rig.held);
    for (int i = 0; i < LINES; i++) {
        pb_server_log(rig.server, PB_LOG_WARNING, "test", data);
        rig_turn(&rig);
    }
    CHECK_INT(pb_server_remove_tool(rig.server, "lines", NULL), 0);
    rig_settle(&rig);
    rig_finish(&rig, "not lost");
    while (!missed || !strstr(line, "not lost")) {
        static const char told[] = "\"logger\":\"patchbay\",\"data\":\"";
        const char *at;

        if (missed && changes)
            break;
        line = rig_line(&rig);
        at = strstr(line, told);
        events += strstr(line, "xxxx") != NULL;
        changes += strstr(line, "tools/list_changed") != NULL;
        missed += at ? strtoul(at + sizeof told - 1, NULL, 10) : 0;
    }
    CHECK(events * 100000 < (size_t)4 * STREAM_QUEUE_HIGH);
    CHECK_INT(events + missed, LINES);
    CHECK_INT(changes, 1);
    rig_close(&rig);
}

/* Four answers of a hundred megabytes, of which three fit. */
static void ask_for_more_than_fits(struct rig *rig)
{
    for (int i = 1; i <= 4; i++)
        rig_send(rig, arena_printf(&rig->arena,
                                   RIG_CALL("%d", "big_on_worker", "{\"n\":100000000}"), i));
    RIG_UNTIL(rig, strstr(rig->log, "cannot be kept"));
}

TEST(past_the_hard_mark_a_slow_client_gets_an_error_instead_of_an_answer)
{
    int whole = 0, refused = 0;
    struct rig rig;

    rig_stdio(&rig, NULL);
    ask_for_more_than_fits(&rig);
    loop_advance(rig.loop, STDIO_STALL_MS - 1);
    rig_read(&rig); /* it has read something */
    loop_advance(rig.loop, 1);
    rig_settle(&rig);
    for (int i = 0; i < 4; i++) {
        const char *line = rig_line(&rig);

        if (strlen(line) > 100000000)
            whole++;
        else
            refused +=
                strstr(line, "\"error\":{\"code\":-32000,\"message\":\"The answer of 1000000") &&
                strstr(line, "bytes was dropped: this client reads too slowly");
    }
    CHECK_INT(whole, 3);
    CHECK_INT(refused, 1);
    loop_advance(rig.loop, 2 * STDIO_STALL_MS); /* nothing waits for it any more */
    rig_send(&rig, RIG_CALL("5", "echo", "{\"text\":\"well\"}"));
    CHECK_STR(rig_line(&rig), RIG_TEXT_RESULT("5", "well"));
    rig_close(&rig);
}

TEST(past_the_hard_mark_a_client_that_does_not_read_at_all_is_cut_off_after_a_while)
{
    struct rig rig;

    rig_stdio(&rig, NULL);
    ask_for_more_than_fits(&rig);
    loop_advance(rig.loop, STDIO_STALL_MS - 1);
    rig_settle(&rig);
    CHECK(!strstr(rig.log, "Client disconnected"));
    loop_advance(rig.loop, 1);
    RIG_UNTIL(&rig, strstr(rig.log, "Client disconnected"));
    CHECK_HAS(rig.log, "it has read nothing for");
    rig_close(&rig);
}

/* S2-69 S2-76 S2-81 S2-93 */
TEST(the_end_of_input_ends_the_server)
{
    struct rig rig;

    rig_stdio(&rig, NULL);
    rig_send(&rig, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n"
                   "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"ping\"}");
    rig_end_input(&rig);
    CHECK_HAS(rig_line(&rig), "\"id\":1");
    CHECK_HAS(rig_line(&rig), "\"id\":2"); /* its line had no end */
    RIG_UNTIL(&rig, !strcmp(server_state(rig.server), "closed"));
    CHECK_HAS(rig.log, "1 EOF detected, closing input stream");
    CHECK_HAS(rig.log, "1 Client disconnected (EOF), flushed");
    CHECK_HAS(rig.log, "dropped 0 responses");
    rig_close(&rig);
}

/* S2-8 S2-26 S2-28 S2-70 S2-71 S2-73 S2-74 S2-75 S2-89 S2-92 S2-94 */
TEST(calls_that_run_at_the_end_of_input_are_cancelled_and_answered)
{
    struct rig rig;

    rig_stdio(&rig, NULL);
    rig_send(&rig, RIG_CALL("\"x\"", "wait", "{}"));
    RIG_UNTIL(&rig, atomic_load(&rig_waiting) == 1);
    rig_end_input(&rig);
    rig_no_line(&rig);
    loop_advance(rig.loop, MCP_EOF_GRACE_MS);
    CHECK_STR(rig_line(&rig), "{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"error\":{\"code\":-32603,"
                              "\"message\":\"Request cancelled\"}}");
    RIG_UNTIL(&rig, atomic_load(&rig_woken) == 1);
    RIG_UNTIL(&rig, !strcmp(server_state(rig.server), "closed"));
    CHECK_HAS(rig.log, "flushed 1 responses, dropped 0 responses");
    CHECK(rig.clock.now < MCP_STOP_MS);
    rig_close(&rig);
}

TEST(a_call_that_ends_soon_after_the_input_is_answered)
{
    struct rig rig;

    rig_stdio(&rig, NULL);
    rig_send(&rig, RIG_CALL("1", "later", "{}"));
    RIG_UNTIL(&rig, rig.held);
    rig_end_input(&rig);
    rig_settle(&rig);
    rig_finish(&rig, "just in time");
    CHECK_STR(rig_line(&rig), RIG_TEXT_RESULT("1", "just in time"));
    RIG_UNTIL(&rig, !strcmp(server_state(rig.server), "closed"));
    CHECK_HAS(rig.log, "flushed 1 responses, dropped 0 responses");
    rig_close(&rig);
}

/* S2-72 S2-75 */
TEST(answers_to_a_client_that_closed_everything_are_dropped)
{
    struct rig rig;

    rig_stdio(&rig, NULL);
    rig_send(&rig, RIG_CALL("1", "wait", "{}") RIG_CALL("2", "wait", "{}"));
    RIG_UNTIL(&rig, atomic_load(&rig_waiting) == 2);
    close(rig.from);
    rig.from = -1;
    rig_end_input(&rig);
    rig_settle(&rig);
    loop_advance(rig.loop, MCP_EOF_GRACE_MS);
    RIG_UNTIL(&rig, !strcmp(server_state(rig.server), "closed"));
    CHECK_HAS(rig.log, "flushed 0 responses, dropped 2 responses");
    rig_close(&rig);
}

/* S2-71 S2-72 S2-74 */
TEST(a_client_that_does_not_read_at_the_end_has_two_seconds)
{
    struct rig rig;

    rig_stdio(&rig, NULL);
    for (int i = 0; i < 10; i++)
        rig_send(&rig, RIG_CALL("1", "big", "{\"n\":60000}"));
    rig_end_input(&rig);
    rig_settle(&rig);
    loop_advance(rig.loop, MCP_FLUSH_MS - 1);
    CHECK(strcmp(server_state(rig.server), "closed") != 0);
    loop_advance(rig.loop, 1);
    RIG_UNTIL(&rig, !strcmp(server_state(rig.server), "closed"));
    CHECK(rig.clock.now <= MCP_STOP_MS);
    /* One of them had left before, into the pipe; part of the next one is in there, too. */
    CHECK_HAS(rig.log, "flushed 0 responses, dropped 9 responses");
    rig_close(&rig);
}

TEST(a_client_that_stops_reading_does_not_kill_us)
{
    struct rig rig;

    rig_stdio(&rig, NULL);
    rig_send(&rig, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n");
    rig_line(&rig);
    close(rig.from);
    rig.from = -1;
    for (int i = 0; i < 100; i++)
        rig_send(&rig, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n");
    RIG_UNTIL(&rig, !strcmp(server_state(rig.server), "closed"));
    CHECK_HAS(rig.log, "Client disconnected");
    rig_close(&rig);
}

/* S2-62 */
TEST(a_read_error_ends_the_input)
{
    struct rig rig;
    int in = open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC), out[2];

    rig_open(&rig, NULL);
    CHECK_INT(pipe2(out, O_CLOEXEC), 0);
    CHECK_INT(pb_server_stdio(rig.server, in, out[1], NULL), 0);
    RIG_UNTIL(&rig, !strcmp(server_state(rig.server), "closed"));
    CHECK_HAS(rig.log, "EOF detected");
    rig_close(&rig);
    close(in);
    close(out[0]);
    close(out[1]);
}

TEST(input_may_be_a_file_or_nothing_at_all)
{
    static const char text[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n";
    FILE *file = tmpfile(), *result = tmpfile();
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    char got[128] = "";
    struct rig rig;

    fputs(text, file);
    rewind(file);
    rig_open(&rig, NULL);
    CHECK_INT(pb_server_stdio(rig.server, fileno(file), fileno(result), NULL), 0);
    RIG_UNTIL(&rig, !strcmp(server_state(rig.server), "closed"));
    rewind(result);
    CHECK(fgets(got, sizeof got, result));
    CHECK_STR(got, "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}\n");
    rig_close(&rig);

    rig_open(&rig, NULL);
    CHECK_INT(pb_server_stdio(rig.server, null, null, NULL), 0);
    RIG_UNTIL(&rig, !strcmp(server_state(rig.server), "closed"));
    rig_close(&rig);
    fclose(file);
    fclose(result);
    close(null);
}

TEST(one_socket_may_be_both_input_and_output)
{
    struct rig rig;
    int pair[2];

    rig_open(&rig, NULL);
    CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    CHECK_INT(pb_server_stdio(rig.server, pair[0], pair[0], NULL), 0);
    rig.from = pair[1];
    rig.to = dup(pair[1]);
    CHECK_INT(fcntl(pair[1], F_SETFL, O_NONBLOCK), 0);
    rig_send(&rig, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n");
    CHECK_STR(rig_line(&rig), "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}");
    rig_close(&rig);
    close(pair[0]);
}

TEST(a_descriptor_that_is_not_open_is_an_error_that_says_so)
{
    struct rig rig;
    struct pb_error err = { 0 };

    rig_open(&rig, NULL);
    CHECK_INT(pb_server_stdio(rig.server, 987, 1, &err), -PB_E_SYSTEM);
    CHECK_HAS(err.msg, "standard input");
    rig_close(&rig);
}

/* S2-54 S2-92 */
TEST(stopping_cancels_and_flushes)
{
    struct rig rig;

    rig_stdio(&rig, NULL);
    rig_send(&rig, RIG_CALL("1", "wait", "{}"));
    RIG_UNTIL(&rig, atomic_load(&rig_waiting) == 1);
    pb_server_stop(rig.server);
    CHECK_STR(rig_line(&rig), "{\"jsonrpc\":\"2.0\",\"id\":1,\"error\":{\"code\":-32603,"
                              "\"message\":\"Request cancelled\"}}");
    RIG_UNTIL(&rig, !strcmp(server_state(rig.server), "closed"));
    rig_close(&rig);
}

TEST(a_second_client_may_be_served_after_the_first)
{
    struct rig rig;
    int in[2], out[2];

    rig_stdio(&rig, NULL);
    rig_end_input(&rig);
    RIG_UNTIL(&rig, !strcmp(server_state(rig.server), "closed"));
    close(rig.from);
    CHECK_INT(pipe2(in, O_CLOEXEC), 0);
    CHECK_INT(pipe2(out, O_CLOEXEC | O_NONBLOCK), 0);
    rig.to = in[1];
    rig.from = out[0];
    CHECK_INT(pb_server_stdio(rig.server, in[0], out[1], NULL), 0);
    rig_send(&rig, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n");
    CHECK_STR(rig_line(&rig), "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}");
    rig_close(&rig);
    close(in[0]);
    close(out[1]);
}

/* A guest of a server that goes on: its process was killed, which the input tells first and the
 * next progress then. */
TEST(a_client_that_is_killed_during_a_call_with_progress_is_let_go_of_once)
{
    struct rig rig;
    struct pb_error err;
    int pair[2];

    rig_open(&rig, NULL);
    CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair), 0);
    if (server_take_socket(rig.server, pair[0], &err) < 0)
        TAP_FAIL("%s", err.msg);
    rig.to = pair[1];
    rig_send(&rig, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/call\",\"params\":{\"name\":"
                   "\"later\",\"arguments\":{},\"_meta\":{\"progressToken\":1}}}\n");
    RIG_UNTIL(&rig, rig.held);
    rig_end_input(&rig);
    RIG_UNTIL(&rig, strstr(rig.log, "EOF detected"));
    pb_call_progress(rig.held, 1, 2, NULL);
    rig_settle(&rig);
    CHECK_HAS(rig.log, "Client disconnected");
    CHECK(pb_call_cancelled(rig.held));
    rig_finish(&rig, "to nobody");
    rig_settle(&rig);
    rig_close(&rig);
}

/* ---- the example program ------------------------------------------------------------------ */

struct program {
    pid_t pid;
    FILE *to, *from, *log;
};

static struct program run_example(const char *option)
{
    const char *path = getenv("EXAMPLE_SERVER");
    int in[2], out[2], log[2];
    struct program p;

    CHECK(path);
    CHECK(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0 && pipe2(log, O_CLOEXEC) == 0);
    p.pid = fork();
    CHECK(p.pid >= 0);
    if (p.pid == 0) {
        dup2(in[0], 0);
        dup2(out[1], 1);
        dup2(log[1], 2);
        execl(path, path, option, NULL);
        _exit(127);
    }
    close(in[0]);
    close(out[1]);
    close(log[1]);
    p.to = fdopen(in[1], "w");
    p.from = fdopen(out[0], "r");
    p.log = fdopen(log[0], "r");
    return p;
}

static void read_all(FILE *f, char *out, size_t room)
{
    size_t n = fread(out, 1, room - 1, f);

    out[n] = '\0';
    fclose(f);
}

static int wait_example(struct program *p)
{
    int status;

    CHECK_INT(waitpid(p->pid, &status, 0), p->pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

/* S2-1 S2-12 S2-14 S2-15 S2-22 S2-23 S2-55 S2-95 */
TEST(one_line_piped_into_the_example_server_is_answered_by_one_line)
{
    struct program p = run_example(NULL);
    char out[16384], log[4096];

    fputs("{\"jsonrpc\":\"2.0\",\"id\":\"1\",\"method\":\"tools/list\",\"params\":null}\n", p.to);
    fclose(p.to);
    read_all(p.from, out, sizeof out);
    read_all(p.log, log, sizeof log);
    CHECK_INT(wait_example(&p), 0);
    CHECK_HAS(out,
              "{\"jsonrpc\":\"2.0\",\"id\":\"1\",\"result\":{\"tools\":[{\"name\":\"datetime\"");
    CHECK_HAS(out, "{\"name\":\"string\"");
    CHECK(strchr(out, '\n') == out + strlen(out) - 1);
    CHECK_HAS(log, " patchbay info: EOF detected, closing input stream\n");
}

/* S2-27 S2-31 S2-37 S2-52 S2-86 S2-94 S2-95 */
TEST(the_example_tools_do_what_they_say)
{
    static const struct {
        const char *tool, *args, *has;
    } cases[] = {
        { "datetime", "{}", "\"content\":[{\"type\":\"text\",\"text\":\"" },
        { "datetime", "{\"format\":\"yyyy-MM-dd'T'HH\",\"timezone\":\"UTC\"}", "\"result\":\"20" },
        { "datetime", "{\"timezone\":\"Nowhere/Land\"}", "unknown time zone" },
        { "datetime", "{\"timezone\":\"../../etc/passwd\"}", "unknown time zone" },
        { "calculator", "{\"expression\":\"2*(3+4)^2 - 10 % 4\"}", "{\"result\":96}" },
        { "calculator", "{\"expression\":\"-2^2\"}", "{\"result\":-4}" },
        { "calculator", "{\"expression\":\"2^3^2\"}", "{\"result\":512}" },
        { "calculator", "{\"expression\":\"max(1, sqrt(2)) * pi\"}", "4.44288" },
        { "calculator", "{\"expression\":\"1/0\"}", "division by zero" },
        { "calculator", "{\"expression\":\"(1\"}", "expected ')' at position 3" },
        { "calculator", "{\"expression\":\"\"}", "ends too early" },
        { "calculator", "{\"expression\":\"nan\"}", "unknown name" },
        { "string", "{\"operation\":\"length\",\"input\":\"h\\u00e9llo\"}", "{\"result\":5}" },
        { "string", "{\"operation\":\"uppercase\",\"input\":\"h\\u00e9\"}", "H\xc3\x89" },
        { "string", "{\"operation\":\"lowercase\",\"input\":\"\\u00c9A\"}",
          "\xc3\xa9"
          "a" },
        { "string", "{\"operation\":\"trim\",\"input\":\" a b \\n\"}", "{\"result\":\"a b\"}" },
        { "string", "{\"operation\":\"split\",\"input\":\"a,b\",\"pattern\":\",\"}",
          "{\"result\":[\"a\",\"b\"]}" },
        { "string",
          "{\"operation\":\"replace\",\"input\":\"aXbX\",\"pattern\":\"X\",\"replacement\":\"-\"}",
          "{\"result\":\"a-b-\"}" },
        { "string", "{\"operation\":\"contains\",\"input\":\"abc\",\"pattern\":\"bc\"}",
          "{\"result\":true}" },
        { "string", "{\"operation\":\"reverse\",\"input\":\"ab\\u00e9\"}",
          "\xc3\xa9"
          "ba" },
        { "string", "{\"operation\":\"substring\",\"input\":\"h\\u00e9llo\",\"start\":1,\"end\":3}",
          "\xc3\xa9l\"" },
        { "string", "{\"operation\":\"split\",\"input\":\"a\"}", "-32603" },
        { "echo", "{\"text\":\"line\\none\"}", "line\\none" },
        { "echo", "{}", "-32602" },
        { "no_such_tool", "{}", "-32602" },
    };
    struct program p = run_example(NULL);
    char line[4096], log[4096];

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        fprintf(p.to,
                "{\"jsonrpc\":\"2.0\",\"id\":%zu,\"method\":\"tools/call\",\"params\":{\"name\":"
                "\"%s\",\"arguments\":%s}}\n",
                i, cases[i].tool, cases[i].args);
        fflush(p.to);
        CHECK(fgets(line, sizeof line, p.from));
        if (!strstr(line, cases[i].has))
            TAP_FAIL("%s %s: %s", cases[i].tool, cases[i].args, line);
    }
    fclose(p.to);
    fclose(p.from);
    read_all(p.log, log, sizeof log);
    CHECK_INT(wait_example(&p), 0);
    /* S2-56 */
    CHECK(!strstr(log, "llo") && !strstr(log, "sqrt"));
}

/* S2-12 S2-54 */
TEST(sigterm_ends_the_example_server_gracefully)
{
    struct program p = run_example(NULL);
    char line[4096], log[4096];

    fputs("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n", p.to);
    fflush(p.to);
    CHECK(fgets(line, sizeof line, p.from));
    CHECK_INT(kill(p.pid, SIGTERM), 0);
    CHECK_INT(wait_example(&p), 0);
    read_all(p.log, log, sizeof log);
    CHECK_HAS(log, "server stopping");
    fclose(p.to);
    fclose(p.from);
}

/* S2-7 */
TEST(strict_wants_a_handshake_first)
{
    struct program p = run_example("--strict");
    char line[4096];

    fputs("{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}\n", p.to);
    fflush(p.to);
    CHECK(fgets(line, sizeof line, p.from));
    CHECK_HAS(line, "\"error\":{\"code\":-32600");
    fputs(RIG_INITIALIZE("2024-11-05"), p.to);
    fputs("{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\"}\n", p.to);
    fclose(p.to);
    CHECK(fgets(line, sizeof line, p.from));
    CHECK_HAS(line, "\"protocolVersion\":\"2024-11-05\"");
    CHECK(fgets(line, sizeof line, p.from));
    CHECK_HAS(line, "\"result\":{\"tools\":[");
    CHECK_INT(wait_example(&p), 0);
    fclose(p.from);
    fclose(p.log);
}
