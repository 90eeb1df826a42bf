/* zone.c - what clocks show in a time zone. The C library could tell only by changing TZ for all
 * threads, so the files that it reads are read here. */
#include "plain_impl.h"
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>

enum {
    HEAD_BYTES = 44,
    TYPE_BYTES = 6,
    ZONE_BYTES_MAX = 65536,
    ZONE_NAME_MAX = 64,
};

static uint32_t be32(const char *p)
{
    const unsigned char *b = (const unsigned char *)p;

    return (uint32_t)b[0] << 24 | (uint32_t)b[1] << 16 | (uint32_t)b[2] << 8 | b[3];
}

static int64_t be64(const char *p) { return (int64_t)((uint64_t)be32(p) << 32 | be32(p + 4)); }

/* ---- the file ---- */

struct zone_block {
    size_t times, types, size; /* transitions, kinds of time, and bytes behind the head */
    size_t time_bytes;
};

static bool read_head(struct span file, size_t time_bytes, struct zone_block *out)
{
    size_t n[6];

    if (file.n < HEAD_BYTES || memcmp(file.p, "TZif", 4) != 0)
        return false;
    for (size_t i = 0; i < ARRAY_LEN(n); i++) {
        n[i] = be32(file.p + 20 + 4 * i);
        if (n[i] > ZONE_BYTES_MAX)
            return false;
    }
    *out = (struct zone_block){ .times = n[3], .types = n[4], .time_bytes = time_bytes };
    out->size =
        n[3] * (time_bytes + 1) + n[4] * TYPE_BYTES + n[5] + n[2] * (time_bytes + 4) + n[1] + n[0];
    return out->types > 0 && out->size <= file.n - HEAD_BYTES;
}

/* Of the last transition before it; the first kind of time before all of them. */
static bool offset_of_block(const struct zone_block *b, const char *data, int64_t at, int *offset_s,
                            bool *last)
{
    const char *kinds = data + b->times * b->time_bytes, *types = kinds + b->times;
    size_t low = 0, high = b->times, type;

    while (low < high) {
        size_t middle = (low + high) / 2;

        if (be64(data + middle * b->time_bytes) <= at)
            low = middle + 1;
        else
            high = middle;
    }
    *last = low == b->times;
    type = low ? (unsigned char)kinds[low - 1] : 0;
    if (type >= b->types)
        return false;
    *offset_s = (int)(int32_t)be32(types + type * TYPE_BYTES);
    return *offset_s > -86400 && *offset_s < 86400;
}

int zone_offset(struct span file, int64_t at, int *offset_s, struct pb_error *err)
{
    struct zone_block old, b;
    const char *end;
    struct span rule;
    bool last;

    if (!read_head(file, 4, &old) || file.p[4] < '2')
        return fail(err, PB_E_INVALID, "it is no file of the time zone database");
    file = span_from(file, HEAD_BYTES + old.size);
    if (!read_head(file, 8, &b) || !offset_of_block(&b, file.p + HEAD_BYTES, at, offset_s, &last))
        return fail(err, PB_E_INVALID, "the file of the time zone is damaged");
    rule = span_from(file, HEAD_BYTES + b.size);
    if (!last || rule.n < 2 || *rule.p != '\n')
        return 0;
    rule = span_from(rule, 1);
    end = memchr(rule.p, '\n', rule.n);
    if (end && end > rule.p && !zone_rule(span_make(rule.p, (size_t)(end - rule.p)), at, offset_s))
        return fail(err, PB_E_INVALID, "the rule of the time zone cannot be read");
    return 0;
}

/* ---- by name ---- */

/* A name leads nowhere else: no "..", nothing from the root. */
static bool is_name(struct span name)
{
    if (!name.n || name.n > ZONE_NAME_MAX || *name.p == '/' || *name.p == '.' ||
        span_has(name, SPAN("..")))
        return false;
    for (size_t i = 0; i < name.n; i++)
        if (!isalnum((unsigned char)name.p[i]) && !strchr("_+-/", name.p[i]))
            return false;
    return true;
}

static int read_zone(const char *zone, struct buf *file, struct pb_error *err)
{
    AUTO_BUF struct buf path = { 0 };
    AUTO_CLOSE int fd = -1;

    buf_printf(&path, "/usr/share/zoneinfo/%s", zone);
    fd = open(buf_cstr(&path), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 && errno == ENOENT && access("/usr/share/zoneinfo", F_OK) < 0)
        return fail(err, PB_E_NOT_FOUND,
                    "this machine has no time zone database (Debian: the package tzdata); write "
                    "an offset such as +02:00");
    if (fd < 0)
        return fail(err, PB_E_NOT_FOUND,
                    "there is no time zone '%s'; there are UTC, offsets such as +02:00, and names "
                    "such as Europe/Berlin",
                    zone);
    return file_read(fd, buf_cstr(&path), ZONE_BYTES_MAX, file, err);
}

int moment_set_zone(struct moment *m, const char *zone, struct pb_error *err)
{
    AUTO_BUF struct buf file = { 0 };
    int offset_s = 0;

    if (!moment_offset(span_of(zone), &offset_s) && !span_is_nocase(span_of(zone), "utc") &&
        !span_is_nocase(span_of(zone), "gmt")) {
        if (!is_name(span_of(zone)))
            return fail(err, PB_E_INVALID, "'%.60s' is no time zone; write it as Europe/Berlin",
                        zone);
        if (read_zone(zone, &file, err) < 0)
            return -(int)err->code;
        if (zone_offset(buf_span(&file), m->seconds, &offset_s, err) < 0)
            return fail_in(err, "time zone '%s'", zone);
    }
    m->offset_s = offset_s;
    return 0;
}
