/* conn.h - one connection to the file: its statements, and what went wrong in our words. Used by
 * one thread at a time. */
#pragma once
#include "libs.h"

/* clang-format off */
enum sql {
    SQL_BEGIN, SQL_COMMIT, SQL_ROLLBACK,
    SQL_STATE, SQL_STATE_SET,
    SQL_WORD_ID, SQL_WORD_TEXT, SQL_WORD_NEW, SQL_WORDS, SQL_WORD_NEXT, SQL_WORDS_FROM, SQL_WORD_DROP,
    SQL_OBJECT_BY_KEY, SQL_OBJECT_NEW, SQL_OBJECT_CID, SQL_OBJECT_DATA, SQL_OBJECT_DROP, SQL_OBJECTS_FROM,
    SQL_REFS_ADD, SQL_REFS_DROP,
    SQL_PIN, SQL_PIN_SET, SQL_PIN_DROP,
    SQL_BLOCK, SQL_BLOCK_SET, SQL_BLOCKS, SQL_BLOCKS_DOWN, SQL_BLOCK_ANY, SQL_BLOCK_DROP, SQL_BLOCK_FIRST,
    SQL_GROUPS, SQL_GROUP_SET, SQL_GROUP_DROP, SQL_GROUP_OLDER, SQL_GROUP_SINCE,
    SQL_GROUP_WORD, SQL_GROUP_WORD_SET, SQL_GROUP_WORDS, SQL_GROUP_WORDS_DROP,
    SQL_PLACE, SQL_PLACE_SET, SQL_PLACES_DROP,
    SQL_TEXT_ADD, SQL_TEXT_DROP, SQL_TEXT_FIND,
    SQL_PAGES, SQL_FREE_PAGES,
    SQL_COUNT
};
/* clang-format on */

struct conn {
    const struct libs *lib;
    sqlite3 *db;
    const char *path; /* borrowed */
    sqlite3_stmt *st[SQL_COUNT];
};

/* Makes the file 0600 if it is to be written and is not there; its tables, too. */
MUST_CHECK int db_open(struct conn *c, const char *path, bool writes, struct pb_error *err);
/* What was not open is fine. */
void db_close(struct conn *c);
/* Several statements of ours at once. */
MUST_CHECK int db_exec(struct conn *c, const char *sql, struct pb_error *err);
/* What SQLite has just refused. */
int db_fail(struct conn *c, struct pb_error *err);

/* A statement, ready to be bound and run. NULL: err is set. db_run() and db_end() make it ready
 * again for the next time. What is bound stays bound. */
sqlite3_stmt *db_statement(struct conn *c, enum sql which, struct pb_error *err);
/* A row: 1; none: 0, and it has ended. */
MUST_CHECK int db_row(struct conn *c, sqlite3_stmt *st, struct pb_error *err);
/* To the end. */
MUST_CHECK int db_run(struct conn *c, sqlite3_stmt *st, struct pb_error *err);
static inline void db_end(struct conn *c, sqlite3_stmt *st) { c->lib->reset(st); }

static inline void bind_int(struct conn *c, sqlite3_stmt *st, int at, int64_t v)
{
    c->lib->bind_int(st, at, v);
}
static inline void bind_text(struct conn *c, sqlite3_stmt *st, int at, struct span s)
{
    c->lib->bind_text(st, at, s.p ? s.p : "", (int)s.n, SQLITE_STATIC);
}
static inline void bind_blob(struct conn *c, sqlite3_stmt *st, int at, struct span s)
{
    c->lib->bind_blob(st, at, s.p ? s.p : "", (int)s.n, SQLITE_STATIC);
}
static inline void bind_null(struct conn *c, sqlite3_stmt *st, int at)
{
    c->lib->bind_null(st, at);
}
static inline int64_t row_int(struct conn *c, sqlite3_stmt *st, int at)
{
    return c->lib->column_int(st, at);
}
/* Good until the next row. p NULL: there is nothing. */
static inline struct span row_bytes(struct conn *c, sqlite3_stmt *st, int at)
{
    const void *p = c->lib->column_blob(st, at);

    if (c->lib->column_type(st, at) == SQLITE_NULL)
        return (struct span){ 0 };
    return span_make(p ? p : "", (size_t)c->lib->column_bytes(st, at));
}
/* One number that a statement without parameters gives; 0 when it gives none. */
MUST_CHECK int db_number(struct conn *c, enum sql which, int64_t *out, struct pb_error *err);
