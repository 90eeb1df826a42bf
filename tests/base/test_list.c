#include "base/base.h"
#include "tap.h"

struct item {
    int n;
    struct list link;
};

TEST(items_keep_their_order_and_may_leave_during_a_walk)
{
    struct list head = LIST_INIT(head), *pos, *safe;
    struct item items[5];
    int sum = 0, order = 0;

    CHECK(list_empty(&head));
    for (int i = 0; i < 5; i++) {
        items[i].n = i + 1;
        list_append(&head, &items[i].link);
    }
    LIST_FOREACH(pos, safe, &head) {
        struct item *it = CONTAINER_OF(pos, struct item, link);

        order = order * 10 + it->n;
        if (it->n % 2)
            list_remove(pos);
    }
    CHECK_INT(order, 12345);
    LIST_FOREACH(pos, safe, &head)
        sum = sum * 10 + CONTAINER_OF(pos, struct item, link)->n;
    CHECK_INT(sum, 24);
}

TEST(removing_twice_is_harmless)
{
    struct list head = LIST_INIT(head);
    struct item it = { 0 };

    list_init(&it.link);
    list_remove(&it.link);
    list_append(&head, &it.link);
    list_remove(&it.link);
    list_remove(&it.link);
    CHECK(list_empty(&head));
    CHECK(list_empty(&it.link));
}
