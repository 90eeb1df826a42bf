#include "catalog_rig.h"
#include "hub/catalog/catalog.h"
#include "hub/catalog/catalog_impl.h"
#include "hub/link/link.h"
#include "hub/spec/spec.h"

static const struct scope all = { 0 };

/* S4-13 S4-87 */
TEST(tools_have_the_id_server_slash_tool)
{
    AUTO(catalog) struct catalog *c = catalog_new();
    const struct entry *const *list;

    CHECK(rig_set(c, "fs", LIST_TOOLS, "[{\"name\":\"read_file\"}]"));
    CHECK_INT(catalog_all(c, LIST_TOOLS, &list), 1);
    CHECK_SPAN(list[0]->id, "fs/read_file");
    CHECK_SPAN(list[0]->wire, "fs__read_file");
    CHECK(rig_find(c, &all, "fs/read_file") == list[0]);
}

/* S4-88 */
TEST(tools_of_the_same_name_do_not_collide)
{
    AUTO(catalog) struct catalog *c = catalog_new();

    rig_set(c, "server_b", LIST_TOOLS, "[{\"name\":\"search\",\"b\":1}]");
    rig_set(c, "server_a", LIST_TOOLS, "[{\"name\":\"search\",\"a\":1}]");
    CHECK_STR(rig_render(c, &all, LIST_TOOLS),
              "[{\"name\":\"server_a__search\",\"a\":1},{\"name\":\"server_b__search\",\"b\":1}]");
    CHECK_STR(rig_find(c, &all, "server_a/search")->server, "server_a");
    CHECK_STR(rig_find(c, &all, "server_b/search")->server, "server_b");
}

/* S4-89 S4-90 S4-91 S4-92 */
TEST(an_entry_knows_its_server_its_own_name_its_description_and_its_schema)
{
    AUTO(catalog) struct catalog *c = catalog_new();
    AUTO_ARENA struct arena a = { 0 };
    const struct entry *e;

    rig_set(c, "fs", LIST_TOOLS,
            "[{\"name\":\"read\",\"description\":\"Reads \\\"it\\\"\",\"inputSchema\": "
            "{\"type\":\"object\",\"x\":1.0}},{\"name\":\"bare\"}]");
    e = rig_find(c, &all, "fs/read");
    CHECK_STR(e->server, "fs");
    CHECK_SPAN(e->name, "read");
    CHECK_SPAN(entry_description(e, &a), "Reads \"it\"");
    CHECK_SPAN(entry_schema(e), "{\"type\":\"object\",\"x\":1.0}");
    e = rig_find(c, &all, "fs/bare");
    CHECK_SPAN(entry_description(e, &a), "");
    CHECK_SPAN(entry_schema(e), "");
}

/* S4-222 */
TEST(a_server_named_breakpoint_does_not_collide_with_the_tools_named_so)
{
    AUTO(catalog) struct catalog *c = catalog_new();
    struct scope s = { .builtins = 1 };

    catalog_add_builtin(c, LIST_TOOLS, 1, SPAN("{\"name\":\"breakpoint_tool\"}"));
    rig_set(c, "breakpoint", LIST_TOOLS, "[{\"name\":\"tool\"}]");
    CHECK_STR(rig_names(c, &s, LIST_TOOLS), "breakpoint_tool breakpoint__tool");
    CHECK(rig_find(c, &s, "breakpoint_tool")->server == NULL);
    CHECK_STR(rig_find(c, &s, "breakpoint/tool")->server, "breakpoint");
    CHECK_STR(rig_find(c, &s, "breakpoint__tool")->server, "breakpoint");
}

