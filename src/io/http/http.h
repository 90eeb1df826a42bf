/* http.h - the door of the room `io/http`.
 *
 *   http1.c        requests as bytes, told apart by llhttp
 *   http_util.c    names of statuses, percent signs, queries
 *   sse.c          server-sent events: reading and writing
 *   sse_reader.c   the events of a response, with a bound on each */
#pragma once
#include "http_client.h"
#include "http_server.h"
#include "sse.h"
#include "sse_reader.h"
