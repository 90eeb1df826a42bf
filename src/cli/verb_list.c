#include "reach.h"
#include "show.h"
#include "talk.h"
#include "waiting.h"
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdatomic.h>
#include <sys/eventfd.h>

enum { STATE_WIDTH = 12, TOOLS_WIDTH = 5, LATENCY_WIDTH = 7, GAP = 2 };

/* ---- one server ----------------------------------------------------------------------------- */

/* How a state counts. `known`: nothing more is to be waited for. */
/* clang-format off */
static const struct {
    const char *state, *counts_as;
    bool known, well;
} states[] = {
    { "connected",      "connected",      true,  true },
    { "error",          "failed",         true,  false },
    { "failed",         "failed",         true,  false },
    { "disconnected",   "disconnected",   true,  false },
    { "connecting",     "connecting",     false, false },
    { "authenticating", "authenticating", false, false },
    { "reconnecting",   "reconnecting",   false, false },
    { "idle",           "idle",           false, true },
    { "disabled",       "disabled",       true,  true },
};
/* clang-format on */

static size_t state_row(struct json server)
{
    for (size_t i = 0; i < ARRAY_LEN(states) - 1; i++)
        if (json_str_is(json_get(server, "state"), states[i].state))
            return i;
    return ARRAY_LEN(states) - 1;
}

static const char *number(struct json server, const char *key, const char *unit, struct arena *a)
{
    double v;

    if (json_double(json_get(server, key), &v, NULL) < 0)
        return "";
    if (*unit && v < 10)
        return arena_printf(a, "%.1f%s", v, unit);
    return arena_printf(a, "%.0f%s", v, unit);
}

/* Of one that never came up nothing is counted. */
static const char *tools_of(struct json server, struct arena *a)
{
    const char *n = number(server, "tools", "", a);

    return strcmp(n, "0") == 0 && !json_str_is(json_get(server, "state"), "connected") ? "" : n;
}

/* What it is, or why it is not well. */
static const char *about(struct json server, struct arena *a)
{
    const char *problem = show_member(server, "problem", a);
    const char *message = *problem ? problem : show_member(server, "message", a);
    const char *step = show_member(server, "next_step", a);

    if (*message && *step)
        return arena_printf(a, "%s (try: %s)", message, step);
    return *message ? message : show_member(server, "target", a);
}

/* ---- the table, a row at a time ------------------------------------------------------------- */

struct list_table {
    int name_width;
    bool latency;        /* has a column: somebody's is known */
    bool begun;          /* the heads are printed */
    struct map told;     /* names of those that are; the values mean nothing */
    uint32_t timeout_ms; /* 0: as long as it takes */
    struct waiting_line line;
};

static void put_cell(const char *text, int width)
{
    int pad = width - (int)show_columns(text);

    printf("%s%*s", text, (pad > 0 ? pad : 0) + GAP, "");
}

static void print_heads(struct list_table *l)
{
    if (l->begun)
        return;
    l->begun = true;
    printf("%s", show_on(SHOW_BOLD));
    put_cell("NAME", l->name_width);
    put_cell("STATE", STATE_WIDTH);
    put_cell("TOOLS", TOOLS_WIDTH);
    if (l->latency)
        put_cell("LATENCY", LATENCY_WIDTH);
    printf("WHAT%s\n", show_off());
}

static void print_row(struct list_table *l, struct json server, const char *what, struct arena *a)
{
    const char *name = show_member(server, "name", a), *state = show_member(server, "state", a);
    int indent = l->name_width + STATE_WIDTH + TOOLS_WIDTH + 3 * GAP;

    waiting_clear(&l->line);
    print_heads(l);
    printf("%s%s%s%*s", show_on(show_state_color(state)), name, show_off(),
           l->name_width - (int)show_columns(name) + GAP, "");
    put_cell(state, STATE_WIDTH);
    put_cell(tools_of(server, a), TOOLS_WIDTH);
    if (l->latency) {
        put_cell(number(server, "latency_ms", " ms", a), LATENCY_WIDTH);
        indent += LATENCY_WIDTH + GAP;
    }
    show_hanging(what, indent);
    fflush(stdout);
}

