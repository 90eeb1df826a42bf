/* The way to the console: who gets the link, what stands in it, and who never sees the token. */
#include "cli_rig.h"

/* Fills `out` with what was printed. */
static void console_prints_the_link(void)
{
    AUTO_BUF struct buf link = { 0 };

    CHECK_INT(RUN("status", "--json"), 0);
    buf_printf(&link, "%s/#token=", member("url"));
    buf_printf(&link, "%s\n", file_text("token"));
    CHECK_INT(RUN("console"), 0);
    CHECK_STR(out, buf_cstr(&link));
    CHECK_STR(err, "");
}

TEST(console_prints_the_link_that_opens_it)
{
    rig_begin();
    CHECK_INT(RUN("console"), 4);
    CHECK_HAS(err, "'patchbay serve' starts one\n");
    rig_daemon(NULL);
    console_prints_the_link();
    rig_end();
}

/* What is written to a file or a journal may be read by others. */
TEST(a_daemon_that_is_not_at_a_terminal_does_not_tell_the_token)
{
    rig_begin();
    rig_daemon(NULL);
    CHECK_HAS(file_text("daemon.err"), "/ ('patchbay console' prints the link that opens it)\n");
    CHECK(!strstr(file_text("daemon.err"), "#token="));
    CHECK_INT(strlen(file_text("token")), ID_CHARS);
    {
        AUTO_FREE char *token = mem_dup(file_text("token"));

        CHECK(!strstr(file_text("daemon.err"), token));
    }
    rig_end();
}

TEST(a_daemon_at_a_terminal_tells_the_whole_link)
{
    AUTO_BUF struct buf link = { 0 };
    int status;
    pid_t stopper;

    rig_begin();
    fflush(stdout);
    stopper = fork();
    if (stopper == 0) {
        WAIT_FOR(RUN("status", "--stop") == 0);
        _exit(0);
    }
    CHECK_INT(run_on_terminal(WORDS("serve", "--port", "0")), 0);
    CHECK(waitpid(stopper, &status, 0) == stopper && status == 0);
    buf_printf(&link, "/#token=%s\r\n", file_text("token"));
    CHECK_HAS(out, "  console  http://127.0.0.1:");
    CHECK_HAS(out, buf_cstr(&link));
    rig_end();
}

TEST(a_token_of_any_characters_fits_into_the_link)
{
    rig_begin();
    setenv("PATCHBAY_TOKEN", "a b&c=\"d\"#%+", 1);
    rig_daemon(NULL);
    CHECK_INT(RUN("console"), 0);
    CHECK_HAS(out, "/#token=a%20b%26c%3D%22d%22%23%25%2B\n");
    unsetenv("PATCHBAY_TOKEN");
    CHECK_INT(RUN("console"), 1);
    CHECK_STR(out, "");
    CHECK_HAS(err, "patchbay: the daemon has its token from PATCHBAY_TOKEN, which cannot be seen "
                   "from here; add it to http://127.0.0.1:");
    rig_end();
}

TEST(a_daemon_without_a_token_has_a_link_without_one)
{
    rig_begin();
    rig_daemon(WORDS("--no-token"));
    CHECK(!strstr(file_text("daemon.err"), "patchbay console"));
    CHECK_INT(RUN("console"), 0);
    CHECK_HAS(out, "http://127.0.0.1:");
    CHECK(!strchr(out, '#'));
    rig_end();
}

/* "All addresses" is no name that a browser could use. */
TEST(a_daemon_on_all_addresses_wants_a_token_and_is_opened_by_its_own)
{
    rig_begin();
    CHECK_INT(RUN("serve", "--port", "0", "--host", "0.0.0.0", "--no-token"), 1);
    CHECK_HAS(err, "listening on 0.0.0.0 without a token would let everybody who reaches it");
    CHECK_INT(RUN("serve", "--port", "0", "--host", "::", "--no-token"), 1);
    CHECK_INT(RUN("serve", "--port", "0", "--host", "0.0.0.0", "--token", ""), 1);
    rig_daemon(WORDS("--host", "0.0.0.0"));
    console_prints_the_link();
    CHECK_HAS(out, "http://127.0.0.1:");
    rig_end();
}

/* Arguments of a process can be read by everybody: the browser is given a file that leads on. */
TEST(the_browser_is_opened_without_the_token_among_its_arguments)
{
    AUTO_BUF struct buf path = { 0 };
    AUTO_FREE char *link = NULL;
    struct stat st;

    rig_begin();
    write_filled("xdg-open", "",
                 "#!/bin/sh\nprintf '%s|' \"$0\" \"$@\" >$HOME/opened.tmp\n"
                 "mv $HOME/opened.tmp $HOME/opened\n",
                 "");
    CHECK_INT(chmod(in_home("xdg-open"), 0700), 0);
    rig_daemon(NULL);
    buf_printf(&path, "%s:%s", home, getenv("PATH"));
    setenv("PATH", buf_cstr(&path), 1);
    console_prints_the_link();
    link = mem_dup(out);
    CHECK_INT(RUN("console", "--open"), 0);
    CHECK_STR(out, link);
    WAIT_FOR(*file_text("opened"));
    CHECK_HAS(file_text("opened"), "/console.html|");
    CHECK(!strstr(file_text("opened"), "token"));
    CHECK_INT(stat(in_home("console.html"), &st), 0);
    CHECK_INT(st.st_mode & 0777, 0600);
    link[strcspn(link, "\n")] = '\0';
    CHECK_HAS(file_text("console.html"), link);
    setenv("PATH", "/nowhere", 1);
    CHECK_INT(RUN("console", "--open"), 4);
    CHECK_HAS(err, "Failed to spawn xdg-open: No such file or directory");
    CHECK_HAS(out, "/#token="); /* a person can still open it */
    rig_end();
}
