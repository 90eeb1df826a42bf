#include "file_impl.h"
#include "tools/search/search.h"

#define TEXT(n, about)                                         \
    {                                                          \
        .name = (n), .type = PB_STRING, .description = (about) \
    }
#define WRITTEN(n, about)                                                                  \
    {                                                                                      \
        .name = (n), .type = PB_STRING, .description = (about), .flags = TOOL_PATH_WRITTEN \
    }
#define FLAG(n, about)                                                            \
    {                                                                             \
        .name = (n), .type = PB_BOOL, .description = (about), .fallback = "false" \
    }

/* ---- reading ---- */

static const struct pb_param read_params[] = {
    { .name = "filePath",
      .type = PB_STRING,
      .description = "The file; relative paths begin in the working directory",
      .flags = PB_OPTIONAL | TOOL_PATH },
    { .name = "filePaths",
      .type = PB_ARRAY,
      .of = &(const struct pb_param){ .type = PB_STRING, .flags = TOOL_PATH },
      .description = "Several files instead of one",
      .flags = PB_OPTIONAL | TOOL_PATH },
    { .name = "offset",
      .type = PB_INT,
      .description = "The first line, from 1; -100: the last 100 lines",
      .fallback = "1" },
    { .name = "limit",
      .type = PB_INT,
      .description = "How many lines; at most 2000, and about 10,000 tokens",
      .fallback = "2000" },
    { 0 },
};

static const struct pb_param list_params[] = {
    { .name = "path",
      .type = PB_STRING,
      .description = "The directory",
      .flags = TOOL_PATH,
      .fallback = "\".\"" },
    { .name = "offset", .type = PB_INT, .description = "Entries to pass over", .fallback = "0" },
    { .name = "limit",
      .type = PB_INT,
      .description = "How many entries; 100 unless said, at most 1000",
      .flags = PB_OPTIONAL },
    { 0 },
};

static const struct pb_param info_params[] = {
    { .name = "filePath",
      .type = PB_STRING,
      .description = "The file or directory",
      .flags = TOOL_PATH },
    { 0 },
};

/* ---- writing ---- */

static const struct pb_param create_params[] = {
    WRITTEN("filePath", "The new file; directories on the way to it are made"),
    TEXT("content", "What it holds"),
    FLAG("overwrite", "Replace what is there"),
    { 0 },
};

static const struct pb_param write_params[] = {
    WRITTEN("filePath", "The file; directories on the way to it are made"),
    TEXT("content", "What it holds from now on"),
    { 0 },
};

static const struct pb_param append_params[] = {
    WRITTEN("filePath", "The file; it is made when it is missing"),
    TEXT("content", "What comes after what is there"),
    { 0 },
};

static const struct pb_param replace_params[] = {
    WRITTEN("filePath", "The file"),
    TEXT("oldString", "What is there, exactly, with enough around it to be found only once"),
    TEXT("newString", "What shall be there"),
    { .name = "expectedReplacements",
      .type = PB_INT,
      .description = "How often oldString is there; each is replaced",
      .fallback = "1" },
    { 0 },
};

/* Of members of arguments both spellings are declared: only those of the arguments themselves are
 * understood anyway. */
static const struct pb_param replacement_params[] = {
    { .name = "oldString", .type = PB_STRING, .flags = PB_OPTIONAL },
    { .name = "newString", .type = PB_STRING, .flags = PB_OPTIONAL },
    { .name = "old_string", .type = PB_STRING, .flags = PB_OPTIONAL },
    { .name = "new_string", .type = PB_STRING, .flags = PB_OPTIONAL },
    { .name = "expectedReplacements", .type = PB_INT, .fallback = "1" },
    { 0 },
};

static const struct pb_param multi_params[] = {
    WRITTEN("filePath", "The file"),
    { .name = "replacements",
      .type = PB_ARRAY,
      .of = &(const struct pb_param){ .type = PB_OBJECT, .of = replacement_params },
      .description = "{oldString, newString} each, done in this order: all of them or none; "
                     "expectedReplacements says how often one is there" },
    { 0 },
};

static const struct pb_param insert_params[] = {
    WRITTEN("filePath", "The file"),
    { .name = "lineNumber",
      .type = PB_INT,
      .description = "The line, from 1; one more than there are is the end" },
    TEXT("newText", "One or more lines"),
    { .name = "insertOperation",
      .type = PB_ONE_OF,
      .options = (const char *const[]){ "insert", "replace", NULL },
      .description = "Before that line, or instead of it; nothing instead of it takes it out",
      .fallback = "\"insert\"" },
    { 0 },
};

