/* Whoever asks, and whatever answers, a rule means the same: every way in is walked with every kind
 * of server and every outcome. A face, an action or a choice that the program has and that no row
 * here walks does not compile, or fails the first test. */
#include "gate/gate.h"
#include "rest_http.h"

/* ---- who answers ----------------------------------------------------------------------------- */

/* A tool that says what it was given, by all its names. */
struct target {
    const char *name;
    const char *outward, *canonical, *typed; /* for MCP clients, REST, the command line */
    const char *tool, *param;
    const char *says; /* before what it was given */
    bool ours;        /* none of a server's: external_call_tool is not for it */
};

static const struct target targets[] = {
    { "a process", "near__greet", "near/greet", "near.greet", "greet", "name", "Hello, ", false },
    { "HTTP", "far__greet", "far/greet", "far.greet", "greet", "name", "Hello, ", false },
    { "a lazy process", "lazy__greet", "lazy/greet", "lazy.greet", "greet", "name", "Hello, ",
      false },
    { "a built-in", "think", "builtin/think", "think", "think", "thoughts", "", true },
};

/* ---- ways in -------------------------------------------------------------------------------- */

/* A call under way. */
struct asking {
    struct program p;    /* "patchbay mcp" */
    struct started verb; /* "patchbay call" */
    int fd;              /* HTTP */
};

struct way_in {
    const char *name;
    enum order_face face;
    void (*begin)(struct asking *a, const struct target *t, const char *who);
    void (*end)(struct asking *a); /* waits; the whole answer is in `out` */
};

static void mcp_begin(struct asking *a, const char *expose, const char *params)
{
    AUTO_BUF struct buf line = { 0 };

    program_start(&a->p, WORDS("patchbay", "mcp", "--expose", expose), NULL);
    program_say(&a->p,
                "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{"
                "\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},\"clientInfo\":{\"name\":"
                "\"walker\",\"version\":\"1\"}}}\n"
                "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
    buf_printf(&line, "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":%s}\n",
               params);
    program_say(&a->p, buf_cstr(&line));
}

static void legacy_begin(struct asking *a, const struct target *t, const char *who)
{
    AUTO_BUF struct buf params = { 0 };

    buf_printf(&params, "{\"name\":\"%s\",\"arguments\":{\"%s\":\"%s\"}}", t->outward, t->param,
               who);
    mcp_begin(a, "catalog,builtin", buf_cstr(&params));
}

static void external_begin(struct asking *a, const struct target *t, const char *who)
{
    AUTO_BUF struct buf params = { 0 };

    buf_printf(&params,
               "{\"name\":\"external_call_tool\",\"arguments\":{\"tool\":\"%s\","
               "\"arguments\":{\"%s\":\"%s\"}}}",
               t->canonical, t->param, who);
    mcp_begin(a, "external", buf_cstr(&params));
}

static void mcp_end(struct asking *a)
{
    for (;;) {
        AUTO_FREE char *line = program_hear(&a->p);

        CHECK(line != NULL);
        if (!strstr(line, "\"id\":2"))
            continue;
        snprintf(out, sizeof out, "%s", line);
        break;
    }
    program_close_input(&a->p);
    CHECK_INT(program_end(&a->p, RIG_END_MS), 0);
}

static void post(struct asking *a, const char *path, const char *headers, const char *body)
{
    AUTO_BUF struct buf request = { 0 };

    a->fd = daemon_dial();
    buf_printf(&request,
               "POST %s HTTP/1.1\r\nHost: localhost:%d\r\nAuthorization: Bearer secret\r\n"
               "Accept: application/json, text/event-stream\r\nConnection: close\r\n%s"
               "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
               path, daemon_port(), headers, strlen(body), body);
    CHECK_INT(send(a->fd, request.p, request.n, MSG_NOSIGNAL), request.n);
}

static void modern_begin(struct asking *a, const struct target *t, const char *who)
{
    AUTO_BUF struct buf body = { 0 }, headers = { 0 };

    buf_printf(&body,
               "{\"jsonrpc\":\"2.0\",\"id\":2,\"method\":\"tools/call\",\"params\":{\"name\":"
               "\"%s\",\"arguments\":{\"%s\":\"%s\"},\"_meta\":{"
               "\"io.modelcontextprotocol/protocolVersion\":\"2026-07-28\","
               "\"io.modelcontextprotocol/clientInfo\":{\"name\":\"walker\",\"version\":\"1\"},"
               "\"io.modelcontextprotocol/clientCapabilities\":{}}}}",
               t->outward, t->param, who);
    buf_printf(&headers,
               "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\n"
               "Mcp-Name: %s\r\n",
               t->outward);
    post(a, "/mcp", buf_cstr(&headers), buf_cstr(&body));
}

static void rest_begin(struct asking *a, const struct target *t, const char *who)
{
    AUTO_BUF struct buf body = { 0 };

    buf_printf(&body, "{\"tool\":\"%s\",\"arguments\":{\"%s\":\"%s\"}}", t->canonical, t->param,
               who);
    post(a, "/api/mcp-tools/call", "X-Patchbay-Client: walker\r\n", buf_cstr(&body));
}

