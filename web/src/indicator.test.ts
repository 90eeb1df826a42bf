import assert from "node:assert/strict";
import test from "node:test";
import { indicator } from "./indicator";

// S0-134
test("the indicator is green when all are connected, yellow when some are, red when none is", () => {
  assert.deepEqual(indicator(5, 5), { text: "5/5", title: "5 of 5 servers connected", color: "green" });
  assert.deepEqual(indicator(3, 5), { text: "3/5", title: "3 of 5 servers connected", color: "yellow" });
  assert.equal(indicator(0, 5).color, "red");
  assert.equal(indicator(0, 0).color, "red");
});
