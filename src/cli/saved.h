/* saved.h - images, sounds and other bytes of an answer, written to files of a directory that a
 * person chose. */
#pragma once
#include "cli.h"

/* clang-format off */
#define CLI_SAVE_OPTION { 0, "save", "DIR", "write images, sounds and other bytes to new files of DIR" }
/* clang-format on */

/* What --save asks for, of the result of tools/call, prompts/get or resources/read; nothing when it
 * was not given. A server chooses the bytes and, by URI and type, how a file is called, but neither
 * leaves the directory nor touches what is there. The paths go to stdout, with --json to stderr.
 * An exit code; what is not CLI_OK has been told. */
int saved_write(const struct cli *cli, const char *result);
