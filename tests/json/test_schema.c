#include "schema_cases.h"

/* clang-format off */
TEST(a_boolean_is_a_schema)
{
    static const struct schema_case cases[] = {
        { "true",                        "{'a':1}",  NULL },
        { "false",                       "null",     "value: not allowed here" },
        { "{}",                          "[1,'x']",  NULL },
        { "{'properties':{'a':false}}",  "{}",       NULL },
        { "{'properties':{'a':false}}",  "{'a':1}",  "/a: not allowed here" },
    };
    RUN_CASES(cases);
}

TEST(type_names_one_or_several_types)
{
    static const struct schema_case cases[] = {
        { "{'type':'null'}",    "null",  NULL },
        { "{'type':'null'}",    "0",     "value: expected null, got a number" },
        { "{'type':'boolean'}", "true",  NULL },
        { "{'type':'boolean'}", "false", NULL },
        { "{'type':'boolean'}", "'x'",   "value: expected a boolean, got a string" },
        { "{'type':'object'}",  "{}",    NULL },
        { "{'type':'object'}",  "[]",    "value: expected an object, got an array" },
        { "{'type':'array'}",   "[]",    NULL },
        { "{'type':'array'}",   "{}",    "value: expected an array, got an object" },
        { "{'type':'string'}",  "''",    NULL },
        { "{'type':'string'}",  "1",     "value: expected a string, got a number" },
        { "{'type':'number'}",  "1.5",   NULL },
        { "{'type':'number'}",  "true",  "value: expected a number, got a boolean" },
        { "{'type':['string','null']}",          "null", NULL },
        { "{'type':['string','null']}",          "1",    "value: expected a string or null, got a number" },
        { "{'type':['array','number','string']}", "{}",  "value: expected a number, a string or an array, got an object" },
        { "{'type':['integer','boolean']}",      "1.5",  "value: expected an integer or a boolean, got a fraction" },
    };
    RUN_CASES(cases);
}

TEST(an_integer_is_any_number_without_a_fraction)
{
    static const struct schema_case cases[] = {
        { "{'type':'integer'}", "1",      NULL },
        { "{'type':'integer'}", "-1.0",   NULL },
        { "{'type':'integer'}", "1.50e1", NULL },
        { "{'type':'integer'}", "1e400",  NULL },
        { "{'type':'integer'}", "123456789012345678901234567890",   NULL },
        { "{'type':'integer'}", "123456789012345678901234567890.5", "value: expected an integer, got a fraction" },
        { "{'type':'integer'}", "1e-1",   "value: expected an integer, got a fraction" },
        { "{'type':'integer'}", "0.0",    NULL },
        { "{'type':'integer'}", "'1'",    "value: expected an integer, got a string" },
    };
    RUN_CASES(cases);
}

TEST(const_and_enum_compare_values_not_spellings)
{
    static const struct schema_case cases[] = {
        { "{'const':1}",               "1.0",             NULL },
        { "{'const':1}",               "true",            "value: expected 1" },
        { "{'const':{'a':1,'b':[2]}}", "{'b':[2],'a':1}", NULL },
        { "{'const':{'a':1}}",         "{'a':1,'b':2}",   "value: expected {\"a\":1}" },
        { "{'const':'a'}",             "'\\u0061'",       NULL },
        { "{'const':9007199254740993}", "9007199254740992", "value: expected 9007199254740993" },
        { "{'const':null}",            "false",           "value: expected null" },
        { "{'enum':['a','b',3]}",      "'b'",             NULL },
        { "{'enum':['a','b',3]}",      "3.0",             NULL },
        { "{'enum':['a','b',3]}",      "'c'",             "value: expected one of \"a\", \"b\", 3" },
        { "{'enum':[[1],{}]}",         "[1.0]",           NULL },
        { "{'enum':[]}",               "1",               "value: expected one of " },
    };
    RUN_CASES(cases);
}

TEST(numbers_are_compared_as_written)
{
    static const struct schema_case cases[] = {
        { "{'minimum':1}",             "1.0",   NULL },
        { "{'minimum':1}",             "0.99",  "value: expected at least 1" },
        { "{'minimum':-2.5}",          "-3",    "value: expected at least -2.5" },
        { "{'maximum':3}",             "3",     NULL },
        { "{'maximum':3}",             "3.0000000000000000000001", "value: expected at most 3" },
        { "{'maximum':18446744073709551615}", "18446744073709551616", "value: expected at most 18446744073709551615" },
        { "{'maximum':1e400}",         "1e399", NULL },
        { "{'maximum':1e400}",         "1e401", "value: expected at most 1e400" },
        { "{'exclusiveMinimum':0}",    "1e-400", NULL },
        { "{'exclusiveMinimum':0}",    "-0.0",  "value: expected more than 0" },
        { "{'exclusiveMaximum':10}",   "9.99",  NULL },
        { "{'exclusiveMaximum':10}",   "1e1",   "value: expected less than 10" },
        { "{'minimum':5,'maximum':1}", "'x'",   NULL },
    };
    RUN_CASES(cases);
}

