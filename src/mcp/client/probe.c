/* probe.c - from nothing to an open session: which era the server is of.
 *
 * A modern server answers server/discover. Everything else is taken for a legacy server and gets
 * initialize; which error it gave is no evidence, since every code occurs in the wild. Some servers
 * end when they hear anything before initialize: they are started again. Over HTTP a server that
 * refuses initialize too is tried as one of the first revision, HTTP+SSE. */
#include "client_impl.h"
#include "mcp/rpc/rpc.h"
#include "mcp/wire/wire.h"
#include <stdio.h>

#define TO(s) SM_BIT(WAY_##s)
/* clang-format off */
static const struct sm_state ways[WAY_COUNT] = {
    [WAY_AS_TOLD]       = { "as told",       TO(NAMED_VERSION) | TO(NEW_PROCESS) | TO(OLD_SSE), NULL },
    [WAY_NAMED_VERSION] = { "named version", TO(NEW_PROCESS) | TO(OLD_SSE),                     NULL },
    [WAY_NEW_PROCESS]   = { "new process",   0,                                                 NULL },
    [WAY_OLD_SSE]       = { "old sse",       0,                                                 NULL },
};
/* clang-format on */

static void on_discovered(void *ctx, const struct client_reply *reply);

static bool may_go(const struct client *c, enum opening_way way)
{
    return ways[c->opening.way.now].to & SM_BIT(way);
}

static bool wants_legacy(const struct client *c)
{
    const struct pb_client_options *o = &c->opts;

    return c->opening.way.now >= WAY_NEW_PROCESS || o->era == PB_ERA_LEGACY ||
           o->transport == PB_TRANSPORT_SSE ||
           (o->protocol && !version_claims_modern(span_of(o->protocol)));
}

static bool wants_modern(const struct client *c)
{
    const struct pb_client_options *o = &c->opts;

    return o->era == PB_ERA_MODERN || (o->protocol && version_claims_modern(span_of(o->protocol)));
}

/* What a stdio server said last is often the reason; the first words of it fit. */
static void add_last_words(const struct client *c, struct pb_error *err)
{
    AUTO_BUF struct buf words = { 0 };

    client_last_words(c, &words);
    if (!words.n || strstr(err->msg, "stderr: "))
        return;
    text_make_printable((char *)(uintptr_t)buf_cstr(&words));
    snprintf(err->msg + strlen(err->msg), sizeof err->msg - strlen(err->msg), "; stderr: %s",
             words.p);
}

/* A program that talks to people on stdout is best known by what it says there. */
void client_opening_stray(struct client *c, struct span line)
{
    struct opening *o = &c->opening;

    line = span_trim(line);
    if (!line.n || o->stray || client_is_open(c) || !c->wire || c->wire->ops->kind != WIRE_STDIO)
        return;
    /* Whole or not at all: half of a secret would not be recognised as one. */
    o->stray = line.n <= MCP_STRAY_LINE_MAX ? mem_dupn(line.p, line.n) : mem_dup("a long line");
    text_make_printable(o->stray);
}

void client_opening_failed(struct client *c, const struct pb_error *why)
{
    struct pb_error err = *why;

    if (c->opening.first.code && err.code != PB_E_AUTH)
        err = c->opening.first; /* what the real transport said tells more */
    if (err.code == PB_E_TIMEOUT || err.code == PB_E_INVALID || err.code == PB_E_REMOTE)
        add_last_words(c, &err);
    if (c->opening.stray)
        fail_in(&err, "stdout is not MCP (\"%s\")", c->opening.stray);
    if (err.code != PB_E_AUTH)
        fail_in(&err, "handshake");
    client_die(c, &err);
}

void client_opening_done(struct client *c)
{
    bool first = !client_is_open(c);

    timer_stop(&c->opening.limit);
    timer_stop(&c->opening.patience);
    if (c->opening.late)
        blob_unref(TAKE(c->opening.late)); /* it may be large */
    free(TAKE(c->opening.stray));          /* a greeting, and then it was a server */
    client_move(c, CL_READY);
    client_ref(c);
    if (first && c->events.opened)
        c->events.opened(c->ctx, NULL);
    if (!c->closing && client_in(c, CL_READY)) {
        client_calls_resume(c);
        client_subscribe_again(c);
    }
    client_unref(c);
}

