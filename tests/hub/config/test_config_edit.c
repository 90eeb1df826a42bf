/* A person's file is changed where it must be and nowhere else. */
#include "hub/config/config.h"
#include "hub/config/config_edit.h"
#include "hub/config/config_edit_file.h"
#include "temp_dir.h"
#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>

static int save(const char *path, const char *name, const char *entry)
{
    struct pb_error err = { 0 };
    int rc = config_save_server(path, name, span_of(entry), &err);

    if (rc < 0)
        printf("# %s\n", err.msg);
    return rc;
}

TEST(a_new_file_is_made_with_its_directories_for_its_owner_only)
{
    const char *path = temp_path("a/b/config.json");

    CHECK_INT(save(path, "fs", "{\"command\":\"npx\",\"args\":[\"-y\",\"@x/fs\"]}"), 0);
    CHECK_STR(temp_read(path), "{\n"
                               "  \"mcpServers\": {\n"
                               "    \"fs\": {\n"
                               "      \"command\": \"npx\",\n"
                               "      \"args\": [\"-y\", \"@x/fs\"]\n"
                               "    }\n"
                               "  }\n"
                               "}\n");
    CHECK_INT(temp_mode(path), 0600);
    CHECK_INT(temp_mode(temp_path("a/b")), 0700);
    CHECK_INT(temp_mode(temp_path("a")), 0700);
}

TEST(every_other_byte_stays)
{
    static const struct {
        const char *what, *before, *after;
    } cases[] = {
        { "two spaces", "{\n  \"mcpServers\": {\n    \"a\": {}\n  },\n  \"x\": 1.0\n}\n",
          "{\n  \"mcpServers\": {\n    \"a\": {},\n    \"n\": {\n      \"url\": \"u\"\n    }\n  },\n"
          "  \"x\": 1.0\n}\n" },
        { "tabs, no newline at the end", "{\n\t\"mcpServers\": {\n\t\t\"a\": {}\n\t}\n}",
          "{\n\t\"mcpServers\": {\n\t\t\"a\": {},\n\t\t\"n\": {\n\t\t\t\"url\": \"u\"\n\t\t}\n\t}\n}" },
        { "four spaces, an empty object", "{\n    \"mcpServers\": {}\n}\n",
          "{\n    \"mcpServers\": {\n        \"n\": {\n            \"url\": \"u\"\n        }\n"
          "    }\n}\n" },
        { "an object that is missing", "{\n    \"theme\" :  \"dark\"\n}\n",
          "{\n    \"theme\" :  \"dark\",\n    \"mcpServers\":  {\n        \"n\": {\n"
          "            \"url\": \"u\"\n        }\n    }\n}\n" },
        { "CRLF", "{\r\n  \"mcpServers\": {\r\n    \"a\": {}\r\n  }\r\n}\r\n",
          "{\r\n  \"mcpServers\": {\r\n    \"a\": {},\r\n    \"n\": {\r\n      \"url\": \"u\"\r\n"
          "    }\r\n  }\r\n}\r\n" },
        { "one line", "{\"v\":1,\"mcpServers\":{\"a\":{}}}",
          "{\"v\":1,\"mcpServers\":{\"a\":{},\"n\":{\"url\":\"u\"}}}" },
        { "one line with air", "{ \"mcpServers\": { \"a\": {} } }\n",
          "{ \"mcpServers\": { \"a\": {}, \"n\": {\"url\":\"u\"} } }\n" },
        { "nothing but braces", "{}",
          "{\n  \"mcpServers\": {\n    \"n\": {\n      \"url\": \"u\"\n"
          "    }\n  }\n}" },
        { "replaced in its place",
          "{\n  \"mcpServers\": {\n    \"n\": {\n      \"command\": \"old\"\n    },\n"
          "    \"z\": {\"command\":   \"\\u0041\"}\n  }\n}\n",
          "{\n  \"mcpServers\": {\n    \"n\": {\n      \"url\": \"u\"\n    },\n"
          "    \"z\": {\"command\":   \"\\u0041\"}\n  }\n}\n" },
    };
    const char *path = temp_path("bytes.json");

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        printf("# %s\n", cases[i].what);
        temp_write(path, cases[i].before);
        CHECK_INT(save(path, "n", "{\"url\":\"u\"}"), 0);
        CHECK_STR(temp_read(path), cases[i].after);
    }
}