TEST(multiples_are_exact_decimals)
{
    static const struct schema_case cases[] = {
        { "{'multipleOf':0.01}",   "0.1",    NULL },
        { "{'multipleOf':0.01}",   "0.07",   NULL },
        { "{'multipleOf':0.01}",   "1.15",   NULL },
        { "{'multipleOf':0.01}",   "0.105",  "value: expected a multiple of 0.01" },
        { "{'multipleOf':2}",      "7",      "value: expected a multiple of 2" },
        { "{'multipleOf':2}",      "-4.0",   NULL },
        { "{'multipleOf':2}",      "0",      NULL },
        { "{'multipleOf':3}",      "1e40",   "value: expected a multiple of 3" },
        { "{'multipleOf':7e30}",   "21e30",  NULL },
        { "{'multipleOf':1e-8}",   "1e308",  NULL },
        { "{'multipleOf':0.5}",    "1e999999999999999999999", NULL },
        { "{'multipleOf':1e50}",   "1e49",   "value: expected a multiple of 1e50" },
        { "{'multipleOf':1234567890123456789012345678901}", "2469135780246913578024691357802", NULL },
        { "{'multipleOf':1234567890123456789012345678901}", "2469135780246913578024691357803",
          "value: expected a multiple of 1234567890123456789012345678901" },
        { "{'multipleOf':1180591620717411303424}", "1e70", NULL }, /* 2^70 */
        { "{'multipleOf':1180591620717411303424}", "1e69", "value: expected a multiple of 1180591620717411303424" },
    };
    RUN_CASES(cases);
}

TEST(length_counts_code_points)
{
    static const struct schema_case cases[] = {
        { "{'minLength':2}",   "'ab'",           NULL },
        { "{'minLength':2}",   "'\xc3\xa9'",     "value: expected at least 2 characters, got 1" },
        { "{'minLength':1}",   "''",             "value: expected at least 1 character, got 0" },
        { "{'maxLength':1}",   "'\xf0\x9f\x98\x80'",   NULL },
        { "{'maxLength':1}",   "'\\ud83d\\ude00'", NULL },
        { "{'maxLength':1}",   "'\\ud83d\\ud83d'", "value: expected at most 1 character, got 2" },
        { "{'maxLength':2}",   "'\\n\\u0041b'",  "value: expected at most 2 characters, got 3" },
        { "{'maxLength':2.0}", "'abc'",          "value: expected at most 2 characters, got 3" },
        { "{'maxLength':1e30}", "'abc'",         NULL },
        { "{'maxLength':2}",   "100",            NULL },
    };
    RUN_CASES(cases);
}

TEST(patterns_speak_ecma_262)
{
    static const struct schema_case cases[] = {
        { "{'pattern':'b+'}",              "'abbc'",      NULL },
        { "{'pattern':'^b+$'}",            "'abbc'",      "value: does not match the pattern ^b+$" },
        { "{'pattern':'^b+$'}",            "12",          NULL },
        { "{'pattern':'^a$'}",             "'a\\n'",      "value: does not match the pattern ^a$" },
        { "{'pattern':'^\\\\d$'}",         "'\xd9\xa3'",  "value: does not match the pattern ^\\d$" },
        { "{'pattern':'^\\\\w$'}",         "'\xc3\xa9'",  "value: does not match the pattern ^\\w$" },
        { "{'pattern':'^\\\\s$'}",         "'\\u00a0'",   NULL },
        { "{'pattern':'^[\\\\s]$'}",       "'\\ufeff'",   NULL },
        { "{'pattern':'^\\\\S$'}",         "'\\u2003'",   "value: does not match the pattern ^\\S$" },
        { "{'pattern':'^\\\\pL\\\\uzz$'}",    "'auzz'",      NULL },
        { "{'pattern':'^.$'}",             "'\xf0\x9f\x98\x80'", NULL },
        { "{'pattern':'^.$'}",             "'\\r'",       "value: does not match the pattern ^.$" },
        { "{'pattern':'^[^]$'}",           "'\\n'",       NULL },
        { "{'pattern':'[]'}",              "'a'",         "value: does not match the pattern []" },
        { "{'pattern':'^[[:alpha:]]$'}",   "':]'",        NULL },
        { "{'pattern':'^\\\\u0041\\\\x42\\\\u{43}$'}", "'ABC'", NULL },
        { "{'pattern':'^\\\\ud83d\\\\ude00+$'}", "'\\ud83d\\ude00\\ud83d\\ude00'", NULL },
        { "{'pattern':'^\\\\p{Letter}\\\\p{gc=Nd}$'}", "'\xc3\xa9" "5'", NULL },
        { "{'pattern':'^\\\\P{Uppercase_Letter}$'}", "'A'", "value: does not match the pattern ^\\P{Uppercase_Letter}$" },
        { "{'pattern':'^(a)?b\\\\1$'}",    "'b'",         NULL },
        { "{'pattern':'^(?<x>a)\\\\k<x>$'}", "'aa'",      NULL },
        { "{'pattern':'a\\u0000b'}",       "'xa\\u0000b'", NULL },
        { "{'pattern':'^\\\\cC$'}",        "'\\u0003'",   NULL },
        { "{'pattern':'(?<=x)y'}",         "'xy'",        NULL },
        { "{'pattern':''}",                "'anything'",  NULL },
        /* the most copied of all: a hyphen beside a set is a hyphen */
        { "{'pattern':'^[\\\\w-\\\\.]+@([\\\\w-]+\\\\.)+[\\\\w-]{2,4}$'}", "'a-b.c@d-e.org'", NULL },
        { "{'pattern':'^[+-\\\\d\\\\s-z]+$'}", "'-+1\\u2003z'",  NULL },
        { "{'pattern':'^[+-\\\\d\\\\s-z]+$'}", "'y'",         "value: does not match the pattern ^[+-\\d\\s-z]+$" },
        { "{'pattern':'^[a-c-]+$'}",       "'abc-'",      NULL },
        { "{'pattern':'^[a-c]+$'}",        "'b-'",        "value: does not match the pattern ^[a-c]+$" },
    };
    RUN_CASES(cases);
}

