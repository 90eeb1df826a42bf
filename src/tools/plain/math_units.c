/* math_units.c - one unit in another: each is so many of the first of its kind. */
#include "plain_impl.h"
#include <stdio.h>

enum measure {
    LENGTH,
    MASS,
    TIME,
    TEMPERATURE,
    AREA,
    VOLUME,
    SPEED,
    DATA,
    PRESSURE,
    ENERGY,
    POWER,
    ANGLE,
    MEASURES,
};

/* clang-format off */
static const char *const measures[MEASURES] = {
    [LENGTH] = "length", [MASS] = "mass", [TIME] = "time", [TEMPERATURE] = "temperature", [AREA] = "area",
    [VOLUME] = "volume", [SPEED] = "speed", [DATA] = "data", [PRESSURE] = "pressure", [ENERGY] = "energy",
    [POWER] = "power", [ANGLE] = "angle",
};

/* Case counts where two differ in nothing else: MB and Mb, mW and MW. */
static const struct unit {
    enum measure of;
    const char *symbol, *name; /* "km", "kilometer" */
    double factor;
    double zero; /* added before: where its scale begins */
} units[] = {
    { LENGTH, "m", "meter", 1, 0 }, { LENGTH, "km", "kilometer", 1e3, 0 }, { LENGTH, "dm", "decimeter", 0.1, 0 },
    { LENGTH, "cm", "centimeter", 0.01, 0 }, { LENGTH, "mm", "millimeter", 1e-3, 0 },
    { LENGTH, "um", "micrometer", 1e-6, 0 }, { LENGTH, "nm", "nanometer", 1e-9, 0 },
    { LENGTH, "in", "inch", 0.0254, 0 }, { LENGTH, "ft", "foot", 0.3048, 0 }, { LENGTH, "yd", "yard", 0.9144, 0 },
    { LENGTH, "mi", "mile", 1609.344, 0 }, { LENGTH, "nmi", "nautical_mile", 1852, 0 },
    { LENGTH, "ly", "light_year", 9460730472580800.0, 0 },

    { MASS, "kg", "kilogram", 1, 0 }, { MASS, "g", "gram", 1e-3, 0 }, { MASS, "mg", "milligram", 1e-6, 0 },
    { MASS, "ug", "microgram", 1e-9, 0 }, { MASS, "t", "tonne", 1e3, 0 }, { MASS, "lb", "pound", 0.45359237, 0 },
    { MASS, "oz", "ounce", 0.028349523125, 0 }, { MASS, "st", "stone", 6.35029318, 0 },

    { TIME, "s", "second", 1, 0 }, { TIME, "ms", "millisecond", 1e-3, 0 }, { TIME, "us", "microsecond", 1e-6, 0 },
    { TIME, "ns", "nanosecond", 1e-9, 0 }, { TIME, "min", "minute", 60, 0 }, { TIME, "h", "hour", 3600, 0 },
    { TIME, "d", "day", 86400, 0 }, { TIME, "wk", "week", 604800, 0 }, { TIME, "yr", "year", 31557600, 0 },

    { TEMPERATURE, "K", "kelvin", 1, 0 }, { TEMPERATURE, "C", "celsius", 1, 273.15 },
    { TEMPERATURE, "F", "fahrenheit", 5.0 / 9.0, 459.67 },

    { AREA, "m2", "square_meter", 1, 0 }, { AREA, "km2", "square_kilometer", 1e6, 0 },
    { AREA, "cm2", "square_centimeter", 1e-4, 0 }, { AREA, "mm2", "square_millimeter", 1e-6, 0 },
    { AREA, "ha", "hectare", 1e4, 0 }, { AREA, "ac", "acre", 4046.8564224, 0 },
    { AREA, "ft2", "square_foot", 0.09290304, 0 }, { AREA, "in2", "square_inch", 0.00064516, 0 },
    { AREA, "mi2", "square_mile", 2589988.110336, 0 },

    { VOLUME, "l", "liter", 1, 0 }, { VOLUME, "ml", "milliliter", 1e-3, 0 }, { VOLUME, "cl", "centiliter", 0.01, 0 },
    { VOLUME, "m3", "cubic_meter", 1e3, 0 }, { VOLUME, "cm3", "cubic_centimeter", 1e-3, 0 },
    { VOLUME, "gal", "gallon", 3.785411784, 0 }, { VOLUME, "qt", "quart", 0.946352946, 0 },
    { VOLUME, "pt", "pint", 0.473176473, 0 }, { VOLUME, "cup", "cup", 0.2365882365, 0 },
    { VOLUME, "floz", "fluid_ounce", 0.0295735295625, 0 }, { VOLUME, "tbsp", "tablespoon", 0.01478676478125, 0 },
    { VOLUME, "tsp", "teaspoon", 0.00492892159375, 0 },

    { SPEED, "m/s", "meter_per_second", 1, 0 }, { SPEED, "km/h", "kilometer_per_hour", 1 / 3.6, 0 },
    { SPEED, "mph", "mile_per_hour", 0.44704, 0 }, { SPEED, "kn", "knot", 1852.0 / 3600.0, 0 },
    { SPEED, "ft/s", "foot_per_second", 0.3048, 0 },

    { DATA, "B", "byte", 1, 0 }, { DATA, "bit", "bit", 0.125, 0 }, { DATA, "kB", "kilobyte", 1e3, 0 },
    { DATA, "MB", "megabyte", 1e6, 0 }, { DATA, "GB", "gigabyte", 1e9, 0 }, { DATA, "TB", "terabyte", 1e12, 0 },
    { DATA, "KiB", "kibibyte", 1024, 0 }, { DATA, "MiB", "mebibyte", 1048576, 0 },
    { DATA, "GiB", "gibibyte", 1073741824, 0 }, { DATA, "TiB", "tebibyte", 1099511627776.0, 0 },
    { DATA, "kb", "kilobit", 125, 0 }, { DATA, "Mb", "megabit", 125000, 0 }, { DATA, "Gb", "gigabit", 125000000, 0 },

    { PRESSURE, "Pa", "pascal", 1, 0 }, { PRESSURE, "hPa", "hectopascal", 100, 0 },
    { PRESSURE, "kPa", "kilopascal", 1e3, 0 }, { PRESSURE, "MPa", "megapascal", 1e6, 0 },
    { PRESSURE, "bar", "bar", 1e5, 0 }, { PRESSURE, "mbar", "millibar", 100, 0 },
    { PRESSURE, "atm", "atmosphere", 101325, 0 }, { PRESSURE, "psi", "psi", 6894.757293168361, 0 },
    { PRESSURE, "mmHg", "millimeter_of_mercury", 133.322387415, 0 },

    { ENERGY, "J", "joule", 1, 0 }, { ENERGY, "kJ", "kilojoule", 1e3, 0 }, { ENERGY, "MJ", "megajoule", 1e6, 0 },
    { ENERGY, "cal", "calorie", 4.184, 0 }, { ENERGY, "kcal", "kilocalorie", 4184, 0 },
    { ENERGY, "Wh", "watt_hour", 3600, 0 }, { ENERGY, "kWh", "kilowatt_hour", 3.6e6, 0 },
    { ENERGY, "eV", "electronvolt", 1.602176634e-19, 0 }, { ENERGY, "BTU", "btu", 1055.05585262, 0 },

    { POWER, "W", "watt", 1, 0 }, { POWER, "mW", "milliwatt", 1e-3, 0 }, { POWER, "kW", "kilowatt", 1e3, 0 },
    { POWER, "MW", "megawatt", 1e6, 0 }, { POWER, "GW", "gigawatt", 1e9, 0 },
    { POWER, "hp", "horsepower", 745.69987158227022, 0 },

    { ANGLE, "rad", "radian", 1, 0 }, { ANGLE, "deg", "degree", 3.141592653589793238462643 / 180, 0 },
    { ANGLE, "grad", "gradian", 3.141592653589793238462643 / 200, 0 },
    { ANGLE, "arcmin", "arcminute", 3.141592653589793238462643 / 10800, 0 },
    { ANGLE, "arcsec", "arcsecond", 3.141592653589793238462643 / 648000, 0 },
    { ANGLE, "turn", "turn", 3.141592653589793238462643 * 2, 0 },
};
/* clang-format on */

