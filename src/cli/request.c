#include "request.h"
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>

static sigset_t interrupts;

void cli_catch_interrupt(void)
{
    sigemptyset(&interrupts);
    sigaddset(&interrupts, SIGINT);
    sigaddset(&interrupts, SIGTERM);
    pthread_sigmask(SIG_BLOCK, &interrupts, NULL);
}

void cli_answer_done(struct cli_answer *a)
{
    free(a->json);
    free(a->text);
    *a = (struct cli_answer){ 0 };
}

struct waiting {
    int done;   /* an eventfd */
    bool shown; /* a line of progress stands on the terminal */
    struct cli_answer *answer;
    struct pb_error err;
};

static void on_answer(void *ctx, const struct pb_result *result, const struct pb_error *err)
{
    struct waiting *w = ctx;

    if (err) {
        w->err = *err;
    } else {
        w->answer->json = mem_dup(pb_result_json(result, NULL));
        w->answer->text = pb_result_text(result);
        w->answer->is_error = pb_result_is_error(result);
    }
    eventfd_write(w->done, 1);
}

/* On a terminal one line that is written over; elsewhere a line each. */
static void on_progress(void *ctx, double progress, double total, const char *message)
{
    struct waiting *w = ctx;
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

/* Waits for the answer; each interrupt cancels, and the second one gives up. */
static void wait_for(struct waiting *w, struct pb_client *client, uint64_t id)
{
    int signals = signalfd(-1, &interrupts, SFD_CLOEXEC);
    struct pollfd p[] = { { .fd = w->done, .events = POLLIN },
                          { .fd = signals, .events = POLLIN } };

    for (;;) {
        struct signalfd_siginfo info;

        if (poll(p, ARRAY_LEN(p), -1) < 0 && errno != EINTR)
            break;
        if (p[0].revents)
            break;
        if (p[1].revents && read(signals, &info, sizeof info) > 0)
            pb_client_cancel(client, id); /* the answer follows: cancelled */
    }
    if (signals >= 0)
        close(signals);
}

int cli_request(struct pb_client *client, const char *method, const char *params,
                uint32_t timeout_ms, struct cli_answer *out, struct pb_error *err)
{
    struct pb_request_options opts = PB_REQUEST_OPTIONS_INIT;
    struct waiting w = { .done = eventfd(0, EFD_CLOEXEC), .answer = out };
    uint64_t id;
    int rc;

    if (w.done < 0)
        return fail_sys(err, errno, "make an eventfd");
    opts.on_progress = on_progress;
    opts.timeout_ms = timeout_ms;
    opts.ctx = &w;
    rc = pb_client_send(client, method, params, &opts, on_answer, &w, &id, err);
    if (rc == 0) {
        wait_for(&w, client, id);
        if (w.shown)
            fprintf(stderr, "\r\033[K");
        rc = w.err.code ? fail_copy(err, &w.err) : 0;
    }
    close(w.done);
    return rc;
}
