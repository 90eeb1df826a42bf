#include "doc.h"
#include "check.h"
#include "tape.h"
#include "unique.h"
#include <inttypes.h>

enum { TAPE_MIN = 64 };

/* How much is kept of a stretch of text while it is checked: one function, compiled twice. Below
 * both, check_container() keeps nothing. */
enum keep_mode {
    MODE_TAPE, /* every value, down to keep_depth */
    MODE_KEYS, /* keys of open objects, down to unique_depth; dropped when the object ends */
};

struct reader {
    struct lex lex;
    struct json_doc *doc;
    int keep, unique;
};

/* One open container. */
struct frame {
    uint32_t node;  /* its entry; with MODE_KEYS where its keys begin */
    uint32_t last;  /* the entry of its newest child */
    uint32_t count; /* of children */
    uint8_t close;  /* the bracket that ends it */
    bool doubt;     /* two of its keys have a bit in common: they may be the same */
    uint64_t bits;  /* of its keys: see unique_bit() */
};

/* The tape while it is written, in what the compiler may keep in registers: nobody outside the loop
 * gets its address. */
struct tape {
    struct json_node *nodes;
    const uint8_t *text;
    uint32_t n, cap;
};

/* What walk() adds at most before it looks for room again: a value, and a key. */
enum { TAPE_STEP = 2 };

static HOT struct tape tape_of(const struct json_doc *doc)
{
    return (struct tape){ doc->nodes, (const uint8_t *)doc->text.p, doc->n, doc->cap };
}

/* Does nothing when there would be room for more than JSON_NODES_MAX. */
static __attribute__((noinline, cold)) struct tape tape_grow(struct json_doc *doc, struct tape t)
{
    enum { MOST = JSON_NODES_MAX + TAPE_STEP - 1 };

    doc->n = t.n;
    if (doc->cap < MOST) {
        doc->cap = doc->cap ? doc->cap * 2 : TAPE_MIN;
        if (doc->cap > MOST)
            doc->cap = MOST;
        doc->nodes = mem_resize(doc->nodes, doc->cap * sizeof *doc->nodes);
    }
    return tape_of(doc);
}

static HOT bool tape_has_room(const struct tape *t) { return t->cap - t->n >= TAPE_STEP; }

static HOT uint32_t tape_add(struct tape *t, const uint8_t *from, const uint8_t *to, uint32_t info)
{
    t->nodes[t->n] = (struct json_node){
        .start = (uint32_t)(from - t->text),
        .end = (uint32_t)(to - t->text),
        .next = t->n + 1,
        .info = info,
    };
    return t->n++;
}

_Static_assert(('}' & NODE_KEYED) && !(']' & NODE_KEYED),
               "the bracket tells of what it is a child");

/* A value goes onto the tape as the newest child of `parent`. */
static HOT uint32_t tape_child(struct tape *t, struct frame *parent, const uint8_t *from,
                               const uint8_t *to, uint32_t info)
{
    parent->last = tape_add(t, from, to, info | (parent->close & NODE_KEYED));
    parent->count++;
    return parent->last;
}

/* A key of the object of frame f; `unique`: which may not have it twice. */
static HOT const uint8_t *read_key(struct reader *r, struct tape *t, struct frame *f,
                                   const uint8_t *p, bool unique)
{
    const uint8_t *open, *behind;
    bool escaped;

    if (RARE(lex_next(&p, r->lex.end) != '"'))
        return lex_refuse_key(&r->lex, p);
    open = p;
    p = lex_key(&r->lex, p, &behind, &escaped);
    if (RARE(!p))
        return NULL;
    tape_add(t, open, behind, JSON_STRING | NODE_NAME | (escaped ? NODE_ESCAPED : 0));
    if (unique) {
        uint64_t bit =
            unique_bit(span_make((const char *)open + 1, (size_t)(behind - open) - 2), escaped);

        f->doubt |= (f->bits & bit) != 0;
        f->bits |= bit;
    }
    return p;
}

