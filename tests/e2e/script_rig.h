/* script_rig.h - a server that says what the test writes: script_server.c, in the directory "said"
 * of the home. */
#pragma once
#include "cli_rig.h"

#define SCRIPT "\"s\":{\"command\":\"$BUILD/tests/e2e/script_server\",\"args\":[\"$HOME/said\"]}"

/* A home with this server. `tools`, `prompts`: lists, JSON; "" for none. */
static inline void script_begin(const char *tools, const char *prompts)
{
    AUTO_BUF struct buf b = { 0 };

    rig_begin();
    CHECK(mkdir(in_home("said"), 0700) == 0);
    buf_printf(&b,
               "{\"protocolVersion\":\"2025-06-18\",\"capabilities\":{\"tools\":{}%s},"
               "\"serverInfo\":{\"name\":\"s\",\"version\":\"1\"}}",
               *prompts ? ",\"prompts\":{}" : "");
    write_file(in_home("said/initialize"), buf_cstr(&b));
    b.n = 0;
    buf_printf(&b, "{\"tools\":[%s]}", tools);
    buf_flatten(&b, 0);
    write_file(in_home("said/tools_list"), buf_cstr(&b));
    b.n = 0;
    buf_printf(&b, "{\"prompts\":[%s]}", prompts);
    buf_flatten(&b, 0);
    write_file(in_home("said/prompts_list"), buf_cstr(&b));
    write_file(in_home("said/tools_call"), "{\"content\":[{\"type\":\"text\",\"text\":\"done\"}]}");
    write_file(in_home("said/ping"), "{}");
    write_file(in_home("said/heard"), "");
    rig_config(SCRIPT);
}

/* The arguments of the calls since it was last asked: "" when nothing was sent, the last when there
 * were several. */
static inline const char *arguments_sent(void)
{
    static char sent[RIG_TEXT_MAX];
    const char *call = NULL, *at = file_text("said/heard");

    sent[0] = '\0';
    while ((at = strstr(at, "\"tools/call\"")))
        call = at++;
    if (call) {
        AUTO_JSON struct json_doc doc = { 0 };
        const char *from = call, *end = strchr(call, '\n');

        while (from > file_text("said/heard") && from[-1] != '\n')
            from--;
        CHECK_INT(json_parse(&doc, span_make(from, (size_t)(end - from)), NULL, NULL), 0);
        snprintf(sent, sizeof sent, "%.*s",
                 SPAN_ARG(json_text(json_get(json_get(json_root(&doc), "params"), "arguments"))));
    }
    write_file(in_home("said/heard"), "");
    return sent;
}
