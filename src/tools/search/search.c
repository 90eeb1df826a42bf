/* search.c - the operations: S3-66, S3-67, S3-68.
 *
 * The answer is text, a result a line: what a model reads. The same as structured content would be
 * sent a second time for nobody; further pages come from get_search_results. */
#include "search_impl.h"

/* ---- pages ---- */

struct search_page {
    size_t offset, max;
};

static int page_of(struct pb_call *call, struct search_page *p)
{
    int64_t max =
        pb_arg_has(call, "maxResults") ? pb_arg_int(call, "maxResults") : SEARCH_RESULTS_USUAL;
    int64_t offset = pb_arg_int(call, "offset");

    if (max < 1 || offset < 0)
        return pb_fail(call, "%s must be %s, not %lld", max < 1 ? "maxResults" : "offset",
                       max < 1 ? "1 or more" : "0 or more", (long long)(max < 1 ? max : offset));
    p->max = max < SEARCH_RESULTS_MAX ? (size_t)max : SEARCH_RESULTS_MAX;
    p->offset = (size_t)offset;
    return 0;
}

/* "Results 1 to 100 of 1234 …", and how to see the rest. */
static void put_page(struct buf *out, const struct search_found *f, const char *title,
                     struct search_page p)
{
    size_t shown = found_write(f, out, p.offset, p.max);
    unsigned long long total = f->total;

    if (shown)
        buf_byte(out, '\n');
    if (!total)
        buf_printf(out, "No %s.", title);
    else if (!shown)
        buf_printf(out, "Of %llu %s none from offset %zu on.", total, title, p.offset);
    else
        buf_printf(out, "Results %zu to %zu of %llu: %s.", p.offset + 1, p.offset + shown, total,
                   title);
    if (shown && f->files[0].n)
        buf_printf(out, " Files with some: %llu.", (unsigned long long)f->total_files);
    if (shown && p.offset + shown < f->results)
        buf_printf(out, " Go on with get_search_results and offset=%zu, or narrow the search.",
                   p.offset + shown);
    else if (f->results < total && p.offset + shown >= f->results)
        buf_printf(out, " Only the first %zu are kept: narrow the search to see others.",
                   f->results);
}

/* ---- searching ---- */

/* Whose results these are: others must not get at them. */
static char *whose(const struct tool_call *c)
{
    AUTO_BUF struct buf b = { 0 };

    buf_printf(&b, "%s\n%s\n%s", c->face ? c->face : "", c->client ? c->client : "",
               c->conversation);
    return buf_take(&b);
}

static void put_notes(struct buf *out, const struct hunt *h)
{
    if (h->matcher)
        buf_printf(out, " Files searched: %llu", (unsigned long long)h->searched);
    if (h->binary)
        buf_printf(out, ", of them skipped as binary: %llu", (unsigned long long)h->binary);
    if (h->matcher)
        buf_byte(out, '.');
    if (h->too_many)
        buf_printf(out, " Not all: the search ended after %d files and directories. Give a path.",
                   SEARCH_ENTRIES_MAX);
    if (!h->troubles)
        return;
    buf_printf(out, "\nNot searched:\n");
    buf_add_span(out, buf_span(&h->trouble));
    if (h->troubles > SEARCH_TOLD_MAX)
        buf_printf(out, "and %zu more\n", h->troubles - SEARCH_TOLD_MAX);
}

static int answer(struct tool_call *c, struct hunt *h, char *title, struct search_page page)
{
    const struct search_state *state = c->state;
    struct kept_search kept = { title, h->found };
    AUTO_FREE char *key = whose(c);
    AUTO_BUF struct buf text = { 0 };

    put_page(&text, &h->found, title, page);
    put_notes(&text, h);
    h->found = (struct search_found){ 0 };
    searches_put(state->last, key, &kept);
    return pb_reply_bytes(c->call, text.p, text.n);
}

/* Results are shown as they would be written where the caller works. NULL: all of that. */
static const char *path_of(const struct tool_call *c)
{
    const char *path = pb_arg_string(c->call, "path");

    return path ? place_shown(c->directory, path) : NULL;
}

/* Takes the title. */
static int search(struct tool_call *c, struct hunt *h, char *title)
{
    AUTO_FREE char *title_held = title;
    const char *path = path_of(c);
    struct search_page page = { 0 };
    struct pb_error err;
    struct stat home;
    struct root root;
    int rc = page_of(c->call, &page);

    if (rc < 0)
        return rc;
    h->call = c->call;
    h->ignored = pb_arg_bool(c->call, "ignored");
    rc = root_open(&root, c->directory, path, h->ignored, &err);
    if (rc == 0 && place_is_private(c, root.fd))
        rc = fail(&err, PB_E_INVALID, "'%.150s' belongs to Patchbay itself", path ? path : ".");
    if (!c->person && stat(kit_home(c->kit), &home) == 0) {
        h->private_dev = home.st_dev;
        h->private_ino = home.st_ino;
    }
    h->root = &root;
    hunt_init(h);
    if (rc < 0)
        rc = pb_fail(c->call, "%s", err.msg);
    else if (hunt_run(h) < 0)
        rc = -PB_E_CANCELLED;
    else
        rc = answer(c, h, TAKE(title_held), page);
    hunt_done(h);
    root_done(&root);
    h->root = NULL;
    return rc;
}

