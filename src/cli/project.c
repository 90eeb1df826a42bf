#include "project.h"
#include "home.h"
#include "talk.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

static const char file_name[] = ".mcp.json";

void project_free(struct project *p)
{
    if (!p)
        return;
    free(p->path);
    buf_done(&p->text);
    config_free(p->servers);
    map_done(&p->variables);
    free(p);
}

/* ---- where ----------------------------------------------------------------------------------- */

static bool has(const char *dir, const char *name, struct stat *st)
{
    AUTO_BUF struct buf path = { 0 };

    buf_printf(&path, "%s/%s", strcmp(dir, "/") == 0 ? "" : dir, name);
    return lstat(buf_cstr(&path), st) == 0;
}

/* Both without links and dots in them. */
static bool is_or_has(const char *dir, const char *below)
{
    size_t n = strcmp(dir, "/") == 0 ? 0 : strlen(dir);

    return strncmp(dir, below, n) == 0 && (below[n] == '/' || !below[n]);
}

/* The home directory, or one that it lies in: what is there is no project's. */
static bool is_of_user(const char *dir)
{
    AUTO_FREE char *home = config_user_home(NULL);
    char real[PATH_MAX];

    return realpath(home, real) && is_or_has(dir, real);
}

static bool go_up(char *dir)
{
    char *slash = strrchr(dir, '/');

    if (!slash[1])
        return false;
    slash[slash == dir] = '\0';
    return true;
}

/* Goes up in `dir` itself until there is a file. */
static bool climb(char *dir)
{
    struct stat st;

    do {
        if (is_of_user(dir))
            return false;
        if (has(dir, file_name, &st))
            return true;
    } while (!has(dir, ".git", &st) && go_up(dir));
    return false;
}

char *project_path(const char *dir)
{
    AUTO_BUF struct buf path = { 0 };
    char real[PATH_MAX];

    if (realpath(dir, real))
        dir = real;
    else if (dir[0] != '/' && getcwd(real, sizeof real))
        buf_printf(&path, "%s/", real);
    buf_str(&path, dir);
    while (path.n && path.p[path.n - 1] == '/')
        path.n--;
    buf_printf(&path, "/%s", file_name);
    return buf_take(&path);
}

bool project_counts_here(void)
{
    char here[PATH_MAX];

    return getcwd(here, sizeof here) && !is_of_user(here);
}

/* ---- reading --------------------------------------------------------------------------------- */

static int refuse(struct pb_error *err, const char *path, const char *why)
{
    return fail(err, PB_E_INVALID, "%s is not read: %s", path, why);
}

static int check_file(int fd, const char *path, struct pb_error *err)
{
    const char *why;
    struct stat st;

    if (lstat(path, &st) < 0)
        return fail_sys(err, errno, "%s is not read", path);
    if (S_ISLNK(st.st_mode) && st.st_uid != geteuid() && st.st_uid != 0)
        return refuse(err, path, "it is a link that another user has made");
    if (fstat(fd, &st) < 0)
        return fail_sys(err, errno, "%s is not read", path);
    if (!S_ISREG(st.st_mode))
        return refuse(err, path, "it is no file");
    why = config_writers(&st);
    return why ? refuse(err, path, why) : 0;
}

static int read_file(const char *path, struct buf *text, struct pb_error *err)
{
    AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    int rc;

    if (fd < 0)
        return fail_sys(err, errno, "%s is not read", path);
    rc = check_file(fd, path, err);
    return rc < 0 ? rc : file_read(fd, path, CONFIG_BYTES_MAX, text, err);
}

/* Nothing is filled in: what is shown is what the file says. */
static const char *note_variable(void *ctx, const char *name)
{
    map_put(ctx, span_of(name), ctx);
    return NULL;
}

static enum trust_said said_about(const struct project *p)
{
    AUTO(trust) struct trust *t = NULL;
    struct pb_error err;

    if (trust_read(&t, &err) == 0)
        return trust_about(t, p->path, p->sha256);
    talk_warn("no project is trusted: %s", err.msg);
    return TRUST_NOTHING;
}

static int read_project(struct project *p, struct pb_error *err)
{
    int rc;

    if (!utf8_valid(span_of(p->path)))
        return refuse(err, p->path, "its path is not UTF-8");
    rc = read_file(p->path, &p->text, err);
    if (rc < 0)
        return rc;
    p->source = (struct config_project){ p->path, buf_span(&p->text) };
    sha256_hex(p->source.text, p->sha256);
    rc = config_read_project(&p->servers, &p->source, note_variable, &p->variables, err);
    if (rc < 0)
        return fail_in(err, "the servers of this project are not read");
    p->said = said_about(p);
    return 0;
}

int project_find(struct project **out, const char *dir, struct pb_error *err)
{
    AUTO(project) struct project *p = NULL;
    char at[PATH_MAX];
    int rc;

    if (!realpath(dir, at))
        return errno == ENOENT ? fail(err, PB_E_NOT_FOUND, "there is no directory '%s'", dir)
                               : fail_sys(err, errno, "look at '%s'", dir);
    if (is_of_user(at))
        return fail(err, PB_E_NOT_FOUND,
                    "'%s' is your home directory or above it, and so no project; --config names "
                    "a file to read",
                    dir);
    if (!climb(at))
        return fail(err, PB_E_NOT_FOUND,
                    "there is no %s in '%s' or above it, up to the directory that holds .git",
                    file_name, dir);
    p = NEW(struct project);
    p->path = project_path(at);
    rc = read_project(p, err);
    if (rc == 0)
        *out = TAKE(p);
    return rc;
}

/* ---- changes by the person ------------------------------------------------------------------- */

int project_digest(const char *path, char out[static 2 * SHA256_BYTES + 1], struct pb_error *err)
{
    AUTO_BUF struct buf text = { 0 };
    int rc = read_file(path, &text, err);

    if (rc == 0)
        sha256_hex(buf_span(&text), out);
    return rc;
}

void project_edit_begin(struct project_edit *e, const struct cli *cli)
{
    AUTO_FREE char *path = project_path(".");
    AUTO(trust) struct trust *t = NULL;
    struct pb_error err;
    struct stat st;

    *e = (struct project_edit){ 0 };
    config_edits_begin();
    if (!home_is_project(cli) || !project_counts_here())
        return;
    if (lstat(path, &st) < 0)
        e->follow = errno == ENOENT;
    else if (project_digest(path, e->was, &err) == 0 && trust_read(&t, &err) == 0)
        e->follow = trust_about(t, path, e->was) == TRUST_YES;
}

/* A file that is new hides one above it, which the person may not have had in mind. */
static void tell_shadow(void)
{
    char at[PATH_MAX];
    struct stat st;

    if (getcwd(at, sizeof at) && !has(at, ".git", &st) && go_up(at) && climb(at))
        talk_note("%s/%s is not read in this directory any more: the nearest file counts",
                  at[1] ? at : "", file_name);
}

static int follow(const char *path, const char *was, struct pb_error *err)
{
    const struct config_edits *done = config_edits();

    if (done->mixed || strcmp(done->before, was) != 0)
        return fail(err, PB_E_INVALID, "somebody else has changed it at the same time");
    return trust_follow(path, was, done->after, err);
}

void project_edit_end(const struct project_edit *e)
{
    AUTO_FREE char *path = project_path(".");
    struct pb_error err;

    if (!e->follow || !config_edits()->n)
        return;
    if (!*e->was)
        tell_shadow();
    if (follow(path, e->was, &err) < 0)
        talk_warn("you will be asked whether %s is trusted: %s", path, err.msg);
}
