// lib.mjs - what the interop scripts share: TAP, starting our servers, and one scenario that any
// client of the TypeScript SDKs can act out against our conformance server.
import { spawn } from 'node:child_process';
import net from 'node:net';
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
