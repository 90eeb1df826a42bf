#include "catalog_rig.h"
#include "hub/catalog/catalog.h"
#include "hub/link/link.h"
#include "hub/spec/spec.h"

static const struct scope all = { .builtins = 1 };

static struct catalog *some(void)
{
    struct catalog *c = catalog_new();

    catalog_add_builtin(c, LIST_TOOLS, 1, SPAN("{\"name\":\"todo\"}"));
    rig_set(c, "github", LIST_TOOLS,
            "[{\"name\":\"search\"},{\"name\":\"create_issue\"},{\"name\":\"repo.list\"},"
            "{\"name\":\"a/b\"},{\"name\":\"filesystem.write\"}]");
    rig_set(c, "filesystem", LIST_TOOLS, "[{\"name\":\"read\"},{\"name\":\"write\"}]");
    rig_set(c, "empty", LIST_TOOLS, "[]");
    rig_set(c, "github", LIST_PROMPTS, "[{\"name\":\"review\"}]");
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
        const struct entry *e = rig_find(c, &all, cases[i].name);

        if (!e)
            TAP_FAIL("%s is not found", cases[i].name);
        CHECK_SPAN(e->id, cases[i].id);
    }
    /* what the server is sent is its own name */
    CHECK_SPAN(rig_find(c, &all, "github.search")->name, "search");
    CHECK(catalog_find(c, &all, LIST_PROMPTS, SPAN("github__review"), NULL));
    CHECK(catalog_find(c, &all, LIST_PROMPTS, SPAN("github/review"), NULL));
}

/* S1-91 */
TEST(one_server_alone_is_asked_by_its_own_names_and_not_for_those_of_another)
{
    AUTO(catalog) struct catalog *c = some();
    struct scope one = { .server = "github" };
    struct pb_error err;

    CHECK_SPAN(rig_find(c, &one, "search")->id, "github/search");
    CHECK_SPAN(rig_find(c, &one, "github.search")->id, "github/search");
    CHECK_SPAN(rig_find(c, &one, "github__search")->id, "github/search");
    CHECK_SPAN(rig_find(c, &one, "a/b")->id, "github/a/b");
    /* its own name comes before every other reading */
    CHECK_SPAN(rig_find(c, &one, "filesystem.write")->id, "github/filesystem.write");

    CHECK(!catalog_find(c, &one, LIST_TOOLS, SPAN("filesystem.read"), &err));
    CHECK_INT(err.code, PB_E_NOT_FOUND);
    CHECK_STR(fault_name(&err), "tool_not_found");
    CHECK_HAS(err.msg, "'filesystem.read' is not a tool of server 'github'");
    CHECK(!rig_find(c, &one, "filesystem/read"));
    CHECK(!rig_find(c, &one, "filesystem__read"));
    CHECK(!rig_find(c, &one, "todo"));
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
    AUTO(filter) struct filter *f = rig_filter("{\"not\":{\"tools\":[\"search\"]}}");
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
