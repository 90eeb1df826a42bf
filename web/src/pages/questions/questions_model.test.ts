import assert from "node:assert/strict";
import test from "node:test";
import type { Question } from "../../hub/types";
import { answerersText, leftPart, leftText, mayAnswer, ruleText } from "./questions_model";

const question = (more: Partial<Question> = {}) => ({ asked_at: 1000, expires_at: 1600, answer_by: ["console", "cli"], ...more }) as Question;

test("the time that is left is told in minutes and seconds", () => {
  const cases: [number, string][] = [[1000, "10 min 00 s"], [1355, "4 min 05 s"], [1588.5, "12 s"], [1600, "0 s"], [1700, "0 s"]];
  for (const [at, words] of cases) assert.equal(leftText(question(), at * 1000), words);
  assert.equal(leftText(question({ expires_at: 1000 + 2 * 3600 + 61 }), 1_000_000), "2 h 01 min");
});

test("its part runs from one to none", () => {
  assert.equal(leftPart(question(), 1_000_000), 1);
  assert.equal(leftPart(question(), 1_300_000), 0.5);
  assert.equal(leftPart(question(), 1_700_000), 0);
  assert.equal(leftPart(question({ expires_at: 1000 }), 1_000_000), 0);
});

test("who may answer is told where the page may not", () => {
  assert.ok(mayAnswer(question()));
  assert.ok(!mayAnswer(question({ answer_by: ["cli", "client"] })));
  assert.equal(answerersText(question({ answer_by: ["cli", "client"] })), "the command line or the client that asked");
});

test("a rule is called by its name or its number", () => {
  assert.equal(ruleText("2"), "rule 2");
  assert.equal(ruleText("writes"), "rule “writes”");
  assert.equal(ruleText("default"), "what is usual");
});
