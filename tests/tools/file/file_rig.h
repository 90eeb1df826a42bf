/* file_rig.h - operations on files, run as a call runs them, in a directory of the test's own.
 *
 *     CHECK_STR(did("read_file", "{'filePath':'a'}"), "text\n");
 *     CHECK_HAS(failed("read_file", "{'filePath':'nope'}"), "there is no"); */
#pragma once
/* No test uses all of it. */
#pragma GCC diagnostic ignored "-Wunused-function"
#include "mcp/registry/call.h"
#include "mcp/registry/params.h"
#include "temp_dir.h"
#include "tools/file/file_impl.h"
#include <dirent.h>

struct rig_call {
    struct pb_call call;
    struct tool_call c;
};

/* "work" in the test's directory; beside it lies what must not be touched. */
static const char *rig_work(void)
{
    static char path[256];

    if (!*path) {
        snprintf(path, sizeof path, "%s/work", temp_root());
        CHECK(mkdir(path, 0755) == 0);
    }
    return path;
}

static const char *in_work(const char *name)
{
    char path[160];

    rig_work();
    snprintf(path, sizeof path, "work/%s", name);
    return temp_path(path);
}

static void put_file(const char *name, const char *text) { temp_write(in_work(name), text); }
static const char *file_is(const char *name) { return temp_read(in_work(name)); }
static bool is_there(const char *name)
{
    struct stat st;

    return lstat(in_work(name), &st) == 0;
}

/* How many names are in a directory: what is written beside a file must be gone. */
static int names_in(const char *path)
{
    DIR *dir = opendir(path);
    int n = 0;

    CHECK(dir != NULL);
    while (readdir(dir))
        n++;
    closedir(dir);
    return n - 2;
}

static const struct tool_operation *rig_operation(const char *name)
{
    for (const struct tool_operation *op = file_tool.operations; op->run; op++)
        if (strcmp(op->name, name) == 0)
            return op;
    TAP_FAIL("there is no operation %s", name);
}

/* Arguments are JSON with ' for ". */
static void rig_begin(struct rig_call *r, const char *operation, const char *arguments)
{
    const struct tool_operation *op = rig_operation(operation);
    AUTO(params) struct params *params = NULL;
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_FREE char *text = mem_dup(arguments);
    struct pb_error err;

    for (char *p = text; *p; p++)
        if (*p == '\'')
            *p = '"';
    memset(r, 0, sizeof *r);
    r->c = (struct tool_call){ .person = true, /* what is ours is no matter here */
                               .call = &r->call,
                               .tool = &file_tool,
                               .op = op,
                               .directory = rig_work() };
    CHECK(params_new(&params, op->params, &err) == 0);
    if (json_parse(&doc, span_of(text), NULL, &err) < 0 ||
        params_normalise(params, json_root(&doc), &r->call.args_text, &err) < 0)
        TAP_FAIL("%s: %s", text, err.msg);
    call_set_written(&r->call);
}

static void rig_forget(struct rig_call *r)
{
    r->call.out.n = r->call.blocks = 0;
    r->call.has_text = r->call.failed = false;
}

static void rig_end(struct rig_call *r)
{
    json_doc_done(&r->call.own_args);
    buf_done(&r->call.args_text);
    buf_done(&r->call.out);
    arena_done(&r->call.arena);
}

static bool rig_failed;

/* What is answered; good until the next call. */
static const char *answer(const char *operation, const char *arguments)
{
    static char text[1 << 20];
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_ARENA struct arena a = { 0 };
    AUTO_BUF struct buf json = { 0 };
    struct rig_call r;
    struct span s;

    rig_begin(&r, operation, arguments);
    rig_failed = r.c.op->run(&r.c) < 0;
    CHECK(rig_failed == r.call.failed);
    buf_byte(&json, '{');
    buf_add(&json, r.call.out.p + 1, r.call.out.n - 1);
    buf_str(&json, rig_failed ? "" : "]}");
    CHECK(json_parse(&doc, buf_span(&json), NULL, NULL) == 0);
    s = json_str(json_get(json_item(json_get(json_root(&doc), "content"), 0), "text"), &a);
    CHECK(s.n < sizeof text);
    memcpy(text, s.p, s.n);
    text[s.n] = '\0';
    rig_end(&r);
    return text;
}

static const char *did(const char *operation, const char *arguments)
{
    const char *text = answer(operation, arguments);

    if (rig_failed)
        TAP_FAIL("%s %s: %s", operation, arguments, text);
    return text;
}

static const char *failed(const char *operation, const char *arguments)
{
    const char *text = answer(operation, arguments);

    if (!rig_failed)
        TAP_FAIL("%s %s does not fail: %s", operation, arguments, text);
    return text;
}
