#include "catalog_rig.h"
#include "hub/catalog/catalog.h"
#include "hub/link/link.h"
#include "hub/spec/spec.h"

static const struct scope all = { 0 };

/* "[{"name":"0"},{"name":"1"}...]" */
static void make_list(struct buf *b, size_t n, const char *key)
{
    b->n = 0;
    buf_byte(b, '[');
    for (size_t i = 0; i < n; i++)
        buf_printf(b, "%s{\"%s\":\"%zu\"}", i ? "," : "", key, i);
    buf_byte(b, ']');
}

static struct span out_uri(struct catalog *c, const char *server, struct span uri, struct arena *a)
{
    size_t steps = CATALOG_STEPS_MAX;

    return catalog_out_uri(c, &all, server, uri, a, &steps);
}

static int set(struct catalog *c, const char *server, enum list_kind kind, struct span list,
               struct pb_error *err)
{
    struct spec spec = rig_spec(server);
    bool changed = false;

    return catalog_set(c, &spec, kind, list, &changed, err);
}

static void server_name(char out[static 16], int i) { snprintf(out, 16, "s%d", i); }

TEST(items_of_one_kind_are_bounded_over_all_servers)
{
    AUTO(catalog) struct catalog *c = catalog_new();
    AUTO_BUF struct buf list = { 0 };
    struct pb_error err;
    char name[16];

    make_list(&list, CATALOG_SERVER_ITEMS_MAX, "name");
    for (int i = 0; i < CATALOG_ITEMS_MAX / CATALOG_SERVER_ITEMS_MAX; i++) {
        server_name(name, i);
        CHECK_INT(set(c, name, LIST_TOOLS, buf_span(&list), &err), 0);
    }
    CHECK_INT(catalog_count(c, NULL, LIST_TOOLS), CATALOG_ITEMS_MAX);
    CHECK_INT(set(c, "b", LIST_TOOLS, SPAN("[{\"name\":\"x\"}]"), &err), -PB_E_LIMIT);
    CHECK_STR(err.msg, "the tools of server 'b' would be more than 100000 in all");
    CHECK_INT(catalog_count(c, "b", LIST_TOOLS), 0);
    CHECK(rig_find(c, &all, "s9/9999"));
    /* other kinds have their own bound, and what goes makes room */
    CHECK_INT(set(c, "b", LIST_PROMPTS, SPAN("[{\"name\":\"z\"}]"), &err), 0);
    CHECK_INT(set(c, "s0", LIST_TOOLS, SPAN("[]"), &err), 0);
    CHECK_INT(set(c, "b", LIST_TOOLS, buf_span(&list), &err), 0);
    /* a list may always be replaced by one as long */
    CHECK_INT(set(c, "b", LIST_TOOLS, SPAN("[{\"name\":\"z\"}]"), &err), 0);
    catalog_drop(c, "b");
    CHECK_INT(set(c, "d", LIST_TOOLS, buf_span(&list), &err), 0);
}

TEST(what_is_remembered_of_servers_that_are_away_is_bounded)
{
    AUTO(catalog) struct catalog *c = catalog_new();
    AUTO_ARENA struct arena a = { 0 };
    AUTO_BUF struct buf list = { 0 };
    char name[16];

    make_list(&list, CATALOG_SERVER_ITEMS_MAX, "uri");
    for (int i = 0; i <= CATALOG_ITEMS_MAX / CATALOG_SERVER_ITEMS_MAX; i++) {
        server_name(name, i);
        rig_set(c, name, LIST_RESOURCES, buf_cstr(&list));
        CHECK(catalog_put_away(c, name));
    }
    CHECK_STR(catalog_route(c, &all, SPAN("7"), &a).server, "s0");
    for (int i = 0; i < CATALOG_ITEMS_MAX / CATALOG_SERVER_ITEMS_MAX; i++) {
        server_name(name, i);
        catalog_drop(c, name);
    }
    CHECK(!catalog_route(c, &all, SPAN("7"), &a).server); /* the last one was one too many */
}

