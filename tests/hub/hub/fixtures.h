/* fixtures.h - things that many tests need and none is about. */
#pragma once
#include "base/base.h"
#include "hub/link/link.h"
#include "hub/spec/spec.h"
#include "io/io.h"
#include "mcp/client/client.h"
#include "patchbay.h"
#include "tap.h"
#include "json/json.h"

/* A tool as a server lists it, and a list of it. */
#define FIXTURE_TOOL                                           \
    "{\"name\":\"test_tool\",\"description\":\"A test tool\"," \
    "\"inputSchema\":{\"type\":\"object\"}}"
#define FIXTURE_TOOLS "[" FIXTURE_TOOL "]"

static inline struct spec *fixture_spec(const char *name)
{
    return spec_stdio(name, "echo", (const char *const[]){ "test", NULL }, NULL);
}

static inline struct hub_event fixture_state(const char *server, struct link_status from,
                                             struct link_status to)
{
    return (struct hub_event){
        .kind = EVENT_STATE,
        .server = server,
        .state = { .from = from, .to = to },
    };
}

/* A call without anything that one may leave out. */
static inline struct call_spec fixture_call(const char *server, client_reply_fn *reply, void *ctx)
{
    return (struct call_spec){
        .server = server,
        .method = "tools/call",
        .params = SPAN("{\"name\":\"test_tool\",\"arguments\":{}}"),
        .subject = SPAN("test_tool"),
        .caller = "",
        .reply = reply,
        .ctx = ctx,
    };
}

enum fixture_error { ERROR_REFUSED, ERROR_TIMEOUT, ERROR_AUTH, ERROR_TOOL };

/* `text` is what the tool says; of the others it is ignored. */
static inline struct pb_error fixture_error(enum fixture_error which, const char *text)
{
    struct pb_error err = { 0 };

    switch (which) {
    case ERROR_REFUSED:
        fault_fail(&err, FAULT_CONNECT, "Connection refused");
        break;
    case ERROR_TIMEOUT:
        fault_fail(&err, FAULT_TIMEOUT, "Operation timed out");
        break;
    case ERROR_AUTH:
        fail(&err, PB_E_AUTH, "Authentication failed");
        break;
    case ERROR_TOOL:
        fault_fail(&err, FAULT_CALL, "Tool failed: %s", text);
        break;
    }
    return err;
}
