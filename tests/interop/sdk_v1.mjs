// The first TypeScript SDK as client of our server, over each transport that it has.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { CreateMessageRequestSchema, ElicitRequestSchema, ListRootsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { actOut, actOutExample, answers, main, program, serve, test } from './lib.mjs';

async function connected(transport, run) {
  const client = new Client({ name: 'sdk-v1', version: '1' }, { capabilities: { elicitation: {}, sampling: {}, roots: {} } });
  client.setRequestHandler(ElicitRequestSchema, answers.elicit);
  client.setRequestHandler(CreateMessageRequestSchema, answers.sample);
  client.setRequestHandler(ListRootsRequestSchema, answers.roots);
  await client.connect(transport);
  try {
    await run(client);
  } finally {
    await client.close();
  }
}

test('SDK v1 uses our server over Streamable HTTP', async () => {
  const { url } = await serve();
  await connected(new StreamableHTTPClientTransport(url), (c) => actOut(c, { modern: false, progress: 'v1' }));
});

test('SDK v1 uses our server over HTTP+SSE', async () => {
  const { sse } = await serve();
  await connected(new SSEClientTransport(sse), (c) => actOut(c, { modern: false, progress: 'v1' }));
});

test('SDK v1 uses our server over stdio', () =>
  connected(new StdioClientTransport({ command: program('conformance-server'), args: ['--stdio'] }), (c) => actOut(c, { modern: false, progress: 'v1' })));

test('SDK v1 uses the example server over stdio', () =>
  connected(new StdioClientTransport({ command: program('patchbay-example-server'), args: [], stderr: 'ignore' }), actOutExample));

await main();
