#include "path.h"
#include <string.h>

static void step_up(struct buf *out, size_t start)
{
    while (out->n > start && out->p[out->n - 1] != '/')
        out->n--;
    if (out->n > start)
        out->n--;
}

/* Each part as it comes. */
static void add_parts(struct buf *out, size_t start, const char *path)
{
    while (*path) {
        size_t n = strcspn(path, "/");

        if (n == 2 && path[0] == '.' && path[1] == '.') {
            step_up(out, start);
        } else if (n && !(n == 1 && *path == '.')) {
            buf_byte(out, '/');
            buf_add(out, path, n);
        }
        path += n + (path[n] == '/');
    }
}

void path_resolve(struct buf *out, const char *directory, const char *home, const char *path)
{
    size_t start = out->n;
    bool at_home = home && path[0] == '~' && (path[1] == '/' || !path[1]);

    if (at_home)
        add_parts(out, start, home);
    else if (*path != '/')
        add_parts(out, start, directory);
    add_parts(out, start, at_home ? path + 1 : path);
    if (out->n == start)
        buf_byte(out, '/');
}

bool path_is_within(const char *directory, const char *path)
{
    size_t n = strlen(directory);

    if (strcmp(directory, "/") == 0)
        return true;
    return strncmp(path, directory, n) == 0 && (path[n] == '\0' || path[n] == '/');
}