/* c is the byte at p. */
static HOT const uint8_t *read_scalar(struct lex *l, const uint8_t *p, uint8_t c, uint32_t *info)
{
    bool escaped;

    if (c == '"') {
        p = lex_string(l, p, &escaped);
        *info = JSON_STRING | (escaped ? NODE_ESCAPED : 0);
        return p;
    }
    if (lex_is_digit(c) || c == '-') {
        *info = JSON_NUMBER;
        return lex_number(l, p);
    }
    if (c == 't') {
        *info = JSON_TRUE;
        return lex_literal(l, p, "true", 4);
    }
    if (c == 'f') {
        *info = JSON_FALSE;
        return lex_literal(l, p, "false", 5);
    }
    *info = JSON_NULL;
    return c == 'n' ? lex_literal(l, p, "null", 4) : lex_refuse_value(l, p);
}

static inline bool is_open(uint8_t c) { return (c | 0x20) == '{'; /* both brackets */ }

static inline uint32_t container_type(uint8_t open)
{
    return open == '{' ? JSON_OBJECT : JSON_ARRAY;
}

/* May an object whose keys lie at `depth` name none of them twice? */
static HOT bool is_watched(const struct reader *r, int depth, const enum keep_mode mode)
{
    return mode == MODE_KEYS || depth <= r->unique;
}

static HOT void begin_container(struct tape *t, struct frame *parent, const uint8_t *p,
                                const enum keep_mode mode)
{
    parent[1] = (struct frame){
        .node = mode == MODE_KEYS ? t->n : tape_child(t, parent, p, p, container_type(*p)),
        .close = (uint8_t)(*p + 2), /* '[' and ']', '{' and '}' are two apart */
    };
}

static bool keys_differ(struct reader *r, uint32_t first, uint32_t n, enum unique_layout layout)
{
    uint32_t again = unique_check(r->doc, first, n, layout);

    if (again)
        lex_refuse(&r->lex, (const uint8_t *)r->doc->text.p + r->doc->nodes[again].start,
                   "a key that this object already has");
    return !again;
}

/* The container of frame f ends before p. */
static HOT bool end_container(struct reader *r, struct tape *t, const struct frame *f,
                              const uint8_t *p, const enum keep_mode mode)
{
    struct json_node *n;

    if (mode == MODE_KEYS) {
        bool fine = !f->doubt || keys_differ(r, f->node, t->n - f->node, UNIQUE_KEYS);

        t->n = f->node;
        return fine;
    }
    n = &t->nodes[f->node];
    n->end = (uint32_t)(p - t->text);
    n->next = t->n;
    n->info |= f->count << NODE_COUNT_SHIFT;
    if (f->count)
        t->nodes[f->last].info |= NODE_LAST;
    return !f->doubt || keys_differ(r, f->node + 1, f->count, UNIQUE_TAPED);
}

static const uint8_t *walk_keys(struct reader *r, const uint8_t *p, int depth);

/* A container that lies too deep for this mode. */
static HOT const uint8_t *read_opaque(struct reader *r, struct tape *t, const uint8_t *p, int depth,
                                      const enum keep_mode mode)
{
    if (mode == MODE_KEYS || depth >= r->unique)
        return check_container(&r->lex, p, depth);
    r->doc->n = t->n;
    p = walk_keys(r, p, depth);
    *t = tape_of(r->doc);
    return p;
}

/* A scalar that begins with c, or a container that lies too deep for this mode. */
static HOT const uint8_t *read_whole(struct reader *r, struct tape *t, struct frame *parent,
                                     const uint8_t *p, uint8_t c, int depth,
                                     const enum keep_mode mode)
{
    const uint8_t *from = p;
    uint32_t info;

    if (!is_open(c)) {
        p = read_scalar(&r->lex, p, c, &info);
    } else {
        info = NODE_OPAQUE | container_type(c);
        p = read_opaque(r, t, p, depth, mode);
    }
    if (OFTEN(p) && mode == MODE_TAPE)
        tape_child(t, parent, from, p, info);
    return p;
}

/* Checks the value at p, which lies at depth `floor`, to its end. What is open is on the stack of
 * frames, so a text cannot make us recurse. */
