/* store_impl.h - what the files of the store share. Not for others: they use store.h.
 *
 *   conn.c      a connection to the file, its statements, its errors
 *   schema.c    the tables, and steps from one format to the next
 *   store.c     opening, closing, news of the writing thread, waiting for it
 *   put.c       from the loop to the writing thread
 *   writer.c    the writing thread: what to do next, transactions, failures
 *   batch.c     what was taken to rows, in transactions
 *   calls.c     a record to a row of its block
 *   block.c     many rows to few bytes, and back
 *   rows.c      calls out of their blocks
 *   words.c     names to numbers
 *   objects.c   bytes to objects, each once
 *   group.c     the index of a full group of calls
 *   text.c      the words of an object, for people who search
 *   tidy.c      what is too old, too many or too large goes
 *   read.c      questions: their turn, their time, their end
 *   find.c      which calls, by words, text and time
 *   page.c      rows to what is told of calls
 *   told.c      a record as JSON
 *   fetch.c     one call, one object, numbers of all
 *   cid.c       names of bytes
 *
 * Three kinds of threads: the loop; one that writes; workers that read. What the loop and the
 * writing thread share is guarded by `mu`, which nobody holds for longer than a copy takes. */
#pragma once
#include "block.h"
#include "store.h"
#include <pthread.h>
#include <stdatomic.h>

/* ---- names of things ---- */

void cid_write(const uint8_t *digest, char out[static CID_CHARS + 1]);
/* Of what cid_is(). */
void cid_read(const char *cid, uint8_t out[static SHA512_BYTES]);

/* ---- on the way to the writing thread ---- */

/* The texts of a record: those that become numbers in the order of their columns, then others. */
enum record_text {
    TEXT_WORDS = CALL_RULE - CALL_SOURCE + 1,
    TEXT_NOTE = TEXT_WORDS,
    TEXT_QUESTION,
    TEXT_TRACE,
    TEXT_PARENT,
    TEXT_COUNT
};
/* Where each is in a struct record. */
extern const size_t record_text_at[TEXT_COUNT];
static inline const char **record_text(struct record *r, size_t i)
{
    return (const char **)(void *)((char *)r + record_text_at[i]);
}

enum record_object { OBJECT_ARGUMENTS, OBJECT_RESULT, OBJECT_DEFINITION, RECORD_OBJECTS };

enum entry_kind { ENTRY_RECORD, ENTRY_PIN, ENTRY_FORGET };

/* What an entry may have: each text, each object, the process. */
#define HAS_TEXT(i)   (UINT32_C(1) << (i))
#define HAS_OBJECT(i) (UINT32_C(1) << (TEXT_COUNT + (i)))
#define HAS_PROCESS   (UINT32_C(1) << (TEXT_COUNT + RECORD_OBJECTS))
#define HAS_WORDS     (HAS_TEXT(TEXT_WORDS) - 1)
#define HAS_TEXTS     (HAS_OBJECT(0) - 1)
#define HAS_OBJECTS   (HAS_PROCESS - HAS_OBJECT(0))
#define HAS_ALL       (HAS_PROCESS * 2 - 1)
#define EACH_BIT(i, mask)                                                                   \
    for (uint32_t i, left_ = (mask); left_ && ((i) = (uint32_t)__builtin_ctz(left_), true); \
         left_ &= left_ - 1)

/* One of many in a chunk. A record has only that in which it differs from the record before it in
 * the chunk, in this order behind it: struct entry_process, a struct entry_object for each object,
 * the texts and short bytes, each text with its length; then up to the next multiple of 8. */
struct put_entry {
    uint32_t size; /* all of it */
    uint8_t kind, detail;
    uint32_t has;
    union {
        struct {
            int64_t queued_us, started_us, ended_us;
            uint8_t uuid[UUID_BYTES];
        };
        struct forget *forget;
    };
};

/* Entries, one behind the other. As large as they may become, so that what waits needs no more
 * memory than it has bytes, and what was written gives it back. */
