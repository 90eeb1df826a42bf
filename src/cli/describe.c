#include "describe.h"
#include "example.h"
#include "remembered.h"
#include "show.h"
#include "signature.h"

enum { INDENT = 2, INDENT_MORE = 6, DESCRIBE_DEPTH = 4, DESCRIBE_KEY_MAX = 200 };

static char *text_of(struct json string, struct arena *a)
{
    return arena_dup(a, json_str(string, a));
}

static void heading(const char *text)
{
    printf("\n%s%s%s\n", show_on(SHOW_BOLD), text, show_off());
}

/* ---- what it is ----------------------------------------------------------------------------- */

/* Older servers write the title among the annotations. */
static struct json title_of(struct json item)
{
    struct json title = json_get(item, "title");

    return json_is(title, JSON_STRING) ? title : json_get(json_get(item, "annotations"), "title");
}

static void print_head(const char *name, struct json item, const char *signature)
{
    AUTO_ARENA struct arena a = { 0 };
    char *title = show_printable(json_str(title_of(item), &a), &a);
    char *about = text_of(json_get(item, "description"), &a);

    printf("%s%s%s%s%s\n", show_on(SHOW_BOLD), show_printable(span_of(name), &a), show_off(),
           *title ? " - " : "", title);
    show_wrapped(signature, INDENT);
    if (!*about)
        return;
    putchar('\n');
    show_wrapped(about, INDENT);
}

/* What the server claims about what the tool does; only what it says. */
static void print_hints(struct json hints)
{
    /* clang-format off */
    static const struct {
        const char *key, *yes, *no;
    } rows[] = {
        { "readOnlyHint",    "it only reads",                       "it may change things" },
        { "destructiveHint", "it may delete or overwrite things",   "it deletes and overwrites nothing" },
        { "idempotentHint",  "the same call again changes nothing more", "the same call again may change more" },
        { "openWorldHint",   "it reaches out to other systems",     "it stays within its own system" },
    };
    /* clang-format on */
    AUTO_BUF struct buf text = { 0 };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        struct json hint = json_get(hints, rows[i].key);

        if (json_is(hint, JSON_TRUE) || json_is(hint, JSON_FALSE))
            buf_printf(&text, "%s%s", text.n ? "; " : "The server says: ",
                       json_is(hint, JSON_TRUE) ? rows[i].yes : rows[i].no);
    }
    if (!text.n)
        return;
    putchar('\n');
    show_wrapped(buf_cstr(&text), INDENT);
}

static void print_outward(struct json entry)
{
    AUTO_ARENA struct arena a = { 0 };
    const char *wire = show_member(entry, "wire", &a);

    if (*wire)
        printf("\nMCP clients see it as %s%s%s.\n", show_on(SHOW_BOLD), wire, show_off());
}

/* ---- what it takes -------------------------------------------------------------------------- */

/* More than the signature names. */
static void print_choices(struct json values)
{
    AUTO_BUF struct buf text = { 0 };
    size_t n = 0;

    JSON_FOREACH(v, values)
        buf_printf(&text, "%s%.*s", n++ ? ", " : "one of: ", SPAN_ARG(json_text(v)));
    if (n > SIGNATURE_CHOICES)
        show_wrapped(buf_cstr(&text), INDENT_MORE);
}

struct describing {
    struct wanted_from from;
    struct json place;
    struct span before; /* "filter." */
    int depth;
    bool any; /* is there one? */
};

static void print_inside(const struct describing *d, struct span key, struct json place);

static void print_parameter(void *ctx, struct span key, struct json place)
{
    struct describing *d = ctx;
    AUTO_ARENA struct arena a = { 0 };
    AUTO_BUF struct buf line = { 0 };
    struct json about = wanted_word(d->from, place, "description");
    struct json value = wanted_word(d->from, place, "default");
    struct json values = wanted_word(d->from, place, "enum");
    char *shown = arena_printf(&a, "%.*s%.*s", SPAN_ARG(d->before), SPAN_ARG(key));

    if (wanted_is_over(d->from))
        return;
    if (!d->any && !d->depth)
        heading("Arguments:");
    d->any = true;
    text_make_printable(shown);
    printf("%*s%s%s%s\n", INDENT, "", show_on(SHOW_BOLD), shown, show_off());
    signature_type(&line, d->from, place);
    buf_str(&line, wanted_requires(d->from, d->place, key) ? ", required" : "");
    signature_bounds(&line, d->from, place);
    if (!json_is(value, JSON_NONE))
        buf_printf(&line, ", default %.*s", SPAN_ARG(json_text(value)));
    show_wrapped(buf_cstr(&line), INDENT_MORE);
    print_choices(values);
    if (json_is(about, JSON_STRING))
        show_wrapped(text_of(about, &a), INDENT_MORE);
    wanted_told(d->from, line.n + json_text(values).n + json_text(about).n);
    print_inside(d, span_of(shown), place);
}

