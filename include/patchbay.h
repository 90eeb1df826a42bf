/* patchbay.h - MCP for C: offer functions as tools, and use the tools of any server.
 *
 * This header is the whole library; what is not here is not API. It is plain C99 and usable from
 * C++. All types are opaque or plain data, all names begin with pb_ or PB_.
 *
 * Protocol. One server object speaks all five revisions of the Model Context Protocol at once:
 * 2024-11-05, 2025-03-26, 2025-06-18, 2025-11-25 (the legacy era, with a handshake) and
 * 2026-07-28 (the modern era, stateless), over stdio, Streamable HTTP, HTTP+SSE, and in memory.
 * One client object finds out which of them a server speaks.
 *
 * Errors. Whatever can fail returns 0 or -PB_E_*, and takes a struct pb_error (NULL is allowed)
 * that is untouched on success. Its text is complete enough to show to a person.
 *
 * Ownership. pb_x_new() and pb_x_open() give an object that the caller ends with pb_x_free()
 * (NULL is fine). Strings passed in are copied unless a function says otherwise. A `const char *`
 * that comes back is borrowed from the object it was asked of, and stays until that object's next
 * call or its end; a `char *` that comes back is the caller's to free().
 *
 * Threads. A server or client lives on one pb_loop. Functions marked [any thread] may be called
 * from everywhere; all others only from the loop's thread, or before the loop runs. Handlers run
 * on worker threads unless they say PB_ON_LOOP; what they may call on their struct pb_call is
 * safe from the thread they run on. Callbacks never run inside the call that registered them. */
#ifndef PATCHBAY_H
#define PATCHBAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#    define PB_API              __attribute__((visibility("default")))
#    define PB_PRINTF(fmt, arg) __attribute__((format(printf, fmt, arg)))
#else
#    define PB_API
#    define PB_PRINTF(fmt, arg)
#endif

#define PB_VERSION "0.1.0"

/* The version of the library that is linked, which may differ from PB_VERSION. [any thread] */
PB_API const char *pb_version(void);

/* ---- Errors ------------------------------------------------------------------------------ */

enum pb_code {
    PB_OK = 0,
    PB_E_INVALID,   /* the caller or the peer sent something malformed */
    PB_E_NOT_FOUND, /* no such tool, resource, prompt, server, file */
    PB_E_BUSY,      /* not now; try again later */
    PB_E_LIMIT,     /* a bound was hit; the text names it */
    PB_E_CLOSED,    /* the other side is gone, or this object was stopped */
    PB_E_TIMEOUT,
    PB_E_CANCELLED,
    PB_E_SYSTEM,      /* the operating system refused; .sys is the errno */
    PB_E_REMOTE,      /* the peer answered with a JSON-RPC error; .sys is its code */
    PB_E_AUTH,        /* the server wants authorization; .sys is the HTTP status, 401 or 403 */
    PB_E_UNSUPPORTED, /* the peer did not declare the capability this needs */
    PB_E_INPUT,       /* a question was recorded: return this from the handler (see Asking) */
};

struct pb_error {
    enum pb_code code; /* to decide on */
    int sys;
    char msg[248]; /* to show */
};

/* "invalid", "not found", ... [any thread] */
PB_API const char *pb_code_name(enum pb_code code);

/* ---- Logging ----------------------------------------------------------------------------- */

/* MCP's levels. The library is silent until pb_log_to() is called. It never logs arguments,
 * results, header values or secrets. */
enum pb_log_level {
    PB_LOG_DEBUG,
    PB_LOG_INFO,
    PB_LOG_NOTICE,
    PB_LOG_WARNING,
    PB_LOG_ERROR,
    PB_LOG_CRITICAL,
    PB_LOG_ALERT,
    PB_LOG_EMERGENCY,
};

typedef void pb_log_fn(void *ctx, enum pb_log_level level, const char *line);
/* Pass this as fn to log to standard error with a time, the label "patchbay" and a level. */
#define PB_LOG_STDERR ((pb_log_fn *)-1)
/* fn NULL ends logging. fn may be called from any thread, one call at a time. [any thread] */
PB_API void pb_log_to(pb_log_fn *fn, void *ctx, enum pb_log_level level);

