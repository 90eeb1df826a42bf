/* question.h - what a server asks in the middle of a call, asked of the person at the terminal. */
#pragma once
#include "cli.h"

/* Declares that forms and URLs can be asked. Without a terminal each is refused, and it is told
 * which server wanted to know what. */
void question_options(struct pb_client_options *o);
/* A thread of its own asks, because the loop's must not wait for a person. One question at a time;
 * Ctrl-D declines. */

/* Whose questions come from now on; "": a server that has no name. Copied; on any thread. */
void question_from(const char *server);

/* question_form.c: fills in the form that `schema` (JSON Schema) describes, with what is typed at
 * `tty`, a descriptor: each answer is checked, and asked for again with the reason. False:
 * declined. */
MUST_CHECK bool question_fill(int tty, struct span schema, struct buf *content);
/* A line without its end, owned by the caller; NULL at the end of input. `secret`: it is not seen
 * while it is typed, nor after that. A signal that comes meanwhile finds the terminal as it was. */
char *question_line(int tty, const char *prompt, bool secret);
