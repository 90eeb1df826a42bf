#include "talk.h"
#include <stdarg.h>

/* clang-format off */
const struct failure_row cli_failures[FAILURE_COUNT] = {
    [FAILURE_USAGE]       = { "usage",         CLI_USAGE,       "the command line is wrong; the hint is how it goes" },
    [FAILURE_NOT_FOUND]   = { "not_found",     CLI_USAGE,       "there is no such server, tool, prompt, resource, mode, file" },
    [FAILURE_INVALID]     = { "invalid",       CLI_USAGE,       "a value or a file of yours is wrong" },
    [FAILURE_FILE]        = { "file",          CLI_USAGE,       "a file of yours cannot be read or written" },
    [FAILURE_DECLINED]    = { "declined",      CLI_USAGE,       "you were asked, and said no" },
    [FAILURE_AUTH]        = { "auth_required", CLI_AUTH,        "the server wants a login" },
    [FAILURE_UNREACHABLE] = { "unreachable",   CLI_UNREACHABLE, "a server or the daemon cannot be started or reached" },
    [FAILURE_TIMEOUT]     = { "timeout",       CLI_UNREACHABLE, "it took too long" },
    [FAILURE_DISABLED]    = { "disabled",      CLI_UNREACHABLE, "the server is disabled" },
    [FAILURE_DENIED]      = { "denied",        CLI_TOOL_ERROR,  "a rule, or whoever was asked, does not allow the call" },
    [FAILURE_TOOL]        = { "tool_error",    CLI_TOOL_ERROR,  "the tool ran and failed, or the server refused" },
    [FAILURE_HELD]        = { "held",          CLI_TOOL_ERROR,  "a definition has changed since it was approved" },
    [FAILURE_TERMINAL]    = { "no_terminal",   CLI_TOOL_ERROR,  "the server asked something, and there is no terminal" },
    [FAILURE_INTERRUPTED] = { "interrupted",   CLI_INTERRUPTED, "Ctrl-C" },
};
/* clang-format on */

static struct {
    bool json, quiet;
} talk;

void talk_set(bool json, bool quiet)
{
    talk.json = json;
    talk.quiet = quiet;
}

bool talk_is_json(void) { return talk.json; }

bool talk_is_quiet(void) { return talk.quiet; }

/* In one piece: other threads talk, too. */
static void put_json(const char *kind, const struct trouble *t)
{
    AUTO_BUF struct buf out = { 0 };
    struct json_out o = json_out(&out);

    json_begin_object(&o, NULL);
    json_begin_object(&o, kind);
    if (strcmp(kind, "error") == 0)
        json_put_str(&o, "code", cli_failures[t->what].word);
    json_put_str(&o, "message", t->message);
    json_put_str_opt(&o, "hint", t->hint);
    json_end(&o);
    json_end(&o);
    buf_byte(&out, '\n');
    fputs(buf_cstr(&out), stderr);
}

static char *printable(const char *text)
{
    char *copy = mem_dup(text);

    text_make_printable(copy);
    return copy;
}

int talk_trouble(const struct trouble *t)
{
    AUTO_FREE char *message = printable(t->message), *hint = t->hint ? printable(t->hint) : NULL;
    const struct trouble shown = { .what = t->what, .message = message, .hint = hint };

    if (talk.json)
        put_json("error", &shown);
    else if (!hint)
        fprintf(stderr, "patchbay: %s\n", message);
    else
        fprintf(stderr, "patchbay: %s%s%s%s\n", message, t->before ? t->before : "; ", hint,
                t->after ? t->after : "");
    return cli_failures[t->what].exit;
}

static char *format(const char *fmt, va_list ap) PRINTF(1, 0);
static char *format(const char *fmt, va_list ap)
{
    AUTO_BUF struct buf text = { 0 };

    buf_vprintf(&text, fmt, ap);
    return buf_take(&text);
}

int talk_fail(enum cli_failure what, const char *fmt, ...)
{
    AUTO_FREE char *text = NULL;
    va_list ap;

    va_start(ap, fmt);
    text = format(fmt, ap);
    va_end(ap);
    return talk_trouble(&(struct trouble){ .what = what, .message = text });
}

static void say(const char *kind, const char *before, const char *text)
{
    AUTO_FREE char *shown = printable(text);

    if (talk.quiet)
        return;
    if (talk.json)
        put_json(kind, &(struct trouble){ .message = shown });
    else
        fprintf(stderr, "%s%s\n", before, shown);
}

void talk_warn(const char *fmt, ...)
{
    AUTO_FREE char *text = NULL;
    va_list ap;

    va_start(ap, fmt);
    text = format(fmt, ap);
    va_end(ap);
    say("warning", "patchbay: warning: ", text);
}

void talk_note(const char *fmt, ...)
{
    AUTO_FREE char *text = NULL;
    va_list ap;

    va_start(ap, fmt);
    text = format(fmt, ap);
    va_end(ap);
    say("note", "patchbay: ", text);
}

void talk_next(const char *const *commands)
{
    bool one = !commands[1];

    if (talk.quiet || talk.json)
        return;
    fprintf(stderr, "Next:%s", one ? "" : "\n");
    for (; *commands; commands++)
        fprintf(stderr, "%s%s\n", one ? " " : "  ", *commands);
}

void talk_stderr(const char *line) { say("stderr", "| ", line); }
