/* What is recorded holds no secret: by value, by name, by pattern; and everything else stays. */
#include "hub/secrets/secrets.h"
#include "innocent_texts.h"
#include "tap.h"
#include "json/json.h"
#include <pthread.h>

/* Good until the next call but three. */
static const char *hidden(struct vault *v, const char *text)
{
    static struct buf bufs[4];
    static unsigned turn;
    struct buf *b = &bufs[turn++ % ARRAY_LEN(bufs)];

    b->n = 0;
    buf_str(b, text);
    vault_redact(v, b, NULL);
    return buf_cstr(b);
}

static const char *places(struct vault *v, const char *text)
{
    static struct buf told;
    AUTO_BUF struct buf b = { 0 };
    struct json_out o;

    told.n = 0;
    o = json_out(&told);
    buf_str(&b, text);
    json_begin_array(&o, NULL);
    vault_redact(v, &b, &o);
    json_end(&o);
    return buf_cstr(&told);
}

struct wanted {
    const char *text, *want;
};

static void check_all(struct vault *v, const struct wanted *cases, size_t n)
{
    for (size_t i = 0; i < n; i++)
        CHECK_STR(hidden(v, cases[i].text), cases[i].want);
}
#define CHECK_ALL(v, cases) check_all(v, cases, ARRAY_LEN(cases))

/* ---- by value ---- */

TEST(a_known_secret_is_hidden_in_json_and_in_text)
{
    static const struct wanted cases[] = {
        { "{\"q\":\"use correct-horse-7 now\"}", "{\"q\":\"use *** now\"}" },
        { "plain correct-horse-7", "plain ***" },
        { "{\"correct-horse-7\":1}", "{\"***\":1}" },
        { "[12345678901, 3]", "[\"***\", 3]" },
        { "{\"t\":\"corr\\u0065ct-horse-7\"}", "{\"t\":\"***\"}" },
        { "{\"t\":\"{\\\"k\\\":\\\"correct-horse-7\\\"}\"}",
          "{\"t\":\"{\\\"k\\\":\\\"***\\\"}\"}" },
        { "", "" },
        { "nothing", "nothing" },
    };
    AUTO(vault) struct vault *v = vault_new();

    vault_add(v, SPAN("correct-horse-7"));
    vault_add(v, SPAN("12345678901"));
    CHECK_ALL(v, cases);
}

TEST(half_of_a_secret_is_hidden_and_less_is_not)
{
    static const struct wanted cases[] = {
        { "{\"a\":\"hunter22\",\"b\":\"Wq9kZx4m\"}", "{\"a\":\"***\",\"b\":\"***\"}" },
        { "hunter2", "hunter2" }, /* not half */
        { "ter22Wq9k", "***" },   /* in the middle */
        { "cut: hunter22W", "cut: ***" },
        { "hunter22\nWq9kZx4m", "***" }, /* a line break in it */
        { "passwo rds", "passwo rds" },
        /* ordinary words that are part of a long one */
        { "https://example.com/", "https://example.com/" },
        { "localhost password", "localhost password" },
    };
    AUTO(vault) struct vault *v = vault_new();

    vault_add(v, SPAN("hunter22Wq9kZx4m"));
    vault_add(v, SPAN("https://example.com/password/localhost/Zk49xQp27LmRt81vB"));
    CHECK_ALL(v, cases);
}

TEST(a_secret_added_later_is_known_from_then_on)
{
    AUTO(vault) struct vault *v = vault_new();

    CHECK_STR(hidden(v, "one-secret-here"), "one-secret-here");
    vault_add(v, SPAN("one-secret-here"));
    CHECK_STR(hidden(v, "one-secret-here"), "***");
    vault_add(v, SPAN("Bearer another-secret-9"));
    CHECK_STR(hidden(v, "one-secret-here, another-secret-9"), "***, ***");
    CHECK_STR(hidden(v, "Bearer a"), "Bearer a");
    vault_add(NULL, SPAN("nobody minds"));
    vault_add(v, SPAN("pin")); /* too short to be told from other words */
    CHECK_STR(hidden(v, "pin"), "pin");
    vault_add(v, SPAN("pin4"));
    CHECK_STR(hidden(v, "a pin4 b"), "a *** b");
}

