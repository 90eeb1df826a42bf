/* conformance-input.c - the rounds of questions of the modern era. A handler asks, returns what the
 * question returned, and is run again with the answers. */
#include "conformance.h"

enum { TEXT_MAX = 1024 };

#define FORM(property, type)                                                  \
    "{\"type\":\"object\",\"properties\":{\"" property "\":{\"type\":\"" type \
    "\"}},\"required\":[\"" property "\"]}"

static const char name_form[] = FORM("name", "string");

static int ask_name(struct pb_call *call, const char *key, char *name, size_t room)
{
    const char *answer;
    int rc = pb_ask_form(call, key, "What is your name?", name_form, &answer);

    if (rc == 0)
        find_text(answer, "content/name", name, room);
    return rc;
}

static int ask_model(struct pb_call *call, const char *key, const char *params, char *text,
                     size_t room)
{
    const char *answer;
    int rc = pb_ask_model(call, key, params, &answer);

    if (rc == 0)
        find_text(answer, "content/text", text, room);
    return rc;
}

static const char capital_question[] =
    "{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\","
    "\"text\":\"What is the capital of France?\"}}],\"maxTokens\":100}";
static const char greeting_question[] =
    "{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\","
    "\"text\":\"Generate a greeting\"}}],\"maxTokens\":50}";

static int by_elicitation(struct pb_call *call, void *ctx)
{
    char name[TEXT_MAX];
    int rc = ask_name(call, "user_name", name, sizeof name);

    (void)ctx;
    return rc < 0 ? rc : pb_reply_text(call, "Hello, %s!", name);
}

static int by_sampling(struct pb_call *call, void *ctx)
{
    char text[TEXT_MAX];
    int rc = ask_model(call, "capital_question", capital_question, text, sizeof text);

    (void)ctx;
    return rc < 0 ? rc : pb_reply_text(call, "The model says: %s", text);
}

static int by_roots(struct pb_call *call, void *ctx)
{
    const char *answer;
    char roots[TEXT_MAX];
    int rc = pb_ask_roots(call, "client_roots", &answer);

    (void)ctx;
    if (rc < 0)
        return rc;
    find_text(answer, "roots", roots, sizeof roots);
    return pb_reply_text(call, "The client's roots: %s", roots);
}

static int with_state(struct pb_call *call, void *ctx)
{
    static const char form[] = FORM("ok", "boolean");
    const char *answer, *state = pb_call_state(call);
    int rc;

    (void)ctx;
    if (!state)
        pb_call_set_state(call, "{\"round\":1}");
    rc = pb_ask_form(call, "confirm", "Please confirm", form, &answer);
    if (rc < 0)
        return rc;
    return pb_reply_text(call, "%s", state ? "state-ok" : "state-missing");
}

static int multiple(struct pb_call *call, void *ctx)
{
    char name[TEXT_MAX], greeting[TEXT_MAX];
    const char *roots;
    int a, b, c;

    (void)ctx;
    if (!pb_call_state(call))
        pb_call_set_state(call, "{\"asked\":3}");
    a = ask_name(call, "user_name", name, sizeof name);
    b = ask_model(call, "greeting", greeting_question, greeting, sizeof greeting);
    c = pb_ask_roots(call, "client_roots", &roots);
    if (a < 0 || b < 0 || c < 0)
        return a < 0 ? a : b < 0 ? b : c;
    return pb_reply_text(call, "%s %s, with roots %s", greeting, name, roots);
}

static int multi_round(struct pb_call *call, void *ctx)
{
    static const char color_form[] = FORM("color", "string");
    char name[TEXT_MAX], color[TEXT_MAX];
    const char *answer;
    int rc;

    (void)ctx;
    rc = ask_name(call, "step1", name, sizeof name);
    pb_call_set_state(call, rc < 0 ? "{\"step\":1}" : "{\"step\":2}");
    if (rc < 0)
        return rc;
    rc = pb_ask_form(call, "step2", "What is your favourite colour?", color_form, &answer);
    if (rc < 0)
        return rc;
    find_text(answer, "content/color", color, sizeof color);
    return pb_reply_text(call, "%s likes %s", name, color);
}

/* Asks whatever this client can be asked. */
static int by_capabilities(struct pb_call *call, void *ctx)
{
    char text[TEXT_MAX] = "";
    const char *roots;
    int rc = 0;

    (void)ctx;
    if (pb_call_can_ask(call, "elicitation"))
        rc = ask_name(call, "user_name", text, sizeof text);
    if (rc == 0 && pb_call_can_ask(call, "sampling"))
        rc = ask_model(call, "capital_question", capital_question, text, sizeof text);
    if (rc == 0 && pb_call_can_ask(call, "roots"))
        rc = pb_ask_roots(call, "client_roots", &roots);
    return rc < 0 ? rc : pb_reply_text(call, "Answered: %s", text);
}

/* clang-format off */
const struct pb_tool input_tools[] = {
    { "test_missing_capability", .description = "Needs a client that offers sampling", .run = by_sampling },
    { "test_streaming_elicitation", .description = "Asks instead of sending a request", .run = by_elicitation },
    { "test_input_required_result_elicitation", .description = "Asks for a name", .run = by_elicitation },
    { "test_input_required_result_sampling", .description = "Asks the client's model", .run = by_sampling },
    { "test_input_required_result_list_roots", .description = "Asks for the client's roots", .run = by_roots },
    { "test_input_required_result_request_state", .description = "Keeps state between the rounds", .run = with_state },
    { "test_input_required_result_multiple_inputs", .description = "Asks three things at once", .run = multiple },
    { "test_input_required_result_multi_round", .description = "Asks twice in a row", .run = multi_round },
    { "test_input_required_result_tampered_state", .description = "Refuses state that was changed", .run = with_state },
    { "test_input_required_result_capabilities", .description = "Asks only what the client offers", .run = by_capabilities },
    { 0 },
};
/* clang-format on */