struct put_chunk {
    struct put_chunk *next;
    size_t n;
    char bytes[STORE_CHUNK_BYTES] __attribute__((aligned(8)));
};

struct entry_process {
    int64_t pid, process_us;
};

struct entry_object {
    const char *p;     /* in the blob */
    struct blob *blob; /* a reference; NULL: the bytes are in the entry */
    size_t n;
    bool there;
    bool same; /* as in the record before, but each holds it */
};

/* What a record says, with what it has of those before it. */
struct parts {
    struct span text[TEXT_COUNT], object[RECORD_OBJECTS];
    struct entry_process process;
};
/* What `p` says becomes what it is with this entry; which of it is new. */
uint32_t entry_open(const struct put_entry *e, struct parts *p);

/* The last record in the chunk: where its texts and short bytes are. 0: there is none. */
struct last_put {
    size_t text[TEXT_COUNT], object_at[RECORD_OBJECTS];
    struct entry_object object[RECORD_OBJECTS];
    struct entry_process process;
};

/* ---- the writing thread ---- */

/* What is known of the whole, as it is in the table `state`. */
struct store_state {
    int64_t last_no, calls, objects, object_bytes, last_object;
    int64_t indexed;   /* groups before this one have an index */
    int64_t text_done; /* the words of objects up to this one are indexed */
    int64_t words;     /* names; counted by whoever writes, not in the table */
};

struct keep {
    uint64_t ms, calls, bytes;
};

struct known_object {
    char *raw; /* as it came; NULL: free */
    size_t n;
    uint64_t hash;
    int64_t id;
    uint64_t size;
    char *places; /* what was redacted in it; NULL: nothing */
};

struct ref_change {
    int64_t object, by;
};

struct forget {
    int64_t before_us; /* 0: all ... */
    int64_t last_no;   /* ... up to this one, the last that was put before */
    store_done_fn *fn;
    void *ctx;
    struct store *s;
    struct forget *next;
    struct pb_error err;
};

/* What is to be done when there is time. A step that fails leaves it as it was. */
struct chores {
    bool tidying, vacuuming, checkpoint;
    bool forgot;        /* all that the first of the forgets wants is gone */
    int64_t sweep_from; /* words from this one on may be of no use any more; 0: none */
    int64_t words_new;  /* since that was looked at */
};

struct writer {
    struct store *s;
    struct conn c;
    struct store_state now, committed;
    size_t rows, bytes; /* in this transaction */

    struct put_chunk *batch; /* what was taken and is not committed, from `begun` on in the first */
    size_t begun;
    struct put_chunk *chunk; /* where it is, and at which entry */
    size_t at;
    struct parts parts;  /* of the last record before that */
    struct call_row row; /* the same in numbers, if it is known: */
    bool row_known;
    char *places_of[RECORD_OBJECTS]; /* what was redacted in its objects; NULL: nothing */
    struct buf note, question;       /* and its texts, without secrets */
    uint8_t parent[UUID_BYTES];
    struct block tail; /* the last block, as it will be in the file */
    bool tail_grew;

    uint64_t redact_version; /* by which these are known: */
    struct map words;
    struct {
        char *text;
        struct span span;
        int64_t id;
    } last_word[TEXT_WORDS];
    struct known_object known[STORE_KNOWN_MAX];
    size_t known_bytes, known_hand;
    struct ref_change *refs;
    size_t refs_n, refs_cap, last_ref[RECORD_OBJECTS];
    ZSTD_CCtx *zstd;
    struct buf scratch, packed, places, redacted;

    struct keep keep;
    int64_t tidy_us; /* the time of day at the last look for what is too old */
    struct chores due;
    bool wrote;          /* the last thing it did */
    uint64_t texts_for;  /* searches up to this one wait for words; 0: none */
    int64_t texts_until; /* but not for longer; ms */
    int64_t rest_until;  /* something that can wait has failed: not before this; ms */
    int64_t written;     /* bytes since the file's size was looked at */
    struct forget *forgets;
};

