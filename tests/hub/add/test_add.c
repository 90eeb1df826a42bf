/* What people type to add a server, read as they mean it. */
#include "hub/add/add.h"
#include "hub/spec/spec.h"
#include "tap.h"

enum { WORDS = 12 };

static struct spec *added(const struct add_request *r)
{
    struct spec *s = NULL;
    struct pb_error err;

    if (add_parse(&s, r, &err) < 0)
        TAP_FAIL("refused: %s", err.msg);
    return s;
}

static const char *refused(const struct add_request *r)
{
    static struct pb_error err;
    struct spec *s = NULL;

    CHECK(add_parse(&s, r, &err) < 0);
    CHECK(s == NULL);
    return err.msg;
}

/* One text, as "patchbay add" gets it. */
static int parse_text(struct spec **out, const char *text, struct pb_error *err)
{
    return add_parse(out, &(struct add_request){ .words = (const char *const[]){ text, NULL } },
                     err);
}

/* The command line in brackets, word by word, or the URL. */
static const char *reach(const struct spec *s)
{
    static struct buf out;

    out.n = 0;
    if (s->url)
        buf_printf(&out, "%s %s%s", spec_transport_name(s->transport), s->url,
                   s->guess_sse ? " or sse" : "");
    else {
        buf_printf(&out, "[%s]", s->command);
        for (const char *const *a = s->args; *a; a++)
            buf_printf(&out, "[%s]", *a);
    }
    return buf_cstr(&out);
}

/* What a text describes that is pasted; it is one server. */
static struct spec *pasted(const char *text, const struct add_request *beside)
{
    AUTO(config) struct config *c = NULL;
    struct map_slot *slot;
    struct spec *s = NULL;
    struct pb_error err;

    if (add_paste(&c, text, beside, &err) < 0)
        TAP_FAIL("%.80s: %s", text, err.msg);
    CHECK_INT(c->specs.n, 1);
    MAP_FOREACH(slot, &c->specs)
        s = spec_ref(slot->value);
    return s;
}

static const char *paste_refused(const char *text)
{
    static struct pb_error err;
    AUTO(config) struct config *c = NULL;

    if (add_paste(&c, text, NULL, &err) == 0)
        TAP_FAIL("this was taken: %.80s", text);
    CHECK(c == NULL);
    return err.msg;
}

/* S1-73 */
TEST(an_npx_line_is_an_npm_package_with_its_hint)
{
    AUTO(spec) struct spec *s = NULL;
    struct pb_error err;

    CHECK_INT(parse_text(&s, "npx -y @github/mcp-server", &err), 0);
    CHECK_INT(s->package, SPEC_PACKAGE_NPM);
    CHECK_STR(s->package_id, "@github/mcp-server");
    CHECK_STR(s->runtime_hint, "npx");
    CHECK_STR(reach(s), "[npx][-y][@github/mcp-server]");
}

/* S1-74 */
TEST(a_docker_line_is_an_image_that_is_run_so_that_it_can_serve)
{
    AUTO(spec) struct spec *s = NULL;
    struct pb_error err;

    CHECK_INT(parse_text(&s, "docker run ghcr.io/owner/server", &err), 0);
    CHECK_INT(s->package, SPEC_PACKAGE_DOCKER);
    CHECK_STR(s->package_id, "ghcr.io/owner/server");
    CHECK(s->runtime_hint == NULL);
    CHECK_STR(reach(s), "[docker][run][-i][--rm][ghcr.io/owner/server]");
}

/* S1-75 */
TEST(a_url_is_an_http_server)
{
    AUTO(spec) struct spec *s = NULL;
    struct pb_error err;

    CHECK_INT(parse_text(&s, "https://server.smithery.ai/mcp", &err), 0);
    CHECK_INT(s->package, SPEC_PACKAGE_HTTP);
    CHECK_INT(s->transport, SPEC_HTTP);
    CHECK_STR(s->url, "https://server.smithery.ai/mcp");
    CHECK_STR(s->package_id, "https://server.smithery.ai/mcp");
}

/* S1-76 */
TEST(a_word_that_says_nothing_is_refused_with_what_would_be_right)
{
    struct spec *s = NULL;
    struct pb_error err;

    CHECK_INT(parse_text(&s, "invalid", &err), -PB_E_INVALID);
    CHECK(s == NULL);
    CHECK_HAS(err.msg, "'invalid' alone does not say what to run: 'npx -y invalid'");
}

