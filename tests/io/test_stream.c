#include "io/io.h"
#include "manual_clock.h"
#include "tap.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pty.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <termios.h>

/* A stream and what it told. */
struct end {
    struct pb_loop *loop;
    struct stream *stream;
    struct buf in;
    size_t reads, largest;
    int eofs, errors, drains, flushes;
    bool flushed, closed;
    struct pb_error err;
    struct end *echo_to;
};

static void on_data(void *ctx, struct span bytes)
{
    struct end *e = ctx;
    struct pb_error err;

    e->reads++;
    e->largest = bytes.n > e->largest ? bytes.n : e->largest;
    buf_add_span(&e->in, bytes);
    if (e->echo_to)
        CHECK_INT(stream_write(e->echo_to->stream, &bytes, 1, &err), 0);
}

static void on_eof(void *ctx) { ((struct end *)ctx)->eofs++; }

static void on_error(void *ctx, const struct pb_error *err)
{
    struct end *e = ctx;

    e->errors++;
    e->err = *err;
}

static void on_drain(void *ctx) { ((struct end *)ctx)->drains++; }

static void on_flushed(void *ctx, bool flushed)
{
    struct end *e = ctx;

    e->flushes++;
    e->flushed = flushed;
}

static void on_closed(void *ctx) { ((struct end *)ctx)->closed = true; }

static const struct stream_events events = { on_data, on_eof, on_error, on_drain };

static void open_end(struct end *e, struct pb_loop *l, int fd, bool keep)
{
    struct pb_error err;

    *e = (struct end){ .loop = l };
    if (stream_open(&e->stream, l, fd, keep, &events, e, &err) < 0)
        TAP_FAIL("%s", err.msg);
}

static void close_end(struct end *e)
{
    stream_close(e->stream, on_closed, e);
    while (!e->closed)
        loop_turn(e->loop, true);
    buf_done(&e->in);
}

static int put(struct end *e, const char *text)
{
    struct span part = span_of(text);

    return stream_write(e->stream, &part, 1, NULL);
}

#define TURN_UNTIL(l, cond)       \
    do {                          \
        while (!(cond))           \
            loop_turn((l), true); \
    } while (0)

static char *pattern(size_t n)
{
    char *p = malloc(n);

    for (size_t i = 0; i < n; i++)
        p[i] = (char)(i * 7 + i / 251);
    return p;
}

enum kind { PIPE, SOCKET, TERMINAL };

/* [0] is read from, [1] is written to. */
static void open_pair(enum kind kind, int fd[2])
{
    struct termios raw;

    if (kind == PIPE)
        CHECK_INT(pipe2(fd, O_CLOEXEC), 0);
    if (kind == SOCKET)
        CHECK_INT(socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, fd), 0);
    if (kind == TERMINAL) {
        CHECK_INT(openpty(&fd[0], &fd[1], NULL, NULL, NULL), 0);
        tcgetattr(fd[1], &raw);
        cfmakeraw(&raw);
        tcsetattr(fd[1], TCSANOW, &raw);
    }
}

TEST(bytes_arrive_over_every_kind_that_can_be_polled)
{
    static const size_t sizes[] = { 1, 4096, 65536, 65537, 3000000 };

    for (int kind = PIPE; kind <= TERMINAL; kind++) {
        for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
            struct pb_loop *l = loop_new(NULL);
            char *text = pattern(sizes[i]);
            struct span parts[3] = { { text, sizes[i] / 3 },
                                     { text + sizes[i] / 3, 0 },
                                     { text + sizes[i] / 3, sizes[i] - sizes[i] / 3 } };
            struct end in, out;
            int fd[2];

            open_pair(kind, fd);
            open_end(&in, l, fd[0], false);
            open_end(&out, l, fd[1], false);
            CHECK_INT(stream_write(out.stream, parts, 3, NULL), 0);
            CHECK_INT(in.reads, 0);
            stream_read(in.stream, true);
            TURN_UNTIL(l, in.in.n >= sizes[i]);
            CHECK_INT(in.in.n, sizes[i]);
            CHECK(!memcmp(in.in.p, text, sizes[i]));
            stream_shutdown(out.stream, 0, on_flushed, &out);
            TURN_UNTIL(l, out.flushes);
            CHECK(out.flushed);
            if (kind != TERMINAL)
                TURN_UNTIL(l, in.eofs);
            close_end(&out);
            if (kind == TERMINAL)
                TURN_UNTIL(l, in.eofs); /* a hang-up is an end, not an error */
            CHECK_INT(in.errors, 0);
            close_end(&in);
            loop_free(l);
            free(text);
        }
    }
}

