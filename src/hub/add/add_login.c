/* add_login.c - which kind of login a server wants, by the names of what it is given. */
#include "add_parts.h"
#include "hub/spec/spec.h"

static bool ends_with(struct span s, const char *end)
{
    size_t n = strlen(end);

    return s.n >= n && span_is_nocase(span_from(s, s.n - n), end);
}

/* Judged by its words: GITHUB_TOKEN, OPENAI_API_KEY, X-ApiKey; KEYBOARD is none. */
static bool names_secret(struct span name)
{
    static const char *const ends[] = { "KEY",    "TOKEN",      "SECRET",      "PASSWORD",
                                        "PASSWD", "CREDENTIAL", "CREDENTIALS", "AUTHORIZATION" };

    while (name.n) {
        struct span word = add_cut_at(name, "_-", 0);

        for (size_t i = 0; i < ARRAY_LEN(ends); i++)
            if (ends_with(word, ends[i]))
                return true;
        if (span_is_nocase(word, "PAT"))
            return true;
        name = span_from(name, word.n < name.n ? word.n + 1 : word.n);
    }
    return false;
}

struct variables {
    struct arena *arena;
    struct registry_env_var *list;
    size_t n;
};

static void note(struct variables *v, struct span name)
{
    v->list[v->n++] = (struct registry_env_var){
        .name = arena_dup(v->arena, name),
        .is_secret = names_secret(name),
        .is_required = true,
    };
}

/* Of the command's own, and those that docker is told to hand on. */
static void note_all(struct variables *v, const char *const *words, const char *const *env)
{
    v->list = arena_alloc(v->arena, (add_count(words) + add_count(env) + 1) * sizeof *v->list);
    for (size_t i = 0; env && env[i]; i++)
        note(v, add_cut_at(span_of(env[i]), "=", 0));
    for (size_t i = 0; words && words[i] && words[i + 1]; i++)
        if (strcmp(words[i], "-e") == 0 || strcmp(words[i], "--env") == 0)
            note(v, add_cut_at(span_of(words[i + 1]), "=", 0));
}

enum spec_auth add_detect_auth(const char *const *words, const char *const *env,
                               const char *const *headers)
{
    AUTO_ARENA struct arena arena = { 0 };
    struct variables v = { .arena = &arena };

    note_all(&v, words, env);
    for (; headers && *headers; headers++)
        if (names_secret(add_cut_at(span_of(*headers), ":", 0)))
            return SPEC_AUTH_API_KEY;
    return spec_detect_auth(v.list, v.n);
}

static bool has_name(const char *const *list, const char *name)
{
    for (; *list; list++)
        if (strcmp(*list, name) == 0)
            return true;
    return false;
}

const char *const *add_secret_names(struct arena *a, const char *const *words,
                                    const char *const *env, const char *const *headers)
{
    struct variables v = { .arena = a };
    const char **names;
    size_t n = 0;

    note_all(&v, words, env);
    names = arena_alloc(a, (v.n + add_count(headers) + 1) * sizeof *names);
    for (size_t i = 0; i < v.n; i++)
        if (v.list[i].is_secret && !has_name(names, v.list[i].name))
            names[n++] = v.list[i].name;
    for (; headers && *headers; headers++) {
        struct span name = add_cut_at(span_of(*headers), ":", 0);

        if (names_secret(name))
            names[n++] = arena_dup(a, name);
    }
    return names;
}
