#include "near.h"
#include <ctype.h>

enum { NEAR_CHARS = 64, NEAR_NAMES = 3 };

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* Changed, missing, needless and swapped characters, upper and lower case being the same. Both are
 * at most NEAR_CHARS long. */
static size_t distance(const char *a, const char *b)
{
    size_t rows[3][NEAR_CHARS + 1], na = strlen(a), nb = strlen(b);

    for (size_t j = 0; j <= nb; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= na; i++) {
        size_t *now = rows[i % 3], *one = rows[(i + 2) % 3], *two = rows[(i + 1) % 3];

        now[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            bool same = tolower((unsigned char)a[i - 1]) == tolower((unsigned char)b[j - 1]);

            now[j] = least(one[j - 1] + !same, least(one[j], now[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                now[j] = least(now[j], two[j - 2] + 1);
        }
    }
    return rows[na % 3][nb];
}

/* SIZE_MAX: not like it. A name that only goes on is nearly as good as one with a slip in it. */
static size_t unlike(const char *word, const char *name)
{
    size_t n = strlen(word), d;

    if (!n || n > NEAR_CHARS || strlen(name) > NEAR_CHARS)
        return SIZE_MAX;
    d = distance(word, name);
    if (d <= 1 + n / 4)
        return d;
    return n > 1 && strncasecmp(word, name, n) == 0 ? 2 + n / 4 : SIZE_MAX;
}

struct near {
    const char *name;
    size_t d;
};

/* Of equals the first stays before. */
static void keep(struct near *best, size_t *n, const char *name, size_t d)
{
    size_t at = *n;

    while (at && best[at - 1].d > d)
        at--;
    if (at == NEAR_NAMES)
        return;
    if (*n < NEAR_NAMES)
        ++*n;
    memmove(best + at + 1, best + at, (*n - at - 1) * sizeof *best);
    best[at] = (struct near){ name, d };
}

bool near_write(struct buf *out, const char *word, const char *const *names)
{
    struct near best[NEAR_NAMES];
    size_t n = 0;

    for (; *names; names++) {
        size_t d = unlike(word, *names);

        if (d != SIZE_MAX)
            keep(best, &n, *names, d);
    }
    for (size_t i = 0; i < n; i++)
        buf_printf(out, "%s'%s'%s",
                   i == 0       ? "; did you mean "
                   : i == n - 1 ? " or "
                                : ", ",
                   best[i].name, i == n - 1 ? "?" : "");
    return n > 0;
}
