#include "cpu_time.h"
#include "schema_cases.h"
#include <pthread.h>
#include <time.h>

enum { SMALL_STACK = 262144 };

static int compile(const char *text, struct pb_error *err)
{
    AUTO_FREE char *schema = with_quotes(text);
    AUTO(schema) struct schema *s = NULL;

    return schema_compile(&s, span_of(schema), err);
}

static void *check_recursion(void *schema)
{
    struct pb_error err;

    CHECK_INT(verdict_on(schema, "{'a':1}", &err), -PB_E_LIMIT);
    CHECK_STR(err.msg, "value: the schema leads more than 128 schemas deep");
    return NULL;
}

static void *check_deep_parentheses(void *pattern)
{
    struct pb_error err;

    CHECK_INT(verdict_on(pattern, "'a'", &err), 0);
    return NULL;
}

static void on_small_stack(void *(*fn)(void *), const char *argument)
{
    AUTO_FREE char *copy = mem_dup(argument);
    pthread_attr_t attr;
    pthread_t thread;

    CHECK_INT(pthread_attr_init(&attr), 0);
    CHECK_INT(pthread_attr_setstacksize(&attr, SMALL_STACK), 0);
    CHECK_INT(pthread_create(&thread, &attr, fn, copy), 0);
    CHECK_INT(pthread_join(thread, NULL), 0);
    pthread_attr_destroy(&attr);
}

TEST(a_schema_that_refers_to_itself_ends_with_a_limit_on_a_small_stack)
{
    static const char *const schemas[] = {
        "{'$ref':'#'}",
        "{'$defs':{'a':{'$ref':'#/$defs/b'},'b':{'$ref':'#/$defs/a'}},'$ref':'#/$defs/a'}",
        "{'allOf':[{'$ref':'#','type':'object'}]}",
        "{'anyOf':[{'$ref':'#'},true]}",
        "{'oneOf':[{'$ref':'#','unevaluatedProperties':true}],'unevaluatedProperties':false}",
        "{'not':{'$ref':'#'}}",
        "{'not':{'not':{'$ref':'#'}}}",
        "{'if':{'$ref':'#','unevaluatedProperties':true},'unevaluatedProperties':false}",
        "{'dependentSchemas':{'a':{'$ref':'#','unevaluatedProperties':true}}}",
        "{'$dynamicAnchor':'x','$dynamicRef':'#x'}",
        "{'$dynamicAnchor':'x','allOf':[{'$dynamicRef':'#x'}]}",
    };

    for (size_t i = 0; i < ARRAY_LEN(schemas); i++)
        on_small_stack(check_recursion, schemas[i]);
}

TEST(a_value_may_nest_as_deep_as_the_schema_may_lead_and_no_deeper)
{
    static const int inside[] = { JSON_SCHEMA_DEPTH_MAX - 1, JSON_SCHEMA_DEPTH_MAX };
    AUTO_BUF struct buf value = { 0 };
    struct pb_error err;

    for (size_t i = 0; i < ARRAY_LEN(inside); i++) {
        value.n = 0;
        for (int k = 0; k < inside[i] - 1; k++)
            buf_byte(&value, '[');
        buf_str(&value, "[]");
        for (int k = 0; k < inside[i] - 1; k++)
            buf_byte(&value, ']');
        /* the outermost array is the first application */
        CHECK_INT(verdict_on("{'type':'array','items':{'$ref':'#'}}", buf_cstr(&value), &err), 0);
    }
    CHECK_INT(
        verdict_on("{'type':'array','items':{'allOf':[{'$ref':'#'}]}}", buf_cstr(&value), &err),
        -PB_E_LIMIT);
    CHECK_HAS(err.msg, "/0/0: the schema leads more than 128 schemas deep");
}

/* Two applications in place per level of the schema: as deep as it goes, and one more. */
TEST(nested_applications_are_counted_to_the_last_one)
{
    for (int extra = 0; extra < 2; extra++) {
        AUTO_BUF struct buf schema = { 0 };
        struct pb_error err;

        buf_str(&schema, "{'$defs':{");
        for (int i = 1; i < JSON_SCHEMA_DEPTH_MAX + extra; i++)
            buf_printf(&schema, "'d%d':{'title':'x','not':{'$ref':'#/$defs/d%d'}},", i, i + 1);
        buf_printf(&schema, "'d%d':true},'$ref':'#/$defs/d1'}", JSON_SCHEMA_DEPTH_MAX + extra);
        CHECK_INT(verdict_on(buf_cstr(&schema), "1", &err), extra ? -PB_E_LIMIT : -PB_E_INVALID);
    }
}

