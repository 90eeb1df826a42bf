/* hub_vet.c - what servers say is looked at before anybody is shown it, by whoever was put here for
 * that; what is to be held back gets its mark in the same turn, before a client can ask. */
#include "hub/catalog/catalog.h"
#include "hub/link/link.h"
#include "hub_impl.h"

static const char *const kind_names[] = {
    [VET_TOOL] = "tool", [VET_PROMPT] = "prompt", [VET_INSTRUCTIONS] = "instructions"
};
_Static_assert(ARRAY_LEN(kind_names) == VET_KINDS, "every kind has a name");

const char *vet_kind_name(enum vet_kind k) { return kind_names[k]; }

void hub_set_vet(struct hub *h, const struct hub_vet *v)
{
    h->vet = v ? *v : (struct hub_vet){ 0 };
    h->link_opts.weigh = v != NULL;
}

struct vetting {
    struct member *m;
    const struct digests *d;
    enum vet_kind kind;
    bool running;
};

/* What was not weighed is not known: it is shown to nobody. It cannot be, but by a mistake of ours.
 */
static bool look(void *ctx, const struct entry *e, size_t at, struct span was)
{
    const struct vetting *v = ctx;
    const struct hub_vet *vet = &v->m->hub->vet;
    struct vet_item i = { .kind = v->kind, .name = e->name, .text = e->text, .was = was };

    if (at >= v->d->n)
        return true;
    i.canonical = digests_text(v->d, at);
    i.digest = v->d->v[at];
    return vet->look(vet->ctx, link_spec(v->m->link), &i, v->running);
}

static bool vet_list(struct member *m, enum list_kind kind, bool running)
{
    struct vetting v = { m, &m->digests[kind], kind == LIST_TOOLS ? VET_TOOL : VET_PROMPT,
                         running };
    bool looks = m->hub->vet.look && (kind == LIST_TOOLS || kind == LIST_PROMPTS);

    if (looks)
        m->hub->vet.begin(m->hub->vet.ctx, m->name, v.kind);
    return catalog_hold(m->hub->catalog, m->name, kind, looks ? look : NULL, &v);
}

bool member_vet(struct member *m, enum list_kind kind, struct digests *d, bool running)
{
    bool changed;

    digests_done(&m->digests[kind]);
    m->digests[kind] = *d;
    *d = (struct digests){ 0 };
    changed = vet_list(m, kind, running);
    digests_let_go(&m->digests[kind]);
    return changed;
}

void member_digests_done(struct member *m)
{
    for (int k = 0; k < LIST_KINDS; k++)
        digests_done(&m->digests[k]);
}

static void vet_words(struct member *m)
{
    const struct hub_vet *vet = &m->hub->vet;
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_ARENA struct arena a = { 0 };
    struct vet_item i = { .kind = VET_INSTRUCTIONS, .name = SPAN("") };
    uint8_t digest[SHA512_BYTES];
    struct link_facts facts;

    link_facts(m->link, &facts);
    if (!vet->look || !facts.instructions.n ||
        json_parse(&doc, facts.instructions, NULL, NULL) < 0 ||
        !json_is(json_root(&doc), JSON_STRING)) {
        link_mute(m->link, false);
        return;
    }
    vet->begin(vet->ctx, m->name, VET_INSTRUCTIONS);
    i.text = i.canonical = json_str(json_root(&doc), &a);
    sha512(i.text, digest);
    i.digest = digest;
    link_mute(m->link, vet->look(vet->ctx, link_spec(m->link), &i, false));
}

void member_on_greeted(void *ctx, struct link *l)
{
    struct member *m = ctx;

    if (l == m->link && !member_is(m, MEMBER_LEAVING))
        vet_words(m);
}

void hub_vet_again(struct hub *h, const char *server)
{
    struct list *pos, *safe;

    LIST_FOREACH(pos, safe, &h->members) {
        struct member *m = CONTAINER_OF(pos, struct member, at);
        unsigned kinds = 0;

        if (server && strcmp(server, m->name) != 0)
            continue;
        vet_words(m);
        for (unsigned k = 0; k < LIST_KINDS; k++)
            if (vet_list(m, (enum list_kind)k, false))
                kinds |= 1U << k;
        if (kinds)
            hub_lists_changed(h, m->name, kinds);
    }
}

bool hub_holds(const struct hub *h, const char *server, enum vet_kind kind, struct span name,
               struct pb_error *err)
{
    struct scope one = { .server = server, .disabled_too = true, .held_too = true };
    const struct entry *e;

    if (!h->vet.look || !server)
        return false;
    e = catalog_find(h->catalog, &one, kind == VET_TOOL ? LIST_TOOLS : LIST_PROMPTS, name, NULL);
    if (!e || !e->held)
        return false;
    if (err)
        h->vet.explain(h->vet.ctx, server, kind, e->name, err);
    return true;
}

bool hub_holds_call(const struct hub *h, const struct call_spec *call, struct pb_error *err)
{
    static const struct {
        const char *method;
        enum vet_kind kind;
    } rows[] = { { "tools/call", VET_TOOL }, { "prompts/get", VET_PROMPT } };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (strcmp(rows[i].method, call->method) == 0)
            return hub_holds(h, call->server, rows[i].kind, call->subject, err);
    return false;
}
