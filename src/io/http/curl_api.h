/* curl_api.h - libcurl as a table of functions, loaded when first asked for. A program that talks
 * to nobody over HTTP does not load libcurl, its TLS library and a dozen others.
 *
 *   curl_loaded.c   the functions of a shared library
 *   curl_linked.c   instead of it in a static program (-Dcurl=linked): those that are in it */
#pragma once
#include "base/base.h"
#include <curl/curl.h>

struct curl_api {
    CURLcode (*global_init)(long flags);
    curl_version_info_data *(*version_info)(CURLversion age);
    CURL *(*easy_init)(void);
    CURLcode (*easy_setopt)(CURL *easy, CURLoption option, ...);
    CURLcode (*easy_getinfo)(CURL *easy, CURLINFO info, ...);
    CURLcode (*easy_pause)(CURL *easy, int mask);
    void (*easy_cleanup)(CURL *easy);
    const char *(*easy_strerror)(CURLcode code);
    CURLM *(*multi_init)(void);
    CURLMcode (*multi_setopt)(CURLM *multi, CURLMoption option, ...);
    CURLMcode (*multi_add_handle)(CURLM *multi, CURL *easy);
    CURLMcode (*multi_remove_handle)(CURLM *multi, CURL *easy);
    CURLMcode (*multi_socket_action)(CURLM *multi, curl_socket_t s, int events, int *running);
    CURLMcode (*multi_assign)(CURLM *multi, curl_socket_t s, void *data);
    CURLMsg *(*multi_info_read)(CURLM *multi, int *left);
    CURLMcode (*multi_cleanup)(CURLM *multi);
    const char *(*multi_strerror)(CURLMcode code);
    struct curl_slist *(*slist_append)(struct curl_slist *list, const char *text);
    void (*slist_free_all)(struct curl_slist *list);
    CURLU *(*url)(void);
    void (*url_cleanup)(CURLU *u);
    CURLUcode (*url_set)(CURLU *u, CURLUPart part, const char *text, unsigned flags);
    CURLUcode (*url_get)(const CURLU *u, CURLUPart part, char **text, unsigned flags);
    const char *(*url_strerror)(CURLUcode code);
    void (*free)(void *p);
};

/* The functions of the library of this name, or of the one that is linked; out is undefined when it
 * fails. */
MUST_CHECK int curl_api_find(struct curl_api *out, const char *soname, struct pb_error *err);
/* -PB_E_UNSUPPORTED with what to install when there is no libcurl of this name, or an old one. */
MUST_CHECK int curl_api_open(struct curl_api *out, const char *soname, struct pb_error *err);
/* The one table of this process, or NULL: then err is set. [any thread] */
const struct curl_api *curl_api(struct pb_error *err);
