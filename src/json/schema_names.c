#include "schema_parts.h"

/* Length first: most lookups are decided by it. */
static int compare(struct span a, struct span b)
{
    if (a.n != b.n)
        return a.n < b.n ? -1 : 1;
    return a.n ? memcmp(a.p, b.p, a.n) : 0;
}

static int compare_names(const void *x, const void *y)
{
    const struct name *a = x, *b = y;
    int order = compare(a->key, b->key);

    return order ? order : (a->order > b->order) - (a->order < b->order);
}

void names_sort(struct names *names)
{
    uint32_t n = 0;

    if (names->n)
        qsort(names->list, names->n, sizeof *names->list, compare_names);
    for (uint32_t i = 0; i < names->n; i++)
        if (n == 0 || compare(names->list[n - 1].key, names->list[i].key))
            names->list[n++] = names->list[i];
    names->n = n;
}

const struct name *names_find(const struct names *names, struct span key)
{
    uint32_t low = 0, high = names->n;

    while (low < high) {
        uint32_t mid = low + (high - low) / 2;
        int order = compare(key, names->list[mid].key);

        if (order == 0)
            return &names->list[mid];
        if (order < 0)
            high = mid;
        else
            low = mid + 1;
    }
    return NULL;
}
