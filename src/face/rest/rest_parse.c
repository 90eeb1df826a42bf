/* rest_parse.c - what servers a text describes: asked at every key press, so it neither keeps nor
 * logs anything. */
#include "hub/add/add.h"
#include "hub/config/config.h"
#include "hub/hub/hub.h"
#include "hub/link/link.h"
#include "hub/spec/spec.h"
#include "rest_impl.h"

static void put_display_name(struct json_out *o, const struct spec *s)
{
    AUTO_BUF struct buf title = { 0 };

    if (strcmp(s->display_name, s->name) == 0)
        spec_title(&title, s->name);
    else
        buf_str(&title, s->display_name);
    json_put_span(o, "display_name", buf_span(&title));
}

bool rest_name_taken(void *ctx, const struct spec *s, const char *name)
{
    const struct link *l = hub_link(ctx, name);

    return l && !spec_same_link(link_spec(l), s);
}

static void put_candidate(struct json_out *o, const struct hub *h, const struct spec *s)
{
    AUTO_BUF struct buf entry = { 0 }, what = { 0 };

    spec_write(&entry, s);
    spec_describe(&what, s);
    json_begin_object(o, NULL);
    json_put_str(o, "name", s->name);
    put_display_name(o, s);
    json_put_str(o, "transport", spec_transport_name(s->transport));
    json_put_span(o, "target", buf_span(&what));
    json_put_str(o, "auth", spec_auth_name(s->auth));
    json_put_bool(o, "exists", hub_link(h, s->name) != NULL);
    json_put_raw(o, "entry", buf_span(&entry));
    json_end(o);
}

void rest_servers_parse(struct rest_call *c)
{
    const struct add_around around = { .taken = rest_name_taken, .ctx = c->hub };
    AUTO(config) struct config *found = NULL;
    AUTO_BUF struct buf body = { 0 };
    struct json_out o = json_out(&body);
    struct map_slot *slot;
    struct pb_error err;

    if (add_paste(&found, rest_text(c, "text"), &(struct add_request){ .around = &around }, &err) <
        0) {
        rest_fail(c->r, &(struct rest_failure){ 400, "invalid_request", .message = err.msg });
        return;
    }
    json_begin_object(&o, NULL);
    json_begin_array(&o, "servers");
    MAP_FOREACH(slot, &found->specs)
        put_candidate(&o, c->hub, slot->value);
    json_end(&o);
    json_end(&o);
    rest_reply(c->r, 200, &body);
}
