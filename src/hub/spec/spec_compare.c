#include "spec.h"

/* Everything that decides which program answers and how it is reached, each part with its length in
 * front, so that no two specs run together. */
static void add_text(struct buf *out, const char *s)
{
    if (!s)
        buf_str(out, "-,");
    else
        buf_printf(out, "%zu:%s,", strlen(s), s);
}

static void add_words(struct buf *out, const char *const *words)
{
    for (; *words; words++)
        add_text(out, *words);
    buf_byte(out, ';');
}

static void add_program(struct buf *out, const struct spec *s)
{
    add_text(out, spec_transport_name(s->transport));
    buf_byte(out, s->guess_sse ? 'g' : '.');
    add_text(out, s->command);
    add_words(out, s->args);
    add_words(out, s->env);
    add_text(out, s->inherit_env);
    add_text(out, s->cwd);
    add_text(out, s->url);
    add_words(out, s->headers);
    add_text(out, spec_auth_name(s->auth));
    for (const struct spec_env_var *v = s->env_vars; v->name; v++)
        add_text(out, v->name);
    buf_byte(out, ';');
    add_text(out, s->keyfile_path);
    add_text(out, s->oauth);
    add_text(out, s->config);
    add_text(out, s->uuid); /* under which its secrets lie */
}

bool spec_same_link(const struct spec *a, const struct spec *b)
{
    AUTO_BUF struct buf ta = { 0 }, tb = { 0 };

    if (a->era != b->era || a->instance != b->instance)
        return false;
    add_program(&ta, a);
    add_program(&tb, b);
    return span_eq(buf_span(&ta), buf_span(&tb));
}

bool spec_equal(const struct spec *a, const struct spec *b)
{
    AUTO_BUF struct buf ta = { 0 }, tb = { 0 };

    /* What is written is everything that differs from its default, and in one order. The program is
     * compared by its bytes all the same: JSON cannot write those that are not UTF-8. */
    if (a->runtime_only != b->runtime_only || strcmp(a->name, b->name) != 0 ||
        !spec_same_link(a, b))
        return false;
    spec_write(&ta, a);
    spec_write(&tb, b);
    return span_eq(buf_span(&ta), buf_span(&tb));
}

void spec_fingerprint(const struct spec *s, char out[static SHA256_BYTES * 2 + 1])
{
    AUTO_BUF struct buf text = { 0 };

    add_program(&text, s);
    sha256_hex(buf_span(&text), out);
}
