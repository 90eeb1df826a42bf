#include "add_parts.h"
#include "hub/spec/spec.h"

/* How each runner is called. `values` are options whose value is a word of its own. */
struct runner {
    const char *name;
    const char *sub; /* what must follow the name; NULL: nothing */
    enum spec_package kind;
    const char *names; /* the option that names the package when it is not the first word */
    const char *const *values;
};

static const char *const npx_values[] = { "-p", "--package", "-c", "--call", NULL };
static const char *const docker_values[] = {
    "-e",
    "--env",
    "--env-file",
    "-v",
    "--volume",
    "--mount",
    "--name",
    "-p",
    "--publish",
    "--network",
    "--net",
    "-w",
    "--workdir",
    "-u",
    "--user",
    "--platform",
    "--pull",
    "--entrypoint",
    "--add-host",
    "-l",
    "--label",
    "-h",
    "--hostname",
    "-m",
    "--memory",
    "--cpus",
    "--restart",
    "--gpus",
    "--dns",
    "--tmpfs",
    "--cap-drop",
    "--cap-add",
    "--device",
    "--ipc",
    "--pid",
    "--runtime",
    "--ulimit",
    "--log-driver",
    "--shm-size",
    "--group-add",
    "--expose",
    "--security-opt",
    "--stop-signal",
    NULL,
};
static const char *const uvx_values[] = {
    "--from",      "--with",          "--python",          "-p",
    "--index-url", "--with-editable", "--refresh-package", "--directory",
    NULL
};
static const char *const script_values[] = { "-r", "--require", "--import", "--env-file",
                                             "-W", "-X",        NULL };

/* clang-format off */
static const struct runner runners[] = {
    { "bunx",    NULL,   SPEC_PACKAGE_NPM,    "--package", npx_values },
    { "docker",  "run",  SPEC_PACKAGE_DOCKER, NULL,        docker_values },
    { "node",    NULL,   SPEC_PACKAGE_NONE,   NULL,        script_values },
    { "npx",     NULL,   SPEC_PACKAGE_NPM,    "--package", npx_values },
    { "podman",  "run",  SPEC_PACKAGE_DOCKER, NULL,        docker_values },
    { "python",  NULL,   SPEC_PACKAGE_NONE,   "-m",        script_values },
    { "python3", NULL,   SPEC_PACKAGE_NONE,   "-m",        script_values },
    { "uvx",     NULL,   SPEC_PACKAGE_NONE,   NULL,        uvx_values },
};
/* clang-format on */

const char *add_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

bool add_has_scheme(const char *word)
{
    const char *p = word;

    while ((*p >= 'a' && *p <= 'z') || (*p >= 'A' && *p <= 'Z') || (*p >= '0' && *p <= '9') ||
           *p == '+' || *p == '.' || *p == '-')
        p++;
    return p > word && strncmp(p, "://", 3) == 0;
}

bool add_is_url(const char *word)
{
    const char *colon = strstr(word, "://");
    struct span scheme = span_make(word, colon ? (size_t)(colon - word) : 0);

    return span_is_nocase(scheme, "http") || span_is_nocase(scheme, "https");
}

bool add_is_npm_id(const char *word)
{
    const char *slash = strchr(word, '/');

    if (word[0] != '@' || !slash || slash == word + 1 || !slash[1])
        return false;
    for (const char *p = word + 1; *p; p++)
        if ((*p == '/' && p != slash) || *p <= ' ')
            return false;
    return true;
}

static const struct runner *find_runner(const char *word)
{
    const char *base = add_base_name(word);

    for (size_t i = 0; i < ARRAY_LEN(runners); i++)
        if (strcmp(runners[i].name, base) == 0)
            return &runners[i];
    return NULL;
}

bool add_is_runner(const char *word) { return find_runner(word) != NULL; }

static bool in_list(const char *const *list, const char *word)
{
    for (; *list; list++)
        if (strcmp(*list, word) == 0)
            return true;
    return false;
}

/* The place of the first word that is neither the runner's own nor an option of it; the place of
 * the NULL when there is none. */
static size_t first_operand(const struct runner *r, const char *const *words)
{
    size_t i = 1;

    if (r->sub && words[i] && strcmp(words[i], r->sub) == 0)
        i++;
    for (; words[i]; i++) {
        if (words[i][0] != '-' || !words[i][1])
            return i;
        if (in_list(r->values, words[i]) && words[i + 1])
            i++;
    }
    return i;
}

