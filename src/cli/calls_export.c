/* calls_export.c - all recorded calls at once: written for other programs, or deleted. */
#include "calls.h"
#include "gate/gate.h"
#include "when.h"

static int read_format(const struct cli *cli, enum export_format *out)
{
    const char *word = cli_option(cli, "format");

    if (!word || export_format_parse(span_of(word), out))
        return CLI_OK;
    return cli_usage(cli->verb, "--format is jsonl, har or otlp, not '%s'", word);
}

struct printing {
    const char *between; /* what stands between two pages, */
    bool some, fresh;    /* if there was one, and another begins */
};

static void print_bytes(void *ctx, struct span bytes)
{
    struct printing *p = ctx;

    if (!bytes.n)
        return;
    fputs(p->fresh && p->some ? p->between : "", stdout);
    p->some = true;
    p->fresh = false;
    show_json_part(bytes);
}

/* A page at a time, as the store finds them. */
static int print_pages(const struct cli *cli, struct reach *s, enum export_format f)
{
    static const struct json_opts shallow = { .keep_depth = 1 };
    struct printing printing = { .between = export_between(f) };
    uint64_t before = 0;

    do {
        AUTO_BUF struct buf params = { 0 };
        AUTO_JSON struct json_doc doc = { 0 };
        struct pb_result *result = NULL;
        struct pb_error err;
        const char *answer;
        size_t n;
        int rc;

        if (calls_params(cli,
                         &(struct calls_page){ .before = before, .format = export_format_name(f) },
                         &params) != CLI_OK)
            return CLI_USAGE;
        printing.fresh = true;
        rc = calls_ask_bytes(s, "patchbay/export", buf_cstr(&params), print_bytes, &printing,
                             &result, &err);
        answer = rc == 0 ? pb_result_json(result, &n) : NULL;
        if (rc == 0)
            rc = json_parse(&doc, span_make(answer, n), &shallow, &err);
        before = rc == 0 ? calls_next(json_root(&doc)) : 0;
        pb_result_free(result);
        if (rc < 0)
            return reach_fail(&err);
    } while (before && !ferror(stdout)); /* what went wrong is told at the end of the program */
    return CLI_OK;
}

int calls_export(const struct cli *cli)
{
    AUTO(reach) struct reach *s = NULL;
    AUTO_BUF struct buf begin = { 0 }, end = { 0 }, ignored = { 0 };
    enum export_format f = EXPORT_JSONL;
    int status;

    if (read_format(cli, &f) != CLI_OK || calls_params(cli, &(struct calls_page){ 0 }, &ignored))
        return CLI_USAGE;
    status = records_reach(&s, cli);
    if (status != CLI_OK)
        return status;
    export_begin(&begin, f);
    export_end(&end, f);
    fputs(buf_cstr(&begin), stdout);
    if (s)
        status = print_pages(cli, s, f);
    if (status == CLI_OK)
        fputs(buf_cstr(&end), stdout);
    return status;
}

/* ---- forgetting ----------------------------------------------------------------------------- */

/* Only a person can be asked; a program says --yes. CLI_OK: go on. */
static int confirm(const struct cli *cli)
{
    char answer[16] = "";

    if (cli_option(cli, "yes"))
        return CLI_OK;
    if (!isatty(STDIN_FILENO))
        return cli_usage(cli->verb, "nobody can be asked whether to delete them: add --yes");
    if (cli_option(cli, "before"))
        fprintf(stderr, "Delete recorded calls from before %s? [y/N] ", cli_option(cli, "before"));
    else
        fprintf(stderr, "Delete all recorded calls? [y/N] ");
    if (!fgets(answer, sizeof answer, stdin) || (answer[0] != 'y' && answer[0] != 'Y'))
        return talk_fail(FAILURE_DECLINED, "nothing was deleted");
    return CLI_OK;
}

static int count_calls(struct reach *s, uint64_t *out, struct pb_error *err)
{
    AUTO_JSON struct json_doc doc = { 0 };
    struct pb_result *result = NULL;
    int rc = reach_ask(s, "patchbay/record-stats", NULL, &result, &doc, err);

    if (rc == 0)
        rc = json_uint(json_get(json_root(&doc), "calls"), out, err);
    pb_result_free(result);
    return rc;
}

static int forget(struct reach *s, double until, uint64_t *deleted, uint64_t *left,
                  struct pb_error *err)
{
    AUTO_BUF struct buf params = { 0 };
    AUTO_JSON struct json_doc doc = { 0 };
    struct json_out o = json_out(&params);
    struct pb_result *result = NULL;
    uint64_t were = 0;
    int rc = count_calls(s, &were, err);

    json_begin_object(&o, NULL);
    if (until > 0)
        json_put_double(&o, "until", until);
    json_end(&o);
    if (rc == 0)
        rc = reach_ask(s, "patchbay/forget", buf_cstr(&params), &result, &doc, err);
    if (rc == 0)
        rc = json_uint(json_get(json_root(&doc), "calls"), left, err);
    *deleted = rc == 0 && were > *left ? were - *left : 0;
    pb_result_free(result);
    return rc;
}

static void print_forgotten(const struct cli *cli, uint64_t deleted, uint64_t left)
{
    AUTO_BUF struct buf out = { 0 };
    struct json_out o = json_out(&out);

    if (!cli_option(cli, "json")) {
        printf("Deleted %llu recorded calls; %llu are left\n", (unsigned long long)deleted,
               (unsigned long long)left);
        return;
    }
    json_begin_object(&o, NULL);
    json_put_uint(&o, "deleted", deleted);
    json_put_uint(&o, "left", left);
    json_end(&o);
    show_json(buf_cstr(&out));
}

int calls_rm(const struct cli *cli)
{
    AUTO(reach) struct reach *s = NULL;
    uint64_t deleted = 0, left = 0;
    struct pb_error err;
    double until = 0;
    int status = when_option(cli, "before", &until);

    if (status == CLI_OK)
        status = confirm(cli);
    if (status == CLI_OK)
        status = records_reach(&s, cli);
    if (status != CLI_OK)
        return status;
    if (s && forget(s, until, &deleted, &left, &err) < 0)
        return reach_fail(&err);
    print_forgotten(cli, deleted, left);
    return CLI_OK;
}
