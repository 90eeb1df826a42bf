#include "filter.h"

/* Three values, because a search can hit its bound: what cannot be decided must not become a match
 * by a "not" around it. A server chooses the names of its tools, and could choose them so. */
enum filter_verdict { NO, YES, UNDECIDED };

/* A name, or a server and a tool. */
struct pair {
    struct span server, tool;
};

/* One "pattern". */
struct search {
    struct pattern *pattern;
    struct pattern_run run;
    bool told; /* that it hit the bound */
    struct search *next;
};

struct node {
    const struct node_kind *kind;
    struct span *words; /* as they were written */
    struct pair *pairs; /* the same, sorted */
    struct node **subs;
    size_t n; /* words and pairs, or subs */
    struct search *search;
};

struct filter {
    struct arena arena;
    struct node *root;
    struct search *searches;
    uint8_t digest[SHA256_BYTES];
};

struct filter_reader {
    struct filter *f;
    size_t nodes, pattern_bytes;
    struct pb_error *err;
};

struct node_kind {
    const char *name;
    int (*read)(struct filter_reader *r, struct node *n, struct json v, int depth);
    enum filter_verdict (*decide)(const struct node *n, const struct filter_subject *s);
    void (*write)(struct json_out *o, const char *key, const struct node *n);
    struct span (*server)(const struct pair *p); /* that it names; NULL: none by itself */
};

static int read_node(struct filter_reader *r, struct node **out, struct json v, int depth);

/* ---- Reading ----------------------------------------------------------------------------- */

static int count(struct filter_reader *r, size_t n)
{
    if (n > FILTER_NODES_MAX - r->nodes)
        return fail(r->err, PB_E_LIMIT, "a filter has at most %d parts", FILTER_NODES_MAX);
    r->nodes += n;
    return 0;
}

static int expected(struct filter_reader *r, const char *what, struct json got)
{
    return fail(r->err, PB_E_INVALID, "expected %s, got %s", what, json_type_phrase(got));
}

static int read_nothing(struct filter_reader *r, struct node *n, struct json v, int depth)
{
    (void)n;
    (void)depth;
    return json_is(v, JSON_OBJECT) && !json_len(v) ? 0 : expected(r, "{}", v);
}

static int by_pair(const void *a, const void *b)
{
    const struct pair *x = a, *y = b;
    int c = span_cmp(x->server, y->server);

    return c ? c : span_cmp(x->tool, y->tool);
}

/* A server's name holds neither "." nor "/", so the first of them ends it. A word without one is
 * the id of a built-in. */
static struct pair split_id(struct span id)
{
    size_t i = 0;

    while (i < id.n && id.p[i] != '.' && id.p[i] != '/')
        i++;
    if (i == id.n)
        return (struct pair){ .tool = id };
    return (struct pair){ span_make(id.p, i), span_from(id, i + 1) };
}

static struct pair as_tool(struct span word) { return (struct pair){ .tool = word }; }

static int read_words(struct filter_reader *r, struct node *n, struct json v,
                      struct pair (*pair)(struct span word))
{
    struct arena *a = &r->f->arena;

    if (!json_is(v, JSON_ARRAY))
        return expected(r, "an array of strings", v);
    if (count(r, json_len(v)) < 0)
        return -(int)r->err->code;
    n->words = arena_alloc(a, json_len(v) * sizeof *n->words);
    n->pairs = arena_alloc(a, json_len(v) * sizeof *n->pairs);
    JSON_FOREACH(item, v) {
        struct span word;

        if (!json_is(item, JSON_STRING))
            return expected(r, "a string", item);
        word = json_str(item, a);
        word.p = arena_dup(a, word);
        n->words[n->n] = word;
        n->pairs[n->n++] = pair(word);
    }
    qsort(n->pairs, n->n, sizeof *n->pairs, by_pair);
    return 0;
}

static int read_names(struct filter_reader *r, struct node *n, struct json v, int depth)
{
    (void)depth;
    return read_words(r, n, v, as_tool);
}

static int read_ids(struct filter_reader *r, struct node *n, struct json v, int depth)
{
    (void)depth;
    return read_words(r, n, v, split_id);
}

static int read_pattern(struct filter_reader *r, struct node *n, struct json v, int depth)
{
    struct pattern *p;

    (void)depth;
    if (!json_is(v, JSON_STRING))
        return expected(r, "a string", v);
    if (pattern_new(&p, json_str(v, &r->f->arena), &r->pattern_bytes, r->err) < 0)
        return -(int)r->err->code;
    n->search = NEW(struct search);
    n->search->pattern = p;
    n->search->next = r->f->searches;
    r->f->searches = n->search;
    return 0;
}

