/* call_run.c - a handler runs, on the loop or on a worker, and what comes of it. */
#include "call.h"
#include "mcp/rpc/rpc.h"
#include "mcp/serve/serve.h"
#include "tasks.h"
#include <time.h>

/* On the thread that brought the second of: the handler returned, its answer is finished. */
static void conclude(struct pb_call *c)
{
    call_write_outcome(c, c->status);
    pthread_mutex_lock(&c->lock);
    c->concluded = true;
    pthread_mutex_unlock(&c->lock);
}

static void run_handler(struct pb_call *c)
{
    pb_handler *fn = c->kind == CALL_COMPLETE ? c->item->complete : c->item->run;
    int status = fn(c, c->item->ctx);
    bool both;

    pthread_mutex_lock(&c->lock);
    c->returned = true;
    if (!c->deferred) {
        c->finished = true;
        c->status = status;
    }
    both = c->finished;
    pthread_mutex_unlock(&c->lock);
    if (both)
        conclude(c);
}

static void on_work(void *ctx) { run_handler(ctx); }

static void deliver(struct pb_call *c)
{
    if (!c->request && !c->task) {
        call_over(c);
    } else if (c->outcome == OUTCOME_ASK) {
        ask_round(c);
    } else if (c->task) {
        task_concluded(c);
    } else {
        call_answer(c);
        call_over(c);
    }
}

void call_look(struct pb_call *c)
{
    bool concluded;

    call_events_drain(c);
    pthread_mutex_lock(&c->lock);
    concluded = c->concluded;
    pthread_mutex_unlock(&c->lock);
    if (!concluded || c->completed)
        return;
    c->completed = true;
    deliver(c);
}

/* The handler has returned; a deferred answer may still be to come. */
static void handler_left(struct pb_call *c)
{
    if (--c->reg->running == 0 && c->reg->server)
        server_drained(c->reg->server);
}

static void on_worked(void *ctx)
{
    struct pb_call *c = ctx;

    call_look(c);
    handler_left(c);
    call_unref(c);
}

static void reset(struct pb_call *c)
{
    c->where = CALL_RUNNING;
    c->completed = c->deferred = c->returned = c->finished = c->concluded = false;
    c->status = 0;
    c->out.n = c->structured.n = c->text.n = c->data.n = c->missing.n = 0;
    c->blocks = 0;
    c->has_text = c->failed = c->state_set = false;
    ask_forget(c);
}

static void start_clock(struct pb_call *c)
{
    if (c->request)
        request_set_deadline(c->request, call_time_limit(c));
}

void call_start(struct pb_call *c)
{
    struct pb_error err;

    reset(c);
    c->reg->running++;
    c->on_loop = c->item->flags & PB_ON_LOOP;
    if (c->on_loop) {
        atomic_fetch_add(&c->refs, 1);
        run_handler(c);
        if (c->deferred)
            start_clock(c);
        call_look(c);
        handler_left(c);
        call_unref(c);
        return;
    }
    call_keep_facts(c);
    start_clock(c);
    atomic_fetch_add(&c->refs, 1);
    if (loop_work(c->reg->loop, on_work, on_worked, c, &err) < 0) {
        c->reg->running--;
        call_unref(c);
        log_warn("a call was refused: %s", err.msg);
        call_fail_rpc(c, RPC_INTERNAL_ERROR, SPAN("Server busy: too many calls are waiting"),
                      SPAN(""));
        c->completed = true;
        deliver(c);
    }
}

void pb_call_defer(struct pb_call *call)
{
    call_keep_facts(call);
    pthread_mutex_lock(&call->lock);
    call->deferred = true;
    pthread_mutex_unlock(&call->lock);
}

void pb_call_finish(struct pb_call *call, int status)
{
    bool both, twice;

    pthread_mutex_lock(&call->lock);
    twice = !call->deferred || call->finished;
    if (!twice) {
        call->finished = true;
        call->status = status;
    }
    both = call->returned;
    pthread_mutex_unlock(&call->lock);
    if (twice || !both)
        return;
    conclude(call);
    if (!call_poke(call))
        call_unref(call); /* its being in progress, which the loop would have ended */
}

bool pb_call_cancelled(struct pb_call *call) { return atomic_load(&call->cancelled); }

bool pb_call_wait(struct pb_call *call, uint32_t ms)
{
    struct timespec until;
    int rc = 0;

    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_sec += ms / 1000;
    until.tv_nsec += (long)(ms % 1000) * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    pthread_mutex_lock(&call->lock);
    while (!atomic_load(&call->cancelled) && rc == 0)
        rc = pthread_cond_timedwait(&call->wake, &call->lock, &until);
    pthread_mutex_unlock(&call->lock);
    return atomic_load(&call->cancelled);
}
