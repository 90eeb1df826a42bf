#include "catalog_rig.h"
#include "hub/catalog/catalog.h"
#include "hub/link/link.h"
#include "hub/spec/spec.h"

static const struct scope all = { 0 };

static struct uri_route route(struct catalog *c, const struct scope *s, const char *uri)
{
    static struct arena a;

    return catalog_route(c, s, span_of(uri), &a);
}

/* Where it leads, as "server uri"; "-" for nobody. */
static const char *leads(struct catalog *c, const struct scope *s, const char *uri)
{
    static struct buf out;
    struct uri_route r = route(c, s, uri);

    out.n = 0;
    buf_printf(&out, "%s %.*s", r.server ? r.server : "-", SPAN_ARG(r.uri));
    return buf_cstr(&out);
}

static const char *out_uri(struct catalog *c, const struct scope *s, const char *server,
                           const char *uri)
{
    static struct arena a;
    size_t steps = CATALOG_STEPS_MAX;

    return arena_dup(&a, catalog_out_uri(c, s, server, span_of(uri), &a, &steps));
}

TEST(uris_go_out_as_they_are_until_another_server_has_had_them_for_longer)
{
    AUTO(catalog) struct catalog *c = catalog_new();
    struct scope two = { .server = "two" };

    rig_set(c, "one", LIST_RESOURCES, "[{\"uri\":\"file:///a?x=1#f\"}]");
    CHECK_STR(rig_names(c, &all, LIST_RESOURCES), "file:///a?x=1#f");
    rig_set(c, "two", LIST_RESOURCES,
            "[{\"uri\":\"file:///a?x=1#f\",\"name\":\"A\",\"n\":1.0},{\"uri\":\"file:///b\"}]");
    CHECK_STR(rig_render(c, &all, LIST_RESOURCES),
              "[{\"uri\":\"file:///a?x=1#f\"},"
              "{\"uri\":\"patchbay://two/file:///a?x=1#f\",\"name\":\"A\",\"n\":1.0},"
              "{\"uri\":\"file:///b\"}]");
    CHECK_STR(leads(c, &all, "file:///a?x=1#f"), "one file:///a?x=1#f");
    CHECK_STR(leads(c, &all, "patchbay://two/file:///a?x=1#f"), "two file:///a?x=1#f");
    CHECK_SPAN(route(c, &all, "patchbay://two/file:///a?x=1#f").entry->id, "two/file:///a?x=1#f");
    /* the form is understood for every URI of a known server */
    CHECK_STR(leads(c, &all, "patchbay://one/file:///a?x=1#f"), "one file:///a?x=1#f");
    CHECK_STR(leads(c, &all, "PATCHBAY://two/file:///b"), "two file:///b");
    CHECK_STR(leads(c, &all, "patchbay://two/file:///unlisted"), "two file:///unlisted");
    CHECK_STR(leads(c, &all, "patchbay://nobody/file:///b"), "- patchbay://nobody/file:///b");
    CHECK_STR(leads(c, &all, "patchbay://two"), "- patchbay://two");
    CHECK_STR(leads(c, &all, "patchbay://two/"), "- patchbay://two/");
    /* under its own address each server has its own */
    CHECK_STR(rig_names(c, &two, LIST_RESOURCES), "file:///a?x=1#f file:///b");
    CHECK_STR(leads(c, &two, "file:///a?x=1#f"), "two file:///a?x=1#f");
    CHECK_STR(leads(c, &two, "patchbay://two/file:///b"), "two file:///b");
    CHECK_STR(leads(c, &two, "patchbay://one/file:///b"), "two patchbay://one/file:///b");
    /* the first one goes, and with it the reason */
    catalog_drop(c, "one");
    CHECK_STR(rig_names(c, &all, LIST_RESOURCES), "file:///a?x=1#f file:///b");
}

