/* bench_redact - what it costs to look for secrets in what is recorded, with the secrets of a hub
 * of a hundred servers known. One JSON line per case; times are of this thread's work. */
#include "cpu_time.h"
#include "hub/secrets/secrets.h"
#include <stdio.h>

enum { SECRETS = 300, RUNS = 9 };

static double best_ns(struct vault *v, struct span text, bool *changed)
{
    size_t rounds = 20000000 / (text.n + 100) + 1;
    double best = 1e300;

    for (int run = 0; run < RUNS; run++) {
        AUTO_BUF struct buf b = { 0 };
        double from = 0, ns;

        buf_add_span(&b, text);
        from = cpu_ms();
        for (size_t i = 0; i < rounds; i++) {
            *changed = vault_redact(v, &b, NULL);
            if (*changed) { /* it is there again for the next round, which is part of the time */
                b.n = 0;
                buf_add_span(&b, text);
            }
        }
        ns = (cpu_ms() - from) * 1e6 / (double)rounds;
        best = ns < best ? ns : best;
    }
    return best;
}

static void measure(struct vault *v, const char *name, struct span text)
{
    bool changed = false;
    double ns = best_ns(v, text, &changed);

    printf("{\"case\":\"%s\",\"bytes\":%zu,\"changed\":%s,\"ns\":%.0f,\"ns_per_byte\":%.2f}\n",
           name, text.n, changed ? "true" : "false", ns, ns / (double)text.n);
}

static void repeat(struct buf *b, const char *text, size_t n)
{
    while (b->n < n)
        buf_str(b, text);
}

int main(void)
{
    AUTO(vault) struct vault *v = vault_new();
    AUTO_BUF struct buf prose = { 0 }, json = { 0 }, names = { 0 };
    char id[ID_CHARS + 1];

    for (int i = 0; i < SECRETS; i++) {
        id_new(id);
        vault_add(v, span_make(id, 8 + (size_t)i % 25));
    }
    repeat(&prose, "The quick brown fox jumps over the lazy dog, and nobody is surprised. ",
           1 << 20);
    buf_byte(&json, '[');
    repeat(&json,
           "{\"id\":17,\"name\":\"src/main.c\",\"type\":\"file\",\"size\":4711,\"url\":"
           "\"https://example.com/repos/owner/name/contents/src/main.c\",\"text\":\"int main(void)"
           "\\n{\\n    return 0;\\n}\\n\"},",
           1 << 20);
    buf_str(&json, "0]");
    buf_str(&names, "{\"content\":[{\"type\":\"text\",\"text\":\"{\\\"access_token\\\":\\\"abc\\\","
                    "\\\"expires_in\\\":3600}\"}]}");
    measure(v, "arguments",
            SPAN("{\"repository\":\"owner/name\",\"pattern\":\"struct \\\\w+ \\\\{\",\"page\":1,"
                 "\"per_page\":100,\"sort\":\"updated\"}"));
    measure(v, "answer",
            SPAN("{\"content\":[{\"type\":\"text\",\"text\":\"Done: 3 files changed, 17 lines "
                 "added\"}],\"isError\":false}"));
    measure(v, "a name", buf_span(&names));
    measure(v, "prose of 1 MB", buf_span(&prose));
    measure(v, "JSON of 1 MB", buf_span(&json));
    json.n -= 2;
    buf_str(&json, "{\"token\":\"x\"}]");
    measure(v, "JSON of 1 MB with one secret", buf_span(&json));
    return 0;
}
