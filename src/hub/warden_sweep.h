/* warden_sweep.h - finding and ending processes by a mark in their environment. Only system calls
 * that are safe after fork(), and no memory but the stack: the warden runs this, too. */
#pragma once
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Does an environment, handed over piece by piece, have the entry `mark`? What stands behind a '.'
 * counts as well: the marks of programs inside programs are paths. */
struct mark_search {
    const char *mark;
    size_t at; /* bytes of the mark that this entry agrees with */
    bool lost; /* this entry is another one */
    bool found;
};
void mark_search_feed(struct mark_search *s, const char *p, size_t n);
bool mark_search_end(struct mark_search *s);

/* SIGTERM to every process of this user that carries the mark, but never to the caller; after
 * grace_ms, SIGKILL; until none is left or it is hopeless. Returns how many signals it took. */
size_t sweep_marked(const char *mark, uint64_t grace_ms);
