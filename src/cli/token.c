#include "token.h"
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
    fprintf(stderr,
            "patchbay: warning: others could read '%s'; now they cannot. Remove it to get "
            "a new token\n",
            path);
    return 0;
}

/* Nothing when there is no file, or nothing in it. */
static int read_file(const char *path, struct buf *out, struct pb_error *err)
{
    AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK); /* it may be a pipe */
    char text[TOKEN_BYTES_MAX + 1];
    ssize_t n;
    int rc;

    if (fd < 0)
        return errno == ENOENT ? 0 : fail_sys(err, errno, "read '%s'", path);
    rc = check_file(fd, path, err);
    if (rc < 0)
        return rc;
    n = read(fd, text, sizeof text);
    if (n < 0)
        return fail_sys(err, errno, "read '%s'", path);
    if (n > TOKEN_BYTES_MAX)
        return fail(err, PB_E_LIMIT, "'%s' is longer than %d bytes", path, TOKEN_BYTES_MAX);
    buf_add_span(out, span_trim(span_make(text, (size_t)n)));
    return 0;
}

static int make_directories(const char *dir, struct pb_error *err)
{
    AUTO_FREE char *path = mem_dup(dir);

    for (char *p = path + 1;; p++) {
        char was = *p;

        if (was && was != '/')
            continue;
        *p = '\0';
        if (mkdir(path, 0700) < 0 && errno != EEXIST)
            return fail_sys(err, errno, "make the directory '%s'", path);
        *p = was;
        if (!was)
            return 0;
    }
}

/* Put in place as a whole, so that nobody reads half of it, and whatever was there is not written
 * through, be it a link. */
static int write_file(const char *path, struct span token, struct pb_error *err)
{
    AUTO_BUF struct buf temp = { 0 };
    AUTO_CLOSE int fd = -1;
    int rc = 0;

    buf_printf(&temp, "%s.XXXXXX", path);
    buf_cstr(&temp);
    fd = mkostemp(temp.p, O_CLOEXEC); /* makes it 0600 */
    if (fd < 0)
        return fail_sys(err, errno, "make a file beside '%s'", path);
    if (write(fd, token.p, token.n) != (ssize_t)token.n || fsync(fd) < 0 ||
        rename(temp.p, path) < 0) {
        rc = fail_sys(err, errno, "keep the token in '%s'", path);
        unlink(temp.p);
    }
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
    rc = read_file(buf_cstr(from), out, err);
    if (rc < 0 || out->n)
        return rc;
    id_new(fresh);
    buf_str(out, fresh);
    rc = make_directories(home, err);
    return rc < 0 ? rc : write_file(buf_cstr(from), buf_span(out), err);
}

int token_of(const char *from, struct buf *out, struct pb_error *err)
{
    if (from[0] == '/')
        return read_file(from, out, err);
    if (strcmp(from, VARIABLE) == 0 && from_environment)
        buf_str(out, from_environment);
    return 0;
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
