/* project_rig.h - cli_rig.h for who works in a project, and a terminal at which they are asked. */
#pragma once
#include "cli_rig.h"

#define QUESTION  "Use these servers when you work here? [y/N] "
#define UNTRUSTED "is not read: you have not said that you trust it; 'patchbay trust' on a terminal"
#define YES       ((const struct talk[]){ { QUESTION, "y\n" }, { 0 } })
#define NO        ((const struct talk[]){ { QUESTION, "\n" }, { 0 } })
#define NOBODY    ((const struct talk[]){ { 0 } })

/* A project, the directory in which patchbay keeps its files, and the person's own: side by side.
 */
static inline void begin(void)
{
    static char dir[256];

    rig_begin();
    setenv("PATCHBAY_HOME", temp_path("home"), 1);
    setenv("HOME", temp_path("me"), 1);
    snprintf(dir, sizeof dir, "%s", temp_path("proj"));
    CHECK(mkdir(temp_path("home"), 0700) == 0 && mkdir(temp_path("me"), 0700) == 0);
    CHECK(mkdir(dir, 0700) == 0 && mkdir(temp_path("proj/sub"), 0700) == 0);
    CHECK(mkdir(temp_path("proj/sub/deep"), 0700) == 0);
    home = dir; /* where verbs are run */
    CHECK_INT(chdir(home), 0);
}

static inline void project(const char *members) { write_servers("proj/.mcp.json", members); }

static inline void user(const char *members) { write_servers("home/config.json", members); }

/* How many answers there are about files. */
static inline size_t answers(void)
{
    size_t n = 0;

    CHECK_INT(RUN("trust", "--list", "--json"), 0);
    for (const char *p = out; (p = strstr(p, "\"file\":")); p++)
        n++;
    return n;
}

#define HAS_NOT(text, part) CHECK(!strstr(text, part))
