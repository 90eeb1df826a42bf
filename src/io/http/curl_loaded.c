#include "curl_api.h"
#include <dlfcn.h>

static const struct {
    const char *name;
    size_t at;
} symbols[] = {
    /* clang-format off */
    { "curl_global_init",         offsetof(struct curl_api, global_init) },
    { "curl_version_info",        offsetof(struct curl_api, version_info) },
    { "curl_easy_init",           offsetof(struct curl_api, easy_init) },
    { "curl_easy_setopt",         offsetof(struct curl_api, easy_setopt) },
    { "curl_easy_getinfo",        offsetof(struct curl_api, easy_getinfo) },
    { "curl_easy_pause",          offsetof(struct curl_api, easy_pause) },
    { "curl_easy_cleanup",        offsetof(struct curl_api, easy_cleanup) },
    { "curl_easy_strerror",       offsetof(struct curl_api, easy_strerror) },
    { "curl_multi_init",          offsetof(struct curl_api, multi_init) },
    { "curl_multi_setopt",        offsetof(struct curl_api, multi_setopt) },
    { "curl_multi_add_handle",    offsetof(struct curl_api, multi_add_handle) },
    { "curl_multi_remove_handle", offsetof(struct curl_api, multi_remove_handle) },
    { "curl_multi_socket_action", offsetof(struct curl_api, multi_socket_action) },
    { "curl_multi_assign",        offsetof(struct curl_api, multi_assign) },
    { "curl_multi_info_read",     offsetof(struct curl_api, multi_info_read) },
    { "curl_multi_cleanup",       offsetof(struct curl_api, multi_cleanup) },
    { "curl_multi_strerror",      offsetof(struct curl_api, multi_strerror) },
    { "curl_slist_append",        offsetof(struct curl_api, slist_append) },
    { "curl_slist_free_all",      offsetof(struct curl_api, slist_free_all) },
    { "curl_url",                 offsetof(struct curl_api, url) },
    { "curl_url_cleanup",         offsetof(struct curl_api, url_cleanup) },
    { "curl_url_set",             offsetof(struct curl_api, url_set) },
    { "curl_url_get",             offsetof(struct curl_api, url_get) },
    { "curl_url_strerror",        offsetof(struct curl_api, url_strerror) },
    { "curl_free",                offsetof(struct curl_api, free) },
    /* clang-format on */
};
_Static_assert(ARRAY_LEN(symbols) * sizeof(void *) == sizeof(struct curl_api),
               "every function has a row");

int curl_api_find(struct curl_api *out, const char *soname, struct pb_error *err)
{
    void *lib = dlopen(soname, RTLD_NOW | RTLD_LOCAL);

    if (!lib)
        return fail(err, PB_E_UNSUPPORTED,
                    "HTTP needs %s; install libcurl (Debian: the package libcurl4)", soname);
    for (size_t i = 0; i < ARRAY_LEN(symbols); i++) {
        void *f = dlsym(lib, symbols[i].name);

        if (!f)
            return fail(err, PB_E_UNSUPPORTED, "%s has no %s; install libcurl 7.85 or newer",
                        soname, symbols[i].name);
        memcpy((char *)out + symbols[i].at, &f, sizeof f);
    }
    return 0;
}
