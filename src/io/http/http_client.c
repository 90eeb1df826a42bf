#include "http_call.h"
#include <fcntl.h>
#include <unistd.h>

/* One of libcurl's sockets. What is polled is a copy of our own: libcurl closes a socket that is
 * still connecting before it says so, and then another thread may have its number. */
struct sock {
    uv_poll_t poll;
    struct http_client *client;
    curl_socket_t fd;
    int copy;
    int events;
    bool closed;
};

static void release(struct http_client *c)
{
    loop_fn *fn = c->closed;
    void *ctx = c->closed_ctx;
    struct pb_loop *l = c->loop;

    if (!c->closing || c->handles)
        return;
    free(c);
    if (fn)
        fn(ctx);
    loop_closing_end(l);
}

static void go_on(void *ctx);

static void run_later(struct http_client *c)
{
    if (c->later)
        return;
    c->later = true;
    c->handles++;
    loop_defer(c->loop, go_on, c);
}

void client_later(struct http_call *call)
{
    list_remove(&call->work);
    list_append(&call->client->todo, &call->work);
    run_later(call->client);
}

static void collect(struct http_client *c)
{
    CURLMsg *m;
    int left;

    while (!c->closing && (m = c->api->multi_info_read(c->multi, &left))) {
        struct http_call *call = NULL;
        CURLcode code = m->data.result;

        if (m->msg != CURLMSG_DONE)
            continue;
        c->api->easy_getinfo(m->easy_handle, CURLINFO_PRIVATE, &call);
        call_ended(call, code);
    }
}

static void act(struct http_client *c, curl_socket_t fd, int events)
{
    int running;

    c->api->multi_socket_action(c->multi, fd, events, &running);
    collect(c);
}

static void on_timer(uv_timer_t *t)
{
    struct http_client *c = t->data;

    loop_mark(c->loop, "HTTP client");
    act(c, CURL_SOCKET_TIMEOUT, 0);
}

static int set_timer(CURLM *multi, long ms, void *ctx)
{
    struct http_client *c = ctx;

    (void)multi;
    uv_timer_stop(&c->timer);
    if (ms == 0) {
        c->run_now = true;
        run_later(c);
    } else if (ms > 0) {
        uv_timer_start(&c->timer, on_timer, (uint64_t)ms, 0);
    }
    return 0;
}

static void free_sock(uv_handle_t *h)
{
    struct sock *k = h->data;
    struct http_client *c = k->client;

    free(k);
    c->handles--;
    release(c);
}

static void on_poll(uv_poll_t *poll, int status, int events)
{
    struct sock *k = poll->data;
    int what = (events & UV_READABLE ? CURL_CSELECT_IN : 0) |
               (events & UV_WRITABLE ? CURL_CSELECT_OUT : 0);

    loop_mark(k->client->loop, "HTTP client");
    act(k->client, k->fd, status < 0 ? CURL_CSELECT_ERR : what);
    /* libuv stops to poll after an error, but there may be bytes to read yet. */
    if (status < 0 && !k->closed)
        uv_poll_start(&k->poll, k->events, on_poll);
}

static struct sock *open_sock(struct http_client *c, curl_socket_t fd)
{
    struct sock *k = NEW(struct sock);

    k->client = c;
    k->fd = fd;
    k->copy = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    if (k->copy < 0 || uv_poll_init(loop_uv(c->loop), &k->poll, k->copy) < 0) {
        if (k->copy >= 0)
            close(k->copy);
        free(k);
        return NULL;
    }
    k->poll.data = k;
    c->handles++;
    c->api->multi_assign(c->multi, fd, k);
    return k;
}

static void close_sock(struct sock *k)
{
    k->closed = true;
    uv_close((uv_handle_t *)&k->poll, free_sock);
    close(k->copy);
}

static int set_socket(CURL *easy, curl_socket_t fd, int what, void *ctx, void *assigned)
{
    struct http_client *c = ctx;
    struct sock *k = assigned;

    (void)easy;
    if (what == CURL_POLL_REMOVE) {
        if (k) {
            c->stalled = c->stalled || k->events == UV_WRITABLE;
            close_sock(k);
            c->api->multi_assign(c->multi, fd, NULL);
        }
        if (c->stalled)
            run_later(c);
        return 0;
    }
    if (!k)
        k = open_sock(c, fd);
    if (!k)
        return -1;
    k->events = (what & CURL_POLL_IN ? UV_READABLE : 0) | (what & CURL_POLL_OUT ? UV_WRITABLE : 0);
    return uv_poll_start(&k->poll, k->events, on_poll) < 0 ? -1 : 0;
}

