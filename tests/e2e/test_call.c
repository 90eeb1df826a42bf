/* Arguments of a call: what they become by the tool's schema, and what is told before anything is
 * sent. */
#include "script_rig.h"

#define SEARCH                                                                                     \
    "{\"name\":\"search\",\"inputSchema\":{\"type\":\"object\",\"required\":[\"query\"],"          \
    "\"properties\":{\"query\":{\"type\":\"string\"},"                                             \
    "\"limit\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":100,\"default\":10},"               \
    "\"ratio\":{\"type\":\"number\"},\"deep\":{\"type\":\"boolean\"},"                             \
    "\"maybe\":{\"type\":[\"string\",\"null\",\"integer\"]},"                                      \
    "\"either\":{\"anyOf\":[{\"type\":\"integer\",\"maximum\":10},{\"type\":\"boolean\"},"         \
    "{\"type\":\"string\"}]},"                                                                     \
    "\"level\":{\"enum\":[\"low\",\"high\",3,null]},"                                              \
    "\"kind\":{\"oneOf\":[{\"const\":\"a\"},{\"const\":7}]},"                                      \
    "\"tags\":{\"type\":\"array\",\"items\":{\"type\":\"string\"}},"                               \
    "\"ids\":{\"type\":\"array\",\"items\":{\"type\":\"integer\"}},"                               \
    "\"pair\":{\"type\":\"array\",\"prefixItems\":[{\"type\":\"integer\"},{\"type\":\"boolean\"}]" \
    "},\"many\":{\"type\":[\"string\",\"array\"],\"items\":{\"type\":\"string\"}},"                \
    "\"filter\":{\"$ref\":\"#/$defs/filter\"},\"loose\":{\"type\":\"object\"},"                    \
    "\"a.b\":{\"type\":\"integer\"},\"a\":{\"type\":\"object\"},\"free\":{}},"                     \
    "\"$defs\":{\"filter\":{\"type\":\"object\",\"additionalProperties\":false,"                   \
    "\"properties\":{\"tags\":{\"type\":\"array\",\"items\":{\"$ref\":\"#/$defs/tag\"}},"          \
    "\"since\":{\"type\":\"integer\"},\"not\":{\"$ref\":\"#/$defs/filter\"}}},"                    \
    "\"tag\":{\"type\":\"string\",\"maxLength\":5}}}}"
#define STRICT                                                                                  \
    "{\"name\":\"strict\",\"inputSchema\":{\"type\":\"object\",\"additionalProperties\":false," \
    "\"required\":[\"from\",\"to\",\"by\"],\"properties\":{\"from\":{\"type\":\"string\"},"     \
    "\"to\":{\"type\":\"string\"},\"by\":{\"enum\":[\"air\",\"sea\"],\"default\":\"sea\"}}}}"
#define LOOP                                                                                   \
    "{\"name\":\"loop\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"x\":{\"$ref\":" \
    "\"#/$defs/a\"}},\"$defs\":{\"a\":{\"anyOf\":[{\"$ref\":\"#/$defs/b\"},{\"$ref\":"         \
    "\"#/$defs/b\"},{\"$ref\":\"#/$defs/a\"}]},\"b\":{\"anyOf\":[{\"$ref\":\"#/$defs/a\"},{"   \
    "\"$ref\":\"#/$defs/b\"}]}}}}"
#define BROKEN "{\"name\":\"broken\",\"inputSchema\":{\"type\":\"object\",\"properties\":7}}"
#define PLAIN  "{\"name\":\"plain\",\"inputSchema\":{\"type\":\"object\"}}"
#define ITSELF                                                                                   \
    "{\"name\":\"itself\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{\"$ref\":" \
    "\"#/$defs/l\"}},\"$defs\":{\"l\":{\"type\":\"array\",\"items\":{\"$ref\":\"#/$defs/l\"}}}}}"
