/* link_channel.c - one client of a link: how it is made from the spec, what it says, and its end.
 */
#include "circle.h"
#include "hub/secrets/secrets.h"
#include "hub/spec/spec.h"
#include "hub/warden/warden.h"
#include "link_impl.h"
#include "mcp/client/client.h"
#include "mcp/rpc/rpc.h"
#include <stdio.h>

void channel_init(struct channel *ch, struct link *l)
{
    ch->l = l;
    ch->log_level = -1;
    list_init(&ch->at);
    list_init(&ch->waiting);
    list_init(&ch->asked);
    crowd_init(&ch->working);
    crowd_init(&ch->ghosts);
}

/* ---- from a spec ---- */

static enum pb_transport transport_of(const struct spec *spec)
{
    /* clang-format off */
    static const enum pb_transport transports[SPEC_TRANSPORTS] = {
        [SPEC_STDIO] = PB_TRANSPORT_STDIO,
        [SPEC_HTTP]  = PB_TRANSPORT_HTTP,
        [SPEC_SSE]   = PB_TRANSPORT_SSE,
    };
    /* clang-format on */

    return spec->transport == SPEC_HTTP && spec->guess_sse ? PB_TRANSPORT_AUTO
                                                           : transports[spec->transport];
}

/* The variables, and one more by which a process is known to be ours. */
static const char *const *environment(struct arena *a, const char *const *env, const char *mark)
{
    const char **all;
    size_t n = 0;

    if (!mark)
        return env;
    while (env[n])
        n++;
    all = arena_alloc(a, (n + 2) * sizeof *all);
    memcpy(all, env, n * sizeof *all);
    all[n] = mark;
    return all;
}

int link_open_client(void *ctx, struct client **out, struct pb_loop *loop, const struct spec *spec,
                     const char *caller, const struct client_events *events, void *events_ctx,
                     struct pb_error *err)
{
    const struct link_options *opts = ctx;
    AUTO_ARENA struct arena arena = { 0 };
    struct spec marked = *spec;
    struct pb_client_options o = PB_CLIENT_OPTIONS_INIT;

    (void)caller;
    if (spec->transport == SPEC_STDIO) {
        o.command = spec->command;
        o.args = spec->args;
        marked.env = environment(&arena, spec->env, opts->marker);
        o.env = inherit_environment(&arena, &marked, opts->inherit_env, opts->claims);
        o.clean_env = true;
        o.cwd = spec->cwd;
    } else {
        o.url = spec->url;
        o.headers = spec->headers;
    }
    o.transport = transport_of(spec);
    o.era = spec->era;
    o.connect_ms = opts->connect_ms < UINT32_MAX ? (uint32_t)opts->connect_ms : UINT32_MAX;
    o.can_elicit = o.can_elicit_url = o.can_sample = o.can_list_roots = true;
    return client_open(out, loop, &o, events, events_ctx, err);
}

/* ---- what it says ---- */

static void keep(struct buf *to, struct span text)
{
    to->n = 0;
    buf_add_span(to, text);
}

/* A member of a capability: {"resources":{"subscribe":true}}. */
static bool declares(struct json caps, const char *name, const char *member)
{
    struct json cap = json_get(caps, name);

    return json_is(cap, JSON_OBJECT) && (!member || json_bool(json_get(cap, member), false));
}

/* Once, and no more of it than anybody is told: it is asked for by every client that comes. */
static void keep_words(struct buf *to, struct span instructions)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_ARENA struct arena a = { 0 };

    to->n = 0;
    if (instructions.n && json_parse(&doc, instructions, NULL, NULL) == 0)
        buf_add_span(to, utf8_cut(span_trim(json_str(json_root(&doc), &a)), HOST_HELLO_MAX + 4));
}

