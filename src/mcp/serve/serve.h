/* serve.h - the door of the room `mcp/serve`. */
#pragma once
#include "batch.h"
#include "listen.h"
#include "peer.h"
#include "provider.h"
#include "request.h"
#include "server.h"
