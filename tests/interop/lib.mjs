// lib.mjs - what the interop scripts share: TAP, starting our servers, and one scenario that any
// client of the TypeScript SDKs can act out against our conformance server.
import { execFile, spawn } from 'node:child_process';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import path from 'node:path';
import assert from 'node:assert/strict';

export const BUILD = process.env.BUILD_DIR;
export const program = (name) => path.join(BUILD, name);
const cases = [];
export const test = (name, run) => cases.push({ name, run });

const LIMIT_MS = 60_000;

export async function main() {
  let failed = 0;
  console.log(`1..${cases.length}`);
  for (const [i, { name, run }] of cases.entries()) {
    let timer;
    const limit = new Promise((_, no) => (timer = setTimeout(() => no(new Error(`no end after ${LIMIT_MS} ms`)), LIMIT_MS)));
    try {
      await Promise.race([run(), limit]);
      console.log(`ok ${i + 1} - ${name}`);
    } catch (e) {
      failed++;
      console.log(String(e?.stack ?? e).replace(/^/gm, '# '));
      console.log(`not ok ${i + 1} - ${name}`);
    }
    clearTimeout(timer);
  }
  for (const child of children) child.kill('SIGTERM');
  process.exit(failed ? 1 : 0);
}

const children = [];
process.on('exit', () => children.forEach((c) => c.kill('SIGKILL')));

const freePort = () =>
  new Promise((yes) => {
    const s = net.createServer().listen(0, '127.0.0.1', () => {
      const { port } = s.address();
      s.close(() => yes(port));
    });
  });

async function listening(port) {
  for (let i = 0; i < 500; i++) {
    const ok = await new Promise((yes) => {
      const c = net.connect(port, '127.0.0.1', () => (c.destroy(), yes(true)));
      c.on('error', () => yes(false));
    });
    if (ok) return;
    await new Promise((r) => setTimeout(r, 20));
  }
  throw new Error(`nothing listens on port ${port}`);
}

export async function serve() {
  const port = await freePort();
  const child = spawn(program('conformance-server'), ['--port', String(port)], { stdio: 'ignore' });
  children.push(child);
  await listening(port);
  return { port, url: new URL(`http://127.0.0.1:${port}/mcp`), sse: new URL(`http://127.0.0.1:${port}/sse`) };
}

export const answers = {
  elicit: () => ({ action: 'accept', content: { username: 'ada', email: 'ada@example.org', name: 'Ada', ok: true, color: 'blue' } }),
  sample: () => ({ role: 'assistant', model: 'test', content: { type: 'text', text: 'Paris' }, stopReason: 'endTurn' }),
  roots: () => ({ roots: [{ uri: 'file:///tmp', name: 'tmp' }] }),
};

const text = (r) => r.content.filter((c) => c.type === 'text').map((c) => c.text).join('\n');

// Everything a client does with a server, in either era. `asks` says how the fixtures of that era ask.
export async function actOut(client, { modern, progress = true }) {
  const tools = (await client.listTools()).tools;
  assert.ok(tools.some((t) => t.name === 'test_simple_text'));
  const call = (name, args = {}, options) => client.callTool({ name, arguments: args }, ...(options ?? []));

  assert.equal(text(await call('test_simple_text')), 'This is a simple text response for testing.');
  const mixed = await call('test_multiple_content_types');
  assert.deepEqual(mixed.content.map((c) => c.type), ['text', 'image', 'resource']);
  const bad = await call('test_error_handling');
  assert.equal(bad.isError, true);
  await assert.rejects(call('no_such_tool'), /no_such_tool|Unknown tool/);

  if (progress) {
    const seen = [];
    await call('test_tool_with_progress', {}, progress === 'v1' ? [undefined, { onprogress: (p) => seen.push(p.progress) }] : [{ onprogress: (p) => seen.push(p.progress) }]);
    // The SDKs forget the handler when the answer is there: the last one may come too late for them.
    assert.deepEqual(seen.slice(0, 2), [0, 50]);
  }

  const prefix = modern ? 'test_input_required_result_' : 'test_';
  assert.match(text(await call(prefix + 'elicitation', modern ? {} : { message: 'who?' })), /ada|Ada/);
  assert.match(text(await call(prefix + 'sampling', modern ? {} : { prompt: 'capital?' })), /Paris/);
  if (modern) {
    assert.match(text(await call('test_input_required_result_list_roots')), /file:\/\/\/tmp|tmp/);
    assert.match(text(await call('test_input_required_result_request_state')), /state-ok/);
    await call('test_input_required_result_multi_round');
  }

  const resource = await client.readResource({ uri: 'test://static-text' });
  assert.equal(resource.contents[0].text, 'This is the content of the static text resource.');
  const templated = await client.readResource({ uri: 'test://template/7/data' });
  assert.match(templated.contents[0].text, /"id":"7"/);
  await assert.rejects(client.readResource({ uri: 'test://nowhere' }));
  assert.ok((await client.listResources()).resources.length >= 2);
  assert.ok((await client.listResourceTemplates()).resourceTemplates.length >= 1);

  assert.ok((await client.listPrompts()).prompts.length >= 4);
  const prompt = await client.getPrompt({ name: 'test_prompt_with_arguments', arguments: { arg1: 'hello', arg2: 'world' } });
  assert.equal(prompt.messages[0].content.text, "Prompt with arguments: arg1='hello', arg2='world'");
  const done = await client.complete({ ref: { type: 'ref/prompt', name: 'test_prompt_with_arguments' }, argument: { name: 'arg1', value: 'h' } });
  assert.ok(Array.isArray(done.completion.values));

  const many = await Promise.all(Array.from({ length: 50 }, () => call('test_simple_text')));
  assert.ok(many.every((r) => text(r).startsWith('This is a simple')));
}

