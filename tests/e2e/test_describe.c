/* What is shown of one tool or prompt, and that the example works. */
#include "script_rig.h"

#define SEARCH                                                                                     \
    "{\"name\":\"search\",\"title\":\"Look for things\",\"description\":\"Finds what is there.\\n" \
    "\\nThe second paragraph is much longer than a narrow terminal is wide, so that it must be "   \
    "wrapped at the edge.\","                                                                      \
    "\"annotations\":{\"readOnlyHint\":true,\"destructiveHint\":false,\"idempotentHint\":true,"    \
    "\"openWorldHint\":true},"                                                                     \
    "\"inputSchema\":{\"type\":\"object\",\"required\":[\"query\",\"kind\",\"filter\"],"           \
    "\"properties\":{\"query\":{\"type\":\"string\",\"description\":\"What to look for\","         \
    "\"minLength\":6,\"maxLength\":200},"                                                          \
    "\"limit\":{\"type\":\"integer\",\"minimum\":1,\"maximum\":100,\"default\":10},"               \
    "\"kind\":{\"enum\":[\"it's\",\"b\",\"c\",\"d\",\"e\",\"f\",\"g\",\"h\",\"the ninth\"]},"      \
    "\"when\":{\"type\":\"string\",\"format\":\"date\",\"description\":\"A day\"},"                \
    "\"filter\":{\"$ref\":\"#/$defs/filter\"}},"                                                   \
    "\"$defs\":{\"filter\":{\"type\":\"object\",\"description\":\"Less of it\",\"required\":["     \
    "\"since\"],\"properties\":{\"since\":{\"type\":\"number\",\"exclusiveMinimum\":3},"           \
    "\"tags\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},\"maxItems\":3}}}}}}"
#define SHAPES                                                                                   \
    "{\"name\":\"shapes\",\"annotations\":{\"title\":\"Old title\",\"readOnlyHint\":false,"      \
    "\"destructiveHint\":true,\"idempotentHint\":false,\"openWorldHint\":false},"                \
    "\"inputSchema\":{\"type\":\"object\",\"required\":[\"a\",\"b\",\"c\",\"d\",\"e\",\"f\","    \
    "\"g\",\"h\"],\"properties\":{\"a\":{\"type\":\"integer\",\"minimum\":5,\"multipleOf\":4},"  \
    "\"b\":{\"type\":\"boolean\"},\"c\":{\"type\":\"array\",\"minItems\":2,\"items\":{\"type\":" \
    "\"string\",\"format\":\"email\"}},\"d\":{\"const\":\"fixed\"},\"e\":{\"type\":[\"string\"," \
    "\"null\"],\"default\":null},\"f\":{\"type\":\"string\",\"default\":\"@home\"},"             \
    "\"g\":{\"type\":\"string\",\"examples\":[\"12\"]},\"h\":{\"type\":\"number\","              \
    "\"exclusiveMaximum\":0}}}}"
#define DOTTED                                                                          \
    "{\"name\":\"dotted\",\"inputSchema\":{\"type\":\"object\",\"required\":[\"a.b\"]," \
    "\"properties\":{\"a.b\":{\"type\":\"integer\"}}}}"
#define PATTERN                                                                           \
    "{\"name\":\"pattern\",\"inputSchema\":{\"type\":\"object\",\"required\":[\"code\"]," \
    "\"properties\":{\"code\":{\"type\":\"string\",\"pattern\":\"^[0-9]{3}-[A-Z]+$\"}}}}"
#define EVIL                                                                                  \
    "{\"name\":\"evil\",\"description\":\"\\u001b[31mred\\u202e\",\"inputSchema\":{\"type\":" \
    "\"object\",\"required\":[\"x\"],\"properties\":{\"x\":{\"type\":\"string\",\"default\":" \
    "\"a\\u001b[2J\",\"description\":\"\\u001b]0;title\\u0007\"}}}}"
#define BROKEN                                                                                   \
    "{\"name\":\"broken\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"x\":{\"type\":" \
    "\"string\",\"$ref\":\"http://127.0.0.1:1/x\"}}}}"
#define TOOLS SEARCH "," SHAPES "," DOTTED "," PATTERN "," EVIL "," BROKEN

#define GREET                                                                                \
    "{\"name\":\"greet\",\"title\":\"A greeting\",\"description\":\"Says hello.\","          \
    "\"arguments\":[{\"name\":\"who\",\"description\":\"Whom to greet\",\"required\":true}," \
    "{\"name\":\"style\"}]}"
