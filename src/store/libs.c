#include "libs.h"
#include <pthread.h>

enum { VERSION_MIN = 3035000 }; /* RETURNING, and WAL that read-only connections can read */

static struct {
    struct libs libs;
    struct pb_error err;
    int rc;
} loaded;

static int find(struct pb_error *err)
{
    int rc = libs_find(&loaded.libs, err);

    if (rc == 0 && loaded.libs.version() < VERSION_MIN)
        return fail(err, PB_E_UNSUPPORTED, "SQLite %d.%d is too old; install 3.35 or newer",
                    loaded.libs.version() / 1000000, loaded.libs.version() / 1000 % 1000);
    /* Nobody asks how much memory it has; counting takes a lock each time. It refuses when somebody
     * else in this process uses it already, which is fine. */
    if (rc == 0)
        loaded.libs.config(SQLITE_CONFIG_MEMSTATUS, 0);
    /* Statements are made once: what makes that fast would only lie there. */
    if (rc == 0)
        loaded.libs.config(SQLITE_CONFIG_LOOKASIDE, 0, 0);
    return rc;
}

static void load(void) { loaded.rc = find(&loaded.err); }

const struct libs *libs_get(struct pb_error *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, load);
    if (loaded.rc == 0)
        return &loaded.libs;
    fail_copy(err, &loaded.err);
    return NULL;
}
