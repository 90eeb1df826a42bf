/* http.h - the door of the room `io/http`. */
#pragma once
#include "http_client.h"
#include "http_server.h"
#include "sse.h"
#include "sse_reader.h"
