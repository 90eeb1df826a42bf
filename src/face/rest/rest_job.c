/* rest_job.c - changes of config.json: made on a worker, taken over by whoever reads the file, and
 * only then answered. */
#include "face/control/control.h"
#include "hub/secrets/secrets.h"
#include "hub/spec/spec.h"
#include "io/http/http.h"
#include "rest_impl.h"

static void job_free(struct rest_job *j)
{
    list_remove(&j->in_rest);
    if (j->errand->done)
        j->errand->done(j);
    free(j->path);
    free(j->secrets_dir);
    free(j->name);
    free(j);
}

static void on_gone(void *ctx)
{
    struct rest_job *j = ctx;

    j->r = NULL;
}

static bool is_read(const struct control_facts *f, const char *path)
{
    for (const char *const *p = f->files; p && *p; p++)
        if (strcmp(*p, path) == 0)
            return true;
    return false;
}

/* Why this hub has no such files; NULL: it has. */
static const struct rest_failure *lack(const struct control_facts *f, enum rest_errand_kind kind,
                                       const char *path)
{
    static const struct rest_failure no_files = { 409, "config_not_read",
                                                  .message = "This hub was not made from files" };
    static const struct rest_failure not_ours = {
        409, "config_not_read",
        .message = "This hub does not take its servers from config.json of the home directory, so "
                   "a change there would be without effect",
        .next = "POST /api/mcp-clients/connect adds a server until the hub stops"
    };

    if (kind == ERRAND_CHANGES && !(f->home && f->daemon && is_read(f, path)))
        return &not_ours;
    return f->home && f->daemon ? NULL : &no_files;
}

void *rest_job_new(struct rest_call *c, const struct rest_errand *errand, const char *name)
{
    const struct control_facts *f = control_facts_of(c->rest->hosts);
    AUTO_BUF struct buf path = { 0 }, secrets = { 0 };
    const struct rest_failure *why;
    struct rest_job *j;

    buf_printf(&path, "%s/config.json", f->home ? f->home : "");
    why = lack(f, errand->kind, buf_cstr(&path));
    if (why) {
        rest_fail(c->r, why);
        return NULL;
    }
    buf_printf(&secrets, "%s/secrets", f->home);
    j = mem_zero(errand->size);
    j->errand = errand;
    j->rest = c->rest;
    j->r = c->r;
    j->path = buf_take(&path);
    j->secrets_dir = buf_take(&secrets);
    j->name = mem_dup_opt(name);
    list_append(&c->rest->jobs, &j->in_rest);
    http_on_gone(c->r, on_gone, j);
    return j;
}

static void fail_job(struct rest_job *j)
{
    const char *key = j->name ? "name" : NULL;

    /* What the file system refuses would be taken for the failure of a server. */
    if (j->err.code != PB_E_SYSTEM && fault_of(&j->err) != FAULT_NONE)
        rest_fail_hub(j->r, &j->err, key, j->name);
    else if (j->err.code == PB_E_NOT_FOUND)
        rest_fail(j->r, &(struct rest_failure){ 404, "not_found", key, span_of(j->name),
                                                .message = j->err.msg });
    else if (j->err.code == PB_E_BUSY && j->errand->moved)
        rest_fail(j->r, &(struct rest_failure){ 409, j->errand->moved, .message = j->err.msg });
    else if (j->err.code == PB_E_INVALID)
        rest_fail(j->r, &(struct rest_failure){ 409, "config_not_changed", key, span_of(j->name),
                                                .message = j->err.msg });
    else
        rest_fail(j->r, &(struct rest_failure){ 500, "config_not_written", key, span_of(j->name),
                                                .message = j->err.msg });
}

static void on_reloaded(void *ctx, const struct pb_error *err)
{
    struct rest_job *j = ctx;

    if (j->rest && j->r && err)
        rest_fail(j->r, &(struct rest_failure){ 409, "config_not_taken", .message = err->msg });
    else if (j->rest && j->r)
        j->errand->then(j);
    job_free(j);
}

static void on_done(void *ctx)
{
    struct rest_job *j = ctx;
    if (j->rest && j->rc == 0 && j->errand->kind >= ERRAND_RELOADS &&
        control_reload(j->rest->hosts, on_reloaded, j))
        return;
    if (j->rest && j->r && j->rc < 0)
        fail_job(j);
    else if (j->rest && j->r)
        j->errand->then(j);
    job_free(j);
}

static void on_worker(void *ctx)
{
    struct rest_job *j = ctx;

    if (j->errand->work)
        j->rc = j->errand->work(j, &j->err);
}

void rest_job_start(struct rest_job *j)
{
    if (loop_work(j->rest->loop, on_worker, on_done, j, &j->err) < 0) {
        rest_fail_hub(j->r, &j->err, NULL, NULL);
        job_free(j);
    }
}

void rest_jobs_leave(struct rest *s)
{
    struct list *pos, *safe;

    LIST_FOREACH(pos, safe, &s->jobs) {
        struct rest_job *j = CONTAINER_OF(pos, struct rest_job, in_rest);

        list_remove(&j->in_rest);
        j->rest = NULL;
    }
}
