#include "mem.h"
#include <malloc.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

static atomic_uint_fast64_t blocks;

static void *present(void *p, size_t n)
{
    if (!p && n) {
        fprintf(stderr, "patchbay: out of memory (%zu bytes)\n", n);
        abort();
    }
    return p;
}

static void *check(void *p, size_t n)
{
    atomic_fetch_add_explicit(&blocks, 1, memory_order_relaxed);
    return present(p, n);
}

void *mem_alloc_uncounted(size_t n) { return present(malloc(n ? n : 1), n); }

void *mem_alloc(size_t n) { return check(malloc(n ? n : 1), n); }

void *mem_zero(size_t n) { return check(calloc(1, n ? n : 1), n); }

void *mem_resize(void *p, size_t n) { return check(realloc(p, n ? n : 1), n); }

char *mem_dupn(const char *p, size_t n)
{
    char *s = mem_alloc(n + 1);

    if (n)
        memcpy(s, p, n);
    s[n] = '\0';
    return s;
}

char *mem_dup(const char *s) { return mem_dupn(s, strlen(s)); }

char *mem_dup_opt(const char *s) { return s ? mem_dup(s) : NULL; }

uint64_t mem_count(void) { return atomic_load_explicit(&blocks, memory_order_relaxed); }

#ifdef __GLIBC__
void mem_share_heap(void) { mallopt(M_ARENA_MAX, 1); }

void mem_give_back(void) { malloc_trim(0); }
#else /* musl has one heap, and gives back what is free by itself */
void mem_share_heap(void) {}

void mem_give_back(void) {}
#endif
