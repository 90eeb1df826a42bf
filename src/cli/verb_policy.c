#include "arguments.h"
#include "home.h"
#include "hub_flags.h"
#include "reach.h"
#include "show.h"
#include "taken.h"
#include "talk.h"

/* ---- the rules in force --------------------------------------------------------------------- */

/* What a rule is for, in a line: "server files, tool write_*, if destructive". */
static void put_value(struct buf *out, struct json v, const char *and)
{
    AUTO_ARENA struct arena a = { 0 };
    const char *between = "";

    if (!json_is(v, JSON_ARRAY)) {
        buf_str(out, show_printable(json_is(v, JSON_STRING) ? json_str(v, &a) : json_text(v), &a));
        return;
    }
    JSON_FOREACH(one, v) {
        buf_str(out, between);
        put_value(out, one, and);
        between = and;
    }
}

static void put_condition(struct buf *out, struct json c)
{
    static const char *const kinds[] = { "glob", "regex", "equals", "present" };

    buf_str(out, "argument ");
    put_value(out, json_get(c, "at"), "");
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (!json_is(json_get(c, kinds[i]), JSON_NONE)) {
            buf_printf(out, " %s ", kinds[i]);
            put_value(out, json_get(c, kinds[i]), "");
        }
}

static void put_what(struct buf *out, struct json rule)
{
    static const char *const plain[] = { "server", "tool",       "method", "caller",   "face",
                                         "mode",   "annotation", "when",   "answer_by" };
    const char *between = "";

    for (size_t i = 0; i < ARRAY_LEN(plain); i++) {
        struct json v = json_get(rule, plain[i]);

        if (json_is(v, JSON_NONE))
            continue;
        buf_printf(out, "%s%s ", between,
                   strcmp(plain[i], "answer_by") == 0 ? "answered by" : plain[i]);
        put_value(out, v, strcmp(plain[i], "annotation") == 0 ? " and " : " or ");
        between = ", ";
    }
    JSON_FOREACH(c, json_get(rule, "arguments")) {
        buf_str(out, between);
        put_condition(out, c);
        between = ", ";
    }
    if (!out->n)
        buf_str(out, "every call");
}

static enum show_color action_color(const char *action)
{
    return strcmp(action, "deny") == 0  ? SHOW_RED
           : strcmp(action, "ask") == 0 ? SHOW_YELLOW
                                        : SHOW_GREEN;
}

static void print_rules(struct json policy)
{
    AUTO_ARENA struct arena a = { 0 };
    struct show_table *t = show_table_new(4);
    size_t number = 0;

    JSON_FOREACH(rule, json_get(policy, "rules")) {
        AUTO_BUF struct buf what = { 0 };
        const char *action = show_member(rule, "action", &a);

        put_what(&what, rule);
        if (*show_member(rule, "reason", &a))
            buf_printf(&what, "  (%s)", show_member(rule, "reason", &a));
        show_row(t, action_color(action),
                 (const char *const[]){ action, arena_printf(&a, "%zu", ++number),
                                        show_member(rule, "name", &a), buf_cstr(&what) });
    }
    show_table_print(t);
    JSON_FOREACH(d, json_get(policy, "default")) {
        const char *action = arena_dup(&a, json_str(d, &a));

        printf("%s%s%s  every other call through %.*s\n", show_on(action_color(action)), action,
               show_off(), SPAN_ARG(json_key(d)));
    }
    if (!number)
        puts("No rules: every call is allowed, and those of agents are asked about. 'patchbay "
             "policy add' makes one.");
}

static int run_list(const struct cli *cli)
{
    AUTO(reach) struct reach *s = NULL;
    AUTO_JSON struct json_doc doc = { 0 };
    struct pb_result *result = NULL;
    struct pb_error err;
    int status = reach_open(&s, cli, &(struct reach_wants){ .no_servers = true });

    if (status != CLI_OK)
        return status;
    if (reach_request(s, "patchbay/policy", NULL, &result, &err) < 0 ||
        json_parse(&doc, span_of(pb_result_json(result, NULL)), NULL, &err) < 0) {
        status = reach_fail(&err);
    } else if (cli_option(cli, "json")) {
        AUTO_ARENA struct arena a = { 0 };

        show_json(arena_dup(&a, json_text(json_get(json_root(&doc), "policy"))));
    } else {
        print_rules(json_get(json_root(&doc), "policy"));
    }
    pb_result_free(result);
    return status;
}

