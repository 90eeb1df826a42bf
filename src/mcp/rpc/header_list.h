/* header_list.h - the header lines of one outgoing HTTP request, as the HTTP client wants them. */
#pragma once
#include "base/base.h"

struct header_list {
    const char **lines; /* ended by NULL; NULL itself while empty */
    size_t n, cap;
    struct arena arena;
};

#define AUTO_HEADERS __attribute__((cleanup(header_list_done)))

/* Borrows the line. */
void header_list_add(struct header_list *h, const char *line);
void header_list_put(struct header_list *h, const char *name, const char *value);
void header_list_add_all(struct header_list *h, const char *const *lines);
/* What a user configured, without the lines that are ours to say. */
void header_list_add_users(struct header_list *h, const char *const *lines);
void header_list_done(struct header_list *h);
