/* The part of TOML that configs of programs use, as JSON; the rest is refused by name and line. */
#include "hub/add/toml.h"
#include "tap.h"

static const char *json_of(const char *text)
{
    static struct buf out;
    struct pb_error err;

    out.n = 0;
    if (toml_to_json(&out, span_of(text), &err) < 0)
        TAP_FAIL("%s: %s", text, err.msg);
    return buf_cstr(&out);
}

TEST(tables_keys_and_values_become_json)
{
    static const struct {
        const char *toml, *json;
    } cases[] = {
        { "", "{}" },
        { "# only this\n\n", "{}" },
        { "a = 1\nb=true # x\r\nc = false", "{\"a\":1,\"b\":true,\"c\":false}" },
        { "[mcp_servers.x]\ncommand = \"npx\"\nargs = [\"-y\", 'a\\b']",
          "{\"mcp_servers\":{\"x\":{\"command\":\"npx\",\"args\":[\"-y\",\"a\\\\b\"]}}}" },
        { "[a.b]\nx = 1\n[a]\ny = 2", "{\"a\":{\"b\":{\"x\":1},\"y\":2}}" },
        { "[ a . \"b c\" ]\nx=1", "{\"a\":{\"b c\":{\"x\":1}}}" },
        { "a.b.c = 1\na.b.d = 2", "{\"a\":{\"b\":{\"c\":1,\"d\":2}}}" },
        { "'a.b' = 1", "{\"a.b\":1}" },
        { "\"\" = 1", "{\"\":1}" },
        { "x = { a = 1, \"b\" = { c.d = 'e' } }", "{\"x\":{\"a\":1,\"b\":{\"c\":{\"d\":\"e\"}}}}" },
        { "x = {}\ny = []", "{\"x\":{},\"y\":[]}" },
        { "x = [ # first\n 1,\n\n 2, # last\n]", "{\"x\":[1,2]}" },
        { "x = [[1], [\"a\"], {b=2}]", "{\"x\":[[1],[\"a\"],{\"b\":2}]}" },
        { "x = \"\\t\\\"\\\\ \\u00e9 \\U0001F600\"", "{\"x\":\"\\t\\\"\\\\ é 😀\"}" },
        { "x = -1.5e3", "{\"x\":-1.5e3}" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        CHECK_STR(json_of(cases[i].toml), cases[i].json);
}

TEST(what_is_wrong_or_not_read_is_told_with_its_line)
{
    static const struct {
        const char *toml, *says;
    } cases[] = {
        { "a = 1\n[[b]]", "line 2: lists of tables ([[…]]) are not read here" },
        { "a = \"\"\"x\"\"\"", "line 1: strings of several lines are not read here" },
        { "a = '''x'''", "line 1: strings of several lines" },
        { "\n\na = 2024-01-01", "line 3: expected a value: \"text\"" },
        { "a = 0x1f", "line 1: expected a value" },
        { "a = 1_000", "line 1: expected a value" },
        { "a = ", "line 1: expected a value" },
        { "a = yes", "line 1: expected a value" },
        { "a = truer", "line 1: expected a value" },
        { "a", "line 1: expected '=' behind a key" },
        { "= 1", "line 1: expected a key" },
        { "a. = 1", "line 1: expected a key" },
        { "a = 1 b = 2", "line 1: expected the end of the line" },
        { "[a] x", "line 1: expected the end of the line" },
        { "[a\nb", "line 1: expected ']' behind the name of a table" },
        { "a = \"x\nb = 1", "line 1: a string is not closed on its line" },
        { "a = 'x", "line 1: a string is not closed on its line" },
        { "a = \"\\q\"", "line 1: an unknown escape in a string" },
        { "a = \"\\ud800\"", "line 1: \\u and \\U name a character" },
        { "a = \"\\u12\"", "line 1: expected a hexadecimal digit" },
        { "a = [1 2]", "line 1: expected ',' or ']' in an array" },
        { "a = [1,\n2\n", "line 3: expected ',' or ']' in an array" },
        { "a = {b = 1", "line 1: expected ',' or '}' in a table within braces" },
        { "a = {b = 1,}", "line 1: expected a key" },
        { "a = 1\na = 2", "line 2: 'a' is there already" },
        { "[a]\n[a]", "line 2: this table is there already" },
        { "a = 1\n[a]", "line 2: 'a' is a value, not a table" },
        { "a = 1\na.b = 2", "line 2: 'a' is a value, not a table" },
        { "a = {b = 1}\n[a.c]", "line 2: 'a' is a value, not a table" },
        { "[a.b]\n[a]\nb.c = 1", "line 3: 'b' is a table that is complete already" },
        { "a = \"\xff\"", "the text is not UTF-8" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_BUF struct buf out = { 0 };
        struct pb_error err = { 0 };

        if (toml_to_json(&out, span_of(cases[i].toml), &err) != -PB_E_INVALID)
            TAP_FAIL("%s: taken as %s", cases[i].toml, buf_cstr(&out));
        CHECK_HAS(err.msg, cases[i].says);
        CHECK_INT(out.n, 0);
    }
}

static int read_n(size_t n, void (*write)(struct buf *out, size_t n))
{
    AUTO_BUF struct buf text = { 0 }, out = { 0 };
    struct pb_error err;

    write(&text, n);
    return toml_to_json(&out, buf_span(&text), &err);
}

static void write_keys(struct buf *out, size_t n)
{
    for (size_t i = 0; i < n; i++)
        buf_printf(out, "k%zu = 1\n", i);
}

static void write_lists(struct buf *out, size_t n)
{
    buf_str(out, "a = ");
    for (size_t i = 0; i < n; i++)
        buf_byte(out, '[');
    for (size_t i = 0; i < n; i++)
        buf_byte(out, ']');
}

static void write_tables(struct buf *out, size_t n)
{
    buf_str(out, "[a");
    for (size_t i = 1; i < n; i++)
        buf_str(out, ".a");
    buf_byte(out, ']');
}

TEST(keys_and_depth_have_bounds)
{
    CHECK_INT(read_n(TOML_KEYS_MAX, write_keys), 0);
    CHECK_INT(read_n(TOML_KEYS_MAX + 1, write_keys), -PB_E_LIMIT);
    CHECK_INT(read_n(10 * TOML_KEYS_MAX, write_keys), -PB_E_LIMIT);
    CHECK_INT(read_n(TOML_DEPTH_MAX, write_lists), 0);
    CHECK_INT(read_n(TOML_DEPTH_MAX + 1, write_lists), -PB_E_LIMIT);
    CHECK_INT(read_n(100000, write_lists), -PB_E_LIMIT);
    CHECK_INT(read_n(TOML_DEPTH_MAX, write_tables), 0);
    CHECK_INT(read_n(TOML_DEPTH_MAX + 1, write_tables), -PB_E_LIMIT);
    CHECK_INT(read_n(100000, write_tables), -PB_E_LIMIT);
}