/* Its name comes first in the order, and it lists what another one has. */
TEST(no_server_takes_over_a_uri_that_another_one_listed_first)
{
    static const char x[] = "[{\"uri\":\"x:1\"}]";
    AUTO(catalog) struct catalog *c = catalog_new();

    rig_set(c, "z", LIST_RESOURCES, x);
    rig_set(c, "a", LIST_RESOURCES, x);
    rig_set(c, "b", LIST_RESOURCES, x);
    CHECK_STR(rig_names(c, &all, LIST_RESOURCES), "patchbay://a/x:1 patchbay://b/x:1 x:1");
    CHECK_STR(leads(c, &all, "x:1"), "z x:1");
    CHECK_STR(out_uri(c, &all, "a", "x:1"), "patchbay://a/x:1");
    /* however often each lists it again */
    rig_set(c, "z", LIST_RESOURCES, "[{\"uri\":\"w:0\"},{\"uri\":\"x:1\"},{\"uri\":\"y:2\"}]");
    rig_set(c, "a", LIST_RESOURCES, "[{\"uri\":\"y:2\"},{\"uri\":\"x:1\"}]");
    CHECK_STR(leads(c, &all, "x:1"), "z x:1");
    CHECK_STR(leads(c, &all, "y:2"), "z y:2");
    /* who does not list it any more has given it up, to the next and for good */
    rig_set(c, "z", LIST_RESOURCES, "[{\"uri\":\"w:0\"}]");
    CHECK_STR(leads(c, &all, "x:1"), "a x:1");
    rig_set(c, "z", LIST_RESOURCES, x);
    CHECK_STR(leads(c, &all, "x:1"), "a x:1");
    CHECK_STR(rig_names(c, &all, LIST_RESOURCES), "x:1 y:2 patchbay://b/x:1 patchbay://z/x:1");
}

TEST(a_server_that_is_away_keeps_what_it_had)
{
    static const char x[] = "[{\"uri\":\"x:1\"}]", t[] = "[{\"uriTemplate\":\"t:{v}\"}]";
    AUTO(filter) struct filter *f = rig_filter("{\"servers\":[\"a\"]}");
    AUTO(catalog) struct catalog *c = catalog_new();
    struct scope only_a = { .filter = f };

    rig_set(c, "z", LIST_RESOURCES, x);
    rig_set(c, "z", LIST_TEMPLATES, t);
    rig_set(c, "a", LIST_RESOURCES, x);
    rig_set(c, "a", LIST_TEMPLATES, "[{\"uriTemplate\":\"t:{v}\"},{\"uriTemplate\":\"{+all}\"}]");
    catalog_note_uri(c, "z", SPAN("m:1"));
    CHECK(catalog_put_away(c, "z"));
    CHECK(!catalog_put_away(c, "z"));
    CHECK_INT(catalog_count(c, "z", LIST_RESOURCES), 0);
    CHECK_INT(catalog_count(c, NULL, LIST_RESOURCES), 1);
    CHECK_STR(rig_names(c, &all, LIST_RESOURCES), "patchbay://a/x:1");
    CHECK_STR(rig_names(c, &all, LIST_TEMPLATES), "patchbay://a/t:{v} {+all}");
    /* what is its own leads to it, and to nobody else */
    CHECK_STR(leads(c, &all, "x:1"), "z x:1");
    CHECK(!route(c, &all, "x:1").entry);
    CHECK_STR(leads(c, &all, "t:1"), "z t:1");
    CHECK_STR(leads(c, &all, "m:1"), "a m:1"); /* a's template was there before */
    CHECK_STR(leads(c, &all, "patchbay://z/q:1"), "z q:1");
    CHECK(!catalog_find(c, &all, LIST_RESOURCES, SPAN("x:1"), NULL));
    CHECK(!catalog_find(c, &all, LIST_RESOURCES, SPAN("z/x:1"), NULL));
    CHECK_STR(leads(c, &only_a, "t:1"), "a t:1");
    /* back again, one list after the other */
    rig_set(c, "z", LIST_RESOURCES, x);
    CHECK_STR(rig_names(c, &all, LIST_RESOURCES), "patchbay://a/x:1 x:1");
    CHECK_STR(leads(c, &all, "t:1"), "z t:1");
    rig_set(c, "z", LIST_TEMPLATES, t);
    CHECK_STR(rig_names(c, &all, LIST_TEMPLATES), "patchbay://a/t:{v} {+all} t:{v}");
    /* away and then removed: others may have it */
    CHECK(catalog_put_away(c, "z"));
    CHECK(!catalog_drop(c, "z"));
    CHECK_STR(rig_names(c, &all, LIST_RESOURCES), "x:1");
    CHECK_STR(leads(c, &all, "x:1"), "a x:1");
    CHECK_STR(leads(c, &all, "t:1"), "a t:1");
}