/* A list of spaces: all of its bytes are text. */
static void make_spaces(struct buf *b, size_t n)
{
    b->n = 0;
    memset(buf_reserve(b, n), ' ', n);
    b->p[0] = '[';
    b->p[n - 1] = ']';
    b->n = n;
}

TEST(bytes_of_one_kind_are_bounded_over_all_servers)
{
    AUTO(catalog) struct catalog *c = catalog_new();
    AUTO_BUF struct buf list = { 0 };
    struct pb_error err;
    char name[16];

    make_spaces(&list, CATALOG_SERVER_BYTES_MAX);
    for (int i = 0; i < CATALOG_BYTES_MAX / CATALOG_SERVER_BYTES_MAX; i++) {
        server_name(name, i);
        CHECK_INT(set(c, name, LIST_TOOLS, buf_span(&list), &err), 0);
    }
    CHECK_INT(set(c, "b", LIST_TOOLS, SPAN("[]"), &err), -PB_E_LIMIT);
    CHECK_HAS(err.msg, "the tools of server 'b' would make more than 268435456 bytes in all");
    CHECK_INT(set(c, "s0", LIST_TOOLS, SPAN("[]"), &err), 0);
    CHECK_INT(set(c, "b", LIST_TOOLS, SPAN("[{\"name\":\"x\"}]"), &err), 0);
}

/* One server has the first of its items, and leaves room for others. */
TEST(items_of_one_server_are_bounded)
{
    static const struct {
        enum list_kind kind;
        const char *key;
        size_t most;
    } kinds[] = {
        { LIST_TOOLS, "name", CATALOG_SERVER_ITEMS_MAX },
        { LIST_RESOURCES, "uri", CATALOG_SERVER_ITEMS_MAX },
        { LIST_TEMPLATES, "uriTemplate", CATALOG_TEMPLATES_MAX },
        { LIST_PROMPTS, "name", CATALOG_SERVER_ITEMS_MAX },
    };
    static const size_t past[] = { 0, 1, CATALOG_SERVER_ITEMS_MAX };

    for (size_t k = 0; k < ARRAY_LEN(kinds); k++)
        for (size_t i = 0; i < ARRAY_LEN(past); i++) {
            AUTO(catalog) struct catalog *c = catalog_new();
            AUTO_BUF struct buf list = { 0 };
            enum list_kind kind = kinds[k].kind;

            make_list(&list, kinds[k].most + past[i], kinds[k].key);
            CHECK(rig_set(c, "s", kind, buf_cstr(&list)));
            CHECK_INT(catalog_count(c, "s", kind), kinds[k].most);
            CHECK_INT(catalog_left_out(c, "s", kind), past[i]);
            CHECK_INT(catalog_most(kind), kinds[k].most);
            CHECK(catalog_find(c, &all, kind, SPAN("s/0"), NULL));
            /* the same again changes nothing; one item less does */
            CHECK(!rig_set(c, "s", kind, buf_cstr(&list)));
            make_list(&list, kinds[k].most - 1, kinds[k].key);
            CHECK(rig_set(c, "s", kind, buf_cstr(&list)));
            CHECK_INT(catalog_left_out(c, "s", kind), 0);
            CHECK(rig_set(c, "other", kind, buf_cstr(&list)));
        }
}