/* ---- The loop ---------------------------------------------------------------------------- */

struct pb_loop;
typedef void pb_fn(void *ctx);

PB_API struct pb_loop *pb_loop_new(void);
/* Waits for the last closings of what was freed on it, then frees it. Servers and clients that
 * live on the loop must have been freed before. */
PB_API void pb_loop_free(struct pb_loop *loop);
/* Runs until pb_loop_stop(), or until nothing is left that could happen. */
PB_API void pb_loop_run(struct pb_loop *loop);
/* [any thread, and signal handlers] */
PB_API void pb_loop_stop(struct pb_loop *loop);
/* Runs fn on the loop's thread, in the order of posting. -PB_E_CLOSED once the loop has ended,
 * -PB_E_BUSY when too many are waiting. [any thread] */
PB_API int pb_loop_post(struct pb_loop *loop, pb_fn *fn, void *ctx, struct pb_error *err);
/* Calls fn on the loop's thread `ms` milliseconds from now, once. */
PB_API int pb_loop_after(struct pb_loop *loop, uint32_t ms, pb_fn *fn, void *ctx,
                         struct pb_error *err);

/* ---- Serving: tools ---------------------------------------------------------------------- */

struct pb_server;
struct pb_call; /* one request while a handler answers it */

enum pb_type {
    PB_STRING = 1,
    PB_INT,
    PB_DOUBLE,
    PB_BOOL,
    PB_ARRAY,  /* of->type says of what */
    PB_OBJECT, /* of is a list of properties, ended by { 0 } */
    PB_ONE_OF, /* one of the strings in `options` */
    PB_ANY,
};

enum pb_param_flags {
    PB_OPTIONAL = 1, /* parameters are required unless this is set or they have a fallback */
};

/* A parameter of a tool. Lists of them are ended by { 0 }. Arguments are normalised before the
 * handler sees them: fallbacks are filled in, "3" and 3.0 become 3 where an int is wanted, "true"
 * becomes true; then they are checked, and a refusal names the path of the culprit. */
struct pb_param {
    const char *name;
    enum pb_type type;
    const char *description;
    unsigned flags;
    const char *fallback;       /* JSON text of the default, or NULL */
    const struct pb_param *of;  /* PB_ARRAY: one element; PB_OBJECT: the properties */
    const char *const *options; /* PB_ONE_OF: ended by NULL */
    const char *header;         /* mirrored in the HTTP header Mcp-Param-<header>, or NULL */
};

/* Answers one request: with pb_reply_*() and return 0, or with `return pb_fail(...)`. */
typedef int pb_handler(struct pb_call *call, void *ctx);

enum pb_tool_flags {
    PB_READ_ONLY = 1 << 0,     /* annotations.readOnlyHint: true */
    PB_DESTRUCTIVE = 1 << 1,   /* destructiveHint: true */
    PB_ADDITIVE = 1 << 2,      /* destructiveHint: false */
    PB_IDEMPOTENT = 1 << 3,    /* idempotentHint: true */
    PB_OPEN_WORLD = 1 << 4,    /* openWorldHint: true */
    PB_CLOSED_WORLD = 1 << 5,  /* openWorldHint: false */
    PB_ON_LOOP = 1 << 6,       /* the handler never blocks: run it on the loop's thread */
    PB_TASK_ALLOWED = 1 << 7,  /* runs as a task for clients with the tasks extension */
    PB_TASK_REQUIRED = 1 << 8, /* and is refused to all others */
    PB_TASK_LATER = 1 << 9,    /* with one of these: not before pb_call_task(). Questions asked
                                * before that are answered before the task begins */
};

struct pb_tool {
    const char *name; /* A-Z a-z 0-9 _ - . /, 1 to 128 characters */
    const char *title;
    const char *description;
    const struct pb_param *params; /* NULL: none */
    const char *input_schema;      /* instead of params: JSON Schema text, offered as written */
    const char *output_schema;     /* structured results are checked against it */
    const char *icons;             /* JSON array text, or NULL */
    const char *meta;              /* JSON object text for _meta, or NULL */
    unsigned flags;
    uint32_t timeout_ms; /* 0: the server's; UINT32_MAX: none */
    pb_handler *run;
    void *ctx;
};

