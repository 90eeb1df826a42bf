/* Files through the running program: by every name of an operation, from every face. */
#include "rest_http.h"

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

TEST(an_mcp_client_reads_and_patches_files)
{
    struct program p;

    rig_begin();
    CHECK(mkdir(in_home("work"), 0700) == 0);
    write_file(in_home("work/a.txt"), "one\n");
    program_start(&p, WORDS("patchbay", "mcp", "--expose", "builtin"), NULL);
    program_say(&p, "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{"
                    "\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},\"clientInfo\":{"
                    "\"name\":\"files\",\"version\":\"1\"}}}\n"
                    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n"
                    "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/list\"}\n");
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