// The example server over stdio: typed parameters, coercion, errors.
export async function actOutExample(client) {
  const names = (await client.listTools()).tools.map((t) => t.name);
  for (const name of ['datetime', 'string', 'calculator']) assert.ok(names.includes(name), name);
  const call = (name, args) => client.callTool({ name, arguments: args });
  assert.match(text(await call('string', { operation: 'uppercase', input: 'häuser' })), /HÄUSER/);
  assert.match(text(await call('calculator', { expression: '2*(3+4)' })), /14/);
  assert.match(text(await call('datetime', { format: 'iso8601', timezone: 'UTC' })), /^\d{4}-\d\d-\d\dT/);
  await assert.rejects(call('calculator', { expression: '1/0' }));
}

// ---- through the hub -----------------------------------------------------------------------

const INTEROP = process.env.INTEROP;
const npm = (name, file = 'dist/index.js') => path.join(INTEROP, 'node_modules/@modelcontextprotocol', name, file);

// A server of npm as an entry of a config file, on the Node that runs this script.
export const everything = (...args) => ({ command: process.execPath, args: [npm('server-everything'), ...args] });
export const filesystem = (...dirs) => ({ command: process.execPath, args: [npm('server-filesystem'), ...dirs] });
export const memory = (file) => ({ command: process.execPath, args: [npm('server-memory')], env: { MEMORY_FILE_PATH: file } });

// server-everything over HTTP; `kind` is streamableHttp or sse.
export async function everythingOnHttp(kind) {
  const port = await freePort();
  const child = spawn(process.execPath, [npm('server-everything'), kind], { stdio: 'ignore', env: { ...process.env, PORT: String(port) } });
  children.push(child);
  await listening(port);
  return kind === 'sse' ? { type: 'sse', url: `http://127.0.0.1:${port}/sse` } : { type: 'http', url: `http://127.0.0.1:${port}/mcp` };
}

const scratches = [];
process.on('exit', () => scratches.forEach((dir) => fs.rmSync(dir, { recursive: true, force: true })));
export function scratch() {
  const dir = fs.mkdtempSync(path.join(os.tmpdir(), 'patchbay-interop-'));
  scratches.push(dir);
  return dir;
}

export function configFile(servers, dir = scratch()) {
  const file = path.join(dir, 'servers.json');
  fs.writeFileSync(file, JSON.stringify({ mcpServers: servers }));
  return { file, dir, env: { ...process.env, PATCHBAY_HOME: path.join(dir, 'home'), PATCHBAY_TOKEN: 'interop' } };
}

// What a client runs to have the hub on stdio.
export function hubCommand(servers, ...args) {
  const { file, env } = configFile(servers);
  return { command: program('patchbay'), args: ['mcp', '--config', file, ...args], env, stderr: 'ignore' };
}

// The daemon; `url(path)` is one of its endpoints.
export async function hub(servers) {
  const config = configFile(servers);
  const port = await freePort();
  const child = spawn(program('patchbay'), ['serve', '--port', String(port), '--config', config.file], { stdio: 'ignore', env: config.env });
  children.push(child);
  await listening(port);
  return {
    ...config,
    child,
    port,
    url: (where = '/mcp') => new URL(`http://127.0.0.1:${port}${where}`),
    options: { requestInit: { headers: { Authorization: 'Bearer interop' } } },
  };
}

export const patchbay = (args, env) =>
  new Promise((yes) => execFile(program('patchbay'), args, { env, maxBuffer: 1 << 26 }, (error, stdout, stderr) => yes({ code: error?.code ?? 0, stdout, stderr })));

// The servers of npm together behind one hub: names, calls, resources, prompts, and who is asked.
export async function actOutTogether(client, dir) {
  const { tools } = await client.listTools();
  const names = tools.map((t) => t.name);
  assert.deepEqual(names, [...names].sort((a, b) => (a.replace('__', '/') < b.replace('__', '/') ? -1 : 1)), 'sorted by server and tool');
  for (const name of ['ev__echo', 'fs__read_text_file', 'mem__create_entities', 'web__echo', 'old__echo']) assert.ok(names.includes(name), name);
  const call = (name, args) => client.callTool({ name, arguments: args });

  for (const server of ['ev', 'web', 'old']) assert.equal(text(await call(`${server}__echo`, { message: `hi ${server}` })), `Echo: hi ${server}`);
  assert.match(text(await call('fs__list_directory', { path: dir })), /servers\.json/);
  const who = `ada-${Math.random()}`;
  assert.match(text(await call('mem__create_entities', { entities: [{ name: who, entityType: 'person', observations: ['likes engines'] }] })), /likes engines/);
  assert.ok(text(await call('mem__read_graph', {})).includes(who));

  const { resources } = await client.listResources();
  assert.equal(new Set(resources.map((r) => r.uri)).size, resources.length, 'no URI twice');
  for (const { uri } of resources.slice(0, 3)) assert.ok((await client.readResource({ uri })).contents.length);
  const { prompts } = await client.listPrompts();
  const simple = prompts.find((p) => p.name.startsWith('ev__') && !p.arguments?.length);
  assert.ok((await client.getPrompt({ name: simple.name })).messages.length);
  return { call, names };
}

// server-everything asks in the middle of a call: a form, and a model.
export async function actOutQuestions(client, prefix = '') {
  const { tools } = await client.listTools();
  const find = (part) => tools.find((t) => t.name.startsWith(prefix) && t.name.includes(part)).name;
  const call = (name, args) => client.callTool({ name, arguments: args });
  assert.match(text(await call(find('elicitation'), {})), /ada|Ada|accept/i);
  assert.match(text(await call(find('sampling'), { prompt: 'capital?', maxTokens: 10 })), /Paris/);
}
