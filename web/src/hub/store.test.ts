import { browser, pass, passTo, settle, waiting } from "../testing/browser";
import { hub } from "../testing/hub";
import assert from "node:assert/strict";
import test from "node:test";
import { effect } from "@preact/signals";
import { dismiss, toasts } from "../shared/toasts";
import { link, openAgain } from "./api";
import * as store from "./store";
import type { LogEntry } from "./types";

// ---- a hub with what a test wants ----

const ALL = ["/api/servers", "/api/alerts", "/api/pins", "/api/modes", "/api/status", "/api/calls?limit=1000", "/api/questions"];
let questions: object[] = [];
let servers: object[] = [];
let calls: object[] = [];
let recent: object[] = [];

hub.answers.set("/api/servers", () => ({ servers }));
hub.answers.set("/api/alerts", () => ({ alerts: [] }));
hub.answers.set("/api/pins", () => ({ pins: [], approved: 0, held: 0, changed: 0 }));
hub.answers.set("/api/modes", () => ({ modes: [] }));
hub.answers.set("/api/status", () => ({ version: "1" }));
hub.answers.set("/api/calls?limit=1000", () => ({ calls, recent, total: recent.length, recorded: true }));
hub.answers.set("/api/questions", () => ({ questions }));

const server = (name: string, state = "connected") => ({ name, state });
const call = (id: string) => ({ id, server: "git", method: "tools/call", subject: "log", started_at: 990 });
const endedCall = (id: string) => ({ id, no: 1, server: "git", tool: "log", queued_at: 990, ended_at: 991, duration: 1, status: "success" });
const question = (id: string) => ({ type: "question", at: 1000, server: "git", question: { id, server: "git", tool: "log" } });
const questionOver = (id: string) => ({ type: "question_over", at: 1001, server: "git", id });
const started = (id: string) => ({ type: "toolCallStarted", at: 1000, server: "git", request_id: id, tool: "log", method: "tools/call" });
const progress = (id: string, n: number) => ({ type: "toolCallProgress", at: 1001, server: "git", request_id: id, tool: "log", progress: n });
const completed = (id: string, success = true) => ({ ...started(id), type: "toolCallCompleted", at: 1002, duration: 2, success });
const cancelled = (id: string) => ({ ...started(id), type: "toolCallCancelled", at: 1002, duration: 2, reason: "timeout" });
const changed = (name: string) => ({ type: "serverStateChanged", at: 1000, server: name, from: { state: "idle" }, to: { state: "connected" } });

const running = () => [...store.active.value.keys()];
const over = () => store.ended.value.map((c) => c.id);

/** What is due after events: one turn of them, and the reading that follows. */
const turn = () => pass(16);

/** Everything is read anew, with nothing going on, right after the page has looked by itself. */
async function fresh(): Promise<void> {
  servers = [server("git")];
  calls = recent = [];
  await passTo(5000);
  await pass(1000);
  await hub.tell({ type: "reset" });
  await pass(1000);
  hub.asked = [];
}

servers = [server("git"), server("db", "failed")];
store.startStore();

// ---- the connection ----

test("the first stream makes the page read everything", async () => {
  await hub.opened(1);
  assert.equal(hub.stream.lastEventId, null);
  assert.equal(link.value, "live");
  assert.deepEqual(hub.asked.slice(1).sort(), [...ALL].sort());
  assert.equal(store.loaded.value, true);
  assert.equal(store.connected.value, 1);
  assert.deepEqual(store.failed.value.map((s) => s.name), ["db"]);
  assert.equal(store.byName("db")!.state, "failed");
});

test("a stream that breaks is taken up where it was, and nothing is read anew", async () => {
  await fresh();
  await hub.tell(started("a"));
  const n = hub.streams.length;
  hub.stream.end();
  await settle();
  assert.equal(link.value, "lost");
  await pass(499);
  assert.equal(hub.streams.length, n);
  await pass(1);
  await hub.opened(n + 1);
  assert.match(hub.stream.lastEventId!, /^boot-\d+$/);
  assert.equal(link.value, "live");
  assert.deepEqual(hub.asked, ["/api/events"]);
  await hub.tell(completed("a"));
  await turn();
  assert.deepEqual([running(), over()], [[], ["a"]]);
});

