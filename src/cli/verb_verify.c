/* verb_verify.c - what was approved of servers, what has changed since, and letting it in. */
#include "reach.h"
#include "show.h"
#include "talk.h"
#include <string.h>

enum { CONTEXT = 120 }; /* bytes of what did not change, beside what did */

/* ---- one that has changed -------------------------------------------------------------------- */

static const char *item_of(struct json pin, struct arena *a)
{
    const char *server = show_member(pin, "server", a), *name = show_member(pin, "name", a);

    if (json_str_is(json_get(pin, "kind"), "instructions"))
        return arena_printf(a, "%s (instructions)", server);
    return arena_printf(a, "%s.%s%s", server, name,
                        json_str_is(json_get(pin, "kind"), "prompt") ? " (prompt)" : "");
}

static const char *day_of(struct json pin, struct arena *a)
{
    char at[CLOCK_ISO_CHARS + 1];
    double seconds = 0;

    if (json_double(json_get(pin, "approved_at"), &seconds, NULL) < 0)
        return "?";
    clock_iso((int64_t)(seconds * 1000), at);
    return arena_printf(a, "%.10s", at);
}

/* Lines stay lines; all else that could move a terminal does not. */
static void print_part(struct span text, struct arena *a)
{
    while (text.n) {
        const char *end = memchr(text.p, '\n', text.n);
        size_t n = end ? (size_t)(end - text.p) : text.n;

        fputs(show_printable(span_make(text.p, n), a), stdout);
        if (end)
            fputs("\n    ", stdout);
        text = span_from(text, n + (end != NULL));
    }
}

/* Of much that is the same only its ends. */
static void print_same(struct span text, bool first, bool last, struct arena *a)
{
    struct span head = utf8_cut(text, CONTEXT);
    size_t cut = text.n > 2 * CONTEXT ? text.n - CONTEXT : 0;

    if (!cut) {
        print_part(text, a);
        return;
    }
    while (cut < text.n && ((unsigned char)text.p[cut] & 0xc0) == 0x80)
        cut++;
    if (!first)
        print_part(head, a);
    fputs(" … ", stdout);
    if (!last)
        print_part(span_from(text, cut), a);
}

static void print_segment(struct json seg, bool first, bool last, struct arena *a)
{
    struct span text = json_str(json_get(seg, "text"), a);
    bool colour = *show_on(SHOW_RED) != '\0', gone = json_str_is(json_get(seg, "op"), "del");

    if (json_str_is(json_get(seg, "op"), "same")) {
        print_same(text, first, last, a);
        return;
    }
    fputs(colour ? show_on(gone ? SHOW_RED : SHOW_GREEN) : gone ? "[-" : "{+", stdout);
    print_part(text, a);
    fputs(colour ? show_off() : gone ? "-]" : "+}", stdout);
}

static void print_diff(struct json pin, struct arena *a)
{
    struct json diff = json_get(pin, "diff");
    size_t i = 0, n = json_len(diff);

    if (json_bool(json_get(pin, "old_missing"), false))
        puts("    what was approved is not at hand; it is now:");
    if (!n && json_str_is(json_get(pin, "diff_missing"), "room"))
        printf("    there is too much to show it all; 'patchbay verify %s' shows this one\n",
               json_str_is(json_get(pin, "kind"), "instructions")
                   ? show_member(pin, "server", a)
                   : arena_printf(a, "%s.%s", show_member(pin, "server", a),
                                  show_member(pin, "name", a)));
    else if (!n)
        puts("    its text is not at hand: the server has not said it yet");
    fputs(n ? "    " : "", stdout);
    JSON_FOREACH(seg, diff) {
        print_segment(seg, i == 0, i + 1 == n, a);
        i++;
    }
    puts(json_bool(json_get(pin, "diff_cut"), false) ? " … (more is left out)" : "");
    if (json_bool(json_get(pin, "redacted"), false))
        puts("    secrets in it are shown as ***");
}

