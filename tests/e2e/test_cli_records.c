/* What was recorded, on the command line: with the daemon that records, and after it has ended. */
#include "gate_rig.h"

#define NOTHING "nothing was recorded yet; 'patchbay serve' starts a daemon that records"

static void begin_recording(void)
{
    rig_begin();
    rig_config("\"ex\":" EXAMPLE);
    rig_daemon(NULL);
    WAIT_FOR(strcmp(server_is("ex", "state"), "connected") == 0);
}

static void echo(const char *text)
{
    AUTO_BUF struct buf word = { 0 };

    buf_printf(&word, "text=%s", text);
    CHECK_INT(RUN("call", "ex.echo", buf_cstr(&word)), 0);
}

/* Three calls, of which one fails. */
static void three_calls(void)
{
    echo("one");
    CHECK_INT(RUN("call", "ex.calculator", "expression=1+"), 5);
    echo("three");
}

static int lines_of(const char *text)
{
    int n = 0;

    for (; *text; text++)
        n += *text == '\n';
    return n;
}

static size_t length_of(const char *list)
{
    AUTO_JSON struct json_doc doc = { 0 };

    CHECK_INT(json_parse(&doc, span_of(out), NULL, NULL), 0);
    return json_len(json_get(json_root(&doc), list));
}

/* ---- the list ---- */

TEST(calls_are_a_line_each_the_newest_last)
{
    const char *one, *two, *three;

    begin_recording();
    three_calls();
    CHECK_INT(RUN("calls"), 0);
    CHECK_STR(err, "");
    CHECK_INT(lines_of(out), 3);
    one = strstr(out, "     1 ");
    two = strstr(out, "     2 ");
    three = strstr(out, "     3 ");
    CHECK(one && two && three && one < two && two < three);
    CHECK_HAS(one, " ✓ command line → ex.echo  ");
    CHECK_HAS(two, " ✗ command line → ex.calculator  ");
    CHECK_HAS(two, "  failed: the expression ends too early");
    CHECK(!strstr(out, "\033"));

    CHECK_INT(RUN("calls", "-n", "2"), 0);
    CHECK_INT(lines_of(out), 2);
    CHECK_STR(err, "patchbay: older ones: --before 2\n");
    CHECK_INT(RUN("calls", "--before", "2"), 0);
    CHECK_INT(lines_of(out), 1);
    CHECK_HAS(out, "     1 ");

    CHECK_INT(RUN("calls", "--json", "-n", "2"), 0);
    CHECK_INT(length_of("calls"), 2);
    CHECK_STR(member("calls.0.no"), "3"); /* the newest first, as the pages go */
    CHECK_STR(member("calls.1.tool"), "calculator");
    CHECK_STR(member("next"), "2");
    CHECK_STR(member("total"), "3");

    /* Colours are for terminals, and the edge of one cuts a line. */
    rig_columns = 60;
    CHECK_INT(run_on_terminal(WORDS("calls")), 0);
    CHECK_HAS(out, "\033[32m✓\033[0m command line → ex.echo");
    CHECK_HAS(out, "…\r\n");
    rig_end();
}

/* The filters, each with what it leaves. */
TEST(calls_are_chosen_by_what_people_know_of_them)
{
    static const struct {
        const char *words[5];
        const char *numbers; /* as the list has them */
    } rows[] = {
        { { "--tool", "echo" }, "13" },
        { { "--status", "failed" }, "2" },
        { { "--status", "success" }, "13" },
        { { "--server", "ex", "--tool", "calculator" }, "2" },
        { { "--caller", "command line" }, "123" },
        { { "--face", "cli" }, "123" },
        { { "--face", "rest" }, "" },
        { { "--source", "mcp_client" }, "123" },
        { { "--run", "cli" }, "123" },
        { { "--conversation", "cli" }, "123" },
        { { "--text", "three" }, "3" },
        { { "--text", "nowhere" }, "" },
        { { "--server", "other" }, "" },
        { { "--since", "1h" }, "123" },
        { { "--since", "2099-01-01" }, "" },
        { { "--until", "1h" }, "" },
        { { "--until", "2099-01-01T12:00:00Z" }, "123" },
        { { "--since", "1000000000" }, "123" },
        { { "--since", "2020-01-01 10:00", "--until", "2020-01-02T10:00:00+01:00" }, "" },
    };

    begin_recording();
    three_calls();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const char *words[8] = { "calls" };
        char numbers[16] = "";

        for (size_t w = 0; w < ARRAY_LEN(rows[i].words) && rows[i].words[w]; w++)
            words[w + 1] = rows[i].words[w];
        CHECK_INT(run_with(NULL, words), 0);
        for (int n = 1; n <= 3; n++) {
            char number[16];

            snprintf(number, sizeof number, "     %d ", n);
            if (strstr(out, number))
                snprintf(numbers + strlen(numbers), 2, "%d", n);
        }
        if (strcmp(numbers, rows[i].numbers) != 0)
            TAP_FAIL("%s %s: %s, expected %s", words[1], words[2], numbers, rows[i].numbers);
    }
    CHECK_INT(RUN("calls", "--since", "tomorrow"), 1);
    CHECK_HAS(err, "--since is a time back such as 10m or 2h, a date such as 2026-01-31");
    CHECK_HAS(err, "not 'tomorrow'");
    CHECK_INT(RUN("calls", "--until", "2026-13-01"), 1);
    CHECK_INT(RUN("calls", "--until", "2026-01-01T10:00:00+1"), 1);
    CHECK_INT(RUN("calls", "-n", "0"), 1);
    CHECK_INT(RUN("calls", "-n", "-1"), 1);
    CHECK_HAS(err, "--lines is a number from 1 on, not '-1'");
    CHECK_INT(RUN("calls", "--text", "\"unbalanced"), 1);
    CHECK_HAS(err, "cannot search for");
    CHECK_INT(RUN("calls", "what"), 1);
    CHECK_HAS(err, "'what' is none of show, export and rm");
    rig_end();
}

