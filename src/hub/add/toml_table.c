#include "toml_table.h"
#include "json/json.h"

void toml_text_init(struct toml_text *t)
{
    *t = (struct toml_text){ 0 };
    t->root = toml_table_new(t, TOML_HEADER, 0);
}

struct toml_table *toml_table_new(struct toml_text *t, enum toml_made made, unsigned depth)
{
    struct toml_table *table = arena_alloc(&t->arena, sizeof *table);

    table->end = &table->first;
    table->made = made;
    table->depth = depth;
    return table;
}

static struct toml_member *find(const struct toml_table *in, struct span key)
{
    for (struct toml_member *m = in->first; m; m = m->next)
        if (span_eq(m->key, key))
            return m;
    return NULL;
}

static int refuse_key(struct span key, const char *why, struct pb_error *err)
{
    AUTO_FREE char *shown =
        mem_dupn(key.p, key.n < MCP_NAME_SHOWN_MAX ? key.n : MCP_NAME_SHOWN_MAX);

    text_make_printable(shown);
    return fail(err, PB_E_INVALID, "'%s' %s", shown, why);
}

static int add(struct toml_text *t, struct toml_table *in, const struct toml_member *m,
               struct pb_error *err)
{
    struct toml_member *mine;

    /* A key is looked for among those before it: so many, and no more. */
    if (t->n_keys == TOML_KEYS_MAX)
        return fail(err, PB_E_LIMIT, "more than %d keys", TOML_KEYS_MAX);
    t->n_keys++;
    mine = arena_alloc(&t->arena, sizeof *mine);
    *mine = *m;
    mine->key = span_of(arena_dup(&t->arena, m->key));
    mine->key.n = m->key.n;
    *in->end = mine;
    in->end = &mine->next;
    return 0;
}

int toml_put(struct toml_text *t, struct toml_table *in, struct span key, struct span json,
             struct pb_error *err)
{
    struct toml_member m = { .key = key };

    if (find(in, key))
        return refuse_key(key, "is there already", err);
    m.json = span_make(arena_dup(&t->arena, json), json.n);
    return add(t, in, &m, err);
}

int toml_enter(struct toml_text *t, struct toml_table **in, struct span key, enum toml_made made,
               struct pb_error *err)
{
    struct toml_member *old = find(*in, key), m = { .key = key };

    if (old && !old->table)
        return refuse_key(key, "is a value, not a table", err);
    if (old && (old->table->made == TOML_CLOSED ||
                (made == TOML_DOTTED && old->table->made != TOML_DOTTED)))
        return refuse_key(key, "is a table that is complete already", err);
    if (old) {
        *in = old->table;
        return 0;
    }
    if ((*in)->depth == TOML_DEPTH_MAX)
        return fail(err, PB_E_LIMIT, "more than %d tables in each other", TOML_DEPTH_MAX);
    m.table = toml_table_new(t, made, (*in)->depth + 1);
    if (add(t, *in, &m, err) < 0)
        return -(int)PB_E_LIMIT;
    *in = m.table;
    return 0;
}

int toml_open(struct toml_table *table, struct pb_error *err)
{
    if (table->made != TOML_IMPLIED)
        return fail(err, PB_E_INVALID, "this table is there already");
    table->made = TOML_HEADER;
    return 0;
}

void toml_write(struct buf *out, const struct toml_table *t)
{
    buf_byte(out, '{');
    for (const struct toml_member *m = t->first; m; m = m->next) {
        if (m != t->first)
            buf_byte(out, ',');
        json_quote(out, m->key);
        buf_byte(out, ':');
        if (m->table)
            toml_write(out, m->table);
        else
            buf_add_span(out, m->json);
    }
    buf_byte(out, '}');
}
