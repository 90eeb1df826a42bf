/* rest_dry_run.c - rules tried on calls that were recorded: what they would have done to each, and
 * where that is not what the rules in force say.
 *
 * A page of calls at a time is read from the store, then what each carried, and a worker decides.
 * Patterns of a policy remember where they were: the worker has both policies to itself. What was
 * taken out of a record as a secret is not there to be looked at, and in which mode a caller was is
 * not recorded. */
#include "gate/gate.h"
#include "io/http/http.h"
#include "rest_impl.h"
#include "store/store.h"

enum { PARTS = 2 }; /* arguments and definition */

struct tried {
    const char *id, *name, *method, *server, *tool, *caller;
    unsigned face;
    int64_t at_ms;
    const char *cids[PARTS]; /* NULL: not to be read */
    struct span parts[PARTS];
    bool lacks; /* something that it carried is not kept, or too large */
    struct policy_verdict was, now;
};

struct dry_run {
    struct rest_read read;
    struct policy *old, *fresh;
    struct arena arena; /* of this page */
    struct tried v[REST_DRY_RUN_PAGE];
    size_t n, at;
    int part;
    size_t bytes; /* of what was read for it */
    uint64_t next, calls, unread, changed, by_action[POLICY_ACTIONS];
    size_t examples_n;
    struct buf examples;
    struct json_out out; /* into examples */
};

static void dry_run_done(struct rest_read *w)
{
    struct dry_run *d = CONTAINER_OF(w, struct dry_run, read);

    if (w->rest)
        w->rest->dry_runs--;
    policy_unref(d->old);
    policy_unref(d->fresh);
    arena_done(&d->arena);
    buf_done(&d->examples);
}

/* ---- deciding, on a worker ---- */

static void decide(struct rest_read *w)
{
    struct dry_run *d = CONTAINER_OF(w, struct dry_run, read);

    for (size_t i = 0; i < d->n; i++) {
        struct tried *t = &d->v[i];
        struct policy_subject s = { .method = t->method,
                                    .server = t->server,
                                    .tool = span_of(t->tool),
                                    .client = t->caller,
                                    .face = t->face,
                                    .arguments = t->parts[0],
                                    .annotations = policy_annotations(t->parts[1]),
                                    .now_ms = t->at_ms };

        policy_decide(d->old, &s, &t->was);
        policy_decide(d->fresh, &s, &t->now);
    }
}

/* ---- the answer ---- */

static void put_example(struct dry_run *d, const struct tried *t)
{
    struct json_out *o = &d->out;

    if (d->examples_n++ >= REST_DRY_RUN_EXAMPLES)
        return;
    json_begin_object(o, NULL);
    json_put_str(o, "id", t->id);
    json_put_str(o, "name", t->name);
    json_put_str_opt(o, "caller", t->caller);
    json_put_str(o, "was", policy_action_name(t->was.action));
    json_put_str(o, "now", policy_action_name(t->now.action));
    json_put_str(o, "rule", t->now.rule ? t->now.rule : "default");
    json_end(o);
}

static void count(struct dry_run *d)
{
    for (size_t i = 0; i < d->n; i++) {
        const struct tried *t = &d->v[i];

        d->calls++;
        d->by_action[t->now.action]++;
        d->unread += t->lacks;
        if (t->was.action == t->now.action)
            continue;
        d->changed++;
        put_example(d, t);
    }
}

static void reply(struct http_request *r, struct dry_run *d, bool recorded)
{
    AUTO_BUF struct buf body = { 0 };
    struct json_out o = json_out(&body);

    json_end(&d->out);
    json_begin_object(&o, NULL);
    json_put_bool(&o, "recorded", recorded);
    json_put_str(&o, "version", policy_version(d->fresh));
    json_put_uint(&o, "calls", d->calls);
    for (unsigned i = 0; i < POLICY_ACTIONS; i++)
        json_put_uint(&o, policy_action_name((enum policy_action)i), d->by_action[i]);
    json_put_uint(&o, "changed", d->changed);
    json_put_uint(&o, "unread", d->unread);
    json_put_raw(&o, "examples", buf_span(&d->examples));
    json_end(&o);
    rest_reply(r, 200, &body);
    rest_read_end(&d->read);
}

/* ---- reading ---- */

static void ask_page(struct dry_run *d);
static void read_parts(struct dry_run *d);

static void decided(struct rest_read *w)
{
    struct dry_run *d = CONTAINER_OF(w, struct dry_run, read);

    count(d);
    if (d->next && d->calls < REST_DRY_RUN_CALLS)
        ask_page(d);
    else
        reply(w->r, d, true);
}

/* The same bytes were read for a call before. */
static bool is_known(struct dry_run *d)
{
    struct tried *t = &d->v[d->at];

    for (size_t i = 0; i < d->at; i++)
        if (d->v[i].cids[d->part] && strcmp(d->v[i].cids[d->part], t->cids[d->part]) == 0) {
            t->parts[d->part] = d->v[i].parts[d->part];
            return true;
        }
    return false;
}