TEST(a_server_is_taken_out_of_any_shape_without_a_trace)
{
    static const struct {
        const char *name, *before, *after;
    } cases[] = {
        { "a", "{\n  \"mcpServers\": {\n    \"a\": {},\n    \"b\": {}\n  }\n}\n",
          "{\n  \"mcpServers\": {\n    \"b\": {}\n  }\n}\n" },
        { "b", "{\n  \"servers\": {\n    \"a\": {},\n    \"b\": {}\n  }\n}\n",
          "{\n  \"servers\": {\n    \"a\": {}\n  }\n}\n" },
        { "a", "{\n  \"mcp_servers\": {\n    \"a\": {}\n  }\n}\n",
          "{\n  \"mcp_servers\": {}\n}\n" },
        { "git-hub", "{\"mcps\": [{\"name\": \"x\"}, {\"name\": \"Git Hub\"}, {\"name\": \"y\"}]}",
          "{\"mcps\": [{\"name\": \"x\"}, {\"name\": \"y\"}]}" },
        { "a",
          "{\"servers\":{\"a\":{}},\"mcpServers\":{\"b\":1,\"a\":{}},\"mcps\":[{\"name\":\"a\"}]}",
          "{\"servers\":{},\"mcpServers\":{\"b\":1},\"mcps\":[]}" },
        { "\xc3\xa9", "{\"servers\":{\"\\u00e9\":{},\"e\":{}}}", "{\"servers\":{\"e\":{}}}" },
    };
    const char *path = temp_path("remove.json");
    struct pb_error err;

    setenv("PATCHBAY_HOME", temp_dir, 1);
    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        temp_write(path, cases[i].before);
        CHECK_INT(config_remove_server(path, cases[i].name, &err), 0);
        CHECK_STR(temp_read(path), cases[i].after);
        CHECK_INT(config_remove_server(path, cases[i].name, &err), -PB_E_NOT_FOUND);
        CHECK_STR(temp_read(path), cases[i].after);
    }
}

TEST(what_was_put_in_can_be_taken_out_again_byte_by_byte)
{
    static const char *const texts[] = {
        "{\"mcpServers\":{\"a\":1}}",
        "{ \"mcpServers\" : { \"a\" : 1 } }",
        "{\n\t\"mcpServers\": {\n\t\t\"a\": 1\n\t}\n}\n",
        "{\r\n \"mcpServers\":\r\n {\r\n  \"a\":1,\r\n\r\n  \"b\":2\r\n }\r\n}\r\n",
        "\n\n  {\"mcpServers\": {\n    \"a\": 1, \"b\": 2}, \"z\": [1,\n 2]}  \n\n",
        "{\"mcpServers\":{\n\n\n      \"a\":{\"x\":[{},[],\"\\ud800\"]}\n\n\n}}",
    };
    const char *path = temp_path("back.json");
    struct pb_error err;

    for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
        temp_write(path, texts[i]);
        CHECK_INT(save(path, "n", "{\"env\":{\"A\":\"1\"},\"args\":[\"x\",{\"y\":[]}]}"), 0);
        CHECK_INT(save(path, "n", "{\"url\":\"u\"}"), 0);
        CHECK_INT(config_remove_server(path, "n", &err), 0);
        CHECK_STR(temp_read(path), texts[i]);
    }
}

TEST(saving_leaves_one_entry_of_a_name)
{
    const char *path = temp_path("shapes.json");

    temp_write(
        path,
        "{\"servers\":{\"a\":{\"x\":1},\"b\":{}},\"mcps\":[{\"name\":\"A\"},{\"name\":\"a\"}]}");
    CHECK_INT(save(path, "a", "{\"url\":\"u\"}"), 0);
    CHECK_STR(temp_read(path), "{\"servers\":{\"b\":{}},\"mcps\":[],"
                               "\"mcpServers\":{\"a\":{\"url\":\"u\"}}}");
}

