/* math_functions.c - the functions and constants of expressions. */
#include "plain_impl.h"

typedef struct math_value value;

static int give(double v, value *out, struct pb_error *err)
{
    if (!__builtin_isfinite(v))
        return fail(err, PB_E_LIMIT, "the result is too large to be calculated");
    *out = math_real(v);
    return 0;
}

/* ---- without the library ---- */

static int run_abs(const value *v, size_t n, value *out, struct pb_error *err)
{
    (void)n;
    if (math_double(v[0]) < 0)
        return math_subtract(math_whole(0), v[0], out, err);
    *out = v[0];
    return 0;
}

static int extreme(const value *v, size_t n, bool greatest, value *out)
{
    *out = v[0];
    for (size_t i = 1; i < n; i++) {
        bool greater = v[i].exact && out->exact ? v[i].whole > out->whole
                                                : math_double(v[i]) > math_double(*out);

        if (greater == greatest)
            *out = v[i];
    }
    return 0;
}

static int run_min(const value *v, size_t n, value *out, struct pb_error *err)
{
    (void)err;
    return extreme(v, n, false, out);
}

static int run_max(const value *v, size_t n, value *out, struct pb_error *err)
{
    (void)err;
    return extreme(v, n, true, out);
}

/* Doubles past 2^53 are whole; below it an int64_t holds what is before the point. */
static bool is_whole(value v)
{
    return v.exact || v.real >= 9007199254740992.0 || v.real <= -9007199254740992.0;
}

static double floor_of(double v)
{
    double whole = (double)(int64_t)v;

    return whole > v ? whole - 1 : whole;
}

static int run_floor(const value *v, size_t n, value *out, struct pb_error *err)
{
    (void)n;
    (void)err;
    *out = is_whole(v[0]) ? v[0] : math_real(floor_of(v[0].real));
    return 0;
}

static int run_ceil(const value *v, size_t n, value *out, struct pb_error *err)
{
    (void)n;
    (void)err;
    *out = is_whole(v[0]) ? v[0] : math_real(-floor_of(-v[0].real));
    return 0;
}

/* Halves go away from zero, as people round. */
static value rounded(value v)
{
    if (is_whole(v))
        return v;
    /* not floor(v + 0.5): the sum of the number before 0.5 and 0.5 is 1 */
    if (v.real < 0)
        return math_real(-(floor_of(-v.real) + (-v.real - floor_of(-v.real) >= 0.5)));
    return math_real(floor_of(v.real) + (v.real - floor_of(v.real) >= 0.5));
}

static int run_round(const value *v, size_t n, value *out, struct pb_error *err)
{
    enum { PLACES_MAX = 15 };
    value scale = math_whole(1), shifted;

    if (n == 1) {
        *out = rounded(v[0]);
        return 0;
    }
    if (!v[1].exact || v[1].whole < 0 || v[1].whole > PLACES_MAX)
        return fail(err, PB_E_INVALID, "round to 0 to %d places", PLACES_MAX);
    for (int128 i = 0; i < v[1].whole; i++)
        scale.whole *= 10;
    if (v[0].exact) {
        *out = v[0];
        return 0;
    }
    if (math_multiply(v[0], scale, &shifted, err) < 0)
        return -(int)err->code;
    return math_divide(rounded(shifted), scale, out, err);
}

static int run_pow(const value *v, size_t n, value *out, struct pb_error *err)
{
    (void)n;
    return math_power(v[0], v[1], out, err);
}

/* ---- with it ---- */

static int run_sqrt(const value *v, size_t n, value *out, struct pb_error *err)
{
    const struct libm *m = math_libm(err);

    (void)n;
    if (!m)
        return -(int)err->code;
    if (math_double(v[0]) < 0)
        return fail(err, PB_E_INVALID, "the square root of a negative number");
    return give(m->sqrt(math_double(v[0])), out, err);
}

static int logarithm(double v, bool natural, double *out, struct pb_error *err)
{
    const struct libm *m = math_libm(err);

    if (!m)
        return -(int)err->code;
    if (v <= 0)
        return fail(err, PB_E_INVALID, "the logarithm of a number that is not above zero");
    *out = natural ? m->log(v) : m->log10(v);
    return 0;
}

static int run_ln(const value *v, size_t n, value *out, struct pb_error *err)
{
    double l = 0;

    (void)n;
    return logarithm(math_double(v[0]), true, &l, err) < 0 ? -(int)err->code : give(l, out, err);
}

/* To the base 10, or to the second argument. */
static int run_log(const value *v, size_t n, value *out, struct pb_error *err)
{
    double l = 0, base = 1;

    if (logarithm(math_double(v[0]), false, &l, err) < 0 ||
        (n == 2 && logarithm(math_double(v[1]), false, &base, err) < 0))
        return -(int)err->code;
    if (base == 0)
        return fail(err, PB_E_INVALID, "the base of a logarithm cannot be 1");
    return give(l / base, out, err);
}

#define REAL_FUNCTION(name)                                                           \
    static int run_##name(const value *v, size_t n, value *out, struct pb_error *err) \
    {                                                                                 \
        const struct libm *m = math_libm(err);                                        \
                                                                                      \
        (void)n;                                                                      \
        return m ? give(m->name(math_double(v[0])), out, err) : -(int)err->code;      \
    }
REAL_FUNCTION(sin)
REAL_FUNCTION(cos)
REAL_FUNCTION(tan)
REAL_FUNCTION(exp)

/* clang-format off */
static const struct math_function functions[] = {
    { "abs",   1, 1,                  run_abs },
    { "ceil",  1, 1,                  run_ceil },
    { "cos",   1, 1,                  run_cos },
    { "exp",   1, 1,                  run_exp },
    { "floor", 1, 1,                  run_floor },
    { "ln",    1, 1,                  run_ln },
    { "log",   1, 2,                  run_log },
    { "max",   1, MATH_ARGUMENTS_MAX, run_max },
    { "min",   1, MATH_ARGUMENTS_MAX, run_min },
    { "pow",   2, 2,                  run_pow },
    { "round", 1, 2,                  run_round },
    { "sin",   1, 1,                  run_sin },
    { "sqrt",  1, 1,                  run_sqrt },
    { "tan",   1, 1,                  run_tan },
};

static const struct {
    const char *name;
    double value;
} constants[] = {
    { "e",  2.718281828459045235360287 },
    { "pi", 3.141592653589793238462643 },
};
/* clang-format on */

const struct math_function *math_function(struct span name)
{
    for (size_t i = 0; i < ARRAY_LEN(functions); i++)
        if (span_is_nocase(name, functions[i].name))
            return &functions[i];
    return NULL;
}

bool math_constant(struct span name, struct math_value *out)
{
    for (size_t i = 0; i < ARRAY_LEN(constants); i++)
        if (span_is_nocase(name, constants[i].name)) {
            *out = math_real(constants[i].value);
            return true;
        }
    return false;
}

void math_list_names(struct buf *out)
{
    for (size_t i = 0; i < ARRAY_LEN(functions); i++)
        buf_printf(out, "%s%s", i ? ", " : "", functions[i].name);
    for (size_t i = 0; i < ARRAY_LEN(constants); i++)
        buf_printf(out, ", %s", constants[i].name);
}
