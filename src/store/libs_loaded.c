#include "libs.h"
#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

enum library { SQLITE, ZSTD, LIBRARIES };

static const struct {
    const char *soname, *package;
    const char *needs; /* a library that nobody else uses, or NULL */
} libraries[LIBRARIES] = {
    [SQLITE] = { "libsqlite3.so.0", "libsqlite3-0", "libm.so.6" },
    [ZSTD] = { "libzstd.so.1", "libzstd1", NULL },
};

static const struct {
    enum library library;
    const char *name;
    size_t at;
} symbols[] = {
    /* clang-format off */
    { SQLITE, "sqlite3_libversion_number",     offsetof(struct libs, version) },
    { SQLITE, "sqlite3_config",                offsetof(struct libs, config) },
    { SQLITE, "sqlite3_open_v2",               offsetof(struct libs, open) },
    { SQLITE, "sqlite3_close_v2",              offsetof(struct libs, close) },
    { SQLITE, "sqlite3_extended_result_codes", offsetof(struct libs, extended) },
    { SQLITE, "sqlite3_busy_timeout",          offsetof(struct libs, busy_timeout) },
    { SQLITE, "sqlite3_progress_handler",      offsetof(struct libs, progress) },
    { SQLITE, "sqlite3_exec",                  offsetof(struct libs, exec) },
    { SQLITE, "sqlite3_prepare_v3",            offsetof(struct libs, prepare) },
    { SQLITE, "sqlite3_finalize",              offsetof(struct libs, finalize) },
    { SQLITE, "sqlite3_reset",                 offsetof(struct libs, reset) },
    { SQLITE, "sqlite3_step",                  offsetof(struct libs, step) },
    { SQLITE, "sqlite3_bind_int64",            offsetof(struct libs, bind_int) },
    { SQLITE, "sqlite3_bind_text",             offsetof(struct libs, bind_text) },
    { SQLITE, "sqlite3_bind_blob",             offsetof(struct libs, bind_blob) },
    { SQLITE, "sqlite3_bind_null",             offsetof(struct libs, bind_null) },
    { SQLITE, "sqlite3_column_int64",          offsetof(struct libs, column_int) },
    { SQLITE, "sqlite3_column_blob",           offsetof(struct libs, column_blob) },
    { SQLITE, "sqlite3_column_bytes",          offsetof(struct libs, column_bytes) },
    { SQLITE, "sqlite3_column_type",           offsetof(struct libs, column_type) },
    { SQLITE, "sqlite3_errmsg",                offsetof(struct libs, errmsg) },
    { SQLITE, "sqlite3_extended_errcode",      offsetof(struct libs, errcode) },
    { SQLITE, "sqlite3_system_errno",          offsetof(struct libs, system_errno) },
    { SQLITE, "sqlite3_get_autocommit",        offsetof(struct libs, autocommit) },
    { ZSTD,   "ZSTD_createCCtx",               offsetof(struct libs, zstd_new) },
    { ZSTD,   "ZSTD_freeCCtx",                 offsetof(struct libs, zstd_free) },
    { ZSTD,   "ZSTD_compressBound",            offsetof(struct libs, zstd_bound) },
    { ZSTD,   "ZSTD_compressCCtx",             offsetof(struct libs, zstd_compress) },
    { ZSTD,   "ZSTD_decompress",               offsetof(struct libs, zstd_decompress) },
    { ZSTD,   "ZSTD_isError",                  offsetof(struct libs, zstd_is_error) },
    /* clang-format on */
};
_Static_assert(ARRAY_LEN(symbols) * sizeof(void *) == sizeof(struct libs),
               "every function has a row");

int libs_find(struct libs *out, struct pb_error *err)
{
    void *lib[LIBRARIES];

    for (size_t i = 0; i < LIBRARIES; i++) {
        lib[i] = dlopen(libraries[i].soname, RTLD_NOW | RTLD_LOCAL);
        if (!lib[i])
            return fail(err, PB_E_UNSUPPORTED,
                        "recording needs %s; install it (Debian: the package %s)",
                        libraries[i].soname, libraries[i].package);
    }
    for (size_t i = 0; i < ARRAY_LEN(symbols); i++) {
        void *f = dlsym(lib[symbols[i].library], symbols[i].name);

        if (!f)
            return fail(err, PB_E_UNSUPPORTED, "%s has no %s; install a newer one",
                        libraries[symbols[i].library].soname, symbols[i].name);
        memcpy((char *)out + symbols[i].at, &f, sizeof f);
    }
    return 0;
}

/* What is only read stays in the kernel's cache of files, and comes back from there when it is
 * used. */
static void drop_pages(const struct dl_phdr_info *info)
{
    uintptr_t page = (uintptr_t)getpagesize() - 1;

    for (size_t i = 0; i < info->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &info->dlpi_phdr[i];
        uintptr_t from = (info->dlpi_addr + part->p_vaddr) & ~page;
        uintptr_t to = info->dlpi_addr + part->p_vaddr + part->p_filesz;

        if (part->p_type == PT_LOAD && !(part->p_flags & PF_W))
            madvise((void *)from, (to - from + page) & ~page, MADV_DONTNEED);
    }
}

static int drop_if_ours(struct dl_phdr_info *info, size_t size, void *ctx)
{
    const char *file = strrchr(info->dlpi_name, '/');

    (void)size;
    (void)ctx;
    for (size_t i = 0; file && i < LIBRARIES; i++)
        if (strcmp(file + 1, libraries[i].soname) == 0 ||
            (libraries[i].needs && strcmp(file + 1, libraries[i].needs) == 0))
            drop_pages(info);
    return 0;
}

void libs_rest(void) { dl_iterate_phdr(drop_if_ours, NULL); }
