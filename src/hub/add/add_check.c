/* add_check.c - what is wrong with what was typed, told so that it can be put right. Values are
 * never repeated: they may be secrets. */
#include "add_parts.h"
#include "hub/spec/spec.h"

int add_check_transport(const char *transport, bool url, const char *target,
                        enum spec_transport *out, struct pb_error *err)
{
    static const struct {
        const char *name;
        enum spec_transport transport;
    } names[] = { { "stdio", SPEC_STDIO },
                  { "http", SPEC_HTTP },
                  { "streamable-http", SPEC_HTTP },
                  { "sse", SPEC_SSE } };

    *out = url ? SPEC_HTTP : SPEC_STDIO;
    if (!transport)
        return 0;
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        if (strcmp(names[i].name, transport) != 0)
            continue;
        *out = names[i].transport;
        if (url && *out == SPEC_STDIO)
            return fail(err, PB_E_INVALID,
                        "a URL is reached by 'http' or 'sse'; 'stdio' is for commands");
        if (!url && *out != SPEC_STDIO)
            return fail(err, PB_E_INVALID,
                        "transport '%s' needs a URL such as https://host/mcp, not the command '%s'",
                        transport, target);
        return 0;
    }
    return fail(err, PB_E_INVALID, "--transport is 'stdio', 'sse' or 'http', not '%s'", transport);
}

int add_check_url(const char *url, struct pb_error *err)
{
    const char *host = strstr(url, "://") + 3;
    size_t n = strcspn(host, "/?#");

    for (const char *p = url; *p; p++)
        if ((unsigned char)*p <= ' ' || *p == 0x7f)
            return fail(err, PB_E_INVALID, "a URL holds no spaces or control characters");
    if (!add_is_url(url))
        return fail(
            err, PB_E_INVALID,
            "'%.*s' is no way to reach an MCP server: a URL begins with http:// or https://",
            (int)(host - url), url);
    if (n == 0 || *host == ':' || (n && host[n - 1] == '@'))
        return fail(err, PB_E_INVALID, "the URL names no host: https://host/mcp would be right");
    return 0;
}

int add_check_cwd(const char *cwd, bool url, struct pb_error *err)
{
    if (cwd && url)
        return fail(err, PB_E_INVALID, "--cwd is for commands: a server at a URL has its own");
    if (cwd && !*cwd)
        return fail(err, PB_E_INVALID, "--cwd takes a directory, and this one has no name");
    return 0;
}

/* One that is not understood would keep the whole file from being read. */
static int check_saved(const struct spec *s, struct pb_error *err)
{
    static const struct config_request as_written = { .env = config_no_env };
    AUTO(spec) struct spec *again = NULL;
    AUTO_BUF struct buf entry = { 0 };

    spec_write(&entry, s);
    if (spec_parse(&again, s->name, buf_span(&entry), false, &as_written, err) < 0)
        return fail_in(err, "'%s' could not be read again", s->name);
    return 0;
}

int add_check_saved(const struct config *c, struct pb_error *err)
{
    struct map_slot *slot;
    int rc = 0;

    MAP_FOREACH(slot, &c->specs)
        if (rc == 0)
            rc = check_saved(slot->value, err);
    return rc;
}

bool add_is_env_name(struct span name)
{
    if (!name.n || (*name.p >= '0' && *name.p <= '9'))
        return false;
    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i];

        if (!((c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') ||
              c == '_'))
            return false;
    }
    return true;
}

int add_check_env(const char *const *env, struct pb_error *err)
{
    for (; env && *env; env++) {
        size_t n = strcspn(*env, "=");

        /* What is not K=V may be a value that lost its name: do not show it. */
        if (!(*env)[n])
            return fail(err, PB_E_INVALID, "-e takes NAME=value, and a word has no '='");
        if (!add_is_env_name(span_make(*env, n)))
            return fail(err, PB_E_INVALID,
                        "-e takes NAME=value, and a name has only letters, digits and '_'");
    }
    return 0;
}

int add_read_header(struct arena *a, const char *line, const char **out, struct pb_error *err)
{
    static const char token[] = "!#$%&'*+-.^_`|~0123456789abcdefghijklmnopqrstuvwxyz"
                                "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    size_t n = strspn(line, token);
    struct span value;

    if (!n || line[n] != ':')
        return fail(err, PB_E_INVALID,
                    "-H takes \"Name: value\", as in \"Authorization: Bearer TOKEN\"");
    value = span_trim(span_of(line + n + 1));
    for (size_t i = 0; i < value.n; i++)
        if (((unsigned char)value.p[i] < ' ' && value.p[i] != '\t') || value.p[i] == 0x7f)
            return fail(err, PB_E_INVALID, "the value of header '%.*s' holds a control character",
                        (int)n, line);
    *out = arena_printf(a, "%.*s: %.*s", (int)n, line, SPAN_ARG(value));
    return 0;
}