void *writer_main(void *ctx);
MUST_CHECK int writer_begin(struct writer *w, struct pb_error *err);
MUST_CHECK int writer_commit(struct writer *w, struct pb_error *err);
void writer_rollback(struct writer *w);
/* One transaction of the batch, which is NULL when all of it is written. When it fails, all is as
 * it was; or the rest is given up. */
MUST_CHECK int batch_write(struct writer *w, struct pb_error *err);
void batch_lose(struct writer *w);
MUST_CHECK int call_put(struct writer *w, const struct put_entry *e, struct pb_error *err);
MUST_CHECK int pin_put(struct writer *w, const struct put_entry *e, struct pb_error *err);
/* Writes the last block if it is not as it is in the file. */
MUST_CHECK int calls_settle(struct writer *w, struct pb_error *err);
/* Numbers of words and objects may not be good any more. */
void calls_forget(struct writer *w);
/* Nor what is in the last block. */
void calls_forget_tail(struct writer *w);

/* Calls numbered from .. to, in their order or the other way round. 0: go on; 1: enough. The row is
 * good while fn runs. */
typedef int row_fn(void *ctx, const struct call_row *row, struct pb_error *err);
MUST_CHECK int rows_each(struct conn *c, int64_t from, int64_t to, row_fn *fn, void *ctx,
                         struct pb_error *err);
MUST_CHECK int rows_each_newest(struct conn *c, int64_t from, int64_t to, row_fn *fn, void *ctx,
                                struct pb_error *err);
/* The rows of a block that was read from the file. */
MUST_CHECK int block_open(struct conn *c, int64_t id, struct span data, struct call_row *rows,
                          size_t *n, struct pb_error *err);

/* The number of a word, made if it has none. */
MUST_CHECK int word_put(struct writer *w, size_t field, struct span text, int64_t *id,
                        struct pb_error *err);
void words_forget(struct writer *w);
/* Calls went, and with them what said which words they use. */
void words_released(struct writer *w);
/* Looks at some words, and drops those that no call has. due.sweep_from says whether there are
 * more.
 */
MUST_CHECK int words_sweep(struct writer *w, struct pb_error *err);

struct object_put {
    int64_t id;
    const char *places; /* good until the next one is put; NULL: nothing was redacted */
};
MUST_CHECK int object_put(struct writer *w, struct span raw, struct object_put *out,
                          struct pb_error *err);
/* One reference more, or less, from column `which`; written when the transaction is. */
void object_refer(struct writer *w, size_t which, int64_t id, int by);
/* Writes them, and drops objects that have none left. */
MUST_CHECK int objects_settle(struct writer *w, struct pb_error *err);
/* What is known of bytes that came; then also the references that are not written. */
void objects_forget_known(struct writer *w);
void objects_forget(struct writer *w);
/* The bytes of an object, checked. -PB_E_LIMIT: it was too large to be kept. */
MUST_CHECK int object_read(struct conn *c, int64_t id, struct buf *out, struct pb_error *err);
/* 0: there is none. */
MUST_CHECK int object_find(struct conn *c, const uint8_t cid[static SHA512_BYTES], int64_t *id,
                           struct pb_error *err);

/* Makes the index of the first group that is full and has none. */
MUST_CHECK int group_index(struct writer *w, struct pb_error *err);
static inline bool group_is_due(const struct writer *w)
{
    return (w->now.last_no + 1) / GROUP_CALLS > w->now.indexed;
}
MUST_CHECK int group_drop(struct writer *w, int64_t group, struct pb_error *err);

/* ---- what a group's index says ---- */

struct blocks {
    uint64_t bits[GROUP_BLOCKS / 64];
};
/* A word of a field; a uuid, a parent or an object. */
static inline int64_t word_key(int64_t id, size_t field) { return id * 16 + (int64_t)field; }
static inline int64_t word_of_key(int64_t key) { return key / 16; }
enum place_kind { PLACE_UUID, PLACE_PARENT, PLACE_OBJECT };
uint64_t place_key(enum place_kind kind, uint64_t high, uint64_t low);
uint64_t place_key_uuid(enum place_kind kind, const uint8_t uuid[static UUID_BYTES]);
/* Sets the bits of blocks in which the word, or what has this key, occurs. */
MUST_CHECK int blocks_of_word(struct conn *c, int64_t group, int64_t word, struct blocks *out,
                              struct pb_error *err);
