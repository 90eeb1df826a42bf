/* rest_openapi.c - GET /openapi.json: the table as an OpenAPI 3.1 document. */
#include "rest_impl.h"
#include <ctype.h>

static const struct {
    unsigned bit;
    const char *status, *help;
} failures[] = {
    { REST_404, "404", "There is no such thing" },
    { REST_409, "409", "It cannot be done as things are" },
    { REST_410, "410", "It was too large to be kept" },
    { REST_500, "500", "The config could not be written, or the records not be read" },
    { REST_502, "502", "The server failed" },
    { REST_503, "503", "There is no hub, the server is not connected, or too much is under way" },
    { REST_504, "504", "The server did not answer in time" },
};

static void put_schema(struct json_out *o, const struct rest_param *p)
{
    json_begin_object(o, "schema");
    rest_put_type(o, p->type, false);
    json_end(o);
}

static void put_parameters(struct json_out *o, const struct rest_param *params)
{
    json_begin_array(o, "parameters");
    for (const struct rest_param *p = params; p && p->name; p++) {
        if (p->in == REST_BODY)
            continue;
        json_begin_object(o, NULL);
        json_put_str(o, "name", p->name);
        json_put_str(o, "in", p->in == REST_PATH ? "path" : "query");
        json_put_str(o, "description", p->help);
        json_put_bool(o, "required", p->required);
        put_schema(o, p);
        json_end(o);
    }
    json_end(o);
}

static bool has_body(const struct rest_route *t)
{
    for (const struct rest_param *p = t->params; p && p->name; p++)
        if (p->in == REST_BODY)
            return true;
    return t->flags & REST_OPEN_BODY;
}

static void put_properties(struct json_out *o, const struct rest_param *params)
{
    json_begin_object(o, "properties");
    for (const struct rest_param *p = params; p && p->name; p++) {
        if (p->in != REST_BODY)
            continue;
        json_begin_object(o, p->name);
        rest_put_type(o, p->type, false);
        json_put_str(o, "description", p->help);
        json_end(o);
    }
    json_end(o);
    json_begin_array(o, "required");
    for (const struct rest_param *p = params; p && p->name; p++)
        if (p->in == REST_BODY && p->required)
            json_put_str(o, NULL, p->name);
    json_end(o);
}

static void put_body(struct json_out *o, const struct rest_route *t)
{
    json_begin_object(o, "requestBody");
    json_put_bool(o, "required", true);
    json_begin_object(o, "content");
    json_begin_object(o, "application/json");
    json_begin_object(o, "schema");
    json_put_str(o, "type", "object");
    put_properties(o, t->params);
    json_put_bool(o, "additionalProperties", t->flags & REST_OPEN_BODY);
    json_end(o);
    json_end(o);
    json_end(o);
    json_end(o);
}

static void begin_content(struct json_out *o, const char *status, const char *help,
                          const char *type)
{
    json_begin_object(o, status);
    json_put_str(o, "description", help);
    json_begin_object(o, "content");
    json_begin_object(o, type);
    json_begin_object(o, "schema");
}

static void end_content(struct json_out *o)
{
    json_end(o);
    json_end(o);
    json_end(o);
}

static void put_failure(struct json_out *o, const char *status, const char *help)
{
    begin_content(o, status, help, "application/json");
    rest_put_ref(o, &rest_failure_shape);
    json_end(o);
    end_content(o);
}

static void put_stream(struct json_out *o)
{
    json_put_str(o, "contentMediaType", "text/event-stream");
    json_begin_object(o, "contentSchema");
    rest_put_ref(o, &rest_event_shape);
    json_end(o);
}

static void put_bytes(struct json_out *o)
{
    json_begin_object(o, "200");
    json_put_str(o, "description", "All is well");
    json_put_raw(o, "content",
                 SPAN("{\"application/json\":{\"schema\":{}},"
                      "\"application/octet-stream\":{\"schema\":{}}}"));
    json_end(o);
}