TEST(arrays_have_items_sizes_and_unlike_items)
{
    static const struct schema_case cases[] = {
        { "{'minItems':1}",            "[]",         "value: expected at least 1 item, got 0" },
        { "{'minItems':1}",            "[0]",        NULL },
        { "{'maxItems':2}",            "[1,2,3]",    "value: expected at most 2 items, got 3" },
        { "{'maxItems':2}",            "{'a':1,'b':2,'c':3}", NULL },
        { "{'items':{'type':'string'}}", "['a',1]",  "/1: expected a string, got a number" },
        { "{'items':{'type':'string'}}", "['a']",    NULL },
        { "{'items':false}",           "[]",         NULL },
        { "{'items':false}",           "[1]",        "/0: one item too many" },
        { "{'prefixItems':[{'type':'string'},{'type':'null'}]}", "['a']", NULL },
        { "{'prefixItems':[{'type':'string'},{'type':'null'}]}", "['a',null,7]", NULL },
        { "{'prefixItems':[{'type':'string'},{'type':'null'}]}", "['a',1]", "/1: expected null, got a number" },
        { "{'prefixItems':[true],'items':false}", "[1,2]", "/1: one item too many" },
        { "{'prefixItems':[true],'items':{'minimum':5}}", "[1,6,4]", "/2: expected at least 5" },
        { "{'uniqueItems':true}",      "[1,2,'1']",  NULL },
        { "{'uniqueItems':true}",      "[1,2,1.0]",  "value: items 0 and 2 are equal" },
        { "{'uniqueItems':true}",      "[{'a':1,'b':2},{'b':2,'a':1}]", "value: items 0 and 1 are equal" },
        { "{'uniqueItems':true}",      "[1,true,0,false,null,'',[],{}]", NULL },
        { "{'uniqueItems':true}",      "[1,2,3,4,5,6,7,8,9,10,'a',{'x':[1]},{'x':[1.0]}]", "value: items 11 and 12 are equal" },
        { "{'uniqueItems':true}",      "['a','b','c','d','e','f','g','h','\\u0061']", "value: items 0 and 8 are equal" },
        { "{'uniqueItems':true}",      "[{'a':1,'b':2},{'b':1,'a':2},[1,2],[2,1],1,10,100,0.1,-1,null,true,false,0]", NULL },
        { "{'uniqueItems':true}",      "[0,1,2,3,4,5,6,7,8,-0.0]", "value: items 0 and 9 are equal" },
        { "{'uniqueItems':true}",      "[0,1,2,3,4,5,6,7,8,1e999999999999999999,1e999999999999999999]", "value: items 9 and 10 are equal" },
        { "{'uniqueItems':false}",     "[1,1]",      NULL },
    };
    RUN_CASES(cases);
}

