#include "spec_names.h"
#include "spec_tails.h"
#include <pthread.h>

enum { NAME_CHARS = 64 }; /* of a longer name the end is looked at */

enum name_how {
    HOW_ANYWHERE, /* counts wherever it stands when hints are looked for */
    HOW_WORD,     /* only where it is a word by itself: "pass", not "compass" */
    HOW_END,      /* never a hint: a longer row's word is */
};

/* clang-format off */
static const struct name_row {
    struct span word;
    enum name_claim claim;
    enum name_how how;
} names[] = {
    /* Of several that fit the first counts. */
    { SPAN_CONST("progresstoken"),     NAME_PLAIN,    HOW_END },
    { SPAN_CONST("pagetoken"),         NAME_PLAIN,    HOW_END },
    { SPAN_CONST("nexttoken"),         NAME_PLAIN,    HOW_END },
    { SPAN_CONST("continuationtoken"), NAME_PLAIN,    HOW_END },
    { SPAN_CONST("synctoken"),         NAME_PLAIN,    HOW_END },
    { SPAN_CONST("eostoken"),          NAME_PLAIN,    HOW_END },
    { SPAN_CONST("bostoken"),          NAME_PLAIN,    HOW_END },
    { SPAN_CONST("padtoken"),          NAME_PLAIN,    HOW_END },
    { SPAN_CONST("unktoken"),          NAME_PLAIN,    HOW_END },
    { SPAN_CONST("septoken"),          NAME_PLAIN,    HOW_END },
    { SPAN_CONST("clstoken"),          NAME_PLAIN,    HOW_END },
    { SPAN_CONST("masktoken"),         NAME_PLAIN,    HOW_END },
    { SPAN_CONST("stoptoken"),         NAME_PLAIN,    HOW_END },
    { SPAN_CONST("pertoken"),          NAME_PLAIN,    HOW_END },
    { SPAN_CONST("publickey"),         NAME_PLAIN,    HOW_END },
    { SPAN_CONST("primarykey"),        NAME_PLAIN,    HOW_END },
    { SPAN_CONST("foreignkey"),        NAME_PLAIN,    HOW_END },
    { SPAN_CONST("partitionkey"),      NAME_PLAIN,    HOW_END },
    { SPAN_CONST("sortkey"),           NAME_PLAIN,    HOW_END },
    { SPAN_CONST("rowkey"),            NAME_PLAIN,    HOW_END },
    { SPAN_CONST("cachekey"),          NAME_PLAIN,    HOW_END },
    { SPAN_CONST("objectkey"),         NAME_PLAIN,    HOW_END },
    { SPAN_CONST("routingkey"),        NAME_PLAIN,    HOW_END },
    { SPAN_CONST("idempotencykey"),    NAME_PLAIN,    HOW_END },
    { SPAN_CONST("password"),          NAME_SECRET,   HOW_ANYWHERE },
    { SPAN_CONST("passwords"),         NAME_SECRET,   HOW_END },
    { SPAN_CONST("passwd"),            NAME_SECRET,   HOW_ANYWHERE },
    { SPAN_CONST("passw"),             NAME_SECRET,   HOW_ANYWHERE },
    { SPAN_CONST("passphrase"),        NAME_SECRET,   HOW_ANYWHERE },
    { SPAN_CONST("passcode"),          NAME_SECRET,   HOW_ANYWHERE },
    { SPAN_CONST("pwd"),               NAME_WORDS,    HOW_ANYWHERE },
    { SPAN_CONST("pass"),              NAME_WORDS,    HOW_WORD },
    { SPAN_CONST("secret"),            NAME_SECRET,   HOW_ANYWHERE },
    { SPAN_CONST("secrets"),           NAME_SECRET,   HOW_END },
    { SPAN_CONST("token"),             NAME_SECRET,   HOW_ANYWHERE },
    { SPAN_CONST("accesstokens"),      NAME_SECRET,   HOW_END },
    { SPAN_CONST("refreshtokens"),     NAME_SECRET,   HOW_END },
    { SPAN_CONST("apitokens"),         NAME_SECRET,   HOW_END },
    { SPAN_CONST("authtokens"),        NAME_SECRET,   HOW_END },
    { SPAN_CONST("authorization"),     NAME_SECRET,   HOW_END },
    { SPAN_CONST("cookie"),            NAME_SECRET,   HOW_ANYWHERE },
    { SPAN_CONST("cookies"),           NAME_SECRET,   HOW_END },
    { SPAN_CONST("credential"),        NAME_SECRET,   HOW_ANYWHERE },
    { SPAN_CONST("credentials"),       NAME_SECRET,   HOW_END },
    { SPAN_CONST("bearer"),            NAME_SECRET,   HOW_ANYWHERE },
    { SPAN_CONST("accesskey"),         NAME_SECRET,   HOW_END },
    { SPAN_CONST("accountkey"),        NAME_SECRET,   HOW_END },
    { SPAN_CONST("adminkey"),          NAME_SECRET,   HOW_END },
    { SPAN_CONST("apikey"),            NAME_SECRET,   HOW_END },
    { SPAN_CONST("apikeys"),           NAME_SECRET,   HOW_END },
    { SPAN_CONST("authkey"),           NAME_SECRET,   HOW_END },
    { SPAN_CONST("deploykey"),         NAME_SECRET,   HOW_END },
    { SPAN_CONST("encryptionkey"),     NAME_SECRET,   HOW_END },
    { SPAN_CONST("hmackey"),           NAME_SECRET,   HOW_END },
    { SPAN_CONST("licensekey"),        NAME_SECRET,   HOW_END },
    { SPAN_CONST("masterkey"),         NAME_SECRET,   HOW_END },
    { SPAN_CONST("privatekey"),        NAME_SECRET,   HOW_END },
    { SPAN_CONST("secretkey"),         NAME_SECRET,   HOW_END },
    { SPAN_CONST("sessionkey"),        NAME_SECRET,   HOW_END },
    { SPAN_CONST("sharedkey"),         NAME_SECRET,   HOW_END },
    { SPAN_CONST("signingkey"),        NAME_SECRET,   HOW_END },
    { SPAN_CONST("sshkey"),            NAME_SECRET,   HOW_END },
    { SPAN_CONST("storagekey"),        NAME_SECRET,   HOW_END },
    { SPAN_CONST("subscriptionkey"),   NAME_SECRET,   HOW_END },
    { SPAN_CONST("key"),               NAME_DOUBTFUL, HOW_ANYWHERE },
    { SPAN_CONST("auth"),              NAME_DOUBTFUL, HOW_ANYWHERE },
    { SPAN_CONST("signature"),         NAME_DOUBTFUL, HOW_ANYWHERE },
    { SPAN_CONST("sig"),               NAME_DOUBTFUL, HOW_WORD },
    { SPAN_CONST("pat"),               NAME_DOUBTFUL, HOW_WORD },
};

