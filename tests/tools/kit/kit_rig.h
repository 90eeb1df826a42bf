/* kit_rig.h - a hub with a few tools of our own that say what they were given, its hosts, and
 * clients of them (face/host_rig.h). Tools run on real workers. */
#pragma once
#include "face/host_rig.h"
#include "gate/gate.h"
#include "tools/kit/kit.h"
#include <pthread.h>

/* ---- what calls meet ---- */

/* A call of "slow_ones.hold" waits until its name is let go, or it is cancelled. */
static struct {
    pthread_mutex_t mu;
    pthread_cond_t moved;
    char begun[256], let_go[256]; /* names, each with a space behind it */
    bool deaf;                    /* cancelling ends none of them */
} holds = { PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, "", "", false };

static inline void holds_put(char *list, const char *name)
{
    pthread_mutex_lock(&holds.mu);
    snprintf(list + strlen(list), sizeof holds.begun - strlen(list), "%s ", name);
    pthread_cond_broadcast(&holds.moved);
    pthread_mutex_unlock(&holds.mu);
}

static inline bool holds_has(const char *list, const char *name)
{
    bool has;

    pthread_mutex_lock(&holds.mu);
    has = strstr(list, name) != NULL;
    pthread_mutex_unlock(&holds.mu);
    return has;
}

static inline int tool_hold(struct tool_call *c)
{
    const char *name = pb_arg_string(c->call, "name");

    holds_put(holds.begun, name);
    while (!holds_has(holds.let_go, name))
        if (pb_call_wait(c->call, 5) && !holds.deaf)
            return pb_fail(c->call, "cancelled");
    return pb_reply_text(c->call, "%s", name);
}

/* What it was given, and by whom. */
static inline int tool_show(struct tool_call *c)
{
    return pb_reply_text(c->call, "%s%s%s %s", c->tool->name, c->op->name ? "." : "",
                         c->op->name ? c->op->name : "", pb_arg_json(c->call, NULL));
}

static inline int tool_who(struct tool_call *c)
{
    return pb_reply_text(c->call, "%s|%s|%s|%s|%d|%d", c->face, c->client ? c->client : "",
                         c->conversation, c->directory, c->person, (int)strlen(c->id));
}

static const struct pb_param show_params[] = {
    { .name = "filePath", .type = PB_STRING, .description = "A path" },
    { .name = "maxCount", .type = PB_INT, .flags = PB_OPTIONAL, .description = "At most" },
    { .name = "note", .type = PB_STRING, .flags = PB_OPTIONAL, .description = "A note" },
    { 0 },
};
static const struct pb_param other_params[] = {
    { .name = "pattern_text", .type = PB_STRING, .description = "A pattern" },
    { 0 },
};
static const struct pb_param name_params[] = {
    { .name = "name", .type = PB_STRING, .description = "A name" },
    { 0 },
};
static const struct pb_param level_params[] = {
    { .name = "level", .type = PB_INT, .fallback = "3", .description = "A level" },
    { .name = "flag", .type = PB_BOOL, .flags = PB_OPTIONAL, .description = "A flag" },
    { 0 },
};
static const struct tool_spelling show_spellings[] = { { "path", "filePath" }, { 0 } };

static const struct tool_operation show_rows[] = {
    { .name = "show_file",
      .help = "shows a file",
      .params = show_params,
      .flags = PB_READ_ONLY | PB_CLOSED_WORLD,
      .run = tool_show,
      .display = "Showing",
      .display_param = "filePath" },
    { .name = "find_text",
      .help = "finds a text",
      .params = other_params,
      .flags = PB_DESTRUCTIVE,
      .run = tool_show },
    { .name = "common", .help = "has a namesake", .flags = PB_ON_LOOP, .run = tool_show },
    { .name = "plain", .help = "is too short", .flags = TOOL_FULL_NAME, .run = tool_show },
    { 0 },
};
static const struct tool_operation slow_rows[] = {
    { .name = "hold",
      .help = "waits",
      .params = name_params,
      .flags = TOOL_SERIAL,
      .run = tool_hold,
      .display = "Holding" },
    { .name = "hold_free", .help = "waits for nobody", .params = name_params, .run = tool_hold },
    { .name = "common", .help = "has a namesake", .run = tool_show },
    { 0 },
};
static const struct tool_operation who_rows[] = {
    { .flags = PB_ON_LOOP, .run = tool_who },
    { 0 },
};
static const struct tool_operation level_rows[] = {
    { .params = level_params, .flags = PB_ON_LOOP, .run = tool_show },
    { 0 },
};

static const struct tool rig_show = { .name = "file_operations",
                                      .title = "Files",
                                      .help = "Files.",
                                      .group = TOOLS_FILE,
                                      .spellings = show_spellings,
                                      .operations = show_rows };
static const struct tool rig_slow = { .name = "slow_ones",
                                      .title = "Slow",
                                      .help = "Slow.",
                                      .group = TOOLS_TERMINAL,
                                      .operations = slow_rows };
static const struct tool rig_who = {
    .name = "who", .title = "Who", .help = "Who asks.", .group = TOOLS_PLAIN, .operations = who_rows
};
static const struct tool rig_level = { .name = "level",
                                       .title = "Level",
                                       .help = "A level.",
                                       .group = TOOLS_PLAIN,
                                       .operations = level_rows };
static const struct tool *const rig_tools[] = { &rig_who, &rig_show, &rig_slow, &rig_level, NULL };

/* ---- the rig ---- */

static const struct host_scope with_tools = { .expose = HOST_CATALOG | HOST_BUILTIN };

static inline void kit_rig_init(struct hub_rig *rig)
{
    rig_init(rig, NULL);
    kit_new(&(struct kit_options){ .gate = rig->gate, .home = "/srv/tests", .tools = rig_tools });
}

static inline void kit_rig_open(struct hub_rig *rig, struct face_client *c)
{
    kit_rig_init(rig);
    rig_start(rig);
    face_open(rig, c, &with_tools, PB_ERA_MODERN);
}

static inline void kit_rig_policy(struct hub_rig *rig, const char *json)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO(policy) struct policy *p = NULL;
    struct pb_error err;

    CHECK_INT(json_parse(&doc, span_of(json), NULL, NULL), 0);
    if (policy_parse(&p, json_root(&doc), &err) < 0)
        TAP_FAIL("%s", err.msg);
    gate_set_policy(rig->gate, p);
}

static inline struct fake_reply *kit_send(struct face_client *c, const char *tool,
                                          const char *arguments)
{
    AUTO_BUF struct buf params = { 0 };

    buf_printf(&params, "{\"name\":\"%s\",\"arguments\":%s}", tool, arguments);
    return face_send(c, "tools/call", buf_cstr(&params));
}

/* The text of what comes of it; "error: …" for a tool that failed, the JSON-RPC error for a call
 * that never came so far. Good until the next call. */
static inline const char *kit_text(struct face_client *c, struct fake_reply *a)
{
    FAKES_WAIT(c->fakes, a->count);
    if (a->result)
        return face_text(a->result);
    return a->error ? a->error : a->err.msg;
}

static inline const char *kit_call(struct face_client *c, const char *tool, const char *arguments)
{
    return kit_text(c, kit_send(c, tool, arguments));
}
