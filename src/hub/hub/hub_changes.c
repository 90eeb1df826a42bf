/* hub_changes.c - a tool that is not what it was: a server may show one thing while it is looked at
 * and another later. What each tool was is remembered for as long as the server is here, through
 * reconnects and while a tool is away, and a change of it is told in the server's log. */
#include "hub/catalog/catalog.h"
#include "hub/link/link.h"
#include "hub_impl.h"

/* Notes what it is now. True: it was something else. */
static bool has_changed(struct member *m, const struct entry *e)
{
    uint64_t hash = hash_keyed(e->name), name = hash ? hash : 1;
    uintptr_t now = (uintptr_t)hash_keyed(e->text) | 1;
    uintptr_t was = (uintptr_t)table_del(&m->tools_seen, name);

    table_put(&m->tools_seen, name, (void *)now);
    return was && was != now;
}

void member_note_tools(struct member *m)
{
    const struct entry *e;
    size_t changed = 0;
    AUTO_BUF struct buf names = { 0 };

    if (m->tools_seen.n > CATALOG_ITEMS_MAX) /* names that are never the same are no memory */
        table_done(&m->tools_seen);
    for (size_t i = 0; (e = catalog_entry(m->hub->catalog, m->name, LIST_TOOLS, i)); i++) {
        struct span name = e->name;

        if (!has_changed(m, e) || changed++ >= CATALOG_WARNINGS_MAX)
            continue;
        if (name.n > MCP_NAME_SHOWN_MAX)
            name.n = MCP_NAME_SHOWN_MAX;
        buf_printf(&names, "%s%.*s", names.n ? ", " : "", SPAN_ARG(name));
    }
    if (changed) /* once, at the end: whoever hears it may change the catalog */
        link_log(m->link, PB_LOG_WARNING, "Changed after it was first seen: %s%s", buf_cstr(&names),
                 changed > CATALOG_WARNINGS_MAX ? " and more" : "");
}
