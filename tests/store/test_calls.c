/* Records as they go in and come out. */
#include "store_rig.h"

TEST(what_was_put_is_found_whole)
{
    struct rig rig;
    struct record r = rig_call(7);
    struct rig_page *p;

    rig_new(&rig);
    r.run = "run-1";
    r.conversation = "talk-2";
    r.note = "why not";
    r.parent = "00000000-0000-4000-8000-0000000000ff";
    r.question = "may I?";
    r.answered_by = "a person";
    r.rule = "rule-3";
    r.trace = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    r.pid = 4711;
    r.process_us = 999;
    r.definition = rig_bytes("{\"name\":\"read\"}");
    store_put(rig.s, &r);
    p = rig_find(&rig, (struct call_query){ 0 });
    CHECK_INT(p->err.code, 0);
    CHECK_INT(p->n, 1);
    CHECK_INT(p->total, 1);
    CHECK_INT(p->next, 0);
    CHECK_INT(p->v[0].no, 1);
    CHECK_STR(p->v[0].r.uuid, r.uuid);
    CHECK_STR(p->v[0].r.source, "mcp_client");
    CHECK_STR(p->v[0].r.face, "mcp_server");
    CHECK_STR(p->v[0].r.method, "tools/call");
    CHECK_STR(p->v[0].r.caller, "someone");
    CHECK_STR(p->v[0].r.run, "run-1");
    CHECK_STR(p->v[0].r.conversation, "talk-2");
    CHECK_STR(p->v[0].r.server, "files");
    CHECK_STR(p->v[0].r.tool, "read");
    CHECK_STR(p->v[0].r.status, "success");
    CHECK_STR(p->v[0].r.note, "why not");
    CHECK_STR(p->v[0].r.parent, r.parent);
    CHECK_STR(p->v[0].r.question, "may I?");
    CHECK_STR(p->v[0].r.answered_by, "a person");
    CHECK_STR(p->v[0].r.rule, "rule-3");
    CHECK_STR(p->v[0].r.trace, r.trace);
    CHECK_INT(p->v[0].r.queued_us, r.queued_us);
    CHECK_INT(p->v[0].r.started_us, r.started_us);
    CHECK_INT(p->v[0].r.ended_us, r.ended_us);
    CHECK_INT(p->v[0].r.pid, 4711);
    CHECK_INT(p->v[0].r.process_us, 999);
    CHECK_INT(p->v[0].r.detail, RECORD_ALL);
    CHECK_INT(p->v[0].arguments_bytes, 13);
    CHECK_INT(p->v[0].result_bytes, 22);
    CHECK(p->v[0].redacted == NULL);
    CHECK_SPAN(buf_span(&rig_object(&rig, p->v[0].arguments_cid)->bytes), "{\"path\":\"/a\"}");
    CHECK_SPAN(buf_span(&rig_object(&rig, p->v[0].definition_cid)->bytes), "{\"name\":\"read\"}");
    rig_done(&rig);
}

TEST(what_is_not_known_stays_unknown)
{
    struct rig rig;
    struct record r = { .uuid = "00000000-0000-4000-8000-000000000001", .queued_us = 5 };
    struct rig_page *p;

    rig_new(&rig);
    store_put(rig.s, &r);
    p = rig_find(&rig, (struct call_query){ 0 });
    CHECK_INT(p->n, 1);
    CHECK(!p->v[0].r.source && !p->v[0].r.server && !p->v[0].r.tool && !p->v[0].r.note);
    CHECK(!p->v[0].r.parent && !p->v[0].r.trace && !p->v[0].r.caller);
    CHECK_INT(p->v[0].r.started_us, 0);
    CHECK_INT(p->v[0].r.ended_us, 0);
    CHECK_STR(p->v[0].arguments_cid, "");
    CHECK_STR(p->v[0].result_cid, "");
    CHECK_INT(p->v[0].arguments_bytes, 0);
    rig_done(&rig);
}

TEST(records_are_there_after_the_store_was_closed)
{
    struct rig rig;

    rig_new(&rig);
    rig_put(&rig, 1, 10);
    rig_close(&rig);
    rig_open(&rig);
    rig_put(&rig, 11, 1);
    CHECK_INT(rig_find(&rig, (struct call_query){ 0 })->n, 11);
    CHECK_INT(rig_find(&rig, (struct call_query){ 0 })->v[0].no, 11);
    rig_done(&rig);
}

TEST(one_is_found_by_its_uuid)
{
    struct rig rig;
    struct rig_page *p;

    rig_new(&rig);
    rig_put(&rig, 1, 300);
    p = rig_get(&rig, "00000000-0000-4000-8000-00000000000c");
    CHECK_INT(p->n, 1);
    CHECK_INT(p->v[0].no, 12);
    CHECK_INT(p->total, 300);
    CHECK_INT(rig_get(&rig, "00000000-0000-4000-8000-000000fffff0")->n, 0);
    CHECK_INT(rig_get(&rig, "nonsense")->n, 0);
    CHECK_INT(rig_get(&rig, "nonsense")->err.code, 0);
    rig_done(&rig);
}

TEST(without_detail_no_bytes_are_kept)
{
    struct rig rig;
    struct record r = rig_call(1);

    rig_new(&rig);
    r.detail = RECORD_META;
    store_put(rig.s, &r);
    r = rig_call(2);
    r.detail = RECORD_NONE;
    store_put(rig.s, &r);
    CHECK_INT(rig_find(&rig, (struct call_query){ 0 })->n, 1);
    CHECK_STR(rig_find(&rig, (struct call_query){ 0 })->v[0].arguments_cid, "");
    CHECK_INT(rig_find(&rig, (struct call_query){ 0 })->v[0].r.detail, RECORD_META);
    CHECK_INT(rig_stats(&rig).objects, 0);
    rig_done(&rig);
}
