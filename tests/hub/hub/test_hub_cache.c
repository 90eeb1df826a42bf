/* What servers listed last time, kept on the disk. */
#include "hub/catalog/catalog.h"
#include "hub/hub/hub.h"
#include "hub/hub_rig.h"
#include "hub/link/link.h"
#include "hub/spec/spec.h"
#include "mcp/client/client.h"
#include "mcp/serve/serve.h"
#include "temp_dir.h"
#include <dirent.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>

/* The one file of the cache. */
static void cache_file(const struct hub_rig *r, char *path, size_t room)
{
    char digest[SHA256_BYTES * 2 + 1];

    spec_fingerprint(link_spec(hub_link(r->hub, "a")), digest);
    snprintf(path, room, "%s/cache/%s.json", temp_root(), digest);
}

static void start(struct hub_rig *r, bool lazy)
{
    r->opts.cache_dir = temp_path("cache");
    hub_rig_start(r);
    hub_rig_begin(r, "a", (struct rig_spec){ .lazy = lazy, .idle_ms = 1000 });
}

/* One run that leaves a file behind. */
static void fill(struct hub_rig *r, char *path, size_t room)
{
    temp_clean();
    hub_rig_init(r);
    hub_rig_server(r, "a");
    fake_resource(r->fakes.servers[0], "test://x", "x");
    fake_prompt(r->fakes.servers[0], "greet", "hi");
    start(r, true);
    cache_file(r, path, room);
    FAKES_WAIT(&r->fakes, hub_rig_state(r, "a") == LINK_CONNECTED && access(path, R_OK) == 0);
    hub_rig_stop(r);
}

/* S1-119 */
TEST(the_tools_of_a_lazy_server_are_there_before_it_runs)
{
    struct hub_rig r;
    struct fake_reply a = { 0 };
    struct pb_error err;
    char path[256];

    fill(&r, path, sizeof path);
    CHECK_INT(r.fakes.servers[0]->connects, 1);
    r.changes[0] = '\0';
    start(&r, true);
    FAKES_WAIT(&r.fakes, hub_rig_tools(&r, "a") == 1);
    fakes_settle(&r.fakes);
    CHECK_INT(hub_rig_state(&r, "a"), LINK_IDLE);
    CHECK_INT(catalog_count(hub_catalog(r.hub), "a", LIST_RESOURCES), 1);
    CHECK_INT(catalog_count(hub_catalog(r.hub), "a", LIST_PROMPTS), 1);
    CHECK_HAS(r.changes, "tools@a ");
    CHECK_HAS(r.changes, "prompts@a ");
    hub_rig_pass(&r, 100000);
    CHECK_INT(r.fakes.servers[0]->connects, 1);
    CHECK_INT(hub_rig_call(&r, "a", "echo", &a, NULL, &err), 0);
    FAKES_UNTIL(&r.fakes, a.count);
    CHECK(a.result != NULL);
    CHECK_INT(r.fakes.servers[0]->connects, 2);
    fake_reply_done(&a);
    hub_rig_done(&r);
}

TEST(a_lazy_server_that_is_not_known_is_started_once_to_learn_its_tools)
{
    struct hub_rig r;
    char path[256];

    hub_rig_init(&r);
    hub_rig_server(&r, "a");
    start(&r, true);
    cache_file(&r, path, sizeof path);
    FAKES_WAIT(&r.fakes, hub_rig_state(&r, "a") == LINK_CONNECTED);
    CHECK_INT(hub_rig_tools(&r, "a"), 1);
    FAKES_WAIT(&r.fakes, access(path, R_OK) == 0);
    hub_rig_pass(&r, 1000);
    CHECK_INT(hub_rig_state(&r, "a"), LINK_IDLE);
    hub_rig_pass(&r, 60000);
    CHECK_INT(r.fakes.servers[0]->connects, 1);
    CHECK_INT(hub_rig_tools(&r, "a"), 1);
    hub_rig_done(&r);
}

