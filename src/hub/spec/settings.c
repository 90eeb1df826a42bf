#include "settings.h"
#include "inherit.h"
#include <stdio.h>

enum { DAY_S = 86400 };

static const char *const record_words[] = { "all", "meta", "none", NULL };
static const char *const failure_words[] = { "stop", "go_on", NULL };
static const char *const refresh_words[] = { "on_change", "on_connect", NULL };

static const char *const change_words[] = { "auto", "hold", "warn", "off", NULL };

#define AT_ONCE    false
#define AT_RESTART true
#define AT(member) offsetof(struct settings, member)
/* clang-format off */
const struct setting settings_table[] = {
    { "ask_s", SETTING_SECONDS, AT(ask_ms), 1, DAY_S, NULL, "600", AT_ONCE,
      "how long a question about a call waits for an answer; then the call is refused" },
    { "connect_s", SETTING_SECONDS, AT(connect_ms), 0.1, 3600, NULL, "30", AT_ONCE,
      "how long a server may take to start, shake hands and list what it has" },
    { "definition_changes", SETTING_WORD, AT(definition_changes), 0, 0, change_words, "\"auto\"", AT_ONCE,
      "a tool, prompt or instructions that are not what was approved: hold them back, warn only, off; auto holds back what changes while a server runs, and what changes later of servers that no person wrote into the config" },
    { "expose", SETTING_TEXT, AT(expose), 0, 0, NULL, "\"catalog\"", AT_RESTART,
      "what MCP clients see: catalog, external, breakpoint, builtin (all tools of our own) or groups of these, as file, terminal" },
    { "health_s", SETTING_SECONDS, AT(health_ms), 0, DAY_S, NULL, "30", AT_ONCE,
      "how often connected servers are asked whether they are alive; 0: never" },
    { "inherit_env", SETTING_INHERIT, AT(inherit_env), 0, 0, NULL, "\"all\"", AT_ONCE,
      "what the processes of servers get of our environment: all, safe, or names of variables" },
    { "list_wait_s", SETTING_SECONDS, AT(list_wait_ms), 0, 600, NULL, "10", AT_ONCE,
      "how long a client that asks at once waits for servers that are still starting" },
    { "max_request_bytes", SETTING_COUNT, AT(max_request_bytes), 1024, REQUEST_BYTES_MAX, NULL, "10485760", AT_RESTART,
      "the largest message a client may send" },
    { "max_servers", SETTING_COUNT, AT(max_servers), 0, HUB_SERVERS_MAX, NULL, "0", AT_ONCE,
      "how many servers there may be; 0: no limit but the program's own" },
    { "otlp_url", SETTING_TEXT, AT(otlp_url), 0, 0, NULL, "\"\"", AT_ONCE,
      "a collector that gets recorded calls as spans (OTLP/HTTP), such as http://127.0.0.1:4318; none when it is empty" },
    { "reconnect_base_s", SETTING_SECONDS, AT(reconnect_base_ms), 0.001, 3600, NULL, "1", AT_ONCE,
      "the wait before the first attempt to reconnect; it doubles with each" },
    { "reconnect_jitter", SETTING_BOOL, AT(reconnect_jitter), 0, 0, NULL, "false", AT_ONCE,
      "shorten these waits at random, so that many hubs do not come back at once" },
    { "reconnect_max", SETTING_COUNT, AT(reconnect_max), 0, 1000000, NULL, "5", AT_ONCE,
      "attempts to reconnect a lost server before it counts as failed" },
    { "record", SETTING_WORD, AT(record), 0, 0, record_words, "\"all\"", AT_ONCE,
      "what stays of calls: all, meta (without arguments and results) or none; servers may say otherwise" },
    { "record_calls", SETTING_COUNT, AT(record_calls), 0, 1e12, NULL, "0", AT_ONCE,
      "of more recorded calls than these the oldest go; 0: however many" },
    { "record_days", SETTING_COUNT, AT(record_days), 0, 36500, NULL, "7", AT_ONCE,
      "recorded calls that are older go; 0: however old" },
    { "record_failure", SETTING_WORD, AT(record_failure), 0, 0, failure_words, "\"stop\"", AT_ONCE,
      "when calls cannot be recorded (the disk is full, say): stop making them, or go_on without" },
    { "record_mb", SETTING_COUNT, AT(record_mb), 0, 1e9, NULL, "1000", AT_ONCE,
      "of a larger record the oldest calls go, in millions of bytes; 0: however large" },
    { "registry_url", SETTING_TEXT, AT(registry_url), 0, 0, NULL, "\"https://registry.modelcontextprotocol.io\"", AT_ONCE,
      "where the official registry of servers is, without a slash at the end" },
    { "restart_max", SETTING_COUNT, AT(restart_max), 0, 1000000, NULL, "3", AT_ONCE,
      "restarts of a server whose process ends by itself before it counts as failed" },
    { "retry_initial", SETTING_BOOL, AT(retry_initial), 0, 0, NULL, "false", AT_ONCE,
      "also try again when a server fails to start for the first time" },
    { "server_name", SETTING_TEXT, AT(server_name), 0, 0, NULL, "\"Patchbay\"", AT_RESTART,
      "what we call ourselves to clients" },
    { "server_version", SETTING_TEXT, AT(server_version), 0, 0, NULL, "the program's", AT_RESTART,
      "and which version of it" },
    { "smithery_url", SETTING_TEXT, AT(smithery_url), 0, 0, NULL, "\"https://registry.smithery.ai\"", AT_ONCE,
      "where Smithery's registry of servers is" },
    { "timeout_s", SETTING_SECONDS, AT(call_ms), 0.001, DAY_S, NULL, "30", AT_ONCE,
      "how long a tool call may take when its server says nothing about it" },
    { "todo_autofix", SETTING_BOOL, AT(todo_autofix), 0, 0, NULL, "false", AT_RESTART,
      "of several todos in progress all but the first become not-started, instead of an error" },
    { "tool_refresh", SETTING_WORD, AT(tool_refresh), 0, 0, refresh_words, "\"on_change\"", AT_ONCE,
      "on_change: list a server's tools again when it says they changed; on_connect: only then" },
    { "webhook_url", SETTING_TEXT, AT(webhook_url), 0, 0, NULL, "\"\"", AT_ONCE,
      "where questions about calls are sent, which may answer them; none when it is empty" },
    { 0 },
};
/* clang-format on */
#undef AT
#undef AT_ONCE
#undef AT_RESTART