static int read_list(struct filter_reader *r, struct node *n, struct json v, int depth)
{
    if (!json_is(v, JSON_ARRAY))
        return expected(r, "an array of filters", v);
    if (json_len(v) > FILTER_NODES_MAX)
        return count(r, json_len(v));
    n->subs = arena_alloc(&r->f->arena, json_len(v) * sizeof(struct node *));
    JSON_FOREACH(item, v) {
        if (read_node(r, &n->subs[n->n], item, depth + 1) < 0)
            return fail_in(r->err, "%zu", n->n);
        n->n++;
    }
    return 0;
}

static int read_not(struct filter_reader *r, struct node *n, struct json v, int depth)
{
    n->subs = arena_alloc(&r->f->arena, sizeof(struct node *));
    n->n = 1;
    return read_node(r, &n->subs[0], v, depth + 1);
}

/* ---- Deciding ---------------------------------------------------------------------------- */

static enum filter_verdict decide_all(const struct node *n, const struct filter_subject *s)
{
    (void)n;
    (void)s;
    return YES;
}

static enum filter_verdict decide_none(const struct node *n, const struct filter_subject *s)
{
    (void)n;
    (void)s;
    return NO;
}

static enum filter_verdict find_pair(const struct node *n, struct span server, struct span tool)
{
    struct pair wanted = { server, tool };

    return bsearch(&wanted, n->pairs, n->n, sizeof wanted, by_pair) ? YES : NO;
}

static enum filter_verdict decide_servers(const struct node *n, const struct filter_subject *s)
{
    return find_pair(n, (struct span){ 0 }, s->server);
}

static enum filter_verdict decide_tools(const struct node *n, const struct filter_subject *s)
{
    return find_pair(n, (struct span){ 0 }, s->tool);
}

static enum filter_verdict decide_ids(const struct node *n, const struct filter_subject *s)
{
    return find_pair(n, s->server, s->tool);
}

static enum filter_verdict decide_pattern(const struct node *n, const struct filter_subject *s)
{
    struct search *x = n->search;
    int rc = pattern_search(x->pattern, s->tool, &x->run);

    if (rc >= 0)
        return rc ? YES : NO;
    if (!x->told)
        log_warn("the pattern %.*s of a filter takes more than %d steps on some names: those are "
                 "left out",
                 SPAN_ARG(pattern_text(x->pattern)), JSON_PATTERN_STEPS_MAX);
    x->told = true;
    return UNDECIDED;
}

static enum filter_verdict decide_and(const struct node *n, const struct filter_subject *s)
{
    enum filter_verdict all = YES;

    for (size_t i = 0; i < n->n && all != NO; i++) {
        enum filter_verdict one = n->subs[i]->kind->decide(n->subs[i], s);

        all = one == YES ? all : one;
    }
    return all;
}

static enum filter_verdict decide_or(const struct node *n, const struct filter_subject *s)
{
    enum filter_verdict any = NO;

    for (size_t i = 0; i < n->n && any != YES; i++) {
        enum filter_verdict one = n->subs[i]->kind->decide(n->subs[i], s);

        any = one == NO ? any : one;
    }
    return any;
}

static enum filter_verdict decide_not(const struct node *n, const struct filter_subject *s)
{
    enum filter_verdict inner = n->subs[0]->kind->decide(n->subs[0], s);

    return inner == UNDECIDED ? UNDECIDED : inner == YES ? NO : YES;
}

/* ---- Writing ----------------------------------------------------------------------------- */

static void write_word(struct json_out *o, const char *key, const struct node *n)
{
    json_put_str(o, key, n->kind->name);
}

static void write_words(struct json_out *o, const char *key, const struct node *n)
{
    json_begin_object(o, key);
    json_begin_array(o, n->kind->name);
    for (size_t i = 0; i < n->n; i++)
        json_put_span(o, NULL, n->words[i]);
    json_end(o);
    json_end(o);
}

static void write_pattern(struct json_out *o, const char *key, const struct node *n)
{
    json_begin_object(o, key);
    json_put_span(o, n->kind->name, pattern_text(n->search->pattern));
    json_end(o);
}

static void write_list(struct json_out *o, const char *key, const struct node *n)
{
    json_begin_object(o, key);
    json_begin_array(o, n->kind->name);
    for (size_t i = 0; i < n->n; i++)
        n->subs[i]->kind->write(o, NULL, n->subs[i]);
    json_end(o);
    json_end(o);
}

static void write_not(struct json_out *o, const char *key, const struct node *n)
{
    json_begin_object(o, key);
    n->subs[0]->kind->write(o, n->kind->name, n->subs[0]);
    json_end(o);
}

/* ---- Naming servers ---------------------------------------------------------------------- */

static struct span server_of_word(const struct pair *p) { return p->tool; }

static struct span server_of_id(const struct pair *p) { return p->server; }

/* ---- The kinds --------------------------------------------------------------------------- */