/* ---- Serving: resources, prompts, completion ---------------------------------------------- */

struct pb_resource {
    const char *uri; /* or a template with {variables} (RFC 6570 level 1 and {/x}, {?x}) */
    const char *name;
    const char *title;
    const char *description;
    const char *mime_type;
    const char *icons, *annotations, *meta; /* JSON text or NULL */
    int64_t size;                           /* bytes; 0: not said */
    unsigned flags;                         /* PB_ON_LOOP */
    pb_handler *read;     /* pb_call_uri(), pb_arg_string() for variables; pb_reply_resource*() */
    pb_handler *complete; /* templates: pb_complete_*(); NULL: no suggestions */
    void *ctx;
};

struct pb_prompt_arg {
    const char *name;
    const char *description;
    bool required;
};

struct pb_prompt {
    const char *name;
    const char *title;
    const char *description;
    const struct pb_prompt_arg *args; /* ended by { 0 }, or NULL */
    const char *icons, *meta;
    unsigned flags;       /* PB_ON_LOOP */
    pb_handler *get;      /* pb_arg_string(); pb_reply_message*() */
    pb_handler *complete; /* NULL: no suggestions */
    void *ctx;
};

/* ---- Serving: the server ------------------------------------------------------------------ */

enum pb_error_style {
    PB_ERRORS_AS_RESULTS, /* a failed tool is a result with isError, which a model can read */
    PB_ERRORS_AS_RPC,     /* a failed tool is a JSON-RPC error -32603 */
};

struct pb_server_options {
    size_t size; /* set by PB_SERVER_OPTIONS_INIT */
    const char *name, *version, *title, *description, *website, *icons;
    const char *instructions;
    enum pb_error_style error_style;
    bool strict;              /* legacy clients must initialize before anything but ping */
    bool parse_error_id_null; /* stdio: answer unparsable lines with id null instead of "" */
    uint32_t tool_timeout_ms; /* 0: 60 s */
    uint32_t page_items;      /* 0: 1000 */
    size_t max_request_bytes; /* 0: 10 MiB */
    int64_t cache_ttl_ms;     /* ttlMs on lists and discovery; default 0 = do not cache */
    struct pb_loop *loop;     /* NULL: the server makes its own */
};
#define PB_SERVER_OPTIONS_INIT                   \
    {                                            \
        .size = sizeof(struct pb_server_options) \
    }

/* Never NULL. opts may be NULL. */
PB_API struct pb_server *pb_server_new(const struct pb_server_options *opts);
/* Stops it if it runs, and frees it. Not from a handler. A handler that does not return within
 * 5 s of being cancelled keeps what it uses: the server is then left behind, and that is logged. */
PB_API void pb_server_free(struct pb_server *server);
PB_API struct pb_loop *pb_server_loop(struct pb_server *server);

/* Everything in the struct is copied. A name or URI that exists already is replaced. Clients are
 * told that the list changed. -PB_E_INVALID names what is wrong with it. [any thread] */
PB_API int pb_server_add_tool(struct pb_server *server, const struct pb_tool *tool,
                              struct pb_error *err);
PB_API int pb_server_add_resource(struct pb_server *server, const struct pb_resource *resource,
                                  struct pb_error *err);
PB_API int pb_server_add_template(struct pb_server *server, const struct pb_resource *template_,
                                  struct pb_error *err);
PB_API int pb_server_add_prompt(struct pb_server *server, const struct pb_prompt *prompt,
                                struct pb_error *err);
/* -PB_E_NOT_FOUND if there is none. Calls that run go on. [any thread] */
PB_API int pb_server_remove_tool(struct pb_server *server, const char *name, struct pb_error *err);
PB_API int pb_server_remove_resource(struct pb_server *server, const char *uri,
                                     struct pb_error *err);
PB_API int pb_server_remove_prompt(struct pb_server *server, const char *name,
                                   struct pb_error *err);
/* Tells the clients that subscribed to uri. [any thread] */
PB_API void pb_server_resource_updated(struct pb_server *server, const char *uri);
/* A log message to every client that listens at this level. `data` is JSON text. [any thread] */
PB_API void pb_server_log(struct pb_server *server, enum pb_log_level level, const char *logger,
                          const char *data);

