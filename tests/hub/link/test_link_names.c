/* Calls of a link as people watch them: the names they carry, and how far they are. */
#include "cpu_time.h"
#include "hub/link/link.h"
#include "hub/link_rig.h"
#include "mcp/serve/serve.h"

struct seen {
    struct call_view last;
    char uuid[UUID_CHARS + 1];
};

static void see(void *ctx, const struct call_view *c)
{
    struct seen *s = ctx;

    s->last = *c;
    snprintf(s->uuid, sizeof s->uuid, "%s", c->uuid);
}

/* S0-40 */
TEST(a_call_has_the_id_and_the_client_that_its_caller_names)
{
    static const char uuid[] = "00000000-1111-4222-8333-444444444444";
    char name[MCP_CLIENT_LABEL_MAX + 2], id[sizeof uuid];
    struct link_rig rig;
    struct fake_reply a;
    struct seen seen = { 0 };

    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    memcpy(id, uuid, sizeof id);
    link_rig_init(&rig);
    fake_tool(rig.f, "slow", FAKE_HANG);
    link_rig_start(&rig);
    link_rig_call_with(&rig, &a, "slow",
                       &(struct call_spec){ .uuid = id, .client = name, .wants_progress = true });
    memset(id, 'x', sizeof id - 1); /* copied */
    memset(name, 'x', sizeof name - 1);
    CHECK(link_has_call(rig.link, uuid) && !link_has_call(rig.link, id));
    FAKES_UNTIL(&rig.fakes, rig.f->n_held == 1);
    link_each_call(rig.link, see, &seen);
    CHECK_STR(seen.uuid, uuid);
    CHECK_INT(strlen(seen.last.client), MCP_CLIENT_LABEL_MAX);
    CHECK_INT(seen.last.client[0], 'n');
    CHECK(!seen.last.progressed && !seen.last.message);
    request_progress(fake_held(rig.f, 0), 1, 4, "one of four");
    FAKES_UNTIL(&rig.fakes, fakes_count(&rig.fakes, EVENT_CALL_PROGRESS, NULL, "one of four"));
    link_each_call(rig.link, see, &seen);
    CHECK(seen.last.progressed);
    CHECK_INT((int)seen.last.progress, 1);
    CHECK_INT((int)seen.last.total, 4);
    CHECK_STR(seen.last.message, "one of four");
    CHECK(link_cancel_uuid(rig.link, uuid, CALL_BY_USER));
    CHECK(!link_has_call(rig.link, uuid));
    CHECK_HAS(fakes_json(&rig.fakes, EVENT_CALL_CANCELLED, NULL, NULL), uuid);
    link_rig_done(&rig);
}

static void name_of(int i, char uuid[static UUID_CHARS + 1])
{
    snprintf(uuid, UUID_CHARS + 1, "00000000-1111-4222-8333-%012x", (unsigned)i);
}

/* The time that many lookups take, of a call that is there and of one that is not. */
static double time_to_find(struct link_rig *rig, const char *own, int there)
{
    char uuid[UUID_CHARS + 1], missing[UUID_CHARS + 1];
    double from = cpu_ms();

    name_of(there, uuid);
    name_of(-1, missing);
    for (int i = 0; i < 10000; i++)
        CHECK(link_has_call(rig->link, own) && link_has_call(rig->link, uuid) &&
              !link_has_call(rig->link, missing));
    return cpu_ms() - from;
}

/* LINK_CALLS_MAX */
TEST(a_call_is_found_by_its_uuid_as_fast_among_thousands)
{
    static struct fake_reply replies[LINK_CALLS_MAX];
    char uuid[UUID_CHARS + 1];
    struct link_rig rig;
    struct seen seen;
    double few = 0, many;

    link_rig_init(&rig);
    rig.opts.event = NULL;
    fake_tool(rig.f, "slow", FAKE_HANG);
    link_rig_start(&rig);
    for (int i = 0; i < LINK_CALLS_MAX - 1; i++) {
        name_of(i, uuid);
        link_rig_call_with(&rig, &replies[i], "slow", &(struct call_spec){ .uuid = uuid });
        if (i == 0) {
            link_rig_call(&rig, &replies[LINK_CALLS_MAX - 1], "slow");
            link_each_call(rig.link, see, &seen); /* the last: its uuid is the link's own */
            few = time_to_find(&rig, seen.uuid, 0);
        }
    }
    many = time_to_find(&rig, seen.uuid, LINK_CALLS_MAX - 2);
    if (many > 20 * few + 10)
        TAP_FAIL("%.2f ms instead of %.2f ms", many, few);
    link_rig_done(&rig);
    for (int i = 0; i < LINK_CALLS_MAX; i++)
        CHECK_INT(replies[i].count, 1);
}
