/* Rules: what can be said in them, what is refused, and to what they apply. */
#include "gate/gate.h"
#include "tap.h"
#include "json/json.h"
#include <time.h>

static struct policy *policy_of(const char *text)
{
    AUTO_JSON struct json_doc doc = { 0 };
    struct policy *p = NULL;
    struct pb_error err;

    CHECK_INT(json_parse(&doc, span_of(text), NULL, &err), 0);
    if (policy_parse(&p, json_root(&doc), &err) < 0)
        TAP_FAIL("%s: %s", text, err.msg);
    return p;
}

/* A call of one tool of a server, from an MCP client. */
#define CALL(args)                                                                   \
    {                                                                                \
        .method = "tools/call", .server = "files", .tool = SPAN_CONST("write_file"), \
        .client = "Cursor 1.2", .face = FACE_MCP, .arguments = SPAN_CONST(args)      \
    }

static enum policy_action decides(const char *rules, struct policy_subject s)
{
    AUTO(policy) struct policy *p = policy_of(rules);
    struct policy_verdict v;

    if (!s.annotations)
        s.annotations = policy_annotations(SPAN(""));
    policy_decide(p, &s, &v);
    /* What can decide against a call must have been said to concern its tool. */
    if (v.action != POLICY_ALLOW)
        CHECK(policy_concerns(p, &s));
    return v.action;
}

