/* What of our own environment the process of a server gets. */
#include "hub/config/config.h"
#include "hub/config_rig.h"
#include "hub/spec/inherit.h"
#include "hub/spec/spec.h"
#include <unistd.h>

static const char *few[] = {
    "HOME=/h",          "LC_ALL=C",          "PATH=/bin",       "HTTPS_PROXY=http://u:p@h",
    "GITHUB_TOKEN=ghp", "WIKI_KEY=wiki-key", "PLAIN=1",         "PATCHBAY_HOME=/x",
    "PATCHBAY_MARK=m",  "NOTIFY_SOCKET=@n",  "LISTEN_FDS=3",    "LISTEN_PID=1",
    "WATCHDOG_USEC=9",  "no name",           "INVOCATION_ID=i", NULL
};

static struct config *read_config(const char *text)
{
    environ = (char **)few;
    return config_rig_parse(text, few);
}

/* The names of what a server of the config gets, and what its entry sets. */
static const char *names(const struct config *c, const char *server)
{
    static char text[1024];
    AUTO_ARENA struct arena a = { 0 };
    struct claims *claims = claims_new();
    struct map_slot *slot;
    const char *const *env;
    size_t n = 0;

    MAP_FOREACH(slot, &c->specs)
        claims_add(claims, slot->value);
    env = inherit_environment(&a, config_rig_spec(c, server), c->settings.inherit_env, claims);
    text[0] = '\0';
    for (; *env; env++)
        n += (size_t)snprintf(text + n, sizeof text - n, "%.*s ", (int)strcspn(*env, "="), *env);
    MAP_FOREACH(slot, &c->specs)
        claims_drop(claims, slot->value);
    claims_free(claims);
    return text;
}

static void check_names(const char *entry, const char *settings, const char *want)
{
    AUTO_BUF struct buf text = { 0 };
    AUTO(config) struct config *c = NULL;

    buf_printf(&text, "{\"settings\":{%s},\"mcpServers\":{\"a\":{\"command\":\"x\"%s}}}", settings,
               entry);
    c = read_config(buf_cstr(&text));
    CHECK_STR(names(c, "a"), want);
}

#define ALL "HOME LC_ALL PATH HTTPS_PROXY GITHUB_TOKEN WIKI_KEY PLAIN PATCHBAY_MARK "

TEST(a_server_gets_everything_but_what_is_meant_for_us)
{
    check_names("", "", ALL);
    check_names(",\"inherit_env\":\"all\"", "\"inherit_env\":\"safe\"", ALL);
    check_names(",\"inherit_env\":[\"*\"]", "", ALL);
    /* What an entry sets is its own business. */
    check_names(",\"env\":{\"PATCHBAY_HOME\":\"/y\"}", "", ALL "PATCHBAY_HOME ");
}

TEST(a_server_gets_what_its_entry_or_the_settings_say)
{
    check_names(",\"inherit_env\":\"safe\"", "", "HOME LC_ALL PATH PATCHBAY_MARK ");
    check_names("", "\"inherit_env\":\"safe\"", "HOME LC_ALL PATH PATCHBAY_MARK ");
    check_names(",\"inherit_env\":[\"PLAIN\",\"H*\"]", "\"inherit_env\":\"safe\"",
                "HOME HTTPS_PROXY PLAIN PATCHBAY_MARK ");
    check_names(",\"inherit_env\":[\"safe\",\"HTTPS_PROXY\"]", "",
                "HOME LC_ALL PATH HTTPS_PROXY PATCHBAY_MARK ");
    check_names(",\"inherit_env\":\"safe, PLAIN\"", "", "HOME LC_ALL PATH PLAIN PATCHBAY_MARK ");
    check_names(",\"inherit_env\":[]", "", "PATCHBAY_MARK ");
    check_names(",\"inherit_env\":[\"PATCHBAY_HOME\",\"LISTEN_FDS\"]", "", "PATCHBAY_MARK ");
    /* Its login is always its own. */
    check_names(",\"inherit_env\":[],\"auth_type\":\"api_key\",\"env_vars\":[\"GITHUB_TOKEN\"]", "",
                "GITHUB_TOKEN PATCHBAY_MARK ");
}

