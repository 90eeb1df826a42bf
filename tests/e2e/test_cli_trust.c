/* What a person said about the servers of projects: how it is kept, told and taken back. */
#include "project_rig.h"
#include <limits.h>
#include <sys/file.h>

static const char *trusted(void) { return temp_read(temp_path("home/trusted.json")); }

/* ---- changes by the person ---- */

TEST(what_the_person_changes_stays_trusted)
{
    char sub[256];

    begin();
    CHECK_INT(RUN("add", "-s", "project", "ex", "--", built("patchbay-example-server")), 0);
    CHECK_STR(err, "Next: patchbay tools ex\n");
    CHECK_INT(RUN("tools", "ex"), 0);
    CHECK_HAS(out, "ex.echo");
    CHECK_STR(err, "");
    CHECK_INT(RUN("add", "-s", "project", "-q", "b", "--", "cat"), 0);
    CHECK_INT(RUN("disable", "-s", "project", "b"), 0);
    CHECK_INT(RUN("disable", "-s", "project", "ex.datetime"), 0);
    CHECK_INT(RUN("tools"), 0);
    CHECK_HAS(out, "ex.datetime    (disabled)");
    CHECK_INT(RUN("enable", "-s", "project", "ex.datetime"), 0);
    CHECK_INT(RUN("remove", "-s", "project", "b"), 0);
    CHECK_INT(RUN("tools", "-q"), 0);
    CHECK_HAS(out, "ex.echo");
    /* What it was before is not. */
    CHECK_INT(answers(), 1);
    /* One that is nearer is told of. */
    snprintf(sub, sizeof sub, "%s", temp_path("proj/sub"));
    home = sub;
    CHECK_INT(RUN("add", "-s", "project", "c", "--", "cat"), 0);
    CHECK_HAS(err, "/proj/.mcp.json is not read in this directory any more: the nearest file ");
    CHECK_INT(answers(), 2);
    rig_end();
}

TEST(what_was_not_trusted_is_not_trusted_by_a_change)
{
    begin();
    project("\"bad\":{\"command\":\"touch\",\"args\":[\"$HOME/pwned\"]}");
    CHECK_INT(RUN("add", "-s", "project", "-q", "ex", "--", built("patchbay-example-server")), 0);
    CHECK_INT(RUN("tools"), 0);
    CHECK_STR(out, "");
    CHECK_HAS(err, UNTRUSTED);
    CHECK_INT(answers(), 0);
    /* Nor what somebody else has changed since. */
    CHECK_INT(RUN("trust", "--yes", "-q"), 0);
    project("\"worse\":{\"command\":\"touch\",\"args\":[\"$HOME/pwned\"]}");
    CHECK_INT(RUN("add", "-s", "project", "-q", "ex", "--", built("patchbay-example-server")), 0);
    CHECK_INT(RUN("tools"), 0);
    CHECK_HAS(err, "it has changed since you were asked about it");
    CHECK_INT(access(temp_path("proj/pwned"), F_OK), -1);
    rig_end();
}

/* Does the program have this directory open? Not we ourselves, on the way to becoming it. */
static bool has_open(pid_t pid, const char *dir)
{
    char fd[64], target[512], self[512];
    ssize_t mine = readlink("/proc/self/exe", self, sizeof self);

    snprintf(fd, sizeof fd, "/proc/%d/exe", (int)pid);
    if (readlink(fd, target, sizeof target) == mine && memcmp(self, target, (size_t)mine) == 0)
        return false;
    for (int i = 3; i < 64; i++) {
        ssize_t n;

        snprintf(fd, sizeof fd, "/proc/%d/fd/%d", (int)pid, i);
        n = readlink(fd, target, sizeof target - 1);
        target[n > 0 ? n : 0] = '\0';
        if (strcmp(target, dir) == 0)
            return true;
    }
    return false;
}

/* The verb has looked at the file and waits for its turn, and then the file is another. */
TEST(what_somebody_else_writes_while_the_person_does_is_not_trusted)
{
    struct program p = { 0 };
    AUTO_CLOSE int turn = -1;
    char dir[PATH_MAX];

    begin();
    CHECK_INT(RUN("add", "-s", "project", "-q", "ex", "--", built("patchbay-example-server")), 0);
    CHECK(realpath(home, dir) != NULL);
    turn = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    CHECK_INT(flock(turn, LOCK_EX), 0);
    program_start(
        &p, (const char *const[]){ "patchbay", "add", "-s", "project", "b", "--", "cat", NULL },
        temp_path("add.err"));
    WAIT_FOR(has_open(p.pid, dir));
    project("\"bad\":{\"command\":\"touch\",\"args\":[\"$HOME/pwned\"]}");
    CHECK_INT(flock(turn, LOCK_UN), 0);
    CHECK_INT(program_end(&p, RIG_END_MS), 0);
    CHECK_HAS(temp_read(temp_path("add.err")), "somebody else has changed it at the same time");
    CHECK_INT(RUN("tools"), 0);
    CHECK_HAS(err, "it has changed since you were asked about it");
    CHECK_INT(access(temp_path("proj/pwned"), F_OK), -1);
    rig_end();
}

