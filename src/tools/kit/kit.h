/* kit.h - the door of the room `kit`: what every family of built-in tools is made of.
 *
 * A tool is a row: its words, its parameters, and a function that answers; or it has operations,
 * each such a row. An operation is called as `tool` with {"operation": NAME, …}, as "tool.name", or
 * by its own name where no other has it. Before anything is decided about a call it is given one
 * form (kit_read): the full name, and arguments in the spelling of the row. So rules, records and
 * the function see the same, whatever the caller wrote. */
#pragma once
#include "gate/gate.h"
#include "patchbay.h"
#include "place.h"

struct kit;
struct tool_call;

/* Who shows built-ins shows these groups of them: bits beside those of host.h. */
enum tool_group {
    TOOLS_PLAIN = 1 << 8,   /* thinking, calculating, dates, texts */
    TOOLS_ASK = 1 << 9,     /* asking a person */
    TOOLS_MEMORY = 1 << 10, /* memories, and what was said and answered before */
    TOOLS_TODO = 1 << 11,
    TOOLS_WEB = 1 << 12,
    TOOLS_DOCUMENT = 1 << 13,
    TOOLS_FILE = 1 << 14,
    TOOLS_TERMINAL = 1 << 15,
    TOOLS_GIT = 1 << 16, /* and tasks of a project */
    TOOLS_PROMPT = 1 << 17,
    TOOLS_ALL = 0x3ff00,
};

/* Of tools and operations, beside enum pb_tool_flags. PB_ON_LOOP: the function never blocks. */
enum tool_flags {
    TOOL_SERIAL = 1 << 16,   /* in one conversation one call at a time, in the order of coming */
    TOOL_BLOCKING = 1 << 17, /* who runs a model waits for it before anything else */
    /* An operation whose own name says too little ("read"): it is found by its full name only. */
    TOOL_FULL_NAME = 1 << 18,
};

/* Of parameters, beside PB_OPTIONAL: what the gate has to look at. Each parameter that is one of
 * these says so. */
enum tool_param_flags {
    TOOL_PATH = 1 << 16,         /* a path that is read */
    TOOL_PATH_WRITTEN = 1 << 17, /* a path that is made, changed or removed */
    TOOL_COMMAND = 1 << 18,      /* a command that is run */
};

/* Answers with pb_reply_*() on c->call and returns 0, or fails with `return pb_fail(c->call, …)`.
 * On a worker thread, unless PB_ON_LOOP. Looks at pb_call_cancelled() when it takes long. */
typedef int tool_fn(struct tool_call *c);

struct tool_operation {
    const char *name; /* "read_file" */
    const char *help;
    const struct pb_param *params; /* NULL: none */
    unsigned flags;
    tool_fn *run;
    /* What people are shown while it runs: "Reading file: %s", with the value of this parameter. */
    const char *display, *display_param;
};

/* Another word for a parameter; snake_case and camelCase of the same are understood anyway. */
struct tool_spelling {
    const char *written, *meant;
};

#define KIT_META_ICON "patchbay/icon"

/* What a family keeps between calls. */
struct tool_family {
    void *(*open)(struct kit *k);
    void (*close)(void *state);
};

struct tool {
    const char *name, *title, *help;
    const char *icon;                      /* a word for consoles, in _meta: KIT_META_ICON */
    unsigned group;                        /* a bit: who shows some built-ins and others not */
    const struct tool_family *family;      /* NULL: it keeps nothing */
    const struct tool_spelling *spellings; /* ended by { 0 }; may be NULL */
    const struct tool_operation
        *operations; /* ended by { 0 }; or one that has no name: the tool itself */
};

/* One call while it is answered. Everything is borrowed until the function returns. */
struct tool_call {
    struct pb_call *call;
    const struct tool *tool;
    const struct tool_operation *op;
    void *state; /* of the family */
    struct kit *kit;
    const char *id, *face, *client, *conversation;
    const char *directory; /* absolute: where relative paths begin */
    bool own_directory;    /* the kit's: nobody has said one */
    bool person;           /* somebody asks by hand */
    int64_t now_ms;        /* when it came; since 1970 */
};

struct kit_options {
    struct gate *gate;
    const char *home;      /* where tools keep what they keep; copied */
    const char *directory; /* of callers that say none; NULL: a directory in home; copied */
    const struct tool *const *tools; /* in the order in which they are listed; ended by NULL */
    const struct settings *settings; /* borrowed until kit_new() returns; may be NULL */
};
/* Puts the tools into the catalog of the gate's hub, and behind SPEC_OWN. Once for a hub, which
 * ends it when it closes: what still runs after KIT_STOP_MS keeps what it uses. */
struct kit *kit_new(const struct kit_options *o);
/* An operation is found by its own name, too, unless that means something else as well. */
bool kit_is_alone(const struct tool *const *tools, const struct tool_operation *op);

/* For families. */
const char *kit_home(const struct kit *k);
/* Only while a family opens; may be NULL. */
const struct settings *kit_settings(const struct kit *k);
