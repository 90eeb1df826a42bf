/* fuzz_add - any text where a server is to be added: pasted, and as one word of a command line.
 * Whatever is accepted has good names, is complete, and is written as JSON that reads back.
 * Whatever is refused says why, in printable text. */
#include "hub/add/add.h"
#include "hub/add/toml.h"
#include "hub/config/config.h"
#include "json/json.h"

#define MUST(cond)   \
    do {             \
        if (!(cond)) \
            abort(); \
    } while (0)

static void check_message(const struct pb_error *err)
{
    MUST(err->code && err->msg[0]);
    for (const char *p = err->msg; *p; p++)
        MUST((unsigned char)*p >= ' ' && *p != 0x7f);
}

static void check_servers(const struct config *c)
{
    const struct config_request bare = { .env = config_no_env };
    struct map_slot *slot;

    MUST(c->specs.n > 0);
    MAP_FOREACH(slot, &c->specs) {
        AUTO_BUF struct buf text = { 0 };
        AUTO(spec) struct spec *again = NULL;
        const struct spec *s = slot->value;

        MUST(spec_check_name(span_of(s->name), NULL) == 0);
        MUST(span_is(span_make(slot->key, slot->key_n), s->name));
        MUST(s->transport == SPEC_STDIO ? s->command && *s->command && !s->url
                                        : s->url && *s->url && !s->command);
        spec_write(&text, s);
        /* a command in one string would be split a second time */
        if (!s->command || !strpbrk(s->command, " \t"))
            MUST(spec_parse(&again, s->name, buf_span(&text), false, &bare, NULL) == 0);
    }
}

/* Half of all names are somebody's. */
static bool taken(void *ctx, const struct spec *s, const char *name)
{
    (void)ctx;
    MUST(s->command || s->url);
    return strlen(name) % 2;
}

static const struct add_around around = { "/srv/notes", taken, NULL };

static void check_paste(const char *text)
{
    AUTO(config) struct config *c = NULL;
    struct pb_error err = { 0 };

    if (add_paste(&c, text, &(struct add_request){ .around = &around }, &err) < 0)
        check_message(&err);
    else
        check_servers(c);
}

static void check_typed(const char *text)
{
    const char *const words[] = { text, NULL }, *const env[] = { "A=1", NULL };
    const char *scope = NULL;
    struct add_request r = { .words = words, .name = "mine", .env = env, .scope = &scope };
    AUTO(config) struct config *c = NULL;
    struct pb_error err = { 0 };

    if (add_read(&c, &r, &err) < 0)
        check_message(&err);
    else
        check_servers(c);
}

static void check_toml(struct span text)
{
    AUTO_BUF struct buf out = { 0 };
    AUTO_JSON struct json_doc doc = { 0 };
    struct pb_error err = { 0 };

    if (toml_to_json(&out, text, &err) < 0) {
        check_message(&err);
        MUST(out.n == 0);
        return;
    }
    MUST(json_parse(&doc, buf_span(&out), &(struct json_opts){ .unique_depth = JSON_ALL }, &err) ==
         0);
    MUST(json_is(json_root(&doc), JSON_OBJECT));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO_FREE char *text = mem_dupn((const char *)data, size);

    check_paste(text);
    check_typed(text);
    check_toml(span_make((const char *)data, size));
    return 0;
}