TEST(a_wide_template_takes_nothing_from_those_who_came_before_it)
{
    AUTO(catalog) struct catalog *c = catalog_new();

    rig_set(c, "z", LIST_TEMPLATES, "[{\"uriTemplate\":\"db:///{table}\"}]");
    rig_set(c, "y", LIST_RESOURCES, "[]");
    catalog_note_uri(c, "y", SPAN("made:up"));
    rig_set(c, "a", LIST_TEMPLATES, "[{\"uriTemplate\":\"{+all}\"}]");
    CHECK_STR(leads(c, &all, "db:///users"), "z db:///users");
    CHECK_STR(leads(c, &all, "made:up"), "y made:up");
    CHECK_STR(leads(c, &all, "else:where"), "a else:where");
    /* what is mentioned later is another's by then */
    catalog_note_uri(c, "y", SPAN("made:later"));
    CHECK_STR(leads(c, &all, "made:later"), "a made:later");
    CHECK_STR(out_uri(c, &all, "y", "made:later"), "patchbay://y/made:later");
}

TEST(every_uri_comes_back_exactly_from_the_long_form)
{
    static const struct {
        const char *uri, *want; /* NULL: verbatim */
    } cases[] = {
        { "file:///a%20b", NULL },
        { "urn:x:[y]@z!$&'()*+,;=~", NULL },
        { "patchbay://x/y", NULL },
        { "Patchbay://x/y", NULL },
        { "file:///a b", "%66ile:///a%20b" },
        { "x:100%\"", "%78:100%25%22" },
        { "x:\xc3\xa4", "%78:%c3%a4" },
        { "%66", "%2566" },
        { "{+x}", "%7b+x%7d" },
        { "//", NULL },
        { "a", NULL },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO(catalog) struct catalog *c = catalog_new();
        AUTO_BUF struct buf list = { 0 }, want = { 0 };
        const char *rest = cases[i].want ? cases[i].want : cases[i].uri;

        buf_str(&list, "[{\"uri\":");
        json_quote(&list, span_of(cases[i].uri));
        buf_str(&list, "}]");
        buf_printf(&want, "patchbay://b/%s", rest);
        rig_set(c, "a", LIST_RESOURCES, buf_cstr(&list));
        rig_set(c, "b", LIST_RESOURCES, buf_cstr(&list));
        CHECK_HAS(rig_names(c, &all, LIST_RESOURCES), buf_cstr(&want));
        CHECK_STR(out_uri(c, &all, "b", cases[i].uri), buf_cstr(&want));
        CHECK_SPAN(route(c, &all, buf_cstr(&want)).uri, cases[i].uri);
        CHECK_STR(route(c, &all, buf_cstr(&want)).server, "b");
        /* and when nobody lists it any more, too */
        rig_set(c, "b", LIST_RESOURCES, "[]");
        CHECK_SPAN(route(c, &all, buf_cstr(&want)).uri, cases[i].uri);
    }
}

TEST(a_server_cannot_list_what_looks_like_a_uri_of_another)
{
    AUTO(catalog) struct catalog *c = catalog_new();

    rig_set(c, "evil", LIST_RESOURCES, "[{\"uri\":\"patchbay://good/file:///x\"}]");
    rig_set(c, "evil", LIST_TEMPLATES, "[{\"uriTemplate\":\"patchbay://gone/{+x}\"}]");
    rig_set(c, "good", LIST_RESOURCES, "[]");
    CHECK_STR(rig_names(c, &all, LIST_RESOURCES), "patchbay://evil/patchbay://good/file:///x");
    CHECK_STR(leads(c, &all, "patchbay://good/file:///x"), "good file:///x");
    CHECK_STR(leads(c, &all, "patchbay://evil/patchbay://good/file:///x"),
              "evil patchbay://good/file:///x");
    CHECK_STR(leads(c, &all, "patchbay://gone/y"), "- patchbay://gone/y");
    catalog_note_uri(c, "evil", SPAN("patchbay://gone/z"));
    CHECK_STR(leads(c, &all, "patchbay://gone/z"), "- patchbay://gone/z");
    CHECK_STR(out_uri(c, &all, "evil", "patchbay://gone/z"), "patchbay://evil/patchbay://gone/z");
}