TEST(plain_files_and_the_null_device_work_like_pipes)
{
    enum { N = 500000 };
    char path[] = "/tmp/patchbay-stream-XXXXXX";
    int fd = mkstemp(path), null = open("/dev/null", O_RDWR | O_CLOEXEC);
    struct pb_loop *l = loop_new(NULL);
    char *text = pattern(N);
    struct span parts[2] = { { text, 1000 }, { text + 1000, N - 1000 } };
    struct end out, in, nul;

    unlink(path);
    open_end(&out, l, fd, true);
    CHECK_INT(stream_write(out.stream, parts, 1, NULL), 0);
    CHECK_INT(stream_write(out.stream, parts + 1, 1, NULL), 0);
    stream_shutdown(out.stream, 0, on_flushed, &out);
    CHECK_INT(stream_write(out.stream, parts, 1, NULL), -PB_E_CLOSED);
    TURN_UNTIL(l, out.flushes);
    CHECK(out.flushed);
    close_end(&out);

    CHECK_INT(lseek(fd, 0, SEEK_SET), 0); /* kept: it is still ours */
    open_end(&in, l, fd, true);
    stream_read(in.stream, true);
    CHECK_INT(in.reads, 0);
    TURN_UNTIL(l, in.reads);
    stream_read(in.stream, false);
    for (int i = 0; i < 5; i++)
        loop_turn(l, false);
    CHECK_INT(in.reads, 1);
    stream_read(in.stream, true);
    TURN_UNTIL(l, in.eofs);
    CHECK_INT(in.in.n, N);
    CHECK(!memcmp(in.in.p, text, N));
    close_end(&in);
    close(fd);

    open_end(&nul, l, null, false);
    CHECK_INT(stream_write(nul.stream, parts, 2, NULL), 0);
    stream_read(nul.stream, true);
    TURN_UNTIL(l, nul.eofs);
    stream_shutdown(nul.stream, 0, on_flushed, &nul);
    TURN_UNTIL(l, nul.flushes);
    CHECK(nul.flushed);
    close_end(&nul);
    loop_free(l);
    free(text);
}

TEST(a_file_that_is_closed_while_a_worker_uses_it_is_let_go_afterwards)
{
    for (int i = 0; i < 20; i++) {
        struct pb_loop *l = loop_new(NULL);
        int fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
        struct end e;

        open_end(&e, l, fd, false);
        stream_read(e.stream, true);
        loop_turn(l, false); /* the job is under way */
        stream_close(e.stream, on_closed, &e);
        loop_free(l);
        CHECK(e.closed);
        CHECK_INT(e.reads, 0);
        CHECK_INT(fcntl(fd, F_GETFD), -1);
    }
}

TEST(a_folder_cannot_be_read)
{
    struct pb_loop *l = loop_new(NULL);
    struct end e;

    open_end(&e, l, open("/tmp", O_RDONLY | O_CLOEXEC), false);
    stream_read(e.stream, true);
    TURN_UNTIL(l, e.errors);
    CHECK_INT(e.err.code, PB_E_SYSTEM);
    CHECK_INT(e.err.sys, EISDIR);
    CHECK_INT(e.eofs, 0);
    close_end(&e);
    loop_free(l);
}

