/* Secrets that a server was given are taken out of what it says. */
#include "hub/config/config.h"
#include "hub/secrets/redact.h"
#include "hub/secrets/secrets.h"
#include "hub/spec/spec.h"
#include "tap.h"

static struct redact *secrets_of(const char *entry)
{
    static const struct config_request no_env = { .env = config_no_env };
    AUTO(spec) struct spec *s = NULL;
    struct redact *r = redact_new();
    struct pb_error err;

    if (spec_parse(&s, "x", span_of(entry), false, &no_env, &err) < 0)
        TAP_FAIL("%s", err.msg);
    redact_add_spec(r, s);
    return r;
}

/* Good until the next call. */
static const char *shown(const struct redact *r, const char *text, bool cut)
{
    static char copy[65536];

    snprintf(copy, sizeof copy, "%s", text);
    redact_text(r, copy, cut);
    return copy;
}

struct wanted {
    const char *text, *want;
};

static void check_all(const char *entry, const struct wanted *cases, size_t n)
{
    AUTO(redact) struct redact *r = secrets_of(entry);

    for (size_t i = 0; i < n; i++)
        CHECK_STR(shown(r, cases[i].text, false), cases[i].want);
}
#define CHECK_ALL(entry, cases) check_all(entry, cases, ARRAY_LEN(cases))

TEST(the_secrets_of_a_spec_are_taken_out_of_texts)
{
    static const struct wanted cases[] = {
        { "nothing", "nothing" },
        { "", "" },
        { "key hunter22hunter22, again hunter22hunter22!", "key ***, again ***!" },
        { "hunter22hunter22", "***" },
        { "hunter22hunter2", "hunter22hunter2" },
        { "level debugging", "level debugging" }, /* no secret by name or looks */
        { "pin 1234", "pin 1234" },               /* too short to be told from other words */
        { "401 for 'Bearer abcdefgh'", "401 for '***'" },
        { "401 for abcdefgh", "401 for ***" },
        { "id sk-123456789", "id ***" },
        { "pass-word of user", "*** of user" },
        { "dXNlcjpwYXNzLXdvcmQ=", "***" },
    };

    CHECK_ALL("{\"url\":\"http://x/\",\"env\":{\"API_KEY\":\"hunter22hunter22\",\"LEVEL\":"
              "\"debugging\",\"SECRET_PIN\":\"1234\",\"ID\":\"sk-123456789\",\"TOKEN\":\"\"},"
              "\"headers\":{\"Authorization\":\"Bearer abcdefgh\",\"Proxy-Authorization\":"
              "\"Basic dXNlcjpwYXNzLXdvcmQ=\"}}",
              cases);
}

TEST(what_the_login_names_is_a_secret_whatever_it_looks_like)
{
    static const struct wanted cases[] = {
        { "word is in abcd", "*** is in ***" },
        { "wor abc", "wor abc" },
        { "one", "one" }, /* shorter than any key */
    };

    CHECK_ALL("{\"command\":\"x\",\"env\":{\"A\":\"word\",\"B\":\"abcd\",\"C\":\"one\"},"
              "\"auth_type\":\"api_key\",\"env_vars\":[\"A\",\"B\",\"C\"]}",
              cases);
}

TEST(what_a_program_inherits_is_hidden_too)
{
    static const struct wanted cases[] = {
        { "hunter2! and /x7AbCdEfGh12345678", "*** and ***" },
        { "in /somewhere/else", "in /somewhere/else" },
    };

    setenv("SMTP_PASS", "hunter2!", 1);
    setenv("SOME_SECRET_KEY", "/x7AbCdEfGh12345678", 1);
    setenv("PWD", "/somewhere/else", 1);
    CHECK_ALL("{\"command\":\"x\",\"auth_type\":\"api_key\",\"env_vars\":[\"SMTP_PASS\"]}", cases);
    unsetenv("SMTP_PASS");
    unsetenv("SOME_SECRET_KEY");
}

TEST(secrets_in_the_command_line_and_the_url_count_too)
{
    static const struct wanted program[] = {
        { "usage: x --api-key hunter2hunter2 --name joe", "usage: x --api-key *** --name joe" },
        { "got sesame-open", "got ***" },
        { "dial postgres://joe:pass-phrase@db/x", "dial postgres://***@db/x" },
        { "password pass-phrase is wrong for joe", "password *** is wrong for joe" },
    };
    static const struct wanted remote[] = {
        { "GET /mcp?api_key=abcdefgh1 failed", "GET /mcp?api_key=*** failed" },
        { "'user:hunter22' is refused", "'***' is refused" },
    };

    CHECK_ALL("{\"command\":\"x\",\"args\":[\"--api-key\",\"hunter2hunter2\",\"--name\","
              "\"joe\",\"--token=sesame-open\",\"--db=postgres://joe:pass-phrase@db/x\"]}",
              program);
    CHECK_ALL("{\"url\":\"http://user:hunter22@h/mcp?api_key=abcdefgh1\"}", remote);
}

