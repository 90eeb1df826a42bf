/* conformance-legacy.c - tools that ask the client, as legacy clients know it, and one whose client
 * comes back for the answer. */
#include "conformance.h"
#include <stdio.h>

enum { TEXT_MAX = 1024 };

static int sampling(struct pb_call *call, void *ctx)
{
    char params[TEXT_MAX], text[TEXT_MAX];
    const char *answer;
    int rc;

    (void)ctx;
    snprintf(params, sizeof params,
             "{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":%s}}],"
             "\"maxTokens\":100}",
             pb_arg_json(call, "prompt"));
    rc = pb_ask_model(call, "sampling", params, &answer);
    if (rc < 0)
        return rc;
    find_text(answer, "content/text", text, sizeof text);
    return pb_reply_text(call, "LLM response: %s", text);
}

static int reply_elicited(struct pb_call *call, const char *intro, const char *answer)
{
    char action[32], content[TEXT_MAX];

    find_text(answer, "action", action, sizeof action);
    find_text(answer, "content", content, sizeof content);
    return pb_reply_text(call, "%s: action=%s, content=%s", intro, action,
                         content[0] ? content : "{}");
}

static int elicitation(struct pb_call *call, void *ctx)
{
    static const char schema[] =
        "{\"type\":\"object\",\"properties\":{"
        "\"username\":{\"type\":\"string\",\"description\":\"User's response\"},"
        "\"email\":{\"type\":\"string\",\"description\":\"User's email address\"}},"
        "\"required\":[\"username\",\"email\"]}";
    const char *answer;
    int rc = pb_ask_form(call, "user", pb_arg_string(call, "message"), schema, &answer);

    (void)ctx;
    return rc < 0 ? rc : reply_elicited(call, "User response", answer);
}

/* A form whose schema is the ctx. */
static int elicit_form(struct pb_call *call, void *ctx)
{
    const char *answer;
    int rc = pb_ask_form(call, "form", "Please review and update the form", ctx, &answer);

    return rc < 0 ? rc : reply_elicited(call, "Elicitation completed", answer);
}

static char defaults_schema[] =
    "{\"type\":\"object\",\"properties\":{"
    "\"name\":{\"type\":\"string\",\"description\":\"User name\",\"default\":\"John Doe\"},"
    "\"age\":{\"type\":\"integer\",\"description\":\"User age\",\"default\":30},"
    "\"score\":{\"type\":\"number\",\"description\":\"User score\",\"default\":95.5},"
    "\"status\":{\"type\":\"string\",\"description\":\"User status\","
    "\"enum\":[\"active\",\"inactive\",\"pending\"],\"default\":\"active\"},"
    "\"verified\":{\"type\":\"boolean\",\"description\":\"Verification status\",\"default\":true}},"
    "\"required\":[]}";

static char enums_schema[] =
    "{\"type\":\"object\",\"properties\":{"
    "\"untitledSingle\":{\"type\":\"string\",\"description\":\"Choose one option\","
    "\"enum\":[\"option1\",\"option2\",\"option3\"]},"
    "\"titledSingle\":{\"type\":\"string\",\"description\":\"Choose one titled option\",\"oneOf\":["
    "{\"const\":\"value1\",\"title\":\"First Option\"},"
    "{\"const\":\"value2\",\"title\":\"Second Option\"},"
    "{\"const\":\"value3\",\"title\":\"Third Option\"}]},"
    "\"legacyEnum\":{\"type\":\"string\",\"description\":\"Choose one option (legacy)\","
    "\"enum\":[\"opt1\",\"opt2\",\"opt3\"],"
    "\"enumNames\":[\"Option One\",\"Option Two\",\"Option Three\"]},"
    "\"untitledMulti\":{\"type\":\"array\",\"description\":\"Choose several\",\"minItems\":1,"
    "\"maxItems\":3,\"items\":{\"type\":\"string\","
    "\"enum\":[\"option1\",\"option2\",\"option3\"]}},"
    "\"titledMulti\":{\"type\":\"array\",\"description\":\"Choose several titled\",\"minItems\":1,"
    "\"maxItems\":3,\"items\":{\"anyOf\":["
    "{\"const\":\"value1\",\"title\":\"First Choice\"},"
    "{\"const\":\"value2\",\"title\":\"Second Choice\"},"
    "{\"const\":\"value3\",\"title\":\"Third Choice\"}]}}},"
    "\"required\":[]}";

static int reconnection(struct pb_call *call, void *ctx)
{
    (void)ctx;
    pb_call_close_stream(call, 500);
    if (pb_call_wait(call, 100)) /* the answer comes after the stream was closed */
        return pb_fail(call, "cancelled");
    return pb_reply_text(call, "Reconnection test completed successfully.");
}

static const struct pb_param prompt_params[] = {
    { "prompt", PB_STRING, "what to ask the model" },
    { 0 },
};
static const struct pb_param message_params[] = {
    { "message", PB_STRING, "what to ask the person" },
    { 0 },
};

/* clang-format off */
const struct pb_tool legacy_tools[] = {
    { "test_sampling", .description = "Asks the client's model", .params = prompt_params, .run = sampling },
    { "test_elicitation", .description = "Asks the person at the client", .params = message_params, .run = elicitation },
    { "test_elicitation_sep1034_defaults", .description = "Asks with defaults for every type", .run = elicit_form, .ctx = defaults_schema },
    { "test_elicitation_sep1330_enums", .description = "Asks with every kind of choice", .run = elicit_form, .ctx = enums_schema },
    { "test_reconnection", .description = "Closes its stream; the answer is fetched later", .run = reconnection },
    { 0 },
};
/* clang-format on */
