/* The library as a program uses it: what patchbay.h declares and nothing else, with a client that
 * is two pipes. What a server of tools on stdio promised in its first version, and what its
 * programs are made of. */
#include "cli_rig.h"
#include "patchbay.h"
#include <pthread.h>

/* ---- a server on a thread of its own, and a client at its pipes ---- */

struct served {
    struct pb_server *server;
    pthread_t thread;
    int in, out;         /* its ends */
    struct program pipe; /* ours */
    int ended;           /* what pb_server_run() gave */
};

static void *serve(void *ctx)
{
    struct served *s = ctx;

    s->ended = pb_server_run(s->server, NULL);
    return NULL;
}

static void served_begin(struct served *s)
{
    int to[2], from[2];
    struct pb_error e;

    CHECK(pipe2(to, O_CLOEXEC) == 0 && pipe2(from, O_CLOEXEC) == 0);
    s->in = to[0];
    s->out = from[1];
    s->pipe = (struct program){ .in = to[1], .out = from[0] };
    if (pb_server_stdio(s->server, s->in, s->out, &e) < 0)
        TAP_FAIL("%s", e.msg);
    CHECK_INT(pthread_create(&s->thread, NULL, serve, s), 0);
}

/* Waits for its end and frees it. It has said nothing that was not heard. */
static void served_gone(struct served *s)
{
    pthread_join(s->thread, NULL);
    CHECK_INT(s->ended, 0);
    pb_server_free(s->server);
    close(s->in);
    close(s->out);
    CHECK(program_hear(&s->pipe) == NULL);
    program_close_input(&s->pipe);
    close(s->pipe.out);
    buf_done(&s->pipe.held);
}

static void served_end(struct served *s)
{
    program_close_input(&s->pipe);
    served_gone(s);
}

/* The next line it says, in `out`, so that member() reads it. */
static const char *says(struct served *s)
{
    AUTO_FREE char *line = program_hear(&s->pipe);

    CHECK(line != NULL);
    snprintf(out, sizeof out, "%s", line);
    return out;
}

static const char *asked(struct served *s, const char *line)
{
    program_say(&s->pipe, line);
    program_say(&s->pipe, "\n");
    return says(s);
}

#define ASK(id, method, params) \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"" method "\",\"params\":" params "}"
#define CALL(id, tool, arguments) \
    ASK(id, "tools/call", "{\"name\":\"" tool "\",\"arguments\":" arguments "}")

/* ---- its tools ---- */

static const char *const colours[] = { "red", "green", NULL };
static const struct pb_param word[] = { { NULL, PB_STRING } };
static const struct pb_param point[] = { { "x", PB_INT }, { 0 } };
/* One parameter of each type; those that have a fallback need not be given. */
static const struct pb_param every[] = {
    { "text", PB_STRING, "some words" },
    { "count", PB_INT, .fallback = "3" },
    { "size", PB_DOUBLE, .fallback = "0.5" },
    { "loud", PB_BOOL, .fallback = "true" },
    { "list", PB_ARRAY, .of = word, .flags = PB_OPTIONAL },
    { "place", PB_OBJECT, .of = point, .flags = PB_OPTIONAL },
    { "colour", PB_ONE_OF, .options = colours, .flags = PB_OPTIONAL },
    { "more", PB_ANY, .flags = PB_OPTIONAL },
    { 0 },
};

static int run_every(struct pb_call *call, void *ctx)
{
    (void)ctx;
    pb_call_progress(call, 1, 2, "half of it");
    if (strcmp(pb_arg_string(call, "text"), "fail") == 0)
        return pb_fail(call, "it does not want to");
    return pb_reply_text(call, "%s %lld %g %s", pb_arg_string(call, "text"),
                         (long long)pb_arg_int(call, "count"), pb_arg_double(call, "size"),
                         pb_arg_bool(call, "loud") ? "loud" : "quiet");
}