/* ---- check ---------------------------------------------------------------------------------- */

/* The rule that an error is about: "rules[2].action: …". */
static struct json place_of(struct json policy, const char *message)
{
    struct json rules = json_get(policy, "rules");
    char *end;
    unsigned long i;

    if (strncmp(message, "rules[", 6) != 0 || !json_is(rules, JSON_ARRAY))
        return policy;
    i = strtoul(message + 6, &end, 10);
    return i < json_len(rules) ? json_item(rules, i) : policy;
}

static int check_text(const char *file, struct span text, size_t *rules, struct pb_error *err)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO(policy) struct policy *p = NULL;
    unsigned line, column;
    struct json v;
    int rc = json_parse(&doc, text, &(struct json_opts){ .unique_depth = JSON_ALL }, err);

    if (rc < 0)
        return fail_in(err, "%s", file);
    v = json_get(json_root(&doc), "policy");
    if (json_is(v, JSON_NONE))
        v = json_root(&doc);
    rc = policy_parse(&p, v, err);
    if (rc < 0) {
        json_position(text, (size_t)(json_text(place_of(v, err->msg)).p - text.p), &line, &column);
        return fail_in(err, "%s:%u", file, line);
    }
    *rules = policy_rules(p);
    return 0;
}

static int run_check(const struct cli *cli)
{
    AUTO_BUF struct buf text = { 0 }, out = { 0 };
    struct json_out o = json_out(&out);
    const char *file = cli->args[1];
    struct pb_error err;
    size_t rules = 0;

    if (arguments_read_file(file, &text, &err) < 0 ||
        check_text(file, buf_span(&text), &rules, &err) < 0)
        return cli_config_fail(&err);
    if (!cli_option(cli, "json")) {
        printf("%s is valid: %zu rule%s\n", file, rules, rules == 1 ? "" : "s");
        return CLI_OK;
    }
    json_begin_object(&o, NULL);
    json_put_str(&o, "file", file);
    json_put_bool(&o, "valid", true);
    json_put_uint(&o, "rules", rules);
    json_end(&o);
    show_json(buf_cstr(&out));
    return CLI_OK;
}

/* ---- add ------------------------------------------------------------------------------------ */

/* One word is a word, several are a list. */
static void put_words(struct json_out *o, const struct cli *cli, const char *name)
{
    const char *const *words = cli_option_list(cli, name);

    if (!words)
        return;
    if (!words[1]) {
        json_put_str(o, name, words[0]);
        return;
    }
    json_begin_array(o, name);
    for (; *words; words++)
        json_put_str(o, NULL, *words);
    json_end(o);
}

/* "/path=glob"; without "=" it only has to be there. */
static void put_arguments(struct json_out *o, const struct cli *cli)
{
    const char *const *args = cli_option_list(cli, "arg");

    if (!args)
        return;
    json_begin_array(o, "arguments");
    for (; *args; args++) {
        const char *eq = strchr(*args, '=');

        json_begin_object(o, NULL);
        json_put_span(o, "at", span_make(*args, eq ? (size_t)(eq - *args) : strlen(*args)));
        if (eq)
            json_put_str(o, "glob", eq + 1);
        else
            json_put_bool(o, "present", true);
        json_end(o);
    }
    json_end(o);
}

static void write_rule(struct buf *out, const struct cli *cli)
{
    static const char *const lists[] = { "server", "tool", "caller", "face", "mode", "annotation" };
    struct json_out o = json_out(out);

    json_begin_object(&o, NULL);
    json_put_str(&o, "action", cli->args[1]);
    json_put_str_opt(&o, "name", cli_option(cli, "name"));
    for (size_t i = 0; i < ARRAY_LEN(lists); i++)
        put_words(&o, cli, lists[i]);
    put_arguments(&o, cli);
    json_put_str_opt(&o, "reason", cli_option(cli, "reason"));
    json_end(&o);
}