TEST(a_bad_descriptor_is_refused)
{
    struct pb_loop *l = loop_new(NULL);
    struct stream *s;
    struct pb_error err;

    CHECK_INT(stream_open(&s, l, 777, false, &events, NULL, &err), -PB_E_SYSTEM);
    CHECK_HAS(err.msg, "777");
    loop_free(l);
}

TEST(a_slow_reader_fills_the_queue_to_its_marks)
{
    enum { BLOCK = 65536 };
    static char block[BLOCK];
    struct span part = { block, BLOCK };
    struct pb_loop *l = loop_new(NULL);
    struct end in, out;
    struct pb_error err;
    int fd[2];

    open_pair(PIPE, fd);
    open_end(&in, l, fd[0], false);
    open_end(&out, l, fd[1], false);
    while (!stream_full(out.stream)) {
        CHECK(stream_queued(out.stream) <= STREAM_QUEUE_HIGH);
        CHECK_INT(stream_write(out.stream, &part, 1, &err), 0);
    }
    CHECK(stream_queued(out.stream) <= STREAM_QUEUE_HIGH + BLOCK);
    loop_turn(l, false);
    CHECK_INT(out.drains, 0);

    /* the hard mark: exactly fits, and one more byte does not */
    stream_set_hard_limit(out.stream, stream_queued(out.stream) + 10);
    part.n = 11;
    CHECK_INT(stream_write(out.stream, &part, 1, &err), -PB_E_LIMIT);
    CHECK_HAS(err.msg, "too slow");
    part.n = BLOCK;
    CHECK_INT(stream_write(out.stream, &part, 1, &err), -PB_E_LIMIT);
    part.n = 10;
    CHECK_INT(stream_write(out.stream, &part, 1, &err), 0);
    part.n = 1;
    CHECK_INT(stream_write(out.stream, &part, 1, &err), -PB_E_LIMIT);

    stream_read(in.stream, true);
    TURN_UNTIL(l, out.drains);
    CHECK_INT(out.drains, 1);
    CHECK(!stream_full(out.stream));
    TURN_UNTIL(l, stream_queued(out.stream) == 0);
    CHECK_INT(out.drains, 1);
    CHECK_INT(out.errors, 0);
    close_end(&out);
    close_end(&in);
    loop_free(l);
}

TEST(the_largest_message_fits_and_arrives)
{
    enum { N = 48 << 20 };
    struct pb_loop *l = loop_new(NULL);
    char *text = pattern(N);
    struct span part = { text, N };
    struct end in, out;
    int fd[2];

    open_pair(PIPE, fd);
    fcntl(fd[1], F_SETPIPE_SZ, 1048576);
    open_end(&in, l, fd[0], false);
    open_end(&out, l, fd[1], false);
    CHECK_INT(stream_write(out.stream, &part, 1, NULL), 0);
    stream_read(in.stream, true);
    TURN_UNTIL(l, in.in.n == N);
    CHECK(!memcmp(in.in.p, text, N));
    CHECK(in.largest > STREAM_READ_BYTES); /* reads grew under load */
    CHECK(in.largest <= STREAM_READ_MAX);
    close_end(&out);
    close_end(&in);
    loop_free(l);
    free(text);
}

/* Half of the time of a long message was spent on changing processes. But a user may have only so
 * many pages in pipes. */
TEST(a_pipe_holds_more_while_a_long_message_goes_through_it)
{
    struct pb_loop *l = loop_new(NULL);
    const size_t size = 4 * (size_t)STREAM_READ_MAX;
    struct end from, to;
    struct span part;
    int fd[2];

    open_pair(PIPE, fd);
    open_end(&from, l, fd[0], false);
    open_end(&to, l, fd[1], false);
    part = span_make(pattern(size), size);
    CHECK_INT(put(&to, "short"), 0);
    CHECK_INT(fcntl(fd[1], F_GETPIPE_SZ), STREAM_READ_BYTES);
    CHECK_INT(stream_write(to.stream, &part, 1, NULL), 0);
    CHECK_INT(fcntl(fd[1], F_GETPIPE_SZ), STREAM_READ_MAX);
    stream_read(from.stream, true);
    TURN_UNTIL(l, from.in.n == 5 + size);
    CHECK(memcmp(from.in.p + 5, part.p, size) == 0);
    CHECK_INT(put(&to, "short"), 0);
    CHECK_INT(fcntl(fd[1], F_GETPIPE_SZ), STREAM_READ_BYTES);
    TURN_UNTIL(l, from.in.n == 10 + size);
    free((char *)part.p);
    close_end(&from);
    close_end(&to);
    loop_free(l);
}

