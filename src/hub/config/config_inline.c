#include "config_entry.h"
#include "hub/spec/spec.h"

static struct spec *command_line(const char *name, const char *text)
{
    struct spec *s = spec_blank(name);
    const char **words = arena_alloc(&s->arena, (strlen(text) / 2 + 2) * sizeof *words);
    size_t n = 0;

    while (*text) {
        size_t word = strcspn(text, " \t\r\n");

        words[n++] = arena_dup(&s->arena, span_make(text, word));
        text += word;
        text += strspn(text, " \t\r\n");
    }
    s->transport = SPEC_STDIO;
    s->command = words[0];
    s->args = words + 1;
    return s;
}

int config_inline(struct spec **out, const char *text, struct pb_error *err)
{
    const char *colon = strchr(text, ':');
    AUTO_FREE char *name = NULL, *value = NULL;
    struct span rest;
    char shown[SHOWN_MAX + 1];

    show_head(shown, span_of(text), 40);
    if (!colon)
        return fail(err, PB_E_INVALID,
                    "--mcp-client \"%s\": expected NAME:COMMAND or NAME:URL, got no colon", shown);
    if (spec_check_name(span_make(text, (size_t)(colon - text)), err) < 0)
        return fail_in(err, "--mcp-client");
    name = mem_dupn(text, (size_t)(colon - text));
    rest = span_trim(span_of(colon + 1));
    if (!rest.n)
        return fail(err, PB_E_INVALID,
                    "--mcp-client \"%s:\": expected a command or a URL behind the colon", name);
    if (rest.n > CONFIG_VALUE_MAX)
        return fail(err, PB_E_LIMIT, "--mcp-client \"%s\": longer than %d bytes", name,
                    CONFIG_VALUE_MAX);
    value = mem_dupn(rest.p, rest.n);
    if (span_starts(rest, "http://") || span_starts(rest, "https://"))
        *out = spec_sse(name, value);
    else
        *out = command_line(name, value);
    return 0;
}
