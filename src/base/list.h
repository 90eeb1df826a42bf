/* list.h - an intrusive doubly linked list. The head is a struct list; an element embeds one.
 * An element that is in no list links to itself, so list_remove() may be called twice. */
#pragma once
#include "macros.h"
#include <stdbool.h>

struct list {
    struct list *next, *prev;
};

#define LIST_INIT(name)  \
    {                    \
        &(name), &(name) \
    }
/* The body may remove and free `pos`, but not its successor. */
#define LIST_FOREACH(pos, safe, head)                                 \
    for ((pos) = (head)->next, (safe) = (pos)->next; (pos) != (head); \
         (pos) = (safe), (safe) = (pos)->next)

static inline void list_init(struct list *l) { l->next = l->prev = l; }

static inline bool list_empty(const struct list *l) { return l->next == l; }

static inline void list_append(struct list *head, struct list *item)
{
    item->prev = head->prev;
    item->next = head;
    head->prev->next = item;
    head->prev = item;
}

static inline void list_remove(struct list *item)
{
    item->prev->next = item->next;
    item->next->prev = item->prev;
    list_init(item);
}

/* All of `from` to the end of `to`. To walk a list whose elements others may add or take away, move
 * them to one of your own first, and then take out the first until there is none. */
static inline void list_move(struct list *to, struct list *from)
{
    while (!list_empty(from)) {
        struct list *first = from->next;

        list_remove(first);
        list_append(to, first);
    }
}
