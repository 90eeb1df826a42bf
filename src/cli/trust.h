/* trust.h - what a person said about files of projects: trusted.json in the home directory,
 * readable by the user only. An answer is about one content of one file: its path and the SHA-256
 * of its bytes. At most TRUST_ENTRIES_MAX are kept. Blocking. */
#pragma once
#include "cli.h"

enum trust_said {
    TRUST_NOTHING, /* nobody was asked */
    TRUST_OTHER,   /* about this file, but with another content */
    TRUST_NO,
    TRUST_YES,
};

struct trust_entry {
    char *path; /* absolute */
    char sha256[2 * SHA256_BYTES + 1];
    bool yes;
    int64_t at; /* seconds since 1970 */
};

/* The oldest first. */
struct trust {
    struct trust_entry *v;
    size_t n;
};
void trust_free(struct trust *t);
AUTO_DEFINE(trust, trust_free)

/* No file is no answers. One that is damaged, or that others can write, is none either, which is
 * told: nothing is trusted by accident. */
MUST_CHECK int trust_read(struct trust **out, struct pb_error *err);
enum trust_said trust_about(const struct trust *t, const char *path, const char *sha256);

/* The changes below read the file again before they write it, one at a time, whoever else wants to.
 * A damaged file is kept beside the new one, and it is told where. */

/* Keeps an answer; the newest counts. */
MUST_CHECK int trust_keep(const char *path, const char *sha256, bool yes, struct pb_error *err);
/* The person has changed a file that is trusted: now this content is, instead of `was` ("": the
 * file is new). */
MUST_CHECK int trust_follow(const char *path, const char *was, const char *sha256,
                            struct pb_error *err);
/* All answers about the file. -PB_E_NOT_FOUND: there are none. */
MUST_CHECK int trust_forget(const char *path, struct pb_error *err);
