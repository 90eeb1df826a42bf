/* add_link.c - links by which editors install a server:
 *
 *     cursor://anysphere.cursor-deeplink/mcp/install?name=NAME&config=BASE64
 *     vscode:mcp/install?JSON-IN-PERCENT-SIGNS
 *
 * and the pages of both that lead to them, which a README has behind its buttons. */
#include "add_parts.h"
#include "io/http/http.h"

enum link_form {
    LINK_QUERY, /* name and config, each a parameter; config is base64 or JSON */
    LINK_JSON,  /* all behind '?' is JSON */
    LINK_URL,   /* the parameter url is such a link in its turn */
};

/* clang-format off */
static const struct link_kind {
    const char *begins, *editor;
    enum link_form form;
} kinds[] = {
    { "cursor://anysphere.cursor-deeplink/mcp/install?", "Cursor",  LINK_QUERY },
    { "https://cursor.com/install-mcp?",                 "Cursor",  LINK_QUERY },
    { "https://cursor.com/en/install-mcp?",              "Cursor",  LINK_QUERY },
    { "vscode:mcp/install?",                             "VS Code", LINK_JSON },
    { "vscode-insiders:mcp/install?",                    "VS Code", LINK_JSON },
    { "https://vscode.dev/redirect/mcp/install?",          "VS Code", LINK_QUERY },
    { "https://insiders.vscode.dev/redirect/mcp/install?", "VS Code", LINK_QUERY },
    { "https://vscode.dev/redirect?",                    "VS Code", LINK_URL },
    { "https://insiders.vscode.dev/redirect?",           "VS Code", LINK_URL },
};
/* clang-format on */

/* Of the editors' own schemes, but not one of these. */
static bool is_other(struct span text)
{
    return span_starts(text, "cursor:") || span_starts(text, "vscode:") ||
           span_starts(text, "vscode-insiders:");
}

/* '+' is a blank to those who read queries, and some leave the padding away or write for URLs. */
static bool decode_config(struct buf *out, struct span text)
{
    AUTO_BUF struct buf plain = { 0 };

    while (text.n && text.p[text.n - 1] == '=')
        text.n--;
    for (size_t i = 0; i < text.n; i++) {
        char c = text.p[i];

        buf_byte(&plain, (char)(c == '+' || c == ' ' ? '-' : c == '/' ? '_' : c));
    }
    return base64url_decode(out, buf_span(&plain));
}

static int read_config(struct config *c, struct span json, struct span name,
                       const struct add_request *beside, struct pb_error *err)
{
    AUTO_FREE char *text = mem_dupn(json.p ? json.p : "", json.n), *called = NULL;
    struct add_request r = beside ? *beside : (struct add_request){ 0 };

    if (name.n && !r.name) {
        AUTO_BUF struct buf slug = { 0 };

        spec_slug(&slug, name);
        r.name = called = buf_take(&slug);
    }
    if (strlen(text) != json.n)
        return fail(err, PB_E_INVALID, "its config holds a NUL");
    return add_read_json(c, text, &r, err);
}

static int read_query(struct config *c, struct span query, const struct add_request *beside,
                      struct pb_error *err)
{
    AUTO_ARENA struct arena a = { 0 };
    AUTO_BUF struct buf json = { 0 };
    struct span name = http_query_get(query, "name", &a);
    struct span config = http_query_get(query, "config", &a);

    if (!config.n)
        return fail(err, PB_E_INVALID, "it has no 'config'");
    if (*config.p == '{')
        return read_config(c, config, name, beside, err);
    if (!decode_config(&json, config))
        return fail(err, PB_E_INVALID, "its 'config' is no base64; was all of the link copied?");
    return read_config(c, buf_span(&json), name, beside, err);
}

static int read_percent(struct config *c, struct span text, const struct add_request *beside,
                        struct pb_error *err)
{
    AUTO_BUF struct buf json = { 0 };

    if (!http_decode(&json, text))
        return fail(
            err, PB_E_INVALID,
            "a '%%' in it is not followed by two hexadecimal digits; was all of it copied?");
    return read_config(c, buf_span(&json), (struct span){ 0 }, beside, err);
}

static int read_kind(struct config *c, const struct link_kind *k, struct span rest,
                     const struct add_request *beside, struct pb_error *err)
{
    AUTO_ARENA struct arena a = { 0 };
    struct span inner;
    bool found = false;
    int rc;

    if (k->form == LINK_QUERY)
        return read_query(c, rest, beside, err);
    if (k->form == LINK_JSON)
        return read_percent(c, rest, beside, err);
    inner = http_query_get(rest, "url", &a);
    /* Only once: what it leads to must be one of the editor's own. */
    rc = is_other(inner) ? add_read_link(c, inner, beside, &found, err) : 0;
    if (rc == 0 && !found)
        return fail(err, PB_E_INVALID, "it leads to no link that installs a server");
    return rc;
}

int add_read_link(struct config *c, struct span text, const struct add_request *beside, bool *found,
                  struct pb_error *err)
{
    for (size_t i = 0; i < ARRAY_LEN(kinds); i++) {
        if (!span_starts(text, kinds[i].begins))
            continue;
        *found = true;
        if (read_kind(c, &kinds[i], span_from(text, strlen(kinds[i].begins)), beside, err) < 0)
            return fail_in(err, "this is a link for %s", kinds[i].editor);
        return 0;
    }
    if (!is_other(text))
        return 0;
    *found = true;
    return fail(err, PB_E_INVALID,
                "this is a link for an editor, but none that installs a server: "
                "cursor://anysphere.cursor-deeplink/mcp/install?name=…&config=… and "
                "vscode:mcp/install?… do");
}
