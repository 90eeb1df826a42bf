#include "program.h"
#include <sys/stat.h>

static bool is_program(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

char *program_find(const struct spec *s, const char *path)
{
    if (strchr(s->command, '/')) {
        AUTO_BUF struct buf full = { 0 };

        if (s->cwd && s->command[0] != '/') /* it is looked for from there */
            buf_printf(&full, "%s/", s->cwd);
        buf_str(&full, s->command);
        return is_program(buf_cstr(&full)) ? buf_take(&full) : NULL;
    }
    while (*path) {
        size_t n = strcspn(path, ":");
        AUTO_BUF struct buf full = { 0 };

        buf_printf(&full, "%.*s/%s", (int)n, path, s->command);
        if (is_program(buf_cstr(&full)))
            return buf_take(&full);
        path += n + (path[n] == ':');
    }
    return NULL;
}

char *program_hint(const char *command)
{
    /* clang-format off */
    static const struct {
        const char *command, *hint;
    } hints[] = {
        { "bun",    "install Bun" },
        { "bunx",   "install Bun, which brings bunx" },
        { "deno",   "install Deno" },
        { "docker", "install Docker" },
        { "node",   "install Node.js" },
        { "npx",    "install Node.js, which brings npx" },
        { "pipx",   "install pipx" },
        { "pnpm",   "install pnpm" },
        { "python", "install Python, or write python3" },
        { "uv",     "install uv" },
        { "uvx",    "install uv, which brings uvx" },
        { "yarn",   "install Yarn" },
    };
    /* clang-format on */
    AUTO_BUF struct buf text = { 0 };

    for (size_t i = 0; i < ARRAY_LEN(hints); i++)
        if (strcmp(command, hints[i].command) == 0)
            return mem_dup(hints[i].hint);
    buf_printf(&text, "install '%s', or write its full path into the config", command);
    return buf_take(&text);
}
