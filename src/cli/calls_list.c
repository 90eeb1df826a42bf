#include "calls.h"
#include "request.h"
#include "when.h"

enum { LINES_USUAL = 50 };

/* ---- what is asked for ---------------------------------------------------------------------- */

static void put_filters(const struct cli *cli, struct json_out *o)
{
#define X(member, help) json_put_str_opt(o, #member, cli_option(cli, #member));
    CALL_FILTERS(X)
#undef X
}

int calls_params(const struct cli *cli, const struct calls_page *p, struct buf *out)
{
    struct json_out o = json_out(out);
    double since = 0, until = 0;

    if (when_option(cli, "since", &since) != CLI_OK || when_option(cli, "until", &until) != CLI_OK)
        return CLI_USAGE;
    json_begin_object(&o, NULL);
    put_filters(cli, &o);
    if (since > 0)
        json_put_double(&o, "since", since);
    if (until > 0)
        json_put_double(&o, "until", until);
    if (p->before)
        json_put_uint(&o, "before", p->before);
    if (p->limit)
        json_put_uint(&o, "limit", p->limit);
    if (p->follow)
        json_put_bool(&o, "follow", true);
    json_put_str_opt(&o, "format", p->format);
    json_end(&o);
    return CLI_OK;
}

uint64_t calls_next(struct json answer)
{
    uint64_t next = 0;

    return json_uint(json_get(answer, "next"), &next, NULL) == 0 ? next : 0;
}

static int read_count(const struct cli *cli, const char *name, uint64_t *out)
{
    const char *text = cli_option(cli, name);
    char *end;

    if (!text)
        return CLI_OK;
    *out = strtoull(text, &end, 10);
    if (*end || end == text || *text == '-' || !*out)
        return cli_usage(cli->verb, "--%s is a number from 1 on, not '%s'", name, text);
    return CLI_OK;
}

/* ---- a line each ---------------------------------------------------------------------------- */

const char *calls_sign(const char *status, enum show_color *color)
{
    /* clang-format off */
    static const struct {
        const char *status, *sign;
        enum show_color color;
    } rows[] = {
        { "success",        "✓", SHOW_GREEN },
        { "error",          "✗", SHOW_RED },
        { "failed",         "✗", SHOW_RED },
        { "timeout",        "✗", SHOW_RED },
        { "cancelled",      "-", SHOW_GRAY },
        { "denied",         "⊘", SHOW_YELLOW },
        { "expired",        "⊘", SHOW_YELLOW },
        { "input_required", "…", SHOW_GRAY },
        { "task",           "…", SHOW_GRAY },
    };
    /* clang-format on */

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (strcmp(rows[i].status, status) == 0) {
            *color = rows[i].color;
            return rows[i].sign;
        }
    *color = SHOW_PLAIN;
    return "?";
}

const char *calls_what(struct json call, struct arena *a)
{
    const char *server = show_member(call, "server", a), *tool = show_member(call, "tool", a);
    const char *method = show_member(call, "method", a);

    if (strcmp(method, "tools/call") == 0)
        return *server ? arena_printf(a, "%s.%s", server, tool) : tool;
    return arena_printf(a, "%s %s of %s", method, tool, server);
}

const char *calls_took(struct json call, struct arena *a)
{
    double s;

    if (json_double(json_get(call, "duration"), &s, NULL) < 0)
        return "";
    return s < 0.01 ? arena_printf(a, "%.1f ms", s * 1000)
           : s < 1  ? arena_printf(a, "%.0f ms", s * 1000)
                    : arena_printf(a, "%.1f s", s);
}

/* Up to the sign and from there to the edge of the terminal. */
static void print_line(const char *before, const char *sign, enum show_color color,
                       const char *rest)
{
    size_t edge = show_width(STDOUT_FILENO), used = show_columns(before) + 3;

    printf("%s %s%s%s ", before, show_on(color), sign, show_off());
    show_cut(stdout, rest, edge > used + 1 ? edge - used : SIZE_MAX);
    putchar('\n');
}

static void print_call(struct json call)
{
    AUTO_ARENA struct arena a = { 0 };
    AUTO_BUF struct buf before = { 0 }, rest = { 0 };
    const char *status = show_member(call, "status", &a), *note = show_member(call, "note", &a);
    const char *caller = show_member(call, "caller", &a), *sign;
    enum show_color color;
    double at = 0;

    buf_printf(&before, "%6.*s ", SPAN_ARG(json_text(json_get(call, "no"))));
    if (json_double(json_get(call, "queued_at"), &at, NULL) == 0)
        when_text(&before, at);
    sign = calls_sign(status, &color);
    buf_printf(&rest, "%s → %s", *caller ? caller : "somebody", calls_what(call, &a));
    if (*calls_took(call, &a))
        buf_printf(&rest, "  %s", calls_took(call, &a));
    if (strcmp(status, "success") != 0)
        buf_printf(&rest, "  %s%s%s", status, *note ? ": " : "", note);
    print_line(buf_cstr(&before), sign, color, buf_cstr(&rest));
}

