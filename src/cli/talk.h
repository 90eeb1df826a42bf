/* talk.h - all that is said beside a verb's result, on standard error: what failed, warnings, and
 * what is good to know. For a person these are lines; with --json each is an object on a line of
 * its own, {"error":{…}}, {"warning":{…}} or {"note":{…}}; with --quiet only errors are left. On
 * any thread. */
#pragma once
#include "cli.h"

/* What can go wrong, as far as a script has to tell. One table (talk.c) has the word in
 * {"error":{"code":…}} and the exit code of each. */
enum cli_failure {
    FAILURE_USAGE,       /* the command line is wrong */
    FAILURE_NOT_FOUND,   /* it names nothing that is there */
    FAILURE_INVALID,     /* what it says, or a file of the user's, is wrong */
    FAILURE_FILE,        /* a file of the user's cannot be read or written */
    FAILURE_DECLINED,    /* the user was asked, and said no */
    FAILURE_AUTH,        /* the server wants a login */
    FAILURE_UNREACHABLE, /* a server or the daemon cannot be started, dialled or talked to */
    FAILURE_TIMEOUT,
    FAILURE_DISABLED, /* the server is, so that it cannot be reached */
    FAILURE_DENIED,   /* a rule, or whoever was asked, does not allow the call */
    FAILURE_TOOL,     /* it ran and failed, or the server refused what was asked */
    FAILURE_HELD,     /* what it is about is not what was approved */
    FAILURE_TERMINAL, /* a server asked something, and there is nobody to answer */
    FAILURE_INTERRUPTED,
    FAILURE_COUNT
};
struct failure_row {
    const char *word;
    int exit;
    const char *help;
};
extern const struct failure_row cli_failures[FAILURE_COUNT];

/* From the words of the command line, and again when they are understood. */
void talk_set(bool json, bool quiet);
bool talk_is_json(void);
bool talk_is_quiet(void);

struct trouble {
    enum cli_failure what;
    const char *message;
    /* What to do about it; NULL: the message says it all. For a person it stands behind the
     * message, between `before` and `after`; NULL: "; " and nothing. */
    const char *hint, *before, *after;
};
/* Gives the exit code. Both are made printable. */
int talk_trouble(const struct trouble *t);
int talk_fail(enum cli_failure what, const char *fmt, ...) PRINTF(2, 3);
void talk_warn(const char *fmt, ...) PRINTF(1, 2);
void talk_note(const char *fmt, ...) PRINTF(1, 2);
/* The command that a person would type now, or several, ended by NULL. Nothing for programs. */
void talk_next(const char *const *commands);
/* A line of the standard error of a server that is started here. */
void talk_stderr(const char *line);
