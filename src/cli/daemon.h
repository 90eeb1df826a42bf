/* daemon.h - the hub as a running program: config, servers, listeners, until it is told to stop. */
#pragma once
#include "face/host/host.h"
#include "face/listen/listen.h"
#include "hub_flags.h"

struct daemon_options {
    const struct cli *cli; /* where the config comes from */
    /* Whose servers are taken, too, as they were when it was read; NULL: nobody's. */
    const struct project *project;
    bool stdio; /* one client on stdin and stdout; its end is ours */
    struct host_scope scope;
    unsigned expose; /* 0: the default */
    bool http;
    struct serve_options serve;
    bool announce;          /* say where it listens, as JSON on stdout ... */
    int ready;              /* ... and there for background_ready(); 0: nobody waits for it */
    const char *log;        /* ... and where all that it says goes; NULL: to stderr */
    const char *token_from; /* ... and where its token is found; NULL: there is none */
    bool record;            /* keep what stays of calls */
    bool socket;            /* listen on the unix socket, so that other commands find us */
};

/* Runs until SIGTERM or SIGINT, or the end of stdin. Returns an exit code. */
int daemon_run(const struct daemon_options *opts);

/* daemon_log.c: warnings go to standard error from now on. */
void daemon_log_start(void);
/* A line on standard error about what happens while the loop runs; left out if nobody reads it. */
void daemon_say(const char *format, ...) PRINTF(1, 2);
/* The same about what went wrong, which is said to the quiet, too. */
void daemon_complain(const char *format, ...) PRINTF(1, 2);
