/* link_impl.h - what the files of the link share. Not for others: they use link.h.
 *
 *   link.c            one server: making it, what is known of it, the end
 *   link_state.c      which states follow which
 *   link_channel.c    one client of it: from the spec to an open session
 *   link_instance.c   processes of their own for callers
 *   link_keys.c       the keys that the server is started with
 *   link_lists.c      what the server offers, and what of it is watched
 *   digests.c         what the items of a list are, whatever order their members stand in
 *   link_call.c       a call: sent at once, or waiting until it may go
 *   link_end.c        how a call ends, and its clock
 *   link_table.c      the calls that have not ended
 *   call_words.c      what is said of a call that was ended
 *   link_claim.c      for whom the server may be working
 *   link_question.c   what the server asks, and to whom it goes
 *   link_tasks.c      tasks that clients want to hear of
 *   link_log.c        the log: its own lines, stderr, the server's messages
 *   log_ring.c        the last lines of it
 *   link_cut.c        messages and progress, cut to what is passed on
 *   circle.c          hubs behind hubs, and whether one leads back to us
 *   event.c           what is told of a server, and the names of states */
#pragma once
#include "hub/secrets/secrets.h"
#include "hub/spec/spec.h"
#include "hub/warden/warden.h"
#include "link.h"
#include "log_ring.h"
#include "mcp/client/client.h"
#include "mcp/rpc/rpc.h"
#include <assert.h>

/* Somebody for whom a server may be working; embedded in what lasts as long. */
struct claim {
    struct list at;
    const char *caller;
};

/* Some of them, oldest first. That all come from one caller is known without looking at each. */
struct crowd {
    struct list claims;
    size_t n;
    size_t changes; /* how many have another caller than the one before */
};

/* One client of a link: the shared one, or that of one caller of a per_client server. */
struct channel {
    struct list at; /* in link.instances */
    struct link *l;
    char *caller;          /* NULL: the shared one */
    char *origin;          /* see call_spec; may be NULL */
    struct client *client; /* NULL: none */
    bool ready;            /* it has shaken hands */
    bool leaving;          /* takes no calls any more */
    bool pumping;
    bool legacy, has_logging;
    char mark[WARDEN_SERVER_MARK_CHARS + 1]; /* of its process and what that starts; "": none */
    int log_level;                           /* what logging/setLevel said last; -1: nothing */
    size_t in_flight, n_waiting;
    struct list waiting;  /* calls */
    struct crowd working; /* calls in flight */
    struct crowd ghosts;  /* of the shared one: calls that were given up without an answer */
    uint64_t doubt_until; /* loop time: there were more of them than could be kept */
    struct list asked;    /* questions that the server waits for */
    struct timer timer;   /* instances: opening, later idleness */
    int64_t opened_at;    /* wall clock ms: about when its process was started */
    uint64_t late_at;     /* loop time: a call ran out of time, and nobody was being asked */
    uint64_t pinged_at;   /* instances: when the ping under way was sent */
    bool pinging;
    bool roots_due; /* it is to hear, at the end of this turn, that roots have changed */
};

struct link_call {
    struct list at;         /* in link.calls */
    struct list in_waiting; /* in channel.waiting, while it waits */
    struct claim claim;     /* in channel.working, while it is `sent` */
    struct link_call *next; /* in its bucket */
    size_t size;            /* with the strings */
    struct link *l;
    struct channel *ch;
    uint64_t id;
    uint64_t client_id;    /* 0: not sent yet */
    struct call_spec spec; /* its strings are copies, behind this struct */
    struct blob *params;   /* while it waits */
    struct timer timer;
    uint64_t started, limit_ms; /* loop time */
    /* Of the clock that stands: since when, how long it stood before, what was left. */
    uint64_t stopped_at, stopped_ms, left_ms;
    double began; /* as fine as the clock is */
    int64_t started_at;
    double progress, total;
    char *message; /* what the server said with it; NULL: nothing */
    struct list questions;
    size_t n_questions;
    uint64_t owed;   /* its id on the wire, when the server was told to drop it; 0: it was not */
    bool unanswered; /* it has ended, but not by an answer of the server */
    bool sent;       /* counted in channel.in_flight */
    bool held;       /* by link_hold() */
    bool stopped;    /* its clock stands */
    bool extended;   /* progress has moved its limit */
    bool progressed; /* there was any */
    bool cancelling; /* whoever cancels it writes its end */
    bool named;      /* its caller chose the uuid */
    char uuid[UUID_CHARS + 1];
    char strings[];
};

