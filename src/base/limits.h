/* limits.h - every bound in the program, by name. A test holds each at the bound, one past it
 * and far past it. Sizes in bytes, times in milliseconds. */
#pragma once

enum {
    /* what somebody meant by a name that does not exist */
    NEAR_CHARS_MAX = 64, /* of a name that are compared: the bits of a word */
    NEAR_NAMES_MAX = 3,  /* offered */

    /* memory of small things that ended, kept for the next ones, per thread */
    SPARE_MOST = 1024,    /* the size of one */
    SPARE_BYTES = 131072, /* of all: some dozens of calls under way */

    /* json */
    JSON_DEPTH_MAX = 128,
    JSON_NODES_MAX = 1000000,         /* values and keys of one tape; an entry has 16 bytes */
    JSON_SCHEMA_DEPTH_MAX = 128,      /* nested applications while checking a value */
    JSON_SCHEMA_STEPS_MAX = 1000000,  /* keyword applications in one check */
    JSON_SCHEMA_BYTES_MAX = 1048576,  /* text of one schema */
    JSON_SCHEMA_SUBS_MAX = 50000,     /* schemas within one schema */
    JSON_SCHEMA_URI_MAX = 2048,       /* an absolute $id */
    JSON_PATTERN_STEPS_MAX = 100000,  /* matcher steps of one `pattern` */
    JSON_PATTERN_NEST_MAX = 100,      /* parentheses in one `pattern` */
    JSON_PATTERN_BYTES_MAX = 4194304, /* compiled patterns of one schema */
    JSON_PATTERN_HEAP_KIB = 10240,    /* memory of one match, in KiB as PCRE2 counts */

    /* regular expressions for searching in files */
    REGEX_BYTES_MAX = 4096,      /* as it is written */
    REGEX_STEPS_MAX = 100000,    /* from one character of the text on */
    REGEX_REQUIRED_MAX = 8,      /* alternatives that are looked for before it is run */
    REGEX_STACK_BYTES = 1048576, /* of one match */

    /* messages */
    REQUEST_BYTES_MAX = 10485760,     /* one incoming request: a line or an HTTP body */
    REQUEST_ID_PEEK = 1024,           /* how much of a too large request is searched for its id */
    REPLY_BYTES_MAX = 268435456,      /* one message from a server we are client of */
    RPC_BATCH_MAX = 100,              /* messages in one 2025-03-26 batch */
    RPC_BATCH_ANSWERS_MAX = 67108864, /* bytes of their answers; then errors come instead */
    RPC_BATCHES_ANSWERS_MAX = 268435456, /* the same, of all batches of a listener or a client */
    RPC_ID_BYTES_MAX = 4096,             /* a request id as written */
    RPC_TOKEN_BYTES_MAX = 4096,          /* a progress token as written */

    /* loop */
    LOOP_POSTS_MAX = 65536,   /* callbacks waiting to be run by the loop */
    LOOP_WORK_THREADS = 64,   /* started one by one, when a job finds none idle */
    LOOP_WORK_MAX = 4096,     /* jobs waiting for a worker */
    LOOP_LINES_PER_TURN = 64, /* messages handled before others get a turn */
    LOOP_BUSY_MS = 20,        /* a callback longer than this is counted */
    LOOP_SLOW_MS = 100, /* one that takes longer, or works longer than 20, is reported by name, */
    LOOP_REPORT_MS = 10000, /* each name once in this time */

    /* streams: past the high mark the producer is paused, past the hard mark writes fail */
    STREAM_READ_BYTES = 65536,
    STREAM_READ_MAX = 1048576, /* one read, grown to while reads come back full */
    STREAM_CORK_BYTES = 16384, /* small writes of one turn are put together up to this */
    STREAM_QUEUE_HIGH = 1048576,
    STREAM_QUEUE_HARD = 335544320, /* one reply of the largest size and some more */
    STREAM_QUEUE_NOTES = 67108864, /* for clients beyond that: errors instead of answers, news */

    /* child processes */
    CHILD_STOP_MS = 5000,  /* between SIGTERM and SIGKILL */
    CHILD_LINGER_MS = 200, /* for what it left behind, after its end */
    CHILD_STDERR_LINE_MAX = 8192,
    CHILD_STDERR_KEEP = 20,     /* last lines kept for error texts */
    CHILD_STDERR_PER_TURN = 64, /* lines handed on, before others get a turn */
    CHILD_STDERR_PER_S = 500,   /* lines in the long run; more are counted and left out */
    CHILD_STDERR_BURST = 2000,  /* and so many at once */

