#include "digests.h"

void definition_canonical(struct buf *out, struct span text)
{
    AUTO_JSON struct json_doc doc = { 0 };

    if (json_parse(&doc, text, NULL, NULL) == 0)
        json_canonical(out, json_root(&doc));
    else
        buf_add_span(out, text);
}

void digests_of(struct digests *out, struct span array)
{
    AUTO_JSON struct json_doc doc = { 0 };
    size_t most;

    /* One by one: together they may be more than a tape holds. */
    if (json_parse(&doc, array, &(struct json_opts){ .keep_depth = 1 }, NULL) < 0 ||
        !json_is(json_root(&doc), JSON_ARRAY))
        return;
    most = json_len(json_root(&doc));
    if (most > CATALOG_SERVER_ITEMS_MAX)
        most = CATALOG_SERVER_ITEMS_MAX;
    out->v = mem_alloc((most + 1) * sizeof *out->v);
    out->ends = mem_alloc((most + 1) * sizeof *out->ends);
    JSON_FOREACH(item, json_root(&doc)) {
        size_t start = out->canonical.n;

        if (out->n == most)
            break;
        definition_canonical(&out->canonical, json_text(item));
        sha512(span_from(buf_span(&out->canonical), start), out->v[out->n]);
        out->ends[out->n++] = out->canonical.n;
    }
}

struct span digests_text(const struct digests *d, size_t i)
{
    size_t start;

    if (!d->ends || i >= d->n)
        return SPAN("");
    start = i ? d->ends[i - 1] : 0;
    return span_make(d->canonical.p + start, d->ends[i] - start);
}

void digests_let_go(struct digests *d)
{
    buf_done(&d->canonical);
    free(TAKE(d->ends));
}

void digests_done(struct digests *d)
{
    digests_let_go(d);
    free(d->v);
    *d = (struct digests){ 0 };
}