static void server_of_tools(struct served *s)
{
    struct pb_server_options o = PB_SERVER_OPTIONS_INIT;

    o.error_style = PB_ERRORS_AS_RPC;
    s->server = pb_server_new(&o);
    CHECK_INT(pb_server_add_tool(
                  s->server,
                  &(struct pb_tool){ "every", NULL, "Takes one of each", every, .run = run_every },
                  NULL),
              0);
    served_begin(s);
}

/* S2-46: by decision 17 "any" has no type, because every type is allowed. S2-102 */
TEST(each_type_of_a_parameter_goes_out_under_its_short_name)
{
    static const struct {
        const char *parameter, *type;
    } cases[] = {
        { "text", "string" }, { "count", "integer" }, { "size", "number" },   { "loud", "boolean" },
        { "list", "array" },  { "place", "object" },  { "colour", "string" }, { "more", "" },
    };
    struct served s = { 0 };
    char path[128];

    server_of_tools(&s);
    asked(&s, ASK("1", "tools/list", "{}"));
    CHECK_STR(member("result.tools.0.name"), "every");
    CHECK_STR(member("result.tools.0.description"), "Takes one of each");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        snprintf(path, sizeof path, "result.tools.0.inputSchema.properties.%s", cases[i].parameter);
        CHECK(*member(path)); /* it is there */
        snprintf(path, sizeof path, "result.tools.0.inputSchema.properties.%s.type",
                 cases[i].parameter);
        CHECK_STR(member(path), cases[i].type);
    }
    CHECK_STR(member("result.tools.0.inputSchema.required"), "[\"text\"]");
    CHECK_STR(member("result.tools.0.inputSchema.properties.list.items.type"), "string");
    CHECK_STR(member("result.tools.0.inputSchema.properties.colour.enum"), "[\"red\",\"green\"]");
    served_end(&s);
}

/* S2-96 S2-101 S2-102 */
TEST(a_server_is_found_out_negotiated_with_called_and_answers_errors_with_their_codes)
{
    static const struct {
        const char *line, *id, *code;
    } errors[] = {
        { "{\"jsonrpc\":\"2.0\",", "", "-32700" },
        { ASK("7", "no/such/method", "{}"), "7", "-32601" },
        { CALL("8", "every", "{}"), "8", "-32602" },
        { CALL("9", "nosuch", "{}"), "9", "-32602" },
        { CALL("10", "every", "{\"text\":\"fail\"}"), "10", "-32603" },
    };
    struct served s = { 0 };

    server_of_tools(&s);
    asked(&s, ASK("\"a\"", "initialize", "{\"protocolVersion\":\"2024-11-05\"}"));
    CHECK_STR(member("id"), "a");
    CHECK_STR(member("result.protocolVersion"), "2024-11-05");
    CHECK(*member("result.capabilities.tools"));
    asked(&s, ASK("2", "tools/list", "{}"));
    CHECK_STR(member("result.tools.0.name"), "every");
    CHECK_STR(member("result.tools.1"), "");
    asked(&s, CALL("3", "every", "{\"text\":\"hi\",\"count\":4}"));
    CHECK_STR(member("result.content.0.text"), "hi 4 0.5 loud");
    CHECK_STR(member("error"), "");
    for (size_t i = 0; i < ARRAY_LEN(errors); i++) {
        asked(&s, errors[i].line);
        CHECK_STR(member("jsonrpc"), "2.0");
        CHECK_STR(member("id"), errors[i].id);
        CHECK_STR(member("error.code"), errors[i].code);
        CHECK(*member("error.message"));
        CHECK_STR(member("result"), "");
    }
    served_end(&s);

    server_of_tools(&s); /* a version that only the client knows */
    asked(&s, ASK("1", "initialize", "{\"protocolVersion\":\"2099-01-01\"}"));
    CHECK_STR(member("result.protocolVersion"), "2025-11-25");
    served_end(&s);
}