TEST(templates_are_listed_like_resources_and_lead_to_their_server)
{
    AUTO(catalog) struct catalog *c = catalog_new();
    struct scope b = { .server = "b" };

    rig_set(c, "a", LIST_TEMPLATES,
            "[{\"uriTemplate\":\"db:///{table}\",\"name\":\"T\"},{\"uriTemplate\":\"odd:{#x}\"}]");
    rig_set(c, "b", LIST_TEMPLATES,
            "[{\"uriTemplate\":\"db:///{table}\"},{\"uriTemplate\":\"log:{+path}{?from,to}\"}]");
    CHECK_STR(rig_render(c, &all, LIST_TEMPLATES),
              "[{\"uriTemplate\":\"db:///{table}\",\"name\":\"T\"},{\"uriTemplate\":\"odd:{#x}\"},"
              "{\"uriTemplate\":\"patchbay://b/db:///{table}\"},"
              "{\"uriTemplate\":\"log:{+path}{?from,to}\"}]");
    CHECK_STR(leads(c, &all, "db:///users"), "a db:///users");
    CHECK_SPAN(route(c, &all, "db:///users").entry->id, "a/db:///{table}");
    CHECK_STR(leads(c, &all, "patchbay://b/db:///a%20b"), "b db:///a%20b");
    CHECK_SPAN(route(c, &all, "patchbay://b/db:///a%20b").entry->id, "b/db:///{table}");
    CHECK_STR(leads(c, &all, "log:/x/y?to=3"), "b log:/x/y?to=3");
    CHECK_STR(leads(c, &all, "db:///users/7"), "- db:///users/7");
    CHECK_STR(leads(c, &all, "odd:#y"), "- odd:#y");
    CHECK_STR(leads(c, &b, "db:///users"), "b db:///users");
    CHECK_SPAN(route(c, &b, "db:///users").entry->id, "b/db:///{table}");
    /* what is listed comes before what fits */
    rig_set(c, "z", LIST_RESOURCES, "[{\"uri\":\"db:///users\"}]");
    CHECK_STR(leads(c, &all, "db:///users"), "z db:///users");
}

TEST(what_results_mention_leads_to_the_first_who_did)
{
    AUTO(catalog) struct catalog *c = catalog_new();
    struct scope one = { .server = "a" }, none = { .no_external = true };

    rig_set(c, "a", LIST_RESOURCES, "[{\"uri\":\"x:listed\"}]");
    rig_set(c, "b", LIST_RESOURCES, "[]");
    CHECK_STR(leads(c, &all, "x:1"), "- x:1");
    CHECK_STR(out_uri(c, &all, "b", "x:1"), "x:1");
    catalog_note_uri(c, "b", SPAN("x:1"));
    CHECK_STR(leads(c, &all, "x:1"), "b x:1");
    CHECK_STR(out_uri(c, &all, "b", "x:1"), "x:1");
    CHECK_STR(leads(c, &none, "x:1"), "- x:1");
    /* another server has that URI, too */
    catalog_note_uri(c, "a", SPAN("x:1"));
    CHECK_STR(out_uri(c, &all, "a", "x:1"), "patchbay://a/x:1");
    CHECK_STR(leads(c, &all, "x:1"), "b x:1");
    CHECK_STR(leads(c, &all, "patchbay://a/x:1"), "a x:1");
    /* one that is listed is its server's */
    CHECK_STR(out_uri(c, &all, "b", "x:listed"), "patchbay://b/x:listed");
    CHECK_STR(out_uri(c, &all, "a", "x:listed"), "x:listed");
    /* and takes no place among the mentioned ones */
    catalog_note_uri(c, "a", SPAN("x:listed"));
    rig_set(c, "a", LIST_RESOURCES, "[]");
    CHECK_STR(leads(c, &all, "x:listed"), "- x:listed");
    /* under the address of one server nothing is rewritten */
    CHECK_STR(out_uri(c, &one, "a", "patchbay://q/x"), "patchbay://q/x");
    CHECK_STR(leads(c, &one, "x:1"), "a x:1");
    catalog_drop(c, "b");
    CHECK_STR(leads(c, &all, "x:1"), "- x:1");
}

TEST(built_in_resources_have_an_entry_and_no_server)
{
    AUTO(catalog) struct catalog *c = catalog_new();
    struct scope s = { .builtins = 1 };

    catalog_add_builtin(c, LIST_RESOURCES, 1, SPAN("{\"uri\":\"patchbay:///status\"}"));
    rig_set(c, "a", LIST_RESOURCES, "[{\"uri\":\"patchbay:///status\"}]");
    CHECK_STR(rig_names(c, &s, LIST_RESOURCES),
              "patchbay:///status patchbay://a/patchbay:///status");
    CHECK(route(c, &s, "patchbay:///status").entry);
    CHECK(!route(c, &s, "patchbay:///status").server);
    CHECK(!route(c, &all, "patchbay:///status").entry);
}