TEST(members_are_set_and_taken_out_where_the_server_is)
{
    const char *path = temp_path("member.json");
    struct pb_error err;

    temp_write(path, "{\n  \"mcps\": [\n    {\n      \"name\": \"GitHub\"\n    }\n  ]\n}\n");
    CHECK_INT(config_set_member(path, "github", "enabled", SPAN("false"), &err), 0);
    CHECK_STR(temp_read(path), "{\n  \"mcps\": [\n    {\n      \"name\": \"GitHub\",\n"
                               "      \"enabled\": false\n    }\n  ]\n}\n");
    CHECK_INT(config_set_member(path, "github", "enabled", SPAN("true"), &err), 0);
    CHECK_HAS(temp_read(path), "\"enabled\": true");
    CHECK_INT(config_set_member(path, "github", "enabled", (struct span){ 0 }, &err), 0);
    CHECK_STR(temp_read(path),
              "{\n  \"mcps\": [\n    {\n      \"name\": \"GitHub\"\n    }\n  ]\n}\n");
    CHECK_INT(config_set_member(path, "github", "enabled", (struct span){ 0 }, &err), 0);
    CHECK_INT(config_set_member(path, "gitlab", "enabled", SPAN("true"), &err), -PB_E_NOT_FOUND);
    CHECK_INT(config_set_member(path, "github", "enabled", SPAN("maybe"), &err), -PB_E_INVALID);
    CHECK_HAS(err.msg, "the new value of 'enabled'");
}

TEST(lists_of_an_entry_grow_and_shrink)
{
    static const char *const members[] = { "disabledTools", "disabled_tools", NULL };
    const char *path = temp_path("list.json");
    struct pb_error err;

    temp_write(path, "{\"mcpServers\": {\"a\": {}}}");
    CHECK_INT(config_list_member(path, "a", members, "x", true, &err), 0);
    CHECK_STR(temp_read(path), "{\"mcpServers\": {\"a\": {\"disabledTools\": [\"x\"]}}}");
    CHECK_INT(config_list_member(path, "a", members, "x", true, &err), 0);
    CHECK_INT(config_list_member(path, "a", members, "\"y\"", true, &err), 0);
    CHECK_STR(temp_read(path),
              "{\"mcpServers\": {\"a\": {\"disabledTools\": [\"x\",\"\\\"y\\\"\"]}}}");
    CHECK_INT(config_list_member(path, "a", members, "x", false, &err), 0);
    CHECK_STR(temp_read(path), "{\"mcpServers\": {\"a\": {\"disabledTools\": [\"\\\"y\\\"\"]}}}");
    CHECK_INT(config_list_member(path, "a", members, "\"y\"", false, &err), 0);
    CHECK_STR(temp_read(path), "{\"mcpServers\": {\"a\": {}}}");

    temp_write(path, "{\"servers\": {\"a\": {\"disabled_tools\": [\"x\"]}}}");
    CHECK_INT(config_list_member(path, "a", members, "y", true, &err), 0);
    CHECK_STR(temp_read(path), "{\"servers\": {\"a\": {\"disabled_tools\": [\"x\",\"y\"]}}}");
    temp_write(path, "{\"servers\": {\"a\": {\"disabled_tools\": \"x\"}}}");
    CHECK_INT(config_list_member(path, "a", members, "y", true, &err), -PB_E_INVALID);
    CHECK_HAS(err.msg, "list.json:1: disabled_tools: expected an array, got a string");
}

