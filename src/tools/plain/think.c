/* think.c - a place for a model's thoughts, so that they come before what it does. S3-33 to S3-36
 */
#include "plain.h"

/* The thoughts are the answer; what the model would like to have is said so that whoever drives it
 * can give it. After thinking it must act: the last line says so. */
static int think(struct tool_call *c)
{
    AUTO_BUF struct buf text = { 0 };
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_ARENA struct arena a = { 0 };
    const char *wanted = pb_arg_json(c->call, "requested_tools");
    bool any = false;

    buf_str(&text, pb_arg_string(c->call, "thoughts"));
    if (wanted && json_parse(&doc, span_of(wanted), NULL, NULL) == 0)
        JSON_FOREACH(v, json_root(&doc)) {
            buf_str(&text, any ? ", " : "\n\nTOOL_REQUEST: ");
            buf_add_span(&text, json_str(v, &a));
            any = true;
        }
    buf_str(&text,
            "\n\nNow act on it: the next step is a tool call or the answer, not another thought.");
    return pb_reply_bytes(c->call, text.p, text.n);
}

static const struct pb_param params[] = {
    { .name = "thoughts", .type = PB_STRING, .description = "What you think" },
    { .name = "requested_tools",
      .type = PB_ARRAY,
      .of = &(const struct pb_param){ .type = PB_STRING },
      .flags = PB_OPTIONAL,
      .description = "Names of tools that you would need and do not see" },
    { 0 },
};

static const struct tool_operation operations[] = {
    { .params = params, .flags = PB_READ_ONLY | PB_ON_LOOP, .run = think, .display = "Thinking" },
    { 0 },
};

const struct tool think_tool = {
    .name = "think",
    .title = "Think",
    .help =
        "Write down your thoughts before you act. Nothing is changed or looked up. Use it once for a "
        "decision, then act.",
    .icon = "brain",
    .group = TOOLS_PLAIN,
    .operations = operations,
};
