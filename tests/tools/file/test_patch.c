/* What a unified diff says, and what a text becomes by it. */
#include "base/base.h"
#include "tap.h"
#include "tools/file/patch.h"

static struct pb_error err;

static const char *fitted(const char *patch, const char *text, int want)
{
    static char result[65536];
    AUTO_BUF struct buf out = { 0 }, report = { 0 }, why = { 0 };
    struct patch p;
    int rc;

    CHECK_INT(patch_parse(&p, span_of(patch), &err), 0);
    rc = patch_fit(&p, &p.files[0], span_of(text), &out, &report, &why);
    if (rc != want)
        TAP_FAIL("%d: %s", rc, buf_cstr(&why));
    snprintf(result, sizeof result, "%s%s", rc ? buf_cstr(&why) : buf_cstr(&out),
             rc ? "" : buf_cstr(&report));
    patch_done(&p);
    return result;
}

#define HEAD "--- a/f\n+++ b/f\n"

TEST(hunks_are_applied_where_they_say)
{
    /* S3-78 */
    static const struct {
        const char *patch, *text, *is;
    } cases[] = {
        { HEAD "@@ -1,3 +1,3 @@\n a\n-b\n+B\n c\n", "a\nb\nc\n", "a\nB\nc\n" },
        { HEAD "@@ -1 +1 @@\n-a\n+A\n@@ -3 +3 @@ f()\n-c\n+C\n", "a\nb\nc\n", "A\nb\nC\n" },
        { HEAD "@@ -0,0 +1,2 @@\n+x\n+y\n", "", "x\ny\n" },
        { HEAD "@@ -1,0 +2 @@\n+x\n", "a\nb\n", "a\nx\nb\n" },
        { HEAD "@@ -1,2 +0,0 @@\n-a\n-b\n", "a\nb\n", "" },
        /* ends of files */
        { HEAD "@@ -1 +1 @@\n-a\n\\ No newline at end of file\n+a\n", "a", "a\n" },
        { HEAD "@@ -1 +1 @@\n-a\n+a\n\\ No newline at end of file\n", "a\n", "a" },
        { HEAD "@@ -1,1 +1,2 @@\n a\n+b\n", "a", "a\nb\n" },
        /* an empty line of context whose space was lost on the way */
        { HEAD "@@ -1,3 +1,3 @@\n a\n\n-b\n+B\n", "a\n\nb\n", "a\n\nB\n" },
        /* CR LF in the file, in the patch, in both */
        { HEAD "@@ -1,2 +1,2 @@\n a\n-b\n+B\n", "a\r\nb\r\n", "a\r\nB\r\n" },
        { "--- a/f\r\n+++ b/f\r\n@@ -1,2 +1,2 @@\r\n a\r\n-b\r\n+B\r\n", "a\nb\n", "a\nB\n" },
        { "--- a/f\r\n+++ b/f\r\n@@ -1,2 +1,2 @@\r\n a\r\n-b\r\n+B\r\n", "a\r\nb\r\n",
          "a\r\nB\r\n" },
        /* words around it, as in a mail */
        { "From x\nSubject: y\n\n---\n f | 2 +-\n\n" HEAD "@@ -1 +1 @@\n-a\n+b\n-- \n2.39\n", "a\n",
          "b\n" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++)
        CHECK_STR(fitted(cases[i].patch, cases[i].text, 0), cases[i].is);
}

TEST(a_hunk_that_fits_elsewhere_alone_is_put_there_and_told)
{
    CHECK_STR(fitted(HEAD "@@ -1,2 +1,2 @@\n a\n-b\n+B\n", "x\ny\na\nb\n", 0),
              "x\ny\na\nB\nthe hunk '@@ -1,2 +1,2 @@' was put at line 3\n");
    /* the next one has moved by as much */
    CHECK_STR(fitted(HEAD "@@ -1 +1 @@\n-a\n+A\n@@ -3 +3 @@\n-c\n+C\n", "0\na\nb\nc\nc\n", 0),
              "0\nA\nb\nC\nc\nthe hunk '@@ -1 +1 @@' was put at line 2\n");
    CHECK_HAS(fitted(HEAD "@@ -1,2 +1,2 @@\n a\n-b\n+B\n", "x\na\nb\na\nb\n", -PB_E_INVALID),
              "does not fit where it says, but at several other places");
}

TEST(two_lines_of_context_may_differ_and_no_more)
{
#define FUZZY HEAD "@@ -1,7 +1,7 @@\n 1\n 2\n 3\n-x\n+X\n 4\n 5\n 6\n"
    CHECK_HAS(fitted(FUZZY, "?\n2\n3\nx\n4\n5\n6\n", 0), "?\n2\n3\nX\n4\n5\n6\nthe hunk");
    CHECK_HAS(fitted(FUZZY, "?\n?\n3\nx\n4\n5\n?\n", 0), "where 2 lines of its context differ");
    CHECK_HAS(fitted(FUZZY, "1\n2\n?\nx\n4\n5\n6\n", -PB_E_INVALID), "does not fit");
}

TEST(what_does_not_fit_is_told_with_what_is_there)
{
    CHECK_STR(fitted(HEAD "@@ -2,2 +2,2 @@ in f()\n b\n-c\n+C\n", "a\nb\nd\n", -PB_E_INVALID),
              "the hunk '@@ -2,2 +2,2 @@ in f()' does not fit\nexpected:\n    b\n    c\n"
              "found at line 2:\n    b\n    d");
    CHECK_HAS(fitted(HEAD "@@ -9,2 +9,2 @@\n b\n-c\n+C\n", "a\n", -PB_E_INVALID),
              "found at line 9: nothing, there are 1 lines");
    /* what would come before a hunk that is done */
    CHECK_HAS(fitted(HEAD "@@ -2 +2 @@\n-b\n+B\n@@ -1 +1 @@\n-a\n+A\n", "a\nb\n", -PB_E_INVALID),
              "does not fit");
}

TEST(names_and_deeds_are_read_as_git_and_diff_write_them)
{
    static const struct {
        const char *head;
        enum patch_deed deed;
        const char *from, *to;
    } cases[] = {
        { "--- a/x/y\n+++ b/x/y\n@@ -1 +1 @@\n-a\n+b\n", PATCH_CHANGE, "x/y", "x/y" },
        { "--- x.orig\t2026-01-01 00:00:00\n+++ x\t2026-01-01\n@@ -1 +1 @@\n-a\n+b\n", PATCH_CHANGE,
          "x.orig", "x" },
        { "--- a/x\n+++ a/x\n@@ -1 +1 @@\n-a\n+b\n", PATCH_CHANGE, "a/x", "a/x" },
        { "--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+b\n", PATCH_CREATE, "x", "x" },
        { "--- a/x\n+++ /dev/null\n@@ -1 +0,0 @@\n-b\n", PATCH_DELETE, "x", "x" },
        { "diff --git a/x b/x\nnew file mode 100644\nindex 0..1\n", PATCH_CREATE, "x", "x" },
        { "diff --git a/x y b/x y\ndeleted file mode 100755\n", PATCH_DELETE, "x y", "x y" },
        { "diff --git a/x b/y\nsimilarity index 100%\nrename from x\nrename to y\n", PATCH_RENAME,
          "x", "y" },
        { "diff --git a/x b/y\ncopy from x\ncopy to y\n", PATCH_COPY, "x", "y" },
        { "--- \"a/\\303\\244\\t\\\"\"\n+++ \"b/\\303\\244\\t\\\"\"\n@@ -1 +1 @@\n-a\n+b\n",
          PATCH_CHANGE, "\u00e4\t\"", "\u00e4\t\"" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct patch p;

        if (patch_parse(&p, span_of(cases[i].head), &err) < 0)
            TAP_FAIL("%s: %s", cases[i].head, err.msg);
        CHECK_INT(p.files[0].deed, cases[i].deed);
        CHECK_STR(p.files[0].from, cases[i].from);
        CHECK_STR(p.files[0].to, cases[i].to);
        patch_done(&p);
    }
}

TEST(what_is_no_patch_is_refused_with_its_line)
{
    static const char *const cases[][2] = {
        { "", "there is no unified diff in it" },
        { "hello\n", "there is no unified diff in it" },
        { "*** a\n--- b\n***************\n*** 1 ****\n", "there is no unified diff in it" },
        { "1c\nx\n.\n", "there is no unified diff in it" },
        { "@@ -1 +1 @@\n-a\n+b\n", "line 1 of the patch: this hunk belongs to no file" },
        { HEAD "@@ -1,2 +1 @@\n-a\n", "announces 2 old and 1 new lines, but has 1 and 0" },
        { HEAD "@@ -1 +1 @@\n-a\n+b\n+c\n", "but has 1 and 1, or more" },
        { HEAD "@@ -1 +1 @@\n-a\n-b\n", "but has 2 and 0" },
        { HEAD "@@ -1,4294967295 +1,4294967295 @@\n a\n", "a hunk begins with" },
        { HEAD "@@ -1,999999999 +1,999999999 @@\n a\n", "but has 1 and 1" },
        { HEAD "@@ --1 +1 @@\n", "a hunk begins with" },
        { HEAD "@@ -0,0 +0,0 @@\n\\ No newline\n", "there is no line before it" },
        { HEAD, "nothing happens to the file" },
        { "--- /dev/null\n+++ /dev/null\n", "both names are /dev/null" },
        { "diff --git a/x b/x\nnew file mode 120000\n", "symbolic links are not made" },
        { "diff --git a/x b/x\nold mode 100644\nnew mode 100755\n", "modes other than 100644" },
        { "diff --git a/x b/x\nGIT binary patch\nliteral 3\n", "binary files" },
        { "diff --git a/x b/x\nindex 1..2\nBinary files a/x and b/x differ\n", "binary files" },
        { "diff --git a/x b/yy\nindex 1..2\n", "which file is meant" },
        { "--- \"a/\\9\"\n+++ \"b/\\9\"\n@@ -1 +1 @@\n-a\n+b\n", "cannot be read" },
        { "--- \"a/\\000\"\n+++ \"b/\\000\"\n@@ -1 +1 @@\n-a\n+b\n", "cannot be read" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        struct patch p;

        if (patch_parse(&p, span_of(cases[i][0]), &err) == 0)
            TAP_FAIL("this is taken for a patch: %s", cases[i][0]);
        CHECK_HAS(err.msg, cases[i][1]);
    }
}

TEST(the_number_of_files_and_hunks_has_a_bound)
{
    AUTO_BUF struct buf text = { 0 }, hunks = { 0 };
    struct patch p;

    for (int i = 0; i < FILE_PATCH_FILES; i++)
        buf_str(&text, HEAD "@@ -1 +1 @@\n-a\n+b\n");
    CHECK_INT(patch_parse(&p, buf_span(&text), &err), 0);
    patch_done(&p);
    buf_str(&text, HEAD "@@ -1 +1 @@\n-a\n+b\n");
    CHECK_INT(patch_parse(&p, buf_span(&text), &err), -PB_E_LIMIT);
    buf_str(&hunks, HEAD);
    for (int i = 0; i < FILE_PATCH_HUNKS; i++)
        buf_str(&hunks, "@@ -1 +1 @@\n-a\n+b\n");
    CHECK_INT(patch_parse(&p, buf_span(&hunks), &err), 0);
    patch_done(&p);
    buf_str(&hunks, "@@ -1 +1 @@\n-a\n+b\n");
    CHECK_INT(patch_parse(&p, buf_span(&hunks), &err), -PB_E_LIMIT);
}

/* A thousand lines that are nearly everywhere in half a million. */
TEST(looking_for_a_place_has_an_end)
{
    AUTO_BUF struct buf patch = { 0 }, text = { 0 };

    buf_str(&patch, HEAD "@@ -1,1001 +1,1000 @@\n");
    for (int i = 0; i < 1000; i++)
        buf_str(&patch, " a\n");
    buf_str(&patch, "-b\n");
    for (int i = 0; i < 500000; i++)
        buf_str(&text, "a\n");
    CHECK_HAS(fitted(buf_cstr(&patch), buf_cstr(&text), -PB_E_LIMIT), "takes too long");
    for (int i = 500000; i <= FILE_PATCH_LINES; i++)
        buf_str(&text, "a\n");
    CHECK_HAS(fitted(buf_cstr(&patch), buf_cstr(&text), -PB_E_LIMIT), "it has 1000001 lines");
}