/* The rules of the file alone: what stands in it is what is edited. */
static int load(const char *file, struct config **out, struct json_doc *doc, struct pb_error *err)
{
    const char *files[] = { file, NULL };
    struct config_request r = { .files = files, .env = config_no_env };
    AUTO(policy) struct policy *p = NULL;
    int rc = access(file, F_OK) < 0 ? 0 : config_load(out, &r, err);

    if (rc == 0 && *out)
        rc = cli_policy(*out, &p, err);
    if (rc == 0 && *out && (*out)->policy)
        rc = json_parse(doc, span_of((*out)->policy), NULL, err);
    return rc;
}

static struct json rules_in(const struct json_doc *doc)
{
    return doc->n ? json_get(json_root(doc), "rules") : (struct json){ 0 };
}

/* With the others: there may be too many. */
static int check_added(struct json rules, struct span rule, struct pb_error *err)
{
    AUTO_BUF struct buf text = { 0 };
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO(policy) struct policy *p = NULL;
    struct json_out o = json_out(&text);
    int rc;

    json_begin_object(&o, NULL);
    json_begin_array(&o, "rules");
    json_put_raw(&o, NULL, rule);
    JSON_FOREACH(r, rules)
        json_put_raw(&o, NULL, json_text(r));
    json_end(&o);
    json_end(&o);
    rc = json_parse(&doc, buf_span(&text), NULL, err);
    if (rc == 0)
        rc = policy_parse(&p, json_root(&doc), err);
    return rc;
}

static void print_changed(const struct cli *cli, struct span rule, size_t number, const char *file,
                          bool removed)
{
    AUTO_BUF struct buf out = { 0 };
    struct json_out o = json_out(&out);

    if (!cli_option(cli, "json")) {
        printf(removed ? "Removed rule %zu from %s\n" : "Added rule %zu to %s\n", number, file);
        return;
    }
    json_begin_object(&o, NULL);
    json_put_raw(&o, "rule", rule);
    json_put_uint(&o, "number", number);
    json_put_str(&o, "file", file);
    if (removed)
        json_put_bool(&o, "removed", true);
    json_end(&o);
    show_json(buf_cstr(&out));
}

static struct json rule_named(struct json rules, const char *name, size_t *number, size_t *n)
{
    struct json found = { 0 };
    size_t at = 0;

    *n = 0;
    JSON_FOREACH(r, rules) {
        at++;
        if (!json_str_is(json_get(r, "name"), name))
            continue;
        found = r;
        *number = at;
        ++*n;
    }
    return found;
}

static bool is_action(const char *word)
{
    for (unsigned i = 0; i < POLICY_ACTIONS; i++)
        if (strcmp(word, policy_action_name((enum policy_action)i)) == 0)
            return true;
    return false;
}

static int run_add(const struct cli *cli)
{
    AUTO_FREE char *file = home_file(cli);
    AUTO(config) struct config *config = NULL;
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_BUF struct buf rule = { 0 };
    const char *name = cli_option(cli, "name");
    bool first = cli_option(cli, "first") != NULL;
    struct pb_error err;
    size_t number, n = 0;

    if (!is_action(cli->args[1]))
        return cli_usage(cli->verb, "'%s' is none of ask, deny and allow", cli->args[1]);
    write_rule(&rule, cli);
    if (load(file, &config, &doc, &err) < 0)
        return cli_config_fail(&err);
    if (check_added(rules_in(&doc), buf_span(&rule), &err) < 0)
        return talk_fail(FAILURE_INVALID, "%s",
                         strncmp(err.msg, "rules[0].", 9) == 0 ? err.msg + 9 : err.msg);
    if (name)
        rule_named(rules_in(&doc), name, &number, &n);
    if (n)
        return talk_fail(FAILURE_INVALID, "there is a rule '%s' in %s already, number %zu", name,
                         file, number);
    number = first ? 1 : json_len(rules_in(&doc)) + 1;
    if (config_add_rule(file, buf_span(&rule), first, &err) < 0)
        return cli_config_fail(&err);
    print_changed(cli, buf_span(&rule), number, file, false);
    return taken_over(cli, file);
}