TEST(modes_and_settings_have_their_places)
{
    const char *path = temp_path("modes.json");
    struct pb_error err;

    CHECK_INT(config_save_mode(path, "safe", SPAN("{\"filter\":\"all\"}"), &err), 0);
    CHECK_INT(config_set_setting(path, "port", SPAN("7070"), &err), 0);
    CHECK_STR(temp_read(path),
              "{\n  \"modes\": {\n    \"safe\": {\n      \"filter\": \"all\"\n    }\n  },\n"
              "  \"settings\": {\n    \"port\": 7070\n  }\n}\n");
    CHECK_INT(config_save_mode(path, "safe", (struct span){ 0 }, &err), 0);
    CHECK_INT(config_set_setting(path, "port", (struct span){ 0 }, &err), 0);
    CHECK_STR(temp_read(path), "{\n  \"modes\": {},\n  \"settings\": {}\n}\n");

    temp_write(path, "{\"modes\": [{\"id\":\"a\"},{\"id\":\"b\"}]}");
    CHECK_INT(config_save_mode(path, "b", SPAN("{\"name\":\"B\"}"), &err), 0);
    CHECK_INT(config_save_mode(path, "c", SPAN("{\"id\":\"c\",\"name\":\"C\"}"), &err), 0);
    CHECK_INT(config_save_mode(path, "a", (struct span){ 0 }, &err), 0);
    CHECK_STR(temp_read(path),
              "{\"modes\": [{\"id\":\"b\",\"name\":\"B\"},{\"id\":\"c\",\"name\":\"C\"}]}");
}

TEST(rules_are_put_first_or_last_and_taken_out_by_number)
{
    static const struct {
        const char *before;
        bool first;
        const char *after;
    } cases[] = {
        { "{}", false,
          "{\n  \"policy\": {\n    \"rules\": [\n      {\n        \"n\": 1\n      }\n"
          "    ]\n  }\n}" },
        { "{\"policy\":{\"rules\":[]}}", true, "{\"policy\":{\"rules\":[{\"n\":1}]}}" },
        { "{\"policy\":{\"default\":{}}}", true,
          "{\"policy\":{\"default\":{},\"rules\":[{\"n\":1}]}}" },
        { "{\"policy\":{\"rules\":[ {\"a\": 1.0}]}}", true,
          "{\"policy\":{\"rules\":[ {\"n\":1}, {\"a\": 1.0}]}}" },
        { "{\n\t\"policy\": {\n\t\t\"rules\": [\n\t\t\t{\"a\":   1},\n\t\t\t{}\n\t\t]\n\t}\n}\n",
          true,
          "{\n\t\"policy\": {\n\t\t\"rules\": [\n\t\t\t{\n\t\t\t\t\"n\": 1\n\t\t\t},\n"
          "\t\t\t{\"a\":   1},\n\t\t\t{}\n\t\t]\n\t}\n}\n" },
        { "{\n  \"policy\": {\n    \"rules\": [\n      {\"a\":   1}\n    ]\n  }\n}\n", false,
          "{\n  \"policy\": {\n    \"rules\": [\n      {\"a\":   1},\n      {\n        \"n\": 1\n"
          "      }\n    ]\n  }\n}\n" },
    };
    const char *path = temp_path("rules.json");
    struct pb_error err;

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        temp_write(path, cases[i].before);
        CHECK_INT(config_add_rule(path, SPAN("{\"n\":1}"), cases[i].first, &err), 0);
        CHECK_STR(temp_read(path), cases[i].after);
    }
    temp_write(path, "{\"policy\":{\"rules\":[{\"a\":1}, {\"b\":2}, {\"c\":3}]}}");
    CHECK_INT(config_remove_rule(path, 2, SPAN("{\"c\":3}"), &err), -PB_E_BUSY);
    CHECK_HAS(err.msg, "rule 2 in ");
    CHECK_INT(config_remove_rule(path, 2, SPAN("{ \"b\":2}"), &err), 0);
    CHECK_STR(temp_read(path), "{\"policy\":{\"rules\":[{\"a\":1}, {\"c\":3}]}}");
    CHECK_INT(config_remove_rule(path, 3, (struct span){ 0 }, &err), -PB_E_NOT_FOUND);
    CHECK_HAS(err.msg, "there is no rule 3 in ");
    CHECK_INT(config_remove_rule(path, 0, (struct span){ 0 }, &err), -PB_E_NOT_FOUND);
    temp_write(path, "{\"policy\": [1]}");
    CHECK_INT(config_add_rule(path, SPAN("{}"), false, &err), -PB_E_INVALID);
    CHECK_HAS(err.msg, "rules.json:1: policy: expected an object, got an array");
    temp_write(path, "{\"policy\": {\n\"rules\": {}}}");
    CHECK_INT(config_add_rule(path, SPAN("{}"), false, &err), -PB_E_INVALID);
    CHECK_HAS(err.msg, "rules.json:2: policy.rules: expected an array, got an object");
    CHECK_STR(temp_read(path), "{\"policy\": {\n\"rules\": {}}}");
}

