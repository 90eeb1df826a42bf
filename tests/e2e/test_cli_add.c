/* "patchbay add" is given what people have at hand: whatever a README, another client or another
 * program's command line gives them to paste. */
#include "cli_rig.h"

#define SAVED file_text("config.json")

static void add(const char *text)
{
    if (RUN("add", text) != 0)
        TAP_FAIL("%s: %s", text, err);
}

/* The entry of a server as it was saved. */
static const char *entry(const char *name)
{
    static char path[128];

    snprintf(path, sizeof path, "mcpServers.%s", name);
    return json_member(SAVED, path);
}

static const char *entry_of(const char *name, const char *member)
{
    static char path[160];

    snprintf(path, sizeof path, "mcpServers.%s.%s", name, member);
    return json_member(SAVED, path);
}

TEST(lines_of_other_programs_are_taken_whole)
{
    rig_begin();
    add("claude mcp add -s user -t stdio -e A=1 B=2 airtable -- npx -y airtable-mcp-server --x");
    CHECK_STR(entry_of("airtable", "args"), "[\"-y\", \"airtable-mcp-server\", \"--x\"]");
    CHECK_STR(entry_of("airtable", "env.A"), "1");
    CHECK_STR(entry_of("airtable", "env.B"), "2");

    /* The same when a shell has split it. */
    CHECK_INT(RUN("add", "claude", "mcp", "add", "--transport", "sse", "--scope", "local", "linear",
                  "https://mcp.linear.app/sse", "--header", "X-Team: a", "Y: b"),
              0);
    CHECK_STR(entry_of("linear", "type"), "sse");
    CHECK_STR(entry_of("linear", "headers.X-Team"), "a");
    CHECK_STR(entry_of("linear", "headers.Y"), "b");
    CHECK_INT(RUN("add", "claude", "mcp", "add", "split", "--", "cat", "-n"), 0);
    CHECK_STR(entry_of("split", "args"), "[\"-n\"]");

    add("claude mcp add-json -s user weather '{\"type\":\"stdio\",\"command\":\"cat\"}'");
    CHECK_STR(entry_of("weather", "command"), "cat");
    add("codex mcp add docs --url https://docs.example.com/mcp --bearer-token-env-var TOK");
    CHECK_STR(entry_of("docs", "url"), "https://docs.example.com/mcp");
    CHECK_STR(entry_of("docs", "headers.Authorization"), "Bearer ${TOK}");
    add("codex mcp add ctx --env K=v -- npx -y @upstash/context7-mcp");
    CHECK_STR(entry_of("ctx", "env.K"), "v");
    add("gemini mcp add -t http gem https://gem.example.com/mcp --timeout 5000 --trust "
        "--include-tools a,b --exclude-tools c");
    CHECK_STR(entry_of("gem", "timeout_s"), "5");
    CHECK_STR(entry_of("gem", "enabledTools"), "[\"a\", \"b\"]");
    CHECK_STR(entry_of("gem", "disabledTools"), "[\"c\"]");
    CHECK_INT(RUN("add", "code", "--add-mcp",
                  "{\"name\":\"pw\",\"command\":\"npx\",\"args\":[\"@playwright/mcp\"]}"),
              0);
    CHECK_STR(entry_of("pw", "args"), "[\"@playwright/mcp\"]");
    add("code --add-mcp '{\\\"name\\\":\\\"twice\\\",\\\"command\\\":\\\"cat\\\"}'");
    CHECK_STR(entry_of("twice", "command"), "cat");

    /* Several at once. */
    add("# both\nclaude mcp add one -- cat\nclaude mcp add two \\\n  https://h/mcp\n");
    CHECK_STR(entry_of("one", "command"), "cat");
    CHECK_STR(entry_of("two", "url"), "https://h/mcp");
    CHECK_STR(err, "Next: patchbay list\n");
    rig_end();
}

TEST(the_scope_of_a_pasted_line_is_heeded_unless_another_is_given)
{
    rig_begin();
    add("claude mcp add -s project here -- cat");
    CHECK_HAS(file_text(".mcp.json"), "\"here\"");
    CHECK_STR(err, "Next: patchbay tools here\n");
    CHECK_INT(RUN("add", "-s", "user", "claude mcp add -s project mine -- cat"), 0);
    CHECK_HAS(SAVED, "\"mine\"");
    CHECK_INT(RUN("add", "claude mcp add -s moon mine2 -- cat"), 1);
    CHECK_STR(err, "patchbay: --scope is 'user', 'local' or 'project', not 'moon'\n");
    rig_end();
}