static void keep_facts(struct channel *ch)
{
    AUTO_JSON struct json_doc doc = { 0 };
    struct link *l = ch->l;
    struct span caps = client_capabilities(ch->client);
    const struct revision *rev = client_revision(ch->client);
    struct json root = { 0 };

    if (json_parse(&doc, caps, NULL, NULL) == 0)
        root = json_root(&doc);
    ch->legacy = client_era(ch->client) == ERA_LEGACY;
    ch->has_logging = declares(root, "logging", NULL);
    if (ch->caller)
        return;
    l->can_subscribe = declares(root, "resources", "subscribe");
    l->era = client_era(ch->client);
    l->has_tasks = l->era == ERA_MODERN && declares(json_get(root, "extensions"), EXT_TASKS, NULL);
    l->protocol = rev ? rev->date : NULL;
    l->has = link_capabilities(root);
    l->hubs.n = 0;
    circle_read(&l->hubs, caps);
    keep_words(&l->greeting, client_instructions(ch->client));
    keep(&l->capabilities, caps);
    keep(&l->server_info, client_server_info(ch->client));
    keep(&l->instructions, client_instructions(ch->client));
    if (l->opts.greeted)
        l->opts.greeted(l->opts.ctx, l);
}

static void on_opened(void *ctx, const struct pb_error *err)
{
    struct channel *ch = ctx;
    const char *hub = ch->l->opts.hub;
    struct pb_error circle;

    if (!ch->client)
        return;
    if (!err && hub && circle_names(client_capabilities(ch->client), hub)) {
        fail(&circle, PB_E_INVALID, "it is this program itself, or has it among its own servers");
        err = &circle;
    }
    if (!err) {
        ch->ready = true;
        keep_facts(ch);
    }
    if (ch->caller)
        instance_opened(ch, err);
    else if (err)
        link_connect_failed(ch->l, NULL, err);
    else
        lists_begin(ch->l);
}

static void on_question(void *ctx, struct client_question *q, uint64_t call_id, struct span method,
                        struct span params)
{
    question_route(ctx, q, call_id, method, params);
}

static void on_withdrawn(void *ctx, const struct client_question *q) { question_withdrawn(ctx, q); }

static void on_stray(void *ctx, uint64_t wire_id) { claims_answered(ctx, wire_id); }

static void on_notification(void *ctx, struct span method, struct span params)
{
    struct channel *ch = ctx;

    if (span_is(method, "notifications/message"))
        log_message(ch, params);
    else if (span_is(method, "notifications/elicitation/complete") && ch->l->opts.elicited)
        ch->l->opts.elicited(ch->l->opts.ctx, ch->l, params);
    else if (span_is(method, "notifications/tasks") && !ch->caller && instances_wanted(ch->l))
        return; /* ids are counted by each process: the task is none of those that callers have */
    else if (span_is(method, "notifications/tasks") && ch->l->opts.task_changed)
        ch->l->opts.task_changed(ch->l->opts.ctx, ch->l, channel_caller(ch), params);
    else if (ch->caller)
        return; /* lists and subscriptions are the shared client's */
    else if (span_is(method, "notifications/resources/updated"))
        lists_updated(ch->l, params);
    else if (!lists_notified(ch->l, method))
        log_debug("%s: a notification that is not known was dropped", link_name(ch->l));
}

static void on_stderr(void *ctx, struct span line)
{
    struct channel *ch = ctx;

    log_add(ch->l, PB_LOG_INFO, LOG_OF_STDERR, line);
}

static void on_closed(void *ctx, const struct pb_error *why)
{
    struct channel *ch = ctx;

    if (ch->caller)
        instance_lost(ch, why);
    else if (link_in(ch->l, LINK_CONNECTED))
        link_lost(ch->l, why);
    else
        link_connect_failed(ch->l, NULL, why);
}

/* ---- opening and closing ---- */

/* Whoever brings an opener of his own may have no processes at all; a program that has a warden has
 * them. */
static bool sweeps(const struct link *l)
{
    return l->opts.open == link_open_client || warden_running();
}

int channel_open(struct channel *ch, struct pb_error *err)
{
    static const struct client_events events = {
        .opened = on_opened,
        .question = on_question,
        .withdrawn = on_withdrawn,
        .stray = on_stray,
        .notification = on_notification,
        .stderr_line = on_stderr,
        .closed = on_closed,
    };
    struct link *l = ch->l;
    AUTO_ARENA struct arena arena = { 0 };
    struct spec marked = *l->spec; /* is only looked at while the client is being opened */

    ch->ready = ch->leaving = false;
    ch->log_level = -1;
    ch->late_at = 0;
    ch->opened_at = loop_wall(l->loop);
    ch->mark[0] = '\0';
    if (l->spec->transport == SPEC_STDIO && sweeps(l)) {
        warden_server_mark(ch->mark);
        marked.env = environment(&arena, marked.env, ch->mark);
    }
    keys_apply(l->keys, &marked, &arena);
    if (!ch->caller) { /* with the first of a connection; those of callers have the same */
        redact_free(l->hidden);
        l->hidden = redact_new();
        redact_add_spec(l->hidden, &marked);
        vault_add_spec(l->opts.vault, &marked);
    }
    return l->opts.open(l->opts.open_ctx, &ch->client, l->loop, &marked, channel_caller(ch),
                        &events, ch, err);
}

