#include "schema_parts.h"

enum { LIMBS = MULTIPLE_DIGITS_MAX * 10 / 3 / 32 + 3, SMALL_DIGITS = 18 };

/* The next digit, or -1. */
static int next_digit(struct span *digits)
{
    if (digits->n && digits->p[0] == '.')
        *digits = span_from(*digits, 1);
    if (!digits->n)
        return -1;
    *digits = span_from(*digits, 1);
    return digits->p[-1] - '0';
}

static void big_push(uint32_t *r, size_t n, int digit)
{
    uint64_t carry = (uint64_t)digit;

    for (size_t i = 0; i < n; i++) {
        carry += (uint64_t)r[i] * 10;
        r[i] = (uint32_t)carry;
        carry >>= 32;
    }
}

static bool big_below(const uint32_t *r, const uint32_t *d, size_t n)
{
    while (n > 0 && r[n - 1] == d[n - 1])
        n--;
    return n > 0 && r[n - 1] < d[n - 1];
}

/* r = (r * 10 + digit) modulo d. Both have n limbs, the lowest first, with room for ten times d. */
static void big_step(uint32_t *r, const uint32_t *d, size_t n, int digit)
{
    big_push(r, n, digit);
    while (!big_below(r, d, n)) {
        int64_t borrow = 0;

        for (size_t i = 0; i < n; i++) {
            borrow += (int64_t)r[i] - d[i];
            r[i] = (uint32_t)borrow;
            borrow >>= 32;
        }
    }
}

static bool divides_big(struct span a, const struct decimal *by, int64_t zeros)
{
    uint32_t d[LIMBS] = { 0 }, r[LIMBS] = { 0 };
    size_t n = by->n * 10 / 3 / 32 + 3;
    struct span digits = by->digits;
    int digit;

    while ((digit = next_digit(&digits)) >= 0)
        big_push(d, n, digit);
    while ((digit = next_digit(&a)) >= 0)
        big_step(r, d, n, digit);
    for (; zeros > 0; zeros--)
        big_step(r, d, n, 0);
    for (size_t i = 0; i < n; i++)
        if (r[i])
            return false;
    return true;
}

static bool divides_small(struct span a, const struct decimal *by, int64_t zeros)
{
    struct span digits = by->digits;
    uint64_t d = 0, r = 0;
    int digit;

    while ((digit = next_digit(&digits)) >= 0)
        d = d * 10 + (uint64_t)digit;
    assert(d > 0);
    while ((digit = next_digit(&a)) >= 0)
        r = (r * 10 + (uint64_t)digit) % d;
    for (; zeros > 0; zeros--)
        r = r * 10 % d;
    return r == 0;
}

bool number_is_multiple(struct span number, struct span divisor)
{
    struct decimal a = decimal_of(number), by = decimal_of(divisor);
    int64_t zeros = a.exponent - by.exponent;
    int64_t enough = 4 * (int64_t)by.n;

    if (a.n == 0)
        return true;
    if (zeros < 0) /* no factor 10 is left in a's digits, and the divisor needs one */
        return false;
    /* The divisor's digits are below 10^n, so they hold fewer than 4n factors 2 or 5: more zeros
     * than that change nothing. */
    zeros = zeros < enough ? zeros : enough;
    if (by.n <= SMALL_DIGITS)
        return divides_small(a.digits, &by, zeros);
    return divides_big(a.digits, &by, zeros);
}

void number_bytes(struct span number, struct buf *out)
{
    struct decimal d = decimal_of(number);
    int digit;

    if (d.huge) { /* equal only when written alike: see number_cmp() */
        buf_add_span(out, number);
        return;
    }
    if (d.n) {
        buf_byte(out, d.negative ? '-' : '+');
        buf_add(out, &d.exponent, sizeof d.exponent);
    }
    while ((digit = next_digit(&d.digits)) >= 0)
        buf_byte(out, (char)('0' + digit));
}
