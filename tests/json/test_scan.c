/* Built twice: with SSE2, and without it for machines that have none. */
#include "tap.h"
#include "json/scan.h"

/* Every byte at every place of texts of every length, in memory of exactly that length. */
TEST(the_first_special_byte_is_found_wherever_it_is)
{
    for (size_t n = 0; n <= 50; n++) {
        AUTO_FREE uint8_t *text = mem_alloc(n);

        memset(text, 'x', n);
        CHECK(scan_plain(text, text + n) == text + n);
        for (size_t at = 0; at < n; at++)
            for (unsigned c = 0; c < 256; c++) {
                text[at] = (uint8_t)c;
                CHECK(scan_plain(text, text + n) == text + (scan_is_special((uint8_t)c) ? at : n));
                text[at] = 'x';
            }
    }
}

TEST(of_two_special_bytes_the_first_is_found)
{
    static const uint8_t special[] = { 0, 1, 0x1f, '"', '\\', 0x80, 0xff };
    static const uint8_t near[] = { ' ', '!', '#', '[', ']', 0x7f, 0x20 };
    uint8_t text[32];

    for (size_t a = 0; a < ARRAY_LEN(special); a++)
        for (size_t b = 0; b < ARRAY_LEN(near); b++)
            for (size_t at = 0; at < 31; at++)
                for (size_t second = at + 1; second < 32; second++) {
                    memset(text, near[b], sizeof text);
                    text[at] = special[a];
                    text[second] = special[(a + b) % ARRAY_LEN(special)];
                    CHECK(scan_plain(text, text + sizeof text) == text + at);
                }
}

/* Against utf8_length(), one sequence at a time. */
static const uint8_t *slow_utf8(const uint8_t *p, const uint8_t *end)
{
    size_t n;

    while (p < end && *p >= 0x80 && (n = utf8_length(p, end)) > 0)
        p += n;
    return p;
}

TEST(runs_of_characters_end_where_ascii_begins_or_utf_8_ends)
{
    static const uint8_t bytes[] = { 0x41, 0x80, 0x8f, 0x90, 0x9f, 0xa0, 0xbf, 0xc0,
                                     0xc1, 0xc2, 0xdf, 0xe0, 0xe1, 0xec, 0xed, 0xee,
                                     0xef, 0xf0, 0xf1, 0xf3, 0xf4, 0xf5, 0xf8, 0xff };
    uint64_t state = 7;

    for (int round = 0; round < 400000; round++) {
        uint8_t text[12];
        size_t n = 1 + (size_t)round % sizeof text;

        for (size_t i = 0; i < n; i++) {
            state = state * UINT64_C(6364136223846793005) + 1442695040888963407u;
            text[i] = bytes[(state >> 33) % ARRAY_LEN(bytes)];
        }
        CHECK(scan_utf8(text, text + n) == slow_utf8(text, text + n));
    }
}

TEST(every_sequence_of_two_and_three_bytes_gets_its_verdict)
{
    for (unsigned a = 0x80; a < 0x100; a++)
        for (unsigned b = 0; b < 0x100; b++)
            for (unsigned c = 0x3f; c < 0x100; c++) {
                uint8_t text[] = { (uint8_t)a, (uint8_t)b, (uint8_t)c, 'x', 'x', 'x' };

                CHECK(scan_utf8(text, text + 6) == slow_utf8(text, text + 6));
            }
}
