/* server_jobs.c - calls that are being worked on, and what is said about them. */
#include "server.h"
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

enum { JOBS_MAX = 1024, QUESTIONS_MAX = 4, SEEN_MAX = 4096 };

static struct job jobs[JOBS_MAX];
static unsigned questions_asked;

static void keep(char *to, size_t room, struct slice s)
{
    snprintf(to, room, "%.*s", s.p ? (int)s.n : 0, s.p ? s.p : "");
}

/* A call that is executed twice, though nobody asked twice. */
static void note_canary(const struct job *j)
{
    static char seen[SEEN_MAX][96];
    static unsigned at;

    if (j->state[0] || !j->canary[0])
        return;
    for (unsigned i = 0; i < SEEN_MAX; i++)
        if (strcmp(seen[i], j->canary) == 0)
            violation("executed-twice %s", j->canary);
    snprintf(seen[at++ % SEEN_MAX], sizeof seen[0], "%s", j->canary);
}

struct job *job_new(outlet from, uint64_t session, struct slice id, struct slice params)
{
    struct slice meta = slice_get(params, "_meta"), inputs = slice_get(params, "inputResponses");
    struct job *j = NULL;

    for (int i = 0; i < JOBS_MAX && !j; i++)
        if (!jobs[i].used)
            j = &jobs[i];
    if (!j)
        return NULL;
    *j = (struct job){ .used = true, .out = from, .session = session };
    keep(j->id, sizeof j->id, id);
    keep(j->token, sizeof j->token, slice_get(meta, "progressToken"));
    keep(j->canary, sizeof j->canary, slice_canary(params));
    keep(j->state, sizeof j->state, slice_get(params, "requestState"));
    j->wants_logs = slice_get(meta, "io.modelcontextprotocol/logLevel").p != NULL;
    if (inputs.p)
        text_add(&j->inputs, inputs.p, inputs.n);
    note_canary(j);
    return j;
}

void job_free(struct job *j)
{
    free(j->inputs.p);
    *j = (struct job){ 0 };
}

struct job *job_find(uint64_t session, struct slice id)
{
    for (int i = 0; i < JOBS_MAX; i++)
        if (jobs[i].used && jobs[i].session == session && slice_is(id, jobs[i].id))
            return &jobs[i];
    return NULL;
}

void job_each(void (*fn)(struct job *j, void *ctx), void *ctx)
{
    for (int i = 0; i < JOBS_MAX; i++)
        if (jobs[i].used)
            fn(&jobs[i], ctx);
}

struct job *job_of_question(struct slice id, int *which)
{
    for (int i = 0; i < JOBS_MAX; i++)
        for (int k = 0; jobs[i].used && k < QUESTIONS_MAX; k++)
            if (jobs[i].questions[k][0] && slice_is(id, jobs[i].questions[k])) {
                *which = k;
                return &jobs[i];
            }
    return NULL;
}

void job_step(struct job *j)
{
    j->wake = 0;
    j->act->step(j);
    if (j->used && !j->wake && !j->open)
        job_free(j); /* it says nothing more: a server that forgot */
}

/* ---- what is said ---- */

static void say(const struct job *j, struct text *t, bool last)
{
    outlet_say(j->out, t->p, t->n, last);
    free(t->p);
}

static void put_id(struct text *t, const struct job *j)
{
    bool number = j->id[0] >= '0' && j->id[0] <= '9';

    text_printf(t, "{\"jsonrpc\":\"2.0\",\"id\":%s%s%s,", number ? "" : "\"", j->id,
                number ? "" : "\"");
}

/* Every kind of request gets an answer that says the same: the canary, who we are, how it went. */
void job_result(struct job *j, const char *how)
{
    struct text t = { 0 };
    char words[300];

    snprintf(words, sizeof words, "%s srv:%s how:%s", j->canary, self.name, how);
    put_id(&t, j);
    text_printf(&t, "\"result\":{%s", self.modern ? "\"resultType\":\"complete\"," : "");
    text_printf(
        &t,
        "\"content\":[{\"type\":\"text\",\"text\":\"%s\"}],"
        "\"contents\":[{\"uri\":\"stress://%s/%s\",\"text\":\"%s\"}],"
        "\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":\"%s\"}}]}}",
        words, self.name, j->canary, words, words);
    say(j, &t, true);
    job_free(j);
}

void job_error(struct job *j, int code, const char *why)
{
    struct text t = { 0 };

    put_id(&t, j);
    text_printf(&t, "\"error\":{\"code\":%d,\"message\":\"%s %s srv:%s\"}}", code, why, j->canary,
                self.name);
    say(j, &t, true);
    job_free(j);
}

