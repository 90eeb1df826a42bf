#include "curl_api.h"
#include <unistd.h>

/* Where distributions keep the certificates that they trust. A libcurl of the system knows its own
 * place; the one in here may have been carried to any of them. */
static const char *const stores[] = {
    "/etc/ssl/certs/ca-certificates.crt",                /* Debian, Arch, Gentoo */
    "/etc/pki/tls/certs/ca-bundle.crt",                  /* Fedora */
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem", /* RHEL, CentOS */
    "/etc/ssl/ca-bundle.pem",                            /* openSUSE */
    "/etc/ssl/cert.pem",                                 /* Alpine */
};

/* A handle trusts what the system does until it is told otherwise. */
static CURL *easy_init(void)
{
    CURL *easy = curl_easy_init();

    for (size_t i = 0; easy && i < ARRAY_LEN(stores); i++)
        if (access(stores[i], R_OK) == 0) {
            curl_easy_setopt(easy, CURLOPT_CAINFO, stores[i]);
            break;
        }
    return easy;
}

/* Older headers say that it changes the URL. */
static CURLUcode url_get(const CURLU *u, CURLUPart part, char **text, unsigned flags)
{
    return curl_url_get((CURLU *)(uintptr_t)u, part, text, flags);
}

static const struct curl_api linked = {
    .global_init = curl_global_init,
    .version_info = curl_version_info,
    .easy_init = easy_init,
    .easy_setopt = curl_easy_setopt,
    .easy_getinfo = curl_easy_getinfo,
    .easy_pause = curl_easy_pause,
    .easy_cleanup = curl_easy_cleanup,
    .easy_strerror = curl_easy_strerror,
    .multi_init = curl_multi_init,
    .multi_setopt = curl_multi_setopt,
    .multi_add_handle = curl_multi_add_handle,
    .multi_remove_handle = curl_multi_remove_handle,
    .multi_socket_action = curl_multi_socket_action,
    .multi_assign = curl_multi_assign,
    .multi_info_read = curl_multi_info_read,
    .multi_cleanup = curl_multi_cleanup,
    .multi_strerror = curl_multi_strerror,
    .slist_append = curl_slist_append,
    .slist_free_all = curl_slist_free_all,
    .url = curl_url,
    .url_cleanup = curl_url_cleanup,
    .url_set = curl_url_set,
    .url_get = url_get,
    .url_strerror = curl_url_strerror,
    .free = curl_free,
};

int curl_api_find(struct curl_api *out, const char *soname, struct pb_error *err)
{
    (void)soname;
    (void)err;
    *out = linked;
    return 0;
}
