/* fuzz_config - any text as a config file, as one entry and as an inline server. Whatever is
 * accepted has good names, is complete, is written as JSON that reads back as the same, and shows
 * no secret. Whatever is refused says why, in printable text. */
#include "hub/config/config.h"
#include "hub/spec/spec.h"

#define MUST(cond)   \
    do {             \
        if (!(cond)) \
            abort(); \
    } while (0)

#define CANARY "Zq7canary"

static const char *lookup(void *ctx, const char *name)
{
    (void)ctx;
    if (!strcmp(name, "SECRET"))
        return CANARY;
    return !strcmp(name, "A") ? "a" : !strcmp(name, "E") ? "" : NULL;
}

static const char *nothing(void *ctx, const char *name)
{
    (void)ctx, (void)name;
    return NULL;
}

static const struct config_request request = { .env = lookup }, bare = { .env = nothing };

static void check_message(const struct pb_error *err)
{
    MUST(err->code && err->msg[0]);
    for (const char *p = err->msg; *p; p++)
        MUST((unsigned char)*p >= ' ' && *p != 0x7f);
}

static bool holds(const char *const *words, const char *part)
{
    for (; *words; words++)
        if (strstr(*words, part))
            return true;
    return false;
}

static bool text_holds(const char *s, const char *part) { return s && strstr(s, part); }

/* Did the secret get to where secrets are hidden only if they look like one, or a name? */
static bool exposed(const struct spec *s)
{
    AUTO_BUF struct buf names = { 0 };

    for (const char *const *e = s->env; *e; e++)
        buf_printf(&names, "%.*s\n", (int)strcspn(*e, "="), *e);
    for (const char *const *h = s->headers; *h; h++)
        buf_printf(&names, "%.*s\n", (int)strcspn(*h, ":"), *h);
    return text_holds(s->command, CANARY) || holds(s->args, CANARY) || text_holds(s->url, CANARY) ||
           text_holds(s->cwd, CANARY) || strstr(buf_cstr(&names), CANARY);
}

static void check_masked(const struct spec *s, struct span input)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_BUF struct buf shown = { 0 }, described = { 0 };

    spec_write_masked(&shown, s);
    spec_describe(&described, s);
    MUST(json_parse(&doc, buf_span(&shown), NULL, NULL) == 0);
    /* the input may hold it by itself, anywhere */
    if (memmem(input.p, input.n, CANARY, strlen(CANARY)) || exposed(s))
        return;
    MUST(!strstr(buf_cstr(&shown), CANARY) && !strstr(buf_cstr(&described), CANARY));
}

static void check_spec(const struct spec *s, struct span input)
{
    AUTO_BUF struct buf text = { 0 };
    AUTO(spec) struct spec *again = NULL;
    char sum[SHA256_BYTES * 2 + 1];

    MUST(spec_check_name(span_of(s->name), NULL) == 0);
    MUST(s->display_name && s->args && s->env && s->headers && s->env_vars && s->config);
    MUST(s->enabled_tools && s->disabled_tools);
    MUST(s->timeout_ms <= (uint64_t)SPEC_SECONDS_MAX * 1000);
    MUST(s->transport == SPEC_STDIO ? s->command && *s->command && !s->url
                                    : s->url && *s->url && !s->command);
    spec_fingerprint(s, sum);
    MUST(strlen(sum) == SHA256_BYTES * 2);
    check_masked(s, input);
    spec_write(&text, s);
    /* what still looks like a variable would be filled in a second time; a command in one string
     * would be split a second time */
    if (strstr(buf_cstr(&text), "${") || (s->command && strpbrk(s->command, " \t")))
        return;
    MUST(spec_parse(&again, s->name, buf_span(&text), false, &bare, NULL) == 0);
    MUST(spec_equal(s, again) && spec_same_link(s, again));
}

static void check_file(struct span text)
{
    AUTO(config) struct config *c = config_new();
    struct pb_error err = { 0 };
    struct map_slot *slot;

    if (config_parse(c, "f.json", text, &request, &err) < 0) {
        check_message(&err);
        return;
    }
    MUST(c->n_files == 1);
    MAP_FOREACH(slot, &c->specs)
        check_spec(slot->value, text);
    for (size_t i = 0; i < c->n_warnings; i++)
        MUST(c->warnings[i][0]);
}

static void check_entry(struct span text, bool strict)
{
    AUTO(spec) struct spec *s = NULL;
    struct pb_error err = { 0 };

    if (spec_parse(&s, "x", text, strict, &request, &err) < 0)
        check_message(&err);
    else
        check_spec(s, text);
}

static void check_inline(struct span text)
{
    AUTO_FREE char *copy = mem_dupn(text.p, text.n);
    AUTO(spec) struct spec *s = NULL;
    struct pb_error err = { 0 };

    if (config_inline(&s, copy, &err) < 0) {
        check_message(&err);
        return;
    }
    MUST(spec_check_name(span_of(s->name), NULL) == 0);
    MUST(s->transport == SPEC_SSE ? s->url != NULL : s->command && *s->command);
}

static void check_slug(struct span text)
{
    AUTO_BUF struct buf slug = { 0 };

    spec_slug(&slug, text);
    MUST(spec_check_name(buf_span(&slug), NULL) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct span text = { (const char *)data, size };

    check_file(text);
    check_entry(text, true);
    check_entry(text, false);
    check_inline(text);
    check_slug(text);
    return 0;
}