#define KEYS                                                                                          \
    "{\"name\":\"keys\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"n\":{\"type\":"        \
    "\"integer\"},\"pass\":{\"type\":\"string\",\"format\":\"password\",\"maxLength\":4},\"token\":{" \
    "\"anyOf\":[{\"type\":\"string\",\"writeOnly\":true,\"minLength\":20},{\"type\":\"null\"}]},"     \
    "\"login\":{\"type\":\"object\",\"maxProperties\":1,\"properties\":{\"user\":{},\"pass\":{"       \
    "\"format\":\"password\"}}},\"list\":{\"type\":\"array\",\"maxItems\":1}}}}"
#define TOOLS SEARCH "," STRICT "," LOOP "," BROKEN "," PLAIN "," ITSELF "," KEYS

#define SEARCH_SIGNATURE                                                                               \
    "  s.search(query: string, limit?: integer = 10, ratio?: number, deep?: boolean, maybe?: "         \
    "string | null | integer, either?: integer | boolean | string, level?: \"low\" | \"high\" | "      \
    "3 | null, kind?: \"a\" | 7, tags?: string[], ids?: integer[], pair?: [integer, boolean], many?: " \
    "string | string[], filter?: object, loose?: object, a.b?: integer, a?: object, free?: any)\n"
#define STRICT_SIGNATURE "  s.strict(from: string, to: string, by: \"air\" | \"sea\" = \"sea\")\n"

struct sent_case {
    const char *words[8], *sent;
};

static void check_sent(const struct sent_case *cases, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        const char *words[10] = { "call" };

        for (int k = 0; k < 8 && cases[i].words[k]; k++)
            words[k + 1] = cases[i].words[k];
        if (run_with(NULL, words) != 0)
            TAP_FAIL("%s %s: %s", words[1], words[2] ? words[2] : "", err);
        CHECK_STR(arguments_sent(), cases[i].sent);
        CHECK_STR(out, "done\n");
        CHECK_STR(err, "");
    }
}

/* Nothing may be sent. */
static void check_told(const char *const *given, const char *says)
{
    const char *words[10] = { "call" };

    for (int k = 0; k < 8 && given[k]; k++)
        words[k + 1] = given[k];
    CHECK_INT(run_with(NULL, words), 1);
    CHECK_STR(err, says);
    CHECK_STR(out, "");
    CHECK_STR(arguments_sent(), "");
}

TEST(each_value_becomes_what_the_schema_wants)
{
    static const struct sent_case cases[] = {
        { { "s.search", "query=7" }, "{\"query\":\"7\"}" },
        { { "s.search", "query=true", "limit=7" }, "{\"query\":\"true\",\"limit\":7}" },
        { { "s.search", "query=", "limit=7.0" }, "{\"query\":\"\",\"limit\":7.0}" },
        { { "s.search", "query=x", "ratio=-0.5", "deep=false" },
          "{\"query\":\"x\",\"ratio\":-0.5,\"deep\":false}" },
        { { "s.search", "query=x", "maybe=null" }, "{\"query\":\"x\",\"maybe\":null}" },
        { { "s.search", "query=x", "maybe=12" }, "{\"query\":\"x\",\"maybe\":12}" },
        { { "s.search", "query=x", "maybe=1.5" }, "{\"query\":\"x\",\"maybe\":\"1.5\"}" },
        { { "s.search", "query=x", "either=7" }, "{\"query\":\"x\",\"either\":7}" },
        { { "s.search", "query=x", "either=70" }, "{\"query\":\"x\",\"either\":\"70\"}" },
        { { "s.search", "query=x", "either=true" }, "{\"query\":\"x\",\"either\":true}" },
        { { "s.search", "query=x", "level=low" }, "{\"query\":\"x\",\"level\":\"low\"}" },
        { { "s.search", "query=x", "level=3" }, "{\"query\":\"x\",\"level\":3}" },
        { { "s.search", "query=x", "level=null" }, "{\"query\":\"x\",\"level\":null}" },
        { { "s.search", "query=x", "kind=a" }, "{\"query\":\"x\",\"kind\":\"a\"}" },
        { { "s.search", "query=x", "kind=7" }, "{\"query\":\"x\",\"kind\":7}" },
        { { "s.search", "query=x", "free=7" }, "{\"query\":\"x\",\"free\":\"7\"}" },
        { { "s.search", "query=x", "free:=7" }, "{\"query\":\"x\",\"free\":7}" },
        { { "s.search", "query=x", "something=7" }, "{\"query\":\"x\",\"something\":\"7\"}" },
        { { "s.plain", "n=7", "m:=7" }, "{\"n\":\"7\",\"m\":7}" },
        { { "s.broken", "n=7" }, "{\"n\":\"7\"}" },
        { { "s.loop", "x=7" }, "{\"x\":\"7\"}" },
        { { "s.search", "query=x", "limit=1000", "--unchecked" },
          "{\"query\":\"x\",\"limit\":\"1000\"}" },
    };

    script_begin(TOOLS, "");
    check_sent(cases, ARRAY_LEN(cases));
    rig_daemon(NULL);
    check_sent(cases, ARRAY_LEN(cases));
    rig_end();
}

