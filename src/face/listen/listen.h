/* listen.h - the door of the room `face/listen`.
 *
 *   serve.c     the HTTP listener: guard, routes, tokens
 *   attach.c    the daemon's unix socket
 *   console.c   the page for people, from bytes in the program */
#pragma once
#include "attach.h"
#include "console.h"
#include "serve.h"
