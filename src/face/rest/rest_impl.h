/* rest_impl.h - shared by the files of rest.
 *
 *   rest.c                 one request: from the guard's verdict to its route
 *   rest_routes.c          the one table of what REST can do
 *   rest_find.c            which route a request is for
 *   rest_params.c          what a request says, checked against its route
 *   rest_pins.c      what was approved of the definitions of servers
 *   rest_reply.c           answers, and what each failure means in HTTP
 *   rest_act.c             what is done to a server, and what came of it
 *   rest_job.c             changes of the config, on a worker
 *   rest_reads.c           requests that the store answers
 *   rest_status.c          the daemon, the alerts
 *   rest_calls.c           calls: under way, ended, recorded
 *   rest_store.c           the store, and its objects
 *   rest_questions.c       what people are asked before a call goes on
 *   rest_grants.c          what they have allowed for a while
 *   rest_policy.c          the rules, and what they say about a call
 *   rest_dry_run.c         rules tried on recorded calls
 *   rest_servers.c         servers as a console sees and rules them
 *   rest_config.c          adding, configuring and removing them
 *   rest_parse.c           what servers a text describes
 *   rest_registry.c        servers that others have published
 *   rest_trial.c           a server tried before it is kept
 *   rest_secrets.c         keys that come with an entry
 *   rest_unmask.c          an entry that was shown without its secrets comes back
 *   rest_lists.c           tools, resources, prompts
 *   rest_ask.c             requests that a server answers
 *   rest_clients.c         servers in the older shape
 *   rest_modes.c           modes
 *   rest_settings.c        settings
 *   rest_events.c          everything that happens, as it happens
 *   rest_recent.c          the last calls that ended, where nothing is recorded
 *   rest_metrics.c         numbers for Prometheus
 *   rest_shapes.c          what is answered, member by member
 *   rest_shapes_events.c   the data of events
 *   rest_shapes_gate.c     records, questions, grants and rules in answers
 *   rest_shapes_lists.c    tools, resources and prompts in answers
 *   rest_schema.c          shapes as JSON Schema, and an example of each (examples.json)
 *   rest_openapi.c         the table as an OpenAPI document
 *   rest_docs.c            the table as a page */
#pragma once
#include "face/control/control.h"
#include "face/host/host.h"
#include "gate/gate.h"
#include "hub/hub/hub.h"
#include "hub/link/link.h"
#include "hub/secrets/secrets.h"
#include "hub/spec/spec.h"
#include "hub/view/view.h"
#include "io/http/http.h"
#include "rest.h"

struct rest_events;
struct rest_metrics;
struct rest_recent;

struct rest {
    struct hosts *hosts;
    struct pb_loop *loop;
    struct gate *gate; /* NULL: there is no hub */
    struct hub *hub;   /* NULL: there is none */
    const struct http_server *http;
    struct hub_subscription *news;
    struct view *view; /* without tools and logs: these are read where they are kept */
    struct rest_events *events;
    struct rest_metrics *metrics;
    struct rest_recent *recent;
    struct list jobs;    /* changes of the config that are under way */
    struct list trials;  /* servers that are being tried */
    struct list lookups; /* questions to registries */
    struct list reads;   /* questions to the store */
    size_t reads_n, dry_runs;
    size_t under_way; /* requests, but for streams */
};

/* ---- one request ---- */

struct rest_value {
    bool given;
    const char *text; /* strings; never NULL when given */
    uint64_t count;
    double number;
    bool yes;
    struct json json; /* members of the body, as they are; their inside is not taped */
};

struct rest_call {
    struct rest *rest;
    struct hub *hub; /* not NULL where the route needs one */
    struct http_request *r;
    const char *principal; /* who asks; borrowed while the route runs */
    const struct rest_route *route;
    struct arena arena;
    struct json_doc doc;
    struct rest_value values[REST_PARAMS_MAX];
};

/* rest_find.c. NULL: there is none; *allow (empty before) names the methods that the path has. */
const struct rest_route *rest_find(struct span method, struct span path, struct buf *allow);