    /* HTTP server */
    HTTP_HEAD_BYTES_MAX = 16384,
    HTTP_FIELDS_MAX = 100,
    HTTP_CONNECTIONS_MAX = 20000,
    HTTP_FILES_RESERVE = 512, /* descriptors that connections leave to all else; at least half */
    HTTP_HEAD_MS = 10000,     /* whole request head */
    HTTP_BODY_MS = 60000,     /* whole request body */
    HTTP_BODIES_BYTES_MAX = 268435456, /* bodies of one server's requests, all together ... */
    HTTP_BODY_SMALL = 16384,           /* ... past which only bodies up to this are taken */
    HTTP_STRAY_BODY_MAX = 4096,        /* of a body where none is asked for */
    HTTP_IDLE_MS = 75000,              /* between requests on one connection */
    HTTP_WRITE_STALL_MS = 60000,       /* a reader that takes nothing for this long is cut off */
    HTTP_LINGER_MS = 1000,             /* reading on after an error answer, so it is not lost */
    HTTP_BACKLOG = 1024,               /* connections the kernel keeps for us to accept */
    HTTP_ACCEPTS_PER_TURN = 64,
    HTTP_ACCEPT_RETRY_MS = 100,        /* after running out of descriptors */
    HTTP_REQUESTS_PER_TURN = 64,       /* pipelined ones, before other connections get a turn */
    HTTP_PIPELINE_BYTES_MAX = 65536,   /* sent ahead while a request is answered */
    HTTP_REFUSALS_MAX = 256,           /* connections told 503 at once; more are just closed */
    HTTP_CORK_BYTES = 16384,           /* small writes of one turn that are sent together */
    HTTP_UNREAD_BYTES_MAX = 536870912, /* answers of one server; who took none longest: cut off */
    HTTP_PROBE_S = 60,                 /* TCP keep-alive: a peer that is silent so long is asked */

    /* HTTP client */
    HTTP_CONNECT_MS = 10000,
    HTTP_REDIRECTS_MAX = 5,
    HTTP_CALLS_MAX = 10000,         /* requests of one client under way */
    HTTP_CALLS_PER_TURN = 64,       /* begun, resumed or ended, before others get a turn */
    HTTP_IDLE_CONNECTIONS_MAX = 64, /* kept open for the next request */
    HTTP_REPLY_HEAD_MAX = 65536,    /* head and trailers of a response, all 1xx counted in */
    HTTP_ERROR_BODY_MAX = 65536,    /* of an error answer, kept to read its JSON-RPC error */

    /* SSE */
    SSE_FIELD_ID_MAX = 1024,
    SSE_EVENTS_PER_TURN = 64,  /* of one stream, before others get a turn */
    SSE_LINES_PER_TURN = 4096, /* likewise, however few events they make */
    SSE_RETRY_MIN_MS = 100,
    SSE_RETRY_MAX_MS = 60000,
    SSE_KEEPALIVE_MS = 15000,

    /* MCP server */
    MCP_TOOL_MS = 60000,    /* one tool call on the serving side */
    MCP_STOP_MS = 5000,     /* graceful stop: running calls */
    MCP_FLUSH_MS = 2000,    /* graceful stop: answers to a client that still reads */
    STDIO_STALL_MS = 60000, /* a client past the hard mark that takes nothing so long is cut off */
    MCP_EOF_GRACE_MS = 100, /* calls that still run when stdin ends */
    MCP_PAGE_ITEMS = 1000,  /* default page of a list */
    MCP_SESSIONS_MAX = 100000, /* of one listener, on all its paths; fair: carrier/seats.h */
    MCP_SESSION_IDLE_MS = 3600000,
    MCP_SESSIONS_PER_TURN = 256, /* ended for want of use, before others get a turn */
    MCP_BEATS_PER_TURN = 256,    /* streams kept open by a comment; when more, then rest: */
    MCP_BEATS_REST_MS = 1,
    MCP_TELLS_PER_TURN = 4096, /* messages of what all clients are told, before others get a turn */
    MCP_TELL_BYTES_MAX = 16777216,      /* of what waits to be told to all clients */
    MCP_INFLIGHT_MAX = 4096,            /* requests of one client being answered at once */
    MCP_QUESTIONS_MAX = 64,             /* asked of one client and not yet answered */
    MCP_QUESTIONS_BYTES_MAX = 83886080, /* the same asked by one server, their params */
    MCP_ASK_ROUNDS_MAX = 16,            /* question rounds of one call */
    MCP_ASK_MS = 600000,                /* a person may take this long to answer */
    MCP_STATE_BYTES_MAX = 65536,        /* requestState as it travels */
    MCP_STATE_MS = 3600000,             /* how long a requestState is good */
    MCP_LISTEN_MAX = 1024,              /* subscriptions/listen streams */
    MCP_SUBSCRIPTIONS_MAX = 1024,       /* resource URIs one client may subscribe to */
    MCP_REPLAY_EVENTS_MAX = 256,        /* kept for resumption, per stream, besides answers */
    MCP_REPLAY_BYTES_MAX = 4194304,     /* their bytes; the newest may be larger */
    MCP_REPLAY_STREAMS_MAX = 1024,      /* ended streams kept for resumption, per listener */
    MCP_REPLAY_TOTAL_MAX = 67108864,  /* bytes kept for resumption, per listener, of all streams */
    MCP_MEMORY_QUEUE_MAX = 65536,     /* messages on their way in memory, per direction */
    MCP_MEMORY_BYTES_MAX = 335544320, /* their bytes */
    MCP_TASKS_MAX = 10000,
    MCP_TASK_KEEP_MS = 3600000,     /* a finished task stays readable */
    MCP_TASK_POLL_MS = 500,         /* what we tell clients */
    MCP_COMPLETIONS_MAX = 100,      /* values in one completion answer; the protocol's number */
    MCP_PARAM_DEPTH_MAX = 50,       /* nesting of typed tool parameters */
    MCP_URI_BYTES_MAX = 65536,      /* a resource's URI that is matched against templates */
    MCP_TEMPLATE_PARTS_MAX = 32,    /* literals and variables of one URI template */
    MCP_CALL_EVENTS_MAX = 1024,     /* progress and log of one call, on their way to the loop */
    MCP_TASKS_BYTES_MAX = 67108864, /* results of finished tasks; the oldest go first */
    MCP_SPARE_MAX = 64,             /* message structs kept for reuse with their tapes */
    MCP_TAPE_KEEP = 65536,          /* of a message's tape, kept for reuse */
    MCP_ERROR_TEXT_MAX = 512,       /* the message of a JSON-RPC error that we write */
    MCP_NAME_SHOWN_MAX = 100,       /* of a name that a client chose, in such a message */
    MCP_CLIENT_LABEL_MAX = 64,      /* what people are told of who asks */

