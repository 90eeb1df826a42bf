/* control_write.h - what control methods tell, as JSON; REST tells the same. There is a hub. */
#pragma once
#include "control.h"
#include "control_act.h"
#include "face/host/host.h"
#include "hub/catalog/catalog.h"
#include "hub/hub/hub.h"
#include "hub/link/link.h"
#include "hub/spec/spec.h"

void control_write_servers(struct json_out *o, const char *key, const struct hub *h);
/* `full`: with its spec (secrets masked) and what it said about itself. */
void control_write_server(struct json_out *o, const char *key, const struct hub *h, struct link *l,
                          bool full);
void control_write_entry(struct json_out *o, const struct entry *e);
/* The members of that alone. */
void control_put_entry(struct json_out *o, const struct entry *e);
/* "remembered_at", if the lists of this server are. */
void control_put_remembered(struct json_out *o, const struct hub *h, const char *server);
/* What lists tell of: what scope_holds(). Both may be NULL, for all. External tools are not among
 * it: they are the same once more, for those who ask over MCP. */
struct scope control_scope(const char *server, const struct mode *mode);
/* One member named after the kind. False: it takes too long to choose, and is not written to its
 * end. */
MUST_CHECK bool control_write_entries(struct json_out *o, const struct hub *h, enum list_kind kind,
                                      const struct scope *scope);
/* Servers that should be there and are not: [{"server","state","error","message","problem",
 * "next_step"}].
 * `server`: this one only, and also when somebody switched it off. */
void control_write_failed(struct json_out *o, const char *key, const struct hub *h,
                          const char *server);
void control_write_pong(struct json_out *o, const struct control_act *a);
/* Servers whose lists are not what they say but what they said: [{"server","remembered_at"}]. */
void control_write_remembered(struct json_out *o, const char *key, const struct hub *h,
                              const char *server);
void control_write_modes(struct json_out *o, const char *key, const struct hub *h);
/* The first CONTROL_CALLS_MAX under way. */
void control_write_calls(struct json_out *o, const char *key, const struct hub *h);
/* The last `lines` of one server, or of each. */
void control_write_logs(struct json_out *o, const char *key, const struct hub *h,
                        const char *server, size_t lines);
/* What a server has said of itself, JSON; nothing when it is not of the type that it should be. */
void control_put_said(struct json_out *o, const char *key, enum json_type type, struct span said);
/* The config files. */
void control_write_files(struct json_out *o, const char *key, const struct control_facts *f);
/* Of this process; 0: not known. */
uint64_t control_resident_bytes(void);
void control_write_status(struct json_out *o, const struct hosts *s);