/* rest_params.c. False: refused and answered. */
bool rest_read(struct rest_call *c);
const struct rest_value *rest_value(const struct rest_call *c, const char *name);
/* NULL: not given. */
const char *rest_text(const struct rest_call *c, const char *name);
uint64_t rest_count(const struct rest_call *c, const char *name, uint64_t fallback);
/* Seconds since 1970 as microseconds, 0 if it is not given. False: refused and answered. */
bool rest_time(struct rest_call *c, const char *name, int64_t *us);
/* What the client says it is; `fallback` when it says nothing that can be shown. */
const char *rest_client(struct rest_call *c, const char *fallback);
bool rest_yes(const struct rest_call *c, const char *name);

/* ---- answers: rest_reply.c ---- */

void rest_reply(struct http_request *r, int status, const struct buf *json);
struct rest_failure {
    int status;
    const char *error;
    const char *key; /* names what it is about; may be NULL */
    struct span value;
    const char *code; /* a finer one; may be NULL */
    const char *message;
    enum advice advice;  /* when the state of a server is the trouble */
    const char *next;    /* NULL: that, or what there is to say about the error in general */
    struct span rpc;     /* the error object of the server; may be empty */
    const char *headers; /* more lines; may be NULL */
};
void rest_fail(struct http_request *r, const struct rest_failure *f);
/* {"status":"ok"} */
void rest_reply_ok(struct http_request *r);
/* 400 invalid_request. */
void rest_refuse(struct http_request *r, const char *fmt, ...) PRINTF(2, 3);
/* What a failed hub function means; the key is "server" unless said. */
void rest_fail_hub(struct http_request *r, const struct pb_error *err, const char *key,
                   const char *value);
/* The link that the path names; NULL: answered with server_not_found. */
struct link *rest_link(struct rest_call *c);
void rest_reply_server(struct http_request *r, int status, const struct hub *h, struct link *l);

/* ---- doing something to a server: rest_act.c ---- */

/* The asker is c->r. To be started by one of control_act_*(). */
struct control_act *rest_act_new(struct rest_call *c, const char *server, control_acted_fn *done);
void rest_act(struct rest_call *c, const char *server, control_act_fn *act, bool wait,
              control_acted_fn *done);
/* For `done`: err is answered, if there is one. */
bool rest_act_failed(const struct control_act *a, const struct pb_error *err);

/* rest_ask.c: whose grants count for calls of who asks. What one token was allowed, another was
 * not. */
enum { REST_RUN_CHARS = 13 };
void rest_conversation(const struct rest_call *c, char out[static REST_RUN_CHARS + 1]);

/* ---- changing the config: rest_job.c ---- */

/* What a kind of errand does to the files; each does what those before it do. */
enum rest_errand_kind {
    ERRAND_READS,   /* them; nobody else has to */
    ERRAND_RELOADS, /* the hub takes over what they say */
    ERRAND_CHANGES, /* config.json, before that */
};

struct rest_job;

/* One errand in the files of the config. Its struct begins with a struct rest_job. */
struct rest_errand {
    enum rest_errand_kind kind;
    size_t size; /* of its struct */
    /* On a worker; NULL: nothing is to be done there. */
    int (*work)(struct rest_job *j, struct pb_error *err);
    /* On the loop, when the hub has taken the config over. Answers j->r, which is there. */
    void (*then)(struct rest_job *j);
    /* Ends what is its own; may be NULL. */
    void (*done)(struct rest_job *j);
    const char *moved; /* the error of -PB_E_BUSY: what was to be changed is another by now */
};

struct rest_job {
    const struct rest_errand *errand;
    struct list in_rest;
    struct rest *rest;        /* NULL: closed */
    struct http_request *r;   /* NULL: gone */
    char *path;               /* of config.json */
    char *secrets_dir, *name; /* of the server or mode; NULL: of none */
    struct pb_error err;
    int rc;
};
/* To be filled in and started. NULL: this hub has no files of that kind, and that was answered. */
void *rest_job_new(struct rest_call *c, const struct rest_errand *errand, const char *name);
void rest_job_start(struct rest_job *j);
void rest_jobs_leave(struct rest *s);

/* What a person saw of an entry, masked and with its variables filled in, and what it was made of.
 */
