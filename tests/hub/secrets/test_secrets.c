/* Keys in files: where they lie, who can read them, and what is not followed. */
#include "hub/secrets/secrets.h"
#include "temp_dir.h"
#include <errno.h>

static const char id[] = "8c5f0f0a-3f0b-4d5e-9a31-2f4c1d7e6b90";
static const char other[] = "00000000-3f0b-4d5e-9a31-2f4c1d7e6b90";

static const char *dir(void)
{
    static char path[256];

    snprintf(path, sizeof path, "%s", temp_path("home/secrets"));
    return path;
}

static const char *file_of(const char *name)
{
    static char path[512];

    snprintf(path, sizeof path, "%s/%s", dir(), name);
    return path;
}

static const char *load(const char *uuid, const char *name)
{
    static char text[256];
    AUTO_SECRET struct buf key = { 0 };
    struct pb_error err;

    if (secrets_load(dir(), uuid, name, &key, &err) < 0)
        snprintf(text, sizeof text, "%s", err.msg);
    else
        snprintf(text, sizeof text, "%.*s", SPAN_ARG(buf_span(&key)));
    return text;
}

static void store(const char *uuid, const char *name, const char *key)
{
    struct pb_error err;

    if (secrets_store(dir(), uuid, name, span_of(key), &err) < 0)
        TAP_FAIL("%s", err.msg);
}

/* S1-40 S1-41 S1-42 S1-43 */
TEST(a_key_lies_in_a_file_that_only_its_owner_reads)
{
    store(id, NULL, "ghp_1");
    CHECK_STR(load(id, NULL), "ghp_1");
    CHECK_INT(temp_mode(file_of("mcp_8c5f0f0a-3f0b-4d5e-9a31-2f4c1d7e6b90.key")), 0600);
    CHECK_INT(temp_mode(dir()), 0700);
    store(id, NULL, "ghp_2, longer than before");
    CHECK_STR(load(id, NULL), "ghp_2, longer than before");
    umask(0);
    store(other, NULL, "x");
    CHECK_INT(temp_mode(file_of("mcp_00000000-3f0b-4d5e-9a31-2f4c1d7e6b90.key")), 0600);
}

/* S1-44 S1-45 */
TEST(what_was_deleted_or_never_stored_cannot_be_loaded)
{
    struct pb_error err;

    CHECK_HAS(load(id, NULL), "there is no directory");
    store(id, NULL, "k");
    CHECK_INT(secrets_delete(dir(), id, NULL, &err), 0);
    CHECK_HAS(load(id, NULL), "there is no key in ");
    CHECK_INT(secrets_delete(dir(), id, NULL, &err), 0);
    CHECK_HAS(load(other, NULL), "there is no key in ");
    CHECK_HAS(load(id, "X"), "there is no key in ");
}

/* S1-46 */
TEST(a_server_may_have_several_keys)
{
    store(id, "AWS_ACCESS_KEY_ID", "a");
    store(id, "AWS_SECRET_ACCESS_KEY", "b");
    store(id, NULL, "c");
    CHECK_STR(load(id, "AWS_ACCESS_KEY_ID"), "a");
    CHECK_STR(load(id, "AWS_SECRET_ACCESS_KEY"), "b");
    CHECK_STR(load(id, NULL), "c");
    CHECK_INT(temp_mode(file_of("mcp_8c5f0f0a-3f0b-4d5e-9a31-2f4c1d7e6b90_AWS_ACCESS_KEY_ID.key")),
              0600);
}

TEST(all_keys_of_a_server_are_forgotten_and_no_others)
{
    struct pb_error err;

    CHECK_INT(secrets_forget(dir(), id, &err), 0);
    store(id, "A", "a");
    store(id, NULL, "c");
    store(other, "A", "d");
    temp_write(file_of("mine.txt"), "kept");
    CHECK_INT(secrets_forget(dir(), id, &err), 0);
    CHECK_HAS(load(id, "A"), "there is no key");
    CHECK_HAS(load(id, NULL), "there is no key");
    CHECK_STR(load(other, "A"), "d");
    CHECK_STR(temp_read(file_of("mine.txt")), "kept");
}

TEST(names_and_ids_do_not_lead_elsewhere)
{
    static const char *const names[] = { "", "../x", "a/b", "a.b", "a b", ".", "\n" };
    static const char *const ids[] = { "", "x", "../../../../../../../../../../../tmp/",
                                       "8c5f0f0a-3f0b-4d5e-9a31-2f4c1d7e6b9/" };
    char longest[SECRET_NAME_MAX + 2];
    struct pb_error err;

    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        CHECK_INT(secrets_store(dir(), id, names[i], SPAN("k"), &err), -PB_E_INVALID);
    for (size_t i = 0; i < ARRAY_LEN(ids); i++) {
        CHECK_INT(secrets_store(dir(), ids[i], NULL, SPAN("k"), &err), -PB_E_INVALID);
        CHECK_INT(secrets_forget(dir(), ids[i], &err), -PB_E_INVALID);
    }
    memset(longest, 'A', sizeof longest);
    longest[SECRET_NAME_MAX + 1] = '\0';
    CHECK_INT(secrets_store(dir(), id, longest, SPAN("k"), &err), -PB_E_INVALID);
    longest[SECRET_NAME_MAX] = '\0';
    store(id, longest, "k");
    CHECK_STR(load(id, longest), "k");
}