MUST_CHECK int blocks_of_places(struct conn *c, int64_t group, const uint64_t *keys, size_t n,
                                struct blocks *out, struct pb_error *err);

/* ---- words of objects ---- */

/* What people would search for in these bytes. */
void text_of(struct span bytes, struct buf *out);
/* Indexes some of those objects that are not yet. */
MUST_CHECK int text_index(struct writer *w, struct pb_error *err);
static inline bool text_is_due(const struct writer *w)
{
    return w->now.text_done < w->now.last_object;
}
MUST_CHECK int text_drop(struct writer *w, int64_t object, struct pb_error *err);

/* ---- what goes ---- */

/* Is it time to look for what is too much? After a batch. */
void tidy_check(struct writer *w);
/* Does a little of it; `due` and `forgets` say whether there is more to do. */
MUST_CHECK int tidy_step(struct writer *w, struct pb_error *err);
/* The step is committed: whoever wanted something to be forgotten hears of it. */
void tidy_done(struct writer *w);

/* ---- the store ---- */

enum writer_mood { WRITER_WORKS, WRITER_GATHERS, WRITER_SLEEPS };

struct store_reader {
    struct conn c;
    bool open, busy;
};

struct store {
    struct pb_loop *loop;
    struct store_options o;
    char *dir, *path;
    int lock;

    /* The loop's. */
    uint64_t puts; /* entries put so far */
    uint64_t lost; /* records that found no room */
    bool closing, waking;
    struct list reads, syncs;
    size_t reads_n;
    struct store_reader readers[STORE_READERS];
    struct timer tidy, idle;
    size_t jobs; /* on workers */
    loop_fn *closed;
    void *closed_ctx;

    pthread_t thread;
    pthread_mutex_t mu;
    pthread_cond_t more;
    /* Guarded by mu. */
    enum writer_mood mood;
    struct put_chunk *waiting; /* the oldest; NULL: nothing waits */
    struct put_chunk *filling; /* the newest of them */
    struct put_chunk *spare;   /* or NULL */
    struct last_put last;      /* in `filling` */
    size_t queued, held;       /* bytes of entries that are not committed, and of their blobs */
    uint64_t done;             /* entries that are committed, or given up */
    uint64_t gone;             /* records of these that were given up */
    size_t watchers;           /* who waits for `done` to grow */
    bool full;                 /* written by the loop only */
    bool hurry, end, posted;
    bool failed, ended;
    struct pb_error failure;
    bool news; /* the failure is new, or over */
    struct keep keep;
    bool tidy_now;
    int64_t now_us;                  /* when that was asked */
    uint64_t text_asked, text_ready; /* searches that want the words of what was put */
    struct forget *forgotten;
    struct writer w;
};

/* It is closing: fn, which may be NULL, hears of it soon. */
bool store_refuses(struct store *s, store_done_fn *fn, void *ctx);
/* Writes what waits soon; whoever waits hears of it. */
void store_hurry(struct store *s);
/* What is not in the file: what waits, what is lost. */
void store_count(struct store *s, struct store_stats *out);
/* The last thing that a store does. */
void store_end_writer(struct store *s);
/* Closes connections that nobody uses, on workers. ctx is the store. */
void readers_close(void *ctx);
/* With mu held: what the writing thread waits for is there. */
void writer_wake(struct store *s);
/* With mu held: on_news() soon. */
void store_tell(struct store *s);
/* With mu held: all chunks that wait are the caller's, until they are given back. */
struct put_chunk *chunks_take(struct store *s);
void chunk_give(struct store *s, struct put_chunk *c);
/* Lets go of the blobs that it holds; how large they are. */
size_t entry_release(const struct put_entry *e);
/* The next read that may begin does. */
void reads_start(struct store *s);
void reads_end(struct store *s, const struct pb_error *err);