/* More than a page, of the store's and of an export's. */
TEST(all_pages_are_all_calls_in_order)
{
    enum { MANY = 1100 };
    struct program p;
    char number[32], command[4200];
    const char *at;

    begin_recording();
    session_begin(&p);
    for (int i = 1; i <= MANY; i++)
        session_ask(&p, i, "x");
    for (int i = 1; i <= MANY; i++)
        free(program_hear(&p));
    session_end(&p);

    CHECK_INT(RUN("calls", "--all-pages"), 0);
    CHECK_INT(lines_of(out), MANY);
    at = out;
    for (int i = 1; i <= MANY; i++) {
        snprintf(number, sizeof number, "%6d ", i);
        CHECK(strncmp(at, number, strlen(number)) == 0);
        at = strchr(at, '\n') + 1;
    }
    CHECK_INT(RUN("calls", "-n", "1050", "-q"), 0);
    CHECK_INT(lines_of(out), 1050);
    CHECK(strncmp(out, "    51 ", 7) == 0);
    CHECK_INT(RUN("calls", "--all-pages", "--tool", "none"), 0);
    CHECK_STR(out, "");
    snprintf(command, sizeof command, "%s calls export --since 1h | wc -l", built("patchbay"));
    CHECK_INT(run_other((const char *const[]){ "sh", "-c", command, NULL }, NULL), 0);
    CHECK_INT(strtol(out, NULL, 10), MANY);
    rig_end();
}

/* ---- one ---- */

TEST(one_call_is_shown_with_all_that_is_known)
{
    char id[64], beginning[8];

    begin_recording();
    CHECK_INT(RUN("call", "ex.echo", "text=API_KEY=sk-abcdefgh12345678abcdefgh"), 0);
    CHECK_INT(RUN("calls", "show", "1", "--json"), 0);
    snprintf(id, sizeof id, "%s", member("id"));
    CHECK_INT(strlen(id), UUID_CHARS);
    CHECK_STR(member("no"), "1");
    CHECK_STR(member("redacted.0.in"), "arguments");
    CHECK_STR(member("result.content.0.type"), "text");
    CHECK_HAS(member("arguments.text"), "API_KEY=***");
    CHECK_INT(strlen(member("arguments_cid")), 128);

    snprintf(beginning, sizeof beginning, "%.7s", id);
    CHECK_INT(RUN("calls", "show", beginning), 0);
    CHECK_HAS(out, "✓ ex.echo  success\n");
    CHECK_HAS(out, id);
    CHECK_HAS(out, "\ncaller       command line\n");
    CHECK_HAS(out, "\nthrough      cli\n");
    CHECK_HAS(out, "\nhidden       arguments at /text\n");
    CHECK_HAS(out, "\n  {\n    \"text\": \"API_KEY=***\"\n  }\n");
    CHECK(!strstr(out, "sk-abcdefgh"));
    CHECK_INT(RUN("calls", "show", id), 0);
    CHECK_HAS(out, "✓ ex.echo  success\n");

    CHECK_INT(RUN("calls", "show", "77"), 1);
    CHECK_HAS(err, "patchbay: there is no recorded call '77'; 'patchbay calls' shows them\n");
    CHECK_INT(RUN("calls", "show", "abc"), 1);
    CHECK_HAS(err, "give 6 characters of its id, or its number");
    CHECK_INT(RUN("calls", "show", "zzzzzzz"), 1);
    CHECK_HAS(err, "there is no recorded call 'zzzzzzz' among the newest");
    CHECK_INT(RUN("calls", "show", "00000000-0000-4000-8000-000000000000"), 1);
    CHECK_INT(RUN("calls", "show"), 1);
    CHECK_HAS(err, "give the call's id, or its number");
    rig_end();
}

