#include "add_parts.h"
#include "hub/spec/spec.h"

/* How each runner is called. `values` are options whose value is a word of its own. */
struct runner {
    const char *name;
    const char *sub, *sub2; /* what must follow the name; NULL: nothing */
    enum spec_package kind;
    enum add_named_by named_by;
    const char *names; /* the option that names the package when it is not the first word */
    const char *const *values;
    bool through; /* runs a command, and whatever is said here of commands is meant of that one */
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
static const char *const uv_values[] = { "--from",      "--with",
                                         "--python",    "-p",
                                         "--index-url", "--with-editable",
                                         "--env-file",  "--project",
                                         "--package",   "--extra",
                                         "--group",     "--refresh-package",
                                         "--directory", "--with-requirements",
                                         "-i",          "--index",
                                         "--cache-dir", "--spec",
                                         "--pip-args",  NULL };
static const char *const deno_values[] = { "-c",         "--config",    "--import-map",
                                           "-L",         "--log-level", "--cert",
                                           "--location", "--seed",      NULL };
static const char *const script_values[] = { "-r", "--require", "--import", "--env-file",  "-W",
                                             "-X", "--cwd",     "-t",       "--transport", NULL };

static const char *const sudo_values[] = { "-C", "--close-from",      "-D", "--chdir",
                                           "-g", "--group",           "-h", "--host",
                                           "-p", "--prompt",          "-R", "--chroot",
                                           "-T", "--command-timeout", "-u", "--user",
                                           NULL };

/* In the order in which they are tried: of several with one name the first whose words follow. */
/* clang-format off */
static const struct runner runners[] = {
    { "bun",     "x",    NULL,  SPEC_PACKAGE_NPM,    ADD_BY_NPM,    "--package", npx_values },
    { "bun",     "run",  NULL,  SPEC_PACKAGE_NONE,   ADD_BY_SCRIPT, NULL,        script_values },
    { "bun",     NULL,   NULL,  SPEC_PACKAGE_NONE,   ADD_BY_SCRIPT, NULL,        script_values },
    { "bunx",    NULL,   NULL,  SPEC_PACKAGE_NPM,    ADD_BY_NPM,    "--package", npx_values },
    { "deno",    "run",  NULL,  SPEC_PACKAGE_NONE,   ADD_BY_SCRIPT, NULL,        deno_values },
    { "docker",  "run",  NULL,  SPEC_PACKAGE_DOCKER, ADD_BY_IMAGE,  NULL,        docker_values },
    { "fastmcp", "run",  NULL,  SPEC_PACKAGE_NONE,   ADD_BY_SCRIPT, NULL,        script_values },
    { "mcp",     "run",  NULL,  SPEC_PACKAGE_NONE,   ADD_BY_SCRIPT, NULL,        script_values },
    { "node",    NULL,   NULL,  SPEC_PACKAGE_NONE,   ADD_BY_SCRIPT, NULL,        script_values },
    { "npm",     "exec", NULL,  SPEC_PACKAGE_NPM,    ADD_BY_NPM,    "--package", npx_values },
    { "npx",     NULL,   NULL,  SPEC_PACKAGE_NPM,    ADD_BY_NPM,    "--package", npx_values },
    { "pipx",    "run",  NULL,  SPEC_PACKAGE_NONE,   ADD_BY_PYTHON, NULL,        uv_values },
    { "pnpm",    "dlx",  NULL,  SPEC_PACKAGE_NPM,    ADD_BY_NPM,    "--package", npx_values },
    { "podman",  "run",  NULL,  SPEC_PACKAGE_DOCKER, ADD_BY_IMAGE,  NULL,        docker_values },
    { "python",  NULL,   NULL,  SPEC_PACKAGE_NONE,   ADD_BY_SCRIPT, "-m",        script_values },
    { "python3", NULL,   NULL,  SPEC_PACKAGE_NONE,   ADD_BY_SCRIPT, "-m",        script_values },
    { "sudo",    NULL,   NULL,  SPEC_PACKAGE_NONE,   ADD_BY_SCRIPT, NULL,        sudo_values, true },
    { "uv",      "run",  NULL,  SPEC_PACKAGE_NONE,   ADD_BY_SCRIPT, "-m",        uv_values },
    { "uv",      "tool", "run", SPEC_PACKAGE_NONE,   ADD_BY_PYTHON, NULL,        uv_values },
    { "uvx",     NULL,   NULL,  SPEC_PACKAGE_NONE,   ADD_BY_PYTHON, NULL,        uv_values },
    { "yarn",    "dlx",  NULL,  SPEC_PACKAGE_NPM,    ADD_BY_NPM,    "--package", npx_values },
};
/* clang-format on */

static const char *base_name(const char *path)
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

struct span add_cut_at(struct span s, const char *chars, size_t from)
{
    for (size_t i = from; i < s.n; i++)
        if (strchr(chars, s.p[i]))
            return span_make(s.p, i);
    return s;
}

static bool in_list(const char *const *list, const char *word)
{
    for (; *list; list++)
        if (strcmp(*list, word) == 0)
            return true;
    return false;
}

/* The place of the first word from `i` on that is no option of the runner, nor the value of one;
 * the place of the NULL when there is none. */
static size_t skip_options(const struct runner *r, const char *const *words, size_t i)
{
    for (; words[i]; i++) {
        if (r->through && add_is_assignment(words[i]))
            continue; /* "sudo A=1 docker run x" */
        if (words[i][0] != '-' || !words[i][1])
            break;
        if (in_list(r->values, words[i]) && words[i + 1])
            i++;
    }
    return i;
}

/* The place behind the words that must follow the runner's name; 0: they do not. */
static size_t behind_sub(const struct runner *r, const char *const *words)
{
    const char *const subs[] = { r->sub, r->sub2 };
    size_t i = 1;

    for (size_t s = 0; s < ARRAY_LEN(subs) && subs[s]; s++) {
        i = skip_options(r, words, i); /* "uv --directory x run" */
        if (!words[i] || strcmp(words[i], subs[s]) != 0)
            return 0;
        i++;
    }
    return i;
}

/* The one whose words follow, or else the first of that name. */
static const struct runner *find_runner(const char *const *words)
{
    /* "mcp.linear.app/mcp" is no path to a program. */
    const char *base = strchr("/.~", words[0][0]) ? base_name(words[0]) : words[0];
    const struct runner *first = NULL;

    for (size_t i = 0; i < ARRAY_LEN(runners); i++) {
        if (strcmp(runners[i].name, base) != 0)
            continue;
        if (behind_sub(&runners[i], words))
            return &runners[i];
        if (!first)
            first = &runners[i];
    }
    return first;
}

bool add_is_runner(const char *word)
{
    const char *const words[] = { word, NULL };

    return find_runner(words) != NULL;
}

bool add_runs(const char *const *words)
{
    const struct runner *r = words[0] ? find_runner(words) : NULL;

    return r && r->sub && behind_sub(r, words);
}

/* The place of what is to be run; that of the NULL when there is nothing. */
static size_t first_operand(const struct runner *r, const char *const *words)
{
    size_t i = behind_sub(r, words);

    return skip_options(r, words, i ? i : 1);
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

/* "uv run python -m x", "uv run mcp run x.py": what is run runs something in its turn. */
static const struct runner *innermost(const char *const **words, size_t *at, const char **dir)
{
    const struct runner *r = find_runner(*words), *inner;

    for (;;) {
        *at = first_operand(r, *words);
        for (size_t i = 1; i + 1 < *at; i++)
            if (strcmp((*words)[i], "--directory") == 0 || strcmp((*words)[i], "--project") == 0)
                *dir = (*words)[i + 1];
        inner =
            r->named_by == ADD_BY_SCRIPT && (*words)[*at] && !option_value(*words, *at, r->names)
                ? find_runner(*words + *at)
                : NULL;
        if (!inner || (inner->sub && !behind_sub(inner, *words + *at)))
            return r;
        *words += *at;
        r = inner;
    }
}

void add_find_package(const char *const *words, struct add_package *out)
{
    const struct runner *r;
    const char *named;
    size_t at;

    *out = (struct add_package){ 0 };
    if (!find_runner(words))
        return;
    r = innermost(&words, &at, &out->dir);
    named = option_value(words, at, r->names);
    out->kind = r->kind;
    out->named_by = r->named_by;
    out->id = named ? named : words[at];
    out->hint = r->kind == SPEC_PACKAGE_NPM ? words[0] : NULL;
    if (!out->id)
        out->kind = SPEC_PACKAGE_NONE;
    else if (strncmp(out->id, "npm:", 4) == 0 || strncmp(out->id, "jsr:", 4) == 0)
        out->named_by = ADD_BY_NPM;
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
    if (!behind_sub(r, words))
        return fail(err, PB_E_INVALID, "'%s' must be followed by '%s%s%s' and %s: %s %s%s%s %s",
                    words[0], r->sub, r->sub2 ? " " : "", r->sub2 ? r->sub2 : "",
                    r->kind == SPEC_PACKAGE_DOCKER ? "an image" : "what it runs", words[0], r->sub,
                    r->sub2 ? " " : "", r->sub2 ? r->sub2 : "",
                    r->kind == SPEC_PACKAGE_DOCKER ? "IMAGE" : "NAME");
    return fail(err, PB_E_INVALID, "'%s' is told to run nothing: name %s", words[0],
                r->kind == SPEC_PACKAGE_DOCKER ? "an image, as in 'docker run mcp/time'"
                : r->kind == SPEC_PACKAGE_NPM  ? "a package, as in 'npx -y @scope/name'"
                                               : "what is to be run");
}

/* Options without which a runner asks or tells on the very streams that we speak MCP on. */
static const struct runner_quiet {
    const char *runner, *letters, *name, *fill;
} quiets[] = {
    { "npm", "y", "--yes", "--yes" },
    { "npx", "y", "--yes", "-y" },
    { "yarn", "q", "--quiet", "-q" },
};

/* The command itself, behind sudo and its options; r is NULL when it is no runner. */
static const char *const *see_through(const char *const *words, const struct runner **r)
{
    while ((*r = *words ? find_runner(words) : NULL) && (*r)->through) {
        size_t at = first_operand(*r, words);

        if (!words[at])
            break;
        words += at;
    }
    return words;
}

int add_complete(struct arena *a, const char *const **words, const char *const *env,
                 struct pb_error *err)
{
    const struct runner *r;
    const char *const *all = *words, *const *old = see_through(all, &r);
    struct filler f = { 0 };
    size_t at, behind, i = 0;

    if (!r)
        return 0;
    at = first_operand(r, old);
    behind = behind_sub(r, old);
    if (!behind || (!old[at] && !option_value(old, at, r->names)))
        return tell_nothing(old, r, err);
    f.words = arena_alloc(a, (add_count(all) + 2 * add_count(env) + 4) * sizeof *f.words);
    while (all < old)
        fill(&f, *all++);
    while (i < behind)
        fill(&f, old[i++]);
    if (r->kind == SPEC_PACKAGE_DOCKER)
        fill_docker(a, &f, old, at, env);
    for (size_t q = 0; q < ARRAY_LEN(quiets); q++)
        if (strcmp(r->name, quiets[q].runner) == 0 &&
            !has_option(old, at, quiets[q].letters, quiets[q].name))
            fill(&f, quiets[q].fill);
    while (old[i])
        fill(&f, old[i++]);
    *words = f.words;
    return 0;
}
