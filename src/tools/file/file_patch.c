#include "file_impl.h"
#include "patch.h"

/* A file as the patch has left it so far: a later part of it may be about the same one. */
struct patched {
    struct file_change ch;
    bool there;   /* by now */
    bool touched; /* it is not as it was */
    const struct stat *like;
};

struct patching {
    const struct patch *patch;
    struct tool_place *in; /* the directory in which all of it lies */
    int root;
    struct patched *files[2 * FILE_PATCH_FILES];
    size_t n, bytes;
    struct map by_path;
    struct buf report;
};

static void patching_done(struct patching *s)
{
    for (size_t i = 0; i < s->n; i++) {
        change_done(&s->files[i]->ch);
        free(s->files[i]);
    }
    map_done(&s->by_path);
    buf_done(&s->report);
}

/* NULL: why it cannot be had is told. */
static struct patched *get_file(struct patching *s, const char *path, struct buf *why)
{
    struct tool_place place;
    struct patched *f;
    struct pb_error err;
    int rc;

    if (place_find_in(&place, s->in, s->root, path, &err) < 0) {
        file_why(why, &err);
        return NULL;
    }
    f = map_get(&s->by_path, span_of(place.path));
    if (f) {
        place_done(&place);
        return f;
    }
    f = NEW(struct patched);
    s->files[s->n++] = f;
    rc = change_read(&f->ch, &place, true, &err);
    s->bytes += f->ch.was.n;
    if (rc == 0 && s->bytes > FILE_PATCH_BYTES)
        rc = fail(&err, PB_E_LIMIT, "the files of this patch have more than %d bytes together",
                  FILE_PATCH_BYTES);
    if (rc < 0) {
        file_why(why, &err);
        return NULL;
    }
    f->there = f->ch.there;
    f->ch.text = buf_move(&f->ch.was);
    map_put(&s->by_path, span_of(f->ch.place.path), f);
    return f;
}

static int refuse(struct buf *why, const struct patched *f, const char *what)
{
    buf_printf(why, "'%s' %s", f->ch.place.name, what);
    return -PB_E_INVALID;
}

/* ---- one file of the patch ---- */

static void set_text(struct patched *f, struct buf *take_text)
{
    buf_done(&f->ch.text);
    f->ch.text = buf_move(take_text);
    f->there = f->touched = true;
}

static void set_gone(struct patched *f)
{
    buf_done(&f->ch.text);
    f->there = false;
    f->touched = true;
}

static int fit(struct patching *s, const struct patch_file *pf, const struct patched *from,
               struct buf *out, struct buf *why)
{
    AUTO_BUF struct buf told = { 0 };
    int rc = patch_fit(s->patch, pf, from->there ? buf_span(&from->ch.text) : SPAN(""), out,
                       &s->report, &told);

    if (rc < 0) {
        buf_printf(why, "'%s': ", from->ch.place.name);
        buf_add_span(why, buf_span(&told));
    }
    return rc;
}

static int do_change(struct patching *s, const struct patch_file *pf, struct buf *why)
{
    AUTO_BUF struct buf out = { 0 };
    struct patched *f = get_file(s, pf->to, why);
    int rc;

    if (f && !f->there && strcmp(pf->from, pf->to) != 0)
        f = get_file(s, pf->from, why);
    if (!f)
        return -PB_E_INVALID;
    if (!f->there)
        return refuse(why, f, "is to be changed, but is not there");
    rc = fit(s, pf, f, &out, why);
    if (rc == 0)
        set_text(f, &out);
    return rc;
}

static int do_create(struct patching *s, const struct patch_file *pf, struct buf *why)
{
    AUTO_BUF struct buf out = { 0 };
    struct patched *f = get_file(s, pf->to, why);
    int rc;

    if (!f)
        return -PB_E_INVALID;
    if (f->there)
        return refuse(why, f, "is to be created, but exists already");
    rc = fit(s, pf, f, &out, why);
    if (rc == 0)
        set_text(f, &out);
    return rc;
}

static int do_delete(struct patching *s, const struct patch_file *pf, struct buf *why)
{
    AUTO_BUF struct buf out = { 0 };
    struct patched *f = get_file(s, pf->from, why);
    int rc;

    if (!f)
        return -PB_E_INVALID;
    if (!f->there)
        return refuse(why, f, "is to be deleted, but is not there");
    rc = fit(s, pf, f, &out, why);
    if (rc == 0 && out.n)
        rc = refuse(why, f, "is to be deleted, but holds more than the patch takes out of it");
    if (rc == 0)
        set_gone(f);
    return rc;
}

