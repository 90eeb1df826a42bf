/* server_carry.h - what the carriers of the stress server share with its main file. */
#pragma once
#include "server.h"

typedef void say_fn(outlet to, const char *message, size_t n, bool last);
typedef void raw_fn(outlet to, const char *bytes, size_t n);

/* Who moves what outlet_say() and outlet_raw() are given. */
void carry_by(say_fn *say, raw_fn *raw);
void look_at_clock(void);
