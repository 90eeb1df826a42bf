#include "hub/spec/mode.h"
#include "hub/spec/spec.h"
#include "tap.h"

static int add(struct mode_set *s, const char *id, const char *text, struct pb_error *err)
{
    AUTO_JSON struct json_doc doc = { 0 };

    CHECK_INT(json_parse(&doc, span_of(text), NULL, err), 0);
    return mode_set_add(s, span_of(id), json_root(&doc), err);
}

static const char *written(const struct mode *m)
{
    static struct buf out;
    struct json_out o;

    out.n = 0;
    o = json_out(&out);
    mode_write(&o, NULL, m);
    return buf_cstr(&out);
}

/* S0-126 */
TEST(full_access_is_always_there)
{
    struct mode_set *s = mode_set_new();
    const struct mode *m = mode_find(s, SPAN("full"));

    CHECK_INT(s->n, 1);
    CHECK(m == &s->modes[0]);
    CHECK_STR(m->id, "full");
    CHECK_STR(m->name, "Full Access");
    CHECK_STR(m->icon, "square.grid.3x3.fill");
    CHECK(filter_matches(m->filter, &(struct filter_subject){ SPAN("s"), SPAN("t") }));
    CHECK_STR(written(m), "{\"id\":\"full\",\"name\":\"Full Access\",\"icon\":"
                          "\"square.grid.3x3.fill\",\"filter\":\"all\"}");
    mode_set_unref(s);
}

/* S0-126 */
TEST(a_mode_survives_being_written_and_read)
{
    struct mode_set *s = mode_set_new(), *again = mode_set_new();
    static const char text[] = "{\"id\":\"ro\",\"name\":\"Read only\",\"icon\":\"eye\",\"filter\":"
                               "{\"and\":[{\"servers\":[\"fs\"]},{\"pattern\":\"^read\"}]}}";

    CHECK_INT(add(s, "", text, NULL), 0);
    CHECK_STR(written(mode_find(s, SPAN("ro"))), text);
    for (size_t i = 0; i < s->n; i++)
        CHECK_INT(add(again, "", written(&s->modes[i]), NULL), 0);
    CHECK_INT(again->n, 2);
    for (size_t i = 0; i < s->n; i++) {
        AUTO_FREE char *first = strdup(written(&s->modes[i]));

        CHECK_STR(written(&again->modes[i]), first);
    }
    CHECK(filter_matches(mode_find(again, SPAN("ro"))->filter,
                         &(struct filter_subject){ SPAN("fs"), SPAN("read_file") }));
    mode_set_unref(s);
    mode_set_unref(again);
}

TEST(a_mode_under_its_id_needs_only_a_filter)
{
    struct mode_set *s = mode_set_new();

    CHECK_INT(add(s, "ro", "{\"filter\":{\"pattern\":\"^read\"}}", NULL), 0);
    CHECK_STR(written(mode_find(s, SPAN("ro"))), "{\"id\":\"ro\",\"name\":\"ro\",\"icon\":\"\","
                                                 "\"filter\":{\"pattern\":\"^read\"}}");
    /* the same id again replaces it, in its place */
    CHECK_INT(add(s, "rw", "{\"id\":\"rw\",\"filter\":\"all\"}", NULL), 0);
    CHECK_INT(add(s, "ro", "{\"name\":\"R\",\"filter\":\"none\"}", NULL), 0);
    CHECK_INT(s->n, 3);
    CHECK_STR(written(&s->modes[1]),
              "{\"id\":\"ro\",\"name\":\"R\",\"icon\":\"\",\"filter\":\"none\"}");
    CHECK(!mode_find(s, SPAN("r")));
    CHECK(!mode_find(s, SPAN("")));
    mode_set_unref(s);
}

TEST(full_access_can_be_renamed_but_not_narrowed)
{
    struct mode_set *s = mode_set_new();
    struct pb_error err;

    CHECK_INT(add(s, "full", "{\"filter\":\"none\"}", &err), -PB_E_INVALID);
    CHECK_HAS(err.msg, "mode 'full' is predefined");
    CHECK_INT(add(s, "full", "{\"name\":\"Alles\",\"filter\":{\"all\":{}}}", &err), 0);
    CHECK_INT(s->n, 1);
    CHECK_STR(s->modes[0].name, "Alles");
    mode_set_unref(s);
}

TEST(a_bad_mode_is_refused_and_named)
{
    struct mode_set *s = mode_set_new();
    static const char long_id[] = "0123456789012345678901234567890123456789012345678901234567890123"
                                  "4";
    static const struct {
        const char *id, *text, *msg;
    } cases[] = {
        { "x", "{}", "mode 'x': filter" },
        { "x", "7", "mode 'x': " },
        { "x", "{\"filter\":7}", "mode 'x': filter: expected \"all\" or an object" },
        { "x", "{\"filter\":\"all\",\"name\":1}", "mode 'x': name: expected a string" },
        { "x", "{\"filter\":\"all\",\"id\":\"y\"}", "mode 'x' says that its id is 'y'" },
        { "", "{\"filter\":\"all\"}", "the id of a mode has 1 to 64 bytes, not 0" },
        { long_id, "{\"filter\":\"all\"}", "the id of a mode has 1 to 64 bytes, not 65" },
        { "a/b", "{\"filter\":\"all\"}", "neither '/' nor control characters" },
        { "a\nb", "{\"filter\":\"all\"}", "neither '/' nor control characters" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct pb_error err;

        CHECK_INT(add(s, cases[i].id, cases[i].text, &err), -PB_E_INVALID);
        CHECK_HAS(err.msg, cases[i].msg);
        CHECK_INT(add(s, cases[i].id, cases[i].text, NULL), -PB_E_INVALID);
    }
    CHECK_INT(s->n, 1);
    CHECK_INT(add(s, "", "{\"id\":\"\xc3\xa4 b.c\",\"filter\":\"all\"}", NULL), 0);
    mode_set_unref(s);
}

TEST(the_number_of_modes_is_bounded)
{
    struct mode_set *s = mode_set_new();
    struct pb_error err;
    char id[16];

    for (int i = 1; i < MODES_MAX; i++) {
        snprintf(id, sizeof id, "m%d", i);
        CHECK_INT(add(s, id, "{\"filter\":\"all\"}", &err), 0);
    }
    CHECK_INT(s->n, MODES_MAX);
    CHECK_INT(add(s, "one-more", "{\"filter\":\"all\"}", &err), -PB_E_LIMIT);
    CHECK_HAS(err.msg, "1000 modes");
    CHECK_INT(add(s, "m5", "{\"filter\":\"none\"}", &err), 0);
    mode_set_unref(s);
}

TEST(a_set_lives_as_long_as_it_is_held)
{
    struct mode_set *s = mode_set_new(), *held = mode_set_ref(s);

    mode_set_unref(s);
    CHECK(mode_find(held, SPAN("full")));
    mode_set_unref(held);
    mode_set_unref(NULL);
}
