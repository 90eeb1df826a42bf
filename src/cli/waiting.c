#include "waiting.h"
#include "show.h"
#include "talk.h"

/* What does not fit is counted. */
static void put_names(struct buf *out, const char *const *names, size_t room)
{
    size_t n = 0, told = 0;

    while (names[n])
        n++;
    for (; told < n; told++) {
        size_t rest = told + 1 < n ? strlen(" and 10000 more") : 0;

        if (told && out->n + 2 + strlen(names[told]) + rest > room)
            break;
        buf_printf(out, "%s%s", told ? ", " : "", names[told]);
    }
    if (told < n)
        buf_printf(out, " and %zu more", n - told);
}

void waiting_tick(struct waiting_line *w, const char *const *names)
{
    AUTO_BUF struct buf text = { 0 };
    size_t edge = show_width(STDERR_FILENO);

    if (!show_may_move(STDERR_FILENO) || !names[0] || talk_is_quiet() || talk_is_json())
        return;
    buf_printf(&text, "%c waiting for ", "|/-\\"[w->turn++ % 4]);
    put_names(&text, names, edge ? edge - 1 : 79);
    /* A line that wraps could not be taken away again. */
    fputs("\r\033[K", stderr);
    show_cut(stderr, buf_cstr(&text), edge ? edge - 1 : 79);
    fflush(stderr);
    w->shown = true;
}

void waiting_clear(struct waiting_line *w)
{
    if (w->shown)
        fputs("\r\033[K", stderr);
    w->shown = false;
}
