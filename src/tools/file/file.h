/* file.h - the door of the room `file`: reading and changing files and directories. */
#pragma once
#include "tools/kit/kit.h"

extern const struct tool file_tool;
