// build.mjs [directory [target depfile]]: makes the files that the program serves. Fails when types
// do not hold. The depfile tells ninja what the target is made of.
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import * as esbuild from "esbuild";

const here = dirname(fileURLToPath(import.meta.url));
const out = process.argv[2] ?? join(here, "dist");

const checked = spawnSync(process.execPath, [join(here, "node_modules/typescript/bin/tsc"), "--noEmit", "-p", here], {
  stdio: "inherit",
});
if (checked.status !== 0) process.exit(1);

mkdirSync(out, { recursive: true });
await esbuild.build({
  entryPoints: { console: join(here, "src/main.tsx") },
  outdir: out,
  bundle: true,
  minify: true,
  format: "iife",
  target: ["es2022"],
  jsx: "automatic",
  jsxImportSource: "preact",
  legalComments: "none",
  logLevel: "warning",
});
for (const name of ["index.html", "console.svg"]) copyFileSync(join(here, "src", name), join(out, name));

// All of web/src, and its directories, too: they are newer when a file has come or gone.
function parts(directory) {
  const inside = readdirSync(directory, { withFileTypes: true });
  return [directory, ...inside.flatMap((e) => (e.isDirectory() ? parts(join(directory, e.name)) : join(directory, e.name)))];
}

const [target, depfile] = process.argv.slice(3);
if (depfile) {
  const own = ["build.mjs", "package-lock.json", "tsconfig.json"].map((name) => join(here, name));
  const escaped = [...own, ...parts(join(here, "src"))].map((path) => path.replace(/[ #]/g, "\\$&"));
  writeFileSync(depfile, `${target}: ${escaped.join(" ")}\n`);
}
