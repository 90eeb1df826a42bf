/* question.h - what a server asks in the middle of a call, asked of the person at the terminal. */
#pragma once
#include "cli.h"

/* Declares what can be asked: forms and URLs when there is a terminal to ask at, else nothing. */
void question_options(struct pb_client_options *o);
