/* objects.c - bytes are kept once, by what they are. Small ones that came lately are known by their
 * bytes, so that the same arguments a million times are neither hashed nor looked for. */
#include "store_impl.h"

enum { ZSTD_LEVEL = 1, ZSTD_KEEP = 65536 /* of larger ones the context is large */ };

static void known_drop(struct writer *w, struct known_object *k)
{
    if (!k->raw)
        return;
    w->known_bytes -= k->n;
    free(k->raw);
    free(k->places);
    *k = (struct known_object){ 0 };
}

void objects_forget_known(struct writer *w)
{
    for (size_t i = 0; i < STORE_KNOWN_MAX; i++)
        known_drop(w, &w->known[i]);
}

void objects_forget(struct writer *w)
{
    objects_forget_known(w);
    w->refs_n = 0;
    memset(w->last_ref, 0xff, sizeof w->last_ref);
}

static struct known_object *known_keep(struct writer *w, const struct known_object *what,
                                       struct span raw)
{
    struct known_object *k = &w->known[what->hash % STORE_KNOWN_MAX];

    known_drop(w, k);
    while (w->known_bytes + raw.n > STORE_KNOWN_BYTES)
        known_drop(w, &w->known[w->known_hand++ % STORE_KNOWN_MAX]);
    *k = *what;
    k->raw = mem_dupn(raw.p, raw.n);
    k->n = raw.n;
    w->known_bytes += raw.n;
    return k;
}

/* ---- references ---- */

void object_refer(struct writer *w, size_t which, int64_t id, int by)
{
    size_t last = w->last_ref[which];

    if (last < w->refs_n && w->refs[last].object == id) {
        w->refs[last].by += by;
        return;
    }
    if (w->refs_n == w->refs_cap) {
        w->refs_cap = w->refs_cap ? w->refs_cap * 2 : 64;
        w->refs = mem_resize(w->refs, w->refs_cap * sizeof *w->refs);
    }
    w->last_ref[which] = w->refs_n;
    w->refs[w->refs_n++] = (struct ref_change){ id, by };
}

static int by_object(const void *a, const void *b)
{
    int64_t x = ((const struct ref_change *)a)->object, y = ((const struct ref_change *)b)->object;

    return (x > y) - (x < y);
}

static int drop_row(struct writer *w, enum sql which, int64_t id, struct pb_error *err)
{
    sqlite3_stmt *st = db_statement(&w->c, which, err);

    if (!st)
        return -PB_E_SYSTEM;
    bind_int(&w->c, st, 1, id);
    return db_run(&w->c, st, err);
}

static int object_drop(struct writer *w, int64_t id, struct pb_error *err)
{
    sqlite3_stmt *st = db_statement(&w->c, SQL_OBJECT_CID, err);
    int64_t size = 0;
    int rc;

    if (!st)
        return -PB_E_SYSTEM;
    bind_int(&w->c, st, 1, id);
    rc = db_row(&w->c, st, err);
    if (rc > 0) {
        size = row_int(&w->c, st, 1);
        db_end(&w->c, st);
        rc = 0;
    }
    if (rc == 0)
        rc = text_drop(w, id, err);
    if (rc == 0)
        rc = drop_row(w, SQL_OBJECT_DROP, id, err);
    if (rc == 0)
        rc = drop_row(w, SQL_REFS_DROP, id, err);
    if (rc < 0)
        return rc;
    w->now.objects--;
    w->now.object_bytes -= size;
    w->bytes += (size_t)size;
    for (size_t i = 0; i < STORE_KNOWN_MAX; i++)
        if (w->known[i].raw && w->known[i].id == id)
            known_drop(w, &w->known[i]);
    return 0;
}

/* An object without a row has one reference: most never get another. */
static int settle_one(struct writer *w, int64_t id, int64_t by, struct pb_error *err)
{
    sqlite3_stmt *st = db_statement(&w->c, SQL_REFS_ADD, err);
    int64_t left = 1, had = id > w->committed.last_object ? 0 : 1;
    int rc;

    if (!st)
        return -PB_E_SYSTEM;
    if (!had && by == 1)
        return 0;
    bind_int(&w->c, st, 1, id);
    bind_int(&w->c, st, 2, had + by);
    bind_int(&w->c, st, 3, by);
    rc = db_row(&w->c, st, err);
    if (rc > 0) {
        left = row_int(&w->c, st, 0);
        rc = db_run(&w->c, st, err);
    }
    return rc == 0 && left <= 0 ? object_drop(w, id, err) : rc;
}

