#include "schema_cases.h"

/* clang-format off */
TEST(references_lead_to_places_in_the_document)
{
    static const struct schema_case cases[] = {
        { "{'$defs':{'a':{'type':'null'}},'$ref':'#/$defs/a'}",        "1", "value: expected null, got a number" },
        { "{'$defs':{'a':{'type':'null'}},'$ref':'#/$defs/a'}",        "null", NULL },
        { "{'$ref':'#/$defs/a','maximum':3,'$defs':{'a':{'minimum':1}}}", "4", "value: expected at most 3" },
        { "{'$ref':'#/$defs/a','maximum':3,'$defs':{'a':{'minimum':1}}}", "0", "value: expected at least 1" },
        { "{'$ref':'#/$defs/a~1b~0%25','$defs':{'a/b~%':{'type':'null'}}}", "1", "value: expected null, got a number" },
        { "{'$ref':'#/prefixItems/1','prefixItems':[true,{'type':'null'}]}", "1", "value: expected null, got a number" },
        { "{'properties':{'a':{'$ref':'#/properties/b'},'b':{'type':'null'}}}", "{'a':1}", "/a: expected null, got a number" },
        { "{'$ref':'#/unknown/place','unknown':{'place':{'type':'null'}}}", "1", "value: expected null, got a number" },
        { "{'$ref':'#/$defs/','$defs':{'':{'type':'null'}}}",          "1", "value: expected null, got a number" },
        { "{'properties':{'child':{'$ref':'#'}},'required':['id']}",   "{'id':1,'child':{'id':2,'child':{}}}",
          "/child/child: required property \"id\" is missing" },
        { "{'properties':{'$ref':{'type':'string'}}}",                 "{'$ref':1}", "/$ref: expected a string, got a number" },
        { "{'enum':[{'$ref':'http://x/'}]}",                           "{'$ref':'http://x/'}", NULL },
    };
    RUN_CASES(cases);
}

TEST(a_table_of_many_definitions_is_looked_up_by_name)
{
    AUTO_BUF struct buf schema = { 0 };
    struct pb_error err;

    buf_str(&schema, "{'properties':{");
    for (int i = 0; i < 500; i++)
        buf_printf(&schema, "%s'p%d':{'$ref':'#/$defs/d%d'}", i ? "," : "", i, i);
    buf_str(&schema, ",'none':{'$ref':'#/$defs/'}},'$defs':{");
    for (int i = 0; i < 500; i++)
        buf_printf(&schema, "'d%d':{'maximum':%d},", i, i);
    buf_str(&schema, "'':{'type':'null'}}}");
    CHECK_INT(verdict_on(buf_cstr(&schema), "{'p17':17,'p499':499,'none':null}", &err), 0);
    CHECK_INT(verdict_on(buf_cstr(&schema), "{'p17':18}", &err), -PB_E_INVALID);
    CHECK_STR(err.msg, "/p17: expected at most 17");
    CHECK_INT(verdict_on(buf_cstr(&schema), "{'none':18}", &err), -PB_E_INVALID);
    CHECK_STR(err.msg, "/none: expected null, got a number");
}

TEST(references_into_long_arrays_are_looked_up_by_index)
{
    AUTO_BUF struct buf schema = { 0 };
    struct pb_error err;

    buf_str(&schema, "{'list':[true");
    for (int i = 1; i < 20000; i++)
        buf_printf(&schema, ",{'maximum':%d}", i);
    buf_str(&schema, "],'prefixItems':[{'$ref':'#/list/0'}");
    for (int i = 1; i < 20000; i++)
        buf_printf(&schema, ",{'$ref':'#/list/%d'}", i);
    buf_str(&schema, "]}");
    CHECK_INT(verdict_on(buf_cstr(&schema), "[0,1,2]", &err), 0);
    CHECK_INT(verdict_on(buf_cstr(&schema), "[0,1,3]", &err), -PB_E_INVALID);
    CHECK_STR(err.msg, "/2: expected at most 2");
}

TEST(a_chain_of_references_is_one_step)
{
    AUTO_BUF struct buf schema = { 0 };
    struct pb_error err;

    buf_str(&schema, "{'$ref':'#/$defs/d0','$defs':{");
    for (int i = 0; i < 100; i++)
        buf_printf(&schema, "'d%d':{'$ref':'#/$defs/d%d'},", i, i + 1);
    buf_str(&schema, "'d100':{'type':'array','items':{'$ref':'#'}}}}");
    CHECK_INT(verdict_on(buf_cstr(&schema), "[[[[[[]]]]]]", &err), 0);
    CHECK_INT(verdict_on(buf_cstr(&schema), "[[[[[[1]]]]]]", &err), -PB_E_INVALID);
    CHECK_STR(err.msg, "/0/0/0/0/0/0: expected an array, got a number");
}

