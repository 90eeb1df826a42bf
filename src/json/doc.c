#include "doc.h"
#include "lex.h"
#include "tape.h"
#include "unique.h"
#include <inttypes.h>

enum { TAPE_MIN = 64 };

/* What is kept of a stretch of text while it is checked. One function, compiled three times: the
 * deeper the text, the less there is to do. */
enum mode {
    MODE_TAPE,  /* every value, down to keep_depth */
    MODE_KEYS,  /* keys of open objects, down to unique_depth, dropped when the object ends */
    MODE_CHECK, /* nothing */
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
};

static __attribute__((noinline, cold)) void tape_grow(struct json_doc *doc)
{
    uint32_t cap = doc->cap < TAPE_MIN ? TAPE_MIN : doc->cap;

    /* never past 2^32: two bytes of text make at most one entry, and texts are below 4 GiB */
    cap = cap > UINT32_MAX / 2 ? UINT32_MAX : doc->cap < TAPE_MIN ? cap : cap * 2;
    doc->nodes = mem_resize(doc->nodes, cap * sizeof *doc->nodes);
    doc->cap = cap;
}

static inline uint32_t tape_add(struct reader *r, const uint8_t *from, const uint8_t *to,
                                uint32_t info)
{
    struct json_doc *doc = r->doc;
    const uint8_t *base = (const uint8_t *)doc->text.p;

    if (doc->n == doc->cap)
        tape_grow(doc);
    doc->nodes[doc->n] = (struct json_node){
        .start = (uint32_t)(from - base),
        .end = (uint32_t)(to - base),
        .next = doc->n + 1,
        .info = info,
    };
    return doc->n++;
}

static const uint8_t *refuse_deep(struct reader *r, const uint8_t *at)
{
    lex_refuse(&r->lex, at, "nested deeper than 128 levels");
    r->lex.code = PB_E_LIMIT;
    return NULL;
}

static const uint8_t *refuse_key(struct reader *r, const uint8_t *at)
{
    if (lex_peek(at, r->lex.end) == '}')
        return lex_refuse(&r->lex, at, "expected a key; the last member has no comma after it");
    return lex_refuse(&r->lex, at, "expected a key in double quotes");
}

static const uint8_t *refuse_after(struct reader *r, const uint8_t *at, uint8_t close)
{
    return lex_refuse(&r->lex, at,
                      close == '}' ? "expected ',' or '}' after a member"
                                   : "expected ',' or ']' after an item");
}

/* A key and its colon. */
static inline const uint8_t *read_key(struct reader *r, const uint8_t *p, const enum mode mode)
{
    const uint8_t *end = r->lex.end, *open;
    uint32_t info = JSON_STRING | NODE_NAME;

    p = lex_space(p, end);
    if (lex_peek(p, end) != '"')
        return refuse_key(r, p);
    open = p;
    p = lex_string(&r->lex, p + 1, &info, NODE_ESCAPED);
    if (!p)
        return NULL;
    if (mode != MODE_CHECK)
        tape_add(r, open, p, info);
    if (lex_peek(p, end) != ':') {
        p = lex_space(p, end);
        if (lex_peek(p, end) != ':')
            return lex_refuse(&r->lex, p, "expected ':' after a key");
    }
    return p + 1;
}

static inline const uint8_t *read_scalar(struct reader *r, const uint8_t *p, uint32_t *info)
{
    uint8_t c = lex_peek(p, r->lex.end);

    if (c == '"') {
        *info = JSON_STRING;
        return lex_string(&r->lex, p + 1, info, NODE_ESCAPED);
    }
    if (lex_is_digit(c) || c == '-') {
        *info = JSON_NUMBER;
        return lex_number(&r->lex, p);
    }
    switch (c) {
    case 't':
        *info = JSON_TRUE;
        return lex_literal(&r->lex, p, "true", 4);
    case 'f':
        *info = JSON_FALSE;
        return lex_literal(&r->lex, p, "false", 5);
    case 'n':
        *info = JSON_NULL;
        return lex_literal(&r->lex, p, "null", 4);
    default:
        return lex_refuse_value(&r->lex, p);
    }
}

static bool keys_differ(struct reader *r, uint32_t first, uint32_t n, enum unique_layout layout)
{
    uint32_t again = n > 1 ? unique_check(r->doc, first, n, layout) : 0;

    if (again)
        lex_refuse(&r->lex, (const uint8_t *)r->doc->text.p + r->doc->nodes[again].start,
                   "a key that this object already has");
    return !again;
}

/* The container of frame f, which lies at `depth`, ends before p. */
static inline bool end_container(struct reader *r, const struct frame *f, const uint8_t *p,
                                 int depth, const enum mode mode)
{
    struct json_doc *doc = r->doc;
    struct json_node *n;
    uint32_t count = f->count;

    if (mode == MODE_CHECK)
        return true;
    if (mode == MODE_KEYS) {
        bool fine = f->close != '}' || keys_differ(r, f->node, doc->n - f->node, UNIQUE_KEYS);

        doc->n = f->node;
        return fine;
    }
    n = &doc->nodes[f->node];
    n->end = (uint32_t)(p - (const uint8_t *)doc->text.p);
    n->next = doc->n;
    n->info |= (count < NODE_COUNT_MANY ? count : NODE_COUNT_MANY) << NODE_COUNT_SHIFT;
    if (count)
        doc->nodes[f->last].info |= NODE_LAST;
    return f->close != '}' || depth >= r->unique ||
           keys_differ(r, f->node + 1, count, UNIQUE_TAPED);
}