TEST(a_reader_that_went_away_is_an_error_and_no_signal)
{
    for (int kind = PIPE; kind <= SOCKET; kind++) {
        struct pb_loop *l = loop_new(NULL);
        struct sigaction now;
        sigset_t pending;
        struct end out;
        int fd[2];

        open_pair(kind, fd);
        open_end(&out, l, fd[1], false);
        close(fd[0]);
        CHECK_INT(put(&out, "x"), -PB_E_CLOSED);
        CHECK_INT(out.errors, 0); /* never inside the call */
        loop_turn(l, true);
        CHECK_INT(out.errors, 1);
        CHECK_INT(out.err.code, PB_E_CLOSED);
        CHECK_INT(put(&out, "y"), -PB_E_CLOSED);
        loop_turn(l, false);
        CHECK_INT(out.errors, 1);
        stream_shutdown(out.stream, 0, on_flushed, &out);
        TURN_UNTIL(l, out.flushes);
        CHECK(!out.flushed);
        close_end(&out);
        loop_free(l);
        sigaction(SIGPIPE, NULL, &now);
        CHECK(now.sa_handler == SIG_DFL); /* the host's business */
        sigpending(&pending);
        CHECK(!sigismember(&pending, SIGPIPE));
    }
}

/* As on a kernel that is older than the flag we ask for. */
static void forget_pwritev2(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_pwritev2, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | ENOSYS),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = { ARRAY_LEN(code), code };

    CHECK_INT(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0), 0);
    CHECK_INT(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program), 0);
}

static void on_sigpipe(int signo)
{
    (void)signo;
    TAP_FAIL("SIGPIPE was delivered");
}

TEST(an_old_kernel_raises_no_signal_either)
{
    struct sigaction sa = { .sa_handler = on_sigpipe };
    sigset_t block, pending;

    forget_pwritev2();
    sigaction(SIGPIPE, &sa, NULL);
    for (int blocked = 0; blocked < 2; blocked++) {
        struct pb_loop *l = loop_new(NULL);
        struct end in, out;
        int fd[2];

        sigemptyset(&block);
        if (blocked)
            sigaddset(&block, SIGPIPE);
        sigprocmask(SIG_SETMASK, &block, NULL);
        open_pair(PIPE, fd);
        open_end(&in, l, fd[0], false);
        open_end(&out, l, fd[1], false);
        CHECK_INT(put(&out, "works"), 0);
        stream_read(in.stream, true);
        TURN_UNTIL(l, in.reads);
        CHECK_SPAN(buf_span(&in.in), "works");
        close_end(&in);
        CHECK_INT(put(&out, "x"), -PB_E_CLOSED);
        sigpending(&pending);
        CHECK(!sigismember(&pending, SIGPIPE));
        close_end(&out);
        loop_free(l);
    }
}

TEST(a_reader_that_goes_away_while_bytes_wait_is_noticed)
{
    for (int kind = PIPE; kind <= SOCKET; kind++) {
        struct pb_loop *l = loop_new(NULL);
        char *text = pattern(1 << 20);
        struct span part = { text, 1 << 20 };
        struct end out;
        int fd[2];

        open_pair(kind, fd);
        open_end(&out, l, fd[1], false);
        CHECK_INT(stream_write(out.stream, &part, 1, NULL), 0);
        stream_shutdown(out.stream, 0, on_flushed, &out);
        loop_turn(l, false);
        CHECK_INT(out.errors, 0);
        close(fd[0]);
        TURN_UNTIL(l, out.errors && out.flushes);
        CHECK_INT(out.err.code, PB_E_CLOSED);
        CHECK(!out.flushed);
        CHECK_INT(stream_queued(out.stream), 0);
        close_end(&out);
        loop_free(l);
        free(text);
    }
}