TEST(contains_counts_the_items_that_match)
{
    static const struct schema_case cases[] = {
        { "{'contains':{'minimum':5}}",                   "[1,6]", NULL },
        { "{'contains':{'minimum':5}}",                   "[1,2]", "value: expected at least 1 item as `contains` says, got 0" },
        { "{'contains':{'minimum':5}}",                   "[]",    "value: expected at least 1 item as `contains` says, got 0" },
        { "{'contains':{'minimum':5}}",                   "{}",    NULL },
        { "{'contains':{'minimum':5},'minContains':0}",   "[]",    NULL },
        { "{'contains':{'minimum':5},'minContains':2}",   "[5,1]", "value: expected at least 2 items as `contains` says, got 1" },
        { "{'contains':{'minimum':5},'maxContains':1}",   "[5,6]", "value: expected at most 1 item as `contains` says, got 2" },
        { "{'contains':{'minimum':5},'maxContains':1}",   "[5,1]", NULL },
        { "{'minContains':2,'maxContains':0}",            "[]",    NULL },
    };
    RUN_CASES(cases);
}

TEST(objects_have_named_matched_and_other_members)
{
    static const struct schema_case cases[] = {
        { "{'properties':{'a':{'type':'integer'}}}",       "{'a':1,'b':'x'}", NULL },
        { "{'properties':{'a':{'type':'integer'}}}",       "{'a':'1'}",  "/a: expected an integer, got a string" },
        { "{'properties':{'a':{'type':'integer'}}}",       "{'\\u0061':'1'}", "/\\u0061: expected an integer, got a string" },
        { "{'properties':{'\\u0061':{'type':'integer'}}}", "{'a':'1'}",  "/a: expected an integer, got a string" },
        { "{'properties':{'a':true},'additionalProperties':false}", "{'a':1}", NULL },
        { "{'properties':{'a':true},'additionalProperties':false}", "{'b':1}", "/b: unknown property" },
        { "{'additionalProperties':{'type':'string'}}",    "{'x':1}",    "/x: expected a string, got a number" },
        { "{'patternProperties':{'^n_':{'type':'number'}}}", "{'n_a':'x'}", "/n_a: expected a number, got a string" },
        { "{'patternProperties':{'^n_':{'type':'number'}}}", "{'a_n_':'x'}", NULL },
        { "{'patternProperties':{'a':{'type':'number'},'b':{'minimum':3}}}", "{'ab':1}", "/ab: expected at least 3" },
        { "{'properties':{'n_a':true},'patternProperties':{'^n_':true},'additionalProperties':false}", "{'n_b':1,'n_a':1}", NULL },
        { "{'patternProperties':{'^n_':true},'additionalProperties':false}", "{'m':1}", "/m: unknown property" },
        { "{'properties':{'n_a':{'minimum':1}},'patternProperties':{'^n_':{'maximum':3}}}", "{'n_a':4}", "/n_a: expected at most 3" },
        { "{'propertyNames':{'maxLength':3}}",             "{'abc':1}",  NULL },
        { "{'propertyNames':{'maxLength':3}}",             "{'o':1,'abcd':1}", "value: property name \"abcd\": expected at most 3 characters, got 4" },
        { "{'properties':{'x':{'propertyNames':{'pattern':'^[a-z]+$'}}}}", "{'x':{'A':1}}", "/x: property name \"A\": does not match the pattern ^[a-z]+$" },
        { "{'propertyNames':{'enum':['a','b']}}",          "{'\\u0061':1}", NULL },
        { "{'propertyNames':false}",                       "{}",         NULL },
        { "{'propertyNames':false}",                       "{'a':1}",    "value: property name \"a\": not allowed here" },
        { "{'minProperties':1}",                           "{}",         "value: expected at least 1 property, got 0" },
        { "{'minProperties':1}",                           "{'a':1}",    NULL },
        { "{'maxProperties':1}",                           "{'a':1,'b':1}", "value: expected at most 1 property, got 2" },
        { "{'maxProperties':1}",                           "[1,2]",      NULL },
    };
    RUN_CASES(cases);
}

TEST(required_members_are_missed_in_the_order_of_the_schema)
{
    static const struct schema_case cases[] = {
        { "{'required':['a','b']}",          "{'b':1,'a':null}", NULL },
        { "{'required':['bb','a','a','c']}", "{'bb':1}",  "value: required property \"a\" is missing" },
        { "{'required':['a','a']}",          "{'a':1}",   NULL },
        { "{'required':['a','b']}",          "{'a':1,'a':2}", "value: required property \"b\" is missing" },
        { "{'required':['a']}",              "{'\\u0061':1}", NULL },
        { "{'required':[]}",                 "{}",        NULL },
        { "{'required':['a']}",              "[]",        NULL },
        { "{'required':['toString','__proto__','']}", "{'toString':1,'':1}", "value: required property \"__proto__\" is missing" },
        { "{'dependentRequired':{'a':['b','c']}}", "{'a':1,'b':1,'c':1}", NULL },
        { "{'dependentRequired':{'a':['b','c']}}", "{'a':1,'b':1}", "value: property \"c\" is required beside \"a\"" },
        { "{'dependentRequired':{'a':['b','c']}}", "{'b':1}", NULL },
        { "{'dependentSchemas':{'a':{'minProperties':2}}}", "{'a':1,'b':1}", NULL },
        { "{'dependentSchemas':{'a':{'minProperties':2}}}", "{'a':1}", "value: expected at least 2 properties, got 1" },
        { "{'dependentSchemas':{'a':{'minProperties':2}}}", "{'b':1}", NULL },
    };
    RUN_CASES(cases);
}