void job_progress(struct job *j, int n, int total)
{
    struct text t = { 0 };
    bool number = j->token[0] >= '0' && j->token[0] <= '9';

    if (!j->token[0])
        return;
    text_printf(&t,
                "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{"
                "\"progressToken\":%s%s%s,\"progress\":%d,\"total\":%d,\"message\":\"%s srv:%s\"}}",
                number ? "" : "\"", j->token, number ? "" : "\"", n, total, j->canary, self.name);
    say(j, &t, false);
}

/* Over HTTP what a modern server logs comes with the answer to a call. All else goes to everybody
 * who wants it: it names no call. */
void job_log(struct job *j)
{
    struct text t = { 0 };

    if (self.modern && !j->wants_logs)
        return;
    text_printf(&t,
                "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{"
                "\"level\":\"info\",\"data\":\"%s srv:%s works\"}}",
                self.modern && self.http ? j->canary : "a call", self.name);
    say(j, &t, false);
}

static void put_question(struct text *t, const struct job *j, const char *method)
{
    text_printf(t, "\"method\":\"%s\",\"params\":{", method);
    if (strcmp(method, "elicitation/create") == 0)
        text_printf(t,
                    "\"message\":\"%s srv:%s\",\"requestedSchema\":{\"type\":\"object\","
                    "\"properties\":{\"canary\":{\"type\":\"string\"}}}",
                    j->canary, self.name);
    else if (strcmp(method, "sampling/createMessage") == 0)
        text_printf(t,
                    "\"messages\":[{\"role\":\"user\",\"content\":{\"type\":\"text\",\"text\":"
                    "\"%s srv:%s\"}}],\"maxTokens\":10",
                    j->canary, self.name);
    text_printf(t, "}");
}

/* In the modern era that is the end of this request: the caller comes back with the answer. */
static bool ask_modern(struct job *j, const char *method)
{
    struct text t = { 0 };

    put_id(&t, j);
    text_printf(&t,
                "\"result\":{\"resultType\":\"input_required\",\"requestState\":\"%s/%d\","
                "\"inputRequests\":{\"q%d\":{",
                j->canary, j->step, j->step);
    put_question(&t, j, method);
    text_printf(&t, "}}}}");
    say(j, &t, true);
    job_free(j);
    return true;
}

bool job_ask(struct job *j, const char *method)
{
    struct text t = { 0 };
    int k = 0;

    if (self.modern)
        return ask_modern(j, method);
    while (k < QUESTIONS_MAX && j->questions[k][0])
        k++;
    if (k == QUESTIONS_MAX)
        return false;
    snprintf(j->questions[k], sizeof j->questions[k], "q%u", ++questions_asked);
    j->open++;
    text_printf(&t, "{\"jsonrpc\":\"2.0\",\"id\":\"%s\",", j->questions[k]);
    put_question(&t, j, method);
    text_printf(&t, "}");
    say(j, &t, false);
    return true;
}

void job_withdraw(struct job *j)
{
    for (int k = 0; k < QUESTIONS_MAX; k++) {
        struct text t = { 0 };

        if (!j->questions[k][0])
            continue;
        text_printf(&t,
                    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{"
                    "\"requestId\":\"%s\",\"reason\":\"never mind\"}}",
                    j->questions[k]);
        say(j, &t, false);
        j->questions[k][0] = '\0';
    }
    j->open = 0;
}

/* Roots say whose they are: rt:CLIENT.LIFE. */
static void check_roots(const struct job *j, struct slice message)
{
    const char *p = message.n ? memmem(message.p, message.n, "rt:", 3) : NULL;
    size_t n = p ? strspn(p + 3, ".0123456789") : 0;

    if (p && (strncmp(p + 3, j->canary + 4, n) != 0 || j->canary[4 + n] != '.'))
        violation("mixed-roots question of %s got %.*s", j->canary, (int)n + 3, p);
}

/* An answer that a client gave repeats the canary of the question; roots only name the client. */
void job_answered(struct job *j, int which, struct slice message)
{
    struct slice got = slice_canary(message);
    struct slice result = slice_get(message, "result");

    if (got.p && !slice_is(got, j->canary))
        violation("mixed-answer question of %s got %.*s", j->canary, SLICE_ARG(got));
    if (!got.p && slice_is(slice_get(result, "action"), "accept"))
        violation("bare-answer question of %s got %.*s", j->canary, SLICE_ARG(message));
    check_roots(j, message);
    snprintf(j->said, sizeof j->said, "%s", got.p ? "accept" : result.p ? "declined" : "refused");
    j->questions[which][0] = '\0';
    j->open--;
    j->answers++;
    job_step(j);
}