TEST(exponential_schemas_end_with_a_limit)
{
    AUTO_BUF struct buf schema = { 0 };
    struct pb_error err;

    buf_str(&schema, "{'$ref':'#/$defs/d0','$defs':{");
    for (int i = 0; i < 60; i++)
        buf_printf(&schema, "'d%d':{'anyOf':[{'$ref':'#/$defs/d%d'},{'$ref':'#/$defs/d%d'}]},", i,
                   i + 1, i + 1);
    buf_str(&schema, "'d60':false}}");
    CHECK_INT(verdict_on(buf_cstr(&schema), "1", &err), -PB_E_LIMIT);
    CHECK_STR(err.msg, "value: checking took more than 1000000 steps");
}

/* Each item costs the step of one keyword, and going through the array a quarter. */
TEST(steps_are_counted_at_the_bound_and_past_it)
{
    static const struct {
        int items, rc;
    } cases[] = { { 799990, 0 }, { 800010, -PB_E_LIMIT }, { 999990, -PB_E_LIMIT } };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_BUF struct buf value = { 0 };
        struct pb_error err;

        buf_str(&value, "[0");
        for (int k = 1; k < cases[i].items; k++)
            buf_str(&value, ",0");
        buf_str(&value, "]");
        CHECK_INT(verdict_on("{'items':{'type':'integer'}}", buf_cstr(&value), &err), cases[i].rc);
    }
}

enum kind { OBJECT, ARRAY, STRING, NUMBER, LONG_KEY };

static void add_large_value(struct buf *b, enum kind kind)
{
    static const char *const open[] = { "{'k0':0", "[0", "'", "7", "{'" };
    static const char *const close[] = { "}", "]", "'", "", "':1}" };

    buf_str(b, open[kind]);
    for (int i = 1; i < 20000; i++) {
        if (kind == OBJECT)
            buf_printf(b, ",'k%d':%d", i, i);
        else if (kind == ARRAY)
            buf_printf(b, ",%d", i);
        else
            buf_str(b, kind == NUMBER ? "7" : "\\u0061aaaaaaaaaa");
    }
    buf_str(b, close[kind]);
}

/* Each of these is satisfied, and applied 10000 times. `*` stands for the value itself. */
TEST(whatever_a_keyword_looks_at_is_charged_for)
{
    static const struct {
        enum kind kind;
        const char *schema;
    } cases[] = {
        { OBJECT, "{'required':['k0']}" },
        { OBJECT, "{'dependentRequired':{'k0':['k1']}}" },
        { OBJECT, "{'dependentSchemas':{'z':true}}" },
        { OBJECT, "{'propertyNames':true}" },
        { OBJECT, "{'properties':{'z':false}}" },
        { OBJECT, "{'patternProperties':{'^z':false}}" },
        { OBJECT, "{'unevaluatedProperties':true}" },
        { OBJECT, "{'anyOf':[true,false],'unevaluatedProperties':true}" },
        { ARRAY, "{'items':true}" },
        { ARRAY, "{'contains':true}" },
        { ARRAY, "{'uniqueItems':true}" },
        { ARRAY, "{'unevaluatedItems':true}" },
        { ARRAY, "{'not':{'contains':{'minimum':20000}}}" },
        { STRING, "{'minLength':1}" },
        { STRING, "{'maxLength':100000000}" },
        { STRING, "{'pattern':'a'}" },
        { STRING, "{'const':*}" },
        { STRING, "{'enum':['x',*]}" },
        { LONG_KEY, "{'not':{'required':['a']}}" },
        { LONG_KEY, "{'dependentRequired':{'a':['b']}}" },
        { LONG_KEY, "{'properties':{'a':true}}" },
        { LONG_KEY, "{'patternProperties':{'^z':false}}" },
        { LONG_KEY, "{'propertyNames':{'minLength':1}}" },
        { NUMBER, "{'type':'integer'}" },
        { NUMBER, "{'minimum':0}" },
        { NUMBER, "{'maximum':1e30000}" },
        { NUMBER, "{'multipleOf':7}" },
        { NUMBER, "{'type':'integer','multipleOf':77777777777777777777}" },
        { NUMBER, "{'enum':[1,2,3,4,5,6,7,8,9,*]}" },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_BUF struct buf schema = { 0 };
        AUTO_BUF struct buf value = { 0 };
        struct pb_error err;
        int rc;

        add_large_value(&value, cases[i].kind);
        buf_str(&schema, "{'$defs':{'x':");
        for (const char *p = cases[i].schema; *p; p++)
            if (*p == '*')
                buf_add_span(&schema, buf_span(&value));
            else
                buf_byte(&schema, *p);
        buf_str(&schema, "},'allOf':[true");
        for (int k = 0; k < 10000; k++)
            buf_str(&schema, ",{'$ref':'#/$defs/x'}");
        buf_str(&schema, "]}");
        rc = verdict_on(buf_cstr(&schema), buf_cstr(&value), &err);
        if (rc != -PB_E_LIMIT)
            TAP_FAIL("%s: %d %s", cases[i].schema, rc, err.msg);
        CHECK_HAS(err.msg, "checking took more than 1000000 steps");
    }
}

