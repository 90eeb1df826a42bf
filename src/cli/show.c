#include "show.h"
#include <assert.h>
#include <sys/ioctl.h>

enum { COLUMNS_MAX = 8, GAP = 2, ROOM_MIN = 24, NARROW_INDENT = 4 };

/* One character of UTF-8 as JSON escapes. */
static void put_escaped(const char *p, size_t n)
{
    uint32_t c = (unsigned char)p[0] & (0x7fU >> n);

    for (size_t i = 1; i < n; i++)
        c = c << 6 | ((unsigned char)p[i] & 0x3fU);
    if (c >= 0x10000)
        printf("\\u%04x\\u%04x", 0xd7c0 + (c >> 10), 0xdc00 + (c & 0x3ff));
    else
        printf("\\u%04x", c);
}

void show_text(char *text)
{
    if (!isatty(STDOUT_FILENO)) {
        puts(text);
        return;
    }
    for (char *line = text, *end; line; line = end) {
        end = strchr(line, '\n');
        if (end)
            *end++ = '\0';
        text_make_printable(line);
        puts(line);
    }
}

/* What a terminal would take for an order, and what would be shown as something else, is written as
 * an escape: the JSON stays the same. */
void show_json_part(struct span rest)
{
    if (!isatty(STDOUT_FILENO)) {
        fwrite(rest.p, 1, rest.n, stdout);
        return;
    }
    while (rest.n) {
        unsigned char c = (unsigned char)rest.p[0];
        bool c1 = c == 0xC2 && rest.n > 1 && (unsigned char)rest.p[1] < 0xA0;
        size_t n = c1 ? 2 : c >= 0xD8 ? text_hidden(rest) : 0;

        if (n) {
            put_escaped(rest.p, n);
        } else {
            if (c == 0x7f)
                fputs("\\u007f", stdout);
            else if (c != '\r') /* between values; in a string it is an escape */
                putchar(c);
            n = 1;
        }
        rest = span_from(rest, n);
    }
}

void show_json(const char *text)
{
    show_json_part(span_of(text));
    putchar('\n');
}

char *show_printable(struct span text, struct arena *a)
{
    char *copy = arena_dup(a, text);

    text_make_printable(copy);
    return copy;
}

const char *show_member(struct json object, const char *key, struct arena *a)
{
    char *text = arena_dup(a, json_str(json_get(object, key), a));
    size_t n = strcspn(text, "\n");
    bool more = text[n] && text[n + strspn(text + n, " \t\r\n")];

    text[n] = '\0';
    text_make_printable(text);
    return more ? arena_printf(a, "%s …", text) : text;
}

const char *show_item(struct json entry, struct arena *a)
{
    const char *server = show_member(entry, "server", a);
    const char *name = show_member(json_get(entry, "definition"), "name", a);

    return *server ? arena_printf(a, "%s.%s", server, name) : name;
}

void show_config_error(const char *label, struct json answer)
{
    AUTO_ARENA struct arena a = { 0 };
    const char *why = show_member(answer, "config_error", &a);

    if (*why)
        printf("%s%s; what was read before goes on\n", label, why);
}

bool show_may_move(int fd)
{
    const char *no = getenv("NO_COLOR"), *term = getenv("TERM");

    return isatty(fd) && !(no && *no) && !(term && strcmp(term, "dumb") == 0);
}

const char *show_on(enum show_color c)
{
    static const char *const codes[] = {
        [SHOW_PLAIN] = "",       [SHOW_GREEN] = "\033[32m", [SHOW_YELLOW] = "\033[33m",
        [SHOW_RED] = "\033[31m", [SHOW_GRAY] = "\033[90m",  [SHOW_BOLD] = "\033[1m",
    };

    return show_may_move(STDOUT_FILENO) ? codes[c] : "";
}

const char *show_off(void) { return show_may_move(STDOUT_FILENO) ? "\033[0m" : ""; }

enum show_color show_state_color(const char *state)
{
    static const struct {
        const char *state;
        enum show_color color;
    } rows[] = {
        { "connected", SHOW_GREEN },
        { "connecting", SHOW_YELLOW },
        { "authenticating", SHOW_YELLOW },
        { "reconnecting", SHOW_YELLOW },
        { "error", SHOW_RED },
        { "failed", SHOW_RED },
    };

    for (size_t i = 0; i < ARRAY_LEN(rows); i++)
        if (strcmp(rows[i].state, state) == 0)
            return rows[i].color;
    return SHOW_GRAY;
}

void show_counts(const struct show_count *counts)
{
    const char *between = "";

    for (; counts->what; counts++) {
        if (!counts->n)
            continue;
        printf("%s%zu %s", between, counts->n, counts->what);
        between = ", ";
    }
    putchar('\n');
}

struct row {
    enum show_color color;
    char *cells[COLUMNS_MAX];
};

struct show_table {
    int columns;
    struct row *rows;
    size_t n, cap;
};

