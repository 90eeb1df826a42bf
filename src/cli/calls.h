/* calls.h - recorded calls, printed. What 'patchbay calls' and its further words do. */
#pragma once
#include "records.h"
#include "show.h"

/* Where a page of the list begins. */
struct calls_page {
    uint64_t before; /* 0: with the newest */
    unsigned limit;
    bool follow;
    const char *format; /* NULL: none */
};
/* The parameters that the command line asks for. CLI_USAGE after saying what is wrong. */
MUST_CHECK int calls_params(const struct cli *cli, const struct calls_page *p, struct buf *out);
/* "next" of an answer; 0: that was all. */
uint64_t calls_next(struct json answer);

int calls_list(const struct cli *cli);
int calls_follow(const struct cli *cli);
int calls_show(const struct cli *cli);
int calls_export(const struct cli *cli);
int calls_rm(const struct cli *cli);

/* The sign for what came of a call, and its colour. */
const char *calls_sign(const char *status, enum show_color *color);
/* "server.tool", or the method and what was asked for. In the arena. */
const char *calls_what(struct json call, struct arena *a);
/* "12 ms"; "" when it is not known. In the arena. */
const char *calls_took(struct json call, struct arena *a);
/* Asks for what may have many bytes in it: they are handed over as they come, on whichever thread,
 * before this returns. Nobody asks twice at once. */
typedef void calls_take_fn(void *ctx, struct span bytes);
MUST_CHECK int calls_ask_bytes(struct reach *s, const char *method, const char *params,
                               calls_take_fn *take, void *ctx, struct pb_result **result,
                               struct pb_error *err);
/* The bytes of an object. An exit code. */
MUST_CHECK int calls_object(struct reach *s, const char *cid, struct buf *out,
                            struct pb_error *err);