TEST(bytes_of_one_server_are_bounded)
{
    static const int past[] = { 0, 1, CATALOG_SERVER_BYTES_MAX };

    for (size_t i = 0; i < ARRAY_LEN(past); i++) {
        AUTO(catalog) struct catalog *c = catalog_new();
        AUTO_BUF struct buf list = { 0 };
        const char end[] = "{\"name\":\"b\"}]";

        make_spaces(&list, (size_t)(CATALOG_SERVER_BYTES_MAX + past[i]));
        memcpy(list.p, "[{\"name\":\"a\"},", 14);
        memcpy(list.p + list.n - strlen(end), end, strlen(end));
        CHECK(rig_set(c, "s", LIST_TOOLS, buf_cstr(&list)));
        CHECK_STR(rig_names(c, &all, LIST_TOOLS), i ? "s__a" : "s__a s__b");
        CHECK_INT(catalog_left_out(c, "s", LIST_TOOLS), i > 0);
        CHECK(!rig_set(c, "s", LIST_TOOLS, buf_cstr(&list)));
    }
    for (size_t i = 0; i < ARRAY_LEN(past); i++) {
        AUTO(catalog) struct catalog *c = catalog_new();
        AUTO_BUF struct buf list = { 0 };

        make_spaces(&list, (size_t)(CATALOG_SERVER_BYTES_MAX + past[i]));
        rig_set(c, "s", LIST_TOOLS, buf_cstr(&list));
        CHECK_INT(catalog_left_out(c, "s", LIST_TOOLS), 0);
        CHECK_STR(rig_render(c, &all, LIST_TOOLS), "[]");
    }
}

static void check_length(enum list_kind kind, const char *key, size_t max)
{
    static const int past[] = { 0, 1, 100000 };

    for (size_t i = 0; i < ARRAY_LEN(past); i++) {
        AUTO(catalog) struct catalog *c = catalog_new();
        AUTO_BUF struct buf list = { 0 };

        buf_printf(&list, "[{\"%s\":\"", key);
        for (size_t n = max + (size_t)past[i]; n; n--)
            buf_byte(&list, 'x');
        buf_str(&list, "\"}]");
        rig_listen();
        rig_set(c, "s", kind, buf_cstr(&list));
        CHECK_INT(catalog_count(c, NULL, kind), i == 0);
        CHECK_INT(rig_warnings, i > 0);
        if (i)
            CHECK_HAS(rig_logged(), "is too long");
    }
}

TEST(names_and_uris_are_bounded)
{
    check_length(LIST_TOOLS, "name", CATALOG_NAME_MAX);
    check_length(LIST_PROMPTS, "name", CATALOG_NAME_MAX);
    check_length(LIST_RESOURCES, "uri", MCP_URI_BYTES_MAX);
    check_length(LIST_TEMPLATES, "uriTemplate", MCP_URI_BYTES_MAX);
}

TEST(what_is_said_about_a_bad_list_is_bounded)
{
    static const struct {
        size_t bad, lines;
    } cases[] = {
        { CATALOG_WARNINGS_MAX, CATALOG_WARNINGS_MAX },
        { CATALOG_WARNINGS_MAX + 1, CATALOG_WARNINGS_MAX + 1 },
        { CATALOG_SERVER_ITEMS_MAX, CATALOG_WARNINGS_MAX + 1 },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(catalog) struct catalog *c = catalog_new();
        AUTO_BUF struct buf list = { 0 }, want = { 0 };

        rig_listen();
        make_list(&list, cases[i].bad, "nom");
        rig_set(c, "s", LIST_TOOLS, buf_cstr(&list));
        CHECK_INT(rig_warnings, cases[i].lines);
        buf_printf(&want, "server 's': %zu more of its tools are left out",
                   cases[i].bad - CATALOG_WARNINGS_MAX);
        CHECK_INT(strstr(rig_logged(), buf_cstr(&want)) != NULL,
                  cases[i].bad > CATALOG_WARNINGS_MAX);
    }
}

/* x:0, x:1, ... of a server; "x:%d" of the last one is left in `uri`. */
static void mention(struct catalog *c, const char *server, const char *scheme, int n, char uri[32])
{
    for (int i = 0; i < n; i++) {
        snprintf(uri, 32, "%s:%d", scheme, i);
        catalog_note_uri(c, server, span_of(uri));
    }
}

