/* kit_run.c - a call from its arrival on the loop to its answer. */
#include "kit_impl.h"
#include <stdio.h>

/* Calls of one tool in one conversation, one after the other. */
struct lane {
    struct kit *kit;
    char *key;
    struct list waiting; /* struct tool_job */
    size_t n;
};

struct tool_job {
    struct list at; /* in lane.waiting */
    struct kit *kit;
    struct lane *lane; /* NULL: it waits for nobody */
    struct tool_call c;
    struct arena arena; /* what c borrows */
    int status;
};

/* ---- what a call brings ---- */

static const char *text_of(struct json who, const char *key, struct arena *a)
{
    return json_cstr(json_get(who, key), a);
}

/* One directory for all who say none. */
const char *kit_directory(const struct kit *k, const char *said, struct arena *a)
{
    AUTO_BUF struct buf path = { 0 };

    if (said && *said == '/')
        return said;
    if (k->directory)
        return k->directory;
    buf_printf(&path, "%s/" KIT_WORK, k->home);
    return arena_dup(a, buf_span(&path));
}

/* `_meta` is the gate's word. */
static void read_call(struct tool_call *c, const struct kit_entry *e, struct pb_call *call,
                      struct arena *a)
{
    AUTO_JSON struct json_doc doc = { 0 };
    struct json who = { 0 };

    if (json_parse(&doc, span_of(pb_call_meta(call)), NULL, NULL) == 0)
        who = json_get(json_root(&doc), GATE_META_CALL);
    *c = (struct tool_call){
        .call = call,
        .tool = e->tool,
        .op = e->op,
        .state = *e->state,
        .kit = e->kit,
        .id = text_of(who, "id", a),
        .face = text_of(who, "face", a),
        .client = text_of(who, "client", a),
        .conversation = text_of(who, "conversation", a),
        .directory = text_of(who, "directory", a),
        .person = json_bool(json_get(who, "person"), false),
        .now_ms = loop_wall(e->kit->loop),
    };
    c->own_directory = (!c->directory || *c->directory != '/') && !e->kit->directory;
    c->directory = kit_directory(e->kit, c->directory, a);
    if (!c->conversation)
        c->conversation = "";
}

/* ---- what is wrong with it ---- */

static int fail_operation(const struct kit_entry *e, struct pb_call *call)
{
    AUTO_BUF struct buf names = { 0 };
    const char *given = pb_arg_string(call, "operation");

    for (const struct tool_operation *op = e->tool->operations; op->run; op++)
        buf_printf(&names, "%s%s", names.n ? ", " : "", op->name);
    if (!given)
        return pb_fail(call, "Missing required parameter: operation (one of %s)", buf_cstr(&names));
    return pb_fail(call, "Unknown operation '%.100s' of %s. It has: %s", given, e->tool->name,
                   buf_cstr(&names));
}

/* The name of the first that is not there; NULL: all are. */
static const char *missing_param(const struct tool_operation *op, struct pb_call *call)
{
    for (const struct pb_param *p = op->params; p && p->name; p++)
        if (!(p->flags & PB_OPTIONAL) && !p->fallback && !pb_arg_has(call, p->name))
            return p->name;
    return NULL;
}

static void tell_begin(const struct tool_call *c)
{
    const char *value = c->op->display_param ? pb_arg_string(c->call, c->op->display_param) : NULL;
    char text[KIT_DISPLAY_MAX];

    if (!c->op->display)
        return;
    snprintf(text, sizeof text, "%s%s%s", c->op->display, value ? ": " : "",
             value ? place_shown(c->directory, value) : "");
    pb_call_progress(c->call, 0, 0, text);
}

/* ---- running ---- */

static void job_free(struct tool_job *j)
{
    list_remove(&j->at);
    arena_done(&j->arena);
    free(j);
}

static void job_work(void *ctx)
{
    struct tool_job *j = ctx;

    j->status = j->c.op->run(&j->c);
}

static void lane_next(struct lane *l);

static void job_end(struct tool_job *j)
{
    struct kit *k = j->kit;
    struct lane *l = j->lane;

    pb_call_finish(j->c.call, j->status);
    job_free(j);
    if (l)
        lane_next(l);
    kit_maybe_end(k);
}

static void job_done(void *ctx)
{
    struct tool_job *j = ctx;

    j->kit->running--;
    job_end(j);
}

static void job_start(struct tool_job *j)
{
    struct pb_error err;

    if (pb_call_cancelled(j->c.call)) {
        j->status = -PB_E_CANCELLED;
    } else if (loop_work(j->kit->loop, job_work, job_done, j, &err) < 0) {
        j->status = pb_fail(j->c.call, "Operation failed: %s", err.msg);
    } else {
        j->kit->running++;
        return;
    }
    job_end(j);
}

/* ---- one after the other ---- */

static void lane_next(struct lane *l)
{
    if (!list_empty(&l->waiting)) {
        struct tool_job *j = CONTAINER_OF(l->waiting.next, struct tool_job, at);

        list_remove(&j->at);
        l->n--;
        job_start(j);
        return;
    }
    map_del(&l->kit->lanes, span_of(l->key));
    free(l->key);
    free(l);
}

static void lane_enter(struct tool_job *j)
{
    AUTO_BUF struct buf key = { 0 };
    struct lane *l;

    buf_printf(&key, "%s\n%s", j->c.tool->name, j->c.conversation);
    l = map_get(&j->kit->lanes, buf_span(&key));
    if (l && l->n >= KIT_LANE_MAX) {
        j->status = pb_fail(j->c.call, "%d calls of %s wait already in this conversation",
                            KIT_LANE_MAX, j->c.tool->name);
        job_end(j);
        return;
    }
    if (l) {
        j->lane = l;
        l->n++;
        list_append(&l->waiting, &j->at);
        return;
    }
    l = NEW(struct lane);
    l->kit = j->kit;
    l->key = mem_dup(buf_cstr(&key));
    list_init(&l->waiting);
    map_put(&j->kit->lanes, buf_span(&key), l);
    j->lane = l;
    job_start(j);
}

/* What waits is not begun any more. */
static void lane_drop(struct lane *l)
{
    struct list *pos, *safe;

    LIST_FOREACH(pos, safe, &l->waiting) {
        struct tool_job *j = CONTAINER_OF(pos, struct tool_job, at);

        pb_call_finish(j->c.call, pb_fail(j->c.call, "Patchbay is being stopped"));
        job_free(j);
        l->n--;
    }
}

void kit_drop_lanes(struct kit *k)
{
    struct map_slot *slot;

    MAP_FOREACH(slot, &k->lanes)
        lane_drop(slot->value);
}

int kit_run(struct pb_call *call, void *ctx)
{
    const struct kit_entry *e = ctx;
    AUTO_ARENA struct arena arena = { 0 };
    const char *missing;
    struct tool_call c;
    struct tool_job *j;

    if (!e->op)
        return fail_operation(e, call);
    missing = missing_param(e->op, call);
    if (missing)
        return pb_fail(call, "Missing required parameter: %s", missing);
    if (e->kit->closing)
        return pb_fail(call, "Patchbay is being stopped");
    read_call(&c, e, call, &arena);
    tell_begin(&c);
    if (e->op->flags & PB_ON_LOOP)
        return e->op->run(&c);
    pb_call_defer(call);
    j = NEW(struct tool_job);
    list_init(&j->at);
    j->kit = e->kit;
    j->c = c;
    j->arena = arena;
    arena = (struct arena){ 0 };
    if (e->op->flags & TOOL_SERIAL)
        lane_enter(j);
    else
        job_start(j);
    return 0;
}