TEST(lists_and_objects_are_made_of_repeated_and_dotted_keys)
{
    static const struct sent_case cases[] = {
        { { "s.search", "query=x", "tags=a", "tags=7" },
          "{\"query\":\"x\",\"tags\":[\"a\",\"7\"]}" },
        { { "s.search", "query=x", "tags=a" }, "{\"query\":\"x\",\"tags\":[\"a\"]}" },
        { { "s.search", "query=x", "tags=[\"a\",\"b\"]" },
          "{\"query\":\"x\",\"tags\":[\"a\",\"b\"]}" },
        { { "s.search", "ids=1", "query=x", "ids=2" }, "{\"ids\":[1,2],\"query\":\"x\"}" },
        { { "s.search", "query=x", "ids=5" }, "{\"query\":\"x\",\"ids\":[5]}" },
        { { "s.search", "query=x", "ids=[]" }, "{\"query\":\"x\",\"ids\":[]}" },
        { { "s.search", "query=x", "pair=5", "pair=true" }, "{\"query\":\"x\",\"pair\":[5,true]}" },
        { { "s.search", "query=x", "many=5" }, "{\"query\":\"x\",\"many\":\"5\"}" },
        { { "s.search", "query=x", "many=5", "many=6" },
          "{\"query\":\"x\",\"many\":[\"5\",\"6\"]}" },
        { { "s.search", "query=x", "filter.tags=x", "filter.since=5" },
          "{\"query\":\"x\",\"filter\":{\"tags\":[\"x\"],\"since\":5}}" },
        { { "s.search", "query=x", "filter.not.not.since=5" },
          "{\"query\":\"x\",\"filter\":{\"not\":{\"not\":{\"since\":5}}}}" },
        { { "s.search", "query=x", "filter={\"since\":1}" },
          "{\"query\":\"x\",\"filter\":{\"since\":1}}" },
        { { "s.search", "query=x", "loose.b.c=1", "loose.d:=2" },
          "{\"query\":\"x\",\"loose\":{\"b\":{\"c\":\"1\"},\"d\":2}}" },
        /* a key that the schema names wins, dots and all */
        { { "s.search", "query=x", "a.b=1", "a.c=1" },
          "{\"query\":\"x\",\"a.b\":1,\"a\":{\"c\":\"1\"}}" },
        { { "s.search", "query=x", "zebra.stripes=1" },
          "{\"query\":\"x\",\"zebra.stripes\":\"1\"}" },
        { { "s.plain", "a.b=1" }, "{\"a.b\":\"1\"}" },
    };

    script_begin(TOOLS, "");
    rig_daemon(NULL);
    check_sent(cases, ARRAY_LEN(cases));
    rig_end();
}