#define BARE "{\"name\":\"bare\"}"

#define SEARCH_SHOWN                                                                            \
    "s.search - Look for things\n"                                                              \
    "  search(query: string, kind: \"it's\" | \"b\" | \"c\" | \"d\" | \"e\" | \"f\" | \"g\" | " \
    "\"h\" | …, filter: object, limit?: integer = 10, when?: string)\n"                       \
    "\n"                                                                                        \
    "  Finds what is there.\n"                                                                  \
    "\n"                                                                                        \
    "  The second paragraph is much longer than a narrow terminal is wide, so that it must be " \
    "wrapped at the edge.\n"                                                                    \
    "\n"                                                                                        \
    "  The server says: it only reads; it deletes and overwrites nothing; the same call again " \
    "changes nothing more; it reaches out to other systems\n"                                   \
    "\n"                                                                                        \
    "Arguments:\n"                                                                              \
    "  query\n"                                                                                 \
    "      string, required, 6 to 200 characters\n"                                             \
    "      What to look for\n"                                                                  \
    "  limit\n"                                                                                 \
    "      integer, 1 to 100, default 10\n"                                                     \
    "  kind\n"                                                                                  \
    "      \"it's\" | \"b\" | \"c\" | \"d\" | \"e\" | \"f\" | \"g\" | \"h\" | …, required\n"  \
    "      one of: \"it's\", \"b\", \"c\", \"d\", \"e\", \"f\", \"g\", \"h\", \"the ninth\"\n"  \
    "  when\n"                                                                                  \
    "      string, format \"date\"\n"                                                           \
    "      A day\n"                                                                             \
    "  filter\n"                                                                                \
    "      object, required\n"                                                                  \
    "      Less of it\n"                                                                        \
    "  filter.since\n"                                                                          \
    "      number, required, more than 3\n"                                                     \
    "  filter.tags\n"                                                                           \
    "      string[], at most 3 items\n"                                                         \
    "\n"                                                                                        \
    "Example:\n"                                                                                \
    "  patchbay call s.search query=textxx 'kind=it'\\''s' 'filter:={\"since\":3.5}'\n"         \
    "\n"                                                                                        \
    "MCP clients see it as s__search.\n"

/* With the daemon and on its own, by both verbs. */
TEST(a_tool_is_shown_with_all_that_its_server_says_of_it)
{
    script_begin(TOOLS, "");
    for (int daemon = 0; daemon < 2; daemon++) {
        if (daemon)
            rig_daemon(NULL);
        CHECK_INT(RUN("tools", "s.search"), 0);
        CHECK_STR(out, SEARCH_SHOWN);
        CHECK_INT(RUN("describe", "s/search"), 0);
        CHECK_STR(out, SEARCH_SHOWN);
        CHECK_INT(RUN("describe", "s__search"), 0);
        CHECK_STR(out, SEARCH_SHOWN);
        CHECK_INT(RUN("tools", "s.search", "--json"), 0);
        CHECK_STR(out, SEARCH "\n");
        CHECK_INT(RUN("describe", "s.search", "--json"), 0);
        CHECK_STR(out, SEARCH "\n");
        CHECK_INT(RUN("tools", "s.serch"), 1);
        CHECK_HAS(err, "did you mean 's.search'?");
        CHECK_INT(RUN("describe", "x.search"), 1);
        CHECK_HAS(err, "there is no server 'x'");
    }
    CHECK_INT(RUN("tools", "s.shapes"), 0);
    CHECK_HAS(out, "s.shapes - Old title\n");
    CHECK_HAS(out,
              "  The server says: it may change things; it may delete or overwrite things; the "
              "same call again may change more; it stays within its own system\n");
    CHECK_INT(RUN("tools", "s.broken"), 0);
    CHECK_HAS(out, "  broken(x?: string)\n");
    rig_end();
}

/* As it stands, by a shell. */
static void paste(void)
{
    char script[4096], path[4096];
    const char *line = strstr(out, "Example:\n  ");

    CHECK(line != NULL);
    line += strlen("Example:\n  ");
    snprintf(path, sizeof path, "%s:%s", getenv("BUILD_DIR"), getenv("PATH"));
    setenv("PATH", path, 1);
    snprintf(script, sizeof script, "%.*s", (int)strcspn(line, "\n"), line);
    if (run_other(WORDS("sh", "-c", script), NULL) != 0)
        TAP_FAIL("%s: %s", script, err);
    CHECK_STR(out, "done\n");
}