/* Each of these takes minutes to centuries when nothing counts. The bound is generous for
 * sanitizers and slow machines: what is proven is that there is one. */
TEST(hostile_patterns_end_soon)
{
    static const struct {
        const char *pattern, *piece, *tail;
        int times;
    } cases[] = {
        { "(a+)+$", "a", "!", 40 },
        { "(a+)+$", "a", "!", 100000 },
        { "^(([a-z])+.)+[A-Z]([a-z])+$", "a", "", 1000 },
        { "(?:a|a)*b", "a", "", 5000 },
        { "[a-z]*[a-z]*[a-z]*1", "a", "", 1000000 },
        { ".*.*.*x", "ab", "", 500000 },
        { "[ab]{60000}", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa1", "",
          20000 },
        { "[ab]{60000}1", "a", "", 1000000 },
        { "(a*)\\\\1b", "a", "c", 1000000 },
        { "^(a*)(?:\\\\1c|\\\\1d|a)*x", "a", "", 1000000 },
        { "(?R)?a", "a", "", 1000 },
        { "(?=(a+))a*b\\\\1", "a", "", 100000 },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_BUF struct buf value = { 0 };
        char schema[128];
        struct pb_error err;
        double start = cpu_ms();

        snprintf(schema, sizeof schema, "{'pattern':'%s'}", cases[i].pattern);
        buf_str(&value, "'");
        for (int k = 0; k < cases[i].times; k++)
            buf_str(&value, cases[i].piece);
        buf_printf(&value, "%s'", cases[i].tail);
        CHECK(verdict_on(schema, buf_cstr(&value), &err) < 0);
        if (cpu_ms() - start > 5000)
            TAP_FAIL("%s took %.0f ms", cases[i].pattern, cpu_ms() - start);
    }
}

TEST(a_pattern_that_takes_too_many_steps_is_a_limit_and_never_a_match)
{
    struct pb_error err;

    CHECK_INT(verdict_on("{'properties':{'x':{'pattern':'(a+)+$'}}}",
                         "{'x':'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!'}", &err),
              -PB_E_LIMIT);
    CHECK_STR(err.msg, "/x: matching a pattern took more than 100000 steps");
    CHECK_INT(verdict_on("{'not':{'pattern':'(a+)+$'}}",
                         "'aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!'", &err),
              -PB_E_LIMIT);
}

TEST(long_strings_are_fine_for_harmless_patterns)
{
    static const char *const patterns[] = { "^[\\\\s\\\\S]*$", "^[^<>]*$", "b$",
                                            "^(?:[a-z]{4})*b?$" };

    for (size_t i = 0; i < ARRAY_LEN(patterns); i++) {
        AUTO_BUF struct buf value = { 0 };
        char schema[64];
        struct pb_error err;

        snprintf(schema, sizeof schema, "{'pattern':'%s'}", patterns[i]);
        buf_str(&value, "'");
        for (int k = 0; k < 15000; k++)
            buf_str(&value, "aaaa");
        buf_str(&value, "b'");
        CHECK_INT(verdict_on(schema, buf_cstr(&value), &err), 0);
    }
}

