import assert from "node:assert/strict";
import test from "node:test";
import type { Alert } from "../../hub/types";
import { firstPending, kindText, newestFirst } from "./alert_model";

const alert = (id: string, timestamp: number): Alert => ({
  id,
  server: "github",
  kind: "connectionFailed",
  message: "Connection refused",
  text: "github: Connection refused",
  timestamp,
});

test("alerts are listed newest first, and the list that was given stays", () => {
  const given = [alert("a", 2), alert("b", 3), alert("c", 1)];
  assert.deepEqual(newestFirst(given).map((a) => a.id), ["b", "a", "c"]);
  assert.deepEqual(given.map((a) => a.id), ["a", "b", "c"]);
});

// S0-136
test("the box is about the first pending alert", () => {
  assert.equal(firstPending([]), undefined);
  assert.equal(firstPending([alert("a", 2), alert("b", 3), alert("c", 1)])?.id, "c");
});

test("every kind has words", () => {
  assert.equal(kindText("connectionFailed"), "Could not connect");
  assert.equal(kindText("something new"), "Server issue");
});
