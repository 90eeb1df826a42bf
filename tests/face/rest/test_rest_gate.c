/* What people are asked, what they allow and the rules about it, over REST. */
#include "face/rest_rig.h"
#include "temp_dir.h"

static void rules(struct rest_rig *rig, const char *text)
{
    AUTO_JSON struct json_doc doc = { 0 };
    struct policy *p = NULL;
    struct pb_error err;

    if (json_parse(&doc, span_of(text), NULL, &err) < 0 ||
        policy_parse(&p, json_root(&doc), &err) < 0)
        TAP_FAIL("%s", err.msg);
    gate_set_policy(rig->hub.gate, p);
    policy_unref(p);
}

#define ASK_ECHO \
    "{\"rules\":[{\"name\":\"careful\",\"action\":\"ask\",\"tool\":\"echo\",\"reason\":\"it talks\"}]}"

static void begin(struct rest_rig *rig, const char *policy)
{
    struct fake_server *f;

    rest_init_store(rig, NULL, temp_path("records"));
    f = rig_server(&rig->hub, "alpha");
    fake_tool(f, "echo", FAKE_ECHO);
    fake_tool(f, "plain", FAKE_TEXT)->text = "hi";
    rest_start(rig);
    rules(rig, policy);
}

/* A call that a person is asked about; the id of the question. */
static const char *held(struct rest_rig *rig, struct line *call, const char *body)
{
    static char id[ID_CHARS + 1];

    line_call(rig, call, body);
    do {
        line_turn(call);
        CHECK_INT(GET(rig, "/api/questions"), 200);
    } while (!*got("questions.0.id"));
    snprintf(id, sizeof id, "%s", got("questions.0.id"));
    return id;
}

static int answer(struct rest_rig *rig, const char *id, const char *headers, const char *body)
{
    AUTO_BUF struct buf all = { 0 };
    char request[256];

    snprintf(request, sizeof request, "POST /api/questions/%s/answer", id);
    buf_printf(&all, "%s%s%s", REST_TOKEN, REST_JSON, headers);
    return rest_ask(rig, request, NULL, buf_cstr(&all), body);
}

TEST(a_question_is_shown_told_of_and_answered_once)
{
    struct rest_rig rig;
    struct line call, events;
    const char *id;

    begin(&rig, ASK_ECHO);
    CHECK_INT(GET(&rig, "/api/questions"), 200);
    CHECK_STR(rest_body, "{\"questions\":[]}\n");
    line_open(&rig, &events);
    line_ask(&events, "GET /api/events?types=question,question_over", NULL, REST_TOKEN, "");
    line_until(&events, "\n\n");
    id = held(&rig, &call, "{\"tool\":\"alpha/echo\",\"arguments\":{\"a\":[1]}}");
    CHECK_STR(got("questions.0.kind"), "approval");
    CHECK_STR(got("questions.0.text"), "REST wants to use alpha/echo: it talks");
    CHECK_STR(got("questions.0.rule"), "careful");
    CHECK_STR(got("questions.0.reason"), "it talks");
    CHECK_STR(got("questions.0.server"), "alpha");
    CHECK_STR(got("questions.0.tool"), "echo");
    CHECK_STR(got("questions.0.caller"), "REST");
    CHECK_STR(got("questions.0.face"), "rest");
    CHECK_STR(got("questions.0.arguments"), "{\"a\":[1]}");
    CHECK_STR(got("questions.1"), "");
    line_until(&events, "event: question\n");
    line_until(&events, "\"type\":\"question\",\"server\":\"alpha\"");
    CHECK(!strstr(buf_cstr(&events.in), "question_over"));

    CHECK_INT(answer(&rig, id, "", "{\"choice\":\"yes\"}"), 400);
    CHECK_HAS(got("message"), "choice: expected approve, grant or deny");
    CHECK_INT(answer(&rig, id, "", "{}"), 400);
    CHECK_INT(answer(&rig, id, "", "{\"choice\":\"approve\",\"grant_s\":5}"), 400);
    CHECK_INT(answer(&rig, id, "", "{\"choice\":\"grant\",\"grant_s\":0}"), 400);
    CHECK_INT(answer(&rig, id, "", "{\"choice\":\"grant\",\"grant_s\":1e9}"), 400);
    CHECK_INT(answer(&rig, "nosuch", "", "{\"choice\":\"approve\"}"), 404);
    CHECK_STR(got("error"), "question_not_found");
    CHECK_INT(answer(&rig, id, "X-Patchbay-Client: my page\r\n", "{\"choice\":\"approve\"}"), 200);
    CHECK_INT(line_answer(&call), 200);
    line_close(&call);
    CHECK_INT(answer(&rig, id, "", "{\"choice\":\"approve\"}"), 404);
    line_until(&events, "event: question_over\n");
    line_until(&events, "\n\n");
    CHECK_HAS(buf_cstr(&events.in), id);
    line_close(&events);
    CHECK_INT(GET(&rig, "/api/calls"), 200);
    CHECK_STR(got("recent.0.status"), "success");
    CHECK_STR(got("recent.0.question"), id);
    CHECK_STR(got("recent.0.answered_by"), "my page");
    CHECK_STR(got("recent.0.rule"), "careful");
    rest_done(&rig);
}

