#include "file_impl.h"

struct writing {
    struct span content;
    bool refuse, append; /* what is there */
    bool replaced;
};

static int write_content(struct file_change *ch, void *ctx, struct buf *why)
{
    struct writing *w = ctx;
    bool crlf = w->append && lines_crlf(buf_span(&ch->was));

    if (ch->there && w->refuse) {
        buf_printf(why,
                   "'%s' exists already. overwrite=true replaces it; replace_string or insert_edit "
                   "change a part of it",
                   ch->place.name);
        return -PB_E_INVALID;
    }
    w->replaced = ch->there;
    ch->text.n = 0;
    buf_add_span(&ch->text, buf_span(&ch->was));
    lines_put(&ch->text, w->content, crlf);
    return 0;
}

static int run(struct tool_call *c, bool refuse, bool append)
{
    AUTO_PLACE struct tool_place place = { .root = -1 };
    struct writing w = { span_of(pb_arg_string(c->call, "content")), refuse, append, false };
    int rc = file_edit(c, write_content, &w, append, &place);

    if (rc < 0)
        return rc;
    return pb_reply_text(c->call, "%s '%s' (%zu bytes)",
                         !w.replaced ? "Created"
                         : append    ? "Appended to"
                                     : "Replaced",
                         place.path, w.content.n);
}

int file_create(struct tool_call *c) { return run(c, !pb_arg_bool(c->call, "overwrite"), false); }

int file_write(struct tool_call *c) { return run(c, false, false); }

int file_append(struct tool_call *c) { return run(c, false, true); }
