/* question_form.c - a form, field by field: what is wanted, what can be chosen and what it will be
 * if nothing is typed. */
#include "arguments.h"
#include "question.h"
#include "show.h"
#include "signature.h"
#include <inttypes.h>

struct field {
    struct wanted_from from;
    struct span key;
    struct json place, choices, names, value; /* `value`: the default */
    bool required, many, secret;
};

/* A string as it is read, anything else as JSON. */
static char *shown_value(struct json v, struct arena *a)
{
    return show_printable(json_is(v, JSON_STRING) ? json_str(v, a) : json_text(v), a);
}

/* ---- what is wanted ------------------------------------------------------------------------- */

static struct json choice_value(struct json choice)
{
    return json_is(choice, JSON_OBJECT) ? json_get(choice, "const") : choice;
}

static struct json choice_title(const struct field *f, struct json choice, size_t i)
{
    return json_is(choice, JSON_OBJECT) ? json_get(choice, "title") : json_item(f->names, i);
}

static void print_choices(const struct field *f, struct arena *a)
{
    size_t i = 0;

    JSON_FOREACH(c, f->choices) {
        struct json title = choice_title(f, c, i);

        fprintf(stderr, "    %zu) %s%s%s\n", ++i, shown_value(choice_value(c), a),
                json_is(title, JSON_STRING) ? " - " : "",
                json_is(title, JSON_STRING) ? shown_value(title, a) : "");
    }
}

static void print_field(const struct field *f, struct arena *a)
{
    struct json title = wanted_word(f->from, f->place, "title");
    struct json about = wanted_word(f->from, f->place, "description");
    AUTO_BUF struct buf line = { 0 };
    int left = TELL_STEPS_MAX;
    struct wanted_from from = { f->from.schema, &left };

    if (!json_is(f->choices, JSON_NONE))
        buf_str(&line, f->many ? "any of these, by number or name, with commas between"
                               : "one of these, by number or name");
    else if (f->many)
        buf_str(&line, "a list, with commas between");
    else
        signature_type(&line, from, f->place);
    if (wanted_takes(f->from, f->place, WANTED_BOOLEAN))
        buf_str(&line, ", yes or no");
    signature_bounds(&line, from, f->place);
    buf_str(&line, f->required ? ", required" : "");
    fprintf(stderr, "  %s", show_printable(f->key, a));
    if (json_is(title, JSON_STRING))
        fprintf(stderr, " (%s)", shown_value(title, a));
    fprintf(stderr, ": %s%s%s\n", show_printable(buf_span(&line), a),
            json_is(about, JSON_STRING) ? " - " : "",
            json_is(about, JSON_STRING) ? shown_value(about, a) : "");
    print_choices(f, a);
}

static char *prompt_of(const struct field *f, struct arena *a)
{
    if (json_is(f->value, JSON_NONE))
        return arena_printf(a, "  %s> ", show_printable(f->key, a));
    return arena_printf(a, "  %s [%s]> ", show_printable(f->key, a),
                        f->secret ? "***" : shown_value(f->value, a));
}

/* ---- what was typed ------------------------------------------------------------------------- */

/* A choice by its value, its title or its number, in this order: a value may be a number, too. */
static struct json choice_of(const struct field *f, struct span typed, struct arena *a)
{
    char *text = arena_dup(a, typed), *end;
    uintmax_t number = strtoumax(text, &end, 10);
    size_t i = 0;

    JSON_FOREACH(c, f->choices)
        if (json_is(choice_value(c), JSON_STRING) ? json_str_is_span(choice_value(c), typed)
                                                  : span_eq(json_text(choice_value(c)), typed))
            return choice_value(c);
    JSON_FOREACH(c, f->choices) {
        struct json title = choice_title(f, c, i++);

        if (json_is(title, JSON_STRING) && span_is_nocase(json_str(title, a), text))
            return choice_value(c);
    }
    if (*end || !typed.n || number < 1 || number > json_len(f->choices))
        return (struct json){ 0 };
    return choice_value(json_item(f->choices, (size_t)number - 1));
}