TEST(what_edits_have_read_and_written_is_known)
{
    const char *path = temp_path("known.json");
    char found[2 * SHA256_BYTES + 1], wrote[2 * SHA256_BYTES + 1];
    struct pb_error err;

    temp_write(path, "{\"a\": 1}");
    sha256_hex(SPAN("{\"a\": 1}"), found);
    config_edits_begin();
    CHECK_INT(config_save_server(path, "s", SPAN("{\"command\":\"x\"}"), &err), 0);
    CHECK_INT(config_save_server(path, "t", SPAN("{\"command\":\"x\"}"), &err), 0);
    sha256_hex(span_of(temp_read(path)), wrote);
    CHECK_INT(config_edits()->n, 2);
    CHECK_STR(config_edits()->before, found);
    CHECK_STR(config_edits()->after, wrote);
    CHECK(!config_edits()->mixed);
    CHECK_INT(config_save_server(path, "t", SPAN("{\"command\":\"x\"}"), &err), 0); /* as it is */
    CHECK_INT(config_edits()->n, 2);
    temp_write(path, "{\"mcpServers\":{\"evil\":{\"command\":\"y\"}}}");
    CHECK_INT(config_save_server(path, "u", SPAN("{\"command\":\"x\"}"), &err), 0);
    CHECK(config_edits()->mixed);
    CHECK_STR(config_edits()->before, found);
    config_edits_begin();
    CHECK_INT(config_save_server(temp_path("new.json"), "u", SPAN("{\"command\":\"x\"}"), &err), 0);
    CHECK_STR(config_edits()->before, "");
}

TEST(rules_are_saved_in_the_place_of_those_that_were_looked_at)
{
    const char *path = temp_path("saved.json");
    struct pb_error err;

    temp_write(path, "{\"a\": 1}");
    CHECK_INT(config_save_policy(path, SPAN("{\"rules\":[]}"), SPAN("{\"rules\":[1]}"), &err),
              -PB_E_BUSY);
    CHECK_HAS(err.msg, "are not those that were looked at");
    CHECK_INT(config_save_policy(path, SPAN("{\"rules\":[1]}"), SPAN("{}"), &err), 0);
    CHECK_INT(config_save_policy(path, SPAN("{\"rules\":[2]}"), SPAN("{ \"rules\": [1]}"), &err),
              0);
    CHECK_INT(config_save_policy(path, SPAN("{\"rules\":[3]}"), SPAN("{\"rules\":[1]}"), &err),
              -PB_E_BUSY);
    CHECK_HAS(temp_read(path), "[2]");
    CHECK_INT(config_save_policy(path, SPAN("{\"rules\":[3]}"), (struct span){ 0 }, &err), 0);
}

TEST(what_is_wrong_with_a_file_is_told_with_its_line_and_nothing_is_written)
{
    static const struct {
        const char *text, *says;
    } cases[] = {
        { "{\n  \"mcpServers\": {\n    // fs\n  }\n}\n", "bad.json: line 3, column 5: " },
        { "{\n  \"a\" 1\n}", "bad.json: line 2, column 7: " },
        { "\n[]", "bad.json:2: expected an object, got an array" },
        { "{\n\n\"mcpServers\": []}", "bad.json:3: mcpServers: expected an object, got an array" },
        { "{\"a\":1,\"a\":2}", "bad.json: line 1, " },
    };
    const char *path = temp_path("bad.json");

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct pb_error err;

        temp_write(path, cases[i].text);
        CHECK_INT(config_save_server(path, "n", SPAN("{}"), &err), -PB_E_INVALID);
        CHECK_HAS(err.msg, cases[i].says);
        CHECK_STR(temp_read(path), cases[i].text);
    }
}

