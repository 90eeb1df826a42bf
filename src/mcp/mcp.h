/* mcp.h - the door of the room `mcp`: JSON-RPC and the Model Context Protocol, both eras, both
 * sides. With base, json and io this is libpatchbay; patchbay.h is what programs see of it, and
 * this door is what the hub sees of it besides. */
#pragma once
#include "base/base.h"
#include "client.h"
#include "era.h"
#include "headers.h"
#include "host_endpoint.h"
#include "host_guard.h"
#include "host_sse.h"
#include "io/io.h"
#include "listen.h"
#include "message.h"
#include "peer.h"
#include "provider.h"
#include "request.h"
#include "result_text.h"
#include "rpc.h"
#include "server.h"
#include "state.h"
#include "uri_template.h"
#include "json/json.h"
