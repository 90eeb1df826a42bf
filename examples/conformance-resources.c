/* conformance-resources.c - resources, templates and prompts. */
#include "conformance.h"
#include <stdio.h>
#include <string.h>

enum { TEXT_MAX = 1024 };

static int read_text(struct pb_call *call, void *ctx)
{
    return pb_reply_resource(call, pb_call_uri(call), "text/plain", ctx);
}

static int read_pixel(struct pb_call *call, void *ctx)
{
    (void)ctx;
    return pb_reply_resource_blob(call, pb_call_uri(call), "image/png", red_pixel, red_pixel_n);
}

static int read_by_id(struct pb_call *call, void *ctx)
{
    const char *quoted = pb_arg_json(call, "id");
    char text[TEXT_MAX];

    (void)ctx;
    /* The id is quoted once as it is, and once inside a sentence: without its own quotes. */
    snprintf(text, sizeof text, "{\"id\":%s,\"templateTest\":true,\"data\":\"Data for ID: %.*s\"}",
             quoted, (int)(strlen(quoted) - 2), quoted + 1);
    return pb_reply_resource(call, pb_call_uri(call), "application/json", text);
}

static char static_text[] = "This is the content of the static text resource.";
static char watched_text[] = "Watched resource content.";

/* clang-format off */
const struct pb_resource static_resources[] = {
    { "test://static-text", "Static text", .description = "A text that never changes", .mime_type = "text/plain", .flags = PB_ON_LOOP, .read = read_text, .ctx = static_text },
    { "test://static-binary", "Static binary", .description = "A picture that never changes", .mime_type = "image/png", .flags = PB_ON_LOOP, .read = read_pixel },
    { "test://watched-resource", "Watched resource", .description = "A text that can be subscribed to", .mime_type = "text/plain", .flags = PB_ON_LOOP, .read = read_text, .ctx = watched_text },
    { 0 },
};

const struct pb_resource resource_templates[] = {
    { "test://template/{id}/data", "Data by id", .description = "A document for every id", .mime_type = "application/json", .flags = PB_ON_LOOP, .read = read_by_id },
    { 0 },
};
/* clang-format on */

static int simple_prompt(struct pb_call *call, void *ctx)
{
    return (void)ctx, pb_reply_message(call, "user", "This is a simple prompt for testing.");
}

static int with_arguments(struct pb_call *call, void *ctx)
{
    char text[TEXT_MAX];

    (void)ctx;
    snprintf(text, sizeof text, "Prompt with arguments: arg1='%s', arg2='%s'",
             pb_arg_string(call, "arg1"), pb_arg_string(call, "arg2"));
    return pb_reply_message(call, "user", text);
}

static int complete_argument(struct pb_call *call, void *ctx)
{
    static const char *const words[] = { "paris", "park", "party" };
    const char *typed = pb_complete_value(call);

    (void)ctx;
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (!strncmp(words[i], typed, strlen(typed)))
            pb_complete_add(call, words[i]);
    return 0;
}

static int with_resource(struct pb_call *call, void *ctx)
{
    char content[TEXT_MAX];

    (void)ctx;
    snprintf(content, sizeof content,
             "{\"type\":\"resource\",\"resource\":{\"uri\":%s,\"mimeType\":\"text/plain\","
             "\"text\":\"Embedded resource content for testing.\"}}",
             pb_arg_json(call, "resourceUri"));
    pb_reply_message_content(call, "user", content);
    return pb_reply_message(call, "user", "Please process the embedded resource above.");
}

static int with_image(struct pb_call *call, void *ctx)
{
    (void)ctx;
    pb_reply_message_content(
        call, "user",
        "{\"type\":\"image\",\"mimeType\":\"image/png\",\"data\":"
        "\"iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAIAAACQd1PeAAAADElEQVQI12P4z8AAAAMBAQAY3Y2wAAAAAElFTkSuQmCC"
        "\"}");
    return pb_reply_message(call, "user", "Please analyze the image above.");
}

static int asking_prompt(struct pb_call *call, void *ctx)
{
    static const char form[] =
        "{\"type\":\"object\",\"properties\":{\"context\":{\"type\":\"string\"}},"
        "\"required\":[\"context\"]}";
    char context[TEXT_MAX / 2], text[TEXT_MAX];
    const char *answer;
    int rc =
        pb_ask_form(call, "user_context", "What context should the prompt use?", form, &answer);

    (void)ctx;
    if (rc < 0)
        return rc;
    find_text(answer, "content/context", context, sizeof context);
    snprintf(text, sizeof text, "Use this context: %s", context);
    return pb_reply_message(call, "user", text);
}

static const struct pb_prompt_arg two_args[] = {
    { "arg1", "the first argument", true },
    { "arg2", "the second argument", true },
    { 0 },
};
static const struct pb_prompt_arg uri_arg[] = {
    { "resourceUri", "of the resource to embed", true },
    { 0 },
};

/* clang-format off */
const struct pb_prompt prompts[] = {
    { "test_simple_prompt", .description = "One message", .flags = PB_ON_LOOP, .get = simple_prompt },
    { "test_prompt_with_arguments", .description = "A message made of arguments", .args = two_args, .flags = PB_ON_LOOP, .get = with_arguments, .complete = complete_argument },
    { "test_prompt_with_embedded_resource", .description = "A message that holds a resource", .args = uri_arg, .flags = PB_ON_LOOP, .get = with_resource },
    { "test_prompt_with_image", .description = "A message that holds an image", .flags = PB_ON_LOOP, .get = with_image },
    { "test_input_required_result_prompt", .description = "Asks for what it needs to know", .get = asking_prompt },
    { 0 },
};
/* clang-format on */

const struct pb_prompt coming_prompt = {
    .name = "test_coming_prompt",
    .description = "Is there every other time that the list changes",
    .flags = PB_ON_LOOP,
    .get = simple_prompt,
};
