/* export.h - recorded calls for other programs: a line of JSON each, HAR 1.2, or OTLP/HTTP in JSON.
 * Pure: a record and its bytes in, text out. An export is export_begin(), calls with
 * export_between() between them, export_end(). */
#pragma once
#include "store/store.h"

enum export_format { EXPORT_JSONL, EXPORT_HAR, EXPORT_OTLP, EXPORT_FORMATS };
const char *export_format_name(enum export_format f); /* "jsonl", "har", "otlp" */
bool export_format_parse(struct span word, enum export_format *out);

/* Of bytes that are not there (.p NULL) nothing is written but what the record says of them. */
struct export_bytes {
    struct span arguments, result;
};

void export_begin(struct buf *out, enum export_format f);
const char *export_between(enum export_format f);
void export_end(struct buf *out, enum export_format f);
/* jsonl: call_record_members(), and "arguments" and "result" as they are; ends its line.
 *
 * har: an entry. The request is a POST of the JSON-RPC message to mcp://SERVER/NAME, the status is
 * what an HTTP server would say: 200, of a tool that failed 500, and so on (export.c). The record
 * itself is under "_patchbay".
 *
 * otlp: a span. Its trace and its parent are those of the record's traceparent; without one the
 * trace is named after the call. */
void export_call(struct buf *out, enum export_format f, const struct call_record *c,
                 const struct export_bytes *bytes);

/* Some of the calls that a question finds, the newest first, with their bytes; those whose bytes
 * are gone without. At most EXPORT_PAGE_CALLS, and no more once the text has EXPORT_PAGE_BYTES.
 * `next`: go on before this number; 0: that is all. fn once, never inside; text is borrowed until
 * it returns. Loop thread. NULL: the store is closing. */
typedef void export_page_fn(void *ctx, struct span text, uint64_t next, const struct pb_error *err);
struct export_read;
struct export_read *export_page(struct pb_loop *loop, struct store *s, const struct call_query *q,
                                enum export_format f, export_page_fn *fn, void *ctx);
/* fn does not run any more. */
void export_cancel(struct export_read *r);
