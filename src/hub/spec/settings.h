/* settings.h - how the hub behaves, by name. One table says which settings there are, what they are
 * when nobody says otherwise, and what they mean; the config file's "settings" object is read by
 * it, and the manual is printed from it. */
#pragma once
#include "json/json.h"

struct settings {
    struct arena arena;    /* of the texts below */
    uint64_t call_ms;      /* timeout_s */
    uint64_t connect_ms;   /* connect_s */
    uint64_t health_ms;    /* health_s */
    uint64_t list_wait_ms; /* list_wait_s */
    uint64_t reconnect_max;
    uint64_t reconnect_base_ms; /* reconnect_base_s */
    uint64_t restart_max;
    uint64_t max_servers;
    uint64_t max_request_bytes;
    bool reconnect_jitter, retry_initial, todo_autofix;
    uint64_t ask_ms;       /* ask_s */
    uint64_t record_days, record_calls, record_mb;
    const char *record;         /* "all", "meta" or "none" */
    const char *record_failure; /* "stop" or "go_on" */
    const char *definition_changes; /* "auto", "hold", "warn" or "off" */
    const char *tool_refresh; /* "on_change" or "on_connect" */
    const char *inherit_env;  /* as inherit.h keeps it */
    const char *expose;       /* groups, as --expose takes them; NULL: the default */
    const char *server_name, *server_version; /* NULL: ours */
    const char *webhook_url, *otlp_url;       /* NULL: none */
    const char *registry_url, *smithery_url;  /* NULL: where the public ones are */
};

void settings_init(struct settings *s);
void settings_done(struct settings *s);
/* One member of "settings". -PB_E_NOT_FOUND: there is no such setting; -PB_E_INVALID says what was
 * expected. */
MUST_CHECK int settings_set(struct settings *s, struct span name, struct json v,
                            struct pb_error *err);

enum setting_kind {
    SETTING_BOOL,
    SETTING_COUNT,
    SETTING_SECONDS,
    SETTING_WORD,
    SETTING_TEXT,
    SETTING_INHERIT, /* inherit.h; kept as a text */
};
struct setting {
    const char *name;
    enum setting_kind kind;
    size_t offset;
    double min, max;          /* counts and seconds */
    const char *const *words; /* SETTING_WORD */
    const char *fallback;     /* as it is written in the file */
    bool restart;             /* looked at when the program starts; else a change counts at once */
    const char *help;
};
/* Sorted by name, ended by name NULL. */
extern const struct setting settings_table[];
bool setting_same(const struct setting *row, const struct settings *a, const struct settings *b);
