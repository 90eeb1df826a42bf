import assert from "node:assert/strict";
import test from "node:test";
import { at, SseReader } from "./api";

function read(...chunks: string[]): { events: string[]; lastId: string } {
  const reader = new SseReader();
  const events: string[] = [];
  for (const chunk of chunks) reader.feed(chunk, (data) => events.push(data));
  return { events, lastId: reader.lastId };
}

test("events are split as the standard says, wherever the chunks end", () => {
  assert.deepEqual(read("id: 7\ndata: a\ndata:b\n\n: a comment\n\nid: 8\r\ndata: c\r", "\n\r\n"), {
    events: ["a\nb", "c"],
    lastId: "8",
  });
});

test("an event that is not complete is not told", () => {
  assert.deepEqual(read("data: a\n"), { events: [], lastId: "" });
});

test("a part of a path stays one part whatever it holds", () => {
  assert.equal(at("/api/servers/{}/tools/{}", "a/../b?c#d", "é"), "/api/servers/a%2F..%2Fb%3Fc%23d/tools/%C3%A9");
});