TEST(the_example_works_as_it_is_pasted)
{
    script_begin(TOOLS, "");
    CHECK_INT(RUN("tools", "s.search"), 0);
    paste();
    CHECK_STR(arguments_sent(),
              "{\"query\":\"textxx\",\"kind\":\"it's\",\"filter\":{\"since\":3.5}}");
    CHECK_INT(RUN("tools", "s.shapes"), 0);
    paste();
    CHECK_STR(arguments_sent(),
              "{\"a\":8,\"b\":true,\"c\":[\"somebody@example.org\",\"somebody@example.org\"],"
              "\"d\":\"fixed\",\"e\":null,\"f\":\"@home\",\"g\":\"12\",\"h\":-0.5}");
    CHECK_INT(RUN("tools", "s.dotted"), 0);
    paste();
    CHECK_STR(arguments_sent(), "{\"a.b\":1}");
    CHECK_INT(RUN("describe", "search", "--", built("tests/e2e/script_server"), in_home("said")),
              0);
    CHECK(!strstr(out, "MCP clients"));
    paste();
    CHECK_HAS(arguments_sent(), "\"query\":\"textxx\"");
    /* nobody can guess these, or they could not be seen */
    CHECK_INT(RUN("tools", "s.pattern"), 0);
    CHECK_HAS(out, "      string, required, matches \"^[0-9]{3}-[A-Z]+$\"\n");
    CHECK(!strstr(out, "Example"));
    CHECK_INT(RUN("tools", "s.evil"), 0);
    CHECK(!strstr(out, "Example"));
    rig_end();
}

TEST(a_server_that_is_named_here_and_now_tells_of_its_tools)
{
    script_begin(TOOLS, "");
#define HERE "--", built("tests/e2e/script_server"), in_home("said")
    CHECK_INT(RUN("tools", "dotted", HERE), 0);
    CHECK_HAS(out, "dotted\n  dotted(a.b: integer)\n");
    CHECK_INT(RUN("tools", "dotted", "--json", HERE), 0);
    CHECK_STR(out, DOTTED "\n");
    CHECK_INT(RUN("describe", "nothing", HERE), 1);
    CHECK_STR(err, "patchbay: the server lists no tool 'nothing'\n");
    rig_end();
}

TEST(prompts_are_shown_with_their_arguments)
{
    script_begin("", GREET "," BARE);
    CHECK_INT(RUN("prompts"), 0);
    CHECK_STR(out, "s.bare\ns.greet  (who, style?)  Says hello.\n");
    CHECK_INT(RUN("prompts", "s.greet"), 0);
    CHECK_STR(out, "s.greet - A greeting\n"
                   "  greet(who, style?)\n"
                   "\n"
                   "  Says hello.\n"
                   "\n"
                   "Arguments:\n"
                   "  who, required\n"
                   "      Whom to greet\n"
                   "  style\n"
                   "\n"
                   "Example:\n"
                   "  patchbay prompt s.greet who=text\n"
                   "\n"
                   "MCP clients see it as s__greet.\n");
    CHECK_INT(RUN("prompts", "s.greet", "--json"), 0);
    CHECK_STR(out, GREET "\n");
    CHECK_INT(RUN("prompts", "s.gret"), 1);
    CHECK_HAS(err, "did you mean 's.greet'?");
    rig_end();
}

/* ---- on a terminal ---- */

static size_t longest_line(void)
{
    size_t most = 0, n = 0;

    for (const char *p = out; *p; p++) {
        if (*p == '\n' || *p == '\r')
            n = 0;
        else if (*p == '\033')
            p += strcspn(p, "m");
        else if (((unsigned char)*p & 0xc0) != 0x80)
            n++;
        most = n > most ? n : most;
    }
    return most;
}

TEST(text_is_wrapped_at_the_terminals_edge_and_what_is_cut_says_so)
{
    script_begin(TOOLS, GREET);
    rig_daemon(NULL); /* nothing is remembered, and nothing said about it */
    rig_columns = 50;
    CHECK_INT(run_on_terminal(WORDS("tools", "s.search")), 0);
    CHECK_HAS(out, "  The second paragraph is much longer than a\r\n"
                   "  narrow terminal is wide, so that it must be\r\n"
                   "  wrapped at the edge.\r\n");
    *strstr(out, "Example:") = '\0'; /* what is to be pasted is not torn apart */
    CHECK(longest_line() <= 50);
    rig_columns = 40;
    CHECK_INT(run_on_terminal(WORDS("tools", "s")), 0);
    CHECK_HAS(out, "Finds what is there. …\r\n");
    CHECK_INT(run_on_terminal(WORDS("prompts", "s")), 0);
    CHECK(longest_line() <= 40);
    rig_columns = 41;
    CHECK_INT(run_on_terminal(WORDS("list")), 0);
    CHECK(!strstr(out, "…")); /* a list of few wraps instead */
    CHECK(longest_line() <= 41);
    rig_end();
}

