/* control_pieces.c - an answer with many bytes in it: they come first, as notifications of the
 * request, a piece in each turn of the loop and none while the client does not read. */
#include "control_impl.h"

enum { PIECE_BYTES = EXPORT_PAGE_BYTES / 16, PIECE_WAIT_MS = 20 };

struct piece_sender {
    struct request *r;
    struct buf bytes, last;
    size_t at;
    struct timer next;
};

static void sender_free(struct piece_sender *s)
{
    timer_stop(&s->next);
    buf_done(&s->bytes);
    buf_done(&s->last);
    free(s);
}

static void on_gone(struct request *r, enum cancel_reason why)
{
    (void)why;
    sender_free(r->work);
}

void control_put_bytes(struct json_out *o, struct span bytes)
{
    AUTO_BUF struct buf coded = { 0 };

    if (utf8_valid(bytes)) {
        json_put_span(o, "text", bytes);
        return;
    }
    base64_encode(&coded, bytes);
    json_put_span(o, "base64", buf_span(&coded));
}

/* No character is cut, where there are any. */
static struct span next_piece(const struct piece_sender *s)
{
    struct span rest = span_from(buf_span(&s->bytes), s->at), piece = utf8_cut(rest, PIECE_BYTES);

    return piece.n ? piece : span_make(rest.p, rest.n < PIECE_BYTES ? rest.n : PIECE_BYTES);
}

static void finish(struct piece_sender *s)
{
    struct request *r = s->r;
    AUTO_BUF struct buf last = s->last;

    s->last = (struct buf){ 0 };
    r->work = NULL;
    r->cancel = NULL;
    sender_free(s);
    request_reply(r, buf_span(&last));
}

/* Telling may end the request, and with it s. */
static void on_next(void *ctx)
{
    AUTO_BUF struct buf b = { 0 };
    struct json_out o = json_out(&b);
    struct piece_sender *s = ctx;
    struct span piece;

    if (peer_congested(s->r->peer)) {
        timer_start(&s->next, PIECE_WAIT_MS);
        return;
    }
    if (s->at == s->bytes.n) {
        finish(s);
        return;
    }
    piece = next_piece(s);
    json_begin_object(&o, NULL);
    control_put_bytes(&o, piece);
    json_end(&o);
    s->at += piece.n;
    timer_start(&s->next, 0);
    request_notify(s->r, "notifications/patchbay/piece", buf_span(&b));
}

bool control_is_long(struct span bytes) { return bytes.n > PIECE_BYTES; }

void control_reply_pieces(struct hosts *h, struct request *r, struct span bytes, struct buf *last)
{
    struct piece_sender *s = NEW(struct piece_sender);

    s->r = r;
    buf_add_span(&s->bytes, bytes);
    s->last = *last;
    *last = (struct buf){ 0 };
    timer_init(&s->next, hosts_loop(h), on_next, s);
    r->work = s;
    r->cancel = on_gone;
    timer_start(&s->next, 0);
}
