/* arguments.h - words of a command line made into a JSON object:
 *
 *     k=text  k:=json  k=@file  k:=@file  {"k":1}  @file  -          (- is standard input) */
#pragma once
#include "cli.h"

enum { ARGUMENTS_FILE_MAX = 10485760 };

/* `strings`: every value is text (prompts). */
MUST_CHECK int arguments_build(char *const *words, int n, bool strings, struct buf *out,
                               struct pb_error *err);
