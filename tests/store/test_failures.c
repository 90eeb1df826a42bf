/* What can go wrong with the file, and what is said about it. */
#include "store_rig.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>

static struct pb_error open_fails(struct rig *rig)
{
    struct pb_error err = { 0 };
    struct store *s = NULL;

    CHECK(store_open(&s, &rig->o, &err) < 0);
    CHECK(!s);
    return err;
}

static void write_at(const char *path, long at, const void *bytes, size_t n)
{
    FILE *f = fopen(path, "r+b");

    CHECK(f && fseek(f, at, SEEK_SET) == 0);
    CHECK_INT(fwrite(bytes, 1, n, f), n);
    CHECK_INT(fclose(f), 0);
}

TEST(a_second_program_is_told_who_records_here)
{
    struct rig rig;
    struct pb_error err;
    char pid[32];

    rig_new(&rig);
    err = open_fails(&rig);
    CHECK_INT(err.code, PB_E_BUSY);
    snprintf(pid, sizeof pid, "(pid %d)", (int)getpid());
    CHECK_HAS(err.msg, pid);
    CHECK_HAS(err.msg, "--no-record");
    rig_close(&rig);
    rig_open(&rig);
    rig_done(&rig);
}

TEST(the_files_are_for_nobody_else)
{
    struct rig rig;

    rig_new(&rig);
    rig_put(&rig, 1, 1);
    CHECK_INT(rig_sync(&rig).code, 0);
    CHECK_INT(temp_mode(temp_path("records")), 0700);
    CHECK_INT(temp_mode(temp_path("records/records.db")), 0600);
    CHECK_INT(temp_mode(temp_path("records/records.db-wal")), 0600);
    CHECK_INT(temp_mode(temp_path("records/lock")), 0600);
    rig_done(&rig);
}

TEST(a_file_of_a_newer_patchbay_is_left_alone)
{
    struct rig rig;
    struct pb_error err;
    uint8_t newer[4] = { 0, 0, 0, 99 };

    rig_new(&rig);
    rig_close(&rig);
    write_at(temp_path("records/records.db"), 60, newer, sizeof newer); /* user_version */
    err = open_fails(&rig);
    CHECK_INT(err.code, PB_E_INVALID);
    CHECK_HAS(err.msg, "newer Patchbay (format 99");
    CHECK_HAS(err.msg, "records.db");
    rig_done(&rig);
}

TEST(a_file_of_an_older_format_is_left_alone)
{
    struct rig rig;
    struct pb_error err;
    uint8_t older[4] = { 0, 0, 0, 2 };

    rig_new(&rig);
    rig_close(&rig);
    write_at(temp_path("records/records.db"), 60, older, sizeof older); /* user_version */
    err = open_fails(&rig);
    CHECK_INT(err.code, PB_E_INVALID);
    CHECK_HAS(err.msg, "older Patchbay (format 2)");
    CHECK_HAS(err.msg, "move the file away");
    rig_done(&rig);
}

TEST(what_is_no_database_is_left_alone)
{
    struct rig rig;
    struct pb_error err;

    rig_new(&rig);
    rig_close(&rig);
    temp_write(temp_path("records/records.db"),
               "These are somebody's notes, and as they are longer than the head of a database "
               "they cannot be taken for an empty one by anybody who looks at them.\n");
    err = open_fails(&rig);
    CHECK_INT(err.code, PB_E_INVALID);
    CHECK_HAS(err.msg, "move it away and start again");
    CHECK_HAS(temp_read(temp_path("records/records.db")), "somebody's notes");
    rig_done(&rig);
}

TEST(a_damaged_file_is_said_to_be)
{
    struct rig rig;
    struct pb_error err;
    char zeros[4000];

    rig_new(&rig);
    rig_put(&rig, 1, 10);
    rig_close(&rig);
    memset(zeros, 0x5a, sizeof zeros);
    write_at(temp_path("records/records.db"), 100, zeros, sizeof zeros); /* the schema */
    err = open_fails(&rig);
    CHECK_INT(err.code, PB_E_INVALID);
    CHECK_HAS(err.msg, "damaged");
    CHECK_HAS(err.msg, "nothing is deleted");
    rig_done(&rig);
}

