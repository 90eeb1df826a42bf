#include "config_entry.h"
#include "hub/spec/spec.h"

/* What an entry means can be told only when all of its members have been read. */

/* The command as an array, or as a whole command line in one string: its first word runs. */
static int join_command(struct config_entry *e, const char *const *words, const char *const *args)
{
    size_t n = 0, m = 0;
    const char **all;

    while (words[n])
        n++;
    while (args[m])
        m++;
    if (!n || !*words[0])
        return entry_fail(e, e->command, "command", "empty; expected the program to run");
    all = arena_alloc(&e->spec->arena, (n + m) * sizeof *all);
    memcpy(all, words + 1, (n - 1) * sizeof *all);
    memcpy(all + n - 1, args, m * sizeof *all);
    e->spec->command = words[0];
    e->spec->args = all;
    return 0;
}

static const char *const *split_words(struct arena *a, const char *text)
{
    const char **words = arena_alloc(a, (strlen(text) / 2 + 2) * sizeof *words);
    size_t n = 0;

    for (const char *p = text; *p;) {
        size_t blank = strspn(p, " \t\n\r"), word = strcspn(p + blank, " \t\n\r");

        if (word)
            words[n++] = arena_dup(a, span_make(p + blank, word));
        p += blank + word;
    }
    return words;
}

static int resolve_command(struct config_entry *e)
{
    struct spec *s = e->spec;

    if (e->strict)
        return 0;
    if (json_is(e->command, JSON_ARRAY)) {
        const char *const *words;
        int rc = value_words(e, e->command, "command", true, &words);

        return rc < 0 ? rc : join_command(e, words, s->args);
    }
    /* A path may hold spaces; what is no file and has no arguments is a command line. */
    if (s->command && !s->args[0] && strpbrk(s->command, " \t") && access(s->command, F_OK) != 0)
        return join_command(e, split_words(&s->arena, s->command), s->args);
    return 0;
}

static void resolve_package(struct config_entry *e)
{
    struct spec *s = e->spec;

    if (s->package == SPEC_PACKAGE_NONE || s->command || s->url)
        return;
    if (s->package == SPEC_PACKAGE_HTTP)
        s->url = s->package_id;
    else
        spec_build_command(&s->arena, s->package, s->package_id, s->runtime_hint, &s->command,
                           &s->args);
    e->command = s->command ? e->package : e->command;
    e->url = s->url ? e->package : e->url;
}

/* Case and separators do not matter: "streamableHttp", "streamable-http", "Streamable_HTTP". */
static bool same_word(struct span a, const char *b)
{
    size_t i = 0;

    for (; *b; b++) {
        while (i < a.n && strchr("-_ ", a.p[i]))
            i++;
        if (i == a.n || (a.p[i] | 0x20) != *b)
            return false;
        i++;
    }
    return i == a.n;
}

static int resolve_word(struct config_entry *e)
{
    static const struct {
        const char *word;
        enum spec_transport transport;
        bool plain; /* one of the words that S4's shape knows */
    } words[] = {
        { "stdio", SPEC_STDIO, true },
        { "sse", SPEC_SSE, true },
        { "http", SPEC_HTTP, true },
        { "local", SPEC_STDIO, false },
        { "streamablehttp", SPEC_HTTP, false },
        { "remote", SPEC_HTTP, false },
    };
    AUTO_ARENA struct arena a = { 0 };
    struct span word = json_str(e->transport, &a);
    char shown[SHOWN_MAX + 1];

    for (size_t i = 0; i < ARRAY_LEN(words); i++)
        if (e->strict ? words[i].plain && span_is(word, words[i].word)
                      : same_word(word, words[i].word)) {
            e->spec->transport = words[i].transport;
            return 0;
        }
    show_head(shown, word, 32);
    return entry_fail(e, e->transport, "transport",
                      "expected \"stdio\", \"sse\" or \"http\", got \"%s\"", shown);
}

static int resolve_transport(struct config_entry *e)
{
    struct spec *s = e->spec;
    bool command = s->command != NULL, url = s->url != NULL;

    if (!json_is(e->transport, JSON_NONE)) {
        int rc = resolve_word(e);

        /* S1 says stdio of everything that is a package, a hosted one too. */
        if (rc == 0 && e->mcps && s->transport == SPEC_STDIO && url && !command)
            s->transport = SPEC_HTTP;
        return rc;
    }
    if (e->strict)
        return entry_fail(e, e->value, "transport",
                          "missing; expected \"stdio\", \"sse\" or \"http\"");
    if (command && url)
        return entry_fail(e, e->url, NULL,
                          "has both \"command\" and \"url\"; say which with \"type\"");
    if (!command && !url)
        return entry_fail(e, e->value, NULL,
                          "expected \"command\" (a program to run) or \"url\" (a server to reach)");
    s->transport = command ? SPEC_STDIO : SPEC_HTTP;
    s->guess_sse = url && !e->http_only;
    return 0;
}

static int check_url(struct config_entry *e)
{
    struct span url = span_of(e->spec->url);
    size_t scheme = span_starts(url, "http://") ? 7 : span_starts(url, "https://") ? 8 : 0;

    for (size_t i = 0; i < url.n; i++)
        if ((unsigned char)url.p[i] <= ' ' || url.p[i] == 0x7f)
            return entry_fail(e, e->url, "url", "a space or control character is not allowed here");
    /* One whose variables are not set cannot be judged; it fails when it is dialled. */
    if (memmem(url.p, url.n, "${", 2))
        return 0;
    if (!scheme || scheme == url.n || strchr("/?#:", url.p[scheme]))
        return entry_fail(e, e->url, "url", "expected an address such as https://host/mcp");
    return 0;
}

/* What the other kind of transport would use is dropped, so that nobody thinks it is used. */
static int resolve_reach(struct config_entry *e)
{
    struct spec *s = e->spec;

    if (s->transport == SPEC_STDIO) {
        if (!s->command)
            return entry_fail(e, e->value, "command",
                              "missing; a stdio server needs the program to run");
        if (s->url)
            entry_warn(e, e->url, "url", "means nothing to a stdio server, ignoring");
        s->url = NULL;
        return 0;
    }
    if (!s->url)
        return entry_fail(e, e->value, "url", "missing; a server by %s needs an address",
                          spec_transport_name(s->transport));
    if (s->command)
        entry_warn(e, e->command, "command", "means nothing to a server by %s, ignoring",
                   spec_transport_name(s->transport));
    s->command = NULL;
    s->args = spec_words(s, NULL);
    return check_url(e);
}

static void resolve_auth(struct config_entry *e)
{
    if (!json_is(e->auth, JSON_NONE))
        return;
    if (e->spec->oauth)
        e->spec->auth = SPEC_AUTH_OAUTH;
    else if (e->spec->keyfile_path)
        e->spec->auth = SPEC_AUTH_KEYFILE;
}

int entry_resolve(struct config_entry *e)
{
    int rc = resolve_command(e);

    if (rc < 0)
        return rc;
    resolve_package(e);
    rc = resolve_transport(e);
    if (rc == 0)
        rc = resolve_reach(e);
    if (rc < 0)
        return rc;
    resolve_auth(e);
    if (e->mcps && json_is(e->start, JSON_NONE))
        e->spec->start = SPEC_LAZY;
    return 0;
}