TEST(runners_of_packages_and_scripts_are_known)
{
    static const struct {
        const char *text, *name, *args;
    } cases[] = {
        { "npx @acme/one-mcp", "one", "[\"-y\", \"@acme/one-mcp\"]" },
        { "uvx mcp-server-two", "two", "[\"mcp-server-two\"]" },
        { "uv run three.py", "three", "[\"run\", \"three.py\"]" },
        { "uv --directory /opt/four run server.py", "four",
          "[\"--directory\", \"/opt/four\", \"run\", \"server.py\"]" },
        { "pipx run mcp-server-five", "five", "[\"run\", \"mcp-server-five\"]" },
        { "deno run -A npm:@acme/six", "six", "[\"run\", \"-A\", \"npm:@acme/six\"]" },
        { "bunx seven-mcp", "seven", "[\"seven-mcp\"]" },
        { "pnpm dlx @acme/eight", "eight", "[\"dlx\", \"@acme/eight\"]" },
        { "yarn dlx @acme/nine", "nine", "[\"dlx\", \"-q\", \"@acme/nine\"]" },
        { "docker run mcp/ten", "ten", "[\"run\", \"-i\", \"--rm\", \"mcp/ten\"]" },
    };

    rig_begin();
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        add(cases[i].text);
        CHECK_STR(entry_of(cases[i].name, "args"), cases[i].args);
    }
    /* Options behind its words are the command's, also when a shell has split it. */
    CHECK_INT(RUN("add", "uv", "run", "--with", "mcp", "eleven.py", "--json"), 0);
    CHECK_STR(entry_of("eleven", "args"),
              "[\"run\", \"--with\", \"mcp\", \"eleven.py\", \"--json\"]");
    rig_end();
}

TEST(links_of_editors_are_read)
{
    rig_begin();
    /* {"command":"npx","args":["-y","@mcp/pg"]} */
    add("cursor://anysphere.cursor-deeplink/mcp/install?name=My%20DB&config="
        "eyJjb21tYW5kIjoibnB4IiwiYXJncyI6WyIteSIsIkBtY3AvcGciXX0=");
    CHECK_STR(entry_of("my-db", "args"), "[\"-y\", \"@mcp/pg\"]");
    /* {"pg":{"command":"cat"}}, without its padding */
    add("cursor://anysphere.cursor-deeplink/mcp/install?name=pg&config="
        "eyJwZyI6eyJjb21tYW5kIjoiY2F0In19");
    CHECK_STR(entry_of("pg", "command"), "cat");
    add("vscode:mcp/install?%7B%22name%22%3A%22fetch%22%2C%22command%22%3A%22cat%22%7D");
    CHECK_STR(entry_of("fetch", "command"), "cat");
    add("https://insiders.vscode.dev/redirect?url=vscode%3Amcp%2Finstall%3F%257B%2522name%2522%253A"
        "%2522far%2522%252C%2522url%2522%253A%2522https%253A%252F%252Fh%252Fmcp%2522%257D");
    CHECK_STR(entry_of("far", "url"), "https://h/mcp");
    rig_end();
}

TEST(tables_of_codex_are_read)
{
    rig_begin();
    add("# of Codex\nmodel = \"x\"\n\n[mcp_servers.ctx]\ncommand = \"npx\" # run\n"
        "args = [\"-y\",\n  '@upstash/context7-mcp']\nenv_vars = [\"HOME_KEY\"]\n"
        "tool_timeout_sec = 20\nstartup_timeout_sec = 5\n\n[mcp_servers.ctx.env]\nK = \"v\"\n\n"
        "[mcp_servers.\"Far Away\"]\nurl = \"https://far.example.com/mcp\"\nenabled = false\n"
        "bearer_token_env_var = \"TOK\"\nhttp_headers = { X = \"1\", \"Y-Z\" = \"2\" }\n"
        "env_http_headers = { Q = \"QV\" }\n");
    CHECK_STR(entry_of("ctx", "args"), "[\"-y\", \"@upstash/context7-mcp\"]");
    CHECK_STR(entry_of("ctx", "env.K"), "v");
    CHECK_STR(entry_of("ctx", "env.HOME_KEY"), "${HOME_KEY}");
    CHECK_STR(entry_of("ctx", "timeout_s"), "20");
    CHECK_STR(entry_of("far-away", "headers.Authorization"), "Bearer ${TOK}");
    CHECK_STR(entry_of("far-away", "headers.Y-Z"), "2");
    CHECK_STR(entry_of("far-away", "headers.Q"), "${QV}");
    CHECK_STR(entry_of("far-away", "enabled"), "false");
    rig_end();
}