TEST(who_is_refused_hears_why)
{
    char long_reason[REST_REASON_MAX + 64], body[REST_REASON_MAX + 128];
    struct rest_rig rig;
    struct line call;
    const char *id;

    begin(&rig, ASK_ECHO);
    id = held(&rig, &call, "{\"tool\":\"alpha/echo\"}");
    memset(long_reason, 'x', sizeof long_reason);
    snprintf(body, sizeof body, "{\"choice\":\"deny\",\"reason\":\"%.*s\"}", REST_REASON_MAX + 1,
             long_reason);
    CHECK_INT(answer(&rig, id, "", body), 400);
    snprintf(body, sizeof body, "{\"choice\":\"deny\",\"reason\":\"%.*s\"}", REST_REASON_MAX,
             long_reason);
    CHECK_INT(answer(&rig, id, "", body), 200);
    CHECK_INT(line_answer(&call), 403);
    CHECK_STR(got("error"), "call_denied");
    line_close(&call);
    id = held(&rig, &call, "{\"tool\":\"alpha/echo\"}");
    CHECK_INT(answer(&rig, id, "", "{\"choice\":\"deny\",\"reason\":\"not today\"}"), 200);
    CHECK_INT(line_answer(&call), 403);
    CHECK_HAS(got("message"), "not today");
    line_close(&call);
    CHECK_INT(GET(&rig, "/api/calls?status=denied"), 200);
    CHECK_HAS(got("recent.0.note"), "not today");
    CHECK_STR(got("recent.0.answered_by"), "console");
    CHECK_STR(got("recent.2"), "");
    rest_done(&rig);
}

TEST(what_is_for_others_to_answer_is_not_answered_here)
{
    struct rest_rig rig;
    struct line call;
    const char *id;

    begin(&rig, "{\"rules\":[{\"action\":\"ask\",\"tool\":\"echo\",\"answer_by\":\"cli\"}]}");
    id = held(&rig, &call, "{\"tool\":\"alpha/echo\"}");
    CHECK_STR(got("questions.0.answer_by"), "[\"cli\"]");
    CHECK_INT(answer(&rig, id, "", "{\"choice\":\"approve\"}"), 409);
    CHECK_STR(got("error"), "not_yours_to_answer");
    line_close(&call);
    CHECK_INT(GET(&rig, "/api/questions"), 200);
    CHECK_STR(got("questions"), "[]"); /* who asked is gone */
    rest_done(&rig);
}