struct pb_http_options {
    size_t size;               /* set by PB_HTTP_OPTIONS_INIT */
    const char *host;          /* NULL: 127.0.0.1 */
    int port;                  /* 0: any free one; see pb_server_port() */
    const char *path;          /* NULL: /mcp. HTTP+SSE is served beside it at /sse */
    const char *token;         /* wanted as `Authorization: Bearer`; NULL: none */
    const char *allowed_hosts; /* comma separated, besides the loopback names and `host` */
    const char *allowed_origins;
    /* Legacy POSTs are never answered by a stream: news about a call are dropped, and questions
     * travel on the stream that the client may open with GET. Else an answer becomes a stream when
     * something has to be told before it. */
    bool json_only;
};
#define PB_HTTP_OPTIONS_INIT                   \
    {                                          \
        .size = sizeof(struct pb_http_options) \
    }

/* Serves one client on these descriptors (0 and 1 for stdio). The descriptors stay the caller's.
 * At end of input running calls are cancelled, what is answered is flushed, and the loop ends if
 * nothing else is served. */
PB_API int pb_server_stdio(struct pb_server *server, int in, int out, struct pb_error *err);
/* Listens; may be called more than once. */
PB_API int pb_server_http(struct pb_server *server, const struct pb_http_options *opts,
                          struct pb_error *err);
/* Of the newest pb_server_http(); 0 before that. */
PB_API int pb_server_port(const struct pb_server *server);
/* Runs the loop until pb_server_stop(), SIGTERM or SIGINT, or the end of stdio. */
PB_API int pb_server_run(struct pb_server *server, struct pb_error *err);
/* Stops gracefully: no new requests, running calls are cancelled and given 5 s, answers are
 * flushed. [any thread, and signal handlers] */
PB_API void pb_server_stop(struct pb_server *server);

/* ---- Inside a handler --------------------------------------------------------------------- */

/* Arguments by name. For optional ones without a fallback that are absent: NULL, 0, false. */
PB_API bool pb_arg_has(struct pb_call *call, const char *name);
PB_API const char *pb_arg_string(struct pb_call *call, const char *name);
PB_API int64_t pb_arg_int(struct pb_call *call, const char *name);
PB_API double pb_arg_double(struct pb_call *call, const char *name);
PB_API bool pb_arg_bool(struct pb_call *call, const char *name);
/* One argument, or all of them (name NULL), as JSON text. */
PB_API const char *pb_arg_json(struct pb_call *call, const char *name);

PB_API const char *pb_call_name(struct pb_call *call); /* of the tool or prompt */
PB_API const char *pb_call_uri(struct pb_call *call);  /* of the resource being read */
/* "2026-07-28", ... */
PB_API const char *pb_call_protocol(struct pb_call *call);
/* JSON text; "{}" when the client said nothing. */
PB_API const char *pb_call_client_info(struct pb_call *call);
PB_API const char *pb_call_client_capabilities(struct pb_call *call);
/* What came in the request's _meta, as JSON text; "{}" when there was none. */
PB_API const char *pb_call_meta(struct pb_call *call);

/* The answer. Tools take any mix of these; the order is kept. All return 0. */
PB_API int pb_reply_text(struct pb_call *call, const char *fmt, ...) PB_PRINTF(2, 3);
PB_API int pb_reply_bytes(struct pb_call *call, const char *text, size_t n); /* a text block */
PB_API int pb_reply_image(struct pb_call *call, const void *data, size_t n, const char *mime_type);
PB_API int pb_reply_audio(struct pb_call *call, const void *data, size_t n, const char *mime_type);
/* Tools and prompts: an embedded resource. Resources: their contents. */
PB_API int pb_reply_resource(struct pb_call *call, const char *uri, const char *mime_type,
                             const char *text);
PB_API int pb_reply_resource_blob(struct pb_call *call, const char *uri, const char *mime_type,
                                  const void *data, size_t n);
