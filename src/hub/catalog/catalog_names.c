#include "catalog_impl.h"

enum { HASH_DIGITS = 8, SUFFIX = 1 + HASH_DIGITS };

static bool is_plain(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
}

static bool all_plain(struct span s)
{
    for (size_t i = 0; i < s.n; i++)
        if (!is_plain(s.p[i]))
            return false;
    return true;
}

static bool is_hex(char c) { return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f'); }

/* Does it end as names with a suffix do? */
static bool looks_suffixed(struct span s)
{
    if (s.n < SUFFIX || s.p[s.n - SUFFIX] != '_')
        return false;
    for (size_t i = s.n - HASH_DIGITS; i < s.n; i++)
        if (!is_hex(s.p[i]))
            return false;
    return true;
}

static bool has_double(struct span s) { return s.n && memmem(s.p, s.n, "__", 2); }

/* The plain form server__tool is used when one can read it back, and no name with a suffix can be
 * the same:
 *   1. both parts consist of [A-Za-z0-9_-], and the whole fits;
 *   2. the server neither holds "__" nor ends in "_": then the first "__" of the whole is ours, and
 *      what stands on its sides is the pair, whatever the tool is called;
 *   3. the whole does not end like a suffix, "_" and eight hexadecimal digits.
 * By 2 two plain names of different pairs differ; by 3 a plain name differs from every other one;
 * and the others end in a digest of "server/tool". So a name depends on its pair only, and stays
 * the same whatever else comes into the catalog or goes. */
static bool fits_plain(struct span server, struct span tool)
{
    return all_plain(server) && all_plain(tool) && server.n + 2 + tool.n <= WIRE_NAME_MAX &&
           !has_double(server) && !(server.n && server.p[server.n - 1] == '_') &&
           !looks_suffixed(tool);
}

/* Each character that may not stand there becomes one "_". */
static void add_plain(struct buf *out, struct span s)
{
    for (size_t i = 0; i < s.n; i++)
        if (is_plain(s.p[i]))
            buf_byte(out, s.p[i]);
        else if (((unsigned char)s.p[i] & 0xc0) != 0x80)
            buf_byte(out, '_');
}

static void add_suffix(struct buf *out, struct span server, struct span tool)
{
    AUTO_BUF struct buf id = { 0 };
    uint8_t digest[SHA256_BYTES];

    buf_add_span(&id, server);
    buf_byte(&id, '/');
    buf_add_span(&id, tool);
    sha256(buf_span(&id), digest);
    buf_byte(out, '_');
    for (size_t i = 0; i < HASH_DIGITS / 2; i++)
        buf_printf(out, "%02x", digest[i]);
}

void wire_name(struct buf *out, struct span server, struct span tool)
{
    size_t start = out->n;

    if (fits_plain(server, tool)) {
        buf_add_span(out, server);
        buf_str(out, "__");
        buf_add_span(out, tool);
        return;
    }
    add_plain(out, server);
    buf_str(out, "__");
    add_plain(out, tool);
    if (out->n - start > WIRE_NAME_MAX - SUFFIX)
        out->n = start + WIRE_NAME_MAX - SUFFIX;
    add_suffix(out, server, tool);
}
