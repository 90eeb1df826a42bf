#include "program.h"
#include <errno.h>
#include <sys/stat.h>

static bool is_program(const char *path, int *why)
{
    struct stat st;

    if (stat(path, &st) < 0 || !S_ISREG(st.st_mode))
        return false;
    if (access(path, X_OK) == 0)
        return true;
    *why = EACCES;
    return false;
}

char *program_find(const struct spec *s, const char *path, int *why)
{
    *why = ENOENT;
    if (strchr(s->command, '/')) {
        AUTO_BUF struct buf full = { 0 };

        if (s->cwd && s->command[0] != '/') /* it is looked for from there */
            buf_printf(&full, "%s/", s->cwd);
        buf_str(&full, s->command);
        return is_program(buf_cstr(&full), why) ? buf_take(&full) : NULL;
    }
    while (*path) {
        size_t n = strcspn(path, ":");
        AUTO_BUF struct buf full = { 0 };

        buf_printf(&full, "%.*s/%s", (int)n, path, s->command);
        if (is_program(buf_cstr(&full), why))
            return buf_take(&full);
        path += n + (path[n] == ':');
    }
    return NULL;
}