test("the id is that of the last event that was whole", async () => {
  await fresh();
  const n = hub.streams.length;
  hub.stream.write('id: boot-old\ndata: {"type":"modesChanged"}\n\n');
  hub.stream.write('id: boot-old\ndata: {"type":"mode');
  await settle();
  hub.stream.end(new TypeError("network error"));
  await pass(500);
  await hub.opened(n + 1);
  assert.equal(hub.stream.lastEventId, "boot-old");
});

test("the longer nobody answers the less it is asked, and it is asked at once after that", async () => {
  await fresh();
  const n = hub.streams.length;
  hub.status = 0;
  hub.stream.end();
  for (const wait of [500, 1000, 2000, 4000, 5000, 5000]) {
    const asked = hub.count("/api/events");
    await pass(wait - 1);
    assert.equal(hub.count("/api/events"), asked, `not before ${wait}`);
    await pass(1);
    assert.equal(hub.count("/api/events"), asked + 1, `after ${wait}`);
    assert.equal(link.value, "lost");
  }
  hub.status = 200;
  await pass(5000);
  await hub.opened(n + 1);
  hub.stream.end();
  await pass(500);
  await hub.opened(n + 2);
});

test("what the hub refuses for now is asked again", async () => {
  await fresh();
  const n = hub.streams.length;
  hub.status = 503;
  hub.stream.end();
  await pass(500);
  assert.equal(link.value, "lost");
  hub.status = 200;
  await pass(1000);
  await hub.opened(n + 1);
});

test("without the right token nothing is asked until there is one", async () => {
  await fresh();
  const n = hub.streams.length;
  hub.status = 401;
  hub.stream.end();
  await pass(500);
  assert.equal(link.value, "denied");
  const asked = hub.count("/api/events");
  await pass(60_000);
  assert.equal(hub.count("/api/events"), asked);
  hub.status = 200;
  openAgain();
  await hub.opened(n + 1);
  assert.equal(link.value, "live");
});

test("a hidden page gives its connection back after a while, and goes on when it is seen", async () => {
  await fresh();
  const n = hub.streams.length;
  browser.hide(true);
  await pass(29_999);
  assert.equal(hub.stream.open, true);
  await pass(1);
  assert.equal(hub.stream.open, false);
  await pass(60_000);
  assert.equal(hub.streams.length, n);
  browser.hide(false);
  await hub.opened(n + 1);
  assert.match(hub.stream.lastEventId!, /^boot-/);
});

test("a page that is hidden for a moment keeps its connection", async () => {
  await fresh();
  const n = hub.streams.length;
  browser.hide(true);
  await pass(20_000);
  browser.hide(false);
  await pass(60_000);
  assert.equal(hub.stream.open, true);
  assert.equal(hub.streams.length, n);
});

test("a network that is back is not waited for", async () => {
  await fresh();
  const n = hub.streams.length;
  hub.stream.end();
  await settle();
  browser.online();
  await hub.opened(n + 1);
  await pass(10_000);
  assert.equal(hub.streams.length, n + 1, "and only once");
});

// ---- gaps ----

test("after a gap everything is read anew, and what is no more goes away", async () => {
  await fresh();
  calls = [call("a"), call("b")];
  recent = [endedCall("z")];
  await hub.tell({ type: "reset" });
  await settle();
  assert.deepEqual(running(), ["a", "b"]);
  const version = store.catalogVersion.value;
  await pass(1000);
  hub.asked = [];
  servers = [];
  calls = [call("b")];
  recent = [endedCall("a"), endedCall("z")];
  await hub.tell({ type: "reset" });
  await settle();
  assert.deepEqual([...hub.asked].sort(), [...ALL].sort());
  assert.deepEqual([running(), over()], [["b"], ["a", "z"]]);
  assert.deepEqual(store.servers.value, []);
  assert.equal(store.catalogVersion.value, version + 1, "lists of tools are read anew, too");
});

