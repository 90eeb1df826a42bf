/* Our client with servers that others wrote: everything, filesystem and memory from npm, over each
 * transport that they offer. Needs tools/interop-deps; says so when that was not run. */
#include "loopback.h"
#include "patchbay.h"
#include "temp_dir.h"
#include <glob.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/prctl.h>
#include <sys/stat.h>

enum { PATH_BYTES = 4096, WAIT_MS = 20000 };

static const char *modules(void)
{
    static char path[PATH_BYTES];
    const char *dir = getenv("INTEROP");

    snprintf(path, sizeof path, "%s/node_modules", dir ? dir : "tests/interop");
    return path;
}

/* The Node that npm brought; NULL when nothing is installed. */
static const char *node(void)
{
    static char path[PATH_BYTES];
    char pattern[PATH_BYTES + 64];
    glob_t found;

    snprintf(pattern, sizeof pattern, "%s/node-linux-*/bin/node", modules());
    if (glob(pattern, 0, NULL, &found) != 0)
        return NULL;
    snprintf(path, sizeof path, "%s", found.gl_pathv[0]);
    globfree(&found);
    return path;
}

static const char *script(const char *name)
{
    static char path[PATH_BYTES + 128];

    snprintf(path, sizeof path, "%s/@modelcontextprotocol/%s/dist/index.js", modules(), name);
    return path;
}

#define NEED_NODE()                                                    \
    do {                                                               \
        if (!node())                                                   \
            TAP_SKIP("run tools/interop-deps to install the servers"); \
    } while (0)

/* ---- what the server tells and asks ---- */

static atomic_int questions, notifications, progress_seen;

static void on_question(void *ctx, struct pb_question *q, const char *method, const char *params)
{
    (void)ctx;
    (void)params;
    atomic_fetch_add(&questions, 1);
    if (strcmp(method, "elicitation/create") == 0)
        pb_question_answer(q, "{\"action\":\"accept\",\"content\":{\"name\":\"Ada\"}}");
    else if (strcmp(method, "sampling/createMessage") == 0)
        pb_question_answer(q, "{\"role\":\"assistant\",\"model\":\"none\",\"content\":"
                              "{\"type\":\"text\",\"text\":\"forty-two\"}}");
    else
        pb_question_answer(q, "{\"roots\":[{\"uri\":\"file:///tmp\",\"name\":\"scratch\"}]}");
}

static void on_notification(void *ctx, const char *method, const char *params)
{
    (void)ctx;
    (void)method;
    (void)params;
    atomic_fetch_add(&notifications, 1);
}

static void on_progress(void *ctx, double progress, double total, const char *message)
{
    (void)ctx;
    (void)progress;
    (void)total;
    (void)message;
    atomic_fetch_add(&progress_seen, 1);
}

static struct pb_client *open_with(struct pb_client_options opts)
{
    struct pb_client *client = NULL;
    struct pb_error err;

    opts.on_question = on_question;
    opts.on_notification = on_notification;
    opts.can_elicit = opts.can_sample = opts.can_list_roots = true;
    opts.connect_ms = WAIT_MS;
    opts.timeout_ms = WAIT_MS;
    if (pb_client_open(&client, &opts, &err) < 0)
        TAP_FAIL("open: %s", err.msg);
    return client;
}

static struct pb_client *open_stdio(const char *name, const char *arg)
{
    const char *args[] = { script(name), arg, NULL };
    struct pb_client_options opts = PB_CLIENT_OPTIONS_INIT;

    opts.command = node();
    opts.args = args;
    return open_with(opts);
}

static char *call_text(struct pb_client *client, const char *tool, const char *args)
{
    struct pb_request_options request = PB_REQUEST_OPTIONS_INIT;
    struct pb_result *result = NULL;
    struct pb_error err;
    char *text;

    request.on_progress = on_progress;
    if (pb_client_call(client, tool, args, &request, &result, &err) < 0)
        TAP_FAIL("%s: %s", tool, err.msg);
    text = pb_result_text(result);
    pb_result_free(result);
    return text;
}

static void check_call(struct pb_client *client, const char *tool, const char *args,
                       const char *has)
{
    char *text = call_text(client, tool, args);

    CHECK_HAS(text, has);
    free(text);
}

/* ---- what a person would do with server-everything ---- */

static void use_everything(struct pb_client *client)
{
    struct pb_result *result = NULL;
    struct pb_error err;

    CHECK_INT(pb_client_list(client, "tools", &result, &err), 0);
    CHECK_HAS(pb_result_json(result, NULL), "\"name\":\"echo\"");
    pb_result_free(result);

    check_call(client, "echo", "{\"message\":\"gr\\u00fcezi\"}", "grüezi");
    check_call(client, "get-sum", "{\"a\":2,\"b\":40}", "42");
    check_call(client, "get-tiny-image", "{}", "[Image: image/png, ");
    check_call(client, "get-structured-content", "{\"location\":\"Chicago\"}", "temperature");

    atomic_store(&progress_seen, 0);
    check_call(client, "trigger-long-running-operation", "{\"duration\":0.4,\"steps\":4}",
               "completed");
    CHECK(atomic_load(&progress_seen) >= 3);

    atomic_store(&questions, 0);
    check_call(client, "trigger-elicitation-request", "{}", "Ada");
    check_call(client, "trigger-sampling-request", "{\"prompt\":\"the answer?\"}", "forty-two");
    CHECK(atomic_load(&questions) >= 2);

    CHECK_INT(pb_client_read(client, "demo://resource/static/document/features.md", &result, &err),
              0);
    CHECK_HAS(pb_result_json(result, NULL), "\"text\":");
    pb_result_free(result);
    CHECK_INT(pb_client_list(client, "prompts", &result, &err), 0);
    CHECK_HAS(pb_result_json(result, NULL), "args-prompt");
    pb_result_free(result);
    CHECK_INT(pb_client_prompt(client, "args-prompt", "{\"city\":\"Basel\"}", &result, &err), 0);
    CHECK_HAS(pb_result_json(result, NULL), "Basel");
    pb_result_free(result);

    /* Servers differ here: a protocol error, or a result that says it failed. */
    if (pb_client_call(client, "no-such-tool", "{}", NULL, &result, &err) == 0)
        CHECK(pb_result_is_error(result));
    else
        CHECK_INT(err.code, PB_E_REMOTE);
    pb_result_free(result);
    CHECK_INT(pb_client_ping(client, &err), 0);
}

