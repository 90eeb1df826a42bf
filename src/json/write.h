/* write.h - writing JSON onto a buffer. Commas and colons are put by themselves.
 *
 *     struct json_out o = json_out(&buf);
 *     json_begin_object(&o, NULL);
 *     json_put_str(&o, "jsonrpc", "2.0");
 *     json_put_raw(&o, "id", id);
 *     json_end(&o);
 *
 * `key` is the member's name inside an object and NULL inside an array or at the root. */
#pragma once
#include "base/base.h"

struct json_out {
    struct buf *b;
    int depth;
    uint64_t object[3], filled[3]; /* one bit per open container: is an object, has a child */
};

struct json_out json_out(struct buf *b);
void json_begin_object(struct json_out *o, const char *key);
void json_begin_array(struct json_out *o, const char *key);
/* Ends the innermost open container. */
void json_end(struct json_out *o);

/* A string; bytes that are not UTF-8 become U+FFFD. */
void json_put_span(struct json_out *o, const char *key, struct span s);
void json_put_str(struct json_out *o, const char *key, const char *s);
/* Nothing is written when s is NULL. */
void json_put_str_opt(struct json_out *o, const char *key, const char *s);
void json_put_fmt(struct json_out *o, const char *key, const char *fmt, ...) PRINTF(3, 4);
void json_put_int(struct json_out *o, const char *key, int64_t v);
void json_put_uint(struct json_out *o, const char *key, uint64_t v);
/* v / 10^places, exactly. */
void json_put_scaled(struct json_out *o, const char *key, int64_t v, unsigned places);
/* Times are kept in milliseconds and told in seconds, everywhere. */
static inline void json_put_seconds(struct json_out *o, const char *key, int64_t ms)
{
    json_put_scaled(o, key, ms, 3);
}
/* The shortest text that reads back as the same double; not finite becomes null. */
void json_put_double(struct json_out *o, const char *key, double v);
void json_put_bool(struct json_out *o, const char *key, bool v);
void json_put_null(struct json_out *o, const char *key);
/* Already JSON; written as it is. An empty span writes nothing at all, not even the key. */
void json_put_raw(struct json_out *o, const char *key, struct span json);
/* The same with a key that is a span (decoded text). */
void json_put_raw_key(struct json_out *o, struct span key, struct span json);

/* One character of a string, escaped only where it must be; a lone surrogate as \udXXX. */
void json_escape(struct buf *b, uint32_t c);
/* Only the string itself, with its quotes. */
void json_quote(struct buf *b, struct span s);
