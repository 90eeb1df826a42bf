#include "reach.h"
#include "show.h"
#include "talk.h"
#include "token.h"
#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

/* What is given to another program as an argument can be read by every user of the machine. So the
 * browser gets a page of ours to open, which only we can read and which leads on. */
static int write_page(const char *path, const char *link, struct pb_error *err)
{
    AUTO_BUF struct buf page = { 0 };
    AUTO_CLOSE int fd = -1;

    unlink(path); /* whatever it is, it is not written through */
    fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (fd < 0)
        return fail_sys(err, errno, "make '%s'", path);
    buf_printf(&page,
               "<!doctype html><meta charset=\"utf-8\"><meta name=\"referrer\" "
               "content=\"no-referrer\"><meta http-equiv=\"refresh\" content=\"0;url=%s\">"
               "<title>Patchbay</title><a href=\"%s\">Open the console</a>\n",
               link, link);
    if (write(fd, page.p, page.n) != (ssize_t)page.n)
        return fail_sys(err, errno, "write '%s'", path);
    return 0;
}

static int open_browser(const char *home, const char *link)
{
    AUTO_BUF struct buf path = { 0 };
    struct pb_error err;

    buf_printf(&path, "%s/console.html", home);
    if (write_page(buf_cstr(&path), link, &err) < 0)
        return cli_config_fail(&err);
    if (child_launch(&(struct child_spec){ .command = "xdg-open",
                                           .args = (const char *const[]){ path.p, NULL } },
                     &err) < 0)
        return cli_fail(&err);
    return CLI_OK;
}

/* An exit code; what is not CLI_OK has been told. */
static int make_link(struct json status, struct buf *link)
{
    AUTO_ARENA struct arena a = { 0 };
    AUTO_BUF struct buf token = { 0 };
    const char *url = show_member(status, "url", &a);
    const char *from = show_member(status, "token_from", &a);
    struct pb_error err;

    if (!*url)
        return talk_fail(FAILURE_UNREACHABLE,
                         "the daemon does not listen on HTTP, so it has no console");
    if (*from && token_of(from, &token, &err) < 0)
        return cli_config_fail(&err);
    token_link(link, url, buf_cstr(&token));
    if (!*from || token.n)
        return CLI_OK;
    return talk_fail(FAILURE_INVALID,
                     "the daemon has its token from %s, which cannot be seen from here; add it to "
                     "%s#token=",
                     from, buf_cstr(link));
}

static void print_link(const struct cli *cli, const char *link)
{
    AUTO_BUF struct buf out = { 0 };
    struct json_out o = json_out(&out);

    if (!cli_option(cli, "json")) {
        puts(link);
        return;
    }
    json_begin_object(&o, NULL);
    json_put_str(&o, "url", link);
    json_end(&o);
    show_json(buf_cstr(&out));
}

static int run_console(struct cli *cli)
{
    AUTO(reach) struct reach *s = NULL;
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_ARENA struct arena a = { 0 };
    AUTO_BUF struct buf link = { 0 };
    struct pb_result *result = NULL;
    struct pb_error err;
    int status = reach_open(&s, cli, &(struct reach_wants){ .daemon_only = true });

    if (status != CLI_OK)
        return status;
    if (reach_ask(s, "patchbay/status", NULL, &result, &doc, &err) < 0)
        status = reach_fail(&err);
    else
        status = make_link(json_root(&doc), &link);
    if (status == CLI_OK) {
        print_link(cli, buf_cstr(&link));
        if (cli_option(cli, "open"))
            status = open_browser(show_member(json_root(&doc), "home", &a), buf_cstr(&link));
    }
    pb_result_free(result);
    return status;
}

const struct verb verb_console = {
    .name = "console",
    .usage = "[--open] [--json]",
    .help = "Print the link that opens the running daemon's page, or open it",
    .text = "The link ends in the token: whoever has it can do all that you can do here. The\n"
            "browser does not send it anywhere, and the page takes it out of the address.",
    .max = 0,
    .options =
        (const struct option_spec[]){
            { 0, "open", NULL, "open it in the browser, with xdg-open" },
            { 0, "json", NULL, "print the link as JSON" },
            { 0 },
        },
    .run = run_console,
};
