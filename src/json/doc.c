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

static __attribute__((noinline, cold)) void tape_grow(struct json_doc *doc)
{
    doc->cap = doc->cap ? doc->cap * 2 : TAPE_MIN; /* walk() ends before JSON_NODES_MAX is passed */
    doc->nodes = mem_resize(doc->nodes, doc->cap * sizeof *doc->nodes);
}

static HOT uint32_t tape_add(struct json_doc *doc, const uint8_t *from, const uint8_t *to,
                             uint32_t info)
{
    const uint8_t *base = (const uint8_t *)doc->text.p;

    if (RARE(doc->n == doc->cap))
        tape_grow(doc);
    doc->nodes[doc->n] = (struct json_node){
        .start = (uint32_t)(from - base),
        .end = (uint32_t)(to - base),
        .next = doc->n + 1,
        .info = info,
    };
    return doc->n++;
}

/* A value goes onto the tape as the newest child of `parent`. */
static HOT uint32_t tape_child(struct json_doc *doc, struct frame *parent, const uint8_t *from,
                               const uint8_t *to, uint32_t info)
{
    parent->last = tape_add(doc, from, to, parent->close == '}' ? info | NODE_KEYED : info);
    parent->count++;
    return parent->last;
}

/* A key of the object of frame f; `unique`: which may not have it twice. */
static HOT const uint8_t *read_key(struct reader *r, struct frame *f, const uint8_t *p, bool unique)
{
    const uint8_t *open, *behind;
    bool escaped;

    if (RARE(lex_next(&p, r->lex.end) != '"'))
        return lex_refuse_key(&r->lex, p);
    open = p;
    p = lex_key(&r->lex, p, &behind, &escaped);
    if (RARE(!p))
        return NULL;
    tape_add(r->doc, open, behind, JSON_STRING | NODE_NAME | (escaped ? NODE_ESCAPED : 0));
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

static HOT void begin_container(struct reader *r, struct frame *parent, const uint8_t *p,
                                const enum keep_mode mode)
{
    parent[1] = (struct frame){
        .node =
            mode == MODE_KEYS ? r->doc->n : tape_child(r->doc, parent, p, p, container_type(*p)),
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
static HOT bool end_container(struct reader *r, const struct frame *f, const uint8_t *p,
                              const enum keep_mode mode)
{
    struct json_doc *doc = r->doc;
    struct json_node *n;

    if (mode == MODE_KEYS) {
        bool fine = !f->doubt || keys_differ(r, f->node, doc->n - f->node, UNIQUE_KEYS);

        doc->n = f->node;
        return fine;
    }
    n = &doc->nodes[f->node];
    n->end = (uint32_t)(p - (const uint8_t *)doc->text.p);
    n->next = doc->n;
    n->info |= f->count << NODE_COUNT_SHIFT;
    if (f->count)
        doc->nodes[f->last].info |= NODE_LAST;
    return !f->doubt || keys_differ(r, f->node + 1, f->count, UNIQUE_TAPED);
}

static const uint8_t *walk_keys(struct reader *r, const uint8_t *p, int depth);

/* A scalar, or a container that lies too deep for this mode. */
static HOT const uint8_t *read_whole(struct reader *r, struct frame *parent, const uint8_t *p,
                                     int depth, const enum keep_mode mode)
{
    const uint8_t *from = p;
    uint8_t c = lex_peek(p, r->lex.end);
    uint32_t info = NODE_OPAQUE | container_type(c);

    if (!is_open(c))
        p = read_scalar(&r->lex, p, c, &info);
    else if (mode == MODE_TAPE && depth < r->unique)
        p = walk_keys(r, p, depth);
    else
        p = check_container(&r->lex, p, depth);
    if (OFTEN(p) && mode == MODE_TAPE)
        tape_child(r->doc, parent, from, p, info);
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
    int depth = floor;
    uint8_t c;

    stack[0] = (struct frame){ 0 };
    for (;;) {
        c = lex_next(&p, end);
        if (RARE(r->doc->n >= JSON_NODES_MAX))
            return lex_refuse_many(&r->lex, p);
        if (is_open(c) && depth < deep) {
            if (RARE(depth == JSON_DEPTH_MAX))
                return lex_refuse_deep(&r->lex, p);
            begin_container(r, top++, p++, mode);
            depth++;
            if (lex_next(&p, end) != top->close) {
                if (top->close == '}' &&
                    RARE(!(p = read_key(r, top, p, is_watched(r, depth, mode)))))
                    return NULL;
                continue;
            }
        } else if (RARE(!(p = read_whole(r, top, p, depth, mode)))) {
            return NULL;
        }
        for (; depth > floor && (c = lex_next(&p, end)) == top->close; top--, depth--)
            if (RARE(!end_container(r, top, ++p, mode)))
                return NULL;
        if (depth == floor)
            return p;
        if (RARE(c != ','))
            return lex_refuse_after(&r->lex, p, top->close);
        p++;
        if (top->close == '}' && RARE(!(p = read_key(r, top, p, is_watched(r, depth, mode)))))
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
    const char *p = text.p, *end = p + (offset < text.n ? offset : text.n), *newline;

    for (*line = 1; p < end && (newline = memchr(p, '\n', (size_t)(end - p))); p = newline + 1)
        ++*line;
    for (*column = 1; p < end; p++)
        *column += ((uint8_t)*p & 0xC0) != 0x80; /* characters, not bytes */
}