/* S4-224 */
TEST(a_tool_may_have_a_name_that_is_not_ascii)
{
    AUTO(catalog) struct catalog *c = catalog_new();
    const struct entry *e;
    struct scope one = { .server = "s" };

    rig_set(c, "s", LIST_TOOLS,
            "[{\"name\":\"\\u8bfb\\u53d6\"},{\"name\":\"gr\xc3\xb6\xc3\x9f"
            "e\"}]");
    e = rig_find(c, &all, "s/\xe8\xaf\xbb\xe5\x8f\x96");
    CHECK_SPAN(e->name, "\xe8\xaf\xbb\xe5\x8f\x96");
    CHECK(strspn(e->wire.p, "s_0123456789abcdef") >= e->wire.n);
    CHECK(catalog_find(c, &all, LIST_TOOLS, e->wire, NULL) == e);
    /* under its own address the text stays as the server wrote it */
    CHECK_HAS(rig_render(c, &one, LIST_TOOLS), "{\"name\":\"\\u8bfb\\u53d6\"}");
    CHECK(rig_find(c, &one,
                   "gr\xc3\xb6\xc3\x9f"
                   "e"));
}

TEST(built_ins_come_first_as_they_were_added_and_the_rest_by_id)
{
    AUTO(catalog) struct catalog *c = catalog_new();
    struct scope s = { .builtins = 1 };
    const struct entry *const *list;
    static const char *const want[] = { "z",     "a",          "a-b/x", "a/A", "a/b",
                                        "a/b.c", "a/\xc3\xa4", "a1/x",  "b/x" };

    /* "a-b/" is before "a/", since "-" is before "/" */
    rig_set(c, "b", LIST_TOOLS, "[{\"name\":\"x\"}]");
    catalog_add_builtin(c, LIST_TOOLS, 1, SPAN("{\"name\":\"z\"}"));
    rig_set(c, "a", LIST_TOOLS,
            "[{\"name\":\"\xc3\xa4\"},{\"name\":\"b.c\"},{\"name\":\"b\"},{\"name\":\"A\"}]");
    rig_set(c, "a1", LIST_TOOLS, "[{\"name\":\"x\"}]");
    rig_set(c, "a-b", LIST_TOOLS, "[{\"name\":\"x\"}]");
    catalog_add_builtin(c, LIST_TOOLS, 1, SPAN("{\"name\":\"a\"}"));
    catalog_add_builtin(c, LIST_TOOLS, 1, SPAN("{\"name\":\"z\",\"again\":1}"));
    CHECK_INT(catalog_all(c, LIST_TOOLS, &list), ARRAY_LEN(want));
    for (size_t i = 0; i < ARRAY_LEN(want); i++)
        CHECK_SPAN(list[i]->id, want[i]);
    CHECK(span_starts(span_of(rig_render(c, &s, LIST_TOOLS)),
                      "[{\"name\":\"z\",\"again\":1},{\"name\":\"a\"},{\"name\":\"a-b__x\"}"));
}

TEST(items_keep_their_bytes_but_for_the_name)
{
    AUTO(catalog) struct catalog *c = catalog_new();
    struct scope one = { .server = "s" };
    static const char list[] =
        "[ {\"z\":1.0,\"title\" : \"name\",\n\"name\"\t:\t\"t\" , \"inputSchema\":{\"name\":\"t\","
        "\"properties\":{\"r\":{\"x-mcp-header\":\"Region\"}}},\"n\":12345678901234567890} ]";
    static const char want[] =
        "[{\"z\":1.0,\"title\" : \"name\",\n\"name\"\t:\t\"s__t\" , \"inputSchema\":{\"name\":\"t\","
        "\"properties\":{\"r\":{\"x-mcp-header\":\"Region\"}}},\"n\":12345678901234567890}]";
    static const char own[] =
        "[{\"z\":1.0,\"title\" : \"name\",\n\"name\"\t:\t\"t\" , \"inputSchema\":{\"name\":\"t\","
        "\"properties\":{\"r\":{\"x-mcp-header\":\"Region\"}}},\"n\":12345678901234567890}]";

    rig_set(c, "s", LIST_TOOLS, list);
    CHECK_STR(rig_render(c, &all, LIST_TOOLS), want);
    CHECK_STR(rig_render(c, &one, LIST_TOOLS), own);
    rig_set(c, "s", LIST_PROMPTS, list);
    CHECK_STR(rig_render(c, &all, LIST_PROMPTS), want);
    CHECK_STR(rig_render(c, &all, LIST_RESOURCES), "[]");
}

