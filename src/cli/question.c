#include "question.h"
#include "face/relay/relay.h"
#include "reach.h"
#include "show.h"
#include "signature.h"
#include "talk.h"
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <termios.h>

enum { LINE_MAX_BYTES = 65536, ASKER_MAX = 256 };

struct asking {
    struct pb_question *question;
    bool of_hub; /* it may be the hub's */
    char *params;
    char asker[ASKER_MAX]; /* "server 'x'", or "the server" */
    bool counted;          /* in open_here */
};

static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

/* Questions come on a thread of the client's. */
static struct {
    pthread_mutex_t lock;
    char name[ASKER_MAX];
} asker = { PTHREAD_MUTEX_INITIALIZER, "the server" };

void question_from(const char *server)
{
    pthread_mutex_lock(&asker.lock);
    snprintf(asker.name, sizeof asker.name, *server ? "server '%s'" : "the server", server);
    text_make_printable(asker.name);
    pthread_mutex_unlock(&asker.lock);
}

static _Atomic(struct pb_client *) hub;
static atomic_bool hub_has_others;
static atomic_int open_here;

/* Those that somebody else may answer: each must be given back in the end. */
static struct {
    pthread_mutex_t lock;
    struct pb_question *v[MCP_QUESTIONS_MAX];
    size_t n;
} left_open = { .lock = PTHREAD_MUTEX_INITIALIZER };

static void leave_open(struct pb_question *question)
{
    bool kept;

    pthread_mutex_lock(&left_open.lock);
    kept = left_open.n < ARRAY_LEN(left_open.v);
    if (kept)
        left_open.v[left_open.n++] = question;
    pthread_mutex_unlock(&left_open.lock);
    if (!kept) /* one call has not so many at a time: others have long been over */
        pb_question_refuse(question, -32603, "too many questions are left open");
}

void question_hub_gone(void)
{
    pthread_mutex_lock(&left_open.lock);
    while (left_open.n)
        pb_question_refuse(left_open.v[--left_open.n], -32603, "nobody answers it here");
    pthread_mutex_unlock(&left_open.lock);
}

/* Held while it is asked, so that it is not freed meanwhile. */
static pthread_mutex_t hub_in_use = PTHREAD_MUTEX_INITIALIZER;

void question_hub(struct pb_client *client, bool others)
{
    pthread_mutex_lock(&hub_in_use);
    atomic_store(&hub_has_others, others);
    atomic_store(&hub, client);
    pthread_mutex_unlock(&hub_in_use);
}

static struct pb_result *ask_hub(const char *method, const char *params)
{
    struct pb_result *result = NULL;

    pthread_mutex_lock(&hub_in_use);
    if (atomic_load(&hub) &&
        pb_client_request(atomic_load(&hub), method, params, NULL, &result, NULL) < 0)
        result = NULL;
    pthread_mutex_unlock(&hub_in_use);
    return result;
}

bool question_is_open(void) { return atomic_load(&open_here) > 0; }

/* ---- what is typed unseen ------------------------------------------------------------------- */

/* Signals that end the program, mostly; what they did before is in `caught_before`. */
static const int caught[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM };
static struct sigaction caught_before[ARRAY_LEN(caught)];

static struct termios seen;       /* how the terminal was before a secret was asked for */
static atomic_int hidden_fd = -1; /* who takes it back shows what is typed */

/* Also at the program's end and in a signal handler. */
static void show_typing(void)
{
    int fd = atomic_exchange(&hidden_fd, -1);

    if (fd >= 0)
        tcsetattr(fd, TCSANOW, &seen);
}

/* Then it goes on as if nobody had caught it. */
static void on_signal(int signo)
{
    int kept = errno;

    show_typing();
    for (size_t i = 0; i < ARRAY_LEN(caught); i++) {
        if (caught[i] != signo)
            continue;
        if (caught_before[i].sa_handler == SIG_DFL) {
            sigaction(signo, &caught_before[i], NULL);
            raise(signo); /* it comes when this handler has ended */
        } else {
            caught_before[i].sa_handler(signo);
        }
    }
    errno = kept;
}