TEST(words_go_over_what_an_object_says)
{
    static const struct sent_case cases[] = {
        { { "s.search", "{\"query\":\"x\",\"limit\":5}", "limit=6" },
          "{\"query\":\"x\",\"limit\":6}" },
        { { "s.search", "limit=6", "{\"query\":\"x\",\"limit\":5}" },
          "{\"query\":\"x\",\"limit\":6}" },
        { { "s.search", "{\"query\":\"x\",\"tags\":[\"a\"]}", "tags=b" },
          "{\"query\":\"x\",\"tags\":[\"b\"]}" },
        { { "s.search", "{\"query\":\"x\",\"filter\":{\"since\":1,\"tags\":[]}}",
            "filter.since=2" },
          "{\"query\":\"x\",\"filter\":{\"since\":2,\"tags\":[]}}" },
        { { "s.search", "@base.json", "{\"limit\":7}", "deep=true" },
          "{\"query\":\"from a file\",\"limit\":7,\"deep\":true}" },
        /* in an object a key may be almost another */
        { { "s.search", "{\"query\":\"x\",\"limits\":5}" }, "{\"query\":\"x\",\"limits\":5}" },
        /* what must be there and has a default */
        { { "s.strict", "from=a", "to=b" }, "{\"from\":\"a\",\"to\":\"b\",\"by\":\"sea\"}" },
    };

    script_begin(TOOLS, "");
    write_file(in_home("base.json"), "{\"query\": \"from a file\", \"limit\": 5}\n");
    rig_daemon(NULL);
    check_sent(cases, ARRAY_LEN(cases));
    rig_end();
}

TEST(a_call_may_be_written_as_programs_write_it)
{
    static const struct sent_case cases[] = {
        { { "s.search(query: \"x, y\", limit: 5)" }, "{\"query\":\"x, y\",\"limit\":5}" },
        { { "s.search( query = some words , deep=true )" },
          "{\"query\":\"some words\",\"deep\":true}" },
        { { "s.search(query: 7, tags: [\"a)\", \"b\"], filter: {\"since\": 1},)" },
          "{\"query\":\"7\",\"tags\":[\"a)\", \"b\"],\"filter\":{\"since\": 1}}" },
        { { "s.search(query: 'it\\'s', tags: a, tags: b)" },
          "{\"query\":\"it's\",\"tags\":[\"a\",\"b\"]}" },
        { { "s/search(\"query\": \"\\u0041\", filter.since: 3)" },
          "{\"query\":\"\\u0041\",\"filter\":{\"since\":3}}" },
        { { "s.search({\"query\":\"x\"})", "limit=5" }, "{\"query\":\"x\",\"limit\":5}" },
        { { "s.search(query: x)", "limit=5" }, "{\"query\":\"x\",\"limit\":5}" },
        { { "s.plain()" }, "{}" },
        /* where the schema does not say: as it is written */
        { { "s.plain(a: 1, b: true, c: word, d: \"1\")" },
          "{\"a\":1,\"b\":true,\"c\":\"word\",\"d\":\"1\"}" },
    };
    static const struct {
        const char *word, *says;
    } wrong[] = {
        { "s.search(7)", "patchbay: the call's arguments: expected ':' after a key at ''\n" },
        { "s.search(query x)",
          "patchbay: the call's arguments: expected ':' after a key at 'x'\n" },
        { "s.search(: x)", "patchbay: the call's arguments: expected 'key: value' at ': x'\n" },
        { "s.search(query: )",
          "patchbay: the call's arguments: expected a value that is complete at ''\n" },
        { "s.search(query: \"x)",
          "patchbay: the call's arguments: expected a value that is complete at '\"x'\n" },
        { "s.search(query: [1)",
          "patchbay: the call's arguments: expected a value that is complete at '[1'\n" },
        { "s.search(query: \"x\" limit: 5)",
          "patchbay: the call's arguments: expected ',' at 'limit: 5'\n" },
        { "s.search(tags: [a])", "patchbay: the value of 'tags': line 1, column 2: " },
    };

    script_begin(TOOLS, "");
    rig_daemon(NULL);
    check_sent(cases, ARRAY_LEN(cases));
    for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
        CHECK_INT(RUN("call", wrong[i].word), 1);
        CHECK_HAS(err, wrong[i].says);
        CHECK_STR(arguments_sent(), "");
    }
    rig_end();
}

