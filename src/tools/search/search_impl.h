/* search_impl.h - the layout of a search.
 *
 *   search.c      the operations: from arguments to an answer
 *   root.c        where a search begins
 *   walk.c        directories, and the threads that share them
 *   scan.c        a file, window by window
 *   matcher.c     what is looked for, in bytes
 *   needle.c      a literal text, fast
 *   pathglob.c    patterns for paths
 *   ignore.c      what .gitignore files leave out
 *   found.c       results in order, and as text
 *   searches.c    the last results of each conversation
 */
#pragma once
#include "search.h"
#include "json/json.h"
#include <pthread.h>
#include <stdatomic.h>
#include <sys/stat.h>

/* ---- pathglob.c ---- */

/* * and ? do not match a slash, ** between slashes matches any number of directories, [a-z] [!a]
 * one character. The time is at most pattern x path: all ways are gone at once. */
struct pathglob;
enum pathglob_kind {
    PATHGLOB_PEOPLE, /* and {a,b}; characters are UTF-8; without a slash: the name alone */
    PATHGLOB_GIT,    /* as git's wildmatch has it: characters are bytes */
};
/* -PB_E_INVALID, -PB_E_LIMIT: told in err. PATHGLOB_GIT never fails: what git takes for malformed
 * matches nothing. */
MUST_CHECK int pathglob_new(struct pathglob **out, struct span text, enum pathglob_kind kind,
                            struct pb_error *err);
void pathglob_free(struct pathglob *g);
AUTO_DEFINE(pathglob, pathglob_free)
/* The path is relative and has no slash at either end. *steps, unless NULL, grows by the work. */
bool pathglob_match(const struct pathglob *g, struct span path, uint64_t *steps);

/* ---- ignore.c ---- */

/* The rules of one file. */
struct ignore;
/* Never fails; NULL: there are no rules in it. `base` is the directory of the file, "" or "a/b/";
 * copied. */
struct ignore *ignore_new(struct span text, const char *base);
void ignore_free(struct ignore *i);
AUTO_DEFINE(ignore, ignore_free)
/* What the last rule says that matches; -1: none does. The path begins with the file's directory;
 * its last part begins at `name`. */
int ignore_decides(const struct ignore *i, struct span path, size_t name, bool directory);

/* ---- needle.c ---- */

struct needle {
    struct span text; /* lower case, if case does not matter; not empty */
    bool nocase;      /* of ASCII */
    size_t a, b;      /* places of two bytes that are rare; a <= b */
};
/* Borrows the text, which is in lower case already if `nocase`. */
struct needle needle_of(struct span text, bool nocase);
/* The first place where it is; NULL: it is not there. */
const char *needle_find(const struct needle *n, struct span in);
size_t count_lines(struct span text); /* line feeds */

/* ---- matcher.c ---- */

struct matcher {
    struct regex *regex; /* NULL: the needle is all */
    struct needle needles[REGEX_REQUIRED_MAX];
    size_t n;
    size_t line_feeds; /* within what is looked for */
};
struct matcher_wants {
    struct span query;
    bool regex, sensitive; /* sensitive false: so it is when the query has an upper case letter */
    bool insensitive;
};
MUST_CHECK int matcher_init(struct matcher *m, const struct matcher_wants *w, struct pb_error *err);
void matcher_done(struct matcher *m);
/* For one thread. */
struct matcher_run {
    struct regex_run regex;
    uint64_t spent_ns, bytes, runs; /* of running expressions, on this file */
    /* where each needle is next, as far as is known */
    const char *next[REGEX_REQUIRED_MAX];
};
/* Other bytes come now, perhaps where the last ones were. */
void matcher_begin(struct matcher_run *run);
/* The first line with a match in whole lines: *line without its line feed, *hit in it. 1, 0, or
 * -PB_E_LIMIT: it takes too long. */
int matcher_next(const struct matcher *m, struct matcher_run *run, struct span lines,
                 struct span *line, struct span *hit);

/* ---- found.c ---- */

