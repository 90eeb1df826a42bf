/* mem.h - allocation that cannot fail softly. For sizes that we choose, running out of memory
 * ends the program with one line; a size that a peer chooses is checked against a limit in
 * limits.h before it gets here. */
#pragma once
#include "macros.h"

void *mem_alloc(size_t n) __attribute__((returns_nonnull, malloc));
/* For memory that others keep and hand out again: mem_count() does not see it. */
void *mem_alloc_uncounted(size_t n) __attribute__((returns_nonnull, malloc));
void *mem_zero(size_t n) __attribute__((returns_nonnull, malloc));
void *mem_resize(void *p, size_t n) __attribute__((returns_nonnull));
char *mem_dup(const char *s) __attribute__((returns_nonnull, malloc));
/* n bytes and a NUL after them. */
char *mem_dupn(const char *p, size_t n) __attribute__((returns_nonnull, malloc));
/* NULL stays NULL. */
char *mem_dup_opt(const char *s);

/* The number of mem_* blocks handed out so far. */
uint64_t mem_count(void);

/* For a program that stays: threads share one heap, as what each would keep for itself adds up to
 * more than it does; and what the start-up needed goes back to the system when it is over. */
void mem_share_heap(void);
void mem_give_back(void);

#define NEW(type) ((type *)mem_zero(sizeof(type)))
