#include "mcp/client/client.h"
#include "mcp/client/client_public.h"
#include "tap.h"

static void check_text(const char *json, const char *want)
{
    struct pb_result *r = result_new(span_of(json));
    char *text = pb_result_text(r);

    CHECK_STR(text, want);
    free(text);
    pb_result_free(r);
}

#define CONTENT(blocks) "{\"content\":[" blocks "]}"
/* The smallest PNG of one pixel: 70 bytes. */
#define PIXEL                                                                      \
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9" \
    "awAAAABJRU5ErkJggg=="

/* S0-47 S0-48 S0-49 S0-50 S0-51 */
TEST(a_tool_result_reads_as_a_person_would_tell_it)
{
    static const struct {
        const char *json, *text;
    } cases[] = {
        { CONTENT("{\"type\":\"text\",\"text\":\"as it is\\n\\u00e9\"}"), "as it is\n\xc3\xa9" },
        { CONTENT("{\"type\":\"image\",\"mimeType\":\"image/png\",\"data\":\"" PIXEL "\"}"),
          "[Image: image/png, 70 bytes]" },
        { CONTENT("{\"type\":\"audio\",\"mimeType\":\"audio/wav\",\"data\":\"AAAA\"}"),
          "[Audio: audio/wav, 3 bytes]" },
        { CONTENT("{\"type\":\"audio\",\"mimeType\":\"audio/wav\",\"data\":\"AA==\"}"),
          "[Audio: audio/wav, 1 bytes]" },
        { CONTENT("{\"type\":\"image\",\"mimeType\":\"image/png\",\"data\":\"\"}"),
          "[Image: image/png, 0 bytes]" },
        { CONTENT(
              "{\"type\":\"resource\",\"resource\":{\"uri\":\"file:///a\",\"text\":\"inside\"}}"),
          "inside" },
        { CONTENT("{\"type\":\"resource\",\"resource\":{\"uri\":\"file:///a\",\"blob\":\"AA==\"}}"),
          "[Resource: file:///a]" },
        { CONTENT("{\"type\":\"resource_link\",\"uri\":\"file:///b\",\"name\":\"b\"}"),
          "[Resource: file:///b]" },
        { CONTENT("{\"type\":\"text\",\"text\":\"one\"},{\"type\":\"text\",\"text\":\"\"},"
                  "{\"type\":\"resource\",\"resource\":{\"uri\":\"u:1\"}}"),
          "one\n\n[Resource: u:1]" },
        { CONTENT(""), "" },
        { "{}", "" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        check_text(cases[i].json, cases[i].text);
}

TEST(other_results_read_as_well)
{
    check_text("{\"contents\":[{\"uri\":\"a:1\",\"text\":\"x\"},{\"uri\":\"a:2\",\"blob\":\"\"}]}",
               "x\n[Resource: a:2]");
    check_text("{\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":\"hi\"}},"
               "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":\"ho\"}]}]}",
               "hi\nho");
    check_text("{\"content\":[],\"structuredContent\":{\"n\":1.0}}", "{\"n\":1.0}");
    check_text(CONTENT("{\"type\":\"hologram\",\"x\":1}"), "{\"type\":\"hologram\",\"x\":1}");
}

TEST(a_failed_tool_is_told_apart_and_nothing_else_is)
{
    static const struct {
        const char *json;
        bool error;
    } cases[] = {
        { "{\"content\":[],\"isError\":true}", true },
        { "{\"content\":[],\"isError\":false}", false },
        { "{\"content\":[{\"isError\":true}]}", false },
        { "{\"isError\":\"true\"}", false },
        { "{}", false },
        { "[]", false },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct pb_result *r = result_new(span_of(cases[i].json));

        CHECK_INT(pb_result_is_error(r), cases[i].error);
        pb_result_free(r);
    }
}

TEST(the_json_of_a_result_is_what_came_and_is_terminated)
{
    struct pb_result *r = result_new(span_make("{\"n\":1.0}garbage", 9));
    size_t n;

    CHECK_STR(pb_result_json(r, &n), "{\"n\":1.0}");
    CHECK_INT(n, 9);
    CHECK_STR(pb_result_json(r, NULL), "{\"n\":1.0}");
    pb_result_free(r);
    pb_result_free(NULL);
}
