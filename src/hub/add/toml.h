/* toml.h - TOML as configs of programs use it, made into JSON: tables, dotted and quoted keys,
 * strings on one line, arrays, inline tables, booleans, decimal numbers and comments. What else
 * TOML knows (dates, strings of several lines, [[tables]]) is refused by name, with its line.
 *
 *   toml.c         text to values
 *   toml_table.c   keys and tables */
#pragma once
#include "base/base.h"

/* Appends one JSON object. -PB_E_INVALID: "line 3: …"; -PB_E_LIMIT past TOML_KEYS_MAX keys or
 * TOML_DEPTH_MAX tables in each other. Nothing is appended then. */
MUST_CHECK int toml_to_json(struct buf *out, struct span text, struct pb_error *err);
