/* show.h - how results look: plain tables, colours on a terminal only. */
#pragma once
#include "cli.h"

/* To a terminal line by line, without what could move its cursor or change its colours; anywhere
 * else the bytes as they are. Changes `text`. */
void show_text(char *text);
/* JSON; to a terminal with escapes for what could do the same to it. */
void show_json(const char *text);
/* The same without an end of line: a part of it, cut where no character is. */
void show_json_part(struct span text);
/* Printable, its lines wrapped at the terminal's edge and indented by so many spaces. */
void show_wrapped(const char *text, int indent);
/* The text, printable, in the arena. */
char *show_printable(struct span text, struct arena *a);
/* The same, for what stands behind something in the first line already. */
void show_hanging(const char *text, int indent);
/* A string member, printable, first line only, with "…" if there are more; "" when absent. In the
 * arena. */
const char *show_member(struct json object, const char *key, struct arena *a);

/* The name of a tool or prompt of a list: server.tool, the one spelling that is printed. */
const char *show_item(struct json entry, struct arena *a);
/* The "config_error" of a daemon's answer, after `label`; nothing when there is none. */
void show_config_error(const char *label, struct json answer);

enum show_color { SHOW_PLAIN, SHOW_GREEN, SHOW_YELLOW, SHOW_RED, SHOW_GRAY, SHOW_BOLD };
/* Are control sequences welcome there? It is a terminal, TERM is not "dumb", NO_COLOR is not set.
 */
bool show_may_move(int fd);
/* Columns of the terminal; 0: it is none, or does not say. */
size_t show_width(int fd);
/* How many a text takes: characters, near enough. */
size_t show_columns(const char *s);
/* So many columns of it at most, the last of which is "…" when that is not all. */
void show_cut(FILE *to, const char *text, size_t room);
/* Begins and ends a colour on stdout; nothing where that is not welcome. */
const char *show_on(enum show_color c);
const char *show_off(void);
/* By state: what the dot before a server's name is painted with. */
enum show_color show_state_color(const char *state);

/* "3 connected, 1 failed, 1 disabled": those that are not 0, in a line. Ended by what NULL. */
struct show_count {
    const char *what;
    size_t n;
};
void show_counts(const struct show_count *counts);

/* A table that is printed when it is complete: columns as wide as they need to be, the last one
 * cut at the terminal's edge, which "…" tells. */
struct show_table;
struct show_table *show_table_new(int columns);
/* `cells`: one per column, copied. Colour for the first cell. */
void show_row(struct show_table *t, enum show_color color, const char *const *cells);
void show_table_print(struct show_table *t); /* and frees it */
