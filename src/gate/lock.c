#include "lock.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>

enum { LOCK_VERSION = 1, LOCK_STEP_MS = 10 };

/* In the order in which they are written. */
static const struct {
    const char *member;
    enum vet_kind kind;
} sections[] = { { "instructions", VET_INSTRUCTIONS },
                 { "prompts", VET_PROMPT },
                 { "tools", VET_TOOL } };

void lock_done(struct lock *l)
{
    free(l->v);
    arena_done(&l->arena);
    *l = (struct lock){ 0 };
}

void lock_cid(const uint8_t digest[static SHA512_BYTES], char out[static 2 * SHA512_BYTES + 1])
{
    for (size_t i = 0; i < SHA512_BYTES; i++)
        snprintf(out + 2 * i, 3, "%02x", digest[i]);
}

/* ---- reading ---- */

struct lock_reading {
    struct lock *out;
    struct span text; /* for places */
    struct pb_error *err;
};

static int wrong(const struct lock_reading *r, struct json v, const char *what)
{
    unsigned line = 0, column = 0;

    if (json_text(v).p)
        json_position(r->text, (size_t)(json_text(v).p - r->text.p), &line, &column);
    return fail(r->err, PB_E_INVALID, "line %u: %s", line, what);
}

static int digit(char c)
{
    return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static int read_cid(const struct lock_reading *r, struct json v, uint8_t *out)
{
    AUTO_ARENA struct arena a = { 0 };
    struct span s = json_str(v, &a);

    if (s.n != 2 * SHA512_BYTES)
        return wrong(r, v, "expected a cid, 128 digits of hex");
    for (size_t i = 0; i < SHA512_BYTES; i++) {
        int high = digit(s.p[2 * i]), low = digit(s.p[2 * i + 1]);

        if (high < 0 || low < 0)
            return wrong(r, v, "expected a cid, 128 digits of hex");
        out[i] = (uint8_t)(high << 4 | low);
    }
    return 0;
}

/* "2026-01-31T12:00:00Z" */
static int read_time(const struct lock_reading *r, struct json v, int64_t *out)
{
    AUTO_ARENA struct arena a = { 0 };
    const char *s = json_cstr(v, &a);
    struct tm tm = { 0 };
    const char *end = s ? strptime(s, "%Y-%m-%dT%H:%M:%SZ", &tm) : NULL;

    if (!end || *end || tm.tm_year < 70)
        return wrong(r, v, "expected a time such as \"2026-01-31T12:00:00Z\"");
    *out = (int64_t)timegm(&tm) * 1000;
    return 0;
}

static int read_pin(const struct lock_reading *r, const char *server, enum vet_kind kind,
                    struct span name, struct json v)
{
    struct lock *l = r->out;
    struct lock_pin p = { .server = server, .kind = kind, .name = name };
    bool cid = false;
    int rc = 0;

    if (!json_is(v, JSON_OBJECT))
        return wrong(r, v, "expected an object with cid and approved_at");
    JSON_FOREACH(m, v) {
        if (json_key_is(m, "cid")) {
            rc = read_cid(r, m, p.approved);
            cid = true;
        } else if (json_key_is(m, "approved_at")) {
            rc = read_time(r, m, &p.approved_at);
        } else if (json_key_is(m, "held")) {
            rc = read_cid(r, m, p.held_back);
            p.held = true;
        } else {
            rc = wrong(r, m, "expected cid, approved_at or held");
        }
        if (rc < 0)
            return rc;
    }
    if (!cid || !p.approved_at)
        return wrong(r, v, "expected cid and approved_at");
    if (l->n == PINS_MAX)
        return fail(r->err, PB_E_LIMIT, "more than %d definitions", PINS_MAX);
    if (!(l->n & (l->n - 1)))
        l->v = mem_resize(l->v, (l->n ? 2 * l->n : 1) * sizeof *l->v);
    l->v[l->n++] = p;
    return 0;
}

/* Decoded, ours; a NUL in it is as good as any byte. */
static struct span own_key(const struct lock_reading *r, struct json member)
{
    struct span s = json_key_str(member, &r->out->arena);

    return span_make(arena_dup(&r->out->arena, s), s.n);
}

static int read_section(const struct lock_reading *r, const char *server, enum vet_kind kind,
                        struct json v)
{
    int rc = 0;

    if (kind == VET_INSTRUCTIONS)
        return read_pin(r, server, kind, SPAN(""), v);
    if (!json_is(v, JSON_OBJECT))
        return wrong(r, v, "expected an object with a member for each");
    JSON_FOREACH(m, v) {
        struct span name = own_key(r, m);

        rc = name.n && name.n <= CATALOG_NAME_MAX ? read_pin(r, server, kind, name, m)
                                                  : wrong(r, m, "a name is empty or too long");
        if (rc < 0)
            break;
    }
    return rc;
}

static int read_server(const struct lock_reading *r, struct json v)
{
    const char *server = own_key(r, v).p;
    AUTO_JSON struct json_doc doc = { 0 }; /* of each its own: a tape is bounded */
    int rc = 0;

    if (spec_check_name(span_of(server), NULL) < 0)
        return wrong(r, v, "this is no name of a server");
    if (!json_is(v, JSON_OBJECT))
        return wrong(r, v, "expected an object with tools, prompts and instructions");
    if (json_parse(&doc, json_text(v), NULL, r->err) < 0)
        return fail_in(r->err, "server '%s'", server);
    JSON_FOREACH(m, json_root(&doc)) {
        size_t i = 0;

        while (i < ARRAY_LEN(sections) && !json_key_is(m, sections[i].member))
            i++;
        rc = i < ARRAY_LEN(sections) ? read_section(r, server, sections[i].kind, m)
                                     : wrong(r, m, "expected tools, prompts or instructions");
        if (rc < 0)
            break;
    }
    return rc;
}

static const char *section_of(enum vet_kind kind)
{
    for (size_t i = 0; i < ARRAY_LEN(sections); i++)
        if (sections[i].kind == kind)
            return sections[i].member;
    return "";
}

static int by_place(const void *x, const void *y)
{
    const struct lock_pin *a = x, *b = y;
    int c = strcmp(a->server, b->server);

    if (c == 0)
        c = strcmp(section_of(a->kind), section_of(b->kind));
    return c ? c : span_cmp(a->name, b->name);
}

static int read_root(const struct lock_reading *r, struct json root)
{
    struct json version = json_get(root, "patchbay_lock"), servers = json_get(root, "servers");
    int64_t number;
    int rc = 0;

    if (!json_is(root, JSON_OBJECT) || json_int(version, &number, NULL) < 0)
        return wrong(r, root, "this is no lock: \"patchbay_lock\" is missing");
    if (number != LOCK_VERSION)
        return fail(r->err, PB_E_INVALID,
                    "it is of a newer Patchbay (\"patchbay_lock\": %.*s; this one knows %d)",
                    SPAN_ARG(json_text(version)), LOCK_VERSION);
    JSON_FOREACH(m, root)
        if (!json_key_is(m, "patchbay_lock") && !json_key_is(m, "servers"))
            return wrong(r, m, "expected patchbay_lock or servers");
    if (!json_is(servers, JSON_OBJECT))
        return wrong(r, servers, "servers: expected an object");
    JSON_FOREACH(m, servers) {
        rc = read_server(r, m);
        if (rc < 0)
            break;
    }
    return rc;
}

static int parse(struct lock *out, struct span text, struct pb_error *err)
{
    static const struct json_opts opts = { .keep_depth = 2, .unique_depth = JSON_ALL };
    AUTO_JSON struct json_doc doc = { 0 };
    struct lock_reading r = { out, text, err };
    int rc = json_parse(&doc, text, &opts, err);

    if (rc == 0)
        rc = read_root(&r, json_root(&doc));
    if (rc == 0 && out->n)
        qsort(out->v, out->n, sizeof *out->v, by_place);
    if (rc < 0)
        lock_done(out);
    return rc;
}

/* ---- writing ---- */

static void put_line(struct buf *out, int depth)
{
    buf_byte(out, '\n');
    for (int i = 0; i < depth; i++)
        buf_str(out, "  ");
}

static void put_pin(struct buf *out, const struct lock_pin *p, int depth)
{
    char cid[2 * SHA512_BYTES + 1], at[CLOCK_ISO_CHARS + 1];

    clock_iso(p->approved_at, at);
    put_line(out, depth);
    buf_printf(out, "\"approved_at\": \"%.19sZ\",", at);
    put_line(out, depth);
    lock_cid(p->approved, cid);
    buf_printf(out, "\"cid\": \"%s\"", cid);
    if (p->held) {
        lock_cid(p->held_back, cid);
        buf_byte(out, ',');
        put_line(out, depth);
        buf_printf(out, "\"held\": \"%s\"", cid);
    }
    put_line(out, depth - 1);
    buf_byte(out, '}');
}

/* From the first of a section on; returns how many there are. */
static size_t put_section(struct buf *out, const struct lock_pin *p, size_t left)
{
    size_t n = 0;

    put_line(out, 3);
    buf_printf(out, "\"%s\": {", section_of(p->kind));
    if (p->kind == VET_INSTRUCTIONS) {
        put_pin(out, p, 4);
        return 1;
    }
    for (; n < left && p[n].kind == p->kind && strcmp(p[n].server, p->server) == 0; n++) {
        buf_str(out, n ? "," : "");
        put_line(out, 4);
        json_quote(out, p[n].name);
        buf_str(out, ": {");
        put_pin(out, &p[n], 5);
    }
    put_line(out, 3);
    buf_byte(out, '}');
    return n;
}

static void write_lock(struct buf *out, const struct lock *l)
{
    buf_printf(out, "{\n  \"patchbay_lock\": %d,\n  \"servers\": {", LOCK_VERSION);
    for (size_t i = 0; i < l->n;) {
        const char *server = l->v[i].server;
        bool first = true;

        buf_str(out, i ? "," : "");
        put_line(out, 2);
        json_quote(out, span_of(server));
        buf_str(out, ": {");
        for (; i < l->n && strcmp(l->v[i].server, server) == 0; first = false) {
            buf_str(out, first ? "" : ",");
            i += put_section(out, &l->v[i], l->n - i);
        }
        put_line(out, 2);
        buf_byte(out, '}');
    }
    buf_str(out, l->n ? "\n  }\n}\n" : "}\n}\n");
}

/* ---- files ---- */

/* *st is zero when there is no such file. */
static int read_file(const char *path, struct buf *text, struct stat *st, struct pb_error *err)
{
    AUTO_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    *st = (struct stat){ 0 };
    if (fd < 0 && (errno == ENOENT || errno == ENOTDIR))
        return 0;
    if (fd < 0 || fstat(fd, st) < 0)
        return fail_sys(err, errno, "open '%s'", path);
    if (!S_ISREG(st->st_mode))
        return fail(err, PB_E_INVALID, "'%s' is not a file", path);
    return file_read(fd, path, PIN_LOCK_BYTES_MAX, text, err);
}

static int parse_file(struct lock *out, const char *path, struct span text, struct pb_error *err)
{
    struct pb_error why = { 0 };

    if (!span_trim(text).n || parse(out, text, &why) == 0)
        return 0;
    return fail(err, why.code,
                "'%s' cannot be used: %s; it is left as it is: correct it, or remove it to approve "
                "all anew",
                path, why.msg);
}

int lock_read(struct lock *out, const char *path, struct pb_error *err)
{
    AUTO_BUF struct buf text = { 0 };
    struct stat st;
    int rc = read_file(path, &text, &st, err);

    return rc < 0 ? rc : parse_file(out, path, buf_span(&text), err);
}

/* The directory; as others who change files there do. */
static int take_turn(const char *dir, int *fd, struct pb_error *err)
{
    *fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (*fd < 0)
        return fail_sys(err, errno, "open the directory '%s'", dir);
    for (int waited = 0; flock(*fd, LOCK_EX | LOCK_NB) < 0; waited += LOCK_STEP_MS) {
        if (errno != EWOULDBLOCK && errno != EINTR)
            break; /* a file system without locks: replacing is atomic all the same */
        if (waited >= PIN_LOCK_MS)
            return fail(err, PB_E_BUSY, "another program is changing files in '%s'", dir);
        poll(NULL, 0, LOCK_STEP_MS);
    }
    return 0;
}

/* Changes win, but for what is only trusted because it was not known. */
static int merge(struct lock *l, const struct lock_pin *changes, size_t n, struct pb_error *err)
{
    struct lock_pin *all = mem_alloc((l->n + n + 1) * sizeof *all), *fresh;
    size_t i = 0, k = 0, m = 0;

    fresh = mem_alloc((n + 1) * sizeof *fresh);
    if (n)
        memcpy(fresh, changes, n * sizeof *fresh);
    if (n)
        qsort(fresh, n, sizeof *fresh, by_place);
    while (i < l->n || k < n) {
        int c = i == l->n ? 1 : k == n ? -1 : by_place(&l->v[i], &fresh[k]);

        if (c < 0) {
            all[m++] = l->v[i++];
            continue;
        }
        if (c == 0 && fresh[k].first)
            all[m++] = l->v[i];
        else if (!fresh[k].gone)
            all[m++] = fresh[k];
        i += c == 0;
        k++;
    }
    free(fresh);
    free(l->v);
    l->v = all;
    l->n = m;
    return m > PINS_MAX ? fail(err, PB_E_LIMIT, "more than %d definitions", PINS_MAX) : 0;
}

/* What is not read again would be lost, and all that was approved with it. */
static int check_written(struct span text, struct pb_error *err)
{
    AUTO_LOCK struct lock l = { 0 };

    if (text.n > PIN_LOCK_BYTES_MAX)
        return fail(err, PB_E_LIMIT, "more than %d bytes", PIN_LOCK_BYTES_MAX);
    return parse(&l, text, err);
}

static int fail_too_much(struct pb_error *err, const char *path)
{
    return fail_in(err,
                   "'%s' is left as it is, for it could not be read again ('patchbay approve "
                   "SERVER' forgets what a server does not list any more; what servers that are "
                   "not used have there can be taken out)",
                   path);
}

static int replace(const char *path, const struct stat *st, struct span text, struct pb_error *err)
{
    struct file_how how = { true, st->st_mode != 0, st->st_mode & 07777, st->st_uid, st->st_gid };

    if (st->st_mode && !(st->st_mode & 0222))
        return fail(err, PB_E_INVALID, "'%s' is read-only, and so left as it is", path);
    return file_replace(path, text, how, err);
}

int lock_change(const char *path, const struct lock_pin *changes, size_t n, struct pb_error *err)
{
    AUTO_BUF struct buf text = { 0 }, now = { 0 };
    AUTO_LOCK struct lock l = { 0 };
    AUTO_CLOSE int turn = -1;
    AUTO_FREE char *real = realpath(path, NULL); /* a symbolic link stays one */
    const char *file = real ? real : path, *slash = strrchr(file, '/');
    AUTO_FREE char *dir =
        slash ? mem_dupn(file, slash == file ? 1 : (size_t)(slash - file)) : mem_dup(".");
    struct stat st;
    int rc = file_make_directories(dir, err);

    if (rc == 0)
        rc = take_turn(dir, &turn, err);
    if (rc == 0)
        rc = read_file(file, &text, &st, err);
    if (rc == 0)
        rc = parse_file(&l, file, buf_span(&text), err);
    if (rc == 0)
        rc = merge(&l, changes, n, err);
    if (rc == -(int)PB_E_LIMIT)
        return fail_too_much(err, file);
    if (rc < 0)
        return rc;
    write_lock(&now, &l);
    if (span_eq(buf_span(&now), buf_span(&text)))
        return 0;
    if (check_written(buf_span(&now), err) < 0)
        return fail_too_much(err, file);
    return replace(file, &st, buf_span(&now), err);
}