/* ---- rm ------------------------------------------------------------------------------------- */

static int find_rule(struct json rules, const char *which, const char *file, size_t *number,
                     struct pb_error *err)
{
    char *end;
    size_t n;

    rule_named(rules, which, number, &n);
    if (n > 1)
        return fail(err, PB_E_INVALID, "%zu rules in %s are called '%s': give the number", n, file,
                    which);
    if (n == 1)
        return 0;
    *number = strtoul(which, &end, 10);
    if (*end || !*number || *number > json_len(rules))
        return fail(err, PB_E_NOT_FOUND,
                    "there is no rule '%s' in %s; 'patchbay policy' shows them", which, file);
    return 0;
}

static int run_rm(const struct cli *cli)
{
    AUTO_FREE char *file = home_file(cli);
    AUTO(config) struct config *config = NULL;
    AUTO_JSON struct json_doc doc = { 0 };
    struct pb_error err;
    size_t number = 0;

    if (load(file, &config, &doc, &err) < 0 ||
        find_rule(rules_in(&doc), cli->args[1], file, &number, &err) < 0 ||
        config_remove_rule(file, number, json_text(json_item(rules_in(&doc), number - 1)), &err) <
            0)
        return cli_config_fail(&err);
    print_changed(cli, json_text(json_item(rules_in(&doc), number - 1)), number, file, true);
    return taken_over(cli, file);
}

/* ---- the verb ------------------------------------------------------------------------------- */

static int run_policy(struct cli *cli)
{
    static const struct {
        const char *name;
        int (*run)(const struct cli *cli);
        const char *wants;
    } deeds[] = {
        { "add", run_add, "give what the rule does: ask, deny or allow" },
        { "check", run_check, "give the file" },
        { "rm", run_rm, "give the rule's name or number" },
    };

    if (!cli->n_args)
        return run_list(cli);
    for (size_t i = 0; i < ARRAY_LEN(deeds); i++) {
        if (strcmp(cli->args[0], deeds[i].name) != 0)
            continue;
        if (cli->n_args != 2)
            return cli_usage(cli->verb, "%s", deeds[i].wants);
        return deeds[i].run(cli);
    }
    return cli_usage(cli->verb, "'%s' is none of add, check and rm", cli->args[0]);
}

const struct verb verb_policy = {
    .name = "policy",
    .usage = "[add|check|rm] [ask|deny|allow | FILE | RULE] [--server GLOB] [--tool GLOB] ...",
    .help = "Show the rules about calls, check, add or remove some",
    .text =
        "    patchbay policy                            the rules in force\n"
        "    patchbay policy add ask --tool 'write_*'   one more, in config.json\n"
        "    patchbay policy rm RULE                    by its name or number\n"
        "    patchbay policy check FILE                 is a policy, or a config's, valid?\n"
        "Of the rules the first that applies decides: 'allow', 'deny', or 'ask', so that the call\n"
        "waits until somebody answers. Everything that a rule says must hold for it to apply.\n"
        "Members of a rule in the file: action, name, server, tool, method, caller, face, mode,\n"
        "annotation, arguments, when, reason, answer_by, ask_s. 'patchbay explain' tells what\n"
        "would happen to a call.",
    .max = 2,
    .options =
        (const struct option_spec[]){
            { 0, "server", "GLOB", "servers by name", true },
            { 0, "tool", "GLOB", "tools by their own name", true },
            { 0, "caller", "GLOB", "what the client calls itself", true },
            { 0, "annotation", "ANNOTATION", "what a tool says of itself, or ! and that", true },
            { 0, "arg", "/PATH=GLOB", "a place of the arguments, by JSON pointer", true },
            { 0, "face", "FACE", "through what it is asked", true },
            { 0, "mode", "GLOB", "the mode that the caller uses", true },
            { 0, "name", "TEXT", "what the rule is called" },
            { 0, "reason", "TEXT", "what people are told" },
            { 0, "first", NULL, "before all other rules, not behind them" },
            { 0, "json", NULL, "print as JSON" },
            CLI_HUB_OPTIONS,
            { 0 },
        },
    .run = run_policy,
};