TEST(anchors_and_ids_name_schemas)
{
    static const struct schema_case cases[] = {
        { "{'$ref':'#here','$defs':{'a':{'$anchor':'here','type':'null'}}}", "1", "value: expected null, got a number" },
        { "{'$ref':'item','$defs':{'a':{'$id':'item','type':'null'}}}",      "1", "value: expected null, got a number" },
        { "{'$id':'http://x.org/a/root.json','$ref':'item.json#here','$defs':{'a':{'$id':'item.json','$defs':{'b':{'$anchor':'here','type':'null'}}}}}",
          "1", "value: expected null, got a number" },
        { "{'$id':'http://x.org/a/b/root','$ref':'../c','$defs':{'a':{'$id':'/a/c','type':'null'}}}", "1", "value: expected null, got a number" },
        { "{'$id':'http://x.org','$ref':'//x.org/./a/../c?q','$defs':{'a':{'$id':'c?q','type':'null'}}}", "1", "value: expected null, got a number" },
        { "{'$id':'http://x.org/a?q','$ref':'?r#/$defs/z','$defs':{'a':{'$id':'?r','$defs':{'z':{'type':'null'}}}}}", "1", "value: expected null, got a number" },
        { "{'$id':'urn:uuid:1','$ref':'urn:uuid:2#/$defs/z','$defs':{'a':{'$id':'urn:uuid:2','$defs':{'z':{'type':'null'}}}}}", "1", "value: expected null, got a number" },
        { "{'$id':'http://x/r#','$ref':'http://x/r#/$defs/a','$defs':{'a':{'type':'null'}}}", "1", "value: expected null, got a number" },
        /* "#" is the nearest $id, not the document */
        { "{'type':'object','properties':{'a':{'$id':'in','type':['integer','array'],'items':{'$ref':'#'}}}}", "{'a':[1,[{}]]}",
          "/a/1/0: expected an integer or an array, got an object" },
        /* pasted twice, with its name */
        { "{'properties':{'a':{'$id':'T','type':'null'},'b':{'$id':'T','type':'null'},'c':{'$ref':'T'}}}", "{'c':1}", "/c: expected null, got a number" },
        /* not a schema there, so not an $id */
        { "{'const':{'$id':'T','type':'null'},'$defs':{'a':{'$id':'T','type':'string'}},'anyOf':[{'$ref':'T'},true]}", "1",
          "value: expected {\"$id\":\"T\",\"type\":\"null\"}" },
    };
    RUN_CASES(cases);
}

TEST(references_that_leave_the_document_are_refused_by_name)
{
    static const struct schema_case cases[] = {
        { "{'$ref':'http://canary.example/x'}",    NULL, "/$ref: \"http://canary.example/x\" leads out of this schema; only what is inside is followed" },
        { "{'$ref':'https://json-schema.org/draft/2020-12/schema'}", NULL,
          "/$ref: \"https://json-schema.org/draft/2020-12/schema\" leads out of this schema; only what is inside is followed" },
        { "{'properties':{'a':{'$ref':'file:///etc/passwd'}}}", NULL, "/properties/a/$ref: \"file:///etc/passwd\" leads out of this schema; only what is inside is followed" },
        { "{'$dynamicRef':'other.json#x'}",        NULL, "/$dynamicRef: \"other.json#x\" leads out of this schema; only what is inside is followed" },
        { "{'$id':'http://x/a','$ref':'b'}",       NULL, "/$ref: \"b\" leads out of this schema; only what is inside is followed" },
        { "{'$ref':'#/$defs/none'}",               NULL, "/$ref: there is nothing at \"#/$defs/none\"" },
        { "{'prefixItems':[{}],'$ref':'#/prefixItems/1'}", NULL, "/$ref: there is nothing at \"#/prefixItems/1\"" },
        { "{'prefixItems':[{}],'$ref':'#/prefixItems/00'}", NULL, "/$ref: there is nothing at \"#/prefixItems/00\"" },
        { "{'prefixItems':[{}],'$ref':'#/prefixItems/x'}", NULL, "/$ref: there is nothing at \"#/prefixItems/x\"" },
        { "{'$ref':'#nowhere'}",                   NULL, "/$ref: there is no anchor \"#nowhere\"" },
        { "{'title':'x','$ref':'#/title'}",        NULL, "/title: expected a schema (an object or a boolean), got a string" },
        { "{'$ref':1}",                            NULL, "/$ref: expected a string" },
        { "{'$id':1}",                             NULL, "/$id: expected a string" },
        { "{'$anchor':[]}",                        NULL, "/$anchor: expected a string" },
        { "{'$anchor':''}",                        NULL, "/$anchor: expected a name made of letters, digits, '-', '_', ':' or '.'" },
        { "{'$defs':{'a':{'$anchor':'x'},'b':{'$anchor':'x','type':'null'}}}", NULL, "/$defs/b/$anchor: two different schemas have the anchor 'x'" },
        { "{'$defs':{'a':{'$id':'x'},'b':{'$id':'x','type':'null'}}}", NULL, "/$defs/b/$id: two different schemas have the $id 'x'" },
    };
    RUN_REFUSALS(cases);
}