test("a gap right after another is not forgotten", async () => {
  await fresh();
  await hub.tell({ type: "reset" });
  calls = [call("late")];
  servers = [server("late")];
  await hub.tell({ type: "reset" });
  await pass(250);
  assert.deepEqual(running(), ["late"]);
  assert.deepEqual(store.servers.value.map((s) => s.name), ["late"]);
});

test("what happens while the calls are read comes after what is read", async () => {
  await fresh();
  calls = [call("ends"), call("goes on")];
  const answer = hub.hold("/api/calls?limit=1000");
  await hub.tell({ type: "reset" });
  await hub.tell(completed("ends"), started("new"), progress("new", 0.5));
  await turn();
  assert.deepEqual([running(), over()], [[], []], "nothing is shown that the answer would undo");
  await answer();
  assert.deepEqual(running(), ["goes on", "new"]);
  assert.equal(store.active.value.get("new")!.progress, 0.5);
  assert.deepEqual(over(), ["ends"]);
});

test("calls whose reading failed are not lost", async () => {
  await fresh();
  const usual = hub.answers.get("/api/calls?limit=1000")!;
  let fail = () => {};
  hub.answers.set("/api/calls?limit=1000", () => new Promise((_, no) => (fail = () => no(new TypeError("gone")))));
  await hub.tell({ type: "reset" });
  await hub.tell(started("a"));
  await turn();
  hub.answers.set("/api/calls?limit=1000", usual);
  fail();
  await settle();
  assert.deepEqual(running(), ["a"]);
});

test("a call that was over when it was read is not counted again by its late events", async () => {
  await fresh();
  recent = [endedCall("a")];
  await hub.tell({ type: "reset" });
  await hub.tell(started("a"), progress("a", 1));
  await turn();
  assert.deepEqual(running(), []);
  await hub.tell(completed("a"));
  await turn();
  assert.deepEqual([running(), over()], [[], ["a"]]);
});

// ---- events ----

test("events count in their order, and one turn of them is drawn once", async () => {
  await fresh();
  const seen: string[][] = [];
  const stop = effect(() => void seen.push(running()));
  await hub.tell(started("a"), started("b"), progress("a", 1), progress("a", 2), completed("b", false));
  await hub.tell(started("c"), cancelled("c"));
  assert.deepEqual(seen, [[]], "not before the turn is over");
  await turn();
  stop();
  assert.deepEqual(seen, [[], ["a"]]);
  assert.equal(store.active.value.get("a")!.progress, 2);
  assert.deepEqual(
    store.ended.value.map((c) => [c.id, c.status, c.note, c.queued_at]),
    [
      ["c", "timeout", "timeout", 1000],
      ["b", "error", undefined, 1000],
    ],
  );
});

test("questions come and go with their events, and what was read meanwhile does not bring them back", async () => {
  await fresh();
  const open = () => store.questions.value.map((q) => q.id);
  const version = store.callsVersion.value;
  questions = [question("a").question];
  await hub.tell(question("a"));
  await turn();
  assert.deepEqual(open(), ["a"]);
  const read = hub.hold("/api/questions");
  await hub.tell(question("b"));
  questions = [question("a").question, question("b").question];
  await pass(250);
  assert.deepEqual(open(), ["a", "b"]);
  questions = [question("b").question];
  await hub.tell(questionOver("a"));
  await turn();
  assert.deepEqual(open(), ["b"]);
  await read();
  await pass(500);
  assert.deepEqual(open(), ["b"]);
  questions = [];
  await hub.tell(questionOver("b"));
  await pass(500);
  assert.deepEqual(open(), []);
  assert.ok(store.callsVersion.value > version, "a call that was denied has ended without having begun");
});