TEST(the_beginning_of_an_id_must_be_one_calls_only)
{
    char first[64] = "", same[64];
    struct program p;

    begin_recording();
    session_begin(&p);
    for (int i = 1; i <= 20; i++) {
        session_ask(&p, i, "x");
        session_hear(&p, i);
    }
    session_end(&p);
    /* Those of one program begin alike. */
    CHECK_INT(RUN("calls", "--json"), 0);
    snprintf(first, sizeof first, "%.8s", member("calls.0.id"));
    snprintf(same, sizeof same, "%.8s", member("calls.1.id"));
    CHECK_STR(first, same);
    CHECK_INT(RUN("calls", "show", first), 1);
    CHECK_HAS(err, ": give more of it");
    rig_end();
}

/* ---- bytes ---- */

TEST(bytes_are_printed_as_they_are)
{
    char cid[160], beginning[16];

    begin_recording();
    echo("one");
    CHECK_INT(RUN("calls", "show", "1", "--json"), 0);
    snprintf(cid, sizeof cid, "%s", member("arguments_cid"));
    snprintf(beginning, sizeof beginning, "%.12s", cid);
    CHECK_INT(RUN("object", cid), 0);
    CHECK_STR(out, "{\"text\":\"one\"}");
    CHECK_INT(RUN("object", beginning), 0);
    CHECK_STR(out, "{\"text\":\"one\"}");
    CHECK_INT(run_on_terminal(WORDS("object", cid)), 0);
    CHECK_STR(out, "{\"text\":\"one\"}\r\n");
    CHECK_INT(RUN("object", cid, "--output", "bytes"), 0);
    CHECK_STR(out, "");
    CHECK_STR(err, "patchbay: wrote 14 bytes to bytes\n");
    CHECK_STR(file_text("bytes"), "{\"text\":\"one\"}");
    CHECK_INT(RUN("object", cid, "--output", "/no/such/place"), 1);
    CHECK_HAS(err, "'/no/such/place' cannot be written: No such file or directory");

    cid[0] = cid[0] == '0' ? '1' : '0';
    CHECK_INT(RUN("object", cid), 1);
    CHECK_HAS(err, "there is no object ");
    CHECK_INT(RUN("object", "ffffffffffff0"), 1);
    CHECK_HAS(err, "no object of the newest calls begins with 'ffffffffffff0'; give the whole cid");
    CHECK_INT(RUN("object", "abc"), 1);
    CHECK_HAS(err, "'abc' is no cid");
    rig_end();
}

/* ---- exports ---- */

TEST(calls_are_exported_for_other_programs)
{
    char first[4096];

    begin_recording();
    three_calls();
    CHECK_INT(RUN("calls", "export"), 0);
    CHECK_INT(lines_of(out), 3);
    snprintf(first, sizeof first, "%.*s", (int)strcspn(out, "\n"), out);
    CHECK_STR(json_member(first, "no"), "3");
    CHECK_STR(json_member(first, "arguments.text"), "three");
    CHECK_STR(json_member(first, "result.content.0.text"), "three");
    CHECK_INT(RUN("calls", "export", "--format", "har", "--tool", "echo"), 0);
    CHECK_STR(member("log.version"), "1.2");
    CHECK_STR(member("log.entries.0.request.url"), "mcp://ex/echo");
    CHECK_STR(member("log.entries.1.response.status"), "200");
    CHECK_STR(member("log.entries.2"), "");
    CHECK_INT(RUN("calls", "export", "--format", "otlp"), 0);
    CHECK_STR(member("resourceSpans.0.scopeSpans.0.spans.1.status.code"), "2");
    CHECK_INT(strlen(member("resourceSpans.0.scopeSpans.0.spans.0.traceId")), 32);
    CHECK_INT(RUN("calls", "export", "--format", "xml"), 1);
    CHECK_HAS(err, "--format is jsonl, har or otlp, not 'xml'");
    CHECK_STR(out, "");
    CHECK_INT(RUN("calls", "export", "more"), 1);
    rig_end();
}

/* ---- forgetting ---- */

