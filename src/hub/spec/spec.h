/* spec.h - what is known about one server before it is started: its name, how to reach it, and how
 * it is to be treated. Immutable once made, and shared by reference.
 *
 *   spec.c           making one, names, slugs, the command line
 *   spec_compare.c   whether two are the same, or lead to the same link
 *   spec_mask.c      what of it is secret
 *   spec_names.c     names that promise secrets
 *   spec_shapes.c    keys that are known by how they begin
 *   spec_write.c     as JSON, whole or with secrets masked
 *   item.c           which server the name of a tool begins with
 *   inherit.c        what a server gets of our environment
 *   fault.c          what can go wrong with a server, by name
 *   filter.c         which tools: a choice, parsed and applied
 *   glob.c           * and ?
 *   mode.c           named choices of tools
 *   settings.c       the table of settings */
#pragma once
#include "fault.h"
#include "filter.h"
#include "mode.h"
#include "settings.h"
#include "spec_mask.h"
#include "spec_names.h"
#include "spec_shapes.h"

enum spec_transport { SPEC_STDIO, SPEC_HTTP, SPEC_SSE, SPEC_TRANSPORTS };
enum spec_start { SPEC_EAGER, SPEC_LAZY };
/* Shared is one for all, until it turns out that each client needs its own; always shared stays one
 * because somebody has said so. */
enum spec_instance { SPEC_SHARED, SPEC_PER_CLIENT, SPEC_ALWAYS_SHARED };
enum spec_auth { SPEC_AUTH_NONE, SPEC_AUTH_API_KEY, SPEC_AUTH_KEYFILE, SPEC_AUTH_OAUTH };
enum spec_source {
    SPEC_SOURCE_NONE,
    SPEC_SOURCE_OFFICIAL,
    SPEC_SOURCE_SMITHERY,
    SPEC_SOURCE_MANUAL
};
/* Who brought it here. What a person did not write is trusted less: see pins.h. */
enum spec_origin { SPEC_ORIGIN_PERSON, SPEC_ORIGIN_REGISTRY, SPEC_ORIGIN_IMPORT, SPEC_ORIGIN_REST };
enum spec_package { SPEC_PACKAGE_NONE, SPEC_PACKAGE_NPM, SPEC_PACKAGE_DOCKER, SPEC_PACKAGE_HTTP };

struct spec_env_var {
    const char *name;
    bool required;
};

struct spec {
    unsigned refs;
    struct arena arena; /* everything below lies here */

    const char *name;         /* [A-Za-z0-9_-]+, at most HUB_NAME_MAX */
    const char *display_name; /* never NULL: the name unless said */
    const char *uuid;         /* for secrets; NULL: none given */
    bool enabled;
    enum spec_transport transport;
    bool guess_sse; /* http by inference: fall back to HTTP+SSE when it turns out to be that */

    const char *command;     /* stdio */
    const char *const *args; /* NULL-ended, never NULL */
    const char *const *env;  /* "NAME=value", NULL-ended, never NULL */
    const char *inherit_env; /* what it gets of our environment, inherit.h; NULL: not said */
    const char *const *keys; /* those of the pairs that its login has added; never NULL */
    /* Variables of ours from which secrets among these values were filled in; never NULL. */
    const char *const *filled_from;
    const char *cwd;            /* or NULL */
    const char *url;            /* http, sse */
    const char *const *headers; /* "Name: value", NULL-ended, never NULL */

    uint64_t timeout_ms; /* of tool calls; 0: not said, link_call_ms() knows */
    bool auto_reconnect; /* true unless said */
    enum spec_start start;
    uint64_t idle_ms; /* a lazy server unused for this long is stopped; 0: never */
    enum spec_instance instance;
    unsigned max_calls;               /* at once; further ones wait; 0: no limit */
    enum pb_era era;                  /* found out by asking unless said */
    const char *const *enabled_tools; /* globs; empty: all */
    const char *const *disabled_tools;
    /* What stays of its calls: "GLOB=all", "GLOB=meta" or "GLOB=none"; of its tools' names the
     * first that fits; NULL-ended, empty: as the settings say. */
    const char *const *record;