TEST(a_shutdown_flushes_or_gives_up_in_time)
{
    struct manual_clock clock;
    char *text = pattern(1 << 20);
    struct span part = { text, 1 << 20 };
    struct pb_loop *l;
    struct end in, out;
    int fd[2];

    manual_clock_init(&clock);
    l = loop_new(&clock.clock);
    open_pair(PIPE, fd);
    open_end(&in, l, fd[0], false);
    open_end(&out, l, fd[1], false);
    CHECK_INT(stream_write(out.stream, &part, 1, NULL), 0);
    stream_shutdown(out.stream, 2000, on_flushed, &out);
    loop_advance(l, 1999);
    CHECK_INT(out.flushes, 0);
    loop_advance(l, 1);
    CHECK_INT(out.flushes, 1);
    CHECK(!out.flushed);
    close_end(&out);
    close_end(&in);

    open_pair(PIPE, fd);
    open_end(&in, l, fd[0], false);
    open_end(&out, l, fd[1], false);
    CHECK_INT(stream_write(out.stream, &part, 1, NULL), 0);
    stream_shutdown(out.stream, 2000, on_flushed, &out);
    stream_read(in.stream, true);
    TURN_UNTIL(l, in.eofs);
    TURN_UNTIL(l, out.flushes);
    CHECK(out.flushed);
    CHECK_INT(in.in.n, 1 << 20);
    loop_advance(l, 5000);
    CHECK_INT(out.flushes, 1);
    close_end(&out);
    close_end(&in);
    loop_free(l);
    free(text);
}

TEST(the_other_direction_of_a_socket_goes_on_after_a_shutdown)
{
    struct pb_loop *l = loop_new(NULL);
    struct end a, b;
    int fd[2];

    open_pair(SOCKET, fd);
    open_end(&a, l, fd[0], false);
    open_end(&b, l, fd[1], false);
    stream_read(a.stream, true);
    stream_read(b.stream, true);
    stream_shutdown(a.stream, 0, NULL, NULL);
    TURN_UNTIL(l, b.eofs);
    CHECK_INT(put(&b, "still here"), 0);
    TURN_UNTIL(l, a.in.n);
    CHECK_SPAN(buf_span(&a.in), "still here");
    close_end(&a);
    close_end(&b);
    loop_free(l);
}

TEST(reading_can_be_paused)
{
    struct pb_loop *l = loop_new(NULL);
    struct end in;
    int fd[2];

    open_pair(PIPE, fd);
    open_end(&in, l, fd[0], false);
    CHECK_INT(write(fd[1], "one", 3), 3);
    loop_turn(l, false);
    CHECK_INT(in.reads, 0);
    stream_read(in.stream, true);
    TURN_UNTIL(l, in.reads);
    stream_read(in.stream, false);
    CHECK_INT(write(fd[1], "two", 3), 3);
    loop_run(l); /* a paused stream keeps nothing alive */
    CHECK_INT(in.reads, 1);
    stream_read(in.stream, true);
    TURN_UNTIL(l, in.reads == 2);
    close(fd[1]);
    TURN_UNTIL(l, in.eofs);
    loop_run(l); /* nor does one at its end */
    CHECK_INT(in.eofs, 1);
    close_end(&in);
    loop_free(l);
}

static void close_in_data(void *ctx, struct span bytes)
{
    struct end *e = ctx;

    on_data(e, bytes);
    stream_close(e->stream, on_closed, e);
    stream_close(e->stream, on_closed, e);
}