TEST(calls_are_deleted_when_that_is_said_twice)
{
    static const struct talk no[] = { { "[y/N] ", "n\n" }, { NULL, NULL } };
    static const struct talk yes[] = { { "[y/N] ", "y\n" }, { NULL, NULL } };

    begin_recording();
    three_calls();
    CHECK_INT(RUN("calls", "rm"), 1);
    CHECK_HAS(err, "nobody can be asked whether to delete them: add --yes");
    CHECK_INT(talk_on_terminal(no, WORDS("calls", "rm")), 1);
    CHECK_HAS(out, "Delete all recorded calls? [y/N] ");
    CHECK_HAS(out, "nothing was deleted");
    CHECK_INT(RUN("calls", "rm", "--yes", "--before", "1h"), 0);
    CHECK_STR(out, "Deleted 0 recorded calls; 3 are left\n");
    CHECK_INT(RUN("calls", "rm", "--yes", "--before", "soon"), 1);
    CHECK_INT(RUN("calls", "rm", "--yes", "--json", "--before", "2099-01-01"), 0);
    CHECK_STR(member("deleted"), "3");
    CHECK_STR(member("left"), "0");
    CHECK_INT(RUN("calls"), 0);
    CHECK_STR(out, "");
    echo("four");
    CHECK_INT(talk_on_terminal(yes, WORDS("calls", "rm")), 0);
    CHECK_HAS(out, "Deleted 1 recorded calls; 0 are left");
    rig_end();
}

/* More than one message carries: characters of several bytes are not cut. */
TEST(long_bytes_come_in_pieces)
{
    enum { WORDS_N = 60000 };
    AUTO_BUF struct buf text = { 0 };
    char cid[256];

    begin_recording();
    for (int i = 0; i < WORDS_N; i++)
        buf_printf(&text, "%05d \xe2\x82\xac", i);
    write_file(in_home("long"), buf_cstr(&text));
    CHECK_INT(RUN("call", "ex.echo", "text=@long"), 0);
    CHECK_INT(RUN("calls", "--json"), 0);
    snprintf(cid, sizeof cid, "%s", member("calls.0.arguments_cid"));
    CHECK_INT(RUN("object", cid), 0);
    CHECK_INT(strlen(out), text.n + strlen("{\"text\":\"\"}"));
    CHECK_HAS(out, buf_cstr(&text));
    CHECK_INT(RUN("object", cid, "--output", in_home("object")), 0);
    CHECK_HAS(file_text("object"), buf_cstr(&text));
    CHECK_INT(RUN("calls", "export", "--format", "har"), 0);
    CHECK_HAS(out, "59999 \xe2\x82\xac");
    rig_end();
}

/* To a pipe the bytes that were recorded, to a terminal nothing that moves it. */
TEST(what_is_exported_does_not_move_a_terminal)
{
    char cid[256];

    begin_recording();
    echo("a\xc2\x9b"
         "31mb\x7f\xe2\x80\xae");
    CHECK_INT(RUN("calls", "export"), 0);
    CHECK_HAS(out, "a\xc2\x9b"
                   "31mb\x7f\xe2\x80\xae");
    CHECK_INT(run_on_terminal(WORDS("calls", "export")), 0);
    CHECK_HAS(out, "a\\u009b31mb\\u007f\\u202e");
    CHECK(!strchr(out, 0x7f) && !strstr(out, "\xc2\x9b") && !strstr(out, "\xe2\x80\xae"));
    CHECK_INT(run_on_terminal(WORDS("calls", "--json")), 0);
    CHECK_HAS(out, "\"total\":1}\r\n");
    CHECK_INT(RUN("calls", "--json"), 0);
    snprintf(cid, sizeof cid, "%s", member("calls.0.arguments_cid"));
    CHECK_INT(run_on_terminal(WORDS("object", cid)), 1);
    CHECK_HAS(out, "may upset the terminal");
    CHECK_INT(RUN("object", cid), 0);
    CHECK_HAS(out, "\xc2\x9b");
    rig_end();
}

/* ---- as they come ---- */