static void catch_signals(void)
{
    struct sigaction act = { .sa_handler = on_signal, .sa_flags = SA_RESTART };

    for (size_t i = 0; i < ARRAY_LEN(caught); i++)
        if (sigaction(caught[i], NULL, &caught_before[i]) == 0 &&
            caught_before[i].sa_handler != SIG_IGN)
            sigaction(caught[i], &act, NULL);
}

static void release_signals(void)
{
    for (size_t i = 0; i < ARRAY_LEN(caught); i++)
        sigaction(caught[i], &caught_before[i], NULL);
}

static bool hide_typing(int fd)
{
    static bool at_exit;
    struct termios hidden;

    if (tcgetattr(fd, &seen) < 0)
        return false;
    if (!at_exit)
        at_exit = atexit(show_typing) == 0;
    catch_signals();
    hidden = seen;
    hidden.c_lflag &= ~(tcflag_t)ECHO;
    hidden.c_lflag |= ECHONL;
    atomic_store(&hidden_fd, fd);
    tcsetattr(fd, TCSANOW, &hidden);
    return true;
}

/* ---- the terminal --------------------------------------------------------------------------- */

/* By read(2): a thread that waits in a stream holds its lock, and exit() would wait for that. False
 * at the end of input. */
static bool read_line(int tty, char *line, size_t max)
{
    size_t n = 0;

    while (n < max - 1 && !memchr(line, '\n', n)) {
        ssize_t got = read(tty, line + n, max - 1 - n);

        if (got < 0 && errno == EINTR)
            continue;
        if (got <= 0)
            break;
        n += (size_t)got;
    }
    line[n] = '\0';
    line[strcspn(line, "\n")] = '\0';
    return n > 0;
}

int question_terminal(void)
{
    return isatty(STDIN_FILENO) && isatty(STDERR_FILENO)
               ? open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC)
               : -1;
}

void question_forget_typed(int tty) { tcflush(tty, TCIFLUSH); }

char *question_line(int tty, const char *prompt, bool secret)
{
    AUTO_FREE char *line = mem_alloc(LINE_MAX_BYTES);
    bool hidden = secret && hide_typing(tty), there;

    fprintf(stderr, "%s", prompt);
    fflush(stderr);
    there = read_line(tty, line, LINE_MAX_BYTES);
    if (hidden) {
        show_typing();
        release_signals();
    }
    return there ? TAKE(line) : NULL;
}

static char *shown(struct json string, struct arena *a)
{
    return show_printable(json_str(string, a), a);
}

/* ---- addresses ------------------------------------------------------------------------------ */

static bool has_scheme(struct span url, const char *scheme)
{
    size_t n = strlen(scheme);

    return url.n > n && span_is_nocase(span_make(url.p, n), scheme);
}

/* Between the scheme and the path; *named: somebody's name stands before the host. */
static struct span host_of(struct span url, bool *named)
{
    struct span rest = span_from(url, has_scheme(url, "https://") ? 8 : 7);
    size_t n = 0, from = 0;

    while (n < rest.n && !strchr("/?#\\", rest.p[n]))
        n++;
    for (size_t i = 0; i < n; i++)
        if (rest.p[i] == '@')
            from = i + 1;
    *named = from > 0;
    return span_make(rest.p + from, n - from);
}

/* Letters of other scripts, written as they are or as "xn--". */
static bool may_deceive(struct span host)
{
    for (size_t i = 0; i < host.n; i++)
        if ((unsigned char)host.p[i] >= 0x80)
            return true;
    for (size_t i = 0; i + 4 <= host.n; i++)
        if (span_is_nocase(span_make(host.p + i, 4), "xn--"))
            return true;
    return false;
}

/* 1: yes, 0: no, -1: this is no address of the web. The host stands alone, because it is what
 * matters and what a long address hides. Nothing is opened by us. */
static int ask_url(int tty, struct json params, struct arena *a)
{
    struct span url = json_str(json_get(params, "url"), a), host;
    AUTO_FREE char *line = NULL;
    bool named;

    if (!has_scheme(url, "http://") && !has_scheme(url, "https://"))
        return -1;
    host = host_of(url, &named);
    fprintf(stderr, "  It wants you to open a page.\n  host:     %s\n  address:  %s\n",
            show_printable(host, a), shown(json_get(params, "url"), a));
    if (named)
        fprintf(stderr, "  careful:  what stands before '@' in it is not the host\n");
    if (may_deceive(host))
        fprintf(stderr, "  careful:  the host has letters that can look like others\n");
    if (has_scheme(url, "http://"))
        fprintf(stderr, "  careful:  what you type there is not encrypted on its way\n");
    line = question_line(tty, "  Will you open it? [y/N] ", false);
    return line && (line[0] == 'y' || line[0] == 'Y');
}

