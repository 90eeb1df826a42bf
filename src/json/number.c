#include "number.h"
#include "doc.h"
#include <float.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>

enum { QUOTED_MAX = 40 };

static int64_t exponent_of(struct span text, bool *huge)
{
    bool negative = text.n && text.p[0] == '-';
    int64_t v = 0;

    for (size_t i = text.n && (text.p[0] == '-' || text.p[0] == '+'); i < text.n; i++) {
        v = v * 10 + (text.p[i] - '0');
        if (v > DECIMAL_EXPONENT_MAX) {
            *huge = true;
            v = DECIMAL_EXPONENT_MAX;
            break;
        }
    }
    return negative ? -v : v;
}

struct decimal decimal_of(struct span number)
{
    struct decimal d = { .negative = number.p[0] == '-' };
    size_t i = d.negative, mantissa, point, first, last;

    for (mantissa = i; mantissa < number.n && (number.p[mantissa] | 0x20) != 'e';)
        mantissa++;
    for (point = i; point < mantissa && number.p[point] != '.';)
        point++;
    for (first = i; first < mantissa && (number.p[first] == '0' || first == point);)
        first++;
    if (first == mantissa)
        return d;
    for (last = mantissa - 1; number.p[last] == '0' || last == point;)
        last--;
    d.digits = span_make(number.p + first, last - first + 1);
    d.n = d.digits.n - (first < point && point < last);
    if (mantissa < number.n)
        d.exponent = exponent_of(span_from(number, mantissa + 1), &d.huge);
    d.exponent += last < point ? (int64_t)(point - 1 - last) : -(int64_t)(last - point);
    return d;
}

/* The digit at *i, which moves on past it; the point is passed over; 0 behind the end. */
static int digit_next(struct span digits, size_t *i)
{
    if (*i < digits.n && digits.p[*i] == '.')
        ++*i;
    return *i < digits.n ? digits.p[(*i)++] - '0' : 0;
}

static int sign_of(const struct decimal *d) { return d->n == 0 ? 0 : d->negative ? -1 : 1; }

static int compare_size(const struct decimal *a, const struct decimal *b)
{
    int64_t x = (int64_t)a->n + a->exponent, y = (int64_t)b->n + b->exponent;
    size_t most = a->n > b->n ? a->n : b->n;

    if (x != y)
        return x < y ? -1 : 1;
    for (size_t k = 0, i = 0, j = 0; k < most; k++) {
        int u = digit_next(a->digits, &i), v = digit_next(b->digits, &j);

        if (u != v)
            return u < v ? -1 : 1;
    }
    return 0;
}

int number_cmp(struct span a, struct span b)
{
    struct decimal x = decimal_of(a), y = decimal_of(b);
    int sign = sign_of(&x), other = sign_of(&y);

    if (sign != other)
        return sign < other ? -1 : 1;
    if (sign == 0)
        return 0;
    if (x.huge && y.huge && (x.exponent < 0) == (y.exponent < 0))
        return span_cmp(a, b);
    return sign * compare_size(&x, &y);
}

bool number_is_whole(struct span number) { return decimal_of(number).exponent >= 0; }

/* The program around us may have set a locale whose decimal point is a comma. */
static locale_t c_locale;

static void make_c_locale(void) { c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0); }

static locale_t enter_c_locale(void)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, make_c_locale);
    return uselocale(c_locale);
}

static double read_double(const char *text)
{
    locale_t was = enter_c_locale();
    double d = strtod(text, NULL);

    uselocale(was);
    return d;
}

void number_print(char out[static NUMBER_CHARS], double v)
{
    locale_t was = enter_c_locale();

    /* 15 digits are always enough to keep what a person wrote, 17 to keep every double; only the
     * subnormal ones carry fewer than 15 */
    for (int digits = fabs(v) < DBL_MIN ? 1 : 15; digits <= 17; digits++) {
        snprintf(out, NUMBER_CHARS, "%.*g", digits, v);
        if (strtod(out, NULL) == v)
            break;
    }
    uselocale(was);
}

static int not_a_number(struct json v, struct pb_error *err)
{
    return fail(err, PB_E_INVALID, "expected a number, got %s", json_type_phrase(v));
}

/* The number as it was written, cut where it would flood a message. */
static struct span quoted(struct span number)
{
    return span_make(number.p, number.n < QUOTED_MAX ? number.n : QUOTED_MAX);
}

static int out_of_range(struct json v, const char *range, struct pb_error *err)
{
    return fail(err, PB_E_LIMIT, "%.*s is outside %s", SPAN_ARG(quoted(json_text(v))), range);
}

/* The absolute value of a whole number. */
static int whole(struct json v, uint64_t *out, bool *negative, const char *range,
                 struct pb_error *err)
{
    struct decimal d;
    uint64_t value = 0;
    size_t i = 0;

    if (!json_is(v, JSON_NUMBER))
        return not_a_number(v, err);
    d = decimal_of(json_text(v));
    if (d.exponent < 0)
        return fail(err, PB_E_INVALID, "%.*s is not a whole number",
                    SPAN_ARG(quoted(json_text(v))));
    for (int64_t k = 0, n = (int64_t)d.n + (d.n ? d.exponent : 0); k < n; k++)
        if (__builtin_mul_overflow(value, 10, &value) ||
            __builtin_add_overflow(value, (uint64_t)digit_next(d.digits, &i), &value))
            return out_of_range(v, range, err);
    *out = value;
    *negative = d.negative && d.n;
    return 0;
}

int json_int(struct json v, int64_t *out, struct pb_error *err)
{
    static const char range[] = "-2^63..2^63-1";
    uint64_t size = 0;
    bool negative = false;
    int rc = whole(v, &size, &negative, range, err);

    if (rc < 0)
        return rc;
    if (size > (uint64_t)INT64_MAX + negative)
        return out_of_range(v, range, err);
    *out = negative ? (int64_t)(0 - size) : (int64_t)size;
    return 0;
}

int json_uint(struct json v, uint64_t *out, struct pb_error *err)
{
    static const char range[] = "0..2^64-1";
    uint64_t size = 0;
    bool negative = false;
    int rc = whole(v, &size, &negative, range, err);

    if (rc < 0)
        return rc;
    if (negative)
        return out_of_range(v, range, err);
    *out = size;
    return 0;
}

int json_double(struct json v, double *out, struct pb_error *err)
{
    struct span text = json_text(v);
    AUTO_BUF struct buf copy = { 0 };
    double d;

    if (!json_is(v, JSON_NUMBER))
        return not_a_number(v, err);
    buf_add_span(&copy, text);
    d = read_double(buf_cstr(&copy));
    if (!isfinite(d))
        return out_of_range(v, "the range of a double", err);
    *out = d;
    return 0;
}