static void write_one(const struct field *f, struct json place, struct span typed, struct buf *out,
                      struct arena *a)
{
    /* clang-format off */
    static const struct {
        const char *word, *value;
    } words[] = { { "y", "true" }, { "yes", "true" }, { "n", "false" }, { "no", "false" } };
    /* clang-format on */
    struct json chosen = choice_of(f, typed, a);

    if (!json_is(chosen, JSON_NONE)) {
        buf_add_span(out, json_text(chosen));
        return;
    }
    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (span_is_nocase(typed, words[i].word) && wanted_takes(f->from, place, WANTED_BOOLEAN))
            typed = span_of(words[i].value);
    arguments_fit(f->from.schema, place, typed, out);
}

static void write_several(const struct field *f, struct span typed, struct buf *out,
                          struct arena *a)
{
    struct json_out o = json_out(out);
    size_t i = 0;

    json_begin_array(&o, NULL);
    while (typed.n) {
        AUTO_BUF struct buf item = { 0 };
        const char *comma = memchr(typed.p, ',', typed.n);
        size_t n = comma ? (size_t)(comma - typed.p) : typed.n;

        write_one(f, wanted_item(f->from, f->place, i++), span_trim(span_make(typed.p, n)), &item,
                  a);
        json_put_raw(&o, NULL, buf_span(&item));
        typed = span_from(typed, comma ? n + 1 : n);
    }
    json_end(&o);
}

static void write_typed(const struct field *f, const char *line, struct buf *out, struct arena *a)
{
    AUTO_JSON struct json_doc doc = { 0 };

    if (!f->many)
        write_one(f, f->place, span_of(line), out, a);
    else if (json_parse(&doc, span_of(line), NULL, NULL) == 0 &&
             json_is(json_root(&doc), JSON_ARRAY))
        buf_str(out, line);
    else
        write_several(f, span_of(line), out, a);
}

/* ---- is it what is wanted? ------------------------------------------------------------------ */

/* What the schema only mentions. */
static int check_format(const struct field *f, struct json value, struct pb_error *err)
{
    /* clang-format off */
    static const struct {
        const char *format, *schema, *wanted;
    } rows[] = {
        { "date",      "{\"pattern\":\"^\\\\d{4}-\\\\d{2}-\\\\d{2}$\"}", "a date such as 2026-01-31" },
        { "date-time", "{\"pattern\":\"^\\\\d{4}-\\\\d{2}-\\\\d{2}T\\\\d{2}:\\\\d{2}:\\\\d{2}(\\\\.\\\\d+)?(Z|[+-]\\\\d{2}:\\\\d{2})$\"}",
                       "a time such as 2026-01-31T12:00:00Z" },
        { "email",     "{\"pattern\":\"^[^@\\\\s]+@[^@\\\\s]+$\"}",      "an address such as somebody@example.org" },
        { "uri",       "{\"pattern\":\"^[A-Za-z][A-Za-z0-9+.-]*:\\\\S+$\"}", "an address such as https://example.org/" },
    };
    /* clang-format on */
    struct json format = wanted_word(f->from, f->place, "format");

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO(schema) struct schema *s = NULL;

        if (json_str_is(format, rows[i].format) &&
            schema_compile(&s, span_of(rows[i].schema), NULL) == 0 &&
            schema_check(s, value, NULL) < 0)
            return fail(err, PB_E_INVALID, "expected %s", rows[i].wanted);
    }
    return 0;
}

static int check_typed(const struct field *f, struct span json, struct pb_error *err)
{
    AUTO_JSON struct json_doc doc = { 0 };
    int rc = json_parse(&doc, json, NULL, err);

    if (rc == 0 && f->from.schema)
        rc = schema_check_at(f->from.schema, f->place, json_root(&doc), err);
    if (rc == -(int)PB_E_LIMIT) /* for the server to check */
        return 0;
    return rc < 0 ? rc : check_format(f, json_root(&doc), err);
}

