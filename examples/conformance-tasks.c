/* conformance-tasks.c - tools that run as tasks. */
#include "conformance.h"

enum { TEXT_MAX = 1024, RPC_INTERNAL_ERROR = -32603 };

static int greet(struct pb_call *call, void *ctx)
{
    return (void)ctx, pb_reply_text(call, "Hello, %s!", pb_arg_string(call, "name"));
}

static int slow_compute(struct pb_call *call, void *ctx)
{
    double seconds = pb_arg_double(call, "seconds");

    (void)ctx;
    if (seconds < 0 || seconds > 3600)
        return pb_fail(call, "seconds must be between 0 and 3600");
    if (pb_call_wait(call, (uint32_t)(seconds * 1000)))
        return pb_fail(call, "cancelled");
    return pb_reply_text(call, "Computed for %g seconds", seconds);
}

static int failing_job(struct pb_call *call, void *ctx)
{
    (void)ctx;
    pb_call_wait(call, 1000);
    return pb_fail(call, "This job always fails");
}

static int protocol_error_job(struct pb_call *call, void *ctx)
{
    (void)ctx;
    pb_call_wait(call, 100);
    return pb_fail_rpc(call, RPC_INTERNAL_ERROR, "This job ends in a protocol error", NULL);
}

static const char confirm_form[] =
    "{\"type\":\"object\",\"properties\":{\"confirm\":{\"type\":\"boolean\"}}}";
static const char name_form[] =
    "{\"type\":\"object\",\"properties\":{\"name\":{\"type\":\"string\"}}}";

static int confirm_delete(struct pb_call *call, void *ctx)
{
    const char *answer;
    char action[32];
    int rc = pb_ask_form(call, "confirm", "Really delete it?", confirm_form, &answer);

    (void)ctx;
    if (rc < 0)
        return rc;
    find_text(answer, "action", action, sizeof action);
    return pb_reply_text(call, "The answer was: %s", action);
}

static int multi_input(struct pb_call *call, void *ctx)
{
    const char *name, *confirm;
    int a = pb_ask_form(call, "name", "What is your name?", name_form, &name);
    int b = pb_ask_form(call, "confirm", "Are you sure?", confirm_form, &confirm);

    (void)ctx;
    if (a < 0 || b < 0)
        return a < 0 ? a : b;
    return pb_reply_text(call, "Both answers are there");
}

/* Asks first, while the client still waits for the call, and becomes a task then. */
static int asks_then_runs(struct pb_call *call, void *ctx)
{
    const char *answer;
    char name[TEXT_MAX];
    int rc = pb_ask_form(call, "user_name", "What is your name?", name_form, &answer);

    (void)ctx;
    if (rc < 0)
        return rc;
    pb_call_task(call);
    find_text(answer, "content/name", name, sizeof name);
    pb_call_wait(call, 100);
    return pb_reply_text(call, "Hello, %s!", name);
}

static const struct pb_param greet_params[] = {
    { "name", PB_STRING, "who to greet", .fallback = "\"World\"" },
    { 0 },
};
static const struct pb_param slow_params[] = {
    { "seconds", PB_DOUBLE, "how long it takes", .fallback = "1" },
    { "label", PB_STRING, "says what it is for", PB_OPTIONAL },
    { 0 },
};
static const struct pb_param file_params[] = {
    { "filename", PB_STRING, "what would be deleted", PB_OPTIONAL },
    { 0 },
};

/* clang-format off */
const struct pb_tool task_tools[] = {
    { "greet", .description = "Answers at once", .params = greet_params, .flags = PB_ON_LOOP, .run = greet },
    { "slow_compute", .description = "Takes its time", .params = slow_params, .flags = PB_TASK_ALLOWED, .run = slow_compute },
    { "failing_job", .description = "Runs as a task and fails", .flags = PB_TASK_REQUIRED, .run = failing_job },
    { "protocol_error_job", .description = "Ends in a JSON-RPC error", .flags = PB_TASK_ALLOWED, .run = protocol_error_job },
    { "confirm_delete", .description = "Waits for a confirmation", .params = file_params, .flags = PB_TASK_ALLOWED, .run = confirm_delete },
    { "multi_input", .description = "Waits for two answers", .flags = PB_TASK_ALLOWED, .run = multi_input },
    { "test_tool_with_task", .description = "Asks, then runs as a task", .flags = PB_TASK_REQUIRED | PB_TASK_LATER, .run = asks_then_runs },
    { 0 },
};
/* clang-format on */