TEST(whoever_remembers_a_text_is_told_that_more_is_known)
{
    AUTO(vault) struct vault *v = vault_new();
    uint64_t before = vault_version(v);

    CHECK_STR(hidden(v, "one-secret-here"), "one-secret-here");
    CHECK_INT(vault_version(v), before);
    vault_add(v, SPAN("one-secret-here"));
    CHECK(vault_version(v) != before);
    before = vault_version(v);
    vault_add(v, SPAN("one-secret-here"));
    CHECK_INT(vault_version(v), before);
}

TEST(variables_that_look_like_secrets_are_known_from_the_start)
{
    setenv("SOME_API_KEY", "kq-72-aaZZ-19", 1);
    setenv("SSH_KEY_FILE_AUTH", "/srv/joe/.ssh/id_rsa", 1);
    setenv("AUTH_HOST", "localhost", 1);
    setenv("AUTH_URL", "https://login.example.com/oauth2/authorize", 1);
    {
        static const struct wanted cases[] = {
            { "kq-72-aaZZ-19", "***" },
            { "/srv/joe/.ssh/config", "/srv/joe/.ssh/config" },
            { "on localhost", "on localhost" },
            { "https://login.example.com/", "https://login.example.com/" },
        };
        AUTO(vault) struct vault *v = vault_new();

        CHECK_ALL(v, cases);
    }
}

TEST(past_the_bounds_nothing_is_shown)
{
    AUTO(vault) struct vault *v = vault_new();
    char text[32];
    int n = 0;

    for (; n < VAULT_SECRETS_MAX - 100; n++) { /* the environment may have some */
        snprintf(text, sizeof text, "secret-%08d-x", n);
        vault_add(v, span_of(text));
    }
    CHECK_STR(hidden(v, "hello secret-00000007-x"), "hello ***");
    for (; n <= VAULT_SECRETS_MAX; n++) {
        snprintf(text, sizeof text, "secret-%08d-x", n);
        vault_add(v, span_of(text));
    }
    CHECK_STR(hidden(v, "hello"), "***");
    CHECK_STR(hidden(v, "{\"a\":1}"), "\"***\"");
    CHECK_STR(places(v, "{\"a\":1}"), "[{\"at\":\"\",\"why\":\"value\"}]");
}

TEST(past_so_many_bytes_of_secrets_nothing_is_shown)
{
    AUTO(vault) struct vault *v = vault_new();
    AUTO_BUF struct buf text = { 0 };

    for (int i = 0; i < 40; i++) {
        text.n = 0;
        buf_printf(&text, "%d-", i);
        while (text.n < 60000)
            buf_printf(&text, "%zx", text.n * 2654435761u);
        vault_add(v, buf_span(&text));
        if (i == 7)
            CHECK_STR(hidden(v, "hello"), "hello");
    }
    CHECK_STR(hidden(v, "hello"), "***");
}

/* ---- by name ---- */

TEST(members_whose_names_promise_secrets_lose_their_values)
{
    static const char *const names[] = {
        "password",     "Password",   "PASSWORD",      "db_password",   "userPassword",
        "passwd",       "passphrase", "passcode",      "secret",        "client_secret",
        "clientSecret", "token",      "access_token",  "accessToken",   "refresh-token",
        "GITHUB_TOKEN", "authToken",  "api_key",       "apiKey",        "apikey",
        "x-api-key",    "APIKey",     "openaiApiKey",  "authorization", "Authorization",
        "cookie",       "Set-Cookie", "private_key",   "privateKey",    "access_key",
        "bearer",       "credential", "credentials",   "secretKey",     "AWSSecretAccessKey",
        "signing_key",  "password2",  "passwordHash",  "SecretString",  "tokenValue",
        "pass",         "smtp_pass",  "dbPass",        "pwd",           "csrf_token",
        "secrets",      "passwords",  "encryptionKey", "session_key",   "password_confirmation",
    };
    AUTO(vault) struct vault *v = vault_new();

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        char text[128], want[128], at[128];

        snprintf(text, sizeof text, "{\"%s\":\"open sesame\",\"b\":1}", names[i]);
        snprintf(want, sizeof want, "{\"%s\":\"***\",\"b\":1}", names[i]);
        snprintf(at, sizeof at, "[{\"at\":\"/%s\",\"why\":\"name\"}]", names[i]);
        CHECK_STR(hidden(v, text), want);
        CHECK_STR(places(v, text), at);
    }
}

