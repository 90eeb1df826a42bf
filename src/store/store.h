/* store.h - the door of the room `store`: what stays of calls. Bytes are kept once, by what they
 * are; a record says who asked what of whom and names the bytes by their cid. One directory, one
 * SQLite file in it, one thread that writes; no type of SQLite leaves this room. Loop thread, but
 * where it says otherwise.
 *
 * A record is acknowledged when store_find() or store_get() has shown it: from then on it survives
 * the end of the program at any moment. What was put is committed in groups, a moment later. */
#pragma once
#include "io/io.h"
#include "json/json.h"

struct store;

/* Lower-case hex of SHA-512 of the bytes. */
enum { CID_CHARS = 128 };
/* False: it is no cid. */
bool cid_is(struct span text);

struct store_options {
    struct pb_loop *loop;
    const char *dir;     /* made 0700 if it is not there; the file in it is 0600 */
    uint64_t keep_ms;    /* records that are older go; 0: however old */
    uint64_t keep_calls; /* of more than so many the oldest go; 0: however many */
    uint64_t keep_bytes; /* likewise, of the file's size; 0: however large */
    uint64_t
        object_bytes; /* of a larger object only its cid and size are kept; 0: STORE_OBJECT_MAX */
    /* Takes secrets out of the bytes of an object, or of a record's text (then `where` is NULL),
     * before anything is written. The places are appended to `where`, a JSON array's items: objects
     * such as {"at":"/path"}, which the record gets with "in" before. Runs on
     * the writing thread. False: `text` is as it was. May be NULL. */
    bool (*redact)(void *ctx, struct buf *text, struct json_out *where);
    /* Moves whenever redact knows more than before: what was remembered of texts that came earlier
     * does not count then. Asked once for each record, on the writing thread. May be NULL. */
    uint64_t (*redact_version)(void *ctx);
    void *redact_ctx;
    /* It cannot write any more (the disk is full, say), or can again (err NULL). What could not be
     * written is lost, and counted. May be NULL. */
    void (*changed)(void *ctx, const struct pb_error *err);
    /* There is room again after store_is_full(). May be NULL. */
    void (*drained)(void *ctx);
    void *ctx;
};

/* Opens it, or makes a new one. Blocking: before the loop runs. What is wrong is said with the path
 * and what to do: -PB_E_BUSY another program writes here (with its pid), -PB_E_INVALID it is of a
 * newer Patchbay or damaged, else what the system said. */
MUST_CHECK int store_open(struct store **out, const struct store_options *o, struct pb_error *err);
/* Writes what was put, then fn. What is asked for ends with -PB_E_CLOSED before. */
void store_close(struct store *s, loop_fn *fn, void *ctx);
/* Takes over keep_ms, keep_calls and keep_bytes. */
void store_tune(struct store *s, const struct store_options *o);

/* ---- writing ---- */

/* Bytes of an object on their way in. */
struct object_bytes {
    struct span bytes; /* p NULL: there are none; n 0 is an empty object */
    struct blob *blob; /* what the bytes lie in, referenced meanwhile; NULL: they are copied */
};

enum record_detail { RECORD_ALL, RECORD_META /* no bytes */, RECORD_NONE };

/* Texts that are NULL are not known. All are copied. Times are microseconds since 1970; 0: it did
 * not get so far. */
struct record {
    const char *uuid;   /* UUID_CHARS; what is none gets a new one */
    const char *source; /* what kind of thing answered: "mcp_client", "app", "replay" */
    const char *face;   /* through what it was asked: "mcp_server", "rest", "cli", "agent" */
    const char *method; /* "tools/call" */
    const char *caller; /* for people */
    const char *run;    /* what it belongs to: the key of a client, a conversation, a process */
    const char *conversation;
    const char *server, *tool;
    const char *status; /* "success", "error", ... */
    const char *note;   /* why, when it is no success */
    const char *parent; /* uuid */
    const char *question, *answered_by, *rule;
    const char *trace; /* traceparent */
    int64_t queued_us, started_us, ended_us;
    int64_t pid, process_us; /* of the server's process, and when it was started; 0: none */
    enum record_detail detail;
    struct object_bytes arguments, result, definition;
};
/* Cheap: copies or references, and leaves the rest to the writing thread. Names are cut at
 * STORE_WORD_MAX, the note at STORE_NOTE_MAX. Past STORE_QUEUE_HARD, or STORE_HELD_HARD of held
 * messages, the record is lost, and counted; when nothing can be written, past the marks of
 * store_is_full(), which then says no. */
