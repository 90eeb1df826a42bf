import assert from "node:assert/strict";
import test from "node:test";
import type { RowAction, Server, State } from "../../hub/types";
import {
  badgeOf,
  countShown,
  countsOf,
  findServers,
  menuOf,
  retryText,
  showsReconnectFailed,
  statusOf,
  troubleOf,
} from "./server_model";

// As the daemon describes a server in each state: src/hub/view/texts.c.
const looks: Record<State, { status: string; badge?: Server["badge"]; actions: RowAction[] }> = {
  disabled: { status: "Disabled", actions: [] },
  idle: { status: "Not started", badge: { text: "Idle", color: "gray" }, actions: [] },
  connecting: { status: "Connecting...", badge: { text: "Idle", color: "gray" }, actions: ["Cancel"] },
  authenticating: { status: "Waiting for login", badge: { text: "Idle", color: "gray" }, actions: ["Cancel"] },
  connected: { status: "Connected", badge: { text: "Connected", color: "green" }, actions: ["Disconnect"] },
  reconnecting: { status: "Reconnecting (2/5)...", badge: { text: "Idle", color: "gray" }, actions: [] },
  disconnected: { status: "Disconnected", badge: { text: "Idle", color: "gray" }, actions: [] },
  error: {
    status: "Connection refused",
    badge: { text: "Error", color: "red", tooltip: "Connection refused" },
    actions: ["Retry"],
  },
  failed: { status: "Failed", badge: { text: "Error", color: "red" }, actions: ["Retry"] },
};

function server(state: State, more: Partial<Server> = {}): Server {
  const { status, badge, actions } = looks[state];
  return {
    name: "github",
    display_name: "GitHub",
    transport: "stdio",
    target: "npx -y server-github",
    state,
    status,
    badge,
    color: "gray",
    actions: [...actions, "View Logs"],
    tools: 12,
    resources: 0,
    templates: 0,
    prompts: 0,
    calls: 0,
    failures: 0,
    in_flight: 0,
    reconnects: 0,
    restarts: 0,
    ...more,
  };
}
const states = Object.keys(looks) as State[];
const menuTexts = (s: Server) => menuOf(s).map((o) => o.text);

// S0-129
test("reconnect failed is offered only when a server has failed", () => {
  assert.equal(showsReconnectFailed([]), false);
  assert.equal(showsReconnectFailed([server("connected"), server("reconnecting"), server("disconnected")]), false);
  assert.equal(showsReconnectFailed([server("connected"), server("error")]), true);
  assert.equal(showsReconnectFailed([server("failed")]), true);
});

// S0-130
test("tools are counted only where a server is connected", () => {
  for (const state of states) {
    const texts = countsOf(server(state)).map((c) => c.text);
    assert.deepEqual(texts, state === "connected" ? ["12 tools"] : []);
  }
  const rich = server("connected", { tools: 1, resources: 2, templates: 1, prompts: 1 });
  assert.deepEqual(countsOf(rich).map((c) => c.text), ["1 tool", "3 resources", "1 prompt"]);
});

// S0-130
test("every row says its status exactly once", () => {
  for (const state of states) {
    const s = server(state);
    const said = [statusOf(s), badgeOf(s)?.text, troubleOf(s)?.text].filter((text) => text === s.status);
    assert.equal(said.length, 1, state);
  }
});

// S0-131
test("the menu offers what fits the state, and the log always", () => {
  const first: Partial<Record<State, string>> = {
    error: "Retry",
    failed: "Retry",
    connecting: "Cancel",
    authenticating: "Cancel",
    connected: "Disconnect",
  };
  for (const state of states) {
    const texts = menuTexts(server(state));
    assert.equal(texts[0], first[state] ?? "View Logs", state);
    assert.ok(texts.includes("View Logs"), state);
    for (const word of ["Retry", "Cancel", "Disconnect"])
      assert.equal(texts.includes(word), first[state] === word, `${word} when ${state}`);
  }
});

test("the menu goes on with what every server has", () => {
  assert.deepEqual(menuTexts(server("connected")), [
    "Disconnect",
    "View Logs",
    "Restart",
    "Disable",
    "Edit",
    "Remove…",
  ]);
  assert.deepEqual(menuTexts(server("disabled")), ["View Logs", "Enable", "Edit", "Remove…"]);
});

test("the badge is the one that the daemon gives", () => {
  assert.deepEqual(badgeOf(server("connected")), { text: "Connected", color: "green" });
  assert.deepEqual(badgeOf(server("idle")), { text: "Idle", color: "gray" });
  assert.deepEqual(badgeOf(server("error")), { text: "Error", color: "red", tooltip: "Connection refused" });
  assert.equal(badgeOf(server("disabled")), undefined);
});

test("the badge follows the state", () => {
  const badges = (["idle", "connecting", "connected", "error", "disabled"] as const).map((s) => badgeOf(server(s))?.text);
  assert.deepEqual(badges, ["Idle", undefined, "Connected", "Error", undefined]);
});

test("trouble says why and what to do", () => {
  const failed = troubleOf(server("error", { message: "Connection refused", next_step: "patchbay doctor github" }));
  assert.equal(failed?.text, "Connection refused");
  assert.deepEqual(failed?.offers.map((o) => o.act), ["reconnect", "logs"]);
  assert.equal(failed?.hint, "patchbay doctor github");
  const known = troubleOf(
    server("error", { message: "handshake: HTTP 404", problem: "it has nothing at this path", next_step: "correct it" }),
  );
  assert.deepEqual([known?.text, known?.advice, known?.hint], ["it has nothing at this path", "correct it", undefined]);
  const long = "Cannot connect to server 'github': handshake: Connection refused";
  const told = server("error", { message: long, status: long });
  assert.equal(troubleOf(told)?.text, "Connection refused", "the row names the server already");
  assert.equal(statusOf(told), "");
  assert.equal(troubleOf(server("failed"))?.text, "Failed");
  assert.equal(troubleOf(server("reconnecting", { message: "It ended with code 1" }))?.text, "It ended with code 1");
  assert.equal(troubleOf(server("connected")), null);
  assert.equal(troubleOf(server("disconnected")), null, "a person did that");
  assert.deepEqual(troubleOf(server("disconnected", { message: "Gone" }))?.offers[0]?.act, "connect");
});

test("the countdown never says 0 before it is time", () => {
  assert.equal(retryText(undefined, 0), "");
  assert.equal(retryText(104, 100_000), "retry in 4 s");
  assert.equal(retryText(104, 100_100), "retry in 4 s");
  assert.equal(retryText(104, 103_999), "retry in 1 s");
  assert.equal(retryText(104, 104_000), "retrying now");
  assert.equal(retryText(104, 120_000), "retrying now");
  assert.equal(retryText(400, 100_000), "retry in 5 min");
});

test("servers are found by name and by what is run, word by word", () => {
  const all = [server("connected"), server("error", { name: "db", display_name: "Db", target: "https://db.example/mcp" })];
  assert.deepEqual(findServers(all, "", "all").length, 2);
  assert.deepEqual(findServers(all, "  EXAMPLE db ", "all").map((s) => s.name), ["db"]);
  assert.deepEqual(findServers(all, "npx", "all").map((s) => s.name), ["github"]);
  assert.deepEqual(findServers(all, "", "trouble").map((s) => s.name), ["db"]);
  assert.deepEqual(findServers(all, "npx", "trouble"), []);
});

test("every server is connected, in trouble, off, or on its way", () => {
  const counts = countShown(states.map((s) => server(s)));
  assert.deepEqual(counts, { all: 9, connected: 1, trouble: 3, off: 3 });
});