TEST(a_stream_may_be_closed_in_its_own_callback)
{
    static const struct stream_events closing = { close_in_data, on_eof, on_error, on_drain };
    struct pb_loop *l = loop_new(NULL);
    struct end e = { .loop = l };
    int fd[2];

    open_pair(PIPE, fd);
    CHECK_INT(stream_open(&e.stream, l, fd[0], false, &closing, &e, NULL), 0);
    CHECK_INT(write(fd[1], "one", 3), 3);
    close(fd[1]);
    stream_read(e.stream, true);
    loop_run(l);
    CHECK(e.closed);
    CHECK_INT(e.eofs, 0);
    CHECK_INT(fcntl(fd[0], F_GETFD), -1);
    buf_done(&e.in);
    loop_free(l);
}

TEST(a_closed_stream_tells_nothing_more)
{
    struct pb_loop *l = loop_new(NULL);
    struct end out;
    int fd[2];

    open_pair(PIPE, fd);
    open_end(&out, l, fd[1], false);
    close(fd[0]);
    CHECK_INT(put(&out, "x"), -PB_E_CLOSED);
    stream_shutdown(out.stream, 10, on_flushed, &out);
    close_end(&out);
    CHECK_INT(out.errors, 0);
    CHECK_INT(out.flushes, 0);
    loop_free(l);
}

TEST(a_kept_descriptor_gets_its_blocking_mode_back)
{
    for (int kind = PIPE; kind <= SOCKET; kind++) {
        struct pb_loop *l = loop_new(NULL);
        struct end a, b;
        int fd[2], was;

        open_pair(kind, fd);
        was = fcntl(fd[0], F_GETFL);
        open_end(&a, l, fd[0], true);
        CHECK(fcntl(fd[0], F_GETFL) & O_NONBLOCK);
        close_end(&a);
        CHECK_INT(fcntl(fd[0], F_GETFL), was);

        fcntl(fd[0], F_SETFL, was | O_NONBLOCK); /* the host's choice stays */
        open_end(&b, l, fd[0], true);
        close_end(&b);
        CHECK(fcntl(fd[0], F_GETFL) & O_NONBLOCK);
        close(fd[0]);
        close(fd[1]);
        loop_free(l);
    }
}

TEST(two_streams_over_one_open_file_give_the_mode_back_once)
{
    struct pb_loop *l = loop_new(NULL);
    struct end a, b;
    int fd[2], again;

    open_pair(SOCKET, fd);
    again = dup(fd[0]);
    open_end(&a, l, fd[0], true);
    open_end(&b, l, again, true);
    close_end(&a);
    CHECK(fcntl(again, F_GETFL) & O_NONBLOCK); /* b still needs it */
    close_end(&b);
    CHECK(!(fcntl(again, F_GETFL) & O_NONBLOCK));
    close(fd[0]);
    close(fd[1]);
    close(again);
    loop_free(l);
}

TEST(one_descriptor_can_be_input_and_output)
{
    struct pb_loop *l = loop_new(NULL);
    char reply[8] = "";
    struct end in, out;
    int fd[2];

    open_pair(SOCKET, fd);
    open_end(&in, l, fd[0], true);
    open_end(&out, l, fd[0], true);
    in.echo_to = &out;
    stream_read(in.stream, true);
    CHECK_INT(write(fd[1], "ping", 4), 4);
    TURN_UNTIL(l, in.reads);
    CHECK_INT(read(fd[1], reply, sizeof reply), 4);
    CHECK_STR(reply, "ping");
    close_end(&in);
    close_end(&out);
    CHECK(!(fcntl(fd[0], F_GETFL) & O_NONBLOCK));
    close(fd[0]);
    close(fd[1]);
    loop_free(l);
}

