/* json.h - the door of the room `json`: strict JSON (RFC 8259, I-JSON where decisions are made).
 *
 * A text is checked once and becomes a tape of byte ranges; nothing is copied or converted until
 * it is asked for, so that what is passed on is what came in: numbers, escapes, key order. */
#pragma once
#include "base/base.h"
#include "doc.h"
#include "fields.h"
#include "pattern.h"
#include "schema.h"
#include "write.h"
