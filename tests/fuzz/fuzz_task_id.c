/* fuzz_task_id - the id of a task as a client may send it. The first byte chooses: the text as it
 * comes; a text that we signed, so that what lies behind the signature is reached too; or an id of
 * our own, which says what it was made of, and nothing any more with one bit of it, or its owner,
 * changed. */
#include "face/relay/relay.h"
#include "face/relay/task_id.h"

#define MUST(cond)   \
    do {             \
        if (!(cond)) \
            abort(); \
    } while (0)

enum { MODES = 3 };

static const uint8_t key[TASK_KEY_BYTES] = { 42 };

static void as_it_comes(struct span data)
{
    AUTO_ARENA struct arena a = { 0 };
    struct task_name name;

    MUST(!task_id_read(&name, data, key, "me", &a)); /* it would have to guess the key */
}

static void signed_by_us(struct span data)
{
    AUTO_ARENA struct arena a = { 0 };
    AUTO_BUF struct buf text = { 0 }, all = { 0 };
    uint8_t mac[SHA256_BYTES];
    struct task_name name;

    buf_str(&all, "me\n");
    buf_add_span(&all, data);
    hmac_sha256(span_make((const char *)key, sizeof key), buf_span(&all), mac);
    base64url_encode(&text, data);
    buf_byte(&text, '.');
    base64url_encode(&text, span_make((const char *)mac, sizeof mac));
    if (task_id_read(&name, buf_span(&text), key, "me", &a))
        MUST(name.server.n + 1 + name.own.n == data.n && span_end(name.server)[0] == '\n');
    else
        MUST(data.n > RELAY_TASK_ID_MAX || !data.n || !memchr(data.p, '\n', data.n));
}

static void changed(struct span data)
{
    AUTO_ARENA struct arena a = { 0 };
    AUTO_BUF struct buf text = { 0 };
    struct task_name name = { SPAN("server-1"), span_from(data, 2) }, back;
    size_t at;

    if (task_id_write(&text, key, "me", &name, NULL) < 0) {
        MUST(!name.own.n || name.own.n > RELAY_TASK_ID_MAX);
        return;
    }
    MUST(task_id_read(&back, buf_span(&text), key, "me", &a));
    MUST(span_eq(back.server, name.server) && span_eq(back.own, name.own));
    MUST(!task_id_read(&back, buf_span(&text), key, "you", &a));
    at = ((size_t)(uint8_t)data.p[0] << 8 | (uint8_t)data.p[1]) % text.n;
    text.p[at] = (char)(text.p[at] ^ (1 << (data.p[0] & 7)));
    MUST(!task_id_read(&back, buf_span(&text), key, "me", &a));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct span rest = { (const char *)data + 1, size - 1 };

    if (size < 3)
        return 0;
    switch (data[0] % MODES) {
    case 0:
        as_it_comes(rest);
        break;
    case 1:
        signed_by_us(rest);
        break;
    default:
        changed(rest);
        break;
    }
    return 0;
}
