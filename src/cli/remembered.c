#include "remembered.h"
#include "show.h"
#include "talk.h"

char *remembered_params(const struct cli *cli)
{
    AUTO_BUF struct buf b = { 0 };
    struct json_out o = json_out(&b);

    json_begin_object(&o, NULL);
    json_put_str_opt(&o, "server", cli->n_args ? cli->args[0] : NULL);
    json_put_str_opt(&o, "mode", cli_option(cli, "mode"));
    json_put_bool(&o, "refresh", cli_option(cli, "refresh") != NULL);
    json_end(&o);
    return buf_take(&b);
}

/* "3 h": in the largest unit of which there is enough. */
static const char *age(double seconds, struct arena *a)
{
    static const struct {
        double from, each;
        const char *unit;
    } units[] = {
        { 172800, 86400, "days" }, { 3600, 3600, "h" }, { 60, 60, "min" }, { 0, 1, "s" }
    };
    size_t i = 0;

    while (seconds < units[i].from)
        i++;
    return arena_printf(a, "%d %s", (int)(seconds / units[i].each), units[i].unit);
}

void remembered_write_none(struct json_out *o)
{
    json_begin_array(o, "failed");
    json_end(o);
    json_begin_array(o, "remembered");
    json_end(o);
}

void remembered_tell(struct json list)
{
    AUTO_ARENA struct arena a = { 0 };
    double now = (double)clock_real()->wall_ms(clock_real()) / 1000, oldest = 0, newest = 0;
    size_t n = 0;

    JSON_FOREACH(r, list) {
        double at, s;

        if (json_double(json_get(r, "remembered_at"), &at, NULL) < 0)
            continue;
        s = now > at ? now - at : 0;
        oldest = n == 0 || s > oldest ? s : oldest;
        newest = n == 0 || s < newest ? s : newest;
        n++;
    }
    if (n == 1)
        talk_note("%s: remembered %s ago; --refresh asks the server",
                  show_member(json_first(list), "server", &a), age(oldest, &a));
    else if (n && strcmp(age(oldest, &a), age(newest, &a)) == 0)
        talk_note("%zu servers: remembered %s ago; --refresh asks the servers", n, age(oldest, &a));
    else if (n)
        talk_note("%zu servers: remembered %s to %s ago; --refresh asks the servers", n,
                  age(newest, &a), age(oldest, &a));
}