TEST(what_is_wrong_with_a_rule_is_told_with_its_place)
{
    static const struct {
        const char *rules, *says;
    } cases[] = {
        { "[]", "expected an object, got an array" },
        { "{\"rule\":[]}", "rule: there are only \"default\" and \"rules\"" },
        { "{\"rules\":{}}", "rules: expected a list, got an object" },
        { "{\"rules\":[1]}", "rules[0]: expected an object, got a number" },
        { "{\"rules\":[{}]}", "rules[0]: expected \"action\"" },
        { "{\"rules\":[{\"action\":\"no\"}]}", "rules[0].action: expected \"allow\"" },
        { "{\"rules\":[{\"action\":\"ask\"},{\"action\":\"deny\",\"tol\":\"x\"}]}",
          "rules[1].tol: there is no such condition" },
        { "{\"rules\":[{\"action\":\"deny\",\"tool\":[]}]}",
          "rules[0].tool: expected a string or a list of strings" },
        { "{\"rules\":[{\"action\":\"deny\",\"face\":\"page\"}]}",
          "rules[0].face: expected \"mcp_server\"" },
        { "{\"rules\":[{\"action\":\"deny\",\"annotation\":\"risky\"}]}",
          "rules[0].annotation: expected \"read_only\"" },
        { "{\"rules\":[{\"action\":\"deny\",\"arguments\":[{\"at\":\"path\",\"glob\":\"x\"}]}]}",
          "rules[0].arguments: [0]: at: expected a JSON pointer" },
        { "{\"rules\":[{\"action\":\"deny\",\"arguments\":[{\"at\":\"/path\"}]}]}",
          "rules[0].arguments: [0]: expected \"at\" and exactly one of" },
        { "{\"rules\":[{\"action\":\"deny\",\"arguments\":[{\"at\":\"\",\"regex\":\"(\"}]}]}",
          "rules[0].arguments: [0]: regex" },
        { "{\"rules\":[{\"action\":\"deny\",\"when\":{\"from\":\"25:00\"}}]}",
          "rules[0].when: from: expected a time" },
        { "{\"rules\":[{\"action\":\"deny\",\"when\":{\"days\":[\"someday\"]}}]}",
          "rules[0].when: days: expected" },
        { "{\"rules\":[{\"action\":\"deny\",\"when\":{\"from\":\"09:00\",\"to\":\"09:00\"}}]}",
          "rules[0].when: from and to are the same" },
        { "{\"rules\":[{\"action\":\"deny\",\"method\":\"tools/cal\"}]}",
          "rules[0].method: expected \"tools/call\"" },
        { "{\"rules\":[{\"action\":\"ask\",\"answer_by\":\"me\"}]}",
          "rules[0].answer_by: expected \"console\"" },
        { "{\"rules\":[{\"action\":\"ask\",\"ask_s\":0}]}", "rules[0].ask_s: expected seconds" },
        { "{\"default\":{\"page\":\"ask\"}}", "default.page: expected" },
        { "{\"default\":{\"rest\":\"maybe\"}}", "default.rest: expected \"allow\"" },
        { "{\"rules\":[{\"action\":\"deny\",\"action\":\"allow\"}]}", "" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_JSON struct json_doc doc = { 0 };
        struct policy *p = NULL;
        struct pb_error err = { 0 };

        CHECK_INT(json_parse(&doc, span_of(cases[i].rules), NULL, NULL), 0);
        CHECK(policy_parse(&p, json_root(&doc), &err) < 0);
        if (!strstr(err.msg, cases[i].says))
            TAP_FAIL("%s says \"%s\", expected \"%s\"", cases[i].rules, err.msg, cases[i].says);
    }
}

TEST(the_first_rule_that_applies_decides)
{
    const struct policy_subject s = CALL("{}");

    CHECK_INT(decides("{\"rules\":[{\"action\":\"allow\",\"tool\":\"write_*\"},"
                      "{\"action\":\"deny\"}]}",
                      s),
              POLICY_ALLOW);
    CHECK_INT(decides("{\"rules\":[{\"action\":\"allow\",\"tool\":\"read_*\"},"
                      "{\"action\":\"deny\"}]}",
                      s),
              POLICY_DENY);
    CHECK_INT(decides("{}", s), POLICY_ALLOW);
}

TEST(what_is_usual_depends_on_the_face)
{
    struct policy_subject s = CALL("{}");

    for (unsigned f = 0; f < FACE_COUNT; f++) {
        s.face = f;
        CHECK_INT(decides("{}", s), f == FACE_AGENT ? POLICY_ASK : POLICY_ALLOW);
    }
    s.face = FACE_REST;
    CHECK_INT(decides("{\"default\":{\"rest\":\"deny\"}}", s), POLICY_DENY);
    s.method = "resources/read"; /* what is usual is about calls */
    CHECK_INT(decides("{\"default\":{\"rest\":\"deny\"}}", s), POLICY_ALLOW);
}

TEST(all_conditions_of_a_rule_must_hold)
{
#define DENY(rest) "{\"rules\":[{\"action\":\"deny\"," rest "}]}"
    static const struct {
        const char *rules;
        bool applies;
    } cases[] = {
        { DENY("\"server\":\"files\""), true },
        { DENY("\"server\":\"file\""), false },
        { DENY("\"server\":[\"a\",\"f*\"]"), true },
        { DENY("\"tool\":\"write_*\",\"caller\":\"Cursor*\""), true },
        { DENY("\"tool\":\"write_*\",\"caller\":\"Claude*\""), false },
        { DENY("\"face\":[\"rest\",\"mcp_server\"]"), true },
        { DENY("\"face\":\"rest\""), false },
        { DENY("\"mode\":\"safe\""), false },
        { DENY("\"method\":\"tools/*\""), true },
        { DENY("\"method\":\"resources/read\""), false },
        /* what a tool does not say is taken as the protocol has it */
        { DENY("\"annotation\":\"destructive\""), true },
        { DENY("\"annotation\":\"!read_only\""), true },
        { DENY("\"annotation\":[\"destructive\",\"idempotent\"]"), false },
        { DENY("\"arguments\":[{\"at\":\"/path\",\"glob\":\"/etc/*\"}]"), true },
        { DENY("\"arguments\":[{\"at\":\"/path\",\"glob\":\"/home/*\"}]"), false },
        { DENY("\"arguments\":[{\"at\":\"/path\",\"regex\":\"^/(etc|usr)/\"}]"), true },
        { DENY("\"arguments\":[{\"at\":\"/list/*/n\",\"equals\":2}]"), true },
        { DENY("\"arguments\":[{\"at\":\"/list/*/n\",\"equals\":3}]"), false },
        { DENY("\"arguments\":[{\"at\":\"/list/1/n\",\"equals\":2.0}]"), true },
        { DENY("\"arguments\":[{\"at\":\"/a~1b\",\"present\":true}]"), true },
        { DENY("\"arguments\":[{\"at\":\"/none\",\"present\":false}]"), true },
        { DENY("\"arguments\":[{\"at\":\"/none\",\"present\":true}]"), false },
        { DENY("\"arguments\":[{\"at\":\"/path\",\"glob\":\"/etc/*\"},"
               "{\"at\":\"/none\",\"present\":true}]"),
          false },
    };
    const struct policy_subject s =
        CALL("{\"path\":\"/etc\\u002fpasswd\",\"list\":[{\"n\":1},{\"n\":2}],\"a/b\":null}");

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        if (decides(cases[i].rules, s) != (cases[i].applies ? POLICY_DENY : POLICY_ALLOW))
            TAP_FAIL("%s %s", cases[i].rules, cases[i].applies ? "does not apply" : "applies");
}

TEST(what_a_tool_says_about_itself_counts)
{
    struct policy_subject s = CALL("{}");

    s.annotations = policy_annotations(
        SPAN("{\"name\":\"write_file\",\"annotations\":{\"readOnlyHint\":true}}"));
    CHECK_INT(decides(DENY("\"annotation\":\"!read_only\""), s), POLICY_ALLOW);
    CHECK_INT(decides(DENY("\"annotation\":\"destructive\""), s), POLICY_ALLOW);
    s.annotations = policy_annotations(
        SPAN("{\"name\":\"write_file\",\"annotations\":{\"destructiveHint\":false}}"));
    CHECK_INT(decides(DENY("\"annotation\":\"destructive\""), s), POLICY_ALLOW);
    CHECK_INT(decides(DENY("\"annotation\":\"!read_only\""), s), POLICY_DENY);
}

/* A key that is there twice, text that is no JSON, a pattern without end: nobody knows. */
TEST(what_cannot_be_decided_counts_against_the_call)
{
    static const char slow[] = "\"arguments\":[{\"at\":\"/path\",\"regex\":\"^(a+)+$\"}]";
    static const char *const texts[] = { "{\"path\":\"ok\",\"path\":\"/etc\"}",
                                         "{\"path\":\"aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!\"}",
                                         "{" };

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        AUTO_BUF struct buf deny = { 0 }, allow = { 0 };
        struct policy_subject s = CALL("");

        s.arguments = span_of(texts[i]);
        buf_printf(&deny, "{\"rules\":[{\"action\":\"deny\",%s}]}", slow);
        buf_printf(&allow, "{\"rules\":[{\"action\":\"allow\",%s},{\"action\":\"ask\"}]}", slow);
        CHECK_INT(decides(buf_cstr(&deny), s), POLICY_DENY);
        CHECK_INT(decides(buf_cstr(&allow), s), POLICY_ASK);
    }
}