TEST(schemas_are_combined)
{
    static const struct schema_case cases[] = {
        { "{'allOf':[{'minimum':1},{'maximum':3}]}", "2",   NULL },
        { "{'allOf':[{'minimum':1},{'maximum':3}]}", "4",   "value: expected at most 3" },
        { "{'anyOf':[{'type':'string'},{'minimum':3}]}", "3", NULL },
        { "{'anyOf':[{'type':'string'},{'minimum':3}]}", "2",
          "value: matches none of the 2 alternatives of anyOf (first: value: expected a string, got a number)" },
        { "{'properties':{'u':{'anyOf':[{'properties':{'a':{'type':'string'}}},false]}}}", "{'u':{'a':1}}",
          "/u: matches none of the 2 alternatives of anyOf (first: /u/a: expected a string, got a number)" },
        { "{'anyOf':[{'anyOf':[false,false]},false]}", "1",
          "value: matches none of the 2 alternatives of anyOf (first: value: matches none of the 2 alternatives of anyOf)" },
        { "{'oneOf':[{'type':'integer'},{'minimum':3}]}", "2.5",
          "value: matches none of the 2 alternatives of oneOf (first: value: expected an integer, got a fraction)" },
        { "{'oneOf':[{'type':'integer'},{'minimum':3}]}", "3.5", NULL },
        { "{'oneOf':[{'type':'integer'},false,{'minimum':3}]}", "4", "value: matches alternatives 1 and 3 of oneOf, expected only one" },
        { "{'not':{'type':'string'}}", "1",   NULL },
        { "{'not':{'type':'string'}}", "'x'", "value: matches what `not` excludes" },
        { "{'not':{'not':{'type':'string'}}}", "'x'", NULL },
        { "{'if':{'type':'string'},'then':{'minLength':2},'else':{'minimum':5}}", "'ab'", NULL },
        { "{'if':{'type':'string'},'then':{'minLength':2},'else':{'minimum':5}}", "'a'", "value: expected at least 2 characters, got 1" },
        { "{'if':{'type':'string'},'then':{'minLength':2},'else':{'minimum':5}}", "4", "value: expected at least 5" },
        { "{'if':false,'then':false}", "1", NULL },
        { "{'then':false,'else':false}", "1", NULL },
    };
    RUN_CASES(cases);
}

TEST(annotations_and_unknown_keywords_refuse_nothing)
{
    static const struct schema_case cases[] = {
        { "{'$schema':'https://json-schema.org/draft/2020-12/schema','$comment':7,'title':1,'default':[],'examples':3,"
          "'format':'email','contentEncoding':'base64','x-anything':{'type':5},'readOnly':true}", "'not an email'", NULL },
        { "{'Type':'string','minlength':5}", "1", NULL },
    };
    RUN_CASES(cases);
}

TEST(a_keyword_is_known_however_it_is_escaped)
{
    static const struct schema_case cases[] = {
        { "{'\\u0074ype':'string'}",               "1", "value: expected a string, got a number" },
        { "{'$defs':{'a':false},'\\u0024ref':'#/$defs/a'}", "1", "value: not allowed here" },
    };
    RUN_CASES(cases);
}

