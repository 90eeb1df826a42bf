/* temp_dir.h - a directory for one test, made when it is first asked for and gone with it. */
#pragma once
#include "tap.h"
#include <ftw.h>
#include <sys/stat.h>

enum { TEMP_TEXT_MAX = 1 << 16 };

static char temp_dir[64];

static inline int temp_unlink(const char *path, const struct stat *st, int type, struct FTW *at)
{
    (void)st;
    (void)type;
    (void)at;
    return remove(path);
}

static inline void temp_remove(const char *dir)
{
    nftw(dir, temp_unlink, 16, FTW_DEPTH | FTW_PHYS);
}

/* The next one that is asked for is a new one. */
static inline void temp_clean(void)
{
    if (*temp_dir)
        temp_remove(temp_dir);
    *temp_dir = '\0';
}

static inline const char *temp_root(void)
{
    if (!*temp_dir) {
        snprintf(temp_dir, sizeof temp_dir, "/tmp/patchbay-test-XXXXXX");
        CHECK(mkdtemp(temp_dir) != NULL);
        atexit(temp_clean);
    }
    return temp_dir;
}

/* Good until the eighth call after it. */
static inline const char *temp_path(const char *name)
{
    static char path[8][256];
    static int at;

    at = (at + 1) % 8;
    snprintf(path[at], sizeof path[at], "%s/%s", temp_root(), name);
    return path[at];
}

static inline void temp_write(const char *path, const char *text)
{
    FILE *f = fopen(path, "w");

    CHECK(f != NULL);
    CHECK(fputs(text, f) >= 0);
    CHECK(fclose(f) == 0);
}

/* A file with this text; its path is good as long as temp_path()'s. */
static inline const char *temp_file(const char *name, const char *text)
{
    const char *path = temp_path(name);

    temp_write(path, text);
    return path;
}

static inline const char *temp_read(const char *path)
{
    static char text[TEMP_TEXT_MAX];
    FILE *f = fopen(path, "r");
    size_t n;

    if (!f)
        TAP_FAIL("there is no file %s", path);
    n = fread(text, 1, sizeof text - 1, f);
    fclose(f);
    text[n] = '\0';
    return text;
}

static inline unsigned temp_mode(const char *path)
{
    struct stat st;

    CHECK(stat(path, &st) == 0);
    return st.st_mode & 07777;
}