/* clang-format off */
static const struct node_kind kinds[] = {
    { "all",     read_nothing, decide_all,     write_word,    NULL },
    { "and",     read_list,    decide_and,     write_list,    NULL },
    { "none",    read_nothing, decide_none,    write_word,    NULL },
    { "not",     read_not,     decide_not,     write_not,     NULL },
    { "or",      read_list,    decide_or,      write_list,    NULL },
    { "pattern", read_pattern, decide_pattern, write_pattern, NULL },
    { "servers", read_names,   decide_servers, write_words,   server_of_word },
    { "toolIDs", read_ids,     decide_ids,     write_words,   server_of_id },
    { "tools",   read_names,   decide_tools,   write_words,   NULL },
};
/* clang-format on */

static const struct node_kind *kind_named(struct span name)
{
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (span_is(name, kinds[i].name))
            return &kinds[i];
    return NULL;
}

/* Swift writes what a case holds as {"_0":value}. No filter has such a member. */
static struct json unwrap(struct json v)
{
    struct json inner = json_get(v, "_0");

    return json_is(inner, JSON_NONE) ? v : inner;
}

static int read_node(struct filter_reader *r, struct node **out, struct json v, int depth)
{
    struct json member = json_first(v);
    struct span name = json_str(v, &r->f->arena);
    bool object = json_is(v, JSON_OBJECT);
    const struct node_kind *kind;
    struct node *n;

    if (depth >= FILTER_DEPTH_MAX)
        return fail(r->err, PB_E_LIMIT, "a filter is at most %d levels deep", FILTER_DEPTH_MAX);
    if (count(r, 1) < 0)
        return -(int)r->err->code;
    if (!object && !json_is(v, JSON_STRING))
        return expected(r, "\"all\" or an object with one member", v);
    if (object && json_len(v) != 1)
        return fail(r->err, PB_E_INVALID, "expected an object with one member, got %zu",
                    json_len(v));
    if (object)
        name = json_key_str(member, &r->f->arena);
    kind = kind_named(name);
    if (!kind || (!object && kind->read != read_nothing))
        return fail(r->err, PB_E_INVALID,
                    "no filter \"%.*s\"; known are \"all\", \"none\", {servers}, {tools}, "
                    "{toolIDs}, {pattern}, {and}, {or}, {not}",
                    (int)(name.n < MCP_NAME_SHOWN_MAX ? name.n : MCP_NAME_SHOWN_MAX), name.p);
    n = arena_alloc(&r->f->arena, sizeof *n);
    n->kind = kind;
    *out = n;
    if (object && kind->read(r, n, unwrap(member), depth) < 0)
        return fail_in(r->err, "%s", kind->name);
    return 0;
}

static void sign(struct filter *f)
{
    AUTO_BUF struct buf text = { 0 };
    struct json_out o = json_out(&text);

    filter_write(&o, NULL, f);
    sha256(buf_span(&text), f->digest);
}

int filter_parse(struct filter **out, struct json v, struct pb_error *err)
{
    AUTO(filter) struct filter *f = NEW(struct filter);
    struct pb_error why;
    struct filter_reader r = { .f = f, .err = &why };

    if (read_node(&r, &f->root, v, 0) < 0) {
        text_make_printable(why.msg);
        return fail_copy(err, &why);
    }
    sign(f);
    *out = TAKE(f);
    return 0;
}

struct filter *filter_all(void)
{
    struct filter *f = NEW(struct filter);

    f->root = arena_alloc(&f->arena, sizeof *f->root);
    f->root->kind = kind_named(SPAN("all"));
    sign(f);
    return f;
}

void filter_write(struct json_out *o, const char *key, const struct filter *f)
{
    f->root->kind->write(o, key, f->root);
}

bool filter_matches(const struct filter *f, const struct filter_subject *s)
{
    return f->root->kind->decide(f->root, s) == YES;
}

static void each_server(const struct node *n, void (*fn)(void *ctx, struct span server), void *ctx)
{
    for (size_t i = 0; n->subs && i < n->n; i++)
        each_server(n->subs[i], fn, ctx);
    for (size_t i = 0; n->kind->server && i < n->n; i++)
        fn(ctx, n->kind->server(&n->pairs[i]));
}

void filter_each_server(const struct filter *f, void (*fn)(void *ctx, struct span server),
                        void *ctx)
{
    each_server(f->root, fn, ctx);
}

const uint8_t *filter_digest(const struct filter *f) { return f->digest; }

void filter_free(struct filter *f)
{
    if (!f)
        return;
    while (f->searches) {
        struct search *x = f->searches;

        f->searches = x->next;
        pattern_free(x->pattern);
        pattern_run_done(&x->run);
        free(x);
    }
    arena_done(&f->arena);
    free(f);
}