struct link_listing {
    struct link *l;
    enum list_kind kind;
    bool busy;  /* asked for, and no answer yet */
    bool again; /* it has changed meanwhile */
    bool known; /* `hash` is of what was handed on last */
    uint64_t hash;
    uint64_t paid_until; /* each reading costs LINK_REFRESH_MS of the time that passes */
    struct timer pause;  /* until one more may be had */
    struct buf text;     /* of an attempt to connect, until all lists are there */
    struct digests *digests; /* of what is being handed on */
};

/* Tasks that clients want to hear of. */
struct watched_tasks {
    struct map keys;         /* "caller\nid"; the values mean nothing */
    struct map callers, ids; /* how many of them there are of each */
};

struct link {
    unsigned refs; /* the owner, clients that close, deferred calls */
    struct pb_loop *loop;
    struct link_options opts; /* its strings are ours */
    struct spec *spec;
    struct sm sm;
    struct link_status status; /* its strings are ours */
    struct pb_error error;     /* of the last failure or loss */
    bool roots_due;            /* of one channel or more */
    bool closed;
    bool program_ends; /* and whoever ends it looks for what is left of all servers */
    loop_fn *closed_fn;
    void *closed_ctx;
    size_t closing; /* clients on their way out */

    struct timer limit; /* of the running attempt */
    struct keys *keys;  /* that it is started with; NULL: none, or not needed any more */
    /* What the processes of this connection were given: nothing of it is told on. NULL: none yet.
     */
    struct redact *hidden;
    unsigned attempt; /* its number */
    unsigned retries;
    double connect_began, connect_took;
    struct link_listing lists[LIST_KINDS];
    struct list relisted;     /* who waits until all were said again: link_lists.c */
    struct map subscriptions; /* URI -> count */
    struct watched_tasks tasks;

    struct channel shared;
    struct list instances; /* the one that was called last at the end */
    size_t n_instances;

    struct list calls;
    struct link_call **buckets;
    size_t n_buckets, n_calls, n_waiting;
    uint64_t last_call;
    struct map named; /* those whose uuid the caller chose */

    struct log_ring *log;
    uint64_t uuid[2], n_lines; /* see link_uuid() */

    /* The last known. */
    enum era era;
    const char *protocol;
    struct buf server_info, capabilities, instructions, words;
    struct buf greeting, hubs; /* read of them once: link_facts.words and .hubs */
    unsigned has;              /* bits of link_has() */
    uint64_t failures;
    int64_t connected_at, last_used_at;
    uint64_t used_at;
    double latency;
    bool crashed, can_subscribe, has_tasks;
    bool muted; /* link_mute() */
    bool apart; /* see link_facts */
};

/* A link belongs to the thread of its loop. At every way in. */
static inline void link_owned(const struct link *l)
{
    assert(loop_on_thread(l->loop) && "a link is used on the thread of its loop");
}

/* link.c */
/* Which of the capabilities that link_has() knows there are. */
unsigned link_capabilities(struct json capabilities);
void link_ref(struct link *l);
void link_unref(struct link *l);
struct hub_event link_event(const struct link *l, enum hub_event_kind kind);
void link_emit(const struct link *l, const struct hub_event *e);

/* link_state.c */
void link_state_init(struct link *l);
static inline bool link_in(const struct link *l, enum link_state s) { return l->sm.now == s; }
/* The running attempt has failed: `phase` (may be NULL) and why. */
void link_connect_failed(struct link *l, const char *phase, const struct pb_error *why);
/* All lists are there. */
void link_connect_done(struct link *l, size_t tools);
/* The shared client ended by itself. */
void link_lost(struct link *l, const struct pb_error *why);

/* link_channel.c */
/* As others are told of it: "" is the shared one. */
static inline const char *channel_caller(const struct channel *ch)
{
    return ch->caller ? ch->caller : "";
}
void channel_init(struct channel *ch, struct link *l);
MUST_CHECK int channel_open(struct channel *ch, struct pb_error *err);
/* Closes its client in the background. Its calls must have ended. Frees an instance. */
void channel_drop(struct channel *ch);
/* What its server wrote last, without secrets. It has a client. */
void channel_last_words(const struct channel *ch, struct buf *out);
/* Takes secrets out of an error, and adds what a server that ended said last, as far as it fits. */
void channel_explain(const struct channel *ch, struct pb_error *err);

/* link_keys.c */
/* `then` when the keys are there; not when the attempt has ended meanwhile or fails for want of
 * them. At once when there are none to be fetched. */
void keys_fetch(struct link *l, void (*then)(struct link *l));
void keys_drop(struct link *l);

/* link_instance.c */
/* Callers have clients of their own. */
bool instances_wanted(const struct link *l);
/* One caller's calls at a time. */
bool instances_take_turns(const struct link *l);
/* The server asked something, and nobody knows whom. */
void instances_learn(struct link *l);
/* NULL: there can be none, err says why. */
struct channel *instance_find(struct link *l, const char *caller);
MUST_CHECK int instance_open(struct channel **out, struct link *l, const struct call_spec *spec,
                             struct pb_error *err);
