#include "conn.h"
#include "schema.h"
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum { BUSY_MS = 5000, PERSISTENT = SQLITE_PREPARE_PERSISTENT };

static const char *const texts[SQL_COUNT] = {
    [SQL_BEGIN] = "BEGIN IMMEDIATE",
    [SQL_COMMIT] = "COMMIT",
    [SQL_ROLLBACK] = "ROLLBACK",
    [SQL_STATE] = "SELECT last_no, calls, objects, object_bytes, last_object, indexed, text_done "
                  "FROM state",
    [SQL_STATE_SET] = "UPDATE state SET last_no = ?1, calls = ?2, objects = ?3, "
                      "object_bytes = ?4, last_object = ?5, indexed = ?6, text_done = ?7",
    [SQL_WORD_ID] = "SELECT id FROM word WHERE text = ?1",
    [SQL_WORD_TEXT] = "SELECT text FROM word WHERE id = ?1",
    [SQL_WORD_NEW] = "INSERT INTO word(text) VALUES(?1) RETURNING id",
    [SQL_WORDS] = "SELECT count(*) FROM word",
    [SQL_WORD_NEXT] = "SELECT min(id) FROM word WHERE id >= ?1",
    [SQL_WORDS_FROM] = "SELECT id FROM word WHERE id BETWEEN ?1 AND ?2",
    [SQL_WORD_DROP] = "DELETE FROM word WHERE id = ?1",
    [SQL_OBJECT_BY_KEY] = "SELECT id, cid, size, flags FROM object WHERE key = ?1",
    [SQL_OBJECT_NEW] = "INSERT INTO object(id, key, cid, size, flags, data) "
                       "VALUES(?1, ?2, ?3, ?4, ?5, ?6)",
    [SQL_OBJECT_CID] = "SELECT cid, size FROM object WHERE id = ?1",
    [SQL_OBJECT_DATA] = "SELECT cid, size, flags, data FROM object WHERE id = ?1",
    [SQL_OBJECT_DROP] = "DELETE FROM object WHERE id = ?1",
    [SQL_OBJECTS_FROM] = "SELECT id FROM object WHERE id > ?1 ORDER BY id LIMIT ?2",
    [SQL_REFS_ADD] = "INSERT INTO object_refs(id, refs) VALUES(?1, ?2) "
                     "ON CONFLICT(id) DO UPDATE SET refs = refs + ?3 RETURNING refs",
    [SQL_REFS_DROP] = "DELETE FROM object_refs WHERE id = ?1",
    [SQL_PIN] = "SELECT object FROM pin WHERE name = ?1",
    [SQL_PIN_SET] = "INSERT INTO pin(name, object) VALUES(?1, ?2) "
                    "ON CONFLICT(name) DO UPDATE SET object = excluded.object",
    [SQL_PIN_DROP] = "DELETE FROM pin WHERE name = ?1",
    [SQL_BLOCK] = "SELECT calls FROM block WHERE id = ?1",
    [SQL_BLOCK_SET] = "REPLACE INTO block(id, calls) VALUES(?1, ?2)",
    [SQL_BLOCKS] = "SELECT id, calls FROM block WHERE id BETWEEN ?1 AND ?2 ORDER BY id",
    [SQL_BLOCKS_DOWN] = "SELECT id, calls FROM block WHERE id BETWEEN ?1 AND ?2 ORDER BY id DESC",
    [SQL_BLOCK_ANY] = "SELECT 1 FROM block WHERE id BETWEEN ?1 AND ?2 LIMIT 1",
    [SQL_BLOCK_DROP] = "DELETE FROM block WHERE id = ?1",
    [SQL_BLOCK_FIRST] = "SELECT min(id) FROM block",
    [SQL_GROUPS] = "SELECT id, since, until FROM call_group WHERE id <= ?1 ORDER BY id DESC",
    [SQL_GROUP_SET] = "REPLACE INTO call_group(id, since, until) VALUES(?1, ?2, ?3)",
    [SQL_GROUP_DROP] = "DELETE FROM call_group WHERE id = ?1",
    [SQL_GROUP_OLDER] = "SELECT id FROM call_group WHERE since <= ?1 ORDER BY id LIMIT 1",
    [SQL_GROUP_SINCE] = "UPDATE call_group SET since = ?2 WHERE id = ?1",
    [SQL_GROUP_WORD] = "SELECT blocks FROM group_word WHERE grp = ?1 AND word = ?2",
    [SQL_GROUP_WORD_SET] = "REPLACE INTO group_word(grp, word, blocks) VALUES(?1, ?2, ?3)",
    [SQL_GROUP_WORDS] = "SELECT word FROM group_word WHERE grp = ?1 AND word BETWEEN ?2 AND ?3",
    [SQL_GROUP_WORDS_DROP] = "DELETE FROM group_word WHERE grp = ?1",
    [SQL_PLACE] = "SELECT entries FROM place WHERE id = ?1",
    [SQL_PLACE_SET] = "REPLACE INTO place(id, entries) VALUES(?1, ?2)",
    [SQL_PLACES_DROP] = "DELETE FROM place WHERE id BETWEEN ?1 AND ?2",
    [SQL_TEXT_ADD] = "INSERT INTO object_text(rowid, text) VALUES(?1, ?2)",
    [SQL_TEXT_DROP] = "INSERT INTO object_text(object_text, rowid, text) VALUES('delete', ?1, ?2)",
    [SQL_TEXT_FIND] = "SELECT rowid FROM object_text WHERE object_text MATCH ?1 "
                      "ORDER BY rowid DESC LIMIT ?2",
    [SQL_PAGES] = "PRAGMA page_count",
    [SQL_FREE_PAGES] = "PRAGMA freelist_count",
};

