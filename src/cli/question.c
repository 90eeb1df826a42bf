/* A thread of its own asks, because the loop's must not wait for a person. One question at a time;
 * Ctrl-D declines. */
#include "question.h"
#include <pthread.h>

enum { LINE_MAX_BYTES = 65536 };

struct asking {
    struct pb_question *question;
    char *method, *params;
};

static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

/* Without its line end; NULL at the end of input. */
static char *read_line(FILE *tty, const char *prompt)
{
    char *line = mem_alloc(LINE_MAX_BYTES);

    fprintf(stderr, "%s", prompt);
    fflush(stderr);
    if (!fgets(line, LINE_MAX_BYTES, tty)) {
        free(line);
        return NULL;
    }
    line[strcspn(line, "\n")] = '\0';
    return line;
}

static char *shown(struct json string, struct arena *a)
{
    char *text = arena_dup(a, json_str(string, a));

    text_make_printable(text);
    return text;
}

static bool is_type(struct json schema, const char *type)
{
    return json_str_is(json_get(schema, "type"), type);
}

/* "a, b": each as text. */
static void put_several(struct json_out *o, struct span key, const char *line)
{
    AUTO_BUF struct buf list = { 0 };
    struct json_out items = json_out(&list);
    struct span rest = span_of(line);

    json_begin_array(&items, NULL);
    while (rest.n) {
        const char *comma = memchr(rest.p, ',', rest.n);
        size_t n = comma ? (size_t)(comma - rest.p) : rest.n;

        json_put_span(&items, NULL, span_trim(span_make(rest.p, n)));
        rest = span_from(rest, comma ? n + 1 : n);
    }
    json_end(&items);
    json_put_raw_key(o, key, buf_span(&list));
}

/* What was typed, as the schema wants it: numbers and truth as they are, the rest as text. */
static void put_answer(struct json_out *o, struct span key, struct json schema, const char *line)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_BUF struct buf quoted = { 0 };
    bool truth = is_type(schema, "boolean"), list = is_type(schema, "array");

    if (truth && (strcmp(line, "y") == 0 || strcmp(line, "yes") == 0))
        line = "true";
    if (truth && (strcmp(line, "n") == 0 || strcmp(line, "no") == 0))
        line = "false";
    if ((truth || list || is_type(schema, "number") || is_type(schema, "integer")) &&
        json_parse(&doc, span_of(line), NULL, NULL) == 0 &&
        json_is(json_root(&doc), JSON_ARRAY) == list) {
        json_put_raw_key(o, key, span_of(line));
    } else if (list) {
        put_several(o, key, line);
    } else {
        json_quote(&quoted, span_of(line));
        json_put_raw_key(o, key, buf_span(&quoted));
    }
}

/* The choices there are: "enum", or "oneOf" and "anyOf" with titles; of a list those of its items.
 */
static void write_choices(struct buf *out, struct json field, struct arena *a)
{
    static const char *const keys[] = { "enum", "oneOf", "anyOf" };
    const char *before = " [";

    if (is_type(field, "array"))
        field = json_get(field, "items");
    for (size_t i = 0; i < ARRAY_LEN(keys); i++)
        JSON_FOREACH(v, json_get(field, keys[i])) {
            struct json value = json_is(v, JSON_OBJECT) ? json_get(v, "const") : v;
            struct json title = json_get(v, "title");

            buf_printf(out, "%s%s", before, shown(value, a));
            if (json_is(title, JSON_STRING))
                buf_printf(out, " (%s)", shown(title, a));
            before = "|";
        }
    if (before[0] == '|')
        buf_byte(out, ']');
}

static void write_prompt(struct buf *out, struct json field, bool required, struct arena *a)
{
    struct json title = json_get(field, "title"), about = json_get(field, "description");
    struct json value = json_get(field, "default");
    char *key = arena_dup(a, json_key_str(field, a));

    text_make_printable(key);
    buf_printf(out, "  %s", json_is(title, JSON_STRING) ? shown(title, a) : key);
    if (json_is(about, JSON_STRING))
        buf_printf(out, " - %s", shown(about, a));
    write_choices(out, field, a);
    if (json_is(value, JSON_STRING))
        buf_printf(out, " {%s}", shown(value, a));
    else if (!json_is(value, JSON_NONE))
        buf_printf(out, " {%.*s}", SPAN_ARG(json_text(value)));
    buf_str(out, required ? "*: " : ": ");
}

