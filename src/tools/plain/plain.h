/* plain.h - the door of the room `plain`: tools that need nothing but their arguments. */
#pragma once
#include "tools/kit/kit.h"

extern const struct tool think_tool, math_tool, calculator_tool, datetime_tool, string_tool;
