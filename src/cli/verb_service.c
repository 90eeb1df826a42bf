#include "hub/config/config.h"
#include "hub_flags.h"
#include "service_unit.h"
#include "show.h"
#include "talk.h"
#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <sys/stat.h>

#define UNIT      "patchbay.service"
#define WANTED_BY "default.target.wants"

enum { UNIT_BYTES_MAX = 65536 };

/* ---- where it lies, and what it says --------------------------------------------------------- */

/* Where systemd looks for units of the user's own; the caller's. */
static int unit_dir(char **out, struct pb_error *err)
{
    const char *xdg = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");
    AUTO_BUF struct buf dir = { 0 };

    if (xdg && xdg[0] == '/')
        buf_printf(&dir, "%s/systemd/user", xdg);
    else if (home && home[0] == '/')
        buf_printf(&dir, "%s/.config/systemd/user", home);
    else
        return fail(err, PB_E_INVALID, "HOME is not set: nobody knows where units belong");
    *out = buf_take(&dir);
    return 0;
}

static char *below(const char *dir, const char *name)
{
    AUTO_BUF struct buf path = { 0 };

    buf_printf(&path, "%s/%s", dir, name);
    return buf_take(&path);
}

/* A word of a unit: "%" begins a specifier, in a command "$" a variable, and blanks end it. */
static void write_word(struct buf *out, const char *before, const char *text, const char *doubled)
{
    buf_printf(out, "\"%s", before);
    for (; *text; text++) {
        if (*text == '"' || *text == '\\')
            buf_byte(out, '\\');
        if (strchr(doubled, *text))
            buf_byte(out, *text);
        buf_byte(out, *text);
    }
    buf_byte(out, '"');
}

/* The unit for this program, where it is, and for the home that it uses now. */
static int write_unit(struct buf *out, struct pb_error *err)
{
    static const char mark[] = "ExecStart=@bindir@/patchbay";
    const char *at = strstr(service_unit, mark), *home = getenv("PATCHBAY_HOME");
    char program[PATH_MAX];
    ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);

    if (n < 0)
        return fail_sys(err, errno, "find out where this program is");
    program[n] = '\0';
    assert(at); /* the build put it there */
    buf_add_span(out, span_make(service_unit, (size_t)(at - service_unit)));
    if (home) {
        buf_str(out, "Environment=");
        write_word(out, "PATCHBAY_HOME=", home, "%");
        buf_byte(out, '\n');
    }
    buf_str(out, "ExecStart=");
    write_word(out, "", program, "%$");
    buf_str(out, at + sizeof mark - 1);
    return 0;
}

/* ---- what is there --------------------------------------------------------------------------- */

struct service {
    char *dir, *file, *link;
    struct buf want, found;
    bool installed, enabled, current, ours;
};

static void service_done(struct service *s)
{
    free(s->dir);
    free(s->file);
    free(s->link);
    buf_done(&s->want);
    buf_done(&s->found);
}

static bool systemd_runs(void) { return access("/run/systemd/system", F_OK) == 0; }

/* Its first line is how we know a file of ours, whatever was changed below. */
static bool is_ours(struct span found)
{
    size_t line = (size_t)(strchr(service_unit, '\n') - service_unit) + 1;

    return found.n >= line && memcmp(found.p, service_unit, line) == 0;
}

static int service_look(struct service *s, struct pb_error *err)
{
    AUTO_CLOSE int fd = -1;
    struct stat st;
    ssize_t n;
    int rc = unit_dir(&s->dir, err);

    if (rc == 0)
        rc = write_unit(&s->want, err);
    if (rc < 0)
        return rc;
    s->file = below(s->dir, UNIT);
    s->link = below(s->dir, WANTED_BY "/" UNIT);
    s->enabled = lstat(s->link, &st) == 0;
    fd = open(s->file, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0)
        return errno == ENOENT ? 0 : fail_sys(err, errno, "read '%s'", s->file);
    n = read(fd, buf_reserve(&s->found, UNIT_BYTES_MAX), UNIT_BYTES_MAX);
    if (n < 0)
        return fail_sys(err, errno, "read '%s'", s->file);
    s->found.n = (size_t)n;
    s->installed = true;
    s->ours = is_ours(buf_span(&s->found));
    s->current = span_eq(buf_span(&s->found), buf_span(&s->want));
    return 0;
}

static int not_ours(const struct service *s, struct pb_error *err)
{
    return fail(err, PB_E_INVALID, "'%s' is not what Patchbay wrote; move it away first", s->file);
}

