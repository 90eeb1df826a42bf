#include "request.h"
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/eventfd.h>

/* An eventfd while a request is waited for, else -1. The signal may come on any thread. */
static atomic_int interrupt_fd = -1;

/* While nothing has been asked there is nothing to cancel. Servers that were started are ended by
 * the warden, or by the end of their input. */
static void on_interrupt(int signo)
{
    int kept = errno, fd = atomic_load(&interrupt_fd);

    (void)signo;
    if (fd < 0)
        _exit(CLI_INTERRUPTED);
    eventfd_write(fd, 1);
    errno = kept;
}

void cli_catch_interrupt(void)
{
    static const int signals[] = { SIGINT, SIGTERM };
    struct sigaction act = { .sa_handler = on_interrupt, .sa_flags = SA_RESTART }, was;

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

/* Filled in on the thread of the client until `over` is set; then it is the waiting thread's again.
 * The eventfd only wakes that one. */
struct request_wait {
    int done, interrupted; /* eventfds */
    atomic_bool over;
    bool shown; /* a line of progress stands on the terminal */
    struct cli_answer *answer;
    struct pb_error err;
};

static void on_answer(void *ctx, const struct pb_result *result, const struct pb_error *err)
{
    struct request_wait *w = ctx;

    if (err) {
        w->err = *err;
    } else {
        w->answer->json = mem_dup(pb_result_json(result, NULL));
        w->answer->text = pb_result_text(result);
        w->answer->is_error = pb_result_is_error(result);
    }
    atomic_store_explicit(&w->over, true, memory_order_release);
    eventfd_write(w->done, 1); /* last: whoever waits may be gone after it */
}

/* On a terminal one line that is written over; elsewhere a line each. */
static void on_progress(void *ctx, double progress, double total, const char *message)
{
    struct request_wait *w = ctx;
    AUTO_FREE char *text = mem_dup(message ? message : "");
    bool tty = isatty(STDERR_FILENO);

    text_make_printable(text);
    w->shown = tty;
    fprintf(stderr, tty ? "\r\033[K" : "");
    if (total > 0)
        fprintf(stderr, "%3.0f%% %g/%g %s", 100 * progress / total, progress, total, text);
    else
        fprintf(stderr, "%g %s", progress, text);
    fprintf(stderr, tty ? "" : "\n");
}

/* Waits for the answer; an interrupt cancels, and then the answer is that. */
static void wait_for(struct request_wait *w, struct pb_client *client, uint64_t id)
{
    struct pollfd p[] = { { .fd = w->done, .events = POLLIN },
                          { .fd = w->interrupted, .events = POLLIN } };
    eventfd_t ignored;

    for (;;) {
        if (poll(p, ARRAY_LEN(p), -1) < 0) {
            if (errno == EINTR)
                continue;
            break;
        }
        /* Reading, not only seeing that it could be read: then the write has ended, too. */
        if (p[0].revents && eventfd_read(w->done, &ignored) == 0 &&
            atomic_load_explicit(&w->over, memory_order_acquire))
            break;
        if (eventfd_read(w->interrupted, &ignored) == 0)
            pb_client_cancel(client, id);
    }
}

static int send_and_wait(struct request_wait *w, struct pb_client *client,
                         const struct cli_asked *what, struct pb_error *err)
{
    struct pb_request_options opts = PB_REQUEST_OPTIONS_INIT;
    uint64_t id;
    int rc;

    opts.on_progress = on_progress;
    opts.timeout_ms = what->timeout_ms;
    opts.ctx = w;
    rc = pb_client_send(client, what->method, what->params, &opts, on_answer, w, &id, err);
    if (rc < 0)
        return rc;
    wait_for(w, client, id);
    if (w->shown)
        fprintf(stderr, "\r\033[K");
    return w->err.code ? fail_copy(err, &w->err) : 0;
}

int cli_request(struct pb_client *client, const struct cli_asked *what, struct cli_answer *out,
                struct pb_error *err)
{
    struct request_wait w = { .done = eventfd(0, EFD_CLOEXEC),
                              .interrupted = eventfd(0, EFD_CLOEXEC),
                              .answer = out };
    int rc;

    if (w.done < 0 || w.interrupted < 0) {
        rc = fail_sys(err, errno, "make an eventfd");
    } else {
        atomic_store(&interrupt_fd, w.interrupted);
        rc = send_and_wait(&w, client, what, err);
        atomic_store(&interrupt_fd, -1);
    }
    if (w.done >= 0)
        close(w.done);
    if (w.interrupted >= 0)
        close(w.interrupted);
    return rc;
}
