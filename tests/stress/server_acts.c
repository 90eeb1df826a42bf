/* server_acts.c - what the tools do, and in which ways servers go wrong. */
#include "server.h"
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PATIENCE_MS = 6000, BIG_BYTES = 1 << 20 };

/* ---- honest work ---- */

static void act_echo(struct job *j) { job_result(j, "echo"); }

static void act_slow(struct job *j)
{
    if (j->step++ == 0)
        j->wake = self.now + 20 + among(700);
    else
        job_result(j, "slow");
}

static void act_chat(struct job *j)
{
    int steps = 3 + (int)among(6);

    for (int i = 0; i < 5; i++) {
        job_progress(j, ++j->step, 100);
        job_log(j);
    }
    if (j->step / 5 >= steps)
        job_result(j, "chat");
    else
        j->wake = self.now + 1 + among(80);
}

static void act_big(struct job *j)
{
    char *how = malloc(BIG_BYTES + 1);

    if (!how)
        abort();
    memset(how, 'x', BIG_BYTES);
    how[BIG_BYTES] = '\0';
    /* the canary comes before it, so that a cut is seen by its missing end */
    struct text t = { 0 };
    bool number = j->id[0] >= '0' && j->id[0] <= '9';

    text_printf(&t,
                "{\"jsonrpc\":\"2.0\",\"id\":%s%s%s,\"result\":{%s\"content\":[{\"type\":\"text\","
                "\"text\":\"%s srv:%s how:big %s end\"}]}}",
                number ? "" : "\"", j->id, number ? "" : "\"",
                self.modern ? "\"resultType\":\"complete\"," : "", j->canary, self.name, how);
    outlet_say(j->out, t.p, t.n, true);
    free(t.p);
    free(how);
    job_free(j);
}

/* ---- questions ---- */

static const char *any_question(void)
{
    static const char *const methods[] = { "elicitation/create", "elicitation/create",
                                           "sampling/createMessage", "roots/list" };

    return methods[among(4)];
}

/* A modern caller comes back with what we gave it. */
static int rounds_done(struct job *j)
{
    struct slice got = slice_canary((struct slice){ j->inputs.p, j->inputs.n });
    const char *slash = strrchr(j->state, '/');

    if (!j->state[0])
        return 0;
    if (!slash || strncmp(j->state, j->canary, (size_t)(slash - j->state)) != 0)
        violation("mixed-state call of %s came back with %s", j->canary, j->state);
    if (got.p && !slice_is(got, j->canary))
        violation("mixed-answer input of %s got %.*s", j->canary, SLICE_ARG(got));
    snprintf(j->said, sizeof j->said, "%s", got.p ? "accept" : "declined");
    return slash ? (int)strtol(slash + 1, NULL, 10) : 0;
}

static void ask_in_turn(struct job *j, int rounds)
{
    if (self.modern) {
        j->step = rounds_done(j) + 1;
        if (j->step > rounds)
            job_result(j, j->said);
        else
            job_ask(j, "elicitation/create");
        return;
    }
    if (j->step && j->wake == 0 && j->open) { /* nobody answers */
        job_withdraw(j);
        job_result(j, "unanswered");
        return;
    }
    if (j->step++ < rounds && job_ask(j, any_question()))
        j->wake = self.now + PATIENCE_MS;
    else
        job_result(j, j->said);
}

static void act_ask(struct job *j) { ask_in_turn(j, 1); }
static void act_ask_more(struct job *j) { ask_in_turn(j, 3); }

/* Two at once. */
static void act_ask_both(struct job *j)
{
    if (self.modern) {
        ask_in_turn(j, 2);
    } else if (j->step++ == 0) {
        job_ask(j, any_question());
        job_ask(j, any_question());
        j->wake = self.now + PATIENCE_MS;
    } else if (j->answers < 2 && j->open) {
        if (j->step > 2) {
            job_withdraw(j);
            job_result(j, "unanswered");
        } else {
            j->wake = self.now + PATIENCE_MS;
        }
    } else {
        job_result(j, j->said);
    }
}

/* Asks and changes its mind; a call that goes on for a while after that. */
static void act_withdraw(struct job *j)
{
    if (self.modern) {
        ask_in_turn(j, 1);
        return;
    }
    switch (j->step++) {
    case 0:
        job_ask(j, any_question());
        j->wake = self.now + among(150);
        break;
    case 1:
        job_withdraw(j);
        j->wake = self.now + 1 + among(300);
        break;
    default:
        job_result(j, "withdrawn");
    }
}

const struct act acts[] = {
    { "echo", act_echo },         { "slow", act_slow },         { "chat", act_chat },
    { "big", act_big },           { "ask", act_ask },           { "ask_more", act_ask_more },
    { "ask_both", act_ask_both }, { "withdraw", act_withdraw }, { NULL, NULL },
};

