/* What it costs to look for secrets grows with the text, whoever wrote it. */
#include "hub/secrets/secrets.h"
#include "tap.h"
#include <time.h>

enum { SHORT_BYTES = 131072, LONGER = 4 };

static double cpu_ms(void)
{
    struct timespec t;

    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t);
    return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

struct pattern {
    const char *head, *again, *tail;
};

static void repeat(struct buf *out, const struct pattern *p, size_t n)
{
    out->n = 0;
    buf_str(out, p->head);
    while (out->n < n)
        buf_str(out, p->again);
    buf_str(out, p->tail);
}

/* The best of three. */
static double cost(struct vault *v, const struct pattern *p, size_t n)
{
    double best = 1e9;

    for (int i = 0; i < 3; i++) {
        AUTO_BUF struct buf text = { 0 };
        double from, ms;

        repeat(&text, p, n);
        from = cpu_ms();
        vault_redact(v, &text, NULL);
        ms = cpu_ms() - from;
        best = ms < best ? ms : best;
    }
    return best;
}

/* Four times as much may take four times as long; were it sixteen, bytes would be looked at again
 * and again. */
static void check_cost(struct vault *v, const struct pattern *p)
{
    const double nothing = 40, twice_linear = 2 * LONGER;
    double more = cost(v, p, (size_t)SHORT_BYTES * LONGER), less;

    if (more < nothing)
        return;
    less = cost(v, p, SHORT_BYTES);
    if (more > less * twice_linear)
        TAP_FAIL("'%s%s...%s': %d bytes take %.1f ms, %d times as many %.1f", p->head, p->again,
                 p->tail, SHORT_BYTES, less, LONGER, more);
}

TEST(no_text_costs_more_than_its_length)
{
    static const struct pattern patterns[] = {
        { "", "cookie: ", "" },
        { "", "authorization:", "" },
        { "", "-----BEGIN PRIVATE KEY-----", "" },
        { "", "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----" },
        { "", "-----BEGIN PRIVATE KEY-----\"", "" },
        { "", "password=", "" },
        { "", "PASSWORD=", "" },
        { "", "key=", "" },
        { "", "--password=", "" },
        { "", "--password ", "" },
        { "\"", "\\\"password\\\":\\\"", "\"" },
        { "", "password='\\'", "" },
        { "", "sk-", "" },
        { "", "sk-12", "" },
        { "", "xoxb-a_", "" },
        { "", "AIza-", "" },
        { "", "SG.", "" },
        { "", "AKIAIOSFODNN7EXAMPLE/", "" },
        { "", ".eyJabcdefghijk", "" },
        { "", "@", "" },
        { "//", "a@:", "" },
        { "", "Bearer 1", "" },
        { "", "shared-begin", "" },
        { "", "shared-beginning-of-many-0001 ", "" },
        { "", "long-secret-long-secret-long-", "" },
        { "[", "\"shared-begin\",", "1]" },
        { "[", "{\"value\":\"x\",\"a\":", "" },
        { "", "{\"value\":1,\"value\":2,\"a\":", "" },
        { "{\"name\":\"A_KEY\"", ",\"value\":\"x\"", "}" },
        { "{\"a\":1", ",\"value\":\"x\"", ",\"name\":\"A_KEY\"}" },
        { "\"", "\\\\", "\"" },
        { "", "\\u0041", "" },
        { "API_KEY=correct-horse-7", "\x80", "" },
    };
    AUTO(vault) struct vault *v = vault_new();
    AUTO_BUF struct buf text = { 0 };

    vault_add(v, SPAN("correct-horse-7"));
    for (int i = 0; i < 2000; i++) {
        text.n = 0;
        buf_printf(&text, "shared-beginning-of-many-%04d", i);
        vault_add(v, buf_span(&text));
    }
    text.n = 0;
    while (text.n < 60000)
        buf_str(&text, "long-secret-");
    vault_add(v, buf_span(&text));
    for (size_t i = 0; i < ARRAY_LEN(patterns); i++)
        check_cost(v, &patterns[i]);
}

TEST(what_is_too_long_to_look_at_is_hidden)
{
    AUTO(vault) struct vault *v = vault_new();
    AUTO_BUF struct buf text = { 0 };

    repeat(&text, &(struct pattern){ "", "password=", "" }, SHORT_BYTES);
    CHECK(vault_redact(v, &text, NULL));
    CHECK_STR(buf_cstr(&text), "***");
    repeat(&text, &(struct pattern){ "{\"a\":\"b\",\"c\":\"", "password=", "\"}" }, SHORT_BYTES);
    CHECK(vault_redact(v, &text, NULL));
    CHECK_STR(buf_cstr(&text), "{\"a\":\"b\",\"c\":\"***\"}");
    /* what is read once is judged as it always was */
    repeat(&text, &(struct pattern){ "", "cookie: ", "a\n" }, SHORT_BYTES);
    CHECK(!vault_redact(v, &text, NULL));
    repeat(&text, &(struct pattern){ "x\n", "cookie: ", "a=b\n" }, 100);
    CHECK(vault_redact(v, &text, NULL));
    CHECK_STR(buf_cstr(&text), "x\ncookie: ***\n");
    repeat(&text, &(struct pattern){ "", "mail joe@example.com,", "" }, SHORT_BYTES);
    CHECK(!vault_redact(v, &text, NULL));
}
