/* search.h - the door of the room `search`: finding files by their names and by what is in them.
 * Rows for a tool that has to do with files. */
#pragma once
#include "tools/kit/kit.h"

/* file_search, grep_search, get_search_results; ended by { 0 }. The state of the tool that has
 * them begins with a struct search_state. */
extern const struct tool_operation search_operations[];

/* The last results of each conversation. */
struct search_state {
    struct searches *last;
};
void search_state_init(struct search_state *s);
void search_state_done(struct search_state *s);
