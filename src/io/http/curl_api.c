#include "curl_api.h"
#include <pthread.h>

enum { VERSION_MIN = 0x075500 }; /* 7.85.0: CURLOPT_PROTOCOLS_STR */

#define SONAME "libcurl.so.4"

int curl_api_open(struct curl_api *out, const char *soname, struct pb_error *err)
{
    const curl_version_info_data *info;
    struct curl_api api;
    int rc = curl_api_find(&api, soname, err);

    if (rc < 0)
        return rc;
    info = api.version_info(CURLVERSION_NOW);
    if (info->version_num < VERSION_MIN)
        return fail(err, PB_E_UNSUPPORTED, "libcurl %s is too old; install 7.85 or newer",
                    info->version);
    if (api.global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        return fail(err, PB_E_UNSUPPORTED, "libcurl %s does not start", info->version);
    *out = api;
    return 0;
}

static struct {
    struct curl_api api;
    struct pb_error err;
    int rc;
} loaded;

static void load(void) { loaded.rc = curl_api_open(&loaded.api, SONAME, &loaded.err); }

const struct curl_api *curl_api(struct pb_error *err)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, load);
    if (loaded.rc == 0)
        return &loaded.api;
    fail_copy(err, &loaded.err);
    return NULL;
}
