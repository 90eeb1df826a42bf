/* todo_file.c - the list of a conversation on disk. A daemon and a command line without one may
 * change it at once: whoever does holds the lock of the directory from reading to writing. */
#include "todo_impl.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

/* Callers choose what a conversation is called: as a name of a file only its hash is harmless. */
void todo_file_init(struct todo_file *f, const char *home, const char *conversation)
{
    AUTO_BUF struct buf path = { 0 };
    char hash[2 * SHA256_BYTES + 1];

    sha256_hex(span_of(conversation), hash);
    buf_printf(&path, "%s/todos", home);
    f->conversation = conversation;
    f->dir = mem_dup(buf_cstr(&path));
    buf_printf(&path, "/%s.json", hash);
    f->path = buf_take(&path);
    f->lock = -1;
}

void todo_file_done(struct todo_file *f)
{
    if (f->lock >= 0)
        close(f->lock);
    free(f->dir);
    free(f->path);
    *f = (struct todo_file){ .lock = -1 };
}

int todo_file_lock(struct todo_file *f, struct pb_error *err)
{
    int rc = file_make_directories(f->dir, err);

    return rc < 0 ? rc : file_lock_directory(f->dir, TODO_LOCK_MS, &f->lock, err);
}

int todo_file_load(const struct todo_file *f, struct todo_list *l, struct pb_error *err)
{
    AUTO_BUF struct buf text = { 0 };
    AUTO_CLOSE int fd = open(f->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    int rc;

    if (fd < 0 && errno == ENOENT)
        return 0;
    if (fd < 0)
        return fail_sys(err, errno, "open '%s'", f->path);
    rc = file_read(fd, f->path, TODO_FILE_MAX, &text, err);
    if (rc < 0)
        return rc;
    if (todo_list_read(l, buf_span(&text), err) == 0)
        return 0;
    return fail_in(
        err, "the todo list in '%s' is damaged (mend or remove it; it was left as it is)", f->path);
}

/* ---- how many there may be ---- */

/* The one that nobody has changed for the longest time. Its name is the caller's to free. */
static char *oldest_of(DIR *dir, size_t *n)
{
    struct timespec oldest = { 0 };
    char *name = NULL;
    struct dirent *d;

    *n = 0;
    while ((d = readdir(dir)) != NULL) {
        const char *ending = strrchr(d->d_name, '.');
        struct stat st;

        if (!ending || strcmp(ending, ".json") != 0 ||
            fstatat(dirfd(dir), d->d_name, &st, AT_SYMLINK_NOFOLLOW) < 0)
            continue;
        ++*n;
        if (name && (st.st_mtim.tv_sec > oldest.tv_sec ||
                     (st.st_mtim.tv_sec == oldest.tv_sec && st.st_mtim.tv_nsec >= oldest.tv_nsec)))
            continue;
        oldest = st.st_mtim;
        free(name);
        name = mem_dup(d->d_name);
    }
    return name;
}

/* Each session of a client is a conversation, and most never come back. */
static void make_room(const struct todo_file *f)
{
    DIR *dir = opendir(f->dir);
    AUTO_FREE char *name = NULL;
    size_t n;

    if (!dir)
        return;
    name = oldest_of(dir, &n);
    if (name && n >= TODO_LISTS_MAX)
        unlinkat(dirfd(dir), name, 0);
    closedir(dir);
}

int todo_file_save(const struct todo_file *f, const struct todo_list *l, struct pb_error *err)
{
    AUTO_BUF struct buf text = { 0 };

    todo_list_write(&text, l, f->conversation);
    buf_byte(&text, '\n');
    if (text.n > TODO_FILE_MAX)
        return fail(err, PB_E_LIMIT,
                    "the todo list would be larger than %d bytes; shorten descriptions",
                    TODO_FILE_MAX);
    if (access(f->path, F_OK) < 0)
        make_room(f);
    return file_replace(f->path, buf_span(&text), (struct file_how){ .durable = true }, err);
}
