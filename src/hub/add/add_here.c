/* add_here.c - where a server runs that was added by a relative path: where the path was right when
 * it was added, as the daemon runs somewhere else. */
#include "add_parts.h"
#include <sys/stat.h>

static bool is_dotted(const char *word)
{
    return strcmp(word, ".") == 0 || strcmp(word, "..") == 0 || strncmp(word, "./", 2) == 0 ||
           strncmp(word, "../", 3) == 0;
}

/* A directory by its plain name may be any word. */
static bool names_file(const char *here, const char *word)
{
    AUTO_BUF struct buf path = { 0 };
    struct stat st;

    if (!*word || *word == '/' || *word == '-')
        return false;
    buf_printf(&path, "%s/%s", here, word);
    return stat(buf_cstr(&path), &st) == 0 && (S_ISREG(st.st_mode) || is_dotted(word));
}

static bool is_of_project(const struct add_request *r)
{
    return r->scope && *r->scope && strcmp(*r->scope, "project") == 0;
}

void add_run_here(struct spec *s, const struct add_request *r)
{
    const char *here = r && r->around ? r->around->here : NULL;
    bool found;

    if (!here || !s->command || s->cwd || r->cwd || is_of_project(r))
        return;
    /* One without a slash is looked for in PATH. */
    found = strchr(s->command, '/') && names_file(here, s->command);
    for (const char *const *a = s->args; *a && !found; a++)
        found = names_file(here, *a);
    if (found)
        s->cwd = arena_dup(&s->arena, span_of(here));
}
