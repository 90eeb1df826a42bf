/* ask_rig.h - legacy clients that can be asked for their roots and to open a URL. */
#pragma once
#include "face/host/host.h"
#include "host_rig.h"
#include "mcp/client/client.h"
#include "mcp/rpc/rpc.h"

struct asked_client {
    struct face_client c; /* first: it is what the events of a face_client get */
    const char *answer;   /* to everything; NULL: it is kept waiting; "": refused */
    struct client_question *kept[8];
    size_t n_asked, n_withdrawn;
    char method[64], params[512]; /* of the newest question */
};

static inline void asked_question(void *ctx, struct client_question *q, uint64_t call_id,
                                  struct span method, struct span params)
{
    struct asked_client *a = ctx;

    (void)call_id;
    CHECK(a->n_asked < ARRAY_LEN(a->kept));
    a->kept[a->n_asked++] = q;
    snprintf(a->method, sizeof a->method, "%.*s", SPAN_ARG(method));
    snprintf(a->params, sizeof a->params, "%.*s", SPAN_ARG(params));
    if (a->answer && a->answer[0])
        client_answer(q, span_of(a->answer));
    else if (a->answer)
        client_refuse(q, RPC_INTERNAL_ERROR, "not today");
}

static inline void asked_withdrawn(void *ctx, const struct client_question *q)
{
    struct asked_client *a = ctx;

    CHECK(a->n_asked > 0 && a->kept[a->n_asked - 1] == q);
    a->n_withdrawn++;
}

static inline void asked_open(struct hub_rig *rig, struct asked_client *a,
                              const struct host_scope *scope, const char *answer)
{
    static const struct client_events events = {
        .opened = face_opened,
        .question = asked_question,
        .withdrawn = asked_withdrawn,
        .notification = face_note,
        .closed = face_closed,
    };
    struct pb_client_options o = PB_CLIENT_OPTIONS_INIT;

    *a = (struct asked_client){ .c.fakes = &rig->fakes, .answer = answer };
    o.server = host_server(rig_host(rig, scope));
    o.era = PB_ERA_LEGACY;
    o.timeout_ms = UINT32_MAX;
    o.can_list_roots = o.can_elicit = o.can_elicit_url = true;
    CHECK_INT(client_open(&a->c.client, rig->fakes.loop, &o, &events, a, &a->c.err), 0);
    FAKES_UNTIL(&rig->fakes, a->c.opened);
    CHECK_INT(a->c.err.code, 0);
    fakes_settle(&rig->fakes);
}
