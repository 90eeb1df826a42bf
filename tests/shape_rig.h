/* shape_rig.h - holds answers of REST against what /openapi.json says about them. The rigs that ask
 * REST do this with every answer that a test gets: a member that is written and not described fails
 * there, and so does a status that a route does not name. */
#pragma once
#include "tap.h"
#include "json/json.h"

static struct json_doc shape_doc;

/* Once, with the document; it must stay. */
static void shape_read(struct span openapi)
{
    struct pb_error why;

    if (json_parse(&shape_doc, openapi, NULL, &why) < 0)
        TAP_FAIL("/openapi.json: %s", why.msg);
}

static struct json shape_at(struct json v, const char *const *keys)
{
    for (; *keys; keys++)
        v = json_get(v, *keys);
    return v;
}

#define SHAPE_AT(...) shape_at(json_root(&shape_doc), (const char *const[]){ __VA_ARGS__, NULL })

/* ---- a value and its schema ---- */

/* A schema of the document, with all that it may refer to. */
static const struct schema *shape_schema(struct json schema)
{
    static struct map known;
    struct schema *s = map_get(&known, json_text(schema));
    AUTO_ARENA struct arena a = { 0 };
    AUTO_BUF struct buf text = { 0 };
    struct json_out o = json_out(&text);
    struct pb_error why;

    if (s)
        return s;
    json_begin_object(&o, NULL);
    json_put_raw(&o, "components", json_text(SHAPE_AT("components")));
    JSON_FOREACH(keyword, schema)
        json_put_raw_key(&o, json_key_str(keyword, &a), json_text(keyword));
    json_end(&o);
    if (schema_compile(&s, buf_span(&text), &why) < 0)
        TAP_FAIL("%.*s: %s", SPAN_ARG(json_text(schema)), why.msg);
    map_put(&known, json_text(schema), s);
    return s;
}

/* `what` is named when the value does not fit. */
static void shape_fits(const char *what, struct json schema, struct span value)
{
    AUTO_JSON struct json_doc doc = { 0 };
    struct pb_error why;

    if (json_parse(&doc, value, NULL, &why) < 0 ||
        schema_check(shape_schema(schema), json_root(&doc), &why) < 0)
        TAP_FAIL("%s: %s: %.*s", what, why.msg, value.n < 2000 ? (int)value.n : 2000, value.p);
}

/* ---- an answer ---- */

static struct span shape_part(struct span *rest)
{
    const char *slash = rest->n ? memchr(rest->p, '/', rest->n) : NULL;
    struct span part = span_make(rest->p, slash ? (size_t)(slash - rest->p) : rest->n);

    *rest = span_from(*rest, slash ? part.n + 1 : part.n);
    return part;
}

/* A part in braces fits every part but an empty one. */
static bool shape_is_path(struct span template, struct span path)
{
    if (path.n && path.p[path.n - 1] == '/')
        return false;
    while (template.n && path.n) {
        struct span want = shape_part(&template), have = shape_part(&path);

        if (want.n && want.p[0] == '{' ? !have.n : !span_eq(want, have))
            return false;
    }
    return !template.n && !path.n;
}

/* The operation that "GET /api/servers/git?x=y" asks for; JSON_NONE: there is none. */
static struct json shape_operation(const char *request)
{
    size_t n = strcspn(request, " ");
    const char *path = request + n + (request[n] == ' ');
    AUTO_ARENA struct arena a = { 0 };
    char method[16] = "";

    for (size_t i = 0; i < n && i < sizeof method - 1; i++)
        method[i] = (char)(request[i] | 0x20);
    JSON_FOREACH(one, SHAPE_AT("paths")) {
        struct json operation = json_get(one, method);

        if (json_is(operation, JSON_OBJECT) &&
            shape_is_path(json_key_str(one, &a), span_make(path, strcspn(path, "?"))))
            return operation;
    }
    return (struct json){ 0 };
}

static struct json shape_of_answer(struct json operation, int status)
{
    char code[16];

    snprintf(code, sizeof code, "%d", status);
    return shape_at(operation, (const char *const[]){ "responses", code, "content",
                                                      "application/json", "schema", NULL });
}

/* An answer in JSON to this request. What is asked of no route of ours is refused as any other. */
static void shape_check(const char *request, int status, struct span body)
{
    struct json operation = shape_operation(request), schema;

    if (!json_is(operation, JSON_OBJECT) && !strstr(request, " /api/"))
        return; /* MCP, and the page */
    schema = json_is(operation, JSON_OBJECT) ? shape_of_answer(operation, status)
                                             : SHAPE_AT("components", "schemas", "Failure");
    if (!json_is(schema, JSON_OBJECT))
        TAP_FAIL("%s: answers %d, which it does not name: %.*s", request, status, SPAN_ARG(body));
    shape_fits(request, schema, body);
}

/* All that came of a stream of events. */
static void shape_check_events(const char *stream)
{
    static const char mark[] = "\ndata: {";
    struct json schema = SHAPE_AT("components", "schemas", "HubEvent");

    for (const char *at = stream; (at = strstr(at, mark)); at++) {
        const char *data = at + strlen(mark) - 1, *end = strchr(data, '\n');

        if (end)
            shape_fits("GET /api/events", schema, span_make(data, (size_t)(end - data)));
    }
}
