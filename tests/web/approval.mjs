// "Ask before filesystem/write_file", from end to end: a client and a server that others wrote, the page, the
// command line, and what is recorded of it.
import { execFileSync } from 'node:child_process';
import fs from 'node:fs';
import { Client, StreamableHTTPClientTransport } from '../interop/client.mjs';
import { assert, end, filesystem, go, program, scratch, stateOf, story, TOKEN, until } from './lib.mjs';

const dir = scratch();
const file = (name) => `${dir}/${name}`;
const text = (name) => (fs.existsSync(file(name)) ? fs.readFileSync(file(name), 'utf8') : null);

const policy = { rules: [{ name: 'writes', action: 'ask', server: 'filesystem', tool: 'write_file', reason: 'it changes files' }] };
const headers = { Authorization: `Bearer ${TOKEN}` };

async function connected(h, run) {
  const client = new Client({ name: 'npm client', version: '1' }, { capabilities: {}, versionNegotiation: { mode: 'legacy' } });
  await client.connect(new StreamableHTTPClientTransport(new URL(`${h.origin}/mcp`), { requestInit: { headers } }));
  try {
    await run((name, content) => client.callTool({ name: 'filesystem__write_file', arguments: { path: file(name), content } }));
  } finally {
    await client.close();
  }
}

/** A verb of the command line, at the daemon of this test. */
const patchbay = (h, ...words) => execFileSync(program('patchbay'), words, { encoding: 'utf8', env: { ...process.env, PATCHBAY_HOME: h.home } });
const waiting = (h) => JSON.parse(patchbay(h, 'questions', '--json')).questions;
const asked = async (h) => {
  await until(() => waiting(h).length === 1, 'one question waits');
  return waiting(h)[0];
};

story('what is asked about is made once it is approved, and only then', { servers: { filesystem: filesystem(dir) }, policy, record: true, socket: true }, async (page, h) => {
  await stateOf(h, 'filesystem', 'connected');
  await go(page, 'questions');
  await connected(h, async (write) => {
    const first = write('a.txt', 'one');
    const card = page.getByRole('list', { name: /^Questions/ }).getByRole('listitem').first();
    await card.getByRole('heading', { name: 'npm client 1 wants to use filesystem/write_file: it changes files' }).waitFor();
    const question = await asked(h);
    assert.equal(question.arguments.content, 'one');
    assert.equal(text('a.txt'), null);
    await card.getByRole('button', { name: 'Approve filesystem/write_file', exact: true }).click();
    assert.ok(!(await first).isError);
    assert.equal(text('a.txt'), 'one');

    // The same once more is another call.
    const second = write('a.txt', 'one');
    const again = await asked(h);
    assert.notEqual(again.id, question.id);
    patchbay(h, 'answer', again.id, 'deny', '--reason', 'once is enough');
    const refusal = await second;
    assert.ok(refusal.isError);
    assert.match(JSON.stringify(refusal.content), /once is enough/);
  });
  const { recent } = await h.ask('/api/calls?tool=write_file');
  assert.deepEqual(recent.map((c) => [c.status, c.rule, c.caller]), [['denied', 'writes', 'npm client 1'], ['success', 'writes', 'npm client 1']]);
  assert.equal(recent[1].answered_by, 'console');
  assert.ok(recent.every((c) => c.question && c.arguments_cid));
});

// A client of the modern era is answered with the question, and comes back with what it was told.
const modern = async (h, args, more = {}) => {
  const answer = await fetch(`${h.origin}/mcp`, {
    method: 'POST',
    headers: { ...headers, 'Content-Type': 'application/json', Accept: 'application/json, text/event-stream', 'MCP-Protocol-Version': '2026-07-28', 'Mcp-Method': 'tools/call', 'Mcp-Name': 'filesystem__write_file' },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: {
        name: 'filesystem__write_file',
        arguments: args,
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientInfo': { name: 'modern client', version: '1' },
          'io.modelcontextprotocol/clientCapabilities': { elicitation: {} },
        },
        ...more,
      },
    }),
  });
  const body = await answer.text();
  return JSON.parse(/^data: (.*)$/m.exec(body)?.[1] ?? body);
};

story('an approval is for the arguments that were asked about', { servers: { filesystem: filesystem(dir) }, policy, record: true, socket: true }, async (page, h) => {
  await stateOf(h, 'filesystem', 'connected');
  const args = { path: file('b.txt'), content: 'harmless' };
  const { result } = await modern(h, args);
  assert.equal(result.resultType, 'input_required');
  const [key] = Object.keys(result.inputRequests);
  const yes = { requestState: result.requestState, inputResponses: { [key]: { action: 'accept', content: { decision: 'approve' } } } };
  const changed = await modern(h, { ...args, content: 'harmful' }, yes);
  assert.match(changed.error.message, /requestState is not valid for this request/);
  assert.equal(text('b.txt'), null);
  const done = await modern(h, args, yes);
  assert.equal(done.result.resultType ?? 'complete', 'complete');
  assert.equal(text('b.txt'), 'harmless');
  const spent = await modern(h, args, yes);
  assert.equal(spent.error.data.error, 'call_expired');
  assert.deepEqual(waiting(h), []);
  const { recent } = await h.ask('/api/calls?tool=write_file');
  assert.deepEqual(recent.map((c) => [c.status, c.answered_by]), [['success', 'client']]);
});

await end();