TEST(names_that_only_sound_like_secrets_keep_their_values)
{
    static const char *const names[] = {
        "max_tokens",
        "token_count",
        "tokenizer",
        "next_page_token",
        "nextPageToken",
        "progressToken",
        "author",
        "authority",
        "authored_by",
        "token_type",
        "tokens",
        "total_tokens",
        "key",
        "keys",
        "keyword",
        "keywords",
        "monkey",
        "public_key",
        "primaryKey",
        "sort_key",
        "secretary",
        "secret_name",
        "password_policy",
        "passenger",
        "bypass",
        "compass",
        "cookie_name",
        "token_url",
        "tokenEndpoint",
        "credential_type",
        "path",
        "pattern",
        "compat",
        "auth",
        "auth_type",
        "authenticated",
        "signature",
        "design",
        "nextToken",
        "eos_token",
        "hotkey",
        "passed",
        "hash",
        "value",
        "header",
        "continuation_token",
        "key_id",
        "idempotency_key",
        "description",
        "string",
    };
    AUTO(vault) struct vault *v = vault_new();

    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        char text[128];

        snprintf(text, sizeof text, "{\"%s\":\"open sesame\",\"b\":1}", names[i]);
        CHECK_STR(hidden(v, text), text);
    }
}

TEST(by_name_json_keeps_its_shape)
{
    static const struct wanted cases[] = {
        { "{\"password\":1234}", "{\"password\":\"***\"}" },
        { "{\"password\":true,\"token\":null}", "{\"password\":true,\"token\":null}" },
        { "{\"password\":\"\"}", "{\"password\":\"\"}" },
        { "{\"password\":\"***\"}", "{\"password\":\"***\"}" },
        { "{\"password\":\"${DB_PASSWORD}\"}", "{\"password\":\"${DB_PASSWORD}\"}" },
        { "{\"pass\":12,\"fail\":3}", "{\"pass\":12,\"fail\":3}" },
        { "{ \"a\" : [ { \"token\" : \"x\\\"y\" } ] }", "{ \"a\" : [ { \"token\" : \"***\" } ] }" },
        { "{\"credentials\":{\"user\":\"joe\",\"list\":[\"a\",\"b\",7]}}",
          "{\"credentials\":{\"user\":\"***\",\"list\":[\"***\",\"***\",7]}}" },
        { "{\"p\\u0061ssword\":\"x\"}", "{\"p\\u0061ssword\":\"***\"}" },
        /* what describes a password is none */
        { "{\"properties\":{\"password\":{\"type\":\"string\",\"description\":\"Yours\"}},"
          "\"required\":[\"password\"]}",
          "{\"properties\":{\"password\":{\"type\":\"string\",\"description\":\"Yours\"}},"
          "\"required\":[\"password\"]}" },
        /* JSON in text, as tools answer */
        { "{\"content\":[{\"type\":\"text\",\"text\":\"{\\\"api_key\\\": \\\"sesame\\\"}\"}]}",
          "{\"content\":[{\"type\":\"text\",\"text\":\"{\\\"api_key\\\": \\\"***\\\"}\"}]}" },
        { "{\"env\":[{\"name\":\"API_KEY\",\"value\":\"sesame\"},{\"name\":\"A\",\"value\":\"b\"}]}",
          "{\"env\":[{\"name\":\"API_KEY\",\"value\":\"***\"},{\"name\":\"A\",\"value\":\"b\"}]}" },
        { "{\"key\":\"PROJ-1\"}", "{\"key\":\"PROJ-1\"}" },
        /* apart, in any order, of any type, within strings; but of one object */
        { "{\"name\":\"API_KEY\",\"required\":true,\"value\":\"sesame\"}",
          "{\"name\":\"API_KEY\",\"required\":true,\"value\":\"***\"}" },
        { "[{\"value\":\"sesame\",\"a\":{\"name\":\"x\"},\"name\":\"API_KEY\"}]",
          "[{\"value\":\"***\",\"a\":{\"name\":\"x\"},\"name\":\"API_KEY\"}]" },
        { "{\"value\" : [\"sesame\"], \"key\" : \"DB_PASSWORD\"}",
          "{\"value\" : [\"***\"], \"key\" : \"DB_PASSWORD\"}" },
        { "{\"name\":\"DB_PASSWORD\",\"n\":1,\"value\":1234}",
          "{\"name\":\"DB_PASSWORD\",\"n\":1,\"value\":\"***\"}" },
        { "{\"text\":\"{\\\"value\\\":\\\"sesame\\\",\\\"name\\\":\\\"API_KEY\\\"}\"}",
          "{\"text\":\"{\\\"value\\\":\\\"***\\\",\\\"name\\\":\\\"API_KEY\\\"}\"}" },
        { "{\"value\":\"b\",\"of\":{\"name\":\"API_KEY\"}}",
          "{\"value\":\"b\",\"of\":{\"name\":\"API_KEY\"}}" },
        { "[{\"value\":\"b\",\"name\":\"A\"},{\"name\":\"API_KEY\"}]",
          "[{\"value\":\"b\",\"name\":\"A\"},{\"name\":\"API_KEY\"}]" },
        { "{\"value\":\"b\",\"names\":[\"name\",\"API_KEY\"]}",
          "{\"value\":\"b\",\"names\":[\"name\",\"API_KEY\"]}" },
        { "{\"key\":\"a81bc81bdead4e5dabff\"}", "{\"key\":\"***\"}" },
        { "{\"pwd\":\"/srv/joe/x\"}", "{\"pwd\":\"/srv/joe/x\"}" },
        { "{\"log\":\"line\\nDB_PASSWORD=sesame\\nend\"}",
          "{\"log\":\"line\\nDB_PASSWORD=***\\nend\"}" },
    };
    AUTO(vault) struct vault *v = vault_new();

    CHECK_ALL(v, cases);
}