TEST(the_text_of_a_schema_is_bounded)
{
    static const size_t over[] = { 1, 50000000 };
    struct pb_error err;

    for (size_t i = 0; i < ARRAY_LEN(over); i++) {
        AUTO_BUF struct buf text = { 0 };

        buf_str(&text, "{}");
        while (text.n < JSON_SCHEMA_BYTES_MAX)
            buf_byte(&text, ' ');
        CHECK_INT(compile(buf_cstr(&text), &err), 0);
        while (text.n < JSON_SCHEMA_BYTES_MAX + over[i])
            buf_byte(&text, ' ');
        CHECK_INT(compile(buf_cstr(&text), &err), -PB_E_LIMIT);
    }
    CHECK_STR(err.msg, "the schema has 51048576 bytes; the limit is 1048576");
}

TEST(the_depth_of_a_schema_is_that_of_any_json)
{
    static const int depths[] = { 64, 65, 10000 };

    for (size_t i = 0; i < ARRAY_LEN(depths); i++) {
        AUTO_BUF struct buf text = { 0 };
        struct pb_error err;

        /* an object and an array per level, and the innermost `true` */
        for (int k = 0; k < depths[i]; k++)
            buf_str(&text, "{'allOf':[");
        buf_str(&text, "true");
        for (int k = 0; k < depths[i]; k++)
            buf_str(&text, "]}");
        CHECK_INT(compile(buf_cstr(&text), &err), i ? -PB_E_LIMIT : 0);
    }
}

TEST(the_number_of_schemas_is_bounded)
{
    static const int over[] = { 0, 1, 100000 };

    for (size_t i = 0; i < ARRAY_LEN(over); i++) {
        AUTO_BUF struct buf text = { 0 };
        struct pb_error err;

        /* the root is one, too */
        buf_str(&text, "{'allOf':[{}");
        for (int k = 2; k < JSON_SCHEMA_SUBS_MAX + over[i]; k++)
            buf_str(&text, ",{}");
        buf_str(&text, "]}");
        CHECK_INT(compile(buf_cstr(&text), &err), i ? -PB_E_LIMIT : 0);
    }
}

TEST(the_length_of_addresses_is_bounded)
{
    static const size_t lengths[] = { JSON_SCHEMA_URI_MAX, JSON_SCHEMA_URI_MAX + 1, 500000 };
    AUTO_BUF struct buf text = { 0 };
    struct pb_error err;

    for (size_t i = 0; i < ARRAY_LEN(lengths); i++) {
        text.n = 0;
        buf_str(&text, "{'$id':'http://x/");
        for (size_t k = 9; k < lengths[i]; k++)
            buf_byte(&text, 'a');
        buf_str(&text, "'}");
        CHECK_INT(compile(buf_cstr(&text), &err), i ? -PB_E_LIMIT : 0);
    }
    CHECK_STR(err.msg, "/$id: the address is too long, or all of them are");
    CHECK_INT(err.code, PB_E_LIMIT);
    CHECK_INT(compile(buf_cstr(&text), NULL), -PB_E_LIMIT);

    /* short in the text, long when they are made absolute */
    text.n = 0;
    buf_str(&text, "{'$id':'http://x/");
    for (int k = 0; k < 2000; k++)
        buf_byte(&text, 'a');
    buf_str(&text, "/','allOf':[{'$id':'r'}");
    for (int k = 0; k < 1000; k++)
        buf_printf(&text, ",{'$id':'r%d','$anchor':'a'}", k);
    buf_str(&text, "]}");
    CHECK_INT(compile(buf_cstr(&text), &err), -PB_E_LIMIT);
}

TEST(the_memory_of_patterns_is_bounded)
{
    AUTO_BUF struct buf text = { 0 };
    struct pb_error err;

    buf_str(&text, "{'allOf':[true");
    for (int i = 0; i < 1000; i++)
        buf_printf(&text, ",{'pattern':'%d(?:(?:a{99}){99}){5}'}", i);
    buf_str(&text, "]}");
    CHECK_INT(compile(buf_cstr(&text), &err), -PB_E_LIMIT);
    CHECK_STR(err.msg, "the patterns of the schema take more than 4194304 bytes");

    /* the same pattern many times is kept once */
    text.n = 0;
    buf_str(&text, "{'allOf':[true");
    for (int i = 0; i < 1000; i++)
        buf_str(&text, ",{'pattern':'(?:(?:a{99}){99}){5}'}");
    buf_str(&text, "]}");
    CHECK_INT(compile(buf_cstr(&text), &err), 0);
}

