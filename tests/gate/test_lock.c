/* patchbay.lock: what was approved, in a file. */
#include "gate/gate.h"
#include "temp_dir.h"

static struct lock_pin pin(const char *server, enum vet_kind kind, const char *name, uint8_t byte)
{
    struct lock_pin p = { .server = server, .kind = kind, .name = span_of(name) };

    memset(p.approved, byte, sizeof p.approved);
    p.approved_at = INT64_C(1769860800000);
    return p;
}

static const char *path(void) { return temp_path("patchbay.lock"); }

static void change(const struct lock_pin *p, size_t n)
{
    struct pb_error err = { 0 };

    if (lock_change(path(), p, n, &err) < 0)
        TAP_FAIL("%s", err.msg);
}

static size_t count(void)
{
    AUTO_LOCK struct lock l = { 0 };
    struct pb_error err = { 0 };

    if (lock_read(&l, path(), &err) < 0)
        TAP_FAIL("%s", err.msg);
    return l.n;
}

static const char *text(void)
{
    static char all[65536];
    FILE *f = fopen(path(), "re");
    size_t n = f ? fread(all, 1, sizeof all - 1, f) : 0;

    if (f)
        fclose(f);
    all[n] = '\0';
    return all;
}

/* As many as are kept can be read again, and what could not be is not written. */
TEST(what_is_written_is_bounded_by_what_is_read)
{
    enum { MANY = 130000, EACH = 13000 };
    AUTO_FREE struct lock_pin *p = mem_zero(MANY * sizeof *p);
    AUTO_FREE char *names = mem_zero(MANY * (CATALOG_NAME_MAX + 1));
    static const char *const servers[] = { "a", "b", "c", "d", "e", "f", "g", "h", "i", "j" };
    struct pb_error err = { 0 };

    for (size_t i = 0; i < MANY; i++) {
        char *name = names + i * (CATALOG_NAME_MAX + 1);

        snprintf(name, 16, "%07zu", i);
        p[i] = pin(servers[i / EACH], VET_TOOL, name, 0x11);
        p[i].held = true;
    }
    change(p, MANY);
    CHECK_INT(count(), MANY);
    for (size_t i = 0; i < MANY; i++) {
        memset(names + i * (CATALOG_NAME_MAX + 1) + 7, 'x', CATALOG_NAME_MAX - 7);
        p[i].name.n = CATALOG_NAME_MAX;
    }
    CHECK_INT(lock_change(path(), p, MANY, &err), -PB_E_LIMIT);
    CHECK_HAS(err.msg, "is left as it is");
    CHECK_HAS(err.msg, "'patchbay approve SERVER' forgets");
    CHECK_INT(count(), MANY);
    CHECK_INT(unlink(path()), 0);
}

TEST(it_is_sorted_readable_and_stable)
{
    struct lock_pin p[] = { pin("b", VET_TOOL, "z", 0x22), pin("b", VET_TOOL, "a\"\n", 0x11),
                            pin("b", VET_INSTRUCTIONS, "", 0x33), pin("a", VET_PROMPT, "p", 0x44) };
    char once[65536];

    CHECK_INT(count(), 0); /* none is an empty one */
    p[0].held = true;
    memset(p[0].held_back, 0x55, SHA512_BYTES);
    change(p, ARRAY_LEN(p));
    snprintf(once, sizeof once, "%s", text());
    CHECK_HAS(once,
              "{\n  \"patchbay_lock\": 1,\n  \"servers\": {\n    \"a\": {\n      \"prompts\": {\n"
              "        \"p\": {\n          \"approved_at\": \"2026-01-31T12:00:00Z\",\n"
              "          \"cid\": \"4444");
    CHECK(strstr(once, "\"instructions\"") < strstr(once, "\"tools\""));
    CHECK(strstr(once, "\"a\\\"\\n\"") < strstr(once, "\"z\""));
    CHECK_HAS(once, "\"held\": \"5555");
    CHECK_INT(count(), 4);
    change(NULL, 0);
    CHECK_STR(text(), once);
    change(p, 1);
    CHECK_STR(text(), once);
    p[0].gone = true;
    change(p, 1);
    CHECK_INT(count(), 3);
    temp_clean();
}