TEST(names_with_escapes_are_replaced_whole)
{
    AUTO(catalog) struct catalog *c = catalog_new();

    rig_set(c, "s", LIST_TOOLS, "[{\"na\\u006de\":\"\\u0061b\",\"x\":2}]");
    CHECK_STR(rig_render(c, &all, LIST_TOOLS), "[{\"na\\u006de\":\"s__ab\",\"x\":2}]");
    CHECK_SPAN(rig_find(c, &all, "s/ab")->name, "ab");
}

/* S0-4 */
TEST(a_scope_shows_what_its_filter_lets_through)
{
    AUTO(catalog) struct catalog *c = catalog_new();
    AUTO(filter) struct filter *reads = rig_filter("{\"pattern\":\"^read\"}");
    AUTO(filter) struct filter *of_b = rig_filter("{\"servers\":[\"b\"]}");
    struct scope s = { .filter = reads, .builtins = 1 };

    rig_set(c, "a", LIST_TOOLS, "[{\"name\":\"read_x\"},{\"name\":\"write\"}]");
    rig_set(c, "b", LIST_TOOLS, "[{\"name\":\"read_y\"},{\"name\":\"unread\"}]");
    rig_set(c, "a", LIST_PROMPTS, "[{\"name\":\"p\"}]");
    catalog_add_builtin(c, LIST_TOOLS, 1, SPAN("{\"name\":\"reader\"}"));
    CHECK_STR(rig_names(c, &s, LIST_TOOLS), "reader a__read_x b__read_y");
    CHECK(rig_find(c, &s, "a/read_x"));
    CHECK(!rig_find(c, &s, "a/write"));
    CHECK(!rig_find(c, &s, "a__write"));
    CHECK_STR(rig_names(c, &s, LIST_PROMPTS), "a__p"); /* the prompts of whom it shows */
    s.filter = of_b;
    CHECK_STR(rig_names(c, &s, LIST_TOOLS), "b__read_y b__unread");
    CHECK_STR(rig_names(c, &s, LIST_PROMPTS), "");
    s.server = "b";
    s.filter = reads;
    CHECK_STR(rig_names(c, &s, LIST_TOOLS), "read_y");
    CHECK(!rig_find(c, &s, "unread"));
}

/* Whoever is shown no tool of a server gets nothing else of it, in whatever way he asks. */
TEST(what_a_filter_hides_has_no_resources_and_prompts_either)
{
    AUTO(catalog) struct catalog *c = catalog_new();
    AUTO(filter) struct filter *reads = rig_filter("{\"tools\":[\"read\"]}");
    AUTO(filter) struct filter *but_b = rig_filter("{\"not\":{\"servers\":[\"b\"]}}");
    AUTO_ARENA struct arena a = { 0 };
    struct scope s = { .filter = reads };

    rig_set(c, "a", LIST_TOOLS, "[{\"name\":\"read\"}]");
    rig_set(c, "a", LIST_RESOURCES, "[{\"uri\":\"x://a\"}]");
    rig_set(c, "b", LIST_TOOLS, "[{\"name\":\"write\"}]");
    rig_set(c, "b", LIST_RESOURCES, "[{\"uri\":\"x://b\"}]");
    rig_set(c, "b", LIST_TEMPLATES, "[{\"uriTemplate\":\"t://{v}\"}]");
    rig_set(c, "b", LIST_PROMPTS, "[{\"name\":\"p\"}]");
    catalog_note_uri(c, "b", SPAN("seen://b"));
    for (int i = 0; i < 2; i++, s.filter = but_b) {
        static const char *const uris[] = { "x://b", "t://1", "seen://b", "patchbay://b/x://b" };

        CHECK_STR(rig_names(c, &s, LIST_RESOURCES), "x://a");
        CHECK_STR(rig_names(c, &s, LIST_TEMPLATES), "");
        CHECK_STR(rig_names(c, &s, LIST_PROMPTS), "");
        CHECK(!catalog_find(c, &s, LIST_PROMPTS, SPAN("b/p"), NULL));
        for (size_t k = 0; k < ARRAY_LEN(uris); k++)
            CHECK(!catalog_route(c, &s, span_of(uris[k]), &a).server);
        CHECK(catalog_route(c, &s, SPAN("x://a"), &a).server);
        CHECK(scope_shows_server(c, &s, "a"));
        CHECK(!scope_shows_server(c, &s, "b"));
    }
    s.filter = reads; /* it is asked anew when the tools have changed */
    CHECK_STR(rig_names(c, &s, LIST_RESOURCES), "x://a");
    rig_set(c, "b", LIST_TOOLS, "[{\"name\":\"read\"}]");
    CHECK_STR(rig_names(c, &s, LIST_RESOURCES), "x://a x://b");
    CHECK(catalog_route(c, &s, SPAN("patchbay://b/x://b"), &a).server);
}