    enum spec_auth auth;
    const struct spec_env_var *env_vars; /* name NULL ends it; never NULL */
    const char *keyfile_path;
    const char *oauth;  /* JSON object as written, or NULL */
    const char *config; /* free JSON of an "mcps" entry; "{}" unless said */
    enum spec_source source;
    const char *source_name,
        *source_version; /* official: both; smithery: qualified name; manual: URL */
    enum spec_origin origin;
    enum spec_package package;
    const char *package_id, *runtime_hint;

    /* Where it was written: for messages and for saving. */
    const char *file; /* NULL: the command line or another face */
    unsigned line;
    bool runtime_only; /* came by a face, is never saved */
};

struct spec *spec_ref(const struct spec *s);
void spec_unref(struct spec *s);
AUTO_DEFINE(spec, spec_unref)

/* The server that this program is itself, with its built-in tools. Nobody else is called so. */
#define SPEC_OWN "builtin"
/* -PB_E_INVALID with what is wrong: S4-14, T9 to T11. */
MUST_CHECK int spec_check_name(struct span name, struct pb_error *err);
/* "@github/mcp-server" -> "github-mcp-server"; "GitHub MCP Server" -> "github-mcp-server". Never
 * empty and always a good name. */
void spec_slug(struct buf *out, struct span text);
/* The other way: "github-mcp-server" -> "GitHub MCP Server", for people. S1-88 */
void spec_title(struct buf *out, const char *name);

/* Every default and nothing to reach yet: its maker fills it, from its arena, before sharing it. */
struct spec *spec_blank(const char *name);
/* A NULL-ended list in the spec's arena, everything copied. NULL is an empty list. */
const char *const *spec_words(struct spec *s, const char *const *words);

/* Constructors for programs and tests; everything is copied, variables are not expanded. */
struct spec *spec_stdio(const char *name, const char *command, const char *const *args,
                        const char *const *env);
struct spec *spec_http(const char *name, const char *url);
struct spec *spec_sse(const char *name, const char *url);

/* One entry as an object, in the "mcpServers" shape with our own keys beside; what equals its
 * default is left out. spec_parse() of config.h reads it back. */
void spec_write(struct buf *out, const struct spec *s);
/* The same for people and REST: values of env and headers, and what looks like a secret in the
 * URL, the arguments and the free JSON, as "***". */
void spec_write_masked(struct buf *out, const struct spec *s);

/* Can b go on with the connection of a? What it is called, its lists of tools, times, limits and
 * `enabled` do not matter for that. */
bool spec_same_link(const struct spec *a, const struct spec *b);
bool spec_equal(const struct spec *a, const struct spec *b);
/* Hex digest of what decides which program answers: key of the catalogue and era caches. */
void spec_fingerprint(const struct spec *s, char out[static SHA256_BYTES * 2 + 1]);
/* "npx -y @x/y" or the URL, for people; secrets masked. */
void spec_describe(struct buf *out, const struct spec *s);

const char *spec_transport_name(enum spec_transport t); /* "stdio", "http", "sse" */
const char *spec_auth_name(enum spec_auth a);           /* "none", "api_key", "keyfile", "oauth" */
const char *spec_origin_name(enum spec_origin o); /* "registry", "import", "rest"; NULL: a person */
/* No person has written it: it came by a registry, was pasted as others had it, or by REST. */
bool spec_is_foreign(const struct spec *s);

/* S1-25, S1-36..39: which kind of login these variables of a registry entry mean. */
struct registry_env_var {
    const char *name;
    bool is_secret, is_required;
};
enum spec_auth spec_detect_auth(const struct registry_env_var *vars, size_t n);
/* S1-57, S1-58: what runs a package. Lies in the arena. */
void spec_build_command(struct arena *a, enum spec_package kind, const char *id, const char *hint,
                        const char **command, const char *const **args);

/* The rest of the room. */
#include "inherit.h"
#include "item.h"
