/* Who may do what: the view only computes, everything else has one owner, and facts come up in the
 * order in which they happened. */
#include "home_server.h"
#include "hub/hub/hub.h"
#include "hub/hub_rig.h"
#include "hub/link/link.h"
#include "hub/spec/spec.h"
#include "hub_thread_rig.h"
#include <elf.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/stat.h>

/* ---- what the view is made of ---- */

struct object {
    const char *bytes;
    size_t n;
};

static struct object object_map(const char *name)
{
    const char *build = getenv("BUILD_DIR");
    char path[4096];
    struct stat st;
    struct object o;
    int fd;

    if (!build)
        TAP_SKIP("BUILD_DIR names no build directory");
    snprintf(path, sizeof path, "%s/libhub.a.p/src_hub_%s.c.o", build, name);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) < 0)
        TAP_FAIL("%s cannot be read", path);
    o.n = (size_t)st.st_size;
    o.bytes = mmap(NULL, o.n, PROT_READ, MAP_PRIVATE, fd, 0);
    CHECK(o.bytes != MAP_FAILED);
    CHECK(o.n > sizeof(Elf64_Ehdr) && !memcmp(o.bytes, ELFMAG, SELFMAG));
    close(fd);
    return o;
}

/* What this file needs of others: fn for each name. Returns how many. */
static size_t each_needed(const struct object *o, void (*fn)(const char *name))
{
    const Elf64_Ehdr *head = (const void *)o->bytes;
    const Elf64_Shdr *sections = (const void *)(o->bytes + head->e_shoff);
    size_t n = 0;

    for (unsigned i = 0; i < head->e_shnum; i++) {
        const Elf64_Shdr *s = &sections[i];
        const Elf64_Sym *symbols = (const void *)(o->bytes + s->sh_offset);

        if (s->sh_type != SHT_SYMTAB)
            continue;
        for (size_t k = 1; k < s->sh_size / sizeof *symbols; k++)
            if (symbols[k].st_shndx == SHN_UNDEF && symbols[k].st_name) {
                fn(o->bytes + sections[s->sh_link].sh_offset + symbols[k].st_name);
                n++;
            }
    }
    return n;
}

static bool is_one_of(const char *name, const char *const *list, size_t n, bool beginnings)
{
    for (size_t i = 0; i < n; i++)
        if (beginnings ? !strncmp(name, list[i], strlen(list[i])) : !strcmp(name, list[i]))
            return true;
    return false;
}

/* Nothing of this reads, writes, waits, looks at a clock, or knows a hub, a link or a client. What
 * begins with "__" is the compiler's. */
static void check_pure(const char *name)
{
    static const char *const nouns[] = {
        "__", "_GLOBAL_", "buf_", "map_", "mem_",
    };
    static const char *const functions[] = {
        "auth_step_text", "free", "id_uuid", "memcmp", "memcpy", "memmove", "strcmp", "strlen",
    };

    if (!is_one_of(name, nouns, ARRAY_LEN(nouns), true) &&
        !is_one_of(name, functions, ARRAY_LEN(functions), false))
        TAP_FAIL("the view uses %s()", name);
}

/* S0-9 S0-14 */
TEST(the_view_does_no_io_and_knows_nobody_who_does)
{
    static const char *const files[] = { "view_view", "view_toasts", "view_texts" };

    for (size_t i = 0; i < ARRAY_LEN(files); i++) {
        struct object o = object_map(files[i]);

        CHECK(each_needed(&o, check_pure) > 0);
        munmap((void *)(uintptr_t)o.bytes, o.n);
    }
}

static size_t impure;

static void count_impure(const char *name)
{
    impure += !strncmp(name, "loop_", 5) || !strncmp(name, "client_", 7);
}

TEST(that_check_sees_it_where_it_is_so)
{
    struct object o = object_map("link_link_channel");

    each_needed(&o, count_impure);
    CHECK(impure > 0);
    munmap((void *)(uintptr_t)o.bytes, o.n);
}

/* ---- one owner ---- */

struct owner {
    pthread_t loop;
    atomic_int inside, bad, events;
};

static void on_owned_event(void *ctx, const struct hub_event *e)
{
    struct owner *o = ctx;

    (void)e;
    if (atomic_fetch_add(&o->inside, 1) != 0 || !pthread_equal(pthread_self(), o->loop))
        atomic_fetch_add(&o->bad, 1);
    atomic_fetch_add(&o->events, 1);
    atomic_fetch_sub(&o->inside, 1);
}