TEST(a_shared_terminal_is_left_alone)
{
    struct pb_loop *l = loop_new(NULL);
    struct end in, out;
    int fd[2], other;

    open_pair(TERMINAL, fd);
    other = dup(fd[1]); /* the shell's */
    open_end(&in, l, fd[1], true);
    open_end(&out, l, fd[1], true);
    CHECK(!(fcntl(other, F_GETFL) & O_NONBLOCK));
    stream_read(in.stream, true);
    CHECK_INT(write(fd[0], "typed", 5), 5);
    TURN_UNTIL(l, in.reads);
    CHECK_SPAN(buf_span(&in.in), "typed");
    close_end(&in);
    close_end(&out);
    CHECK(!(fcntl(other, F_GETFL) & O_NONBLOCK));
    close(fd[0]);
    close(fd[1]);
    close(other);
    loop_free(l);
}

static void write_many(void *ctx)
{
    struct end *out = ctx;

    for (int i = 0; i < 100; i++)
        CHECK_INT(put(out, "0123456789"), 0);
}

TEST(small_writes_of_one_turn_leave_together)
{
    struct pb_loop *l = loop_new(NULL);
    struct end in, out;
    int fd[2];

    /* a packet per write: so the writes can be counted */
    CHECK_INT(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, fd), 0);
    open_end(&in, l, fd[0], false);
    open_end(&out, l, fd[1], false);
    loop_defer(l, write_many, &out);
    stream_read(in.stream, true);
    TURN_UNTIL(l, in.in.n == 1000);
    CHECK_INT(in.reads, 2); /* the first at once, the others at the end */
    CHECK_INT(in.largest, 990);
    close_end(&in);
    close_end(&out);
    loop_free(l);
}

TEST(outside_a_turn_a_write_leaves_at_once)
{
    struct pb_loop *l = loop_new(NULL);
    char got[8] = "";
    struct end out;
    int fd[2];

    open_pair(PIPE, fd);
    open_end(&out, l, fd[1], false);
    CHECK_INT(put(&out, "a"), 0);
    CHECK_INT(put(&out, "b"), 0);
    CHECK_INT(read(fd[0], got, sizeof got), 2);
    CHECK_STR(got, "ab");
    CHECK_INT(stream_queued(out.stream), 0);
    close(fd[0]);
    close_end(&out);
    loop_free(l);
}

TEST(an_echo_allocates_nothing_per_message)
{
    struct pb_loop *l = loop_new(NULL);
    struct end in, out;
    int fd[2], back[2];
    uint64_t before = 0;
    char got[64];

    open_pair(PIPE, fd);
    open_pair(PIPE, back);
    open_end(&in, l, fd[0], false);
    open_end(&out, l, back[1], false);
    in.echo_to = &out;
    buf_reserve(&in.in, 100000);
    stream_read(in.stream, true);
    for (int i = 0; i < 100; i++) {
        if (i == 10)
            before = mem_count();
        CHECK_INT(write(fd[1], "message\n", 8), 8);
        loop_turn(l, true);
        CHECK_INT(read(back[0], got, sizeof got), 8);
    }
    CHECK_INT(mem_count() - before, 0);
    close(fd[1]);
    close(back[0]);
    close_end(&in);
    close_end(&out);
    loop_free(l);
}

TEST(many_parts_are_written_in_order)
{
    enum { PARTS = 1000 };
    struct pb_loop *l = loop_new(NULL);
    static char digits[PARTS][4];
    struct span parts[PARTS];
    struct end in, out;
    int fd[2];

    for (int i = 0; i < PARTS; i++) {
        snprintf(digits[i], sizeof digits[i], "%03d", i);
        parts[i] = span_make(digits[i], 3);
    }
    open_pair(PIPE, fd);
    open_end(&in, l, fd[0], false);
    open_end(&out, l, fd[1], false);
    for (int i = 0; i < 100; i++)
        CHECK_INT(stream_write(out.stream, parts, PARTS, NULL), 0);
    stream_read(in.stream, true);
    TURN_UNTIL(l, in.in.n == 100 * PARTS * 3);
    for (size_t i = 0; i < 100 * PARTS; i++)
        CHECK(!memcmp(in.in.p + i * 3, digits[i % PARTS], 3));
    close_end(&in);
    close_end(&out);
    loop_free(l);
}
