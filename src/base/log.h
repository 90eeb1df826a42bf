/* log.h - one line at a time to whoever listens. The library is silent until a program sets a
 * sink with pb_log_to(). Never log arguments, results, header values or anything secret: names,
 * counts and outcomes only. Safe from any thread. */
#pragma once
#include "macros.h"
#include "patchbay.h"

void log_line(enum pb_log_level level, const char *fmt, ...) PRINTF(2, 3);

#define log_debug(...) log_line(PB_LOG_DEBUG, __VA_ARGS__)
#define log_info(...)  log_line(PB_LOG_INFO, __VA_ARGS__)
#define log_warn(...)  log_line(PB_LOG_WARNING, __VA_ARGS__)
#define log_error(...) log_line(PB_LOG_ERROR, __VA_ARGS__)