/* S2-97: by decision 17 it holds for a server that was given tools and no more. */
TEST(a_server_of_tools_has_no_resources_no_prompts_asks_nothing_and_says_nothing_unasked)
{
    static const char *const others[] = { "resources",   "prompts",     "sampling",
                                          "completions", "elicitation", "roots" };
    static const char *const methods[] = {
        ASK("2", "resources/list", "{}"),
        ASK("3", "resources/read", "{\"uri\":\"x:y\"}"),
        ASK("4", "prompts/list", "{}"),
        ASK("5", "prompts/get", "{\"name\":\"x\"}"),
        ASK("6", "sampling/createMessage", "{\"messages\":[],\"maxTokens\":1}"),
    };
    struct served s = { 0 };
    char path[64];

    server_of_tools(&s);
    asked(&s, ASK("1", "initialize",
                  "{\"protocolVersion\":\"2024-11-05\",\"capabilities\":{\"sampling\":{},"
                  "\"roots\":{}}}"));
    for (size_t i = 0; i < ARRAY_LEN(others); i++) {
        snprintf(path, sizeof path, "result.capabilities.%s", others[i]);
        CHECK_STR(member(path), "");
    }
    program_say(&s.pipe, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
    for (size_t i = 0; i < ARRAY_LEN(methods); i++) {
        asked(&s, methods[i]);
        CHECK_STR(member("error.code"), "-32601");
    }
    asked(&s, CALL("7", "every", "{\"text\":\"hi\"}")); /* it reports progress; nobody wants it */
    CHECK_STR(member("id"), "7");
    CHECK_STR(member("result.content.0.text"), "hi 3 0.5 loud");
    CHECK_INT(pb_server_port(s.server), 0); /* nor does it listen */
    served_end(&s);
}

/* S3-28 */
TEST(a_handler_takes_what_must_be_there_and_defaults_and_answers_success_or_failure)
{
    static const struct {
        const char *line, *path, *want;
    } cases[] = {
        { CALL("1", "every", "{\"text\":\"a\"}"), "result.content.0.text", "a 3 0.5 loud" },
        { CALL("2", "every", "{\"text\":\"a\",\"count\":1,\"size\":2.5,\"loud\":false}"),
          "result.content.0.text", "a 1 2.5 quiet" },
        { CALL("3", "every", "{\"count\":1}"), "error.message",
          "missing required argument 'text'" },
        { CALL("4", "every", "{\"text\":\"fail\"}"), "error.message", "it does not want to" },
    };
    struct served s = { 0 };

    server_of_tools(&s);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        asked(&s, cases[i].line);
        CHECK_HAS(member(cases[i].path), cases[i].want);
    }
    served_end(&s);
}

/* S2-10 S2-102 */
TEST(a_server_on_two_descriptors_is_started_awaited_and_stopped_from_another_thread)
{
    struct served s = { 0 };

    server_of_tools(&s);
    CHECK_STR(asked(&s, ASK("1", "ping", "{}")), "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}");
    pb_server_stop(s.server);
    served_gone(&s); /* though its input is open */
}

/* ---- the programs that come with it ---- */

/* By a compiler, against the header and the library alone. */
static void compile(const char *example, const char *to)
{
    const char *source = getenv("SOURCE_DIR"), *build = getenv("BUILD_DIR");
    char include[PATH_MAX], file[PATH_MAX], libs[PATH_MAX], path[PATH_MAX];

    CHECK(source && build);
    snprintf(include, sizeof include, "-I%s/include", source);
    snprintf(file, sizeof file, "%s/examples/%s", source, example);
    snprintf(libs, sizeof libs, "-L%s", build);
    snprintf(path, sizeof path, "-Wl,-rpath,%s", build);
    if (run_other(WORDS("cc", "-std=c99", "-Wall", "-Werror", include, file, libs, "-lpatchbay",
                        path, "-o", in_home(to)),
                  NULL) != 0)
        TAP_FAIL("%s: %s", example, err);
}