/* A content block as JSON text, for whatever else there is (resource_link, annotations). */
PB_API int pb_reply_content(struct pb_call *call, const char *json);
/* structuredContent as JSON text; the same JSON is added as a text block if there is none. */
PB_API int pb_reply_structured(struct pb_call *call, const char *json);
/* Prompts: one message; role "user" or "assistant". The content is a text, or JSON text. */
PB_API int pb_reply_message(struct pb_call *call, const char *role, const char *text);
PB_API int pb_reply_message_content(struct pb_call *call, const char *role, const char *json);
/* Completion: the word typed so far, which argument it is for, and a suggestion for it. */
PB_API const char *pb_complete_argument(struct pb_call *call);
PB_API const char *pb_complete_value(struct pb_call *call);
PB_API int pb_complete_add(struct pb_call *call, const char *suggestion);

/* The call failed, in words for the model. Use as `return pb_fail(call, "no such city: %s", c)`;
 * the value is -PB_E_INVALID. What was replied before is dropped. */
PB_API int pb_fail(struct pb_call *call, const char *fmt, ...) PB_PRINTF(2, 3);
/* The request failed as a JSON-RPC error. data is JSON text or NULL. */
PB_API int pb_fail_rpc(struct pb_call *call, int code, const char *message, const char *data);

/* While it runs. Progress must rise; total 0 = unknown; message may be NULL. Nothing is sent to
 * clients that did not ask for it. */
PB_API void pb_call_progress(struct pb_call *call, double progress, double total,
                             const char *message);
PB_API void pb_call_log(struct pb_call *call, enum pb_log_level level, const char *logger,
                        const char *data);
/* The client need not hold its connection for a long call: the connection is closed, and the client
 * comes back for the answer in retry_ms. Means something to HTTP clients of 2025-11-25 only. */
PB_API void pb_call_close_stream(struct pb_call *call, uint32_t retry_ms);
/* True once the client gave up, the time is over, or the server stops. Long handlers look. */
PB_API bool pb_call_cancelled(struct pb_call *call);
/* Waits until then at most `ms`; true when cancelled. Worker handlers only. */
PB_API bool pb_call_wait(struct pb_call *call, uint32_t ms);

/* From here on the call is a task, if the tool may be one and the client can have one: the client
 * gets a handle now and the answer later. Nothing happens otherwise. See PB_TASK_LATER. */
PB_API void pb_call_task(struct pb_call *call);

/* Answering later. After pb_call_defer() the handler returns 0 without having answered; the call
 * stays valid, on any thread that the program guards by itself, until pb_call_finish(), which
 * must follow exactly once with what the handler would have returned. */
PB_API void pb_call_defer(struct pb_call *call);
PB_API void pb_call_finish(struct pb_call *call, int status);

/* ---- Asking ------------------------------------------------------------------------------- */

/* Questions to the person or the model behind the client, in the middle of a call. They look the
 * same in both eras: the first time the question is recorded and -PB_E_INPUT comes back, which the
 * handler returns; when the answers are there the handler is run again from its start, and the
 * same call gives 0 and the answer. So: ask before you act. Several questions may be recorded
 * before returning; they are put together. `key` names a question within the tool.
 * -PB_E_UNSUPPORTED if the client cannot be asked that; `return` it, and the client is told what
 * is missing. *answer is JSON text: an ElicitResult, CreateMessageResult or ListRootsResult. */
PB_API int pb_ask_form(struct pb_call *call, const char *key, const char *message,
                       const char *schema, const char **answer);
PB_API int pb_ask_url(struct pb_call *call, const char *key, const char *message, const char *url,
                      const char **answer);
/* params: JSON text of sampling/createMessage's params. */
PB_API int pb_ask_model(struct pb_call *call, const char *key, const char *params,
                        const char **answer);
PB_API int pb_ask_roots(struct pb_call *call, const char *key, const char **answer);
/* Kept from one round to the next (JSON text), signed, so that the client cannot change it.
 * pb_call_state() gives NULL in the first round. */
PB_API void pb_call_set_state(struct pb_call *call, const char *json);
PB_API const char *pb_call_state(struct pb_call *call);
/* Can this client be asked? "elicitation", "elicitation.url", "sampling", "sampling.tools",
 * "roots" */
PB_API bool pb_call_can_ask(struct pb_call *call, const char *what);

/* ---- Being a client ----------------------------------------------------------------------- */

struct pb_client;
struct pb_result;

