/* math_value.c - numbers that are exact as long as they can be. */
#include "plain_impl.h"
#include <float.h>
#include <stdio.h>

static const double exact_below = 9007199254740992.0; /* 2^53 */

struct math_value math_whole(int128 v) { return (struct math_value){ .exact = true, .whole = v }; }

struct math_value math_real(double v)
{
    if (v > -exact_below && v < exact_below && v == (double)(int64_t)v)
        return math_whole((int64_t)v);
    return (struct math_value){ .real = v };
}

double math_double(struct math_value v) { return v.exact ? (double)v.whole : v.real; }

static void print_whole(struct buf *out, int128 v)
{
    char digits[48];
    size_t n = sizeof digits;
    bool negative = v < 0;

    do {
        int digit = (int)(v % 10);

        digits[--n] = (char)('0' + (digit < 0 ? -digit : digit));
        v /= 10;
    } while (v);
    if (negative)
        digits[--n] = '-';
    buf_add(out, digits + n, sizeof digits - n);
}

void math_print(struct buf *out, struct math_value v)
{
    if (v.exact)
        print_whole(out, v.whole);
    else
        buf_printf(out, "%.15g", v.real);
}

/* ---- two numbers ---- */

static int finite_real(double v, struct math_value *out, struct pb_error *err)
{
    if (!__builtin_isfinite(v))
        return fail(err, PB_E_LIMIT, "the result is too large to be calculated");
    *out = math_real(v);
    return 0;
}

int math_add(struct math_value a, struct math_value b, struct math_value *out, struct pb_error *err)
{
    int128 sum;

    if (a.exact && b.exact && !__builtin_add_overflow(a.whole, b.whole, &sum)) {
        *out = math_whole(sum);
        return 0;
    }
    return finite_real(math_double(a) + math_double(b), out, err);
}

int math_subtract(struct math_value a, struct math_value b, struct math_value *out,
                  struct pb_error *err)
{
    int128 difference;

    if (a.exact && b.exact && !__builtin_sub_overflow(a.whole, b.whole, &difference)) {
        *out = math_whole(difference);
        return 0;
    }
    return finite_real(math_double(a) - math_double(b), out, err);
}

int math_multiply(struct math_value a, struct math_value b, struct math_value *out,
                  struct pb_error *err)
{
    int128 product;

    if (a.exact && b.exact && !__builtin_mul_overflow(a.whole, b.whole, &product)) {
        *out = math_whole(product);
        return 0;
    }
    return finite_real(math_double(a) * math_double(b), out, err);
}

int math_divide(struct math_value a, struct math_value b, struct math_value *out,
                struct pb_error *err)
{
    if (math_double(b) == 0)
        return fail(err, PB_E_INVALID, "division by zero");
    if (a.exact && b.exact && b.whole == -1) /* the least of all has no positive counterpart */
        return math_subtract(math_whole(0), a, out, err);
    if (a.exact && b.exact && a.whole % b.whole == 0) {
        *out = math_whole(a.whole / b.whole);
        return 0;
    }
    return finite_real(math_double(a) / math_double(b), out, err);
}

/* It has the sign of what is divided: -7 % 3 is -1. */
int math_remainder(struct math_value a, struct math_value b, struct math_value *out,
                   struct pb_error *err)
{
    const struct libm *m;

    if (math_double(b) == 0)
        return fail(err, PB_E_INVALID, "division by zero");
    if (a.exact && b.exact) {
        *out = math_whole(b.whole == -1 ? 0 : a.whole % b.whole);
        return 0;
    }
    m = math_libm(err);
    return m ? finite_real(m->fmod(math_double(a), math_double(b)), out, err) : -(int)err->code;
}

static bool whole_power(int128 base, int128 exponent, int128 *out)
{
    int128 result = 1;

    for (;;) {
        if ((exponent & 1) && __builtin_mul_overflow(result, base, &result))
            return false;
        exponent >>= 1;
        if (!exponent)
            break;
        if (__builtin_mul_overflow(base, base, &base))
            return false;
    }
    *out = result;
    return true;
}

int math_power(struct math_value a, struct math_value b, struct math_value *out,
               struct pb_error *err)
{
    const struct libm *m;
    int128 power;

    if (a.exact && b.exact && b.whole >= 0 && whole_power(a.whole, b.whole, &power)) {
        *out = math_whole(power);
        return 0;
    }
    if (math_double(a) == 0 && math_double(b) < 0)
        return fail(err, PB_E_INVALID, "zero to a negative power is a division by zero");
    if (math_double(a) < 0 && !b.exact)
        return fail(err, PB_E_INVALID, "a negative number to a power that is no whole number");
    m = math_libm(err);
    return m ? finite_real(m->pow(math_double(a), math_double(b)), out, err) : -(int)err->code;
}