static int do_rename(struct patching *s, const struct patch_file *pf, struct buf *why)
{
    AUTO_BUF struct buf out = { 0 };
    struct patched *from = get_file(s, pf->from, why);
    struct patched *to = from ? get_file(s, pf->to, why) : NULL;
    int rc;

    if (!to)
        return -PB_E_INVALID;
    if (!from->there)
        return refuse(why, from, "is to be renamed or copied, but is not there");
    if (to->there)
        return refuse(why, to, "is to be the new name of a file, but exists already");
    rc = fit(s, pf, from, &out, why);
    if (rc < 0)
        return rc;
    set_text(to, &out);
    to->like = from->ch.there ? &from->ch.st : from->like;
    if (pf->deed == PATCH_RENAME)
        set_gone(from);
    return 0;
}

/* ---- all of them ---- */

static const struct {
    int (*run)(struct patching *s, const struct patch_file *pf, struct buf *why);
    const char *past;
} deeds[] = {
    [PATCH_CHANGE] = { do_change, "changed" }, [PATCH_CREATE] = { do_create, "created" },
    [PATCH_DELETE] = { do_delete, "deleted" }, [PATCH_RENAME] = { do_rename, "renamed" },
    [PATCH_COPY] = { do_rename, "copied" },
};

static void report_file(struct patching *s, const struct patch_file *pf)
{
    size_t plus, minus;

    patch_file_count(s->patch, pf, &plus, &minus);
    buf_printf(&s->report, "%s ", deeds[pf->deed].past);
    name_show(&s->report, pf->from);
    if (strcmp(pf->from, pf->to) != 0) {
        buf_str(&s->report, " -> ");
        name_show(&s->report, pf->to);
    }
    buf_printf(&s->report, " (+%zu -%zu)\n", plus, minus);
}

static int write_files(struct patching *s, struct buf *why)
{
    AUTO_FREE struct file_change *v = mem_zero((s->n + 1) * sizeof *v);
    struct pb_error err;
    size_t n = 0;
    int rc;

    for (size_t i = 0; i < s->n; i++) {
        struct patched *f = s->files[i];

        if (!f->touched || (!f->there && !f->ch.there))
            continue;
        f->ch.gone = !f->there;
        f->ch.like = f->ch.there ? NULL : f->like;
        v[n++] = f->ch;
    }
    rc = changes_apply(v, n, &err);
    /* A directory may have been made and opened for one of them. */
    for (size_t i = 0, k = 0; i < s->n; i++) {
        struct patched *f = s->files[i];

        if (f->touched && (f->there || f->ch.there))
            f->ch = v[k++];
    }
    return rc < 0 ? file_why(why, &err) : 0;
}

static int run_once(struct tool_call *c, struct patching *s, struct buf *why)
{
    struct pb_error err;
    struct stat st;
    int rc;

    if (place_open(s->in, PLACE_DIRECTORY, &s->root, &st, &err) < 0)
        return file_why(why, &err);
    for (size_t i = 0; i < s->patch->n_files; i++) {
        const struct patch_file *pf = &s->patch->files[i];

        if (pb_call_cancelled(c->call))
            return -PB_E_CANCELLED;
        rc = deeds[pf->deed].run(s, pf, why);
        if (rc < 0)
            return rc;
        report_file(s, pf);
    }
    return pb_arg_bool(c->call, "dry_run") ? 0 : write_files(s, why);
}

static int run_patch(struct tool_call *c, const struct patch *patch, struct tool_place *in)
{
    AUTO_BUF struct buf why = { 0 };
    int rc = -PB_E_BUSY;

    for (int i = 0; rc == -PB_E_BUSY && i < FILE_EDIT_TRIES; i++) {
        struct patching s = { .patch = patch, .in = in, .root = -1 };

        why.n = 0;
        rc = run_once(c, &s, &why);
        if (rc == 0)
            pb_reply_text(c->call, "%s%s",
                          pb_arg_bool(c->call, "dry_run")
                              ? "Nothing was written (dry_run). Would be "
                                "done:\n"
                              : "",
                          buf_cstr(&s.report));
        if (s.root >= 0)
            close(s.root);
        patching_done(&s);
    }
    if (rc < 0)
        buf_str(&why, "\nNo file was changed.");
    return rc < 0 ? file_fail(c, buf_span(&why)) : 0;
}

int file_apply_patch(struct tool_call *c)
{
    AUTO_PLACE struct tool_place in = { .root = -1 };
    struct patch patch = { 0 };
    struct pb_error err;
    int rc;

    if (place_find(&in, c, pb_arg_string(c->call, "targetDirectory"), &err) < 0 ||
        patch_parse(&patch, span_of(pb_arg_string(c->call, "patchContent")), &err) < 0)
        return file_fail_err(c, &err);
    rc = run_patch(c, &patch, &in);
    patch_done(&patch);
    return rc;
}