/* How it is, whatever was done. */
static void print_json(const struct cli *cli, const struct service *s)
{
    AUTO_BUF struct buf out = { 0 };
    struct json_out o = json_out(&out);

    if (!cli_option(cli, "json"))
        return;
    json_begin_object(&o, NULL);
    json_put_str(&o, "file", s->file);
    json_put_bool(&o, "installed", s->installed);
    json_put_bool(&o, "current", s->current);
    json_put_bool(&o, "enabled", s->enabled);
    json_put_bool(&o, "systemd", systemd_runs());
    json_end(&o);
    show_json(buf_cstr(&out));
}

/* ---- the deeds ------------------------------------------------------------------------------- */

static void tell_systemd(const char *first, const char *second)
{
    if (!systemd_runs())
        talk_note("systemd does not run here, and nothing else reads this file; 'patchbay serve "
                  "--background' starts the daemon without it");
    talk_next((const char *const[]){ first, second, NULL });
}

static int install(const struct cli *cli, struct service *s, struct pb_error *err)
{
    struct file_how how = {
        .durable = true, .like = true, .mode = 0644, .uid = geteuid(), .gid = getegid()
    };
    int rc;

    if (s->installed && !s->ours)
        return not_ours(s, err);
    rc = file_make_directories(s->dir, err);
    if (rc == 0)
        rc = file_replace(s->file, buf_span(&s->want), how, err);
    if (rc < 0)
        return rc;
    if (!cli_option(cli, "json"))
        printf("%s %s\n", s->current ? "Already there:" : "Wrote", s->file);
    s->installed = s->current = true;
    print_json(cli, s);
    tell_systemd("systemctl --user daemon-reload", "systemctl --user enable --now patchbay");
    return 0;
}

static int uninstall(const struct cli *cli, struct service *s, struct pb_error *err)
{
    if (!s->installed)
        return fail(err, PB_E_NOT_FOUND, "there is no '%s'", s->file);
    if (!s->ours)
        return not_ours(s, err);
    if (unlink(s->file) < 0)
        return fail_sys(err, errno, "remove '%s'", s->file);
    if (s->enabled && unlink(s->link) < 0)
        return fail_sys(err, errno, "remove '%s'", s->link);
    if (!cli_option(cli, "json"))
        printf("Removed %s\n", s->file);
    s->installed = s->current = s->enabled = false;
    print_json(cli, s);
    tell_systemd("systemctl --user stop patchbay", "systemctl --user daemon-reload");
    return 0;
}

static int tell_status(const struct cli *cli, struct service *s, struct pb_error *err)
{
    (void)err;
    print_json(cli, s);
    if (!cli_option(cli, "json")) {
        printf("unit     %s\n", s->file);
        printf("is       %s\n", !s->installed
                                    ? "not installed: 'patchbay service install' writes it"
                                : s->current ? "what this program writes"
                                : s->ours    ? "another text: 'patchbay service install' writes it "
                                               "anew"
                                             : "not what Patchbay wrote");
        printf("starts   %s\n", s->enabled ? "with your session" : "when it is told to");
        printf("systemd  %s\n", systemd_runs() ? "runs" : "does not run here");
    }
    return 0;
}

static int run_service(struct cli *cli)
{
    static const struct {
        const char *name;
        int (*run)(const struct cli *cli, struct service *s, struct pb_error *err);
    } deeds[] = { { "install", install }, { "status", tell_status }, { "uninstall", uninstall } };

    for (size_t i = 0; i < ARRAY_LEN(deeds); i++) {
        struct service s = { 0 };
        struct pb_error err;
        int rc;

        if (strcmp(cli->args[0], deeds[i].name) != 0)
            continue;
        rc = service_look(&s, &err);
        if (rc == 0)
            rc = deeds[i].run(cli, &s, &err);
        service_done(&s);
        return rc < 0 ? cli_config_fail(&err) : CLI_OK;
    }
    return cli_usage(cli->verb, "'%s' is none of install, status and uninstall", cli->args[0]);
}

const struct verb verb_service = {
    .name = "service",
    .usage = "install|uninstall|status",
    .help = "Have systemd run the daemon whenever you are logged in",
    .text =
        "Writes patchbay.service for this program below ~/.config/systemd/user, or removes it,\n"
        "and tells the two systemctl commands that make systemd take it over. They are yours\n"
        "to run: nothing else is changed.",
    .min = 1,
    .max = 1,
    .options =
        (const struct option_spec[]){
            { 0, "json", NULL, "print as JSON how it is then" },
            { 0 },
        },
    .run = run_service,
};