TEST(a_secret_is_known_in_other_ways_to_write_it)
{
    /* The secret is "a+b/c \"d\"=e?f". */
    static const struct wanted cases[] = {
        { "GET /?k=a%2Bb%2Fc%20%22d%22%3De%3Ff!", "GET /?k=***!" },
        { "GET /?k=a%2bb%2fc%20%22d%22%3de%3ff!", "GET /?k=***!" },
        { "{\"k\":\"a+b/c \\\"d\\\"=e?f\"}", "{\"k\":\"***\"}" },
        { "plain a+b/c \"d\"=e?f.", "plain ***." },
    };
    static const char *const before[] = { "", "x", "xy", "user:" };
    static const char entry[] = "{\"command\":\"x\",\"env\":{\"API_KEY\":\"a+b/c \\\"d\\\"=e?f\"}}";
    AUTO(redact) struct redact *r = secrets_of(entry);

    CHECK_ALL(entry, cases);
    for (size_t i = 0; i < ARRAY_LEN(before); i++) {
        AUTO_BUF struct buf plain = { 0 }, text = { 0 };

        buf_str(&plain, before[i]);
        buf_str(&plain, "a+b/c \"d\"=e?f");
        buf_str(&plain, "and what follows");
        base64_encode(&text, buf_span(&plain));
        CHECK_HAS(shown(r, buf_cstr(&text), false), "***");
        CHECK(strlen(shown(r, buf_cstr(&text), false)) < text.n - 10);
    }
}

TEST(a_key_of_many_lines_is_known_by_each_of_them)
{
    static const struct wanted cases[] = {
        { "MIIEowIBAAKCAQEA", "***" },
        { "x q83vEjRWeJCrze8S y", "x *** y" },
        { "-----BEGIN KEY-----", "***" },
    };

    CHECK_ALL("{\"command\":\"x\",\"env\":{\"PRIVATE_KEY\":\"-----BEGIN KEY-----\\nMIIEowIBAAKCAQEA"
              "\\r\\nq83vEjRWeJCrze8S\\n-----END KEY-----\\n\"}}",
              cases);
}

TEST(secrets_that_overlap_are_hidden_together)
{
    static const struct wanted cases[] = {
        { "<abcdefghijkl>", "<***>" },        /* the longer one */
        { "<abcdefgh>", "<***>" },            /* the shorter one alone */
        { "<abcdefghijklmnop>", "<***>" },    /* the end of one is the beginning of the other */
        { "<abcdefghabcdefgh>", "<******>" }, /* two that touch */
    };

    CHECK_ALL("{\"command\":\"x\",\"env\":{\"A_KEY\":\"abcdefgh\",\"B_KEY\":\"abcdefghijkl\","
              "\"C_KEY\":\"ijklmnop\"}}",
              cases);
}

TEST(a_secret_that_was_cut_is_hidden_too)
{
    AUTO(redact)
    struct redact *r = secrets_of("{\"command\":\"x\",\"env\":{\"A_KEY\":\"hunter22hunter22\"}}");
    struct pb_error err = { 0 };

    CHECK_STR(shown(r, "key hunter22hunt", true), "key ***");
    CHECK_STR(shown(r, "key hunt", true), "key ***");
    CHECK_STR(shown(r, "key hun", true), "key hun");
    CHECK_STR(shown(r, "key hunter22hunt", false), "key hunter22hunt");
    memset(err.msg, ' ', sizeof err.msg - 1);
    memcpy(err.msg + sizeof err.msg - 9, "hunter22", 8);
    redact_error(r, &err);
    CHECK(!strstr(err.msg, "hunt"));
    CHECK_STR(shown(NULL, "hunter22hunter22", true), "hunter22hunter22");
}

/* One long secret is kept in several ways to write it. */
TEST(with_too_many_bytes_of_secrets_nothing_is_shown)
{
    for (int over = 0; over < 2; over++) {
        AUTO_BUF struct buf entry = { 0 };
        AUTO(redact) struct redact *r = NULL;

        buf_str(&entry, "{\"command\":\"x\",\"env\":{");
        for (int i = 0; i < (over ? REDACT_BYTES_MAX / 10000 : 10); i++) {
            buf_printf(&entry, "%s\"K%d_KEY\":\"%d-", i ? "," : "", i, i);
            for (int n = 0; n < 10000; n++)
                buf_byte(&entry, (char)('a' + n % 26));
            buf_str(&entry, "\"");
        }
        buf_str(&entry, "}}");
        r = secrets_of(buf_cstr(&entry));
        CHECK_STR(shown(r, "hello", false), over ? "***" : "hello");
    }
}

/* Some more words than lines: the whole, and the other ways to write it. */
TEST(with_too_many_secrets_nothing_is_shown)
{
    enum { OTHER_WORDS = 16 };

    clearenv(); /* what we inherit may look like a secret, too */
    for (int over = 0; over < 2; over++) {
        AUTO_BUF struct buf entry = { 0 };
        AUTO(redact) struct redact *r = NULL;

        buf_str(&entry, "{\"command\":\"x\",\"env\":{\"A_KEY\":\"");
        for (int i = 0; i < REDACT_WORDS_MAX - (over ? 0 : OTHER_WORDS); i++)
            buf_printf(&entry, "line-%06d\\n", i);
        buf_str(&entry, "\"}}");
        r = secrets_of(buf_cstr(&entry));
        CHECK_STR(shown(r, "hello line-000007", false), over ? "***" : "hello ***");
        CHECK_STR(shown(r, "hi", false), over ? "**" : "hi");
    }
}
