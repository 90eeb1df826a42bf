/* link_log.c - the log of a link: its own lines, the server's stderr, and the server's messages;
 * and to which call such a message belongs. */
#include "hub/secrets/secrets.h"
#include "link_impl.h"
#include "mcp/client/client.h"
#include "mcp/rpc/rpc.h"
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>

/* Colours and cursor movements are for terminals: "ESC [ ... letter" is left out. */
static const char *skip_escape(const char *p, const char *end)
{
    if (end - p < 2 || p[0] != '\033' || p[1] != '[')
        return p;
    for (p += 2; p < end && (*p < 0x40 || *p > 0x7e); p++)
        continue;
    return p < end ? p + 1 : p;
}

/* The log wants no control characters; what they meant is kept where it means something. False: not
 * all of it has room. */
static bool clean(char *out, size_t room, struct span text)
{
    const char *p = text.p, *end = span_end(text);
    size_t n = 0;

    while (p < end && n + 1 < room) {
        const char *next = skip_escape(p, end);

        if (next == p) {
            next = p + 1;
            if (*p == '\t' || *p == '\n')
                out[n++] = ' ';
            else if (*p != '\r')
                out[n++] = *p;
        }
        p = next;
    }
    out[n] = '\0';
    return p == end;
}

void log_add(struct link *l, enum pb_log_level level, enum log_source source, struct span text)
{
    static atomic_uint_fast64_t turns;
    char line[LINK_LOG_LINE_MAX + 8]; /* a little more, so that the log cuts between characters */
    struct hub_event e = link_event(l, EVENT_LOG);
    struct log_entry entry = { .at = e.at, .level = level, .source = source, .text = line };
    bool whole;

    if (l->closed)
        return;
    whole = clean(line, sizeof line, text) && text.n < CHILD_STDERR_LINE_MAX;
    redact_text(l->hidden, line, !whole);
    link_uuid(l, 2 * ++l->n_lines, entry.id);
    entry.turn = atomic_fetch_add(&turns, 1);
    e.log = log_ring_add(l->log, &entry);
    link_emit(l, &e);
}

void link_log(struct link *l, enum pb_log_level level, const char *fmt, ...)
{
    char line[LINK_LOG_LINE_MAX + 1];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(line, sizeof line, fmt, ap);
    va_end(ap);
    log_add(l, level, LOG_OF_LINK, span_of(line));
}

size_t link_log_count(const struct link *l) { return log_ring_count(l->log); }

const struct log_entry *link_log_at(const struct link *l, size_t i)
{
    return log_ring_at(l->log, i);
}

/* ---- messages of the server ---- */

struct message_read {
    enum pb_log_level level;
    struct buf text; /* "logger: data" */
};

static bool read_message(struct message_read *out, struct span params)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_ARENA struct arena arena = { 0 };
    struct json root, data, logger;

    if (json_parse(&doc, params, &(struct json_opts){ .keep_depth = 1 }, NULL) < 0 ||
        !json_is(json_root(&doc), JSON_OBJECT))
        return false;
    root = json_root(&doc);
    data = json_get(root, "data");
    logger = json_get(root, "logger");
    if (!log_level_parse(json_str(json_get(root, "level"), &arena), &out->level))
        out->level = PB_LOG_INFO;
    if (json_is(logger, JSON_STRING)) {
        buf_add_span(&out->text, json_str(logger, &arena));
        buf_str(&out->text, ": ");
    }
    buf_add_span(&out->text, json_is(data, JSON_STRING) ? json_str(data, &arena) : json_text(data));
    return true;
}

/* Whose a message is that came outside a call. It may be about any call that the server works on,
 * or was told to drop, and hold what its caller sent: it goes to a call only if all of them are of
 * one caller, and then to the one that wants the most, once. In doubt it is for none of them;
 * legacy sessions, whose log is the server's and not a call's, get it from the owner. */
static struct link_call *listener(struct channel *ch)
{
    struct link_call *newest, *found = NULL;

    if (claims_whose(ch, &newest) != OF_ONE)
        return NULL;
    if (!*newest->spec.caller && ch->working.n + ch->ghosts.n > 1) /* nobody in particular, twice */
        return NULL;
    for (struct list *pos = ch->working.claims.next; pos != &ch->working.claims; pos = pos->next) {
        struct link_call *c = CONTAINER_OF(pos, struct link_call, claim.at);

        if (c->spec.wants_log && c->spec.log &&
            (!found || c->spec.log_level < found->spec.log_level))
            found = c;
    }
    return found;
}

static void keep_message(struct link *l, const struct message_read *m)
{
    log_add(l, m->level, LOG_OF_SERVER, buf_span(&m->text));
}

void log_message(struct channel *ch, struct span params)
{
    AUTO_BUF struct buf room = { 0 };
    struct link *l = ch->l;
    struct message_read m = { 0 };
    struct link_call *c;

    params = link_cut_log(params, &room);
    if (!read_message(&m, params))
        return;
    keep_message(l, &m);
    c = listener(ch);
    /* The level of a legacy server is one for all: what this caller did not want is left out. */
    if (c && m.level >= c->spec.log_level)
        c->spec.log(c->spec.ctx, params);
    else if (!c && l->opts.message && !l->closed)
        l->opts.message(l->opts.ctx, l, channel_caller(ch), params);
    buf_done(&m.text);
}

void log_message_of(struct link_call *c, struct span params)
{
    AUTO_BUF struct buf room = { 0 };
    struct message_read m = { 0 };

    params = link_cut_log(params, &room);
    if (read_message(&m, params))
        keep_message(c->l, &m);
    buf_done(&m.text);
    c->spec.log(c->spec.ctx, params);
}

/* The level is one for all callers and for our own log, so that it only ever falls. */
void log_want(struct channel *ch, enum pb_log_level level)
{
    AUTO_BUF struct buf params = { 0 };
    struct client_request_spec spec = { .method = "logging/setLevel" };
    struct pb_error err;

    if (level > PB_LOG_INFO)
        level = PB_LOG_INFO;
    if (!ch->legacy || !ch->has_logging || (ch->log_level >= 0 && ch->log_level <= (int)level))
        return;
    ch->log_level = (int)level;
    buf_printf(&params, "{\"level\":\"%s\"}", log_level_name(level));
    spec.params = buf_span(&params);
    if (client_request(ch->client, &spec, NULL, &err) < 0)
        link_log(ch->l, PB_LOG_WARNING, "Setting the log level failed: %s", err.msg);
}
