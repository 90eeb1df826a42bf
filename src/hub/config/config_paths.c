#include "config_entry.h"
#include <pwd.h>
#include <sys/stat.h>

/* An empty variable is one that is not set. */
static const char *variable(const struct config_request *r, const char *name)
{
    const char *value = config_env(r, name);

    return value && *value ? value : NULL;
}

/* The XDG specification: relative paths in these are to be ignored. */
static const char *absolute(const struct config_request *r, const char *name)
{
    const char *value = variable(r, name);

    return value && value[0] == '/' ? value : NULL;
}

static char *join(const char *a, const char *b)
{
    AUTO_BUF struct buf path = { 0 };
    size_t n = strlen(a);

    while (n > 1 && a[n - 1] == '/')
        n--;
    buf_add(&path, a, n);
    buf_str(&path, b);
    return buf_take(&path);
}

static char *user_dir(const struct config_request *r, const char *below)
{
    const char *home = variable(r, "HOME");
    struct passwd entry, *found = NULL;
    char text[4096];

    if (!home && getpwuid_r(getuid(), &entry, text, sizeof text, &found) == 0 && found)
        home = found->pw_dir;
    return join(home ? home : "/", below);
}

char *config_user_home(const struct config_request *r) { return user_dir(r, ""); }

/* Somebody has said where everything is to be. */
static const char *said_home(const struct config_request *r)
{
    return r && r->home ? r->home : variable(r, "PATCHBAY_HOME");
}

char *config_home(const struct config_request *r)
{
    const char *home = said_home(r), *xdg = absolute(r, "XDG_CONFIG_HOME");

    if (home)
        return join(home, "");
    return xdg ? join(xdg, "/patchbay") : user_dir(r, "/.config/patchbay");
}

char *config_clients_path(const struct config_request *r)
{
    const char *file = variable(r, "PATCHBAY_MCP_CLIENTS_CONFIG");
    const char *old_home = variable(r, "CIDELDILL_HOME");
    AUTO_FREE char *home = NULL;

    if (!file)
        file = variable(r, "CIDELDILL_MCP_CLIENTS_CONFIG");
    if (file)
        return mem_dup(file);
    home = old_home && !said_home(r) ? mem_dup(old_home) : config_home(r);
    return join(home, "/mcp_clients.json");
}

/* A home that somebody has chosen keeps everything together: two of them must not share a socket.
 */
static char *state_dir(const struct config_request *r, const char *xdg_name, const char *inside)
{
    const char *xdg = said_home(r) ? NULL : absolute(r, xdg_name);
    AUTO_FREE char *home = config_home(r);

    return xdg ? join(xdg, "/patchbay") : join(home, inside);
}

char *config_runtime_dir(const struct config_request *r)
{
    return state_dir(r, "XDG_RUNTIME_DIR", "/run");
}

char *config_cache_dir(const struct config_request *r)
{
    return state_dir(r, "XDG_CACHE_HOME", "/cache");
}

char *config_records_dir(const struct config_request *r)
{
    const char *xdg = said_home(r) ? NULL : absolute(r, "XDG_STATE_HOME");
    AUTO_FREE char *home = config_home(r);

    return xdg ? join(xdg, "/patchbay/records") : join(home, "/records");
}

char *config_secrets_dir(const struct config_request *r)
{
    AUTO_FREE char *home = config_home(r);

    return join(home, "/secrets");
}

char *config_lock_path(const struct config_request *r)
{
    const char *file = r->files ? r->files[0] : NULL, *slash = file ? strrchr(file, '/') : NULL;
    AUTO_FREE char *home = NULL;
    AUTO_FREE char *dir = NULL;
    struct stat st;

    if (file && stat(file, &st) == 0 && S_ISREG(st.st_mode)) {
        dir = slash ? mem_dupn(file, (size_t)(slash - file)) : mem_dup(".");
        return join(dir, "/patchbay.lock");
    }
    home = config_home(r);
    return join(home, "/patchbay.lock");
}
