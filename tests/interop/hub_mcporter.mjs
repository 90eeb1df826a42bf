// mcporter lists and calls through the hub, over stdio and over HTTP.
import assert from 'node:assert/strict';
import { execFile } from 'node:child_process';
import fs from 'node:fs';
import path from 'node:path';
import { everything, hub, hubCommand, main, memory, scratch, test } from './lib.mjs';

const MCPORTER = path.join(process.env.INTEROP, 'node_modules/mcporter/dist/cli.js');

function mcporter(config, ...args) {
  const dir = scratch();
  const file = path.join(dir, 'mcporter.json');
  fs.writeFileSync(file, JSON.stringify({ mcpServers: config, imports: [] }));
  const env = { ...process.env, HOME: dir, XDG_CONFIG_HOME: dir };
  return new Promise((yes, no) =>
    execFile(process.execPath, [MCPORTER, '--config', file, ...args], { env, cwd: dir, maxBuffer: 1 << 26 }, (error, stdout, stderr) => (error ? no(new Error(`${stderr}\n${stdout}`)) : yes(stdout))),
  );
}

async function actOut(config) {
  const listed = await mcporter(config, 'list', 'bay', '--json');
  for (const name of ['ev__echo', 'mem__read_graph']) assert.ok(listed.includes(name), name);
  assert.match(await mcporter(config, 'call', 'bay.ev__echo', 'message=hello'), /Echo: hello/);
}

const servers = () => ({ ev: everything(), mem: memory(path.join(scratch(), 'memory.json')) });

test('mcporter through the hub on stdio', async () => {
  const { command, args, env } = hubCommand(servers());
  await actOut({ bay: { command, args, env: { PATCHBAY_HOME: env.PATCHBAY_HOME } } });
});

test('mcporter through the hub on HTTP', async () => {
  const h = await hub(servers());
  await actOut({ bay: { baseUrl: String(h.url()), headers: { Authorization: 'Bearer interop' } } });
});

await main();
