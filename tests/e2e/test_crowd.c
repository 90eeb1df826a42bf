/* test_crowd.c - hundreds of real servers behind the real program, a hundred of them hostile. */
#include "program.h"
#include "temp_dir.h"
#include "json/json.h"

enum { HONEST = 300, HOSTILE = 100, CALLS = 10, EXIT_MS = 15000, PATIENCE_S = 60 };

static const char *const hostile_kinds[] = { "silent", "twice",  "midline", "stderr",    "notify",
                                             "cursor", "noterm", "setsid",  "grandchild" };

static char mark[64];

static void set_mark(void)
{
    char id[ID_CHARS + 1];

    id_new(id);
    snprintf(mark, sizeof mark, "MOB_MARK=%s", id);
}

static void add_server(struct json_out *o, const char *kind, const char *name)
{
    json_begin_object(o, name);
    json_put_str(o, "command", built("tests/e2e/mob_server"));
    json_begin_array(o, "args");
    json_put_str(o, NULL, kind);
    json_put_str(o, NULL, name);
    json_end(o);
    json_begin_object(o, "env");
    json_put_str(o, "MOB_MARK", strchr(mark, '=') + 1);
    json_end(o);
    json_end(o);
}

static void write_config(const char *path, int honest, int hostile)
{
    AUTO_BUF struct buf b = { 0 };
    struct json_out o = json_out(&b);
    char name[32];

    json_begin_object(&o, NULL);
    json_begin_object(&o, "mcpServers");
    for (int i = 0; i < honest; i++) {
        snprintf(name, sizeof name, "h%d", i);
        add_server(&o, "honest", name);
    }
    for (int i = 0; i < hostile; i++) {
        snprintf(name, sizeof name, "x%d", i);
        add_server(&o, hostile_kinds[(size_t)i % ARRAY_LEN(hostile_kinds)], name);
    }
    json_end(&o);
    /* Four hundred instrumented programs on two cores need their time to start. */
    json_begin_object(&o, "settings");
    json_put_uint(&o, "connect_s", PATIENCE_S);
    json_put_uint(&o, "list_wait_s", PATIENCE_S);
    json_put_uint(&o, "timeout_s", PATIENCE_S);
    json_end(&o);
    json_end(&o);
    write_file(path, buf_cstr(&b));
}

struct crowd {
    const char *dir;
    char config[128], home[128];
    struct program hub;
};

static void crowd_start(struct crowd *c, int honest, int hostile)
{
    set_mark();
    c->dir = temp_root();
    snprintf(c->config, sizeof c->config, "%s/servers.json", c->dir);
    snprintf(c->home, sizeof c->home, "%s/home", c->dir);
    write_config(c->config, honest, hostile);
    setenv("PATCHBAY_HOME", c->home, 1);
    program_start(&c->hub, (const char *const[]){ "patchbay", "mcp", "--config", c->config, NULL },
                  getenv("CROWD_STDERR"));
    program_say(&c->hub, "{\"jsonrpc\":\"2.0\",\"id\":\"i\",\"method\":\"initialize\",\"params\":{"
                         "\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},\"clientInfo\":{"
                         "\"name\":\"crowd\",\"version\":\"1\"}}}\n"
                         "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
}

static void call(struct crowd *c, char kind, int server, int n)
{
    char line[256];

    snprintf(
        line, sizeof line,
        "{\"jsonrpc\":\"2.0\",\"id\":\"%c%d.%d\",\"method\":\"tools/call\",\"params\":{\"name\":"
        "\"%c%d__who\",\"arguments\":{\"n\":%d}}}\n",
        kind, server, n, kind, server, n);
    program_say(&c->hub, line);
}

/* Reads answers until every honest call is answered: each once, each by the server that was meant.
 */
static void hear_all(struct crowd *c, int servers, int calls)
{
    AUTO_FREE unsigned char *seen = mem_zero((size_t)(servers * calls));
    int missing = servers * calls;

    while (missing) {
        AUTO_FREE char *line = program_hear(&c->hub);
        AUTO_JSON struct json_doc doc = { 0 };
        AUTO_ARENA struct arena a = { 0 };
        char want[64], *dot;
        const char *id;
        long server, n;

        CHECK(line != NULL);
        CHECK_INT(json_parse(&doc, span_of(line), NULL, NULL), 0);
        id = json_cstr(json_get(json_root(&doc), "id"), &a);
        if (!id || id[0] != 'h')
            continue;
        server = strtol(id + 1, &dot, 10);
        n = strtol(dot + 1, NULL, 10);
        snprintf(want, sizeof want, "\"h%ld %ld\"", server, n);
        CHECK_HAS(line, want);
        CHECK_INT(seen[server * calls + n]++, 0);
        missing--;
    }
}

static void crowd_end(struct crowd *c)
{
    program_close_input(&c->hub);
    CHECK_INT(program_end(&c->hub, EXIT_MS), 0);
    no_process_left(mark, 1000);
    temp_clean();
}

TEST(three_hundred_servers_answer_while_a_hundred_misbehave_and_none_is_left)
{
    struct crowd c;

    crowd_start(&c, HONEST, HOSTILE);
    for (int n = 0; n < CALLS; n++) {
        for (int i = 0; i < HONEST; i++)
            call(&c, 'h', i, n);
        for (int i = 0; i < HOSTILE; i++)
            call(&c, 'x', i, n);
    }
    hear_all(&c, HONEST, CALLS);
    crowd_end(&c);
}

/* Ended with SIGTERM and with SIGKILL: nobody is left either way, not even those who left their
 * group or will not hear SIGTERM. */
TEST(nobody_outlives_the_program_however_it_is_ended)
{
    static const int signals[] = { SIGTERM, SIGKILL };

    for (size_t i = 0; i < ARRAY_LEN(signals); i++) {
        struct crowd c;

        crowd_start(&c, 10, 20);
        for (int k = 0; k < 10; k++)
            call(&c, 'h', k, 0);
        hear_all(&c, 10, 1);
        /* The honest have answered; the others are still being started. */
        processes_reach(mark, 20, EXIT_MS);
        kill(c.hub.pid, signals[i]);
        CHECK_INT(program_end(&c.hub, EXIT_MS), signals[i] == SIGTERM ? 0 : -SIGKILL);
        no_process_left(mark, EXIT_MS);
        temp_clean();
    }
}
