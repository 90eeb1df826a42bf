/* policy_impl.h - the layout of rules.
 *
 *   policy.c        rules: read and found
 *   policy_match.c  does a rule apply to an order?
 *   policy_args.c   conditions on arguments
 *   policy_uri.c    the ways to write one URI
 *   policy_when.c   times of the day */
#pragma once
#include "gate.h"
#include "policy.h"
#include "json/json.h"

/* What cannot be decided counts against the call. */
enum holds { HOLDS_NO, HOLDS_YES, HOLDS_UNDECIDED };

/* One place of the arguments, and what must be there. */
struct arg_condition {
    struct span *steps; /* of the pointer, decoded; "*" alone is every child */
    size_t n;
    const char *glob; /* one of these four */
    struct pattern *regex;
    struct json_doc equals; /* its text lies in the policy's */
    bool present, wants_present;
    struct pattern_run run;
};

struct time_of_day {
    bool given;
    int from, to;  /* minutes after midnight; from > to goes over midnight */
    unsigned days; /* bit 0 is Sunday; 0: all */
};

struct rule {
    enum policy_action action;
    const char *name, *reason;
    const char *const *servers, *const *tools, *const *methods, *const *callers, *const *modes;
    const char *const *uris; /* tools, as uri_glob() has them; NULL: there are none */
    unsigned faces;          /* bits; 0: all */
    unsigned must, must_not; /* annotations, bits */
    struct arg_condition *args;
    size_t n_args;
    struct time_of_day when;
    unsigned by;
    uint64_t ask_ms;
};

struct policy {
    unsigned refs;
    struct arena arena;
    struct json_doc doc; /* of its own copy of the text */
    struct rule *rules;
    size_t n;
    enum policy_action usual[FACE_COUNT];
    char version[17];
};

/* policy_args.c */
MUST_CHECK int arg_condition_read(struct arg_condition *c, struct json v, struct arena *a,
                                  size_t *pattern_bytes, struct pb_error *err);
void arg_condition_done(struct arg_condition *c);
/* `steps`: what looking may still cost; past it nothing is decided. */
enum holds arg_condition_holds(struct arg_condition *c, struct json arguments, size_t *steps);

/* policy_uri.c */
/* The same URI as simply as it can be written: names in small letters, percent signs decoded once,
 * dots followed. *path_end: where its query or fragment begins in `out`. */
void uri_normal(struct buf *out, struct span uri, size_t *path_end);
/* What matches URIs that uri_normal() made, of what matches them as people write them. */
char *uri_glob(struct arena *a, const char *glob);

/* policy_when.c */
MUST_CHECK int time_of_day_read(struct time_of_day *t, struct json v, struct pb_error *err);
bool time_of_day_holds(const struct time_of_day *t, int64_t wall_ms);

/* policy_match.c: bits of what a tool says about itself. */
int annotation_read(struct rule *r, struct span word, struct pb_error *err);
