#include "schema.h"
#include <stdio.h>

enum { APPLICATION = 0x50427930 /* "PBy0" */ };

/* Each brings a file of the format before it to the next. Never edited once released. */
static const char *const steps[] = {
    "CREATE TABLE state(last_no INTEGER, calls INTEGER, objects INTEGER, object_bytes INTEGER,"
    " last_object INTEGER, indexed INTEGER, text_done INTEGER);"
    "INSERT INTO state VALUES(0, 0, 0, 0, 0, 0, 0);"
    "CREATE TABLE word(id INTEGER PRIMARY KEY, text TEXT NOT NULL UNIQUE);"
    "CREATE TABLE block(id INTEGER PRIMARY KEY, calls BLOB NOT NULL);"
    /* The cid's first eight bytes are indexed instead of all 64: enough to find it. */
    "CREATE TABLE object(id INTEGER PRIMARY KEY, key INTEGER NOT NULL, cid BLOB NOT NULL,"
    " size INTEGER NOT NULL, flags INTEGER NOT NULL, data BLOB);"
    "CREATE INDEX object_key ON object(key);"
    /* Apart from the bytes, which are written once. One that is not here has one reference. */
    "CREATE TABLE object_refs(id INTEGER PRIMARY KEY, refs INTEGER NOT NULL);"
    "CREATE TABLE pin(name TEXT PRIMARY KEY, object INTEGER NOT NULL) WITHOUT ROWID;"
    "CREATE TABLE call_group(id INTEGER PRIMARY KEY, since INTEGER, until INTEGER);"
    "CREATE TABLE group_word(grp INTEGER, word INTEGER, blocks BLOB, PRIMARY KEY(grp, word))"
    " WITHOUT ROWID;"
    "CREATE TABLE place(id INTEGER PRIMARY KEY, entries BLOB);"
    "CREATE VIRTUAL TABLE object_text USING fts5(text, content='', columnsize=0,"
    " tokenize='unicode61');"
    /* Of words that are not written yet: a quarter of what it would keep in memory by itself. */
    "INSERT INTO object_text(object_text, rank) VALUES('hashsize', 262144);",
};

/* Formats before the first were never released. */
enum { FIRST_FORMAT = 3, FORMAT = FIRST_FORMAT + ARRAY_LEN(steps) - 1 };

static int number_of(struct conn *c, const char *sql, int64_t *out, struct pb_error *err)
{
    sqlite3_stmt *st = NULL;
    int rc;

    if (c->lib->prepare(c->db, sql, -1, 0, &st, NULL) != SQLITE_OK)
        return db_fail(c, err);
    rc = db_row(c, st, err);
    if (rc > 0)
        *out = row_int(c, st, 0);
    c->lib->finalize(st);
    return rc < 0 ? rc : 0;
}

int schema_settings(struct conn *c, struct pb_error *err)
{
    char sql[256];

    snprintf(sql, sizeof sql,
             "PRAGMA cache_size = -%d; PRAGMA temp_store = MEMORY; PRAGMA synchronous = NORMAL;"
             "PRAGMA journal_size_limit = %d; PRAGMA trusted_schema = OFF; PRAGMA mmap_size = 0;"
             "PRAGMA secure_delete = FAST;",
             STORE_CACHE_KIB, STORE_WAL_BYTES);
    return db_exec(c, sql, err);
}

/* The format and the tables change together, or not at all. */
static int take_step(struct conn *c, int64_t to, struct pb_error *err)
{
    char sql[128];
    int rc = db_exec(c, "BEGIN IMMEDIATE", err);

    snprintf(sql, sizeof sql, "PRAGMA application_id = %d; PRAGMA user_version = %d;", APPLICATION,
             (int)to);
    if (rc == 0)
        rc = db_exec(c, steps[to - FIRST_FORMAT], err);
    if (rc == 0)
        rc = db_exec(c, sql, err);
    if (rc == 0)
        rc = db_exec(c, "COMMIT", err);
    if (rc < 0 && !c->lib->autocommit(c->db))
        (void)!db_exec(c, "ROLLBACK", NULL);
    return rc;
}

int schema_open(struct conn *c, struct pb_error *err)
{
    int64_t format = 0, application = 0, tables = 0;
    int rc = number_of(c, "SELECT count(*) FROM sqlite_schema", &tables, err);

    if (rc == 0)
        rc = number_of(c, "PRAGMA user_version", &format, err);
    if (rc == 0)
        rc = number_of(c, "PRAGMA application_id", &application, err);
    if (rc < 0)
        return rc;
    if (tables && application != APPLICATION)
        return fail(err, PB_E_INVALID,
                    "'%s' is no database of ours; move it away and start again; nothing is deleted",
                    c->path);
    if (format > FORMAT)
        return fail(err, PB_E_INVALID,
                    "'%s' is of a newer Patchbay (format %lld, this one knows %d); start that one, "
                    "or move the file away",
                    c->path, (long long)format, FORMAT);
    if (tables && format < FIRST_FORMAT)
        return fail(err, PB_E_INVALID,
                    "'%s' is of an older Patchbay (format %lld), which this one cannot read; move "
                    "the file away and start again",
                    c->path, (long long)format);
    /* Before there is a table: later it would need a VACUUM of all. */
    if (!tables)
        rc = db_exec(c, "PRAGMA page_size = 4096; PRAGMA auto_vacuum = INCREMENTAL;", err);
    if (rc == 0)
        rc = db_exec(c, "PRAGMA journal_mode = WAL;", err);
    if (rc == 0)
        rc = schema_settings(c, err);
    for (format = tables ? format + 1 : FIRST_FORMAT; rc == 0 && format <= FORMAT; format++)
        rc = take_step(c, format, err);
    return rc;
}