static const struct pb_param rename_params[] = {
    WRITTEN("oldPath", "The file or directory"),
    WRITTEN("newPath", "Its new path; directories on the way to it are made"),
    FLAG("overwrite", "Replace what is there"),
    { 0 },
};

static const struct pb_param delete_params[] = {
    WRITTEN("filePath", "The file, or an empty directory"),
    { 0 },
};

static const struct pb_param make_params[] = {
    WRITTEN("path", "The directory; those on the way to it are made, too"),
    { 0 },
};

static const struct pb_param patch_params[] = {
    TEXT("patchContent", "A unified diff, as git or diff -u write it; of one file or of many"),
    { .name = "targetDirectory",
      .type = PB_STRING,
      .description = "Where the paths in it begin; none of them leads out of it",
      .flags = TOOL_PATH_WRITTEN,
      .fallback = "\".\"" },
    FLAG("dry_run", "Only say what would be done"),
    { 0 },
};

/* ---- the table ---- */

enum {
    READS = PB_READ_ONLY,
    ADDS = TOOL_SERIAL | PB_ADDITIVE,
    CHANGES = TOOL_SERIAL | PB_DESTRUCTIVE
};

#define OPERATION(word, fn, parameters, kind, shown, of, about)                                \
    {                                                                                          \
        .name = (word), .help = (about), .params = (parameters), .flags = (kind), .run = (fn), \
        .display = (shown), .display_param = (of)                                              \
    }

#define INSERT_HELP "Put lines before a line of a file, or instead of it"

/* clang-format off */
static const struct tool_operation operations[] = {
    OPERATION("read_file", file_read_file, read_params, READS, "Reading file", "filePath",
              "Read a text file, or some of its lines"),
    OPERATION("list_dir", file_list_dir, list_params, READS, "Listing directory", "path",
              "List a directory: names, kinds and sizes"),
    OPERATION("get_file_info", file_get_info, info_params, READS, "Looking at", "filePath",
              "Kind, size, mode, owner and time of a file or directory"),
    SEARCH_OPERATIONS,
    OPERATION("create_file", file_create, create_params, CHANGES, "Creating file", "filePath",
              "Make a new file; what exists is left alone unless overwrite is true"),
    OPERATION("write_file", file_write, write_params, CHANGES, "Writing file", "filePath",
              "Make a file, or replace all that is in it"),
    OPERATION("append_file", file_append, append_params, ADDS, "Appending to file", "filePath",
              "Put text at the end of a file"),
    OPERATION("replace_string", file_replace_string, replace_params, CHANGES, "Editing file", "filePath",
              "Replace a text in a file; it must be there as often as expected, which is once unless said"),
    OPERATION("multi_replace_string", file_multi_replace, multi_params, CHANGES, "Editing file", "filePath",
              "Several replacements in one file: all of them, or none"),
    OPERATION("insert_edit", file_insert, insert_params, CHANGES, "Editing file", "filePath", INSERT_HELP),
    OPERATION("insert_at_line", file_insert, insert_params, CHANGES, "Editing file", "filePath",
              INSERT_HELP " (the same as insert_edit)"),
    OPERATION("rename_file", file_rename, rename_params, CHANGES, "Renaming file", "oldPath",
              "Rename or move a file or directory"),
    OPERATION("delete_file", file_delete, delete_params, CHANGES, "Deleting file", "filePath",
              "Delete a file, a link, or an empty directory"),
    OPERATION("create_directory", file_make_directory, make_params, ADDS, "Creating directory", "path",
              "Make a directory"),
    OPERATION("apply_patch", file_apply_patch, patch_params, CHANGES, "Applying patch in", "targetDirectory",
              "Apply a unified diff to one or more files: all of it, or nothing"),
    { 0 },
};

static const struct tool_spelling spellings[] = {
    { "path", "filePath" },     { "file", "filePath" },          { "filePath", "path" },
    { "dirPath", "path" },      { "directory", "path" },         { "maxResults", "limit" },
    { "content", "newText" },   { "text", "newText" },           { "line", "lineNumber" },
    { "patch", "patchContent" },{ "rootPath", "targetDirectory" },
    { 0 },
};
/* clang-format on */

static void *open_state(struct kit *k)
{
    struct search_state *s = NEW(struct search_state);

    (void)k;
    search_state_init(s);
    return s;
}

static void close_state(void *state)
{
    search_state_done(state);
    free(state);
}

static const struct tool_family family = { open_state, close_state };

const struct tool file_tool = {
    .name = "file_operations",
    .title = "Files",
    .help = "Find, read and change files and directories. Relative paths begin in the working directory; "
            "what lies outside of it is changed only if a person allows it.",
    .icon = "file",
    .group = TOOLS_FILE,
    .family = &family,
    .spellings = spellings,
    .operations = operations,
};
