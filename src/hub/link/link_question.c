/* link_question.c - what a server asks while it works: to whom it goes.
 *
 * Over stdio nothing says which call a question belongs to. If all calls in flight come from one
 * caller, those counted in that were cancelled and that the server has not answered, it goes to the
 * newest of them; when that one ends first, it was another's, and goes to the next. With several
 * callers it could be anybody's, and what one client is asked must not
 * be shown to another: it is refused, and from then on callers are kept apart. */
#include "link_impl.h"
#include "mcp/client/client.h"
#include "mcp/rpc/rpc.h"
#include <stdio.h>

struct link_question {
    struct list at;    /* in link_call.questions; nowhere when it is of no call */
    struct list in_ch; /* in channel.asked, while the server waits */
    struct channel *ch;
    struct client_question *q; /* NULL: the answer goes nowhere */
    struct link_call *call;    /* NULL: of no call */
    struct blob *guessed; /* its params, when the call may be another; NULL: it said which it is */
    char *method;         /* with them */
};

/* ---- whose it is ---- */

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
    list_append(&ch->asked, &mine->in_ch);
    list_init(&mine->at);
    if (c) {
        list_append(&c->questions, &mine->at);
        c->n_questions++;
        link_call_clock(c);
    }
    return mine;
}

/* The server does not wait for it any more; whoever has it need not know. */
static struct client_question *detach(struct link_question *mine)
{
    list_remove(&mine->in_ch);
    return TAKE(mine->q);
}

static void question_free(struct link_question *mine)
{
    struct link_call *c = mine->call;

    detach(mine);
    list_remove(&mine->at);
    if (mine->guessed)
        blob_unref(mine->guessed);
    free(mine->method);
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

/* `guessed`: the question may have nothing to do with the call, and outlive it. False: its caller
 * cannot be asked that. */
static bool ask_caller(struct link_call *c, struct client_question *q, bool guessed,
                       struct span method, struct span params)
{
    struct link_question *mine = question_new(c->ch, q, c);

    if (guessed) {
        mine->method = mem_dupn(method.p, method.n);
        mine->guessed = blob_new(params);
    }
    if (c->spec.question(c->spec.ctx, mine, method, params))
        return true;
    question_free(mine);
    return false;
}

#define IN_DOUBT \
    "calls of several clients are under way and it is not known whose question this is; "

static const char *why_not(const struct link *l, enum whose whose)
{
    switch (whose) {
    case OF_MANY:
        return instances_take_turns(l)
                   ? IN_DOUBT "from now on the calls of one client are made at a time"
                   : IN_DOUBT "with its next call each client has an instance of its own";
    case OF_GONE:
        return "the call of this question was cancelled";
    default:
        return NULL;
    }
}

void question_route(struct channel *ch, struct client_question *q, uint64_t client_id,
                    struct span method, struct span params)
{
    struct link_call *c = NULL;
    enum whose whose = OF_ONE;

    if (client_id)
        c = client_request_ctx(ch->client, client_id, link_call_on_reply);
    else
        whose = claims_whose(ch, &c);
    /* Who has which roots is not worth a process: the empty list is a good answer. */
    if (whose == OF_MANY && !span_is(method, "roots/list"))
        instances_learn(ch->l);
    if (!c)
        ask_owner(ch, q, method, params, why_not(ch->l, whose));
    else if (!c->spec.question)
        ask_owner(ch, q, method, params, "not implemented");
    else if (!ask_caller(c, q, client_id == 0, method, params))
        ask_owner(ch, q, method, params, "the client that made this call did not declare it");
}

/* ---- answers ---- */

const char *link_question_caller(const struct link_question *q) { return channel_caller(q->ch); }

void link_answer(struct link_question *q, struct span result)
{
    struct client_question *theirs = detach(q);

    question_free(q);
    if (theirs)
        client_answer(theirs, result);
}

void link_refuse(struct link_question *q, int code, const char *message)
{
    struct client_question *theirs = detach(q);

    question_free(q);
    if (theirs)
        client_refuse(theirs, code, message);
}

/* The server does not wait for it any more: whoever took it is told. */
static void give_back(struct link_question *mine)
{
    struct link *l = mine->ch->l;
    struct link_call *c = mine->call;

    detach(mine);
    if (c)
        c->spec.withdrawn(c->spec.ctx, mine);
    else if (l->opts.withdrawn)
        l->opts.withdrawn(l->opts.ctx, l, mine);
    else
        return;
    question_free(mine);
}

void question_withdrawn(struct channel *ch, const struct client_question *q)
{
    struct list *pos, *safe;

    LIST_FOREACH(pos, safe, &ch->asked) {
        struct link_question *mine = CONTAINER_OF(pos, struct link_question, in_ch);

        if (mine->q != q)
            continue;
        give_back(mine);
        return;
    }
}

/* Each step looks anew: to whom a question goes next may end others. */
static struct link_question *next_open(const struct link_call *c)
{
    struct list *pos, *safe;

    LIST_FOREACH(pos, safe, &c->questions) {
        struct link_question *mine = CONTAINER_OF(pos, struct link_question, at);

        if (mine->q)
            return mine;
    }
    return NULL;
}

/* Is there another call of its caller whose question it may be, or does it need none? */
static bool may_be_others(struct channel *ch, const struct link_question *mine)
{
    struct link_call *other;

    if (!mine->guessed || ch->leaving)
        return false;
    return strcmp(mine->method, "roots/list") == 0 ||
           (claims_whose(ch, &other) == OF_ONE &&
            strcmp(other->spec.caller, mine->call->spec.caller) == 0);
}

void questions_forget(struct link_call *c)
{
    struct link_question *mine;

    while ((mine = next_open(c))) {
        struct client_question *theirs = detach(mine);

        if (may_be_others(c->ch, mine))
            question_route(c->ch, theirs, 0, span_of(mine->method), blob_span(mine->guessed));
        else
            client_refuse(theirs, RPC_INTERNAL_ERROR, "The call of this question has ended");
    }
}

void questions_free(struct link_call *c)
{
    while (!list_empty(&c->questions))
        question_free(CONTAINER_OF(c->questions.next, struct link_question, at));
}

void questions_orphan(struct channel *ch)
{
    while (!list_empty(&ch->asked)) {
        struct link_question *mine = CONTAINER_OF(ch->asked.next, struct link_question, in_ch);

        if (mine->call)
            detach(mine);
        else
            give_back(mine);
    }
}
