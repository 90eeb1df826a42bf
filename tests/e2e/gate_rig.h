/* gate_rig.h - a home with rules, and a client that stays: 'patchbay mcp' on pipes, which is one
 * conversation however often it calls. */
#pragma once
#include "cli_rig.h"

/* The server "ex", and these rules, JSON. */
static inline void gate_config(const char *rules)
{
    AUTO_BUF struct buf before = { 0 };

    buf_printf(&before, "{\"policy\":{\"rules\":[%s]},\"mcpServers\":{", rules);
    write_filled("config.json", buf_cstr(&before), "\"ex\":" EXAMPLE, "}}");
}

static inline void gate_begin(const char *rules)
{
    rig_begin();
    gate_config(rules);
    rig_daemon(NULL);
    WAIT_FOR(strcmp(server_is("ex", "state"), "connected") == 0);
}

/* ---- a client that stays ---- */

static inline void session_begin(struct program *p)
{
    program_start(p, (const char *const[]){ "patchbay", "mcp", NULL }, in_home("session.err"));
    program_say(p, "{\"jsonrpc\":\"2.0\",\"id\":0,\"method\":\"initialize\",\"params\":{"
                   "\"protocolVersion\":\"2025-06-18\",\"capabilities\":{},\"clientInfo\":{"
                   "\"name\":\"agent\",\"version\":\"1\"}}}\n"
                   "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n");
    free(program_hear(p));
}

static inline void session_ask(struct program *p, int id, const char *text)
{
    AUTO_BUF struct buf line = { 0 };

    buf_printf(&line,
               "{\"jsonrpc\":\"2.0\",\"id\":%d,\"method\":\"tools/call\",\"params\":{\"name\":"
               "\"ex__echo\",\"arguments\":{\"text\":\"%s\"}}}\n",
               id, text);
    program_say(p, buf_cstr(&line));
}

/* The answer to this one, in `out`; news in between is passed over. */
static inline void session_hear(struct program *p, int id)
{
    for (;;) {
        AUTO_FREE char *line = program_hear(p);

        CHECK(line != NULL);
        snprintf(out, sizeof out, "%s", line);
        if (*member("id") && strtol(member("id"), NULL, 10) == id)
            return;
    }
}

static inline void session_end(struct program *p)
{
    program_close_input(p);
    CHECK_INT(program_end(p, RIG_END_MS), 0);
}

/* ---- questions ---- */

/* How many wait; the answer is in `out`. */
static inline int waiting_now(void)
{
    AUTO_JSON struct json_doc doc = { 0 };

    CHECK_INT(RUN("questions", "--json"), 0);
    CHECK_INT(json_parse(&doc, span_of(out), NULL, NULL), 0);
    return (int)json_len(json_get(json_root(&doc), "questions"));
}

/* A member of the one question that waits. Good until the next call. */
static inline const char *question_is(const char *key)
{
    static char text[64];
    char path[64];

    WAIT_FOR(waiting_now() == 1);
    snprintf(path, sizeof path, "questions.0.%s", key);
    snprintf(text, sizeof text, "%s", member(path));
    return text;
}
