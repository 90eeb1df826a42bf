#include "header_list.h"

/* Sent by the transport itself; a second one of these would let the two sides disagree about what
 * was said. */
static const char *const ours[] = {
    "accept",     "content-length", "content-type",    "last-event-id",
    "mcp-method", "mcp-name",       "mcp-session-id",  "mcp-protocol-version",
    "connection", "expect",         "accept-encoding", "transfer-encoding",
};

void header_list_add(struct header_list *h, const char *line)
{
    if (h->n + 1 >= h->cap) {
        h->cap = h->cap ? h->cap * 2 : 16;
        h->lines = mem_resize(h->lines, h->cap * sizeof *h->lines);
    }
    h->lines[h->n++] = line;
    h->lines[h->n] = NULL;
}

void header_list_put(struct header_list *h, const char *name, const char *value)
{
    header_list_add(h, arena_printf(&h->arena, "%s: %s", name, value));
}

void header_list_add_all(struct header_list *h, const char *const *lines)
{
    for (; lines && *lines; lines++)
        header_list_add(h, *lines);
}

static bool is_ours(const char *line)
{
    struct span name = span_trim(span_make(line, strcspn(line, ":")));

    for (size_t i = 0; i < ARRAY_LEN(ours); i++)
        if (span_is_nocase(name, ours[i]))
            return true;
    return name.n > 10 && span_is_nocase(span_make(name.p, 10), "mcp-param-");
}

void header_list_add_users(struct header_list *h, const char *const *lines)
{
    for (; lines && *lines; lines++)
        if (!is_ours(*lines))
            header_list_add(h, *lines);
}

void header_list_done(struct header_list *h)
{
    free(h->lines);
    arena_done(&h->arena);
    *h = (struct header_list){ 0 };
}