    /* MCP client */
    MCP_CALL_MS = 30000,        /* one request on the client side */
    MCP_CALL_TOTAL_MS = 600000, /* the most that progress can extend it to */
    MCP_CONNECT_MS = 10000,
    MCP_PROBE_MS = 3000,  /* waiting for an old server to say it does not know us */
    MCP_PAGES_MAX = 1000, /* pages followed in one list */
    MCP_LIST_ITEMS_MAX = 100000,
    MCP_HTTP_DETAIL_MAX = 100,    /* of a header, in an error text */
    MCP_STRAY_LINE_MAX = 160,     /* of a line that is no message, in an error text */
    MCP_GARBAGE_LINES_MAX = 1000, /* not JSON-RPC, on the stdout of a server */
    MCP_RECONNECTS_MAX = 5,       /* tries to resume one stream */
    MCP_RESUME_MS = 1000,         /* before resuming a stream whose server said nothing about it */
    MCP_RESUME_MAX_MS = 30000,
    MCP_STREAM_STEADY_MS = 5000,       /* a stream that lived this long starts counting anew */
    MCP_STREAM_LINGER_MS = 1000,       /* for the end of a stream that has given its answer */
    MCP_GOODBYE_MS = 2000,             /* for the DELETE of a session */
    MCP_STDIN_CLOSED_MS = 1000,        /* for a server to end by itself when its input has ended */
    MCP_SESSION_ID_MAX = 1024,         /* of a server's Mcp-Session-Id */
    MCP_CURSOR_BYTES_MAX = 65536,      /* of a server's nextCursor */
    MCP_CLIENT_CALLS_MAX = 10000,      /* requests of ours without an answer */
    MCP_CLIENT_QUEUE_BYTES = 67108864, /* waiting for a server that does not read */
    MCP_CLIENT_ROUNDS_MAX = 10,        /* input_required answers to one request */
    MCP_ROUND_PAUSE_MS = 250,          /* before a round that has nothing to answer */
    MCP_OUT_KEEP = 4096,               /* memory of a sent message, kept for the next */

