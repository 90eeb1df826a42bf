/* attach.h - the daemon's unix socket: mode 0600 in a directory 0700, for processes of the same
 * user.
 *
 * A client first sends one line, {"attach":{"server"?,"mode"?,"expose"?,"control"?}}, and gets one
 * back, {"attached":{"version":…}} or {"error":"…"}. From then on the connection is MCP, one
 * JSON-RPC message a line, with the host that it asked for. */
#pragma once
#include "face/host/host.h"

struct attach;

/* A socket that nobody listens on any more is replaced; one that is alive is -PB_E_BUSY. */
MUST_CHECK int attach_listen(struct attach **out, struct hosts *hosts, const char *path,
                             struct pb_error *err);
void attach_close(struct attach *a, loop_fn *fn, void *ctx);

/* The other end; blocking, before a loop runs. *fd is connected and attached. -PB_E_CLOSED: no
 * daemon there; -PB_E_NOT_FOUND: it has no such server or mode. */
MUST_CHECK int attach_connect(int *fd, const char *path, const struct host_scope *scope,
                              struct pb_error *err);