struct begin_owned {
    struct hub_thread *t;
    struct owner *o;
};

static void begin_owned(struct waiter *w, void *ctx)
{
    struct begin_owned *b = ctx;

    b->o->loop = pthread_self();
    hub_listen(hub_thread_hub(b->t),
               &(struct hub_listener){ .event = on_owned_event, .ctx = b->o });
    waiter_done(w, NULL, NULL, NULL);
}

static void *use_hub(void *ctx)
{
    struct hub_thread *t = ctx;

    for (int i = 0; i < 20; i++) {
        AUTO_FREE char *result = NULL, *servers = hub_wait_servers(t);

        if (hub_wait_call(t, "home", "echo", "{\"a\":1}", &result, NULL) < 0)
            return ctx;
    }
    return NULL;
}

/* S0-10 S0-15 */
TEST(everything_happens_on_one_thread_which_is_none_of_those_that_ask)
{
    enum { ASKING = 8 };
    struct hub_thread *t = hub_begin();
    AUTO(spec) struct spec *spec = NULL;
    struct owner o = { 0 };
    struct home home;
    pthread_t asking[ASKING];

    home_start(&home);
    CHECK_INT(
        loop_wait(hub_thread_loop(t), begin_owned, &(struct begin_owned){ t, &o }, 0, NULL, NULL),
        0);
    CHECK(!pthread_equal(o.loop, pthread_self()));
    spec = spec_http("home", home.mcp);
    CHECK_INT(hub_wait_connect(t, spec, NULL), 0);
    for (int i = 0; i < ASKING; i++)
        CHECK_INT(pthread_create(&asking[i], NULL, use_hub, t), 0);
    for (int i = 0; i < ASKING; i++) {
        void *failed;

        pthread_join(asking[i], &failed);
        CHECK(!failed);
    }
    hub_thread_shutdown(t);
    hub_thread_free(t);
    home_stop(&home);
    CHECK(atomic_load(&o.events) >= ASKING * 20 * 2);
    CHECK_INT(atomic_load(&o.bad), 0);
}

/* ---- and that is checked ---- */

static struct hub_rig foreign;

static void use_add(void) { hub_rig_add(&foreign, "b", (struct rig_spec){ 0 }); }
static void use_connect(void) { CHECK_INT(hub_connect(foreign.hub, "a", NULL), 0); }
static void use_disconnect(void) { CHECK_INT(hub_disconnect(foreign.hub, "a", NULL), 0); }
static void use_stop_all(void) { fakes_disconnect(&foreign.fakes, foreign.hub); }
static void use_listen(void) { hub_listen(foreign.hub, &(struct hub_listener){ 0 }); }
static void use_close(void) { hub_close(foreign.hub, NULL, NULL); }
static void use_link(void) { link_disconnect(hub_link(foreign.hub, "a")); }

static void use_call(void)
{
    struct fake_reply a = { 0 };

    CHECK_INT(hub_rig_call(&foreign, "a", "echo", &a, NULL, NULL), 0);
}

static void *use_from_thread(void *ctx)
{
    void (*const *use)(void) = ctx;

    (*use)();
    return NULL;
}

/* In a process of its own: it is to die. */
static int status_of(void (*use)(void), bool own_thread)
{
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        pthread_t other;

        CHECK(freopen("/dev/null", "w", stderr) != NULL);
        if (own_thread)
            use();
        else if (pthread_create(&other, NULL, use_from_thread, &use) == 0)
            pthread_join(other, NULL);
        _exit(0);
    }
    CHECK(waitpid(pid, &status, 0) == pid);
    return status;
}

/* S0-151 */
TEST(a_hub_used_from_another_thread_stops_the_program_at_once)
{
    static void (*const uses[])(void) = {
        use_add,    use_connect, use_disconnect, use_stop_all,
        use_listen, use_close,   use_link,       use_call,
    };

    hub_rig_init(&foreign);
    hub_rig_start(&foreign);
    hub_rig_up(&foreign, "a", (struct rig_spec){ 0 });
    for (size_t i = 0; i < ARRAY_LEN(uses); i++) {
        int mine = status_of(uses[i], true), others = status_of(uses[i], false);

        CHECK(WIFEXITED(mine) && WEXITSTATUS(mine) == 0);
        CHECK(WIFSIGNALED(others) && WTERMSIG(others) == SIGABRT);
    }
    hub_rig_done(&foreign);
}
