#include "request.h"
#include "question.h"
#include "show.h"
#include "talk.h"
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

/* The request that is waited for. A signal may come on any thread, and a handler may do next to
 * nothing: it wakes a thread that cancels. */
static struct {
    pthread_mutex_t lock;
    atomic_bool is_one;
    struct pb_client *client;
    uint64_t id;      /* 0: it is not on its way yet */
    bool interrupted; /* before it was */
    bool late;        /* its time is over */
} waited = { .lock = PTHREAD_MUTEX_INITIALIZER };

static sem_t interrupts;

/* While nothing has been asked there is nothing to cancel. Servers that were started are ended by
 * the warden, or by the end of their input. */
static void on_interrupt(int signo)
{
    int kept = errno;

    (void)signo;
    if (!atomic_load(&waited.is_one))
        _exit(CLI_INTERRUPTED);
    sem_post(&interrupts);
    errno = kept;
}

static void *cancel_when_interrupted(void *ctx)
{
    for (;;) {
        if (sem_wait(&interrupts) < 0)
            continue;
        pthread_mutex_lock(&waited.lock);
        waited.interrupted = true;
        if (waited.id)
            pb_client_cancel(waited.client, waited.id);
        pthread_mutex_unlock(&waited.lock);
    }
    return ctx;
}

void cli_catch_interrupt(void)
{
    static const int signals[] = { SIGINT, SIGTERM };
    struct sigaction act = { .sa_handler = on_interrupt, .sa_flags = SA_RESTART }, was;
    pthread_t thread;

    if (sem_init(&interrupts, 0, 0) < 0 ||
        pthread_create(&thread, NULL, cancel_when_interrupted, NULL) != 0)
        return; /* a signal ends us then, and with us what was asked */
    pthread_detach(thread);
    for (size_t i = 0; i < ARRAY_LEN(signals); i++)
        if (sigaction(signals[i], NULL, &was) == 0 && was.sa_handler != SIG_IGN)
            sigaction(signals[i], &act, NULL);
}

void cli_answer_done(struct cli_answer *a)
{
    free(a->json);
    free(a->text);
    *a = (struct cli_answer){ 0 };
}

/* ---- its time -------------------------------------------------------------------------------- */

/* While a server's question stands, a client lets a call wait for as long as the person takes who
 * is asked; whoever said --timeout meant that, too. Each sign of progress begins it anew. */
struct time_limit {
    uint32_t ms;
    atomic_uint_fast64_t until_ms;
    sem_t over; /* the answer is there */
    pthread_t thread;
};

enum { LIMIT_GRACE_MS = 50 }; /* the client's own limit is told first */

static void limit_extend(struct time_limit *t)
{
    atomic_store(&t->until_ms, clock_real()->now_ms(clock_real()) + t->ms + LIMIT_GRACE_MS);
}

/* False: the answer was there before. */
static bool limit_wait(struct time_limit *t)
{
    for (;;) {
        uint64_t now = clock_real()->now_ms(clock_real()), until = atomic_load(&t->until_ms);
        struct timespec at;

        if (now >= until)
            return true;
        clock_gettime(CLOCK_REALTIME, &at);
        at.tv_sec += (time_t)((until - now) / 1000);
        at.tv_nsec += (long)((until - now) % 1000) * 1000000L;
        at.tv_sec += at.tv_nsec / 1000000000L;
        at.tv_nsec %= 1000000000L;
        if (sem_timedwait(&t->over, &at) == 0)
            return false;
    }
}

static void *limit_run(void *ctx)
{
    if (!limit_wait(ctx))
        return NULL;
    pthread_mutex_lock(&waited.lock);
    waited.late = true;
    if (waited.id)
        pb_client_cancel(waited.client, waited.id);
    pthread_mutex_unlock(&waited.lock);
    return NULL;
}

static void limit_start(struct time_limit *t, uint32_t ms)
{
    t->ms = ms && ms != UINT32_MAX && sem_init(&t->over, 0, 0) == 0 ? ms : 0;
    if (!t->ms)
        return;
    limit_extend(t);
    if (pthread_create(&t->thread, NULL, limit_run, t) != 0)
        t->ms = 0;
}

