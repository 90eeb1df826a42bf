/* test_stress.c - the storm and the calm after it, again and again; then the laws, one by one. */
#include "client.h"
#include "tap.h"
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/mman.h>

enum {
    SOAK_S = 600,
    TAKEN_AWAY_MAX = 2, /* callbacks */
    SECONDS_DEFAULT = 10,
    SERVERS_DEFAULT = 14,
    CLIENTS_DEFAULT = 10,
    CYCLE_S = 60,
    TICK_MS = 50,
    DISTURB_MS = 150,
    PULSE_MS = 500,
    BREATH_MS = 700,
    FIGURES_MS = 10000,
    DRAIN_MS = 100000,
    QUIET_MS = 2500,
    AFTERWARDS_S = 400, /* for everything that is not the storm */
    CYCLES_MAX = 256,
    CYCLES_JUDGED = 4, /* fewer say nothing of growth */
    GROWTH_KB = 16384,
    GROWTH_PERCENT = 15,
    DESCRIPTORS_MORE = 16,
    LATE_MAX = 5,
    LATE_ONE_IN = 20, /* of all sessions */
    ON_MS = 60000,
    OFF_MS = 20000, /* for servers to end: two of them have SIGKILL before them */
};

static unsigned number(const char *name, unsigned fallback)
{
    const char *s = getenv(name);

    return s && *s ? (unsigned)strtoul(s, NULL, 10) : fallback;
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { SANITIZED = 1 };
#else
enum { SANITIZED = 0 };
#endif

__attribute__((constructor)) static void prepare(void)
{
    char limit[32];

    verdict =
        mmap(NULL, sizeof *verdict, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    options = (struct options){
        .seed = number("SEED", 8),
        .seconds = number("SECONDS", SECONDS_DEFAULT),
        .servers = number("SERVERS", SERVERS_DEFAULT),
        .clients = number("CLIENTS", CLIENTS_DEFAULT),
        .cycle_s = number("CYCLE", CYCLE_S),
        .sanitized = SANITIZED,
    };
    snprintf(limit, sizeof limit, "%u", options.seconds * 3 + AFTERWARDS_S * (SANITIZED ? 3 : 1));
    setenv("TAP_TIMEOUT_S", limit, 0);
}

/* ---- the pulse ----
 * How long the hub takes to say that it is well. Where it has too little of the machine all others
 * rest: a storm is as strong as it can be answered. */

static struct {
    bool asked;
    uint64_t at, longest;
} pulse;

static void on_pulse(void *ctx, int status, struct span body)
{
    uint64_t took = now() - pulse.at;

    (void)ctx;
    (void)status;
    (void)body;
    pulse.asked = false;
    pulse.longest = took > pulse.longest ? took : pulse.longest;
}

static bool is_out_of_breath(void)
{
    static const struct web_events events = { .done = on_pulse };

    if (!pulse.asked && now() - pulse.at > PULSE_MS) {
        pulse.at = now();
        pulse.asked = web_send(&(struct web_order){
                          .method = "GET", .path = "/health", .events = &events }) != NULL;
    }
    return pulse.asked && now() - pulse.at > BREATH_MS;
}

/* ---- figures ---- */

static uint64_t figures_at;

static void show_figures(void)
{
    const struct figures *f = &figures;

    printf(
        "# calls %llu results %llu errors %llu cancels %llu | questions %llu answers %llu rounds "
        "%llu accepted %llu | progress %llu other %llu | sessions %llu drops %llu resumes %llu | "
        "kills %llu stops %llu edits %llu switches %llu | late %llu waiting %u longest pulse %llu ms rss %ld MB fds %d\n",
        (unsigned long long)f->calls, (unsigned long long)f->results, (unsigned long long)f->errors,
        (unsigned long long)f->cancels, (unsigned long long)f->questions,
        (unsigned long long)f->answers, (unsigned long long)f->rounds,
        (unsigned long long)f->accepted, (unsigned long long)f->progress,
        (unsigned long long)f->logs, (unsigned long long)f->sessions, (unsigned long long)f->drops,
        (unsigned long long)f->resumes, (unsigned long long)f->kills, (unsigned long long)f->stops,
        (unsigned long long)f->edits, (unsigned long long)f->switches, (unsigned long long)f->late,
        clients_waiting(), (unsigned long long)pulse.longest, hub_rss_kb() / 1024,
        hub_descriptors());
    fflush(stdout);
}

static void show_sometimes(void)
{
    if (now() < figures_at)
        return;
    figures_at = now() + FIGURES_MS;
    show_figures();
}

/* ---- the storm ---- */

static void storm(uint64_t until)
{
    uint64_t act = 0, disturb = 0;

    while (now() < until && hub_is_alive()) {
        net_turn(TICK_MS / 2);
        if (is_out_of_breath())
            continue;
        if (now() >= act) {
            act = now() + TICK_MS;
            clients_act();
            clients_reap();
            servers_revive();
        }
        if (now() >= disturb) {
            disturb = now() + DISTURB_MS + among(DISTURB_MS);
            disturb_something();
        }
        show_sometimes();
    }
}

/* ---- the calm ---- */

static void turn_for(uint64_t ms)
{
    uint64_t until = now() + ms;

    while (now() < until && hub_is_alive())
        net_turn(20);
}

static void drain(void)
{
    uint64_t until = now() + patiently(DRAIN_MS);

    while (!clients_settled() && now() < until && hub_is_alive()) {
        net_turn(20);
        servers_revive();
        show_sometimes();
    }
}

static long metric(struct span text, const char *name)
{
    const char *at = text.n ? memmem(text.p, text.n, name, strlen(name)) : NULL;

    while (at && (at == text.p || at[-1] != '\n'))
        at = memmem(at + 1, (size_t)(span_end(text) - at) - 1, name, strlen(name));
    return at ? strtol(at + strcspn(at, " \n"), NULL, 10) : -1;
}

static int get(const char *path, struct buf *out)
{
    return web_wait(&(struct web_order){ .method = "GET", .path = path }, out, patiently(20000));
}

static size_t calls_in_flight(struct buf *out)
{
    AUTO_JSON struct json_doc doc = { 0 };

    if (get("/api/calls?limit=1", out) != 200) {
        broken(LAW_ALIVE, "/api/calls is not answered");
        return 0;
    }
    if (json_parse(&doc, buf_span(out), NULL, NULL) < 0)
        return 0;
    return json_len(json_get(json_root(&doc), "calls"));
}

static void no_calls_left(void)
{
    AUTO_BUF struct buf out = { 0 };
    uint64_t until = now() + patiently(QUIET_MS * 3);
    size_t n;

    while ((n = calls_in_flight(&out)) > 0 && now() < until && hub_is_alive())
        turn_for(200);
    if (n)
        broken(LAW_NO_CALLS, "%zu calls are left: %.*s", n, (int)(out.n < 600 ? out.n : 600),
               out.p);
}

static void no_slow_callbacks(void)
{
    AUTO_BUF struct buf out = { 0 };
    long n;

    if (get("/metrics", &out) != 200) {
        broken(LAW_ALIVE, "/metrics is not answered");
        return;
    }
    /* Only what the callbacks worked themselves: who else uses the machine is not the hub's fault.
     * Nearly: what a virtual machine is not given for a moment counts as work, so that a short run
     * proves nothing by one or two. */
    n = metric(buf_span(&out), "patchbay_loop_busy_callbacks_total");
    if (n > (options.seconds < SOAK_S ? TAKEN_AWAY_MAX : 0) && !options.sanitized)
        broken(LAW_SPEED, "%ld callbacks of the loop took too long", n);
    printf("# callbacks over 20 ms: %ld, %ld of which worked so long\n",
           metric(buf_span(&out), "patchbay_loop_slow_callbacks_total"), n);
}

/* Without servers and clients the hub has nothing but itself. */
static void switch_off(void)
{
    uint64_t until = now() + patiently(OFF_MS);
    int n;

    servers_write_config(CONFIG_OFF);
    while ((n = servers_running()) > 0 && now() < until && hub_is_alive())
        turn_for(100);
    if (n)
        broken(LAW_ORPHANS, "%d servers run on though all are disabled", n);
    turn_for(1000);
}

static bool is_up(struct json list, const char *name)
{
    JSON_FOREACH(s, list)
        if (json_str_is(json_get(s, "name"), name))
            return json_str_is(json_get(s, "state"), "connected");
    return false;
}

/* Those to whom nothing happens serve from now on. */
static void switch_on(void)
{
    uint64_t until = now() + patiently(ON_MS);
    const char *missing = "all";

    servers_write_config(CONFIG_PLAIN);
    while (missing && now() < until && hub_is_alive()) {
        AUTO_BUF struct buf out = { 0 };
        AUTO_JSON struct json_doc doc = { 0 };

        servers_revive();
        turn_for(100);
        if (get("/api/servers", &out) != 200 || json_parse(&doc, buf_span(&out), NULL, NULL) < 0)
            continue;
        missing = NULL;
        for (unsigned i = 0; i < options.servers; i++)
            if (servers[i].role->calm && !servers[i].role->lazy &&
                !is_up(json_get(json_root(&doc), "servers"), servers[i].name))
                missing = servers[i].name;
    }
    if (missing)
        broken(LAW_ALIVE, "%s does not connect", missing);
}

static long rss[CYCLES_MAX];
static int descriptors[CYCLES_MAX];

static void calm(unsigned cycle)
{
    disturb_no_more();
    drain();
    clients_leave();
    turn_for(patiently(QUIET_MS));
    if (!hub_is_alive())
        return;
    net_hang_up(); /* requests that were never sent to their end */
    pulse.asked = false;
    no_calls_left();
    no_slow_callbacks();
    switch_off();
    rss[cycle] = hub_rss_kb();
    descriptors[cycle] = hub_descriptors();
    printf("# cycle %u ends: rss %ld MB, %d descriptors\n", cycle, rss[cycle] / 1024,
           descriptors[cycle]);
    show_figures();
}

/* The first cycle fills caches and tables. After it, of two halves the least of the later may be
 * only a little more than the most of the earlier. */
static void judge_memory(unsigned cycles)
{
    unsigned half = (cycles + 1) / 2;
    long before = 0, after = 0;

    if (options.sanitized || cycles < CYCLES_JUDGED)
        return;
    for (unsigned i = 1; i < cycles; i++) {
        if (i < half)
            before = rss[i] > before ? rss[i] : before;
        else
            after = !after || rss[i] < after ? rss[i] : after;
    }
    if (after > before + before * GROWTH_PERCENT / 100 + GROWTH_KB)
        broken(LAW_MEMORY, "resident memory grew from %ld to %ld KB", before, after);
}

static void judge_descriptors(unsigned cycles)
{
    if (cycles >= 2 && descriptors[cycles - 1] > descriptors[0] + DESCRIPTORS_MORE)
        broken(LAW_MEMORY, "descriptors went from %d to %d", descriptors[0],
               descriptors[cycles - 1]);
}

/* ---- the end ---- */

static int marked(int sig)
{
    DIR *proc = opendir("/proc");
    int n = 0;

    for (struct dirent *e; proc && (e = readdir(proc));) {
        char path[300], text[65536];
        long pid = strtol(e->d_name, NULL, 10);
        int fd;
        ssize_t got;

        if (pid <= 0 || pid == getpid() || pid == getppid())
            continue;
        snprintf(path, sizeof path, "/proc/%ld/environ", pid);
        fd = open(path, O_RDONLY | O_CLOEXEC);
        got = fd >= 0 ? read(fd, text, sizeof text) : -1;
        if (fd >= 0)
            close(fd);
        if (got <= 0 || !memmem(text, (size_t)got, hub.mark, strlen(hub.mark)))
            continue;
        n++;
        if (sig)
            kill((pid_t)pid, sig);
    }
    if (proc)
        closedir(proc);
    return n;
}

static void nobody_is_left(void)
{
    uint64_t until = now() + patiently(QUIET_MS * 2);
    int n;

    while ((clients_reap(), n = marked(0)) > 0 && now() < until)
        net_turn(50);
    if (n)
        broken(LAW_ORPHANS, "%d processes are left", n);
    marked(SIGKILL);
}

TEST(the_hub_lives_through_the_storm)
{
    uint64_t end = now() + options.seconds * 1000ULL;
    unsigned cycles = 0;
    int rc;

    sigaction(SIGPIPE, &(struct sigaction){ .sa_handler = SIG_IGN }, NULL);
    printf("# SEED=%llu SECONDS=%u SERVERS=%u CLIENTS=%u\n", (unsigned long long)options.seed,
           options.seconds, options.servers, options.clients);
    chance_begin(options.seed);
    hub_begin();
    servers_begin();
    hub_start();
    clients_begin();
    figures_at = now() + FIGURES_MS;
    while (now() < end && cycles < CYCLES_MAX && hub_is_alive()) {
        uint64_t until = now() + options.cycle_s * 1000ULL;

        switch_on();
        storm(until < end ? until : end);
        calm(cycles++);
    }
    judge_memory(cycles);
    if (!options.sanitized && figures.late > LATE_MAX + figures.sessions / LATE_ONE_IN)
        broken(LAW_ALIVE, "%llu clients found the hub too busy to attach",
               (unsigned long long)figures.late);
    judge_descriptors(cycles);
    clients_leave();
    net_done();
    if (hub.pid) {
        rc = hub_stop();
        if (rc != 0)
            broken(LAW_ALIVE, "the hub ended with status %d", rc);
    }
    servers_read_violations();
    servers_end();
    nobody_is_left();
    hub_read_stderr();
    clients_end();
    net_done();
    hub_end();
    verdict->finished = true;
    CHECK_INT(verdict->broken[LAW_ALIVE], 0);
}

/* ---- the laws ---- */

#define HOLDS(law)                          \
    do {                                    \
        CHECK(verdict->finished);           \
        CHECK_INT(verdict->broken[law], 0); \
    } while (0)

TEST(each_request_is_answered_once) { HOLDS(LAW_ONCE); }
TEST(each_answer_is_of_the_right_server_and_call) { HOLDS(LAW_RIGHT); }
TEST(a_call_that_nothing_disturbs_succeeds) { HOLDS(LAW_SERVED); }
TEST(nobody_is_shown_what_belongs_to_another) { HOLDS(LAW_PRIVATE); }
TEST(each_answer_reaches_its_question_once) { HOLDS(LAW_ANSWERS); }
TEST(no_call_is_left_in_the_calm) { HOLDS(LAW_NO_CALLS); }
TEST(memory_and_descriptors_stay) { HOLDS(LAW_MEMORY); }
TEST(no_callback_holds_up_the_loop) { HOLDS(LAW_SPEED); }
TEST(no_sanitizer_finds_anything) { HOLDS(LAW_CLEAN); }
TEST(no_process_is_left) { HOLDS(LAW_ORPHANS); }
