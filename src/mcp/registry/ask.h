/* ask.h - what the rounds of questions need of the questions themselves. */
#pragma once
#include "call.h"

const char *ask_method(const struct ask *a);
/* All answers so far as a JSON object, and back. */
void ask_answers(const struct pb_call *c, struct buf *out);
bool ask_restore(struct pb_call *c, struct span answers);
