/* add.h - "patchbay add" and the console's field: what people type or paste to name new servers,
 * made into specs.
 *
 *     NAME -- COMMAND ARG...           NAME COMMAND ARG...       NAME URL
 *     npx -y @scope/pkg                @scope/pkg                https://host/mcp
 *     "docker run image"               claude mcp add …          cursor://…, vscode:…
 *     JSON of any client               TOML of Codex
 *
 * with -t/--transport, -e/--env K=V, -H/--header "N: v", -s/--scope as `claude mcp add` has them.
 * A command that follows a name is taken as it is. One without a name is a package to be run: what
 * it needs to serve MCP is filled in (npx -y, docker run -i --rm), and it names itself.
 *
 *   toml.h   Codex's files are written in it
 */
#pragma once
#include "hub/config/config.h"
#include "hub/spec/spec.h"

/* Where the new server comes to. */
struct add_around {
    const char *here; /* the directory that relative paths are of; NULL: not known */
    /* Is this the name of another server than s, of which all but the name is known? NULL: none is
     * there. Asked for names that servers give themselves. */
    bool (*taken)(void *ctx, const struct spec *s, const char *name);
    void *ctx;
};

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
    const struct add_around *around; /* may be NULL */
    const char **scope; /* NULL in it: gets what a pasted line says of it; may be NULL */
};

/* The spec, its name and its kind of login found out; -PB_E_INVALID says what is wrong and what
 * would be right. S1-73..76, S1-84. */
MUST_CHECK int add_parse(struct spec **out, const struct add_request *r, struct pb_error *err);

/* Whatever people paste: a line as a shell takes it, that of a server or one of `patchbay add`,
 * `claude mcp add`, `codex mcp add`, `code --add-mcp` and the like, "NAME=value" in front being
 * variables; a link by which Cursor or VS Code installs a server; tables of Codex's config.toml; or
 * JSON as any client has it: {"mcpServers":{…}}, "servers", "mcp", "context_servers", "mcps", an
 * entry alone, or "name":{…} without braces around it, with comments and last commas as editors
 * allow them. Variables stay as they are written. The specs know which login they want and by which
 * variables. `beside` (may be NULL) says more; its words are not looked at. Up to ADD_TEXT_MAX
 * bytes. Free *out with config_free(). */
MUST_CHECK int add_paste(struct config **out, const char *text, const struct add_request *beside,
                         struct pb_error *err);
/* What `patchbay add` was given: words that name a server, or something pasted, whole or split by a
 * shell. */
MUST_CHECK int add_read(struct config **out, const struct add_request *r, struct pb_error *err);

/* For reading a command line: do the words so far (n, at least one) begin the server's command, so
 * that `rest` (NULL-ended) is the command's and none of our options? `named`: --name was given. */
bool add_begins_command(const char *const *words, size_t n, bool named, const char *const *rest);
