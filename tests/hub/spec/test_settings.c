/* test_settings.c - the table of settings, and what it makes of a file. */
#include "base/base.h"
#include "hub/config/config.h"
#include "hub/spec/spec.h"
#include "io/io.h"
#include "patchbay.h"
#include "tap.h"
#include "json/json.h"

static struct config *parse(const char *text, struct pb_error *err)
{
    static const struct config_request r;
    struct config *c = config_new();

    if (config_parse(c, "config.json", span_of(text), &r, err) == 0)
        return c;
    config_free(c);
    return NULL;
}

TEST(settings_are_sorted_and_explained)
{
    for (const struct setting *s = settings_table; s->name; s++) {
        CHECK(s->help && *s->help && s->fallback && *s->fallback);
        if (s[1].name)
            CHECK(strcmp(s->name, s[1].name) < 0);
    }
}

TEST(without_a_word_the_hub_tries_five_times_and_restarts_three_times)
{
    AUTO(config) struct config *c = parse("{}", NULL);

    CHECK(c != NULL);
    CHECK_INT(c->settings.reconnect_max, 5);
    CHECK_INT(c->settings.reconnect_base_ms, 1000);
    CHECK_INT(c->settings.restart_max, 3);
    CHECK_INT(c->settings.call_ms, 30000);
    CHECK(!c->settings.reconnect_jitter);
    CHECK(!c->settings.retry_initial);
    CHECK_STR(c->settings.tool_refresh, "on_change");
}

TEST(what_a_file_says_about_settings_is_taken)
{
    AUTO(config)
    struct config *c =
        parse("{\"settings\":{\"reconnect_max\":7,\"reconnect_base_s\":0.25,\"restart_max\":0,"
              "\"retry_initial\":true,\"tool_refresh\":\"on_connect\",\"server_name\":\"Mine\","
              "\"health_s\":0}}",
              NULL);

    CHECK(c != NULL);
    CHECK_INT(c->settings.reconnect_max, 7);
    CHECK_INT(c->settings.reconnect_base_ms, 250);
    CHECK_INT(c->settings.restart_max, 0);
    CHECK_INT(c->settings.health_ms, 0);
    CHECK(c->settings.retry_initial);
    CHECK_STR(c->settings.tool_refresh, "on_connect");
    CHECK_STR(c->settings.server_name, "Mine");
    CHECK_INT(c->n_warnings, 0);
}

TEST(a_bad_setting_is_refused_by_file_line_and_name)
{
    static const struct {
        const char *text, *want;
    } cases[] = {
        { "{\"settings\":{\n\"reconnect_max\":-1}}",
          "config.json:2: settings.reconnect_max: -1 is outside 0..1e+06" },
        { "{\"settings\":{\"reconnect_max\":1.5}}", "expected a whole number, got 1.5" },
        { "{\"settings\":{\"timeout_s\":\"30\"}}", "expected a number, got a string" },
        { "{\"settings\":{\"timeout_s\":0}}", "0 is outside 0.001..86400 seconds" },
        { "{\"settings\":{\"retry_initial\":1}}", "expected true or false, got a number" },
        { "{\"settings\":{\"tool_refresh\":\"never\"}}",
          "expected \"on_change\" or \"on_connect\"" },
        { "{\"settings\":[]}", "settings: expected an object" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct pb_error err;

        CHECK(parse(cases[i].text, &err) == NULL);
        CHECK_HAS(err.msg, cases[i].want);
    }
}

TEST(a_setting_that_is_not_known_is_a_warning)
{
    AUTO(config) struct config *c = parse("{\"settings\":{\"colour\":\"red\"}}", NULL);

    CHECK(c != NULL);
    CHECK_INT(c->n_warnings, 1);
    CHECK_HAS(c->warnings[0], "settings.colour: unknown, ignoring");
}