void settings_init(struct settings *s)
{
    *s = (struct settings){
        .call_ms = SPEC_TIMEOUT_MS,
        .connect_ms = 30000,
        .health_ms = 30000,
        .list_wait_ms = 10000,
        .reconnect_max = 5,
        .reconnect_base_ms = 1000,
        .restart_max = 3,
        .max_request_bytes = REQUEST_BYTES_MAX,
        .ask_ms = 600000,
        .record = "all",
        .record_failure = "stop",
        .record_days = 7,
        .record_mb = 1000,
        .definition_changes = "auto",
        .tool_refresh = "on_change",
        .inherit_env = "all",
    };
}

void settings_done(struct settings *s) { arena_done(&s->arena); }

static int set_number(const struct setting *row, struct json v, uint64_t *out, struct pb_error *err)
{
    double unit = row->kind == SETTING_SECONDS ? 1000 : 1;
    double number;

    if (!json_is(v, JSON_NUMBER))
        return fail(err, PB_E_INVALID, "expected a number, got %s", json_type_phrase(v));
    if (json_double(v, &number, NULL) < 0 || number < row->min || number > row->max)
        return fail(err, PB_E_INVALID, "%.*s is outside %g..%g%s", SPAN_ARG(json_text(v)), row->min,
                    row->max, row->kind == SETTING_SECONDS ? " seconds" : "");
    if (row->kind == SETTING_COUNT && number != (double)(uint64_t)number)
        return fail(err, PB_E_INVALID, "expected a whole number, got %.*s", SPAN_ARG(json_text(v)));
    *out = (uint64_t)(number * unit + 0.5);
    return 0;
}

static int set_bool(const struct setting *row, struct json v, bool *out, struct pb_error *err)
{
    (void)row;
    if (!json_is(v, JSON_TRUE) && !json_is(v, JSON_FALSE))
        return fail(err, PB_E_INVALID, "expected true or false, got %s", json_type_phrase(v));
    *out = json_is(v, JSON_TRUE);
    return 0;
}

static int set_word(const struct setting *row, struct json v, const char **out,
                    struct pb_error *err)
{
    AUTO_BUF struct buf known = { 0 };

    for (const char *const *w = row->words; *w; w++) {
        if (json_str_is(v, *w)) {
            *out = *w;
            return 0;
        }
        buf_printf(&known, "%s\"%s\"", w == row->words ? "" : " or ", *w);
    }
    return fail(err, PB_E_INVALID, "expected %s", buf_cstr(&known));
}

static int set_text(struct settings *s, struct json v, const char **out, struct pb_error *err)
{
    char *text = json_cstr(v, &s->arena);

    if (!text)
        return fail(err, PB_E_INVALID, "expected a text, got %s", json_type_phrase(v));
    *out = text;
    return 0;
}

static const struct setting *find(struct span name)
{
    for (const struct setting *row = settings_table; row->name; row++)
        if (span_is(name, row->name))
            return row;
    return NULL;
}

int settings_set(struct settings *s, struct span name, struct json v, struct pb_error *err)
{
    const struct setting *row = find(name);
    void *at;

    if (!row)
        return fail(err, PB_E_NOT_FOUND, "there is no such setting");
    at = (char *)s + row->offset;
    switch (row->kind) {
    case SETTING_BOOL:
        return set_bool(row, v, at, err);
    case SETTING_COUNT:
    case SETTING_SECONDS:
        return set_number(row, v, at, err);
    case SETTING_WORD:
        return set_word(row, v, at, err);
    case SETTING_TEXT:
        return set_text(s, v, at, err);
    case SETTING_INHERIT:
        return inherit_read(at, v, &s->arena, err);
    }
    return 0;
}

static bool same_text(const char *a, const char *b) { return a && b ? strcmp(a, b) == 0 : a == b; }

bool setting_same(const struct setting *row, const struct settings *a, const struct settings *b)
{
    const void *in_a = (const char *)a + row->offset, *in_b = (const char *)b + row->offset;

    switch (row->kind) {
    case SETTING_BOOL:
        return *(const bool *)in_a == *(const bool *)in_b;
    case SETTING_COUNT:
    case SETTING_SECONDS:
        return *(const uint64_t *)in_a == *(const uint64_t *)in_b;
    case SETTING_WORD:
    case SETTING_TEXT:
    case SETTING_INHERIT:
        return same_text(*(const char *const *)in_a, *(const char *const *)in_b);
    }
    return true;
}
