/* What a call means, however it is written; and that no spelling leads round a rule. */
#include "kit_rig.h"
#include "tools/kit/kit_impl.h"

TEST(an_operation_is_called_in_three_ways_and_seen_in_one)
{
    /* S3-26, S3-32 */
    static const char wanted[] = "file_operations.show_file {\"filePath\":\"a\"}";
    struct hub_rig rig;
    struct face_client c;

    kit_rig_open(&rig, &c);
    CHECK_STR(kit_call(&c, "file_operations", "{\"operation\":\"show_file\",\"filePath\":\"a\"}"),
              wanted);
    CHECK_STR(kit_call(&c, "file_operations.show_file", "{\"filePath\":\"a\"}"), wanted);
    CHECK_STR(kit_call(&c, "show_file", "{\"filePath\":\"a\"}"), wanted);
    /* the name has the last word */
    CHECK_STR(kit_call(&c, "file_operations.show_file",
                       "{\"operation\":\"find_text\",\"filePath\":\"a\"}"),
              wanted);
    CHECK_STR(kit_call(&c, "builtin/file_operations.show_file", "{\"filePath\":\"a\"}"), wanted);
    face_close(&c);
    rig_done(&rig);
}

TEST(a_name_that_two_operations_have_means_neither)
{
    struct hub_rig rig;
    struct face_client c;

    kit_rig_open(&rig, &c);
    CHECK_HAS(kit_call(&c, "common", "{}"), "Unknown tool: common");
    CHECK_STR(kit_call(&c, "file_operations.common", "{}"), "file_operations.common {}");
    CHECK_STR(kit_call(&c, "slow_ones.common", "{}"), "slow_ones.common {}");
    CHECK_HAS(kit_call(&c, "plain", "{}"), "Unknown tool: plain"); /* TOOL_FULL_NAME */
    CHECK_STR(kit_call(&c, "file_operations.plain", "{}"), "file_operations.plain {}");
    face_close(&c);
    rig_done(&rig);
}

TEST(what_is_missing_or_unknown_is_told)
{
    /* S3-28, S3-29, S3-30 */
    struct hub_rig rig;
    struct face_client c;

    kit_rig_open(&rig, &c);
    CHECK_STR(kit_call(&c, "file_operations", "{}"),
              "error: Missing required parameter: operation (one of show_file, find_text, common, "
              "plain)");
    CHECK_STR(kit_call(&c, "file_operations", "{\"operation\":7}"),
              "error: Missing required parameter: operation (one of show_file, find_text, common, "
              "plain)");
    CHECK_STR(kit_call(&c, "file_operations", "{\"operation\":\"burn\",\"filePath\":\"a\"}"),
              "error: Unknown operation 'burn' of file_operations. It has: show_file, find_text, "
              "common, plain");
    CHECK_HAS(kit_call(&c, "file_operations.burn", "{}"), "Unknown tool: file_operations.burn");
    CHECK_STR(kit_call(&c, "show_file", "{}"), "error: Missing required parameter: filePath");
    CHECK_STR(kit_call(&c, "show_file", "{\"filePath\":null}"),
              "error: Missing required parameter: filePath");
    CHECK_STR(kit_call(&c, "find_text", "{}"), "error: Missing required parameter: pattern_text");
    CHECK_STR(kit_call(&c, "show_file", "{\"filePath\":\"a\",\"colour\":1}"),
              "error: Invalid arguments for tool 'file_operations.show_file': unknown argument "
              "'colour'");
    CHECK_STR(kit_call(&c, "show_file", "{\"filePath\":[]}"),
              "error: Invalid arguments for tool 'file_operations.show_file': filePath: expected a "
              "string, got an array");
    face_close(&c);
    rig_done(&rig);
}

