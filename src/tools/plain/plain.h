/* plain.h - the door of the room `plain`: tools that need nothing but their arguments.
 *
 *   think.c   a place for thoughts */
#pragma once
#include "tools/kit/kit.h"

extern const struct tool think_tool;
