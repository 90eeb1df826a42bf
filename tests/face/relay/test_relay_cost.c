/* How often the bytes of an answer are read on its way from a server to a client. Every parse of
 * the program passes by here, but for those of the test itself. */
#include "mcp/client/client.h"
#include "mcp/client/client_impl.h"
#include "mcp/rpc/rpc.h"
#include "mcp/serve/serve.h"
#include "json/json.h"

int __real_json_parse(struct json_doc *doc, struct span text, const struct json_opts *opts,
                      struct pb_error *err);
int __wrap_json_parse(struct json_doc *doc, struct span text, const struct json_opts *opts,
                      struct pb_error *err);
void __real_client_receive(struct client *c, struct blob *bytes, uint64_t about, int status);
void __wrap_client_receive(struct client *c, struct blob *bytes, uint64_t about, int status);

static bool receiving; /* the hub has got an answer, and passes it on */
static size_t bytes_read, bytes_came;

int __wrap_json_parse(struct json_doc *doc, struct span text, const struct json_opts *opts,
                      struct pb_error *err)
{
    if (receiving)
        bytes_read += text.n;
    return __real_json_parse(doc, text, opts, err);
}

void __wrap_client_receive(struct client *c, struct blob *bytes, uint64_t about, int status)
{
    receiving = true;
    bytes_came += blob_span(bytes).n;
    __real_client_receive(c, bytes, about, status);
    receiving = false;
}

#define json_parse __real_json_parse
#include "face/relay_rig.h"

enum { DENSE = 5 << 20, SMALL = 1024 };

/* An array of numbers: so many bytes that it takes long to read them. */
static void put_dense(struct buf *out)
{
    buf_byte(out, '[');
    for (size_t i = 0; i < DENSE / 8; i++)
        buf_str(out, i ? ",1234567" : "12345678");
    buf_byte(out, ']');
}

/* A result with all that makes somebody look at it: whether it failed, what kind it is, whether
 * there are URIs in it. */
static void put_result(struct buf *out, const char *content)
{
    buf_printf(out, "{\"resultType\":\"complete\",\"isError\":false,\"content\":%s,", content);
    buf_str(out, "\"structuredContent\":{\"resource\":\"\\\"resource ui:\",\"dense\":");
    put_dense(out);
    buf_str(out, "}}");
}

static const enum era client_eras[] = { ERA_LEGACY, ERA_MODERN };
static const enum pb_era server_eras[] = { PB_ERA_LEGACY, PB_ERA_MODERN };

/* How many bytes more than those that came are read, for the answer to one call. What is small, as
 * _meta mostly is, may be read once more. */
static size_t read_again(enum pb_era server, enum era client, const char *text)
{
    struct hub_rig rig;
    struct down d;

    rig_init(&rig, NULL);
    rig_tool(&rig, "alpha", server, "dense", FAKE_RAW)->text = text;
    down_open(&d, &rig, PEER_STDIO, client, "{}");
    bytes_read = bytes_came = 0;
    down_call(&d, 1, "alpha__dense", "");
    CHECK_HAS(down_next(&d), ",1234567,1234567");
    CHECK(bytes_came > DENSE);
    down_close(&d);
    rig_done(&rig);
    return bytes_read - bytes_came;
}

TEST(an_answer_is_read_once_on_its_way)
{
    AUTO_BUF struct buf text = { 0 };

    put_result(&text, "[{\"type\":\"text\",\"text\":\"t\"}]");
    for (size_t s = 0; s < ARRAY_LEN(server_eras); s++)
        for (size_t c = 0; c < ARRAY_LEN(client_eras); c++)
            CHECK(read_again(server_eras[s], client_eras[c], buf_cstr(&text)) < SMALL);
}

/* What there is to be changed is found by reading that part a second time, and no other. */
TEST(of_an_answer_with_links_only_these_are_read_again)
{
    AUTO_BUF struct buf text = { 0 };

    put_result(&text, "[{\"type\":\"resource_link\",\"uri\":\"file:///a\"}]");
    for (size_t s = 0; s < ARRAY_LEN(server_eras); s++)
        for (size_t c = 0; c < ARRAY_LEN(client_eras); c++)
            CHECK(read_again(server_eras[s], client_eras[c], buf_cstr(&text)) < SMALL);
}