TEST(in_other_text_names_count_too)
{
    static const struct wanted cases[] = {
        { "DB_PASSWORD=sesame", "DB_PASSWORD=***" },
        { "export API_KEY='sesame' # mine", "export API_KEY='***' # mine" },
        { "Authorization: Bearer abc.def", "Authorization: Bearer ***" },
        { "GET / HTTP/1.1\r\nAuthorization: Basic am9lOng=\r\nHost: x",
          "GET / HTTP/1.1\r\nAuthorization: Basic ***\r\nHost: x" },
        { "Cookie: sid=31d4; theme=dark\nx", "Cookie: ***\nx" },
        { "curl -H \"Authorization: Token abc\" http://x/",
          "curl -H \"Authorization: Token ***\" http://x/" },
        { "mysql --password sesame -u joe", "mysql --password *** -u joe" },
        { "mysql --password=sesame -u joe", "mysql --password=*** -u joe" },
        { "postgres://joe:sesame@db/x", "postgres://***@db/x" },
        { "GET /x?page=2&token=sesame&y=1", "GET /x?page=2&token=***&y=1" },
        { "password: hunter2", "password: ***" },
        { "db:\n  password: sesame\n  host: x", "db:\n  password: ***\n  host: x" },
        { "token = \"sesame\"", "token = \"***\"" },
        { "{'password': 'sesame', 'a': 1}", "{'password': '***', 'a': 1}" },
        { "{\"password\": \"sesame\", trailing", "{\"password\": \"***\", trailing" },
    };
    AUTO(vault) struct vault *v = vault_new();

    CHECK_ALL(v, cases);
    CHECK_STR(places(v, "DB_PASSWORD=sesame"), "[{\"at\":\"\",\"why\":\"name\"}]");
}

