/* schema.h - the tables of the file, and the steps from one format to the next.
 *
 * Calls are numbered and stand in the order of their numbers, BLOCK_CALLS of them in one row
 * (block.h); the last row is written again until it is full. No index is kept while they are
 * written: GROUP_CALLS of them are a group, whose index is made at once when it is full (group.c).
 * It says for each word in which blocks it occurs, and for each uuid and object likewise. What
 * comes after the last full group is looked through. */
#pragma once
#include "conn.h"

enum {
    BLOCK_CALLS = 64,
    GROUP_BLOCKS = 256,
    GROUP_CALLS = BLOCK_CALLS * GROUP_BLOCKS,
    GROUP_PLACES = 64, /* rows that the places of a group are divided into */
};

/* What is kept of a call: numbers first. Words stand together: enum record_text counts on it. */
enum call_column {
    CALL_STARTED,
    CALL_ENDED,
    CALL_SOURCE,
    CALL_FACE,
    CALL_METHOD,
    CALL_CALLER,
    CALL_RUN,
    CALL_CONVERSATION,
    CALL_SERVER,
    CALL_TOOL,
    CALL_STATUS,
    CALL_ANSWERED_BY,
    CALL_RULE,
    CALL_ARGUMENTS,
    CALL_RESULT,
    CALL_DEFINITION,
    CALL_DETAIL,
    CALL_PID,
    CALL_PROCESS,
    CALL_QUEUED,
    CALL_NUMBERS
};

/* Then texts; a parent is the bytes of a uuid. */
enum row_text { CALL_PARENT, CALL_NOTE, CALL_QUESTION, CALL_TRACE, CALL_REDACTED, CALL_TEXTS };

enum object_flag { OBJECT_ZSTD = 1, OBJECT_ABSENT = 2 };

/* Of a connection that writes: makes the tables, or brings them to this format. */
MUST_CHECK int schema_open(struct conn *c, struct pb_error *err);
/* What each connection is told. */
MUST_CHECK int schema_settings(struct conn *c, struct pb_error *err);
