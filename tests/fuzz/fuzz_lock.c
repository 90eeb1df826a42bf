/* fuzz_lock.c - patchbay.lock. What can be read is written and read back as the same. */
#include "gate/gate.h"
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#define MUST(cond)   \
    do {             \
        if (!(cond)) \
            abort(); \
    } while (0)

static void put(int fd, struct span text)
{
    MUST(ftruncate(fd, 0) == 0 && pwrite(fd, text.p, text.n, 0) == (ssize_t)text.n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static int fd = -1;
    static char path[64], copy[64];
    AUTO_LOCK struct lock l = { 0 }, back = { 0 };
    struct pb_error err = { 0 };

    if (fd < 0) {
        fd = memfd_create("lock", MFD_CLOEXEC);
        MUST(fd >= 0);
        snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
        snprintf(copy, sizeof copy, "/tmp/patchbay-fuzz-lock-%d", (int)getpid());
    }
    put(fd, span_make((const char *)data, size));
    if (lock_read(&l, path, &err) < 0) {
        MUST(err.msg[0] && !l.n);
        return 0;
    }
    unlink(copy);
    MUST(lock_change(copy, l.v, l.n, &err) == 0);
    MUST(lock_read(&back, copy, &err) == 0 && back.n == l.n);
    for (size_t i = 0; i < l.n; i++)
        MUST(span_eq(l.v[i].name, back.v[i].name) && l.v[i].kind == back.v[i].kind &&
             strcmp(l.v[i].server, back.v[i].server) == 0 && l.v[i].held == back.v[i].held &&
             l.v[i].approved_at == back.v[i].approved_at &&
             memcmp(l.v[i].approved, back.v[i].approved, SHA512_BYTES) == 0);
    unlink(copy);
    return 0;
}
