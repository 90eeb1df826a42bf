/* A thread of its own asks, because the loop's must not wait for a person. One question at a time;
 * Ctrl-D and an empty required field decline. */
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

/* What was typed, as the schema wants it: numbers and truth as they are, the rest as text. */
static void put_answer(struct json_out *o, struct span key, struct json schema, const char *line)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_BUF struct buf quoted = { 0 };
    struct json type = json_get(schema, "type");
    bool plain = json_str_is(type, "number") || json_str_is(type, "integer") ||
                 json_str_is(type, "boolean") || json_str_is(type, "array");

    if (plain && (strcmp(line, "y") == 0 || strcmp(line, "yes") == 0))
        line = "true";
    if (plain && (strcmp(line, "n") == 0 || strcmp(line, "no") == 0))
        line = "false";
    if (plain && json_parse(&doc, span_of(line), NULL, NULL) == 0) {
        json_put_raw_key(o, key, span_of(line));
        return;
    }
    json_quote(&quoted, span_of(line));
    json_put_raw_key(o, key, buf_span(&quoted));
}

static void write_prompt(struct buf *out, struct json field, struct arena *a)
{
    struct json title = json_get(field, "title"), about = json_get(field, "description");
    struct json options = json_get(field, "enum");
    char *key = arena_dup(a, json_key_str(field, a));

    text_make_printable(key);
    buf_printf(out, "  %s", json_is(title, JSON_STRING) ? shown(title, a) : key);
    if (json_is(about, JSON_STRING))
        buf_printf(out, " - %s", shown(about, a));
    if (json_is(options, JSON_ARRAY)) {
        const char *before = " [";

        JSON_FOREACH(v, options) {
            buf_printf(out, "%s%s", before, shown(v, a));
            before = "|";
        }
        buf_byte(out, ']');
    }
    buf_str(out, ": ");
}

/* False: declined. */
static bool fill_form(FILE *tty, struct json schema, struct json_out *o, struct arena *a)
{
    JSON_FOREACH(field, json_get(schema, "properties")) {
        AUTO_BUF struct buf prompt = { 0 };
        AUTO_FREE char *line = NULL;

        write_prompt(&prompt, field, a);
        line = read_line(tty, buf_cstr(&prompt));
        if (!line)
            return false;
        if (*line)
            put_answer(o, json_key_str(field, a), field, line);
    }
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
    fprintf(stderr, "\nThe server asks: %s\n", shown(json_get(params, "message"), &a));
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