/* A list whose items are settled by whoever uses it. */
#define LIST "'list':{'$id':'list','$defs':{'d':{'$dynamicAnchor':'item'}},'type':'array','items':{'$dynamicRef':'#item'}}"

TEST(a_dynamic_reference_leads_to_the_outermost_anchor_of_its_name)
{
    static const struct schema_case cases[] = {
        { "{'$id':'root','$ref':'list','$defs':{'x':{'$dynamicAnchor':'item','type':'string'}," LIST "}}", "['a']", NULL },
        { "{'$id':'root','$ref':'list','$defs':{'x':{'$dynamicAnchor':'item','type':'string'}," LIST "}}", "['a',1]", "/1: expected a string, got a number" },
        { "{'$id':'root','$ref':'list','$defs':{'x':{'$anchor':'item','type':'string'}," LIST "}}", "['a',1]", NULL },
        { "{'$id':'root','$ref':'list','$defs':{'x':{'$dynamicAnchor':'other','type':'string'}," LIST "}}", "['a',1]", NULL },
        /* a plain $ref to the same place is not dynamic */
        { "{'$id':'r','$ref':'l','$defs':{'x':{'$dynamicAnchor':'i','type':'string'},'l':{'$id':'l','$defs':{'d':{'$dynamicAnchor':'i'}},'items':{'$ref':'#i'}}}}", "[1]", NULL },
        /* a $dynamicRef to a plain anchor is a $ref */
        { "{'$id':'r','$ref':'l','$defs':{'x':{'$dynamicAnchor':'i','type':'string'},'l':{'$id':'l','$defs':{'d':{'$anchor':'i','type':'null'}},'items':{'$dynamicRef':'#i'}}}}",
          "[1]", "/0: expected null, got a number" },
        /* a tree made strict from outside */
        { "{'$id':'strict','$dynamicAnchor':'node','$ref':'tree','unevaluatedProperties':false,'$defs':{'t':{'$id':'tree','$dynamicAnchor':'node',"
          "'properties':{'data':true,'children':{'items':{'$dynamicRef':'#node'}}}}}}", "{'children':[{'data':1}]}", NULL },
        { "{'$id':'strict','$dynamicAnchor':'node','$ref':'tree','unevaluatedProperties':false,'$defs':{'t':{'$id':'tree','$dynamicAnchor':'node',"
          "'properties':{'data':true,'children':{'items':{'$dynamicRef':'#node'}}}}}}", "{'children':[{'daat':1}]}", "/children/0/daat: unknown property" },
    };
    RUN_CASES(cases);
}

