/* log_ring.h - the last LINK_LOG_MAX lines about one server, oldest first. It grows as lines come,
 * so that a server that says nothing costs nothing. */
#pragma once
#include "event.h"

struct log_ring;

struct log_ring *log_ring_new(void);
void log_ring_free(struct log_ring *r);
/* Copies; the oldest is dropped past LINK_LOG_MAX. An empty id is filled in; the text is cut at
 * LINK_LOG_LINE_MAX bytes, between characters, and loses its control characters. The result is
 * borrowed until the next entry. */
const struct log_entry *log_ring_add(struct log_ring *r, const struct log_entry *e);
size_t log_ring_count(const struct log_ring *r);
/* i from 0, the oldest; NULL past the newest. */
const struct log_entry *log_ring_at(const struct log_ring *r, size_t i);