static void print_changed(struct json pin)
{
    AUTO_ARENA struct arena a = { 0 };
    bool held = json_str_is(json_get(pin, "state"), "held");

    printf("%s%s%s  %s; approved on %s\n", show_on(held ? SHOW_RED : SHOW_YELLOW), item_of(pin, &a),
           show_off(), held ? "changed, held back" : "changed, let through", day_of(pin, &a));
    print_diff(pin, &a);
}

static bool is_approved(struct json pin) { return json_str_is(json_get(pin, "state"), "approved"); }

static void tell_problem(struct json answer)
{
    AUTO_ARENA struct arena a = { 0 };
    const char *problem = show_member(answer, "problem", &a);

    if (*problem)
        talk_warn("%s", problem);
}

/* What is pinned of a server, or of a tool; NULL: of all. */
static int ask(struct reach *s, const char *item, bool refresh, struct pb_result **result,
               struct json_doc *doc, struct pb_error *err)
{
    AUTO_BUF struct buf params = { 0 };
    struct json_out o = json_out(&params);
    const char *text;
    size_t n;
    int rc;

    json_begin_object(&o, NULL);
    json_put_str_opt(&o, "item", item);
    if (refresh)
        json_put_bool(&o, "refresh", true);
    json_end(&o);
    rc = reach_request(s, "patchbay/pins", buf_cstr(&params), result, err);
    if (rc < 0)
        return rc;
    text = pb_result_json(*result, &n);
    return json_parse(doc, span_make(text, n), NULL, err);
}

/* ---- verify ---------------------------------------------------------------------------------- */

static uint64_t count_of(struct json answer, const char *key)
{
    uint64_t n = 0;

    return json_uint(json_get(answer, key), &n, NULL) == 0 ? n : 0;
}

static int print_all(struct json answer)
{
    uint64_t changed = count_of(answer, "held") + count_of(answer, "changed");

    JSON_FOREACH(pin, json_get(answer, "pins"))
        if (!is_approved(pin))
            print_changed(pin);
    show_counts((const struct show_count[]){ { "as approved", count_of(answer, "approved") },
                                             { "held back", count_of(answer, "held") },
                                             { "changed", count_of(answer, "changed") },
                                             { 0 } });
    return changed ? CLI_TOOL_ERROR : CLI_OK;
}

static int run_verify(struct cli *cli)
{
    const char *item = cli->n_args ? cli->args[0] : NULL;
    AUTO(reach) struct reach *s = NULL;
    AUTO_JSON struct json_doc doc = { 0 };
    struct pb_result *result = NULL;
    struct pb_error err;
    int status = reach_open(&s, cli, &(struct reach_wants){ .item = item });

    if (status != CLI_OK)
        return status;
    if (ask(s, item, true, &result, &doc, &err) < 0) {
        status = reach_fail(&err);
    } else {
        struct json root = json_root(&doc);

        tell_problem(root);
        if (cli_option(cli, "json")) {
            show_json(pb_result_json(result, NULL));
            status = count_of(root, "held") + count_of(root, "changed") ? CLI_TOOL_ERROR : CLI_OK;
        } else {
            status = print_all(root);
        }
        if (status == CLI_OK)
            status = reach_tell_failed(json_get(root, "failed"));
    }
    pb_result_free(result);
    return status;
}

const struct verb verb_verify = {
    .name = "verify",
    .usage = "[SERVER[.TOOL]] [--json]",
    .help = "Tell which definitions of servers are not what was approved, and how they differ",
    .text =
        "What a server says of a tool, a prompt or itself is approved when it is seen first, and\n"
        "kept in patchbay.lock beside config.json. Exit code 5: something has changed since.",
    .max = 1,
    .options =
        (const struct option_spec[]){
            { 0, "json", NULL, "print the answer as JSON" },
            CLI_HUB_OPTIONS,
            { 0 },
        },
    .run = run_verify,
};