static HOT const uint8_t *walk(struct reader *r, const uint8_t *p, const int floor,
                               const enum keep_mode mode)
{
    const uint8_t *const end = r->lex.end;
    const int deep = mode == MODE_TAPE ? r->keep : r->unique;
    struct frame stack[JSON_DEPTH_MAX + 1], *top = stack;
    struct tape t = tape_of(r->doc);
    int depth = floor;
    uint8_t c;

    stack[0] = (struct frame){ 0 };
    for (;;) {
        c = lex_next(&p, end);
        if (RARE(!tape_has_room(&t))) {
            t = tape_grow(r->doc, t);
            if (!tape_has_room(&t))
                return lex_refuse_many(&r->lex, p);
        }
        if (is_open(c) && depth < deep) {
            if (RARE(depth == JSON_DEPTH_MAX))
                return lex_refuse_deep(&r->lex, p);
            begin_container(&t, top++, p++, mode);
            depth++;
            if (lex_next(&p, end) != top->close) {
                if (top->close == '}' &&
                    RARE(!(p = read_key(r, &t, top, p, is_watched(r, depth, mode)))))
                    return NULL;
                continue;
            }
        } else if (RARE(!(p = read_whole(r, &t, top, p, c, depth, mode)))) {
            return NULL;
        }
        for (; depth > floor && (c = lex_next(&p, end)) == top->close; top--, depth--)
            if (RARE(!end_container(r, &t, top, ++p, mode)))
                return NULL;
        if (depth == floor) {
            r->doc->n = t.n;
            return p;
        }
        if (RARE(c != ','))
            return lex_refuse_after(&r->lex, p, top->close);
        p++;
        if (top->close == '}' && RARE(!(p = read_key(r, &t, top, p, is_watched(r, depth, mode)))))
            return NULL;
    }
}

static const uint8_t *walk_keys(struct reader *r, const uint8_t *p, int depth)
{
    return walk(r, p, depth, MODE_KEYS);
}

static const uint8_t *read_text(struct reader *r)
{
    const uint8_t *p = walk(r, (const uint8_t *)r->doc->text.p, 0, MODE_TAPE);

    if (!p)
        return NULL;
    lex_next(&p, r->lex.end);
    if (p < r->lex.end)
        return lex_refuse(&r->lex, p, "expected nothing more after the value");
    r->doc->nodes[0].info |= NODE_LAST;
    return p;
}

int json_parse(struct json_doc *doc, struct span text, const struct json_opts *opts,
               struct pb_error *err)
{
    struct reader r = {
        .lex.end = (const uint8_t *)span_end(text),
        .doc = doc,
        .keep = opts && opts->keep_depth > 0 ? opts->keep_depth : JSON_ALL,
        .unique = opts ? opts->unique_depth : 0,
    };
    unsigned line, column;

    doc->n = 0;
    doc->text = text;
    if (text.n > UINT32_MAX) {
        doc->text = (struct span){ 0 };
        return fail(err, PB_E_LIMIT, "a text of %zu bytes; the limit is %" PRIu32, text.n,
                    UINT32_MAX);
    }
    if (read_text(&r))
        return 0;
    json_position(text, (size_t)(r.lex.at - (const uint8_t *)text.p), &line, &column);
    doc->n = 0;
    doc->text = (struct span){ 0 };
    return fail(err, r.lex.code, "line %u, column %u: %s%s", line, column, r.lex.why,
                r.lex.at == r.lex.end ? ", but the text ends" : "");
}

void json_doc_done(struct json_doc *doc)
{
    free(doc->nodes);
    *doc = (struct json_doc){ 0 };
}

void json_doc_trim(struct json_doc *doc, size_t keep)
{
    doc->n = 0;
    doc->text = (struct span){ 0 };
    if (doc->cap * sizeof *doc->nodes > keep)
        json_doc_done(doc);
}

void json_position(struct span text, size_t offset, unsigned *line, unsigned *column)
{
    const char *p = text.n ? text.p : "", *end = p + (offset < text.n ? offset : text.n), *newline;

    for (*line = 1; p < end && (newline = memchr(p, '\n', (size_t)(end - p))); p = newline + 1)
        ++*line;
    for (*column = 1; p < end; p++)
        *column += ((uint8_t)*p & 0xC0) != 0x80; /* characters, not bytes */
}
