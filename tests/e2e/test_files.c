/* Files through the running program: by every name of an operation, from every face. */
#include "rest_http.h"
#include <fcntl.h>

#define CALL(tool, arguments) \
    http("POST", "/api/mcp-tools/call", "{\"tool\":\"" tool "\",\"arguments\":" arguments "}")

TEST(an_operation_is_called_by_all_its_names)
{
    rig_begin();
    /* S3-72 S3-160: what is said while it runs */
    CHECK_INT(RUN("call", "create_file", "filePath=sub/a.txt", "content=one"), 0);
    CHECK_HAS(out, "Created '");
    CHECK_HAS(err, "Creating file: sub/a.txt");
    CHECK_STR(file_text("sub/a.txt"), "one");
    /* S3-63 S3-32 S3-146: relative to where the command was started */
    CHECK_INT(RUN("call", "read_file", "filePath=sub/a.txt"), 0);
    CHECK_STR(out, "one\n");
    CHECK_INT(RUN("call", "file_operations.read_file", "filePath=sub/a.txt"), 0);
    CHECK_STR(out, "one\n");
    CHECK_INT(RUN("call", "file_operations", "operation=read_file", "filePath=sub/a.txt"), 0);
    CHECK_STR(out, "one\n");
    /* S3-29 S3-164 */
    CHECK_INT(RUN("call", "read_file"), 5);
    CHECK_HAS(out, "Missing required parameter: filePath");
    CHECK_INT(RUN("call", "file_operations.read_file", "filePath=sub/b.txt"), 5);
    CHECK_HAS(out, "Operation failed: there is no '");
    /* S3-30 */
    CHECK_INT(RUN("call", "file_operations", "operation=burn_file"), 1);
    CHECK_HAS(err, "\"burn_file\": expected one of \"read_file\"");
    rig_end();
}

/* Who says no directory gets one in the home, for itself alone. */
TEST(rest_reads_and_writes_in_the_directory_of_the_home)
{
    rig_begin();
    rig_config("");
    start(NULL);
    CHECK_INT(CALL("create_file", "{\"filePath\":\"a.txt\",\"content\":\"one\\ntwo\\n\"}"), 200);
    CHECK_STR(file_text("work/a.txt"), "one\ntwo\n");
    CHECK_INT(temp_mode(in_home("work")), 0700);
    CHECK_INT(CALL("builtin/file_operations.replace_string",
                   "{\"file_path\":\"a.txt\",\"old_string\":\"two\",\"new_string\":\"2\"}"),
              200);
    CHECK_INT(CALL("builtin/file_operations",
                   "{\"operation\":\"read_file\",\"path\":\"a.txt\",\"offset\":-1}"),
              200);
    CHECK_STR(member("result.content.0.text"), "2\n[These are the last 1 lines.]\n");
    CHECK_INT(CALL("file_operations", "{\"operation\":\"burn_file\"}"), 200);
    CHECK_STR(member("result.isError"), "true");
    CHECK_HAS(member("result.content.0.text"), "Unknown operation 'burn_file' of file_operations");
    CHECK_INT(CALL("file_operations", "{\"operation\":\"create_file\",\"content\":\"x\"}"), 200);
    CHECK_STR(member("result.content.0.text"), "Missing required parameter: filePath");
    CHECK_INT(CALL("read_file", "{\"filePath\":[7]}"), 200);
    CHECK_STR(member("result.isError"), "true");
    rig_end();
}

static const char *mcp_answer(struct program *p, const char *id)
{
    static char *line;

    do {
        free(line);
        line = program_hear(p);
        CHECK(line != NULL);
    } while (!strstr(line, id));
    return line;
}

