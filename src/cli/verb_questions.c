#include "reach.h"
#include "request.h"
#include "show.h"
#include "when.h"
#include <pwd.h>

/* ---- those that wait ------------------------------------------------------------------------ */

static bool as_json; /* on a thread of the client's: set before it begins */

static void print_question(struct json q)
{
    AUTO_ARENA struct arena a = { 0 };
    AUTO_BUF struct buf when = { 0 };
    const char *id = show_member(q, "id", &a);
    double now = (double)clock_real()->wall_ms(clock_real()) / 1000, asked = now, ends = now;

    if (json_double(json_get(q, "asked_at"), &asked, NULL) < 0 ||
        json_double(json_get(q, "expires_at"), &ends, NULL) < 0)
        return;
    buf_str(&when, "asked ");
    when_span_text(&when, now - asked);
    buf_str(&when, " ago, ");
    when_span_text(&when, ends - now);
    buf_str(&when, " left");
    printf("%s%s%s  %s\n", show_on(SHOW_YELLOW), id, show_off(), show_member(q, "text", &a));
    printf("          %s; rule %s; conversation %s\n", buf_cstr(&when), show_member(q, "rule", &a),
           show_member(q, "run", &a));
    printf("          %s\n", show_printable(json_text(json_get(q, "arguments")), &a));
}

static void print_all(struct json questions)
{
    JSON_FOREACH(q, questions)
        print_question(q);
}

static void print_change(struct json root)
{
    AUTO_ARENA struct arena a = { 0 };
    struct json q = json_get(root, "question");

    if (as_json)
        show_json(arena_dup(&a, json_text(root)));
    else if (json_bool(json_get(root, "over"), false))
        printf("%s  is over\n", show_member(q, "id", &a));
    else
        print_question(q);
}

static void notified(const char *method, const char *params)
{
    AUTO_JSON struct json_doc doc = { 0 };

    if (json_parse(&doc, span_of(params), NULL, NULL) < 0)
        return;
    if (strcmp(method, "notifications/patchbay/question") == 0)
        print_change(json_root(&doc));
    else if (strcmp(method, "notifications/patchbay/questions") == 0 && as_json)
        show_json(params);
    else if (strcmp(method, "notifications/patchbay/questions") == 0)
        print_all(json_get(json_root(&doc), "questions"));
    fflush(stdout);
}

static int follow(struct reach *s)
{
    struct cli_asked what = { "patchbay/questions", "{\"follow\":true}", UINT32_MAX };
    struct cli_answer answer = { 0 };
    struct pb_error err;
    int status = CLI_OK;

    if (cli_request(reach_client(s), &what, &answer, &err) < 0)
        status = err.code == PB_E_CANCELLED ? CLI_INTERRUPTED : reach_fail(&err);
    cli_answer_done(&answer);
    return status;
}

static int list(const struct cli *cli, struct reach *s)
{
    AUTO_JSON struct json_doc doc = { 0 };
    struct pb_result *result = NULL;
    struct pb_error err;
    int status = CLI_OK;

    if (reach_ask(s, "patchbay/questions", NULL, &result, &doc, &err) < 0)
        status = reach_fail(&err);
    else if (cli_option(cli, "json"))
        show_json(pb_result_json(result, NULL));
    else if (json_len(json_get(json_root(&doc), "questions")))
        print_all(json_get(json_root(&doc), "questions"));
    else
        puts("No call waits for an answer.");
    pb_result_free(result);
    return status;
}

static int run_questions(struct cli *cli)
{
    AUTO(reach) struct reach *s = NULL;
    int status =
        reach_open(&s, cli, &(struct reach_wants){ .daemon_only = true, .notified = notified });

    as_json = cli_option(cli, "json") != NULL;
    if (status != CLI_OK)
        return status;
    return cli_option(cli, "follow") ? follow(s) : list(cli, s);
}

const struct verb verb_questions = {
    .name = "questions",
    .usage = "[-f] [--json]",
    .help = "Show the calls that wait for somebody to allow them",
    .text = "A rule of the policy says which calls are asked about. 'patchbay answer' answers.",
    .max = 0,
    .options =
        (const struct option_spec[]){
            { 'f', "follow", NULL, "go on as questions come and go, until Ctrl-C" },
            { 0, "json", NULL, "print as JSON; with --follow an object a line" },
            { 0 },
        },
    .run = run_questions,
};

/* ---- answering ------------------------------------------------------------------------------ */

/* For the record: somebody with a name, if the system knows it. */
static const char *who(void)
{
    const struct passwd *user = getpwuid(getuid());

    return user && user->pw_name && *user->pw_name ? user->pw_name : "cli";
}

static int run_answer(struct cli *cli)
{
    AUTO(reach) struct reach *s = NULL;
    AUTO_BUF struct buf params = { 0 };
    struct json_out o = json_out(&params);
    struct pb_result *result = NULL;
    const char *choice = cli->args[1];
    struct pb_error err;
    uint64_t ms = 0;
    int status;

    if (strcmp(choice, "approve") != 0 && strcmp(choice, "grant") != 0 &&
        strcmp(choice, "deny") != 0)
        return cli_usage(cli->verb, "'%s' is none of approve, grant and deny", choice);
    if ((cli_option(cli, "for") || cli_option(cli, "once")) && strcmp(choice, "grant") != 0)
        return cli_usage(cli->verb, "--for and --once are for 'grant'");
    if (when_span_option(cli, "for", &ms) != CLI_OK)
        return CLI_USAGE;
    json_begin_object(&o, NULL);
    json_put_str(&o, "id", cli->args[0]);
    json_put_str(&o, "choice", choice);
    if (ms)
        json_put_uint(&o, "ms", ms);
    json_put_bool(&o, "once", cli_option(cli, "once") != NULL);
    json_put_str_opt(&o, "reason", cli_option(cli, "reason"));
    json_put_str(&o, "who", who());
    json_end(&o);
    status = reach_open(&s, cli, &(struct reach_wants){ .daemon_only = true });
    if (status != CLI_OK)
        return status;
    if (reach_request(s, "patchbay/answer", buf_cstr(&params), &result, &err) < 0)
        status = reach_fail(&err);
    else if (cli_option(cli, "json"))
        show_json(pb_result_json(result, NULL));
    else
        puts(strcmp(choice, "deny") == 0 ? "denied" : "allowed");
    pb_result_free(result);
    return status;
}

const struct verb verb_answer = {
    .name = "answer",
    .usage = "ID approve|grant|deny [--for 5m] [--once] [--reason TEXT]",
    .help = "Allow or deny a call that waits",
    .text = "'patchbay questions' shows them. 'approve' allows this call; 'grant' allows also the\n"
            "next calls of the same tool by the same caller, for five minutes or as --for says;\n"
            "with --once it is one more call.",
    .min = 2,
    .max = 2,
    .options =
        (const struct option_spec[]){
            { 0, "for", "TIME", "of grant: how long it holds (5m)" },
            { 0, "once", NULL, "of grant: for one more call only" },
            { 0, "reason", "TEXT", "of deny: what the caller is told" },
            { 0, "json", NULL, "print the answer as JSON" },
            { 0 },
        },
    .run = run_answer,
};