static void on_limit(void *ctx)
{
    struct client *c = ctx;
    struct pb_error err;

    fail(&err, PB_E_TIMEOUT, "the server did not answer within %u ms", c->opts.connect_ms);
    client_opening_failed(c, &err);
}

/* ---- the wire ---- */

static wire_open_fn *opener(const struct client *c)
{
    const struct pb_client_options *o = &c->opts;

    if (c->open_wire)
        return c->open_wire;
    if (o->server)
        return wire_memory_open;
    if (o->fd > 0)
        return wire_socket_open;
    if (o->command)
        return wire_stdio_open;
    if (o->transport == PB_TRANSPORT_SSE || c->opening.way.now == WAY_OLD_SSE)
        return wire_sse_open;
    return wire_http_open;
}

static int open_wire(struct client *c, struct pb_error *err)
{
    int rc = opener(c)(&c->wire, c->loop, &c->opts, &client_wire_events, c, err);

    if (rc < 0)
        return rc;
    return c->wire->ready ? client_opening_wire_ready(c, err) : 0;
}

void client_opening_reopen(struct client *c, enum opening_way way)
{
    struct pb_error err;

    sm_move(&c->opening.way, c, way);
    client_drop_wire(c);
    client_move(c, CL_OPENING);
    if (open_wire(c, &err) < 0)
        client_opening_failed(c, &err);
}

/* ---- modern ---- */

static int send_probe(struct client *c, struct pb_error *err)
{
    struct client_request_spec spec = {
        .method = "server/discover",
        .timeout_ms = c->opts.connect_ms,
        .reply = on_discovered,
        .ctx = c,
    };
    bool patient = c->wire->ops->kind == WIRE_HTTP || wants_modern(c);
    int rc;

    c->rev = revision_find(span_of(c->opening.version));
    rc = client_call_new(c, &spec, CALL_IS_SHAKING, &c->opening.call, err);
    if (rc < 0)
        return rc;
    c->opening.probe_id = client_call_find(c, c->opening.call)->wire_id;
    /* Over HTTP something always answers; a process may simply not. */
    if (!patient)
        timer_start(&c->opening.patience, MCP_PROBE_MS);
    return 0;
}

/* The newest modern version of ours in a list of theirs; NULL when there is none. */
static const char *common_modern(const struct client *c, struct json list)
{
    for (const struct revision *r = mcp_revisions; r->date; r++) {
        if (r->era != ERA_MODERN || (c->opts.protocol && strcmp(r->date, c->opts.protocol) != 0))
            continue;
        JSON_FOREACH(v, list)
            if (json_str_is(v, r->date))
                return r->date;
    }
    return NULL;
}

static bool lists_legacy(struct json list)
{
    for (const struct revision *r = mcp_revisions; r->date; r++) {
        if (r->era != ERA_LEGACY)
            continue;
        JSON_FOREACH(v, list)
            if (json_str_is(v, r->date))
                return true;
    }
    return false;
}

static bool is_too_long(struct json v) { return json_text(v).n > MCP_HELLO_BYTES_MAX; }

static void keep(struct buf *to, struct json v)
{
    to->n = 0;
    buf_add_span(to, json_text(v));
}

/* What it is called, without its pictures and whatever else makes it so long. */
static void keep_names(struct buf *to, struct json info)
{
    static const char *const names[] = { "name", "title", "version" };
    AUTO_JSON struct json_doc doc = { 0 };
    struct json_out o = json_out(to);

    to->n = 0;
    json_begin_object(&o, NULL);
    if (json_parse(&doc, json_text(info), &(struct json_opts){ .keep_depth = 1 }, NULL) == 0)
        for (size_t i = 0; i < ARRAY_LEN(names); i++) {
            struct json v = json_get(json_root(&doc), names[i]);

            if (json_is(v, JSON_STRING) && json_text(v).n <= MCP_ERROR_TEXT_MAX)
                json_put_raw(&o, names[i], json_text(v));
        }
    json_end(&o);
}