struct search_hit {
    uint64_t line;
    char *text; /* cut, printable, UTF-8 */
};
struct found_file {
    char *path;
    struct search_hit *hits; /* none: the file itself was looked for */
    size_t n;
};
/* What a search has found, of which the first by path are kept. Guarded by whoever shares it. */
struct search_found {
    struct found_file *files;
    size_t n, cap;
    size_t results; /* kept: lines, or files */
    size_t bytes;
    char *last; /* once some were not kept: those behind this path are not */
    /* of all, kept or not */
    uint64_t total, total_files;
};
/* Takes what the file holds. `total` is the number of lines found in it, of which it may hold
 * fewer; 0: it was looked for itself. */
void found_add(struct search_found *f, struct found_file *file, uint64_t total);
void found_file_done(struct found_file *file);
void found_done(struct search_found *f);
void found_sort(struct search_found *f);
/* Results from `offset` on, a line each; returns how many. Sorted before. */
size_t found_write(const struct search_found *f, struct buf *out, size_t offset, size_t max);
/* A line as it is shown: cut around the hit. */
char *found_text(struct span line, struct span hit);
/* What can be shown of bytes. */
void put_printable(struct buf *out, struct span text);

/* ---- root.c ---- */

struct root {
    int fd;                /* of the directory */
    char *file;            /* only this one in it; NULL: all */
    char *above;           /* the directory's path from the top of its repository: "" or "a/b/" */
    char *shown;           /* what people call it: "" or "src/", before paths in results */
    struct ignore **rules; /* of directories above, of which the last counts most */
    size_t n_rules;
};
/* `path` is what the caller wrote, NULL: the directory itself. */
MUST_CHECK int root_open(struct root *r, const char *directory, const char *path, bool ignored,
                         struct pb_error *err);
void root_done(struct root *r);
/* The rules in the file `name` of the directory; NULL: none. */
struct ignore *rules_of(int dir, const char *name, const char *base);

/* ---- walk.c, scan.c ---- */

/* A search under way; one for all its threads. */
struct hunt {
    struct pb_call *call; /* NULL: nobody can cancel it */
    const struct root *root;
    const struct pathglob *include; /* NULL: all files */
    const struct matcher *matcher;  /* NULL: files are looked for, not what is in them */
    bool ignored;                   /* search also what is ignored */
    dev_t private_dev;              /* a directory that is not entered; */
    ino_t private_ino;              /* 0: none */
    unsigned threads;               /* 0: as many as there are processors */
    uint64_t seen_ms;               /* when progress was told last */

    atomic_bool stop;
    atomic_bool too_many; /* entries: not all was looked at */
    atomic_uint_fast64_t entries, searched, binary, bytes;
    pthread_mutex_t lock; /* of what follows */
    pthread_cond_t wake;
    struct walk_task *todo; /* a stack */
    size_t busy;            /* threads that have work */
    size_t open_dirs;
    struct search_found found;
    struct buf trouble; /* what could not be read, a line each */
    size_t troubles;
};
/* Fills found and the counts. Returns when all threads have ended; -PB_E_CANCELLED. */
int hunt_run(struct hunt *h);
void hunt_init(struct hunt *h);
void hunt_done(struct hunt *h);
/* The same, of what the system has refused. */
void hunt_fault(struct hunt *h, const char *path, int sys);
/* Any thread: something could not be read, searching goes on. The path is from the top. */
void hunt_trouble(struct hunt *h, const char *path, const char *why);
/* The path as people know it; the caller's. */
char *hunt_shown(const struct hunt *h, const char *path);
bool hunt_over(struct hunt *h);

/* What one thread needs to search in files. */
struct scanner {
    struct hunt *h;
    struct matcher_run run;
    char *buf;
    /* of the file being searched */
    struct found_file file;
    size_t cap; /* of its hits */
    uint64_t total, line, hit_line;
};
void scanner_done(struct scanner *s);
/* A file of the directory; its path, from the top, is for results and messages. */
void scan_file(struct scanner *s, int dir, const char *name, const char *path);

/* ---- searches.c ---- */

struct kept_search {
    char *title; /* 'matches of "x" in src' */
    struct search_found found;
};
/* Takes what it holds. */
void searches_put(struct searches *s, const char *whose, struct kept_search *k);
/* Runs fn with it, while it is locked; false: there is none. */
typedef void kept_fn(const struct kept_search *k, void *ctx);
bool searches_get(struct searches *s, const char *whose, kept_fn *fn, void *ctx);
