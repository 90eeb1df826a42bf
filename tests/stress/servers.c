/* servers.c - who is behind the hub: the table of roles, the config, processes of our own. */
#include "stress.h"
#include <arpa/inet.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>

enum { CALM_TIMEOUT_S = 30, TIMEOUT_S = 6, PORT_FIRST = 20000, PORT_RANGE = 12000, TRIES = 200 };

/* The first ones are those of a short run. */
static const struct server_role roles[] = {
    { "stdio", "legacy", "honest", .calm = true },
    { "http", "modern", "honest", .calm = true },
    { "stdio", "legacy", "honest", .shared = true },
    { "http", "legacy", "honest", .calm = true },
    { "stdio", "legacy", "honest", .calm = true, .per_client = true },
    { "stdio", "legacy", "nagging" },
    { "stdio", "legacy", "dying" },
    { "stdio", "modern", "honest", .calm = true },
    { "sse", "legacy", "honest", .calm = true },
    { "stdio", "legacy", "twice" },
    { "http", "legacy", "dying" },
    { "stdio", "legacy", "honest", .per_client = true },
    { "stdio", "legacy", "storm" },
    { "stdio", "legacy", "honest", .calm = true, .lazy = true },
    { "stdio", "legacy", "malformed" },
    { "http", "modern", "dying" },
    { "stdio", "legacy", "hanging" },
    { "stdio", "modern", "dying" },
    { "stdio", "legacy", "garbage", .shared = true },
    { "http", "legacy", "nagging" },
    { "stdio", "legacy", "flood" },
    { "sse", "legacy", "dying" },
    { "http", "modern", "malformed" },
    { "stdio", "modern", "twice" },
    { "stdio", "legacy", "dying", .per_client = true },
    { "stdio", "legacy", "honest", .lazy = true },
    { "http", "legacy", "twice" },
    { "stdio", "modern", "malformed" },
    { "http", "legacy", "cutting" },
    { "sse", "legacy", "twice" },
    { "stdio", "modern", "hanging" },
    { "http", "legacy", "malformed" },
    { "http", "modern", "hanging" },
    { "stdio", "modern", "garbage" },
    { "stdio", "legacy", "dying", .lazy = true },
    { "http", "legacy", "cutting", .calm = true },
    { "stdio", "modern", "storm" },
    { "sse", "legacy", "nagging" },
    { "stdio", "modern", "flood" },
    { "http", "modern", "honest" },
};

struct server *servers;

static bool is_ours(const struct server *s) { return strcmp(s->role->transport, "stdio") != 0; }

