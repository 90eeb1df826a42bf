/* question.c - a client is asked: it answers at once, late, twice, not at all. */
#include "client.h"

struct reply {
    struct client *c;
    unsigned life;
    struct buf text;
};

static void put_result(struct client *c, struct span method, const char *canary, struct json_out *o)
{
    if (span_is(method, "elicitation/create")) {
        bool declines = one_in(10);

        json_put_str(o, "action", declines ? "decline" : "accept");
        if (declines)
            return;
        json_begin_object(o, "content");
        json_put_str(o, "canary", canary);
        json_end(o);
    } else if (span_is(method, "sampling/createMessage")) {
        json_put_str(o, "role", "assistant");
        json_put_str(o, "model", "none");
        json_begin_object(o, "content");
        json_put_str(o, "type", "text");
        json_put_str(o, "text", canary);
        json_end(o);
    } else {
        json_begin_array(o, "roots");
        json_begin_object(o, NULL);
        json_put_fmt(o, "uri", "file:///rt:%u.%u", c->no, c->life);
        json_end(o);
        json_end(o);
    }
}

void question_answer(struct client *c, struct span method, struct span text, struct buf *out)
{
    struct json_out o = json_out(out);
    char canary[CANARY_MAX];

    canary_find(text, canary);
    json_begin_object(&o, NULL);
    put_result(c, method, canary, &o);
    json_end(&o);
}

static void say_reply(void *ctx)
{
    struct reply *r = ctx;

    if (r->c->state == CLIENT_READY && r->c->life == r->life) {
        figures.answers++;
        r->c->kind->say(r->c, NULL, buf_span(&r->text));
    }
    buf_done(&r->text);
    free(r);
}

static void reply_after(struct client *c, struct span text, uint64_t ms)
{
    struct reply *r = NEW(struct reply);

    *r = (struct reply){ .c = c, .life = c->life };
    buf_add_span(&r->text, text);
    later(ms, say_reply, r);
}

/* Most at once; some take their time; few never come back. */
static uint64_t patience(void)
{
    unsigned dice = among(20);

    return dice < 12 ? 0 : dice < 18 ? among(500) : among(4000);
}

/* A question without an answer holds its call as long as a person may think. */
static void ignore(struct client *c, struct span text)
{
    char canary[CANARY_MAX];

    canary_find(text, canary);
    for (int i = 0; i < CALLS_MAX; i++)
        if (c->calls[i].used && strcmp(c->calls[i].canary, canary) == 0)
            c->calls[i].abandoned = true;
}

void question_heard(struct client *c, struct json message, struct span text)
{
    AUTO_BUF struct buf out = { 0 };
    AUTO_ARENA struct arena a = { 0 };
    struct span method = json_str(json_get(message, "method"), &a);
    uint64_t wait = patience();

    figures.questions++;
    if (one_in(25)) {
        ignore(c, text);
        return;
    }
    buf_str(&out, "{\"jsonrpc\":\"2.0\",\"id\":");
    buf_add_span(&out, json_text(json_get(message, "id")));
    buf_str(&out, ",\"result\":");
    if (span_is(method, "ping"))
        buf_str(&out, "{}");
    else
        question_answer(c, method, text, &out);
    buf_byte(&out, '}');
    reply_after(c, buf_span(&out), wait);
    if (one_in(8))
        reply_after(c, buf_span(&out), wait + among(300));
}
