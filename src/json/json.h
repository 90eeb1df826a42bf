/* json.h - the door of the room `json`: strict JSON (RFC 8259, I-JSON where decisions are made).
 *
 * A text is checked once and becomes a tape of byte ranges; nothing is copied or converted until
 * it is asked for, so that what is passed on is what came in: numbers, escapes, key order.
 *
 *   lex.c      words that are refused, and long strings
 *   doc.c      a text to a tape
 *   check.c    what lies too deep to be kept: checked only
 *   unique.c   whether an object names a key twice
 *   value.c    reading values of a tape
 *   chars.c    the characters of a string
 *   number.c   numbers, without rounding
 *   fields.c   objects into structs, by a table
 *   canon.c    whether two values are equal, and a canonical text
 *   write.c    writing
 *   regex.c    regular expressions for searching in files */
#pragma once
#include "base/base.h"
#include "doc.h"
#include "fields.h"
#include "pattern.h"
#include "regex.h"
#include "schema.h"
#include "write.h"