struct rest_masked {
    struct span shown;
    const struct spec *kept;
};
/* The entry with everything that is as it was shown put back as it was, words of a list by their
 * place: rest_unmask.c. `m` may be NULL. -PB_E_INVALID when "***" stands for nothing known. */
MUST_CHECK int rest_unmask(struct buf *out, struct json entry, const struct rest_masked *m,
                           struct pb_error *err);

/* ---- keys: rest_secrets.c ---- */

/* Takes "secrets" out of the request, whose body cannot be read any more afterwards if there are
 * any. -PB_E_INVALID says which is wrong. `out` is to be ended by secret_done(). */
MUST_CHECK int rest_secrets_take(struct rest_call *c, struct buf *out, struct pb_error *err);
/* What was taken, for a server that is started with it. */
MUST_CHECK int rest_secrets_keys(struct span text, const struct spec *s, struct keys *out,
                                 struct pb_error *err);
/* On a worker: saves the entry as that of j->name, without the keys among what was taken, and these
 * where keys are kept. `old` (may be NULL) is what is replaced: what is not said stays. */
MUST_CHECK int rest_secrets_save(const struct rest_job *j, struct json entry, struct span taken,
                                 const struct spec *old, struct pb_error *err);

/* ---- trying servers: rest_trial.c ---- */

void rest_trials_end(struct rest *s);
void rest_trials_leave(struct rest *s);

/* ---- registries: rest_registry.c ---- */

void rest_lookups_end(struct rest *s);

/* ---- questions to the store: rest_reads.c ---- */

/* One request that asks it, once or several times, one after the other. Its struct begins with
 * this. */
struct rest_read {
    struct list in_rest;
    struct rest *rest;       /* NULL: closed */
    struct store *store;     /* NULL: nothing is recorded */
    struct http_request *r;  /* NULL: gone */
    struct store_read *read; /* under way; who is called back sets it to NULL */
    bool working;            /* a worker has it */
    void (*work)(struct rest_read *w), (*worked)(struct rest_read *w);
    void (*done)(struct rest_read *w); /* ends what is its own; may be NULL */
};
/* NULL: nothing is recorded. */
struct store *rest_store_of(const struct rest_call *c);
/* NULL: too many ask, and that was answered. */
void *rest_read_new(struct rest_call *c, size_t size, void (*done)(struct rest_read *w));
/* It was asked; NULL: it is closing, and that is answered. */
void rest_read_begin(struct rest_read *w, struct store_read *read);
/* Does something on a worker, then the other thing on the loop, if somebody still waits for it. */
void rest_read_work(struct rest_read *w, void (*on_worker)(struct rest_read *w),
                    void (*then)(struct rest_read *w));
/* Both free it. */
void rest_read_end(struct rest_read *w);
void rest_read_fail(struct rest_read *w, const struct pb_error *err);
void rest_reads_end(struct rest *s);

/* ---- rules: rest_policy.c ---- */

/* NULL: they are wrong, and that was answered. */
struct policy *rest_policy_read(struct rest_call *c, struct span text);

/* ---- events: rest_events.c ---- */

struct rest_events *rest_events_new(struct rest *s);
void rest_events_free(struct rest_events *e);
/* Ends all streams but those of whom `stays` says so; NULL: of nobody. */
void rest_events_end(struct rest_events *e, bool (*stays)(void *ctx, const char *principal),
                     void *ctx);
void rest_events_hub(struct rest_events *e, const struct hub_event *event);
void rest_events_question(struct rest_events *e, const struct question *q, bool over);
/* One of our own. */
void rest_events_tell(struct rest_events *e, const char *type);
/* What a person is to be told of a change of state, if anything. */
void rest_events_toast(struct rest_events *e, const struct hub_event *event);
size_t rest_events_streams(const struct rest_events *e);

/* ---- metrics: rest_metrics.c ---- */

struct rest_metrics *rest_metrics_new(void);
void rest_metrics_free(struct rest_metrics *m);
void rest_metrics_hub(struct rest_metrics *m, const struct hub *h, const struct hub_event *event);

/* ---- calls that have ended: rest_recent.c ---- */

struct rest_recent *rest_recent_new(void);
void rest_recent_free(struct rest_recent *r);
void rest_recent_hub(struct rest_recent *r, const struct hub_event *event);
/* As store_find(): "recent" and, if there is one, "next". Of what a query may say it knows the
 * server, tool, caller, status and times, and which page. */