/* S2-103 S2-104 S4-63: by decision 16 with the names of our rooms */
TEST(every_part_has_a_suite_of_its_own)
{
    static const char *const suites[] = {
        /* transport, handler and host of a server, and the schemas of its tools */
        "stdio",
        "peer_legacy",
        "server_stop",
        "params",
        /* manager, configuration, command line, REST, tools of our own, bridge, edges, the whole */
        "hub",
        "config",
        "cli",
        "rest",
        "external",
        "bridge",
        "hostile",
        "daemon",
    };
    char name[64];

    slurp(open(built("meson-info/intro-tests.json"), O_RDONLY | O_CLOEXEC), out);
    for (size_t i = 0; i < ARRAY_LEN(suites); i++) {
        snprintf(name, sizeof name, "\"name\": \"%s\"", suites[i]);
        CHECK_HAS(out, name);
    }
}

/* S2-103 S2-104 */
TEST(the_example_programs_are_built_outside_of_the_tree_and_talk_to_each_other)
{
    char server[300], client[300];

    if (getenv("ASAN_OPTIONS") || strstr(getenv("BUILD_DIR"), "asan"))
        TAP_SKIP("an instrumented library cannot be linked by hand");
    rig_begin();
    compile("hello-server.c", "a-server");
    compile("hello-client.c", "a-client");
    snprintf(server, sizeof server, "%s", in_home("a-server"));
    snprintf(client, sizeof client, "%s", in_home("a-client"));
    CHECK_INT(run_other(WORDS(client, "--call", "greet", "{\"name\":\"C\"}", server), NULL), 0);
    CHECK_STR(out, "Hello, C!\n");
    CHECK_INT(run_other(WORDS(server), ASK("1", "tools/list", "{}") "\n"), 0);
    CHECK_STR(member("result.tools.0.name"), "greet");
    CHECK_STR(member("result.tools.1.inputSchema.properties.fahrenheit.type"), "number");
    rig_end();
}

/* S2-95 */
TEST(initialize_list_and_call_of_datetime_work_by_pipe_and_from_another_client)
{
    static const char lines[] = ASK(
        "1", "initialize",
        "{\"protocolVersion\":\"2024-11-05\",\"capabilities\":{},"
        "\"clientInfo\":{\"name\":\"by hand\",\"version\":\"1\"}}") "\n"
                                                                    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n" ASK(
                                                                        "2", "tools/list",
                                                                        "{}") "\n" CALL("3",
                                                                                        "datetime",
                                                                                        "{\"format\":\"yyyy\",\"timezone\":\"UTC\"}") "\n";
    AUTO_FREE char *all = NULL;
    char *rest, *line, year[16];
    time_t now = time(NULL);
    struct tm tm;

    rig_begin();
    gmtime_r(&now, &tm);
    strftime(year, sizeof year, "%Y", &tm);
    CHECK_INT(run_other(WORDS(built("patchbay-example-server")), lines), 0);
    rest = all = mem_dup(out);
    for (int seen = 0; seen < 3; seen++) {
        line = strsep(&rest, "\n");
        CHECK(line != NULL);
        snprintf(out, sizeof out, "%s", line);
        if (strcmp(member("id"), "1") == 0)
            CHECK_STR(member("result.protocolVersion"), "2024-11-05");
        else if (strcmp(member("id"), "2") == 0)
            CHECK_HAS(out, "\"name\":\"datetime\"");
        else
            CHECK_HAS(member("result.content.0.text"), year);
    }
    CHECK_STR(rest, "");
    CHECK_INT(run_other(WORDS(built("hello-client"), "--call", "datetime", "{\"format\":\"yyyy\"}",
                              built("patchbay-example-server")),
                        NULL),
              0);
    CHECK_HAS(out, year);
    rig_end();
}