TEST(a_rule_without_tools_is_for_all_that_is_asked_of_a_server)
{
    struct policy_subject s = CALL("{}");

    s.method = "resources/read";
    s.tool = SPAN("file:///etc/passwd");
    CHECK_INT(decides(DENY("\"server\":\"files\""), s), POLICY_DENY);
    CHECK_INT(decides(DENY("\"server\":\"files\",\"tool\":\"*\""), s), POLICY_ALLOW);
    CHECK_INT(decides(DENY("\"method\":\"resources/read\",\"tool\":\"file:///etc/*\""), s),
              POLICY_DENY);
}

#define URIS(action, globs)                                                                \
    "{\"rules\":[{\"action\":\"" action "\",\"method\":\"resources/read\",\"tool\":" globs \
    "},{\"action\":\"deny\",\"name\":\"rest\",\"method\":\"resources/read\"}]}"

static const char *rule_for(const char *rules, const char *uri)
{
    static char name[64];
    AUTO(policy) struct policy *p = policy_of(rules);
    struct policy_subject s = CALL("{}");
    struct policy_verdict v;

    s.method = "resources/read";
    s.tool = span_of(uri);
    s.annotations = policy_annotations(SPAN(""));
    policy_decide(p, &s, &v);
    snprintf(name, sizeof name, "%s", v.rule);
    return name;
}