TEST(a_grant_lets_the_next_calls_pass_until_it_is_over_or_revoked)
{
    struct rest_rig rig;
    struct line call;
    char path[64 + ID_CHARS];
    const char *id;

    begin(&rig, ASK_ECHO);
    id = held(&rig, &call, "{\"tool\":\"alpha/echo\"}");
    CHECK_INT(answer(&rig, id, "", "{\"choice\":\"grant\",\"grant_s\":60}"), 200);
    CHECK_INT(line_answer(&call), 200);
    line_close(&call);
    CHECK_INT(POST(&rig, "/api/mcp-tools/call", "{\"tool\":\"alpha/echo\"}"), 200);
    CHECK_INT(GET(&rig, "/api/grants"), 200);
    CHECK_STR(got("grants.0.operation"), "alpha/echo");
    CHECK_STR(got("grants.0.once"), "false");
    CHECK_STR(got("grants.0.used"), "1");
    CHECK(strtod(got("grants.0.expires_at"), NULL) - strtod(got("grants.0.made_at"), NULL) == 60);
    CHECK_STR(got("auto_approve"), "[]");
    snprintf(path, sizeof path, "DELETE /api/grants/%s", got("grants.0.id"));
    CHECK_INT(rest_send(&rig, path, ""), 200);
    CHECK_INT(rest_send(&rig, path, ""), 404);
    CHECK_STR(got("error"), "grant_not_found");
    id = held(&rig, &call, "{\"tool\":\"alpha/echo\"}");
    CHECK_INT(answer(&rig, id, "", "{\"choice\":\"grant\",\"grant_s\":60}"), 200);
    CHECK_INT(line_answer(&call), 200);
    line_close(&call);
    loop_advance(rig.hub.fakes.loop, 60000);
    CHECK_INT(GET(&rig, "/api/grants"), 200);
    CHECK_STR(got("grants"), "[]");
    rest_done(&rig);
}

TEST(grants_are_made_listed_and_taken_back)
{
    static const char *const bad[] = {
        "{\"conversation\":\"c\"}",
        "{\"operation\":\"a/b\"}",
        "{\"conversation\":\"\",\"operation\":\"a/b\"}",
        "{\"conversation\":\"c\\n\",\"operation\":\"a/b\"}",
        "{\"conversation\":\"c\",\"operation\":\"a/b\",\"seconds\":0}",
        "{\"conversation\":\"c\",\"operation\":\"a/b\",\"seconds\":2592001}",
        "{\"conversation\":\"c\",\"operation\":\"a/b\",\"duration\":\"soon\"}",
        "{\"conversation\":\"c\",\"operation\":\"a/b\",\"duration\":\"31d\"}",
        "{\"conversation\":\"c\",\"operation\":\"a/b\",\"duration\":\"5m\",\"seconds\":5}",
    };
    struct rest_rig rig;

    begin(&rig, "{}");
    for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
        CHECK_INT(POST(&rig, "/api/grants", bad[i]), 400);
        CHECK_STR(got("error"), "invalid_request");
    }
    CHECK_INT(POST(&rig, "/api/grants",
                   "{\"conversation\":\"c1\",\"operation\":\"a/b\",\"duration\":\"1h30m\"}"),
              201);
    CHECK(strtod(got("expires_at"), NULL) - strtod(got("made_at"), NULL) == 5400);
    CHECK_INT(
        POST(&rig, "/api/grants", "{\"conversation\":\"c1\",\"operation\":\"a/c\",\"once\":true}"),
        201);
    CHECK(strtod(got("expires_at"), NULL) - strtod(got("made_at"), NULL) == GRANT_MS / 1000.0);
    CHECK_STR(got("once"), "true");
    CHECK_INT(
        POST(&rig, "/api/grants", "{\"conversation\":\"c2\",\"operation\":\"a/b\",\"seconds\":1}"),
        201);
    CHECK_INT(rest_send(&rig, "PUT /api/auto-approve", "{\"conversation\":\"c9\",\"on\":true}"),
              200);
    CHECK_INT(GET(&rig, "/api/grants"), 200);
    CHECK(*got("grants.2.id") && !*got("grants.3.id"));
    CHECK_STR(got("auto_approve"), "[\"c9\"]");
    CHECK_INT(rest_send(&rig, "DELETE /api/grants?conversation=c1", ""), 200);
    CHECK_STR(got("revoked"), "2");
    CHECK_INT(rest_send(&rig, "DELETE /api/grants", ""), 200);
    CHECK_STR(got("revoked"), "1");
    CHECK_INT(rest_send(&rig, "PUT /api/auto-approve", "{\"conversation\":\"c9\",\"on\":false}"),
              200);
    CHECK_INT(GET(&rig, "/api/grants"), 200);
    CHECK_STR(rest_body, "{\"grants\":[],\"auto_approve\":[]}\n");
    CHECK_INT(rest_send(&rig, "PUT /api/auto-approve", "{\"conversation\":\"c9\"}"), 400);
    rest_done(&rig);
}

