/* webhook.h - questions are told to a URL of the person's own choice, which may answer them: a
 * script that decides, a chat that shows buttons.
 *
 *     POST URL   {"type":"question","question":{...}}
 *     200        {"choice":"approve"|"grant"|"deny","for":"5m","once":true,"reason":"..."}
 *
 * Any other 2xx leaves it open for whoever else may answer, by REST for instance. A question that
 * is over is told as {"type":"question_over","id":...}; what that is answered with is not read. */
#pragma once
#include "io/io.h"

struct gate;
struct webhook;

/* Listens to the gate, which outlives it. */
struct webhook *webhook_new(struct gate *g);
/* From the next question on; NULL: nowhere. Copied. */
void webhook_set_url(struct webhook *w, const char *url);
/* Nothing is told or answered any more. fn runs when it is gone, never inside. */
void webhook_close(struct webhook *w, loop_fn *fn, void *ctx);