TEST(parentheses_of_a_pattern_are_bounded_and_fit_a_small_stack)
{
    for (int extra = 0; extra < 2; extra++) {
        AUTO_BUF struct buf text = { 0 };
        struct pb_error err;

        buf_str(&text, "{'pattern':'");
        for (int i = 0; i < JSON_PATTERN_NEST_MAX + extra; i++)
            buf_str(&text, "(");
        buf_str(&text, "a");
        for (int i = 0; i < JSON_PATTERN_NEST_MAX + extra; i++)
            buf_str(&text, ")");
        buf_str(&text, "'}");
        if (!extra) {
            on_small_stack(check_deep_parentheses, buf_cstr(&text));
            continue;
        }
        CHECK_INT(compile(buf_cstr(&text), &err), -PB_E_INVALID);
        CHECK_HAS(err.msg, "/pattern: not a usable pattern: parentheses are too deeply nested");
    }
}

TEST(a_divisor_has_at_most_400_digits)
{
    for (int digits = 400; digits <= 401; digits++) {
        AUTO_BUF struct buf text = { 0 };
        struct pb_error err;

        buf_str(&text, "{'multipleOf':");
        for (int i = 0; i < digits; i++)
            buf_byte(&text, '7');
        buf_str(&text, "}");
        CHECK_INT(compile(buf_cstr(&text), &err), digits > 400 ? -PB_E_INVALID : 0);
    }
}

TEST(large_objects_and_arrays_are_checked_in_one_pass)
{
    AUTO_BUF struct buf schema = { 0 };
    AUTO_BUF struct buf value = { 0 };
    struct pb_error err;
    double start = cpu_ms();

    buf_str(&schema, "{'required':['k0'");
    for (int i = 1; i < 20000; i++)
        buf_printf(&schema, ",'k%d'", i);
    buf_str(&schema, "],'properties':{'k0':true");
    for (int i = 1; i < 20000; i++)
        buf_printf(&schema, ",'k%d':{'minimum':%d}", i, i);
    buf_str(&schema, "},'additionalProperties':{'uniqueItems':true}}");
    buf_str(&value, "{'list':[0");
    for (int i = 1; i < 200000; i++)
        buf_printf(&value, ",%d", i);
    buf_str(&value, "]");
    for (int i = 0; i < 20000; i++)
        buf_printf(&value, ",'k%d':%d", i, i);
    buf_str(&value, "}");
    CHECK_INT(verdict_on(buf_cstr(&schema), buf_cstr(&value), &err), 0);
    CHECK(cpu_ms() - start < 20000);
}

struct shared {
    const struct schema *s;
    struct json good, bad;
    int failures;
};

static void *check_often(void *arg)
{
    struct shared *x = arg;
    int failures = 0;

    for (int i = 0; i < 2000; i++) {
        struct pb_error err;

        failures += schema_check(x->s, x->good, &err) != 0;
        failures += schema_check(x->s, x->bad, &err) != -PB_E_INVALID ||
                    strcmp(err.msg, "/b: does not match the pattern ^[a-z]+$") != 0;
    }
    __atomic_add_fetch(&x->failures, failures, __ATOMIC_RELAXED);
    return NULL;
}

TEST(one_schema_serves_many_threads)
{
    AUTO_FREE char *schema = with_quotes(
        "{'$id':'r','$dynamicAnchor':'x','properties':{'a':{'$dynamicRef':'#x'},"
        "'b':{'pattern':'^[a-z]+$'},'c':{'uniqueItems':true}},'unevaluatedProperties':false}");
    AUTO_FREE char *text =
        with_quotes("[{'a':{'b':'\\u0061bc'},'b':'x','c':[1,2,3,4,5,6,7,8,9,{}]},{'b':'X'}]");
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO(schema) struct schema *s = NULL;
    struct shared x = { 0 };
    pthread_t threads[4];
    struct pb_error err;

    CHECK_INT(schema_compile(&s, span_of(schema), &err), 0);
    CHECK_INT(json_parse(&doc, span_of(text), NULL, &err), 0);
    x.s = s;
    x.good = json_item(json_root(&doc), 0);
    x.bad = json_item(json_root(&doc), 1);
    for (size_t i = 0; i < ARRAY_LEN(threads); i++)
        CHECK_INT(pthread_create(&threads[i], NULL, check_often, &x), 0);
    for (size_t i = 0; i < ARRAY_LEN(threads); i++)
        CHECK_INT(pthread_join(threads[i], NULL), 0);
    CHECK_INT(x.failures, 0);
}