/* ---- one question --------------------------------------------------------------------------- */

static void answer_url(struct asking *q, int tty, struct json params, struct arena *a)
{
    int yes = ask_url(tty, params, a);

    if (yes < 0)
        pb_question_refuse(q->question, -32602, "the URL to be opened is none of http or https");
    else
        pb_question_answer(q->question,
                           yes ? "{\"action\":\"accept\"}" : "{\"action\":\"decline\"}");
}

static void answer_form(struct asking *q, int tty, struct json params)
{
    AUTO_BUF struct buf content = { 0 };
    AUTO_BUF struct buf b = { 0 };
    struct json_out o = json_out(&b);

    if (!question_fill(tty, json_text(json_get(params, "requestedSchema")), &content)) {
        fputc('\n', stderr);
        pb_question_answer(q->question, "{\"action\":\"decline\"}");
        return;
    }
    json_begin_object(&o, NULL);
    json_put_str(&o, "action", "accept");
    json_put_raw(&o, "content", buf_span(&content));
    json_end(&o);
    pb_question_answer(q->question, buf_cstr(&b));
}

static bool is_url(struct json params) { return json_str_is(json_get(params, "mode"), "url"); }

static void answer(struct asking *q, int tty, struct json params)
{
    AUTO_ARENA struct arena a = { 0 };

    fprintf(stderr, "\n%c%s asks: %s\n", q->asker[0] - 'a' + 'A', q->asker + 1,
            shown(json_get(params, "message"), &a));
    if (is_url(params))
        answer_url(q, tty, params, &a);
    else
        answer_form(q, tty, params);
}

/* What it wanted to know, and why nobody can tell it. */
static void tell_unasked(const struct asking *q, struct json params)
{
    AUTO_ARENA struct arena a = { 0 };
    AUTO_BUF struct buf what = { 0 };
    int left = TELL_STEPS_MAX;

    if (is_url(params))
        buf_printf(&what, "to open %s", shown(json_get(params, "url"), &a));
    else
        signature_write(&what, "", (struct wanted_from){ .left = &left },
                        json_get(params, "requestedSchema"));
    talk_fail(FAILURE_TERMINAL, "%s asks: %s %s: that needs a terminal, and there is none here",
              q->asker, shown(json_get(params, "message"), &a), buf_cstr(&what));
}

static bool at_terminal(void) { return isatty(STDIN_FILENO) && isatty(STDERR_FILENO); }

/* ---- may a call be made? -------------------------------------------------------------------- */

static const char *gate_id(struct json params, struct arena *a)
{
    struct json meta = json_get(params, "_meta");

    return json_is(meta, JSON_OBJECT) ? json_cstr(json_get(meta, RELAY_META_QUESTION), a) : NULL;
}

static void tell_permission(struct json q, struct arena *a)
{
    fprintf(stderr, "\n%s\n  arguments  %s\n  rule       %s\n", shown(json_get(q, "text"), a),
            show_printable(json_text(json_get(q, "arguments")), a), shown(json_get(q, "rule"), a));
}

/* NULL: they have not decided. */
static const char *read_permission(int tty)
{
    static const struct {
        const char *typed, *decision;
    } rows[] = { { "y", "approve" }, { "yes", "approve" },    { "n", "deny" },
                 { "no", "deny" },   { "g", "grant" },        { "grant", "grant" },
                 { "deny", "deny" }, { "approve", "approve" } };
    AUTO_BUF struct buf prompt = { 0 };

    buf_str(&prompt, "  Allow it? y: yes, n: no, g: yes, and the same tool for ");
    duration_text(&prompt, GRANT_MS);
    buf_str(&prompt, "> ");
    question_forget_typed(tty);
    for (;;) {
        AUTO_FREE char *line = question_line(tty, buf_cstr(&prompt), false);

        if (!line)
            return NULL;
        for (size_t i = 0; i < ARRAY_LEN(rows); i++)
            if (span_is_nocase(span_trim(span_of(line)), rows[i].typed))
                return rows[i].decision;
        fprintf(stderr, "  That will not do: y, n or g; Ctrl-D leaves it to others\n");
    }
}

