/* rest_unmask.c - an entry that was shown without its secrets comes back changed: what is as it was
 * shown is put back as it was. */
#include "hub/spec/spec.h"
#include "rest_impl.h"

static const char masked[] = "***";

static void put_kept(struct buf *out, struct json given, struct json shown, struct json kept);

static void put_members(struct buf *out, struct json given, struct json shown, struct json kept)
{
    AUTO_ARENA struct arena a = { 0 };
    struct json_out o = json_out(out);

    json_begin_object(&o, NULL);
    JSON_FOREACH(member, given) {
        struct span key = json_key_str(member, &a);
        AUTO_BUF struct buf value = { 0 };

        put_kept(&value, member, json_get_span(shown, key), json_get_span(kept, key));
        json_put_raw_key(&o, key, buf_span(&value));
    }
    json_end(&o);
}

static void put_items(struct buf *out, struct json given, struct json shown, struct json kept)
{
    struct json_out o = json_out(out);

    shown = json_first(shown);
    kept = json_first(kept);
    json_begin_array(&o, NULL);
    JSON_FOREACH(item, given) {
        AUTO_BUF struct buf value = { 0 };

        put_kept(&value, item, shown, kept);
        json_put_raw(&o, NULL, buf_span(&value));
        shown = json_is(shown, JSON_NONE) ? shown : json_next(shown);
        kept = json_is(kept, JSON_NONE) ? kept : json_next(kept);
    }
    json_end(&o);
}

/* Goes no deeper than what was shown. */
static void put_kept(struct buf *out, struct json given, struct json shown, struct json kept)
{
    enum json_type type = json_type(given);

    if (!json_is(kept, JSON_NONE) && !json_is(shown, JSON_NONE) && json_equal(given, shown))
        buf_add_span(out, json_text(kept));
    else if (type == JSON_OBJECT && json_is(shown, JSON_OBJECT))
        put_members(out, given, shown, kept);
    else if (type == JSON_ARRAY && json_is(shown, JSON_ARRAY))
        put_items(out, given, shown, kept);
    else
        buf_add_span(out, json_text(given));
}

static int put_back(struct buf *out, struct json entry, const struct rest_masked *m,
                    struct pb_error *err)
{
    AUTO_JSON struct json_doc shown = { 0 }, kept = { 0 };
    AUTO_BUF struct buf text = { 0 };
    int rc = json_parse(&shown, m->shown, NULL, err);

    spec_write(&text, m->kept);
    if (rc == 0)
        rc = json_parse(&kept, buf_span(&text), NULL, err);
    if (rc == 0)
        put_kept(out, entry, json_root(&shown), json_root(&kept));
    return rc;
}

int rest_unmask(struct buf *out, struct json entry, const struct rest_masked *m,
                struct pb_error *err)
{
    int rc = 0;

    if (m)
        rc = put_back(out, entry, m, err);
    else
        buf_add_span(out, json_text(entry));
    if (rc == 0 && memmem(out->p, out->n, masked, strlen(masked)))
        rc =
            fail(err, PB_E_INVALID,
                 "'***' stands for something that is not shown, and here it is not known for what: "
                 "write it again in full");
    return rc;
}
