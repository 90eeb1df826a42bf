/* verb_doctor.c - looks at each server step by step, and says what to do about the first step that
 * fails. */
#include "exam.h"
#include "hub/config/config.h"
#include "hub/spec/spec.h"
#include "hub/warden/warden.h"
#include "hub_flags.h"
#include "show.h"
#include "waiting.h"
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

enum { DOCTOR_CONNECT_MS = 30000, TEXT_COLUMN = 17 };

static void print_finding(const struct exam *e, enum exam_check c)
{
    const struct finding *f = &e->found[c];

    printf("  %s%-4s%s %-9s ", show_on(f->ok ? SHOW_GREEN : SHOW_RED),
           f->ok               ? "ok"
           : !e->spec->enabled ? "off"
                               : "FAIL",
           show_off(), exam_check_name(c));
    show_hanging(f->text, TEXT_COLUMN);
    if (f->detail)
        show_wrapped(f->detail, TEXT_COLUMN);
    if (f->next) {
        printf("       %-9s ", "next:");
        show_hanging(f->next, TEXT_COLUMN);
    }
}

static void print_said(const struct exam *e)
{
    struct span rest = buf_span(&e->said);

    while (rest.n) {
        size_t n = (size_t)((const char *)memchr(rest.p, '\n', rest.n) - rest.p);

        printf("       | %.*s\n", (int)n, rest.p);
        rest = span_from(rest, n + 1);
    }
    if (e->cut)
        puts("       | …");
}

static void print_exam(const struct exam *e)
{
    printf("%s%s%s\n",
           show_on(exam_is_well(e)     ? SHOW_GREEN
                   : !e->spec->enabled ? SHOW_GRAY
                                       : SHOW_RED),
           e->spec->name, show_off());
    for (int c = 0; c < CHECK_COUNT; c++)
        if (e->found[c].done)
            print_finding(e, (enum exam_check)c);
    if (!exam_is_well(e))
        print_said(e);
}

static void write_exam(struct json_out *o, const struct exam *e)
{
    json_begin_object(o, NULL);
    json_put_str(o, "server", e->spec->name);
    json_put_bool(o, "ok", exam_is_well(e));
    json_begin_array(o, "checks");
    for (int c = 0; c < CHECK_COUNT; c++) {
        const struct finding *f = &e->found[c];

        if (!f->done)
            continue;
        json_begin_object(o, NULL);
        json_put_str(o, "check", exam_check_name((enum exam_check)c));
        json_put_bool(o, "ok", f->ok);
        json_put_str(o, "text", f->text);
        json_put_str_opt(o, "detail", f->detail);
        json_put_str_opt(o, "next", f->next);
        json_end(o);
    }
    json_end(o);
    if (e->said.n)
        json_put_span(o, "stderr", buf_span(&e->said));
    json_end(o);
}

static bool wanted(const struct cli *cli, const char *name)
{
    for (int i = 0; i < cli->n_args; i++)
        if (strcmp(cli->args[i], name) == 0)
            return true;
    return cli->n_args == 0;
}

static int check_names_given(const struct cli *cli, const struct config *c)
{
    struct pb_error err;

    for (int i = 0; i < cli->n_args; i++)
        if (!map_get(&c->specs, span_of(cli->args[i])))
            return cli_no_server(c, cli->args[i], &err) < 0 ? cli_fail(&err) : CLI_OK;
    return CLI_OK;
}

/* ---- all of them ---------------------------------------------------------------------------- */

/* Threads take the next exam that nobody has begun, and say when one has ended. */
struct ward {
    struct exam *exams;
    size_t n;
    atomic_size_t begun;
    pthread_mutex_t lock;
    pthread_cond_t news;
    struct exam **ended; /* in the order in which they did */
    size_t n_ended;
};

static void *examine(void *ctx)
{
    struct ward *w = ctx;
    size_t i;

    while ((i = atomic_fetch_add(&w->begun, 1)) < w->n) {
        exam_run(&w->exams[i]);
        pthread_mutex_lock(&w->lock);
        w->ended[w->n_ended++] = &w->exams[i];
        pthread_cond_signal(&w->news);
        pthread_mutex_unlock(&w->lock);
    }
    return NULL;
}

/* The one that ended as the `at`th; NULL: none within a tick. */
static struct exam *next_ended(struct ward *w, size_t at)
{
    struct timespec until;
    struct exam *e;

    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += WAITING_TICK_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000L;
    until.tv_nsec %= 1000000000L;
    pthread_mutex_lock(&w->lock);
    while (w->n_ended <= at && pthread_cond_timedwait(&w->news, &w->lock, &until) == 0)
        ;
    e = w->n_ended > at ? w->ended[at] : NULL;
    pthread_mutex_unlock(&w->lock);
    return e;
}

static void tick(const struct ward *w, struct waiting_line *line)
{
    AUTO_FREE const char **names = mem_zero((w->n + 1) * sizeof *names);
    size_t n = 0;

    for (size_t i = 0; i < w->n; i++)
        if (!w->exams[i].told)
            names[n++] = w->exams[i].spec->name;
    waiting_tick(line, names);
}

/* Each as soon as it is known. */
static void follow(struct ward *w, bool json)
{
    struct waiting_line line = { 0 };

    for (size_t at = 0; at < w->n;) {
        struct exam *e = next_ended(w, at);

        if (!e) {
            tick(w, &line);
            continue;
        }
        e->told = true;
        at++;
        waiting_clear(&line);
        if (!json)
            print_exam(e);
        fflush(stdout);
    }
}

