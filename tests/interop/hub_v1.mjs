// The first TypeScript SDK as client of the hub, with the servers of npm behind it.
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport } from '@modelcontextprotocol/sdk/client/sse.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CreateMessageRequestSchema, ElicitRequestSchema, ListRootsRequestSchema, ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import assert from 'node:assert/strict';
import fs from 'node:fs';
import { actOut, actOutQuestions, actOutTogether, answers, configFile, everything, everythingOnHttp, filesystem, hub, hubCommand, main, memory, program, scratch, test } from './lib.mjs';

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

async function together() {
  const dir = scratch();
  return { dir, servers: { ev: everything(), fs: filesystem(dir), mem: memory(`${dir}/memory.json`), web: await everythingOnHttp('streamableHttp'), old: await everythingOnHttp('sse') } };
}
const conformance = (era) => ({ conf: { command: program('conformance-server'), args: ['--stdio'], era } });

test('SDK v1 and five servers over stdio', async () => {
  const { dir, servers } = await together();
  fs.writeFileSync(`${dir}/servers.json`, '{}');
  await connected(new StdioClientTransport(hubCommand(servers)), (c) => actOutTogether(c, dir));
});

test('SDK v1 and five servers over Streamable HTTP, then HTTP+SSE', async () => {
  const { dir, servers } = await together();
  fs.writeFileSync(`${dir}/servers.json`, '{}');
  const h = await hub(servers);
  await connected(new StreamableHTTPClientTransport(h.url(), h.options), (c) => actOutTogether(c, dir));
  await connected(new SSEClientTransport(h.url('/sse'), h.options), (c) => actOutTogether(c, dir));
});

test('SDK v1: server-everything asks for a form and a model', async () => {
  const h = await hub({ ev: everything(), web: await everythingOnHttp('streamableHttp'), old: await everythingOnHttp('sse') });
  await connected(new StreamableHTTPClientTransport(h.url(), h.options), async (c) => {
    for (const prefix of ['ev__', 'web__', 'old__']) await actOutQuestions(c, prefix);
  });
  await connected(new StdioClientTransport(hubCommand({ ev: everything() })), (c) => actOutQuestions(c, 'ev__'));
});

test('SDK v1 acts out everything with a legacy server behind the hub', async () => {
  const h = await hub(conformance('legacy'));
  await connected(new StreamableHTTPClientTransport(h.url('/mcp/conf'), h.options), (c) => actOut(c, { modern: false, progress: 'v1' }));
});

test('SDK v1 acts out everything with a modern server behind the hub', async () => {
  const h = await hub(conformance('modern'));
  await connected(new StreamableHTTPClientTransport(h.url('/mcp/conf'), h.options), (c) => actOut(c, { modern: true, progress: 'v1' }));
  await connected(new StdioClientTransport(hubCommand(conformance('modern'), '--server', 'conf')), (c) => actOut(c, { modern: true, progress: 'v1' }));
});

test('a changed config reaches a connected client without a new session', async () => {
  const h = await hub({ one: everything() });
  await connected(new StreamableHTTPClientTransport(h.url(), h.options), async (c) => {
    // The server itself may tell of changes, too: look again at each one.
    let names = [];
    const arrived = new Promise((yes) =>
      c.setNotificationHandler(ToolListChangedNotificationSchema, async () => {
        names = (await c.listTools()).tools.map((t) => t.name);
        if (names.includes('two__calculator')) yes();
      }),
    );
    assert.ok((await c.listTools()).tools.every((t) => t.name.startsWith('one__')));
    configFile({ one: everything(), two: { command: program('patchbay-example-server') } }, h.dir);
    await arrived;
    assert.ok(names.includes('one__echo'));
    assert.match((await c.callTool({ name: 'two__calculator', arguments: { expression: '6*7' } })).content[0].text, /42/);
  });
});

await main();