TEST(unevaluated_properties_are_those_no_keyword_has_looked_at)
{
    static const struct schema_case cases[] = {
        { "{'properties':{'a':true},'unevaluatedProperties':false}",   "{'a':1}", NULL },
        { "{'properties':{'a':true},'unevaluatedProperties':false}",   "{'a':1,'b':2}", "/b: unknown property" },
        { "{'unevaluatedProperties':{'type':'null'}}",                 "{'b':2}", "/b: expected null, got a number" },
        { "{'allOf':[{'properties':{'a':true}}],'unevaluatedProperties':false}", "{'a':1}", NULL },
        { "{'patternProperties':{'^x':true},'unevaluatedProperties':false}", "{'x1':1,'y':1}", "/y: unknown property" },
        { "{'allOf':[{'additionalProperties':true}],'unevaluatedProperties':false}", "{'a':1}", NULL },
        /* only alternatives that are satisfied count, and all of them */
        { "{'anyOf':[{'properties':{'a':true},'required':['a']},{'properties':{'b':true},'required':['b']}],'unevaluatedProperties':false}", "{'a':1,'b':1}", NULL },
        { "{'anyOf':[{'properties':{'a':true},'required':['z']},{'properties':{'b':true}}],'unevaluatedProperties':false}", "{'a':1,'b':1}", "/a: unknown property" },
        { "{'oneOf':[{'properties':{'a':true},'required':['a']},{'properties':{'b':true},'required':['b']}],'unevaluatedProperties':false}", "{'a':1}", NULL },
        { "{'oneOf':[{'properties':{'a':true},'required':['a']},{'properties':{'b':true},'required':['b']}],'unevaluatedProperties':false}", "{'a':1,'c':1}", "/c: unknown property" },
        { "{'not':{'not':{'properties':{'a':true}}},'unevaluatedProperties':false}", "{'a':1}", "/a: unknown property" },
        { "{'if':{'properties':{'a':{'const':1}},'required':['a']},'then':{'properties':{'b':true}},'else':{'properties':{'c':true}},'unevaluatedProperties':false}", "{'a':1,'b':1}", NULL },
        { "{'if':{'properties':{'a':{'const':1}},'required':['a']},'then':{'properties':{'b':true}},'else':{'properties':{'c':true}},'unevaluatedProperties':false}", "{'a':1,'c':1}", "/c: unknown property" },
        { "{'if':{'properties':{'a':{'const':1}},'required':['a']},'then':{'properties':{'b':true}},'else':{'properties':{'c':true}},'unevaluatedProperties':false}", "{'c':1}", NULL },
        { "{'if':{'properties':{'a':{'const':1}},'required':['a']},'then':{'properties':{'b':true}},'else':{'properties':{'c':true}},'unevaluatedProperties':false}", "{'a':2,'c':1}", "/a: unknown property" },
        { "{'dependentSchemas':{'a':{'properties':{'a':true,'b':true}}},'unevaluatedProperties':false}", "{'a':1,'b':1}", NULL },
        { "{'dependentSchemas':{'a':{'properties':{'b':true}}},'unevaluatedProperties':false}", "{'b':1}", "/b: unknown property" },
        { "{'$ref':'#/$defs/x','unevaluatedProperties':false,'$defs':{'x':{'properties':{'a':true}}}}", "{'a':1}", NULL },
        { "{'$ref':'#/$defs/x','unevaluatedProperties':false,'$defs':{'x':{'properties':{'a':true}}}}", "{'b':1}", "/b: unknown property" },
        /* cousins do not see each other; an outer one sees what an inner one has seen */
        { "{'allOf':[{'properties':{'a':true}},{'unevaluatedProperties':false}]}", "{'a':1}", "/a: unknown property" },
        { "{'allOf':[{'properties':{'a':true},'unevaluatedProperties':true}],'unevaluatedProperties':false}", "{'a':1,'b':1}", NULL },
        /* members of members are another matter */
        { "{'properties':{'o':{'properties':{'a':true}}},'unevaluatedProperties':false}", "{'o':{'a':1,'b':1}}", NULL },
        { "{'properties':{'o':{'properties':{'a':true}}},'unevaluatedProperties':false}", "{'a':1,'o':{}}", "/a: unknown property" },
        { "{'unevaluatedProperties':false}", "[1]", NULL },
    };
    RUN_CASES(cases);
}