TEST(a_scope_shows_the_groups_it_names)
{
    AUTO(catalog) struct catalog *c = catalog_new();
    static const struct {
        struct scope s;
        const char *want;
    } cases[] = {
        { { 0 }, "s__t" },
        { { .builtins = 2 }, "external s__t" },
        { { .builtins = 2 | 8 }, "external breakpoint s__t" },
        { { .builtins = 8, .no_external = true }, "breakpoint" },
        { { .no_external = true }, "" },
        { { .server = "s", .builtins = 2 }, "t" },
        { { .server = "s", .no_external = true }, "" },
        { { .server = "nobody" }, "" },
    };

    catalog_add_builtin(c, LIST_TOOLS, 2, SPAN("{\"name\":\"external\"}"));
    catalog_add_builtin(c, LIST_TOOLS, 8, SPAN("{\"name\":\"breakpoint\"}"));
    rig_set(c, "s", LIST_TOOLS, "[{\"name\":\"t\"}]");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        CHECK_STR(rig_names(c, &cases[i].s, LIST_TOOLS), cases[i].want);
        CHECK_INT(rig_find(c, &cases[i].s, "external") != NULL,
                  strstr(cases[i].want, "external") != NULL);
        CHECK_INT(rig_find(c, &cases[i].s, "s/t") != NULL,
                  strchr(cases[i].want, 't') && !cases[i].s.no_external);
    }
}

TEST(the_lists_of_a_spec_switch_tools_off)
{
    AUTO(catalog) struct catalog *c = catalog_new();
    static const char *const on[] = { "read*", "list", NULL }, *const off[] = { "*_secret", NULL };
    struct spec spec = rig_spec("s");
    uint64_t version;
    bool changed;
    static const char list[] = "[{\"name\":\"read_a\"},{\"name\":\"read_secret\"},{\"name\":"
                               "\"list\"},{\"name\":\"write\"}]";

    spec.enabled_tools = on;
    spec.disabled_tools = off;
    CHECK_INT(catalog_set(c, &spec, LIST_TOOLS, span_of(list), &changed, NULL), 0);
    CHECK_STR(rig_names(c, &all, LIST_TOOLS), "s__list s__read_a");
    CHECK(!rig_find(c, &all, "s/write"));
    CHECK_INT(catalog_count(c, "s", LIST_TOOLS), 4);
    version = c->shelves[LIST_TOOLS].version;
    CHECK(!catalog_respec(c, &spec));
    CHECK_INT(c->shelves[LIST_TOOLS].version, version);

    spec.enabled_tools = rig_none;
    CHECK(catalog_respec(c, &spec));
    CHECK_INT(c->shelves[LIST_TOOLS].version, version + 1);
    CHECK_STR(rig_names(c, &all, LIST_TOOLS), "s__list s__read_a s__write");
    /* the same list with another spec is a change, too */
    spec.disabled_tools = rig_none;
    CHECK_INT(catalog_set(c, &spec, LIST_TOOLS, span_of(list), &changed, NULL), 0);
    CHECK(changed);
    CHECK_STR(rig_names(c, &all, LIST_TOOLS), "s__list s__read_a s__read_secret s__write");
    CHECK(!catalog_respec(c, &(struct spec){ .name = "nobody" }));
}