static void measure(struct list_table *l, struct json servers)
{
    l->name_width = (int)strlen("NAME");
    JSON_FOREACH(server, servers) {
        AUTO_ARENA struct arena a = { 0 };
        int n = (int)show_columns(show_member(server, "name", &a));

        l->name_width = n > l->name_width ? n : l->name_width;
        l->latency |= !json_is(json_get(server, "latency_ms"), JSON_NONE);
    }
}

/* Those that have not been told yet and are known; with `all` the others, too. */
static void print_new(struct list_table *l, struct json servers, bool all)
{
    if (!l->name_width)
        measure(l, servers);
    JSON_FOREACH(server, servers) {
        AUTO_ARENA struct arena a = { 0 };
        struct span name = json_str(json_get(server, "name"), &a);
        bool known = states[state_row(server)].known;

        if (map_get(&l->told, name) || (!known && !all))
            continue;
        map_put(&l->told, name, l);
        print_row(l, server,
                  !known && l->timeout_ms && !json_str_is(json_get(server, "state"), "idle")
                      ? arena_printf(&a, "no answer within %g s (try: a longer --timeout)",
                                     l->timeout_ms / 1000.0)
                      : about(server, &a),
                  &a);
    }
}

static void print_summary(struct json servers)
{
    struct show_count counts[ARRAY_LEN(states) + 1] = { { 0 } };

    for (size_t i = 0; i < ARRAY_LEN(states); i++)
        counts[i].what = states[i].counts_as;
    JSON_FOREACH(server, servers) {
        size_t i = state_row(server);

        /* two states that count as one stand side by side */
        counts[i && strcmp(states[i - 1].counts_as, states[i].counts_as) == 0 ? i - 1 : i].n++;
    }
    printf("\n");
    show_counts(counts);
}

static bool all_well(struct json servers)
{
    bool well = true;

    JSON_FOREACH(server, servers)
        well &= states[state_row(server)].well;
    return well;
}

/* ---- waiting for a hub of our own ----------------------------------------------------------- */

/* Told on the client's thread when all are up or have failed. */
struct settling {
    int over; /* an eventfd */
    atomic_bool done;
    uint64_t until_ms; /* 0: no limit */
};

static void on_settled(void *ctx, const struct pb_result *result, const struct pb_error *err)
{
    struct settling *w = ctx;

    (void)result, (void)err; /* how each is will be asked once more */
    atomic_store(&w->done, true);
    eventfd_write(w->over, 1);
}

static bool is_over(const struct settling *w)
{
    return atomic_load(&w->done) ||
           (w->until_ms && clock_real()->now_ms(clock_real()) >= w->until_ms);
}

static void tick(struct list_table *l, struct json servers)
{
    AUTO_ARENA struct arena a = { 0 };
    AUTO_FREE const char **names = mem_zero((json_len(servers) + 1) * sizeof *names);
    size_t n = 0;

    JSON_FOREACH(server, servers)
        if (!map_get(&l->told, json_str(json_get(server, "name"), &a)))
            names[n++] = show_member(server, "name", &a);
    waiting_tick(&l->line, names);
}

/* Asks how they are, a tick apart, and tells what is new; until all are known or time is up. */
static int watch(struct reach *s, struct list_table *l, struct settling *w, struct pb_error *err)
{
    struct pollfd p = { .fd = w->over, .events = POLLIN };
    bool over;

    do {
        AUTO_JSON struct json_doc doc = { 0 };
        struct pb_result *result = NULL;
        int rc;

        poll(&p, 1, WAITING_TICK_MS);
        over = is_over(w);
        rc = reach_ask(s, "patchbay/servers", NULL, &result, &doc, err);
        if (rc == 0 && !over) {
            print_new(l, json_get(json_root(&doc), "servers"), false);
            tick(l, json_get(json_root(&doc), "servers"));
        }
        pb_result_free(result);
        if (rc < 0)
            return rc;
    } while (!over);
    return 0;
}

