/* catalog_kit.h - what the tests of the catalog share: servers that are only a name, lists, and
 * the log. */
#pragma once
#include "hub/catalog/catalog.h"
#include "hub/link/link.h"
#include "hub/spec/spec.h"
#include "tap.h"

static const char *const kit_none[] = { NULL };

static struct spec kit_spec(const char *name)
{
    return (struct spec){ .name = name, .enabled_tools = kit_none, .disabled_tools = kit_none };
}

/* Puts a list in; returns whether anything changed. */
static inline bool kit_set(struct catalog *c, const char *server, enum list_kind kind,
                           const char *array)
{
    struct spec spec = kit_spec(server);
    bool changed = false;
    struct pb_error err;

    if (catalog_set(c, &spec, kind, span_of(array), &changed, &err) < 0)
        TAP_FAIL("catalog_set: %s", err.msg);
    return changed;
}

/* A filter from its JSON. */
static inline struct filter *kit_filter(const char *text)
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
static inline const char *kit_render(struct catalog *c, const struct scope *s, enum list_kind kind)
{
    static struct blob *last;

    blob_unref(last);
    last = catalog_render(c, s, kind);
    return last->p;
}

/* The outward names of a scope, in order, with a space between. */
static inline const char *kit_names(struct catalog *c, const struct scope *s, enum list_kind kind)
{
    static struct buf out;
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_ARENA struct arena a = { 0 };
    const char *key = kind == LIST_RESOURCES   ? "uri"
                      : kind == LIST_TEMPLATES ? "uriTemplate"
                                               : "name";

    out.n = 0;
    CHECK_INT(json_parse(&doc, span_of(kit_render(c, s, kind)), NULL, NULL), 0);
    JSON_FOREACH(v, json_root(&doc)) {
        buf_str(&out, out.n ? " " : "");
        buf_add_span(&out, json_str(json_get(v, key), &a));
    }
    return buf_cstr(&out);
}

static inline const struct entry *kit_find(const struct catalog *c, const struct scope *s,
                                           const char *name)
{
    return catalog_find(c, s, LIST_TOOLS, span_of(name), NULL);
}

/* ---- The log ----------------------------------------------------------------------------- */

static struct buf kit_lines;
static size_t kit_warnings;

static void kit_log(void *ctx, enum pb_log_level level, const char *line)
{
    (void)ctx;
    kit_warnings += level == PB_LOG_WARNING;
    buf_str(&kit_lines, line);
    buf_byte(&kit_lines, '\n');
}

static inline void kit_listen(void)
{
    kit_lines.n = 0;
    kit_warnings = 0;
    pb_log_to(kit_log, NULL, PB_LOG_WARNING);
}

static inline const char *kit_logged(void) { return buf_cstr(&kit_lines); }
