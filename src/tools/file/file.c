#include "file.h"
#include "tools/search/search.h"

static void *file_open(struct kit *k)
{
    struct search_state *s = NEW(struct search_state);

    (void)k;
    search_state_init(s);
    return s;
}

static void file_close(void *state)
{
    search_state_done(state);
    free(state);
}

static const struct tool_family family = { file_open, file_close };

const struct tool file_tool = {
    .name = "file_operations",
    .title = "Files",
    .help = "Find files and what is in them.",
    .icon = "folder",
    .group = TOOLS_FILE,
    .family = &family,
    .operations = search_operations,
};
