#include "secrets.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

/* "mcp_", a UUID, "_", a name, ".key" */
enum { FILE_NAME_MAX = 4 + UUID_CHARS + 1 + SECRET_NAME_MAX + 4 };

static void secret_begin(struct buf *b)
{
    b->n = 0;
    buf_reserve(b, SECRET_BYTES_MAX + 1);
}

void secret_done(struct buf *b)
{
    if (b->p)
        explicit_bzero(b->p, b->cap);
    buf_done(b);
}

/* ---- names ---- */

int secrets_check_name(struct span name, struct pb_error *err)
{
    if (!name.n || name.n > SECRET_NAME_MAX)
        return fail(err, PB_E_INVALID, "the name of a key has 1 to %d characters", SECRET_NAME_MAX);
    for (size_t i = 0; i < name.n; i++) {
        char c = name.p[i];

        if (!((c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
              c == '_' || c == '-'))
            return fail(err, PB_E_INVALID,
                        "the name of a key has only letters, digits, '_' and '-'");
    }
    return 0;
}

static bool is_uuid(const char *s)
{
    return strlen(s) == UUID_CHARS && strspn(s, "0123456789abcdef-") == UUID_CHARS;
}

static int file_name(char out[static FILE_NAME_MAX + 1], const char *uuid, const char *name,
                     struct pb_error *err)
{
    int rc = name ? secrets_check_name(span_of(name), err) : 0;

    if (rc < 0)
        return rc;
    if (!is_uuid(uuid))
        return fail(err, PB_E_INVALID, "the id of a server whose keys are kept must be a UUID");
    snprintf(out, FILE_NAME_MAX + 1, "mcp_%s%s%s.key", uuid, name ? "_" : "", name ? name : "");
    return 0;
}

/* ---- the directory ---- */

static int open_dir(const char *dir, int *out, struct pb_error *err)
{
    int fd = open(dir, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat st;

    if (fd < 0 && errno == ENOENT)
        return fail(err, PB_E_NOT_FOUND, "there is no directory '%s'", dir);
    if (fd < 0)
        return fail_sys(err, errno, "open the directory '%s'", dir);
    if (fstat(fd, &st) < 0 || st.st_uid != geteuid()) {
        close(fd);
        return fail(err, PB_E_INVALID,
                    "the directory '%s' is another user's; keys are not kept there", dir);
    }
    if ((st.st_mode & 077) && fchmod(fd, 0700) < 0) {
        close(fd);
        return fail_sys(err, errno, "keep others out of '%s'", dir);
    }
    *out = fd;
    return 0;
}

/* ---- one file ---- */

static int write_all(int fd, struct span key)
{
    while (key.n) {
        ssize_t n = write(fd, key.p, key.n);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        key = span_from(key, (size_t)n);
    }
    return fsync(fd);
}

/* Beside it first, so that nobody ever finds half a key, nor a link that leads elsewhere. */
static int replace(int at, const char *file, struct span key, struct pb_error *err)
{
    char id[ID_CHARS + 1], temp[ID_CHARS + 8];
    AUTO_CLOSE int fd = -1;

    id_new(id);
    snprintf(temp, sizeof temp, ".new-%s", id);
    fd = openat(at, temp, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0)
        return fail_sys(err, errno, "make the file of a key");
    if (fchmod(fd, 0600) < 0 || write_all(fd, key) < 0 || renameat(at, temp, at, file) < 0) {
        int rc = fail_sys(err, errno, "write the file of a key");

        unlinkat(at, temp, 0);
        return rc;
    }
    fsync(at); /* the name itself; not every file system can */
    return 0;
}

int secrets_store(const char *dir, const char *uuid, const char *name, struct span key,
                  struct pb_error *err)
{
    char file[FILE_NAME_MAX + 1];
    AUTO_CLOSE int at = -1;
    int rc = file_name(file, uuid, name, err);

    if (rc < 0)
        return rc;
    if (!key.n || key.n > SECRET_BYTES_MAX)
        return fail(err, PB_E_LIMIT, "a key has 1 to %d bytes", SECRET_BYTES_MAX);
    rc = file_make_directories(dir, err);
    if (rc == 0)
        rc = open_dir(dir, &at, err);
    if (rc == 0)
        rc = replace(at, file, key, err);
    return rc < 0 ? fail_in(err, "%s/%s", dir, file) : 0;
}

/* What an open file holds. */
static int read_key(int fd, struct buf *out, struct pb_error *err)
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        return fail_sys(err, errno, "look at it");
    if (!S_ISREG(st.st_mode))
        return fail(err, PB_E_INVALID, "it is no file");
    secret_begin(out);
    while (out->n <= SECRET_BYTES_MAX) {
        ssize_t n = read(fd, out->p + out->n, SECRET_BYTES_MAX + 1 - out->n);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return fail_sys(err, errno, "read it");
        if (n == 0)
            break;
        out->n += (size_t)n;
    }
    if (out->n > SECRET_BYTES_MAX)
        return fail(err, PB_E_LIMIT, "it is longer than %d bytes", SECRET_BYTES_MAX);
    if (out->n && memchr(out->p, 0, out->n))
        return fail(err, PB_E_INVALID, "it holds a NUL byte, which no key does");
    return 0;
}

/* Ours alone, whatever has become of it. */
static int read_own(int fd, struct buf *out, struct pb_error *err)
{
    struct stat st;

    if (fstat(fd, &st) < 0)
        return fail_sys(err, errno, "look at it");
    if (st.st_uid != geteuid())
        return fail(err, PB_E_INVALID, "it is another user's, who knows what is in it");
    if ((st.st_mode & 077) && fchmod(fd, 0600) < 0)
        return fail_sys(err, errno, "keep others from reading it");
    return read_key(fd, out, err);
}

int secrets_load(const char *dir, const char *uuid, const char *name, struct buf *out,
                 struct pb_error *err)
{
    char file[FILE_NAME_MAX + 1];
    AUTO_CLOSE int at = -1, fd = -1;
    int rc = file_name(file, uuid, name, err);

    if (rc == 0)
        rc = open_dir(dir, &at, err);
    if (rc < 0)
        return rc;
    fd = openat(at, file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (fd < 0 && errno == ENOENT)
        return fail(err, PB_E_NOT_FOUND, "there is no key in %s/%s", dir, file);
    rc = fd < 0 ? fail_sys(err, errno, "open it") : read_own(fd, out, err);
    return rc < 0 ? fail_in(err, "%s/%s", dir, file) : 0;
}

int secrets_delete(const char *dir, const char *uuid, const char *name, struct pb_error *err)
{
    char file[FILE_NAME_MAX + 1];
    AUTO_CLOSE int at = -1;
    int rc = file_name(file, uuid, name, err);

    if (rc == 0)
        rc = open_dir(dir, &at, err);
    if (rc == -(int)PB_E_NOT_FOUND)
        return 0;
    if (rc == 0 && unlinkat(at, file, 0) < 0 && errno != ENOENT)
        rc = fail_sys(err, errno, "delete %s/%s", dir, file);
    return rc;
}

static bool is_of(const char *file, const char *uuid)
{
    return strncmp(file, "mcp_", 4) == 0 && strncmp(file + 4, uuid, UUID_CHARS) == 0 &&
           (file[4 + UUID_CHARS] == '.' || file[4 + UUID_CHARS] == '_');
}

int secrets_forget(const char *dir, const char *uuid, struct pb_error *err)
{
    char file[FILE_NAME_MAX + 1];
    const struct dirent *e;
    int at = -1, rc = file_name(file, uuid, NULL, err);
    DIR *d;

    if (rc == 0)
        rc = open_dir(dir, &at, err);
    if (rc < 0)
        return rc == -(int)PB_E_NOT_FOUND ? 0 : rc;
    d = fdopendir(at);
    if (!d) {
        rc = fail_sys(err, errno, "read the directory '%s'", dir);
        close(at);
        return rc;
    }
    while ((e = readdir(d)))
        if (is_of(e->d_name, uuid) && unlinkat(at, e->d_name, 0) < 0 && errno != ENOENT && rc == 0)
            rc = fail_sys(err, errno, "delete %s/%s", dir, e->d_name);
    closedir(d);
    return rc;
}

/* ---- files of the user's own ---- */

static char *expand_home(const char *path)
{
    const char *home = getenv("HOME");
    AUTO_BUF struct buf out = { 0 };

    if (path[0] == '~' && (path[1] == '/' || !path[1]) && home && *home) {
        buf_str(&out, home);
        path++;
    }
    buf_str(&out, path);
    return buf_take(&out);
}

static void trim(struct buf *b)
{
    struct span inside = span_trim(buf_span(b));

    if (inside.n)
        memmove(b->p, inside.p, inside.n);
    b->n = inside.n;
}

int secrets_read_keyfile(const char *path, struct buf *out, struct pb_error *err)
{
    AUTO_FREE char *full = expand_home(path);
    AUTO_CLOSE int fd = open(full, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    int rc;

    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return fail(err, PB_E_NOT_FOUND, "there is no key file '%s'", full);
    if (fd < 0)
        return fail_sys(err, errno, "open the key file '%s'", full);
    rc = read_key(fd, out, err);
    if (rc < 0)
        return fail_in(err, "the key file '%s'", full);
    trim(out);
    return out->n ? 0 : fail(err, PB_E_INVALID, "the key file '%s' is empty", full);
}
