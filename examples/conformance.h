/* conformance.h - the parts of the conformance server: what the official MCP conformance suite
 * wants to find behind a server, by the names and texts that it knows. A program for testing; it
 * uses the house's own JSON reader besides the public header. */
#pragma once
#include <patchbay.h>

/* Ended by a row without a name (or uri). */
extern const struct pb_tool content_tools[]; /* kinds of content, progress, logging, changes */
extern const struct pb_tool legacy_tools[];  /* questions as legacy clients know them, polling */
extern const struct pb_tool input_tools[];   /* rounds of questions in the modern era */
extern const struct pb_tool task_tools[];
extern const struct pb_resource static_resources[], resource_templates[];
extern const struct pb_prompt prompts[];
/* Put in and taken out by the tools that change lists. */
extern const struct pb_tool coming_tool;
extern const struct pb_prompt coming_prompt;

/* For handlers that change the server. */
extern struct pb_server *conformance_server;

/* A picture of one pixel. */
extern const unsigned char red_pixel[];
extern const size_t red_pixel_n;

/* A string inside an answer, by a path like "content/name", copied to out; "" when it is not there.
 */
void find_text(const char *json, const char *path, char *out, size_t room);
