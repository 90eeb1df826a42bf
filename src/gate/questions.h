/* questions.h - what a person is asked before an order goes on. A question belongs to one order and
 * is answered once, by whoever may and comes first. */
#pragma once
#include "json/json.h"

/* Who may answer, as bits. */
enum question_by {
    ASK_CONSOLE = 1, /* the page, and REST */
    ASK_CLI = 2,
    ASK_CLIENT = 4, /* the client that called */
    ASK_WEBHOOK = 8,
    ASK_ANYBODY = 15,
};
const char *question_by_name(enum question_by by); /* "console", "cli", "client", "webhook" */
bool question_by_parse(struct span word, unsigned *out);

/* What can be answered. */
enum question_choice {
    CHOICE_ONCE,  /* this call */
    CHOICE_GRANT, /* and calls of the same tool by the same caller, for a while */
    CHOICE_DENY,
    CHOICE_COUNT,
};
const char *question_choice_name(enum question_choice c); /* "approve", "grant", "deny" */

struct question {
    const char *id;
    const char *kind;   /* "approval" */
    const char *text;   /* one line: who wants what, and why it is asked */
    const char *reason; /* of the rule */
    const char *rule;   /* its name or number */
    const char *uuid;   /* of the call */
    const char *server, *tool, *method;
    const char *caller; /* for people */
    const char *run;    /* the caller's key, or its conversation */
    const char *face;
    const char *arguments;        /* JSON, without secrets */
    const char *digest;           /* of what exactly was asked: hex of SHA-256 */
    unsigned by;                  /* enum question_by */
    int64_t asked_at, expires_at; /* wall clock ms */
};

struct question_answer {
    enum question_choice choice;
    uint64_t grant_ms; /* CHOICE_GRANT; 0: GRANT_MS */
    bool grant_once;
    enum question_by by;
    const char *who;    /* for the record; may be NULL */
    const char *reason; /* what the caller is told when it is denied; may be NULL */
};

void question_write(struct json_out *o, const char *key, const struct question *q);