TEST(the_file_is_replaced_as_a_whole_and_keeps_its_mode)
{
    const char *path = temp_path("config.json");
    struct stat before, after;
    struct pb_error err;

    temp_write(path, "{}\n");
    CHECK_INT(chmod(path, 0640), 0);
    CHECK_INT(stat(path, &before), 0);
    CHECK_INT(save(path, "a", "{}"), 0);
    CHECK_INT(stat(path, &after), 0);
    CHECK(before.st_ino != after.st_ino);
    CHECK_INT(after.st_mode & 07777, 0640);

    /* What is as it should be is not written again. */
    CHECK_INT(save(path, "a", "{}"), 0);
    CHECK_INT(config_set_setting(path, "nothing", (struct span){ 0 }, &err), 0);
    CHECK_INT(stat(path, &before), 0);
    CHECK_INT(before.st_ino, after.st_ino);
}

TEST(a_symbolic_link_stays_one_even_to_a_file_that_is_not_there_yet)
{
    const char *real = temp_path("dotfiles.json"), *link = temp_path("link.json");
    const char *loop = temp_path("loop.json");
    struct pb_error err;
    char target[64] = "";

    CHECK_INT(symlink("dotfiles.json", link), 0);
    CHECK_INT(save(link, "a", "{}"), 0);
    CHECK_INT(save(link, "b", "{}"), 0);
    CHECK(readlink(link, target, sizeof target) == (ssize_t)strlen("dotfiles.json"));
    CHECK_HAS(temp_read(real), "\"b\": {}");
    CHECK_INT(symlink("loop.json", loop), 0);
    CHECK_INT(config_save_server(loop, "a", SPAN("{}"), &err), -PB_E_SYSTEM);
}

TEST(a_server_that_is_defined_elsewhere_is_told_with_file_and_line)
{
    const char *path = temp_path("own.json");
    unsigned line = 0;
    struct pb_error err;

    setenv("PATCHBAY_HOME", temp_dir, 1);
    unsetenv("PATCHBAY_MCP_CLIENTS_CONFIG");
    temp_write(temp_path("mcp_clients.json"), "{\n  \"servers\": {\n    \"a\": {}\n  }\n}\n");
    temp_write(path, "{}");
    CHECK_INT(config_remove_server(path, "a", &err), -PB_E_NOT_FOUND);
    CHECK_HAS(err.msg, "mcp_clients.json:3; edit it there");
    CHECK_INT(config_remove_server(path, "b", &err), -PB_E_NOT_FOUND);
    CHECK(strstr(err.msg, "mcp_clients") == NULL);
    CHECK_INT(config_find_server(temp_path("mcp_clients.json"), "a", &line, &err), 0);
    CHECK_INT(line, 3);
    CHECK_INT(config_find_server(temp_path("no/such.json"), "a", &line, &err), -PB_E_NOT_FOUND);
    CHECK_INT(config_remove_server(temp_path("no/such.json"), "a", &err), -PB_E_NOT_FOUND);
    CHECK(access(temp_path("no"), F_OK) < 0);
}

TEST(a_file_may_have_the_largest_size_and_not_one_byte_more)
{
    const char *path = temp_path("large.json");
    AUTO_BUF struct buf text = { 0 };
    struct pb_error err;

    /* {"x":"…"} of exactly the limit; the shortest change makes it longer */
    buf_str(&text, "{\"settings\":{\"x\":\"");
    while (text.n < CONFIG_BYTES_MAX - 3)
        buf_byte(&text, 'a');
    buf_str(&text, "\"}}");
    CHECK_INT(text.n, CONFIG_BYTES_MAX);
    temp_write(path, buf_cstr(&text));
    CHECK_INT(config_set_setting(path, "y", (struct span){ 0 }, &err), 0);
    CHECK_INT(config_set_setting(path, "y", SPAN("1"), &err), -PB_E_LIMIT);
    CHECK_INT(config_set_setting(path, "x", SPAN("1"), &err), 0);
    CHECK_STR(temp_read(path), "{\"settings\":{\"x\":1}}");

    buf_byte(&text, '\n');
    temp_write(path, buf_cstr(&text));
    CHECK_INT(config_set_setting(path, "x", SPAN("1"), &err), -PB_E_LIMIT);
    CHECK_HAS(err.msg, "is larger than 16777216 bytes");
}

