/* Tokens beside the daemon's own: the file they are kept in, and which one a text is. */
#include "face/caller/caller.h"
#include "face/caller/tokens.h"
#include "tap.h"

static void digest_of(const char *token, uint8_t out[static SHA256_BYTES])
{
    sha256(span_of(token), out);
}

static int add(struct tokens *t, const char *name, enum token_may may, const char *token,
               struct pb_error *err)
{
    uint8_t digest[SHA256_BYTES];

    digest_of(token, digest);
    return tokens_add(t, span_of(name), may, digest, 1700000000, err);
}

TEST(a_token_is_found_by_its_text_and_kept_without_it)
{
    AUTO(tokens) struct tokens *t = tokens_new(), *back = NULL;
    AUTO_BUF struct buf text = { 0 }, again = { 0 };
    struct pb_error err;

    CHECK_INT(add(t, "claude", TOKEN_MCP, "one", &err), 0);
    CHECK_INT(add(t, "grafana.2", TOKEN_READ, "two", &err), 0);
    CHECK_INT(add(t, "me", TOKEN_ALL, "three", &err), 0);
    tokens_write(&text, t);
    CHECK(!strstr(buf_cstr(&text), "\"one\"") && !strstr(buf_cstr(&text), "two"));
    CHECK_INT(tokens_parse(&back, buf_span(&text), &err), 0);
    tokens_write(&again, back);
    CHECK_STR(buf_cstr(&again), buf_cstr(&text));
    CHECK_INT(back->n, 3);
    CHECK_STR(tokens_find(back, SPAN("two"))->name, "grafana.2");
    CHECK_INT(tokens_find(back, SPAN("two"))->may, TOKEN_READ);
    CHECK_INT(tokens_find(back, SPAN("two"))->created, 1700000000);
    CHECK(!tokens_find(back, SPAN("tw")) && !tokens_find(back, SPAN("")));
    /* Who it is stays the same, and tells nothing. */
    CHECK_STR(tokens_find(back, SPAN("one"))->principal, tokens_find(t, SPAN("one"))->principal);
    CHECK(strcmp(tokens_find(t, SPAN("one"))->principal, tokens_find(t, SPAN("two"))->principal));
    CHECK(!strstr(buf_cstr(&text), tokens_find(t, SPAN("one"))->principal));

    CHECK(tokens_remove(back, "claude") && !tokens_remove(back, "claude"));
    CHECK(!tokens_find(back, SPAN("one")) && tokens_find(back, SPAN("three")));
}

TEST(names_are_plain_and_given_once)
{
    AUTO(tokens) struct tokens *t = tokens_new();
    char longest[HUB_NAME_MAX + 2];
    struct pb_error err;

    memset(longest, 'a', sizeof longest - 1);
    longest[sizeof longest - 1] = '\0';
    CHECK_INT(add(t, "a", TOKEN_MCP, "1", &err), 0);
    CHECK_INT(add(t, "a", TOKEN_ALL, "2", &err), -PB_E_INVALID);
    CHECK_HAS(err.msg, "there is a token 'a' already");
    CHECK_INT(add(t, "", TOKEN_MCP, "2", &err), -PB_E_INVALID);
    CHECK_INT(add(t, "a b", TOKEN_MCP, "2", &err), -PB_E_INVALID);
    CHECK_INT(add(t, "../a", TOKEN_MCP, "2", &err), -PB_E_INVALID);
    CHECK_INT(add(t, longest, TOKEN_MCP, "2", &err), -PB_E_INVALID);
    CHECK_INT(add(t, longest + 1, TOKEN_MCP, "2", &err), 0);
}

TEST(there_is_a_bound)
{
    AUTO(tokens) struct tokens *t = tokens_new();
    AUTO_FREE char *long_text = mem_alloc(TOKENS_BYTES_MAX + 1);
    struct tokens *none = NULL;
    struct pb_error err;
    char name[32];

    for (int i = 0; i < TOKENS_MAX; i++) {
        snprintf(name, sizeof name, "n%d", i);
        CHECK_INT(add(t, name, TOKEN_MCP, name, &err), 0);
    }
    CHECK_INT(add(t, "more", TOKEN_MCP, "more", &err), -PB_E_LIMIT);
    memset(long_text, ' ', TOKENS_BYTES_MAX + 1);
    CHECK_INT(tokens_parse(&none, span_make(long_text, TOKENS_BYTES_MAX + 1), &err), -PB_E_LIMIT);
    CHECK_INT(tokens_parse(&none, span_make(long_text, TOKENS_BYTES_MAX), &err), 0);
    CHECK_INT(none->n, 0);
    tokens_free(none);
}

#define SUM "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

TEST(what_is_wrong_in_the_file_is_named)
{
    static const struct {
        const char *text, *told;
    } cases[] = {
        { "x", "line 1" },
        { "[]", "tokens: expected an array" },
        { "{}", "tokens: expected an array" },
        { "{\"tokens\":{}}", "tokens: expected an array" },
        { "{\"tokens\":[1]}", "tokens[0]: " },
        { "{\"tokens\":[{\"name\":\"a\",\"may\":\"mcp\"}]}", "tokens[0]: " },
        { "{\"tokens\":[{\"name\":\"a\",\"may\":\"mcp\",\"sha256\":\"12\"}]}",
          "tokens[0]: sha256: expected 64" },
        { "{\"tokens\":[{\"name\":\"a\",\"may\":\"most\",\"sha256\":\"" SUM "\"}]}",
          "tokens[0]: may: expected" },
        { "{\"tokens\":[{\"name\":\"a/\",\"may\":\"mcp\",\"sha256\":\"" SUM "\"}]}",
          "tokens[0]: the name of a token" },
        { "{\"tokens\":[{\"name\":\"a\",\"may\":\"mcp\",\"may\":\"all\",\"sha256\":\"" SUM "\"}]}",
          "a key that this object already has" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct tokens *t = NULL;
        struct pb_error err;

        CHECK(tokens_parse(&t, span_of(cases[i].text), &err) < 0);
        CHECK(!t);
        CHECK_HAS(err.msg, cases[i].told);
    }
}