void store_put(struct store *s, const struct record *r);
/* More waits to be written than STORE_QUEUE_BYTES: whoever can should wait for drained(). */
bool store_is_full(const struct store *s);
/* Keeps these bytes, and keeps them for good while a pin of this name points to them; one name has
 * one object. Empty bytes: removes the pin. */
void store_pin(struct store *s, const char *name, struct span bytes);
/* fn once all that was put before is committed, or could not be; never inside. -PB_E_CLOSED: the
 * store is closing. */
typedef void store_done_fn(void *ctx, const struct pb_error *err);
void store_sync(struct store *s, store_done_fn *fn, void *ctx);

/* ---- reading ---- */

struct call_record {
    uint64_t no;     /* counts up: a place in the list of all calls */
    struct record r; /* without bytes; detail says what was kept */
    /* Empty: none. A cid whose bytes are gone, or were too large, is still told. */
    const char *arguments_cid, *result_cid, *definition_cid;
    uint64_t arguments_bytes, result_bytes;
    const char *redacted; /* JSON array of {"in":"arguments","at":"/path"}; NULL: nothing was */
};

/* The members of an object that tells of it; times in seconds since 1970, the duration in seconds
 * from when it was asked to when it was answered. */
void call_record_members(struct json_out *o, const struct call_record *c);
const char *record_detail_name(enum record_detail d); /* "all", "meta", "none" */

/* What people ask for calls by, in every face: X(member, help). */
#define CALL_FILTERS(X)                                                              \
    X(server, "only of this server")                                                 \
    X(tool, "only of this tool, URI or prompt, by its own name")                     \
    X(caller, "only of this client")                                                 \
    X(status, "only with this outcome: success, error, failed, timeout, cancelled, " \
              "denied, expired, input_required or task")                             \
    X(source, "only what was answered by: mcp_client, app or replay")                \
    X(face, "only what was asked through: mcp_server, rest, cli or agent")           \
    X(run, "only what belongs to this run: a client's session, a process")           \
    X(conversation, "only of this conversation")                                     \
    X(parent, "only what continues this call")                                       \
    X(text, "only with these words in arguments or results; \"in quotes\" they are a phrase")

/* All that are not NULL or 0 must hold. Newest first. Of text, words are as FTS5 reads them. */
struct call_query {
#define X(member, help) const char *member;
    CALL_FILTERS(X)
#undef X
    int64_t since_us, until_us; /* by when it was queued */
    uint64_t before;            /* only those with a smaller number: the next page */
    unsigned limit;             /* at most STORE_PAGE_MAX; 0: 50 */
};
/* Everything lies in the arena of the page, which is the receiver's while fn runs. */
struct call_page {
    struct arena arena;
    struct call_record *v;
    size_t n;
    uint64_t next;  /* there may be more before this number; 0: there are none */
    uint64_t total; /* records in the store, whatever was asked for */
};
typedef void call_page_fn(void *ctx, const struct call_page *p, const struct pb_error *err);
/* What was put before this is looked at, too. fn once, never inside; -PB_E_INVALID for a text that
 * cannot be searched for. Work is bounded by STORE_SCAN_MAX rows: then the page may be short, even
 * empty, and `next` says where to go on. 0 when the store is closing. */
struct store_read;
struct store_read *store_find(struct store *s, const struct call_query *q, call_page_fn *fn,
                              void *ctx);
/* One by its uuid: a page of one, or of none. */
struct store_read *store_get(struct store *s, const char *uuid, call_page_fn *fn, void *ctx);
/* The bytes, checked against the cid; -PB_E_NOT_FOUND, or -PB_E_LIMIT: it was too large to be kept.
 */
typedef void object_fn(void *ctx, struct span bytes, const struct pb_error *err);
struct store_read *store_object(struct store *s, const char *cid, object_fn *fn, void *ctx);
/* fn does not run any more; the work ends soon. */
void store_cancel(struct store_read *r);

struct store_stats {
    uint64_t calls, objects, bytes; /* of the file */
    uint64_t object_bytes;          /* as they were, before compression, each once */
    uint64_t waiting;               /* bytes put and not yet written */
    uint64_t lost;                  /* records that could not be written */
    int64_t oldest_us;
    const char *path;
};
typedef void store_stats_fn(void *ctx, const struct store_stats *st, const struct pb_error *err);
struct store_read *store_stats(struct store *s, store_stats_fn *fn, void *ctx);
/* Deletes all records (and what they name) that were queued earlier; 0: all that were put before.
 * fn may be NULL; it is called as that of store_sync() is. */
void store_forget(struct store *s, int64_t before_us, store_done_fn *fn, void *ctx);
