/* libs.h - SQLite and zstd as a table of functions, loaded when the first store is opened. A
 * program that records nothing maps neither.
 *
 *   libs.c          the one table of this process
 *   libs_loaded.c   the functions of shared libraries
 *   libs_linked.c   instead of it in a static program (-Dsqlite=linked): those that are in it */
#pragma once
#include "base/base.h"
#include <sqlite3.h>
#include <zstd.h>

struct libs {
    int (*version)(void);
    int (*config)(int option, ...);
    int (*open)(const char *path, sqlite3 **db, int flags, const char *vfs);
    int (*close)(sqlite3 *db);
    int (*extended)(sqlite3 *db, int on);
    int (*busy_timeout)(sqlite3 *db, int ms);
    void (*progress)(sqlite3 *db, int steps, int (*fn)(void *), void *ctx);
    int (*exec)(sqlite3 *db, const char *sql, int (*row)(void *, int, char **, char **), void *ctx,
                char **err);
    int (*prepare)(sqlite3 *db, const char *sql, int n, unsigned flags, sqlite3_stmt **st,
                   const char **rest);
    int (*finalize)(sqlite3_stmt *st);
    int (*reset)(sqlite3_stmt *st);
    int (*step)(sqlite3_stmt *st);
    int (*bind_int)(sqlite3_stmt *st, int at, sqlite3_int64 v);
    int (*bind_text)(sqlite3_stmt *st, int at, const char *p, int n, void (*done)(void *));
    int (*bind_blob)(sqlite3_stmt *st, int at, const void *p, int n, void (*done)(void *));
    int (*bind_null)(sqlite3_stmt *st, int at);
    sqlite3_int64 (*column_int)(sqlite3_stmt *st, int at);
    const void *(*column_blob)(sqlite3_stmt *st, int at);
    int (*column_bytes)(sqlite3_stmt *st, int at);
    int (*column_type)(sqlite3_stmt *st, int at);
    const char *(*errmsg)(sqlite3 *db);
    int (*errcode)(sqlite3 *db);
    int (*system_errno)(sqlite3 *db);
    int (*autocommit)(sqlite3 *db);

    ZSTD_CCtx *(*zstd_new)(void);
    size_t (*zstd_free)(ZSTD_CCtx *z);
    size_t (*zstd_bound)(size_t n);
    size_t (*zstd_compress)(ZSTD_CCtx *z, void *to, size_t cap, const void *from, size_t n,
                            int level);
    size_t (*zstd_decompress)(void *to, size_t cap, const void *from, size_t n);
    unsigned (*zstd_is_error)(size_t code);
};

/* out is undefined when it fails. */
MUST_CHECK int libs_find(struct libs *out, struct pb_error *err);
/* NULL: then err says what to install. [any thread] */
const struct libs *libs_get(struct pb_error *err);
/* Most of what they needed to start and to make tables is not needed again soon: its pages are
 * given back. [any thread] */
void libs_rest(void);
