#include "near.h"
#include "utf8.h"
#include <ctype.h>

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

static struct span head(struct span s) { return span_make(s.p, least(s.n, NEAR_CHARS_MAX)); }

void near_init(struct near *near, struct span word)
{
    *near = (struct near){ .word = head(word) };
    for (size_t i = 0; i < near->word.n; i++) {
        unsigned char c = (unsigned char)near->word.p[i];

        near->of[tolower(c)] |= UINT64_C(1) << i;
        near->of[toupper(c)] |= tolower(c) != toupper(c) ? UINT64_C(1) << i : 0;
    }
}

/* The edit distance by bit vectors (Myers 1999, with exchanged neighbours by Hyyrö 2003): one step
 * per byte of the name. */
static size_t distance(const struct near *near, struct span name)
{
    uint64_t up = ~UINT64_C(0), down = 0, diagonal = 0, before = 0;
    uint64_t last = UINT64_C(1) << (near->word.n - 1);
    size_t d = near->word.n;

    for (size_t i = 0; i < name.n; i++) {
        uint64_t match = near->of[(unsigned char)name.p[i]];
        uint64_t exchanged = (~diagonal & match) << 1 & before;
        uint64_t right_up, right_down;

        diagonal = (((match & up) + up) ^ up) | match | down | exchanged;
        right_up = down | ~(diagonal | up);
        right_down = up & diagonal;
        d += (right_up & last) != 0;
        d -= (right_down & last) != 0;
        right_up = right_up << 1 | 1;
        right_down <<= 1;
        up = right_down | ~(diagonal | right_up);
        down = right_up & diagonal;
        before = match;
    }
    return d;
}

/* A name that only goes on is nearly as good as one with slips in it; but one letter begins many.
 */
size_t near_unlike(const struct near *near, struct span name)
{
    size_t n = near->word.n, most = 1 + n / 5, d = SIZE_MAX;

    name = head(name);
    if (!n || !name.n)
        return SIZE_MAX;
    if (name.n <= n + most && n <= name.n + most)
        d = distance(near, name);
    /* As many slips as letters make another word. */
    if (d <= most && (d < least(n, name.n) || !d))
        return d;
    return n > 1 && name.n > n && strncasecmp(near->word.p, name.p, n) == 0 ? most + 1 : SIZE_MAX;
}

void near_keep(struct near *near, struct span name, size_t unlike)
{
    size_t at = near->n, moved;

    while (at && near->unlike[at - 1] > unlike)
        at--;
    if (unlike == SIZE_MAX || at == NEAR_NAMES_MAX)
        return;
    near->n += near->n < NEAR_NAMES_MAX;
    moved = near->n - at - 1;
    memmove(near->names + at + 1, near->names + at, moved * sizeof *near->names);
    memmove(near->unlike + at + 1, near->unlike + at, moved * sizeof *near->unlike);
    near->names[at] = name;
    near->unlike[at] = unlike;
}

bool near_write(const struct near *near, struct buf *out)
{
    size_t n = near->n;

    /* Where only case differs nothing else was meant. */
    while (n && near->unlike[0] == 0 && near->unlike[n - 1] > 0)
        n--;
    for (size_t i = 0; i < n; i++) {
        bool last = i + 1 == n;

        buf_str(out, i == 0 ? "; did you mean '" : last ? " or '" : ", '");
        buf_add_span(out, utf8_cut(near->names[i], NEAR_CHARS_MAX));
        buf_str(out, last ? "'?" : "'");
    }
    return n > 0;
}

bool near_write_of(struct buf *out, struct span word, const char *const *names)
{
    struct near near;

    near_init(&near, word);
    for (; *names; names++)
        near_keep(&near, span_of(*names), near_unlike(&near, span_of(*names)));
    return near_write(&near, out);
}