static void client_start_as(struct program *p, const char *directory, const char *expose)
{
    CHECK(chdir(directory) == 0);
    program_start(p, WORDS("patchbay", "mcp", "--expose", expose), NULL);
    program_say(p, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{"
                   "\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},\"clientInfo\":{"
                   "\"name\":\"files\",\"version\":\"1\"}}}\n"
                   "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
}

static void client_start(struct program *p, const char *directory)
{
    client_start_as(p, directory, "file");
}

static void client_end(struct program *p)
{
    program_close_input(p);
    CHECK_INT(program_end(p, RIG_END_MS), 0);
}

/* What a call of this tool is answered with. Good until the next. */
static const char *mcp_call(struct program *p, const char *tool, const char *arguments)
{
    static int number = 100;
    AUTO_BUF struct buf line = { 0 };
    char id[32];

    snprintf(id, sizeof id, "\"id\":%d,", ++number);
    buf_printf(&line,
               "{\"jsonrpc\":\"2.0\",%s\"method\":\"tools/call\",\"params\":{\"name\":\"%s\","
               "\"arguments\":%s}}\n",
               id, tool, arguments);
    program_say(p, buf_cstr(&line));
    return mcp_answer(p, id);
}

TEST(an_mcp_client_reads_and_patches_files)
{
    struct program p;

    rig_begin();
    CHECK(mkdir(in_home("work"), 0700) == 0);
    write_file(in_home("work/a.txt"), "one\n");
    client_start(&p, in_home("work"));
    program_say(&p, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\"}\n");
    CHECK_HAS(mcp_answer(&p, "\"id\":2"), "\"name\":\"file_operations\"");
    program_say(&p, "{\"jsonrpc\":\"2.0\",\"id\":3,\"method\":\"tools/call\",\"params\":{\"name\":"
                    "\"file_operations\",\"arguments\":{\"operation\":\"apply_patch\","
                    "\"patch_content\":\"--- a/a.txt\\n+++ b/a.txt\\n@@ -1 +1 @@\\n-one\\n+two\\n\""
                    "}}}\n");
    CHECK_HAS(mcp_answer(&p, "\"id\":3"), "changed a.txt (+1 -1)");
    CHECK_STR(file_text("work/a.txt"), "two\n");
    program_say(&p, "{\"jsonrpc\":\"2.0\",\"id\":4,\"method\":\"tools/call\",\"params\":{\"name\":"
                    "\"file_operations\",\"arguments\":{\"operation\":\"read_file\",\"filePath\":"
                    "\"a.txt\"}}}\n");
    CHECK_HAS(mcp_answer(&p, "\"id\":4"), "\"text\":\"two\\n\"");
    program_say(&p, "{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"tools/call\",\"params\":{\"name\":"
                    "\"file_operations\",\"arguments\":{\"operation\":\"apply_patch\","
                    "\"patchContent\":\"rubbish\"}}}\n");
    CHECK_HAS(mcp_answer(&p, "\"id\":5"), "there is no unified diff in it");
    program_close_input(&p);
    CHECK_INT(program_end(&p, RIG_END_MS), 0);
    rig_end();
}

/* ---- outside the working directory ---- */

static char outside[64]; /* where the client works in `work` */

static const char *beside(const char *name)
{
    static char path[4][128];
    static int at;

    at = (at + 1) % 4;
    snprintf(path[at], sizeof path[at], "%s/%s", outside, name);
    return path[at];
}

static bool holds(const char *name, const char *text)
{
    AUTO_BUF struct buf all = { 0 };
    AUTO_CLOSE int fd = open(beside(name), O_RDONLY | O_CLOEXEC);

    return fd >= 0 && file_read(fd, name, 4096, &all, NULL) == 0 && span_is(buf_span(&all), text);
}

static void ask_to_write(struct program *p, int id, const char *path)
{
    AUTO_BUF struct buf line = { 0 };

    buf_printf(&line,
               "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\",\"params\":{\"name\":"
               "\"write_file\",\"arguments\":{\"file_path\":\"%s\",\"content\":\"mine\"}}}\n",
               id, path);
    program_say(p, buf_cstr(&line));
}

static void answer(const char *choice)
{
    char path[128], body[64];

    WAIT_FOR(http("GET", "/api/questions", "") == 200 && *member("questions.0.id"));
    /* S3-153 */
    CHECK_HAS(member("questions.0.text"),
              "Operation 'file_operations.write_file' requires user authorization. Reason: Path '");
    CHECK_HAS(member("questions.0.text"), "' is outside working directory.");
    snprintf(path, sizeof path, "/api/questions/%s/answer", member("questions.0.id"));
    snprintf(body, sizeof body, "{\"choice\":\"%s\"}", choice);
    CHECK_INT(http("POST", path, body), 200);
}

static bool nobody_is_asked(void)
{
    CHECK_INT(http("GET", "/api/questions", ""), 200);
    return !*member("questions.0.id");
}

/* S3-81, S3-82, S3-145 */
TEST(a_program_leaves_its_working_directory_only_when_a_person_lets_it)
{
    struct program p;
    char typed[256];

    rig_begin();
    rig_config("");
    start(NULL);
    snprintf(outside, sizeof outside, "/tmp/patchbay-files-XXXXXX");
    CHECK(mkdtemp(outside) != NULL);
    CHECK(mkdir(beside("work"), 0700) == 0 && mkdir(beside("work-other"), 0700) == 0);
    write_file(beside("outside.txt"), "theirs");
    client_start(&p, beside("work"));
    ask_to_write(&p, 2, "in/side.txt");
    CHECK_HAS(mcp_answer(&p, "\"id\":2"), "side.txt");
    CHECK(holds("work/in/side.txt", "mine"));
    CHECK(nobody_is_asked());

    ask_to_write(&p, 3, "../outside.txt");
    answer("deny");
    CHECK_HAS(mcp_answer(&p, "\"id\":3"), "has not allowed it");
    CHECK(holds("outside.txt", "theirs"));

    /* S3-147: a name that only begins like the directory's */
    ask_to_write(&p, 4, beside("work-other/a.txt"));
    answer("deny");
    CHECK_HAS(mcp_answer(&p, "\"id\":4"), "has not allowed it");

    /* S3-154 */
    ask_to_write(&p, 5, "../outside.txt");
    answer("approve");
    CHECK_HAS(mcp_answer(&p, "\"id\":5"), "outside.txt");
    CHECK(holds("outside.txt", "mine"));

    program_say(&p, "{\"jsonrpc\":\"2.0\",\"id\":6,\"method\":\"tools/call\",\"params\":{\"name\":"
                    "\"read_file\",\"arguments\":{\"filePath\":\"../outside.txt\"}}}\n");
    CHECK_HAS(mcp_answer(&p, "\"id\":6"), "mine");

    /* S3-149: permitted for a while */
    ask_to_write(&p, 7, "../one.txt");
    answer("grant");
    CHECK_HAS(mcp_answer(&p, "\"id\":7"), "one.txt");
    ask_to_write(&p, 8, "../two.txt");
    CHECK_HAS(mcp_answer(&p, "\"id\":8"), "two.txt");
    CHECK(holds("two.txt", "mine"));
    program_close_input(&p);
    CHECK_INT(program_end(&p, RIG_END_MS), 0);

    /* Who types it has decided. */
    snprintf(typed, sizeof typed, "filePath=%s", beside("typed.txt"));
    CHECK_INT(RUN("call", "write_file", typed, "content=mine"), 0);
    CHECK(holds("typed.txt", "mine"));
    CHECK(nobody_is_asked());
    temp_remove(outside);
    rig_end();
}

/* A client may work above Patchbay's home, or know where it is: what is in there opens doors. */
TEST(no_program_gets_at_what_is_patchbays_own)
{
    static const char *const ways[][2] = {
        { "read_file", "{\"filePath\":\"%s/token\"}" },
        { "read_file", "{\"filePath\":\"%s/work/way/token\"}" },
        { "get_file_info", "{\"filePath\":\"%s/token\"}" },
        { "list_dir", "{\"path\":\"%s\"}" },
        { "grep_search", "{\"query\":\"canary\",\"path\":\"%s\"}" },
        { "write_file", "{\"filePath\":\"%s/config.json\",\"content\":\"{}\"}" },
        { "create_directory", "{\"path\":\"%s/a/b\"}" },
        { "rename_file", "{\"oldPath\":\"%s\",\"newPath\":\"/tmp/patchbay-moved\"}" },
    };
    struct program p;
    struct stat st;

    rig_begin();
    rig_config("");
    CHECK(mkdir(in_home("work"), 0700) == 0);
    CHECK(symlink("..", in_home("work/way")) == 0);
    write_file(in_home("token"), "canary");
    client_start(&p, "/tmp"); /* above it, so that nobody is asked */
    for (size_t i = 0; i < ARRAY_LEN(ways); i++) {
        AUTO_FREE char *real = realpath(in_home("."), NULL);
        AUTO_BUF struct buf arguments = { 0 };
        const char *at = strstr(ways[i][1], "%s"), *answer;

        buf_add(&arguments, ways[i][1], (size_t)(at - ways[i][1]));
        buf_str(&arguments, real);
        buf_str(&arguments, at + 2);
        answer = mcp_call(&p, ways[i][0], buf_cstr(&arguments));
        CHECK_HAS(answer, "\"isError\":true");
        CHECK_HAS(answer, "belongs to Patchbay itself");
    }
    client_end(&p);
    CHECK_STR(file_text("token"), "canary");
    CHECK(stat(in_home("a"), &st) < 0);
    /* Who types it owns it. */
    CHECK_INT(RUN("call", "read_file", "filePath=token"), 0);
    CHECK_STR(out, "canary\n");
    rig_end();
}

/* ---- names and spellings ---- */

TEST(a_rule_about_a_path_holds_however_it_is_spelt)
{
    static const char *const spellings[] = { "secret.txt", "./secret.txt", "sub/../secret.txt",
                                             "sub//..//secret.txt", "sub/./../secret.txt" };
    struct program p;

    rig_begin();
    write_filled("config.json",
                 "{\"mcpServers\":{},\"policy\":{\"rules\":[{\"name\":\"mine\",\"action\":\"deny\","
                 "\"tool\":\"read_file\",\"arguments\":[{\"at\":\"/filePath\",\"glob\":"
                 "\"*work/secret.txt\"}]}]}}",
                 "", "");
    CHECK(mkdir(in_home("work"), 0700) == 0 && mkdir(in_home("work/sub"), 0700) == 0);
    write_file(in_home("work/secret.txt"), "canary");
    write_file(in_home("work/open.txt"), "for all");
    client_start(&p, in_home("work"));
    for (size_t i = 0; i < ARRAY_LEN(spellings); i++) {
        char arguments[128];

        snprintf(arguments, sizeof arguments, "{\"file_path\":\"%s\"}", spellings[i]);
        CHECK_HAS(mcp_call(&p, "read_file", arguments), "the rule 'mine' does not allow");
    }
    CHECK_HAS(mcp_call(&p, "read_file", "{\"path\":\"sub/../open.txt\"}"), "for all");
    client_end(&p);
    rig_end();
}

/* A client that was not given built-in tools does not get at them through those that it was given.
 */
TEST(external_call_tool_leads_to_no_built_in)
{
    struct program p;
    const char *answer;

    rig_begin();
    rig_config("");
    CHECK(mkdir(in_home("work"), 0700) == 0);
    client_start_as(&p, in_home("work"), "external");
    answer = mcp_call(&p, "external_call_tool",
                      "{\"server\":\"builtin\",\"tool\":\"think\",\"arguments\":{\"thoughts\":"
                      "\"canary\"}}");
    CHECK(!strstr(answer, "canary"));
    answer = mcp_call(&p, "external_call_tool",
                      "{\"tool\":\"builtin/think\",\"arguments\":{\"thoughts\":\"canary\"}}");
    CHECK(!strstr(answer, "canary"));
    client_end(&p);
    rig_end();
}

/* A mode that hides an operation hides it under every name, and with the tool all of its
 * operations. */
TEST(a_mode_hides_an_operation_under_every_name)
{
    struct program p;

    rig_begin();
    write_filled(
        "config.json",
        "{\"mcpServers\":{},\"settings\":{\"expose\":\"catalog,builtin\"},\"modes\":{\"calm\":{"
        "\"filter\":{\"not\":{\"tools\":[\"file_operations.write_file\"]}}}}}",
        "", "");
    CHECK(mkdir(in_home("work"), 0700) == 0);
    CHECK(chdir(in_home("work")) == 0);
    program_start(&p, WORDS("patchbay", "mcp", "--expose", "file", "--mode", "calm"), NULL);
    program_say(&p, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{"
                    "\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},\"clientInfo\":{"
                    "\"name\":\"files\",\"version\":\"1\"}}}\n"
                    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
    CHECK_HAS(mcp_call(&p, "write_file", "{\"filePath\":\"a\",\"content\":\"x\"}"), "rror");
    CHECK_HAS(mcp_call(&p, "file_operations",
                       "{\"operation\":\"write_file\",\"filePath\":\"a\",\"content\":\"x\"}"),
              "rror");
    CHECK_STR(file_text("work/a"), "");
    CHECK_HAS(mcp_call(&p, "create_file", "{\"filePath\":\"b\",\"content\":\"x\"}"), "Created");
    client_end(&p);
    rig_end();
}
