/* warden_sweep.h - finding and ending processes by a mark in their environment. Only system calls
 * that are safe after fork(), and no memory but the stack: the warden runs this, too. */
#pragma once
#include "base/base.h"

/* Every mark begins so, and is not longer than that. */
#define MARK_PREFIX "PATCHBAY_"
enum { MARK_MAX = 14 + WARDEN_DEPTH_MAX * (ID_CHARS + 1) };

struct marks {
    const char *const *v; /* "NAME=value" */
    size_t n;
};

/* Does an environment, handed over piece by piece, have one of the marks as an entry? What stands
 * behind a '.' counts as well: the marks of programs inside programs are paths. */
struct mark_search {
    const struct marks *marks;
    char entry[MARK_MAX]; /* as much of the current one as a mark could be */
    size_t n;
    bool too_long, found;
};
void mark_search_feed(struct mark_search *s, const char *p, size_t n);
bool mark_search_end(struct mark_search *s);

/* SIGTERM to every process of this user that carries one of the marks, but never to the caller;
 * after grace_ms, SIGKILL; until none is left or it is hopeless. Returns how many signals it took.
 */
size_t sweep_marked(const struct marks *marks, uint64_t grace_ms);