static void put_success(struct json_out *o, const struct rest_route *t)
{
    if (t->flags & REST_BYTES) {
        put_bytes(o);
        return;
    }
    if (t->plan) {
        begin_content(o, "200", "What would be done", "application/json");
        rest_put_ref(o, t->plan);
        json_end(o);
        end_content(o);
    }
    begin_content(o, t->status == 201 ? "201" : "200", "All is well",
                  t->type ? t->type : "application/json");
    if (t->answer)
        rest_put_ref(o, t->answer);
    else
        json_put_str(o, "type", "string");
    if (t->flags & REST_STREAM)
        put_stream(o);
    json_end(o);
    if (t->answer)
        json_put_raw(o, "example", span_of(rest_example(t->answer)));
    end_content(o);
}

static void put_responses(struct json_out *o, const struct rest_route *t)
{
    unsigned errors = t->errors | REST_503;

    json_begin_object(o, "responses");
    put_success(o, t);
    put_failure(o, "400", "The request is not well formed");
    if (!(t->flags & REST_PUBLIC)) {
        put_failure(o, "401", "The token is missing or wrong");
        put_failure(o, "429", "Too many wrong tokens");
    }
    put_failure(o, "403", "The Host or Origin is not allowed");
    for (size_t i = 0; i < ARRAY_LEN(failures); i++)
        if (errors & failures[i].bit)
            put_failure(o, failures[i].status, failures[i].help);
    if (has_body(t)) {
        put_failure(o, "413", "The body is too large");
        put_failure(o, "415", "The body does not say that it is JSON");
    }
    json_end(o);
}

/* "POST", "/api/servers/{name}/connect" -> "postServersNameConnect" */
static void put_operation_id(struct json_out *o, const struct rest_route *t)
{
    AUTO_BUF struct buf id = { 0 };
    const char *path = strncmp(t->path, "/api/", 5) == 0 ? t->path + 4 : t->path;
    bool upper = false;

    for (const char *m = t->method; *m; m++)
        buf_byte(&id, (char)tolower((unsigned char)*m));
    for (; *path; path++) {
        if (!isalnum((unsigned char)*path)) {
            upper = true;
            continue;
        }
        buf_byte(&id, upper ? (char)toupper((unsigned char)*path) : *path);
        upper = false;
    }
    json_put_span(o, "operationId", buf_span(&id));
}

static void put_operation(struct json_out *o, const struct rest_route *t)
{
    AUTO_BUF struct buf key = { 0 };

    for (const char *m = t->method; *m; m++)
        buf_byte(&key, (char)tolower((unsigned char)*m));
    json_begin_object(o, buf_cstr(&key));
    put_operation_id(o, t);
    if (t->flags & REST_PUBLIC)
        json_put_raw(o, "security", SPAN("[]"));
    json_put_str(o, "summary", t->help);
    put_parameters(o, t->params);
    if (has_body(t))
        put_body(o, t);
    put_responses(o, t);
    json_end(o);
}

static void put_paths(struct json_out *o)
{
    const char *open = NULL;

    json_begin_object(o, "paths");
    for (const struct rest_route *t = rest_routes; t->method; t++) {
        if (!open || strcmp(open, t->path) != 0) {
            if (open)
                json_end(o);
            json_begin_object(o, t->path);
            open = t->path;
        }
        put_operation(o, t);
    }
    json_end(o);
    json_end(o);
}

void rest_write_openapi(struct buf *out)
{
    struct json_out o = json_out(out);

    json_begin_object(&o, NULL);
    json_put_str(&o, "openapi", "3.1.0");
    json_begin_object(&o, "info");
    json_put_str(&o, "title", "Patchbay");
    json_put_str(&o, "version", pb_version());
    json_end(&o);
    json_put_raw(&o, "security", SPAN("[{\"bearer\":[]}]"));
    put_paths(&o);
    json_begin_object(&o, "components");
    json_put_raw(&o, "securitySchemes",
                 SPAN("{\"bearer\":{\"type\":\"http\",\"scheme\":\"bearer\"}}"));
    rest_put_schemas(&o, "schemas");
    json_end(&o);
    json_end(&o);
}

void rest_openapi(struct rest_call *c)
{
    AUTO_BUF struct buf body = { 0 };

    rest_write_openapi(&body);
    rest_reply(c->r, 200, &body);
}