/* A value goes onto the tape as the newest child of `parent`. */
static inline uint32_t tape_child(struct reader *r, struct frame *parent, const uint8_t *from,
                                  const uint8_t *to, uint32_t info)
{
    uint32_t at = tape_add(r, from, to, parent->close == '}' ? info | NODE_KEYED : info);

    parent->last = at;
    parent->count++;
    return at;
}

static inline void begin_container(struct reader *r, struct frame *f, const uint8_t *p,
                                   const enum mode mode)
{
    if (mode == MODE_TAPE)
        f[1].node = tape_child(r, f, p, p, *p == '{' ? JSON_OBJECT : JSON_ARRAY);
    else if (mode == MODE_KEYS)
        f[1].node = r->doc->n;
    f[1].count = 0;
    f[1].close = (uint8_t)(*p + 2); /* '[' and ']', '{' and '}' are two apart */
}

static const uint8_t *walk_deeper(struct reader *r, const uint8_t *p, int depth, enum mode mode);

/* A scalar, or a container that lies too deep for this mode. */
static inline const uint8_t *read_whole(struct reader *r, struct frame *parent, const uint8_t *p,
                                        int depth, const enum mode mode)
{
    uint8_t c = lex_peek(p, r->lex.end);
    const uint8_t *start = p;
    uint32_t info = 0;

    if (c == '{' || c == '[') {
        info = NODE_OPAQUE | (c == '{' ? JSON_OBJECT : JSON_ARRAY);
        p = walk_deeper(r, p, depth, mode);
    } else {
        p = read_scalar(r, p, &info);
    }
    if (p && mode == MODE_TAPE)
        tape_child(r, parent, start, p, info);
    return p;
}

/* Checks the value at p, which lies at depth `floor`, to its end. No recursion: what is open is
 * on the stack of frames. */
static inline __attribute__((always_inline)) const uint8_t *
walk(struct reader *r, const uint8_t *p, const int floor, const enum mode mode)
{
    const uint8_t *const end = r->lex.end;
    const int deep = mode == MODE_TAPE ? r->keep : mode == MODE_KEYS ? r->unique : JSON_ALL;
    struct frame stack[JSON_DEPTH_MAX + 1], *top = stack;
    int depth = floor;
    uint8_t c;

    stack[0] = (struct frame){ 0 };
    for (;;) {
        p = lex_space(p, end);
        c = lex_peek(p, end);
        if ((c == '{' || c == '[') && depth < deep) {
            if (depth == JSON_DEPTH_MAX)
                return refuse_deep(r, p);
            begin_container(r, top++, p, mode);
            depth++;
            p = lex_space(p + 1, end);
            if (lex_peek(p, end) != top->close) {
                if (top->close == '}' && !(p = read_key(r, p, mode)))
                    return NULL;
                continue;
            }
        } else if (!(p = read_whole(r, top, p, depth, mode))) {
            return NULL;
        }
        for (; depth > floor; top--) {
            p = lex_space(p, end);
            c = lex_peek(p, end);
            if (c == ',')
                break;
            if (c != top->close)
                return refuse_after(r, p, top->close);
            depth--;
            if (!end_container(r, top, ++p, depth, mode))
                return NULL;
        }
        if (depth == floor)
            return p;
        p++;
        if (top->close == '}' && !(p = read_key(r, p, mode)))
            return NULL;
    }
}

static const uint8_t *walk_check(struct reader *r, const uint8_t *p, int depth)
{
    return walk(r, p, depth, MODE_CHECK);
}

static const uint8_t *walk_keys(struct reader *r, const uint8_t *p, int depth)
{
    return walk(r, p, depth, MODE_KEYS);
}

static const uint8_t *walk_deeper(struct reader *r, const uint8_t *p, int depth, enum mode mode)
{
    if (mode == MODE_TAPE && depth < r->unique)
        return walk_keys(r, p, depth);
    return walk_check(r, p, depth);
}

static const uint8_t *read_text(struct reader *r)
{
    const uint8_t *p = walk(r, (const uint8_t *)r->doc->text.p, 0, MODE_TAPE);

    if (!p)
        return NULL;
    p = lex_space(p, r->lex.end);
    if (p < r->lex.end)
        return lex_refuse(&r->lex, p, "expected nothing more after the value");
    r->doc->nodes[0].info |= NODE_LAST;
    return p;
}

int json_parse(struct json_doc *doc, struct span text, const struct json_opts *opts,
               struct pb_error *err)
{
    struct reader r = {
        .lex.end = (const uint8_t *)text.p + text.n,
        .doc = doc,
        .keep = opts && opts->keep_depth > 0 ? opts->keep_depth : JSON_ALL,
        .unique = opts ? opts->unique_depth : 0,
    };
    unsigned line, column;

    doc->n = 0;
    doc->text = text;
    if (text.n >= UINT32_MAX) {
        doc->text = (struct span){ 0 };
        return fail(err, PB_E_LIMIT, "a text of %zu bytes; the limit is %" PRIu32, text.n,
                    UINT32_MAX - 1);
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
    *line = *column = 1;
    for (size_t i = 0; i < offset && i < text.n; i++) {
        if (text.p[i] == '\n') {
            ++*line;
            *column = 1;
        } else if (((uint8_t)text.p[i] & 0xC0) != 0x80) {
            ++*column; /* characters, not bytes */
        }
    }
}