/* A client on its way out. */
struct departure {
    struct link *l;
    char mark[WARDEN_SERVER_MARK_CHARS + 1];
};

/* Its process is gone; what that started may have left its group and live on. */
static void on_client_closed(void *ctx)
{
    struct departure *d = ctx;
    struct link *l = d->l;

    if (d->mark[0] && !l->program_ends)
        warden_sweep_later(l->loop, d->mark);
    free(d);
    l->closing--;
    if (!l->closed && l->opts.cleared && link_is_clear(l))
        l->opts.cleared(l->opts.ctx, l);
    link_unref(l);
}

static void channel_free(void *p)
{
    struct channel *ch = p;

    assert(!timer_running(&ch->timer) && "a channel that leaves arms nothing");
    free(ch->caller);
    free(ch->origin);
    free(ch);
}

void channel_drop(struct channel *ch)
{
    struct link *l = ch->l;
    struct client *client = ch->client;

    ch->ready = false;
    questions_orphan(ch);
    claims_clear(ch);
    if (client) {
        struct departure *d = NEW(struct departure);

        d->l = l;
        memcpy(d->mark, ch->mark, sizeof d->mark);
        if (!ch->caller) {
            l->words.n = 0;
            channel_last_words(ch, &l->words);
        }
        ch->client = NULL;
        l->closing++;
        link_ref(l);
        client_close(client, on_client_closed, d);
    }
    if (ch->caller)
        loop_free_later(l->loop, ch, channel_free);
}

/* ---- last words ---- */

/* The last whole lines that fit. */
static struct span tail(struct span words, size_t room)
{
    const char *end = span_end(words), *from = end;

    for (const char *p = end; p > words.p; p--)
        if ((p == words.p || p[-1] == '\n') && (size_t)(end - p) <= room)
            from = p;
    if ((size_t)(end - words.p) <= room)
        from = words.p;
    if (from == end && words.n)
        from = end - (words.n < room ? words.n : room); /* one long line: its end */
    return span_make(from, (size_t)(end - from));
}

/* Line by line: each may have been cut. */
void channel_last_words(const struct channel *ch, struct buf *out)
{
    AUTO_BUF struct buf words = { 0 };
    struct span rest;

    client_last_words(ch->client, &words);
    rest = buf_span(&words);
    while (rest.n) {
        const char *end = memchr(rest.p, '\n', rest.n);
        size_t n = end ? (size_t)(end - rest.p) : rest.n;
        AUTO_FREE char *line = mem_dupn(rest.p, n);

        redact_text(ch->l->hidden, line, n >= CHILD_STDERR_LINE_MAX);
        buf_str(out, line);
        if (end)
            buf_byte(out, '\n');
        rest = span_from(rest, end ? n + 1 : n);
    }
}

void channel_explain(const struct channel *ch, struct pb_error *err)
{
    static const char intro[] = "; stderr: ";
    AUTO_BUF struct buf words = { 0 };
    struct span last;
    char *old;
    size_t n, room;

    redact_error(ch->l->hidden, err);
    if (ch->client)
        channel_last_words(ch, &words);
    if (!words.n)
        return;
    old = strstr(err->msg, intro);
    if (old)
        *old = '\0'; /* the client gave the first words; the last ones tell more */
    n = strlen(err->msg) + sizeof intro - 1;
    room = n < sizeof err->msg - 1 ? sizeof err->msg - 1 - n : 0;
    last = tail(span_trim(buf_span(&words)), room);
    snprintf(err->msg + strlen(err->msg), sizeof err->msg - strlen(err->msg), "%s%.*s", intro,
             SPAN_ARG(last));
    for (char *p = err->msg; *p; p++)
        if (*p == '\n')
            *p = ' ';
    text_make_printable(err->msg);
}
