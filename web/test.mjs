// test.mjs [name...]: runs the tests that lie beside the sources (*.test.ts), or those whose path
// holds one of the names. Each file runs in a process of its own; together they print one TAP.
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join, relative } from "node:path";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const source = join(here, "src");

function testsIn(directory) {
  return readdirSync(directory, { withFileTypes: true }).flatMap((e) => {
    const path = join(directory, e.name);
    if (e.isDirectory()) return testsIn(path);
    return /\.test\.tsx?$/.test(e.name) ? [path] : [];
  });
}

async function bundle(file, out) {
  await esbuild.build({
    entryPoints: [file],
    outfile: out,
    bundle: true,
    platform: "node",
    format: "esm",
    jsx: "automatic",
    jsxImportSource: "preact",
    sourcemap: "inline",
    loader: { ".css": "empty" },
    // Node 18 keeps it to itself; browsers do not.
    banner: { js: 'import { webcrypto } from "node:crypto";\nglobalThis.crypto ??= webcrypto;' },
    logLevel: "warning",
  });
}

let count = 0;
let failed = false;

/** The tests of one file, with numbers that go on and names that say where they are from. */
function report(name, run) {
  const before = count;
  let failing = false;
  for (const line of run.stdout.split("\n")) {
    const test = /^(ok|not ok) \d+ - (.*)/.exec(line);
    if (test) console.log(`${test[1]} ${++count} - ${name}: ${test[2]}`);
    if (test) failing = test[1] !== "ok";
    else if (failing && line.startsWith("  ")) console.log(`#${line}`);
  }
  process.stderr.write(run.stderr);
  failed ||= run.status !== 0;
  if (count === before || (run.status !== 0 && !/^not ok/m.test(run.stdout)))
    console.log(`not ok ${++count} - ${name}: ended with ${run.status ?? run.signal}`);
}

const wanted = process.argv.slice(2);
const directory = mkdtempSync(join(tmpdir(), "patchbay-web-"));
try {
  console.log("TAP version 13");
  for (const file of testsIn(source).sort()) {
    const name = relative(source, file);
    if (wanted.length && !wanted.some((part) => name.includes(part))) continue;
    const out = join(directory, `${name.replaceAll("/", "-")}.mjs`);
    await bundle(file, out);
    report(name, spawnSync(process.execPath, ["--enable-source-maps", "--test-reporter=tap", out], { encoding: "utf8" }));
  }
  console.log(count ? `1..${count}` : "1..0 # SKIP there are no tests");
} finally {
  rmSync(directory, { recursive: true });
}
process.exitCode = failed ? 1 : 0;