TEST(what_is_no_schema_is_refused_with_its_place)
{
    static const struct schema_case cases[] = {
        { "7",                                  NULL, "schema: expected a schema (an object or a boolean), got a number" },
        { "{'type':'strin'}",                   NULL, "/type: expected the name of a type, such as \"string\"" },
        { "{'type':['string',1]}",              NULL, "/type/1: expected the name of a type, such as \"string\"" },
        { "{'properties':{'a/b~':{'minimum':'1'}}}", NULL, "/properties/a~1b~0/minimum: expected a number, got a string" },
        { "{'properties':[]}",                  NULL, "/properties: expected an object of schemas, got an array" },
        { "{'properties':{'a':[]}}",            NULL, "/properties/a: expected a schema (an object or a boolean), got an array" },
        { "{'allOf':[]}",                       NULL, "/allOf: expected an array with at least one schema" },
        { "{'oneOf':{}}",                       NULL, "/oneOf: expected an array with at least one schema" },
        { "{'items':[{}]}",                     NULL, "/items: expected a schema, got an array; since 2020-12 that is prefixItems" },
        { "{'enum':1}",                         NULL, "/enum: expected an array, got a number" },
        { "{'required':'a'}",                   NULL, "/required: expected an array of strings, got a string" },
        { "{'required':['a',1]}",               NULL, "/required/1: expected a string, got a number" },
        { "{'dependentRequired':{'a':'b'}}",    NULL, "/dependentRequired/a: expected an array of strings, got a string" },
        { "{'dependentRequired':3}",            NULL, "/dependentRequired: expected an object, got a number" },
        { "{'minLength':-1}",                   NULL, "/minLength: expected a whole number, 0 or more" },
        { "{'maxItems':1.5}",                   NULL, "/maxItems: expected a whole number, 0 or more" },
        { "{'contains':{},'minContains':'1'}",  NULL, "/minContains: expected a whole number, 0 or more" },
        { "{'contains':{},'maxContains':-1}",   NULL, "/maxContains: expected a whole number, 0 or more" },
        { "{'multipleOf':0}",                   NULL, "/multipleOf: expected a number above 0" },
        { "{'multipleOf':-2}",                  NULL, "/multipleOf: expected a number above 0" },
        { "{'exclusiveMinimum':true}",          NULL, "/exclusiveMinimum: expected a number, got a boolean" },
        { "{'uniqueItems':1}",                  NULL, "/uniqueItems: expected a boolean, got a number" },
        { "{'pattern':1}",                      NULL, "/pattern: expected a string, got a number" },
        { "{'type':'string','required':true}", NULL, "/required: expected an array of strings, got a boolean" },
        { "{'a':1,'a':2}",                      NULL, "schema: line 1, column 8: a key that this object already has" },
        { "{'a':",                              NULL, "schema: line 1, column 6: expected a value, but the text ends" },
    };
    RUN_REFUSALS(cases);
}

TEST(old_drafts_are_read_when_the_schema_says_so)
{
#define DRAFT7 "'$schema':'http://json-schema.org/draft-07/schema#',"
#define DRAFT4 "'$schema':'http://json-schema.org/draft-04/schema#',"
    static const struct schema_case cases[] = {
        { "{" DRAFT7 "'items':[{'type':'string'}],'additionalItems':false}", "['a']", NULL },
        { "{" DRAFT7 "'items':[{'type':'string'}],'additionalItems':false}", "[1]",   "/0: expected a string, got a number" },
        { "{" DRAFT7 "'items':[{'type':'string'}],'additionalItems':false}", "['a',1]", "/1: one item too many" },
        { "{" DRAFT7 "'items':{'type':'string'},'additionalItems':false}",   "['a','b']", NULL },
        { "{" DRAFT7 "'definitions':{'x':{'type':'string'}},'properties':{'a':{'$ref':'#/definitions/x','description':'d'}}}",
          "{'a':1}", "/a: expected a string, got a number" },
        { "{'definitions':{'x':{'type':'string'}},'$ref':'#/definitions/x'}", "1", "value: expected a string, got a number" },
        { "{'dependencies':{'a':['b'],'c':{'minProperties':2}}}", "{'a':1}", "value: property \"b\" is required beside \"a\"" },
        { "{'dependencies':{'a':['b'],'c':{'minProperties':2}}}", "{'c':1}", "value: expected at least 2 properties, got 1" },
        { "{'dependencies':{'a':['b'],'c':{'minProperties':2}}}", "{'a':1,'b':1,'c':1}", NULL },
        { "{" DRAFT4 "'minimum':3,'exclusiveMinimum':true}",  "3", "value: expected more than 3" },
        { "{" DRAFT4 "'minimum':3,'exclusiveMinimum':false}", "3", NULL },
        { "{" DRAFT4 "'maximum':3,'exclusiveMaximum':true}",  "3", "value: expected less than 3" },
        { "{" DRAFT4 "'exclusiveMaximum':true}",              "3", NULL },
        { "{" DRAFT7 "'exclusiveMaximum':3}",                 "3", "value: expected less than 3" },
        { "{" DRAFT4 "'id':'http://x/y','definitions':{'a':{'id':'#b','type':'null'}},'$ref':'#b'}", "3", "value: expected null, got a number" },
        { "{" DRAFT7 "'definitions':{'a':{'$id':'#b','type':'null'}},'$ref':'#b'}", "3", "value: expected null, got a number" },
        { "{'$id':'#/properties/x','type':'null'}",           "3", "value: expected null, got a number" },
        { "{'$schema':'https://json-schema.org/draft/2019-09/schema','properties':{'c':{'$recursiveRef':'#'}},'additionalProperties':false}",
          "{'c':{'d':1}}", "/c/d: unknown property" },
        { "{'$recursiveRef':'#','additionalItems':3}", "1", NULL },
    };
    RUN_CASES(cases);
}
/* clang-format on */

