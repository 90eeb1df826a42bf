/* registries_impl.h - shared by the files of registries.
 *
 *   registries.c      asking, and putting answers together
 *   registry_read.c   what each registry's answer says */
#pragma once
#include "registries.h"
#include "json/json.h"

/* What was found, as it grows: an open array, and the names that are in it. */
struct registry_found {
    struct json_out *out;
    struct map *names;
    size_t n;
};

/* Reads one answer into it; -PB_E_INVALID: that is no answer of this registry. `one`: it is about
 * one server. */
MUST_CHECK int registry_read(struct registry_found *f, enum registry_source which,
                             struct span answer, bool one, struct pb_error *err);
