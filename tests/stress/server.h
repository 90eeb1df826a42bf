/* server.h - the server of the stress program: libc only, one thread, one poll. It is started many
 * times over, is killed at any moment, and misbehaves as its kind says. What a caller puts into the
 * arguments as "canary" comes back in everything that is said about that call.
 *
 *     stress_server NAME stdio|http|sse legacy|modern KIND SEED [PORT]
 *
 * STRESS_DIR names a directory: there it leaves a file pids/NAME.PID while it lives, and in
 * violations it says what the hub did wrong to it, a line each. */
#pragma once
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/* ---- words ---- */

struct text {
    char *p;
    size_t n, cap;
};

void text_add(struct text *t, const char *p, size_t n);
void text_printf(struct text *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void text_drop(struct text *t, size_t n);

struct slice {
    const char *p;
    size_t n;
};
#define SLICE_ARG(s) (int)(s).n, (s).p

/* The value of a member as it is written, of a string without its quotes; p NULL: not there. */
struct slice slice_get(struct slice object, const char *key);
bool slice_is(struct slice s, const char *word);
/* The first "cny:..." in it; p NULL: there is none. */
struct slice slice_canary(struct slice s);

uint32_t chance(void); /* the next random number of this process */
static inline uint32_t among(uint32_t n) { return chance() % n; }

/* ---- who we are ---- */

struct self {
    const char *name;
    bool modern;
    bool http; /* a crash would take other connections with it, and half a line means another thing
                */
    const struct kind *kind;
    uint64_t now;
};
extern struct self self;

/* ---- where messages go ----
 * An outlet is stdout, or one HTTP response. It may be gone before the job is done: names of
 * outlets are never used again. */
typedef uint64_t outlet;
enum { OUTLET_NEWS = 0 }; /* what belongs to no request */

/* `last`: it answers the request of this outlet. */
void outlet_say(outlet to, const char *message, size_t n, bool last);
/* Bytes as they are, where that can be done: for those who speak no JSON. */
void outlet_raw(outlet to, const char *bytes, size_t n);

/* ---- the talk (server_talk.c) ---- */

/* Ids of requests are those of a session: another may use the same. */
void talk_heard(outlet from, uint64_t session, struct slice message);
void talk_gone(outlet which);
/* When something is due by itself, in ms; -1: never. */
int talk_patience(void);
void talk_tick(void);

/* ---- the jobs (server_jobs.c) ---- */

struct job {
    bool used;
    bool wants_logs; /* modern: only who asks for them gets any */
    outlet out;
    uint64_t session;
    char id[160], token[160], canary[96], state[160];
    const struct act *act;
    int step, open; /* questions without an answer */
    int answers;
    char said[32]; /* what the last answer was: accept, refused, ... */
    uint64_t wake; /* 0: waits for an answer */
    char questions[4][32];
    struct text inputs; /* modern: inputResponses */
};

/* What a tool does, step by step; a name NULL ends the list. */
struct act {
    const char *name;
    void (*step)(struct job *j);
};
extern const struct act acts[];

/* In how a kind differs from an honest server. True: the call has been dealt with. */
struct kind {
    const char *name;
    bool (*evil)(struct job *j);
    void (*cancelled)(struct job *j);
    void (*idle)(void); /* now and then */
    bool cuts;          /* HTTP: hangs up in the middle of a stream, which can be resumed */
};
extern const struct kind kinds[];

struct job *job_new(outlet from, uint64_t session, struct slice id, struct slice params);
struct job *job_find(uint64_t session, struct slice id);
struct job *job_of_question(struct slice id, int *which);
void job_each(void (*fn)(struct job *j, void *ctx), void *ctx);
void job_free(struct job *j);
void job_step(struct job *j);
void job_answered(struct job *j, int which, struct slice message);
void job_result(struct job *j, const char *how);
void job_error(struct job *j, int code, const char *why);
void job_progress(struct job *j, int n, int total);
void job_log(struct job *j);
/* A question of this method; false: it could not be asked. */
bool job_ask(struct job *j, const char *method);
void job_withdraw(struct job *j);

/* The hub has done something that it must not do. */
void violation(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/* ---- carriers ---- */

int serve_stdio(void);
int serve_http(int port, bool sse);
