/* add.h - "patchbay add": what people type to name a new server, made into a spec.
 *
 *     add NAME -- COMMAND ARG...           add NAME COMMAND ARG...       add NAME URL
 *     add "npx -y @scope/pkg"              add @scope/pkg                add https://host/mcp
 *     add "docker run image"               add npx -y @scope/pkg
 *
 * with -t/--transport, -e/--env K=V, -H/--header "N: v", -s/--scope as `claude mcp add` has them.
 * A command that follows a name is taken as it is. One without a name is a package to be run: what
 * it needs to serve MCP is filled in (npx -y, docker run -i --rm), and it names itself.
 */
#pragma once
#include "hub/config/config.h"
#include "hub/spec/spec.h"

struct add_request {
    const char *const *words;   /* before "--", NULL-ended */
    const char *const *command; /* after "--", or NULL */
    const char *name;           /* --name, or NULL */
    const char *transport;      /* or NULL */
    const char *const *env;     /* "K=V", NULL-ended, may be NULL */
    const char *const *headers;
    const char *cwd;
    const char *inherit_env; /* as inherit_parse() takes it, or NULL */
    bool lazy;
};

/* The spec, its name and its kind of login found out; -PB_E_INVALID says what is wrong and what
 * would be right. S1-73..76, S1-84. */
MUST_CHECK int add_parse(struct spec **out, const struct add_request *r, struct pb_error *err);

/* A whole line as a shell takes it: that of a server, or one of `patchbay add`, `claude mcp add`
 * and the like, with or without these first words; "NAME=value" in front are variables. `name` (may
 * be NULL) goes before the one in the line. */
MUST_CHECK int add_parse_line(struct spec **out, const char *text, const char *name,
                              struct pb_error *err);

/* Whatever people paste: such a line, or JSON as any client has it: {"mcpServers":{…}}, "servers",
 * "mcp", "context_servers", "mcps", an entry alone, or "name":{…} without braces around it; with
 * comments and last commas as editors allow them. Variables stay as they are written. The specs
 * know which login they want and by which variables. Free *out with config_free(). */
struct config;
MUST_CHECK int add_paste(struct config **out, const char *text, struct pb_error *err);

/* For reading a command line: do the words so far (n, at least one) begin the server's command, so
 * that `rest` (NULL-ended) is the command's and none of our options? `named`: --name was given. */
bool add_begins_command(const char *const *words, size_t n, bool named, const char *const *rest);