TEST(versions_tell_changes_and_only_those)
{
    AUTO(catalog) struct catalog *c = catalog_new();
    uint64_t v = c->shelves[LIST_TOOLS].version;
    struct pb_error err;
    bool changed = true;

    CHECK(!rig_set(c, "s", LIST_TOOLS, ""));
    CHECK(!rig_set(c, "s", LIST_TOOLS, "[]"));
    CHECK(!rig_set(c, "s", LIST_TOOLS, "[ ]"));
    CHECK_INT(c->shelves[LIST_TOOLS].version, v);
    CHECK(rig_set(c, "s", LIST_TOOLS, "[{\"name\":\"a\"}]"));
    CHECK_INT(c->shelves[LIST_TOOLS].version, ++v);
    CHECK(!rig_set(c, "s", LIST_TOOLS, "[{\"name\":\"a\"}]"));
    CHECK_INT(c->shelves[LIST_TOOLS].version, v);
    CHECK(rig_set(c, "s", LIST_TOOLS, "[{\"name\":\"a\",\"title\":\"A\"}]"));
    CHECK_INT(c->shelves[LIST_TOOLS].version, ++v);
    CHECK_INT(c->shelves[LIST_PROMPTS].version, 0);

    /* what is no list leaves the old one */
    CHECK_INT(catalog_set(c, &(struct spec){ .name = "s" }, LIST_TOOLS, SPAN("{}"), &changed, &err),
              -PB_E_INVALID);
    CHECK_STR(err.msg, "the tools of server 's' are no array");
    CHECK_INT(catalog_set(c, &(struct spec){ .name = "s" }, LIST_TOOLS, SPAN("["), &changed, &err),
              -PB_E_INVALID);
    CHECK_HAS(err.msg, "the tools of server 's': line 1, column 2");
    CHECK_INT(catalog_set(c, &(struct spec){ .name = "s" }, LIST_TOOLS, SPAN("["), &changed, NULL),
              -PB_E_INVALID);
    CHECK_INT(c->shelves[LIST_TOOLS].version, v);
    CHECK_STR(rig_names(c, &all, LIST_TOOLS), "s__a");

    CHECK(rig_set(c, "s", LIST_TOOLS, "[]"));
    CHECK_INT(c->shelves[LIST_TOOLS].version, ++v);
    CHECK(!catalog_drop(c, "s"));
    CHECK(!catalog_drop(c, "s"));
    rig_set(c, "t", LIST_TOOLS, "[{\"name\":\"a\"},{\"name\":\"b\"}]");
    rig_set(c, "t", LIST_PROMPTS, "[{\"name\":\"a\"}]");
    CHECK_INT(catalog_count(c, "t", LIST_TOOLS), 2);
    CHECK_INT(catalog_count(c, NULL, LIST_TOOLS), 2);
    CHECK(catalog_drop(c, "t"));
    CHECK_INT(catalog_count(c, "t", LIST_TOOLS), 0);
    CHECK_INT(catalog_count(c, NULL, LIST_TOOLS), 0);
    CHECK_INT(c->shelves[LIST_TOOLS].version, v + 2);
    CHECK_STR(rig_names(c, &all, LIST_TOOLS), "");
}