TEST(the_last_mentioned_uris_of_a_server_are_kept)
{
    AUTO(catalog) struct catalog *c = catalog_new();
    AUTO_ARENA struct arena a = { 0 };
    char uri[32];

    catalog_note_uri(c, "t", SPAN("t:0"));
    mention(c, "s", "x", CATALOG_SEEN_SERVER_MAX, uri);
    CHECK(catalog_route(c, &all, SPAN("x:0"), &a).server);
    catalog_note_uri(c, "s", SPAN("x:0")); /* mentioned again: the youngest */
    catalog_note_uri(c, "s", SPAN("x:new"));
    CHECK(catalog_route(c, &all, SPAN("x:0"), &a).server);
    CHECK(!catalog_route(c, &all, SPAN("x:1"), &a).server);
    CHECK(catalog_route(c, &all, SPAN("x:2"), &a).server);
    catalog_note_uri(c, "t", SPAN("x:2")); /* another's: does not keep it young */
    mention(c, "s", "y", 10 * CATALOG_SEEN_SERVER_MAX, uri);
    CHECK(!catalog_route(c, &all, SPAN("x:0"), &a).server);
    CHECK(catalog_route(c, &all, span_of(uri), &a).server);
    /* what one server floods leaves others what they mentioned */
    CHECK_STR(catalog_route(c, &all, SPAN("t:0"), &a).server, "t");
}

TEST(the_last_mentioned_uris_of_all_servers_are_kept)
{
    AUTO(catalog) struct catalog *c = catalog_new();
    AUTO_ARENA struct arena a = { 0 };
    char uri[32], name[16];

    for (int i = 0; i < CATALOG_SEEN_MAX / CATALOG_SEEN_SERVER_MAX; i++) {
        server_name(name, i);
        mention(c, name, name, CATALOG_SEEN_SERVER_MAX, uri);
    }
    CHECK(catalog_route(c, &all, SPAN("s0:0"), &a).server);
    catalog_note_uri(c, "new", SPAN("new:0"));
    CHECK(!catalog_route(c, &all, SPAN("s0:0"), &a).server);
    CHECK(catalog_route(c, &all, SPAN("s0:1"), &a).server);
    CHECK(catalog_route(c, &all, SPAN("new:0"), &a).server);
}

TEST(a_uri_too_long_to_be_kept_goes_out_in_the_long_form)
{
    AUTO(catalog) struct catalog *c = catalog_new();
    AUTO_ARENA struct arena a = { 0 };
    AUTO_BUF struct buf uri = { 0 };
    struct span out;

    rig_set(c, "s", LIST_RESOURCES, "[]");
    buf_str(&uri, "x:");
    while (uri.n < CATALOG_NAME_MAX)
        buf_byte(&uri, 'y');
    catalog_note_uri(c, "s", buf_span(&uri));
    CHECK(span_eq(out_uri(c, "s", buf_span(&uri), &a), buf_span(&uri)));
    CHECK(catalog_route(c, &all, buf_span(&uri), &a).server);
    buf_byte(&uri, 'y');
    catalog_note_uri(c, "s", buf_span(&uri));
    CHECK(!catalog_route(c, &all, buf_span(&uri), &a).server);
    out = out_uri(c, "s", buf_span(&uri), &a);
    CHECK(span_starts(out, "patchbay://s/x:yyy"));
    CHECK_STR(catalog_route(c, &all, out, &a).server, "s");
    CHECK(span_eq(catalog_route(c, &all, out, &a).uri, buf_span(&uri)));
}