/* ---- by pattern ---- */

TEST(keys_of_well_known_services_are_known_by_their_shape)
{
    static const char *const keys[] = {
        "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
        "gho_16C7e42F292c6912E7710c838347Ae178B4a",
        "github_pat_11ABCDEFG0abcdefghijkl_mnopqrstuvwxyz0123456789",
        "sk-proj-4f8a9b2c3d4e5f6a7b8c9d0e",
        "sk-ant-api03-AbCdEf0123456789-AbCdEf0123456789_AA",
        "AKIAIOSFODNN7EXAMPLE",
        "AIzaSyD-9tSrke72PouQMnMX-a7eZSW0jkFMBWY",
        "xoxb-123456789012-1234567890123-AbCdEfGhIjKlMnOpQrStUvWx",
        "sk_live_4eC39HqLyjWDarjtT1zdp7dc",
        "npm_abcdefghijklmnopqrstuvwxyz0123456789",
        "glpat-ABCdef123456ghiJKL78",
        "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9P",
        "hf_abcdefghijklmnopqrstuvwxyzABCDEFGH",
        "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",
        "-----BEGIN RSA PRIVATE KEY-----\nMIIEowIBAAKCAQEA\nq83vEjRWeJCrze8S\n"
        "-----END RSA PRIVATE KEY-----",
        "-----BEGIN PRIVATE KEY-----\nMIIEowIBAAKCAQEA",
    };
    AUTO(vault) struct vault *v = vault_new();

    for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
        AUTO_BUF struct buf text = { 0 }, quoted = { 0 }, want = { 0 };

        buf_printf(&text, "it is %s", keys[i]);
        CHECK_STR(hidden(v, buf_cstr(&text)), "it is ***");
        json_quote(&quoted, buf_span(&text));
        buf_printf(&want, "{\"a/b\":[%s]}", buf_cstr(&quoted));
        CHECK_STR(hidden(v, buf_cstr(&want)), "{\"a/b\":[\"it is ***\"]}");
        CHECK_STR(places(v, buf_cstr(&want)), "[{\"at\":\"/a~1b/0\",\"why\":\"pattern\"}]");
    }
    CHECK_STR(hidden(v, "AKIAIOSFODNN7EXAMPLE,wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY,eu"),
              "***,***,eu");
    CHECK_STR(hidden(v, "got Bearer 0123456789abcdefXYZ!"), "got Bearer ***!");
}

/* ---- what stays ---- */

TEST(innocent_texts_stay_as_they_are)
{
    const char *const *texts = innocent_texts;
    AUTO(vault) struct vault *v = vault_new();

    vault_add(v, SPAN("/srv/joe/code/password/https://localhost/k39Zq7Lw2Xr8"));
    vault_add(v, SPAN("My-Password-is-2-long"));
    CHECK(ARRAY_LEN(innocent_texts) >= 100);
    for (size_t i = 0; i < ARRAY_LEN(innocent_texts); i++)
        CHECK_STR(hidden(v, texts[i]), texts[i]);
}

/* ---- where ---- */

TEST(what_was_hidden_is_told_with_its_place)
{
    AUTO(vault) struct vault *v = vault_new();

    vault_add(v, SPAN("correct-horse-7"));
    CHECK_STR(places(v, "{\"a\":[1,{\"b\":\"correct-horse-7 and correct-horse-7\"}],"
                        "\"c\":{\"token\":\"x\"}}"),
              "[{\"at\":\"/a/1/b\",\"why\":\"value\"},{\"at\":\"/c/token\",\"why\":\"name\"}]");
    CHECK_STR(places(v, "{\"t\":\"{\\\"x\\\":{\\\"token\\\":\\\"1\\\"}}\"}"),
              "[{\"at\":\"/t\",\"why\":\"name\"}]");
    /* the place of a secret does not tell it */
    CHECK_STR(places(v, "{\"correct-horse-7\":{\"token\":\"x\"}}"),
              "[{\"at\":\"/***\",\"why\":\"value\"},{\"at\":\"/***/token\",\"why\":\"name\"}]");
    CHECK_STR(places(v, "nothing"), "[]");
}

