// The second TypeScript SDK as client of our server, in both eras.
import assert from 'node:assert/strict';
import { Client, SSEClientTransport, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { actOut, actOutExample, answers, main, program, serve, test } from './lib.mjs';

async function connected(mode, transport, run) {
  const client = new Client({ name: 'sdk-v2', version: '1' }, { capabilities: { elicitation: {}, sampling: {}, roots: {} }, versionNegotiation: { mode } });
  client.setRequestHandler('elicitation/create', answers.elicit);
  client.setRequestHandler('sampling/createMessage', answers.sample);
  client.setRequestHandler('roots/list', answers.roots);
  await client.connect(transport);
  try {
    await run(client);
  } finally {
    await client.close();
  }
}
const MODERN = { pin: '2026-07-28' };
const stdio = (name, ...args) => new StdioClientTransport({ command: program(name), args, stderr: 'ignore' });

test('SDK v2, legacy, over Streamable HTTP', async () => {
  const { url } = await serve();
  await connected('legacy', new StreamableHTTPClientTransport(url), (c) => actOut(c, { modern: false }));
});

test('SDK v2, modern, over Streamable HTTP', async () => {
  const { url } = await serve();
  await connected(MODERN, new StreamableHTTPClientTransport(url), (c) => actOut(c, { modern: true }));
});

test('SDK v2 finds the modern era by itself', async () => {
  const { url } = await serve();
  await connected('auto', new StreamableHTTPClientTransport(url), async (c) => assert.equal(c.getNegotiatedProtocolVersion(), '2026-07-28'));
});

test('SDK v2, legacy, over HTTP+SSE', async () => {
  const { sse } = await serve();
  await connected('legacy', new SSEClientTransport(sse), (c) => actOut(c, { modern: false }));
});

test('SDK v2, legacy, over stdio', () => connected('legacy', stdio('conformance-server', '--stdio'), (c) => actOut(c, { modern: false })));
test('SDK v2, modern, over stdio', () => connected(MODERN, stdio('conformance-server', '--stdio'), (c) => actOut(c, { modern: true })));
test('SDK v2 finds the modern era over stdio', () => connected('auto', stdio('patchbay-example-server'), actOutExample));

await main();
