/* waiting.h - one line on the terminal that moves while somebody is waited for: on stderr, and only
 * where control sequences are welcome. It is gone before anything else is printed. */
#pragma once
#include "cli.h"

enum { WAITING_TICK_MS = 100 };

struct waiting_line {
    unsigned turn;
    bool shown;
};

/* Once a tick; names: of those that are waited for, ended by NULL. As many as fit are told. */
void waiting_tick(struct waiting_line *w, const char *const *names);
/* Takes the line away, if there is one. */
void waiting_clear(struct waiting_line *w);
