/* io.h - the door of the room `io`: the loop and everything that waits. libuv, llhttp and libcurl
 * are used here and nowhere else.
 *
 *   births.c      which children of this process are ours to wait for
 *   child.c       a child process: its streams, its end
 *   child_err.c   a child's standard error, handed on at a bounded rate
 *   lines.c       bytes to lines, with a bound on each
 *   listener.c    a socket that is accepted from
 *   quiet.c       writing without SIGPIPE
 *   readable.c    when a descriptor can be read
 *   spawn.c       from a command to a process
 *   words.c       standard error as lines, of which the last are remembered */
#pragma once
#include "base/base.h"
#include "child.h"
#include "lines.h"
#include "listener.h"
#include "loop.h"
#include "readable.h"
#include "stream.h"
