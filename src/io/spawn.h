/* spawn.h - the birth of a child process: environment, search path, descriptors, exec. */
#pragma once
#include "child.h"

struct spawned {
    pid_t pid;
    int pidfd;
    int in, out, err; /* our ends of its pipes */
};

MUST_CHECK int spawn_process(struct spawned *out, const struct child_spec *spec,
                             struct pb_error *err);
