/* example.h - the tools of the example server, one per file. */
#pragma once
#include <patchbay.h>
#include <stdio.h>

extern const struct pb_tool calculator_tool, datetime_tool, echo_tool, string_tool;

/* Writes a text as a JSON string, quotes included. */
void write_json_string(FILE *out, const char *text, size_t n);
/* Replies with a text, and with {"result": text} for programs. */
int reply_result(struct pb_call *call, const char *text, size_t n);
