#include "calls.h"
#include <errno.h>
#include <fcntl.h>

/* Nothing in it moves a terminal, or is shown as something else than it is. */
static bool is_text(struct span bytes)
{
    for (struct span rest = bytes; rest.n; rest = span_from(rest, 1)) {
        unsigned char c = (unsigned char)rest.p[0];
        unsigned char next = rest.n > 1 ? (unsigned char)rest.p[1] : 0;

        if ((c < 0x20 && c != '\t' && c != '\n' && !(c == '\r' && next == '\n')) || c == 0x7f ||
            (c == 0xC2 && next < 0xA0) || (c >= 0xD8 && text_hidden(rest)))
            return false;
    }
    return utf8_valid(bytes);
}

static int write_file(const char *path, struct span bytes)
{
    AUTO_CLOSE int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    for (size_t n = 0; fd >= 0 && n < bytes.n;) {
        ssize_t w = write(fd, bytes.p + n, bytes.n - n);

        if (w < 0 && errno == EINTR)
            continue;
        if (w <= 0)
            return talk_fail(FAILURE_FILE, "'%s' cannot be written: %m", path);
        n += (size_t)w;
    }
    if (fd < 0)
        return talk_fail(FAILURE_FILE, "'%s' cannot be written: %m", path);
    talk_note("wrote %zu bytes to %s", bytes.n, path);
    return CLI_OK;
}

static int print_bytes(const struct cli *cli, struct span bytes)
{
    const char *file = cli_option(cli, "output");

    if (file)
        return write_file(file, bytes);
    if (isatty(STDOUT_FILENO) && !is_text(bytes) && !cli_option(cli, "force"))
        return talk_trouble(
            &(struct trouble){ .what = FAILURE_INVALID,
                               .message = "these bytes are no text, and may upset the terminal",
                               .hint = "add --output FILE, or --force" });
    fwrite(bytes.p, 1, bytes.n, stdout); /* as they are; a failure is told in the end */
    if (isatty(STDOUT_FILENO) && bytes.n && bytes.p[bytes.n - 1] != '\n')
        putchar('\n');
    return CLI_OK;
}

static int run_object(struct cli *cli)
{
    AUTO(reach) struct reach *s = NULL;
    AUTO_BUF struct buf bytes = { 0 };
    struct pb_error err;
    int status = records_reach(&s, cli);

    if (status != CLI_OK)
        return status;
    if (!s)
        return talk_fail(FAILURE_NOT_FOUND, "there is no object '%.40s'", cli->args[0]);
    if (calls_object(s, cli->args[0], &bytes, &err) < 0)
        return reach_fail(&err);
    return print_bytes(cli, buf_span(&bytes));
}

const struct verb verb_object = {
    .name = "object",
    .usage = "CID [--output FILE]",
    .help = "Print the bytes of recorded arguments, a result or a definition",
    .text = "'patchbay calls show ID' tells the cids of a call. Of an object of the newest calls\n"
            "the first twelve characters will do.",
    .min = 1,
    .max = 1,
    .options =
        (const struct option_spec[]){
            { 'o', "output", "FILE", "write them there" },
            { 0, "force", NULL, "print them on a terminal, whatever they are" },
            CLI_HUB_OPTIONS,
            { 0 },
        },
    .run = run_object,
};