static int free_port(void)
{
    for (int i = 0; i < TRIES; i++) {
        AUTO_CLOSE int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        int port = PORT_FIRST + (int)among(PORT_RANGE);
        struct sockaddr_in at = { .sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

        if (bind(fd, (struct sockaddr *)&at, sizeof at) == 0)
            return port;
    }
    return 0;
}

static void put_number(struct json_out *o, uint64_t n)
{
    char text[32];

    snprintf(text, sizeof text, "%llu", (unsigned long long)n);
    json_put_str(o, NULL, text);
}

static void put_server(struct json_out *o, const struct server *s, enum config how)
{
    const struct server_role *r = s->role;

    json_begin_object(o, s->name);
    if (is_ours(s)) {
        json_put_fmt(o, "url", "http://127.0.0.1:%d/%s", s->port,
                     strcmp(r->transport, "sse") == 0 ? "sse" : "mcp");
        json_put_str(o, "transport", r->transport);
    } else {
        json_put_str(o, "command", hub_built("tests/stress/stress_server"));
        json_begin_array(o, "args");
        json_put_str(o, NULL, s->name);
        json_put_str(o, NULL, "stdio");
        json_put_str(o, NULL, r->era);
        json_put_str(o, NULL, r->kind);
        put_number(o, options.seed + s->version);
        json_end(o);
    }
    if (how == CONFIG_OFF)
        json_put_bool(o, "enabled", false);
    json_put_uint(o, "timeout_s", r->calm ? CALM_TIMEOUT_S : TIMEOUT_S);
    if (r->per_client || r->shared)
        json_put_str(o, "instance", r->shared ? "shared" : "per_client");
    if (r->lazy) {
        json_put_str(o, "start", "lazy");
        json_put_uint(o, "idle_s", 3);
    }
    json_end(o);
}

static void put_settings(struct json_out *o)
{
    json_begin_object(o, "settings");
    json_put_uint(o, "connect_s", 20);
    json_put_uint(o, "list_wait_s", 20);
    json_put_uint(o, "health_s", 5);
    json_put_uint(o, "reconnect_max", 1000000);
    json_put_uint(o, "restart_max", 1000000);
    json_put_raw(o, "reconnect_base_s", SPAN("0.05"));
    json_put_bool(o, "retry_initial", true);
    json_end(o);
}

void servers_write_config(enum config how)
{
    AUTO_BUF struct buf b = { 0 };
    struct json_out o = json_out(&b);
    char path[256], fresh[256];
    FILE *f;

    json_begin_object(&o, NULL);
    json_begin_object(&o, "mcpServers");
    for (unsigned i = 0; i < options.servers; i++)
        if (!servers[i].absent)
            put_server(&o, &servers[i], how);
    json_end(&o);
    put_settings(&o);
    json_end(&o);
    snprintf(path, sizeof path, "%s/config.json", hub.home);
    snprintf(fresh, sizeof fresh, "%s/config.json.new", hub.home);
    f = fopen(fresh, "we");
    if (!f)
        return;
    for (unsigned i = how == CONFIG_AIRY ? 1 + among(20) : 0; i; i--)
        fputc('\n', f);
    fwrite(b.p, 1, b.n, f);
    fclose(f);
    rename(fresh, path);
}

static void run(struct server *s)
{
    AUTO_CLOSE int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    char seed[32], port[16];

    snprintf(seed, sizeof seed, "%llu", (unsigned long long)(options.seed + s->version));
    snprintf(port, sizeof port, "%d", s->port);
    s->pid =
        hub_spawn((const char *const[]){ "tests/stress/stress_server", s->name, s->role->transport,
                                         s->role->era, s->role->kind, seed, port, NULL },
                  null, null, null);
}

void servers_revive(void)
{
    for (unsigned i = 0; i < options.servers; i++) {
        struct server *s = &servers[i];

        if (is_ours(s) && (!s->pid || waitpid(s->pid, NULL, WNOHANG) == s->pid))
            run(s);
    }
}

void servers_begin(void)
{
    servers = mem_zero(options.servers * sizeof *servers);
    for (unsigned i = 0; i < options.servers; i++) {
        struct server *s = &servers[i];

        s->role = &roles[i % ARRAY_LEN(roles)];
        snprintf(s->name, sizeof s->name, "s%u-%s", i, s->role->calm ? "calm" : s->role->kind);
        s->port = is_ours(s) ? free_port() : 0;
    }
    servers_revive();
    servers_write_config(CONFIG_PLAIN);
}

void servers_end(void)
{
    for (unsigned i = 0; i < options.servers; i++)
        if (servers[i].pid) {
            kill(servers[i].pid, SIGKILL);
            waitpid(servers[i].pid, NULL, 0);
        }
    free(servers);
    servers = NULL;
}

/* ---- processes ---- */

static const struct server *named(const char *file)
{
    const char *dot = strrchr(file, '.');

    for (unsigned i = 0; dot && i < options.servers; i++)
        if (strlen(servers[i].name) == (size_t)(dot - file) &&
            strncmp(servers[i].name, file, (size_t)(dot - file)) == 0)
            return &servers[i];
    return NULL;
}

/* Whether this is still the process that left the file: its environment says so. */
static bool is_marked(pid_t pid)
{
    char path[64], text[65536];
    int fd;
    ssize_t n;

    snprintf(path, sizeof path, "/proc/%d/environ", pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    n = fd >= 0 ? read(fd, text, sizeof text) : -1;
    if (fd >= 0)
        close(fd);
    return n > 0 && memmem(text, (size_t)n, hub.mark, strlen(hub.mark));
}

/* Those that live; files of others are removed. */
static void each_process(void (*fn)(const struct server *s, pid_t pid, void *ctx), void *ctx)
{
    char path[256];
    DIR *d;

    snprintf(path, sizeof path, "%s/pids", hub.dir);
    d = opendir(path);
    for (struct dirent *e; d && (e = readdir(d));) {
        const struct server *s = named(e->d_name);
        pid_t pid = s ? (pid_t)strtol(strrchr(e->d_name, '.') + 1, NULL, 10) : 0;

        if (s && is_marked(pid))
            fn(s, pid, ctx);
        else if (s)
            unlinkat(dirfd(d), e->d_name, 0);
    }
    if (d)
        closedir(d);
}

struct choice {
    pid_t pid;
    unsigned seen;
};

static void choose(const struct server *s, pid_t pid, void *ctx)
{
    struct choice *c = ctx;

    if (!s->role->calm && one_in(++c->seen))
        c->pid = pid;
}

pid_t servers_victim(void)
{
    struct choice c = { 0 };

    each_process(choose, &c);
    return c.pid;
}

static void count(const struct server *s, pid_t pid, void *ctx)
{
    (void)pid;
    *(int *)ctx += !is_ours(s);
}

int servers_running(void)
{
    int n = 0;

    each_process(count, &n);
    return n;
}

/* ---- what they say ---- */

void servers_read_violations(void)
{
    char path[256], line[2000];
    FILE *f;

    snprintf(path, sizeof path, "%s/violations", hub.dir);
    f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f)) {
        enum law law = strstr(line, "wrong-server") ? LAW_RIGHT
                       : strstr(line, "executed")   ? LAW_ONCE
                                                    : LAW_ANSWERS;

        broken(law, "a server says: %s", line);
    }
    if (f)
        fclose(f);
}