/* What may follow the word and leaves it what it was. */
static const struct span suffixes[] = {
    SPAN_CONST("again"), SPAN_CONST("b64"), SPAN_CONST("base64"), SPAN_CONST("confirm"), SPAN_CONST("confirmation"), SPAN_CONST("hash"), SPAN_CONST("header"), SPAN_CONST("string"), SPAN_CONST("value"),
};
/* clang-format on */

/* ---- anywhere ---- */

static bool has_nocase(struct span s, struct span part)
{
    for (size_t i = 0; i + part.n <= s.n; i++)
        if (span_eq_nocase(span_make(s.p + i, part.n), part))
            return true;
    return false;
}

bool name_hints(struct span name)
{
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const struct name_row *r = &names[i];

        if ((r->how == HOW_WORD && span_eq_nocase(name, r->word)) ||
            (r->how == HOW_ANYWHERE && has_nocase(name, r->word)))
            return true;
    }
    return false;
}

/* ---- at the end ---- */

static bool is_digit(char c) { return c >= '0' && c <= '9'; }
static bool is_upper(char c) { return c >= 'A' && c <= 'Z'; }
static bool is_letter(char c) { return is_upper((char)(c & ~0x20)); }

/* The letters and digits alone, in lower case, and where words of it begin. */
struct plain_name {
    char text[NAME_CHARS];
    bool begins[NAME_CHARS];
    size_t n;
};

static void make_plain(struct plain_name *p, struct span name)
{
    char before = '_';

    p->n = 0;
    if (name.n > NAME_CHARS)
        name = span_from(name, name.n - NAME_CHARS);
    for (size_t i = 0; i < name.n; before = name.p[i++]) {
        char c = name.p[i];

        if (!is_letter(c) && !is_digit(c))
            continue;
        p->begins[p->n] =
            !(is_letter(before) || is_digit(before)) || (is_upper(c) && !is_upper(before));
        p->text[p->n++] = is_upper(c) ? (char)(c | 0x20) : c;
    }
    while (p->n && is_digit(p->text[p->n - 1]) && !(p->n > 2 && p->text[p->n - 2] == '6'))
        p->n--; /* "password2", but not "b64" */
}

/* Most words are told apart by their last letters. */
static bool ends_with(const struct plain_name *p, struct span word)
{
    return p->n >= word.n && p->text[p->n - 1] == word.p[word.n - 1] &&
           memcmp(p->text + p->n - word.n, word.p, word.n) == 0;
}

static bool take_suffix(struct plain_name *p)
{
    for (size_t i = 0; i < ARRAY_LEN(suffixes); i++)
        if (ends_with(p, suffixes[i]) && p->n > suffixes[i].n) {
            p->n -= suffixes[i].n;
            return true;
        }
    return false;
}

static enum name_claim claim_of(const struct plain_name *p)
{
    for (size_t i = 0; i < ARRAY_LEN(names); i++) {
        const struct name_row *r = &names[i];

        if (ends_with(p, r->word) && (r->how != HOW_WORD || p->begins[p->n - r->word.n]))
            return r->claim;
    }
    return NAME_PLAIN;
}

/* How all words and suffixes end. */
static struct tails tails;
static pthread_once_t tails_made = PTHREAD_ONCE_INIT;

static void make_tails(void)
{
    for (size_t i = 0; i < ARRAY_LEN(names); i++)
        tails_add(&tails, names[i].word);
    for (size_t i = 0; i < ARRAY_LEN(suffixes); i++)
        tails_add(&tails, suffixes[i]);
}

static bool is_behind_word(char c) { return is_digit(c) || c == '_' || c == '-'; }

bool name_may_claim(struct span text)
{
    pthread_once(&tails_made, make_tails);
    while (text.n && is_behind_word(text.p[text.n - 1]) &&
           !(text.n > 2 && text.p[text.n - 2] == '6'))
        text.n--;
    return text.n >= TAIL_CHARS && tails_have(&tails, text.p + text.n);
}

enum name_claim name_claims(struct span name)
{
    struct plain_name p;

    if (!name_may_claim(name))
        return NAME_PLAIN;
    make_plain(&p, name);
    while (take_suffix(&p))
        continue;
    return claim_of(&p);
}
