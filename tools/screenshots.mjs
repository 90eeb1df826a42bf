// screenshots.mjs - the pages of the console as the README shows them.
import fs from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { everything, filesystem, go, launch, memory, program, scratch, serve, stateOf, TOKEN, visit } from '../tests/web/lib.mjs';

const out = path.join(path.dirname(fileURLToPath(import.meta.url)), '../docs/images');
const SIZE_MAX = 150_000;
const CALLS = 260, COLD = 20, WINDOW_S = 290;

/** The commands that people know, leading to the programs that are here. */
function commands() {
  const bin = scratch(), files = scratch();
  for (const name of ['notes', 'invoices', 'photos']) fs.mkdirSync(path.join(files, name));
  const run = ({ command, args }) => `exec '${command}' '${args.join("' '")}'`;
  const script = ['#!/bin/sh', 'case "$*" in'];
  const packages = { everything: everything(), filesystem: filesystem(files), memory: memory(path.join(files, 'graph.json')) };
  for (const [name, entry] of Object.entries(packages)) script.push(`*server-${name}*) ${run(entry)} ;;`);
  fs.writeFileSync(path.join(bin, 'npx'), [...script, 'esac', ''].join('\n'), { mode: 0o755 });
  fs.symlinkSync(program('patchbay-example-server'), path.join(bin, 'calculator-mcp'));
  return `${bin}:${process.env.PATH}`;
}

const npx = (name, ...args) => ({ command: 'npx', args: ['-y', `@modelcontextprotocol/server-${name}`, ...args] });
const servers = {
  calculator: { command: 'calculator-mcp', display_name: 'Calculator' },
  everything: { ...npx('everything'), display_name: 'Everything' },
  files: { ...npx('filesystem', '~/Documents'), display_name: 'Files' },
  github: { command: 'github-mcp-server', args: ['stdio'], display_name: 'GitHub' },
  memory: { ...npx('memory'), display_name: 'Memory' },
};

const person = (name, entityType, ...observations) => ({ name, entityType, observations });
const graph = { entities: [person('Ada', 'person', 'writes programs', 'likes engines'), person('Charles', 'person', 'builds engines')] };
/** Who asks what, for a list of calls as it would be at the end of a morning. */
const asked = [
  ['editor 1.92', 'calculator/calculator', { expression: '2*(3+4)' }],
  ['editor 1.92', 'files/list_allowed_directories', {}],
  ['chat 3.1', 'memory/search_nodes', { query: 'Ada' }],
  ['chat 3.1', 'everything/get-sum', { a: 2, b: 40 }],
  ['nightly job', 'calculator/string', { operation: 'uppercase', input: 'done' }],
  ['command line', 'everything/get-structured-content', { location: 'Chicago' }],
];

const call = (h, client, tool, args, more) =>
  fetch(`${h.origin}/api/mcp-tools/call`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json', 'X-Patchbay-Client': client },
    body: JSON.stringify({ tool, arguments: args, ...more }),
  });

async function makeCalls(h) {
  await call(h, 'chat 3.1', 'memory/create_entities', graph);
  for (let i = 0; i < CALLS; i++) {
    await call(h, ...asked[(i * 7) % asked.length]);
    if (i % 37 === 5) await call(h, 'nightly job', 'calculator/calculator', { expression: '1/0' });
    await new Promise((r) => setTimeout(r, 40 * (1 + Math.sin(i / 20))));
  }
}

const longCall = (h, client, duration) =>
  void call(h, client, 'everything/trigger-long-running-operation', { duration, steps: 40 }, { id: crypto.randomUUID(), timeout_s: 600 }).catch(() => {});

/** Half a minute of calls, shown as if they had taken five: nobody waits so long for a picture. */
async function stretch(page) {
  await page.route('**/api/calls?*', async (route) => {
    const answer = await route.fetch();
    const read = await answer.json();
    const now = Date.now() / 1000;
    const first = read.recent.at(-COLD); // those before it were slow
    const stretch = first ? WINDOW_S / (now - first.queued_at) : 1;
    for (const call of read.recent)
      for (const at of ['queued_at', 'ended_at']) call[at] = now - (now - call[at]) * stretch;
    await route.fulfill({ response: answer, json: read });
  });
}

const pages = {
  async calls(page, h) {
    await h.ask('/api/alerts', 'DELETE');
    await makeCalls(h);
    longCall(h, 'chat 3.1', 20);
    longCall(h, 'editor 1.92', 60);
    await page.reload();
    await go(page, 'calls');
    await page.getByRole('progressbar').nth(1).waitFor();
  },
  async servers(page) {
    await page.getByText('Connected', { exact: true }).nth(3).waitFor();
  },
  async tools(page) {
    await go(page, 'tools/memory/search_nodes');
    await page.getByRole('textbox', { name: /query/ }).fill('Ada');
    await page.getByRole('button', { name: 'Call', exact: true }).click();
    await page.getByRole('region', { name: 'Result' }).getByText('likes engines').first().waitFor();
  },
  async add(page) {
    await go(page, 'add');
    await page.getByLabel('Command, package, URL or JSON').fill('npx -y @modelcontextprotocol/server-filesystem ~/Documents');
    await page.getByText('Only add what you trust.').waitFor();
  },
};

async function shoot(h, scheme) {
  for (const [name, prepare] of Object.entries(pages)) {
    const page = await visit(h, { scheme });
    await stretch(page);
    await page.reload();
    await prepare(page, h);
    await page.evaluate(() => document.activeElement?.blur());
    await page.waitForFunction(() => !document.querySelector('.toast'));
    const file = path.join(out, `${name}-${scheme}.png`);
    await page.screenshot({ path: file, animations: 'disabled' });
    const { size } = fs.statSync(file);
    console.log(`${path.relative(process.cwd(), file)} ${size} bytes`);
    if (size > SIZE_MAX) throw new Error(`${file} has more than ${SIZE_MAX} bytes`);
    await page.context().close();
    for (const { id } of (await h.ask('/api/calls')).calls) await h.ask(`/api/calls/${id}/cancel`, 'POST', {});
  }
}

fs.mkdirSync(out, { recursive: true });
for (const scheme of ['light', 'dark']) {
  const h = await serve({ servers, record: true, env: { PATH: commands() } });
  await Promise.all(Object.keys(servers).filter((s) => s !== 'github').map((s) => stateOf(h, s, 'connected')));
  await shoot(h, scheme);
  await h.stop();
}
await (await launch()).close();
process.exit();