TEST(a_server_cannot_paint_the_screen_with_its_descriptions)
{
    script_begin(TOOLS, "");
    setenv("NO_COLOR", "1", 1);
    CHECK_INT(run_on_terminal(WORDS("tools", "s.evil")), 0);
    CHECK(!strchr(out, '\033'));
    CHECK(!strchr(out, '\007'));
    CHECK(!strstr(out, "\u202e"));
    CHECK_HAS(out, "  ?[31mred?");
    rig_end();
}

/* ---- schemas without an end ---- */

TEST(a_type_is_told_though_its_name_is_part_of_another)
{
    script_begin("{\"name\":\"t\",\"inputSchema\":{\"type\":\"object\",\"properties\":{\"a\":{"
                 "\"anyOf\":[{\"type\":\"array\",\"items\":{\"type\":\"string\"}},{\"type\":"
                 "\"string\"},{\"type\":\"string\",\"maxLength\":3}]},\"b\":{\"anyOf\":[{\"enum\":["
                 "\"x\",\"y\"]},{\"const\":\"y\"},{\"const\":\"z\"}]}}}}",
                 "");
    CHECK_INT(RUN("tools", "s.t"), 0);
    CHECK_HAS(out, "  t(a?: string[] | string, b?: \"x\" | \"y\" | \"z\")\n");
    rig_end();
}

#define LIST_OF_ITSELF                                                                      \
    "{\"name\":\"list\",\"inputSchema\":{\"type\":\"object\",\"required\":[\"a\"],"         \
    "\"properties\":{\"a\":{\"$ref\":\"#/$defs/l\"}},\"$defs\":{\"l\":{\"type\":\"array\"," \
    "\"items\":{\"$ref\":\"#/$defs/l\"}}}}}"

/* Each of `n` members, or alternatives, is the whole again. '#' is the number of one. */
static void write_many(struct buf *to, const char *before, const char *one, int n)
{
    buf_str(to, before);
    for (int i = 0; i < n; i++) {
        const char *at = strchr(one, '#');

        buf_printf(to, "%s%.*s%d%s", i ? "," : "", (int)(at - one), one, i, at + 1);
    }
}

static void check_cut(const char *tool)
{
    CHECK_INT(RUN("tools", tool), 0);
    CHECK_HAS(out, "\n  …\n");
    CHECK(!strstr(out, "Example"));
    CHECK(strlen(out) < 500000);
}

TEST(what_is_told_of_a_schema_without_an_end_has_one)
{
    AUTO_BUF struct buf tools = { 0 };

    buf_str(&tools, LIST_OF_ITSELF ",");
    write_many(&tools,
               "{\"name\":\"members\",\"inputSchema\":{\"$ref\":\"#/$defs/o\",\"type\":"
               "\"object\",\"$defs\":{\"o\":{\"type\":\"object\",\"required\":[",
               "\"m#\"", 40);
    write_many(&tools, "],\"properties\":{", "\"m#\":{\"$ref\":\"#/$defs/o\"}", 40);
    write_many(
        &tools,
        "}}}}},{\"name\":\"kinds\",\"inputSchema\":{\"type\":\"object\",\"required\":["
        "\"a\"],\"properties\":{\"a\":{\"$ref\":\"#/$defs/k\"}},\"$defs\":{\"k\":{\"anyOf\":[",
        "{\"type\":\"array\",\"minItems\":#,\"items\":{\"$ref\":\"#/$defs/k\"}}", 32);
    buf_str(&tools, "]}}}}");
    script_begin(buf_cstr(&tools), "");
    rig_daemon(NULL);
    CHECK_INT(RUN("tools", "s.list"), 0);
    CHECK_HAS(out, "  list(a: array[][][][])\n");
    CHECK(!strstr(out, "Example"));
    check_cut("s.members");
    check_cut("s.kinds");
    CHECK_INT(RUN("call", "s.kinds"), 1);
    CHECK_HAS(err, "s.kinds: 'a' is missing\n  s.kinds(a: ");
    CHECK_HAS(err, "…");
    rig_end();
}