TEST(items_without_a_good_name_are_left_out_and_the_log_says_why)
{
    static const struct {
        const char *item, *why;
    } cases[] = {
        { "{}", "it has no name" },
        { "7", "it is no object" },
        { "{\"name\":1}", "it has no name" },
        { "{\"name\":\"\"}", "its name is empty" },
        { "{\"name\":\"a\\nb\"}", "its name holds control characters" },
        { "{\"name\":\"a\\u0000b\"}", "its name holds control characters" },
        { "{\"name\":\"a\\u007f\"}", "its name holds control characters" },
        { "{\"name\":\"\xc2\x9b"
          "31m\"}",
          "its name holds control characters" },
        { "{\"name\":\"\\ud800\"}", "its name holds control characters" },
        { "{\"name\":\"re\\u200bad\"}", "its name holds control characters" },
        { "{\"name\":\"\\u202edaer\"}", "its name holds control characters" },
        { "{\"name\":\"a\",\"name\":\"b\"}", "a key that this object already has" },
        { "{\"name\":\"a\",\"n\\u0061me\":\"b\"}", "a key that this object already has" },
        { "{\"name\":\"a\",\"x\":1,\"x\":2}", "a key that this object already has" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(catalog) struct catalog *c = catalog_new();
        AUTO_BUF struct buf list = { 0 };

        rig_listen();
        buf_printf(&list, "[{\"name\":\"first\"},%s,{\"name\":\"last\"}]", cases[i].item);
        rig_set(c, "s", LIST_TOOLS, buf_cstr(&list));
        CHECK_STR(rig_names(c, &all, LIST_TOOLS), "s__first s__last");
        CHECK_INT(rig_warnings, 1);
        CHECK_HAS(rig_logged(), "server 's': tool 2 is left out: ");
        CHECK_HAS(rig_logged(), cases[i].why);
    }
}

TEST(names_of_one_server_count_once_and_the_first_wins)
{
    AUTO(catalog) struct catalog *c = catalog_new();

    rig_listen();
    rig_set(c, "s", LIST_TOOLS,
            "[{\"name\":\"b\",\"n\":1},{\"name\":\"a\"},{\"name\":\"b\",\"n\":2},{\"n\":3,\"name\":"
            "\"\\u0062\"}]");
    CHECK_STR(rig_render(c, &all, LIST_TOOLS), "[{\"name\":\"s__a\"},{\"name\":\"s__b\",\"n\":1}]");
    CHECK_INT(rig_warnings, 2);
    CHECK_HAS(rig_logged(), "server 's': tool 'b' is listed more than once: the first one counts");
}

/* ---- Rendered lists are shared ----------------------------------------------------------- */

TEST(a_list_is_rendered_once_per_scope_and_version)
{
    AUTO(catalog) struct catalog *c = catalog_new();
    AUTO(filter) struct filter *f = rig_filter("{\"tools\":[\"t\"]}");
    AUTO(filter) struct filter *same = rig_filter("{\"tools\":[\"t\"]}");
    AUTO(filter) struct filter *other = rig_filter("{\"tools\":[\"u\"]}");
    const struct scope scopes[] = {
        { 0 },
        { .server = "s" },
        { .server = "other" },
        { .filter = f },
        { .filter = other },
        { .builtins = 1 },
        { .no_external = true },
        { .server = "s", .filter = f },
    };
    struct blob *first[ARRAY_LEN(scopes)], *b;

    rig_set(c, "s", LIST_TOOLS, "[{\"name\":\"t\"},{\"name\":\"u\"}]");
    for (size_t i = 0; i < ARRAY_LEN(scopes); i++)
        first[i] = catalog_render(c, &scopes[i], LIST_TOOLS);
    for (size_t i = 0; i < ARRAY_LEN(scopes); i++) {
        char server[8] = "";
        struct scope copy = scopes[i];

        if (copy.server) /* what it says counts, not where it lies */
            copy.server = memcpy(server, copy.server, strlen(copy.server));
        copy.filter = copy.filter == f ? same : copy.filter;
        b = catalog_render(c, &copy, LIST_TOOLS);
        CHECK(b == first[i]);
        blob_unref(b);
        for (size_t k = 0; k < i; k++)
            CHECK(first[k] != first[i]);
    }
    /* what is held stays as it was */
    rig_set(c, "s", LIST_TOOLS, "[{\"name\":\"v\"}]");
    b = catalog_render(c, &scopes[0], LIST_TOOLS);
    CHECK_STR(first[0]->p, "[{\"name\":\"s__t\"},{\"name\":\"s__u\"}]");
    CHECK_STR(b->p, "[{\"name\":\"s__v\"}]");
    blob_unref(b);
    for (size_t i = 0; i < ARRAY_LEN(scopes); i++)
        blob_unref(first[i]);
}

/* ---- Many -------------------------------------------------------------------------------- */

enum { SERVERS = 100, TOOLS = 100 };

static void make_list(struct buf *b, int tools)
{
    b->n = 0;
    buf_byte(b, '[');
    for (int i = tools; i-- > 0;)
        buf_printf(b, "{\"name\":\"tool_%d\",\"n\":%d}%s", i, i, i ? "," : "");
    buf_byte(b, ']');
}

static void check_many(struct catalog *c, size_t want)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_ARENA struct arena a = { 0 };
    const struct entry *const *list;
    size_t n = catalog_all(c, LIST_TOOLS, &list), i = 0;

    CHECK_INT(n, want);
    for (i = 1; i < n; i++)
        CHECK(span_cmp(list[i - 1]->id, list[i]->id) < 0);
    CHECK_INT(json_parse(&doc, span_of(rig_render(c, &all, LIST_TOOLS)), NULL, NULL), 0);
    CHECK_INT(json_len(json_root(&doc)), want);
    i = 0;
    JSON_FOREACH(v, json_root(&doc)) {
        struct span name = json_str(json_get(v, "name"), &a);

        CHECK(span_eq(name, list[i]->wire));
        CHECK(catalog_find(c, &all, LIST_TOOLS, name, NULL) == list[i]);
        CHECK(catalog_find(c, &all, LIST_TOOLS, list[i]->id, NULL) == list[i]);
        i++;
    }
}