void rest_recent_write(struct json_out *o, const struct rest_recent *r, const struct call_query *q);
uint64_t rest_recent_count(const struct rest_recent *r);
/* One by its id: the members of an object. False: it has none. */
bool rest_recent_get(struct json_out *o, const struct rest_recent *r, const char *id);

/* ---- what the table runs ---- */

typedef void rest_run_fn(struct rest_call *c);
rest_run_fn rest_clients, rest_clients_connect, rest_clients_disconnect, rest_clients_reconnect;
rest_run_fn rest_mcp_tools, rest_mcp_tools_call, rest_mcp_resources, rest_mcp_resources_read;
rest_run_fn rest_mcp_prompts, rest_mcp_prompts_get;
rest_run_fn rest_servers, rest_server, rest_server_logs, rest_server_connect;
rest_run_fn rest_server_disconnect, rest_server_reconnect, rest_server_restart, rest_server_cancel;
rest_run_fn rest_reconnect_failed, rest_server_ping, rest_servers_parse, rest_servers_test;
rest_run_fn rest_servers_add, rest_server_configure, rest_server_remove, rest_server_enable;
/* add_around.taken: by another server than this one of the hub (ctx). */
bool rest_name_taken(void *ctx, const struct spec *s, const char *name);
rest_run_fn rest_server_disable, rest_server_tool, rest_reload;
rest_run_fn rest_tools, rest_resources, rest_prompts;
rest_run_fn rest_modes, rest_modes_match, rest_mode_save, rest_mode_remove;
rest_run_fn rest_settings, rest_settings_change;
rest_run_fn rest_pins, rest_pins_approve;
rest_run_fn rest_registry, rest_registry_server;
rest_run_fn rest_calls, rest_call, rest_calls_cancel, rest_calls_forget, rest_status, rest_logs;
rest_run_fn rest_store, rest_object, rest_questions, rest_question_answer;
rest_run_fn rest_grants, rest_grants_add, rest_grants_revoke, rest_grant_revoke, rest_auto_approve;
rest_run_fn rest_policy, rest_policy_save, rest_policy_dry_run, rest_explain;
rest_run_fn rest_alerts, rest_alerts_dismiss, rest_alert_dismiss;
rest_run_fn rest_events, rest_metrics, rest_openapi, rest_docs;

/* ---- the shapes of answers: rest_shapes*.c ---- */

extern const struct rest_shape rest_call_record_shape, rest_dry_run_shape, rest_explained_shape,
    rest_grant_shape, rest_grants_shape, rest_policy_shape, rest_question_shape,
    rest_questions_shape, rest_recorded_shape, rest_revoked_shape, rest_store_shape;
extern const struct rest_shape rest_alerts_shape, rest_calls_shape, rest_candidates_shape,
    rest_log_entry_shape, rest_pins_shape, rest_approved_shape, rest_client_connected_shape,
    rest_client_prompts_shape, rest_client_resources_shape, rest_client_tools_shape,
    rest_clients_shape, rest_document_shape, rest_done_mode_shape, rest_done_server_shape,
    rest_done_shape, rest_logs_shape, rest_mode_match_shape, rest_mode_shape, rest_modes_shape,
    rest_plan_shape, rest_pong_shape, rest_prompt_page_shape, rest_prompt_result_shape,
    rest_registry_shape, rest_resource_page_shape, rest_resource_read_shape,
    rest_server_detail_shape, rest_servers_shape, rest_settings_shape, rest_status_shape,
    rest_tool_page_shape, rest_tool_result_shape, rest_trial_shape;

/* rest_schema.c: an answer of this shape; every shape of a route has one. */
const char *rest_example(const struct rest_shape *shape);
/* The keywords of a type in the open object. */
void rest_put_type(struct json_out *o, enum rest_type type, bool nullable);
void rest_put_ref(struct json_out *o, const struct rest_shape *shape);
/* Those of all routes, of failures and of events: {"Server":{…},…}. */
void rest_put_schemas(struct json_out *o, const char *key);

/* rest_openapi.c, for documents. */
void rest_write_openapi(struct buf *out);