/* ---- ways to go wrong ---- */

static bool die(struct job *j)
{
    static const char half[] = "{\"jsonrpc\":\"2.0\",\"id\":1,\"resu";

    switch (among(16)) {
    case 0:
        _exit(3);
    case 1:
        abort();
    case 2:
        outlet_raw(j->out, half, sizeof half - 1);
        _exit(4);
    case 3:
        job_result(j, "echo");
        _exit(0);
    default:
        return false;
    }
}

static bool hang(struct job *j)
{
    if (among(6))
        return false;
    j->wake = UINT64_MAX; /* for ever */
    return true;
}

static bool say_garbage(struct job *j)
{
    static const char *const words[] = {
        "Listening on port 3000\n", "\n\n\n", "{\"jsonrpc\":\n", "[]\n", "\xff\xfe\xfd\n",
        "{\"jsonrpc\":\"2.0\"}\n",  "null\n"
    };
    const char *word = words[among(7)];

    if (among(4) == 0)
        outlet_raw(j->out, word, strlen(word));
    return false;
}

static bool say_twice(struct job *j)
{
    static const char stranger[] = "{\"jsonrpc\":\"2.0\",\"id\":987654321987,\"result\":{}}";
    static const char stranger2[] = "{\"jsonrpc\":\"2.0\",\"id\":\"nobody\",\"result\":{}}";
    struct job copy = *j;

    copy.inputs = (struct text){ 0 };
    switch (among(4)) {
    case 0:
        outlet_say(j->out, stranger, sizeof stranger - 1, false);
        outlet_say(j->out, stranger2, sizeof stranger2 - 1, false);
        return false;
    case 1:
        job_result(j, "echo");
        job_result(&copy, "echo");
        return true;
    case 2:
        job_error(&copy, -32000, "a lie");
        job_result(j, "echo");
        return true;
    default:
        return false;
    }
}

/* Answers that name the call and are none. */
static bool say_malformed(struct job *j)
{
    static const char *const bodies[] = {
        "\"result\":{\"content\":[]},\"error\":{\"code\":1,\"message\":\"both\"}}",
        "\"result\":{},\"result\":{}}",
        "\"result\":7}",
        "\"error\":\"words\"}",
        "\"result\":{\"content\":[{\"type\":\"text\",\"text\":\"\\ud800\"}]}}",
        "\"nothing\":1}",
    };
    bool number = j->id[0] >= '0' && j->id[0] <= '9';
    struct text t = { 0 };

    if (among(3))
        return false;
    text_printf(&t, "{\"jsonrpc\":\"2.0\",\"id\":%s%s%s,%s", number ? "" : "\"", j->id,
                number ? "" : "\"", bodies[among(6)]);
    outlet_say(j->out, t.p, t.n, true);
    free(t.p);
    job_free(j);
    return true;
}

static bool flood_stderr(struct job *j)
{
    (void)j;
    if (among(8) == 0)
        for (int i = 0; i < 2000; i++)
            fprintf(stderr, "%s %d: the same complaint over and over\n", self.name, i);
    return false;
}

static void tell_changes(int n)
{
    static const char *const lists[] = { "tools", "resources", "prompts" };

    for (int i = 0; i < n; i++) {
        struct text t = { 0 };

        text_printf(&t, "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/%s/list_changed\"}",
                    lists[among(3)]);
        outlet_say(OUTLET_NEWS, t.p, t.n, false);
        free(t.p);
    }
}

static bool storm(struct job *j)
{
    (void)j;
    if (among(8) == 0)
        tell_changes(50);
    return false;
}

static void change_now_and_then(void)
{
    if (among(4) == 0)
        tell_changes(1 + (int)among(3));
}

/* Asks on when its call has been cancelled, then answers it after all. */
static void nag(struct job *j)
{
    if (!self.modern) {
        job_withdraw(j);
        job_ask(j, "elicitation/create");
    }
    job_result(j, "late");
}

/* clang-format off */
const struct kind kinds[] = {
    { .name = "honest" },
    { .name = "dying",     .evil = die },
    { .name = "hanging",   .evil = hang },
    { .name = "garbage",   .evil = say_garbage },
    { .name = "twice",     .evil = say_twice },
    { .name = "malformed", .evil = say_malformed },
    { .name = "flood",     .evil = flood_stderr },
    { .name = "storm",     .evil = storm, .idle = change_now_and_then },
    { .name = "nagging",   .cancelled = nag },
    { .name = "cutting",   .cuts = true },
    { .name = NULL },
};
/* clang-format on */
