import assert from "node:assert/strict";
import test from "node:test";
import type { Auth, JsonObject } from "../../hub/types";
import { authOf, changedServer, elsewhere, entryOf, formOf, isChanged, isValid, newServer, problemsOf, secretsOf } from "./entry_form";
import type { Form } from "./entry_form";

const none: ReadonlySet<string> = new Set();

function fresh(entry: JsonObject = { command: "npx", args: ["-y", "x"] }, auth: Auth = "none"): Form {
  return formOf({ name: "github-mcp-server", displayName: "GitHub MCP Server", entry, auth, saved: false });
}
const saved = (entry: JsonObject) => formOf({ name: "s", entry, auth: authOf(entry), saved: true });

const keyed: JsonObject = { command: "x", env_vars: [{ name: "GITHUB_TOKEN", required: true }] };
const withKey = (f: Form, value: string): Form => ({ ...f, keys: f.keys.map((k) => ({ ...k, value })) });

// S1-81
test("an API key form is valid when the key is filled in", () => {
  const form = fresh(keyed, "api_key");
  assert.equal(isValid(form, none), false);
  assert.equal(isValid(withKey(form, " "), none), false);
  assert.equal(isValid(withKey(form, "secret"), none), true);
});

// S1-82
test("a key file form is valid when the path is filled in", () => {
  const form: Form = { ...fresh(keyed), auth: "keyfile" };
  assert.equal(isValid(form, none), false);
  assert.equal(isValid({ ...form, keyfile: "~/.github_token" }, none), true);
});

// S1-83
test("without authentication the form is always valid", () => {
  assert.equal(isValid(fresh(), none), true);
  assert.equal(isValid({ ...withKey(fresh(keyed), ""), auth: "none" }, none), true);
});

// S1-85
test("a form has the name and the authentication that were found out", () => {
  const form = fresh(keyed, "api_key");
  assert.equal(form.name, "github-mcp-server");
  assert.equal(form.displayName, "GitHub MCP Server");
  assert.equal(form.auth, "api_key");
  assert.deepEqual(form.keys, [{ name: "GITHUB_TOKEN", value: "", required: true, stored: false }]);
});

// S1-86
test("a saved entry comes back as it was", () => {
  const entries: JsonObject[] = [
    { command: "npx" },
    { command: "npx", args: ["-y", "a b", "${HOME}", ""] },
    { url: "https://host.test/mcp", headers: { "X-A": "***" } },
    { type: "sse", url: "https://host.test/sse", timeout_s: 5, start: "lazy" },
    { command: "x", env: { A: "***" }, cwd: "/srv", enabledTools: ["read_*"], disabledTools: ["a", "b"] },
    { command: "x", display_name: "X", uuid: "u", enabled: false, max_calls: 3, era: "legacy", config: { a: 1 } },
    { command: "x", auth_type: "api_key", env_vars: [{ name: "A", required: true }, { name: "B", required: false }] },
    { command: "x", auth_type: "keyfile", env_vars: [{ name: "A", required: true }], keyfile_path: "~/k" },
    { url: "https://host.test/mcp", auth_type: "oauth", oauth: { scopes: ["a"] } },
    { command: "x", env_vars: [{ name: "LOG_LEVEL", required: false }] },
  ];
  for (const entry of entries) {
    const form = saved(entry);
    assert.deepEqual(entryOf(form), entry);
    assert.equal(isValid(form, new Set(["s"])), true, JSON.stringify(problemsOf(form, none)));
  }
});

test("a saved key stays when nothing is typed, and is sent when something is", () => {
  const form = saved({ command: "x", auth_type: "api_key", env_vars: [{ name: "A", required: true }] });
  assert.equal(isValid(form, none), true);
  assert.deepEqual(secretsOf(form), {});
  assert.deepEqual(secretsOf(withKey(form, "new")), { A: "new" });
});

test("keys go beside the entry, never into it", () => {
  const form = withKey(fresh(keyed, "api_key"), "hush");
  assert.deepEqual(secretsOf(form), { GITHUB_TOKEN: "hush" });
  assert.doesNotMatch(JSON.stringify(entryOf(form)), /hush/);
  assert.equal(entryOf(form)["auth_type"], "api_key");
  assert.deepEqual(secretsOf({ ...form, auth: "none" }), {}, "and nowhere when they are not wanted");
});

test("a key that was pasted as a variable goes where keys are kept", () => {
  const pasted = (value: string) => fresh({ ...keyed, auth_type: "api_key", env: { GITHUB_TOKEN: value, LOG: "1" } }, "api_key");
  assert.deepEqual(secretsOf(pasted("ghp_1")), { GITHUB_TOKEN: "ghp_1" });
  assert.deepEqual(entryOf(pasted("ghp_1"))["env"], { LOG: "1" });
  for (const hint of ["<token>", "YOUR_TOKEN", "ghp_xxxx", "..."]) assert.equal(isValid(pasted(hint), none), false, hint);
  const referred = { ...pasted("${GITHUB_TOKEN}"), displayName: "" };
  assert.equal(referred.auth, "none");
  assert.deepEqual(entryOf(referred), { command: "x", env: { GITHUB_TOKEN: "${GITHUB_TOKEN}", LOG: "1" } });
});