TEST(ten_thousand_tools_of_one_server_are_in_order_found_and_rendered)
{
    AUTO(catalog) struct catalog *c = catalog_new();
    AUTO_BUF struct buf list = { 0 };
    uint64_t before;

    make_list(&list, SERVERS * TOOLS);
    before = mem_count();
    rig_set(c, "big", LIST_TOOLS, buf_cstr(&list));
    /* few blocks of memory, however many tools */
    CHECK(mem_count() - before < 100);
    check_many(c, SERVERS * TOOLS);
}

TEST(a_hundred_servers_with_a_hundred_tools_each_are_in_order_found_and_rendered)
{
    AUTO(catalog) struct catalog *c = catalog_new();
    AUTO_BUF struct buf list = { 0 };
    char name[32];

    make_list(&list, TOOLS);
    for (int i = 0; i < SERVERS; i++) {
        snprintf(name, sizeof name, "server-%d", (i * 37) % SERVERS);
        rig_set(c, name, LIST_TOOLS, buf_cstr(&list));
    }
    check_many(c, SERVERS * TOOLS);
    for (int i = 0; i < SERVERS; i += 2) {
        snprintf(name, sizeof name, "server-%d", i);
        CHECK(catalog_drop(c, name));
    }
    check_many(c, SERVERS * TOOLS / 2);
    /* a change costs what it changes: nothing is sorted or indexed until somebody looks */
    {
        uint64_t before = mem_count();

        rig_set(c, "server-1", LIST_TOOLS, "[{\"name\":\"x\"}]");
        CHECK(mem_count() - before < 20);
    }
    check_many(c, SERVERS * TOOLS / 2 - TOOLS + 1);
}
