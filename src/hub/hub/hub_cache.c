/* hub_cache.c - what a server listed last time, on the disk: so that the tools of a lazy server are
 * there before it runs, that nobody has to be asked twice which era it speaks, and that it is known
 * whether its clients must be kept apart. One file per
 * fingerprint of a spec; reading and writing happen on a worker. What is wrong with a file is no
 * error: then it is as if there were none. */
#include "hub/catalog/catalog.h"
#include "hub/link/link.h"
#include "hub/spec/spec.h"
#include "hub_impl.h"
#include "mcp/rpc/rpc.h"
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

enum { CACHE_VERSION = 1 };

struct cache_job {
    struct list waiting; /* in hub.cache_jobs, until its turn */
    loop_fn *work, *done;
    struct hub *hub;
    uint64_t no;
    char *path;
    struct buf text;
    struct json_doc doc; /* reading */
    bool weigh;          /* somebody will look at what it holds: */
    struct digests digests[LIST_KINDS];
    int64_t written_at; /* wall clock */
    bool found;
    struct pb_error err; /* writing */
    int rc;
};

static struct cache_job *job_new(struct member *m)
{
    struct cache_job *j = NEW(struct cache_job);
    char digest[SHA256_BYTES * 2 + 1];
    struct buf path = { 0 };

    spec_fingerprint(link_spec(m->link), digest);
    buf_printf(&path, "%s/%s.json", m->hub->opts.cache_dir, digest);
    j->path = buf_take(&path);
    list_init(&j->waiting);
    j->hub = m->hub;
    j->no = m->no;
    j->weigh = m->hub->vet.look != NULL;
    return j;
}

static void job_free(struct cache_job *j)
{
    json_doc_done(&j->doc);
    for (int k = 0; k < LIST_KINDS; k++)
        digests_done(&j->digests[k]);
    buf_done(&j->text);
    free(j->path);
    free(j);
}

/* As many as HUB_CACHE_JOBS at once: each needs a thread, and a hundred servers that come up
 * together would start one each. */
void hub_cache_start(void *ctx)
{
    struct hub *h = ctx;

    while (h->cache_running < HUB_CACHE_JOBS && !list_empty(&h->cache_jobs)) {
        struct cache_job *j = CONTAINER_OF(h->cache_jobs.next, struct cache_job, waiting);

        if (loop_work(h->loop, j->work, j->done, j, NULL) < 0)
            break;
        list_remove(&j->waiting);
        h->cache_running++;
    }
    /* The workers have too much to do. */
    if (!h->cache_running && !list_empty(&h->cache_jobs) && !timer_running(&h->cache_retry))
        timer_start(&h->cache_retry, HUB_CACHE_RETRY_MS);
}

static void job_begin(struct cache_job *j, loop_fn *work, loop_fn *done)
{
    struct hub *h = j->hub;

    j->work = work;
    j->done = done;
    h->jobs++;
    list_append(&h->cache_jobs, &j->waiting);
    hub_cache_start(h);
}

static void job_end(struct cache_job *j)
{
    struct hub *h = j->hub;

    job_free(j);
    h->jobs--;
    h->cache_running--;
    hub_cache_start(h);
    hub_maybe_end(h);
}

/* ---- reading ---- */

static bool read_all(const char *path, struct buf *out, int64_t *written_at)
{
    AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    struct stat st;
    ssize_t n;

    if (fd < 0 || fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_size > CATALOG_BYTES_MAX)
        return false;
    *written_at = (int64_t)st.st_mtim.tv_sec * 1000 + st.st_mtim.tv_nsec / 1000000;
    buf_reserve(out, (size_t)st.st_size);
    while (out->n < (size_t)st.st_size) {
        n = read(fd, out->p + out->n, (size_t)st.st_size - out->n);
        if (n <= 0)
            return false;
        out->n += (size_t)n;
    }
    return true;
}

/* On a worker. */
static void load_work(void *ctx)
{
    static const struct json_opts opts = { .keep_depth = 1, .unique_depth = 1 };
    struct cache_job *j = ctx;
    int64_t version;

    j->found = read_all(j->path, &j->text, &j->written_at) &&
               json_parse(&j->doc, buf_span(&j->text), &opts, NULL) == 0 &&
               json_int(json_get(json_root(&j->doc), "patchbay_cache"), &version, NULL) == 0 &&
               version == CACHE_VERSION;
    for (unsigned k = 0; j->found && j->weigh && k < LIST_KINDS; k++)
        if (k == LIST_TOOLS || k == LIST_PROMPTS)
            digests_of(&j->digests[k],
                       json_text(json_get(json_root(&j->doc), list_kind_name((enum list_kind)k))));
}