/* A page holds the newest first, a log the newest last. */
static void print_page(struct json calls)
{
    size_t n = json_len(calls), at = 0;
    AUTO_FREE struct json *all = mem_alloc((n + 1) * sizeof *all);

    JSON_FOREACH(c, calls)
        all[at++] = c;
    while (at > 0)
        print_call(all[--at]);
}

/* ---- pages ---------------------------------------------------------------------------------- */

struct call_pages {
    const struct cli *cli;
    struct reach *reach;
    uint64_t before;
    struct pb_result *result;
    struct json_doc doc;
};

static void pages_done(struct call_pages *p)
{
    json_doc_done(&p->doc);
    pb_result_free(TAKE(p->result));
}

/* Fetches one that begins at p->before. */
static int fetch(struct call_pages *p, unsigned limit)
{
    AUTO_BUF struct buf params = { 0 };
    struct pb_error err;

    pages_done(p);
    if (calls_params(p->cli, &(struct calls_page){ .before = p->before, .limit = limit },
                     &params) != CLI_OK)
        return CLI_USAGE;
    if (reach_ask(p->reach, "patchbay/records", buf_cstr(&params), &p->result, &p->doc, &err) < 0)
        return reach_fail(&err);
    return CLI_OK;
}

static struct json page_calls(const struct call_pages *p)
{
    return json_get(json_root(&p->doc), "calls");
}

/* Where pages begin that hold so many together: kept instead of the pages themselves, so that any
 * number can be printed from the oldest on. */
struct page_starts {
    uint64_t *at;
    unsigned *limit;
    size_t n, cap;
};

static void note_start(struct page_starts *s, uint64_t at, unsigned limit)
{
    if (s->n == s->cap) {
        s->cap = s->cap ? 2 * s->cap : 16;
        s->at = mem_resize(s->at, s->cap * sizeof *s->at);
        s->limit = mem_resize(s->limit, s->cap * sizeof *s->limit);
    }
    s->at[s->n] = at;
    s->limit[s->n++] = limit;
}

/* `wanted` 0: all there are. What is left is before p->before; 0: nothing. */
static int find_starts(struct call_pages *p, uint64_t wanted, struct page_starts *out)
{
    uint64_t found = 0;

    for (;;) {
        unsigned limit =
            wanted && wanted - found < STORE_PAGE_MAX ? (unsigned)(wanted - found) : STORE_PAGE_MAX;
        int status = fetch(p, limit);
        size_t n = status == CLI_OK ? json_len(page_calls(p)) : 0;

        if (status != CLI_OK)
            return status;
        if (n)
            note_start(out, p->before, limit);
        found += n;
        p->before = calls_next(json_root(&p->doc));
        if (!p->before || (wanted && found >= wanted))
            return CLI_OK;
    }
}

static int print_text(struct call_pages *p, uint64_t wanted)
{
    struct page_starts starts = { 0 };
    int status = find_starts(p, wanted, &starts);
    uint64_t left = p->before;

    if (left && status == CLI_OK && !cli_option(p->cli, "all-pages"))
        talk_note("older ones: --before %llu", (unsigned long long)left);
    /* One page is there already. */
    for (size_t i = starts.n; i-- > 0 && status == CLI_OK;) {
        p->before = starts.at[i];
        if (starts.n > 1)
            status = fetch(p, starts.limit[i]);
        if (status == CLI_OK)
            print_page(page_calls(p));
    }
    free(starts.at);
    free(starts.limit);
    return status;
}

/* One object, whatever the number of pages, and never more than one of them in memory. */
static int print_json(struct call_pages *p, uint64_t wanted)
{
    uint64_t found = 0;
    int status = CLI_OK;

    fputs("{\"calls\":[", stdout);
    for (;;) {
        uint64_t left = wanted ? wanted - found : STORE_PAGE_MAX;

        status = fetch(p, left < STORE_PAGE_MAX ? (unsigned)left : STORE_PAGE_MAX);
        if (status != CLI_OK)
            return status;
        JSON_FOREACH(c, page_calls(p)) {
            fputs(found++ ? "," : "", stdout);
            show_json_part(json_text(c));
        }
        p->before = calls_next(json_root(&p->doc));
        if (!p->before || (wanted && found >= wanted))
            break;
    }
    if (p->before)
        printf("],\"next\":%llu,\"total\":", (unsigned long long)p->before);
    else
        fputs("],\"total\":", stdout);
    show_json_part(json_text(json_get(json_root(&p->doc), "total")));
    fputs("}\n", stdout);
    return CLI_OK;
}