static void limit_end(struct time_limit *t)
{
    if (!t->ms)
        return;
    sem_post(&t->over);
    pthread_join(t->thread, NULL);
    sem_destroy(&t->over);
}

/* ---- while it is waited for ----------------------------------------------------------------- */

static void on_sent(void *ctx, uint64_t id)
{
    (void)ctx;
    pthread_mutex_lock(&waited.lock);
    waited.id = id;
    if (waited.interrupted || waited.late)
        pb_client_cancel(waited.client, id);
    pthread_mutex_unlock(&waited.lock);
}

struct progress_seen {
    bool shown; /* a line of it stands on the terminal */
    char *last; /* what it said: who waits says the same again and again */
    struct time_limit limit;
};

static void put_progress(double progress, double total, const char *message)
{
    AUTO_BUF struct buf b = { 0 };
    struct json_out o = json_out(&b);

    json_begin_object(&o, NULL);
    json_begin_object(&o, "progress");
    json_put_double(&o, "progress", progress);
    if (total > 0)
        json_put_double(&o, "total", total);
    if (*message)
        json_put_str(&o, "message", message);
    json_end(&o);
    json_end(&o);
    buf_byte(&b, '\n');
    fputs(buf_cstr(&b), stderr);
}

/* Of one that only waits the number says nothing. */
static bool is_sign_of_life(double progress, double total) { return progress < 1e-3 && total <= 0; }

/* On a terminal one line that is written over; elsewhere a line each. */
static void on_progress(void *ctx, double progress, double total, const char *message)
{
    struct progress_seen *seen = ctx;
    AUTO_FREE char *text = mem_dup(message ? message : "");
    bool tty = show_may_move(STDERR_FILENO);

    text_make_printable(text);
    if (seen->limit.ms)
        limit_extend(&seen->limit);
    if (talk_is_quiet() || question_is_open())
        return;
    if (seen->last && !tty && strcmp(seen->last, text) == 0 && is_sign_of_life(progress, total))
        return;
    free(seen->last);
    seen->last = mem_dup(text);
    if (talk_is_json()) {
        put_progress(progress, total, text);
        return;
    }
    seen->shown = tty;
    fprintf(stderr, tty ? "\r\033[K" : "");
    if (total > 0)
        fprintf(stderr, "%3.0f%% %g/%g %s", 100 * progress / total, progress, total, text);
    else if (is_sign_of_life(progress, total))
        fprintf(stderr, "%s", text);
    else
        fprintf(stderr, "%g %s", progress, text);
    fprintf(stderr, tty ? "" : "\n");
}

static void begin(struct pb_client *client)
{
    pthread_mutex_lock(&waited.lock);
    waited.client = client;
    waited.id = 0;
    waited.interrupted = waited.late = false;
    pthread_mutex_unlock(&waited.lock);
    atomic_store(&waited.is_one, true);
}

static void end(void)
{
    atomic_store(&waited.is_one, false);
    pthread_mutex_lock(&waited.lock);
    waited.id = 0;
    pthread_mutex_unlock(&waited.lock);
}

int cli_request(struct pb_client *client, const struct cli_asked *what, struct cli_answer *out,
                struct pb_error *err)
{
    struct pb_request_options opts = PB_REQUEST_OPTIONS_INIT;
    struct pb_result *result = NULL;
    struct progress_seen seen = { 0 };
    int rc;

    opts.timeout_ms = what->timeout_ms;
    opts.on_progress = on_progress;
    opts.on_sent = on_sent;
    opts.ctx = &seen;
    begin(client);
    limit_start(&seen.limit, what->timeout_ms);
    rc = pb_client_request(client, what->method, what->params, &opts, &result, err);
    limit_end(&seen.limit);
    if (rc == -(int)PB_E_CANCELLED && waited.late && !waited.interrupted)
        rc = fail(err, PB_E_TIMEOUT, "no answer within %u ms", what->timeout_ms);
    end();
    free(seen.last);
    if (seen.shown)
        fprintf(stderr, "\r\033[K");
    if (rc < 0)
        return rc;
    *out = (struct cli_answer){ mem_dup(pb_result_json(result, NULL)), pb_result_text(result),
                                pb_result_is_error(result) };
    pb_result_free(result);
    return 0;
}