int objects_settle(struct writer *w, struct pb_error *err)
{
    int rc = 0;

    if (w->refs_n)
        qsort(w->refs, w->refs_n, sizeof *w->refs, by_object);
    for (size_t i = 0, next; i < w->refs_n && rc == 0; i = next) {
        int64_t by = 0;

        for (next = i; next < w->refs_n && w->refs[next].object == w->refs[i].object; next++)
            by += w->refs[next].by;
        /* Even if it is 0: the object may be new, and nobody wants it any more. */
        rc = settle_one(w, w->refs[i].object, by, err);
    }
    w->refs_n = 0;
    return rc;
}

/* ---- in ---- */

static int64_t key_of(const uint8_t *cid)
{
    uint64_t key;

    memcpy(&key, cid, sizeof key);
    return (int64_t)key;
}

int object_find(struct conn *c, const uint8_t cid[static SHA512_BYTES], int64_t *id,
                struct pb_error *err)
{
    sqlite3_stmt *st = db_statement(c, SQL_OBJECT_BY_KEY, err);
    int rc;

    if (!st)
        return -PB_E_SYSTEM;
    *id = 0;
    bind_int(c, st, 1, key_of(cid));
    while ((rc = db_row(c, st, err)) > 0)
        if (span_eq(row_bytes(c, st, 1), span_make((const char *)cid, SHA512_BYTES))) {
            *id = row_int(c, st, 0);
            db_end(c, st);
            return 0;
        }
    return rc;
}

/* What is to be written of the bytes, and how. */
static struct span packed(struct writer *w, struct span bytes, int64_t *flags)
{
    const struct libs *lib = w->c.lib;
    size_t n;

    *flags = 0;
    if (bytes.n > w->s->o.object_bytes) {
        *flags = OBJECT_ABSENT;
        return (struct span){ 0 };
    }
    if (bytes.n <= STORE_SMALL_MAX)
        return bytes;
    if (!w->zstd)
        w->zstd = lib->zstd_new();
    w->packed.n = 0;
    n = lib->zstd_bound(bytes.n);
    n = lib->zstd_compress(w->zstd, buf_reserve(&w->packed, n), n, bytes.p, bytes.n, ZSTD_LEVEL);
    if (bytes.n > ZSTD_KEEP)
        lib->zstd_free(TAKE(w->zstd));
    if (lib->zstd_is_error(n) || n >= bytes.n)
        return bytes;
    *flags = OBJECT_ZSTD;
    return span_make(w->packed.p, n);
}

static int object_new(struct writer *w, const uint8_t *cid, struct span bytes, int64_t *id,
                      struct pb_error *err)
{
    sqlite3_stmt *st = db_statement(&w->c, SQL_OBJECT_NEW, err);
    int64_t flags;
    struct span data;
    int rc;

    if (!st)
        return -PB_E_SYSTEM;
    data = packed(w, bytes, &flags);
    bind_int(&w->c, st, 1, w->now.last_object + 1);
    bind_int(&w->c, st, 2, key_of(cid));
    bind_blob(&w->c, st, 3, span_make((const char *)cid, SHA512_BYTES));
    bind_int(&w->c, st, 4, (int64_t)bytes.n);
    bind_int(&w->c, st, 5, flags);
    if (flags & OBJECT_ABSENT)
        bind_null(&w->c, st, 6);
    else
        bind_blob(&w->c, st, 6, data);
    rc = db_run(&w->c, st, err);
    w->packed.n = 0;
    buf_shrink(&w->packed, ZSTD_KEEP);
    if (rc < 0)
        return rc;
    *id = ++w->now.last_object;
    w->now.objects++;
    w->now.object_bytes += (int64_t)bytes.n;
    w->bytes += data.n;
    return 0;
}

/* Secrets are taken out before anything else is known of the bytes. */
static struct span without_secrets(struct writer *w, struct span raw)
{
    struct json_out where;