TEST(unevaluated_items_are_those_no_keyword_has_looked_at)
{
    static const struct schema_case cases[] = {
        { "{'prefixItems':[true],'unevaluatedItems':false}",             "[1]", NULL },
        { "{'prefixItems':[true],'unevaluatedItems':false}",             "[1,2]", "/1: one item too many" },
        { "{'items':true,'unevaluatedItems':false}",                     "[1,2]", NULL },
        { "{'unevaluatedItems':{'type':'string'}}",                      "['a',1]", "/1: expected a string, got a number" },
        { "{'allOf':[{'prefixItems':[true,true]}],'unevaluatedItems':false}", "[1,2]", NULL },
        { "{'allOf':[{'prefixItems':[true,true]}],'unevaluatedItems':false}", "[1,2,3]", "/2: one item too many" },
        { "{'contains':{'type':'string'},'unevaluatedItems':false}",     "['a','b']", NULL },
        { "{'contains':{'type':'string'},'unevaluatedItems':false}",     "['a',1]", "/1: one item too many" },
        { "{'contains':{'type':'string'},'minContains':0,'unevaluatedItems':{'type':'null'}}", "[null,'a',null]", NULL },
        { "{'anyOf':[{'prefixItems':[{'const':1}]},{'prefixItems':[true,{'const':2}]}],'unevaluatedItems':false}", "[1,2]", NULL },
        { "{'anyOf':[{'prefixItems':[{'const':1}]},{'prefixItems':[true,{'const':2}]}],'unevaluatedItems':false}", "[1,3]", "/1: one item too many" },
        { "{'if':{'prefixItems':[{'const':1}]},'then':{'prefixItems':[true,true]},'unevaluatedItems':false}", "[1,3]", NULL },
        { "{'if':{'prefixItems':[{'const':1}]},'then':{'prefixItems':[true,true]},'unevaluatedItems':false}", "[2]", "/0: one item too many" },
        { "{'unevaluatedItems':false}", "{'a':1}", NULL },
    };
    RUN_CASES(cases);
}
/* clang-format on */

TEST(more_members_than_a_machine_word_has_bits_are_kept_apart)
{
    AUTO_BUF struct buf schema = { 0 };
    AUTO_BUF struct buf value = { 0 };
    struct pb_error err;

    buf_str(&schema, "{'anyOf':[{'properties':{");
    for (int i = 0; i < 200; i++)
        buf_printf(&schema, "%s'p%d':true", i ? "," : "", i);
    buf_str(&schema, "}},{'required':['none']}],'required':[");
    for (int i = 0; i < 200; i++)
        buf_printf(&schema, "%s'p%d'", i ? "," : "", i);
    buf_str(&schema, "],'unevaluatedProperties':false}");
    buf_str(&value, "{");
    for (int i = 199; i >= 0; i--)
        buf_printf(&value, "'p%d':%d%s", i, i, i ? "," : "");
    buf_str(&value, "}");
    CHECK_INT(verdict_on(buf_cstr(&schema), buf_cstr(&value), &err), 0);
    value.n--;
    buf_str(&value, ",'q':1}");
    CHECK_INT(verdict_on(buf_cstr(&schema), buf_cstr(&value), &err), -PB_E_INVALID);
    CHECK_STR(err.msg, "/q: unknown property");
    memcpy(strstr(value.p, "'p150'"), "'r150'", 6);
    CHECK_INT(verdict_on(buf_cstr(&schema), buf_cstr(&value), &err), -PB_E_INVALID);
    CHECK_STR(err.msg, "value: required property \"p150\" is missing");
}

TEST(a_place_in_a_schema_can_be_checked_and_followed_alone)
{
    static const char text[] =
        "{\"properties\":{\"a\":{\"$ref\":\"#/$defs/n\",\"title\":\"A\"},\"b\":{\"type\":\"string\"}},"
        "\"required\":[\"b\"],\"$defs\":{\"n\":{\"$ref\":\"#/$defs/m\"},\"m\":{\"type\":\"integer\"}}}";
    AUTO(schema) struct schema *s = NULL;
    AUTO_JSON struct json_doc value = { 0 };
    struct json a, m;
    struct pb_error err;

    CHECK_INT(schema_compile(&s, span_of(text), &err), 0);
    a = json_get(json_get(schema_root(s), "properties"), "a");
    m = schema_follow(s, schema_follow(s, a));
    CHECK(json_str_is(json_get(m, "type"), "integer"));
    CHECK_INT(json_type(schema_follow(s, m)), JSON_NONE);
    CHECK_INT(json_type(schema_follow(s, json_get(a, "title"))), JSON_NONE);
    CHECK_INT(json_parse(&value, SPAN("\"x\""), NULL, &err), 0);
    CHECK_INT(schema_check_at(s, a, json_root(&value), &err), -PB_E_INVALID);
    CHECK_STR(err.msg, "value: expected an integer, got a string");
    CHECK_INT(schema_check_at(s, json_get(json_get(schema_root(s), "properties"), "b"),
                              json_root(&value), &err),
              0);
    CHECK_INT(schema_check_at(s, json_get(a, "title"), json_root(&value), &err), -PB_E_INVALID);
    CHECK_STR(err.msg, "schema: there is none at this place");
}