static void on_timer_closed(uv_handle_t *h)
{
    struct http_client *c = h->data;

    c->handles--;
    release(c);
}

static void shut(struct http_client *c)
{
    if (!c->multi)
        return;
    c->api->multi_cleanup(TAKE(c->multi));
    uv_close((uv_handle_t *)&c->timer, on_timer_closed);
}

/* When an address refuses late, libcurl has nothing polled, sets no timer, and tries the next one
 * only when it is called again for another reason. */
static void push_connecting(struct http_client *c)
{
    struct list *pos, *safe;

    c->stalled = false;
    LIST_FOREACH(pos, safe, &c->calls)
        call_push(CONTAINER_OF(pos, struct http_call, link));
}

static void go_on(void *ctx)
{
    struct http_client *c = ctx;

    c->later = false;
    for (int left = HTTP_CALLS_PER_TURN; left && !list_empty(&c->todo); left--) {
        struct list *first = c->todo.next;

        list_remove(first);
        call_go_on(CONTAINER_OF(first, struct http_call, work));
    }
    if (!list_empty(&c->todo))
        run_later(c);
    else if (c->closing)
        shut(c);
    if (c->stalled && !c->closing)
        push_connecting(c);
    if (c->run_now && !c->closing) {
        c->run_now = false;
        act(c, CURL_SOCKET_TIMEOUT, 0);
    }
    c->handles--;
    release(c);
}

struct http_client *http_client_new(struct pb_loop *l)
{
    struct http_client *c = NEW(struct http_client);

    c->loop = l;
    list_init(&c->calls);
    list_init(&c->todo);
    return c;
}

void http_client_close(struct http_client *c, loop_fn *fn, void *ctx)
{
    struct list *pos, *safe;

    loop_closing_begin(c->loop);
    c->closing = true;
    c->closed = fn;
    c->closed_ctx = ctx;
    LIST_FOREACH(pos, safe, &c->calls)
        http_call_cancel(CONTAINER_OF(pos, struct http_call, link));
    run_later(c);
}

/* On the first request. */
static int open_multi(struct http_client *c, struct pb_error *err)
{
    if (c->multi)
        return 0;
    c->api = curl_api(err);
    if (!c->api)
        return -PB_E_UNSUPPORTED;
    c->multi = c->api->multi_init();
    if (!c->multi)
        return fail(err, PB_E_SYSTEM, "libcurl gives no handle");
    c->api->multi_setopt(c->multi, CURLMOPT_SOCKETFUNCTION, set_socket);
    c->api->multi_setopt(c->multi, CURLMOPT_SOCKETDATA, c);
    c->api->multi_setopt(c->multi, CURLMOPT_TIMERFUNCTION, set_timer);
    c->api->multi_setopt(c->multi, CURLMOPT_TIMERDATA, c);
    c->api->multi_setopt(c->multi, CURLMOPT_MAXCONNECTS, (long)HTTP_IDLE_CONNECTIONS_MAX);
    uv_timer_init(loop_uv(c->loop), &c->timer);
    uv_unref((uv_handle_t *)&c->timer); /* a call in flight keeps the loop alive, nothing else */
    c->timer.data = c;
    c->handles++;
    return 0;
}

int http_client_send(struct http_client *c, struct http_call **out,
                     const struct http_client_request *req, const struct http_client_events *events,
                     void *ctx, struct pb_error *err)
{
    struct http_call *call;
    int rc = open_multi(c, err);

    if (rc < 0)
        return rc;
    if (c->closing)
        return fail(err, PB_E_CLOSED, "the HTTP client is being closed");
    if (c->n_calls >= HTTP_CALLS_MAX)
        return fail(err, PB_E_BUSY, "%d HTTP requests are under way already", HTTP_CALLS_MAX);
    call = NEW(struct http_call);
    call->client = c;
    call->events = *events;
    call->ctx = ctx;
    call_init(call);
    rc = call_take_request(call, req, err);
    if (rc < 0) {
        call_free(call);
        return rc;
    }
    list_append(&c->calls, &call->link);
    c->n_calls++;
    loop_hold(c->loop);
    client_later(call);
    *out = call;
    return 0;
}
