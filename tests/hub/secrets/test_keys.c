/* What the login of a server adds when it is started, and what happens when it cannot. */
#include "hub/config/config.h"
#include "hub/hub/hub.h"
#include "hub/hub_rig.h"
#include "hub/link/link.h"
#include "hub/secrets/keys.h"
#include "hub/secrets/secrets.h"
#include "hub/spec/spec.h"
#include "mcp/client/client.h"
#include "temp_dir.h"

static const char id[] = "8c5f0f0a-3f0b-4d5e-9a31-2f4c1d7e6b90";

static const char *dir(void)
{
    static char path[256];

    snprintf(path, sizeof path, "%s", temp_path("secrets"));
    return path;
}

static struct spec *parse(const char *entry)
{
    struct config_request r = { .env = config_no_env };
    struct spec *s = NULL;
    struct pb_error err;

    if (spec_parse(&s, "srv", span_of(entry), false, &r, &err) < 0)
        TAP_FAIL("%s", err.msg);
    return s;
}

#define UUID ",\"uuid\":\"8c5f0f0a-3f0b-4d5e-9a31-2f4c1d7e6b90\"}"

/* The lists with the keys in them, or the error. */
static const char *built(const char *entry)
{
    static char text[1024];
    AUTO_ARENA struct arena a = { 0 };
    AUTO(spec) struct spec *s = parse(entry);
    AUTO(keys) struct keys *keys = NULL;
    struct spec with = *s;
    struct pb_error err;
    size_t n = 0;

    text[0] = '\0';
    if (keys_load(&keys, s, dir(), &err) < 0) {
        snprintf(text, sizeof text, "%s", err.msg);
        return text;
    }
    keys_apply(keys, &with, &a);
    for (const char *const *p = with.env; *p; p++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s;", *p);
    for (const char *const *p = with.headers; *p; p++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%s;", *p);
    return text;
}

static void store(const char *name, const char *key)
{
    struct pb_error err;

    if (secrets_store(dir(), id, name, span_of(key), &err) < 0)
        TAP_FAIL("%s", err.msg);
}

#define ONE "{\"command\":\"x\",\"auth_type\":\"api_key\",\"env_vars\":[\"GITHUB_TOKEN\"]" UUID
#define TWO                                                                                       \
    "{\"command\":\"x\",\"auth_type\":\"api_key\",\"env_vars\":[{\"name\":\"AWS_ACCESS_KEY_ID\"," \
    "\"required\":true},{\"name\":\"AWS_SECRET_ACCESS_KEY\",\"required\":true},{\"name\":"        \
    "\"AWS_REGION\",\"required\":false}]" UUID

/* S1-52 */
TEST(a_stored_key_becomes_a_variable)
{
    store(NULL, "ghp_1");
    CHECK_STR(built(ONE), "GITHUB_TOKEN=ghp_1;");
    store("GITHUB_TOKEN", "ghp_2");
    CHECK_STR(built(ONE), "GITHUB_TOKEN=ghp_2;");
    /* What the entry says goes before. */
    CHECK_STR(built("{\"command\":\"x\",\"env\":{\"GITHUB_TOKEN\":\"mine\",\"A\":\"1\"},"
                    "\"auth_type\":\"api_key\",\"env_vars\":[\"GITHUB_TOKEN\"]" UUID),
              "GITHUB_TOKEN=mine;A=1;");
}

/* S1-53 */
TEST(a_key_file_is_read_when_the_server_starts)
{
    char entry[512];

    snprintf(entry, sizeof entry,
             "{\"command\":\"x\",\"auth_type\":\"keyfile\",\"keyfile_path\":\"%s\",\"env_vars\":["
             "\"TOKEN\"]}",
             temp_path("token"));
    CHECK_HAS(built(entry), "there is no key file '");
    temp_write(temp_path("token"), "one\n");
    CHECK_STR(built(entry), "TOKEN=one;");
    temp_write(temp_path("token"), "two\n");
    CHECK_STR(built(entry), "TOKEN=two;");
    snprintf(entry, sizeof entry, "{\"command\":\"x\",\"keyfile_path\":\"%s\"}",
             temp_path("token"));
    CHECK_HAS(built(entry), "the key needs the name of a variable");
}

/* S1-54 */
TEST(without_a_login_nothing_is_set)
{
    store(NULL, "ghp_1");
    CHECK_STR(built("{\"command\":\"x\",\"auth_type\":\"none\",\"env_vars\":[\"TOKEN\"]" UUID), "");
    CHECK_STR(built("{\"command\":\"x\"}"), "");
    CHECK_STR(built("{\"command\":\"x\",\"auth_type\":\"oauth\",\"env_vars\":[\"TOKEN\"]" UUID),
              "");
}

/* S1-55 */
TEST(each_of_several_variables_has_its_own_key)
{
    store("AWS_ACCESS_KEY_ID", "a");
    CHECK_HAS(built(TWO), "there is no key for AWS_SECRET_ACCESS_KEY: give it on");
    store("AWS_SECRET_ACCESS_KEY", "b");
    CHECK_STR(built(TWO), "AWS_ACCESS_KEY_ID=a;AWS_SECRET_ACCESS_KEY=b;");
    store("AWS_REGION", "eu");
    CHECK_STR(built(TWO), "AWS_ACCESS_KEY_ID=a;AWS_SECRET_ACCESS_KEY=b;AWS_REGION=eu;");
}

TEST(a_variable_of_ours_is_inherited)
{
    setenv("GITHUB_TOKEN", "from outside", 1);
    CHECK_STR(built(ONE), "");
    unsetenv("GITHUB_TOKEN");
    CHECK_HAS(built(ONE), "there is no key for GITHUB_TOKEN");
    CHECK_HAS(built("{\"command\":\"x\",\"auth_type\":\"api_key\",\"env_vars\":[\"A_TOKEN\"]}"),
              "there is no key for A_TOKEN");
    /* As 'patchbay add' writes it: the key is in the entry. */
    CHECK_STR(built("{\"command\":\"x\",\"env\":{\"T\":\"1\"},\"auth_type\":\"api_key\"}"), "T=1;");
}

#define AT "{\"url\":\"https://h/mcp\",\"auth_type\":\"api_key\""

TEST(a_server_at_a_url_gets_headers)
{
    CHECK_HAS(built(AT UUID), "there is no key for it");
    CHECK_STR(built(AT "}"), "");
    store(NULL, "k1");
    CHECK_STR(built(AT UUID), "Authorization: Bearer k1;");
    CHECK_STR(built(AT ",\"env_vars\":[\"API_TOKEN\"]" UUID), "Authorization: Bearer k1;");
    CHECK_STR(built(AT ",\"env_vars\":[\"X-Api-Key\"]" UUID), "X-Api-Key: k1;");
    CHECK_STR(built(AT ",\"env_vars\":[\"Authorization\"]" UUID), "Authorization: k1;");
    CHECK_STR(built(AT ",\"headers\":{\"authorization\":\"Basic x\"}" UUID),
              "authorization: Basic x;");
    store(NULL, "k1\r\nX: y");
    CHECK_HAS(built(AT UUID), "holds a line break");
}

TEST(keys_are_kept_where_they_are_looked_for)
{
    AUTO(spec) struct spec *one = parse(ONE), *two = parse(TWO), *at = parse(AT UUID);
    struct pb_error err;

    CHECK_INT(keys_store(dir(), at, "", SPAN("a"), &err), 0);
    CHECK_STR(built(AT UUID), "Authorization: Bearer a;");
    CHECK_INT(keys_store(dir(), one, "GITHUB_TOKEN", SPAN("b"), &err), 0);
    CHECK_STR(built(ONE), "GITHUB_TOKEN=b;");
    CHECK(access(temp_path("secrets/mcp_8c5f0f0a-3f0b-4d5e-9a31-2f4c1d7e6b90.key"), F_OK) == 0);
    CHECK_INT(keys_store(dir(), one, "GITHUB_TOKEN", SPAN(""), &err), 0);
    CHECK_HAS(built(ONE), "there is no key");
    CHECK_INT(keys_store(dir(), two, "AWS_SECRET_ACCESS_KEY", SPAN("c"), &err), 0);
    CHECK_INT(keys_store(dir(), two, "AWS_ACCESS_KEY_ID", SPAN("d"), &err), 0);
    CHECK_STR(built(TWO), "AWS_ACCESS_KEY_ID=d;AWS_SECRET_ACCESS_KEY=c;");
    CHECK_INT(keys_store(dir(), two, "AWS_ACCESS_KEY_ID", SPAN(""), &err), 0);
    CHECK_HAS(built(TWO), "there is no key for AWS_ACCESS_KEY_ID");
}

/* ---- through the hub ---- */

static char seen[256];

static int open_and_note(void *ctx, struct client **out, struct pb_loop *loop,
                         const struct spec *spec, const char *caller,
                         const struct client_events *events, void *events_ctx, struct pb_error *err)
{
    seen[0] = '\0';
    for (const char *const *p = spec->env; *p; p++)
        if (strncmp(*p, "GITHUB", 6) == 0)
            snprintf(seen, sizeof seen, "%s", *p);
    return fake_open(ctx, out, loop, spec, caller, events, events_ctx, err);
}

static enum link_state state(struct hub_rig *r) { return link_state(hub_link(r->hub, "srv")); }

static void rig_start_with(struct hub_rig *r, struct spec *s)
{
    struct pb_error err;

    hub_rig_init(r);
    r->opts.open = open_and_note;
    r->opts.secrets_dir = dir();
    fakes_add(&r->fakes, "srv");
    hub_rig_start(r);
    CHECK_INT(hub_add(r->hub, s, &err), 0);
    CHECK_INT(hub_connect(r->hub, "srv", &err), 0);
}

TEST(a_server_is_started_with_its_key)
{
    AUTO(spec) struct spec *s = parse(ONE);
    struct hub_rig r;

    store(NULL, "ghp_1");
    rig_start_with(&r, s);
    FAKES_UNTIL(&r.fakes, state(&r) == LINK_CONNECTED);
    CHECK_STR(seen, "GITHUB_TOKEN=ghp_1");
    hub_rig_done(&r);
}

TEST(a_missing_key_is_an_error_that_says_which_and_is_not_tried_again)
{
    AUTO(spec) struct spec *s = parse(ONE);
    struct link_status status;
    struct pb_error err;
    struct hub_rig r;

    rig_start_with(&r, s);
    FAKES_UNTIL(&r.fakes, state(&r) == LINK_ERROR);
    link_status(hub_link(r.hub, "srv"), &status);
    CHECK_HAS(status.message, "Cannot connect to server 'srv': there is no key for GITHUB_TOKEN");
    CHECK_HAS(status.message, "console");
    loop_advance(r.fakes.loop, 60000);
    CHECK_INT(state(&r), LINK_ERROR);
    CHECK_INT(r.fakes.servers[0]->connects, 0);
    store(NULL, "ghp_1");
    CHECK_INT(hub_connect(r.hub, "srv", &err), 0);
    FAKES_UNTIL(&r.fakes, state(&r) == LINK_CONNECTED);
    CHECK_STR(seen, "GITHUB_TOKEN=ghp_1");
    hub_rig_done(&r);
}

TEST(an_attempt_may_end_while_keys_are_read)
{
    AUTO(spec) struct spec *s = parse(ONE);
    struct pb_error err;
    struct hub_rig r;

    store(NULL, "ghp_1");
    rig_start_with(&r, s);
    while (state(&r) != LINK_CONNECTING)
        loop_turn(r.fakes.loop, false);
    CHECK_INT(hub_cancel_connect(r.hub, "srv", &err), 0);
    loop_run(r.fakes.loop); /* until nothing is under way: the keys have been read */
    CHECK_INT(state(&r), LINK_IDLE);
    CHECK_INT(r.fakes.servers[0]->connects, 0);
    CHECK_INT(hub_connect(r.hub, "srv", &err), 0);
    hub_rig_done(&r); /* and the hub, too */
}

/* What it tells of itself: the log and its events, what it said last, its end. */
TEST(a_server_that_says_its_key_is_not_quoted)
{
    static const char key[] = "open sesame 42";
    AUTO(spec) struct spec *s = parse(ONE);
    AUTO_BUF struct buf words = { 0 };
    char long_line[CHILD_STDERR_LINE_MAX + 1];
    struct link_status status;
    struct fake_server *f;
    struct hub_rig r;
    struct link *l;

    store(NULL, key);
    rig_start_with(&r, s);
    FAKES_UNTIL(&r.fakes, state(&r) == LINK_CONNECTED);
    CHECK_STR(seen, "GITHUB_TOKEN=open sesame 42");
    f = r.fakes.servers[0];
    l = hub_link(r.hub, "srv");
    fake_stderr(f, "my key is open sesame 42, or open%20sesame%2042.");
    CHECK_STR(link_log_at(l, link_log_count(l) - 1)->text, "my key is ***, or ***.");
    CHECK_HAS(fakes_json(&r.fakes, EVENT_LOG, "srv", NULL), "my key is ***");

    /* Where a line is cut. */
    memset(long_line, '.', sizeof long_line - 1);
    memcpy(long_line + LINK_LOG_LINE_MAX - 8, key, strlen(key));
    memcpy(long_line + sizeof long_line - 9, key, 8);
    long_line[sizeof long_line - 1] = '\0';
    fake_stderr(f, long_line);
    CHECK(!strstr(link_log_at(l, link_log_count(l) - 1)->text, "open"));

    link_last_words(l, &words);
    CHECK_HAS(buf_cstr(&words), "my key is ***");
    CHECK(!strstr(buf_cstr(&words), "open"));
    fake_break(f, "killed, open sesame 42");
    FAKES_UNTIL(&r.fakes, state(&r) != LINK_CONNECTED);
    link_status(l, &status);
    CHECK(!strstr(link_last_error(l)->msg, "open"));
    for (size_t i = 0; i < r.fakes.n_events; i++)
        CHECK(!strstr(r.fakes.events[i].json, "open sesame") &&
              !strstr(r.fakes.events[i].json, "sesa"));
    words.n = 0;
    link_last_words(l, &words);
    CHECK(words.n && !strstr(buf_cstr(&words), "open"));
    hub_rig_done(&r);
}
