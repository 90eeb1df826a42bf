#include "circle.h"

/* The array; JSON_NONE: it is no hub. */
static struct json hubs_in(struct json_doc *doc, struct span capabilities)
{
    struct json none = { 0 };

    if (!capabilities.n || json_parse(doc, capabilities, NULL, NULL) < 0)
        return none;
    return json_get(json_get(json_get(json_root(doc), "experimental"), "patchbay"), "hubs");
}

bool circle_names(struct span capabilities, const char *hub)
{
    AUTO_JSON struct json_doc doc = { 0 };
    struct json hubs = hubs_in(&doc, capabilities);

    if (json_is(hubs, JSON_ARRAY))
        JSON_FOREACH(id, hubs)
            if (json_str_is(id, hub))
                return true;
    return false;
}

static bool is_id(struct span text)
{
    for (size_t i = 0; i < text.n; i++)
        if (!strchr("0123456789abcdef", text.p[i]) || !text.p[i])
            return false;
    return text.n == ID_CHARS;
}

void circle_read(struct buf *ids, struct span capabilities)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_ARENA struct arena a = { 0 };
    struct json hubs = hubs_in(&doc, capabilities);

    if (!json_is(hubs, JSON_ARRAY))
        return;
    JSON_FOREACH(id, hubs) {
        struct span text = json_str(id, &a);

        if (is_id(text) && ids->n < (size_t)HUB_BEHIND_MAX * ID_CHARS)
            buf_add_span(ids, text);
    }
}

void circle_copy(struct json_out *o, struct span ids, size_t *room)
{
    for (; ids.n && *room; ids = span_from(ids, ID_CHARS), --*room)
        json_put_span(o, NULL, span_make(ids.p, ID_CHARS));
}