/* What follows the colon is PCRE2's own text, which changes from release to release. */
TEST(patterns_that_cannot_be_read_are_refused)
{
    static const struct {
        const char *schema, *want;
    } cases[] = {
        { "{'pattern':'a(b'}", "/pattern: not a usable pattern: missing closing parenthesis" },
        { "{'pattern':'a\\\\'}", "/pattern: not a usable pattern: " },
        { "{'pattern':'\\\\p{Nonsense}'}", "/pattern: not a usable pattern: " },
        { "{'pattern':'\\\\ud83dx'}", "/pattern: not a usable pattern: " },
        { "{'pattern':'\\\\C'}", "/pattern: not a usable pattern: " },
        { "{'patternProperties':{'[':true}}", "/patternProperties/[: not a usable pattern: " },
        { "{'items':{'pattern':'*'}}", "/items/pattern: not a usable pattern: " },
    };

    for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
        AUTO_FREE char *text = with_quotes(cases[i].schema);
        struct schema *s = NULL;
        struct pb_error err;

        CHECK_INT(schema_compile(&s, span_of(text), &err), -PB_E_INVALID);
        CHECK_HAS(err.msg, cases[i].want);
    }
}

TEST(nothing_is_no_value)
{
    AUTO(schema) struct schema *s = NULL;
    struct pb_error err;

    CHECK_INT(schema_compile(&s, SPAN("{}"), &err), 0);
    CHECK_INT(schema_check(s, (struct json){ 0 }, &err), -PB_E_INVALID);
    CHECK_STR(err.msg, "value: expected a value, got nothing");
    CHECK_INT(schema_check(s, (struct json){ 0 }, NULL), -PB_E_INVALID);
}

TEST(a_part_of_a_document_is_checked_with_paths_that_begin_there)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO(schema) struct schema *s = NULL;
    struct json arguments;
    struct pb_error err;

    CHECK_INT(json_parse(&doc, SPAN("{\"x\":[0],\"arguments\":{\"a\":[1,{\"b\":2}]},\"y\":3}"),
                         NULL, &err),
              0);
    arguments = json_get(json_root(&doc), "arguments");
    CHECK_INT(schema_compile(&s,
                             SPAN("{\"properties\":{\"a\":{\"items\":{\"properties\":{\"b\":"
                                  "{\"type\":\"null\"}}}}}}"),
                             &err),
              0);
    CHECK_INT(schema_check(s, arguments, &err), -PB_E_INVALID);
    CHECK_STR(err.msg, "/a/1/b: expected null, got a number");
    CHECK_INT(schema_check(s, arguments, NULL), -PB_E_INVALID);
}

TEST(long_paths_and_texts_are_cut_where_it_hurts_least)
{
    AUTO_BUF struct buf value = { 0 };
    AUTO_BUF struct buf schema = { 0 };
    struct pb_error err;

    for (int i = 0; i < 60; i++)
        buf_printf(&value, "{'level%d':", i);
    buf_str(&value, "1");
    for (int i = 0; i < 60; i++)
        buf_str(&value, "}");
    CHECK_INT(
        verdict_on("{'type':'object','additionalProperties':{'$ref':'#'}}", buf_cstr(&value), &err),
        -PB_E_INVALID);
    CHECK_STR(err.msg, ".../level48/level49/level50/level51/level52/level53/level54/level55/level56"
                       "/level57/level58/level59: expected an object, got a number");

    value.n = 0;
    buf_str(&value, "{'");
    for (int i = 0; i < 400; i++)
        buf_str(&value, "\xc3\xa9");
    buf_str(&value, "':1}");
    CHECK_INT(verdict_on("{'additionalProperties':false}", buf_cstr(&value), &err), -PB_E_INVALID);
    CHECK_STR(err.msg, "/\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
                       "\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9\xc3\xa9"
                       "\xc3\xa9\xc3\xa9...: unknown property");

    buf_str(&schema, "{'enum':[");
    for (int i = 0; i < 100; i++)
        buf_printf(&schema, "%s'%0*d\xc3\xa9'", i ? "," : "", i % 90, i);
    buf_str(&schema, "]}");
    CHECK_INT(verdict_on(buf_cstr(&schema), "1", &err), -PB_E_INVALID);
    CHECK(strlen(err.msg) < sizeof err.msg);
    CHECK(utf8_valid(span_of(err.msg)));
    CHECK_HAS(err.msg, "...");

    /* a path, two alternatives and a list: more than there is room for */
    schema.n = 0;
    buf_str(&schema, "{'patternProperties':{'':{'anyOf':[{'items':{'enum':[");
    for (int i = 0; i < 30; i++)
        buf_printf(&schema, "%s'\xc3\xa9\xc3\xa9\xc3\xa9%d'", i ? "," : "", i);
    buf_str(&schema, "]}},false]}}}");
    CHECK_INT(verdict_on(buf_cstr(&schema),
                         "{'a-property-with-a-long-name-in-an-object':['something else']}", &err),
              -PB_E_INVALID);
    CHECK_INT(strlen(err.msg), sizeof err.msg - 1);
    CHECK(utf8_valid(span_of(err.msg)));
    CHECK_STR(err.msg + strlen(err.msg) - 3, "...");
}