static void tell(const char *why)
{
    AUTO_FREE char *text = mem_dup(why);

    text_make_printable(text);
    fprintf(stderr, "  That will not do: %s\n", text + (strncmp(text, "value: ", 7) ? 0 : 7));
}

/* ---- the form ------------------------------------------------------------------------------- */

/* Nothing typed is the default, or left out. False: declined. */
static bool fill_field(int tty, const struct field *f, struct json_out *o)
{
    AUTO_ARENA struct arena a = { 0 };

    print_field(f, &a);
    for (;;) {
        AUTO_FREE char *line = question_line(tty, prompt_of(f, &a), f->secret);
        AUTO_BUF struct buf value = { 0 };
        struct pb_error err;

        if (!line)
            return false;
        if (!*line && !json_is(f->value, JSON_NONE)) {
            json_put_raw_key(o, f->key, json_text(f->value));
            return true;
        }
        if (!*line && !f->required)
            return true;
        if (!*line) {
            tell("it must be answered; Ctrl-D declines");
            continue;
        }
        write_typed(f, line, &value, &a);
        if (check_typed(f, buf_span(&value), &err) == 0) {
            json_put_raw_key(o, f->key, buf_span(&value));
            return true;
        }
        tell(err.msg);
    }
}

struct filling {
    int tty;
    struct wanted_from from;
    struct json place;
    struct json_out *o;
    bool asked, declined;
};

static void ask_field(void *ctx, struct span key, struct json place)
{
    struct filling *g = ctx;
    struct field f = { .from = g->from, .key = key, .place = place };
    struct json item;

    if (g->declined)
        return;
    g->asked = true;
    f.required = wanted_requires(g->from, g->place, key);
    f.many = wanted_takes(g->from, place, WANTED_ARRAY);
    item = f.many ? wanted_item(g->from, place, 0) : place;
    f.choices = wanted_choices(g->from, item);
    f.names = wanted_word(g->from, item, "enumNames");
    f.value = wanted_word(g->from, place, "default");
    f.secret = wanted_is_secret(g->from, place);
    g->declined = !fill_field(g->tty, &f, g->o);
}

/* Each answer may be good and the whole not. */
static bool fits_together(const struct schema *schema, struct span content)
{
    AUTO_JSON struct json_doc doc = { 0 };
    struct pb_error err;

    if (!schema || json_parse(&doc, content, NULL, NULL) < 0 ||
        schema_check(schema, json_root(&doc), &err) != -(int)PB_E_INVALID)
        return true;
    tell(err.msg);
    return false;
}

/* One round through the fields; true: another is needed. Where nothing is asked the next would end
 * as this one did. */
static bool fill_once(struct filling *g, struct buf *content)
{
    AUTO_ARENA struct arena a = { 0 };
    struct json_out o = json_out(content);

    content->n = 0;
    g->o = &o;
    json_begin_object(&o, NULL);
    wanted_members(g->from, g->place, ask_field, g, &a);
    json_end(&o);
    if (g->declined || fits_together(g->from.schema, buf_span(content)))
        return false;
    if (g->asked)
        return true;
    fputs("  The form has nothing to fill in that would help: it is declined\n", stderr);
    g->declined = true;
    return false;
}

bool question_fill(int tty, struct span text, struct buf *content)
{
    AUTO(schema) struct schema *schema = NULL;
    AUTO_JSON struct json_doc doc = { 0 };
    struct filling g = { .tty = tty };

    if (schema_compile(&schema, text, NULL) < 0 && json_parse(&doc, text, NULL, NULL) < 0)
        text = SPAN("");
    g.from.schema = schema;
    g.place = schema ? schema_root(schema) : text.n ? json_root(&doc) : (struct json){ 0 };
    fputs("  (Enter takes what is in brackets, or leaves out what is not required; Ctrl-D "
          "declines)\n",
          stderr);
    while (fill_once(&g, content)) {
    }
    return !g.declined;
}
