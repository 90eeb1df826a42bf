/* question.h - what a server asks in the middle of a call, or the gate before it, asked of the
 * person at the terminal. */
#pragma once
#include "cli.h"

/* Declares that forms and URLs can be asked. Without a terminal each is refused, and it is told
 * which server wanted to know what. */
void question_options(struct pb_client_options *o);
/* A thread of its own asks, because the loop's must not wait for a person. One question at a time;
 * Ctrl-D declines. */

/* The hub's own questions (may this call be made?) come through this client, and it is asked about
 * them; NULL: there is no hub. They are asked for as y, n or g; without a terminal they wait for
 * somebody else's answer, if others can reach that hub. NULL is said before the client is freed. */
void question_hub(struct pb_client *client, bool others);
/* It was freed: questions that were left open are given back. */
void question_hub_gone(void);
/* One of them stands on the terminal now. */
bool question_is_open(void);

/* Whose questions come from now on; "": a server that has no name. Copied; on any thread. */
void question_from(const char *server);

/* question_form.c: fills in the form that `schema` (JSON Schema) describes, with what is typed at
 * `tty`, a descriptor: each answer is checked, and asked for again with the reason. False:
 * declined. */
MUST_CHECK bool question_fill(int tty, struct span schema, struct buf *content);
/* Where a person can be asked, for the caller to close; -1: standard input and standard error are
 * not both a terminal. */
int question_terminal(void);
/* What was typed before a question that matters is no answer to it. */
void question_forget_typed(int tty);
/* A line without its end, owned by the caller; NULL at the end of input. `secret`: it is not seen
 * while it is typed, nor after that. A signal that comes meanwhile finds the terminal as it was. */
char *question_line(int tty, const char *prompt, bool secret);
