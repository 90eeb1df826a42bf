#include "taken.h"
#include "reach.h"
#include "talk.h"
#include <sys/stat.h>

static bool same_file(const char *a, const char *b)
{
    struct stat x, y;

    if (strcmp(a, b) == 0)
        return true;
    return a[0] == '/' && stat(a, &x) == 0 && stat(b, &y) == 0 && x.st_dev == y.st_dev &&
           x.st_ino == y.st_ino;
}

static bool reads_file(struct json files, const char *file)
{
    AUTO_ARENA struct arena a = { 0 };

    JSON_FOREACH(f, files)
        if (same_file(arena_dup(&a, json_str(f, &a)), file))
            return true;
    return false;
}

/* A file of the project is for those who work there; that a daemon does not read it is no news. */
static void tell_unread(const struct pb_result *result, const char *file)
{
    AUTO_JSON struct json_doc doc = { 0 };
    size_t n;
    const char *text = pb_result_json(result, &n);

    if (file[0] != '/' || json_parse(&doc, span_make(text, n), NULL, NULL) < 0 ||
        reads_file(json_get(json_root(&doc), "files"), file))
        return;
    talk_warn("the running daemon does not read %s: it was started with --config", file);
}

int taken_over(const struct cli *cli, const char *file)
{
    AUTO(reach) struct reach *s = NULL;
    struct pb_result *result = NULL;
    struct pb_error err;
    int rc = reach_daemon(&s, cli, NULL, &err), status = CLI_OK;

    if (rc == -(int)PB_E_CLOSED)
        return CLI_OK;
    if (rc == 0)
        rc = reach_request(s, "patchbay/reload", NULL, &result, &err);
    if (rc < 0) {
        fail_in(&err, "%s is changed, but the running daemon goes on with what it had", file);
        status = reach_fail(&err);
    } else {
        tell_unread(result, file);
    }
    pb_result_free(result);
    return status;
}
