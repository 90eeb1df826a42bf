#include "log_ring.h"

enum { FIRST_ROOM = 16 };

/* The entry with its text behind it: one allocation for each line. */
struct log_line {
    struct log_entry entry;
    char text[];
};

struct log_ring {
    struct log_line **lines;
    size_t first, n, room;
};

struct log_ring *log_ring_new(void) { return NEW(struct log_ring); }

void log_ring_free(struct log_ring *r)
{
    if (!r)
        return;
    for (size_t i = 0; i < r->n; i++)
        free(r->lines[(r->first + i) % r->room]);
    free(r->lines);
    free(r);
}

/* Up to `max` bytes, and not half a character at their end. */
static size_t fitting(const char *text, size_t max)
{
    size_t n = strnlen(text, max + 1);

    if (n <= max)
        return n;
    for (n = max; n > 0 && ((unsigned char)text[n] & 0xC0) == 0x80; n--)
        continue;
    return n ? n : max;
}

static struct log_line *copy(const struct log_entry *e)
{
    const char *text = e->text ? e->text : "";
    size_t n = fitting(text, LINK_LOG_LINE_MAX);
    struct log_line *l = mem_alloc(sizeof *l + n + 1);

    l->entry = *e;
    memcpy(l->text, text, n);
    l->text[n] = '\0';
    text_make_printable(l->text);
    l->entry.text = l->text;
    return l;
}

/* It has not been round yet while it can grow, so `first` is 0. */
static void grow(struct log_ring *r)
{
    r->room = r->room ? r->room * 2 : FIRST_ROOM;
    if (r->room > LINK_LOG_MAX)
        r->room = LINK_LOG_MAX;
    r->lines = mem_resize(r->lines, r->room * sizeof *r->lines);
}

const struct log_entry *log_ring_add(struct log_ring *r, const struct log_entry *e)
{
    struct log_line *l = copy(e);

    if (!l->entry.id[0])
        id_uuid(l->entry.id);
    if (r->n == r->room && r->room < LINK_LOG_MAX)
        grow(r);
    if (r->n == LINK_LOG_MAX) {
        free(r->lines[r->first]);
        r->lines[r->first] = l;
        r->first = (r->first + 1) % r->room;
    } else {
        r->lines[r->n++] = l;
    }
    return &l->entry;
}

size_t log_ring_count(const struct log_ring *r) { return r->n; }

const struct log_entry *log_ring_at(const struct log_ring *r, size_t i)
{
    return i < r->n ? &r->lines[(r->first + i) % r->room]->entry : NULL;
}