TEST(bytes_that_changed_on_the_disk_are_not_shown)
{
    const char *text = "{\"once\":\"findable-in-the-file\"}";
    char cid[CID_CHARS + 1];
    struct record r = rig_call(1);
    struct rig_object *o;
    struct rig rig;
    AUTO_BUF struct buf all = { 0 };
    FILE *f;
    char *at;
    int c;

    rig_new(&rig);
    r.result = rig_bytes(text);
    store_put(rig.s, &r);
    rig_close(&rig);
    f = fopen(temp_path("records/records.db"), "rb");
    CHECK(f);
    while ((c = fgetc(f)) != EOF)
        buf_byte(&all, (char)c);
    fclose(f);
    at = memmem(all.p, all.n, text, strlen(text));
    CHECK(at != NULL);
    write_at(temp_path("records/records.db"), at - all.p + 10, "F", 1);
    rig_open(&rig);
    cid_of(span_of(text), cid);
    o = rig_object(&rig, cid);
    CHECK_INT(o->err.code, PB_E_INVALID);
    CHECK_HAS(o->err.msg, cid);
    CHECK_INT(o->bytes.n, 0);
    rig_done(&rig);
}

TEST(a_directory_that_cannot_be_written_is_named)
{
    struct rig rig;
    struct pb_error err;

    rig_init(&rig);
    CHECK_INT(mkdir(temp_path("records"), 0500), 0);
    if (geteuid() == 0) { /* whom no mode keeps out */
        CHECK_INT(chmod(temp_root(), 0755), 0);
        CHECK_INT(chown(temp_path("records"), 65534, 65534), 0);
        CHECK_INT(seteuid(65534), 0);
    }
    err = open_fails(&rig);
    CHECK_INT(err.code, PB_E_SYSTEM);
    CHECK_INT(err.sys, EACCES);
    CHECK_HAS(err.msg, "records");
    if (getuid() == 0)
        CHECK_INT(seteuid(0), 0);
    rig_done(&rig);
}

static void refuse_instead_of_killing(void)
{
    struct sigaction ignore = { .sa_handler = SIG_IGN };

    CHECK_INT(sigaction(SIGXFSZ, &ignore, NULL), 0);
}

static void limit_files(rlim_t bytes)
{
    struct rlimit now;

    CHECK_INT(getrlimit(RLIMIT_FSIZE, &now), 0);
    now.rlim_cur = bytes;
    CHECK_INT(setrlimit(RLIMIT_FSIZE, &now), 0);
}

static void put_much(struct rig *rig, unsigned from, unsigned n)
{
    for (unsigned i = from; i < from + n; i++) {
        struct record r = rig_call(i);
        char text[600];

        for (size_t k = 0; k < sizeof text - 1; k++)
            text[k] = (char)('a' + (i * 7919 + k * k * 31 + k) % 26);
        text[sizeof text - 1] = '\0';
        snprintf(text, sizeof text - 400, "%u", i);
        r.result = rig_bytes(text);
        store_put(rig->s, &r);
    }
}

