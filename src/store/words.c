/* words.c - names occur again and again: each is kept once, and a row has its number. Whoever asks
 * may choose names, so they go when no call has them any more: now and then all are looked at,
 * some at a time. */
#include "store_impl.h"

void words_forget(struct writer *w)
{
    map_done(&w->words);
    for (size_t i = 0; i < TEXT_WORDS; i++) {
        free(w->last_word[i].text);
        w->last_word[i].text = NULL;
    }
}

static int lookup(struct writer *w, struct span text, int64_t *id, struct pb_error *err)
{
    sqlite3_stmt *st = db_statement(&w->c, SQL_WORD_ID, err);
    int rc;

    if (!st)
        return -PB_E_SYSTEM;
    bind_text(&w->c, st, 1, text);
    rc = db_row(&w->c, st, err);
    if (rc == 0) {
        st = db_statement(&w->c, SQL_WORD_NEW, err);
        if (!st)
            return -PB_E_SYSTEM;
        bind_text(&w->c, st, 1, text);
        rc = db_row(&w->c, st, err);
        w->now.words += rc > 0;
        w->due.words_new += rc > 0;
    }
    if (rc > 0)
        *id = row_int(&w->c, st, 0);
    if (rc >= 0)
        db_end(&w->c, st);
    return rc < 0 ? rc : 0;
}

static int intern(struct writer *w, struct span raw, int64_t *id, struct pb_error *err)
{
    void *known = map_get(&w->words, raw);
    struct span text = raw;
    int rc;

    if (known) {
        *id = (int64_t)(intptr_t)known;
        return 0;
    }
    if (w->s->o.redact) {
        w->scratch.n = 0;
        buf_add_span(&w->scratch, raw);
        if (w->s->o.redact(w->s->o.redact_ctx, &w->scratch, NULL))
            text = buf_span(&w->scratch);
    }
    rc = lookup(w, text, id, err);
    if (rc < 0)
        return rc;
    if (w->words.n >= STORE_WORDS_MAX)
        map_done(&w->words);
    map_put(&w->words, raw, (void *)(intptr_t)*id);
    return 0;
}

/* Most records say the same as the one before. */
int word_put(struct writer *w, size_t field, struct span text, int64_t *id, struct pb_error *err)
{
    int rc;

    if (w->last_word[field].text && span_eq(w->last_word[field].span, text)) {
        *id = w->last_word[field].id;
        return 0;
    }
    rc = intern(w, text, id, err);
    if (rc < 0)
        return rc;
    free(w->last_word[field].text);
    w->last_word[field].text = mem_dupn(text.p, text.n);
    w->last_word[field].span = span_make(w->last_word[field].text, text.n);
    w->last_word[field].id = *id;
    return 0;
}

/* ---- those that nobody uses ---- */

/* Some of the words, by number. */
struct swept {
    int64_t from, to;
    uint8_t used[STORE_SWEEP_WORDS / 8];
};

static void mark(struct swept *s, int64_t id)
{
    if (id >= s->from && id <= s->to)
        s->used[(id - s->from) / 8] |= (uint8_t)(1u << (id - s->from) % 8);
}

static bool is_used(const struct swept *s, int64_t id)
{
    return s->used[(id - s->from) / 8] >> (id - s->from) % 8 & 1;
}

static int mark_group(struct writer *w, struct swept *s, int64_t group, struct pb_error *err)
{
    sqlite3_stmt *st = db_statement(&w->c, SQL_GROUP_WORDS, err);
    int rc;

    if (!st)
        return -PB_E_SYSTEM;
    bind_int(&w->c, st, 1, group);
    bind_int(&w->c, st, 2, word_key(s->from, 0));
    bind_int(&w->c, st, 3, word_key(s->to + 1, 0) - 1);
    while ((rc = db_row(&w->c, st, err)) > 0)
        mark(s, word_of_key(row_int(&w->c, st, 0)));
    return rc;
}

