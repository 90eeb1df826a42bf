// JSON.parse of the payloads that bench_json wrote, in the same form: one JSON line per case.
// Usage: node json_node.mjs DIR
import { readFileSync } from "node:fs";
import { join } from "node:path";

const RUNS = 15;
const dir = process.argv[2];
if (!dir) {
  console.error("usage: node json_node.mjs DIR (see bench_json --write DIR)");
  process.exit(2);
}

const cases = {
  // the string is ready: only the parser is measured
  "node JSON.parse(string)": (bytes, text) => JSON.parse(text),
  // what a relay gets from a socket
  "node JSON.parse(buffer)": (bytes) => JSON.parse(bytes.toString("utf8")),
};

for (const payload of ["text", "struct"]) {
  const bytes = readFileSync(join(dir, `${payload}.json`));
  const text = bytes.toString("utf8");
  for (const [name, parse] of Object.entries(cases)) {
    const wall = [], cpu = [];
    for (let i = 0; i < RUNS; i++) {
      const before = process.hrtime.bigint();
      const used = process.cpuUsage();
      const value = parse(bytes, text);
      const { user, system } = process.cpuUsage(used);
      wall.push(Number(process.hrtime.bigint() - before) / 1e9);
      cpu.push((user + system) / 1e6); // the collector's threads included
      if (value.id !== 42) throw new Error("not the payload");
    }
    wall.sort((a, b) => a - b);
    cpu.sort((a, b) => a - b);
    const mb = bytes.length / 1e6;
    console.log(
      JSON.stringify({
        case: `${name} ${payload}`,
        MB: Number(mb.toFixed(1)),
        best_MBps: Math.round(mb / wall[0]),
        median_MBps: Math.round(mb / wall[RUNS >> 1]),
        best_cpu_MBps: Math.round(mb / cpu[0]),
        median_cpu_MBps: Math.round(mb / cpu[RUNS >> 1]),
      }),
    );
  }
}