enum pb_era { PB_ERA_AUTO, PB_ERA_LEGACY, PB_ERA_MODERN };
enum pb_transport { PB_TRANSPORT_AUTO, PB_TRANSPORT_STDIO, PB_TRANSPORT_HTTP, PB_TRANSPORT_SSE };

/* A question from the server: method is "elicitation/create", "sampling/createMessage" or
 * "roots/list", params JSON text. Answer at once or later, from any thread, exactly once:
 * pb_question_answer() with the result's JSON, or pb_question_refuse(). Runs on the loop. */
struct pb_question;
typedef void pb_question_fn(void *ctx, struct pb_question *question, const char *method,
                            const char *params);
PB_API void pb_question_answer(struct pb_question *question, const char *result); /* [any thread] */
PB_API void pb_question_refuse(struct pb_question *question, int code, const char *message);

/* Whatever the server tells: "notifications/message", ".../tools/list_changed", ... */
typedef void pb_notification_fn(void *ctx, const char *method, const char *params);
typedef void pb_progress_fn(void *ctx, double progress, double total, const char *message);
/* The server answered 401 or 403 (`status`): its WWW-Authenticate as it was sent, or NULL. Runs on
 * the loop, before what it refused fails with PB_E_AUTH. */
typedef void pb_challenge_fn(void *ctx, int status, const char *challenge);
/* The connection ended by itself; not called by pb_client_free(). */
typedef void pb_closed_fn(void *ctx, const struct pb_error *why);

struct pb_client_options {
    size_t size; /* set by PB_CLIENT_OPTIONS_INIT */
    /* What to connect to: a command, a URL, a server of this process, or (below) a descriptor. */
    const char *command;
    const char *const *args; /* without the command itself; ended by NULL; may be NULL */
    const char *const *env;  /* "NAME=value", over the parent's; ended by NULL; may be NULL */
    const char *cwd;
    const char *url;
    const char *const *headers; /* "Name: value"; ended by NULL; may be NULL */
    struct pb_server *server;   /* in memory: the client lives on the server's loop */

    enum pb_transport transport;
    enum pb_era era;
    const char *protocol; /* insist on this revision; NULL: the best both know */
    const char *name, *version;
    uint32_t connect_ms, timeout_ms; /* 0: 10 s, 30 s */
    size_t max_message_bytes;        /* 0: 256 MiB */

    pb_question_fn *on_question; /* declares the kinds of questions below */
    bool can_elicit, can_elicit_url, can_sample, can_list_roots;
    pb_notification_fn *on_notification;
    pb_closed_fn *on_closed;
    pb_log_fn *on_stderr; /* lines a stdio server writes to its stderr; level is PB_LOG_INFO */
    void *ctx;

    struct pb_loop *loop; /* NULL: the client runs a loop on a thread of its own */
    pb_challenge_fn *on_challenge;
    int fd; /* > 0: a connected descriptor, such as a unix socket, that carries a message a line;
             * taken when opening begins, and closed also when it fails */
    bool clean_env; /* the command gets `env` alone, and nothing of the parent's */
};
#define PB_CLIENT_OPTIONS_INIT                   \
    {                                            \
        .size = sizeof(struct pb_client_options) \
    }

/* Starts or dials the server, finds out its era, and shakes hands. Waits; not on a loop's
 * thread. Errors tell the phases apart: "Failed to spawn", "handshake", "HTTP 401". */
PB_API int pb_client_open(struct pb_client **out, const struct pb_client_options *opts,
                          struct pb_error *err);
/* Ends what is in flight with PB_E_CANCELLED, stops the server process, frees. Waits when the
 * client has its own thread, goes on in the background otherwise. */
PB_API void pb_client_free(struct pb_client *client);

/* The same on a running loop: fn is called once, with the client or an error. */
typedef void pb_opened_fn(void *ctx, struct pb_client *client, const struct pb_error *err);
PB_API int pb_client_start(const struct pb_client_options *opts, pb_opened_fn *fn, void *ctx,
                           struct pb_error *err);

PB_API const char *pb_client_protocol(const struct pb_client *client); /* "2025-11-25", ... */
/* JSON text of what the server said about itself: {"serverInfo", "capabilities",
 * "instructions"?, "protocolVersion"}. */
