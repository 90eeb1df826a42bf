/* quiet.h - writing without SIGPIPE. A library must not change how its host program takes a
 * signal, so nothing is ignored process-wide: the kernel is asked not to raise it (RWF_NOSIGNAL,
 * MSG_NOSIGNAL); where it cannot, the signal is blocked in this thread for the one write. */
#pragma once
#include <stdbool.h>
#include <sys/types.h>
#include <sys/uio.h>

/* writev() that gives EPIPE and no signal. n is at most IOV_MAX. */
ssize_t quiet_writev(int fd, bool socket, const struct iovec *iov, int n);
