#include "definition.h"

void definition_done(struct definition *d)
{
    schema_free(d->schema);
    json_doc_done(&d->doc);
    pb_result_free(d->result);
    *d = (struct definition){ 0 };
}

/* Of a schema that is wrong nothing is asked of the arguments; it can be shown all the same. */
static void take_item(struct definition *d, struct json item)
{
    d->item = item;
    d->input = json_get(item, "inputSchema");
    if (json_is(d->input, JSON_OBJECT) &&
        schema_compile(&d->schema, json_text(d->input), NULL) == 0)
        d->input = schema_root(d->schema);
}

static int parse(struct definition *d, struct pb_error *err)
{
    size_t n;
    const char *text = pb_result_json(d->result, &n);

    return json_parse(&d->doc, span_make(text, n), NULL, err);
}

static int ask_hub(struct definition *d, struct reach *s, const char *kind, const char *item,
                   bool refresh, struct pb_error *err)
{
    AUTO_BUF struct buf params = { 0 };
    struct json_out o = json_out(&params);
    int rc;

    json_begin_object(&o, NULL);
    json_put_str(&o, kind, item);
    json_put_bool(&o, "refresh", refresh);
    json_end(&o);
    rc = reach_request(s, "patchbay/find", buf_cstr(&params), &d->result, err);
    if (rc == 0)
        rc = parse(d, err);
    if (rc < 0)
        return rc;
    d->entry = json_root(&d->doc);
    take_item(d, json_get(d->entry, "definition"));
    return 0;
}

bool definition_look(struct definition *d, struct reach *s, const char *kind, const char *item)
{
    return ask_hub(d, s, kind, item, false, NULL) == 0;
}

static int find(struct definition *d, struct reach *s, const char *kind, const char *item,
                bool refresh)
{
    struct pb_error err;

    return ask_hub(d, s, kind, item, refresh, &err) < 0 ? reach_fail(&err) : CLI_OK;
}

int definition_find(struct definition *d, struct reach *s, const char *kind, const char *item)
{
    return find(d, s, kind, item, false);
}

int definition_refresh(struct definition *d, struct reach *s, const char *kind, const char *item)
{
    definition_done(d);
    return find(d, s, kind, item, true);
}

bool definition_is_old(const struct definition *d)
{
    return !json_is(json_get(d->entry, "remembered_at"), JSON_NONE);
}

int definition_ask(struct definition *d, struct pb_client *client, const char *list,
                   const char *name, struct pb_error *err)
{
    int rc = pb_client_list(client, list, &d->result, err);

    if (rc == 0)
        rc = parse(d, err);
    if (rc < 0)
        return rc;
    JSON_FOREACH(item, json_root(&d->doc))
        if (json_str_is(json_get(item, "name"), name)) {
            take_item(d, item);
            break;
        }
    return 0;
}
