/* otlp.h - recorded calls as spans for a collector, by OTLP/HTTP in JSON. The store is the queue: a
 * collector that is away for a while gets what it missed, up to OTLP_BATCH_MAX calls. */
#pragma once
#include "io/io.h"

struct gate;
struct otlp;

/* Listens to the gate, which outlives it. Calls that were recorded before are not sent. */
struct otlp *otlp_new(struct gate *g);
/* The collector's base, "http://127.0.0.1:4318"; what does not end in "/v1/traces" gets it. NULL or
 * "": nothing is sent. Copied. */
void otlp_set_url(struct otlp *x, const char *url);
/* What is not sent yet is not sent any more. fn runs when it is gone, never inside. */
void otlp_close(struct otlp *x, loop_fn *fn, void *ctx);