struct show_table *show_table_new(int columns)
{
    struct show_table *t = NEW(struct show_table);

    assert(columns <= COLUMNS_MAX);
    t->columns = columns;
    return t;
}

void show_row(struct show_table *t, enum show_color color, const char *const *cells)
{
    struct row *r;

    if (t->n == t->cap) {
        t->cap = t->cap ? 2 * t->cap : 16;
        t->rows = mem_resize(t->rows, t->cap * sizeof *t->rows);
    }
    r = &t->rows[t->n++];
    r->color = color;
    for (int i = 0; i < t->columns; i++)
        r->cells[i] = mem_dup(cells[i] ? cells[i] : "");
}

size_t show_columns(const char *s)
{
    size_t n = 0;

    for (; *s; s++)
        n += ((unsigned char)*s & 0xc0) != 0x80;
    return n;
}

size_t show_width(int fd)
{
    struct winsize w;

    return isatty(fd) && ioctl(fd, TIOCGWINSZ, &w) == 0 ? w.ws_col : 0;
}

/* Not in the middle of a character, and it is seen. */
void show_cut(FILE *to, const char *s, size_t room)
{
    size_t n = 0, last = 0, i = 0;

    if (show_columns(s) <= room) {
        fputs(s, to);
        return;
    }
    for (; s[i]; i++)
        if (((unsigned char)s[i] & 0xc0) != 0x80 && n++ == room - 1)
            last = i;
    fprintf(to, "%.*s…", (int)last, s);
}

static void print_row(const struct show_table *t, const struct row *r, const size_t *widths,
                      size_t edge)
{
    size_t at = 0, pad = 0;

    for (int i = 0; i < t->columns; i++) {
        bool last = i == t->columns - 1;

        if (*r->cells[i]) {
            printf("%*s%s", (int)pad, "", i == 0 ? show_on(r->color) : "");
            show_cut(stdout, r->cells[i], last && edge > at ? edge - at : SIZE_MAX);
            fputs(i == 0 ? show_off() : "", stdout);
            pad = 0;
        }
        pad += widths[i] + GAP - show_columns(r->cells[i]);
        at += widths[i] + GAP;
    }
    putchar('\n');
}

void show_table_print(struct show_table *t)
{
    size_t widths[COLUMNS_MAX] = { 0 };
    size_t edge = show_width(STDOUT_FILENO);

    for (size_t i = 0; i < t->n; i++)
        for (int c = 0; c < t->columns; c++)
            if (show_columns(t->rows[i].cells[c]) > widths[c])
                widths[c] = show_columns(t->rows[i].cells[c]);
    for (size_t i = 0; i < t->n; i++) {
        print_row(t, &t->rows[i], widths, edge);
        for (int c = 0; c < t->columns; c++)
            free(t->rows[i].cells[c]);
    }
    free(t->rows);
    free(t);
}

/* Up to the last space that fits, or else as much as fits. */
static size_t line_length(struct span s, size_t room)
{
    size_t n = 0, space = 0, i = 0;

    for (; i < s.n; i++) {
        if (((unsigned char)s.p[i] & 0xc0) != 0x80 && n++ == room)
            return space ? space : i;
        if (s.p[i] == ' ')
            space = i;
    }
    return i;
}

/* *hanging: the first line is begun already. */
static void wrap_line(struct span line, size_t room, int indent, bool *hanging)
{
    do {
        size_t n = line_length(line, room);
        struct span head = span_make(line.p, n);

        line = span_from(line, n);
        while (line.n && line.p[0] == ' ')
            line = span_from(line, 1);
        printf("%*s%.*s\n", head.n && !*hanging ? indent : 0, "", SPAN_ARG(head));
        *hanging = false;
    } while (line.n);
}

/* Beside so wide an indent there would be room for a letter or two: below it, then. */
static bool is_narrow(size_t edge, int indent) { return edge && edge < (size_t)indent + ROOM_MIN; }

static void wrap(const char *text, int indent, bool hanging)
{
    size_t edge = show_width(STDOUT_FILENO);
    struct span rest = span_trim(span_of(text));

    if (is_narrow(edge, indent)) {
        fputs(hanging ? "\n" : "", stdout);
        hanging = false;
        indent = indent && edge > NARROW_INDENT + 1 ? NARROW_INDENT : 0;
    }

    for (;;) {
        const char *end = rest.n ? memchr(rest.p, '\n', rest.n) : NULL;
        size_t n = end ? (size_t)(end - rest.p) : rest.n;
        AUTO_FREE char *line = mem_dupn(rest.p, n - (n && rest.p[n - 1] == '\r'));

        text_make_printable(line);
        wrap_line(span_of(line), edge ? edge - (size_t)indent : SIZE_MAX, indent, &hanging);
        if (!end)
            return;
        rest = span_from(rest, n + 1);
    }
}

void show_wrapped(const char *text, int indent) { wrap(text, indent, false); }

void show_hanging(const char *text, int indent) { wrap(text, indent, true); }