TEST(a_variable_with_one_servers_key_is_not_seen_by_the_others)
{
    AUTO(config)
    struct config *c = read_config(
        "{\"mcpServers\":{"
        "\"git\":{\"command\":\"x\",\"auth_type\":\"api_key\",\"env_vars\":[\"GITHUB_TOKEN\"]},"
        "\"wiki\":{\"url\":\"http://h/\",\"headers\":{\"Authorization\":\"Bearer ${WIKI_KEY}\"}},"
        "\"both\":{\"command\":\"x\",\"env\":{\"K\":\"${WIKI_KEY}\",\"T\":\"${GITHUB_TOKEN}\"}},"
        "\"open\":{\"command\":\"x\",\"env\":{\"P\":\"${PLAIN}\"}},"
        "\"other\":{\"command\":\"x\"},"
        "\"asks\":{\"command\":\"x\",\"inherit_env\":[\"safe\",\"GITHUB_TOKEN\",\"WIKI_*\"]}}}");

    CHECK_STR(names(c, "git"), "HOME LC_ALL PATH HTTPS_PROXY GITHUB_TOKEN PLAIN PATCHBAY_MARK ");
    CHECK_STR(names(c, "both"), ALL "K T ");
    CHECK_STR(names(c, "open"), "HOME LC_ALL PATH HTTPS_PROXY PLAIN PATCHBAY_MARK P ");
    CHECK_STR(names(c, "other"), "HOME LC_ALL PATH HTTPS_PROXY PLAIN PATCHBAY_MARK ");
    CHECK_STR(names(c, "asks"), "HOME LC_ALL PATH GITHUB_TOKEN PATCHBAY_MARK ");
}

TEST(what_is_written_is_read_back)
{
    static const char *const texts[] = { "\"all\"", "\"safe\"", "[]", "[\"A\",\"B_*\"]",
                                         "[\"safe\",\"X\"]" };

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        AUTO_BUF struct buf text = { 0 }, back = { 0 };
        AUTO(config) struct config *c = NULL;

        buf_printf(&text, "{\"mcpServers\":{\"a\":{\"command\":\"x\",\"inherit_env\":%s}}}",
                   texts[i]);
        c = read_config(buf_cstr(&text));
        spec_write_masked(&back, config_rig_spec(c, "a"));
        text.n = 0;
        buf_printf(&text, "{\"command\":\"x\",\"inherit_env\":%s}", texts[i]);
        CHECK_STR(buf_cstr(&back), buf_cstr(&text));
    }
}

TEST(what_is_no_list_of_names_is_refused)
{
    static const struct {
        const char *value, *told;
    } cases[] = {
        { "1", "expected \"all\", \"safe\" or an array of names, got a number" },
        { "\"\"", "expected \"all\", \"safe\" or names of variables, not ''" },
        { "\"A,,B\"", "or names of variables, not ''" },
        { "[\"A B\"]", "or names of variables, not 'A B'" },
        { "[\"A,B\"]", "or names of variables, not 'A,B'" },
        { "[\"*A\"]", "or names of variables, not '*A'" },
        { "[1]", "expected names of variables, got a number" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_BUF struct buf entry = { 0 }, settings = { 0 };
        AUTO(config) struct config *c = NULL;
        struct pb_error err;

        buf_printf(&entry, "{\"mcpServers\":{\"a\":{\"command\":\"x\",\"inherit_env\":%s}}}",
                   cases[i].value);
        CHECK(config_rig_try(&c, buf_cstr(&entry), NULL, &err) < 0);
        CHECK_HAS(err.msg, "mcpServers.a.inherit_env: ");
        CHECK_HAS(err.msg, cases[i].told);
        buf_printf(&settings, "{\"settings\":{\"inherit_env\":%s}}", cases[i].value);
        CHECK(config_rig_try(&c, buf_cstr(&settings), NULL, &err) < 0);
        CHECK_HAS(err.msg, cases[i].told);
    }
}

TEST(names_have_a_bound)
{
    for (size_t more = 0; more < 2; more++) {
        AUTO_BUF struct buf text = { 0 };
        AUTO_ARENA struct arena a = { 0 };
        const char *out = NULL;
        struct pb_error err;

        for (size_t i = 0; i < SPEC_WORDS_MAX + more; i++)
            buf_printf(&text, "%sA%zu", i ? "," : "", i);
        CHECK_INT(inherit_parse(&out, buf_span(&text), &a, &err), more ? -PB_E_LIMIT : 0);
        CHECK(!more || strstr(err.msg, "at most 1024"));
    }
}
