/* conformance-content.c - tools that return every kind of content, report, and change lists. */
#include "conformance.h"

/* clang-format off */
const unsigned char red_pixel[] = {
    0x89, 'P', 'N', 'G', 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 0x0d, 'I', 'H', 'D', 'R', 0, 0, 0, 1,
    0, 0, 0, 1, 8, 2, 0, 0, 0, 0x90, 0x77, 0x53, 0xde, 0, 0, 0, 0x0c, 'I', 'D', 'A', 'T', 0x08,
    0xd7, 0x63, 0xf8, 0xcf, 0xc0, 0, 0, 0x03, 0x01, 0x01, 0, 0x18, 0xdd, 0x8d, 0xb0, 0, 0, 0, 0,
    'I', 'E', 'N', 'D', 0xae, 0x42, 0x60, 0x82,
};
const size_t red_pixel_n = sizeof red_pixel;

/* Two samples of silence: 8 kHz, one channel, 8 bits. */
static const unsigned char silence[] = {
    'R', 'I', 'F', 'F', 38, 0, 0, 0, 'W', 'A', 'V', 'E', 'f', 'm', 't', ' ', 16, 0, 0, 0, 1, 0, 1, 0,
    0x40, 0x1f, 0, 0, 0x40, 0x1f, 0, 0, 1, 0, 8, 0, 'd', 'a', 't', 'a', 2, 0, 0, 0, 0x80, 0x80,
};
/* clang-format on */

static int simple_text(struct pb_call *call, void *ctx)
{
    return (void)ctx, pb_reply_text(call, "This is a simple text response for testing.");
}

static int image(struct pb_call *call, void *ctx)
{
    return (void)ctx, pb_reply_image(call, red_pixel, red_pixel_n, "image/png");
}

static int audio(struct pb_call *call, void *ctx)
{
    return (void)ctx, pb_reply_audio(call, silence, sizeof silence, "audio/wav");
}

static int embedded_resource(struct pb_call *call, void *ctx)
{
    (void)ctx;
    return pb_reply_resource(call, "test://embedded-resource", "text/plain",
                             "This is an embedded resource content.");
}

static int multiple_types(struct pb_call *call, void *ctx)
{
    (void)ctx;
    pb_reply_text(call, "Multiple content types test:");
    pb_reply_image(call, red_pixel, red_pixel_n, "image/png");
    return pb_reply_resource(call, "test://mixed-content-resource", "application/json",
                             "{\"test\":\"data\",\"value\":123}");
}

static int with_logging(struct pb_call *call, void *ctx)
{
    static const char *const lines[] = { "\"Tool execution started\"", "\"Tool processing data\"",
                                         "\"Tool execution completed\"" };

    (void)ctx;
    for (int i = 0; i < 3; i++) {
        if (i && pb_call_wait(call, 50))
            return pb_fail(call, "cancelled");
        pb_call_log(call, PB_LOG_INFO, "conformance", lines[i]);
    }
    return pb_reply_text(call, "Tool with logging executed successfully");
}

static int with_progress(struct pb_call *call, void *ctx)
{
    (void)ctx;
    for (int done = 0; done <= 100; done += 50) {
        if (done && pb_call_wait(call, 50))
            return pb_fail(call, "cancelled");
        pb_call_progress(call, done, 100, NULL);
    }
    return pb_reply_text(call, "Tool with progress executed successfully");
}

static int error_handling(struct pb_call *call, void *ctx)
{
    return (void)ctx, pb_fail(call, "This tool intentionally returns an error for testing");
}

static int log_once(struct pb_call *call, void *ctx)
{
    (void)ctx;
    pb_call_log(call, PB_LOG_INFO, "conformance", "\"A message about this request\"");
    return pb_reply_text(call, "Logged if asked for");
}

static int coming(struct pb_call *call, void *ctx)
{
    return (void)ctx, pb_reply_text(call, "Here today");
}

const struct pb_tool coming_tool = {
    .name = "test_coming_and_going",
    .description = "Is there every other time that the list changes",
    .run = coming,
};

