#include "client_public.h"
#include "mcp/rpc/rpc.h"

struct pb_result *result_new(struct span json)
{
    struct pb_result *r = NEW(struct pb_result);

    r->json = mem_dupn(json.p, json.n);
    r->n = json.n;
    return r;
}

const char *pb_result_json(const struct pb_result *result, size_t *n)
{
    if (n)
        *n = result->n;
    return result->json;
}

bool pb_result_is_error(const struct pb_result *result)
{
    AUTO_JSON struct json_doc doc = { 0 };
    struct span text = { result->json, result->n };

    return json_parse(&doc, text, &(struct json_opts){ .keep_depth = 1 }, NULL) == 0 &&
           json_is(json_root(&doc), JSON_OBJECT) &&
           json_bool(json_get(json_root(&doc), "isError"), false);
}

char *pb_result_text(const struct pb_result *result)
{
    struct buf b = { 0 };

    result_text(&b, span_make(result->json, result->n));
    return buf_take(&b);
}

void pb_result_free(struct pb_result *result)
{
    if (!result)
        return;
    free(result->json);
    free(result);
}
