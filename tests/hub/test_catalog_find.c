#include "catalog_kit.h"
#include "hub/catalog/catalog.h"
#include "hub/link/link.h"
#include "hub/spec/spec.h"

static const struct scope all = { .builtins = 1 };

static struct catalog *some(void)
{
    struct catalog *c = catalog_new();

    catalog_add_builtin(c, LIST_TOOLS, 1, SPAN("{\"name\":\"todo\"}"));
    kit_set(c, "github", LIST_TOOLS,
            "[{\"name\":\"search\"},{\"name\":\"create_issue\"},{\"name\":\"repo.list\"},"
            "{\"name\":\"a/b\"},{\"name\":\"filesystem.write\"}]");
    kit_set(c, "filesystem", LIST_TOOLS, "[{\"name\":\"read\"},{\"name\":\"write\"}]");
    kit_set(c, "empty", LIST_TOOLS, "[]");
    kit_set(c, "github", LIST_PROMPTS, "[{\"name\":\"review\"}]");
    return c;
}

/* S1-90 */
TEST(a_name_is_understood_in_every_form)
{
    AUTO(catalog) struct catalog *c = some();
    static const struct {
        const char *name, *id;
    } cases[] = {
        { "todo", "todo" },
        { "github__search", "github/search" },
        { "github/search", "github/search" },
        { "github.search", "github/search" },
        { "github:search", "github/search" },
        { "github/repo.list", "github/repo.list" },
        { "github.repo.list", "github/repo.list" },
        { "github/a/b", "github/a/b" },
        { "github.a/b", "github/a/b" },
        { "filesystem.write", "filesystem/write" },
        { "github.filesystem.write", "github/filesystem.write" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const struct entry *e = kit_find(c, &all, cases[i].name);

        if (!e)
            TAP_FAIL("%s is not found", cases[i].name);
        CHECK_SPAN(e->id, cases[i].id);
    }
    /* what the server is sent is its own name */
    CHECK_SPAN(kit_find(c, &all, "github.search")->name, "search");
    CHECK(catalog_find(c, &all, LIST_PROMPTS, SPAN("github__review"), NULL));
    CHECK(catalog_find(c, &all, LIST_PROMPTS, SPAN("github/review"), NULL));
}

/* S1-91 */
TEST(one_server_alone_is_asked_by_its_own_names_and_not_for_those_of_another)
{
    AUTO(catalog) struct catalog *c = some();
    struct scope one = { .server = "github" };
    struct pb_error err;

    CHECK_SPAN(kit_find(c, &one, "search")->id, "github/search");
    CHECK_SPAN(kit_find(c, &one, "github.search")->id, "github/search");
    CHECK_SPAN(kit_find(c, &one, "github__search")->id, "github/search");
    CHECK_SPAN(kit_find(c, &one, "a/b")->id, "github/a/b");
    /* its own name comes before every other reading */
    CHECK_SPAN(kit_find(c, &one, "filesystem.write")->id, "github/filesystem.write");

    CHECK(!catalog_find(c, &one, LIST_TOOLS, SPAN("filesystem.read"), &err));
    CHECK_INT(err.code, PB_E_NOT_FOUND);
    CHECK_STR(fault_name(&err), "tool_not_found");
    CHECK_HAS(err.msg, "'filesystem.read' is not a tool of server 'github'");
    CHECK(!kit_find(c, &one, "filesystem/read"));
    CHECK(!kit_find(c, &one, "filesystem__read"));
    CHECK(!kit_find(c, &one, "todo"));
}

TEST(a_miss_says_what_is_missing_and_which_names_are_like_it)
{
    AUTO(catalog) struct catalog *c = some();
    static const struct {
        const char *name, *fault, *msg;
    } cases[] = {
        { "github/serch", "tool_not_found",
          "there is no tool 'github/serch'; did you mean 'github__search'?" },
        { "search", "tool_not_found", "there is no tool 'search'; did you mean 'github__search'?" },
        { "create_isue", "tool_not_found",
          "there is no tool 'create_isue'; did you mean 'github__create_issue'?" },
        { "gitub/search", "server_not_found",
          "there is no server 'gitub'; did you mean 'github__search'?" },
        { "empty/x", "tool_not_found", "there is no tool 'empty/x'" },
        { "nobody/zzzzzzzzz", "server_not_found", "there is no server 'nobody'" },
        { "github/nosuch", "tool_not_found", "there is no tool 'github/nosuch'" },
        { "", "tool_not_found", "there is no tool ''" },
        { "filesystem/wread", "tool_not_found",
          "there is no tool 'filesystem/wread'; did you mean 'filesystem__read', "
          "'filesystem__write' or 'github__filesystem_write_" },
        { "a\x1b[31m\n", "tool_not_found", "there is no tool 'a?[31m?'" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct pb_error err = { 0 };

        CHECK(!catalog_find(c, &all, LIST_TOOLS, span_of(cases[i].name), &err));
        CHECK_STR(fault_name(&err), cases[i].fault);
        CHECK_HAS(err.msg, cases[i].msg);
        if (!strstr(cases[i].msg, "mean"))
            CHECK_STR(err.msg, cases[i].msg);
    }
}

TEST(a_miss_of_another_kind_says_which)
{
    AUTO(catalog) struct catalog *c = some();
    struct pb_error err;

    CHECK(!catalog_find(c, &all, LIST_PROMPTS, SPAN("reviews"), &err));
    CHECK_STR(fault_name(&err), "prompt_not_found");
    CHECK_STR(err.msg, "there is no prompt 'reviews'; did you mean 'github__review'?");
    CHECK(!catalog_find(c, &all, LIST_RESOURCES, SPAN("file:///x"), &err));
    CHECK_STR(fault_name(&err), "resource_not_found");
    CHECK_STR(err.msg, "there is no resource 'file:///x'");
}

TEST(what_is_hidden_is_not_offered_either)
{
    AUTO(catalog) struct catalog *c = some();
    AUTO(filter) struct filter *f = kit_filter("{\"not\":{\"tools\":[\"search\"]}}");
    struct scope s = { .filter = f };
    struct pb_error err;

    CHECK(!catalog_find(c, &s, LIST_TOOLS, SPAN("github__search"), &err));
    CHECK_STR(err.msg, "there is no tool 'github__search'");
}

TEST(a_long_name_that_nobody_has_makes_a_text_that_fits)
{
    AUTO(catalog) struct catalog *c = some();
    AUTO_BUF struct buf name = { 0 };
    struct pb_error err;

    while (name.n < 100000)
        buf_str(&name, "github__search");
    CHECK(!catalog_find(c, &all, LIST_TOOLS, buf_span(&name), &err));
    CHECK(strlen(err.msg) < sizeof err.msg);
    CHECK(utf8_valid(span_of(err.msg)));
}

/* The distance by the book, against the one by bit vectors, as seen in what is offered. */
static size_t by_the_book(const char *a, const char *b)
{
    size_t n = strlen(a), m = strlen(b), row[80];

    for (size_t k = 0; k <= m; k++)
        row[k] = k;
    for (size_t i = 1; i <= n; i++) {
        size_t diagonal = row[0];

        row[0] = i;
        for (size_t k = 1; k <= m; k++) {
            size_t up = row[k], best = diagonal + (a[i - 1] != b[k - 1]);

            best = up + 1 < best ? up + 1 : best;
            best = row[k - 1] + 1 < best ? row[k - 1] + 1 : best;
            diagonal = up;
            row[k] = best;
        }
    }
    return row[m];
}

TEST(names_are_offered_exactly_when_their_edit_distance_is_small)
{
    AUTO(catalog) struct catalog *c = catalog_new();
    struct scope one = { .server = "s" };
    uint32_t state = 7;
    size_t offered = 0;

    kit_set(c, "s", LIST_TOOLS, "[{\"name\":\"abcabcabcabc\"}]");
    for (int i = 0; i < 20000; i++) {
        char name[24];
        size_t n = 4 + (size_t)i % 16, limit = 1 + n / 5;
        struct pb_error err;
        bool near;

        for (size_t k = 0; k < n; k++) {
            state = state * 1664525u + 1013904223u;
            name[k] = "abc"[state >> 24 & 1 ? (k % 3) : (state >> 28) % 3];
        }
        name[n] = '\0';
        near = by_the_book(name, "abcabcabcabc") <= limit ||
               by_the_book(name, "s/abcabcabcabc") <= limit ||
               by_the_book(name, "s__abcabcabcabc") <= limit;
        if (catalog_find(c, &one, LIST_TOOLS, span_of(name), &err))
            continue;
        if ((strstr(err.msg, "did you mean") != NULL) != near)
            TAP_FAIL("%s: %s", name, err.msg);
        offered += near;
    }
    CHECK(offered > 100);
}
