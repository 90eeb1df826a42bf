/* carrier.h - the door of the room `mcp/carrier`. */
#pragma once
#include "endpoint.h"
#include "guard.h"
#include "sse.h"
