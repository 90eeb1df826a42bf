#include "hub/spec/spec.h"
#include "tap.h"

/* Servers "a", "a__b" and "b-". */
static bool is_there(const void *ctx, const struct item_name *i)
{
    (void)ctx;
    return span_is(i->server, "a") || span_is(i->server, "a__b") || span_is(i->server, "b-");
}

TEST(the_longest_of_the_servers_that_a_name_begins_with_is_meant)
{
    static const struct {
        const char *text, *server, *own; /* server NULL: none */
    } cases[] = {
        { "a.b", "a", "b" },
        { "a/b.c", "a", "b.c" },
        { "a:b/c", "a", "b/c" },
        { "a__c", "a", "c" },
        { "a__b__c", "a__b", "c" },
        { "a__b.c", "a__b", "c" },
        { "a__x.c", "a", "x.c" },
        { "a___b", "a", "_b" },
        { "a.", "a", "" },
        { "b-.x", "b-", "x" },
        { "a_b", NULL, NULL },
        { "ab.c", NULL, NULL },
        { "c.a__b", NULL, NULL },
        { "a", NULL, NULL },
        { ".a", NULL, NULL },
        { "", NULL, NULL },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct item_name got = { 0 };
        bool found = item_split(&got, span_of(cases[i].text), is_there, NULL);

        if (found != (cases[i].server != NULL) ||
            (found && (!span_is(got.server, cases[i].server) || !span_is(got.own, cases[i].own))))
            TAP_FAIL("%s: got '%.*s' and '%.*s'", cases[i].text, SPAN_ARG(got.server),
                     SPAN_ARG(got.own));
    }
}

static bool any(const void *ctx, const struct item_name *i)
{
    (void)ctx;
    return i->server.n > 0;
}

TEST(no_name_longer_than_a_server_may_have_is_asked_for)
{
    char text[HUB_NAME_MAX + 3];
    struct item_name got;

    memset(text, 'x', sizeof text);
    text[HUB_NAME_MAX] = '.';
    CHECK(item_split(&got, span_make(text, sizeof text), any, NULL));
    text[HUB_NAME_MAX] = 'x';
    text[HUB_NAME_MAX + 1] = '.';
    CHECK(!item_split(&got, span_make(text, sizeof text), any, NULL));
}

TEST(what_was_meant_to_be_a_server_ends_at_the_first_separator)
{
    CHECK(span_is(item_server_part(SPAN("gihub.x__y")), "gihub"));
    CHECK(span_is(item_server_part(SPAN("gi__hub/x")), "gi__hub"));
    CHECK(span_is(item_server_part(SPAN("gihub__x__y")), "gihub"));
    CHECK(span_is(item_server_part(SPAN("gihub")), "gihub"));
    CHECK(item_names_server(SPAN("a:b")) && !item_names_server(SPAN("a__b")));
}