TEST(json_of_any_client_is_read_with_options_beside_it)
{
    rig_begin();
    add("{\"mcpServers\":{\"a\":{\"command\":\"cat\"},\"b\":{\"url\":\"https://h/x\"}}}");
    CHECK_HAS(out, "Added a to ");
    CHECK_HAS(out, "Added b to ");
    add("{\"servers\":{\"c\":{\"type\":\"stdio\",\"command\":\"cat\"}}, // VS Code\n\"inputs\":[],}");
    add("\"d\": {\"command\": \"cat\"},");
    CHECK_STR(entry_of("d", "command"), "cat");
    CHECK_INT(RUN("add", "--name", "e", "-e", "K=new", "--lazy", "--cwd", "/srv",
                  "{\"command\":\"cat\",\"env\":{\"K\":\"old\",\"L\":\"1\"}}"),
              0);
    CHECK_STR(entry_of("e", "env.K"), "new");
    CHECK_STR(entry_of("e", "env.L"), "1");
    CHECK_STR(entry_of("e", "start"), "lazy");
    CHECK_STR(entry_of("e", "cwd"), "/srv");
    CHECK_INT(RUN("add", "f", "{\"url\":\"https://h/f\"}"), 0);
    CHECK_STR(entry_of("f", "url"), "https://h/f");

    CHECK_INT(RUN("add-json", "g", "{\"command\":\"cat\"}"), 0);
    CHECK_STR(entry_of("g", "command"), "cat");
    CHECK_STR(err, "Next: patchbay tools g\n");
    CHECK_INT(RUN("add-json", "-H", "X: y", "--json", "h", "{\"url\":\"https://h/h\"}"), 0);
    CHECK_STR(member("added.0.name"), "h");
    CHECK_STR(entry_of("h", "headers.X"), "y");
    CHECK_INT(RUN("add", "--json", "{\"i\":{\"command\":\"cat\"},\"j\":{\"command\":\"cat\"}}"), 0);
    CHECK_STR(member("added.0.name"), "i");
    CHECK_STR(member("added.1.name"), "j");
    rig_end();
}

#define HOW "NAME -- COMMAND, NAME URL, a URL, or a package as in 'npx -y @scope/name'"