/* ---- approve --------------------------------------------------------------------------------- */

static void put_item(struct json_out *o, struct json pin)
{
    static const char *const members[] = { "server", "kind", "name", "cid" };

    json_begin_object(o, NULL);
    for (size_t i = 0; i < ARRAY_LEN(members); i++)
        json_put_raw(o, members[i], json_text(json_get(pin, members[i])));
    json_end(o);
}

/* Exactly what was just shown: what changes in between is not let in. */
static char *approval_of(struct json answer, const char *server)
{
    AUTO_BUF struct buf params = { 0 };
    struct json_out o = json_out(&params);

    json_begin_object(&o, NULL);
    json_begin_array(&o, "items");
    JSON_FOREACH(pin, json_get(answer, "pins"))
        if (!is_approved(pin))
            put_item(&o, pin);
    json_end(&o);
    if (server) {
        json_put_str(&o, "server", server);
        json_put_bool(&o, "prune", true);
    }
    json_end(&o);
    return buf_take(&params);
}

static int approve(struct reach *s, const struct cli *cli, struct json answer, const char *server)
{
    AUTO_FREE char *params = approval_of(answer, server);
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_ARENA struct arena a = { 0 };
    struct pb_result *result = NULL;
    struct pb_error err;
    const char *problem;
    int status = CLI_OK;

    if (reach_ask(s, "patchbay/approve", params, &result, &doc, &err) < 0)
        return reach_fail(&err);
    problem = show_member(json_root(&doc), "problem", &a);
    if (cli_option(cli, "json"))
        show_json(pb_result_json(result, NULL));
    else
        printf("%llu approved\n", (unsigned long long)count_of(json_root(&doc), "approved"));
    if (*problem)
        status = talk_fail(FAILURE_FILE, "%s", problem);
    pb_result_free(result);
    return status;
}

/* Does the item name a server, and no tool of it? */
static const char *whole_server(struct json answer, const char *item)
{
    AUTO_ARENA struct arena a = { 0 };

    JSON_FOREACH(pin, json_get(answer, "pins"))
        if (item && json_str_is(json_get(pin, "server"), item))
            return item;
    return NULL;
}

static int run_approve(struct cli *cli)
{
    const char *item = cli->n_args ? cli->args[0] : NULL;
    AUTO(reach) struct reach *s = NULL;
    AUTO_JSON struct json_doc doc = { 0 };
    struct pb_result *result = NULL;
    struct pb_error err;
    int status;

    if (!item == !cli_option(cli, "all"))
        return cli_usage(cli->verb, "expected either SERVER, SERVER.TOOL or --all");
    status = reach_open(&s, cli, &(struct reach_wants){ .item = item });
    if (status != CLI_OK)
        return status;
    /* A daemon knows what it holds back; a hub of our own has yet to hear it. */
    if (ask(s, item, !reach_is_daemon(s), &result, &doc, &err) < 0) {
        status = reach_fail(&err);
    } else {
        struct json root = json_root(&doc);

        tell_problem(root);
        JSON_FOREACH(pin, json_get(root, "pins"))
            if (!is_approved(pin) && !cli_option(cli, "json"))
                print_changed(pin);
        status = approve(s, cli, root, whole_server(root, item));
    }
    pb_result_free(result);
    return status;
}

const struct verb verb_approve = {
    .name = "approve",
    .usage = "SERVER | SERVER.TOOL | --all",
    .help = "Let in definitions that have changed since they were approved",
    .text =
        "Shows what changed, as 'patchbay verify' does, and approves exactly that. Of a SERVER, what\n"
        "it does not list any more is forgotten, too.",
    .max = 1,
    .options =
        (const struct option_spec[]){
            { 0, "all", NULL, "of every server" },
            { 0, "json", NULL, "print the answer as JSON" },
            CLI_HUB_OPTIONS,
            { 0 },
        },
    .run = run_approve,
};