TEST(resources_are_found_by_outward_uri_and_by_id)
{
    AUTO(catalog) struct catalog *c = catalog_new();
    struct pb_error err;

    rig_set(c, "a", LIST_RESOURCES, "[{\"uri\":\"x:1\"}]");
    rig_set(c, "b", LIST_RESOURCES, "[{\"uri\":\"x:1\"}]");
    CHECK_SPAN(catalog_find(c, &all, LIST_RESOURCES, SPAN("x:1"), NULL)->id, "a/x:1");
    CHECK_SPAN(catalog_find(c, &all, LIST_RESOURCES, SPAN("b/x:1"), NULL)->id, "b/x:1");
    CHECK_SPAN(catalog_find(c, &all, LIST_RESOURCES, SPAN("patchbay://b/x:1"), NULL)->id, "b/x:1");
    CHECK(!catalog_find(c, &all, LIST_RESOURCES, SPAN("b:x:1"), NULL));
    CHECK(!catalog_find(c, &all, LIST_RESOURCES, SPAN("x:2"), &err));
    CHECK_STR(err.msg, "there is no resource 'x:2'; did you mean 'x:1' or 'patchbay://b/x:1'?");
}

TEST(items_without_a_good_uri_are_left_out)
{
    AUTO(catalog) struct catalog *c = catalog_new();

    rig_listen();
    rig_set(c, "s", LIST_RESOURCES, "[{\"name\":\"n\"},{\"uri\":\"\"},{\"uri\":\"x:\\t\"}]");
    rig_set(c, "s", LIST_TEMPLATES, "[{\"uri\":\"x:\"}]");
    CHECK_INT(catalog_count(c, NULL, LIST_RESOURCES), 0);
    CHECK_HAS(rig_logged(), "server 's': resource 1 is left out: it has no URI");
    CHECK_HAS(rig_logged(), "server 's': resource 2 is left out: its URI is empty");
    CHECK_HAS(rig_logged(), "server 's': resource 3 is left out: its URI holds control characters");
    CHECK_HAS(rig_logged(), "server 's': resource template 1 is left out: it has no URI");
}

/* ---- MCP Apps ---- */

#define PAGE_TOOL(tool, uri)                                                \
    "{\"_meta\":{\"ui\":{\"visibility\":[\"model\"],\"resourceUri\":\"" uri \
    "\"},\"z\":1.0},\"name\":\"" tool "\",\"x\":\"" uri "\"}"

TEST(the_page_of_a_tool_is_the_one_of_its_server)
{
    static const char page[] =
        "[{\"uri\":\"ui://w/v.html\",\"mimeType\":\"text/html;profile=mcp-app\","
        "\"_meta\":{\"ui\":{\"prefersBorder\":true}}}]";
    AUTO(catalog) struct catalog *c = catalog_new();
    struct scope two = { .server = "two" };

    rig_set(c, "two", LIST_TOOLS, "[" PAGE_TOOL("show", "ui://w/v.html") "]");
    rig_set(c, "two", LIST_RESOURCES, page);
    CHECK_STR(rig_render(c, &all, LIST_TOOLS), "[" PAGE_TOOL("two__show", "ui://w/v.html") "]");
    catalog_drop(c, "two");

    rig_set(c, "one", LIST_RESOURCES, page);
    rig_set(c, "two", LIST_RESOURCES, page);
    rig_set(c, "one", LIST_TOOLS, "[" PAGE_TOOL("show", "ui://w/v.html") "]");
    rig_set(c, "two", LIST_TOOLS, "[" PAGE_TOOL("show", "ui:\\/\\/w\\/v.html") "]");
    /* a host looks at how it begins; nothing else is touched */
    CHECK_STR(
        rig_render(c, &all, LIST_TOOLS),
        "[" PAGE_TOOL(
            "one__show",
            "ui://w/v.html") ","
                             "{\"_meta\":{\"ui\":{\"visibility\":[\"model\"],\"resourceUri\":"
                             "\"ui://patchbay/two/ui://w/v.html\"},\"z\":1.0},\"name\":\"two__show\","
                             "\"x\":\"ui:\\/\\/w\\/v.html\"}]");
    CHECK_STR(
        rig_render(c, &all, LIST_RESOURCES),
        "[{\"uri\":\"ui://w/v.html\",\"mimeType\":\"text/html;profile=mcp-app\",\"_meta\":"
        "{\"ui\":{\"prefersBorder\":true}}},{\"uri\":\"ui://patchbay/two/ui://w/v.html\","
        "\"mimeType\":\"text/html;profile=mcp-app\",\"_meta\":{\"ui\":{\"prefersBorder\":true}}}]");
    CHECK_STR(leads(c, &all, "ui://w/v.html"), "one ui://w/v.html");
    CHECK_STR(leads(c, &all, "ui://patchbay/two/ui://w/v.html"), "two ui://w/v.html");
    CHECK_STR(leads(c, &all, "patchbay://two/ui://w/v.html"), "two ui://w/v.html");
    CHECK_STR(rig_render(c, &two, LIST_TOOLS), "[" PAGE_TOOL("show", "ui:\\/\\/w\\/v.html") "]");
    /* the list of tools follows when the one that had it is gone */
    catalog_drop(c, "one");
    CHECK_STR(rig_render(c, &all, LIST_TOOLS),
              "[" PAGE_TOOL("two__show", "ui:\\/\\/w\\/v.html") "]");
}

