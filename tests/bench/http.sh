#!/usr/bin/env bash
# http.sh [BUILD]: what the HTTP server costs, with wrk: one POST (CPU time, requests per second)
# and 10,000 idle connections, kept alive and with an open event stream (memory, POSTs beside them).
# The server is pinned to one core and wrk to another. Needs the package wrk.
set -euo pipefail
cd "$(dirname "$0")/../.."
bench=${1:-build}/tests/bench/bench_http
[ -x "$bench" ] || ninja -C "${1:-build}" tests/bench/bench_http
tmp=$(mktemp -d)
trap 'rm -rf "$tmp"; kill $(jobs -p) 2>/dev/null || true' EXIT
cat >"$tmp/post.lua" <<'LUA'
wrk.method = "POST"
wrk.headers["Content-Type"] = "application/json"
wrk.headers["Accept"] = "application/json, text/event-stream"
wrk.body = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"echo","arguments":{"text":"hello, this is a small message"}}}'
LUA

# The server's stdin is file 3: a line makes it report, its end makes it end.
start() {
    mkfifo "$tmp/in"
    taskset -c 0 "$bench" serve 0 <"$tmp/in" >"$tmp/out" &
    exec 3>"$tmp/in"
    rm "$tmp/in"
    until [ -s "$tmp/out" ]; do read -rt 0.05 <> <(:) || true; done
    port=$(sed -n '1s/.*"port":\([0-9]*\).*/\1/p' "$tmp/out")
}
report() {
    local lines
    lines=$(wc -l <"$tmp/out")
    echo >&3
    until [ "$(wc -l <"$tmp/out")" -gt "$lines" ]; do read -rt 0.05 <> <(:) || true; done
    echo "$1: $(tail -1 "$tmp/out")"
}
post() { taskset -c 1 wrk -t1 -c64 -d"${SECONDS_EACH:-5}s" -s "$tmp/post.lua" "http://127.0.0.1:$port/mcp" | sed -n 's/Requests\/sec: */  requests per second /p'; }

start
for _ in 1 2 3; do
    post
    report "POST"
done
exec 3>&-
wait
for path in /mcp /stream; do
    start
    mkfifo "$tmp/hold"
    "$bench" idle "$port" 10000 "$path" <"$tmp/hold" >"$tmp/idle" &
    exec 4>"$tmp/hold"
    rm "$tmp/hold"
    until [ -s "$tmp/idle" ]; do read -rt 0.05 <> <(:) || true; done
    rm "$tmp/idle"
    report "10000 idle after $path"
    post
    report "POST beside them"
    exec 4>&- 3>&-
    wait
done
