/* The hub with servers that others wrote, started as people start them: by npx and by node. Needs
 * tools/interop-deps; says so when that was not run. */
#include "base/base.h"
#include "hub/hub/hub.h"
#include "hub/link/link.h"
#include "hub/spec/spec.h"
#include "hub_thread_rig.h"
#include "io/io.h"
#include "patchbay.h"
#include "tap.h"
#include "temp_dir.h"
#include "json/json.h"
#include <glob.h>
#include <signal.h>
#include <sys/stat.h>

enum { PATH_BYTES = 4096, WAIT_MS = 30000 };

static const char *interop(void)
{
    const char *dir = getenv("INTEROP");

    return dir ? dir : "tests/interop";
}

/* The directory of the Node that npm brought; NULL when nothing is installed. */
static const char *node_dir(void)
{
    static char path[PATH_BYTES];
    char pattern[PATH_BYTES];
    glob_t found;

    snprintf(pattern, sizeof pattern, "%s/node_modules/node-linux-*/bin", interop());
    if (glob(pattern, 0, NULL, &found) != 0)
        return NULL;
    snprintf(path, sizeof path, "%s", found.gl_pathv[0]);
    globfree(&found);
    return path;
}

#define NEED_NODE()                                                    \
    do {                                                               \
        if (!node_dir())                                               \
            TAP_SKIP("run tools/interop-deps to install the servers"); \
    } while (0)

/* Where npx is, or NULL. */
static bool have_npx(void)
{
    AUTO_FREE char *dirs = mem_dup(getenv("PATH") ? getenv("PATH") : "");
    char *rest = dirs, *dir;
    char path[PATH_BYTES];

    while ((dir = strsep(&rest, ":"))) {
        snprintf(path, sizeof path, "%s/npx", dir);
        if (access(path, X_OK) == 0)
            return true;
    }
    return false;
}

static struct hub_thread *begin(void)
{
    struct hub_options o = HUB_OPTIONS_INIT;
    struct hub_thread *t;
    struct pb_error err;

    o.connect_ms = WAIT_MS;
    o.retry_initial = false;
    if (hub_thread_start(&t, &o, &err) < 0)
        TAP_FAIL("%s", err.msg);
    return t;
}

static void end(struct hub_thread *t)
{
    hub_thread_shutdown(t);
    hub_thread_free(t);
}

struct pids {
    struct hub_thread *t;
    const char *name;
    pid_t pid;
};

static void look_at_pid(struct waiter *w, void *ctx)
{
    struct pids *p = ctx;
    struct link_facts facts;

    link_facts(hub_link(hub_thread_hub(p->t), p->name), &facts);
    p->pid = facts.pid;
    waiter_done(w, NULL, NULL, NULL);
}

static pid_t pid_of(struct hub_thread *t, const char *name)
{
    struct pids p = { t, name, 0 };

    CHECK_INT(loop_wait(hub_thread_loop(t), look_at_pid, &p, 0, NULL, NULL), 0);
    return p.pid;
}

static size_t count_tools(struct hub_thread *t, const char *server)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_FREE char *json = hub_wait_tools(t, server);

    CHECK_INT(json_parse(&doc, span_of(json), NULL, NULL), 0);
    return json_len(json_root(&doc));
}

/* S0-175 */
TEST(a_real_filesystem_server_is_started_asked_and_stopped)
{
    AUTO(spec) struct spec *s = NULL;
    AUTO_FREE char *result = NULL;
    char node[PATH_BYTES + 8], script[PATH_BYTES], arguments[512];
    const char *dir;
    struct hub_thread *t;
    struct pb_error err;
    pid_t pid;

    NEED_NODE();
    temp_write(temp_path("hello.txt"), "hello");
    dir = temp_dir;
    snprintf(node, sizeof node, "%s/node", node_dir());
    snprintf(script, sizeof script,
             "%s/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js", interop());
    s = spec_stdio("files", node, (const char *const[]){ script, dir, NULL }, NULL);
    t = begin();
    if (hub_wait_connect(t, s, &err) < 0)
        TAP_FAIL("%s", err.msg);
    CHECK(count_tools(t, "files") > 0);
    snprintf(arguments, sizeof arguments, "{\"path\":\"%s\"}", dir);
    if (hub_wait_call(t, "files", "list_directory", arguments, &result, &err) < 0)
        TAP_FAIL("%s", err.msg);
    CHECK_HAS(result, "hello.txt");
    pid = pid_of(t, "files");
    CHECK(pid > 0 && kill(pid, 0) == 0);
    end(t);
    CHECK(kill(pid, 0) < 0); /* not even as a zombie */
}