/* ---- the verb ---- */

TEST(trust_shows_asks_lists_and_forgets)
{
    begin();
    CHECK_INT(RUN("trust", "--list"), 0);
    CHECK_STR(out, "You were not asked about any project yet.\n");
    project("\"ex\":" EXAMPLE);
    CHECK_INT(talk_on_terminal(NO, WORDS("trust")), 1);
    CHECK_HAS(out, "/proj/.mcp.json has 1 server:");
    CHECK_HAS(out, "/proj/.mcp.json is not used");
    CHECK_INT(RUN("trust", "--list"), 0);
    CHECK_HAS(out, "/proj/.mcp.json  no  ");
    CHECK_INT(talk_on_terminal(YES, WORDS("trust", "sub")), 0); /* asks again */
    CHECK_HAS(out, "You trust ");
    CHECK_INT(RUN("trust"), 0);
    CHECK_HAS(out, "  stdio  ");
    CHECK_HAS(out, "You trust ");
    CHECK_INT(RUN("trust", "--json"), 0);
    CHECK_HAS(member("file"), "/proj/.mcp.json");
    CHECK_STR(member("trusted"), "true");
    CHECK_STR(member("servers.0.name"), "ex");
    CHECK_INT(RUN("trust", "--list", "--json"), 0);
    CHECK_HAS(member("projects.0.file"), "/proj/.mcp.json");
    CHECK_STR(member("projects.0.current"), "true");
    project("\"ex\":" EXAMPLE ",\"b\":" EXAMPLE);
    CHECK_INT(RUN("trust", "--list", "--json"), 0);
    CHECK_STR(member("projects.0.current"), "false");
    CHECK_INT(RUN("trust", "--list"), 0);
    CHECK_HAS(out, "(the file is another now, or gone)");
    CHECK_INT(RUN("trust", "--yes", "--json"), 0);
    CHECK_STR(member("servers.1.name"), "b");
    CHECK_INT(answers(), 2);
    CHECK_INT(RUN("trust", "rm", ".", "--json"), 0);
    CHECK_STR(member("removed"), "true");
    CHECK_INT(answers(), 0);
    /* Of a directory that is gone. */
    CHECK_INT(mkdir(temp_path("proj/gone"), 0700), 0);
    write_servers("proj/gone/.mcp.json", "\"ex\":" EXAMPLE);
    CHECK_INT(RUN("trust", "gone", "--yes", "-q"), 0);
    temp_remove(temp_path("proj/gone"));
    CHECK_INT(answers(), 1);
    CHECK_INT(RUN("trust", "rm", "gone/", "-q"), 0);
    CHECK_INT(answers(), 0);
    rig_end();
}

TEST(trust_has_the_exit_codes_of_the_others)
{
    static const struct {
        const char *words[4], *code;
        const char *says;
    } rows[] = {
        { { "trust" }, "not_found", "there is no .mcp.json in '.'" },
        { { "trust", "nowhere" }, "not_found", "there is no directory 'nowhere'" },
        { { "trust", "inner" }, "usage", "there is no terminal to ask at" },
        { { "trust", "rm" }, "usage", "which directory" },
        { { "trust", "rm", "inner" }, "not_found", "nothing was said about " },
        { { "trust", "inner", "sub" }, "usage", "'trust' takes one directory; what is 'sub'?" },
        { { "trust", "inner", "--list" }, "usage", "--list takes no directory" },
        { { "trust", "--nonsense" }, "usage", "unknown option '--nonsense'" },
    };

    begin();
    CHECK_INT(mkdir(temp_path("proj/inner"), 0700), 0);
    write_servers("proj/inner/.mcp.json", "\"ex\":" EXAMPLE);
    for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
        const char *const *w = rows[i].words;

        CHECK_INT(run_with(NULL, WORDS(w[0], "--json", w[1], w[2], w[3])), 1);
        CHECK_STR(out, "");
        CHECK_STR(json_member(err, "error.code"), rows[i].code);
        CHECK_HAS(json_member(err, "error.message"), rows[i].says);
    }
    rig_end();
}

/* ---- the file of answers ---- */

#define DIGEST "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"