/* With JSON nothing is told before all is known. */
static int wait_for_all(struct reach *s, struct list_table *l, bool quiet, struct pb_error *err)
{
    struct settling w = { .over = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK) };
    eventfd_t ignored;
    uint64_t id;
    int rc;

    if (w.over < 0)
        return fail_sys(err, errno, "make an eventfd");
    if (l->timeout_ms)
        w.until_ms = clock_real()->now_ms(clock_real()) + l->timeout_ms;
    rc = pb_client_send(reach_client(s), "patchbay/settled", "{}", NULL, on_settled, &w, &id, err);
    if (rc == 0) {
        rc = quiet ? 0 : watch(s, l, &w, err);
        while (quiet && !is_over(&w))
            poll(&(struct pollfd){ .fd = w.over, .events = POLLIN }, 1, WAITING_TICK_MS);
        pb_client_cancel(reach_client(s), id);
        /* Its context is ours. Reading, not only seeing that it could be read: then the write has
         * ended, too. */
        while (eventfd_read(w.over, &ignored) < 0)
            poll(&(struct pollfd){ .fd = w.over, .events = POLLIN }, 1, WAITING_TICK_MS);
    }
    close(w.over);
    return rc;
}

/* ---- the verb ------------------------------------------------------------------------------- */

static int list_servers(struct cli *cli, struct reach *s, struct list_table *l,
                        struct pb_error *err)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_ARENA struct arena a = { 0 };
    bool json = cli_option(cli, "json") != NULL;
    struct pb_result *result = NULL;
    struct json servers;
    int status = CLI_OK, rc = 0;

    if (!reach_is_daemon(s))
        rc = wait_for_all(s, l, json, err);
    if (rc == 0)
        rc = reach_ask(s, "patchbay/servers", NULL, &result, &doc, err);
    if (rc < 0)
        return reach_fail(err);
    servers = json_get(json_root(&doc), "servers");
    if (json) {
        show_json(pb_result_json(result, NULL));
    } else if (!json_len(servers)) {
        puts("No servers yet. Add one: patchbay add NAME -- COMMAND, or patchbay add URL");
    } else {
        print_new(l, servers, true);
        print_summary(servers);
    }
    if (*show_member(json_root(&doc), "config_error", &a))
        talk_fail(FAILURE_INVALID, "the config is not taken: %s; what was read before goes on",
                  show_member(json_root(&doc), "config_error", &a));
    if (cli_option(cli, "exit-code") && !all_well(servers))
        status = CLI_UNREACHABLE;
    pb_result_free(result);
    return status;
}

static int run_list(struct cli *cli)
{
    AUTO(reach) struct reach *s = NULL;
    struct list_table l = { 0 };
    struct pb_error err;
    int status;

    if (cli_timeout(cli, &l.timeout_ms) != CLI_OK)
        return CLI_USAGE;
    status = reach_open(&s, cli, &(struct reach_wants){ .start_all = true });
    if (status != CLI_OK)
        return status;
    status = list_servers(cli, s, &l, &err);
    waiting_clear(&l.line);
    map_done(&l.told);
    return status;
}

const struct verb verb_list = {
    .name = "list",
    .alias = "ls",
    .usage = "[--timeout SECONDS] [--exit-code] [--json]",
    .help = "List the servers: how they are, and why one is not well",
    .text = "Asks the daemon when one runs. Otherwise every server is started, looked at and\n"
            "stopped again, and each is told as soon as it is known.",
    .max = 0,
    .options =
        (const struct option_spec[]){
            { 0, "json", NULL, "print everything that is known, as JSON" },
            { 0, "exit-code", NULL, "exit with 4 when one is not well" },
            CLI_TIMEOUT_OPTION("without a daemon: tell what is known after this time"),
            CLI_HUB_OPTIONS,
            { 0 },
        },
    .run = run_list,
};