TEST(as_many_rendered_lists_are_kept_as_the_bound_says)
{
    AUTO(catalog) struct catalog *c = catalog_new();
    struct blob *held[CATALOG_RENDERS_MAX + 1], *again;

    rig_set(c, "s", LIST_TOOLS, "[{\"name\":\"t\"}]");
    for (unsigned i = 0; i < CATALOG_RENDERS_MAX; i++)
        held[i] = catalog_render(c, &(struct scope){ .builtins = i }, LIST_TOOLS);
    for (unsigned i = 0; i < CATALOG_RENDERS_MAX; i++) {
        again = catalog_render(c, &(struct scope){ .builtins = i }, LIST_TOOLS);
        CHECK(again == held[i]);
        blob_unref(again);
    }
    /* one more takes the place of the one that was unused for longest */
    held[CATALOG_RENDERS_MAX] =
        catalog_render(c, &(struct scope){ .builtins = CATALOG_RENDERS_MAX }, LIST_TOOLS);
    again = catalog_render(c, &(struct scope){ .builtins = 1 }, LIST_TOOLS);
    CHECK(again == held[1]);
    blob_unref(again);
    again = catalog_render(c, &(struct scope){ .builtins = 0 }, LIST_TOOLS);
    CHECK(again != held[0]);
    blob_unref(again);
    for (unsigned i = 0; i <= CATALOG_RENDERS_MAX; i++) {
        CHECK_STR(held[i]->p, "[{\"name\":\"s__t\"}]");
        blob_unref(held[i]);
    }
}

TEST(a_miss_offers_at_most_so_many_names_the_nearest_first)
{
    AUTO(catalog) struct catalog *c = catalog_new();
    struct scope one = { .server = "s" };
    struct pb_error err;

    rig_set(c, "s", LIST_TOOLS,
            "[{\"name\":\"reader1\"},{\"name\":\"reader2\"},{\"name\":\"read\"},{\"name\":"
            "\"reader3\"},{\"name\":\"readers\"}]");
    CHECK(!catalog_find(c, &one, LIST_TOOLS, SPAN("reade"), &err));
    CHECK_STR(err.msg, "there is no tool 'reade'; did you mean 'read', 'reader1' or 'reader2'?");
    _Static_assert(NEAR_NAMES_MAX == 3, "as the text says");
}

TEST(a_miss_looks_at_so_many_names_and_no_more)
{
    AUTO_BUF struct buf list = { 0 };
    static const size_t before[] = { CATALOG_LIKE_SCAN - 1, CATALOG_LIKE_SCAN };

    for (size_t i = 0; i < ARRAY_LEN(before); i++) {
        AUTO(catalog) struct catalog *c = catalog_new();
        struct pb_error err;

        make_list(&list, before[i], "name");
        rig_set(c, "a", LIST_TOOLS, buf_cstr(&list));
        rig_set(c, "b", LIST_TOOLS, "[{\"name\":\"needle_in_the_hay\"}]");
        CHECK(!catalog_find(c, &all, LIST_TOOLS, SPAN("needle_in_the_hey"), &err));
        CHECK_INT(strstr(err.msg, "'b__needle_in_the_hay'") != NULL, i == 0);
        CHECK(rig_find(c, &all, "b__needle_in_the_hay"));
    }
}

/* Each has sixteen literals and fits nothing that has no "b". */
static void costly_templates(struct buf *b, size_t n)
{
    b->n = 0;
    for (size_t i = 0; i < n; i++) {
        buf_printf(b, "%s{\"uriTemplate\":\"x:", i ? "," : "[");
        for (int k = 0; k < 14; k++)
            buf_printf(b, "{+v%zu_%d}a", i, k);
        buf_str(b, "{+w}ba{z}\"}");
    }
    buf_byte(b, ']');
}

static void long_uri(struct buf *b, size_t n)
{
    b->n = 0;
    buf_str(b, "x:");
    while (b->n < n)
        buf_byte(b, 'a');
}

