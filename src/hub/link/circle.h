/* circle.h - hubs behind hubs. A hub that has itself among its servers, or among theirs, would list
 * its own tools as new ones, and those again, without end. So each says in its capabilities which
 * hubs can be reached through it, {"experimental":{"patchbay":{"hubs":["<id>",...]}}}, and does not
 * connect to a server that names it. */
#pragma once
#include "json/json.h"

/* Do these capabilities name this hub? */
bool circle_names(struct span capabilities, const char *hub);
/* Appends the ids of the hubs that they name, ID_CHARS each, at most HUB_BEHIND_MAX. */
void circle_read(struct buf *ids, struct span capabilities);
/* Puts such ids, while there is room for them. */
void circle_copy(struct json_out *o, struct span ids, size_t *room);
