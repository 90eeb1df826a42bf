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
/* {"id","name","icon","filter"} or, under its id, {"name"?,"icon"?,"filter"}. Replaces one of that
 * id. */
MUST_CHECK int mode_set_add(struct mode_set *s, struct span id, struct json v,
                            struct pb_error *err);
const struct mode *mode_find(const struct mode_set *s, struct span id);
void mode_write(struct json_out *o, const char *key, const struct mode *m);