    /* store */
    STORE_QUEUE_BYTES = 1048576, /* records that wait to be written; then whoever can waits */
    STORE_QUEUE_HARD = 16777216, /* past this they are lost, and counted */
    STORE_HELD_BYTES = 67108864, /* the same for the messages that their bytes lie in */
    STORE_HELD_HARD = 268435456,
    STORE_COPY_MAX = 4096,       /* of an object; more is held where it lies */
    STORE_OBJECT_MAX = 67108864, /* of a larger one only cid and size are kept */
    STORE_SMALL_MAX = 512,       /* an object up to this is not compressed */
    STORE_WORD_MAX = 512,        /* of a name in a record */
    STORE_NOTE_MAX = 4096,       /* of what says why */
    STORE_WORDS_MAX = 1024,      /* names whose number is remembered */
    STORE_KNOWN_MAX = 256,       /* small objects that are known by their bytes ... */
    STORE_KNOWN_BYTES = 262144,  /* ... which are together at most so large */
    STORE_GATHER_MS = 10,        /* before what waits is written, unless a chunk is full */
    STORE_CHUNK_BYTES = 65536,   /* of records that wait, or are written */
    STORE_COMMIT_ROWS = 8192,    /* written in one transaction */
    STORE_COMMIT_BYTES = 4194304,
    STORE_CACHE_KIB = 256,       /* pages of the file in memory, per connection */
    STORE_WAL_BYTES = 4194304,   /* the file of what was written last, when nobody reads */
    STORE_RETRY_MS = 3000,       /* before it is tried again, when writing failed */
    STORE_REST_MS = 60000,       /* the same for what can wait */
    STORE_READERS = 2,           /* connections that read */
    STORE_READER_IDLE_MS = 5000, /* before those are closed */
    STORE_READ_MS = 5000,        /* one question */
    STORE_READS_MAX = 256,       /* questions that wait or are answered */
    STORE_PAGE_MAX = 1000,       /* records of one answer */
    STORE_PAGE_USUAL = 50,
    STORE_SCAN_MAX = 16384,      /* rows that are looked at for it; then it says where to go on */
    STORE_TEXT_MAX = 65536,      /* of an object's words that can be searched for */
    STORE_TEXT_BLANKS = 512,     /* a longer string without a space is none for people */
    STORE_QUERY_MAX = 1024,      /* of what is searched for */
    STORE_MATCHES_MAX = 1000,    /* objects that a search finds, the newest */
    STORE_INDEX_OBJECTS = 256,   /* whose words are indexed in one transaction */
    STORE_INDEX_BYTES = 1048576, /* and so much of their text */
    STORE_INDEX_MS = 1000,       /* a search waits so long for what is not indexed yet */
    STORE_INDEX_TURN_MS = 50,    /* of it, before calls are written again */
    STORE_SWEEP_WORDS = 65536,   /* names that are looked at in one, to drop those without use */
    STORE_SWEEP_DROPS = 4096,    /* of these, dropped in one */
    STORE_SWEEP_NEW = 1024,      /* for fewer it is not done */
    STORE_DROP_ROWS = 1024,      /* records that are deleted in one transaction */
    STORE_VACUUM_PAGES = 256,    /* given back to the system in one */
    STORE_TIDY_MS = 3600000,     /* between two looks for what is too old */