TEST(everything_over_stdio)
{
    struct pb_client *client;

    NEED_NODE();
    client = open_stdio("server-everything", "stdio");
    CHECK_STR(pb_client_protocol(client), "2025-11-25");
    use_everything(client);
    pb_client_free(client);
}

/* Starts server-everything on a port and waits until something listens there. */
static pid_t serve_everything(const char *transport, int port)
{
    char text[16];
    pid_t pid;

    snprintf(text, sizeof text, "%d", port);
    pid = fork();
    if (pid == 0) {
        prctl(PR_SET_PDEATHSIG, SIGKILL);
        setenv("PORT", text, 1);
        if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))
            _exit(126);
        execl(node(), "node", script("server-everything"), transport, (char *)NULL);
        _exit(127);
    }
    for (int i = 0; i < 1000; i++) {
        struct timespec pause = { 0, 20000000 };

        if (loopback_listens(port))
            return pid;
        clock_nanosleep(CLOCK_MONOTONIC, 0, &pause, NULL);
    }
    TAP_FAIL("server-everything does not listen on port %d", port);
}

static void over_http(const char *transport, const char *path, enum pb_transport kind)
{
    struct pb_client_options opts = PB_CLIENT_OPTIONS_INIT;
    struct pb_client *client;
    char url[64];
    int port = loopback_free_port();
    pid_t pid = serve_everything(transport, port);

    snprintf(url, sizeof url, "http://127.0.0.1:%d%s", port, path);
    opts.url = url;
    opts.transport = kind;
    client = open_with(opts);
    use_everything(client);
    pb_client_free(client);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

TEST(everything_over_streamable_http)
{
    NEED_NODE();
    over_http("streamableHttp", "/mcp", PB_TRANSPORT_AUTO);
}

TEST(everything_over_sse_named)
{
    NEED_NODE();
    over_http("sse", "/sse", PB_TRANSPORT_SSE);
}

TEST(everything_over_sse_found_out)
{
    NEED_NODE();
    over_http("sse", "/sse", PB_TRANSPORT_AUTO);
}

TEST(filesystem_over_stdio)
{
    const char *dir = temp_root();
    char args[PATH_BYTES];
    struct pb_client *client;

    NEED_NODE();
    client = open_stdio("server-filesystem", dir);
    snprintf(args, sizeof args, "{\"path\":\"%s/a.txt\",\"content\":\"one\\ntwo\"}", dir);
    check_call(client, "write_file", args, "a.txt");
    snprintf(args, sizeof args, "{\"path\":\"%s/a.txt\"}", dir);
    check_call(client, "read_text_file", args, "one\ntwo");
    snprintf(args, sizeof args, "{\"path\":\"%s\"}", dir);
    check_call(client, "list_directory", args, "a.txt");
    check_call(client, "read_text_file", "{\"path\":\"/etc/passwd\"}", "denied");
    pb_client_free(client);
}

TEST(memory_over_stdio)
{
    char env[PATH_BYTES];
    const char *args[] = { script("server-memory"), NULL };
    const char *envs[] = { env, NULL };
    struct pb_client_options opts = PB_CLIENT_OPTIONS_INIT;
    struct pb_client *client;

    NEED_NODE();
    snprintf(env, sizeof env, "MEMORY_FILE_PATH=%s", temp_file("memory", ""));
    opts.command = node();
    opts.args = args;
    opts.env = envs;
    client = open_with(opts);
    check_call(client, "create_entities",
               "{\"entities\":[{\"name\":\"Ada\",\"entityType\":\"person\",\"observations\":"
               "[\"wrote the first program\"]}]}",
               "Ada");
    check_call(client, "search_nodes", "{\"query\":\"first program\"}", "Ada");
    pb_client_free(client);
}

/* Many threads, one client: every caller gets its own answer. */
static void *caller(void *ctx)
{
    struct pb_client *client = ctx;
    static atomic_int counter;

    for (int i = 0; i < 10; i++) {
        int mine = atomic_fetch_add(&counter, 1);
        char args[64], want[32];

        snprintf(args, sizeof args, "{\"message\":\"caller-%d-end\"}", mine);
        snprintf(want, sizeof want, "caller-%d-end", mine);
        check_call(client, "echo", args, want);
    }
    return NULL;
}

TEST(ten_threads_share_one_client)
{
    pthread_t threads[10];
    struct pb_client *client;

    NEED_NODE();
    client = open_stdio("server-everything", "stdio");
    for (int i = 0; i < 10; i++)
        CHECK_INT(pthread_create(&threads[i], NULL, caller, client), 0);
    for (int i = 0; i < 10; i++)
        pthread_join(threads[i], NULL);
    pb_client_free(client);
}