static void http_end(struct asking *a)
{
    AUTO_BUF struct buf answer = { 0 };
    ssize_t n;

    while ((n = recv(a->fd, buf_reserve(&answer, 65536), 65536, 0)) > 0)
        answer.n += (size_t)n;
    close(a->fd);
    snprintf(out, sizeof out, "%s", buf_cstr(&answer));
}

static void cli_begin(struct asking *a, const struct target *t, const char *who)
{
    char word[64];

    snprintf(word, sizeof word, "%s=%s", t->param, who);
    start_with(&a->verb, NULL, WORDS("call", t->typed, word));
}

static void cli_end(struct asking *a)
{
    size_t n;

    started_end(&a->verb);
    n = strlen(out);
    snprintf(out + n, sizeof out - n, "%s", err);
}

static const struct way_in ways[] = {
    { "MCP, legacy era, stdio", FACE_MCP, legacy_begin, mcp_end },
    { "MCP, modern era, HTTP", FACE_MCP, modern_begin, http_end },
    { "external_call_tool", FACE_MCP, external_begin, mcp_end },
    { "REST", FACE_REST, rest_begin, http_end },
    { "command line", FACE_CLI, cli_begin, cli_end },
};

/* ---- servers -------------------------------------------------------------------------------- */

static struct program far;
static char far_url[64];

#define STDIO_SERVER "{\"command\":\"$BUILD/hello-server\"}"

static void write_config(const char *policy)
{
    AUTO_BUF struct buf text = { 0 };

    buf_printf(&text,
               "\"near\":" STDIO_SERVER ",\"lazy\":{\"command\":\"$BUILD/hello-server\",\"start\":"
               "\"lazy\"},\"far\":{\"url\":\"%s\"}},\"settings\":{\"expose\":\"catalog,builtin\"},"
               "\"policy\":%s}",
               far_url, policy);
    write_filled("config.json", "{\"mcpServers\":{", buf_cstr(&text), "");
}

static void begin(void)
{
    char port[16];

    rig_begin();
    snprintf(port, sizeof port, "%d", loopback_free_port());
    snprintf(far_url, sizeof far_url, "http://127.0.0.1:%s/mcp", port);
    program_start(&far, WORDS("hello-server", port), NULL);
    WAIT_FOR(loopback_listens((int)strtol(port, NULL, 10)));
    write_config("{}");
    start(NULL);
    BECOMES("near", "connected");
    BECOMES("far", "connected");
}

static void end(void)
{
    kill(far.pid, SIGTERM);
    CHECK_INT(program_end(&far, RIG_END_MS), 0);
    rig_end();
}

/* ---- questions ------------------------------------------------------------------------------ */

/* The id of the one that stands. Good until the next call. */
static const char *question(void)
{
    static char id[64];

    WAIT_FOR(http("GET", "/api/questions", "") == 200 && *member("questions.0.id"));
    snprintf(id, sizeof id, "%s", member("questions.0.id"));
    CHECK_STR(member("questions.1.id"), "");
    return id;
}

static bool nobody_is_asked(void)
{
    CHECK_INT(http("GET", "/api/questions", ""), 200);
    return !*member("questions.0.id");
}

static void answer(const char *id, enum question_choice choice)
{
    static const char *const words[] = {
        [CHOICE_ONCE] = "approve", [CHOICE_GRANT] = "grant", [CHOICE_DENY] = "deny"
    };
    char path[128], body[128];

    _Static_assert(ARRAY_LEN(words) == CHOICE_COUNT, "every choice has a word");
    snprintf(path, sizeof path, "/api/questions/%s/answer", id);
    snprintf(body, sizeof body, "{\"choice\":\"%s\",\"reason\":\"not today\"}", words[choice]);
    CHECK_INT(http("POST", path, body), 200);
}

/* ---- outcomes ------------------------------------------------------------------------------- */

struct trip {
    const struct way_in *way;
    const struct target *target;
    char who[32]; /* another one for each call */
};

static void set_out(const struct trip *t, struct asking *a)
{
    *a = (struct asking){ .fd = -1 };
    t->way->begin(a, t->target, t->who);
}

static void check_ran(const struct trip *t, bool ran, const char *says)
{
    char greeting[64];
    bool greeted;

    snprintf(greeting, sizeof greeting, "%s%s", t->target->says, t->who);
    greeted = strstr(out, greeting) != NULL;
    if (greeted != ran || !strstr(out, says))
        TAP_FAIL("%s, %s: %s, expected that it %s and says \"%s\"", t->way->name, t->target->name,
                 out, ran ? "runs" : "does not run", says);
}

static void allowed(const struct trip *t)
{
    struct asking a;

    set_out(t, &a);
    t->way->end(&a);
    check_ran(t, true, "");
    CHECK(nobody_is_asked());
}

