#include "message.h"
#include <pthread.h>

/* Messages that ended, kept with the memory of their tapes: one per request would be allocated and
 * freed again. Per thread, as messages belong to the thread of their loop. */
struct spares {
    size_t n;
    struct message *v[MCP_SPARE_MAX];
};

static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t key;
static bool has_key; /* without one nothing is kept */

static void message_destroy(struct message *m)
{
    json_doc_done(&m->doc);
    arena_done(&m->arena);
    free(m);
}

static void spares_free(void *p)
{
    struct spares *s = p;

    while (s->n)
        message_destroy(s->v[--s->n]);
    free(s);
}

static void make_key(void) { has_key = pthread_key_create(&key, spares_free) == 0; }

static struct spares *spares(void)
{
    struct spares *s;

    pthread_once(&once, make_key);
    if (!has_key)
        return NULL;
    s = pthread_getspecific(key);
    if (s)
        return s;
    s = NEW(struct spares);
    if (pthread_setspecific(key, s) != 0)
        free(TAKE(s));
    return s;
}

static void invalid(struct message *m, int code, const char *why)
{
    m->rpc = (struct rpc){ .kind = RPC_INVALID, .code = code, .why = why };
}

/* The text is JSON, but some object names a key twice: two readers could see two different
 * requests. The id is believed if the envelope itself is not in doubt. */
static bool is_ambiguous(struct message *m, struct span text)
{
    struct json_opts opts = { .keep_depth = 1, .unique_depth = 1 }, loose = { .keep_depth = 1 };
    struct span id = SPAN("");

    if (json_parse(&m->doc, text, &opts, NULL) == 0) {
        rpc_read(&m->rpc, json_root(&m->doc), &m->arena);
        id = m->rpc.id;
    } else if (json_parse(&m->doc, text, &loose, NULL) < 0) {
        return false;
    }
    invalid(m, RPC_INVALID_REQUEST, "an object names a key twice");
    m->rpc.id = id;
    return true;
}

static void explain(struct message *m, struct span text, const struct pb_error *err)
{
    size_t head = text.n < REQUEST_ID_PEEK ? text.n : REQUEST_ID_PEEK;

    if (!utf8_valid(text)) {
        invalid(m, RPC_PARSE_ERROR, "invalid UTF-8");
    } else if (err->code == PB_E_LIMIT) {
        invalid(m, RPC_INVALID_REQUEST, arena_dup(&m->arena, span_of(err->msg)));
        m->rpc.id = rpc_id_peek(span_make(text.p, head));
    } else if (!is_ambiguous(m, text)) {
        invalid(m, RPC_PARSE_ERROR, arena_dup(&m->arena, span_of(err->msg)));
    }
}

static void read_claim(struct message *m)
{
    struct json version = json_get(json_get(m->rpc.params, "_meta"), META_VERSION);

    m->claims_modern = json_is(version, JSON_STRING);
    m->claimed_version = m->claims_modern ? json_str(version, &m->arena) : SPAN("");
}

static struct message *message_read(struct blob *take_bytes, struct span text)
{
    static const struct json_opts strict = { .unique_depth = JSON_ALL };
    struct spares *s = spares();
    struct message *m = s && s->n ? s->v[--s->n] : NEW(struct message);
    struct pb_error err;

    m->bytes = take_bytes;
    m->claims_modern = false;
    m->claimed_version = SPAN("");
    if (json_parse(&m->doc, text, &strict, &err) < 0) {
        explain(m, text, &err);
        return m;
    }
    rpc_read(&m->rpc, json_root(&m->doc), &m->arena);
    read_claim(m);
    return m;
}

struct message *message_new(struct blob *take_bytes)
{
    return message_read(take_bytes, blob_span(take_bytes));
}

struct message *message_of_element(const struct message *batch, struct json element)
{
    return message_read(blob_ref(batch->bytes), json_text(element));
}

void message_free(struct message *m)
{
    struct spares *s;

    if (!m)
        return;
    blob_unref(TAKE(m->bytes));
    s = spares();
    if (!s || s->n == MCP_SPARE_MAX) {
        message_destroy(m);
        return;
    }
    json_doc_trim(&m->doc, MCP_TAPE_KEEP);
    arena_reset(&m->arena);
    s->v[s->n++] = m;
}
