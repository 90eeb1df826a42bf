#include "candidates.h"
#include "face/caller/caller.h"
#include "hub/config/config.h"
#include "hub/link/link.h"
#include "hub/spec/spec.h"
#include "project.h"
#include "talk.h"
#include "token.h"
#include <fcntl.h>
#include <sys/stat.h>

enum { CACHE_BYTES_MAX = 16777216, PLACES_MAX = 8, PLACE_WORDS_MAX = 8 };

struct completing {
    struct cli cli;      /* the words before */
    const char *word;    /* is being typed */
    struct config *conf; /* NULL: not read yet, or broken */
    struct project *project;
};

/* It is put on the command line as it is: a server must not have words there that the shell would
 * do something with. */
static bool is_plain(const char *value)
{
    for (const char *p = value; *p; p++)
        if (!((*p | 0x20) >= 'a' && (*p | 0x20) <= 'z') && !(*p >= '0' && *p <= '9') &&
            !strchr("-_./:=@%+,", *p))
            return false;
    return true;
}

static void print_one(const struct completing *c, const char *value, const char *about)
{
    AUTO_FREE char *text = mem_dup(about ? about : "");

    if (strncmp(value, c->word, strlen(c->word)) != 0 || !is_plain(value))
        return;
    text[strcspn(text, "\n")] = '\0';
    text_make_printable(text);
    printf("%s\t%s\n", value, text);
}

/* ---- what is configured --------------------------------------------------------------------- */

static bool read_config(struct completing *c)
{
    struct config_request r = cli_config_request(&c->cli);
    struct pb_error err;

    if (c->conf)
        return true;
    if (!c->project)
        c->project = project_trusted(&c->cli);
    r.project = c->project ? &c->project->source : NULL;
    if (config_load(&c->conf, &r, &err) < 0)
        c->conf = NULL;
    return c->conf != NULL;
}

static void each_spec(struct completing *c, void (*fn)(struct completing *c, const struct spec *s))
{
    struct map_slot *slot;

    if (!read_config(c))
        return;
    MAP_FOREACH(slot, &c->conf->specs)
        fn(c, slot->value);
}

static void print_server(struct completing *c, const struct spec *s)
{
    AUTO_BUF struct buf what = { 0 };

    spec_describe(&what, s);
    print_one(c, s->name, buf_cstr(&what));
}

static void servers(struct completing *c) { each_spec(c, print_server); }

static void modes(struct completing *c)
{
    if (!read_config(c))
        return;
    for (size_t i = 0; i < c->conf->modes->n; i++)
        print_one(c, c->conf->modes->modes[i].id, c->conf->modes->modes[i].name);
}

/* ---- what servers listed when they last ran -------------------------------------------------- */

static bool read_cache(struct completing *c, const struct spec *s, struct buf *text,
                       struct json_doc *doc)
{
    struct config_request r = cli_config_request(&c->cli);
    AUTO_FREE char *dir = config_cache_dir(&r);
    char digest[SHA256_BYTES * 2 + 1];
    AUTO_BUF struct buf path = { 0 };
    AUTO_CLOSE int fd = -1;
    struct stat st;
    ssize_t n;

    spec_fingerprint(s, digest);
    buf_printf(&path, "%s/%s.json", dir, digest);
    fd = open(buf_cstr(&path), O_RDONLY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) < 0 || st.st_size > CACHE_BYTES_MAX)
        return false;
    n = read(fd, buf_reserve(text, (size_t)st.st_size), (size_t)st.st_size);
    text->n = n > 0 ? (size_t)n : 0;
    return json_parse(doc, buf_span(text), NULL, NULL) == 0;
}

/* Is the word the beginning of one of this server's items, or could it become one? */
static bool may_be_of(const struct completing *c, const struct spec *s)
{
    size_t n = strlen(s->name);

    return strncmp(c->word, s->name, strlen(c->word) < n ? strlen(c->word) : n) == 0;
}

