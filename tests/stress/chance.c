/* chance.c - one seed, time, and the canaries that calls carry. */
#include "stress.h"

struct options options;

static uint64_t state;

/* splitmix64 */
static uint64_t mix(uint64_t x)
{
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

void chance_begin(uint64_t seed) { state = mix(seed); }

uint64_t chance(void) { return state = mix(state); }

uint64_t now(void) { return clock_real()->now_ms(clock_real()); }

uint64_t patiently(uint64_t ms) { return options.sanitized ? ms * 3 : ms; }

/* ---- canaries ---- */

static uint64_t hash_of(unsigned client, unsigned life, unsigned call)
{
    return mix(mix(mix(options.seed ^ client) ^ life) ^ call);
}

void canary_make(char out[static CANARY_MAX], unsigned client, unsigned life, unsigned call)
{
    snprintf(out, CANARY_MAX, "cny:%u.%u.%u.%016llx", client, life, call,
             (unsigned long long)hash_of(client, life, call));
}

static const char *find(struct span text, size_t *n)
{
    const char *p = text.n ? memmem(text.p, text.n, "cny:", 4) : NULL;
    const char *end = span_end(text);

    for (*n = 4;
         p && p + *n < end && *n < CANARY_MAX - 1 && p[*n] && strchr(".0123456789abcdef", p[*n]);
         (*n)++)
        ;
    return p;
}

bool canary_find(struct span text, char out[static CANARY_MAX])
{
    size_t n;
    const char *p = find(text, &n);

    snprintf(out, CANARY_MAX, "%.*s", p ? (int)n : 0, p ? p : "");
    return p != NULL;
}

/* The number here; goes on behind the point that follows. */
static unsigned number(char **at)
{
    unsigned n = (unsigned)strtoul(*at, at, 10);

    *at += **at == '.';
    return n;
}

bool canaries_are(struct span text, unsigned client, unsigned from, unsigned to,
                  char out[static CANARY_MAX])
{
    while (canary_find(text, out)) {
        const char *p = memmem(text.p, text.n, "cny:", 4);
        char own[CANARY_MAX], *at = out + 4;
        unsigned life, call;

        number(&at); /* whose it is: the whole is compared below */
        life = number(&at);
        call = number(&at);
        canary_make(own, client, life, call);
        if (strcmp(own, out) != 0 || life < from || life > to)
            return false;
        text = span_from(text, (size_t)(p - text.p) + 4);
    }
    return true;
}