TEST(what_is_wrong_with_arguments_is_told_before_anything_is_sent)
{
    static const struct {
        const char *words[6], *says;
    } cases[] = {
        { { "s.search" }, "patchbay: s.search: 'query' is missing\n" SEARCH_SIGNATURE },
        { { "s.search", "qurey=x" },
          "patchbay: s.search: there is no argument 'qurey'; did you mean 'query'?\n" SEARCH_SIGNATURE },
        { { "s.search", "query=x", "limits=7" },
          "patchbay: s.search: there is no argument 'limits'; did you mean 'limit'?\n" SEARCH_SIGNATURE },
        { { "s.search", "query=x", "filter.tgs=7" },
          "patchbay: s.search: there is no argument 'tgs'; did you mean 'tags'?\n" SEARCH_SIGNATURE },
        { { "s.search", "query=x", "filter.zebra=7" },
          "patchbay: s.search: there is no argument 'zebra'\n" SEARCH_SIGNATURE },
        { { "s.search", "query=x", "query=y" },
          "patchbay: s.search: 'query' is given twice, but is no list\n" SEARCH_SIGNATURE },
        { { "s.search", "query=x", "filter={}", "filter.since=1" },
          "patchbay: s.search: 'filter' is given as a whole and in parts\n" SEARCH_SIGNATURE },
        { { "s.search", "query=x", "filter.since=1", "filter={}" },
          "patchbay: s.search: 'filter' is given as a whole and in parts\n" SEARCH_SIGNATURE },
        { { "s.search", "query=x", "limit=ten" },
          "patchbay: s.search: 'limit' is \"ten\": expected an integer, got a string\n" SEARCH_SIGNATURE },
        { { "s.search", "query=x", "limit=1.5" },
          "patchbay: s.search: 'limit' is 1.5: expected an integer, got a fraction\n" SEARCH_SIGNATURE },
        { { "s.search", "query=x", "limit=1000" },
          "patchbay: s.search: 'limit' is 1000: expected at most 100\n" SEARCH_SIGNATURE },
        { { "s.search", "query=x", "deep=yes" },
          "patchbay: s.search: 'deep' is \"yes\": expected a boolean, got a string\n" SEARCH_SIGNATURE },
        { { "s.search", "query=x", "level=medium" },
          "patchbay: s.search: 'level' is \"medium\": expected one of \"low\", \"high\", 3, null\n" SEARCH_SIGNATURE },
        { { "s.search", "query=x", "ids=1", "ids=b" },
          "patchbay: s.search: 'ids.1' is \"b\": expected an integer, got a string\n" SEARCH_SIGNATURE },
        { { "s.search", "query=x", "filter.tags=far too long" },
          "patchbay: s.search: 'filter.tags.0' is \"far too long\": expected at most 5 characters, got 12\n" SEARCH_SIGNATURE },
        { { "s.search", "{\"query\":5}" },
          "patchbay: s.search: 'query' is 5: expected a string, got a number\n" SEARCH_SIGNATURE },
        { { "s.search(query: \"x\", limit: \"5\")" },
          "patchbay: s.search: 'limit' is \"5\": expected an integer, got a string\n" SEARCH_SIGNATURE },
        { { "s.strict" }, "patchbay: s.strict: 'from', 'to' are missing\n" STRICT_SIGNATURE },
        { { "s.strict", "from=a", "to=b", "via=c" },
          "patchbay: s.strict: there is no argument 'via'\n" STRICT_SIGNATURE },
        { { "s.strict", "{\"from\":\"a\",\"too\":\"b\"}" },
          "patchbay: s.strict: there is no argument 'too'; did you mean 'to'?\n" STRICT_SIGNATURE },
        { { "s.plain", "a=1", "a=2" },
          "patchbay: s.plain: 'a' is given twice, but is no list\n  s.plain()\n" },
    };

    script_begin(TOOLS, "");
    rig_daemon(NULL);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        check_told(cases[i].words, cases[i].says);
    CHECK_INT(daemon_stop(SIGTERM), 0);
    check_told(cases[0].words, cases[0].says);
    rig_end();
}

/* What is given can be long, and is the person's own: it is cut, and says so. */
TEST(a_long_value_is_cut_in_the_error)
{
    char word[400] = "limit=";

    script_begin(TOOLS, "");
    memset(word + 6, 'x', 300);
    CHECK_INT(RUN("call", "s.search", "query=x", word), 1);
    CHECK_HAS(err, "xxx…: expected an integer, got a string\n");
    rig_end();
}