TEST(only_so_many_places_are_told)
{
    AUTO(vault) struct vault *v = vault_new();

    for (int over = 0; over < 3; over++) {
        AUTO_BUF struct buf text = { 0 };
        AUTO_JSON struct json_doc doc = { 0 };
        const char *told;

        buf_byte(&text, '[');
        for (int i = 0; i < REDACT_TOLD_MAX + over; i++)
            buf_printf(&text, "%s{\"token\":\"x\"}", i ? "," : "");
        buf_byte(&text, ']');
        told = places(v, buf_cstr(&text));
        CHECK_INT(json_parse(&doc, span_of(told), NULL, NULL), 0);
        CHECK_INT(json_len(json_root(&doc)), REDACT_TOLD_MAX + (over > 0));
        if (over == 2)
            CHECK_HAS(told, ",{\"more\":2}]");
    }
}

TEST(a_place_that_is_too_long_is_told_by_what_it_lies_in)
{
    AUTO(vault) struct vault *v = vault_new();

    for (int over = 0; over < 2; over++) {
        AUTO_BUF struct buf text = { 0 };

        buf_str(&text, "{\"a\":{\"");
        for (int i = 0; i < REDACT_AT_MAX * (over ? 2 : 1) - (over ? 0 : 64); i++)
            buf_byte(&text, 'k');
        buf_str(&text, "\":{\"token\":\"x\"}}}");
        if (over)
            CHECK_STR(places(v, buf_cstr(&text)), "[{\"at\":\"/a\",\"why\":\"name\"}]");
        else
            CHECK_HAS(places(v, buf_cstr(&text)), "kkk/token\"");
    }
}

TEST(json_in_json_is_read_so_deep)
{
    AUTO(vault) struct vault *v = vault_new();
    AUTO_BUF struct buf text = { 0 };

    buf_str(&text, "{\"credential\":{\"a\":\"open sesame\"}}");
    for (int i = 0; i < REDACT_NEST_MAX + 2; i++) {
        AUTO_BUF struct buf quoted = { 0 };
        bool found = !strstr(hidden(v, buf_cstr(&text)), "sesame");

        CHECK_INT(found, i < REDACT_NEST_MAX);
        json_quote(&quoted, buf_span(&text));
        text.n = 0;
        buf_printf(&text, "{\"text\":%s}", buf_cstr(&quoted));
    }
}

TEST(a_string_with_too_many_secrets_is_hidden)
{
    AUTO(vault) struct vault *v = vault_new();

    vault_add(v, SPAN("correct-horse-7"));
    for (int over = 0; over < 2; over++) {
        AUTO_BUF struct buf text = { 0 };
        const char *shown;

        for (int i = 0; i < REDACT_HITS_MAX + over; i++)
            buf_str(&text, "correct-horse-7 ");
        buf_str(&text, "end");
        shown = hidden(v, buf_cstr(&text));
        CHECK(!strstr(shown, "correct"));
        CHECK_INT(strstr(shown, "end") != NULL, !over);
    }
}

/* ---- threads ---- */

static void *add_many(void *ctx)
{
    char text[32];

    for (int i = 0; i < 300; i++) {
        snprintf(text, sizeof text, "thread-secret-%05d", i);
        vault_add(ctx, span_of(text));
    }
    return NULL;
}

TEST(secrets_come_while_texts_are_looked_at)
{
    AUTO(vault) struct vault *v = vault_new();
    pthread_t thread;

    CHECK_INT(pthread_create(&thread, NULL, add_many, v), 0);
    for (int i = 0; i < 2000; i++)
        CHECK_STR(hidden(v, "{\"a\":\"nothing at all\"}"), "{\"a\":\"nothing at all\"}");
    pthread_join(thread, NULL);
    CHECK_STR(hidden(v, "x thread-secret-00299 y"), "x *** y");
}
