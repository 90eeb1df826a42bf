#include "example.h"
#include "home.h"
#include "hub/spec/spec.h"
#include "hub/warden/warden.h"
#include "hub_flags.h"
#include "project.h"
#include "question.h"
#include "talk.h"

/* ---- what is in it --------------------------------------------------------------------------- */

/* Word by word, as it is started; nothing is masked: what is hidden cannot be judged. */
static void show_target(FILE *to, const struct spec *s)
{
    AUTO_BUF struct buf line = { 0 };

    if (s->transport == SPEC_STDIO) {
        example_word(&line, span_of(s->command));
        for (const char *const *word = s->args; *word; word++) {
            buf_byte(&line, ' ');
            example_word(&line, span_of(*word));
        }
    } else {
        buf_str(&line, s->url);
    }
    home_print_line(to, spec_transport_name(s->transport), buf_cstr(&line));
}

static void show_login(FILE *to, const struct spec *s)
{
    AUTO_BUF struct buf names = { 0 };

    if (s->auth == SPEC_AUTH_NONE)
        return;
    home_print_line(to, "login", spec_auth_name(s->auth));
    if (s->keyfile_path)
        home_print_line(to, "key file", s->keyfile_path);
    for (const struct spec_env_var *v = s->env_vars; v->name; v++)
        buf_printf(&names, "%s%s", names.n ? ", " : "", v->name);
    if (names.n)
        home_print_line(to, "keys", buf_cstr(&names));
}

/* Whole: a variable can make a program load another. Nothing of the person's own has been filled in
 * here that the file does not name. */
static void show_pairs(FILE *to, const char *label, const char *const *pairs)
{
    for (; *pairs; pairs++)
        home_print_line(to, label, *pairs);
}

static void show_server(FILE *to, const struct spec *s, const char *dir)
{
    home_print_word(to, "", s->name);
    fputs(s->enabled ? "\n" : " (disabled)\n", to);
    show_target(to, s);
    show_pairs(to, "env", s->env);
    show_pairs(to, "headers", s->headers);
    if (s->inherit_env)
        home_print_line(to, "inherits", *s->inherit_env ? s->inherit_env : "nothing");
    if (s->cwd && strcmp(s->cwd, dir) != 0)
        home_print_line(to, "directory", s->cwd);
    show_login(to, s);
}

void project_show(FILE *to, const struct project *p)
{
    AUTO_FREE char *dir = mem_dupn(p->path, (size_t)(strrchr(p->path, '/') - p->path));
    AUTO_BUF struct buf names = { 0 };
    struct map_slot *slot;
    size_t n = p->servers->specs.n;

    home_print_word(to, "", p->path);
    fprintf(to, "%s has %zu server%s%s\n",
            p->said == TRUST_OTHER ? " has changed since you were asked about it, and" : "", n,
            n == 1 ? "" : "s", n ? ":" : "");
    MAP_FOREACH(slot, &p->servers->specs)
        show_server(to, slot->value, dir);
    MAP_FOREACH(slot, &p->variables)
        buf_printf(&names, "%s%.*s", names.n ? ", " : "", (int)slot->key_n, slot->key);
    if (names.n) {
        home_print_word(to, "Variables of yours that are filled in: ", buf_cstr(&names));
        fputc('\n', to);
    }
}

/* ---- the question ---------------------------------------------------------------------------- */

void project_ask(struct project *p, int tty)
{
    AUTO_FREE char *line = NULL;
    struct pb_error err;
    bool yes;

    project_show(stderr, p);
    question_forget_typed(tty);
    line = question_line(tty, "Use these servers when you work here? [y/N] ", false);
    if (!line) {
        fputc('\n', stderr);
        return;
    }
    yes = line[0] == 'y' || line[0] == 'Y';
    p->said = yes ? TRUST_YES : TRUST_NO;
    if (trust_keep(p->path, p->sha256, yes, &err) < 0)
        talk_warn("your answer counts this time only: %s", err.msg);
}

/* ---- for a verb ------------------------------------------------------------------------------ */

static bool takes_projects(const struct cli *cli)
{
    const struct option_spec *o;

    for (int i = 0; (o = cli_option_row(cli->verb, i)); i++)
        if (strcmp(o->name, "no-project") == 0)
            return !cli->values[i] && !cli_names_config(cli);
    return false;
}

/* The first of the servers that the verb names; NULL: none of them, or it names none. */
static const char *named_server(const struct project *p, const struct project_about *about)
{
    const struct spec *s = NULL;

    for (const char *const *name = about->servers; !s && name && *name; name++)
        s = map_get(&p->servers->specs, span_of(*name));
    if (!s && about->item)
        s = config_spec_of(p->servers, about->item, NULL);
    return s ? s->name : NULL;
}

/* "server__tool" is what clients call it: one that is none of the project's is another's. */
static bool names_any(const struct project_about *about)
{
    return about->servers ||
           (about->item && (item_names_server(span_of(about->item)) || strstr(about->item, "__")));
}

static void tell_unread(const struct project *p)
{
    size_t n = p->servers->specs.n;

    talk_note("%s (%zu server%s) is not read: %s; 'patchbay trust' on a terminal shows it and asks",
              p->path, n, n == 1 ? "" : "s",
              p->said == TRUST_OTHER ? "it has changed since you were asked about it"
                                     : "you have not said that you trust it");
}

/* Asks or tells about one that is not trusted. */
static bool becomes_trusted(struct project *p, const struct cli *cli, const char *name)
{
    AUTO_CLOSE int tty = -1;

    if (p->said == TRUST_NO) {
        if (name)
            talk_note("'%s' is a server of %s, which you said no to; 'patchbay trust' asks again",
                      name, p->path);
        return false;
    }
    /* What serves has a client that must not wait, be it at a terminal. */
    if (!cli->verb->serves)
        tty = question_terminal();
    if (tty < 0)
        tell_unread(p);
    else
        project_ask(p, tty);
    return p->said == TRUST_YES;
}

struct project *project_for(const struct cli *cli, const struct project_about *about, bool *needed)
{
    AUTO(project) struct project *p = NULL;
    const char *name;
    struct pb_error err;

    *needed = false;
    if (!takes_projects(cli))
        return NULL;
    if (project_find(&p, ".", &err) < 0) {
        if (err.code != PB_E_NOT_FOUND)
            talk_warn("%s", err.msg);
        return NULL;
    }
    name = named_server(p, about);
    *needed = p->servers->specs.n && (name || !names_any(about));
    if (warden_is_inner()) {
        if (*needed)
            talk_note("%s is not read by a program that a server of Patchbay has started", p->path);
        *needed = false;
        return NULL;
    }
    if (p->said == TRUST_YES || (*needed && becomes_trusted(p, cli, name)))
        return TAKE(p);
    *needed = false;
    return NULL;
}

struct project *project_trusted(const struct cli *cli)
{
    AUTO(project) struct project *p = NULL;

    return takes_projects(cli) && project_find(&p, ".", NULL) == 0 && p->said == TRUST_YES ? TAKE(p)
                                                                                           : NULL;
}

void project_tell_hidden(const struct config *c, const char *only)
{
    struct map_slot *slot;

    MAP_FOREACH(slot, &c->hidden) {
        const struct spec *was = slot->value, *now = map_get(&c->specs, span_of(was->name));

        if (only && strcmp(only, was->name) != 0)
            continue;
        talk_note("'%s' is the server of %s:%u here; that of %s:%u is not used", was->name,
                  now->file, now->line, was->file, was->line);
    }
}