static void denied(const struct trip *t)
{
    struct asking a;
    char says[128];

    set_out(t, &a);
    t->way->end(&a);
    snprintf(says, sizeof says, "the rule 'walk' does not allow '%s' of server ", t->target->tool);
    check_ran(t, false, says);
    CHECK(nobody_is_asked());
}

/* S3-154 */
static void approved(const struct trip *t)
{
    struct asking a;

    set_out(t, &a);
    answer(question(), CHOICE_ONCE);
    t->way->end(&a);
    check_ran(t, true, "");
    CHECK(nobody_is_asked());
}

static void refused(const struct trip *t)
{
    struct asking a;

    set_out(t, &a);
    answer(question(), CHOICE_DENY);
    t->way->end(&a);
    check_ran(t, false, "not today");
}

static void expired(const struct trip *t)
{
    struct asking a;

    set_out(t, &a);
    t->way->end(&a);
    check_ran(t, false, "nobody has allowed it within 1s");
    CHECK(nobody_is_asked());
}

/* What was approved is that call, not the next; not even the same once more. */
static void approved_once(const struct trip *t)
{
    struct trip other = *t;

    approved(t);
    refused(t);
    snprintf(other.who, sizeof other.who, "other-%s", t->who + strlen("walker-"));
    refused(&other);
}

/* S3-149 */
static void granted(const struct trip *t)
{
    struct asking a;

    set_out(t, &a);
    answer(question(), CHOICE_GRANT);
    t->way->end(&a);
    check_ran(t, true, "");
    if (t->way->end == mcp_end)
        refused(t); /* another session, another caller */
    else
        allowed(t);
    CHECK_INT(http("DELETE", "/api/grants", ""), 200);
}

/* A condition on the arguments is for those that fit. */
static void by_arguments(const struct trip *t)
{
    struct trip other = *t;

    allowed(t);
    snprintf(other.who, sizeof other.who, "mallory");
    denied(&other);
}

static const struct outcome {
    const char *name;
    enum policy_action action;
    const char *policy;
    void (*run)(const struct trip *t);
} outcomes[] = {
#define RULE(rest) "{\"rules\":[{\"name\":\"walk\",\"tool\":[\"greet\",\"think\"]," rest "}]}"
    { "no rule", POLICY_ALLOW, "{}", allowed },
    { "allow", POLICY_ALLOW, RULE("\"action\":\"allow\""), allowed },
    { "deny", POLICY_DENY, RULE("\"action\":\"deny\""), denied },
    { "deny by arguments", POLICY_DENY,
      RULE("\"action\":\"deny\",\"arguments\":[{\"at\":\"/*\",\"glob\":\"mal*\"}]"), by_arguments },
    { "ask, approved", POLICY_ASK, RULE("\"action\":\"ask\""), approved },
    { "ask, refused", POLICY_ASK, RULE("\"action\":\"ask\""), refused },
    { "ask, expired", POLICY_ASK, RULE("\"action\":\"ask\",\"ask_s\":1"), expired },
    { "ask, approved once", POLICY_ASK, RULE("\"action\":\"ask\""), approved_once },
    { "ask, granted", POLICY_ASK, RULE("\"action\":\"ask\""), granted },
    { "default", POLICY_DENY,
      "{\"default\":{\"mcp_server\":\"ask\",\"rest\":\"ask\",\"cli\":\"ask\"}}", refused },
};

/* ---- the walk ------------------------------------------------------------------------------- */

/* The agent has a face of its own when it is there. */
TEST(every_face_and_every_action_is_walked)
{
    bool faces[FACE_COUNT] = { [FACE_AGENT] = true }, actions[POLICY_ACTIONS] = { false };

    for (size_t i = 0; i < ARRAY_LEN(ways); i++)
        faces[ways[i].face] = true;
    for (size_t i = 0; i < ARRAY_LEN(outcomes); i++)
        actions[outcomes[i].action] = true;
    for (size_t i = 0; i < FACE_COUNT; i++)
        CHECK(faces[i]);
    for (size_t i = 0; i < POLICY_ACTIONS; i++)
        CHECK(actions[i]);
}

TEST(a_rule_means_the_same_for_whoever_asks_and_whatever_answers)
{
    unsigned number = 0;

    begin();
    for (size_t o = 0; o < ARRAY_LEN(outcomes); o++) {
        write_config(outcomes[o].policy);
        CHECK_INT(http("POST", "/api/reload", ""), 200);
        for (size_t w = 0; w < ARRAY_LEN(ways); w++)
            for (size_t s = 0; s < ARRAY_LEN(targets); s++) {
                struct trip t = { &ways[w], &targets[s], "" };

                if (targets[s].ours && ways[w].begin == external_begin)
                    continue;
                snprintf(t.who, sizeof t.who, "walker-%u", ++number);
                printf("# %s: %s, %s\n", outcomes[o].name, ways[w].name, targets[s].name);
                outcomes[o].run(&t);
            }
    }
    end();
}