static void keep_beginning(struct buf *to, struct json words)
{
    AUTO_ARENA struct arena a = { 0 };

    to->n = 0;
    if (json_is(words, JSON_STRING))
        json_quote(to, utf8_cut(json_str(words, &a), MCP_HELLO_BYTES_MAX / 2));
}

int client_opening_keep(struct client *c, struct json capabilities, struct json info,
                        struct json instructions, struct pb_error *err)
{
    if (is_too_long(capabilities))
        return fail(err, PB_E_LIMIT,
                    "the server's capabilities have %zu bytes; at most %d are read",
                    json_text(capabilities).n, MCP_HELLO_BYTES_MAX);
    keep(&c->server_caps, capabilities);
    (is_too_long(info) ? keep_names : keep)(&c->server_info, info);
    (is_too_long(instructions) ? keep_beginning : keep)(&c->instructions, instructions);
    return 0;
}

/* -PB_E_UNSUPPORTED when this is no answer of a modern server. */
static int take_discovery(struct client *c, struct span result, struct pb_error *err)
{
    AUTO_JSON struct json_doc doc = { 0 };
    struct json root, versions, info;
    const char *version = NULL;

    if (json_parse(&doc, result, &(struct json_opts){ .keep_depth = 3 }, NULL) == 0) {
        versions = json_get(json_root(&doc), "supportedVersions");
        version = json_is(versions, JSON_ARRAY) ? common_modern(c, versions) : NULL;
    }
    if (!version)
        return fail(err, PB_E_UNSUPPORTED, "the server speaks none of our versions");
    root = json_root(&doc);
    c->rev = revision_find(span_of(version));
    info = json_get(json_get(root, "_meta"), META_SERVER_INFO);
    /* where drafts of the revision had it */
    if (json_is(info, JSON_NONE))
        info = json_get(root, "serverInfo");
    return client_opening_keep(c, json_get(root, "capabilities"), info,
                               json_get(root, "instructions"), err);
}

/* -32022: the server names what it speaks. A version is tried once more even if it is the one we
 * claimed, since the refusal says that it is good. */
static bool retry_version(struct client *c, struct span error)
{
    AUTO_JSON struct json_doc doc = { 0 };
    struct json list;
    const char *version;
    struct pb_error err;

    if (json_parse(&doc, error, &(struct json_opts){ .keep_depth = 3 }, NULL) < 0)
        return false;
    list = json_get(json_get(json_root(&doc), "data"), "supported");
    version = common_modern(c, list);
    if (!version || !may_go(c, WAY_NAMED_VERSION))
        return false;
    sm_move(&c->opening.way, c, WAY_NAMED_VERSION);
    c->opening.version = version;
    client_move(c, CL_PROBING);
    if (send_probe(c, &err) < 0)
        client_opening_failed(c, &err);
    return true;
}

static void go_legacy(struct client *c, const struct pb_error *why)
{
    struct pb_error err;

    if (!wants_modern(c)) {
        client_opening_shake(c);
        return;
    }
    fail(&err, PB_E_UNSUPPORTED, "the server does not speak %s: %s", MCP_NEWEST_MODERN, why->msg);
    client_opening_failed(c, &err);
}

/* No answer at all, a redirect elsewhere, or a server in trouble. */
static bool says_nothing_of_era(const struct client *c, int status)
{
    return client_over_http(c) && (status == 0 || status / 100 == 3 || status >= 500);
}

static void discovery_failed(struct client *c, const struct client_reply *reply)
{
    const struct pb_error *err = reply->err;

    if (err->code == PB_E_REMOTE && err->sys == RPC_UNSUPPORTED_VERSION &&
        retry_version(c, reply->error))
        return;
    if (err->code == PB_E_AUTH || says_nothing_of_era(c, reply->http_status)) {
        client_opening_failed(c, err);
    } else if (wants_modern(c) && err->code == PB_E_REMOTE && err->sys != RPC_UNSUPPORTED_VERSION) {
        c->rev = revision_find(span_of(c->opening.version));
        client_opening_done(c); /* we were told what it is; it only cannot describe itself */
    } else {
        go_legacy(c, err);
    }
}