static void next_part(struct dry_run *d)
{
    if (++d->part == PARTS) {
        d->part = 0;
        d->at++;
    }
}

/* Without its arguments, or without what its tool said of itself, a call is decided as if there
 * were none; how many is told. */
static void on_part(void *ctx, struct span bytes, const struct pb_error *err)
{
    struct dry_run *d = ctx;
    struct tried *t = &d->v[d->at];

    d->read.read = NULL;
    if (err && err->code != PB_E_NOT_FOUND && err->code != PB_E_LIMIT) {
        rest_read_fail(&d->read, err);
        return;
    }
    if (err || bytes.n > REST_DRY_RUN_BYTES - d->bytes) {
        t->cids[d->part] = NULL;
        t->lacks = true;
    } else {
        t->parts[d->part] = span_make(arena_dup(&d->arena, bytes), bytes.n);
        d->bytes += bytes.n;
    }
    next_part(d);
    read_parts(d);
}

static void read_parts(struct dry_run *d)
{
    while (d->at < d->n && (!d->v[d->at].cids[d->part] || is_known(d)))
        next_part(d);
    if (d->at < d->n)
        rest_read_begin(&d->read,
                        store_object(d->read.store, d->v[d->at].cids[d->part], on_part, d));
    else
        rest_read_work(&d->read, decide, decided);
}

static const char *keep(struct dry_run *d, const char *text)
{
    return text && *text ? arena_dup(&d->arena, span_of(text)) : NULL;
}

static unsigned face_of(const char *word)
{
    unsigned i = 0;

    while (i < FACE_COUNT && (!word || strcmp(word, order_face_name((enum order_face)i)) != 0))
        i++;
    return i < FACE_COUNT ? i : FACE_MCP;
}

static void take(struct dry_run *d, const struct call_record *c)
{
    struct tried *t = &d->v[d->n++];
    AUTO_BUF struct buf name = { 0 };

    if (c->r.server)
        buf_printf(&name, "%s/", c->r.server);
    buf_str(&name, c->r.tool ? c->r.tool : "");
    *t = (struct tried){ .id = keep(d, c->r.uuid),
                         .name = arena_dup(&d->arena, buf_span(&name)),
                         .method = c->r.method ? keep(d, c->r.method) : "tools/call",
                         .server = keep(d, c->r.server),
                         .tool = c->r.tool ? arena_dup(&d->arena, span_of(c->r.tool)) : "",
                         .caller = keep(d, c->r.caller),
                         .face = face_of(c->r.face),
                         .at_ms = c->r.queued_us / 1000,
                         .cids = { keep(d, c->arguments_cid), keep(d, c->definition_cid) } };
    t->lacks = c->r.detail != RECORD_ALL || c->arguments_bytes > REST_DRY_RUN_BYTES;
    if (c->arguments_bytes > REST_DRY_RUN_BYTES)
        t->cids[0] = NULL;
}

static void on_page(void *ctx, const struct call_page *p, const struct pb_error *err)
{
    struct dry_run *d = ctx;

    d->read.read = NULL;
    if (err) {
        rest_read_fail(&d->read, err);
        return;
    }
    for (size_t i = 0; i < p->n; i++)
        take(d, &p->v[i]);
    d->next = p->next;
    read_parts(d);
}

static void ask_page(struct dry_run *d)
{
    struct call_query q = { .before = d->next, .limit = REST_DRY_RUN_PAGE };

    arena_reset(&d->arena);
    d->n = d->at = d->bytes = 0;
    rest_read_begin(&d->read, store_find(d->read.store, &q, on_page, d));
}

static struct policy *copy_of(const struct policy *p)
{
    AUTO_JSON struct json_doc doc = { 0 };
    struct policy *copy = NULL;

    if (json_parse(&doc, policy_text(p), NULL, NULL) < 0 ||
        policy_parse(&copy, json_root(&doc), NULL) < 0)
        return policy_new();
    return copy;
}

void rest_policy_dry_run(struct rest_call *c)
{
    AUTO(policy)
    struct policy *fresh = rest_policy_read(c, json_text(rest_value(c, "policy")->json));
    struct dry_run *d;

    if (!fresh)
        return;
    if (c->rest->dry_runs >= REST_DRY_RUNS_MAX) {
        rest_fail(c->r,
                  &(struct rest_failure){ 503, "busy", .message = "Other rules are being tried",
                                          .next = "try again in a moment" });
        return;
    }
    d = rest_read_new(c, sizeof *d, NULL);
    if (!d)
        return;
    d->read.done = dry_run_done;
    c->rest->dry_runs++;
    d->fresh = TAKE(fresh);
    d->old = copy_of(gate_policy(c->rest->gate));
    d->out = json_out(&d->examples);
    json_begin_array(&d->out, NULL);
    if (d->read.store)
        ask_page(d);
    else
        reply(c->r, d, false);
}
