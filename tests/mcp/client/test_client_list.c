#include "mcp/client/client.h"
#include "mcp/client_rig.h"
#include "mcp/registry/registry.h"

#define LOOP(cases) "while read -r l; do legacy || case $l in " cases " esac; done\n"

static void list_tools(struct rig *r, struct answer *a, const char *body)
{
    struct rig_script s;
    struct pb_client_options o = rig_script(&s, body);
    struct pb_error err;

    rig_init(r, false);
    rig_open_well(r, &o);
    *a = (struct answer){ 0 };
    CHECK_INT(client_list(r->client, "tools", 0, answer_reply, a, &err), 0);
    RIG_UNTIL(r, a->count);
    free(s.text);
}

TEST(all_pages_of_a_list_become_one)
{
    struct answer a;
    struct rig r;

    list_tools(
        &r, &a,
        LOOP("*'\"cursor\":\"\"'*) ok '{\"tools\":[{\"n\":2.0}],\"nextCursor\":\"\\u0041\"}';;"
             "*'\"cursor\":\"\\u0041\"'*) ok '{\"tools\":[],\"nextCursor\":null}';;"
             "*tools/list*) ok '{\"tools\":[{\"n\":1},7],\"nextCursor\":\"\"}';;"));
    CHECK_STR(a.result, "[{\"n\":1},7,{\"n\":2.0}]");
    answer_done(&a);
    rig_done(&r);
}

TEST(a_list_that_does_not_end_well_is_an_error_and_never_a_part)
{
    static const struct {
        const char *body;
        enum pb_code code;
        const char *text;
    } cases[] = {
        { LOOP("*tools/list*) ok '{\"tools\":[],\"nextCursor\":\"same\"}';;"), PB_E_INVALID,
          "circle" },
        { "n=0\n" LOOP("*tools/list*) n=$((1-n)); ok '{\"tools\":[],\"nextCursor\":\"'$n'\"}';;"),
          PB_E_INVALID, "circle" },
        { "n=0\n" LOOP("*tools/list*) n=$((n+1)); ok '{\"tools\":[],\"nextCursor\":\"'$n'\"}';;"),
          PB_E_LIMIT, "1000 pages" },
        { LOOP("*tools/list*) ok '{\"tools\":{}}';;"), PB_E_INVALID, "no array 'tools'" },
        { LOOP("*tools/list*) ok '{}';;"), PB_E_INVALID, "no array 'tools'" },
        { LOOP("*tools/list*) ok '{\"tools\":[],\"nextCursor\":7}';;"), PB_E_INVALID,
          "nextCursor" },
        { LOOP(
              "*tools/list*) ok \"{\\\"tools\\\":[],\\\"nextCursor\\\":\\\"$(head -c 70000 /dev/zero | "
              "tr '\\0' c)\\\"}\";;"),
          PB_E_LIMIT, "cursor" },
        { "n=0\n" LOOP("*tools/list*) n=$((n+1)); if [ $n = 2 ]; then no -32602 gone; else ok "
                       "'{\"tools\":[1],\"nextCursor\":\"c\"}'; fi;;"),
          PB_E_REMOTE, "gone" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct answer a;
        struct rig r;

        list_tools(&r, &a, cases[i].body);
        CHECK(!a.result);
        if (a.err.code != cases[i].code)
            TAP_FAIL("case %zu: %d %s", i, a.err.code, a.err.msg);
        CHECK_HAS(a.err.msg, cases[i].text);
        answer_done(&a);
        rig_done(&r);
    }
}

TEST(a_list_of_too_many_items_is_refused)
{
    struct answer a;
    struct rig r;

    list_tools(&r, &a,
               LOOP("*tools/list*) id; printf "
                    "'{\"jsonrpc\":\"2.0\",\"id\":%s,\"result\":{\"tools\":[0' $x; "
                    "yes ,1 | head -n 100000 | tr -d '\\n'; printf ']}}\\n';;"));
    CHECK_INT(a.err.code, PB_E_LIMIT);
    CHECK_HAS(a.err.msg, "100000 items");
    rig_done(&r);
}

TEST(only_lists_that_exist_can_be_asked_for)
{
    struct rig_script s;
    struct pb_client_options o = rig_script(&s, LOOP("*) ;;"));
    struct pb_error err;
    struct rig r;

    rig_init(&r, false);
    rig_open_well(&r, &o);
    CHECK_INT(client_list(r.client, "things", 0, answer_reply, NULL, &err), -PB_E_INVALID);
    rig_done(&r);
    free(s.text);
}

TEST(a_server_that_knows_no_ping_is_alive)
{
    struct rig_script s;
    struct pb_client_options o = rig_script(
        &s, "n=0\n" LOOP("*ping*) n=$((n+1)); if [ $n = 1 ]; then no -32601 what; else no -32603 "
                         "sick; fi;;"));
    struct answer a = { 0 };
    struct rig r;

    rig_init(&r, false);
    rig_open_well(&r, &o);
    CHECK_INT(client_ping(r.client, 0, answer_reply, &a, NULL), 0);
    RIG_UNTIL(&r, a.count);
    CHECK_INT(a.err.code, PB_OK);
    answer_done(&a);
    CHECK_INT(client_ping(r.client, 0, answer_reply, &a, NULL), 0);
    RIG_UNTIL(&r, a.count);
    CHECK_INT(a.err.sys, -32603);
    answer_done(&a);
    rig_done(&r);
    free(s.text);
}
