/* example-datetime.c - the time, in words or numbers, here or elsewhere. */
#include "example.h"
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum { TEXT_MAX = 512 };

static const struct {
    const char *name, *pattern; /* strftime() */
} formats[] = {
    { "full", "%A, %d %B %Y at %H:%M:%S %Z" },
    { "date", "%Y-%m-%d" },
    { "time", "%H:%M:%S" },
    { "short", "%d/%m/%y, %H:%M" },
    { "iso8601", "%Y-%m-%dT%H:%M:%S%z" },
    { "unix", "%s" },
};

/* What date patterns are made of elsewhere; the longest spelling of a letter stands first. */
static const struct {
    const char *letters, *pattern;
} fields[] = {
    { "yyyy", "%Y" }, { "yy", "%y" },   { "MMMM", "%B" }, { "MMM", "%b" }, { "MM", "%m" },
    { "dd", "%d" },   { "EEEE", "%A" }, { "EEE", "%a" },  { "HH", "%H" },  { "hh", "%I" },
    { "mm", "%M" },   { "ss", "%S" },   { "a", "%p" },    { "Z", "%z" },   { "z", "%Z" },
};

/* "yyyy-MM-dd 'at' HH:mm" as strftime() wants it. False when it does not fit. */
static bool translate(const char *text, char *out, size_t room)
{
    bool quoted = false;
    size_t n = 0;

    while (*text) {
        const char *piece = NULL;
        size_t used = 1, add;

        if (*text == '\'') {
            quoted = !quoted;
            text++;
            continue;
        }
        for (size_t i = 0; !quoted && !piece && i < sizeof fields / sizeof fields[0]; i++)
            if (!strncmp(text, fields[i].letters, strlen(fields[i].letters))) {
                piece = fields[i].pattern;
                used = strlen(fields[i].letters);
            }
        add = piece ? strlen(piece) : 1;
        if (n + add >= room)
            return false;
        memcpy(out + n, piece ? piece : text, add);
        n += add;
        text += used;
    }
    out[n] = '\0';
    return true;
}

static bool is_time_zone(const char *name)
{
    char path[TEXT_MAX];
    struct stat st;

    if (strstr(name, "..") || name[0] == '/' || !name[0])
        return false;
    snprintf(path, sizeof path, "/usr/share/zoneinfo/%s", name);
    return !strcmp(name, "UTC") || (stat(path, &st) == 0 && S_ISREG(st.st_mode));
}

/* The pattern is the caller's by intent: strftime() takes no arguments that it could reach for. */
#pragma GCC diagnostic ignored "-Wformat-nonliteral"

/* The handler runs on the loop's thread and nothing else here reads TZ, so it may be changed for a
 * moment. */
static size_t format_now(const char *zone, const char *pattern, char *out, size_t room)
{
    const char *before = getenv("TZ");
    char *keep = before ? strdup(before) : NULL;
    time_t now = time(NULL);
    struct tm tm;
    size_t n;

    if (zone)
        setenv("TZ", zone, 1);
    tzset();
    localtime_r(&now, &tm);
    n = strftime(out, room, pattern, &tm);
    if (zone && keep)
        setenv("TZ", keep, 1);
    else if (zone)
        unsetenv("TZ");
    free(keep);
    return n;
}

static int datetime(struct pb_call *call, void *ctx)
{
    const char *format = pb_arg_string(call, "format"), *zone = pb_arg_string(call, "timezone");
    const char *pattern = strchr(format, '%') ? format : NULL;
    char own[TEXT_MAX], text[TEXT_MAX];
    size_t n;

    (void)ctx;
    for (size_t i = 0; i < sizeof formats / sizeof formats[0]; i++)
        if (!strcmp(format, formats[i].name))
            pattern = formats[i].pattern;
    if (!pattern && translate(format, own, sizeof own))
        pattern = own;
    if (!pattern)
        return pb_fail(call, "the format is too long; %d characters are allowed", TEXT_MAX);
    if (zone && !is_time_zone(zone))
        return pb_fail(call, "unknown time zone '%s'; use a name like Europe/Berlin or UTC", zone);
    n = format_now(zone, pattern, text, sizeof text);
    if (!n)
        return pb_fail(call, "the format gives an empty or too long text");
    return reply_result(call, text, n);
}

static const struct pb_param params[] = {
    { "format", PB_STRING,
      "full, date, time, short, iso8601, unix, or a pattern such as yyyy-MM-dd or %Y-%m-%d",
      PB_OPTIONAL, "\"full\"" },
    { "timezone", PB_STRING, "such as Europe/Berlin; the machine's own if left out", PB_OPTIONAL },
    { 0 },
};

const struct pb_tool datetime_tool = {
    .name = "datetime",
    .title = "Date and time",
    .description = "Tells the current date and time",
    .params = params,
    .flags = PB_READ_ONLY | PB_CLOSED_WORLD | PB_ON_LOOP,
    .run = datetime,
};
