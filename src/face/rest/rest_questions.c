/* rest_questions.c - what people are asked before a call goes on, and their answers. */
#include "gate/gate.h"
#include "io/http/http.h"
#include "rest_impl.h"

static void put_question(void *ctx, const struct question *q) { question_write(ctx, NULL, q); }

void rest_questions(struct rest_call *c)
{
    AUTO_BUF struct buf body = { 0 };
    struct json_out o = json_out(&body);

    json_begin_object(&o, NULL);
    json_begin_array(&o, "questions");
    gate_each_question(c->rest->gate, put_question, &o);
    json_end(&o);
    json_end(&o);
    rest_reply(c->r, 200, &body);
}

static bool read_choice(const char *word, enum question_choice *out)
{
    for (unsigned i = 0; i < CHOICE_COUNT; i++)
        if (strcmp(word, question_choice_name((enum question_choice)i)) == 0) {
            *out = (enum question_choice)i;
            return true;
        }
    return false;
}

/* False: refused and answered. */
static bool read_answer(struct rest_call *c, struct question_answer *a)
{
    const struct rest_value *grant = rest_value(c, "grant_s");
    const char *reason = rest_text(c, "reason");

    *a = (struct question_answer){ .by = ASK_CONSOLE,
                                   .grant_once = rest_yes(c, "once"),
                                   .who = rest_client(c, "console"),
                                   .reason = reason && *reason ? reason : NULL };
    if (!read_choice(rest_text(c, "choice"), &a->choice))
        rest_refuse(c->r, "choice: expected approve, grant or deny, got '%.*s'", MCP_NAME_SHOWN_MAX,
                    rest_text(c, "choice"));
    else if (grant->given && !(grant->number >= 0.001 && grant->number <= GRANT_MAX_S))
        rest_refuse(c->r, "grant_s: expected seconds from 0.001 to %d", GRANT_MAX_S);
    else if (a->choice != CHOICE_GRANT && (grant->given || a->grant_once))
        rest_refuse(c->r, "grant_s and once are for the choice 'grant'");
    else if (reason && strlen(reason) > REST_REASON_MAX)
        rest_refuse(c->r, "reason: expected at most %d bytes", REST_REASON_MAX);
    else {
        a->grant_ms = grant->given ? (uint64_t)(grant->number * 1000) : 0;
        return true;
    }
    return false;
}

void rest_question_answer(struct rest_call *c)
{
    const char *id = rest_text(c, "id");
    const struct question *q = gate_question(c->rest->gate, id);
    struct question_answer a;
    struct pb_error err;

    if (!read_answer(c, &a))
        return;
    if (q && !(q->by & ASK_CONSOLE))
        rest_fail(c->r,
                  &(struct rest_failure){ 409, "not_yours_to_answer", "id", span_of(id),
                                          .message = "The rule does not let it be answered here",
                                          .next = "see answer_by of the question" });
    else if (gate_answer(c->rest->gate, id, &a, &err) == 0)
        rest_reply_ok(c->r);
    else if (err.code == PB_E_NOT_FOUND)
        rest_fail(c->r, &(struct rest_failure){ 404, "question_not_found", "id", span_of(id),
                                                .message = err.msg });
    else
        rest_fail_hub(c->r, &err, "id", id);
}
