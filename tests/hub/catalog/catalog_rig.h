/* catalog_rig.h - what the tests of the catalog share: servers that are only a name, lists, and
 * the log. */
#pragma once
#include "hub/catalog/catalog.h"
#include "hub/link/link.h"
#include "hub/spec/spec.h"
#include "tap.h"

static const char *const rig_none[] = { NULL };

static struct spec rig_spec(const char *name)
{
    return (struct spec){ .name = name, .enabled_tools = rig_none, .disabled_tools = rig_none };
}

/* Puts a list in; returns whether anything changed. */
static inline bool rig_set(struct catalog *c, const char *server, enum list_kind kind,
                           const char *array)
{
    struct spec spec = rig_spec(server);
    bool changed = false;
    struct pb_error err;

    if (catalog_set(c, &spec, kind, span_of(array), &changed, &err) < 0)
        TAP_FAIL("catalog_set: %s", err.msg);
    return changed;
}

/* A filter from its JSON. */
static inline struct filter *rig_filter(const char *text)
{
    AUTO_JSON struct json_doc doc = { 0 };
    struct filter *f = NULL;
    struct pb_error err;

    if (json_parse(&doc, span_of(text), NULL, &err) < 0 ||
        filter_parse(&f, json_root(&doc), &err) < 0)
        TAP_FAIL("%s: %s", text, err.msg);
    return f;
}

/* What a scope shows, as text; valid until the next call. */
static inline const char *rig_render(struct catalog *c, const struct scope *s, enum list_kind kind)
{
    static struct blob *last;

    blob_unref(last);
    last = catalog_render(c, s, kind);
    return last->p;
}

/* The outward names of a scope, in order, with a space between. */
static inline const char *rig_names(struct catalog *c, const struct scope *s, enum list_kind kind)
{
    static struct buf out;
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_ARENA struct arena a = { 0 };
    const char *key = kind == LIST_RESOURCES   ? "uri"
                      : kind == LIST_TEMPLATES ? "uriTemplate"
                                               : "name";

    out.n = 0;
    CHECK_INT(json_parse(&doc, span_of(rig_render(c, s, kind)), NULL, NULL), 0);
    JSON_FOREACH(v, json_root(&doc)) {
        buf_str(&out, out.n ? " " : "");
        buf_add_span(&out, json_str(json_get(v, key), &a));
    }
    return buf_cstr(&out);
}

static inline const struct entry *rig_find(const struct catalog *c, const struct scope *s,
                                           const char *name)
{
    return catalog_find(c, s, LIST_TOOLS, span_of(name), NULL);
}

/* ---- The log ----------------------------------------------------------------------------- */

static struct buf rig_lines;
static size_t rig_warnings;

static void rig_log(void *ctx, enum pb_log_level level, const char *line)
{
    (void)ctx;
    rig_warnings += level == PB_LOG_WARNING;
    buf_str(&rig_lines, line);
    buf_byte(&rig_lines, '\n');
}

static inline void rig_listen(void)
{
    rig_lines.n = 0;
    rig_warnings = 0;
    pb_log_to(rig_log, NULL, PB_LOG_WARNING);
}

static inline const char *rig_logged(void) { return buf_cstr(&rig_lines); }