/* However it is written, what a server may take for it is not read. */
TEST(a_denied_uri_is_denied_in_every_spelling)
{
    static const struct {
        const char *glob, *uri;
    } cases[] = {
        { "file:///etc/*", "file:///etc/passwd" },
        { "file:///etc/*", "file:///tmp/../etc/passwd" },
        { "file:///etc/*", "file:///tmp/%2e%2e/etc/passwd" },
        { "file:///etc/*", "file:///tmp/%2E./etc/passwd" },
        { "file:///etc/*", "file:///tmp/..%2fetc/passwd" },
        { "file:///etc/*", "file:///tmp/%252e%252e/etc/passwd" },
        { "file:///etc/*", "file:///%65tc/passwd" },
        { "file:///etc/*", "file:///etc%2Fpasswd" },
        { "file:///etc/*", "file:///./etc/passwd" },
        { "file:///etc/*", "file:////etc//passwd" },
        { "file:///etc/*", "file:/etc/passwd" },
        { "file:///etc/*", "FILE:///etc/passwd" },
        { "file:///etc/*", "file://localhost/etc/passwd" },
        { "file:///etc/*", "file://LOCALHOST/etc/passwd" },
        { "file:///etc/*", "file:///tmp\\..\\etc\\passwd" },
        { "file:///etc/*", "file:///et\tc/passwd" },
        { "file:///etc/*", " file:///etc/passwd\n" },
        { "file:///etc/*", "file:///../../etc/passwd" },
        { "file:///etc/passwd", "file:///etc/passwd#x" },
        { "file:///etc/passwd", "file:///etc/passwd?x=1" },
        { "file:///my%20docs/*", "file:///my docs/a" },
        { "file:///my docs/*", "file:///my%20docs/a" },
        { "file://localhost/etc/*", "file:///etc/passwd" },
        { "file:/etc/*", "file:///etc/passwd" },
        { "https://example.com/secret*", "https://EXAMPLE.com:443/secret" },
        { "https://example.com/secret*", "HTTPS://me@example.com/a/../secret" },
        { "https://example.com/secret*", "https:///example.com/secret" },
        { "https://Example.com/secret*", "https://example.com/secret" },
        { "db://rows/*", "db://rows/1" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        char rules[512];

        snprintf(rules, sizeof rules, URIS("deny", "\"%s\",\"name\":\"it\""), cases[i].glob);
        if (strcmp(rule_for(rules, cases[i].uri), "it") != 0)
            TAP_FAIL("%s is not %s", cases[i].uri, cases[i].glob);
    }
    /* and nothing else is */
    CHECK_STR(rule_for(URIS("deny", "\"file:///etc/*\",\"name\":\"it\""), "file:///tmp/etc/passwd"),
              "rest");
    CHECK_STR(rule_for(URIS("deny", "\"file:///etc/*\",\"name\":\"it\""), "file:///etcetera"),
              "rest");
    CHECK_STR(rule_for(URIS("deny", "\"db://rows/*\",\"name\":\"it\""), "db://x/../rows/1"),
              "rest");
}

TEST(an_allowed_uri_is_allowed_as_it_is_written_and_as_it_is_meant)
{
    static const char rules[] = URIS("allow", "[\"file:///pub/*\",\"db://t?*\"],\"name\":\"it\"");

    CHECK_STR(rule_for(rules, "file:///pub/a"), "it");
    CHECK_STR(rule_for(rules, "file:///pub/a%20b?x#y"), "it");
    CHECK_STR(rule_for(rules, "file:///pub/a/../b"), "it");
    CHECK_STR(rule_for(rules, "db://t?row=1"), "it");
    CHECK_STR(rule_for(rules, "file:///pub/../etc/passwd"), "rest");
    CHECK_STR(rule_for(rules, "file:///pub/%2e%2e/etc/passwd"), "rest");
    CHECK_STR(rule_for(rules, "file:///pub/..%2Fetc"), "rest");
    CHECK_STR(rule_for(rules, "file:///etc/../pub/a"), "rest"); /* it is not what was written */
}

TEST(a_rule_holds_at_its_times)
{
    struct policy_subject s = CALL("{}");
    static const struct {
        const char *when;
        int hour, day; /* 2026-11-15 is a Sunday */
        bool holds;
    } cases[] = {
        { "\"from\":\"09:00\",\"to\":\"17:00\"", 9, 15, true },
        { "\"from\":\"09:00\",\"to\":\"17:00\"", 17, 15, false },
        { "\"from\":\"22:00\",\"to\":\"06:00\"", 23, 15, true },
        { "\"from\":\"22:00\",\"to\":\"06:00\"", 5, 15, true },
        { "\"from\":\"22:00\",\"to\":\"06:00\"", 6, 15, false },
        { "\"days\":[\"sun\"]", 12, 15, true },
        { "\"days\":[\"sun\"]", 12, 16, false },
        /* a night belongs to the day on which it began */
        { "\"from\":\"22:00\",\"to\":\"06:00\",\"days\":[\"sun\"]", 5, 16, true },
        { "\"from\":\"22:00\",\"to\":\"06:00\",\"days\":[\"sun\"]", 5, 15, false },
        { "\"from\":\"22:00\"", 23, 15, true },
    };

    setenv("TZ", "UTC", 1);
    tzset();
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct tm at = {
            .tm_year = 126, .tm_mon = 10, .tm_mday = cases[i].day, .tm_hour = cases[i].hour
        };
        AUTO_BUF struct buf rules = { 0 };

        s.now_ms = (int64_t)timegm(&at) * 1000;
        buf_printf(&rules, "{\"rules\":[{\"action\":\"deny\",\"when\":{%s}}]}", cases[i].when);
        if (decides(buf_cstr(&rules), s) != (cases[i].holds ? POLICY_DENY : POLICY_ALLOW))
            TAP_FAIL("%s at %d:00 of day %d", cases[i].when, cases[i].hour, cases[i].day);
    }
}