static char *title_of(const char *what, struct tool_call *c, const char *param)
{
    AUTO_BUF struct buf b = { 0 };
    const char *path = path_of(c);

    buf_printf(&b, "%s '", what);
    put_printable(&b, utf8_cut(span_of(pb_arg_string(c->call, param)), 100));
    buf_printf(&b, "'%s", path ? " in " : "");
    if (path)
        put_printable(&b, utf8_cut(span_of(path), 200));
    return buf_take(&b);
}

int search_files(struct tool_call *c)
{
    AUTO(pathglob) struct pathglob *glob = NULL;
    struct hunt h = { 0 };
    struct pb_error err;

    if (pathglob_new(&glob, span_of(pb_arg_string(c->call, "query")), PATHGLOB_PEOPLE, &err) < 0)
        return pb_fail(c->call, "query: %s", err.msg);
    h.include = glob;
    return search(c, &h, title_of("files that match", c, "query"));
}

int search_text(struct tool_call *c)
{
    const char *include = pb_arg_string(c->call, "includePattern");
    bool said = pb_arg_has(c->call, "caseSensitive"),
         sensitive = pb_arg_bool(c->call, "caseSensitive");
    struct matcher_wants wants = { .query = span_of(pb_arg_string(c->call, "query")),
                                   .regex = pb_arg_bool(c->call, "isRegexp"),
                                   .sensitive = said && sensitive,
                                   .insensitive = said && !sensitive };
    AUTO(pathglob) struct pathglob *glob = NULL;
    struct matcher m;
    struct hunt h = { 0 };
    struct pb_error err;
    int rc;

    if (include && *include && pathglob_new(&glob, span_of(include), PATHGLOB_PEOPLE, &err) < 0)
        return pb_fail(c->call, "includePattern: %s", err.msg);
    if (matcher_init(&m, &wants, &err) < 0) {
        matcher_done(&m);
        return pb_fail(c->call, "query: %s", err.msg);
    }
    h.matcher = &m;
    h.include = glob;
    rc = search(c, &h, title_of("lines with", c, "query"));
    matcher_done(&m);
    return rc;
}

/* ---- again ---- */

struct again {
    struct buf text;
    struct search_page page;
};

static void put_again(const struct kept_search *k, void *ctx)
{
    struct again *a = ctx;

    put_page(&a->text, &k->found, k->title, a->page);
}

int search_again(struct tool_call *c)
{
    const struct search_state *state = c->state;
    AUTO_FREE char *key = whose(c);
    struct again a = { 0 };
    int rc = page_of(c->call, &a.page);

    if (rc < 0)
        return rc;
    if (!searches_get(state->last, key, put_again, &a))
        return pb_fail(c->call, "Nothing was searched in this conversation yet. Use grep_search or "
                                "file_search first");
    rc = pb_reply_bytes(c->call, a.text.p, a.text.n);
    buf_done(&a.text);
    return rc;
}

/* ---- parameters ---- */

#define PARAM_PATH                                                                         \
    {                                                                                      \
        .name = "path", .type = PB_STRING, .flags = PB_OPTIONAL | TOOL_PATH,               \
        .description =                                                                     \
            "Where to search: a directory or one file; the working directory if not given" \
    }
#define PARAM_MAX                                                   \
    {                                                               \
        .name = "maxResults", .type = PB_INT, .flags = PB_OPTIONAL, \
        .description = "Results in one answer: 100, at most 1000"   \
    }
#define PARAM_OFFSET                                             \
    {                                                            \
        .name = "offset", .type = PB_INT, .flags = PB_OPTIONAL,  \
        .description = "Results to leave out from the beginning" \
    }
#define PARAM_IGNORED                                             \
    {                                                             \
        .name = "ignored", .type = PB_BOOL, .flags = PB_OPTIONAL, \
        .description = "Search also what .gitignore leaves out"   \
    }

const struct pb_param search_files_params[] = {
    { .name = "query",
      .type = PB_STRING,
      .description = "A pattern: *.c, src/**/*.{h,c}, test_?.py. Without a slash it is for the "
                     "name, with one for the path" },
    PARAM_PATH,
    PARAM_MAX,
    PARAM_OFFSET,
    PARAM_IGNORED,
    { 0 },
};

const struct pb_param search_text_params[] = {
    { .name = "query", .type = PB_STRING, .description = "A text, or a regular expression" },
    { .name = "isRegexp",
      .type = PB_BOOL,
      .flags = PB_OPTIONAL,
      .description = "The query is a regular expression (Perl's), matched line by line" },
    { .name = "includePattern",
      .type = PB_STRING,
      .flags = PB_OPTIONAL,
      .description = "Only files that match this pattern: *.c, src/**" },
    { .name = "caseSensitive",
      .type = PB_BOOL,
      .flags = PB_OPTIONAL,
      .description = "If not given, case matters when the query has an upper case letter" },
    PARAM_PATH,
    PARAM_MAX,
    PARAM_OFFSET,
    PARAM_IGNORED,
    { 0 },
};

const struct pb_param search_again_params[] = { PARAM_MAX, PARAM_OFFSET, { 0 } };
