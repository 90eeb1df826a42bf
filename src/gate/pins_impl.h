/* pins_impl.h - the layout of pins.
 *
 *   pins.c         what is held against what, and what comes of it
 *   pins_file.c    the lock: written in the background, read again
 *   pins_put.c     pins as JSON
 *   lock.c         the lock as text and as a file
 *   diff.c         what has changed in a text */
#pragma once
#include "gate_impl.h"
#include "pins.h"

struct pin {
    struct pins *pins;
    const char *server; /* that of its pin_server */
    enum vet_kind kind;
    struct span name; /* behind the struct */
    enum pin_state state;
    uint8_t approved[SHA512_BYTES], seen[SHA512_BYTES]; /* seen: when it is not approved */
    uint8_t refused[SHA512_BYTES]; /* held back last, also when it went back since; 0: none */
    int64_t approved_at, seen_at;  /* wall clock ms; seen_at 0: not since the program runs */
    uint64_t dirty;                /* of which edit the lock does not know; 0: it knows all */
    bool first;                    /* trusted because the lock did not know it; it may do by now */
    bool gone;                     /* forgotten; here until the lock has forgotten it, too */
    uint64_t round;                /* of the last lock that knew it */
    struct blob *old, *text;       /* canonical, when it is not approved; NULL: not at hand */
    struct store_read *reading;    /* of the old one */
};

struct pin_server {
    char *name;
    struct map pins; /* kind and name -> struct pin */
    size_t held, changed;
    size_t beyond[VET_KINDS]; /* held back, past PINS_SERVER_MAX, in the last list of each */
    bool news;
    uint64_t told; /* hash of what was said last */
};

struct pins {
    struct gate *g;
    struct pb_loop *loop;
    char *path; /* NULL: nothing is kept */
    enum definition_changes changes;
    struct map servers;
    size_t n, text_bytes;
    bool deferred, closed, freed;

    /* pins_file.c */
    uint64_t edits;
    struct timer write;
    struct lock_job *job;
    bool reread;                /* once more, when the job is over */
    struct pins_taking *taking; /* of a lock that was read again; NULL: none */
    uint64_t round;             /* how many were */
    struct list syncs;          /* who waits */
    struct pb_error problem;    /* code 0: none */
};

/* gate.c */
struct pins *pins_new(struct gate *g, const struct pins_options *o);
void pins_close(struct pins *p);
void pins_free(struct pins *p);

/* pins.c */
/* What the lock says again, PINS_TURN_MAX of it in a turn. Takes it over; until p->taking is NULL
 * it is at it, and then pins_taken() is called. */
void pins_take(struct pins *p, struct lock *l);
void pin_free(struct pin *pin);
bool pin_fits(const struct pin *pin, const struct pin_choice *c);

/* pins_put.c */
/* What stands for all that has changed of those that are chosen: their names and what they are. */
void pins_version(const struct pins *p, const struct pin_choice *c,
                  char out[static 2 * SHA256_BYTES + 1]);

/* pins_file.c */
void pins_file_init(struct pins *p, const struct pins_options *o);
void pins_taken(struct pins *p);
/* It is to be in the lock. */
void pin_touch(struct pin *pin);
void pins_file_close(struct pins *p);