    w->places.n = 0;
    if (!w->s->o.redact)
        return raw;
    w->scratch.n = 0;
    buf_add_span(&w->scratch, raw);
    where = json_out(&w->places);
    json_begin_array(&where, NULL);
    if (!w->s->o.redact(w->s->o.redact_ctx, &w->scratch, &where)) {
        w->places.n = 0;
        return raw;
    }
    json_end(&where);
    return buf_span(&w->scratch);
}

int object_put(struct writer *w, struct span raw, struct object_put *out, struct pb_error *err)
{
    bool small = raw.n <= STORE_COPY_MAX;
    struct known_object new = { .hash = small ? hash_keyed(raw) : 0 }, *k;
    uint8_t cid[SHA512_BYTES];
    struct span bytes;
    int rc;

    k = &w->known[new.hash % STORE_KNOWN_MAX];
    if (small && k->raw && k->hash == new.hash &&span_eq(span_make(k->raw, k->n), raw)) {
        *out = (struct object_put){ k->id, k->places };
        return 0;
    }
    bytes = without_secrets(w, raw);
    sha512(bytes, cid);
    rc = object_find(&w->c, cid, &new.id, err);
    if (rc == 0 && !new.id)
        rc = object_new(w, cid, bytes, &new.id, err);
    if (rc < 0)
        return rc;
    *out = (struct object_put){ new.id, w->places.n ? buf_cstr(&w->places) : NULL };
    if (small) {
        new.places = mem_dup_opt(out->places);
        known_keep(w, &new, raw);
    }
    w->scratch.n = 0;
    buf_shrink(&w->scratch, ZSTD_KEEP);
    return 0;
}

/* ---- out ---- */

static int unpack(struct conn *c, struct span data, int64_t size, struct buf *out,
                  struct pb_error *err)
{
    size_t n = (size_t)size;

    /* The file may say anything: what does not fit is refused, not written. */
    if (size < 0 || size > REPLY_BYTES_MAX)
        return fail(err, PB_E_INVALID, "'%s' is damaged: an object of %lld bytes", c->path,
                    (long long)size);
    n = c->lib->zstd_decompress(buf_reserve(out, n), n, data.p, data.n);
    if (c->lib->zstd_is_error(n))
        return fail(err, PB_E_INVALID, "'%s' is damaged: an object cannot be unpacked", c->path);
    out->n += n;
    return 0;
}

static int check(struct conn *c, const uint8_t *cid, struct span bytes, struct pb_error *err)
{
    uint8_t digest[SHA512_BYTES];
    char name[CID_CHARS + 1];

    sha512(bytes, digest);
    if (memcmp(digest, cid, sizeof digest) == 0)
        return 0;
    cid_write(cid, name);
    return fail(err, PB_E_INVALID, "the bytes of %s are not what they were: '%s' is damaged", name,
                c->path);
}

int object_read(struct conn *c, int64_t id, struct buf *out, struct pb_error *err)
{
    sqlite3_stmt *st = db_statement(c, SQL_OBJECT_DATA, err);
    uint8_t cid[SHA512_BYTES] = { 0 };
    struct span data, name;
    int64_t size, flags;
    int rc;

    if (!st)
        return -PB_E_SYSTEM;
    bind_int(c, st, 1, id);
    rc = db_row(c, st, err);
    if (rc <= 0)
        return rc < 0 ? rc : fail(err, PB_E_NOT_FOUND, "there is no such object");
    name = row_bytes(c, st, 0);
    memcpy(cid, name.p, name.n < sizeof cid ? name.n : sizeof cid);
    size = row_int(c, st, 1);
    flags = row_int(c, st, 2);
    data = row_bytes(c, st, 3);
    out->n = 0;
    if (flags & OBJECT_ABSENT)
        rc = fail(err, PB_E_LIMIT, "the object had %lld bytes, too many to be kept",
                  (long long)size);
    else if (flags & OBJECT_ZSTD)
        rc = unpack(c, data, size, out, err);
    else
        buf_add_span(out, data), rc = 0;
    db_end(c, st);
    return rc < 0 ? rc : check(c, cid, buf_span(out), err);
}
