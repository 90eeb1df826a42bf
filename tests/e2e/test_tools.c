/* Tools of our own, as people and programs meet them: by the command line, REST and MCP. */
#include "rest_http.h"

/* ---- ways to call ---- */

static int todo(const char *operation, const char *argument)
{
    char name[64];

    snprintf(name, sizeof name, "todo_operations.%s", operation);
    return argument ? RUN("call", name, argument) : RUN("call", name);
}

static int post_call(const char *tool, const char *arguments)
{
    AUTO_BUF struct buf body = { 0 };

    buf_printf(&body, "{\"tool\":\"%s\",\"arguments\":%s}", tool, arguments);
    return http("POST", "/api/mcp-tools/call", buf_cstr(&body));
}

static void mcp_open(struct program *p, const char *expose)
{
    program_start(p, WORDS("patchbay", "mcp", "--expose", expose), NULL);
    program_say(p,
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{"
                "\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},\"clientInfo\":{\"name\":"
                "\"tester\",\"version\":\"1\"}}}\n"
                "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
}

/* The answer, in `out`; what is told before it, in `err`. */
static void mcp_ask(struct program *p, const char *method, const char *params)
{
    AUTO_BUF struct buf line = { 0 };

    buf_printf(&line, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"%s\",\"params\":%s}\n", method,
               params);
    program_say(p, buf_cstr(&line));
    err[0] = '\0';
    for (;;) {
        AUTO_FREE char *heard = program_hear(p);

        CHECK(heard != NULL);
        if (strstr(heard, "\"id\":2")) {
            snprintf(out, sizeof out, "%s", heard);
            return;
        }
        snprintf(err + strlen(err), sizeof err - strlen(err), "%s\n", heard);
    }
}

static void mcp_close(struct program *p)
{
    program_close_input(p);
    CHECK_INT(program_end(p, RIG_END_MS), 0);
}

/* ---- todos ---- */

TEST(todos_are_kept_from_one_command_to_the_next)
{
    /* S3-44, S3-45, S3-46, S3-47, S3-62 */
    rig_begin();
    CHECK_INT(todo("read", NULL), 0);
    CHECK_STR(out, "There are no todos in this conversation. The operations write and add make "
                   "some.\n");
    CHECK_INT(todo("write", "todoList:=[{\"id\":1,\"title\":\"Read the old code\",\"status\":"
                            "\"completed\"},{\"id\":2,\"title\":\"Write the new one\","
                            "\"dependencies\":[1]}]"),
              0);
    CHECK_INT(todo("update", "todoUpdates:=[{\"id\":2,\"status\":\"in-progress\"}]"), 0);
    CHECK_INT(todo("add", "newTodos:=[{\"title\":\"Try it out\"}]"), 0);
    CHECK_INT(todo("read", NULL), 0);
    CHECK_STR(out, "1 of 3 completed (33 %), 1 in progress, 1 not started, 0 blocked.\n\n"
                   "[1] Read the old code (completed)\n"
                   "[2] Write the new one (in-progress)\n    after: 1\n"
                   "[3] Try it out (not-started)\n");
    rig_end();
}

TEST(a_list_that_breaks_rules_is_refused_with_all_that_is_wrong)
{
    /* S3-55, S3-56, S3-58, S3-61 */
    rig_begin();
    CHECK_INT(todo("write", "todoList:=[{\"id\":1,\"title\":\"Done\",\"status\":\"completed\"}]"),
              0);
    CHECK_INT(todo("write", "todoList:=[{\"id\":2,\"title\":\"a\",\"dependencies\":[3],\"status\":"
                            "\"in-progress\"},{\"id\":3,\"title\":\"b\",\"dependencies\":[2],"
                            "\"status\":\"in-progress\"}]"),
              5);
    CHECK_STR(out, "The todo list was not changed (4 errors):\n"
                   "- Only one todo may be in-progress at a time, and these are: 2, 3\n"
                   "- Todo 2 has circular dependency (indirectly depends on itself)\n"
                   "- Todo 3 has circular dependency (indirectly depends on itself)\n"
                   "- Cannot delete completed todos. The following completed todos are missing:\n"
                   "  - Todo 1: Done\n"
                   "Completed work must not be deleted: write the list with them.\n");
    CHECK_INT(todo("read", NULL), 0);
    CHECK_HAS(out, "1 of 1 completed (100 %)");
    CHECK_HAS(out, "All todos are completed: you are ready for new work. Use the operation add");
    rig_end();
}

TEST(a_setting_makes_one_of_several_in_progress)
{
    static const char two[] = "todoList:=[{\"id\":1,\"title\":\"a\",\"status\":\"in-progress\"},"
                              "{\"id\":2,\"title\":\"b\",\"status\":\"in-progress\"}]";

    rig_begin();
    CHECK_INT(todo("write", two), 5);
    write_filled("config.json", "{\"settings\":{\"todo_autofix\":true}", "", "}");
    CHECK_INT(todo("write", two), 0);
    CHECK_HAS(out, "[1] a (in-progress)\n[2] b (not-started)");
    rig_end();
}

/* A daemon, and command lines with a hub of their own, in the same conversation. */
TEST(nothing_is_lost_when_several_programs_add_at_once)
{
    enum { EACH = 6 };
    struct started with[EACH], without[EACH];

    rig_begin();
    write_filled("config.json", "{", "", "}");
    rig_daemon(NULL);
    for (int i = 0; i < EACH; i++) {
        start_with(&with[i], NULL,
                   WORDS("call", "todo_operations.add", "newTodos:=[{\"title\":\"with\"}]"));
        start_with(&without[i], NULL,
                   WORDS("call", "-c", in_home("config.json"), "todo_operations.add",
                         "newTodos:=[{\"title\":\"without\"}]"));
    }
    for (int i = 0; i < EACH; i++) {
        CHECK_INT(started_end(&with[i]), 0);
        CHECK_INT(started_end(&without[i]), 0);
    }
    CHECK_INT(todo("read", NULL), 0);
    CHECK_HAS(out, "0 of 12 completed (0 %)");
    CHECK_HAS(out, "[12] ");
    rig_end();
}

TEST(a_damaged_list_is_named_and_left_as_it_is)
{
    char file[128];

    rig_begin();
    CHECK_INT(todo("add", "newTodos:=[{\"title\":\"a\"}]"), 0);
    snprintf(file, sizeof file, "todos/%s.json",
             "99bb88401742848e032fd6f51709415fb6be169a72d2e5d7fc44289255160d3c"); /* of "cli" */
    CHECK_HAS(file_text(file), "\"conversation\":\"cli\"");
    write_file(in_home(file), "{\"todos\":[");
    CHECK_INT(todo("add", "newTodos:=[{\"title\":\"b\"}]"), 5);
    CHECK_HAS(out, "Operation failed: the todo list in '");
    CHECK_HAS(out, file);
    CHECK_HAS(out, "is damaged");
    CHECK_STR(file_text(file), "{\"todos\":[");
    rig_end();
}

TEST(each_way_in_has_its_own_list_and_the_whole_of_it_is_in_the_answer)
{
    struct program p;

    rig_begin();
    write_filled("config.json", "{\"settings\":{\"expose\":\"catalog,todo\"}", "", "}");
    start(NULL);
    CHECK_INT(todo("add", "newTodos:=[{\"title\":\"by hand\"}]"), 0);
    CHECK_INT(post_call("builtin/todo_operations",
                        "{\"operation\":\"add\",\"new_todos\":[{\"title\":\"by REST\"}]}"),
              200);
    CHECK_STR(member("result.structuredContent.todos.0.title"), "by REST");
    CHECK_STR(member("result.structuredContent.todos.1.title"), "");
    CHECK_STR(member("result.structuredContent.todos.0.updatedBy"), "REST");
    CHECK_INT(strlen(member("result.structuredContent.todos.0.updatedIn")), UUID_CHARS);
    CHECK_STR(member("result.structuredContent.progress.total"), "1");
    mcp_open(&p, "todo");
    mcp_ask(&p, "tools/call",
            "{\"name\":\"todo_operations\",\"arguments\":{\"operation\":\"write\",\"todo_list\":["
            "{\"title\":\"by MCP\",\"status\":\"completed\"}]}}");
    CHECK_STR(member("result.structuredContent.todos.0.title"), "by MCP");
    CHECK_HAS(member("result.structuredContent.todos.0.updatedBy"), "tester");
    CHECK_HAS(out, "you are ready for new work");
    mcp_ask(&p, "tools/call",
            "{\"name\":\"todo_operations.read\",\"arguments\":{},\"_meta\":{\"progressToken\":7}}");
    CHECK_STR(member("result.structuredContent.progress.percent"), "100");
    CHECK_HAS(err, "Reading todos");
    mcp_close(&p);
    CHECK_INT(todo("read", NULL), 0);
    CHECK_HAS(out, "[1] by hand");
    CHECK(!strstr(out, "by MCP") && !strstr(out, "by REST"));
    rig_end();
}

TEST(the_tool_says_when_it_is_meant_to_be_used)
{
    /* S3-2, S3-50, S3-51 */
    struct program p;
    const char *text;

    rig_begin();
    mcp_open(&p, "todo");
    mcp_ask(&p, "tools/list", "{}");
    mcp_close(&p);
    CHECK_STR(member("result.tools.0.name"), "todo_operations");
    CHECK_STR(member("result.tools.1.name"), "");
    CHECK_HAS(out, "\"patchbay/icon\":\"list.clipboard\"");
    text = member("result.tools.0.description");
    CHECK_HAS(text, "Use it for work of several steps");
    CHECK_HAS(text, "Do not use it for a single simple task");
    CHECK_HAS(text, "Mark a todo in-progress before you begin with it, and completed at once");
    CHECK_HAS(text, "never several together");
    rig_end();
}

/* ---- thinking ---- */

TEST(thoughts_come_back_and_lead_to_an_act)
{
    /* S3-33, S3-34, S3-35, S3-36 */
    struct program p;

    rig_begin();
    mcp_open(&p, "plain");
    mcp_ask(&p, "tools/call",
            "{\"name\":\"think\",\"arguments\":{\"thoughts\":\"It must be the cache.\","
            "\"requestedTools\":[\"read_file\",\"grep_search\"]},\"_meta\":{\"progressToken\":1}}");
    CHECK_HAS(err, "\"message\":\"Thinking\"");
    CHECK_STR(member("result.content.0.text"),
              "It must be the cache.\n\nTOOL_REQUEST: read_file, grep_search\n\nNow act on it: the "
              "next step is a tool call or the answer, not another thought.");
    mcp_ask(&p, "tools/call", "{\"name\":\"think\",\"arguments\":{\"thoughts\":\"So.\"}}");
    CHECK_STR(member("result.content.0.text"),
              "So.\n\nNow act on it: the next step is a tool call or the answer, not another "
              "thought.");
    mcp_ask(&p, "tools/call", "{\"name\":\"think\",\"arguments\":{}}");
    CHECK_STR(member("result.content.0.text"), "Missing required parameter: thoughts");
    mcp_close(&p);
    rig_end();
}

/* ---- those that need nothing but their arguments ---- */

static void says(int status, const char *text, const char *const *args)
{
    CHECK_INT(run_with(NULL, args), status);
    if (strncmp(out, text, strlen(text)) != 0)
        TAP_FAIL("%s %s says \"%s\", expected \"%s\"", args[1], args[2], out, text);
}

TEST(calculations_are_done_and_mistakes_in_them_told)
{
    rig_begin();
    says(0, "1267650600228229401496703205376\n", WORDS("call", "calculator", "expression=2^100"));
    says(0, "2.5\n", WORDS("call", "math_operations.calculate", "expression=5/2"));
    says(0, "212\n", WORDS("call", "convert", "value=100", "from=C", "to=F"));
    says(0, "c = 5\n",
         WORDS("call", "formula", "name=pythagoras", "parameters:={\"a\":3,\"b\":4}"));
    says(5, "The expression cannot be calculated: character 2: division by zero",
         WORDS("call", "calculate", "expression=1/0"));
    says(5, "there is no formula 'x'. Formulas are: bmi(weight_kg, height_m), circle_area(radius)",
         WORDS("call", "formula", "name=x"));
    says(5, "there is no unit 'x'. Units are:\nlength: m, km",
         WORDS("call", "convert", "value=1", "from=x", "to=m"));
    rig_end();
}

TEST(dates_and_times_are_calculated)
{
    rig_begin();
    says(0, "2026-07-28T14:00:00+02:00\n",
         WORDS("call", "datetime.format", "time=2026-07-28T12:00:00Z", "timezone=+02:00"));
    says(0, "Tuesday, 28 July 2026, 12:00:00 UTC\n",
         WORDS("call", "datetime.format", "time=2026-07-28T12:00:00Z", "format=full"));
    says(0, "1785240000\n",
         WORDS("call", "datetime.format", "time=2026-07-28T12:00:00Z", "format=unix"));
    says(0, "2024-02-29T00:00:00Z\n",
         WORDS("call", "datetime.add", "time=2024-01-31", "duration=1 month"));
    says(0, "2025-12-31T22:30:00Z\n",
         WORDS("call", "datetime.add", "time=2026-01-01", "duration=-1h30m"));
    says(0, "59 days, 12 hours, 30 minutes, 0.250 seconds\n",
         WORDS("call", "datetime.difference", "from=2026-01-01", "to=2026-03-01T12:30:00.250Z"));
    says(0, "Wednesday\n", WORDS("call", "datetime.weekday", "time=2026-11-18"));
    says(0, "20", WORDS("call", "datetime.now"));
    says(5, "time: 'soon' is no time;", WORDS("call", "datetime.weekday", "time=soon"));
    says(5, "duration: 'a while' is none;",
         WORDS("call", "datetime.add", "time=2026-01-01", "duration=a while"));
    says(5, "duration: '", WORDS("call", "datetime.add", "time=2026-01-01", "duration=999999999y"));
    says(5, "'../x' is no time zone", WORDS("call", "datetime.now", "timezone=../x"));
    rig_end();
}

TEST(texts_are_changed_character_by_character)
{
    static const struct {
        const char *operation, *argument, *answer;
    } rows[] = {
        { "upper", "input=aé1", "AÉ1\n" },
        { "lower", "input=AÉ1", "aé1\n" },
        { "title", "input=it's a dOG", "It's A Dog\n" },
        { "reverse", "input=aéb", "béa\n" },
        { "length", "input=aé", "2 characters, 3 bytes\n" },
        { "trim", "input=  a b ", "a b\n" },
        { "base64_encode", "input=hi", "aGk=\n" },
        { "base64_decode", "input=aGk=", "hi\n" },
        { "url_encode", "input=a b/é", "a%20b%2F%C3%A9\n" },
        { "url_decode", "input=a%20%C3%A9", "a é\n" },
        { "sha256", "input=abc",
          "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad\n" },
    };

    rig_begin();
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        char name[32];

        snprintf(name, sizeof name, "string.%s", rows[i].operation);
        says(0, rows[i].answer, WORDS("call", name, rows[i].argument));
    }
    says(0, "éc\n", WORDS("call", "string.substring", "input=aéc", "start=1"));
    says(0, "é\n", WORDS("call", "string.substring", "input=aéc", "start=-2", "end=-1"));
    says(0, "b-b\n", WORDS("call", "string.replace", "input=a-a", "pattern=a", "replacement=b"));
    says(0, "a\nb\n", WORDS("call", "string.split", "input=a,b", "pattern=,"));
    says(0, "a, b\n", WORDS("call", "string.join", "parts:=[\"a\",\"b\"]", "separator=, "));
    says(0, "2\n", WORDS("call", "string.count", "input=aXbX", "pattern=X"));
    says(0, "false\n", WORDS("call", "string.contains", "input=ab", "pattern=c"));
    says(5, "pattern is empty", WORDS("call", "string.count", "input=a", "pattern="));
    says(5, "input is not base64", WORDS("call", "string.base64_decode", "input=%%"));
    says(5, "what is encoded is no text but 2 other bytes",
         WORDS("call", "string.base64_decode", "input=//8="));
    rig_end();
}

static void write_repeated(const char *file, const char *text, size_t n)
{
    AUTO_BUF struct buf all = { 0 };

    while (n--)
        buf_str(&all, text);
    write_file(in_home(file), buf_cstr(&all));
}

TEST(texts_become_so_large_and_no_larger)
{
    rig_begin();
    write_repeated("commas", ",", STRING_PARTS_MAX - 1);
    CHECK_INT(RUN("call", "string.split", "input=@commas", "pattern=,"), 0);
    write_repeated("commas", ",", STRING_PARTS_MAX);
    says(5, "there are more than 10000 parts",
         WORDS("call", "string.split", "input=@commas", "pattern=,"));
    write_repeated("letters", "a", STRING_BYTES_MAX / 4);
    CHECK_INT(
        RUN("call", "-q", "string.replace", "input=@letters", "pattern=a", "replacement=bbbb"), 0);
    says(5, "the result is larger than 4194304 bytes",
         WORDS("call", "string.replace", "input=@letters", "pattern=a", "replacement=bbbbb"));
    rig_end();
}

/* ---- among servers ---- */

TEST(no_server_can_have_the_name_of_our_own_tools)
{
    rig_begin();
    CHECK_INT(RUN("add", "builtin", "--", "true"), 1);
    CHECK_HAS(err, "'builtin' is what Patchbay's own tools are called; choose another name");
    CHECK_HAS(err, "'builtin-server' would be one");
    write_filled("config.json",
                 "{\"servers\":{\"builtin\":{\"transport\":\"stdio\",\"command\":"
                 "\"true\"}}",
                 "", "}");
    CHECK(RUN("list") != 0);
    CHECK_HAS(err, "'builtin' is what Patchbay's own tools are called; choose another name");
    /* what other programs allow gets a name that fits */
    write_filled("config.json", "{\"mcpServers\":{\"builtin\":{\"command\":\"true\"}}", "", "}");
    CHECK_INT(RUN("list", "--json"), 0);
    CHECK_STR(member("servers.0.name"), "builtin-server");
    CHECK_HAS(err,
              "is called \\\"builtin-server\\\" here: the name is that of Patchbay's own tools");
    rig_end();
}

TEST(they_are_no_server_in_any_list_and_their_calls_are_recorded)
{
    rig_begin();
    rig_config("\"hello\":{\"command\":\"$BUILD/hello-server\"}");
    start(NULL);
    CHECK_INT(RUN("list", "--json"), 0);
    CHECK_STR(member("servers.0.name"), "hello");
    CHECK_STR(member("servers.1.name"), "");
    CHECK_INT(http("GET", "/api/servers", ""), 200);
    CHECK(!strstr(out, "builtin"));
    says(0, "2\n", WORDS("call", "calculator", "expression=1+1"));
    CHECK_INT(post_call("builtin/todo_operations", "{\"operation\":\"read\"}"), 200);
    WAIT_FOR(RUN("calls", "--json") == 0 && strstr(out, "todo_operations.read"));
    CHECK_HAS(out, "calculator");
    CHECK_HAS(out, "builtin");
    rig_end();
}

/* Those that are there are in the order of this list. */
TEST(tools_of_our_own_have_an_order_that_never_changes)
{
    /* S3-141, S3-142 */
    static const char *const order[] = { "think",
                                         "user_collaboration",
                                         "run_subagent",
                                         "increase_max_iterations",
                                         "list_system_prompts",
                                         "list_mini_prompts",
                                         "memory_operations",
                                         "todo_operations",
                                         "read_tool_result",
                                         "recall_history",
                                         "web_operations",
                                         "document_operations",
                                         "file_operations",
                                         "terminal_operations",
                                         "build_and_version_control",
                                         "image_generation" };
    struct program p;
    size_t found = 0;
    char *first;

    rig_begin();
    mcp_open(&p, "builtin");
    mcp_ask(&p, "tools/list", "{}");
    first = mem_dup(out);
    mcp_ask(&p, "tools/list", "{}");
    CHECK_STR(out, first);
    mcp_close(&p);
    for (size_t i = 0, at = 0; i < ARRAY_LEN(order); i++) {
        char name[64];
        const char *place;

        snprintf(name, sizeof name, "{\"name\":\"%s\"", order[i]);
        place = strstr(first, name);
        if (!place)
            continue;
        CHECK((size_t)(place - first) > at);
        at = (size_t)(place - first);
        found++;
    }
    CHECK(found >= 2);
    free(first);
    rig_end();
}

TEST(what_would_happen_is_told_of_what_a_call_means)
{
    rig_begin();
    write_filled("config.json",
                 "{\"policy\":{\"rules\":[{\"name\":\"stay\",\"tool\":\"todo_operations.write\","
                 "\"action\":\"deny\"}]}",
                 "", "}");
    CHECK_INT(RUN("explain", "todo_operations", "operation=write", "todoList:=[]", "--json"), 0);
    CHECK_STR(member("explained.outcome"), "deny");
    CHECK_INT(RUN("explain", "todo_operations", "operation=read", "--json"), 0);
    CHECK_STR(member("explained.outcome"), "allow");
    CHECK(todo("write", "todoList:=[]") != 0);
    CHECK_HAS(err, "the rule 'stay' does not allow 'todo_operations.write'");
    rig_end();
}
