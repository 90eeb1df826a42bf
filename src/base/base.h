/* base.h - the door of the room `base`: memory, bytes, errors, time, ids, hashes. Depends on
 * libc and nettle only; every other room stands on it.
 *
 *   arena.c     memory that is given back all at once
 *   blob.c      bytes that many share, counted
 *   buf.c       bytes that grow
 *   clock.c     the time of day and the time that passes, or a test's
 *   duration.c  "5m", "30s"
 *   error.c     what failed, on what, and why, as one text
 *   file.c      a file replaced as a whole, and directories
 *   hash.c      SHA-256, SHA-512, HMAC, a keyed hash for tables
 *   id.c        random ids, UUIDs, base64
 *   log.c       lines for whoever runs the program
 *   map.c       things by name
 *   mem.c       the only place that allocates
 *   near.c      what somebody meant who wrote a name that is none
 *   path.c      paths as texts
 *   span.c      bytes of others
 *   spare.c     memory of small things, kept for the next ones
 *   table.c     things by number
 *   tally.c     a sum of bytes in use
 *   utf8.c      what is valid, where to cut, what must not reach a terminal
 *   version.c   the version, and the names of error codes */
#pragma once
#include "arena.h"
#include "blob.h"
#include "buf.h"
#include "clock.h"
#include "duration.h"
#include "error.h"
#include "file.h"
#include "hash.h"
#include "id.h"
#include "limits.h"
#include "list.h"
#include "log.h"
#include "macros.h"
#include "map.h"
#include "mem.h"
#include "near.h"
#include "path.h"
#include "sm.h"
#include "span.h"
#include "spare.h"
#include "table.h"
#include "tally.h"
#include "utf8.h"