TEST(a_version_differs_when_the_rules_do_and_only_then)
{
    AUTO(policy)
    struct policy *a = policy_of(DENY("\"tool\":\"x\"")),
                  *b = policy_of("{\"rules\":[{\"tool\":\"x\" , \"action\":\"deny\"}]}"),
                  *c = policy_of(DENY("\"tool\":\"y\""));

    CHECK_STR(policy_version(a), policy_version(b));
    CHECK(strcmp(policy_version(a), policy_version(c)) != 0);
}

TEST(more_rules_than_the_bound_are_refused)
{
    for (int over = 0; over < 2; over++) {
        AUTO_BUF struct buf text = { 0 };
        AUTO_JSON struct json_doc doc = { 0 };
        AUTO(policy) struct policy *p = NULL;
        struct pb_error err;

        buf_str(&text, "{\"rules\":[");
        for (int i = 0; i < POLICY_RULES_MAX + over; i++)
            buf_printf(&text, "%s{\"action\":\"ask\",\"tool\":\"t%d\"}", i ? "," : "", i);
        buf_str(&text, "]}");
        CHECK_INT(json_parse(&doc, buf_span(&text), NULL, NULL), 0);
        CHECK_INT(policy_parse(&p, json_root(&doc), &err), over ? -PB_E_LIMIT : 0);
    }
}
