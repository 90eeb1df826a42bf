#include "request.h"
#include "show.h"
#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdatomic.h>

/* The request that is waited for. A signal may come on any thread, and a handler may do next to
 * nothing: it wakes a thread that cancels. */
static struct {
    pthread_mutex_t lock;
    atomic_bool is_one;
    struct pb_client *client;
    uint64_t id;      /* 0: it is not on its way yet */
    bool interrupted; /* before it was */
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

/* ---- while it is waited for ----------------------------------------------------------------- */

static void on_sent(void *ctx, uint64_t id)
{
    (void)ctx;
    pthread_mutex_lock(&waited.lock);
    waited.id = id;
    if (waited.interrupted)
        pb_client_cancel(waited.client, id);
    pthread_mutex_unlock(&waited.lock);
}

/* On a terminal one line that is written over; elsewhere a line each. */
static void on_progress(void *ctx, double progress, double total, const char *message)
{
    bool *shown = ctx;
    AUTO_FREE char *text = mem_dup(message ? message : "");
    bool tty = show_may_move(STDERR_FILENO);

    text_make_printable(text);
    *shown = tty;
    fprintf(stderr, tty ? "\r\033[K" : "");
    if (total > 0)
        fprintf(stderr, "%3.0f%% %g/%g %s", 100 * progress / total, progress, total, text);
    else
        fprintf(stderr, "%g %s", progress, text);
    fprintf(stderr, tty ? "" : "\n");
}

static void begin(struct pb_client *client)
{
    pthread_mutex_lock(&waited.lock);
    waited.client = client;
    waited.id = 0;
    waited.interrupted = false;
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
    bool shown = false; /* a line of progress stands on the terminal */
    int rc;

    opts.timeout_ms = what->timeout_ms;
    opts.on_progress = on_progress;
    opts.on_sent = on_sent;
    opts.ctx = &shown;
    begin(client);
    rc = pb_client_request(client, what->method, what->params, &opts, &result, err);
    end();
    if (shown)
        fprintf(stderr, "\r\033[K");
    if (rc < 0)
        return rc;
    *out = (struct cli_answer){ mem_dup(pb_result_json(result, NULL)), pb_result_text(result),
                                pb_result_is_error(result) };
    pb_result_free(result);
    return 0;
}
