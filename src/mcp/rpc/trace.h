/* trace.h - W3C trace context: where a request belongs in the work of many programs. It comes as a
 * header, or in _meta, and goes on in _meta. */
#pragma once
#include "json/json.h"

/* "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", or one of a later version that begins
 * like it; not all zeros. */
bool trace_valid(struct span traceparent);
/* What params say in _meta.traceparent, if it is valid; lies in the arena or in them. */
struct span trace_of_params(struct json params, struct arena *a);
/* Params (a JSON object, or empty) with this traceparent in their _meta. */
void trace_put(struct buf *out, struct span params, struct span traceparent);