/* The members of an object as they are written on a command line. */
static void print_inside(const struct describing *d, struct span key, struct json place)
{
    AUTO_ARENA struct arena a = { 0 };
    struct describing in = { .from = d->from, .place = place, .depth = d->depth + 1 };

    if (in.depth > DESCRIBE_DEPTH || key.n > DESCRIBE_KEY_MAX ||
        !wanted_takes(d->from, place, WANTED_OBJECT))
        return;
    in.before = span_of(arena_printf(&a, "%.*s.", SPAN_ARG(key)));
    wanted_members(in.from, in.place, print_parameter, &in, &a);
}

static void print_parameters(const struct definition *d, int *left)
{
    AUTO_ARENA struct arena a = { 0 };
    struct describing all = { .from = { d->schema, left }, .place = d->input };

    wanted_members(all.from, d->input, print_parameter, &all, &a);
    if (!wanted_is_over(all.from))
        return;
    if (!all.any)
        heading("Arguments:");
    printf("%*s…\n", INDENT, "");
}

/* ---- how it is called ----------------------------------------------------------------------- */

/* The server, when it is one of the command line. */
static void add_server(struct buf *out, const struct cli *cli)
{
    if (cli_option(cli, "url")) {
        buf_str(out, " --url ");
        example_word(out, span_of(cli_option(cli, "url")));
    }
    if (cli->command)
        buf_str(out, " --");
    for (char **word = cli->command; word && *word; word++) {
        buf_byte(out, ' ');
        example_word(out, span_of(*word));
    }
}

static void print_example(const struct cli *cli, const struct definition *d,
                          struct example_call *call)
{
    AUTO_BUF struct buf example = { 0 };
    AUTO_BUF struct buf after = { 0 };

    add_server(&after, cli);
    call->after = buf_cstr(&after);
    if (d->schema && example_write(&example, d, call)) {
        heading("Example:");
        printf("%*s%s\n", INDENT, "", buf_cstr(&example)); /* in one piece: it is to be pasted */
    }
}

/* "server.tool", as the verbs take it. */
static const char *dotted(const struct definition *d, struct arena *a)
{
    const char *server = show_member(d->entry, "server", a);
    const char *name = show_member(d->item, "name", a);

    return *server ? arena_printf(a, "%s.%s", server, name) : name;
}

/* Remembered, unless --refresh is among the options; which is told. */
static int find_item(struct definition *d, struct reach **s, const struct cli *cli,
                     const char *kind, const char *item)
{
    AUTO_JSON struct json_doc one = { 0 };
    AUTO_BUF struct buf list = { 0 };
    int status = reach_open(s, cli, &(struct reach_wants){ .item = item });

    if (status == CLI_OK)
        status = cli_option(cli, "refresh") ? definition_refresh(d, *s, kind, item)
                                            : definition_find(d, *s, kind, item);
    if (status != CLI_OK || !definition_is_old(d))
        return status;
    buf_printf(&list, "[%.*s]", SPAN_ARG(json_text(d->entry)));
    if (json_parse(&one, buf_span(&list), &(struct json_opts){ .keep_depth = 2 }, NULL) == 0)
        remembered_tell(json_root(&one));
    return CLI_OK;
}

/* ---- tools ---------------------------------------------------------------------------------- */

static int print_tool(const struct cli *cli, const struct definition *d)
{
    AUTO_ARENA struct arena a = { 0 };
    AUTO_BUF struct buf signature = { 0 };
    const char *name = dotted(d, &a);
    int left = TELL_STEPS_MAX;

    if (cli_option(cli, "json")) {
        show_json(arena_dup(&a, json_text(d->item)));
        return CLI_OK;
    }
    signature_write(&signature, show_member(d->item, "name", &a),
                    (struct wanted_from){ d->schema, &left }, d->input);
    print_head(name, d->item, buf_cstr(&signature));
    print_hints(json_get(d->item, "annotations"));
    print_parameters(d, &left);
    print_example(cli, d, &(struct example_call){ .tool = name, .left = &left });
    print_outward(d->entry);
    return CLI_OK;
}