TEST(optional_numbers_and_booleans_have_defaults_and_are_made_to_fit)
{
    /* S3-28 */
    struct hub_rig rig;
    struct face_client c;

    kit_rig_open(&rig, &c);
    CHECK_STR(kit_call(&c, "level", "{}"), "level {\"level\":3}");
    CHECK_STR(kit_call(&c, "level", "{\"level\":\"5\",\"flag\":\"true\"}"),
              "level {\"level\":5,\"flag\":true}");
    face_close(&c);
    rig_done(&rig);
}

TEST(every_spelling_of_a_parameter_is_that_of_the_row)
{
    struct hub_rig rig;
    struct face_client c;

    kit_rig_open(&rig, &c);
    CHECK_STR(kit_call(&c, "show_file", "{\"file_path\":\"a\",\"max_count\":2}"),
              "file_operations.show_file {\"filePath\":\"a\",\"maxCount\":2}");
    CHECK_STR(kit_call(&c, "show_file", "{\"path\":\"a\"}"),
              "file_operations.show_file {\"filePath\":\"a\"}");
    CHECK_STR(kit_call(&c, "find_text", "{\"patternText\":\"a\"}"),
              "file_operations.find_text {\"pattern_text\":\"a\"}");
    face_close(&c);
    rig_done(&rig);
}

TEST(a_parameter_in_two_spellings_is_refused_in_any_order)
{
    static const char *const twice[] = {
        "{\"filePath\":\"a\",\"file_path\":\"b\"}",
        "{\"file_path\":\"a\",\"filePath\":\"b\"}",
        "{\"path\":\"a\",\"file_path\":\"b\"}",
        "{\"path\":\"a\",\"filePath\":\"b\"}",
        "{\"path\":\"a\",\"file_path\":\"a\",\"filePath\":\"a\"}",
    };
    struct hub_rig rig;
    struct face_client c;

    kit_rig_open(&rig, &c);
    for (size_t i = 0; i < ARRAY_LEN(twice); i++)
        CHECK_HAS(
            kit_call(&c, "show_file", twice[i]),
            "error: Invalid arguments for tool 'file_operations.show_file': unknown argument");
    face_close(&c);
    rig_done(&rig);
}

TEST(what_belongs_to_another_operation_is_dropped)
{
    struct hub_rig rig;
    struct face_client c;

    kit_rig_open(&rig, &c);
    CHECK_STR(kit_call(&c, "file_operations",
                       "{\"operation\":\"find_text\",\"pattern_text\":\"x\",\"filePath\":\"a\","
                       "\"max_count\":1,\"path\":\"b\"}"),
              "file_operations.find_text {\"pattern_text\":\"x\"}");
    CHECK_STR(kit_call(&c, "who", "{\"operation\":\"x\"}"),
              "error: Invalid arguments for tool 'who': unknown argument 'operation'");
    face_close(&c);
    rig_done(&rig);
}

/* ---- rules ---- */

static const char *const ways[] = { "file_operations", "file_operations.show_file", "show_file",
                                    "builtin/file_operations.show_file" };

static const char *as(struct face_client *c, size_t way, const char *spelled)
{
    AUTO_BUF struct buf arguments = { 0 };

    buf_printf(&arguments, "{%s%s}", way ? "" : "\"operation\":\"show_file\",", spelled);
    return kit_call(c, ways[way], buf_cstr(&arguments));
}

TEST(a_rule_holds_for_every_way_to_name_what_it_is_about)
{
    static const char *const named[] = { "file_operations.show_file", "file_operations",
                                         "show_file", "file_*", "*.show_file" };
    struct hub_rig rig;
    struct face_client c;

    kit_rig_open(&rig, &c);
    for (size_t i = 0; i < ARRAY_LEN(named); i++) {
        AUTO_BUF struct buf rule = { 0 };

        buf_printf(&rule, "{\"rules\":[{\"name\":\"no\",\"tool\":\"%s\",\"action\":\"deny\"}]}",
                   named[i]);
        kit_rig_policy(&rig, buf_cstr(&rule));
        for (size_t way = 0; way < ARRAY_LEN(ways); way++)
            CHECK_HAS(as(&c, way, "\"filePath\":\"a\""), "the rule 'no' does not allow");
        CHECK_STR(kit_call(&c, "who", "{}") ? "ran" : "", "ran");
    }
    kit_rig_policy(&rig, "{\"rules\":[{\"tool\":\"find_text\",\"action\":\"deny\"}]}");
    for (size_t way = 0; way < ARRAY_LEN(ways); way++)
        CHECK_HAS(as(&c, way, "\"filePath\":\"a\""), "file_operations.show_file");
    face_close(&c);
    rig_done(&rig);
}

