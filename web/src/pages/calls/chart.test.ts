import assert from "node:assert/strict";
import test from "node:test";
import type { Second } from "../../hub/samples";
import { clock } from "../../shared/ui/text";
import { bundled, bundleText, chartData, lonely, scaleTop, splits, summary } from "./chart";

const second = (at: number, calls = 0, sum = 0, slowest = 0, errors = 0): Second => ({ at, calls, errors, slowest, sum });

test("a time without calls has a rate of 0 and no latency", () => {
  const bundles = bundled([second(10), second(11), second(12, 4, 100, 70)], 2);
  assert.deepEqual(chartData(bundles), [[10, 12], [0, 4], [null, 25], [null, 70]]);
});

test("bundles keep their place, and a rate is always per second", () => {
  const bundles = bundled([second(13, 1, 5, 5), second(14, 2, 8, 6), second(15, 10, 100, 90, 1), second(16)], 5);
  assert.deepEqual(bundles, [
    { at: 10, calls: 3, errors: 0, slowest: 6, sum: 13, seconds: 2 },
    { at: 15, calls: 10, errors: 1, slowest: 90, sum: 100, seconds: 2 },
  ]);
  assert.deepEqual(chartData(bundles)[1], [1.5, 5]);
});

test("a value that no line leads to is found", () => {
  assert.deepEqual(lonely([1, null, 2, 3, null, 4]), [0, 5]);
  assert.deepEqual(lonely([null, null]), []);
});

test("the summary tells of the last minute only", () => {
  const five = Array.from({ length: 300 }, (_, i) => second(i));
  five[10] = second(10, 50, 5000, 9000);
  assert.equal(summary(five), "No calls in the last minute");
  five[299] = second(299, 11, 400, 300);
  five[240] = second(240, 1, 5, 5);
  assert.equal(summary(five), "12 calls in the last minute, slowest 300 ms");
  five[250] = second(250, 1, 5, 5, 1);
  assert.equal(summary(five), "13 calls in the last minute, 1 of them not done, slowest 300 ms");
});

test("a bundle is told in words", () => {
  assert.equal(bundleText(second(60, 2, 30, 20)), `${clock(60)}: 2 calls, mean 15 ms, slowest 20 ms`);
  assert.equal(bundleText(second(60)), `${clock(60)}: no calls`);
});

test("a scale ends at a round number, holds its highest value, and is never flat", () => {
  assert.equal(scaleTop(null, 5), 5);
  assert.equal(scaleTop(3, 5), 5);
  assert.equal(scaleTop(7, 5), 10);
  assert.equal(scaleTop(101, 5), 200);
  assert.equal(scaleTop(340, 10), 500);
  assert.equal(scaleTop(1000, 10), 1000);
  for (let v = 1; v < 5000; v += 7) assert.ok(scaleTop(v, 1) >= v);
});

test("a scale is parted in round steps", () => {
  assert.deepEqual(splits(5), [0, 1, 2, 3, 4, 5]);
  assert.deepEqual(splits(20), [0, 5, 10, 15, 20]);
  assert.deepEqual(splits(1000), [0, 200, 400, 600, 800, 1000]);
});
