/* search.h - the door of the room `search`: finding files by their names and by what is in them.
 * Rows for a tool that has to do with files. */
#pragma once
#include "tools/kit/kit.h"

extern const struct pb_param search_files_params[], search_text_params[], search_again_params[];
tool_fn search_files, search_text, search_again;

/* The rows of file_search, grep_search and get_search_results. The state of the tool that has them
 * begins with a struct search_state. */
#define SEARCH_OPERATIONS                                                                            \
    { .name = "file_search",                                                                         \
      .help =                                                                                        \
          "Find files by a pattern of their names; what .gitignore leaves out is not searched",      \
      .params = search_files_params,                                                                 \
      .flags = PB_READ_ONLY,                                                                         \
      .run = search_files,                                                                           \
      .display = "Searching files",                                                                  \
      .display_param = "query" },                                                                    \
        { .name = "grep_search",                                                                     \
          .help =                                                                                    \
              "Find a text or a regular expression in files; what .gitignore leaves out and binary " \
              "files are not searched",                                                              \
          .params = search_text_params,                                                              \
          .flags = PB_READ_ONLY,                                                                     \
          .run = search_text,                                                                        \
          .display = "Searching",                                                                    \
          .display_param = "query" },                                                                \
    {                                                                                                \
        .name = "get_search_results",                                                                \
        .help = "The results of the last search of this conversation again, or more of them",        \
        .params = search_again_params, .flags = PB_READ_ONLY, .run = search_again,                   \
        .display = "Reading search results"                                                          \
    }

/* The last results of each conversation. */
struct search_state {
    struct searches *last;
};
void search_state_init(struct search_state *s);
void search_state_done(struct search_state *s);