void instance_opened(struct channel *ch, const struct pb_error *err);
void instance_lost(struct channel *ch, const struct pb_error *why);
/* A call of it has begun or ended: its idleness is counted from here. */
void instance_idle(struct channel *ch);
void instances_drop(struct link *l, enum call_cancel why);
/* A call of it ran out of time: does it still live? */
void instance_doubt(struct channel *ch);

/* link_table.c */
void link_call_enlist(struct link_call *c);
void link_call_delist(struct link_call *c);
struct link_call *link_call_find(const struct link *l, uint64_t id);
/* The uuid with this number: of calls they are odd, of lines of the log even. */
void link_uuid(const struct link *l, uint64_t no, char out[static UUID_CHARS + 1]);
const char *link_call_uuid(struct link_call *c);
struct link_call *link_call_of_uuid(const struct link *l, const char *uuid);
void link_call_free(struct link_call *c);

/* link_call.c */
/* Sends what waits and may go. */
void calls_pump(struct channel *ch);

/* link_end.c */
struct hub_event link_call_event(struct link_call *c, enum hub_event_kind kind);
/* Does anybody want events of calls? */
bool link_calls_heard(const struct link *l);
void link_call_tell_started(struct link_call *c);
void link_call_tell_failed(struct link_call *c);
void link_call_unwait(struct link_call *c);
/* Off all lists: nobody finds it any more. */
void link_call_retire(struct link_call *c);
/* Why a client's request failed, in the words of a link. */
void link_call_explain(const struct link_call *c, const struct pb_error *from, struct pb_error *to);
/* The server or the connection has ended the call; `why` is what the client says. */
void link_call_end_failed(struct link_call *c, const struct client_reply *why);
client_reply_fn link_call_on_reply;
loop_fn link_call_on_timer;
/* Progress came. */
void link_call_extend(struct link_call *c);
/* A question was asked or answered: the clock stops and goes on. */
void link_call_clock(struct link_call *c);
void calls_cancel(struct channel *ch, enum call_cancel why);
/* Those that wait end, because there is no connection any more. */
void calls_fail_waiting(struct channel *ch, const struct pb_error *err);

/* link_claim.c */
void crowd_init(struct crowd *w);
void crowd_add(struct crowd *w, struct claim *c, const char *caller); /* borrows the caller */
void crowd_remove(struct crowd *w, struct claim *c);
/* Nobody else is in it. */
bool crowd_is_only(const struct crowd *w, const char *caller);
/* A call was given up: the server may still work on it. */
void claims_haunt(const struct link_call *c);
/* It has answered such a one. */
void claims_answered(struct channel *ch, uint64_t wire_id);
/* The connection is over. */
void claims_clear(struct channel *ch);
/* Whose a question can be that does not say it: nobody works for anybody; one caller, and its
 * newest call; one caller whose calls were all given up; or it is in doubt. */
enum whose { OF_NOBODY, OF_ONE, OF_GONE, OF_MANY };
enum whose claims_whose(struct channel *ch, struct link_call **out);

/* link_question.c */
void question_route(struct channel *ch, struct client_question *q, uint64_t client_id,
                    struct span method, struct span params);
/* The server does not want to know it any more. */
void question_withdrawn(struct channel *ch, const struct client_question *q);
/* The call has ended: the server is told. Whoever has its questions may still answer them, into
 * nothing, until questions_free(). */
void questions_forget(struct link_call *c);
void questions_free(struct link_call *c);
/* The client closes: what is still answered goes nowhere. */
void questions_orphan(struct channel *ch);

/* link_lists.c */
void lists_init(struct link *l);
void lists_done(struct link *l);
void lists_begin(struct link *l);
/* False: it is none of a list. */
bool lists_notified(struct link *l, struct span method);
void lists_updated(struct link *l, struct span params);

/* link_tasks.c */
/* The client of this channel is new. */
void tasks_restore(struct channel *ch);
/* Does the caller of this instance want to hear of a task? */
bool tasks_watched(const struct channel *ch);
void tasks_done(struct link *l);

/* link_cut.c */
/* Params of a notification that are no longer than they may be; `room` holds those that were cut.
 */
struct span link_cut_log(struct span params, struct buf *room);
struct span link_cut_progress(struct span params, struct buf *room);

/* link_log.c */
void log_add(struct link *l, enum pb_log_level level, enum log_source source, struct span text);
void log_message(struct channel *ch, struct span params);
/* One that came on the stream of a call. */
void log_message_of(struct link_call *c, struct span params);
/* The call wants log messages of a legacy server. */
void log_want(struct channel *ch, enum pb_log_level level);
