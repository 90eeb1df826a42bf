/* test_slow.c - a client of the real daemon that does not read, and others beside it. */
#include "cli_rig.h"

enum { CALLS = 200, RESULT_BYTES = 1000000, ROUNDS = 2000, MB = 1048576 };

#define HELLO                                                                                     \
    "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{\"protocolVersion\":"    \
    "\"2025-06-18\",\"capabilities\":{},\"clientInfo\":{\"name\":\"slow\",\"version\":\"1\"}}}\n" \
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n"
#define SCRIPT(dir) "{\"command\":\"$BUILD/tests/e2e/script_server\",\"args\":[\"$HOME/" dir "\"]}"

static void write_script(const char *dir, size_t bytes)
{
    AUTO_BUF struct buf result = { 0 };
    char name[64];

    CHECK_INT(mkdir(in_home(dir), 0700), 0);
    snprintf(name, sizeof name, "%s/initialize", dir);
    write_file(in_home(name), "{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{\"tools\":{}},"
                              "\"serverInfo\":{\"name\":\"s\",\"version\":\"1\"}}");
    snprintf(name, sizeof name, "%s/tools_list", dir);
    write_file(in_home(name),
               "{\"tools\":[{\"name\":\"t\",\"inputSchema\":{\"type\":\"object\"}}]}");
    buf_str(&result, "{\"content\":[{\"type\":\"text\",\"text\":\"");
    while (result.n < bytes)
        buf_byte(&result, 'x');
    buf_str(&result, "\"}]}");
    snprintf(name, sizeof name, "%s/tools_call", dir);
    write_file(in_home(name), buf_cstr(&result));
}

static void attach(struct program *p)
{
    program_start(p, (const char *const[]){ "patchbay", "mcp", NULL }, NULL);
    program_say(p, HELLO);
    free(program_hear(p));
}

static void call(struct program *p, int id, const char *tool)
{
    AUTO_BUF struct buf b = { 0 };

    buf_printf(&b,
               "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\",\"params\":{\"name\":"
               "\"%s\",\"arguments\":{}}}\n",
               id, tool);
    program_say(p, buf_cstr(&b));
}

static void hear_answer(struct program *p, int id, size_t bytes)
{
    AUTO_FREE char *line = program_hear(p);
    char want[64];

    snprintf(want, sizeof want, "{\"jsonrpc\":\"2.0\",\"id\":%d,\"result\"", id);
    CHECK(strncmp(line, want, strlen(want)) == 0);
    CHECK(strlen(line) >= bytes);
}

static size_t daemon_bytes(void)
{
    char path[64], line[256];
    size_t kb = 0;
    FILE *f;

    snprintf(path, sizeof path, "/proc/%d/status", (int)rig_daemon_program.pid);
    f = fopen(path, "re");
    CHECK(f);
    while (fgets(line, sizeof line, f))
        if (strncmp(line, "VmRSS:", 6) == 0)
            kb = strtoull(line + 6, NULL, 10);
    fclose(f);
    return kb * 1024;
}

TEST(answers_for_a_client_that_does_not_read_stay_with_the_server_and_others_are_served)
{
    struct program stuck, lively;
    size_t before, most = 0;

    rig_begin();
    write_script("big", RESULT_BYTES);
    write_script("small", 10);
    rig_config("\"big\":" SCRIPT("big") ",\"small\":" SCRIPT("small"));
    rig_daemon(NULL);
    WAIT_FOR(strcmp(server_is("big", "state"), "connected") == 0);
    WAIT_FOR(strcmp(server_is("small", "state"), "connected") == 0);
    attach(&stuck);
    attach(&lively);
    call(&lively, 1, "big__t");
    hear_answer(&lively, 1, RESULT_BYTES);
    before = daemon_bytes();
    for (int i = 0; i < CALLS; i++)
        call(&stuck, i, "big__t");
    for (int i = 0; i < ROUNDS; i++) {
        size_t now = daemon_bytes();

        call(&lively, i, "small__t");
        hear_answer(&lively, i, 0);
        most = now > most ? now : most;
    }
    printf("# %zu MB more\n", (most - before) / MB);
#ifndef __SANITIZE_ADDRESS__ /* which keeps what was freed */
    CHECK(most < before + (size_t)50 * MB);
#endif
    /* One who wants to be served by the same server is. */
    call(&lively, 9, "big__t");
    hear_answer(&lively, 9, RESULT_BYTES);
    for (int i = 0; i < CALLS; i++)
        hear_answer(&stuck, i, RESULT_BYTES);
    call(&stuck, CALLS, "big__t");
    hear_answer(&stuck, CALLS, RESULT_BYTES);
    program_close_input(&stuck);
    program_close_input(&lively);
    CHECK_INT(program_end(&stuck, RIG_END_MS), 0);
    CHECK_INT(program_end(&lively, RIG_END_MS), 0);
    rig_end();
}

/* It goes without having read anything: what it called for goes nowhere, and the server serves. */
TEST(a_server_that_waits_for_a_client_is_free_when_the_client_is_gone)
{
    struct program stuck, lively;

    rig_begin();
    write_script("big", RESULT_BYTES);
    rig_config("\"big\":" SCRIPT("big"));
    rig_daemon(NULL);
    WAIT_FOR(strcmp(server_is("big", "state"), "connected") == 0);
    attach(&stuck);
    attach(&lively);
    for (int i = 0; i < CALLS; i++)
        call(&stuck, i, "big__t");
    CHECK_INT(kill(stuck.pid, SIGKILL), 0);
    program_end(&stuck, RIG_END_MS);
    for (int i = 0; i < 3; i++) {
        call(&lively, i, "big__t");
        hear_answer(&lively, i, RESULT_BYTES);
    }
    program_close_input(&lively);
    CHECK_INT(program_end(&lively, RIG_END_MS), 0);
    rig_end();
}