TEST(that_a_lazy_server_has_tasks_is_known_before_it_runs)
{
    struct hub_rig r;
    struct fake_reply a = { 0 };
    struct pb_error err;
    char path[256], text[4096];
    ssize_t n = 0;
    int fd;

    fill(&r, path, sizeof path);
    r.fakes.servers[0]->has_tasks = true; /* nothing else of it changes */
    start(&r, true);
    FAKES_WAIT(&r.fakes, hub_rig_tools(&r, "a") == 1);
    CHECK(!link_has_tasks(hub_link(r.hub, "a")));
    CHECK_INT(hub_rig_call(&r, "a", "echo", &a, NULL, &err), 0);
    FAKES_UNTIL(&r.fakes, a.count);
    CHECK(link_has_tasks(hub_link(r.hub, "a")));
    for (text[0] = '\0'; !strstr(text, "\"tasks\":true"); text[n > 0 ? n : 0] = '\0') {
        loop_turn(r.fakes.loop, false);
        fd = open(path, O_RDONLY | O_CLOEXEC);
        n = read(fd, text, sizeof text - 1);
        close(fd);
    }
    hub_rig_stop(&r);
    start(&r, true);
    FAKES_WAIT(&r.fakes, hub_rig_tools(&r, "a") == 1);
    CHECK_INT(hub_rig_state(&r, "a"), LINK_IDLE);
    CHECK(link_has_tasks(hub_link(r.hub, "a")));
    fake_reply_done(&a);
    hub_rig_done(&r);
}

TEST(the_file_is_for_its_owner_only_and_says_what_the_server_is)
{
    struct hub_rig r;
    char path[256], text[4096] = { 0 };
    DIR *d;
    int fd, files = 0;

    fill(&r, path, sizeof path);
    CHECK_INT(temp_mode(path), 0600);
    CHECK_INT(temp_mode(temp_path("cache")), 0700);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    CHECK(read(fd, text, sizeof text - 1) > 0);
    close(fd);
    CHECK_HAS(text, "\"era\":\"modern\"");
    CHECK_HAS(text, "\"protocol\":\"2026-07-28\"");
    CHECK_HAS(text, "\"serverInfo\":{");
    CHECK_HAS(text, "\"tools\":[{\"name\":\"echo\"");
    CHECK_HAS(text, "\"resources\":[{\"uri\":\"test://x\"");
    CHECK_HAS(text, "\"resourceTemplates\":[]");
    CHECK_HAS(text, "\"prompts\":[{\"name\":\"greet\"");
    d = opendir(temp_path("cache"));
    for (const struct dirent *e = readdir(d); e; e = readdir(d))
        files += e->d_name[0] != '.';
    closedir(d);
    CHECK_INT(files, 1); /* nothing half-written is left */
    fakes_done(&r.fakes);
}

TEST(a_file_that_makes_no_sense_is_as_good_as_none)
{
    static const char *const texts[] = {
        "",
        "nonsense",
        "[]",
        "{\"patchbay_cache\":2,\"tools\":[{\"name\":\"old\"}]}",
        "{\"tools\":[{\"name\":\"old\"}]}",
        "{\"patchbay_cache\":1,\"tools\":7}",
    };

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        struct hub_rig r;
        char path[256];
        int fd;

        fill(&r, path, sizeof path);
        fd = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC);
        CHECK(write(fd, texts[i], strlen(texts[i])) == (ssize_t)strlen(texts[i]));
        close(fd);
        start(&r, true);
        FAKES_WAIT(&r.fakes, hub_rig_state(&r, "a") == LINK_CONNECTED);
        CHECK_INT(r.fakes.servers[0]->connects, 2);
        CHECK_INT(hub_rig_tools(&r, "a"), 1);
        hub_rig_done(&r);
    }
}

