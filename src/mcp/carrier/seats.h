/* seats.h - the places for sessions at one listener, whatever path and token they came by.
 *
 * There are MCP_SESSIONS_MAX. When all are taken and somebody asks for one more, the owner with
 * most gives one up: that which has been idle longest. If that owner is who asks and nothing of its
 * own seems to be idle, it is refused; for the sake of another one that is busy ends, too. So an
 * owner of many sessions locks nobody out but itself. */
#pragma once
#include "base/base.h"

struct seat;
struct seat_owner;

struct seat_ops {
    bool (*idle)(const struct seat *s); /* its end would not be noticed now; NULL: never */
    void (*end)(struct seat *s);        /* must leave */
};

struct seats {
    struct map owners; /* by principal: those that have any */
    size_t n;
};

struct seat {
    struct list at; /* in its owner's; the one that was not used for longest first */
    struct seats *all;
    struct seat_owner *owner;
    const struct seat_ops *ops;
};

void seats_done(struct seats *all);
/* False: there is no room. May end others. */
bool seat_take(struct seat *s, struct seats *all, const char *principal,
               const struct seat_ops *ops);
/* It was used. */
void seat_touch(struct seat *s);
void seat_leave(struct seat *s);
