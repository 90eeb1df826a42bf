/* exam.h - one server, looked at step by step until something is wrong: for the doctor. Nothing of
 * a running daemon is touched: the server is started anew and stopped again. Each exam is a thing
 * of its own, so that several may go on at once, on a thread each. */
#pragma once
#include "cli.h"
#include "hub/config/config.h"
#include "hub/secrets/secrets.h"
#include "hub/spec/spec.h"

enum exam_check {
    CHECK_CONFIG,
    CHECK_COMMAND,
    CHECK_CONNECT,
    CHECK_PROTOCOL,
    CHECK_TOOLS,
    CHECK_COUNT
};
const char *exam_check_name(enum exam_check c);

struct finding {
    bool done, ok;
    char *text;   /* what was found, or what is wrong */
    char *detail; /* the error itself; NULL: the text says it all */
    char *next;   /* what to do; NULL when all is well */
};

struct exam {
    const struct spec *spec;
    const char *inherit_env;     /* of the settings */
    const struct claims *claims; /* of all servers */
    uint32_t connect_ms;
    struct finding found[CHECK_COUNT];
    struct buf said; /* its stderr: printable lines without secrets */
    struct buf challenge;
    struct redact *hidden; /* what it is started with and may say */
    bool auth_wanted, cut;
    bool told; /* the verb has printed it */
};

void exam_run(struct exam *e);
bool exam_is_well(const struct exam *e);
void exam_done(struct exam *e);