TEST(the_page_of_a_tool_is_written_in_whatever_way_its_server_names_it)
{
    AUTO(catalog) struct catalog *c = catalog_new();

    rig_set(c, "one", LIST_RESOURCES, "[{\"uri\":\"ui://w\"}]");
    rig_set(
        c, "two", LIST_TOOLS,
        "[{\"name\":\"t\",\"_meta\":{\"openai/outputTemplate\":\"ui://w\",\"ui\":{\"resourceUri\":"
        "\"ui://w\"},\"ui/resourceUri\":\"ui://w\",\"other\":\"ui://w\"}}]");
    CHECK_STR(rig_render(c, &all, LIST_TOOLS),
              "[{\"name\":\"two__t\",\"_meta\":{\"openai/outputTemplate\":"
              "\"ui://patchbay/two/ui://w\",\"ui\":{\"resourceUri\":\"ui://patchbay/two/ui://w\"},"
              "\"ui/resourceUri\":\"ui://patchbay/two/ui://w\",\"other\":\"ui://w\"}}]");
    rig_set(c, "two", LIST_TOOLS,
            "[{\"name\":\"t\",\"_meta\":{\"ui\":7,\"ui/resourceUri\":{}}},"
            "{\"name\":\"u\",\"_meta\":\"ui://w\"}]");
    CHECK_STR(rig_render(c, &all, LIST_TOOLS),
              "[{\"name\":\"two__t\",\"_meta\":{\"ui\":7,\"ui/resourceUri\":{}}},"
              "{\"name\":\"two__u\",\"_meta\":\"ui://w\"}]");
}

/* Servers need not list their pages. */
TEST(a_page_that_nobody_lists_is_that_of_the_first_tool_that_has_it)
{
    AUTO(catalog) struct catalog *c = catalog_new();

    rig_set(c, "two", LIST_TOOLS, "[" PAGE_TOOL("show", "ui://w") "]");
    rig_set(c, "one", LIST_TOOLS, "[" PAGE_TOOL("show", "ui://w") "]");
    CHECK_STR(leads(c, &all, "ui://w"), "two ui://w");
    CHECK_HAS(rig_render(c, &all, LIST_TOOLS), "\"resourceUri\":\"ui://patchbay/one/ui://w\"");
    CHECK_HAS(rig_render(c, &all, LIST_TOOLS), "\"resourceUri\":\"ui://w\"");
    catalog_put_away(c, "two");
    CHECK_STR(leads(c, &all, "ui://w"), "two ui://w");
    catalog_drop(c, "two");
    CHECK_STR(leads(c, &all, "ui://w"), "one ui://w");
    /* and one that looks like ours is not */
    rig_set(c, "one", LIST_RESOURCES, "[{\"uri\":\"ui://patchbay/x/y\"}]");
    CHECK_STR(rig_names(c, &all, LIST_RESOURCES), "ui://patchbay/one/ui://patchbay/x/y");
}