TEST(a_new_list_is_written_and_an_old_one_is_not_written_again)
{
    struct hub_rig r;
    struct stat before, after;
    char path[256];

    fill(&r, path, sizeof path);
    CHECK_INT(stat(path, &before), 0);
    start(&r, false);
    FAKES_WAIT(&r.fakes, hub_rig_state(&r, "a") == LINK_CONNECTED);
    hub_rig_stop(&r);
    start(&r, true);
    FAKES_WAIT(&r.fakes, hub_rig_tools(&r, "a") == 1);
    CHECK_INT(hub_connect(r.hub, "a", NULL), 0);
    HUB_RIG_REACHES(&r, "a", LINK_CONNECTED);
    fakes_settle(&r.fakes);
    fake_tool(r.fakes.servers[0], "new", FAKE_TEXT);
    server_list_changed(r.fakes.servers[0]->server, "tools");
    FAKES_UNTIL(&r.fakes, hub_rig_tools(&r, "a") == 2);
    FAKES_WAIT(&r.fakes, stat(path, &after) == 0 && after.st_size > before.st_size);
    hub_rig_stop(&r);
    start(&r, true);
    FAKES_WAIT(&r.fakes, hub_rig_tools(&r, "a") == 2);
    CHECK_INT(hub_rig_state(&r, "a"), LINK_IDLE);
    hub_rig_done(&r);
}

static enum pb_era opened_with[8];
static size_t opened;

static int note_era(void *ctx, struct client **out, struct pb_loop *loop, const struct spec *spec,
                    const char *caller, const struct client_events *events, void *events_ctx,
                    struct pb_error *err)
{
    CHECK(opened < ARRAY_LEN(opened_with));
    opened_with[opened++] = spec->era;
    return fake_open(ctx, out, loop, spec, caller, events, events_ctx, err);
}

/* As if it had spoken the old one. */
static void age_cache(const char *path)
{
    AUTO_FREE char *text = mem_dup(temp_read(path));
    char *era = strstr(text, "\"modern\"");

    CHECK(era != NULL);
    memcpy(era, "\"legacy\"", 8);
    temp_write(path, text);
}

TEST(an_old_era_of_last_time_is_tried_first_and_forgotten_when_it_fails)
{
    struct hub_rig r;
    char path[256];

    fill(&r, path, sizeof path);
    age_cache(path);
    r.opts.open = note_era;
    r.opts.retry_initial = false;
    start(&r, false);
    FAKES_WAIT(&r.fakes, hub_rig_state(&r, "a") == LINK_CONNECTED);
    CHECK_INT(opened, 1);
    CHECK_INT(opened_with[0], PB_ERA_LEGACY);
    hub_rig_stop(&r);

    opened = 0;
    r.fakes.servers[0]->connect_fails = 1;
    start(&r, false);
    FAKES_WAIT(&r.fakes, (loop_advance(r.fakes.loop, 1), hub_rig_state(&r, "a")) == LINK_CONNECTED);
    CHECK_INT(opened, 2);
    CHECK_INT(opened_with[0], PB_ERA_LEGACY);
    CHECK_INT(opened_with[1], PB_ERA_AUTO);
    hub_rig_done(&r);
}

/* Asking finds out whether it still is. */
TEST(that_a_server_was_modern_is_no_order)
{
    struct hub_rig r;
    char path[256];

    fill(&r, path, sizeof path);
    r.opts.open = note_era;
    start(&r, false);
    FAKES_WAIT(&r.fakes, hub_rig_state(&r, "a") == LINK_CONNECTED);
    CHECK_INT(opened, 1);
    CHECK_INT(opened_with[0], PB_ERA_AUTO);
    hub_rig_done(&r);
}

static void call_as(struct hub_rig *r, const char *tool, const char *caller, struct fake_reply *a)
{
    AUTO_BUF struct buf params = { 0 };
    struct pb_error err;
    uint64_t id;

    *a = (struct fake_reply){ 0 };
    buf_printf(&params, "{\"name\":\"%s\",\"arguments\":{}}", tool);
    CHECK_INT(hub_call(r->hub,
                       &(struct call_spec){ .server = "a",
                                            .method = "tools/call",
                                            .params = buf_span(&params),
                                            .subject = span_of(tool),
                                            .caller = caller,
                                            .reply = fake_on_reply,
                                            .ctx = a },
                       &id, &err),
              0);
}