PB_API const char *pb_client_server(const struct pb_client *client);
/* After -PB_E_AUTH: the WWW-Authenticate challenge as the server sent it, or NULL. When opening
 * fails there is no client to ask: use on_challenge. */
PB_API const char *pb_client_challenge(const struct pb_client *client);

/* The request is on its way, under this id. Runs on the loop before anything else is told of it, so
 * that another thread can call pb_client_cancel() while one waits in pb_client_request(). */
typedef void pb_sent_fn(void *ctx, uint64_t id);
struct pb_request_options {
    size_t size;         /* set by PB_REQUEST_OPTIONS_INIT */
    uint32_t timeout_ms; /* 0: the client's. Progress extends it, up to 10 minutes in all */
    pb_progress_fn *on_progress;
    enum pb_log_level log_level; /* modern servers: log messages about this request ... */
    bool wants_log;              /* ... if this is set */
    void *ctx;
    pb_sent_fn *on_sent;
};
#define PB_REQUEST_OPTIONS_INIT                   \
    {                                             \
        .size = sizeof(struct pb_request_options) \
    }

/* One request, waiting for its answer. params is JSON text of an object or NULL; opts may be
 * NULL. *out is the result, to be freed. -PB_E_REMOTE if the server answered with an error, with
 * its text in err. [any thread but the loop's] */
PB_API int pb_client_request(struct pb_client *client, const char *method, const char *params,
                             const struct pb_request_options *opts, struct pb_result **out,
                             struct pb_error *err);
/* tools/call. A tool that failed (isError) is a result, not an error. */
PB_API int pb_client_call(struct pb_client *client, const char *tool, const char *arguments,
                          const struct pb_request_options *opts, struct pb_result **out,
                          struct pb_error *err);
/* All pages of tools/list, resources/list, resources/templates/list or prompts/list; `what` is
 * "tools", "resources", "resourceTemplates" or "prompts". pb_result_json() is the whole array. */
PB_API int pb_client_list(struct pb_client *client, const char *what, struct pb_result **out,
                          struct pb_error *err);
PB_API int pb_client_read(struct pb_client *client, const char *uri, struct pb_result **out,
                          struct pb_error *err);
PB_API int pb_client_prompt(struct pb_client *client, const char *name, const char *arguments,
                            struct pb_result **out, struct pb_error *err);
/* Is it alive? Works in both eras. */
PB_API int pb_client_ping(struct pb_client *client, struct pb_error *err);
/* Changes of a resource arrive as notifications/resources/updated, in both eras. */
PB_API int pb_client_subscribe(struct pb_client *client, const char *uri, struct pb_error *err);
PB_API int pb_client_unsubscribe(struct pb_client *client, const char *uri, struct pb_error *err);
/* A notification to the server. [any thread] */
PB_API int pb_client_notify(struct pb_client *client, const char *method, const char *params,
                            struct pb_error *err);

/* The same without waiting: fn runs once on the loop, with a result or an error; the result is
 * freed after it. Gives an id for pb_client_cancel() through out_id (may be NULL). */
typedef void pb_result_fn(void *ctx, const struct pb_result *result, const struct pb_error *err);
PB_API int pb_client_send(struct pb_client *client, const char *method, const char *params,
                          const struct pb_request_options *opts, pb_result_fn *fn, void *ctx,
                          uint64_t *out_id, struct pb_error *err);
/* The server is told; the request ends with PB_E_CANCELLED; a late answer is dropped. Unknown
 * ids are ignored. [any thread] */
PB_API void pb_client_cancel(struct pb_client *client, uint64_t id);

/* The result as JSON text, terminated; *n (may be NULL) its length. */
PB_API const char *pb_result_json(const struct pb_result *result, size_t *n);
PB_API bool pb_result_is_error(const struct pb_result *result);
/* What a person would read of a tool's result: texts as they are, "[Image: image/png, 70 bytes]",
 * "[Audio: ...]", a resource's text or "[Resource: uri]", one per line. The caller frees it. */
PB_API char *pb_result_text(const struct pb_result *result);
PB_API void pb_result_free(struct pb_result *result);

#ifdef __cplusplus
}
#endif
#endif