TEST(a_full_disk_is_told_once_and_writing_goes_on_when_there_is_room)
{
    struct rig_page *p;
    struct pb_error err;
    struct rig rig;

    refuse_instead_of_killing();
    rig_new(&rig);
    put_much(&rig, 1, 100);
    CHECK_INT(rig_sync(&rig).code, 0);
    limit_files(200000);
    put_much(&rig, 101, 900);
    err = rig_sync(&rig);
    CHECK_INT(err.code, PB_E_SYSTEM);
    CHECK_HAS(err.msg, "records.db");
    CHECK_INT(rig.changes, 1);
    CHECK_INT(rig.change.code, PB_E_SYSTEM);
    CHECK_INT(rig_sync(&rig).code, PB_E_SYSTEM);
    CHECK_INT(rig.changes, 1);
    CHECK_INT(rig_find(&rig, (struct call_query){ 0 })->total, 100); /* what is there is shown */
    CHECK(!store_is_full(rig.s));
    put_much(&rig, 1001, 20000); /* more than may wait */
    CHECK(!store_is_full(rig.s));
    CHECK(rig_stats(&rig).lost > 0);
    limit_files(RLIM_INFINITY);
    while (rig.change.code)
        loop_turn(rig.loop, true);
    CHECK_INT(rig.changes, 2);
    CHECK_INT(rig_sync(&rig).code, 0);
    CHECK_INT(rig_stats(&rig).calls + rig_stats(&rig).lost, 21000);
    CHECK(rig_stats(&rig).calls >= 1000);
    /* What was handed over only as what differs is whole, though it was tried more than once. */
    p = rig_find(&rig, (struct call_query){ .limit = STORE_PAGE_MAX, .before = 1050 });
    CHECK_INT(p->n, STORE_PAGE_MAX);
    for (size_t i = 0; i < p->n; i++) {
        CHECK_STR(p->v[i].r.tool, "read");
        CHECK_STR(p->v[i].r.status, "success");
        CHECK_INT(p->v[i].arguments_bytes, 13);
        CHECK(p->v[i].result_bytes > 0);
    }
    rig_done(&rig);
}

TEST(words_are_searched_for_on_a_full_disk)
{
    struct rig rig;

    refuse_instead_of_killing();
    rig_new(&rig);
    rig_put(&rig, 1, 10);
    CHECK_INT(rig_find(&rig, (struct call_query){ .text = "hello" })->n, 10);
    limit_files(200000);
    put_much(&rig, 11, 1000);
    CHECK_INT(rig_sync(&rig).code, PB_E_SYSTEM);
    CHECK_INT(rig_find(&rig, (struct call_query){ .text = "hello" })->n, 10);
    limit_files(RLIM_INFINITY);
    rig_done(&rig);
}

/* There is room for the order to forget, but not for what it costs. */
TEST(what_could_not_be_forgotten_is_not_said_to_be)
{
    struct rig_wait w = { 0 };
    struct stat st;
    struct rig rig;

    refuse_instead_of_killing();
    rig_new(&rig);
    put_much(&rig, 1, 600);
    CHECK_INT(rig_find(&rig, (struct call_query){ .text = "read" })->n, 0);
    CHECK_INT(stat(temp_path("records/records.db-wal"), &st), 0);
    limit_files((rlim_t)st.st_size + 40000);
    store_forget(rig.s, 0, rig_on_done, &w);
    CHECK_INT(rig_sync(&rig).code, 0);
    /* it has been tried once when words have been looked for */
    CHECK_INT(rig_find(&rig, (struct call_query){ .text = "read" })->n, 0);
    CHECK(!w.done);
    CHECK_INT(rig_stats(&rig).calls, 600);
    limit_files(RLIM_INFINITY);
    store_tune(rig.s, &rig.o); /* it need not wait for a minute */
    rig_turn_until(&rig, &w.done);
    CHECK_INT(w.err.code, 0);
    CHECK_INT(rig_stats(&rig).calls, 0);
    rig_done(&rig);
}

TEST(a_store_on_a_full_disk_can_be_closed)
{
    struct rig rig;

    refuse_instead_of_killing();
    rig_new(&rig);
    put_much(&rig, 1, 10);
    CHECK_INT(rig_sync(&rig).code, 0);
    limit_files(200000);
    put_much(&rig, 11, 1000);
    CHECK_INT(rig_sync(&rig).code, PB_E_SYSTEM);
    rig_close(&rig);
    limit_files(RLIM_INFINITY);
    rig_open(&rig);
    CHECK(rig_find(&rig, (struct call_query){ 0 })->total >= 10);
    rig_done(&rig);
}
