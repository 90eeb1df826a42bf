/* base.h - the door of the room `base`: memory, bytes, errors, time, ids, hashes. Depends on
 * libc and nettle only; every other room stands on it. */
#pragma once
#include "arena.h"
#include "blob.h"
#include "buf.h"
#include "clock.h"
#include "error.h"
#include "hash.h"
#include "id.h"
#include "limits.h"
#include "list.h"
#include "log.h"
#include "macros.h"
#include "map.h"
#include "mem.h"
#include "sm.h"
#include "span.h"
#include "utf8.h"
