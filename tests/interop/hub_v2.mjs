// The second TypeScript SDK as client of the hub: both eras on this side, both on the other.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import fs from 'node:fs';
import { actOut, actOutQuestions, actOutTogether, answers, everything, everythingOnHttp, filesystem, hub, hubCommand, main, memory, program, scratch, test } from './lib.mjs';

const MODERN = { pin: '2026-07-28' };

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

const conformance = (era) => ({ conf: { command: program('conformance-server'), args: ['--stdio'], era } });
const eras = { legacy: 'legacy', modern: MODERN };

test('SDK v2, modern, and five servers', async () => {
  const dir = scratch();
  fs.writeFileSync(`${dir}/servers.json`, '{}');
  const servers = { ev: everything(), fs: filesystem(dir), mem: memory(`${dir}/memory.json`), web: await everythingOnHttp('streamableHttp'), old: await everythingOnHttp('sse') };
  const h = await hub(servers);
  await connected(MODERN, new StreamableHTTPClientTransport(h.url(), h.options), (c) => actOutTogether(c, dir));
  await connected('legacy', new StreamableHTTPClientTransport(h.url(), h.options), (c) => actOutTogether(c, dir));
});

for (const [client, mode] of Object.entries(eras)) {
  test(`SDK v2, ${client}: server-everything asks for a form and a model`, async () => {
    const h = await hub({ ev: everything(), web: await everythingOnHttp('streamableHttp'), old: await everythingOnHttp('sse') });
    await connected(mode, new StreamableHTTPClientTransport(h.url(), h.options), async (c) => {
      for (const prefix of ['ev__', 'web__', 'old__']) await actOutQuestions(c, prefix);
    });
    await connected(mode, new StdioClientTransport(hubCommand({ ev: everything() })), (c) => actOutQuestions(c, 'ev__'));
  });

  for (const server of ['legacy', 'modern']) {
    test(`SDK v2: a ${client} client and a ${server} server, everything`, async () => {
      const h = await hub(conformance(server));
      await connected(mode, new StreamableHTTPClientTransport(h.url('/mcp/conf'), h.options), (c) => actOut(c, { modern: server === 'modern' }));
      await connected(mode, new StdioClientTransport(hubCommand(conformance(server), '--server', 'conf')), (c) => actOut(c, { modern: server === 'modern' }));
    });
  }
}

await main();
