#include "mode.h"

#define FULL_ID   "full"
#define FULL_NAME "Full Access"
#define FULL_ICON "square.grid.3x3.fill"

static void mode_done(struct mode *m)
{
    free(m->id);
    free(m->name);
    free(m->icon);
    filter_free(m->filter);
}

struct mode_set *mode_set_new(void)
{
    struct mode_set *s = NEW(struct mode_set);

    s->refs = 1;
    s->n = 1;
    s->modes = NEW(struct mode);
    s->modes[0] = (struct mode){
        .id = mem_dup(FULL_ID),
        .name = mem_dup(FULL_NAME),
        .icon = mem_dup(FULL_ICON),
        .filter = filter_all(),
    };
    return s;
}

struct mode_set *mode_set_ref(struct mode_set *s)
{
    s->refs++;
    return s;
}

void mode_set_unref(struct mode_set *s)
{
    if (!s || --s->refs)
        return;
    for (size_t i = 0; i < s->n; i++)
        mode_done(&s->modes[i]);
    free(s->modes);
    free(s);
}

static bool same_mode(const struct mode *a, const struct mode *b)
{
    return strcmp(a->id, b->id) == 0 && strcmp(a->name, b->name) == 0 &&
           span_eq(span_of(a->icon), span_of(b->icon)) &&
           memcmp(filter_digest(a->filter), filter_digest(b->filter), SHA256_BYTES) == 0;
}

bool mode_set_equal(const struct mode_set *a, const struct mode_set *b)
{
    if (a->n != b->n)
        return false;
    for (size_t i = 0; i < a->n; i++)
        if (!same_mode(&a->modes[i], &b->modes[i]))
            return false;
    return true;
}

static struct mode *find(const struct mode_set *s, struct span id)
{
    for (size_t i = 0; i < s->n; i++)
        if (span_is(id, s->modes[i].id))
            return &s->modes[i];
    return NULL;
}

const struct mode *mode_find(const struct mode_set *s, struct span id) { return find(s, id); }

/* It becomes a part of an address: /mcp/mode/ID. */
static int check_id(struct span id, struct pb_error *err)
{
    if (!id.n || id.n > HUB_NAME_MAX)
        return fail(err, PB_E_INVALID, "the id of a mode has 1 to %d bytes, not %zu", HUB_NAME_MAX,
                    id.n);
    for (size_t i = 0; i < id.n; i++)
        if ((unsigned char)id.p[i] < 0x20 || id.p[i] == 0x7f || id.p[i] == '/')
            return fail(err, PB_E_INVALID,
                        "the id of a mode may hold neither '/' nor control characters");
    return utf8_valid(id) ? 0 : fail(err, PB_E_INVALID, "the id of a mode is no UTF-8");
}

struct mode_text {
    struct span id;
    const char *name, *icon;
    struct json filter;
};

static int read_text(struct mode_text *t, struct span id, struct json v, struct arena *a,
                     struct pb_error *err)
{
    static const struct json_field fields[] = {
        { "id", JSON_FIELD_STRING, offsetof(struct mode_text, id), 0 },
        { "name", JSON_FIELD_CSTR, offsetof(struct mode_text, name), 0 },
        { "icon", JSON_FIELD_CSTR, offsetof(struct mode_text, icon), 0 },
        { "filter", JSON_FIELD_ANY, offsetof(struct mode_text, filter), JSON_REQUIRED },
        { 0 },
    };

    if (json_fields(v, fields, t, a, err) < 0)
        return id.n ? fail_in(err, "mode '%.*s'", SPAN_ARG(id)) : fail_in(err, "mode");
    if (id.n && t->id.n && !span_eq(id, t->id))
        return fail(err, PB_E_INVALID, "mode '%.*s' says that its id is '%.*s'", SPAN_ARG(id),
                    SPAN_ARG(t->id));
    t->id = id.n ? id : t->id;
    return check_id(t->id, err);
}

/* What lets everything through must go on doing so: callers rely on it by its id. */
static int check_full(const struct mode *m, struct pb_error *err)
{
    AUTO(filter) struct filter *all = filter_all();

    if (strcmp(m->id, FULL_ID) != 0 ||
        memcmp(filter_digest(all), filter_digest(m->filter), SHA256_BYTES) == 0)
        return 0;
    return fail(err, PB_E_INVALID,
                "mode '" FULL_ID "' is predefined and lets everything through: give this one "
                "another id");
}

static void put(struct mode_set *s, const struct mode *m)
{
    struct mode *old = find(s, span_of(m->id));

    if (old) {
        mode_done(old);
        *old = *m;
        return;
    }
    s->modes = mem_resize(s->modes, (s->n + 1) * sizeof *s->modes);
    s->modes[s->n++] = *m;
}

int mode_set_add(struct mode_set *s, struct span id, struct json v, struct pb_error *err)
{
    AUTO_ARENA struct arena a = { 0 };
    struct mode_text t = { 0 };
    struct mode m = { 0 };
    struct pb_error why;

    if (read_text(&t, id, v, &a, &why) < 0)
        return fail_copy(err, &why);
    if (s->n >= MODES_MAX && !find(s, t.id))
        return fail(err, PB_E_LIMIT, "there are %d modes already", MODES_MAX);
    if (filter_parse(&m.filter, t.filter, &why) < 0) {
        fail_in(&why, "mode '%.*s': filter", SPAN_ARG(t.id));
        return fail_copy(err, &why);
    }
    m.id = mem_dupn(t.id.p, t.id.n);
    m.name = mem_dup(t.name ? t.name : m.id);
    m.icon = mem_dup(t.icon ? t.icon : "");
    if (check_full(&m, err) < 0) {
        mode_done(&m);
        return -PB_E_INVALID;
    }
    put(s, &m);
    return 0;
}

void mode_write(struct json_out *o, const char *key, const struct mode *m)
{
    json_begin_object(o, key);
    json_put_str(o, "id", m->id);
    json_put_str(o, "name", m->name);
    json_put_str(o, "icon", m->icon);
    filter_write(o, "filter", m->filter);
    json_end(o);
}