static bool disk_is_full(int code, int sys)
{
    return (code & 0xff) == SQLITE_FULL ||
           ((code & 0xff) == SQLITE_IOERR && (sys == ENOSPC || sys == EDQUOT || sys == EFBIG));
}

int db_fail(struct conn *c, struct pb_error *err)
{
    int code = c->db ? c->lib->errcode(c->db) : SQLITE_CANTOPEN;
    int sys = c->db ? c->lib->system_errno(c->db) : errno;

    if (disk_is_full(code, sys))
        return fail_sys(err, sys ? sys : ENOSPC, "write '%s'", c->path);
    switch (code & 0xff) {
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return fail(err, PB_E_INVALID,
                    "'%s' is %s; move it away and start again; nothing is deleted", c->path,
                    (code & 0xff) == SQLITE_CORRUPT ? "damaged" : "no database of ours");
    case SQLITE_INTERRUPT:
        return fail(err, PB_E_TIMEOUT, "reading '%s' took longer than %d ms", c->path,
                    STORE_READ_MS);
    case SQLITE_BUSY:
        return fail(err, PB_E_BUSY, "another program uses '%s'", c->path);
    case SQLITE_IOERR:
    case SQLITE_CANTOPEN:
    case SQLITE_READONLY:
    case SQLITE_PERM:
        return fail_sys(err, sys ? sys : EIO, "use '%s'", c->path);
    default:
        return fail(err, PB_E_SYSTEM, "'%s': %s", c->path, c->lib->errmsg(c->db));
    }
}

int db_exec(struct conn *c, const char *sql, struct pb_error *err)
{
    return c->lib->exec(c->db, sql, NULL, NULL, NULL) == SQLITE_OK ? 0 : db_fail(c, err);
}

sqlite3_stmt *db_statement(struct conn *c, enum sql which, struct pb_error *err)
{
    if (!c->st[which] &&
        c->lib->prepare(c->db, texts[which], -1, PERSISTENT, &c->st[which], NULL) != SQLITE_OK) {
        db_fail(c, err);
        return NULL;
    }
    return c->st[which];
}

int db_row(struct conn *c, sqlite3_stmt *st, struct pb_error *err)
{
    int code = c->lib->step(st), rc;

    if (code == SQLITE_ROW)
        return 1;
    rc = code == SQLITE_DONE ? 0 : db_fail(c, err);
    c->lib->reset(st);
    return rc;
}

int db_run(struct conn *c, sqlite3_stmt *st, struct pb_error *err)
{
    int rc;

    do
        rc = db_row(c, st, err);
    while (rc > 0);
    return rc;
}

int db_number(struct conn *c, enum sql which, int64_t *out, struct pb_error *err)
{
    sqlite3_stmt *st = db_statement(c, which, err);
    int rc = st ? db_row(c, st, err) : -PB_E_SYSTEM;

    if (rc < 0)
        return rc;
    *out = rc ? row_int(c, st, 0) : 0;
    db_end(c, st);
    return 0;
}

/* Nobody else may read it: not even between its making and a chmod(). */
static int make_file(const char *path, struct pb_error *err)
{
    AUTO_CLOSE int fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);

    return fd < 0 ? fail_sys(err, errno, "open '%s'", path) : 0;
}

int db_open(struct conn *c, const char *path, bool writes, struct pb_error *err)
{
    int flags = SQLITE_OPEN_NOMUTEX | (writes ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY);
    int rc = writes ? make_file(path, err) : 0;

    *c = (struct conn){ .lib = libs_get(err), .path = path };
    if (!c->lib)
        return -PB_E_UNSUPPORTED;
    if (rc < 0)
        return rc;
    if (c->lib->open(path, &c->db, flags, NULL) != SQLITE_OK) {
        rc = db_fail(c, err);
        db_close(c);
        return rc;
    }
    c->lib->extended(c->db, 1);
    c->lib->busy_timeout(c->db, BUSY_MS);
    rc = writes ? schema_open(c, err) : schema_settings(c, err);
    if (rc < 0)
        db_close(c);
    return rc;
}

void db_close(struct conn *c)
{
    for (size_t i = 0; i < SQL_COUNT; i++)
        if (c->st[i])
            c->lib->finalize(c->st[i]);
    if (c->db)
        c->lib->close(c->db);
    memset(c->st, 0, sizeof c->st);
    c->db = NULL;
}
