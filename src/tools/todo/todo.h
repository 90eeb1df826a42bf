/* todo.h - the door of the room `todo`: what is to be done in a conversation, and how far it is. */
#pragma once
#include "tools/kit/kit.h"

extern const struct tool todo_tool;
