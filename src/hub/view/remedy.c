#include "remedy.h"
#include <errno.h>

/* ---- what is filled in ---- */

static const char name_chars[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";

/* A variable that the config names and nobody has set stays as it is written. */
static struct span unset_in(const char *text)
{
    for (const char *open = text; (open = strstr(open, "${")); open += 2) {
        const char *name = open + (strncmp(open, "${env:", 6) == 0 ? 6 : 2);
        size_t n = strspn(name, name_chars);

        if (n && name[n] == '}')
            return span_make(open, (size_t)(name + n + 1 - open));
    }
    return SPAN("");
}

static struct span unset_of(const struct spec *s)
{
    const char *const *const lists[] = { s->args, s->env, s->headers };
    struct span v = unset_in(s->transport == SPEC_STDIO ? s->command : s->url);

    for (size_t i = 0; !v.n && i < ARRAY_LEN(lists); i++)
        for (const char *const *p = lists[i]; !v.n && *p; p++)
            v = unset_in(*p);
    return v;
}

static void put_unset(struct buf *out, const struct spec *s) { buf_add_span(out, unset_of(s)); }

static void put_command(struct buf *out, const struct spec *s) { buf_str(out, s->command); }

static void put_cwd(struct buf *out, const struct spec *s) { buf_str(out, s->cwd ? s->cwd : "."); }

static void put_where(struct buf *out, const struct spec *s)
{
    if (s->file)
        buf_printf(out, " at %s:%u", s->file, s->line);
}

static void put_install(struct buf *out, const struct spec *s) { remedy_install(out, s->command); }

/* Scheme, host and port, without a user's name. */
static void put_origin(struct buf *out, const struct spec *s)
{
    const char *host = strstr(s->url, "://"), *at;
    size_t n;

    host = host ? host + 3 : s->url;
    n = strcspn(host, "/?#");
    at = memrchr(host, '@', n);
    if (at) {
        n -= (size_t)(at + 1 - host);
        host = at + 1;
    }
    buf_printf(out, "%.*s", (int)n, host);
}

/* clang-format off */
static const struct {
    const char *name;
    void (*put)(struct buf *out, const struct spec *s);
} blanks[] = {
    { "{command}", put_command },
    { "{cwd}",     put_cwd },
    { "{host}",    put_origin },
    { "{install}", put_install },
    { "{unset}",   put_unset },
    { "{where}",   put_where },
};

static const struct {
    const char *command, *hint;
} installs[] = {
    { "bun",     "install Bun" },
    { "bunx",    "install Bun, which brings bunx" },
    { "deno",    "install Deno" },
    { "docker",  "install Docker" },
    { "node",    "install Node.js" },
    { "npm",     "install Node.js, which brings npm" },
    { "npx",     "install Node.js, which brings npx" },
    { "pipx",    "install pipx" },
    { "pnpm",    "install pnpm" },
    { "python",  "install Python, or write python3" },
    { "python3", "install Python" },
    { "uv",      "install uv" },
    { "uvx",     "install uv, which brings uvx" },
    { "yarn",    "install Yarn" },
};

/* ---- the table ---- */

/* Whom a row concerns: a program, one that is named by a path, an address, one with http://, one
 * whose config names a variable that is not set. */
enum { PROCESS, PATH_PROCESS, WEB, PLAIN_WEB, UNSET };

#define LOGS "its log tells more"

/* The first row counts whose conditions all hold. */
static const struct {
    int who;
    enum pb_code code;      /* PB_OK: any */
    int sys;                /* errno or HTTP status; 0: any */
    const char *text;       /* in the text of the error; NULL: any */
    const char *said;       /* in its stderr; NULL: any */
    const char *problem, *next;
} rows[] = {
    /* a program that cannot be started */
    { PROCESS, PB_E_SYSTEM, 0, ": enter directory ", NULL,
      "its directory '{cwd}' cannot be entered", "make the directory, or change \"cwd\"{where}" },
    { PATH_PROCESS, PB_E_SYSTEM, ENOENT, NULL, NULL,
      "there is no program '{command}', or not the interpreter that its first line names",
      "correct \"command\"{where}" },
    { PROCESS, PB_E_SYSTEM, ENOENT, NULL, NULL,
      "there is no program '{command}' in PATH", "{install}" },
    { PROCESS, PB_E_SYSTEM, EACCES, NULL, NULL,
      "'{command}' may not be run: permission denied", "make it executable: chmod +x {command}" },
    { PROCESS, PB_E_SYSTEM, ENOEXEC, NULL, NULL,
      "'{command}' is no program for this machine",
      "install a build for this machine's processor; a script needs a first line like #!/bin/sh" },
    /* what is not set explains most of what comes after it */
    { UNSET, PB_OK, 0, NULL, NULL,
      "the variable {unset} is not set",
      "set it where patchbay is started, or write a default: ${NAME:-value}" },
    /* a program that ended */
    { PROCESS, PB_OK, 0, NULL, "code E404",
      "npm knows no package of this name",
      "correct the package's name in \"args\"{where}; a private one wants npm's login" },
    { PROCESS, PB_OK, 0, NULL, "MODULE_NOT_FOUND",
      "Node.js does not find a file or module",
      "correct the path in \"args\"{where}; in a checkout run 'npm install' and its build first" },
    { PROCESS, PB_OK, 0, NULL, "No module named ",
      "Python does not find a module",
      "install it for this Python, or run the server with uvx" },
    { PROCESS, PB_E_CLOSED, 0, "exited with status 127", NULL,
      "it wants to run a program that is not there", "install what its stderr names" },
    { PROCESS, PB_OK, 0, "stdout is not MCP", NULL,
      "it writes to stdout what is not MCP",
      "let it log to stderr; is there an option for MCP over stdio?" },
    { PROCESS, PB_E_TIMEOUT, 0, NULL, NULL,
      "it runs, but did not answer in time",
      "a first start may download for long: try again, or raise settings.connect_s; is it an MCP "
      "server?" },
    { PROCESS, PB_E_REMOTE, 0, NULL, NULL,
      "it answers, but refuses MCP's handshake", "is it an MCP server? run it by hand" },
    { PROCESS, PB_E_CLOSED, 0, NULL, NULL,
      "it ended before it answered",
      "run it by hand and read its messages; its environment comes from \"env\"" },
    /* TLS */
    { WEB, PB_OK, 0, "no alternative certificate subject name", NULL,
      "its certificate is for another host than {host}",
      "write the host into \"url\"{where} that the certificate names" },
    { WEB, PB_OK, 0, "does not match target host name", NULL,
      "its certificate is for another host than {host}",
      "write the host into \"url\"{where} that the certificate names" },
    { WEB, PB_OK, 0, "certificate has expired", NULL,
      "its certificate has expired", "have it renewed; is the clock of this machine right?" },
    { WEB, PB_OK, 0, "certificate problem", NULL,
      "its certificate is signed by nobody whom this machine trusts",
      "add who signed it to the machine's certificates, or name a file of them in SSL_CERT_FILE" },
    { WEB, PB_OK, 0, "wrong version number", NULL,
      "{host} does not speak TLS", "write http:// instead of https:// into \"url\"{where}" },
    { WEB, PB_OK, 0, "SSL", NULL,
      "TLS with {host} fails", "is it a port for https? " LOGS },
    /* nobody there */
    { WEB, PB_OK, 0, "resolve host", NULL,
      "no address is known for {host}",
      "correct the host in \"url\"{where}; does this machine have a network?" },
    { WEB, PB_OK, 0, "Couldn't connect", NULL,
      "nobody listens at {host}", "start the server, or correct \"url\"{where}" },
    { WEB, PB_OK, 0, "Could not connect", NULL,
      "nobody listens at {host}", "start the server, or correct \"url\"{where}" },
    { WEB, PB_E_TIMEOUT, 0, NULL, NULL,
      "it did not answer in time",
      "does it run, and is no firewall in between? settings.connect_s gives it more time" },
    /* what HTTP says */
    { WEB, PB_E_AUTH, 401, NULL, NULL,
      "it wants a login", "put an \"Authorization\" header into \"headers\"{where}" },
    { WEB, PB_E_AUTH, 403, NULL, NULL,
      "it knows who asks, and refuses",
      "ask its operator for the right, or change the login in \"headers\"{where}" },
    { WEB, PB_OK, 0, "HTTP 404", NULL,
      "it has nothing at this path",
      "correct the path of \"url\"{where}; often it is /mcp or /sse" },
    { WEB, PB_OK, 0, "redirects to", NULL,
      "it sends us to another address, where no login would be safe",
      "write that address into \"url\"{where}, if you trust it" },
    { WEB, PB_OK, 0, "HTTP 5", NULL,
      "the server itself is in trouble", "come back later; " LOGS },
    { WEB, PB_OK, 0, "HTTP 4", NULL,
      "it takes no MCP at this path", "correct the path of \"url\"{where}; often it is /mcp or /sse" },
    { WEB, PB_OK, 0, "with text/html", NULL,
      "a web page answers, not an MCP server",
      "correct \"url\"{where}: the server's documentation names the address for MCP" },
    { WEB, PB_OK, 0, "is no valid JSON", NULL,
      "what answers speaks no JSON",
      "correct \"url\"{where}: the server's documentation names the address for MCP" },
    { WEB, PB_OK, 0, "no answer to", NULL,
      "what answers is no MCP server",
      "correct \"url\"{where}: the server's documentation names the address for MCP" },
    /* cut off without a word of HTTP */
    { PLAIN_WEB, PB_OK, 0, "HTTP/0.9", NULL,
      "{host} does not speak plain HTTP", "write https:// instead of http:// into \"url\"{where}" },
    { PLAIN_WEB, PB_E_CLOSED, 0, NULL, NULL,
      "{host} cuts the connection off without an answer",
      "if it speaks TLS write https:// instead of http:// into \"url\"{where}; else " LOGS },
};
/* clang-format on */

static bool concerns(int who, const struct spec *s)
{
    bool web = s->transport != SPEC_STDIO;

    switch (who) {
    case PATH_PROCESS:
        return !web && strchr(s->command, '/');
    case WEB:
        return web;
    case PLAIN_WEB:
        return web && strncasecmp(s->url, "http://", 7) == 0;
    case UNSET:
        return unset_of(s).n > 0;
    default:
        return !web;
    }
}

static bool holds(size_t i, const struct ailment *a)
{
    return concerns(rows[i].who, a->spec) && (!rows[i].code || rows[i].code == a->err->code) &&
           (!rows[i].sys || rows[i].sys == a->err->sys) &&
           (!rows[i].text || strstr(a->err->msg, rows[i].text)) &&
           (!rows[i].said ||
            (a->said.n && memmem(a->said.p, a->said.n, rows[i].said, strlen(rows[i].said))));
}

static size_t fill_blank(struct buf *out, const char *text, const struct spec *s)
{
    for (size_t i = 0; i < ARRAY_LEN(blanks); i++) {
        if (strncmp(text, blanks[i].name, strlen(blanks[i].name)) == 0) {
            blanks[i].put(out, s);
            return strlen(blanks[i].name);
        }
    }
    buf_byte(out, *text);
    return 1;
}

static void fill_in(struct buf *out, const char *text, const struct spec *s)
{
    while (*text)
        text += fill_blank(out, text, s);
}

bool remedy_find(const struct ailment *a, struct buf *problem, struct buf *next)
{
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        if (holds(i, a)) {
            fill_in(problem, rows[i].problem, a->spec);
            fill_in(next, rows[i].next, a->spec);
            return true;
        }
    }
    return false;
}

void remedy_install(struct buf *out, const char *command)
{
    for (size_t i = 0; i < ARRAY_LEN(installs); i++) {
        if (strcmp(command, installs[i].command) == 0) {
            buf_str(out, installs[i].hint);
            return;
        }
    }
    buf_printf(out, "install '%s', or write its full path into the config", command);
}
