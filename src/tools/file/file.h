/* file.h - the door of the room `file`: files of the working directory.
 *
 *   file.c   the tool */
#pragma once
#include "tools/kit/kit.h"

extern const struct tool file_tool;
