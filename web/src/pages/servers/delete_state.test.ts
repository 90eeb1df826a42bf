import assert from "node:assert/strict";
import test from "node:test";
import { DeleteState, deleteText } from "./delete_state";

const github = { name: "github", display_name: "GitHub" };

// S1-125
test("the question names the server, and says what goes with it", () => {
  assert.equal(deleteText("GitHub"), 'Delete "GitHub"?\n\nThis will remove the MCP and its stored credentials.');
});

// S1-126
test("show makes it visible", () => {
  const state = new DeleteState();
  assert.equal(state.visible, false);
  state.show(github);
  assert.equal(state.visible, true);
  assert.deepEqual(state.server.value, github);
});

// S1-126
test("confirm gives Delete and hides it", () => {
  const state = new DeleteState();
  state.show(github);
  assert.deepEqual(state.confirm(), { action: "Delete", name: "github" });
  assert.equal(state.visible, false);
  assert.equal(state.confirm(), null, "a second press deletes nothing");
});

// S1-126
test("cancel hides it", () => {
  const state = new DeleteState();
  state.show(github);
  state.cancel();
  assert.equal(state.visible, false);
  assert.equal(state.confirm(), null);
});
