/* kit_reach.c - what a call would touch that somebody has to have allowed: paths outside the
 * working directory. As texts: what a link makes of a path is found out when it is opened. */
#include "kit_impl.h"

static bool leads_outside(const char *directory, const char *path, struct buf *reason)
{
    AUTO_FREE char *whole = place_path(directory, path), *root = place_path("/", directory);

    if (path_is_within(root, whole))
        return false;
    buf_printf(reason, "Path '%s' is outside working directory.", whole);
    return true;
}

/* One path, or a list of them. */
static bool value_leads_outside(const char *directory, struct json v, struct buf *reason)
{
    AUTO_ARENA struct arena a = { 0 };

    if (json_is(v, JSON_STRING))
        return leads_outside(directory, json_cstr(v, &a), reason);
    if (json_is(v, JSON_ARRAY))
        JSON_FOREACH(one, v)
            if (json_is(one, JSON_STRING) && leads_outside(directory, json_cstr(one, &a), reason))
                return true;
    return false;
}

/* S3-145, S3-146 */
bool kit_reaches(void *ctx, const struct own_wish *w, struct buf *reason)
{
    const struct kit *k = ctx;
    const struct kit_entry *e = map_get(&k->entries, w->tool);
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_ARENA struct arena a = { 0 };

    if (!e || !e->op)
        return false;
    if (json_parse(&doc, w->arguments.n ? w->arguments : SPAN("{}"), NULL, NULL) < 0) {
        buf_str(reason, "Its arguments cannot be read.");
        return true;
    }
    for (const struct pb_param *p = e->op->params; p && p->name; p++)
        if ((p->flags & TOOL_PATH_WRITTEN) &&
            value_leads_outside(kit_directory(k, w->directory, &a),
                                json_get(json_root(&doc), p->name), reason))
            return true;
    return false;
}
