#include "token.h"
#include "face/caller/caller.h"
#include "hub/config/config.h"
#include "talk.h"
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

enum { TOKEN_BYTES_MAX = 1024 };

#define VARIABLE "PATCHBAY_TOKEN"

/* ---- who must not see it --------------------------------------------------------------------- */

static char *from_environment;

/* /proc shows arguments and environment as they lie in memory. */
static void blot_out(const char *text) { memset((char *)(uintptr_t)text, '*', strlen(text)); }

void token_hide(void)
{
    const char *value = getenv(VARIABLE);

    if (!value)
        return;
    from_environment = mem_dup(value);
    blot_out(value);
    unsetenv(VARIABLE);
}

void token_show(void)
{
    if (from_environment)
        setenv(VARIABLE, from_environment, 1);
}

const char *token_env(void *ctx, const char *name)
{
    (void)ctx;
    return strcmp(name, VARIABLE) == 0 ? from_environment : getenv(name);
}

/* ---- the file -------------------------------------------------------------------------------- */

static int check_file(int fd, const char *path, struct pb_error *err)
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        return fail_sys(err, errno, "look at '%s'", path);
    if (!S_ISREG(st.st_mode))
        return fail(err, PB_E_INVALID, "'%s' is no file", path);
    if (st.st_uid != geteuid() && st.st_uid != 0)
        return fail(err, PB_E_INVALID, "'%s' is another user's, who knows what is in it; remove it",
                    path);
    if (!(st.st_mode & 077))
        return 0;
    if (fchmod(fd, st.st_mode & 0700) < 0)
        return fail_sys(err, errno, "keep others from reading '%s'", path);
    talk_warn("others could read '%s'; now they cannot. Remove it to get a new token", path);
    return 0;
}

/* Nothing when there is no file, or nothing in it. */
static int read_file(const char *path, size_t max, struct buf *out, struct pb_error *err)
{
    AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* it may be a pipe */
    ssize_t n;
    int rc;

    if (fd < 0)
        return errno == ENOENT ? 0 : fail_sys(err, errno, "read '%s'", path);
    rc = check_file(fd, path, err);
    if (rc < 0)
        return rc;
    while ((n = read(fd, buf_reserve(out, max + 1 - out->n), max + 1 - out->n)) > 0) {
        out->n += (size_t)n;
        if (out->n > max)
            return fail(err, PB_E_LIMIT, "'%s' is longer than %zu bytes", path, max);
    }
    return n < 0 ? fail_sys(err, errno, "read '%s'", path) : 0;
}

static int read_token(const char *path, struct buf *out, struct pb_error *err)
{
    AUTO_BUF struct buf text = { 0 };
    int rc = read_file(path, TOKEN_BYTES_MAX, &text, err);

    if (rc == 0)
        buf_add_span(out, span_trim(buf_span(&text)));
    return rc;
}

/* ---- where it comes from --------------------------------------------------------------------- */

int token_find(const struct cli *cli, struct buf *out, struct buf *from, struct pb_error *err)
{
    struct config_request r = cli_config_request(cli);
    const char *option = cli_option(cli, "token");
    AUTO_FREE char *home = config_home(&r);
    char fresh[ID_CHARS + 1];
    int rc;

    if (option) {
        buf_str(from, "--token");
        buf_str(out, option);
        blot_out(option);
        return 0;
    }
    if (from_environment && *from_environment) {
        buf_str(from, VARIABLE);
        buf_str(out, from_environment);
        return 0;
    }
    buf_printf(from, "%s/token", home);
    rc = read_token(buf_cstr(from), out, err);
    if (rc < 0 || out->n)
        return rc;
    id_new(fresh);
    buf_str(out, fresh);
    rc = file_make_directories(home, err);
    return rc < 0 ? rc
                  : file_replace(buf_cstr(from), buf_span(out),
                                 (struct file_how){ .durable = true }, err);
}

int token_of(const char *from, struct buf *out, struct pb_error *err)
{
    if (from[0] == '/')
        return read_token(from, out, err);
    if (strcmp(from, VARIABLE) == 0 && from_environment)
        buf_str(out, from_environment);
    return 0;
}

/* ---- tokens beside it ------------------------------------------------------------------------ */

char *token_list_path(const struct cli *cli)
{
    struct config_request r = cli_config_request(cli);
    AUTO_FREE char *home = config_home(&r);
    AUTO_BUF struct buf path = { 0 };

    buf_printf(&path, "%s/tokens", home);
    return buf_take(&path);
}

int token_list_read(const char *path, struct tokens **out, struct pb_error *err)
{
    AUTO_BUF struct buf text = { 0 };
    int rc = read_file(path, TOKENS_BYTES_MAX, &text, err);

    if (rc < 0)
        return rc;
    return tokens_parse(out, buf_span(&text), err) < 0 ? fail_in(err, "%s", path) : 0;
}

int token_list_change(const char *path, token_change_fn *fn, void *ctx, struct pb_error *err)
{
    AUTO(tokens) struct tokens *t = NULL;
    AUTO_BUF struct buf text = { 0 };
    AUTO_FREE char *dir = mem_dupn(path, (size_t)(strrchr(path, '/') - path));
    AUTO_CLOSE int lock = -1;
    int rc = file_make_directories(dir, err);

    if (rc == 0)
        rc = file_lock_directory(dir, CONFIG_LOCK_MS, &lock, err);
    if (rc == 0)
        rc = token_list_read(path, &t, err);
    if (rc == 0)
        rc = fn(ctx, t, err);
    if (rc < 0)
        return rc;
    tokens_write(&text, t);
    return file_replace(path, buf_span(&text), (struct file_how){ .durable = true }, err);
}

void token_link(struct buf *out, const char *url, const char *token)
{
    static const char plain[] = "-._~";

    buf_printf(out, "%s/", url);
    if (*token)
        buf_str(out, "#token=");
    for (; *token; token++) {
        unsigned char c = (unsigned char)*token;

        if (isalnum(c) || strchr(plain, c))
            buf_byte(out, (char)c);
        else
            buf_printf(out, "%%%02X", c);
    }
}