TEST(the_rules_are_shown_as_they_are_written)
{
    struct rest_rig rig;
    char version[64];

    begin(&rig, "{}");
    gate_set_policy(rig.hub.gate, NULL);
    CHECK_INT(GET(&rig, "/api/policy"), 200);
    CHECK_STR(rest_body, "{\"version\":\"none\",\"rules\":[],\"default\":{}}\n");
    rules(&rig, "{\"default\":{\"agent\":\"deny\"},\"rules\":[{\"action\": \"ask\"}]}");
    CHECK_INT(GET(&rig, "/api/policy"), 200);
    CHECK_STR(got("rules"), "[{\"action\": \"ask\"}]");
    CHECK_STR(got("default.agent"), "deny");
    snprintf(version, sizeof version, "%s", got("version"));
    /* Nothing here was read from files, so nothing can be saved; what is wrong is said first. */
    CHECK_INT(rest_send(&rig, "PUT /api/policy", "{\"rules\":[]}"), 409);
    CHECK_STR(got("error"), "config_not_read");
    CHECK_INT(rest_send(&rig, "PUT /api/policy", "{\"rules\":[],\"version\":\"old\"}"), 409);
    CHECK_STR(got("error"), "policy_changed");
    CHECK_INT(rest_send(&rig, "PUT /api/policy",
                        "{\"rules\":[{\"action\":\"ask\"},{\"action\":\"ask\"},{\"action\":"
                        "\"perhaps\"}]}"),
              400);
    CHECK_HAS(got("message"), "rules[2].action: expected");
    CHECK_INT(rest_send(&rig, "PUT /api/policy", "{\"rule\":[]}"), 400);
    CHECK_HAS(got("message"), "did you mean 'rules'");
    CHECK_INT(rest_send(&rig, "PUT /api/policy", "{}"), 400);
    CHECK_INT(rest_send(&rig, "PUT /api/policy", ""), 400);
    CHECK_INT(GET(&rig, "/api/policy"), 200);
    CHECK_STR(got("version"), version);
    rest_done(&rig);
}

