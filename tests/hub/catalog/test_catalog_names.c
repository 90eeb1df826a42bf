#include "catalog_rig.h"
#include "hub/catalog/catalog.h"
#include "hub/link/link.h"

static const char *wire(const char *server, const char *tool)
{
    static struct buf out;

    out.n = 0;
    wire_name(&out, span_of(server), span_of(tool));
    return buf_cstr(&out);
}

#define TEN "abcdefghij"

TEST(a_plain_pair_is_joined_by_two_underscores)
{
    static const struct {
        const char *server, *tool, *want;
    } cases[] = {
        { "fs", "read_file", "fs__read_file" },
        { "my-server_2", "Do-It_9", "my-server_2__Do-It_9" },
        { "a", "_private", "a___private" },
        { "a", "b__c", "a__b__c" },
        { "_a", "b", "_a__b" },
        { "a", "_", "a___" },
        /* exactly 64 */
        { "server", TEN TEN TEN TEN TEN "123456", "server__" TEN TEN TEN TEN TEN "123456" },
        /* nearly a suffix */
        { "a", "b_0123456", "a__b_0123456" },
        { "a", "b_0123456G", "a__b_0123456G" },
        { "a", "b_ABCDEF01", "a__b_ABCDEF01" },
        { "a", "b-01234567", "a__b-01234567" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        CHECK_STR(wire(cases[i].server, cases[i].tool), cases[i].want);
}

/* What every other name looks like: the plain characters, and a digest of the id. */
static void check_suffixed(const char *server, const char *tool, const char *prefix)
{
    AUTO_BUF struct buf id = { 0 }, want = { 0 };
    uint8_t digest[SHA256_BYTES];

    buf_printf(&id, "%s/%s", server, tool);
    sha256(buf_span(&id), digest);
    buf_printf(&want, "%s_%02x%02x%02x%02x", prefix, digest[0], digest[1], digest[2], digest[3]);
    CHECK_STR(wire(server, tool), buf_cstr(&want));
    CHECK(want.n <= WIRE_NAME_MAX);
}

TEST(a_name_that_does_not_fit_ends_in_a_digest_of_its_id)
{
    check_suffixed("a", "b.c", "a__b_c");
    check_suffixed("a", "b/c d", "a__b_c_d");
    check_suffixed("a", "\xe8\xaf\xbb\xe5\x8f\x96", "a____"); /* one per character, not per byte */
    /* 65 characters: cut to 55 and the suffix */
    check_suffixed("server", TEN TEN TEN TEN TEN "1234567", "server__" TEN TEN TEN TEN "abcdefg");
    /* two ways to read it */
    check_suffixed("a__b", "c", "a__b__c");
    check_suffixed("a_", "b", "a___b");
    /* it looks like one with a suffix */
    check_suffixed("a", "b_01234567", "a__b_01234567");
    check_suffixed("a", "_deadbeef", "a___deadbeef");
    /* a server's name that leaves no room for the tool */
    check_suffixed(TEN TEN TEN TEN TEN TEN "1234", "x", TEN TEN TEN TEN TEN "abcde");
}

/* All words of up to `most` letters. */
static size_t words(const char *letters, size_t most, char out[][8])
{
    size_t n = 0, base = strlen(letters), of_length = 1;

    for (size_t length = 1; length <= most; length++) {
        of_length *= base;
        for (size_t i = 0; i < of_length; i++, n++) {
            size_t rest = i;

            for (size_t k = 0; k < length; k++, rest /= base)
                out[n][k] = letters[rest % base];
            out[n][length] = '\0';
        }
    }
    return n;
}

TEST(no_two_pairs_have_the_same_outward_name)
{
    static char servers[400][8], tools[400][8];
    size_t n = words("a_-", 5, servers), m = words("a_.", 5, tools);
    struct map seen = { 0 };

    CHECK_INT(n, 3 + 9 + 27 + 81 + 243);
    for (size_t i = 0; i < n; i++)
        for (size_t k = 0; k < m; k++) {
            const char *name = wire(servers[i], tools[k]);

            CHECK(strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
                               "0123456789_-") == strlen(name));
            CHECK(strlen(name) <= WIRE_NAME_MAX);
            if (map_put(&seen, span_of(name), servers))
                TAP_FAIL("%s/%s is %s, too", servers[i], tools[k], name);
        }
    CHECK_INT(seen.n, n * m);
    map_done(&seen);
}

TEST(names_stay_when_other_servers_come_and_go)
{
    AUTO(catalog) struct catalog *c = catalog_new();
    struct scope all = { 0 };

    rig_set(c, "a", LIST_TOOLS, "[{\"name\":\"b__c\"}]");
    CHECK_STR(rig_names(c, &all, LIST_TOOLS), "a__b__c");
    rig_set(c, "a__b", LIST_TOOLS, "[{\"name\":\"c\"}]");
    CHECK_STR(rig_names(c, &all, LIST_TOOLS), "a__b__c a__b__c_e6f83604");
    CHECK_SPAN(rig_find(c, &all, "a__b__c")->id, "a/b__c");
    CHECK_SPAN(rig_find(c, &all, "a__b__c_e6f83604")->id, "a__b/c");
    catalog_drop(c, "a");
    CHECK_STR(rig_names(c, &all, LIST_TOOLS), "a__b__c_e6f83604");
    CHECK(!rig_find(c, &all, "a__b__c"));
}

/* The n-th of many tools that go out under names which differ in their digest only. */
static void nth_tool(char out[static 32], const char *first, unsigned n)
{
    char *p = stpcpy(out, first);

    for (int i = 0; i < 20; i++)
        *p++ = n >> i & 1 ? '.' : ':';
    *p = '\0';
}

/* Two tools, of "z" and of "z_", whose outward names are the same: found by trying. */
static void find_twins(char of_z[static 32], char of_z_[static 32])
{
    enum { TRIES = 1 << 18 };
    struct map seen = { 0 };
    unsigned found = 0, other = 0;

    for (unsigned n = 1; n < TRIES; n++) {
        nth_tool(of_z, "_", n);
        map_put(&seen, span_of(wire("z", of_z)), (void *)(uintptr_t)n);
    }
    for (unsigned n = 1; n < TRIES && !found; n++) {
        nth_tool(of_z_, "", n);
        found = (unsigned)(uintptr_t)map_get(&seen, span_of(wire("z_", of_z_)));
        other = n;
    }
    CHECK(found);
    nth_tool(of_z, "_", found);
    nth_tool(of_z_, "", other);
    map_done(&seen);
}

TEST(an_outward_name_that_was_searched_for_stays_with_who_had_it_first)
{
    AUTO(catalog) struct catalog *c = catalog_new();
    AUTO_BUF struct buf first = { 0 }, second = { 0 }, want = { 0 };
    struct scope all = { 0 };
    char of_z[32], of_z_[32];

    find_twins(of_z, of_z_);
    buf_printf(&first, "[{\"name\":\"%s\"}]", of_z_);
    buf_printf(&second, "[{\"name\":\"%s\"}]", of_z);
    buf_printf(&want, "z_/%s", of_z_);
    rig_listen();
    rig_set(c, "z_", LIST_TOOLS, buf_cstr(&first));
    rig_set(c, "z", LIST_TOOLS, buf_cstr(&second)); /* comes first in the order */
    CHECK_SPAN(rig_find(c, &all, wire("z", of_z))->id, buf_cstr(&want));
    CHECK_HAS(rig_logged(), "is hidden: its outward name belongs to 'z_/");
    catalog_put_away(c, "z_");
    CHECK(!rig_find(c, &all, wire("z", of_z)));
    catalog_drop(c, "z_");
    CHECK_STR(rig_find(c, &all, wire("z", of_z))->server, "z");
}

TEST(a_server_cannot_name_a_tool_like_that_of_another)
{
    AUTO(catalog) struct catalog *c = catalog_new();
    struct scope all = { .builtins = 1 };

    /* "a" comes before "a__b", and tries to have the name that its tool goes out under */
    rig_set(c, "a__b", LIST_TOOLS, "[{\"name\":\"c\"}]");
    rig_set(c, "a", LIST_TOOLS, "[{\"name\":\"b__c_e6f83604\"}]");
    CHECK_SPAN(rig_find(c, &all, "a__b__c_e6f83604")->id, "a__b/c");
    /* a built-in keeps its name, and the tool of that name can still be reached by its id */
    rig_listen();
    catalog_add_builtin(c, LIST_TOOLS, 1, SPAN("{\"name\":\"s__t\"}"));
    rig_set(c, "s", LIST_TOOLS, "[{\"name\":\"t\"},{\"name\":\"u\"}]");
    CHECK(rig_find(c, &all, "s__t")->server == NULL);
    CHECK_STR(rig_find(c, &all, "s/t")->server, "s");
    CHECK_HAS(rig_logged(), "tool 's/t' is hidden: its outward name belongs to 's__t'");
    /* by its name it is shown once */
    CHECK(span_starts(span_of(rig_names(c, &all, LIST_TOOLS)), "s__t "));
    CHECK(!strstr(rig_names(c, &all, LIST_TOOLS), " s__t"));
    CHECK_HAS(rig_names(c, &all, LIST_TOOLS), " s__u");
}
