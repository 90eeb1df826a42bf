/* oracle.h - jansson as a second opinion. Its header and ours use the same names for different
 * things, so it is read under other ones. Without HAVE_JANSSON the oracle is absent.
 *
 * Where jansson 2.14 is known to differ from RFC 8259 or from us, and may refuse what we accept:
 * escaped lone surrogates, NUL in a key, integers past 64 bits, numbers past the range of a
 * double. It keeps only the last of members with the same key, and takes a NUL byte between two
 * words for the end of the text. */
#pragma once
#include "json/chars.h"
#include "json/json.h"

#ifdef HAVE_JANSSON
#    define json_type   jansson_type
#    define json_equal  jansson_equal
#    define JSON_OBJECT JANSSON_OBJECT
#    define JSON_ARRAY  JANSSON_ARRAY
#    define JSON_STRING JANSSON_STRING
#    define JSON_TRUE   JANSSON_TRUE
#    define JSON_FALSE  JANSSON_FALSE
#    define JSON_NULL   JANSSON_NULL
#    include <jansson.h>
#    undef json_type
#    undef json_equal
#    undef JSON_OBJECT
#    undef JSON_ARRAY
#    undef JSON_STRING
#    undef JSON_TRUE
#    undef JSON_FALSE
#    undef JSON_NULL

/* NULL when it refuses the text. */
static inline json_t *oracle_parse(struct span text)
{
    json_error_t e;

    return json_loadb(text.p, text.n, JSON_DECODE_ANY | JSON_ALLOW_NUL, &e);
}

static inline void oracle_done(json_t **j) { json_decref(*j); }

#    define AUTO_ORACLE __attribute__((cleanup(oracle_done)))

static inline bool oracle_equal(const json_t *j, struct json v);

static inline bool oracle_object_equal(const json_t *j, struct json v)
{
    json_t *object = (json_t *)(uintptr_t)j;
    void *at = json_object_iter(object);
    AUTO_ARENA struct arena a = { 0 };

    JSON_FOREACH(member, v) {
        struct span key = json_key_str(member, &a);

        if (!at || !span_eq(key, span_make(json_object_iter_key(at), json_object_iter_key_len(at))))
            return false;
        if (!oracle_equal(json_object_iter_value(at), member))
            return false;
        at = json_object_iter_next(object, at);
    }
    return !at;
}

static inline bool oracle_array_equal(const json_t *j, struct json v)
{
    size_t i = 0;

    if (json_array_size(j) != json_len(v))
        return false;
    JSON_FOREACH(item, v)
        if (!oracle_equal(json_array_get(j, i++), item))
            return false;
    return true;
}

static inline bool oracle_integer_equal(const json_t *j, struct json v)
{
    int64_t i = 0;

    return json_int(v, &i, NULL) == 0 && i == json_integer_value(j);
}

static inline bool oracle_real_equal(const json_t *j, struct json v)
{
    double d = 0;

    return json_double(v, &d, NULL) == 0 && d == json_real_value(j);
}

static inline bool oracle_string_equal(const json_t *j, struct json v)
{
    AUTO_ARENA struct arena a = { 0 };

    return span_eq(json_str(v, &a), span_make(json_string_value(j), json_string_length(j)));
}

/* Do both mean the same value? Objects in the same order; no duplicate keys. */
static inline bool oracle_equal(const json_t *j, struct json v)
{
    switch (json_typeof(j)) {
    case JANSSON_OBJECT:
        return json_is(v, JSON_OBJECT) && oracle_object_equal(j, v);
    case JANSSON_ARRAY:
        return json_is(v, JSON_ARRAY) && oracle_array_equal(j, v);
    case JANSSON_STRING:
        return json_is(v, JSON_STRING) && oracle_string_equal(j, v);
    case JSON_INTEGER:
        return json_is(v, JSON_NUMBER) && oracle_integer_equal(j, v);
    case JSON_REAL:
        return json_is(v, JSON_NUMBER) && oracle_real_equal(j, v);
    case JANSSON_TRUE:
        return json_is(v, JSON_TRUE);
    case JANSSON_FALSE:
        return json_is(v, JSON_FALSE);
    default:
        return json_is(v, JSON_NULL);
    }
}

static inline bool oracle_refuses_string(struct span inside, bool key)
{
    struct chars c = chars_of(inside);
    int32_t ch;

    while ((ch = chars_next(&c)) != CHARS_END)
        if ((ch >= 0xD800 && ch <= 0xDFFF) || (ch == 0 && key))
            return true;
    return false;
}

static inline bool oracle_refuses_number(struct json v)
{
    struct span text = json_text(v);
    int64_t i;
    double d;

    if (!memchr(text.p, '.', text.n) && !memchr(text.p, 'e', text.n) &&
        !memchr(text.p, 'E', text.n))
        return json_int(v, &i, NULL) < 0;
    return json_double(v, &d, NULL) < 0;
}

/* Does this text, which we accept, hold one of the things that jansson refuses? */
static inline bool oracle_may_refuse(struct json v)
{
    if (json_is(v, JSON_NUMBER))
        return oracle_refuses_number(v);
    if (json_is(v, JSON_STRING))
        return oracle_refuses_string(span_make(json_text(v).p + 1, json_text(v).n - 2), false);
    JSON_FOREACH(child, v)
        if (oracle_refuses_string(json_key(child), true) || oracle_may_refuse(child))
            return true;
    return false;
}
#endif
