/* The public JSON parsing suite, when it lies next to the project. What it leaves to the parser is
 * decided by the table in docs/json.md, which this test reads. */
#include "tap.h"
#include "json/json.h"
#include <dirent.h>

static DIR *open_cases(void) { return opendir(JSON_CASES); }

/* Runs before main(), so that the whole program is one skip line and not a row of green tests. */
__attribute__((constructor)) static void skip_if_absent(void)
{
    DIR *d = open_cases();

    if (!d) {
        printf("1..0 # SKIP the public JSON suite is not at %s\n", JSON_CASES);
        exit(0);
    }
    closedir(d);
}

static void read_file(const char *path, struct buf *out)
{
    FILE *f = fopen(path, "r");
    size_t n;

    if (!f)
        TAP_FAIL("cannot open %s", path);
    out->n = 0;
    while ((n = fread(buf_reserve(out, 4096), 1, 4096, f)) > 0)
        out->n += n;
    fclose(f);
}

static bool accepts(const char *name, const struct json_opts *opts)
{
    AUTO_BUF struct buf path = { 0 };
    AUTO_BUF struct buf text = { 0 };
    AUTO_JSON struct json_doc doc = { 0 };

    buf_printf(&path, "%s/%s", JSON_CASES, name);
    read_file(buf_cstr(&path), &text);
    return json_parse(&doc, buf_span(&text), opts, NULL) == 0;
}

static void check(const char *name, bool want)
{
    static const struct json_opts ways[] = { { 0, 0 }, { 1, 0 }, { 2, 0 } };

    for (size_t i = 0; i < ARRAY_LEN(ways); i++)
        if (accepts(name, &ways[i]) != want)
            TAP_FAIL("%s should be %s (way %zu)", name, want ? "accepted" : "refused", i);
}

static int check_all(char kind, bool want)
{
    DIR *d = open_cases();
    struct dirent *e;
    int n = 0;

    while ((e = readdir(d)))
        if (e->d_name[0] == kind && e->d_name[1] == '_') {
            check(e->d_name, want);
            n++;
        }
    closedir(d);
    return n;
}

TEST(texts_that_every_parser_must_accept_are_accepted) { CHECK_INT(check_all('y', true), 95); }

TEST(texts_that_every_parser_must_refuse_are_refused) { CHECK_INT(check_all('n', false), 188); }

/* Finds "| name | accepted |" or "| name | refused |" in the document. */
static bool documented(struct buf *docs, const char *name)
{
    AUTO_BUF struct buf row = { 0 };
    const char *at;

    buf_printf(&row, "\n| %s | ", name);
    at = strstr(buf_cstr(docs), buf_cstr(&row));
    if (!at)
        TAP_FAIL("docs/json.md has no row for %s", name);
    at += row.n;
    if (strncmp(at, "accepted |", 10) != 0 && strncmp(at, "refused |", 9) != 0)
        TAP_FAIL("docs/json.md has no verdict for %s", name);
    return *at == 'a';
}

TEST(texts_left_to_the_parser_are_treated_as_documented)
{
    AUTO_BUF struct buf docs = { 0 };
    DIR *d = open_cases();
    struct dirent *e;
    int files = 0, rows = 0;

    read_file(JSON_DOCS, &docs);
    while ((e = readdir(d)))
        if (e->d_name[0] == 'i' && e->d_name[1] == '_') {
            check(e->d_name, documented(&docs, e->d_name));
            files++;
        }
    closedir(d);
    for (const char *at = buf_cstr(&docs); (at = strstr(at, "\n| i_")); at++)
        rows++;
    CHECK_INT(rows, files);
    CHECK_INT(files, 35);
}
