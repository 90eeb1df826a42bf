/* item.h - the name of a tool or prompt as somebody wrote it, "server/tool", "server.tool",
 * "server:tool" or "server__tool", and the server that it begins with. */
#pragma once
#include "base/base.h"

struct item_name {
    struct span server, own;
};
/* Is there such a server, and may it be meant? */
typedef bool item_has_fn(const void *ctx, const struct item_name *i);
/* Of the servers that are there the one whose name `text` begins with. Their names may hold "__"
 * themselves: of several the longest is meant. False: none, and *out is as it was. */
bool item_split(struct item_name *out, struct span text, item_has_fn *has, const void *ctx);
/* For saying that there is none: all before the first separator, or all there is. */
struct span item_server_part(struct span text);
/* Does a person who writes this mean a server? What holds only "__" may be anything's name. */
bool item_names_server(struct span text);