struct writer {
    pthread_t thread;
    const char *path;
    int number;
};

enum { WRITERS = 4, SAVES = 5 };

static void *keep_saving(void *ctx)
{
    const struct writer *w = ctx;

    for (int i = 0; i < SAVES; i++) {
        char name[32];
        struct pb_error err;

        snprintf(name, sizeof name, "s%d-%d", w->number, i);
        if (config_save_server(w->path, name, SPAN("{}"), &err) < 0)
            return mem_dup(err.msg);
    }
    return NULL;
}

TEST(writers_at_the_same_time_lose_nothing)
{
    const char *path = temp_path("crowd.json");
    struct writer writers[WRITERS];
    AUTO_JSON struct json_doc doc = { 0 };
    struct pb_error err;

    for (int i = 0; i < WRITERS; i++) {
        writers[i].path = path;
        writers[i].number = i;
        CHECK_INT(pthread_create(&writers[i].thread, NULL, keep_saving, &writers[i]), 0);
    }
    for (int i = 0; i < WRITERS; i++) {
        void *failed;

        CHECK_INT(pthread_join(writers[i].thread, &failed), 0);
        if (failed)
            TAP_FAIL("%s", (char *)failed);
    }
    CHECK_INT(json_parse(&doc, span_of(temp_read(path)), NULL, &err), 0);
    CHECK_INT(json_len(json_get(json_root(&doc), "mcpServers")), WRITERS * SAVES);
}

TEST(a_lock_that_is_not_given_back_in_time_is_told)
{
    const char *path = temp_path("locked.json");
    AUTO_EDIT_FILE struct edit_file file = EDIT_FILE_INIT;
    AUTO_BUF struct buf text = { 0 };
    struct pb_error err;
    int fd = open(temp_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    CHECK_INT(file.lock_ms, CONFIG_LOCK_MS);
    file.lock_ms = 20;
    CHECK_INT(flock(fd, LOCK_EX), 0);
    CHECK_INT(edit_file_open(&file, path, true, &text, &err), -PB_E_BUSY);
    CHECK_HAS(err.msg, "another program is changing files in");
    close(fd);
    CHECK_INT(save(path, "a", "{}"), 0);
}

/* S1-27 */
TEST(version_and_profiles_of_the_list_stay_through_every_change)
{
    static const char before[] = "{\n"
                                 "  \"version\": \"1.0\",\n"
                                 "  \"profiles\": [{\"name\":\"Work\",  \"n\": 1.0}],\n"
                                 "  \"mcps\": []\n"
                                 "}\n";
    static const char kept[] = "{\n"
                               "  \"version\": \"1.0\",\n"
                               "  \"profiles\": [{\"name\":\"Work\",  \"n\": 1.0}],\n";
    const char *const lists[] = { "disabledTools", NULL };
    const char *path = temp_path("config.json");

    temp_write(path, before);
    for (int step = 0; step < 6; step++) {
        AUTO(config) struct config *c = config_new();
        const char *text;
        int rc[] = {
            step == 0 ? save(path, "fs", "{\"command\":\"npx\"}") : 0,
            step == 1 ? config_set_member(path, "fs", "timeout_s", SPAN("5"), NULL) : 0,
            step == 2 ? config_list_member(path, "fs", lists, "rm", true, NULL) : 0,
            step == 3 ? config_save_mode(path, "m", SPAN("{\"filter\":\"all\"}"), NULL) : 0,
            step == 4 ? config_set_setting(path, "max_servers", SPAN("7"), NULL) : 0,
            step == 5 ? config_remove_server(path, "fs", NULL) : 0,
        };

        CHECK_INT(rc[step], 0);
        text = temp_read(path);
        CHECK(strcmp(text, before) != 0); /* something was written */
        if (strncmp(text, kept, strlen(kept)) != 0)
            TAP_FAIL("step %d: %s", step, text);
        CHECK_INT(config_parse(c, path, span_of(text), &(struct config_request){ 0 }, NULL), 0);
    }
}
