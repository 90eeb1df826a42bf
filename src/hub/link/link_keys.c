/* link_keys.c - the keys that a server is started with: read on a worker, because files are, and
 * forgotten as soon as nobody is to be started with them any more; but for link.hidden, which has
 * to know them when the server says them. */
#include "hub/secrets/secrets.h"
#include "hub/spec/spec.h"
#include "link_impl.h"

struct fetch {
    struct link *link;
    struct spec *spec;
    char *dir; /* may be NULL */
    void (*then)(struct link *l);
    unsigned attempt;
    struct keys *keys;
    int rc;
    struct pb_error err;
};

static void read_keys(void *ctx)
{
    struct fetch *f = ctx;

    f->rc = keys_load(&f->keys, f->spec, f->dir, &f->err);
}

static void on_read(void *ctx)
{
    struct fetch *f = ctx;
    struct link *l = f->link;
    bool wanted = !l->closed && f->attempt == l->attempt && link_in(l, LINK_CONNECTING);

    if (wanted && f->rc < 0) {
        link_connect_failed(l, NULL, &f->err);
    } else if (wanted) {
        keys_drop(l);
        l->keys = TAKE(f->keys);
        f->then(l);
    }
    keys_free(f->keys);
    spec_unref(f->spec);
    free(f->dir);
    free(f);
    link_unref(l);
}

static void fail_later(void *ctx)
{
    struct fetch *f = ctx;

    f->rc = -(int)f->err.code;
    on_read(f);
}

void keys_fetch(struct link *l, void (*then)(struct link *l))
{
    struct fetch *f;

    if (!keys_wanted(l->spec)) {
        then(l);
        return;
    }
    f = NEW(struct fetch);
    f->link = l;
    f->spec = spec_ref(l->spec);
    f->dir = mem_dup_opt(l->opts.secrets);
    f->then = then;
    f->attempt = l->attempt;
    link_ref(l);
    if (loop_work(l->loop, read_keys, on_read, f, &f->err) < 0)
        loop_defer(l->loop, fail_later, f);
}

void keys_drop(struct link *l) { keys_free(TAKE(l->keys)); }