static void take_known(struct member *m, struct json root, struct digests *digests,
                       int64_t written_at)
{
    struct hub *h = m->hub;

    m->remembered_at = written_at;

    link_recall_tasks(m->link, m->tasks_kept);
    for (unsigned k = 0; k < LIST_KINDS; k++) {
        struct json list = json_get(root, list_kind_name((enum list_kind)k));
        bool changed = false;

        if (!json_is(list, JSON_ARRAY) ||
            catalog_set(h->catalog, link_spec(m->link), (enum list_kind)k, json_text(list),
                        &changed, NULL) < 0)
            continue;
        changed |= member_vet(m, (enum list_kind)k, &digests[k], false);
        if (changed && k == LIST_TOOLS && !h->vet.look)
            member_note_tools(m);
        if (changed)
            hub_lists_changed(h, m->name, 1U << k);
    }
}

/* A lazy server that nobody has ever asked is started once, to learn what it has. */
static void member_loaded(struct member *m)
{
    if (member_is_lazy(m) && !member_is_listed(m) && link_state(m->link) == LINK_IDLE)
        member_wake(m);
    member_touch(m);
}

static void load_done(void *ctx)
{
    struct cache_job *j = ctx;
    struct member *m = hub_by_no(j->hub, j->no);
    struct json root = j->found ? json_root(&j->doc) : (struct json){ 0 };

    if (m && m->load == j) {
        m->load = NULL;
        m->tasks_kept = json_bool(json_get(root, "tasks"), false);
        if (j->found && m->hint == PB_ERA_AUTO)
            m->hint = json_str_is(json_get(root, "era"), "legacy")   ? PB_ERA_LEGACY
                      : json_str_is(json_get(root, "era"), "modern") ? PB_ERA_MODERN
                                                                     : PB_ERA_AUTO;
        if (j->found && json_bool(json_get(root, "clients_apart"), false))
            link_set_apart(m->link);
        if (j->found && member_is_lazy(m) && !member_is_listed(m) &&
            link_state(m->link) != LINK_DISABLED)
            take_known(m, root, j->digests, j->written_at);
        member_loaded(m);
    }
    job_end(j);
}

void member_load(struct member *m)
{
    struct cache_job *j;

    if (m->load || link_state(m->link) == LINK_DISABLED)
        return;
    if (!m->hub->opts.cache_dir) {
        member_loaded(m);
        return;
    }
    j = job_new(m);
    m->load = j;
    job_begin(j, load_work, load_done);
}

/* ---- writing ---- */

static void write_list(struct json_out *o, const struct member *m, enum list_kind kind)
{
    const struct entry *e;

    json_begin_array(o, list_kind_name(kind));
    for (size_t i = 0; (e = catalog_entry(m->hub->catalog, m->name, kind, i)); i++)
        json_put_raw(o, NULL, e->text);
    json_end(o);
}

static void write_text(struct buf *out, const struct member *m)
{
    struct json_out o = json_out(out);
    struct link_facts facts;

    link_facts(m->link, &facts);
    json_begin_object(&o, NULL);
    json_put_int(&o, "patchbay_cache", CACHE_VERSION);
    json_put_str(&o, "server", m->name);
    if (facts.era != ERA_UNKNOWN)
        json_put_str(&o, "era", facts.era == ERA_LEGACY ? "legacy" : "modern");
    json_put_str_opt(&o, "protocol", facts.protocol);
    if (link_has_tasks(m->link))
        json_put_bool(&o, "tasks", true);
    if (facts.apart)
        json_put_bool(&o, "clients_apart", true);
    json_put_raw(&o, "serverInfo", facts.server_info);
    for (unsigned k = 0; k < LIST_KINDS; k++)
        write_list(&o, m, (enum list_kind)k);
    json_end(&o);
}

/* On a worker. */
static void save_work(void *ctx)
{
    struct cache_job *j = ctx;
    char *slash = strrchr(j->path, '/');

    *slash = '\0';
    j->rc = file_make_directories(j->path, &j->err);
    *slash = '/';
    if (j->rc == 0)
        j->rc = file_replace(j->path, buf_span(&j->text), (struct file_how){ 0 }, &j->err);
}

static void save_done(void *ctx)
{
    struct cache_job *j = ctx;
    struct member *m = hub_by_no(j->hub, j->no);

    if (j->rc < 0)
        log_warn("what a server lists cannot be kept, ignoring: %s", j->err.msg);
    if (m) {
        m->save = NULL;
        member_touch(m);
    }
    job_end(j);
}

void member_save(struct member *m)
{
    struct cache_job *j;

    if (!m->hub->opts.cache_dir || !m->cache_dirty || m->save)
        return;
    j = job_new(m);
    write_text(&j->text, m);
    m->tasks_kept = link_has_tasks(m->link);
    m->cache_dirty = false;
    m->save = j;
    job_begin(j, save_work, save_done);
}
