/* carrier.h - the door of the room `mcp/carrier`. */
#pragma once
#include "endpoint.h"
#include "front.h"
#include "guard.h"
#include "sse.h"