/* Written with the separator that was typed; a dot when none was. */
static void print_items(struct completing *c, const struct spec *s, enum list_kind kind)
{
    AUTO_BUF struct buf text = { 0 };
    AUTO_JSON struct json_doc doc = { 0 };
    size_t n = strlen(s->name);
    const char *sep = "/";

    if (!may_be_of(c, s) || !s->enabled || !read_cache(c, s, &text, &doc))
        return;
    if (strlen(c->word) <= n || c->word[n] == '.')
        sep = ".";
    else if (c->word[n] == ':')
        sep = ":";
    else if (c->word[n] == '_')
        sep = "__";
    JSON_FOREACH(item, json_get(json_root(&doc), list_kind_name(kind))) {
        AUTO_ARENA struct arena a = { 0 };
        struct span name = json_str(json_get(item, "name"), &a);

        print_one(c, arena_printf(&a, "%s%s%.*s", s->name, sep, SPAN_ARG(name)),
                  arena_dup(&a, json_str(json_get(item, "description"), &a)));
    }
}

static void print_tools(struct completing *c, const struct spec *s)
{
    print_items(c, s, LIST_TOOLS);
}

static void print_prompts(struct completing *c, const struct spec *s)
{
    print_items(c, s, LIST_PROMPTS);
}

/* Of a server that the command line itself names nothing is known. */
static void tools(struct completing *c)
{
    if (!cli_has_server(&c->cli))
        each_spec(c, print_tools);
}

static void prompts(struct completing *c)
{
    if (!cli_has_server(&c->cli))
        each_spec(c, print_prompts);
}

static void print_uris(struct completing *c, const struct spec *s)
{
    AUTO_BUF struct buf text = { 0 };
    AUTO_JSON struct json_doc doc = { 0 };

    if ((c->cli.n_args && strcmp(c->cli.args[0], s->name) != 0) || !read_cache(c, s, &text, &doc))
        return;
    JSON_FOREACH(item, json_get(json_root(&doc), list_kind_name(LIST_RESOURCES))) {
        AUTO_ARENA struct arena a = { 0 };

        print_one(c, arena_dup(&a, json_str(json_get(item, "uri"), &a)),
                  arena_dup(&a, json_str(json_get(item, "name"), &a)));
    }
}

static void uris(struct completing *c) { each_spec(c, print_uris); }

/* "name=" of what the tool or prompt takes. */
static void print_schema(struct completing *c, struct json tool)
{
    JSON_FOREACH(p, json_get(json_get(tool, "inputSchema"), "properties")) {
        AUTO_ARENA struct arena a = { 0 };

        print_one(c, arena_printf(&a, "%.*s=", SPAN_ARG(json_key_str(p, &a))),
                  arena_dup(&a, json_str(json_get(p, "description"), &a)));
    }
    JSON_FOREACH(p, json_get(tool, "arguments")) {
        AUTO_ARENA struct arena a = { 0 };

        print_one(c, arena_printf(&a, "%.*s=", SPAN_ARG(json_str(json_get(p, "name"), &a))),
                  arena_dup(&a, json_str(json_get(p, "description"), &a)));
    }
}

static void arguments(struct completing *c)
{
    enum list_kind kind = c->cli.verb == &verb_prompt ? LIST_PROMPTS : LIST_TOOLS;
    AUTO_BUF struct buf text = { 0 };
    AUTO_JSON struct json_doc doc = { 0 };
    const struct spec *s = NULL;
    struct span own;

    if (!c->cli.n_args || cli_has_server(&c->cli))
        return;
    if (read_config(c))
        s = config_spec_of(c->conf, c->cli.args[0], &own);
    if (!s || !read_cache(c, s, &text, &doc))
        return;
    JSON_FOREACH(i, json_get(json_root(&doc), list_kind_name(kind))) {
        AUTO_ARENA struct arena a = { 0 };

        if (span_eq(json_str(json_get(i, "name"), &a), own))
            print_schema(c, i);
    }
}

/* ---- what is in the table -------------------------------------------------------------------- */