TEST(what_is_not_understood_is_told_with_what_is_wanted)
{
    static const struct {
        const char *args[6], *says;
    } cases[] = {
        { { "add", "{\"command\":" },
          "the JSON is wrong: line 1, column 12: expected a value, but the text ends" },
        { { "add", "{\"a\":1}" },
          "no server is named here; expected a command such as 'npx -y @scope/name', a URL, or "
          "JSON such as {\"mcpServers\":{\"name\":{\"command\":…}}}" },
        { { "add", "--name", "x", "{\"a\":{\"command\":\"c\"},\"b\":{\"command\":\"c\"}}" },
          "2 servers are described here: a name, variables, headers and a directory are for one" },
        { { "add", "-e", "A=1", "{\"url\":\"https://h/\"}" },
          "-e is for commands: a server at a URL takes -H \"Name: value\"" },
        { { "add", "-H", "A: b", "{\"command\":\"c\"}" },
          "-H is for URLs: a command takes -e NAME=value" },
        { { "add", "-t", "http", "{\"command\":\"c\"}" },
          "--transport is for a URL or a command: this text says it" },
        { { "add", "my name", "{\"command\":\"c\"}" }, "'my-name' would be one" },
        { { "add-json", "x", "nope" },
          "expected NAME and '{\"command\":…}' or '{\"url\":…}', in quotes" },
        { { "add", "code --add-mcp nope" },
          "expected '{\"command\":…}' or '{\"url\":…}', in quotes" },
        { { "add", "[mcp_servers.x]\ncommand = 2024-01-01" },
          "this is TOML: line 2: expected a value: \"text\", 'text', a decimal number, true, false, "
          "[ … ] or { … }" },
        { { "add", "[other]\na = 1" },
          "this is TOML: it names no server; [mcp_servers.NAME] with command or url does" },
        { { "add", "[mcp_servers.x]\nargs = []" }, "this is TOML: mcpServers.x: expected " },
        { { "add", "cursor://anysphere.cursor-deeplink/mcp/install?name=x&config=@" },
          "this is a link for Cursor: its 'config' is no base64; was all of the link copied?" },
        { { "add", "cursor://anysphere.cursor-deeplink/mcp/install?name=x" },
          "this is a link for Cursor: it has no 'config'" },
        { { "add", "vscode:mcp/install?%7B%2" },
          "this is a link for VS Code: a '%' in it is not followed by two hexadecimal digits; was "
          "all of it copied?" },
        { { "add", "vscode:mcp/install?%7B" }, "this is a link for VS Code: the JSON is wrong: " },
        { { "add", "vscode:extension/x" },
          "this is a link for an editor, but none that installs a server: cursor://" },
        { { "add", "npx -y x && rm y" },
          "'&&' is for a shell, and none is run: one command at a time, or 'sh -c \"…\"' behind "
          "NAME --" },
        { { "add", "hello there friend" },
          "'hello' alone does not say what to run: 'npx -y hello' for an npm package, 'uvx hello' "
          "for a Python one, or " HOW },
        { { "add", "uv sync" }, "'uv' must be followed by 'run' and what it runs: uv run NAME" },
        { { "add", "pnpm dlx" }, "'pnpm' is told to run nothing: name a package" },
        { { "add", "claude mcp add --frob x -- y" }, "'--frob' is no option here" },
        { { "add", "claude mcp add x --client-id i --callback-port y https://h/" },
          "--callback-port is a number" },
        { { "add", "gemini mcp add x --timeout soon https://h/" },
          "--timeout is a number of milliseconds" },
        { { "add", "claude mcp add a -- x\nclaude mcp add a -- y" },
          "two servers are called 'a' here" },
    };

    rig_begin();
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        CHECK_INT(run_with(NULL, cases[i].args), 1);
        CHECK_HAS(err, cases[i].says);
        CHECK_STR(out, "");
        CHECK_STR(SAVED, "");
    }
    rig_end();
}

/* Of several all are added or none. */
TEST(one_name_that_is_taken_keeps_all_of_a_text_out)
{
    rig_begin();
    add("b -- cat");
    CHECK_INT(RUN("add", "{\"a\":{\"command\":\"cat\"},\"b\":{\"command\":\"cat\"}}"), 1);
    CHECK_HAS(err, "there is a server 'b' already, at ");
    CHECK_STR(entry("a"), "");
    CHECK_INT(RUN("add", "--force", "{\"a\":{\"command\":\"cat\"},\"b\":{\"command\":\"tac\"}}"),
              0);
    CHECK_STR(entry_of("b", "command"), "tac");
    rig_end();
}

TEST(a_command_that_is_not_in_path_is_saved_and_warned_of)
{
    rig_begin();
    setenv("PATH", in_home("bin"), 1);
    CHECK_INT(RUN("add", "t", "--", "uvx", "mcp-server-time"), 0);
    CHECK_STR(err, "patchbay: warning: 'uvx' is not in PATH; it is saved all the same: install uv, "
                   "which brings uvx\nNext: patchbay tools t\n");
    CHECK_STR(entry_of("t", "command"), "uvx");
    CHECK_INT(RUN("add", "u", "--", "./not/there"), 0);
    CHECK_STR(err, "patchbay: warning: there is no program './not/there'; it is saved all the "
                   "same\nNext: patchbay tools u\n");
    CHECK_INT(RUN("add", "v", "--", "${TOOLS}/v"), 0);
    CHECK_STR(err, "Next: patchbay tools v\n");
    CHECK_INT(RUN("add", "-e", "PATH=/bin:/usr/bin", "w", "--", "cat"), 0);
    CHECK_STR(err, "Next: patchbay tools w\n");
    rig_end();
}