static int change_tools(struct pb_call *call, void *ctx)
{
    static bool there; /* it runs on the loop's thread */

    (void)ctx;
    there = !there;
    if (!there)
        pb_server_remove_tool(conformance_server, coming_tool.name, NULL);
    else
        pb_server_add_tool(conformance_server, &coming_tool, NULL);
    return pb_reply_text(call, "The list of tools has changed");
}

static int change_prompts(struct pb_call *call, void *ctx)
{
    static bool there; /* it runs on the loop's thread */

    (void)ctx;
    there = !there;
    if (!there)
        pb_server_remove_prompt(conformance_server, coming_prompt.name, NULL);
    else
        pb_server_add_prompt(conformance_server, &coming_prompt, NULL);
    return pb_reply_text(call, "The list of prompts has changed");
}

static int by_region(struct pb_call *call, void *ctx)
{
    return (void)ctx, pb_reply_text(call, "Region: %s", pb_arg_string(call, "region"));
}

static int contact(struct pb_call *call, void *ctx)
{
    return (void)ctx, pb_reply_text(call, "Arguments: %s", pb_arg_json(call, NULL));
}

static const struct pb_param region_params[] = {
    { "region", PB_STRING, "mirrored in a header, so that a proxy can route by it",
      .header = "Region" },
    { 0 },
};

/* Offered as it is written: every keyword must arrive at the client. */
static const char contact_schema[] =
    "{\"$schema\":\"https://json-schema.org/draft/2020-12/schema\",\"type\":\"object\","
    "\"$defs\":{\"address\":{\"$anchor\":\"addressDef\",\"type\":\"object\",\"properties\":{"
    "\"street\":{\"type\":\"string\"},\"city\":{\"type\":\"string\"}}}},"
    "\"properties\":{\"name\":{\"type\":\"string\"},\"address\":{\"$ref\":\"#/$defs/address\"},"
    "\"contactMethod\":{\"type\":\"string\",\"enum\":[\"phone\",\"email\"]},"
    "\"phone\":{\"type\":\"string\"},\"email\":{\"type\":\"string\"}},"
    "\"allOf\":[{\"anyOf\":[{\"required\":[\"phone\"]},{\"required\":[\"email\"]}]}],"
    "\"if\":{\"properties\":{\"contactMethod\":{\"const\":\"phone\"}},"
    "\"required\":[\"contactMethod\"]},"
    "\"then\":{\"required\":[\"phone\"]},\"else\":{\"required\":[\"email\"]},"
    "\"additionalProperties\":false}";

/* clang-format off */
const struct pb_tool content_tools[] = {
    { "test_simple_text", .description = "Returns a text", .flags = PB_ON_LOOP, .run = simple_text },
    { "test_image_content", .description = "Returns an image", .flags = PB_ON_LOOP, .run = image },
    { "test_audio_content", .description = "Returns a sound", .flags = PB_ON_LOOP, .run = audio },
    { "test_embedded_resource", .description = "Returns a resource", .flags = PB_ON_LOOP, .run = embedded_resource },
    { "test_multiple_content_types", .description = "Returns a text, an image and a resource", .flags = PB_ON_LOOP, .run = multiple_types },
    { "test_tool_with_logging", .description = "Logs three messages while it runs", .run = with_logging },
    { "test_tool_with_progress", .description = "Reports progress three times", .run = with_progress },
    { "test_error_handling", .description = "Always fails", .flags = PB_ON_LOOP, .run = error_handling },
    { "test_logging_tool", .description = "Logs one message to those who want it", .flags = PB_ON_LOOP, .run = log_once },
    { "test_trigger_tool_change", .description = "Changes the list of tools", .flags = PB_ON_LOOP, .run = change_tools },
    { "test_trigger_prompt_change", .description = "Changes the list of prompts", .flags = PB_ON_LOOP, .run = change_prompts },
    { "test_custom_header", .description = "Has a parameter that is mirrored in a header", .params = region_params, .flags = PB_ON_LOOP, .run = by_region },
    { "json_schema_2020_12_tool", .description = "Has an input schema with many keywords", .input_schema = contact_schema, .flags = PB_ON_LOOP, .run = contact },
    { 0 },
};
/* clang-format on */