TEST(a_rule_about_an_argument_holds_for_every_spelling_of_it)
{
    static const char *const spelled[] = { "\"filePath\":\"/etc/x\"", "\"file_path\":\"/etc/x\"",
                                           "\"path\":\"/etc/x\"", "\"FILEPATH\":\"/etc/x\"",
                                           "\"file\\u0050ath\":\"/etc/x\"" };
    struct hub_rig rig;
    struct face_client c;

    kit_rig_open(&rig, &c);
    kit_rig_policy(&rig, "{\"rules\":[{\"name\":\"etc\",\"tool\":\"show_file\",\"action\":\"deny\","
                         "\"arguments\":[{\"at\":\"/filePath\",\"glob\":\"/etc/*\"}]}]}");
    for (size_t i = 0; i < ARRAY_LEN(spelled); i++)
        for (size_t way = 0; way < ARRAY_LEN(ways); way++)
            CHECK_HAS(as(&c, way, spelled[i]), "the rule 'etc' does not allow");
    CHECK_HAS(as(&c, 0, "\"path\":\"/srv/x\""), "show_file {\"filePath\":\"/srv/x\"}");
    /* nor does saying it twice help: what is read is what would run */
    CHECK(!strstr(as(&c, 1, "\"filePath\":\"/srv/x\",\"path\":\"/etc/x\""), "show_file {"));
    CHECK(!strstr(as(&c, 1, "\"path\":\"/srv/x\",\"filePath\":\"/etc/x\""), "show_file {"));
    CHECK(!strstr(as(&c, 1, "\"filePath\":\"/srv/x\",\"filePath\":\"/etc/x\""), "show_file {"));
    face_close(&c);
    rig_done(&rig);
}

TEST(a_rule_about_annotations_looks_at_the_operation)
{
    struct hub_rig rig;
    struct face_client c;

    kit_rig_open(&rig, &c);
    kit_rig_policy(&rig, "{\"rules\":[{\"name\":\"ro\",\"annotation\":\"!read_only\",\"action\":"
                         "\"deny\",\"tool\":\"file_operations\"}]}");
    CHECK_HAS(as(&c, 0, "\"filePath\":\"a\""), "show_file {");
    CHECK_HAS(
        kit_call(&c, "file_operations", "{\"operation\":\"find_text\",\"pattern_text\":\"x\"}"),
        "the rule 'ro' does not allow");
    face_close(&c);
    rig_done(&rig);
}

/* ---- who asks ---- */

TEST(who_asks_is_said_by_the_gate_and_not_by_the_caller)
{
    struct hub_rig rig;
    struct face_client c;
    char honest[256];
    const char *text;

    kit_rig_open(&rig, &c);
    snprintf(honest, sizeof honest, "%s", kit_call(&c, "who", "{}"));
    CHECK_HAS(honest, "mcp_server|");
    CHECK_HAS(honest, "|/srv/tests/work|0|36");
    text = face_text(face_get(
        &c, "tools/call",
        "{\"name\":\"who\",\"arguments\":{},\"_meta\":{\"patchbay/call\":{\"id\":\"x\",\"face\":"
        "\"cli\",\"client\":\"root\",\"conversation\":\"theirs\",\"directory\":\"/\",\"person\":"
        "true},\"patchbay/directory\":\"/\"}}"));
    CHECK_STR(text, honest);
    face_close(&c);
    rig_done(&rig);
}
