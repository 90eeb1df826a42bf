#include "keys.h"
#include "hub/spec/spec.h"
#include "secrets.h"

/* "NAME=value" or "Name: value", as a spec has them. */
struct keys {
    char **pairs;
    size_t n;
};

struct keys *keys_new(void) { return NEW(struct keys); }

void keys_free(struct keys *k)
{
    if (!k)
        return;
    for (size_t i = 0; i < k->n; i++) {
        explicit_bzero(k->pairs[i], strlen(k->pairs[i]));
        free(k->pairs[i]);
    }
    free(k->pairs);
    free(k);
}

static bool is_remote(const struct spec *s) { return s->transport != SPEC_STDIO; }

/* Headers have no '_' in their names, variables seldom have none. */
static bool is_header(const char *name) { return *name && !strchr(name, '_'); }

static const char *place_of(const struct spec *s, const char *name)
{
    return is_remote(s) && !is_header(name) ? "Authorization" : name;
}

static bool is_pair_of(const char *pair, const char *name, bool header)
{
    struct span have = span_make(pair, strcspn(pair, header ? ":" : "="));

    return header ? span_is_nocase(have, name) : span_is(have, name);
}

/* Does the entry say it itself? */
static bool is_said(const struct spec *s, const char *name)
{
    const char *place = place_of(s, name);

    for (const char *const *p = is_remote(s) ? s->headers : s->env; *p; p++)
        if (is_pair_of(*p, place, is_remote(s)))
            return true;
    return false;
}

static bool can_be_sent(struct span key)
{
    for (size_t i = 0; i < key.n; i++)
        if (((unsigned char)key.p[i] < ' ' && key.p[i] != '\t') || key.p[i] == 0x7f)
            return false;
    return true;
}

int keys_add(struct keys *k, const struct spec *s, const char *name, struct span key,
             struct pb_error *err)
{
    const char *place = place_of(s, name);
    size_t room = strlen(place) + sizeof ": Bearer " + key.n;
    struct buf pair = { 0 };

    if (!*place)
        return fail(err, PB_E_INVALID, "the key needs the name of a variable: \"env_vars\" has it");
    if (is_remote(s) && !can_be_sent(key))
        return fail(err, PB_E_INVALID, "the key for %s holds a line break or control character",
                    place);
    buf_reserve(&pair, room); /* it does not grow, and leaves no copy behind */
    buf_str(&pair, place);
    buf_str(&pair, !is_remote(s) ? "=" : is_header(name) ? ": " : ": Bearer ");
    buf_add_span(&pair, key);
    k->pairs = mem_resize(k->pairs, (k->n + 1) * sizeof *k->pairs);
    k->pairs[k->n++] = buf_take(&pair);
    return 0;
}

/* ---- from files ---- */

/* Under its own name; the first also as the only one that there was. */
static int load_one(const char *dir, const struct spec *s, const char *name, bool first,
                    struct buf *out, struct pb_error *err)
{
    int rc = *name ? secrets_load(dir, s->uuid, name, out, err) : -(int)PB_E_NOT_FOUND;

    return rc == -(int)PB_E_NOT_FOUND && first ? secrets_load(dir, s->uuid, NULL, out, err) : rc;
}

static int tell_missing(const char *name, struct pb_error *err)
{
    return fail(err, PB_E_AUTH,
                "there is no key for %s: give it on the server's page of the console, or say it in "
                "\"%s\"",
                *name ? name : "it", is_header(name) || !*name ? "headers" : "env");
}

static int take_stored(struct keys *k, const struct spec *s, const char *dir,
                       const struct spec_env_var *v, struct pb_error *err)
{
    AUTO_SECRET struct buf key = { 0 };
    int rc;

    if (is_said(s, v->name))
        return 0;
    rc = s->uuid ? load_one(dir, s, v->name, v == s->env_vars || !*v->name, &key, err)
                 : -(int)PB_E_NOT_FOUND;
    if (rc == 0)
        return keys_add(k, s, v->name, buf_span(&key), err);
    if (rc != -(int)PB_E_NOT_FOUND)
        return rc;
    /* A program inherits ours. */
    if (!v->required || (!is_remote(s) && getenv(v->name)))
        return 0;
    return tell_missing(v->name, err);
}

static int load_stored(struct keys *k, const struct spec *s, const char *dir, struct pb_error *err)
{
    static const struct spec_env_var only = { "", true };
    int rc = 0;

    if (!dir)
        return 0;
    if (!s->env_vars[0].name)
        return is_remote(s) ? take_stored(k, s, dir, &only, err) : 0;
    for (const struct spec_env_var *v = s->env_vars; rc == 0 && v->name; v++)
        rc = take_stored(k, s, dir, v, err);
    return rc;
}

static int load_keyfile(struct keys *k, const struct spec *s, struct pb_error *err)
{
    const char *name = s->env_vars[0].name ? s->env_vars[0].name : "";
    AUTO_SECRET struct buf key = { 0 };
    int rc;

    if (is_said(s, name))
        return 0;
    rc = secrets_read_keyfile(s->keyfile_path, &key, err);
    return rc < 0 ? rc : keys_add(k, s, name, buf_span(&key), err);
}

bool keys_wanted(const struct spec *s)
{
    if (s->auth == SPEC_AUTH_KEYFILE)
        return s->keyfile_path != NULL;
    return s->auth == SPEC_AUTH_API_KEY && (s->env_vars[0].name || (is_remote(s) && s->uuid));
}

int keys_load(struct keys **out, const struct spec *s, const char *dir, struct pb_error *err)
{
    AUTO(keys) struct keys *k = keys_new();
    int rc = 0;

    if (keys_wanted(s))
        rc = s->auth == SPEC_AUTH_KEYFILE ? load_keyfile(k, s, err) : load_stored(k, s, dir, err);
    if (rc == 0)
        *out = TAKE(k);
    return rc;
}

/* ---- using and keeping them ---- */

void keys_apply(const struct keys *k, struct spec *s, struct arena *a)
{
    const char *const **list = is_remote(s) ? &s->headers : &s->env;
    const char **all, **added;
    size_t n = 0;

    if (!k || !k->n)
        return;
    added = arena_alloc(a, (k->n + 1) * sizeof *added);
    memcpy(added, k->pairs, k->n * sizeof *added);
    s->keys = added;
    while ((*list)[n])
        n++;
    all = arena_alloc(a, (n + k->n + 1) * sizeof *all);
    memcpy(all, *list, n * sizeof *all);
    for (size_t i = 0; i < k->n; i++)
        all[n + i] = k->pairs[i];
    *list = all;
}

/* The only one has a file without a name; as one of several it has its own, which goes before. */
int keys_store(const char *dir, const struct spec *s, const char *name, struct span key,
               struct pb_error *err)
{
    bool first = !*name || (s->env_vars[0].name && strcmp(s->env_vars[0].name, name) == 0);
    bool only = first && !(s->env_vars[0].name && s->env_vars[1].name);
    int rc = 0;

    if (key.n)
        rc = secrets_store(dir, s->uuid, only ? NULL : name, key, err);
    if (rc == 0 && *name && (only || !key.n))
        rc = secrets_delete(dir, s->uuid, name, err);
    if (rc == 0 && first && (!only || !key.n))
        rc = secrets_delete(dir, s->uuid, NULL, err);
    return rc;
}