/* One of a server that is named here and now; not CLI_OK has been told. */
static int ask_item(struct definition *d, const struct cli *cli, const char *list, const char *item)
{
    struct pb_client *client = NULL;
    struct pb_error err;
    int rc = cli_connect(cli, &client, &err);

    if (rc == 0)
        rc = definition_ask(d, client, list, item, &err);
    if (rc == 0 && json_is(d->item, JSON_NONE))
        rc = fail(&err, PB_E_NOT_FOUND, "the server lists no %.*s '%s'", (int)strlen(list) - 1,
                  list, item);
    pb_client_free(client);
    return rc < 0 ? cli_fail(&err) : CLI_OK;
}

int describe_tool(const struct cli *cli, const char *item)
{
    AUTO(reach) struct reach *s = NULL;
    AUTO_DEFINITION struct definition d = { 0 };
    int status = cli_has_server(cli) ? ask_item(&d, cli, "tools", item)
                                     : find_item(&d, &s, cli, "tool", item);

    return status == CLI_OK ? print_tool(cli, &d) : status;
}

/* ---- prompts -------------------------------------------------------------------------------- */

void describe_arguments(struct buf *out, struct json prompt)
{
    AUTO_ARENA struct arena a = { 0 };
    AUTO_JSON struct json_doc doc = { 0 };
    size_t n = 0;

    /* in a list of prompts this is too deep to be taped */
    if (json_parse(&doc, json_text(json_get(prompt, "arguments")), NULL, NULL) < 0)
        return;
    JSON_FOREACH(arg, json_root(&doc))
        buf_printf(out, "%s%s%s", n++ ? ", " : "(", show_member(arg, "name", &a),
                   json_bool(json_get(arg, "required"), false) ? "" : "?");
    buf_str(out, n ? ")" : "");
}

static void print_prompt_arguments(struct json prompt)
{
    AUTO_ARENA struct arena a = { 0 };

    if (json_len(json_get(prompt, "arguments")))
        heading("Arguments:");
    JSON_FOREACH(arg, json_get(prompt, "arguments")) {
        char *about = text_of(json_get(arg, "description"), &a);

        printf("%*s%s%s%s%s\n", INDENT, "", show_on(SHOW_BOLD), show_member(arg, "name", &a),
               show_off(), json_bool(json_get(arg, "required"), false) ? ", required" : "");
        if (*about)
            show_wrapped(about, INDENT_MORE);
    }
}

static void print_prompt_example(struct json prompt, const char *name)
{
    AUTO_ARENA struct arena a = { 0 };
    AUTO_BUF struct buf line = { 0 };

    buf_str(&line, "patchbay prompt ");
    example_word(&line, span_of(name));
    JSON_FOREACH(arg, json_get(prompt, "arguments"))
        if (json_bool(json_get(arg, "required"), false)) {
            buf_byte(&line, ' ');
            example_word(&line, span_of(arena_printf(&a, "%s=text", show_member(arg, "name", &a))));
        }
    heading("Example:");
    printf("%*s%s\n", INDENT, "", buf_cstr(&line));
}

static void print_prompt(const struct definition *d)
{
    AUTO_ARENA struct arena a = { 0 };
    AUTO_BUF struct buf signature = { 0 };
    const char *name = dotted(d, &a);

    buf_str(&signature, show_member(d->item, "name", &a));
    describe_arguments(&signature, d->item);
    print_head(name, d->item, buf_cstr(&signature));
    print_prompt_arguments(d->item);
    print_prompt_example(d->item, name);
    print_outward(d->entry);
}

int describe_prompt(const struct cli *cli, const char *item)
{
    AUTO(reach) struct reach *s = NULL;
    AUTO_DEFINITION struct definition d = { 0 };
    AUTO_ARENA struct arena a = { 0 };
    int status = cli_has_server(cli) ? ask_item(&d, cli, "prompts", item)
                                     : find_item(&d, &s, cli, "prompt", item);

    if (status == CLI_OK && cli_option(cli, "json"))
        show_json(arena_dup(&a, json_text(d.item)));
    else if (status == CLI_OK)
        print_prompt(&d);
    return status;
}