static void verbs(struct completing *c)
{
    for (const struct verb_group *g = cli_groups; g->title; g++)
        for (const struct verb *const *v = g->verbs; *v; v++)
            print_one(c, (*v)->name, (*v)->help);
}

static void options(struct completing *c)
{
    const struct option_spec *o;

    for (int i = 0; (o = cli_option_row(c->cli.verb, i)); i++) {
        AUTO_ARENA struct arena a = { 0 };

        print_one(c, arena_printf(&a, "--%s", o->name), o->help);
    }
    print_one(c, "--help", "tell more about this verb");
}

/* Words that stand for themselves: "bash|zsh|fish". */
static void choice(const struct completing *c, struct span words)
{
    while (words.n) {
        const char *bar = memchr(words.p, '|', words.n);
        size_t n = bar ? (size_t)(bar - words.p) : words.n;
        AUTO_FREE char *one = mem_dupn(words.p, n);

        print_one(c, one, NULL);
        words = span_from(words, bar ? n + 1 : n);
    }
}

static void tokens(struct completing *c)
{
    AUTO_FREE char *path = token_list_path(&c->cli);
    AUTO(tokens) struct tokens *t = NULL;
    struct pb_error err;

    if (!c->cli.n_args || strcmp(c->cli.args[0], "rm") != 0 || token_list_read(path, &t, &err) < 0)
        return;
    for (size_t i = 0; i < t->n; i++)
        print_one(c, t->v[i].name, token_may_name(t->v[i].may));
}

/* What the capitals in usages and options stand for. */
/* clang-format off */
static const struct word_kind {
    const char *word;
    void (*print)(struct completing *c);
    const char *choice;
} kinds[] = {
    { "ANNOTATION",    NULL,      "read_only|destructive|idempotent|open_world" },
    { "ERA",           NULL,      "legacy|modern" },
    { "FACE",          NULL,      "mcp_server|rest|cli|agent" },
    { "FORMAT",        NULL,      "jsonl|har|otlp" },
    { "GROUPS",        NULL,      "catalog|external|builtin|breakpoint" },
    { "KIND",          NULL,      "stdio|sse|http" },
    { "MODE",          modes,     NULL },
    { "NAME",          servers,   NULL },
    { "SCOPE",         NULL,      "user|local|project" },
    { "SERVER",        servers,   NULL },
    { "SERVER.PROMPT", prompts,   NULL },
    { "SERVER.TOOL",   tools,     NULL },
    { "SOURCE",        NULL,      "mcp_client|app|replay" },
    { "STATUS",        NULL,      "success|error|failed|timeout|cancelled|denied|expired|input_required|task" },
    { "TOKEN",         tokens,    NULL },
    { "URI",           uris,      NULL },
    { "VERB",          verbs,     NULL },
    { "WHAT",          NULL,      "mcp|read|all" },
    { "add|auto|rm",   NULL,      "add|auto|rm" },
    { "add|check|rm",  NULL,      "add|check|rm" },
    { "approve|grant|deny", NULL, "approve|grant|deny" },
    { "ask|deny|allow", NULL,     "ask|deny|allow" },
    { "add|list|rm",   NULL,      "add|list|rm" },
    { "on|off",        NULL,      "on|off" },
    { "show|export|rm", NULL,     "show|export|rm" },
    { "rm",            NULL,      "rm" },
    { "bash|zsh|fish", NULL,      "bash|zsh|fish" },
    { "install|uninstall|status", NULL, "install|uninstall|status" },
    { "k=text",        arguments, NULL },
    { "k=value",       arguments, NULL },
};
/* clang-format on */

static void print_kind(struct completing *c, struct span word)
{
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        if (!span_is(word, kinds[i].word))
            continue;
        if (kinds[i].print)
            kinds[i].print(c);
        else
            choice(c, span_of(kinds[i].choice));
    }
}

/* ---- which of it ----------------------------------------------------------------------------- */

/* A usage is a row of places, "[A] B | C [d | e]... [--option VALUE]": each holds one of several
 * words, those in brackets may be left out, those with dots may come again and again. */
