/* births.h - which children of this process are ours to wait for. A program that is a subreaper
 * has others, too; whoever reaps those must never take one of ours, whose end the child's own
 * watcher wants to know. One lock covers being born, being known and being reaped, so that there
 * is no moment in which a child of ours looks like a stranger. */
#pragma once
#include <sys/types.h>

/* Around a clone() and births_add() of what it made. */
void births_lock(void);
void births_unlock(void);
/* Under the lock. */
void births_add(pid_t pid);
/* Waits for the end of one of ours, reaps and forgets it. */
void births_reap(pid_t pid);
/* Somebody else has reaped it. */
void births_forget(pid_t pid);
