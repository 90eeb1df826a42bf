/* era.h - the five revisions of the protocol, and the two eras they fall into.
 *
 * Legacy (up to 2025-11-25): a handshake fixes the revision, sessions, questions as requests.
 * Modern (2026-07-28 on): every request says all about itself, no session, the server never asks
 * by request. Revisions are ISO dates and compare as strings. */
#pragma once
#include "base/base.h"

enum era { ERA_UNKNOWN, ERA_LEGACY, ERA_MODERN };

#define MCP_NEWEST_LEGACY "2025-11-25"
#define MCP_OLDEST_LEGACY "2024-11-05"
#define MCP_HTTP_DEFAULT  "2025-03-26" /* what a request without the version header speaks */
#define MCP_NEWEST_MODERN "2026-07-28"

/* Keys of _meta. */
#define META_VERSION         "io.modelcontextprotocol/protocolVersion"
#define META_CLIENT_CAPS     "io.modelcontextprotocol/clientCapabilities"
#define META_CLIENT_INFO     "io.modelcontextprotocol/clientInfo"
#define META_SERVER_INFO     "io.modelcontextprotocol/serverInfo"
#define META_LOG_LEVEL       "io.modelcontextprotocol/logLevel"
#define META_SUBSCRIPTION_ID "io.modelcontextprotocol/subscriptionId"
#define META_RELATED_TASK    "io.modelcontextprotocol/related-task"
#define EXT_TASKS            "io.modelcontextprotocol/tasks"

/* What a revision has. Legacy requests of an older revision do not see newer features. */
struct revision {
    const char *date;
    enum era era;
    bool batch;       /* JSON-RPC arrays */
    bool structured;  /* structuredContent, outputSchema, resource_link, titles */
    bool elicitation; /* form */
    bool url_elicitation;
    bool version_header; /* MCP-Protocol-Version on every HTTP request */
    bool priming;        /* SSE priming events, icons, sampling with tools */
};

/* Newest first, ended by a row with date NULL. */
extern const struct revision mcp_revisions[];

/* NULL when we do not know it. */
const struct revision *revision_find(struct span date);
/* Shaped like a date and not before the modern era; also for ones we do not know. */
bool version_claims_modern(struct span date);

/* "debug" .. "emergency" to the level and back; false / NULL when unknown. */
bool log_level_parse(struct span name, enum pb_log_level *out);
const char *log_level_name(enum pb_log_level level);
