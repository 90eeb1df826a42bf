/* mode.h - named filters over the catalog. "full" (Full Access) always exists. */
#pragma once
#include "filter.h"

struct mode {
    char *id, *name, *icon;
    struct filter *filter;
};

struct mode_set {
    unsigned refs;
    struct mode *modes; /* in order; the predefined one first */
    size_t n;
};

/* With the predefined mode. */
struct mode_set *mode_set_new(void);
struct mode_set *mode_set_ref(struct mode_set *s);
void mode_set_unref(struct mode_set *s);
/* {"id","name"?,"icon"?,"filter"} or, under its id, the same without "id" (`id` is empty in the
 * first case). The name is the id unless said. Replaces one of that id; "full" only by one that
 * lets everything through. -PB_E_INVALID, -PB_E_LIMIT past MODES_MAX. */
MUST_CHECK int mode_set_add(struct mode_set *s, struct span id, struct json v,
                            struct pb_error *err);
/* The same modes in the same order, with the same names and filters? */
bool mode_set_equal(const struct mode_set *a, const struct mode_set *b);
/* NULL: none. Borrowed until the next mode_set_add(). */
const struct mode *mode_find(const struct mode_set *s, struct span id);
/* {"id","name","icon","filter"} */
void mode_write(struct json_out *o, const char *key, const struct mode *m);
