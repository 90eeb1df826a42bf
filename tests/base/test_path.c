#include "base/base.h"
#include "tap.h"

TEST(a_path_is_what_it_means_in_its_directory)
{
    static const struct {
        const char *directory, *path, *means;
    } cases[] = {
        { "/w/conv", "a.txt", "/w/conv/a.txt" },
        { "/w/conv", "./a/./b//c", "/w/conv/a/b/c" },
        { "/w/conv", "", "/w/conv" },
        { "/w/conv", "..", "/w" },
        { "/w/conv", "a/../../other/b", "/w/other/b" },
        { "/w/conv", "../../../../etc/hosts", "/etc/hosts" },
        { "/w/conv/", "/etc//hosts/", "/etc/hosts" },
        { "/w", "/", "/" },
        { "/", "a", "/a" },
        { "/w", "...", "/w/..." },
        { "/w", "~", "/h/ann" },
        { "/w", "~/x/../y", "/h/ann/y" },
        { "/w", "~bob/x", "/w/~bob/x" },
        { "/w", "a/~", "/w/a/~" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_BUF struct buf out = { 0 };

        path_resolve(&out, cases[i].directory, "/h/ann", cases[i].path);
        CHECK_STR(buf_cstr(&out), cases[i].means);
    }
}

TEST(without_a_home_a_tilde_is_a_name)
{
    AUTO_BUF struct buf out = { 0 };

    path_resolve(&out, "/w", NULL, "~/x");
    CHECK_STR(buf_cstr(&out), "/w/~/x");
}

/* S3-147 */
TEST(what_only_begins_like_a_directory_is_not_in_it)
{
    CHECK(path_is_within("/w/conv-123", "/w/conv-123"));
    CHECK(path_is_within("/w/conv-123", "/w/conv-123/a/b"));
    CHECK(!path_is_within("/w/conv-123", "/w/conv-123-other/a"));
    CHECK(!path_is_within("/w/conv-123", "/w/conv-12"));
    CHECK(!path_is_within("/w/conv-123", "/w"));
    CHECK(path_is_within("/", "/etc"));
}