TEST(a_damaged_file_of_answers_is_told_kept_and_trusts_nobody)
{
    static const char *const damaged[] = {
        "",
        "{",
        "[]",
        "{}",
        "{\"projects\":{}}",
        "{\"projects\":[1]}",
        "{\"projects\":[%s,",
        "{\"projects\":[%s]} x",
        "{\"projects\":[%s,{}]}",
        "{\"projects\":[%s],\"projects\":[]}",
        "{\"projects\":[%s,%s]}",
        "{\"projects\":[%s,{\"file\":\"a\",\"sha256\":\"" DIGEST "\",\"trusted\":true,\"at\":1}]}",
        "{\"projects\":[%s,{\"file\":\"/a\",\"sha256\":\"ab\",\"trusted\":true,\"at\":1}]}",
        "{\"projects\":[%s,{\"file\":\"/a\",\"sha256\":\"" DIGEST
        "\",\"trusted\":\"yes\",\"at\":1}]}",
        "{\"projects\":[%s,{\"file\":\"/a\",\"sha256\":\"" DIGEST
        "\",\"trusted\":true,\"at\":\"x\"}]}",
    };
    char entry[1024], name[64] = "home/trusted.json.damaged";

    begin();
    project("\"ex\":" EXAMPLE);
    CHECK_INT(RUN("trust", "--yes", "-q"), 0);
    snprintf(entry, sizeof entry, "%.1000s", trusted() + strlen("{\"projects\":["));
    *strrchr(entry, ']') = '\0';
    for (size_t i = 0; i < ARRAY_LEN(damaged); i++) {
        AUTO_BUF struct buf text = { 0 };

        for (const char *p = damaged[i]; *p; p++)
            if (strncmp(p, "%s", 2) == 0)
                buf_str(&text, entry), p++;
            else
                buf_byte(&text, *p);
        temp_write(temp_path("home/trusted.json"), buf_cstr(&text));
        CHECK_INT(RUN("tools"), 0);
        CHECK_STR(out, "");
        CHECK_HAS(err, "/home/trusted.json: ");
        CHECK_HAS(err, "it is not believed, and no project is trusted until you answer again\n");
        CHECK_STR(trusted(), buf_cstr(&text)); /* reading changes nothing */
        CHECK_INT(RUN("trust", "--yes"), 0);
        if (i)
            snprintf(name, sizeof name, "home/trusted.json.damaged-%zu", i + 1);
        CHECK_HAS(err, name);
        CHECK_HAS(err, ", and a new one is begun\n");
        CHECK_STR(temp_read(temp_path(name)), buf_cstr(&text));
        CHECK_INT(RUN("tools"), 0);
        CHECK_HAS(out, "ex.echo");
        CHECK_INT(answers(), 1);
    }
    rig_end();
}

TEST(answers_that_others_could_have_written_are_not_believed)
{
    begin();
    project("\"ex\":" EXAMPLE);
    CHECK_INT(RUN("trust", "--yes", "-q"), 0);
    CHECK_INT(chmod(temp_path("home/trusted.json"), 0620), 0);
    CHECK_INT(RUN("tools"), 0);
    CHECK_STR(out, "");
    CHECK_HAS(err, "others can write it: it is not believed");
    CHECK_INT(RUN("trust", "--yes", "-q"), 0);
    CHECK_INT(temp_mode(temp_path("home/trusted.json")), 0600);
    CHECK_INT(RUN("tools"), 0);
    CHECK_HAS(out, "ex.echo");
    rig_end();
}

/* TRUST_ENTRIES_MAX */
TEST(the_oldest_answers_go)
{
    AUTO_BUF struct buf text = { 0 };

    begin();
    project("\"ex\":" EXAMPLE);
    for (int i = 0; i < TRUST_ENTRIES_MAX; i++)
        buf_printf(&text,
                   "%s{\"file\":\"/p%d/.mcp.json\",\"sha256\":\"" DIGEST
                   "\",\"trusted\":true,\"at\":%d}",
                   i ? "," : "{\"projects\":[", i, i);
    buf_str(&text, "]}");
    temp_write(temp_path("home/trusted.json"), buf_cstr(&text));
    CHECK_INT(answers(), TRUST_ENTRIES_MAX);
    CHECK_INT(RUN("trust", "--yes", "-q"), 0);
    CHECK_INT(answers(), TRUST_ENTRIES_MAX);
    HAS_NOT(out, "\"/p0/.mcp.json\"");
    CHECK_HAS(out, "\"/p1/.mcp.json\"");
    CHECK_HAS(out, "/proj/.mcp.json\"");
    /* More than were ever written. */
    text.n -= 2;
    buf_str(&text,
            ",{\"file\":\"/q/.mcp.json\",\"sha256\":\"" DIGEST "\",\"trusted\":true,\"at\":1}]}");
    temp_write(temp_path("home/trusted.json"), buf_cstr(&text));
    CHECK_INT(answers(), 0);
    CHECK_HAS(err, "more than 500 answers");
    rig_end();
}

TEST(terminals_do_not_lose_each_others_answers)
{
    enum { PROJECTS = 12 };
    struct started all[PROJECTS];
    char dirs[PROJECTS][32], file[64];

    begin();
    for (int i = 0; i < PROJECTS; i++) {
        snprintf(dirs[i], sizeof dirs[i], "p%d", i);
        snprintf(file, sizeof file, "proj/p%d", i);
        CHECK_INT(mkdir(temp_path(file), 0700), 0);
        snprintf(file, sizeof file, "proj/p%d/.mcp.json", i);
        write_servers(file, "\"ex\":" EXAMPLE);
    }
    for (int i = 0; i < PROJECTS; i++)
        start_with(&all[i], NULL, WORDS("trust", "--yes", dirs[i]));
    for (int i = 0; i < PROJECTS; i++)
        CHECK_INT(started_end(&all[i]), 0);
    CHECK_INT(answers(), PROJECTS);
    rig_end();
}