TEST(names_are_short_and_give_way_to_those_that_are_there)
{
    static const struct {
        const char *text, *name;
    } cases[] = {
        { "npx -y @modelcontextprotocol/server-everything", "everything" },
        { "uvx mcp-server-fetch", "fetch" },
        { "npx -y @upstash/context7-mcp", "context7" },
        { "npx -y @github/mcp-server", "github-mcp-server" },
        { "http://127.0.0.1:8931/mcp", "local-8931" },
        { "npx -y @first/server-files", "files" },
        { "npx -y @acme/server-files", "acme-files" },
        { "npx -y @acme/server-files --other", "acme-files-2" },
        { "npx -y @acme/server-files --third", "acme-files-3" },
        { "uvx mcp-server-fetch --other", "fetch-2" },
        { "{\"command\":\"npx\",\"args\":[\"-y\",\"@other/files\"]}", "other-files" },
    };
    char path[512];

    rig_begin();
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        add(cases[i].text);
        if (!strlen(entry(cases[i].name)))
            TAP_FAIL("%s is not called %s: %s", cases[i].text, cases[i].name, out);
    }
    /* The very same is not wanted twice. */
    CHECK_INT(RUN("add", "npx -y @first/server-files"), 1);
    CHECK_HAS(err, "there is a server 'files' already, at ");
    CHECK_INT(RUN("add", "--force", "npx -y @acme/server-files"), 0);
    CHECK_STR(entry_of("files", "args"), "[\"-y\", \"@acme/server-files\"]");

    /* A script is called after the directory that holds it. */
    CHECK_INT(mkdir(in_home("weather-mcp"), 0700), 0);
    snprintf(path, sizeof path, "%s", in_home("weather-mcp"));
    setenv("PATCHBAY_HOME", home, 1);
    home = path;
    CHECK_INT(RUN("add", "node", "./dist/index.js"), 0);
    CHECK_HAS(out, "Added weather to ");
    home = getenv("PATCHBAY_HOME");
    rig_end();
}

/* The daemon runs somewhere else. */
TEST(a_relative_file_is_found_where_it_was_when_it_was_added)
{
    rig_begin();
    temp_file("notes.py", "");
    CHECK_INT(mkdir(in_home("dist"), 0700), 0);
    temp_file("dist/index.js", "");
    CHECK_INT(RUN("add", "a", "--", "node", "./dist/index.js"), 0);
    CHECK_STR(entry_of("a", "cwd"), home);
    CHECK_HAS(out, "  directory  ");
    add("python notes.py --x");
    CHECK_STR(entry_of("notes", "cwd"), home);
    add("{\"c\":{\"command\":\"node\",\"args\":[\"dist/index.js\"]}}");
    CHECK_STR(entry_of("c", "cwd"), home);
    CHECK_INT(RUN("add", "d", "--", "./notes.py"), 0);
    CHECK_STR(entry_of("d", "cwd"), home);
    CHECK_INT(RUN("add", "e", "--", "files-server", "."), 0);
    CHECK_STR(entry_of("e", "cwd"), home);

    /* The very same is not wanted twice, though it names itself. */
    CHECK_INT(RUN("add", "python notes.py --x"), 1);
    CHECK_HAS(err, "there is a server 'notes' already, at ");

    CHECK_INT(RUN("add", "--cwd", "/srv", "f", "--", "node", "./dist/index.js"), 0);
    CHECK_STR(entry_of("f", "cwd"), "/srv");
    CHECK_INT(RUN("add", "g", "--", "node", "./not/there.js", "dist"), 0);
    CHECK_STR(entry_of("g", "cwd"), "");
    CHECK_INT(RUN("add", "h", "--", "node", in_home("notes.py")), 0);
    CHECK_STR(entry_of("h", "cwd"), "");
    /* In a project's own file relative is right. */
    CHECK_INT(RUN("add", "-s", "project", "i", "--", "node", "./dist/index.js"), 0);
    add("claude mcp add -s project j -- node ./dist/index.js");
    CHECK_HAS(file_text(".mcp.json"), "\"j\"");
    CHECK(strstr(file_text(".mcp.json"), "cwd") == NULL);
    CHECK_INT(RUN("add", "-s", "user", "claude mcp add -s project k -- node ./dist/index.js"), 0);
    CHECK_STR(entry_of("k", "cwd"), home);
    rig_end();
}