static bool file_has(const char *path, const char *text)
{
    char all[4096];
    AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? 0 : read(fd, all, sizeof all);

    return n > 0 && span_has(span_make(all, (size_t)n), span_of(text));
}

/* Nobody edits a config: it is known from then on, also after a restart. */
TEST(that_the_clients_of_a_server_are_kept_apart_is_remembered)
{
    struct hub_rig r;
    struct fake_server *f;
    struct fake_reply a, b;
    char path[256];

    hub_rig_init(&r);
    f = hub_rig_server(&r, "a");
    f->era = PB_ERA_LEGACY;
    fake_tool(f, "slow", FAKE_HANG);
    fake_tool(f, "ask", FAKE_ASK);
    for (int run = 0; run < 2; run++) {
        start(&r, false);
        cache_file(&r, path, sizeof path);
        FAKES_WAIT(&r.fakes, hub_rig_state(&r, "a") == LINK_CONNECTED);
        f->connects = 0;
        call_as(&r, "slow", "x", &a);
        call_as(&r, "ask", "y", &b);
        FAKES_UNTIL(&r.fakes, b.count);
        CHECK_INT(f->connects, run * 2);
        CHECK_INT(strstr(f->last_answer, "several clients") == NULL, run);
        fake_reply_done(&b);
        if (run == 0) /* the file is written at the end of a turn, by a worker */
            while (!file_has(path, "\"clients_apart\":true"))
                loop_turn(r.fakes.loop, false);
        hub_rig_stop(&r);
        fake_reply_done(&a);
    }
    hub_rig_done(&r);
}

static pthread_mutex_t workers_go = PTHREAD_MUTEX_INITIALIZER;
static size_t crowd_ended;

static void crowd_work(void *ctx)
{
    (void)ctx;
    pthread_mutex_lock(&workers_go);
    pthread_mutex_unlock(&workers_go);
}

static void crowd_done(void *ctx)
{
    (void)ctx;
    crowd_ended++;
}

/* Each file that finds no worker wants to try again later; nothing of that outlives the hub. */
TEST(files_that_found_no_worker_are_read_later_and_a_hub_that_ended_tries_none)
{
    struct hub_rig r;

    hub_rig_init(&r);
    r.opts.cache_dir = temp_path("cache");
    hub_rig_server(&r, "a");
    hub_rig_server(&r, "b");
    hub_rig_start(&r);
    pthread_mutex_lock(&workers_go);
    for (int i = 0; i < LOOP_WORK_MAX; i++)
        CHECK_INT(loop_work(r.fakes.loop, crowd_work, crowd_done, NULL, NULL), 0);
    hub_rig_begin(&r, "a", (struct rig_spec){ 0 });
    loop_advance(r.fakes.loop, HUB_CACHE_RETRY_MS / 2);
    hub_rig_begin(&r, "b", (struct rig_spec){ 0 });
    fakes_settle(&r.fakes);
    CHECK(hub_rig_state(&r, "a") != LINK_CONNECTED);
    CHECK(hub_rig_state(&r, "b") != LINK_CONNECTED);

    pthread_mutex_unlock(&workers_go);
    FAKES_WAIT(&r.fakes, crowd_ended == LOOP_WORK_MAX);
    loop_advance(r.fakes.loop, HUB_CACHE_RETRY_MS / 2);
    FAKES_WAIT(&r.fakes, hub_rig_state(&r, "a") == LINK_CONNECTED &&
                             hub_rig_state(&r, "b") == LINK_CONNECTED);
    hub_rig_stop(&r);
    loop_advance(r.fakes.loop, HUB_CACHE_RETRY_MS);
    hub_rig_done(&r);
}