static bool speaks_legacy(struct span result)
{
    AUTO_JSON struct json_doc doc = { 0 };
    struct json versions;

    if (json_parse(&doc, result, &(struct json_opts){ .keep_depth = 2 }, NULL) < 0)
        return true;
    versions = json_get(json_root(&doc), "supportedVersions");
    return !json_is(versions, JSON_ARRAY) || lists_legacy(versions);
}

static void on_discovered(void *ctx, const struct client_reply *reply)
{
    struct client *c = ctx;
    struct pb_error err;

    timer_stop(&c->opening.patience);
    if (c->closing || !client_in(c, CL_PROBING))
        return;
    if (reply->err)
        discovery_failed(c, reply);
    else if (take_discovery(c, reply->result, &err) == 0)
        client_opening_done(c);
    else if (err.code == PB_E_UNSUPPORTED && speaks_legacy(reply->result))
        go_legacy(c, &err);
    else
        client_opening_failed(c, &err);
}

static void on_impatience(void *ctx)
{
    struct client *c = ctx;

    if (!client_in(c, CL_PROBING))
        return;
    log_debug("no answer to server/discover within %d ms, shaking hands the old way", MCP_PROBE_MS);
    client_opening_shake(c);
}

void client_opening_unreadable(struct client *c)
{
    if (client_in(c, CL_PROBING) && !wants_modern(c) && !client_over_http(c))
        client_opening_shake(c);
}

void client_opening_late(struct client *c, const struct rpc *rpc, struct blob *bytes)
{
    char id[24];

    snprintf(id, sizeof id, "%llu", (unsigned long long)c->opening.probe_id);
    if (client_in(c, CL_SHAKING) && rpc->kind == RPC_RESPONSE && span_is(rpc->id, id) &&
        !c->opening.late)
        c->opening.late = blob_ref(bytes);
}

/* A slow modern server: our patience ended before it began to read, and now it does not know
 * initialize. Its answer to the probe has come meanwhile. */
bool client_opening_was_modern(struct client *c)
{
    AUTO_JSON struct json_doc doc = { 0 };

    return c->opening.late &&
           json_parse(&doc, blob_span(c->opening.late), &(struct json_opts){ .keep_depth = 1 },
                      NULL) == 0 &&
           take_discovery(c, json_text(json_get(json_root(&doc), "result")), NULL) == 0;
}

/* ---- from outside ---- */

int client_opening_begin(struct client *c, struct pb_error *err)
{
    struct opening *o = &c->opening;
    int rc;

    o->way = (struct sm){ ways, WAY_AS_TOLD };
    o->version = c->opts.protocol && version_claims_modern(span_of(c->opts.protocol))
                     ? c->opts.protocol
                     : MCP_NEWEST_MODERN;
    timer_init(&o->limit, c->loop, on_limit, c);
    timer_init(&o->patience, c->loop, on_impatience, c);
    rc = open_wire(c, err);
    if (rc == 0)
        timer_start(&o->limit, c->opts.connect_ms);
    return rc;
}

int client_opening_wire_ready(struct client *c, struct pb_error *err)
{
    if (wants_legacy(c)) {
        client_move(c, CL_SHAKING);
        return client_opening_greet(c, err);
    }
    client_move(c, CL_PROBING);
    return send_probe(c, err);
}

/* The first loss of a process that was probed says nothing about the server. */
bool client_opening_wire_lost(struct client *c, const struct wire_fault *fault)
{
    struct opening *o = &c->opening;
    struct client_call *call = client_call_find(c, o->call);

    /* A process can be started once more; a descriptor that was closed is nobody's, or another's.
     */
    if (c->wire->ops->kind == WIRE_STDIO && c->opts.fd <= 0 && o->probe_id &&
        may_go(c, WAY_NEW_PROCESS) && !wants_modern(c)) {
        timer_stop(&o->patience);
        if (call) {
            call->spec.reply = NULL;
            client_call_finish(call, NULL);
        }
        client_opening_reopen(c, WAY_NEW_PROCESS);
    } else {
        client_opening_failed(c, &fault->err);
    }
    return true;
}

void client_opening_stop(struct client *c)
{
    timer_stop(&c->opening.limit);
    timer_stop(&c->opening.patience);
    timer_stop(&c->listen.again);
}