/* S1-72 */
TEST(a_real_echo_server_is_started_by_npx_lists_tools_and_stops)
{
    AUTO(spec) struct spec *s = NULL;
    AUTO_FREE char *result = NULL;
    char path[PATH_BYTES * 2], cache[512];
    struct hub_thread *t;
    struct pb_error err;
    pid_t pid;

    NEED_NODE();
    if (!have_npx())
        TAP_SKIP("there is no npx");
    snprintf(path, sizeof path, "PATH=%s:%s", node_dir(), getenv("PATH"));
    snprintf(cache, sizeof cache, "npm_config_cache=%s", temp_path("npm"));
    s = spec_stdio("everything", "npx",
                   (const char *const[]){ "--no-install", "mcp-server-everything", "stdio", NULL },
                   (const char *const[]){ path, cache, "npm_config_update_notifier=false", NULL });
    s->cwd = interop();
    t = begin();
    if (hub_wait_connect(t, s, &err) < 0)
        TAP_FAIL("%s", err.msg);
    CHECK(count_tools(t, "everything") > 0);
    CHECK_INT(hub_wait_call(t, "everything", "echo", "{\"message\":\"over npx\"}", &result, &err),
              0);
    CHECK_HAS(result, "over npx");
    pid = pid_of(t, "everything");
    CHECK_INT(hub_wait_disconnect(t, "everything", &err), 0);
    CHECK_INT(count_tools(t, "everything"), 0);
    end(t);
    CHECK(kill(pid, 0) < 0);
}

/* npx without a network and without a cache: a package that it does not find there does not exist
 * for it. */
static struct spec *missing_package(const char *more)
{
    char cache[512];
    struct spec *s;

    snprintf(cache, sizeof cache, "npm_config_cache=%s", temp_path("npm"));
    s = spec_stdio("none", "npx",
                   (const char *const[]){ "-y", "@patchbay-tests/there-is-no-such-package", NULL },
                   (const char *const[]){ cache, "npm_config_offline=true",
                                          "npm_config_update_notifier=false", more, NULL });
    return s;
}

static void check_start_fails(struct spec *s, const char *why)
{
    struct hub_thread *t = begin();
    AUTO_FREE char *servers = NULL;
    struct pb_error err = { 0 };

    CHECK(hub_wait_connect(t, s, &err) < 0);
    CHECK_INT(fault_of(&err), FAULT_CONNECT);
    CHECK_HAS(err.msg, why);
    CHECK_HAS(err.msg, "status 1");
    servers = hub_wait_servers(t);
    CHECK_HAS(servers, "\"status\":\"error\"");
    end(t);
    spec_unref(s);
}

/* S1-66 */
TEST(a_package_that_npx_does_not_find_fails_to_start)
{
    if (!have_npx())
        TAP_SKIP("there is no npx");
    check_start_fails(missing_package(NULL), "npm");
}

/* S1-66 */
TEST(what_npx_says_about_a_missing_package_is_passed_on)
{
    char path[PATH_BYTES];

    /* Its words when there is a network, for machines that have none. */
    temp_write(temp_path("npx"), "#!/bin/sh\n"
                                 "echo \"npm error 404 '$2@*' is not in this registry.\" >&2\n"
                                 "exit 1\n");
    CHECK_INT(chmod(temp_path("npx"), 0700), 0);
    snprintf(path, sizeof path, "PATH=%s:%s", temp_dir, getenv("PATH"));
    check_start_fails(missing_package(path),
                      "'@patchbay-tests/there-is-no-such-package@*' is not in this registry.");
}
