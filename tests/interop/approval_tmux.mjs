// "Ask before filesystem/write_file", answered at a terminal: a client and a server that others wrote, and a person who
// types into tmux what the program says.
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import fs from 'node:fs';
import { BUILD, filesystem, main, program, scratch, test } from './lib.mjs';

try {
  execFileSync('tmux', ['-V'], { stdio: 'ignore' });
} catch {
  console.log('1..0 # SKIP tmux is not installed: run tools/deps test');
  process.exit(0);
}

const TOKEN = 'interop';
const headers = { Authorization: `Bearer ${TOKEN}` };
const policy = { rules: [{ name: 'writes', action: 'ask', server: 'filesystem', tool: 'write_file', reason: 'it changes files' }] };

async function until(what, look) {
  for (let i = 0; i < 1000; i++) {
    const found = await look();
    if (found) return found;
    await new Promise((r) => setTimeout(r, 25));
  }
  throw new Error(`it never came to this: ${what}`);
}

// A daemon that records, with the server of npm in it.
async function daemon(dir) {
  const home = scratch();
  fs.writeFileSync(`${home}/config.json`, JSON.stringify({ mcpServers: { filesystem: filesystem(dir) }, policy }));
  const env = { ...process.env, PATCHBAY_HOME: home, PATCHBAY_TOKEN: TOKEN, PATH: `${BUILD}:${process.env.PATH}` };
  const child = spawn(program('patchbay'), ['serve', '--port', '0'], { stdio: ['ignore', 'ignore', 'pipe'], env });
  let said = '';
  child.stderr.on('data', (bytes) => (said += bytes));
  const [, origin] = await until('the daemon listens', () => / socket /.test(said) && /(http:\/\/127\.0\.0\.1:\d+)/.exec(said));
  const stop = () => new Promise((yes) => (child.once('exit', yes), child.kill('SIGTERM')));
  return { env, origin, stop };
}

// One terminal. What is typed is run by its shell; `shows` waits for what then stands on it.
function terminal(env) {
  const socket = `${scratch()}/tmux`;
  const tmux = (...words) => execFileSync('tmux', ['-f', '/dev/null', '-S', socket, ...words], { encoding: 'utf8', env });
  tmux('new-session', '-d', '-x', '180', '-y', '60', 'env PS1="$ " sh');
  const close = () => {
    process.off('exit', close);
    tmux('kill-server');
  };
  process.on('exit', close);
  const screen = () => tmux('capture-pane', '-p', '-J');
  return {
    type(line) {
      tmux('send-keys', '-R'); // what stands there goes
      tmux('send-keys', '-l', line);
      tmux('send-keys', 'Enter');
    },
    screen,
    shows: (pattern) => until(`the terminal shows ${pattern}:\n${screen()}`, () => pattern.exec(screen())),
    close,
  };
}

async function story(run) {
  const dir = scratch();
  const d = await daemon(dir);
  const t = terminal(d.env);
  try {
    await run(d, t, dir);
  } finally {
    t.close();
    await d.stop();
  }
}

// What stands there of a question: its id.
async function question(t, who) {
  await until('a question is shown', async () => {
    t.type('patchbay questions');
    await t.shows(/No call waits|rule writes/);
    return /rule writes/.test(t.screen());
  });
  const [, id] = await t.shows(new RegExp(`^([0-9a-f]{8})  ${who} 1 wants to use filesystem/write_file: it changes files`, 'm'));
  return id;
}

const read = (file) => (fs.existsSync(file) ? fs.readFileSync(file, 'utf8') : null);

test('what is asked about is made once somebody at a terminal approves it, and only then', () =>
  story(async (d, t, dir) => {
    const client = new Client({ name: 'npm client', version: '1' }, { capabilities: {}, versionNegotiation: { mode: 'legacy' } });
    await client.connect(new StreamableHTTPClientTransport(new URL(`${d.origin}/mcp`), { requestInit: { headers } }));
    await until('the tool is there', async () => (await client.listTools()).tools.some((x) => x.name === 'filesystem__write_file'));
    const write = () => client.callTool({ name: 'filesystem__write_file', arguments: { path: `${dir}/a.txt`, content: 'one' } });

    const first = write();
    const id = await question(t, 'npm client');
    await t.shows(/"content":\s*"one"/);
    assert.equal(read(`${dir}/a.txt`), null);
    t.type(`patchbay answer ${id} approve`);
    await t.shows(/^allowed$/m);
    assert.ok(!(await first).isError);
    assert.equal(read(`${dir}/a.txt`), 'one');

    // The same once more is another call.
    const second = write();
    const again = await question(t, 'npm client');
    assert.notEqual(again, id);
    t.type(`patchbay answer ${id} approve; echo code $?`);
    await t.shows(/^code 1$/m);
    t.type(`patchbay answer ${again} deny --reason 'once is enough'`);
    await t.shows(/^denied$/m);
    const refusal = await second;
    assert.ok(refusal.isError);
    assert.match(JSON.stringify(refusal.content), /once is enough/);
    await client.close();

    t.type('patchbay calls');
    await t.shows(/filesystem\.write_file[^]*filesystem\.write_file/);
    assert.match(t.screen(), /denied/);
    t.type('patchbay calls show 1');
    await t.shows(/writes/);
    assert.match(t.screen(), /cli/);
  }));

// A client of the modern era is answered with the question, and comes back.
async function modern(d, args, more = {}) {
  const answer = await fetch(`${d.origin}/mcp`, {
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
}

test('what was approved at the terminal is not made with other arguments', () =>
  story(async (d, t, dir) => {
    const args = { path: `${dir}/b.txt`, content: 'harmless' };
    const { result } = await until('it is asked about', async () => {
      const answer = await modern(d, args);
      return answer.result?.resultType === 'input_required' && answer;
    });
    const state = { requestState: result.requestState, inputResponses: {} };
    const id = await question(t, 'modern client');
    assert.equal(read(`${dir}/b.txt`), null);
    t.type(`patchbay answer ${id} approve`);
    await t.shows(/^allowed$/m);
    const changed = await modern(d, { ...args, content: 'harmful' }, state);
    assert.match(changed.error.message, /requestState is not valid for this request/);
    const done = await modern(d, args, state);
    assert.equal(done.result.resultType ?? 'complete', 'complete');
    assert.equal(read(`${dir}/b.txt`), 'harmless');
    t.type('patchbay calls');
    await t.shows(/filesystem\.write_file/);
    assert.doesNotMatch(t.screen(), /harmful/);
  }));

await main();