static int mark_groups(struct writer *w, struct swept *s, struct pb_error *err)
{
    sqlite3_stmt *st = db_statement(&w->c, SQL_GROUPS, err);
    int rc;

    if (!st)
        return -PB_E_SYSTEM;
    bind_int(&w->c, st, 1, w->now.indexed);
    while ((rc = db_row(&w->c, st, err)) > 0) {
        rc = mark_group(w, s, row_int(&w->c, st, 0), err);
        if (rc < 0) {
            db_end(&w->c, st);
            break;
        }
    }
    return rc;
}

static int mark_row(void *ctx, const struct call_row *row, struct pb_error *err)
{
    (void)err;
    for (size_t i = CALL_SOURCE; i <= CALL_RULE; i++)
        mark(ctx, row->v[i]);
    return 0;
}

/* Calls that have no index yet. */
static int mark_newest(struct writer *w, struct swept *s, struct pb_error *err)
{
    return rows_each(&w->c, w->now.indexed * GROUP_CALLS, w->now.last_no, mark_row, s, err);
}

/* As many as a transaction may hold; s->to is the last that was looked at. */
static int drop_unused(struct writer *w, struct swept *s, struct pb_error *err)
{
    sqlite3_stmt *st = db_statement(&w->c, SQL_WORDS_FROM, err);
    int64_t ids[STORE_SWEEP_DROPS];
    size_t n = 0;
    int rc = 0;

    if (!st)
        return -PB_E_SYSTEM;
    bind_int(&w->c, st, 1, s->from);
    bind_int(&w->c, st, 2, s->to);
    while (n < STORE_SWEEP_DROPS && (rc = db_row(&w->c, st, err)) > 0)
        if (!is_used(s, row_int(&w->c, st, 0)))
            ids[n++] = row_int(&w->c, st, 0);
    db_end(&w->c, st);
    if (n == STORE_SWEEP_DROPS)
        s->to = ids[n - 1];
    for (size_t i = 0; i < n && rc >= 0; i++) {
        st = db_statement(&w->c, SQL_WORD_DROP, err);
        if (!st)
            return -PB_E_SYSTEM;
        bind_int(&w->c, st, 1, ids[i]);
        rc = db_run(&w->c, st, err);
    }
    w->now.words -= (int64_t)n;
    w->due.vacuuming = w->due.vacuuming || n;
    return rc < 0 ? rc : 0;
}

/* 0: there is none. */
static int next_word(struct writer *w, int64_t from, int64_t *id, struct pb_error *err)
{
    sqlite3_stmt *st = db_statement(&w->c, SQL_WORD_NEXT, err);
    int rc;

    if (!st)
        return -PB_E_SYSTEM;
    bind_int(&w->c, st, 1, from);
    rc = db_row(&w->c, st, err);
    *id = rc > 0 ? row_int(&w->c, st, 0) : 0;
    if (rc > 0)
        db_end(&w->c, st);
    return rc < 0 ? rc : 0;
}

int words_sweep(struct writer *w, struct pb_error *err)
{
    struct swept s = { 0 };
    int rc = next_word(w, w->due.sweep_from, &s.from, err);

    if (rc == 0 && !s.from)
        w->due.sweep_from = 0;
    if (rc < 0 || !s.from)
        return rc;
    s.to = s.from + STORE_SWEEP_WORDS - 1;
    rc = mark_groups(w, &s, err);
    if (rc == 0)
        rc = mark_newest(w, &s, err);
    if (rc == 0)
        rc = drop_unused(w, &s, err);
    words_forget(w); /* what is remembered may be gone */
    w->due.sweep_from = s.to + 1;
    return rc;
}

/* To look for them costs something, so it must be worth it: many are new, or most are of few calls.
 */
void words_released(struct writer *w)
{
    bool many = w->now.words > STORE_SWEEP_NEW && w->now.words > w->now.calls / 8;

    if (w->due.sweep_from || (w->due.words_new < STORE_SWEEP_NEW && !many))
        return;
    w->due.sweep_from = 1;
    w->due.words_new = 0;
}