/* What an option such as --package says, written in one word or two; NULL: it is not there. */
static const char *option_value(const char *const *words, size_t end, const char *name)
{
    size_t n = name ? strlen(name) : 0;

    for (size_t i = 1; name && i < end; i++) {
        if (strcmp(words[i], name) == 0 || (n > 2 && strcmp(words[i], "-p") == 0))
            return words[i + 1];
        if (n > 2 && strncmp(words[i], name, n) == 0 && words[i][n] == '=')
            return words[i] + n + 1;
    }
    return NULL;
}

void add_find_package(const char *const *words, struct add_package *out)
{
    const struct runner *r = find_runner(words[0]);
    const char *named;
    size_t at;

    *out = (struct add_package){ 0 };
    if (!r)
        return;
    at = first_operand(r, words);
    named = option_value(words, at, r->names);
    out->kind = r->kind;
    out->id = named ? named : words[at];
    out->hint = r->kind == SPEC_PACKAGE_NPM ? words[0] : NULL;
    if (!out->id)
        out->kind = SPEC_PACKAGE_NONE;
}

static bool has_option(const char *const *words, size_t end, const char *letters, const char *name)
{
    for (size_t i = 1; i < end; i++) {
        if (strcmp(words[i], name) == 0)
            return true;
        /* "-it" holds "-i" */
        if (words[i][0] == '-' && words[i][1] != '-' && strpbrk(words[i], letters) &&
            !strchr(words[i], '='))
            return true;
    }
    return false;
}

struct filler {
    const char **words;
    size_t n;
};

static void fill(struct filler *f, const char *word) { f->words[f->n++] = word; }

/* The container's variables are not those of the docker command: it has to be told each. */
static void fill_docker(struct arena *a, struct filler *f, const char *const *words, size_t end,
                        const char *const *env)
{
    if (!has_option(words, end, "i", "--interactive"))
        fill(f, "-i");
    if (!has_option(words, end, "\1", "--rm"))
        fill(f, "--rm");
    for (; env && *env; env++) {
        size_t n = strcspn(*env, "=");

        fill(f, "-e");
        fill(f, arena_dup(a, span_make(*env, n)));
    }
}

static int tell_nothing(const char *const *words, const struct runner *r, struct pb_error *err)
{
    if (r->sub && (!words[1] || strcmp(words[1], r->sub) != 0))
        return fail(err, PB_E_INVALID, "'%s' must be followed by '%s' and an image: %s %s IMAGE",
                    words[0], r->sub, words[0], r->sub);
    return fail(err, PB_E_INVALID, "'%s' is told to run nothing: name %s", words[0],
                r->kind == SPEC_PACKAGE_DOCKER ? "an image, as in 'docker run mcp/time'"
                : r->kind == SPEC_PACKAGE_NPM  ? "a package, as in 'npx -y @scope/name'"
                                               : "what is to be run");
}

int add_complete(struct arena *a, const char *const **words, const char *const *env,
                 struct pb_error *err)
{
    const struct runner *r = find_runner((*words)[0]);
    const char *const *old = *words;
    struct filler f = { 0 };
    size_t n = 0, n_env = 0, at, i = 0;

    if (!r)
        return 0;
    at = first_operand(r, old);
    if ((r->sub && (!old[1] || strcmp(old[1], r->sub) != 0)) ||
        (!old[at] && !option_value(old, at, r->names)))
        return tell_nothing(old, r, err);
    while (old[n])
        n++;
    while (env && env[n_env])
        n_env++;
    f.words = arena_alloc(a, (n + 2 * n_env + 4) * sizeof *f.words);
    fill(&f, old[i++]);
    if (r->sub)
        fill(&f, old[i++]);
    if (r->kind == SPEC_PACKAGE_DOCKER)
        fill_docker(a, &f, old, at, env);
    /* Without it npx asks whether to install, on the very stdin that we speak MCP on. */
    if (strcmp(r->name, "npx") == 0 && !has_option(old, at, "y", "--yes"))
        fill(&f, "-y");
    while (old[i])
        fill(&f, old[i++]);
    *words = f.words;
    return 0;
}