    /* hub */
    HUB_NAME_MAX = 64,            /* a server's name */
    HUB_SERVERS_MAX = 10000,      /* servers of one hub */
    HUB_STOP_MS = 10000,          /* a whole stop */
    HUB_BEHIND_MAX = 256,         /* hubs that can be reached through one, told to its clients */
    HUB_WAITING_MAX = 10000,      /* calls that wait for a server to come up */
    HUB_PROVEN_MS = 16000,        /* a connection that lived so long: reconnects count anew */
    HUB_STEADY_MS = 600000,       /* the same for restarts after crashes */
    HUB_DELAY_MAX_MS = 3600000,   /* the longest wait before an attempt */
    HUB_CACHE_JOBS = 2,           /* files of the cache that are read or written at once */
    HUB_CACHE_RETRY_MS = 100,     /* before they are tried again when no worker is free */
    SPEC_TIMEOUT_MS = 30000,      /* tool calls of a server that says nothing about it */
    SPEC_IDLE_MS = 1800000,       /* a lazy server is stopped after this */
    SPEC_WORDS_MAX = 1024,        /* arguments, variables, headers or globs of one server */
    SPEC_SECONDS_MAX = 31536000,  /* any time in a spec, in seconds */
    CONFIG_BYTES_MAX = 16777216,  /* one config file */
    CONFIG_VALUE_MAX = 65536,     /* one value after its variables are filled in */
    CONFIG_STEM_MAX = 58,         /* of a name made for a server, before "-10001" */
    CONFIG_LINKS_MAX = 16,        /* symbolic links on the way to a config file */
    CONFIG_LOCK_MS = 5000,        /* for another program to finish changing it */
    CONFIG_WARNINGS_MAX = 1000,   /* of one load */
    TRUST_ENTRIES_MAX = 500,      /* answers about files of projects; the oldest go */
    TRUST_BYTES_MAX = 16777216,   /* the file that they are kept in */
    ADD_TEXT_MAX = 1048576,       /* what is pasted where a server is to be added */
    TOML_DEPTH_MAX = 16,          /* of it: tables and lists in each other */
    TOML_KEYS_MAX = 4096,         /* all keys: each is held against those before it */
    SECRET_BYTES_MAX = 65536,     /* one key of a server */
    SECRET_NAME_MAX = 128,        /* the variable or header that it is for */
    REDACT_MIN = 4,               /* a shorter key stays in texts: it would be found everywhere */
    REDACT_GUESS_MIN = 8,         /* the same for what only looks like one */
    REDACT_BYTES_MAX = 8388608,   /* of all secrets of one server, in all ways to write them, and */
    REDACT_WORDS_MAX = 4096,      /* of one server; past it its texts are not shown at all */
    REDACT_PIECE_MAX = 48,        /* so many bytes of a secret give it away, however long it is */
    REDACT_HITS_MAX = 65536,      /* secrets in one string; with more, nothing of it is shown */
    REDACT_STEPS_EACH = 16,       /* bytes looked at again, for each byte of a text, and ... */
    REDACT_STEPS_MIN = 1048576,   /* ... for any text; what is left of it then is hidden */
    REDACT_NEST_MAX = 4,          /* JSON in strings of JSON that is read as such */
    REDACT_TOLD_MAX = 32,         /* places that are told by name; then their number */
    REDACT_AT_MAX = 1024,         /* of such a place; of a longer one what it lies in is told */
    VAULT_SECRETS_MAX = 8192,     /* that the whole program knows, and */
    VAULT_BYTES_MAX = 33554432,   /* their bytes in all ways to write them; past it nothing of any
                                     text is recorded */
    LINK_LOG_MAX = 1000,          /* entries kept per server; S0-52 */
    LINK_LOG_LINE_MAX = 4096,     /* of one entry */
    LINK_CALLS_MAX = 9000,        /* of one server, without an answer; its client takes more */
    LINK_QUEUE_MAX = 10000,       /* calls that wait because of max_calls */
    LINK_REFRESH_MS = 1000,       /* a list is read again once in this time, in the long run */
    LINK_REFRESH_BURST = 10,      /* and so often at once */
    LINK_PROGRESS_TEXT_MAX = 500, /* of what a server says about its progress, kept to be shown */
    LINK_TOLD_MAX = 65536,        /* of a log message or progress of a server, told to clients */
    LINK_INSTANCES_MAX = 256,     /* own processes of callers, per server */
    LINK_ORIGIN_MAX = 16,         /* of them, for callers of one origin that name themselves */
    LINK_GHOSTS_MAX = 256,        /* cancelled calls that a legacy server may still ask about */
    LINK_GHOST_MS = 600000,       /* for so long, or longer: as its own limit is */
    CATALOG_ITEMS_MAX = 100000,   /* of one kind */
    CATALOG_BYTES_MAX = 268435456, /* their texts */
    CATALOG_NAME_MAX = 1024,       /* a tool's or prompt's own name */
    CATALOG_RENDERS_MAX = 8,       /* rendered lists kept, per kind */
    CATALOG_WARNINGS_MAX = 10,     /* said about the items of one list; the rest is counted */
    CATALOG_LIKE_SCAN = 1000,      /* names that it looks at for them */
    CATALOG_SEEN_MAX = 4096,       /* URIs that results mentioned */
    WIRE_NAME_MAX = 64,            /* an outward tool name */
    FILTER_DEPTH_MAX = 32,
    FILTER_NODES_MAX = 10000,
    MODES_MAX = 1000, /* named filters */
    VIEW_ALERTS_MAX = 1000,
    REMEDY_LINES_MAX = 40,        /* of a server's stderr, in which its trouble is looked for */
    DOCTOR_AT_ONCE = 16,          /* servers that are looked at */
    DOCTOR_STDERR_MAX = 16384,    /* of what one server says while it is looked at */
    WATCH_QUIET_MS = 100,         /* several changes of a file are one */
    WATCH_QUIET_MAX_MS = 1000,    /* even if there is no end to them */
    RELAY_PARKED_MAX = 1024,      /* calls that wait for a client to come back */
    RELAY_PARKED_CALLER_MAX = 64, /* of one client: it must not take the places of all others */
    RELAY_KEPT_EACH = 16777216,   /* bytes of answers that came for parked calls of one client */
    RELAY_KEPT_MAX = 67108864,    /* and of all clients together */
    RELAY_ASK_BYTES = 4194304,    /* one question that waits for a client to come back */
    RELAY_ASKS_BYTES = 67108864,  /* and all of them */
    RELAY_ELICITS_MAX = 1024,     /* URLs given to clients whose servers have not said "done" yet */
    RELAY_ELICIT_ID_MAX = 256,    /* bytes of the id of one */
    RELAY_TASK_ID_MAX = 1024,     /* bytes of a server's own id of a task */
    RELAY_ROUNDS_MAX = 8,         /* input_required answers to one call of a legacy client */
    HOST_ROOTS_MS = 5000,         /* for a client to say what its roots are, when nobody calls */
    HOST_HELLO_MAX = 32768,       /* instructions of all servers together */
    HOST_HELLO_SERVER_MAX = 8192, /* of one of them */
    ATTACH_LINE_MAX = 4096,       /* the first line on the unix socket */
    ATTACH_MS = 5000,             /* the time for it */
    WARDEN_STOP_MS = 3000,        /* for what a server left behind; it has had CHILD_STOP_MS */
    WARDEN_DEPTH_MAX = 16,        /* programs of ours inside each other */
    WARDEN_ENVIRON_MAX = 8388608, /* of an environment that is searched for a mark */
    WARDEN_WATCHED_MAX = 256,     /* processes whose end is waited for at a time */
    WARDEN_KILLS_MAX = 100,       /* rounds of SIGKILL before it is hopeless */
    WARDEN_KILL_MS = 100,         /* for one such round */
    WARDEN_PAUSE_MS = 10,         /* between two looks that find nothing */