TEST(nobody_needs_to_ask_why)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO(schema) struct schema *s = NULL;

    CHECK_INT(schema_compile(&s, SPAN("{\"type\":1}"), NULL), -PB_E_INVALID);
    CHECK_INT(schema_compile(&s, SPAN("{"), NULL), -PB_E_INVALID);
    CHECK(!s);
    CHECK_INT(schema_compile(&s, SPAN("{\"type\":\"null\"}"), NULL), 0);
    CHECK_INT(json_parse(&doc, SPAN("[1]"), NULL, NULL), 0);
    CHECK_INT(schema_check(s, json_root(&doc), NULL), -PB_E_INVALID);
}

TEST(multiples_agree_with_the_machine_for_all_small_numbers)
{
    uint64_t seed = 42;

    for (int i = 0; i < 20000; i++) {
        char schema[64], value[64];
        struct pb_error err;
        int64_t d, v;

        seed = seed * 6364136223846793005u + 1442695040888963407u;
        d = (int64_t)(seed >> 33) % (i % 2 ? 50 : 100000) + 1;
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        v = (int64_t)(seed >> 20) % 1000000000000;
        if (i % 3 == 0)
            v = v % 1000000 * d;
        snprintf(schema, sizeof schema, "{'multipleOf':%lld}", (long long)d);
        snprintf(value, sizeof value, "-%lld.000", (long long)v);
        CHECK_INT(verdict_on(schema, value, &err), v % d ? -PB_E_INVALID : 0);
    }
}

/* The multiples of a divisor with more digits than a machine word has: d * k, done by hand. */
TEST(multiples_of_long_numbers_are_found_and_their_neighbours_are_not)
{
    for (int digits = 17; digits <= 400; digits += 7) {
        AUTO_BUF struct buf schema = { 0 };
        AUTO_BUF struct buf value = { 0 };
        char product[512];
        int carry = 0, k = digits % 8 + 2, n = 0;
        struct pb_error err;

        buf_str(&schema, "{'multipleOf':");
        for (int i = 0; i < digits; i++)
            buf_byte(&schema, (char)('1' + (i * 7 + digits) % 9));
        for (int i = 0; i < digits; i++) {
            carry += (schema.p[schema.n - 1 - (size_t)i] - '0') * k;
            product[n++] = (char)('0' + carry % 10);
            carry /= 10;
        }
        if (carry)
            product[n++] = (char)('0' + carry);
        buf_str(&schema, "}");
        while (n)
            buf_byte(&value, product[--n]);
        CHECK_INT(verdict_on(buf_cstr(&schema), buf_cstr(&value), &err), 0);
        value.p[value.n - 1] = value.p[value.n - 1] == '9' ? '8' : (char)(value.p[value.n - 1] + 1);
        CHECK_INT(verdict_on(buf_cstr(&schema), buf_cstr(&value), &err), -PB_E_INVALID);
    }
}

TEST(checking_ordinary_arguments_allocates_nothing)
{
    AUTO_FREE char *schema = with_quotes(
        "{'type':'object','properties':{'path':{'type':'string','minLength':1},"
        "'limit':{'type':'integer','minimum':1,'maximum':1000},'mode':{'enum':['r','w']},"
        "'tags':{'type':'array','items':{'type':'string'},'uniqueItems':true}},"
        "'required':['path'],'anyOf':[{'required':['mode']},{'required':['limit']}],"
        "'additionalProperties':false,'unevaluatedProperties':false}");
    AUTO_FREE char *value = with_quotes("{'path':'/a','limit':10.0,'tags':['a','b']}");
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO(schema) struct schema *s = NULL;
    struct pb_error err;
    uint64_t before;

    CHECK_INT(schema_compile(&s, span_of(schema), &err), 0);
    CHECK_INT(json_parse(&doc, span_of(value), NULL, &err), 0);
    before = mem_count();
    for (int i = 0; i < 100; i++)
        CHECK_INT(schema_check(s, json_root(&doc), &err), 0);
    CHECK_INT(mem_count() - before, 0);
}