static void ask_permission(struct asking *asking, int tty, const char *id)
{
    AUTO_FREE char *params = reach_params("id", id);
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_ARENA struct arena a = { 0 };
    AUTO_BUF struct buf answer = { 0 };
    /* What is shown is what the hub says: that it is asked is no proof that the hub asks. */
    struct pb_result *result = ask_hub("patchbay/question", params);
    const char *decision = NULL;

    if (result && json_parse(&doc, span_of(pb_result_json(result, NULL)), NULL, NULL) == 0) {
        tell_permission(json_root(&doc), &a);
        decision = read_permission(tty);
        if (!decision)
            fprintf(stderr, "\n  It waits: 'patchbay answer %s approve', or deny\n", id);
    }
    pb_result_free(result);
    if (!decision) {
        leave_open(asking->question);
        return;
    }
    buf_printf(&answer, "{\"action\":\"accept\",\"content\":{\"decision\":\"%s\"}}", decision);
    pb_question_answer(asking->question, buf_cstr(&answer));
}

/* Without a terminal. Progress tells what is waited for; the question stays open, and with it the
 * call. Of a hub that ends with this program nobody else knows. */
static void leave_permission(struct asking *asking)
{
    if (atomic_load(&hub_has_others)) {
        leave_open(asking->question);
        return;
    }
    talk_fail(FAILURE_TERMINAL, "a rule asks about this call, and nobody can answer: there is no "
                                "terminal here, and no daemon runs that could be asked elsewhere");
    pb_question_answer(asking->question, "{\"action\":\"decline\"}");
}

/* ---- who asks ------------------------------------------------------------------------------- */

static void ask_one(struct asking *q, int tty)
{
    AUTO_JSON struct json_doc doc = { 0 };
    AUTO_ARENA struct arena a = { 0 };
    const char *id;

    if (json_parse(&doc, span_of(q->params), NULL, NULL) < 0) {
        pb_question_refuse(q->question, -32602, "the question is not JSON");
        return;
    }
    id = q->of_hub ? gate_id(json_root(&doc), &a) : NULL;
    if (id && tty >= 0) {
        ask_permission(q, tty, id);
    } else if (id) {
        leave_permission(q);
    } else if (tty < 0) {
        tell_unasked(q, json_root(&doc));
        pb_question_refuse(q->question, -32603, "there is no terminal to ask at");
    } else {
        answer(q, tty, json_root(&doc));
    }
}

static void *ask(void *p)
{
    struct asking *q = p;
    AUTO_CLOSE int tty = question_terminal();

    pthread_mutex_lock(&one_at_a_time);
    ask_one(q, tty);
    pthread_mutex_unlock(&one_at_a_time);
    atomic_fetch_sub(&open_here, q->counted);
    free(q->params);
    free(q);
    return NULL;
}

static void on_question(void *ctx, struct pb_question *question, const char *method,
                        const char *params)
{
    struct asking *q;
    pthread_t thread;

    (void)ctx;
    if (strcmp(method, "elicitation/create") != 0) {
        pb_question_refuse(question, -32601, "the command line can only be asked forms and URLs");
        return;
    }
    q = NEW(struct asking);
    *q = (struct asking){ question, atomic_load(&hub) != NULL, mem_dup(params), "", at_terminal() };
    pthread_mutex_lock(&asker.lock);
    snprintf(q->asker, sizeof q->asker, "%s", asker.name);
    pthread_mutex_unlock(&asker.lock);
    /* Before anything else is told of the call: what moves would move the prompt. */
    atomic_fetch_add(&open_here, q->counted);
    if (pthread_create(&thread, NULL, ask, q) == 0) {
        pthread_detach(thread);
        return;
    }
    atomic_fetch_sub(&open_here, q->counted);
    pb_question_refuse(question, -32603, "there is no thread to ask with");
    free(q->params);
    free(q);
}

void question_options(struct pb_client_options *o)
{
    o->on_question = on_question;
    o->can_elicit = o->can_elicit_url = true;
}