    /* what one server may list, so that others have room; and what it costs to find a URI */
    CATALOG_SERVER_ITEMS_MAX = 10000,    /* of one kind */
    CATALOG_SERVER_BYTES_MAX = 16777216, /* their texts */
    CATALOG_TEMPLATES_MAX = 512,         /* instead, as each may have to be tried */
    CATALOG_FIT_BYTES_MAX = 8192,        /* a URI that is held against templates */
    CATALOG_STEPS_MAX = 2097152,         /* of doing so: one lookup, or all URIs of one result */
    MCP_TEMPLATE_STEPS_MAX = 4194304,    /* the same for one template of our own */
    CATALOG_SEEN_SERVER_MAX = 512,       /* URIs that its results mentioned */
    MCP_HELLO_BYTES_MAX = 65536,         /* capabilities, info or instructions of a server */
    HOST_WAITS_PER_TURN = 64,            /* requests that waited for servers, handled again */
    RELAY_URIS_MAX = 10000,              /* of one result, rewritten; more pass as they are */

    DAEMON_LOG_BURST = 50,   /* warnings on standard error at once; */
    DAEMON_LOG_MS = 1000,    /* then one more in this time */
    DAEMON_REREAD_MS = 1000, /* until it is read after all, when no worker was free */
    DAEMON_ENDS_MS = 30000,  /* with all of its servers, while a verb waits for it */

    /* The command line */
    WANTED_KINDS_MAX = 32,   /* kinds of value that one schema is seen to take */
    WANTED_STEPS_MAX = 1000, /* schemas that are looked into to find out */
    TELL_STEPS_MAX = 20000,  /* the same for all that is told of one tool; then "…" */
    TELL_STEP_BYTES = 64,    /* of told text that count as one of them */
    ARGUMENT_DOTS_MAX = 16,  /* objects within objects that a dotted key means */
    ARGUMENT_LISTS_MAX = 16, /* lists within lists that one text is put into */

    /* The gate: rules, questions and grants */
    POLICY_RULES_MAX = 1000,
    POLICY_CONDITIONS_MAX = 32,  /* on the arguments, of one rule */
    POLICY_STEPS_MAX = 100000,   /* of looking for what the conditions of all rules are about */
    GATE_LOOKS_MAX = 10000,      /* tools of which it is known whether rules concern them */
    GATE_LOOK_BYTES = 512,       /* names of one; of what has a longer one it is looked up anew */
    GATE_CANONICAL_MAX = 262144, /* arguments that are compared whatever their spelling is */
    GATE_HELD_MAX = 1000,        /* orders that wait for an answer */
    GATE_HELD_CALLER_MAX = 100,  /* the same, of one caller */
    GATE_HELD_BYTES_MAX = 67108864, /* their params */
    GATE_ASK_MS = 600000,           /* a question waits so long, then the answer is no */
    GATE_ASK_MAX_MS = 86400000,     /* the most that a rule may say */
    GATE_BEAT_MS = 10000,           /* between two signs of life to a caller that waits */
    GATE_LISTENERS_MAX = 64,        /* faces, and people who follow */
    GRANT_MS = 300000,              /* unless said */
    GRANT_MAX_S = 2592000,          /* thirty days */
    GRANTS_MAX = 10000,
    EXPORT_PAGE_CALLS = 100,        /* recorded calls that are written at a time ... */
    EXPORT_PAGE_BYTES = 4194304,    /* ... or fewer, when they are so large */
    GRANT_TEXT_MAX = 1024,          /* of a conversation, or of an operation */
    GATE_ROOM_MAX = 16384,          /* orders that wait until others are recorded */
    QUESTION_TEXT_MAX = 1024,       /* bytes of who wants what */
    QUESTION_ARGUMENTS_MAX = 65536, /* bytes of arguments that are shown with a question */
    OTLP_BATCH_MAX = 2000,          /* calls that a collector is sent at once */
    OTLP_WAIT_MS = 2000,            /* after a call, so that others go with it */
    OTLP_RETRY_MS = 30000,          /* when the collector is away */
    OTLP_SEND_MS = 30000,
    WEBHOOK_OPEN_MAX = 512,     /* questions that a webhook is being told of */
    WEBHOOK_ANSWER_MAX = 65536, /* bytes of what it answers with */
    WEBHOOK_OVER_MS = 10000,    /* for hearing that a question is over */

    HOSTS_MAX = 4096, /* different things that clients are shown, or places where they work */
    /* Tools of our own */
    KIT_STOP_MS = 5000,    /* for calls to end when the program does */
    KIT_DISPLAY_MAX = 256, /* bytes of what is said of a call that begins */
    KIT_ARGUMENTS_MAX = 256, /* of one call; more are refused */
    KIT_LANE_MAX = 256,    /* calls that wait for one of the same conversation */
    PLACE_TRIES = 64,      /* of opening a path on which something is being renamed */