test("a turn without calls draws nothing that shows them", async () => {
  await fresh();
  let drawn = 0;
  const stop = effect(() => void (store.active.value, store.ended.value, drawn++));
  await hub.tell(changed("git"), { type: "alertsChanged", at: 1 });
  await turn();
  stop();
  assert.equal(drawn, 1);
});

test("progress and end of a call that nobody knows do no harm", async () => {
  await fresh();
  await hub.tell(progress("x", 1), completed("x"));
  await turn();
  assert.deepEqual([running(), over()], [[], ["x"]]);
});

test("the last thousand calls are kept, newest first", async () => {
  await fresh();
  for (let i = 0; i < 1200; i += 100) {
    await hub.tell(...Array.from({ length: 100 }, (_, k) => completed(`${i + k}`)));
    await turn();
  }
  assert.equal(over().length, 1000);
  assert.deepEqual([over()[0], over()[999]], ["1199", "200"]);
});

test("an event of a kind that is not known yet is left out", async () => {
  await fresh();
  await hub.tell({ type: "somethingNew", at: 1, server: "git" }, started("a"));
  await turn();
  assert.deepEqual(running(), ["a"]);
});

test("what changes the lists of a server says so once a turn", async () => {
  await fresh();
  const version = store.catalogVersion.value;
  await hub.tell(...["git", "db", "git"].map((name) => ({ type: "catalogChanged", at: 1, server: name })));
  await turn();
  assert.equal(store.catalogVersion.value, version + 1);
  assert.equal(hub.count("/api/servers"), 1);
});

test("alerts and modes are read when they have changed", async () => {
  await fresh();
  hub.answers.set("/api/alerts", () => ({ alerts: [{ id: "1" }] }));
  hub.answers.set("/api/modes", () => ({ modes: [{ id: "read", filter: "all" }] }));
  await hub.tell({ type: "alertsChanged", at: 1 }, { type: "modesChanged", at: 1 });
  await turn();
  assert.deepEqual([...hub.asked].sort(), ["/api/alerts", "/api/modes"]);
  assert.deepEqual([store.alerts.value.length, store.modes.value[0]!.id], [1, "read"]);
});

test("why the config is not taken is read when that begins and when it ends", async () => {
  await fresh();
  hub.answers.set("/api/status", () => ({ version: "1", config_error: "config.json:3: oops" }));
  await hub.tell({ type: "configChanged", at: 1 });
  await turn();
  assert.deepEqual(hub.asked, ["/api/status"]);
  assert.equal(store.status.value!.config_error, "config.json:3: oops");
  hub.answers.set("/api/status", () => ({ version: "1" }));
  await pass(250);
  await hub.tell({ type: "configChanged", at: 2 });
  await turn();
  assert.equal(store.status.value!.config_error, undefined);
});

test("lines of a log come to those who want them, as REST lists them", async () => {
  await fresh();
  const heard: LogEntry[] = [];
  const entry = (level: string) => ({ id: level, server: "git", timestamp: 2, level, source: "stderr", message: level });
  const line = (level: string) => ({ type: "serverLog", at: 1, server: "git", entry: entry(level) });
  const stop = store.onLog((e) => heard.push(e));
  await hub.tell(line("debug"), line("warning"));
  await turn();
  stop();
  await hub.tell(line("error"));
  await turn();
  assert.deepEqual(heard, [entry("debug"), entry("warning")]);
});

const moved = (name: string, ...states: string[]) =>
  states.slice(1).map((state, i) => ({ type: "serverStateChanged", at: 1, server: name, from: { state: states[i] }, to: { state } }));
const spinner = (name: string) => ({ type: "toast", at: 1, server: name, text: `${name} reconnects`, level: "warning", spinner: true, dismisses: false });
const toastTexts = () => toasts.value.map((t) => t.text);

