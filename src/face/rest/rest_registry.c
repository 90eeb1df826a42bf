/* rest_registry.c - looking for servers in public registries. */
#include "face/control/control.h"
#include "hub/registries/registries.h"
#include "hub/spec/spec.h"
#include "io/http/http.h"
#include "rest_impl.h"

struct lookup {
    struct list in_rest;
    struct http_request *r;
    struct registry_search *search;
    unsigned which;
    bool one; /* server is asked for */
};

static void lookup_free(struct lookup *l)
{
    list_remove(&l->in_rest);
    free(l);
}

static void on_gone(void *ctx)
{
    struct lookup *l = ctx;

    registry_cancel(l->search);
    lookup_free(l);
}

/* ---- answers ---- */

/* Every one of those who were asked. */
static const struct pb_error *all_failed(const struct lookup *l, const struct registry_answer *a,
                                         unsigned *who)
{
    const struct pb_error *why = NULL;

    for (unsigned i = 0; i < REGISTRY_COUNT; i++) {
        if (!(l->which & 1U << i))
            continue;
        if (!a->failed[i])
            return NULL;
        if (!why) {
            why = a->failed[i];
            *who = i;
        }
    }
    return why;
}

static void reply(struct http_request *r, const struct registry_answer *a)
{
    AUTO_BUF struct buf body = { 0 };
    struct json_out o = json_out(&body);

    json_begin_object(&o, NULL);
    json_put_raw(&o, "results", a->results);
    json_begin_array(&o, "failed");
    for (unsigned i = 0; i < REGISTRY_COUNT; i++) {
        if (!a->failed[i])
            continue;
        json_begin_object(&o, NULL);
        json_put_str(&o, "registry", registry_name(i));
        json_put_str(&o, "message", a->failed[i]->msg);
        json_end(&o);
    }
    json_end(&o);
    json_end(&o);
    rest_reply(r, 200, &body);
}

static void on_answer(void *ctx, const struct registry_answer *a)
{
    struct lookup *l = ctx;
    struct http_request *r = l->r;
    unsigned who = 0;
    const struct pb_error *why = all_failed(l, a, &who);
    bool missing = l->one && why && why->code == PB_E_NOT_FOUND;

    lookup_free(l);
    if (why)
        rest_fail(r, &(struct rest_failure){ missing ? 404 : 502, "registry_failed", "name",
                                             span_of(registry_name(who)), .message = why->msg });
    else
        reply(r, a);
}

/* ---- requests ---- */

static size_t count_lookups(const struct rest *s)
{
    size_t n = 0;

    for (const struct list *pos = s->lookups.next; pos != &s->lookups; pos = pos->next)
        n++;
    return n;
}

static void look_up(struct rest_call *c, struct registry_question *q)
{
    const struct control_facts *facts = control_facts_of(c->rest->hosts);
    struct lookup *l;
    struct pb_error err;

    if (count_lookups(c->rest) >= REST_LOOKUPS_MAX) {
        rest_fail(c->r, &(struct rest_failure){ 503, "busy",
                                                .message = "Registries are being asked already",
                                                .next = "try again in a few seconds" });
        return;
    }
    if (facts->settings) {
        q->urls[REGISTRY_OFFICIAL] = facts->settings->registry_url;
        q->urls[REGISTRY_SMITHERY] = facts->settings->smithery_url;
    }
    l = NEW(struct lookup);
    *l = (struct lookup){ .r = c->r, .which = q->which, .one = q->name };
    list_append(&c->rest->lookups, &l->in_rest);
    if (registry_ask(&l->search, c->rest->loop, q, on_answer, l, &err) < 0) {
        lookup_free(l);
        rest_fail_hub(c->r, &err, NULL, NULL);
        return;
    }
    http_on_gone(c->r, on_gone, l);
}

void rest_registry(struct rest_call *c)
{
    const char *registry = rest_text(c, "registry");
    struct registry_question q = { .search = rest_text(c, "search") };

    for (unsigned i = 0; i < REGISTRY_COUNT; i++)
        if (!registry || strcmp(registry, registry_name(i)) == 0)
            q.which |= 1U << i;
    if (q.which)
        look_up(c, &q);
    else
        rest_refuse(c->r, "there is no registry '%s': official or smithery", registry);
}

void rest_registry_server(struct rest_call *c)
{
    struct registry_question q = { .which = 1U << REGISTRY_SMITHERY, .name = rest_text(c, "name") };

    look_up(c, &q);
}

void rest_lookups_end(struct rest *s)
{
    struct list *pos, *safe;

    LIST_FOREACH(pos, safe, &s->lookups) {
        struct lookup *l = CONTAINER_OF(pos, struct lookup, in_rest);
        struct http_request *r = l->r;

        on_gone(l);
        rest_fail(r, &(struct rest_failure){ 503, "stopping", .message = "Patchbay is stopping" });
    }
}