struct usage_place {
    struct span words[PLACE_WORDS_MAX];
    size_t n;
    bool optional, again;
};

static struct span next_word(struct span *usage)
{
    struct span word = span_trim(*usage);
    size_t n = 0;

    while (n < word.n && word.p[n] != ' ')
        n++;
    *usage = span_from(word, n);
    return span_make(word.p, n);
}

/* Takes brackets and dots off a word. Returns whether the place's brackets are closed by it. */
static bool strip(struct span *w, struct usage_place *p)
{
    bool closed = !p->optional;

    if (w->n && w->p[0] == '[')
        *w = span_from(*w, 1);
    if (w->n >= 3 && memcmp(span_end(*w) - 3, "...", 3) == 0) {
        p->again = true;
        w->n -= 3;
    }
    if (w->n && w->p[w->n - 1] == ']') {
        closed = true;
        w->n--;
    }
    return closed;
}

static int read_places(const char *text, struct usage_place places[static PLACES_MAX])
{
    struct span usage = span_of(text);
    bool closed = true, joined = false;
    int n = 0;

    for (struct span w = next_word(&usage); w.n; w = next_word(&usage)) {
        if (span_is(w, "|")) {
            joined = true;
            continue;
        }
        if (closed && !joined) {
            if (n == PLACES_MAX || span_starts(w, "[-"))
                break; /* options are the end of what has places */
            places[n++] = (struct usage_place){ .optional = w.p[0] == '[' };
        }
        joined = false;
        closed = strip(&w, &places[n - 1]);
        if (places[n - 1].n < PLACE_WORDS_MAX)
            places[n - 1].words[places[n - 1].n++] = w;
    }
    return n;
}

/* What the argument number `at` can be. */
static void print_place(struct completing *c, int at)
{
    struct usage_place places[PLACES_MAX];
    int n = read_places(c->cli.verb->usage, places), first = 0;

    for (int i = 0; i < n; i++) {
        bool here = at >= first && (at <= i || places[i].again);

        for (size_t k = 0; here && k < places[i].n; k++)
            print_kind(c, places[i].words[k]);
        first += !places[i].optional;
    }
}

static void complete_value(struct completing *c, const struct option_spec *o)
{
    /* --name of "add" is a new one */
    if (strcmp(o->arg, "NAME") != 0 || strcmp(o->name, "server") == 0)
        print_kind(c, span_of(o->arg));
}

static void complete(struct completing *c, char **before)
{
    const struct option_spec *o = NULL;
    bool help = false;
    int n = 0;

    while (before[n])
        n++;
    o = n ? cli_option_word(c->cli.verb, before[n - 1]) : NULL;
    if (o && o->arg && !strchr(before[n - 1], '=')) {
        before[n - 1] = NULL;
        n--;
    } else {
        o = NULL;
    }
    c->cli.args = arena_alloc(&c->cli.arena, ((size_t)n + 1) * sizeof *c->cli.args);
    for (int i = 0; i < n; i++)
        if (strcmp(before[i], "--") == 0)
            return; /* the rest is another program's */
    c->cli.lenient = true;
    if (cli_parse(&c->cli, before, &help) != CLI_OK)
        return;
    if (o)
        complete_value(c, o);
    else if (c->word[0] == '-')
        options(c);
    else if (!c->cli.verb->ends_options)
        print_place(c, c->cli.n_args);
}

void candidates_print(char **words)
{
    struct completing c = { 0 };
    int n = 0;

    talk_set(false, true); /* a line in the middle of what is typed helps nobody */
    while (words[n])
        n++;
    c.word = words[n - 1];
    words[n - 1] = NULL;
    if (n == 1) {
        verbs(&c);
        return;
    }
    c.cli.verb = cli_find(words[0]);
    if (c.cli.verb)
        complete(&c, words + 1);
    config_free(c.conf);
    project_free(c.project);
    arena_done(&c.cli.arena);
}