test("what is sent has keys only when some were typed", () => {
  const form = saved({ command: "x", auth_type: "api_key", env_vars: [{ name: "A", required: true }] });
  assert.equal("secrets" in changedServer(form), false);
  assert.equal("secrets" in newServer(form), false);
  assert.deepEqual(changedServer(withKey(form, "k"))["secrets"], { A: "k" });
  assert.deepEqual(newServer(withKey(form, "k"))["secrets"], { A: "k" });
});

test("what was about another kind of authentication is left out", () => {
  const form = saved({ command: "x", auth_type: "keyfile", env_vars: [{ name: "A", required: true }], keyfile_path: "~/k" });
  assert.deepEqual(entryOf({ ...form, auth: "none" }), { command: "x" });
});

test("a hidden value stays under its name, and only there", () => {
  const form = saved({ command: "x", env: { A: "***", B: "***" } });
  const [a, b] = form.env as [Form["env"][0], Form["env"][0]];
  assert.deepEqual(entryOf({ ...form, env: [{ ...a, value: "new" }, b] })["env"], { A: "new", B: "***" });
  assert.deepEqual(entryOf({ ...form, env: [b] })["env"], { B: "***" });
  assert.match(problemsOf({ ...form, env: [{ ...a, name: "C" }, b] }, none).env!, /value of C again/);
});

test("hidden words of a command line stay where they are", () => {
  const form = saved({ command: "x", args: ["--key", "***", "a"] });
  assert.equal(isValid(form, none), true);
  assert.equal(isValid({ ...form, line: form.line + " more" }, none), true);
  assert.equal(isValid({ ...form, line: "x --key typed" }, none), true);
  assert.match(problemsOf({ ...form, line: "x --verbose --key ***" }, none).line!, /in full/);
  const remote = saved({ url: "https://h.test/?key=***" });
  assert.equal(isValid({ ...remote, timeout: "5" }, none), true);
  assert.match(problemsOf({ ...remote, url: "https://other.test/?key=***" }, none).url!, /in full/);
});

test("three stars that a person pasted hide nothing", () => {
  assert.deepEqual(fresh({ command: "x", env: { A: "***" } }).env, [{ name: "A", value: "***", hidden: "" }]);
});

test("what is wrong is said beside its field", () => {
  const cases: [Partial<Form>, string, RegExp][] = [
    [{ name: "" }, "name", /needs a name/],
    [{ name: "a b" }, "name", /Only letters/],
    [{ name: "a".repeat(65) }, "name", /At most 64/],
    [{ name: "there" }, "name", /already/],
    [{ line: "npx 'a" }, "line", /quote/],
    [{ line: " " }, "line", /program/],
    [{ line: "npx --key ***" }, "line", /\*\*\*/],
    [{ timeout: "0" }, "timeout", /seconds/],
    [{ timeout: "soon" }, "timeout", /seconds/],
    [{ env: [{ name: "A=B", value: "", hidden: "" }] }, "env", /no name/],
    [{ env: [{ name: "", value: "x", hidden: "" }] }, "env", /needs a name/],
    [{ headers: [1, 2].map(() => ({ name: "A", value: "x", hidden: "" })) }, "headers", /twice/],
    [{ remote: true, url: "ftp://x" }, "url", /https/],
    [{ remote: true, url: "https://h/?key=***" }, "url", /\*\*\*/],
    [{ auth: "api_key" }, "keys", /variable/],
  ];
  for (const [change, field, text] of cases) {
    const found = problemsOf({ ...fresh(), ...change }, new Set(["there"]));
    assert.deepEqual(Object.keys(found), [field]);
    assert.match(Object.values(found)[0]!, text);
  }
});

test("a name that is taken is right when the other is to be replaced", () => {
  assert.equal(isValid({ ...fresh(), name: "there", replace: true }, new Set(["there"])), true);
});

test("a URL may be filled in later", () => {
  assert.equal(isValid({ ...fresh({ url: "${SERVER_URL}" }) }, none), true);
});

test("a form is changed by what is typed, and not by opening it", () => {
  const form = saved({ command: "x" });
  assert.equal(isChanged(form, { ...form }), false);
  assert.equal(isChanged(form, { ...form, cwd: "/" }), true);
});

test("only what config.json defines is changed here", () => {
  assert.equal(elsewhere({ file: "/h/config.json", line: 3 }, "/h"), null);
  assert.equal(elsewhere({ file: "/p/.mcp.json", line: 3 }, "/h"), "/p/.mcp.json:3");
  assert.match(elsewhere({}, "/h")!, /command line/);
});
