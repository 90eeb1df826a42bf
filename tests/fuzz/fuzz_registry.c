/* fuzz_registry.c - what registries answer. The first byte chooses which one was asked and for
 * what; whatever the rest says, what is made of it is JSON with a bounded number of servers, and a
 * line that is offered to be run has nothing in it that a shell would act on. */
#include "hub/registries/registries_impl.h"
#include <stdint.h>

#define MUST(cond)   \
    do {             \
        if (!(cond)) \
            abort(); \
    } while (0)

static void check_line(struct json server)
{
    AUTO_ARENA struct arena a = { 0 };
    struct span add = json_str(json_get(server, "add"), &a);

    for (size_t i = 0; i < add.n; i++)
        MUST(
            (unsigned char)add.p[i] >= ' ' &&
            !strchr(span_starts(add, "https://") ? " \"'`\\{}<>" : "$`;|&<>(){}'\"\\*?", add.p[i]));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    AUTO_BUF struct buf out = { 0 };
    AUTO_JSON struct json_doc doc = { 0 };
    struct json_out o = json_out(&out);
    struct map names = { 0 };
    struct registry_found f = { &o, &names, 0 };
    struct pb_error err = { 0 };

    if (!size)
        return 0;
    json_begin_array(&o, NULL);
    if (registry_read(&f, data[0] % REGISTRY_COUNT, span_make((const char *)data + 1, size - 1),
                      data[0] / REGISTRY_COUNT % 2, &err) < 0)
        MUST(err.msg[0]);
    json_end(&o);
    map_done(&names);
    MUST(json_parse(&doc, buf_span(&out), &(struct json_opts){ .unique_depth = 2 }, &err) == 0);
    MUST(json_len(json_root(&doc)) == f.n && f.n <= REGISTRY_RESULTS_MAX);
    JSON_FOREACH(server, json_root(&doc))
        check_line(server);
    return 0;
}
