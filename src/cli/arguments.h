/* arguments.h - words of a command line made into a JSON object:
 *
 *     k=value  k:=json  k=@file  k:=@file  {"k":1}  @file  -          (- is standard input)
 *     tool(k: value, k: "json")
 *
 * In two steps: what the words are is known before anybody is asked (arguments_read()), what they
 * mean when the tool's schema is (arguments_write()). */
#pragma once
#include "cli.h"

enum { ARGUMENTS_FILE_MAX = 10485760 };

enum argument_kind {
    ARGUMENT_TEXT,   /* what the schema wants; a string if it does not say */
    ARGUMENT_WORD,   /* the same, but JSON if it does not say and this is some */
    ARGUMENT_JSON,   /* as it is */
    ARGUMENT_OBJECT, /* many at once; it has no key */
};

struct argument {
    struct argument *next;
    enum argument_kind kind;
    bool from_file; /* what is in a file may be a secret, and is not quoted */
    struct span key, text;
};

/* A zeroed one is empty and valid. */
struct arguments {
    struct arena arena;
    struct argument *first, *last;
};
void arguments_done(struct arguments *a);
#define AUTO_ARGUMENTS __attribute__((cleanup(arguments_done)))

/* `strings`: every value is text (prompts). */
MUST_CHECK int arguments_read(struct arguments *a, char *const *words, int n, bool strings,
                              struct pb_error *err);
/* If the word has the form tool(k: value), these are read and the tool's name alone is given, in
 * the arena; any other word is given as it is. */
MUST_CHECK int arguments_read_call(struct arguments *a, const char *word, const char **tool,
                                   struct pb_error *err);
/* The object. Each value becomes what the schema wants of it, keys with dots reach into objects, a
 * key that is repeated makes an array. -PB_E_INVALID when there are keys that the schema does not
 * know, that are missing or given twice, or when a value is not what it wants. `schema` may be
 * NULL. */
MUST_CHECK int arguments_write(struct arguments *a, const struct schema *schema, struct buf *out,
                               struct pb_error *err);

/* A whole file of the user's, or standard input for "-"; at most ARGUMENTS_FILE_MAX bytes. */
MUST_CHECK int arguments_read_file(const char *path, struct buf *out, struct pb_error *err);

/* One text as what the schema at `place` wants; a string if it does not say. What fits nothing is
 * written as what comes nearest. */
void arguments_fit(const struct schema *schema, struct json place, struct span text,
                   struct buf *out);

/* Shared by the files that read arguments. */
/* -PB_E_INVALID: what is not UTF-8 cannot be sent. */
MUST_CHECK int arguments_add(struct arguments *a, enum argument_kind kind, struct span key,
                             struct span text, struct pb_error *err);
/* Adds ARGUMENT_JSON or ARGUMENT_OBJECT if that is what the text is. */
MUST_CHECK int arguments_add_json(struct arguments *a, enum argument_kind kind, struct span key,
                                  struct span text, struct pb_error *err);
