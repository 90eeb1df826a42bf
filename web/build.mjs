// build.mjs [directory]: makes the files that the program serves. Fails when types do not hold.
import { spawnSync } from "node:child_process";
import { copyFileSync, mkdirSync } from "node:fs";
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