TEST(calls_are_followed_until_ctrl_c)
{
    struct started follow, json;

    begin_recording();
    echo("before");
    start_with(&follow, NULL, WORDS("calls", "-f"));
    start_with(&json, NULL, WORDS("calls", "-f", "--json", "-n", "1", "--tool", "echo"));
    WAIT_FOR(strstr(so_far(follow.o), "ex.echo"));
    WAIT_FOR(strstr(so_far(json.o), "\"no\":1"));
    CHECK_INT(RUN("call", "ex.calculator", "expression=1+1"), 0);
    WAIT_FOR(strstr(so_far(follow.o), "ex.calculator"));
    for (int i = 0; i < 5; i++)
        echo("after");
    WAIT_FOR(strstr(so_far(follow.o), "     7 "));
    WAIT_FOR(strstr(so_far(json.o), "\"no\":7"));
    kill(follow.pid, SIGINT);
    CHECK_INT(started_end(&follow), 130);
    CHECK_INT(lines_of(out), 7);
    CHECK_STR(err, "");
    kill(json.pid, SIGINT);
    CHECK_INT(started_end(&json), 130);
    CHECK_INT(lines_of(out), 6); /* not that of the other tool */
    CHECK(!strstr(out, "calculator"));
    CHECK_INT(RUN("calls", "-f", "--all-pages"), 1);
    rig_end();
}

/* Who follows ends with the daemon, and is told. */
TEST(who_follows_is_told_when_the_daemon_ends)
{
    struct started follow;

    begin_recording();
    echo("x");
    start_with(&follow, NULL, WORDS("calls", "-f"));
    WAIT_FOR(strstr(so_far(follow.o), "ex.echo"));
    CHECK_INT(daemon_stop(SIGTERM), 0);
    CHECK(started_end(&follow) != 0);
    CHECK(*err);
    rig_end();
}

/* ---- without a daemon ---- */

TEST(without_a_daemon_the_same_is_read_from_the_disk)
{
    static const char *const lines[][4] = { { "calls" },
                                            { "calls", "--json" },
                                            { "calls", "show", "2" },
                                            { "calls", "show", "3", "--json" },
                                            { "calls", "export" },
                                            { "calls", "export", "--format", "har" } };
    char *before[ARRAY_LEN(lines)];

    begin_recording();
    three_calls();
    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        CHECK_INT(run_with(NULL, (const char *const[]){ lines[i][0], lines[i][1], lines[i][2],
                                                        lines[i][3], NULL }),
                  0);
        before[i] = mem_dup(out);
    }
    /* While it runs the disk is its own. */
    CHECK_INT(RUN("calls", "--standalone"), 4);
    CHECK_HAS(err, "another Patchbay (pid ");
    CHECK_HAS(err, "; it must end before they can be read without it\n");
    CHECK_INT(daemon_stop(SIGTERM), 0);
    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        CHECK_INT(run_with(NULL, (const char *const[]){ lines[i][0], lines[i][1], lines[i][2],
                                                        lines[i][3], NULL }),
                  0);
        CHECK_STR(out, before[i]);
        free(before[i]);
    }
    CHECK_INT(RUN("calls", "-f"), 4);
    CHECK_HAS(err, "no daemon that records calls is running; 'patchbay serve' starts");
    CHECK_INT(RUN("calls", "rm", "--yes"), 0);
    CHECK_STR(out, "Deleted 3 recorded calls; 0 are left\n");
    rig_end();
}

/* Also when a daemon runs that does not record now. */
TEST(what_was_recorded_once_is_shown_by_whoever_can)
{
    begin_recording();
    echo("once");
    CHECK_INT(daemon_stop(SIGTERM), 0);
    rig_daemon(WORDS("--no-record"));
    WAIT_FOR(strcmp(server_is("ex", "state"), "connected") == 0);
    echo("unseen");
    CHECK_INT(RUN("calls"), 0);
    CHECK_INT(lines_of(out), 1);
    CHECK_INT(RUN("calls", "-f"), 4);
    rig_end();
}

TEST(where_nothing_was_recorded_it_is_told_how_that_is_switched_on)
{
    for (int daemon = 0; daemon < 2; daemon++) {
        rig_begin();
        rig_config("\"ex\":" EXAMPLE);
        if (daemon)
            rig_daemon(WORDS("--no-record"));
        CHECK_INT(RUN("calls"), 0);
        CHECK_STR(out, "");
        CHECK_HAS(err, NOTHING);
        CHECK_INT(RUN("calls", "--json", "-q"), 0);
        CHECK_STR(out, "{\"calls\":[],\"total\":0}\n");
        CHECK_STR(err, "");
        CHECK_INT(RUN("calls", "export", "--format", "har"), 0);
        CHECK_STR(member("log.entries"), "[]");
        CHECK_HAS(err, NOTHING);
        CHECK_INT(RUN("calls", "show", "1"), 1);
        CHECK_HAS(err, "there is no recorded call '1'");
        CHECK_INT(RUN("object", "abcdefabcdef"), 1);
        CHECK_INT(RUN("calls", "rm", "--yes"), 0);
        CHECK_INT(access(in_home("records"), F_OK), -1); /* looking makes nothing */
        rig_end();
    }
}
