/* link_question.c - what a server asks while it works: to whom it goes.
 *
 * Over stdio nothing says which call a question belongs to. It goes to the newest call in flight
 * that has no question open yet, if all such come from the same caller. With several callers it
 * could be anybody's, and what one client is asked must not be shown to another: it is refused. */
#include "link_impl.h"
#include <stdio.h>

struct link_question {
    struct list at; /* in link_call.questions or link.questions */
    struct channel *ch;
    struct client_question *q; /* NULL: the answer goes nowhere */
    struct link_call *call;    /* NULL: of no call */
    bool stays;                /* the end of the call is not its end */
};

/* ---- what a caller can be asked ---- */

static bool can_elicit(struct json caps, struct json params)
{
    struct json cap = json_get(caps, "elicitation");
    bool url = json_str_is(json_get(params, "mode"), "url");

    if (!json_is(cap, JSON_OBJECT))
        return false;
    if (url)
        return !json_is(json_get(cap, "url"), JSON_NONE);
    return json_len(cap) == 0 || !json_is(json_get(cap, "form"), JSON_NONE);
}

static bool can_list_roots(struct json caps, struct json params)
{
    (void)params;
    return json_is(json_get(caps, "roots"), JSON_OBJECT);
}

static bool can_sample(struct json caps, struct json params)
{
    (void)params;
    return json_is(json_get(caps, "sampling"), JSON_OBJECT);
}

/* clang-format off */
static const struct {
    const char *method;
    bool (*can)(struct json caps, struct json params);
} kinds[] = {
    { "elicitation/create",     can_elicit },
    { "roots/list",             can_list_roots },
    { "sampling/createMessage", can_sample },
};
/* clang-format on */

static bool can_answer(const struct link_call *c, struct span method, struct span params)
{
    AUTO_JSON struct json_doc caps = { 0 }, doc = { 0 };
    struct json asked = { 0 };

    if (!c->spec.question || !c->spec.caps ||
        json_parse(&caps, span_of(c->spec.caps), NULL, NULL) < 0 ||
        !json_is(json_root(&caps), JSON_OBJECT))
        return false;
    if (params.n && json_parse(&doc, params, &(struct json_opts){ .keep_depth = 1 }, NULL) == 0)
        asked = json_root(&doc);
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (span_is(method, kinds[i].method))
            return kinds[i].can(json_root(&caps), asked);
    return false;
}

/* ---- whose it is ---- */

enum whose { OF_NOBODY, OF_ONE, OF_MANY };

/* `idle`: only calls that are not being asked already. */
static enum whose find_among(const struct channel *ch, bool idle, struct link_call **out)
{
    const struct link *l = ch->l;

    *out = NULL;
    for (struct list *pos = l->calls.next; pos != &l->calls; pos = pos->next) {
        struct link_call *c = CONTAINER_OF(pos, struct link_call, at);

        if (c->ch != ch || !c->sent || c->cancelling || (idle && c->n_questions))
            continue;
        if (*out && strcmp((*out)->spec.caller, c->spec.caller) != 0)
            return OF_MANY;
        *out = c;
    }
    return *out ? OF_ONE : OF_NOBODY;
}

/* A server that waits for an answer about one call seldom asks about it again: a person who thinks
 * about one question must not keep all others from being asked. */
static enum whose find_call(const struct channel *ch, struct link_call **out)
{
    enum whose whose = find_among(ch, true, out);

    return whose == OF_NOBODY ? find_among(ch, false, out) : whose;
}

static void refuse(struct client_question *q, struct span method, const char *why)
{
    char text[MCP_ERROR_TEXT_MAX];

    snprintf(text, sizeof text, "%.*s: %s", SPAN_ARG(method), why);
    client_refuse(q, RPC_METHOD_NOT_FOUND, text);
}

static struct link_question *question_new(struct channel *ch, struct client_question *q,
                                          struct link_call *c)
{
    struct link_question *mine = NEW(struct link_question);

