#include "scrub.h"
#include "hub/spec/spec.h"
#include "traces.h"
#include <stdio.h>

/* ---- telling where ---- */

static bool put_at(char *at, size_t *n, struct span part)
{
    size_t from = *n;

    at[(*n)++] = '/';
    for (size_t i = 0; i < part.n; i++) {
        if (*n + 3 > REDACT_AT_MAX) {
            *n = from;
            return false;
        }
        if (part.p[i] == '~' || part.p[i] == '/') {
            at[(*n)++] = '~';
            at[(*n)++] = part.p[i] == '~' ? '0' : '1';
        } else {
            at[(*n)++] = part.p[i];
        }
    }
    return true;
}

/* A place that is too long is told by what it lies in. */
static size_t write_at(const struct scrub_run *r, char at[static REDACT_AT_MAX])
{
    unsigned depth = r->nest ? r->told_depth : r->depth;
    size_t n = 0;

    for (unsigned i = 0; i < depth; i++) {
        const struct scrub_level *l = &r->levels[i];
        struct span part = l->key;
        char index[24];

        if (!l->object)
            part = span_make(index, (size_t)snprintf(index, sizeof index, "%zu", l->index));
        if (n + 2 > REDACT_AT_MAX || !put_at(at, &n, part))
            break;
    }
    return n;
}

void scrub_tell(struct scrub_run *r, enum hit_why why)
{
    static const char *const names[] = {
        [HIT_VALUE] = "value", [HIT_NAME] = "name", [HIT_PATTERN] = "pattern"
    };
    char at[REDACT_AT_MAX] = { 0 };
    struct json_out *o = r->o->where;
    size_t n;

    if (!o)
        return;
    if (r->told == REDACT_TOLD_MAX) {
        r->more++;
        return;
    }
    n = write_at(r, at);
    at[n] = '\0';
    if (r->told && r->why == why && strcmp(at, r->at) == 0)
        return; /* the same string, once more */
    memcpy(r->at, at, n + 1);
    r->why = why;
    r->told++;
    json_begin_object(o, NULL);
    json_put_span(o, "at", span_make(at, n));
    json_put_str(o, "why", names[why]);
    json_end(o);
}

/* ---- text ---- */

/* What is escaped twice may be so once more. */
static bool has_deep_escape(struct span text)
{
    return text.n && memmem(text.p, text.n, "\\\\", 2);
}

bool scrub_suspects(const struct finder *f, struct span text, size_t *steps)
{
    AUTO_HITS struct hits hits = { .one = true, .steps = *steps };

    finder_find(f, text, &hits);
    if (!hits_enough(&hits))
        traces_find(text, &hits);
    *steps = hits.steps;
    return hits_enough(&hits) || (finder_wants_decoded(f) && has_deep_escape(text));
}

bool scrub_text(struct scrub_run *r, struct span text, struct buf *out)
{
    AUTO_HITS struct hits hits = { .steps = r->steps };
    size_t at = 0;

    finder_find(r->o->finder, text, &hits);
    traces_find(text, &hits);
    r->steps = hits.steps;
    hits_settle(&hits, text);
    for (size_t i = 0; i < hits.n; i++) {
        buf_add(out, text.p + at, hits.v[i].from - at);
        buf_str(out, SPEC_MASKED);
        at = hits.v[i].end;
        scrub_tell(r, hits.v[i].why);
    }
    if (hits.n)
        buf_add(out, text.p + at, text.n - at);
    return hits.n > 0;
}

/* ---- all of it ---- */

static bool looks_like_json(struct span text)
{
    text = span_trim(text);
    return text.n && (strchr("{[\"-", text.p[0]) || (text.p[0] >= '0' && text.p[0] <= '9'));
}

static bool scrub_any(struct scrub_run *r, struct span text, struct buf *out)
{
    bool is_json = looks_like_json(text);

    if (r->o->all) {
        buf_str(out, is_json ? "\"" SPEC_MASKED "\"" : SPEC_MASKED);
        scrub_tell(r, HIT_VALUE);
        return true;
    }
    if (is_json && scrub_json(r, text, out, &is_json))
        return true;
    return !is_json && scrub_text(r, text, out);
}

bool scrub(const struct scrub_options *o, struct buf *text)
{
    struct scrub_run *r = NULL;
    struct buf out = { 0 };
    size_t steps = hits_steps(text->n);
    bool changed;

    if (!o->all && !scrub_suspects(o->finder, buf_span(text), &steps))
        return false;
    r = NEW(struct scrub_run);
    r->o = o;
    r->steps = hits_steps(text->n);
    changed = scrub_any(r, buf_span(text), &out);
    if (r->more) {
        json_begin_object(o->where, NULL);
        json_put_uint(o->where, "more", r->more);
        json_end(o->where);
    }
    arena_done(&r->arena);
    free(r);
    if (!changed)
        return false;
    buf_done(text);
    *text = out;
    return true;
}