TEST(keys_have_a_size)
{
    AUTO_FREE char *big = mem_zero(SECRET_BYTES_MAX + 1);
    AUTO_SECRET struct buf key = { 0 };
    struct pb_error err;

    memset(big, 'x', SECRET_BYTES_MAX + 1);
    CHECK_INT(secrets_store(dir(), id, NULL, span_make(big, SECRET_BYTES_MAX + 1), &err),
              -PB_E_LIMIT);
    CHECK_INT(secrets_store(dir(), id, NULL, SPAN(""), &err), -PB_E_LIMIT);
    CHECK_INT(secrets_store(dir(), id, NULL, span_make(big, SECRET_BYTES_MAX), &err), 0);
    CHECK_INT(secrets_load(dir(), id, NULL, &key, &err), 0);
    CHECK_INT(key.n, SECRET_BYTES_MAX);
}

TEST(no_link_is_followed)
{
    const char *name = "mcp_8c5f0f0a-3f0b-4d5e-9a31-2f4c1d7e6b90.key";
    struct pb_error err;

    temp_write(temp_path("victim"), "not ours");
    store(other, NULL, "x");
    CHECK_INT(symlink(temp_path("victim"), file_of(name)), 0);
    CHECK_HAS(load(id, NULL), name);
    CHECK(!strstr(load(id, NULL), "not ours"));
    store(id, NULL, "mine"); /* takes the link's place */
    CHECK_STR(load(id, NULL), "mine");
    CHECK_STR(temp_read(temp_path("victim")), "not ours");

    CHECK_INT(symlink(dir(), temp_path("linked")), 0);
    CHECK_INT(secrets_store(temp_path("linked"), id, NULL, SPAN("k"), &err), -PB_E_SYSTEM);
}

TEST(what_others_could_read_is_closed_to_them)
{
    store(id, NULL, "k");
    CHECK_INT(chmod(dir(), 0755), 0);
    CHECK_INT(chmod(file_of("mcp_8c5f0f0a-3f0b-4d5e-9a31-2f4c1d7e6b90.key"), 0644), 0);
    CHECK_STR(load(id, NULL), "k");
    CHECK_INT(temp_mode(dir()), 0700);
    CHECK_INT(temp_mode(file_of("mcp_8c5f0f0a-3f0b-4d5e-9a31-2f4c1d7e6b90.key")), 0600);
}

TEST(what_is_no_file_is_not_waited_for)
{
    store(other, NULL, "x");
    CHECK_INT(mkfifo(file_of("mcp_8c5f0f0a-3f0b-4d5e-9a31-2f4c1d7e6b90.key"), 0600), 0);
    CHECK_HAS(load(id, NULL), "it is no file");
}

/* ---- key files ---- */

static int read_keyfile(const char *path, char out[static 256], struct pb_error *err)
{
    AUTO_SECRET struct buf key = { 0 };
    int rc = secrets_read_keyfile(path, &key, err);

    snprintf(out, 256, "%.*s", rc < 0 ? 0 : (int)key.n, key.p);
    return rc;
}

/* S1-47 */
TEST(a_key_file_is_read_without_the_space_around_it)
{
    struct pb_error err;
    char text[256];

    temp_write(temp_path("token"), " \n\tghp_x y\r\n\n");
    CHECK_INT(read_keyfile(temp_path("token"), text, &err), 0);
    CHECK_STR(text, "ghp_x y");
    setenv("HOME", temp_dir, 1);
    CHECK_INT(read_keyfile("~/token", text, &err), 0);
    CHECK_STR(text, "ghp_x y");
    CHECK_INT(symlink("token", temp_path("via")), 0); /* whoever has it may link it */
    CHECK_INT(read_keyfile(temp_path("via"), text, &err), 0);
    temp_write(temp_path("empty"), " \n");
    CHECK_INT(read_keyfile(temp_path("empty"), text, &err), -PB_E_INVALID);
    CHECK_HAS(err.msg, "/empty' is empty");
    CHECK_INT(read_keyfile(temp_dir, text, &err), -PB_E_INVALID);
}

/* S1-48 */
TEST(a_key_file_that_is_not_there_is_named)
{
    struct pb_error err;
    char text[256];

    CHECK_INT(read_keyfile("/nonexistent/keyfile", text, &err), -PB_E_NOT_FOUND);
    CHECK_HAS(err.msg, "/nonexistent/keyfile");
}

/* S1-49 */
TEST(a_key_file_that_may_not_be_read_is_named)
{
    const char *path = temp_path("closed");
    struct pb_error err;
    char text[256];

    temp_write(path, "k");
    CHECK_INT(chmod(path, 0), 0);
    CHECK_INT(chmod(temp_dir, 0755), 0);
    if (geteuid() == 0)
        CHECK_INT(seteuid(65534), 0); /* nothing is closed to root */
    CHECK_INT(read_keyfile(path, text, &err), -PB_E_SYSTEM);
    CHECK_INT(err.sys, EACCES);
    CHECK_HAS(err.msg, path);
    if (getuid() == 0)
        CHECK_INT(seteuid(0), 0);
}
