#include "task_id.h"

static void sign(uint8_t out[static SHA256_BYTES], const uint8_t *key, const char *caller,
                 struct span named)
{
    AUTO_BUF struct buf all = { 0 };

    buf_printf(&all, "%s\n", caller);
    buf_add_span(&all, named);
    hmac_sha256(span_make((const char *)key, TASK_KEY_BYTES), buf_span(&all), out);
}

int task_id_write(struct buf *out, const uint8_t *key, const char *caller,
                  const struct task_name *name, struct pb_error *err)
{
    AUTO_BUF struct buf named = { 0 };
    uint8_t mac[SHA256_BYTES];

    if (!name->own.n)
        return fail(err, PB_E_INVALID, "the id of the task is empty");
    if (name->own.n > RELAY_TASK_ID_MAX)
        return fail(err, PB_E_LIMIT, "the id of the task has %zu bytes; the limit is %d",
                    name->own.n, RELAY_TASK_ID_MAX);
    buf_add_span(&named, name->server);
    buf_byte(&named, '\n');
    buf_add_span(&named, name->own);
    sign(mac, key, caller, buf_span(&named));
    base64url_encode(out, buf_span(&named));
    buf_byte(out, '.');
    base64url_encode(out, span_make((const char *)mac, sizeof mac));
    return 0;
}

/* What was named, if we signed it for this caller. */
static bool check(struct buf *named, struct span text, const uint8_t *key, const char *caller)
{
    enum { NAMED_MAX = HUB_NAME_MAX + 1 + RELAY_TASK_ID_MAX };
    const char *dot = text.n ? memchr(text.p, '.', text.n) : NULL;
    AUTO_BUF struct buf mac = { 0 };
    uint8_t want[SHA256_BYTES];

    /* base64 makes four bytes of three; what is longer is none of ours, and not worth a hash */
    if (!dot || text.n > (NAMED_MAX + SHA256_BYTES) * 4 / 3 + 8)
        return false;
    if (!base64url_decode(named, span_make(text.p, (size_t)(dot - text.p))) ||
        !base64url_decode(&mac, span_from(text, (size_t)(dot - text.p) + 1)))
        return false;
    sign(want, key, caller, buf_span(named));
    return mac.n == sizeof want && bytes_equal_const_time(mac.p, want, sizeof want);
}

bool task_id_read(struct task_name *out, struct span text, const uint8_t *key, const char *caller,
                  struct arena *arena)
{
    AUTO_BUF struct buf named = { 0 };
    struct span all;
    const char *end;

    if (!check(&named, text, key, caller))
        return false;
    all = span_make(arena_dup(arena, buf_span(&named)), named.n);
    end = memchr(all.p, '\n', all.n);
    if (!end)
        return false;
    out->server = span_make(all.p, (size_t)(end - all.p));
    out->own = span_from(all, out->server.n + 1);
    return true;
}
