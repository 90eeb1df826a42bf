#include "chars.h"
#include "schema_parts.h"

enum {
    STEP_BYTES = 64, /* bytes looked at that count as one step */
    COPY_BYTES = 16, /* bytes decoded that count as one step */
    PAIRS_MAX = 8,   /* items compared each with each; more are hashed first */
};

/* Applications nest up to JSON_SCHEMA_DEPTH_MAX, also on threads with little stack: what is rare
 * stays out of the frames on the way down. */
#define RARE __attribute__((noinline, cold))

/* ---- Outcomes and bounds ----------------------------------------------------------------- */

RARE static int check_limit(struct check *c, struct json v, enum check_limit limit)
{
    c->limit = limit;
    c->limit_at = v;
    return -PB_E_LIMIT;
}

int check_spend(struct check *c, struct json v, uint64_t steps)
{
    if (steps > c->steps)
        return check_limit(c, v, CHECK_STEPS);
    c->steps -= steps;
    return 0;
}

RARE int check_miss(struct check *c, const struct kw *k, struct json where, uint64_t got)
{
    c->why = (struct failure){ k, where, got, 0 };
    return -PB_E_INVALID;
}

static int spend_text(struct check *c, struct json v, size_t bytes_per_step)
{
    const struct json_node *n = node_of(v);
    size_t bytes = n->end - n->start;

    return bytes < bytes_per_step ? 0 : check_spend(c, v, bytes / bytes_per_step);
}

/* ---- What has been looked at ------------------------------------------------------------- */

enum { WORD_BITS = 64 };

static size_t seen_words(const struct seen *s) { return (s->n + WORD_BITS - 1) / WORD_BITS; }

static uint64_t *seen_bits(struct seen *s) { return s->bits ? s->bits : &s->small; }

int seen_init(struct check *c, struct seen *s, size_t n, struct json v)
{
    *s = (struct seen){ .n = n };
    if (n <= WORD_BITS)
        return 0;
    /* what is charged for also bounds the memory: 8 bytes per step */
    if (check_spend(c, v, seen_words(s)) < 0)
        return -PB_E_LIMIT;
    s->bits = arena_alloc(&c->arena, seen_words(s) * sizeof *s->bits);
    return 0;
}

void seen_mark(struct seen *s, size_t i)
{
    seen_bits(s)[i / WORD_BITS] |= UINT64_C(1) << (i % WORD_BITS);
}

void seen_mark_all(struct seen *s) { memset(seen_bits(s), 0xff, seen_words(s) * sizeof *s->bits); }

bool seen_has(const struct seen *s, size_t i)
{
    const uint64_t *bits = s->bits ? s->bits : &s->small;

    return bits[i / WORD_BITS] >> (i % WORD_BITS) & 1;
}

void seen_merge(struct seen *to, const struct seen *from)
{
    const uint64_t *more = from->bits ? from->bits : &from->small;

    for (size_t i = 0; i < seen_words(to); i++)
        seen_bits(to)[i] |= more[i];
}

/* ---- Applying a schema to a value -------------------------------------------------------- */