/* What is only trusted because it was not known yields to what the file knows by now. */
TEST(the_first_sight_never_replaces_an_approval)
{
    struct lock_pin p = pin("s", VET_TOOL, "t", 0x11);
    AUTO_LOCK struct lock l = { 0 };

    change(&p, 1);
    p = pin("s", VET_TOOL, "t", 0x22);
    p.first = true;
    change(&p, 1);
    CHECK_INT(lock_read(&l, path(), NULL), 0);
    CHECK_INT(l.v[0].approved[0], 0x11);
    lock_done(&l);
    p.first = false;
    change(&p, 1);
    CHECK_INT(lock_read(&l, path(), NULL), 0);
    CHECK_INT(l.v[0].approved[0], 0x22);
    temp_clean();
}

#define CID64         "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
#define CID           CID64 CID64
#define TOOL(members) "{\"patchbay_lock\":1,\"servers\":{\"s\":{\"tools\":{\"t\":{" members "}}}}}"

/* What cannot be read is told, with the place, and left as it is. */
TEST(what_is_damaged_or_newer_is_told_and_not_written_over)
{
    static const struct {
        const char *text, *says;
    } rows[] = {
        { "{", "cannot be used" },
        { "<<<<<<< HEAD\n{}", "line 1" },
        { "[]", "no lock" },
        { "{\"servers\":{}}", "no lock" },
        { "{\"patchbay_lock\":2,\"servers\":{}}", "newer Patchbay" },
        { "{\"patchbay_lock\":1}", "servers: expected an object" },
        { "{\"patchbay_lock\":1,\"servers\":{},\"more\":1}", "expected patchbay_lock or servers" },
        { "{\"patchbay_lock\":1,\"servers\":{\"a b\":{}}}", "no name of a server" },
        { "{\"patchbay_lock\":1,\"servers\":{\"s\":[]}}", "expected an object" },
        { "{\"patchbay_lock\":1,\"servers\":{\"s\":{\"resources\":{}}}}", "expected tools" },
        { TOOL(""), "expected cid and approved_at" },
        { TOOL("\"cid\":\"" CID "\""), "expected cid and approved_at" },
        { TOOL("\"cid\":\"" CID64 "\",\"approved_at\":\"2026-01-31T12:00:00Z\""), "128 digits" },
        { TOOL("\"cid\":\"" CID64 CID64 "\",\"approved_at\":\"yesterday\""), "expected a time" },
        { TOOL("\"cid\":\"" CID "\",\"cid\":\"" CID "\""), "already has" },
        { TOOL("\"cid\":\"" CID "\",\"approved_at\":\"2026-01-31T12:00:00Z\",\"x\":1"),
          "expected cid, approved_at or held" },
    };
    struct lock_pin p = pin("s", VET_TOOL, "t", 0x11);

    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        AUTO_LOCK struct lock l = { 0 };
        struct pb_error err = { 0 };

        temp_write(path(), rows[i].text);
        CHECK(lock_read(&l, path(), &err) < 0);
        CHECK_HAS(err.msg, rows[i].says);
        CHECK_HAS(err.msg, path());
        CHECK(!l.n && !l.v);
        CHECK(lock_change(path(), &p, 1, &err) < 0);
        CHECK_STR(text(), rows[i].text);
    }
    temp_write(path(), TOOL("\"cid\":\"" CID "\",\"approved_at\":\"2026-01-31T12:00:00Z\""));
    CHECK_INT(count(), 1);
    temp_write(path(), "");
    CHECK_INT(count(), 0);
    temp_clean();
}

TEST(a_read_only_lock_stays_as_it_is)
{
    struct lock_pin p = pin("s", VET_TOOL, "t", 0x11);
    struct pb_error err = { 0 };
    char before[65536];

    change(&p, 1);
    snprintf(before, sizeof before, "%s", text());
    CHECK_INT(chmod(path(), 0444), 0);
    p = pin("s", VET_TOOL, "u", 0x22);
    CHECK(lock_change(path(), &p, 1, &err) < 0);
    CHECK_HAS(err.msg, "is read-only");
    CHECK_STR(text(), before);
    temp_clean();
}

TEST(a_symbolic_link_and_its_mode_stay)
{
    struct lock_pin p = pin("s", VET_TOOL, "t", 0x11);
    char real[256];
    struct stat st;

    snprintf(real, sizeof real, "%s", temp_path("elsewhere"));
    temp_write(real, "");
    CHECK_INT(chmod(real, 0644), 0);
    CHECK_INT(symlink(real, path()), 0);
    change(&p, 1);
    CHECK_INT(lstat(path(), &st), 0);
    CHECK(S_ISLNK(st.st_mode));
    CHECK_INT(stat(real, &st), 0);
    CHECK_INT(st.st_mode & 07777, 0644);
    CHECK_INT(count(), 1);
    temp_clean();
}
