import assert from "node:assert/strict";
import test from "node:test";
import type { Content } from "../../hub/types";
import { bytesOf, essence, fileName, jsonOf, pieces, plainText, shownAs, sizeText } from "./kind";

const kindOf = (c: unknown) => shownAs(c as Content).kind;

test("each kind of content is known, and what is not is shown as JSON", () => {
  const cases: [unknown, string][] = [
    [{ type: "text", text: "hi" }, "text"],
    [{ type: "text" }, "unknown"],
    [{ type: "text", text: 5 }, "unknown"],
    [{ type: "image", data: "AAAA", mimeType: "image/png" }, "image"],
    [{ type: "image", data: "AAAA", mimeType: "Image/JPG; q=1" }, "image"],
    [{ type: "audio", data: "AAAA", mimeType: "audio/wav" }, "audio"],
    [{ type: "resource", resource: { uri: "a:b", text: "x" } }, "resource"],
    [{ type: "resource" }, "unknown"],
    [{ type: "resource_link", uri: "a:b", name: "n" }, "link"],
    [{ type: "resource_link" }, "unknown"],
    [{ type: "hologram", data: 1 }, "unknown"],
    [{ type: "constructor" }, "unknown"],
    [null, "unknown"],
    ["text", "unknown"],
  ];
  for (const [content, want] of cases) assert.equal(kindOf(content), want, JSON.stringify(content));
});

test("only pictures and sounds that hold no script get an address", () => {
  for (const mimeType of ["image/bmp", "application/pdf", "image/png,<script>", "", undefined])
    assert.equal(kindOf({ type: "image", data: "AAAA", mimeType }), "blob", String(mimeType));
  // Markup is text, as everything that is text.
  for (const mimeType of ["image/svg+xml", "text/html"])
    assert.equal(kindOf({ type: "image", data: "PGI+", mimeType }), "text", mimeType);
  assert.equal(kindOf({ type: "image", data: "/w==", mimeType: "text/plain" }), "blob");
  assert.equal(kindOf({ type: "image", data: '"><script>', mimeType: "image/png" }), "unknown");
  const picture = shownAs({ type: "image", data: "iVBO\nRw==", mimeType: "IMAGE/PNG" });
  assert.ok(picture.kind === "image" && picture.src === "data:image/png;base64,iVBORw==");
});

test("an embedded resource is shown by its own type", () => {
  const inside = (resource: object) => {
    const s = shownAs({ type: "resource", resource } as Content);
    return s.kind === "resource" ? s.inside.kind : s.kind;
  };
  assert.equal(inside({ uri: "a:b", text: "x" }), "text");
  assert.equal(inside({ uri: "a:b", blob: "AAAA", mimeType: "image/webp" }), "image");
  assert.equal(inside({ uri: "a:b", blob: "AAAA", mimeType: "application/pdf" }), "blob");
  assert.equal(inside({ uri: "a:b" }), "unknown");
});

test("sizes are those of the bytes", () => {
  assert.deepEqual(["", "QQ==", "QUI=", "QUJD"].map(bytesOf), [0, 1, 2, 3]);
  assert.deepEqual([1, 512, 1200, 45_600, 999_600, 3_400_000].map(sizeText), [
    "1 byte",
    "512 bytes",
    "1.2 KB",
    "46 KB",
    "1.0 MB",
    "3.4 MB",
  ]);
});

test("a text is a tree only when it is an object or list", () => {
  assert.deepEqual(jsonOf(' {"a":1}'), { a: 1 });
  assert.deepEqual(jsonOf("[1]"), [1]);
  for (const text of ["1", '"x"', "{", "[1", "", "{" + " ".repeat(3_000_000) + "}"]) assert.equal(jsonOf(text), undefined);
});

test("a long text comes in pieces that make the whole again", () => {
  const lines = "line of text\n".repeat(5000);
  const one = "x".repeat(50_000) + "🎉".repeat(20_000);
  for (const text of [lines, one, "", "short"]) {
    const all = pieces(text);
    assert.equal(all.join(""), text);
    assert.ok(all.every((p) => p.length <= 20_000 && !/\p{Surrogate}/u.test(p)));
  }
  assert.ok(pieces(lines).every((p) => p.endsWith("\n")));
});

test("a result as text keeps what is no text as JSON", () => {
  assert.equal(plainText([{ type: "text", text: "a" }, { type: "resource", resource: { uri: "u:r", text: "b" } }]), "a\nb");
  assert.match(plainText([{ type: "image", data: "AAAA", mimeType: "image/png" }]), /"type": "image"/);
});

test("a file gets a name that means nothing to any system", () => {
  assert.equal(fileName("../../etc/passwd", "text/plain"), "etc-passwd.txt");
  assert.equal(fileName("demo://a/notes.md", "text/markdown"), "demo-a-notes.md");
  assert.equal(fileName("\u202e🎉", "image/png"), "result.png");
  assert.equal(fileName("x", "constructor"), "x.bin");
  assert.equal(essence(" Text/HTML ;charset=x"), "text/html");
});
