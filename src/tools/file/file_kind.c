#include "file_impl.h"

/* clang-format off */
static const struct {
    size_t at;
    struct span begins;
    const char *name;
} kinds[] = {
    { 0,   SPAN_CONST("\x89PNG\r\n\x1a\n"), "a PNG image" },
    { 0,   SPAN_CONST("\xff\xd8\xff"),      "a JPEG image" },
    { 0,   SPAN_CONST("GIF8"),              "a GIF image" },
    { 8,   SPAN_CONST("WEBP"),              "a WebP image" },
    { 0,   SPAN_CONST("%PDF-"),             "a PDF document" },
    { 0,   SPAN_CONST("PK\x03\x04"),        "a ZIP archive, or a document or program packed as one" },
    { 0,   SPAN_CONST("\x1f\x8b"),          "gzip data" },
    { 0,   SPAN_CONST("\x28\xb5\x2f\xfd"),  "zstd data" },
    { 0,   SPAN_CONST("\xfd" "7zXZ"),       "xz data" },
    { 0,   SPAN_CONST("BZh"),               "bzip2 data" },
    { 257, SPAN_CONST("ustar"),             "a tar archive" },
    { 0,   SPAN_CONST("!<arch>\n"),         "an archive of objects, or a Debian package" },
    { 0,   SPAN_CONST("\x7f" "ELF"),        "an ELF program, library or object" },
    { 0,   SPAN_CONST("MZ"),                "a Windows program" },
    { 0,   SPAN_CONST("\xca\xfe\xba\xbe"),  "a Java class" },
    { 0,   SPAN_CONST("\0asm"),             "a WebAssembly module" },
    { 0,   SPAN_CONST("SQLite format 3"),   "an SQLite database" },
    { 4,   SPAN_CONST("ftyp"),              "an MP4 video or relative of it" },
    { 0,   SPAN_CONST("OggS"),              "an Ogg recording" },
    { 0,   SPAN_CONST("fLaC"),              "a FLAC recording" },
    { 0,   SPAN_CONST("ID3"),               "an MP3 recording" },
    { 0,   SPAN_CONST("\xff\xfe"),          "a text in UTF-16 (little-endian), or something else" },
    { 0,   SPAN_CONST("\xfe\xff"),          "a text in UTF-16 (big-endian), or something else" },
};
/* clang-format on */

const char *file_kind(struct span beginning)
{
    if (!beginning.n ||
        (!memchr(beginning.p, '\0', beginning.n) && !span_starts(beginning, "%PDF-")))
        return NULL;
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
        if (beginning.n >= kinds[i].at + kinds[i].begins.n &&
            memcmp(beginning.p + kinds[i].at, kinds[i].begins.p, kinds[i].begins.n) == 0)
            return kinds[i].name;
    return "something of an unknown kind";
}
