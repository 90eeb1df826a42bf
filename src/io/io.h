/* io.h - the door of the room `io`: the loop and everything that waits. libuv, llhttp and libcurl
 * are used here and nowhere else. */
#pragma once
#include "base/base.h"
#include "child.h"
#include "lines.h"
#include "listener.h"
#include "loop.h"
#include "readable.h"
#include "stream.h"
