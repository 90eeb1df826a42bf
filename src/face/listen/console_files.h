/* console_files.h - the files of the console, made from web/ by tools/embed when the program is
 * built. */
#pragma once
#include "base/base.h"

struct console_file {
    const char *path;
    const char *type; /* its media type */
    const char *tag;  /* other bytes, other tag */
    struct span plain, gzip;
};
/* Ended by path NULL; empty where the console was left out. */
extern const struct console_file console_files[];