/* One link of a result, and templates that are made to cost. */
TEST(what_it_costs_to_write_uris_is_bounded_for_all_of_a_result)
{
    AUTO(catalog) struct catalog *c = catalog_new();
    AUTO_BUF struct buf list = { 0 }, uri = { 0 };
    AUTO_ARENA struct arena a = { 0 };
    size_t steps = CATALOG_STEPS_MAX, before;
    struct span out;

    costly_templates(&list, CATALOG_TEMPLATES_MAX);
    rig_set(c, "cheap", LIST_TEMPLATES, "[{\"uriTemplate\":\"z:{x}\"}]");
    rig_set(c, "costly", LIST_TEMPLATES, buf_cstr(&list));
    /* a short one can be told, and costs what it costs */
    CHECK_SPAN(catalog_out_uri(c, &all, "s", SPAN("x:y"), &a, &steps), "x:y");
    CHECK(CATALOG_STEPS_MAX - steps <= 2 * CATALOG_TEMPLATES_MAX);
    before = steps;
    long_uri(&uri, 200);
    catalog_out_uri(c, &all, "s", buf_span(&uri), &a, &steps);
    CHECK(before - steps > CATALOG_TEMPLATES_MAX * 200);
    /* the rest of the result: nothing is left, and the form that is always right is used */
    long_uri(&uri, CATALOG_NAME_MAX);
    out = catalog_out_uri(c, &all, "s", buf_span(&uri), &a, &steps);
    CHECK_INT(steps, 0);
    CHECK(span_starts(out, "patchbay://s/x:aaa"));
    CHECK_SPAN(catalog_out_uri(c, &all, "cheap", SPAN("z:1"), &a, &steps), "patchbay://cheap/z:1");
    CHECK_INT(steps, 0);
    /* the next one has all of it again */
    CHECK_SPAN(out_uri(c, "cheap", SPAN("z:1"), &a), "z:1");
}

TEST(a_long_uri_is_held_against_no_template)
{
    AUTO(catalog) struct catalog *c = catalog_new();
    AUTO_BUF struct buf uri = { 0 };
    AUTO_ARENA struct arena a = { 0 };
    size_t steps = CATALOG_STEPS_MAX;

    rig_set(c, "s", LIST_TEMPLATES, "[{\"uriTemplate\":\"x:{+y}\"}]");
    long_uri(&uri, CATALOG_FIT_BYTES_MAX);
    CHECK_STR(catalog_route(c, &all, buf_span(&uri), &a).server, "s");
    CHECK(span_eq(out_uri(c, "s", buf_span(&uri), &a), buf_span(&uri)));
    long_uri(&uri, CATALOG_FIT_BYTES_MAX + 1);
    CHECK(!catalog_route(c, &all, buf_span(&uri), &a).server);
    CHECK(span_starts(catalog_out_uri(c, &all, "s", buf_span(&uri), &a, &steps), "patchbay://s/"));
    CHECK_INT(steps, CATALOG_STEPS_MAX);
    long_uri(&uri, MCP_URI_BYTES_MAX);
    CHECK(!catalog_route(c, &all, buf_span(&uri), &a).server);
}

TEST(templates_are_read_when_they_are_listed_and_not_again)
{
    AUTO(catalog) struct catalog *c = catalog_new();
    AUTO_BUF struct buf list = { 0 };
    AUTO_ARENA struct arena a = { 0 };
    uint64_t before;

    for (int i = 0; i < 200; i++)
        buf_printf(&list, "%s{\"uriTemplate\":\"x:{a%d}/%d/{b}\"}", i ? "," : "[", i, i);
    buf_byte(&list, ']');
    rig_set(c, "s", LIST_TEMPLATES, buf_cstr(&list));
    CHECK(!catalog_route(c, &all, SPAN("x:1/y/z"), &a).server); /* makes the order */
    before = mem_count();
    CHECK(!catalog_route(c, &all, SPAN("x:1/y/z"), &a).server);
    CHECK_INT(mem_count() - before, 0);
    CHECK_STR(catalog_route(c, &all, SPAN("x:1/7/z"), &a).server, "s");
}