TEST(no_secret_of_a_command_line_is_printed)
{
    static const struct {
        const char *args[8];
        int status;
    } cases[] = {
        { { "add", "a", "TOKEN=SEKRET", "npx", "foo" }, 0 },
        { { "add", "b", "--", "TOKEN=SEKRET", "npx", "foo" }, 0 },
        { { "add", "--name", "c", "TOKEN=SEKRET", "npx", "foo" }, 0 },
        { { "add", "TOKEN=SEKRET", "env", "B=SEKRET", "npx", "-y", "foo" }, 0 },
        { { "add", "claude mcp add -eTOKEN=SEKRET d -- y" }, 0 },
        { { "add", "TOKEN=SEKRET" }, 1 },
        { { "add", "e", "https://h/m", "SEKRET" }, 1 },
        { { "add", "https://h/m SEKRET" }, 1 },
        { { "add", "claude mcp add --tokn=SEKRET x -- y" }, 1 },
        { { "add", "--tokn=SEKRET", "x", "--", "y" }, 1 },
        { { "add", "TOKEN=SEKRET", "x", "--", "y" }, 1 },
    };

    rig_begin();
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        CHECK_INT(run_with(NULL, cases[i].args), cases[i].status);
        if (strstr(out, "SEKRET") || strstr(err, "SEKRET"))
            TAP_FAIL("case %zu: %s%s", i, out, err);
    }
    CHECK_STR(entry_of("a", "env.TOKEN"), "SEKRET");
    CHECK_STR(entry_of("a", "command"), "npx");
    CHECK_STR(entry_of("b", "env.TOKEN"), "SEKRET");
    CHECK_STR(entry_of("c", "env.TOKEN"), "SEKRET");
    CHECK_STR(entry_of("foo", "env.TOKEN"), "SEKRET");
    CHECK_STR(entry_of("foo", "env.B"), "SEKRET");
    CHECK_STR(entry_of("d", "env.TOKEN"), "SEKRET");
    rig_end();
}

TEST(what_is_pasted_does_not_move_the_terminal)
{
    rig_begin();
    add("{\"a\":{\"command\":\"x\\u001b[2J\",\"args\":[\"\\u0007\"],\"cwd\":\"\\u001b]0;t\"}}");
    CHECK_HAS(out, "Added a to ");
    for (const char *p = out; *p; p++)
        CHECK((unsigned char)*p >= ' ' || *p == '\n');
    rig_end();
}

TEST(a_config_stays_readable_whatever_is_added)
{
    AUTO_BUF struct buf text = { 0 };

    rig_begin();
    buf_str(&text, "gemini mcp add x https://h/ --include-tools a");
    for (int i = 1; i < 1100; i++)
        buf_str(&text, ",a");
    CHECK_INT(RUN("add", buf_cstr(&text)), 1);
    CHECK_HAS(err, "more than 1024 tools are named");
    CHECK_STR(SAVED, "");
    CHECK_INT(RUN("add", "https://h/@owner"), 0);
    CHECK_HAS(out, "Added h to ");
    rig_end();
}

TEST(every_spelling_of_a_tool_is_read_and_one_is_printed)
{
    static const char *const spellings[] = { "ex.echo", "ex/echo", "ex:echo", "ex__echo" };

    rig_begin();
    rig_config("\"ex\":" EXAMPLE ",\"e__x\":" EXAMPLE);
    for (size_t i = 0; i < ARRAY_LEN(spellings); i++) {
        CHECK_INT(RUN("disable", spellings[i]), 0);
        CHECK_STR(out, "Disabled ex.echo\n");
        CHECK_INT(RUN("call", spellings[i], "text=hi"), 1);
        CHECK_INT(RUN("enable", spellings[i]), 0);
        CHECK_STR(out, "Enabled ex.echo\n");
        CHECK_INT(RUN("call", spellings[i], "text=hi"), 0);
        CHECK_STR(out, "hi\n");
    }
    CHECK_INT(RUN("disable", "e__x__echo"), 0);
    CHECK_STR(out, "Disabled e__x.echo\n");
    CHECK_INT(RUN("disable", "e__x"), 0);
    CHECK_STR(out, "Disabled e__x\n");
    CHECK_INT(RUN("disable", "nix/echo"), 1);
    CHECK_HAS(err, "there is no server 'nix' in ");
    CHECK_INT(RUN("call", "ex__ech", "text=1"), 1);
    CHECK_STR(err, "patchbay: there is no tool 'ex__ech'; did you mean 'ex.echo'?\n");
    rig_end();
}