/* S1-84 */
TEST(without_a_name_the_server_names_itself)
{
    static const struct {
        const char *text, *name;
    } cases[] = {
        { "npx -y @github/mcp-server", "github-mcp-server" },
        { "@github/mcp-server", "github-mcp-server" },
        { "npx -y @github/mcp-server@1.2.3 --read-only", "github-mcp-server" },
        { "npx -y -p @acme/tools acme-mcp", "tools" },
        { "npx --package=@acme/tools acme-mcp", "tools" },
        { "bunx firecrawl-mcp", "firecrawl" },
        { "uvx mcp-server-git --repository /x", "git" },
        { "uvx --from git+https://x/y mcp-thing", "thing" },
        { "uvx 'mcp-server-fetch[extra]==1.0'", "fetch" },
        { "docker run ghcr.io/owner/server", "owner-server" },
        { "docker run -e A -v /x:/y localhost:5000/mcp/time:1.2", "time" },
        { "docker run mcp/time@sha256:0123", "time" },
        { "node /opt/weather/build/index.js", "weather" },
        { "python -m my_pkg.server", "my_pkg" },
        { "python3 tools/notes.py", "notes" },
        { "/usr/local/bin/my-server --stdio", "my" },
        { "./run", "run" },
        { "https://mcp.linear.app/mcp", "linear" },
        { "https://server.smithery.ai/mcp", "smithery" },
        { "https://server.smithery.ai/@owner/tool/mcp?api_key=1", "tool" },
        { "https://host/@owner", "host" },
        { "https://x.com/@", "x" },
        { "https://x.com/@owner/", "x" },
        { "https://x.com/@owner?a=/b", "x" },
        { "https://x.com/@/name", "x" },
        { "https://app.corridor.dev/api/mcp", "corridor" },
        { "https://mcp.example.co.uk/", "example" },
        { "https://weather.fly.dev/sse", "weather" },
        { "http://localhost:3000/mcp", "local-3000" },
        { "http://127.0.0.1:8931/mcp", "local-8931" },
        { "http://[::1]:80/mcp", "local-80" },
        { "https://localhost/mcp", "local" },
        { "http://10.0.0.7:3000/mcp", "10-0-0-7" },
        { "https://user:pw@mcp.example.com", "example" },
        { "https://mcp.dev", "mcp-dev" },
        { "npx -y @modelcontextprotocol/server-everything", "everything" },
        { "npx -y @modelcontextprotocol/server-everything@2.0", "everything" },
        { "npx -y @upstash/context7-mcp@latest", "context7" },
        { "npx -y @playwright/mcp@latest", "playwright-mcp" },
        { "npx -y mcp-server", "mcp-server" },
        { "npx -y @acme/server-files", "files" },
        { "npx -y my-mcp-server-of-mine", "my-mcp-server-of-mine" },
        { "npx -y github:owner/notes-mcp", "notes" },
        { "pnpm dlx @acme/notes-mcp", "notes" },
        { "yarn dlx -q @acme/notes-mcp", "notes" },
        { "npm exec -y -- @acme/notes-mcp", "notes" },
        { "bun x notes-mcp", "notes" },
        { "bun run src/index.ts", "index" },
        { "pipx run mcp-server-time", "time" },
        { "pipx run --spec git+https://h/x notes", "notes" },
        { "uv tool run mcp-server-time", "time" },
        { "uv run notes.py", "notes" },
        { "uv --directory /opt/weather run server.py", "weather" },
        { "uv run --directory /opt/weather-mcp server.py", "weather" },
        { "uv run --with mcp[cli] mcp run notes.py", "notes" },
        { "uv run python -m mcp_server_time", "time" },
        { "uvx --from git+https://h/o/r notes-mcp", "notes" },
        { "uvx git+https://github.com/o/mcp-notes.git@main", "notes" },
        { "deno run -A npm:@acme/notes-mcp@1", "notes" },
        { "deno run --allow-net jsr:@acme/notes", "notes" },
        { "deno run -A https://deno.land/x/notes/mod.ts", "notes" },
        { "docker run -i --rm ghcr.io/github/github-mcp-server", "github" },
        { "sudo docker run mcp/time", "time" },
        { "sudo -n -u me LEVEL=3 npx @acme/notes-mcp", "notes" },
        { "sudo /opt/weather-mcp", "weather" },
        { "npx -y notes-mcp # my server", "notes" },
        { "LEVEL=3 npx -y notes-mcp", "notes" },
        { "env LEVEL=3 /opt/weather-mcp", "weather" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct spec *s = NULL;
        struct pb_error err;

        if (parse_text(&s, cases[i].text, &err) < 0)
            TAP_FAIL("%s: %s", cases[i].text, err.msg);
        CHECK_STR(s->name, cases[i].name);
        spec_unref(s);
    }
}

TEST(names_and_commands_are_told_apart_as_claude_does)
{
    static const struct {
        const char *words[WORDS], *command[WORDS], *name, *reach;
    } cases[] = {
        { { "fs" }, { "npx", "-y", "@x/fs", "/tmp" }, "fs", "[npx][-y][@x/fs][/tmp]" },
        { { "fs", "npx", "-y", "@x/fs" }, { NULL }, "fs", "[npx][-y][@x/fs]" },
        { { "fs", "npx" }, { "-y", "@x/fs" }, "fs", "[npx][-y][@x/fs]" },
        { { NULL }, { "fs", "echo", "hello" }, "fs", "[echo][hello]" },
        { { NULL }, { "npx", "@x/fs" }, "fs", "[npx][-y][@x/fs]" },
        { { "npx" }, { "npx", "-y", "@x/fs" }, "npx", "[npx][-y][@x/fs]" },
        { { "npx", "@x/fs", "/tmp" }, { NULL }, "fs", "[npx][-y][@x/fs][/tmp]" },
        { { "npx", "--yes", "@x/fs" }, { NULL }, "fs", "[npx][--yes][@x/fs]" },
        { { "uvx", "mcp-git" }, { NULL }, "git", "[uvx][mcp-git]" },
        { { "node", "server.js" }, { NULL }, "server", "[node][server.js]" },
        { { "@x/fs", "/tmp" }, { NULL }, "fs", "[npx][-y][@x/fs][/tmp]" },
        { { "./srv", "--fast" }, { NULL }, "srv", "[./srv][--fast]" },
        { { "fs", "npx -y '@x/fs' \"a b\"" }, { NULL }, "fs", "[npx][-y][@x/fs][a b]" },
        { { "docker", "run", "-it", "--rm", "img" },
          { NULL },
          "img",
          "[docker][run][-it][--rm][img]" },
        { { "a", "docker", "run", "img" }, { NULL }, "a", "[docker][run][img]" },
        { { "linear", "https://mcp.linear.app/mcp" },
          { NULL },
          "linear",
          "http https://mcp.linear.app/mcp or sse" },
        { { "node", "https://h/mcp" }, { NULL }, "node", "http https://h/mcp or sse" },
        { { "u" }, { "https://h/mcp" }, "u", "http https://h/mcp or sse" },
        { { "u", "HTTPS://H/Mcp" }, { NULL }, "u", "http https://H/Mcp or sse" },
        { { "sudo", "docker", "run", "img" },
          { NULL },
          "img",
          "[sudo][docker][run][-i][--rm][img]" },
        { { "sudo -n npx @x/fs" }, { NULL }, "fs", "[sudo][-n][npx][-y][@x/fs]" },
        { { "sudo" }, { "docker", "run", "img" }, "sudo", "[docker][run][img]" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct add_request r = { .words = cases[i].words,
                                 .command = cases[i].command[0] ? cases[i].command : NULL };
        AUTO(spec) struct spec *s = added(&r);

        CHECK_STR(s->name, cases[i].name);
        CHECK_STR(reach(s), cases[i].reach);
    }
}

TEST(options_reach_the_spec)
{
    struct add_request r = {
        .words = (const char *const[]){ "npx", "@x/fs", NULL },
        .name = "mine",
        .transport = "stdio",
        .env = (const char *const[]){ "A=1", "B=x=y", NULL },
        .cwd = "/srv",
        .lazy = true,
    };
    AUTO(spec) struct spec *s = added(&r);

    CHECK_STR(s->name, "mine");
    CHECK_STR(reach(s), "[npx][-y][@x/fs]");
    CHECK_STR(s->env[0], "A=1");
    CHECK_STR(s->env[1], "B=x=y");
    CHECK(s->env[2] == NULL);
    CHECK_STR(s->cwd, "/srv");
    CHECK_INT(s->start, SPEC_LAZY);
    CHECK(s->enabled);
}

TEST(a_name_that_is_given_as_an_option_leaves_all_words_to_the_command)
{
    static const struct {
        const char *words[4], *command[4], *reach;
    } cases[] = {
        { { "cmd" }, { NULL }, "[cmd]" },
        { { "cmd", "arg" }, { NULL }, "[cmd][arg]" },
        { { NULL }, { "npx", "x" }, "[npx][x]" },
        { { "@x/fs" }, { NULL }, "[npx][-y][@x/fs]" },
        { { "docker run img" }, { NULL }, "[docker][run][-i][--rm][img]" },
        { { "https://h/" }, { NULL }, "http https://h/ or sse" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct add_request r = { .words = cases[i].words,
                                 .command = cases[i].command[0] ? cases[i].command : NULL,
                                 .name = "n" };
        AUTO(spec) struct spec *s = added(&r);

        CHECK_STR(s->name, "n");
        CHECK_STR(reach(s), cases[i].reach);
    }
}

TEST(headers_get_one_spelling_and_transports_are_taken_as_said)
{
    struct add_request r = {
        .words = (const char *const[]){ "a", "https://h/mcp", NULL },
        .transport = "http",
        .headers = (const char *const[]){ "X-Key:abc", "Authorization:  Bearer t ", NULL },
    };
    AUTO(spec) struct spec *s = added(&r);
    AUTO(spec) struct spec *old = NULL;

    CHECK_STR(s->headers[0], "X-Key: abc");
    CHECK_STR(s->headers[1], "Authorization: Bearer t");
    CHECK(!s->guess_sse);
    r.transport = "sse";
    old = added(&r);
    CHECK_STR(reach(old), "sse https://h/mcp");
}

TEST(a_container_is_told_each_variable)
{
    struct add_request r = {
        .words = (const char *const[]){ "docker run img arg", NULL },
        .env = (const char *const[]){ "TOKEN=t", "B=2", NULL },
    };
    AUTO(spec) struct spec *s = added(&r);

    CHECK_STR(reach(s), "[docker][run][-i][--rm][-e][TOKEN][-e][B][img][arg]");
    CHECK_STR(s->env[0], "TOKEN=t");
}

TEST(the_kind_of_login_is_seen_from_names)
{
    static const struct {
        const char *env[4], *header;
        enum spec_auth auth;
    } cases[] = {
        { { "GITHUB_TOKEN=x" }, NULL, SPEC_AUTH_API_KEY },
        { { "OPENAI_API_KEY=x" }, NULL, SPEC_AUTH_API_KEY },
        { { "DB_PASSWORD=x" }, NULL, SPEC_AUTH_API_KEY },
        { { "GITHUB_PAT=x" }, NULL, SPEC_AUTH_API_KEY },
        { { "CLIENT_ID=a", "CLIENT_SECRET=b" }, NULL, SPEC_AUTH_OAUTH },
        { { "LOG_LEVEL=x", "KEYBOARD=de", "PATTERN=a" }, NULL, SPEC_AUTH_NONE },
        { { NULL }, "Authorization: Bearer x", SPEC_AUTH_API_KEY },
        { { NULL }, "x-api-key: x", SPEC_AUTH_API_KEY },
        { { NULL }, "X-Region: eu", SPEC_AUTH_NONE },
    };
    AUTO(spec) struct spec *docker = NULL;
    struct pb_error err;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        const char *headers[] = { cases[i].header, NULL };
        const char *const words[] = { "a", cases[i].header ? "https://h/" : "cmd", NULL };
        struct add_request r = { .words = words, .env = cases[i].env, .headers = headers };
        AUTO(spec) struct spec *s = added(&r);

        CHECK_INT(s->auth, cases[i].auth);
    }
    CHECK_INT(parse_text(&docker, "docker run -e API_TOKEN img", &err), 0);
    CHECK_INT(docker->auth, SPEC_AUTH_API_KEY);
}

TEST(nonsense_is_refused_with_a_reason)
{
    static const char *const env[] = { "A=1", NULL }, *const no_value[] = { "sk-123456", NULL },
                             *const bad_env[] = { "1A=x", NULL },
                             *const header[] = { "A: b", NULL },
                             *const bad_header[] = { "nothing", NULL },
                             *const split[] = { "A: b\r\nC: d", NULL };
    static const struct {
        struct add_request r;
        const char *words[4], *says;
    } cases[] = {
        { { 0 }, { NULL }, "what is to be added? NAME -- COMMAND, NAME URL" },
        { { 0 }, { "  " }, "what is to be added?" },
        { { 0 }, { "npx" }, "'npx' is told to run nothing: name a package" },
        { { 0 }, { "npx -y" }, "'npx' is told to run nothing" },
        { { 0 }, { "docker ps" }, "'docker' must be followed by 'run' and an image" },
        { { 0 }, { "docker run -i" }, "name an image, as in 'docker run mcp/time'" },
        { { 0 }, { "mcp.linear.app/mcp" }, "'https://mcp.linear.app/mcp' would be a URL" },
        { { 0 }, { "npx 'x" }, "a quote is not closed" },
        { { 0 }, { "ftp://h/x" }, "a URL begins with http:// or https://" },
        { { 0 }, { "https:///mcp" }, "the URL names no host" },
        { { 0 }, { "https://:80/" }, "the URL names no host" },
        { { 0 }, { "https://h/a\tb", "x" }, "nothing may follow a URL but options" },
        { { 0 }, { "a", "https://h/a b" }, "no spaces" },
        { { 0 }, { "a", "https://h/", "b" }, "nothing may follow a URL" },
        { { 0 }, { "My Server!", "cmd" }, "; 'my-server' would be one" },
        { { 0 }, { "K=secret", "cmd" }, "'K=…' is no name: each variable has its own -e" },
        { { .name = "a b" }, { "https://h/" }, "; 'a-b' would be one" },
        { { 0 }, { "a", "" }, "the command is empty" },
        { { .transport = "http" }, { "a", "npx", "b" }, "transport 'http' needs a URL" },
        { { .transport = "stdio" }, { "a", "https://h/" }, "'stdio' is for commands" },
        { { .transport = "tcp" }, { "a", "b" }, "--transport is 'stdio', 'sse' or 'http'" },
        { { .env = env }, { "a", "https://h/" }, "-e is for commands" },
        { { .cwd = "/" }, { "a", "https://h/" }, "--cwd is for commands" },
        { { .cwd = "" }, { "a", "b" }, "--cwd takes a directory, and this one has no name" },
        { { 0 }, { "a", "A=1", "https://h/" }, "-e is for commands" },
        { { 0 }, { "a", "A=1" }, "the command is empty" },
        { { 0 }, { "sudo" }, "'sudo' is told to run nothing" },
        { { 0 }, { "sudo docker ps" }, "'docker' must be followed by 'run' and an image" },
        { { .headers = header }, { "a", "b" }, "-H is for URLs" },
        { { .env = no_value }, { "a", "b" }, "-e takes NAME=value, and a word has no '='" },
        { { .env = bad_env }, { "a", "b" }, "a name has only letters" },
        { { .headers = bad_header }, { "a", "https://h/" }, "-H takes \"Name: value\"" },
        { { .headers = split }, { "a", "https://h/" }, "holds a control character" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct add_request r = cases[i].r;

        r.words = cases[i].words;
        CHECK_HAS(refused(&r), cases[i].says);
    }
}

TEST(what_may_be_a_secret_is_not_repeated)
{
    struct add_request r = {
        .words = (const char *const[]){ "a", "b", NULL },
        .env = (const char *const[]){ "sk-123456", NULL },
    };

    CHECK(strstr(refused(&r), "sk-") == NULL);
    r.words = (const char *const[]){ "KEY=sk-123456", "b", NULL };
    r.env = NULL;
    CHECK(strstr(refused(&r), "sk-") == NULL);
    r.words = (const char *const[]){ "KEY=sk-123456", NULL };
    CHECK_HAS(refused(&r), "'KEY' alone does not say what to run");
    CHECK(strstr(refused(&r), "sk-") == NULL);
    r.words = (const char *const[]){ "KEY=sk-1.2/3", NULL };
    CHECK(strstr(refused(&r), "sk-") == NULL);
    r.words = (const char *const[]){ "a", "https://h/m", "sk-123456", NULL };
    CHECK(strstr(refused(&r), "sk-") == NULL);
    CHECK(strstr(paste_refused("https://h/m sk-123456"), "sk-") == NULL);
    CHECK_HAS(paste_refused("claude mcp add --tokn=sk-123456 x -- y"), "'--tokn' is no option");
    CHECK(strstr(paste_refused("claude mcp add --tokn=sk-123456 x -- y"), "sk-") == NULL);
}

/* As a shell does. */
TEST(assignments_before_a_command_are_its_variables)
{
    static const struct {
        const char *words[6], *command[6], *name;
    } cases[] = {
        { { "x", "TOKEN=s", "npx", "foo" }, { NULL }, NULL },
        { { "x" }, { "TOKEN=s", "npx", "foo" }, NULL },
        { { "TOKEN=s", "npx", "foo" }, { NULL }, "x" },
        { { NULL }, { "TOKEN=s", "npx", "foo" }, "x" },
        { { "TOKEN=s", "npx", "foo" }, { NULL }, NULL },
        { { "x", "env", "TOKEN=s", "npx", "foo" }, { NULL }, NULL },
        { { "x", "TOKEN=s npx foo" }, { NULL }, NULL },
        { { "x" }, { "TOKEN=old", "/usr/bin/env", "TOKEN=s", "npx", "foo" }, NULL },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct add_request r = { .words = cases[i].words,
                                 .command = cases[i].command[0] ? cases[i].command : NULL,
                                 .name = cases[i].name };
        AUTO(spec) struct spec *s = added(&r);

        CHECK_STR(s->command, "npx");
        CHECK_STR(s->env[0], "TOKEN=s");
        CHECK(s->env[1] == NULL);
        CHECK_INT(s->auth, SPEC_AUTH_API_KEY);
    }
}

TEST(variables_given_as_options_go_before_assignments)
{
    struct add_request r = {
        .words = (const char *const[]){ "A=1", "B=2", "docker", "run", "img", NULL },
        .env = (const char *const[]){ "B=3", NULL },
    };
    AUTO(spec) struct spec *s = added(&r);

    CHECK_STR(s->env[0], "A=1");
    CHECK_STR(s->env[1], "B=3");
    CHECK(s->env[2] == NULL);
    CHECK_STR(reach(s), "[docker][run][-i][--rm][-e][A][-e][B][img]");
}

TEST(options_of_one_letter_may_have_their_value_in_the_same_word)
{
    AUTO(spec) struct spec *command = pasted("claude mcp add -eTOKEN=s -e=A=1 x -- y", NULL);
    AUTO(spec) struct spec *url = pasted("claude mcp add -thttp -H'X: y' x https://h/", NULL);

    CHECK_STR(command->env[0], "TOKEN=s");
    CHECK_STR(command->env[1], "A=1");
    CHECK_STR(url->headers[0], "X: y");
    CHECK_STR(reach(url), "http https://h/");
}

TEST(a_url_that_begins_with_a_variable_is_named_by_it)
{
    AUTO(spec) struct spec *s = pasted("{\"url\":\"${BASE}/mcp\"}", NULL);
    AUTO(spec) struct spec *at = pasted("{\"url\":\"${BASE}/@owner\"}", NULL);
    AUTO(spec) struct spec *owner = pasted("{\"url\":\"https://x.com/@owner\"}", NULL);

    CHECK_STR(s->name, "base");
    CHECK_STR(at->name, "base");
    CHECK_STR(owner->name, "x");
}

/* ---- what only a shell can do ---- */

TEST(what_a_shell_would_do_is_refused_unless_it_is_quoted)
{
    static const struct {
        const char *text, *mark;
    } cases[] = {
        { "npx foo; ls", "';'" },
        { "npx foo 2>&1", "'>'" },
        { "npx foo >log", "'>'" },
        { "npx foo >> log", "'>>'" },
        { "npx foo|tee x", "'|'" },
        { "npx foo&", "'&'" },
        { "npx foo && ls", "'&&'" },
        { "npx foo||ls", "'||'" },
        { "npx foo < in", "'<'" },
        { "x -- npx foo ; ls", "';'" },
        { "claude mcp add x -- a;b", "';'" },
    };
    static const struct {
        const char *text, *reach;
    } good[] = {
        { "npx foo 'a;b' \"c&&d\" e\\|f", "[npx][-y][foo][a;b][c&&d][e|f]" },
        { "x -- sh -c 'a | b > c'", "[sh][-c][a | b > c]" },
        { "uvx mcp-server-fetch>=1.0", "[uvx][mcp-server-fetch>=1.0]" },
        { "npx foo --key=<your-key>", "[npx][-y][foo][--key=<your-key>]" },
        { "npx foo --url=https://h/?a=1&b=2", "[npx][-y][foo][--url=https://h/?a=1&b=2]" },
        { "https://h/mcp?a=1&b=2;c", "http https://h/mcp?a=1&b=2;c or sse" },
        { "npx foo a#b # my; server", "[npx][-y][foo][a#b]" },
        { "npx foo # one\n  bar '#' \\# # two", "[npx][-y][foo][bar][#][#]" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        CHECK_HAS(paste_refused(cases[i].text), cases[i].mark);
        CHECK_HAS(paste_refused(cases[i].text), " is for a shell, and none is run");
    }
    for (size_t i = 0; i < ARRAY_LEN(good); i++) {
        AUTO(spec) struct spec *s = pasted(good[i].text, NULL);

        CHECK_STR(reach(s), good[i].reach);
    }
}

TEST(a_comment_in_json_ends_where_it_ends)
{
    AUTO(spec) struct spec *s = pasted("{/*/ c */\"x\":{\"command\":\"y\"}/**/}//", NULL);

    CHECK_STR(s->name, "x");
    CHECK_STR(reach(s), "[y]");
}

TEST(options_for_a_login_are_for_urls_and_ports_are_ports)
{
    AUTO(spec) struct spec *s = pasted("claude mcp add x --callback-port 65535 https://h/", NULL);

    CHECK_STR(s->oauth, "{\"callbackPort\":65535}");
    CHECK_HAS(paste_refused("claude mcp add x --callback-port 99999 https://h/"),
              "--callback-port is a number from 1 to 65535");
    CHECK_HAS(paste_refused("claude mcp add x --callback-port 65536 https://h/"),
              "--callback-port is a number from 1 to 65535");
    CHECK_HAS(paste_refused("claude mcp add --callback-port 80 x -- y"),
              "--client-id and --callback-port are for URLs");
    CHECK_HAS(paste_refused("claude mcp add --client-id i x -- y"),
              "--client-id and --callback-port are for URLs");
}

/* ---- bounds ---- */

static const char *with_tools(size_t n)
{
    static struct buf text;

    text.n = 0;
    buf_str(&text, "gemini mcp add x --include-tools a");
    for (size_t i = 1; i < n; i++)
        buf_str(&text, ",b");
    buf_str(&text, " https://h/");
    return buf_cstr(&text);
}

TEST(what_is_added_can_be_read_again)
{
    AUTO(spec) struct spec *s = pasted(with_tools(SPEC_WORDS_MAX), NULL);
    AUTO_BUF struct buf text = { 0 };

    CHECK_STR(s->enabled_tools[SPEC_WORDS_MAX - 1], "b");
    CHECK_HAS(paste_refused(with_tools(SPEC_WORDS_MAX + 1)), "more than 1024 tools are named");
    CHECK_HAS(paste_refused(with_tools(10 * SPEC_WORDS_MAX)), "more than 1024 tools are named");
    /* The same of all else that a file may not have. */
    buf_str(&text, "x -- ");
    for (size_t i = 0; i <= CONFIG_VALUE_MAX; i++)
        buf_byte(&text, 'y');
    CHECK_HAS(paste_refused(buf_cstr(&text)), "'x' could not be read again: ");
    CHECK_HAS(paste_refused(buf_cstr(&text)), "longer than");
}

TEST(a_text_describes_a_bounded_number_of_servers)
{
    AUTO_BUF struct buf text = { 0 };

    for (size_t i = 0; i <= HUB_SERVERS_MAX; i++)
        buf_printf(&text, "patchbay add s%zu -- x\n", i);
    CHECK_HAS(paste_refused(buf_cstr(&text)), "more than 10000 servers");
}

/* A table of Codex with so many of both. */
static const char *with_env(size_t keys, size_t names)
{
    static struct buf text;

    text.n = 0;
    buf_str(&text, "[mcp_servers.x]\ncommand = 'y'\nenv_vars = [");
    for (size_t i = 0; i < names; i++)
        buf_printf(&text, "'B%zu',", i);
    buf_str(&text, "]\n[mcp_servers.x.env]\n");
    for (size_t i = 0; i < keys; i++)
        buf_printf(&text, "A%zu = '1'\n", i);
    return buf_cstr(&text);
}

TEST(tables_of_codex_have_bounded_lists)
{
    AUTO(spec) struct spec *s = pasted(with_env(SPEC_WORDS_MAX / 2, SPEC_WORDS_MAX / 2), NULL);

    CHECK_STR(s->env[SPEC_WORDS_MAX - 1], "B511=${B511}");
    CHECK_STR(paste_refused(with_env(SPEC_WORDS_MAX + 1, 1)),
              "this is TOML: mcp_servers.x: env: 1025 items; at most 1024 are allowed");
    CHECK_STR(paste_refused(with_env(1, SPEC_WORDS_MAX + 1)),
              "this is TOML: mcp_servers.x: env_vars: 1025 items; at most 1024 are allowed");
    CHECK_STR(paste_refused(with_env(4000, 100000)),
              "this is TOML: mcp_servers.x: env: 4000 items; at most 1024 are allowed");
    CHECK_HAS(paste_refused(with_env(SPEC_WORDS_MAX, 1)), "1025 members; at most 1024 are allowed");
}

TEST(a_name_that_codex_has_twice_counts_once)
{
    AUTO(spec)
    struct spec *s = pasted("[mcp_servers.x]\ncommand = 'y'\nenv = { B = '1' }\n"
                            "env_vars = ['A', 'A', 'B', { name = 'A' }]",
                            NULL);
    AUTO(spec)
    struct spec *url = pasted("[mcp_servers.x]\nurl = 'https://h/'\n"
                              "bearer_token_env_var = 'T'\n"
                              "http_headers = { Authorization = 'a', X = '1' }\n"
                              "env_http_headers = { X = 'V', Y = 'V' }\n",
                              NULL);

    CHECK_STR(s->env[0], "B=1");
    CHECK_STR(s->env[1], "A=${A}");
    CHECK(s->env[2] == NULL);
    CHECK_STR(url->headers[0], "Authorization: a");
    CHECK_STR(url->headers[1], "X: 1");
    CHECK_STR(url->headers[2], "Y: ${V}");
    CHECK(url->headers[3] == NULL);
}

TEST(a_command_has_a_bounded_number_of_words)
{
    AUTO_BUF struct buf text = { 0 };
    struct spec *s = NULL;
    struct pb_error err;

    buf_str(&text, "./a");
    for (int i = 1; i < SPEC_WORDS_MAX; i++)
        buf_str(&text, " w");
    CHECK_INT(parse_text(&s, buf_cstr(&text), &err), 0);
    spec_unref(s);
    buf_str(&text, " w");
    CHECK_INT(parse_text(&s, buf_cstr(&text), &err), -PB_E_LIMIT);
    for (int i = 0; i < 10 * SPEC_WORDS_MAX; i++)
        buf_str(&text, " w");
    CHECK_INT(parse_text(&s, buf_cstr(&text), &err), -PB_E_LIMIT);
}

static int paste_padded(size_t n)
{
    AUTO_BUF struct buf text = { 0 };
    AUTO(config) struct config *c = NULL;
    struct pb_error err;

    buf_str(&text, "@x/fs");
    while (text.n < n)
        buf_byte(&text, '\n');
    return add_paste(&c, buf_cstr(&text), NULL, &err);
}

TEST(a_text_that_is_pasted_has_a_bound)
{
    CHECK_INT(paste_padded(ADD_TEXT_MAX), 0);
    CHECK_INT(paste_padded(ADD_TEXT_MAX + 1), -PB_E_LIMIT);
    CHECK_INT(paste_padded(10 * ADD_TEXT_MAX), -PB_E_LIMIT);
}

TEST(options_end_where_the_command_begins)
{
    static const struct {
        const char *words[3], *rest[5];
        bool named, begins;
    } cases[] = {
        { { "fs" }, { "-e", "A=1" }, false, false },
        { { "fs", "npx" }, { "-y", "x" }, false, true },
        { { "fs", "npx" }, { "--", "-y" }, false, false },
        { { "fs", "https://h/" }, { "-H", "A: b" }, false, false },
        { { "npx" }, { "-y", "x" }, false, true },
        { { "npx" }, { "-e", "A=1", "--" }, false, false },
        { { "npm" }, { "exec", "-y", "--" }, false, true },
        { { "uv" }, { "run", "--with", "x" }, false, true },
        { { "claude" }, { "mcp", "add", "-s" }, false, true },
        { { "claude" }, { "-s", "user" }, false, false },
        { { "code" }, { "--add-mcp", "{}" }, false, true },
        { { "npx" }, { NULL }, false, false },
        { { "node" }, { "https://h/" }, false, false },
        { { "npx -y x" }, { "-e", "A=1" }, false, false },
        { { "@x/fs" }, { "--flag" }, false, true },
        { { "./srv" }, { "--flag" }, false, true },
        { { "srv" }, { "--flag" }, true, true },
        { { "https://h/" }, { "-H", "A: b" }, true, false },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        CHECK_INT(add_begins_command(cases[i].words, cases[i].words[1] ? 2 : 1, cases[i].named,
                                     cases[i].rest),
                  cases[i].begins);
}