test("a toast about an attempt ends with the attempt, however it ends", async () => {
  const ends = [
    [...moved("git", "reconnecting", "idle")],
    [...moved("git", "reconnecting", "disabled")],
    [...moved("git", "reconnecting", "disconnected")],
    [...moved("git", "reconnecting", "connecting", "error")],
    [...moved("git", "reconnecting", "connecting", "connected")],
    [{ type: "serverRemoved", at: 1, server: "git" }],
    [{ type: "reset" }],
  ];
  for (const end of ends) {
    await fresh();
    await hub.tell(...moved("git", "connected", "disconnected", "reconnecting"), spinner("git"));
    await turn();
    assert.deepEqual(toastTexts(), ["git reconnects"]);
    await hub.tell(...moved("db", "reconnecting", "idle"));
    await turn();
    assert.deepEqual(toastTexts(), ["git reconnects"], "another server's end is not its own");
    await hub.tell(...end);
    await turn();
    assert.deepEqual(toastTexts(), [], JSON.stringify(end));
  }
});

test("a toast about an attempt outlives attempts that fail and are followed by others", async () => {
  await fresh();
  await hub.tell(...moved("git", "connected", "disconnected", "reconnecting"), spinner("git"));
  await hub.tell(...moved("git", "reconnecting", "connecting", "authenticating", "connecting", "error", "reconnecting"));
  await turn();
  await hub.tell(...moved("git", "reconnecting", "connecting"));
  await turn();
  assert.deepEqual(toastTexts(), ["git reconnects"]);
  await hub.tell(...moved("git", "connecting", "error"), ...moved("git", "error", "failed"), { ...spinner("git"), text: "git failed", spinner: false });
  await turn();
  assert.deepEqual(toastTexts(), ["git failed"]);
  for (const t of toasts.value) dismiss(t.id);
});

test("a toast of the hub is about its server, and the next takes its place", async () => {
  await fresh();
  const toast = (text: string, dismisses: boolean) => ({ type: "toast", at: 1, server: "git", text, level: "warning", spinner: false, dismisses });
  await hub.tell(toast("git is away", false), toast("git is back", true));
  await turn();
  assert.deepEqual(toasts.value.map((t) => [t.text, t.about, t.stays]), [["git is back", "git", false]]);
  await pass(5000);
  assert.deepEqual(toasts.value, []);
});

// ---- reading ----

test("however much happens, the servers are read four times a second at most, and once more at the end", async () => {
  await fresh();
  for (let i = 0; i < 100; i++) {
    await hub.tell(changed("git"));
    await pass(10);
  }
  const during = hub.count("/api/servers");
  assert.ok(during >= 3 && during <= 5, `${during} times`);
  servers = [server("git", "failed")];
  await hub.tell(changed("git"));
  await pass(500);
  assert.equal(store.byName("git")!.state, "failed");
});

test("servers that are as they were stay the same, so that nothing draws them again", async () => {
  await fresh();
  const was = store.byName("git");
  servers = [server("git"), server("db")];
  await hub.tell(changed("db"));
  await turn();
  assert.equal(store.byName("git"), was);
  assert.equal(store.servers.value.length, 2);
});

test("a reading that fails leaves what is known, and the next one counts", async () => {
  await fresh();
  const usual = hub.answers.get("/api/servers")!;
  hub.answers.set("/api/servers", () => Promise.reject(new TypeError("gone")));
  await hub.tell(changed("git"));
  await pass(300);
  assert.equal(store.servers.value.length, 1);
  hub.answers.set("/api/servers", usual);
  servers = [];
  await hub.tell(changed("git"));
  await pass(300);
  assert.equal(store.servers.value.length, 0);
});

test("what no event tells is looked at every five seconds, unless nobody looks", async () => {
  await fresh();
  await pass(10_000);
  assert.deepEqual([hub.count("/api/status"), hub.count("/api/servers")], [2, 2]);
  browser.hide(true);
  await pass(20_000);
  assert.deepEqual([hub.count("/api/status"), hub.count("/api/servers")], [2, 2]);
  browser.hide(false);
  await pass(5000);
  assert.deepEqual([hub.count("/api/status"), hub.count("/api/servers")], [3, 3]);
});

test("nothing is left waiting but the next look", async () => {
  await fresh();
  assert.equal(waiting(), 1);
});