/* As it is written; then by its name, also in the plural ("meters", "feet" is a word of its own);
 * then a symbol whatever its case is, if only one is meant. */
static const struct unit *unit_named(const char *text)
{
    struct span name = span_of(text), singular = name;
    const struct unit *one = NULL;
    size_t n = 0;

    if (name.n > 2 && (name.p[name.n - 1] | 0x20) == 's')
        singular.n--;
    for (size_t i = 0; i < ARRAY_LEN(units); i++)
        if (span_is(name, units[i].symbol) || span_is_nocase(name, units[i].name) ||
            span_is_nocase(singular, units[i].name))
            return &units[i];
    for (size_t i = 0; i < ARRAY_LEN(units); i++)
        if (span_is_nocase(name, units[i].symbol)) {
            one = &units[i];
            n++;
        }
    if (span_is_nocase(name, "feet"))
        return unit_named("ft");
    if (span_is_nocase(name, "inches"))
        return unit_named("in");
    return n == 1 ? one : NULL;
}

static void list_measure(struct buf *out, enum measure of)
{
    bool any = false;

    for (size_t i = 0; i < ARRAY_LEN(units); i++)
        if (units[i].of == of) {
            buf_printf(out, "%s%s", any ? ", " : "", units[i].symbol);
            any = true;
        }
}

void math_list_units(struct buf *out)
{
    for (size_t i = 0; i < MEASURES; i++) {
        buf_printf(out, "%s%s: ", i ? "\n" : "", measures[i]);
        list_measure(out, (enum measure)i);
    }
}

int math_convert(double value, const char *from, const char *to, double *out, struct pb_error *err)
{
    const struct unit *a = unit_named(from), *b = unit_named(to);
    double v;

    if (!a || !b)
        return fail(err, PB_E_NOT_FOUND, "there is no unit '%.60s'", a ? to : from);
    if (a->of != b->of)
        return fail(err, PB_E_INVALID, "%s is a unit of %s and %s one of %s", a->symbol,
                    measures[a->of], b->symbol, measures[b->of]);
    v = a == b ? value : (value + a->zero) * a->factor / b->factor - b->zero;
    if (!__builtin_isfinite(v))
        return fail(err, PB_E_LIMIT, "the result is too large to be calculated");
    *out = v;
    return 0;
}