int calls_list(const struct cli *cli)
{
    AUTO(reach) struct reach *s = NULL;
    AUTO_BUF struct buf checked = { 0 };
    struct call_pages p = { .cli = cli };
    uint64_t wanted = LINES_USUAL;
    bool json = cli_option(cli, "json") != NULL;
    int status;

    if (read_count(cli, "lines", &wanted) != CLI_OK ||
        read_count(cli, "before", &p.before) != CLI_OK ||
        calls_params(cli, &(struct calls_page){ 0 }, &checked) != CLI_OK)
        return CLI_USAGE;
    if (cli_option(cli, "all-pages"))
        wanted = 0;
    status = records_reach(&s, cli);
    if (status != CLI_OK)
        return status;
    if (!s) {
        if (json)
            show_json("{\"calls\":[],\"total\":0}");
        return CLI_OK;
    }
    p.reach = s;
    status = json ? print_json(&p, wanted) : print_text(&p, wanted);
    pages_done(&p);
    return status;
}

/* ---- as they come --------------------------------------------------------------------------- */

static bool as_json; /* on a thread of the client's: set before it begins */

static void print_question(struct json q, bool over)
{
    AUTO_ARENA struct arena a = { 0 };
    AUTO_BUF struct buf before = { 0 }, rest = { 0 };
    const char *id = show_member(q, "id", &a);
    double at = 0;

    if (over)
        return; /* what came of it is recorded */
    buf_str(&before, "       ");
    if (json_double(json_get(q, "asked_at"), &at, NULL) == 0)
        when_text(&before, at);
    buf_printf(&rest, "%s  ('patchbay answer %s approve', or deny)", show_member(q, "text", &a),
               id);
    print_line(buf_cstr(&before), "?", SHOW_YELLOW, buf_cstr(&rest));
}

static void hear_records(struct json root)
{
    if (json_bool(json_get(root, "missed"), false))
        talk_note("some are left out: they come faster than they are shown");
    if (!as_json) {
        print_page(json_get(root, "calls"));
        return;
    }
    {
        struct json calls = json_get(root, "calls");

        for (size_t i = json_len(calls); i-- > 0;) {
            show_json_part(json_text(json_item(calls, i)));
            putchar('\n');
        }
    }
}

static void hear_question(struct json root)
{
    if (as_json) {
        show_json_part(json_text(root));
        putchar('\n');
    } else {
        print_question(json_get(root, "question"), json_bool(json_get(root, "over"), false));
    }
}

static void hear_questions(struct json root)
{
    JSON_FOREACH(q, json_get(root, "questions"))
        if (!as_json)
            print_question(q, false);
}

static void notified(const char *method, const char *params)
{
    static const struct {
        const char *method;
        void (*hear)(struct json root);
    } rows[] = { { "notifications/patchbay/records", hear_records },
                 { "notifications/patchbay/question", hear_question },
                 { "notifications/patchbay/questions", hear_questions } };
    AUTO_JSON struct json_doc doc = { 0 };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (strcmp(method, rows[i].method) == 0 &&
            json_parse(&doc, span_of(params), NULL, NULL) == 0)
            rows[i].hear(json_root(&doc));
    fflush(stdout);
}

int calls_follow(const struct cli *cli)
{
    AUTO(reach) struct reach *s = NULL;
    AUTO_BUF struct buf params = { 0 };
    struct cli_asked what = { .method = "patchbay/records", .timeout_ms = UINT32_MAX };
    struct cli_answer answer = { 0 };
    uint64_t wanted = LINES_USUAL;
    struct pb_error err;
    int status;

    as_json = cli_option(cli, "json") != NULL;
    if (read_count(cli, "lines", &wanted) != CLI_OK ||
        calls_params(cli,
                     &(struct calls_page){ .limit = wanted < STORE_PAGE_MAX ? (unsigned)wanted
                                                                            : STORE_PAGE_MAX,
                                           .follow = true },
                     &params) != CLI_OK)
        return CLI_USAGE;
    status = records_follow(&s, cli, notified);
    if (status != CLI_OK)
        return status;
    what.params = buf_cstr(&params);
    if (cli_request(reach_client(s), &what, &answer, &err) < 0)
        status = err.code == PB_E_CANCELLED ? CLI_INTERRUPTED : reach_fail(&err);
    cli_answer_done(&answer);
    return status;
}