    /* Files that built-in tools read and change */
    FILE_READ_LINES = 2000,       /* shown by one call, and */
    FILE_READ_BYTES = 40000,      /* of them: about 10,000 tokens */
    FILE_READ_FILES = 20,         /* in one call */
    FILE_LOOK_BYTES = 8192,       /* of its beginning, that tell text from other things */
    FILE_LIST_ENTRIES = 100,      /* of a directory that are shown, unless more are wanted */
    FILE_LIST_MAX = 1000,         /* the most */
    FILE_LIST_SCAN = 200000,      /* of a directory that are sorted; of a larger one no more */
    FILE_EDIT_BYTES = 16777216,   /* a file that is changed as a text */
    FILE_EDIT_TRIES = 16,         /* when others change it at the same time */
    FILE_REPLACEMENTS_MAX = 1000, /* of one call */
    FILE_XATTR_BYTES = 65536,     /* names, or one value, of attributes that a file keeps */
    FILE_PATCH_FILES = 500,       /* of one patch */
    FILE_PATCH_HUNKS = 20000,     /* of all its files */
    FILE_PATCH_BYTES = 67108864,  /* all files that it is about, together */
    FILE_PATCH_LINES = 1000000,   /* of one of them */
    FILE_PATCH_FUZZ = 2,          /* lines of context, at both ends of a hunk, that may differ */
    FILE_PATCH_STEPS = 50000000,  /* lines compared to find where the hunks of a file belong */
    FILE_PATCH_SHOWN = 12,        /* lines of a hunk that does not fit, told to the caller */
    FILE_SHOWN_BYTES = 200,       /* of a line that is told to explain something */

    /* Of these: todos, calculations and texts */
    TODO_ITEMS_MAX = 500,          /* todos of one conversation, and of each ... */
    TODO_TITLE_MAX = 1024,         /* bytes of its title */
    TODO_TEXT_MAX = 16384,         /* and of any other text */
    TODO_DEPENDS_MAX = 100,        /* todos that it depends on */
    TODO_ID_MAX = 1000000000,      /* its id */
    TODO_FILE_MAX = 4194304,       /* bytes of the whole list */
    TODO_LISTS_MAX = 10000,        /* conversations that have one; the oldest goes */
    TODO_LOCK_MS = 5000,           /* for another program to finish changing one */
    TODO_ERRORS_TOLD = 50,         /* mistakes in a list that are told; the others are counted */
    TODO_SECONDS_MAX = 2000000000, /* of a time in the file */
    MATH_TEXT_MAX = 8192,          /* bytes of an expression */
    MATH_DEPTH_MAX = 64,           /* of it: parentheses and signs within each other */
    MATH_ARGUMENTS_MAX = 64,       /* of one function in it */
    STRING_BYTES_MAX = 4194304,    /* what a tool for texts answers with */
    STRING_PARTS_MAX = 10000,      /* and into how many a text is split */

    /* Searching in files */
    SEARCH_GLOB_MAX = 1024,            /* bytes of a pattern for paths */
    SEARCH_ALTERNATIVES_MAX = 256,     /* that its braces make */
    SEARCH_IGNORE_BYTES_MAX = 1048576, /* one .gitignore */
    SEARCH_IGNORE_RULES_MAX = 20000,   /* of one */
    SEARCH_QUERY_MAX = 4096,           /* bytes of what is looked for */
    SEARCH_RESULTS_USUAL = 100,        /* in one answer */
    SEARCH_RESULTS_MAX = 1000,
    SEARCH_KEPT_MAX = 10000,       /* results that are kept, the first by path */
    SEARCH_KEPT_BYTES = 33554432,  /* of all conversations together; the oldest go */
    SEARCH_SHOWN_BYTES = 240,      /* of a line, around what was found */
    SEARCH_THREADS_MAX = 8,        /* of one search */
    SEARCH_HELPERS_MAX = 16,       /* threads that help, of all searches together */
    SEARCH_DEPTH_MAX = 128,        /* directories within directories */
    SEARCH_FDS_MAX = 256,          /* directories open at a time; then one thread goes on */
    SEARCH_ENTRIES_MAX = 10000000, /* files and directories that are looked at */
    SEARCH_BATCH_FILES = 64,       /* handed to a thread at a time */
    SEARCH_DENTS_BYTES = 65536,    /* of a directory, read at once */
    SEARCH_READ_BYTES = 65536,     /* of a file, read at once */
    SEARCH_LINE_MAX = 65536,       /* a longer line is searched in parts ... */
    SEARCH_OVERLAP = 4096,         /* ... that have so much in common */
    SEARCH_PIECE_BYTES = 16384,    /* that an expression is run on at once, or a line */
    SEARCH_FILE_MS = 2000,         /* of running an expression on one file */
    SEARCH_BYTE_NS = 50,           /* and so much more for each byte of it */
    SEARCH_BINARY_BYTES = 8192,    /* in which a NUL means: no text */
    SEARCH_TOLD_MAX = 10,          /* directories and files that could not be read, by name */
    SEARCH_LOOK_MS = 100,          /* between two looks whether the call is cancelled */
    SEARCH_PROGRESS_MS = 1000,