    *mine = (struct link_question){ .ch = ch, .q = q, .call = c };
    list_append(c ? &c->questions : &ch->l->questions, &mine->at);
    if (c) {
        c->n_questions++;
        link_call_clock(c);
    }
    return mine;
}

static void question_free(struct link_question *mine)
{
    struct link_call *c = mine->call;

    list_remove(&mine->at);
    free(mine);
    if (!c)
        return;
    c->n_questions--;
    link_call_clock(c);
}

/* Nobody's question, or one whose caller cannot answer it. An empty list of roots is true of
 * everybody; a form or a model is another matter. */
static void ask_owner(struct channel *ch, struct client_question *q, struct span method,
                      struct span params, const char *refusal)
{
    const struct link_options *o = &ch->l->opts;
    struct link_question *mine;
    bool roots = span_is(method, "roots/list");

    if (o->question && (roots || !refusal)) {
        mine = question_new(ch, q, NULL);
        if (o->question(o->ctx, ch->l, mine, method, params))
            return;
        question_free(mine);
    }
    if (roots)
        client_answer(q, SPAN("{\"roots\":[]}"));
    else
        refuse(q, method, refusal ? refusal : "not implemented");
}

/* `guessed`: the question may have nothing to do with the call, and outlive it. */
static void ask_caller(struct link_call *c, struct link_question *mine, bool guessed,
                       struct span method, struct span params)
{
    mine->stays = guessed && span_is(method, "roots/list");
    c->spec.question(c->spec.ctx, mine, method, params);
}

void question_route(struct channel *ch, struct client_question *q, uint64_t client_id,
                    struct span method, struct span params)
{
    struct link_call *c = NULL;
    enum whose whose = OF_ONE;

    if (client_id)
        c = link_call_of_client(ch, client_id);
    else
        whose = find_call(ch, &c);
    if (whose == OF_MANY)
        ask_owner(ch, q, method, params,
                  "calls of several clients are under way and it is not known whose question this "
                  "is; give each its own process with \"instance\": \"per_client\"");
    else if (!c)
        ask_owner(ch, q, method, params, NULL);
    else if (can_answer(c, method, params))
        ask_caller(c, question_new(ch, q, c), client_id == 0, method, params);
    else
        ask_owner(ch, q, method, params,
                  c->spec.question ? "the client that made this call did not declare it"
                                   : "not implemented");
}

/* ---- answers ---- */

const char *link_question_caller(const struct link_question *q)
{
    return q->ch->caller ? q->ch->caller : "";
}

void link_answer(struct link_question *q, struct span result)
{
    struct client_question *theirs = q->q;

    question_free(q);
    if (theirs)
        client_answer(theirs, result);
}

void link_refuse(struct link_question *q, int code, const char *message)
{
    struct client_question *theirs = q->q;

    question_free(q);
    if (theirs)
        client_refuse(theirs, code, message);
}

void questions_forget(struct link_call *c)
{
    struct list *pos, *safe;

    LIST_FOREACH(pos, safe, &c->questions) {
        struct link_question *mine = CONTAINER_OF(pos, struct link_question, at);
        struct client_question *theirs = mine->q;
        bool stays = mine->stays && !c->ch->leaving;

        list_remove(pos);
        free(mine);
        if (theirs && stays)
            question_route(c->ch, theirs, 0, SPAN("roots/list"), SPAN(""));
        else if (theirs)
            client_refuse(theirs, RPC_INTERNAL_ERROR, "The call of this question has ended");
    }
    c->n_questions = 0;
}

void questions_orphan(struct channel *ch)
{
    struct list *pos, *safe;

    LIST_FOREACH(pos, safe, &ch->l->questions) {
        struct link_question *mine = CONTAINER_OF(pos, struct link_question, at);

        if (mine->ch != ch || !mine->q)
            continue;
        mine->q = NULL; /* whoever has it will answer, and that goes nowhere */
        list_remove(&mine->at);
    }
}