TEST(a_server_that_is_named_here_and_now_is_asked_for_the_schema)
{
    script_begin(TOOLS, "");
#define HERE "--", built("tests/e2e/script_server"), in_home("said")
    CHECK_INT(RUN("call", "search", "query=x", "limit=5", HERE), 0);
    CHECK_STR(arguments_sent(), "{\"query\":\"x\",\"limit\":5}");
    CHECK_INT(RUN("call", "search(query: x, limit: 5)", HERE), 0);
    CHECK_STR(arguments_sent(), "{\"query\":\"x\",\"limit\":5}");
    CHECK_INT(RUN("call", "strict", "from=x", HERE), 1);
    CHECK_STR(err, "patchbay: strict: 'to' is missing\n  strict(from: string, to: string, by: "
                   "\"air\" | \"sea\" = \"sea\")\n");
    CHECK_STR(arguments_sent(), "");
    /* what it does not list it may have */
    CHECK_INT(RUN("call", "hidden", "a=1", HERE), 0);
    CHECK_STR(arguments_sent(), "{\"a\":\"1\"}");
    rig_end();
}

/* The schema has no end, but what is made of one word has: the check tells what is wrong. */
TEST(a_word_is_not_put_into_lists_without_end)
{
    static const struct sent_case cases[] = {
        { { "s.itself", "a=[]" }, "{\"a\":[]}" },
        { { "s.itself", "a=[[],[[]]]" }, "{\"a\":[[],[[]]]}" },
    };
    AUTO_BUF struct buf says = { 0 };

    script_begin(TOOLS, "");
    check_sent(cases, ARRAY_LEN(cases));
    buf_str(&says, "patchbay: s.itself: 'a");
    for (int i = 0; i < ARGUMENT_LISTS_MAX; i++)
        buf_str(&says, ".0");
    buf_str(&says, "' is \"x\": expected an array, got a string\n");
    CHECK_INT(RUN("call", "s.itself", "a=x"), 1);
    CHECK_HAS(err, buf_cstr(&says));
    CHECK_STR(arguments_sent(), "");
    rig_end();
}

/* What is in a file or is a password may be a secret: it is not repeated. */
TEST(a_value_that_may_be_secret_is_not_quoted_in_the_error)
{
    static const struct {
        const char *words[6], *says;
    } cases[] = {
        { { "s.keys", "n=@key" }, "'n' is ***: expected an integer, got a string\n" },
        { { "s.keys", "n:=@key.json" }, "'n' is ***: expected an integer, got a string\n" },
        { { "s.keys", "pass=hunter2" }, "'pass' is ***: expected at most 4 characters, got 7\n" },
        { { "s.keys", "{\"pass\":\"hunter2\"}" },
          "'pass' is ***: expected at most 4 characters, got 7\n" },
        { { "s.keys", "token=hunter2" }, "'token' is ***: " },
        { { "s.keys", "login.user=joe", "login.pass=hunter2" }, "'login' is ***: " },
        { { "s.keys", "login.user=joe", "login.x=@key" }, "'login' is ***: " },
        { { "s.keys", "list=a", "list=@key" }, "'list' is ***: expected at most 1 item" },
        { { "s.keys", "list=a", "list=b" }, "'list' is [\"a\",\"b\"]: expected at most 1 item" },
        { { "s.keys", "n=nine" }, "'n' is \"nine\": expected an integer, got a string\n" },
    };

    script_begin(TOOLS, "");
    write_file(in_home("key"), "hunter2");
    write_file(in_home("key.json"), "\"hunter2\"");
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *words[8] = { "call" };

        for (int k = 0; k < 6 && cases[i].words[k]; k++)
            words[k + 1] = cases[i].words[k];
        CHECK_INT(run_with(NULL, words), 1);
        CHECK_HAS(err, cases[i].says);
        CHECK(!strstr(err, "hunter2"));
        CHECK_STR(arguments_sent(), "");
    }
    rig_end();
}