    /* Pins: what was approved of servers, and what has changed since */
    DIGESTS_NOW_BYTES = 32768,      /* of a list that is weighed on the loop; more, on a worker */
    PINS_MAX = 200000,              /* definitions that the lock knows */
    PINS_SERVER_MAX = 25000,        /* of one server; what it lists beyond that is held back */
    PINS_TEXT_BYTES = 33554432,     /* texts of changed definitions that are kept to be compared */
    PINS_TOLD_MAX = 5,              /* names of them in one message */
    PIN_LOCK_BYTES_MAX = 134217728, /* the lock */
    PINS_TURN_MAX = 2000,           /* of a lock that is read again, taken over in one turn */
    PIN_WRITE_MS = 500,             /* several changes of it are one */
    PIN_RETRY_MS = 30000,           /* until it is tried again when it cannot be written */
    PIN_LOCK_MS = 2000,             /* another program may take so long to change it */
    PIN_DIFF_WORDS_MAX = 16384,     /* of a text that is compared word by word; more, as a whole */
    PIN_DIFF_EDITS_MAX = 500,      /* words that differ; of more, what is between them as a whole */
    PIN_DIFF_TEXT_MAX = 262144,    /* of a text that is looked at; of more, from where it differs */
    PIN_DIFF_STEPS_MAX = 2000000,  /* of comparing, for all that is in one answer */
    PIN_DIFF_BYTES_MAX = 65536,    /* of one comparison that is shown */
    PIN_DIFFS_BYTES_MAX = 1048576, /* and of all in one answer */
    PINS_PAGE_MAX = 5000,          /* pins in one answer; those that have changed come first */

    /* Registries */
    REGISTRY_TEXT_MAX = 200,      /* bytes of what is looked for */
    REGISTRY_BYTES_MAX = 1048576, /* one answer: it is read on the loop */
    REGISTRY_RESULTS_MAX = 100,   /* servers that are shown of all answers */
    REGISTRY_MS = 10000,          /* a registry that takes longer counts as failed */

    /* REST */
    SERVE_WRONG_TOKENS_MAX = 100,    /* a second, of one listener; more are told to wait */
    TOKENS_MAX = 1000,               /* beside the daemon's own */
    TOKENS_BYTES_MAX = 1048576,      /* the file that they are kept in */
    REST_REQUESTS_MAX = 1024,        /* under way at a time; streams are counted apart */
    REST_PARAMS_MAX = 16,            /* of one route */
    REST_PAGE_ITEMS = 1000,          /* tools, resources or prompts in one answer */
    REST_MATCHES_MAX = 50,           /* names of tools that a filter lets through, in one answer */
    REST_TRIALS_MAX = 4,             /* servers that are tried at once before they are saved */
    REST_LOOKUPS_MAX = 4,            /* questions to registries at once */
    REST_READS_MAX = 64,             /* questions to the store at once, of one listener */
    REST_DRY_RUNS_MAX = 2,           /* of these, rules that are tried */
    REST_DRY_RUN_CALLS = 1000,       /* recorded calls that rules are tried on, the last */
    REST_DRY_RUN_PAGE = 100,         /* of them at a time ... */
    REST_DRY_RUN_BYTES = 4194304,    /* ... with so much of what they carried */
    REST_DRY_RUN_EXAMPLES = 50,      /* of those that would go another way */
    REST_INLINE_MAX = 65536,         /* bytes of an object that are shown with its call */
    REST_CHECK_MAX = 262144,         /* bytes that are read as JSON on the loop; more on a worker */
    REST_REASON_MAX = 1000,          /* of what a person says with an answer */
    REST_EVENTS_MAX = 4096,          /* kept for clients that come back */
    REST_EVENTS_BYTES_MAX = 4194304, /* their texts */
    REST_EVENTS_KEEP_MS = 300000,    /* and for how long, when nobody listens any more */
    REST_READERS_PER_TURN = 4,       /* told what happened; when there are more, then rest: */
    REST_READERS_REST_MS = 1,        /* calls come first */
    REST_STREAMS_MAX = 10000,        /* clients that listen at a time */
    REST_RECENT_MAX = 1000,          /* calls that have ended, kept to be shown */
    CONTROL_FOLLOW_MS = 100,         /* between two looks at what was recorded, for who follows */
    CONTROL_CALLS_MAX = 1000,        /* calls under way that are listed; all are counted */
    REST_SUBJECT_MAX = 200,          /* of what such a call was about */
};