TEST(where_a_call_would_stop_is_explained)
{
    struct rest_rig rig;
    struct line call;
    const char *id;

    begin(&rig,
          "{\"rules\":[{\"name\":\"no\",\"action\":\"deny\",\"tool\":\"echo\",\"caller\":"
          "\"Cursor*\",\"reason\":\"not you\"},{\"action\":\"ask\",\"tool\":\"echo\",\"face\":"
          "\"cli\"},{\"name\":\"etc\",\"action\":\"deny\",\"tool\":\"plain\",\"arguments\":[{"
          "\"at\":\"/path\",\"glob\":\"/etc*\"}]}]}");
    rig_modes(&rig.hub, "{\"none\":{\"name\":\"None\",\"filter\":{\"tools\":[]}}}");
    CHECK_INT(POST(&rig, "/api/explain", "{\"tool\":\"alpha/echo\"}"), 200);
    CHECK_STR(got("outcome"), "allow");
    CHECK_STR(got("steps.0.step"), "resolve");
    CHECK_STR(got("steps.0.says"), "pass");
    CHECK_STR(got("recorded"), "true");
    CHECK_INT(POST(&rig, "/api/explain", "{\"tool\":\"alpha/echo\",\"client\":\"Cursor 1\"}"), 200);
    CHECK_STR(got("outcome"), "deny");
    CHECK_STR(got("rule"), "no");
    CHECK_HAS(got("reason"), "not you");
    CHECK_INT(POST(&rig, "/api/explain", "{\"tool\":\"alpha/echo\",\"face\":\"cli\"}"), 200);
    CHECK_STR(got("outcome"), "ask");
    CHECK_INT(POST(&rig, "/api/grants", "{\"conversation\":\"c\",\"operation\":\"alpha/echo\"}"),
              201);
    CHECK_INT(POST(&rig, "/api/explain",
                   "{\"tool\":\"alpha/echo\",\"face\":\"cli\",\"conversation\":\"c\"}"),
              200);
    CHECK_STR(got("outcome"), "allow");
    /* of who asks itself, without being named */
    rules(&rig, "{\"rules\":[{\"action\":\"ask\",\"tool\":\"echo\"}]}");
    CHECK_INT(POST(&rig, "/api/explain", "{\"tool\":\"alpha/echo\",\"face\":\"rest\"}"), 200);
    CHECK_STR(got("outcome"), "ask");
    id = held(&rig, &call, "{\"tool\":\"alpha/echo\"}");
    CHECK_INT(answer(&rig, id, "", "{\"choice\":\"grant\"}"), 200);
    CHECK_INT(line_answer(&call), 200);
    line_close(&call);
    CHECK_INT(POST(&rig, "/api/explain", "{\"tool\":\"alpha/echo\",\"face\":\"rest\"}"), 200);
    CHECK_STR(got("outcome"), "allow");
    rules(&rig,
          "{\"rules\":[{\"name\":\"etc\",\"action\":\"deny\",\"tool\":\"plain\",\"arguments\":[{"
          "\"at\":\"/path\",\"glob\":\"/etc*\"}]}]}");
    CHECK_INT(POST(&rig, "/api/explain",
                   "{\"tool\":\"alpha/plain\",\"arguments\":{\"path\":\"/etc/x\"}}"),
              200);
    CHECK_STR(got("rule"), "etc");
    CHECK_INT(POST(&rig, "/api/explain", "{\"tool\":\"alpha/echo\",\"mode\":\"none\"}"), 200);
    CHECK_STR(got("outcome"), "deny");
    CHECK_HAS(got("reason"), "mode");
    CHECK_INT(POST(&rig, "/api/explain", "{\"tool\":\"alpha/gone\"}"), 200);
    CHECK_STR(got("outcome"), "deny");
    CHECK_INT(POST(&rig, "/api/explain", "{\"tool\":\"nosuch/x\"}"), 404);
    CHECK_INT(POST(&rig, "/api/explain", "{\"tool\":\"alpha/echo\",\"mode\":\"nosuch\"}"), 404);
    CHECK_INT(POST(&rig, "/api/explain", "{\"tool\":\"alpha/echo\",\"face\":\"tv\"}"), 400);
    CHECK_INT(POST(&rig, "/api/explain", "{}"), 400);
    rest_done(&rig);
}

/* ---- rules tried on what was recorded ---- */

static void put_calls(struct rest_rig *rig, unsigned n)
{
    for (unsigned i = 0; i < n; i++) {
        AUTO_BUF struct buf arguments = { 0 };
        struct record r = { .source = "mcp_client",
                            .face = "mcp_server",
                            .method = "tools/call",
                            .caller = "Cursor 1",
                            .server = "files",
                            .tool = i % 2 ? "read" : "write",
                            .status = "success",
                            .queued_us = 1000000 };

        buf_printf(&arguments, "{\"path\":\"/%s/%u\"}", i % 10 ? "tmp" : "etc", i);
        r.arguments = (struct object_bytes){ buf_span(&arguments), NULL };
        r.definition = (struct object_bytes){
            i % 2 ? SPAN("{\"name\":\"read\",\"annotations\":{\"readOnlyHint\":true}}")
                  : SPAN("{\"name\":\"write\"}"),
            NULL
        };
        store_put(rig->hub.store, &r);
    }
}

#define DRY(policy) POST(&rig, "/api/policy/dry-run", "{\"policy\":" policy "}")