static bool is_required(struct json schema, struct json field, struct arena *a)
{
    JSON_FOREACH(name, json_get(schema, "required"))
        if (span_eq(json_str(name, a), json_key_str(field, a)))
            return true;
    return false;
}

/* Nothing typed is the default, or left out; what is required is asked for again. False: declined.
 */
static bool fill_field(FILE *tty, struct json field, bool required, struct json_out *o,
                       struct arena *a)
{
    struct json value = json_get(field, "default");
    AUTO_BUF struct buf prompt = { 0 };

    write_prompt(&prompt, field, required, a);
    for (;;) {
        AUTO_FREE char *line = read_line(tty, buf_cstr(&prompt));

        if (!line)
            return false;
        if (*line)
            put_answer(o, json_key_str(field, a), field, line);
        else if (!json_is(value, JSON_NONE))
            json_put_raw_key(o, json_key_str(field, a), json_text(value));
        else if (required)
            continue;
        return true;
    }
}

static bool fill_form(FILE *tty, struct json schema, struct json_out *o, struct arena *a)
{
    JSON_FOREACH(field, json_get(schema, "properties"))
        if (!fill_field(tty, field, is_required(schema, field, a), o, a))
            return false;
    return true;
}

static bool ask_form(FILE *tty, struct json params, struct json_out *o, struct arena *a)
{
    bool filled;

    json_begin_object(o, "content");
    filled = fill_form(tty, json_get(params, "requestedSchema"), o, a);
    json_end(o);
    return filled;
}

static bool ask_url(FILE *tty, struct json params, struct arena *a)
{
    AUTO_FREE char *line = NULL;

    fprintf(stderr, "  open this address: %s\n", shown(json_get(params, "url"), a));
    line = read_line(tty, "  go on? [y/N] ");
    return line && (line[0] == 'y' || line[0] == 'Y');
}

static void answer(struct asking *q, FILE *tty)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_ARENA struct arena a = { 0 };
    AUTO_BUF struct buf b = { 0 };
    struct json_out o = json_out(&b);
    struct json params;
    bool yes;

    if (json_parse(&doc, span_of(q->params), NULL, NULL) < 0) {
        pb_question_refuse(q->question, -32602, "the question is not JSON");
        return;
    }
    params = json_root(&doc);
    fprintf(stderr,
            "\nThe server asks: %s\n(* must be answered, {} is the default, Ctrl-D declines)\n",
            shown(json_get(params, "message"), &a));
    json_begin_object(&o, NULL);
    yes = json_str_is(json_get(params, "mode"), "url") ? ask_url(tty, params, &a)
                                                       : ask_form(tty, params, &o, &a);
    json_put_str(&o, "action", yes ? "accept" : "decline");
    json_end(&o);
    pb_question_answer(q->question, yes ? buf_cstr(&b) : "{\"action\":\"decline\"}");
}

static void *ask(void *p)
{
    struct asking *q = p;
    FILE *tty = fopen("/dev/tty", "re");

    pthread_mutex_lock(&one_at_a_time);
    if (!tty)
        pb_question_refuse(q->question, -32601, "there is no terminal to ask at");
    else
        answer(q, tty);
    pthread_mutex_unlock(&one_at_a_time);
    if (tty)
        fclose(tty);
    free(q->method);
    free(q->params);
    free(q);
    return NULL;
}

static void on_question(void *ctx, struct pb_question *question, const char *method,
                        const char *params)
{
    struct asking *q;
    pthread_t thread;

    (void)ctx;
    if (strcmp(method, "elicitation/create") != 0) {
        pb_question_refuse(question, -32601, "the command line can only be asked forms and URLs");
        return;
    }
    q = NEW(struct asking);
    *q = (struct asking){ question, mem_dup(method), mem_dup(params) };
    if (pthread_create(&thread, NULL, ask, q) == 0)
        pthread_detach(thread);
    else
        pb_question_refuse(question, -32603, "there is no thread to ask with");
}

void question_options(struct pb_client_options *o)
{
    if (!isatty(STDIN_FILENO) || !isatty(STDERR_FILENO))
        return;
    o->on_question = on_question;
    o->can_elicit = o->can_elicit_url = true;
}