static int run_keywords(struct check *c, struct place *p)
{
    uint32_t bit = 1u << p->type;

    for (uint32_t i = 0; i < p->sub->n; i++) {
        const struct kw *k = &p->sub->kws[i];
        int rc;

        if (!(k->row->on & bit))
            continue;
        if (c->steps == 0)
            return check_limit(c, p->v, CHECK_STEPS);
        c->steps--;
        rc = k->row->check(c, k, p);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* A schema with unevaluated* keeps its own account, and shows it to who asked for one. */
static __attribute__((noinline)) int run_tracking(struct check *c, struct place *p)
{
    struct seen seen, *asked = p->seen;
    int rc = seen_init(c, &seen, json_len(p->v), p->v);

    p->seen = &seen;
    if (rc == 0)
        rc = run_keywords(c, p);
    p->seen = asked;
    if (rc == 0 && asked)
        seen_merge(asked, &seen);
    return rc;
}

int check_apply(struct check *c, const struct place *up, const struct sub *s, struct json v,
                struct seen *seen)
{
    struct place p = { .up = up, .v = v, .seen = seen, .depth = up ? up->depth + 1 : 1 };

    /* A lone $ref costs no depth; but with a $dynamicRef about, each schema on the way counts. */
    for (unsigned hops = 0; s->alias && !c->s->dynamic; s = s->alias)
        if (++hops > JSON_SCHEMA_DEPTH_MAX)
            return check_limit(c, v, CHECK_DEPTH);
    if (p.depth > JSON_SCHEMA_DEPTH_MAX)
        return check_limit(c, v, CHECK_DEPTH);
    p.sub = s;
    p.type = node_type(node_of(v));
    return s->tracks ? run_tracking(c, &p) : run_keywords(c, &p);
}

/* ---- Assertions for every type ----------------------------------------------------------- */

int check_false(struct check *c, const struct kw *k, struct place *p)
{
    return check_miss(c, k, p->v, 0);
}

int check_type(struct check *c, const struct kw *k, struct place *p)
{
    if (k->types & 1u << p->type)
        return 0;
    if (p->type == JSON_NUMBER && k->types & TYPE_INTEGER) {
        if (spend_text(c, p->v, STEP_BYTES) < 0)
            return -PB_E_LIMIT;
        if (number_is_whole(json_text(p->v)))
            return 0;
    }
    return check_miss(c, k, p->v, p->type);
}

/* 1, 0 or -PB_E_LIMIT */
static int equal(struct check *c, struct json a, struct json b)
{
    size_t n = json_text(a).n, m = json_text(b).n;

    if (json_type(a) != json_type(b))
        return 0;
    /* a number is read to its end, all else only as far as both go */
    if (m < n && !json_is(a, JSON_NUMBER))
        n = m;
    if (check_spend(c, a, n / STEP_BYTES) < 0)
        return -PB_E_LIMIT;
    return json_equal(a, b);
}

int check_const(struct check *c, const struct kw *k, struct place *p)
{
    int rc = equal(c, p->v, k->value);

    return rc == 0 ? check_miss(c, k, p->v, 0) : rc < 0 ? rc : 0;
}

int check_enum(struct check *c, const struct kw *k, struct place *p)
{
    JSON_FOREACH(item, k->value) {
        int rc = equal(c, p->v, item);

        if (rc != 0)
            return rc < 0 ? rc : 0;
        if (check_spend(c, p->v, 1) < 0)
            return -PB_E_LIMIT;
    }
    return check_miss(c, k, p->v, 0);
}

/* ---- Numbers ----------------------------------------------------------------------------- */

/* <0, 0, >0 against the bound; *rc is set when it may not be asked. */
static int against(struct check *c, const struct kw *k, const struct place *p, int *rc)
{
    *rc = spend_text(c, p->v, STEP_BYTES);
    return number_cmp(json_text(p->v), json_text(k->value));
}

int check_minimum(struct check *c, const struct kw *k, struct place *p)
{
    int rc, order = against(c, k, p, &rc);

    return rc < 0 || order >= 0 ? rc : check_miss(c, k, p->v, 0);
}

int check_maximum(struct check *c, const struct kw *k, struct place *p)
{
    int rc, order = against(c, k, p, &rc);

    return rc < 0 || order <= 0 ? rc : check_miss(c, k, p->v, 0);
}

int check_exclusive_minimum(struct check *c, const struct kw *k, struct place *p)
{
    int rc, order = against(c, k, p, &rc);

    return rc < 0 || order > 0 ? rc : check_miss(c, k, p->v, 0);
}

int check_exclusive_maximum(struct check *c, const struct kw *k, struct place *p)
{
    int rc, order = against(c, k, p, &rc);

    return rc < 0 || order < 0 ? rc : check_miss(c, k, p->v, 0);
}

int check_multiple_of(struct check *c, const struct kw *k, struct place *p)
{
    struct span number = json_text(p->v), divisor = json_text(k->value);

    /* each digit of one meets all digits of the other */
    if (check_spend(c, p->v, (number.n + 1) * divisor.n / STEP_BYTES) < 0)
        return -PB_E_LIMIT;
    return number_is_multiple(number, divisor) ? 0 : check_miss(c, k, p->v, 0);
}

/* ---- Strings ----------------------------------------------------------------------------- */

static uint64_t count_chars(struct json string)
{
    const struct json_node *n = node_of(string);
    struct span inside = node_inside(string.doc, n);
    struct chars chars = chars_of(inside);
    uint64_t count = 0;

    if (n->info & NODE_ESCAPED) {
        while (chars_next(&chars) != CHARS_END)
            count++;
        return count;
    }
    for (size_t i = 0; i < inside.n; i++)
        count += ((unsigned char)inside.p[i] & 0xc0) != 0x80;
    return count;
}

int check_min_length(struct check *c, const struct kw *k, struct place *p)
{
    int rc = spend_text(c, p->v, STEP_BYTES);
    uint64_t n = rc < 0 ? 0 : count_chars(p->v);

    return rc < 0 || n >= k->count ? rc : check_miss(c, k, p->v, n);
}

int check_max_length(struct check *c, const struct kw *k, struct place *p)
{
    int rc = spend_text(c, p->v, STEP_BYTES);
    uint64_t n = rc < 0 ? 0 : count_chars(p->v);

    return rc < 0 || n <= k->count ? rc : check_miss(c, k, p->v, n);
}

int check_chars(struct check *c, struct json string, struct span *out)
{
    const struct json_node *n = node_of(string);

    if (n->info & NODE_ESCAPED && spend_text(c, string, COPY_BYTES) < 0)
        return -PB_E_LIMIT;
    *out = n->info & NODE_ESCAPED ? json_str(string, &c->arena) : node_inside(string.doc, n);
    return 0;
}

int check_matches(struct check *c, const struct pattern *pattern, struct json string)
{
    struct span chars;
    int rc;

    if (check_chars(c, string, &chars) < 0)
        return -PB_E_LIMIT;
    rc = pattern_search(pattern, chars, &c->run);
    if (rc < 0)
        return check_limit(c, string, CHECK_PATTERN);
    return check_spend(c, string, 1 + c->run.steps) < 0 ? -PB_E_LIMIT : rc;
}

int check_pattern(struct check *c, const struct kw *k, struct place *p)
{
    int rc = check_matches(c, k->pattern, p->v);

    return rc == 0 ? check_miss(c, k, p->v, 0) : rc < 0 ? rc : 0;
}

/* ---- Sizes ------------------------------------------------------------------------------- */

static int at_least(struct check *c, const struct kw *k, struct place *p)
{
    size_t n = json_len(p->v);

    return n >= k->count ? 0 : check_miss(c, k, p->v, n);
}

static int at_most(struct check *c, const struct kw *k, struct place *p)
{
    size_t n = json_len(p->v);

    return n <= k->count ? 0 : check_miss(c, k, p->v, n);
}

int check_min_items(struct check *c, const struct kw *k, struct place *p)
{
    return at_least(c, k, p);
}

int check_max_items(struct check *c, const struct kw *k, struct place *p)
{
    return at_most(c, k, p);
}

int check_min_properties(struct check *c, const struct kw *k, struct place *p)
{
    return at_least(c, k, p);
}

int check_max_properties(struct check *c, const struct kw *k, struct place *p)
{
    return at_most(c, k, p);
}

/* ---- uniqueItems ------------------------------------------------------------------------- */

struct hashed {
    uint64_t hash;
    uint32_t at, index;
};

static uint64_t fold(uint64_t a, uint64_t b)
{
    uint64_t both[2] = { a, b };

    return hash_keyed(span_make((const char *)both, sizeof both));
}

static uint64_t hash_string(struct json v, struct buf *scratch)
{
    struct span inside = node_inside(v.doc, node_of(v));

    if (!(node_of(v)->info & NODE_ESCAPED))
        return hash_keyed(inside);
    scratch->n = 0;
    chars_decode(scratch, inside);
    return hash_keyed(buf_span(scratch));
}

/* Equal values have equal hashes; the key is secret, so nobody can choose others that do. */
static uint64_t hash_value(struct json v, struct buf *scratch)
{
    enum json_type t = json_type(v);
    uint64_t h = t;

    if (t == JSON_NUMBER) {
        scratch->n = 0;
        number_bytes(json_text(v), scratch);
        return fold(h, hash_keyed(buf_span(scratch)));
    }
    if (t == JSON_STRING)
        return fold(h, hash_string(v, scratch));
    JSON_FOREACH(child, v) {
        uint64_t x = hash_value(child, scratch);

        if (t == JSON_OBJECT) /* in any order */
            h += fold(hash_string(member_name(child), scratch), x);
        else
            h = fold(h, x);
    }
    return fold(h, t);
}

static int by_hash(const void *x, const void *y)
{
    const struct hashed *a = x, *b = y;

    if (a->hash != b->hash)
        return a->hash < b->hash ? -1 : 1;
    return (a->index > b->index) - (a->index < b->index);
}

static int same_items(struct check *c, const struct kw *k, struct json array, uint64_t i,
                      uint64_t j)
{
    int rc = check_miss(c, k, array, i);

    c->why.also = j;
    return rc;
}

static int unique_hashed(struct check *c, const struct kw *k, struct json array, size_t n)
{
    AUTO_FREE struct hashed *list = mem_alloc(n * sizeof *list);
    AUTO_BUF struct buf scratch = { 0 };
    size_t i = 0;

    JSON_FOREACH(v, array) {
        list[i] = (struct hashed){ hash_value(v, &scratch), v.at, (uint32_t)i };
        i++;
    }
    qsort(list, n, sizeof *list, by_hash);
    for (i = 1; i < n; i++) {
        struct json a = { array.doc, list[i - 1].at }, b = { array.doc, list[i].at };

        if (list[i - 1].hash == list[i].hash && json_equal(a, b))
            return same_items(c, k, array, list[i - 1].index, list[i].index);
    }
    return 0;
}

int check_unique_items(struct check *c, const struct kw *k, struct place *p)
{
    size_t n = json_len(p->v), i = 0;

    if (n < 2)
        return 0;
    if (check_spend(c, p->v, n) < 0 || spend_text(c, p->v, COPY_BYTES) < 0)
        return -PB_E_LIMIT;
    if (n > PAIRS_MAX)
        return unique_hashed(c, k, p->v, n);
    JSON_FOREACH(a, p->v) {
        size_t j = i + 1;

        for (struct json b = json_next(a); !json_is(b, JSON_NONE); b = json_next(b), j++)
            if (json_equal(a, b))
                return same_items(c, k, p->v, i, j);
        i++;
    }
    return 0;
}