static void examine_at_once(struct ward *w, bool json)
{
    pthread_t threads[DOCTOR_AT_ONCE];
    size_t n = 0;

    while (n < DOCTOR_AT_ONCE && n < w->n && pthread_create(&threads[n], NULL, examine, w) == 0)
        n++;
    if (!n)
        examine(w);
    follow(w, json);
    while (n)
        pthread_join(threads[--n], NULL);
}

static void print_summary(const struct ward *w)
{
    size_t well = 0, failed = 0, off = 0;

    for (size_t i = 0; i < w->n; i++) {
        if (!w->exams[i].spec->enabled)
            off++;
        else if (exam_is_well(&w->exams[i]))
            well++;
        else
            failed++;
    }
    printf("\n");
    show_counts((const struct show_count[]){
        { "well", well }, { "failed", failed }, { "disabled", off }, { 0 } });
}

static void print_json(const struct ward *w)
{
    AUTO_BUF struct buf b = { 0 };
    struct json_out o = json_out(&b);

    json_begin_object(&o, NULL);
    json_begin_array(&o, "servers");
    for (size_t i = 0; i < w->n; i++)
        write_exam(&o, &w->exams[i]);
    json_end(&o);
    json_end(&o);
    show_json(buf_cstr(&b));
}

static int status_of(const struct ward *w)
{
    int status = CLI_OK;

    /* A login that is wanted is told by the code only if nothing else is wrong. */
    for (size_t i = 0; i < w->n; i++)
        if (!exam_is_well(&w->exams[i]) && w->exams[i].spec->enabled && status != CLI_UNREACHABLE)
            status = w->exams[i].auth_wanted ? CLI_AUTH : CLI_UNREACHABLE;
    return status;
}

static void admit(struct ward *w, const struct cli *cli, const struct config *c,
                  const struct exam *as)
{
    struct map_slot *slot;

    w->exams = mem_zero((c->specs.n + 1) * sizeof *w->exams);
    w->ended = mem_zero((c->specs.n + 1) * sizeof(struct exam *));
    pthread_mutex_init(&w->lock, NULL);
    pthread_cond_init(&w->news, NULL);
    MAP_FOREACH(slot, &c->specs) {
        const struct spec *s = slot->value;

        if (!wanted(cli, s->name))
            continue;
        w->exams[w->n] = *as;
        w->exams[w->n++].spec = s;
    }
}

static void discharge(struct ward *w)
{
    for (size_t i = 0; i < w->n; i++)
        exam_done(&w->exams[i]);
    pthread_mutex_destroy(&w->lock);
    pthread_cond_destroy(&w->news);
    free(w->exams);
    free(w->ended);
}

static int examine_all(const struct cli *cli, const struct config *c, const struct exam *as)
{
    bool json = cli_option(cli, "json") != NULL;
    struct ward w = { 0 };
    int status;

    admit(&w, cli, c, as);
    examine_at_once(&w, json);
    if (json)
        print_json(&w);
    else if (w.n)
        print_summary(&w);
    else
        puts("No servers yet. Add one: patchbay add NAME -- COMMAND, or patchbay add URL");
    status = status_of(&w);
    discharge(&w);
    return status;
}

static int run_doctor(struct cli *cli)
{
    AUTO(config) struct config *c = NULL;
    AUTO(project) struct project *p = NULL;
    struct map_slot *slot;
    struct warden *warden;
    bool needed;
    struct claims *claims;
    uint32_t connect_ms = DOCTOR_CONNECT_MS;
    struct pb_error err;
    int status;

    if (cli_timeout(cli, &connect_ms) != CLI_OK)
        return CLI_USAGE;
    p = project_for(
        cli,
        &(struct project_about){ .servers = cli->n_args ? (const char *const *)cli->args : NULL },
        &needed);
    if (cli_load_config(cli, p, &c, &err) < 0)
        return cli_config_fail(&err);
    if (needed)
        project_tell_hidden(c, cli->n_args == 1 ? cli->args[0] : NULL);
    if (check_names_given(cli, c) != CLI_OK)
        return CLI_USAGE;
    if (warden_start(&warden, &err) < 0)
        return cli_fail(&err);
    claims = claims_new();
    MAP_FOREACH(slot, &c->specs)
        claims_add(claims, slot->value);
    status = examine_all(cli, c,
                         &(struct exam){ .inherit_env = c->settings.inherit_env,
                                         .claims = claims,
                                         .connect_ms = connect_ms });
    claims_free(claims);
    warden_stop(warden);
    return status;
}

const struct verb verb_doctor = {
    .name = "doctor",
    .usage = "[SERVER]... [--timeout SECONDS] [--json]",
    .help = "Find out why a server does not work, and what to do about it",
    .text = "Looks at the config, the command, the start, the protocol and the tools, in this\n"
            "order, and stops at the first that fails; servers are looked at at once, and each\n"
            "is told as soon as it is known. A running daemon is not disturbed.",
    .max = -1,
    .options =
        (const struct option_spec[]){
            { 0, "json", NULL, "print the findings as JSON" },
            CLI_TIMEOUT_OPTION("how long a server may take to answer (30)"),
            CLI_PROJECT_OPTION,
            CLI_CONFIG_OPTIONS,
            { 0 },
        },
    .run = run_doctor,
};