TEST(rules_are_tried_on_what_was_recorded)
{
    struct rest_rig rig;

    begin(&rig, "{\"rules\":[{\"name\":\"old\",\"action\":\"ask\",\"tool\":\"write\"}]}");
    CHECK_INT(DRY("{}"), 200);
    CHECK_STR(got("calls"), "0");
    CHECK_STR(got("recorded"), "true");
    put_calls(&rig, 250);
    CHECK_INT(DRY("{\"rules\":[{\"name\":\"old\",\"action\":\"ask\",\"tool\":\"write\"}]}"), 200);
    CHECK_STR(got("calls"), "250");
    CHECK_STR(got("ask"), "125");
    CHECK_STR(got("allow"), "125");
    CHECK_STR(got("changed"), "0");
    CHECK_STR(got("examples"), "[]");
    CHECK_INT(DRY("{}"), 200);
    CHECK_STR(got("allow"), "250");
    CHECK_STR(got("changed"), "125");
    CHECK_STR(got("examples.0.was"), "ask");
    CHECK_STR(got("examples.0.now"), "allow");
    CHECK_STR(got("examples.0.rule"), "default");
    CHECK_STR(got("examples.0.name"), "files/write");
    CHECK_STR(got("examples.0.caller"), "Cursor 1");
    CHECK(*got("examples.49.id") && !*got("examples.50.id"));
    /* What they carried, and what their tools said of themselves, counts. */
    CHECK_INT(DRY("{\"rules\":[{\"name\":\"etc\",\"action\":\"deny\",\"arguments\":[{\"at\":"
                  "\"/path\",\"glob\":\"/etc*\"}]},{\"action\":\"ask\",\"annotation\":"
                  "\"!read_only\"}]}"),
              200);
    CHECK_STR(got("deny"), "25");
    CHECK_STR(got("ask"), "100");
    CHECK_STR(got("allow"), "125");
    CHECK_STR(got("changed"), "25");
    CHECK_STR(got("examples.0.rule"), "etc");
    CHECK_STR(got("unread"), "0");
    /* Of one of which nothing was kept, rules about its arguments do not know. */
    store_put(rig.hub.store, &(struct record){ .server = "files",
                                               .tool = "write",
                                               .method = "tools/call",
                                               .face = "rest",
                                               .status = "success",
                                               .queued_us = 1,
                                               .detail = RECORD_META,
                                               .arguments = { SPAN("{\"path\":\"/etc\"}") } });
    CHECK_INT(DRY("{\"rules\":[{\"action\":\"deny\",\"face\":\"rest\",\"arguments\":[{\"at\":"
                  "\"/path\",\"glob\":\"/etc*\"}]}]}"),
              200);
    CHECK_STR(got("deny"), "0");
    CHECK_STR(got("unread"), "1");
    /* The rules in force are what they were. */
    CHECK_INT(GET(&rig, "/api/policy"), 200);
    CHECK_STR(got("rules.0.name"), "old");
    CHECK_INT(DRY("{\"rules\":[{\"action\":1}]}"), 400);
    CHECK_HAS(got("message"), "rules[0].action: expected");
    CHECK_INT(POST(&rig, "/api/policy/dry-run", "{}"), 400);
    rest_done(&rig);
}

TEST(so_many_calls_are_tried_and_not_one_more)
{
    struct rest_rig rig;

    begin(&rig, "{}");
    put_calls(&rig, REST_DRY_RUN_CALLS);
    CHECK_INT(DRY("{}"), 200);
    CHECK_STR(got("calls"), "1000");
    put_calls(&rig, 1);
    CHECK_INT(DRY("{}"), 200);
    CHECK_STR(got("calls"), "1000");
    rest_done(&rig);
}

TEST(without_records_there_is_nothing_to_try_rules_on)
{
    struct rest_rig rig;

    rest_init(&rig, NULL);
    rest_start(&rig);
    CHECK_INT(DRY("{\"rules\":[]}"), 200);
    CHECK_STR(got("recorded"), "false");
    CHECK_STR(got("calls"), "0");
    CHECK_INT(DRY("[]"), 400);
    rest_done(&rig);
}

TEST(who_tries_rules_beside_others_is_told_to_come_again)
{
    struct line lines[REST_DRY_RUNS_MAX + 2];
    struct rest_rig rig;
    int refused = 0;

    begin(&rig, "{}");
    put_calls(&rig, 300);
    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        line_open(&rig, &lines[i]);
        line_ask(&lines[i], "POST /api/policy/dry-run", NULL, REST_TOKEN REST_JSON,
                 "{\"policy\":{}}");
    }
    for (size_t i = 0; i < ARRAY_LEN(lines); i++) {
        int status = line_answer(&lines[i]);

        CHECK(status == 200 || status == 503);
        refused += status == 503;
        line_close(&lines[i]);
    }
    CHECK(refused <= 2);
    CHECK_INT(DRY("{}"), 200); /* there is room again */
    rest_done(&rig);
}
