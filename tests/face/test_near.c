#include "face/caller/caller.h"
#include "face/caller/near.h"
#include "tap.h"

TEST(names_that_are_like_a_word_are_offered_nearest_first)
{
    static const char *const names[] = { "github", "gitlab", "filesystem", "git", "Fetch", NULL };
    static const struct {
        const char *word, *says;
    } cases[] = {
        { "githb", "; did you mean 'github', 'gitlab' or 'git'?" },
        { "gihtub", "; did you mean 'github'?" },
        { "gitub", "; did you mean 'github', 'gitlab' or 'git'?" },
        { "file", "; did you mean 'filesystem'?" },
        { "fetch", "; did you mean 'Fetch'?" },
        { "FETCH", "; did you mean 'Fetch'?" },
        { "fecht", "; did you mean 'Fetch'?" },
        { "gi", "; did you mean 'git', 'github' or 'gitlab'?" },
        { "f", "" },
        { "", "" },
        { "postgres", "" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_BUF struct buf b = { 0 };

        CHECK_INT(near_write(&b, cases[i].word, names), *cases[i].says != '\0');
        CHECK_STR(buf_cstr(&b), cases[i].says);
    }
}

TEST(no_names_and_very_long_words_are_like_nothing)
{
    static const char *const none[] = { NULL };
    const char *names[] = { "x", NULL, NULL };
    char word[200];
    AUTO_BUF struct buf b = { 0 };

    CHECK(!near_write(&b, "x", none));
    memset(word, 'x', sizeof word - 1);
    word[sizeof word - 1] = '\0';
    CHECK(!near_write(&b, word, names));
    names[1] = word;
    CHECK(near_write(&b, "x", names));
    CHECK_STR(buf_cstr(&b), "; did you mean 'x'?");
    word[64] = '\0'; /* the longest that is looked at */
    CHECK(near_write(&b, word, names));
    word[64] = 'x';
    word[65] = '\0';
    CHECK(!near_write(&b, word, names));
}
