/* plain_impl.h - what the tools of the room are made of.
 *
 *   think.c             a place for thoughts
 *   math.c              math_operations and calculator: rows and answers
 *   math_expression.c   an expression to its value
 *   math_functions.c    the functions and constants of expressions
 *   math_value.c        numbers, exact as long as they can be
 *   math_units.c        one unit in another
 *   math_formula.c      formulas by name
 *   math_libm.c         the mathematics library, when it is first needed
 *   libm_loaded.c       its functions, of the shared library
 *   libm_linked.c       instead of it in a static program (-Dlibm=linked): those that are in it
 *   datetime.c          dates and times
 *   moment.c            ISO 8601 to seconds, and back
 *   zone.c              what clocks show in a time zone (RFC 8536)
 *   zone_rule.c         the rule at the end of such a file: from when to when it is summer
 *   string.c            texts */
#pragma once
#include "plain.h"

/* ---- numbers ---- */

__extension__ typedef __int128 int128;

/* Whole numbers of up to 38 digits are exact; everything else is a double. */
struct math_value {
    int128 whole; /* if exact */
    double real;  /* if not; always finite */
    bool exact;
};
struct math_value math_whole(int128 v);
/* What is whole and below 2^53 is exact again. */
struct math_value math_real(double v);
double math_double(struct math_value v);
/* As people read it: 15 digits of what is not exact, so that 0.1+0.2 is 0.3. */
void math_print(struct buf *out, struct math_value v);

typedef int math_two_fn(struct math_value a, struct math_value b, struct math_value *out,
                        struct pb_error *err);
math_two_fn math_add, math_subtract, math_multiply, math_divide, math_remainder, math_power;

/* ---- expressions ---- */

/* The text of a failure begins with the place: "character 5: …". err is not NULL. */
MUST_CHECK int math_evaluate(struct span text, struct math_value *out, struct pb_error *err);

struct math_function {
    const char *name;
    size_t least, most; /* arguments */
    int (*run)(const struct math_value *v, size_t n, struct math_value *out, struct pb_error *err);
};
/* NULL: there is none of this name. */
const struct math_function *math_function(struct span name);
bool math_constant(struct span name, struct math_value *out);
/* "abs, ceil, …", for who asked for another. */
void math_list_names(struct buf *out);

/* ---- the mathematics library ---- */

/* The program is not linked with it: mapping it takes 0.3 MB of every process, and most never
 * calculate. What can be done exactly and simply without it (whole numbers, rounding) is. */
struct libm {
    double (*sqrt)(double), (*sin)(double), (*cos)(double), (*tan)(double);
    double (*log)(double), (*log10)(double), (*exp)(double);
    double (*pow)(double, double), (*fmod)(double, double);
};
/* NULL: then err says what to install. [any thread] */
const struct libm *math_libm(struct pb_error *err);
MUST_CHECK int libm_find(struct libm *out, struct pb_error *err);

/* ---- units and formulas ---- */

MUST_CHECK int math_convert(double value, const char *from, const char *to, double *out,
                            struct pb_error *err);
/* All of them, by what they measure. */
void math_list_units(struct buf *out);
/* Appends what comes of it as text and as members of an object. */
MUST_CHECK int math_run_formula(const char *name, struct json parameters, struct buf *text,
                                struct json_out *o, struct pb_error *err);
void math_list_formulas(struct buf *out);

/* ---- times ---- */

/* Seconds since 1970, and where the clock stands that shows it. */
struct moment {
    int64_t seconds;
    int millis;
    int offset_s; /* east of Greenwich */
};
/* "2026-07-28", "2026-07-28T12:00", "2026-07-28 12:00:00.5+02:00", "…Z"; without an offset UTC. */
MUST_CHECK int moment_parse(struct span text, struct moment *out, struct pb_error *err);
/* "UTC", "Z", "+02:00", "-0530", "+2", or a name of the time zone database: "Europe/Berlin". */
MUST_CHECK int moment_set_zone(struct moment *m, const char *zone, struct pb_error *err);
/* Only "Z" and offsets; false: it is none. */
bool moment_offset(struct span text, int *offset_s);
void moment_print(struct buf *out, const struct moment *m);
/* A calendar date as the clock of the moment shows it. */
struct moment_parts {
    int64_t year;
    int month, day, hour, minute, second;
    int weekday;     /* 0: Sunday */
    int day_of_year; /* 1: the first */
};
struct moment_parts moment_parts(const struct moment *m);
int64_t days_of_date(int64_t year, int month, int day); /* since 1970-01-01 */
int days_in_month(int64_t year, int month);

/* The bytes of a file of the time zone database: seconds east of Greenwich at that time. */
MUST_CHECK int zone_offset(struct span file, int64_t at, int *offset_s, struct pb_error *err);
/* "CET-1CEST,M3.5.0,M10.5.0/3"; false: it is no such rule. */
bool zone_rule(struct span rule, int64_t at, int *offset_s);
