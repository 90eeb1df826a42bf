// console.mjs - how fast the console is with much to show. Prints what it measured, fails past a limit.
import http from 'node:http';
import { end, launch, serve, test, TOKEN, until, visit } from '../web/lib.mjs';

const FIRST_PAINT_MS = 300, LONG_TASK_MS = 100, EVENTS_PER_S = 50, SCROLL_S = 6;

/** One process that is many servers with 100 tools each: what is measured is not their start. */
function manyServers(n) {
  const tools = Array.from({ length: 100 }, (_, i) => ({
    name: `tool_${i}`,
    description: `Does the thing number ${i} with what it is given, and says what came of it.`,
    inputSchema: { type: 'object', properties: { path: { type: 'string', description: 'Where' }, depth: { type: 'integer', minimum: 0 } }, required: ['path'] },
    annotations: { readOnlyHint: i % 2 === 0 },
  }));
  const answers = {
    initialize: (p) => ({ protocolVersion: p.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'many', version: '1' } }),
    ping: () => ({}),
    'tools/list': () => ({ tools }),
    'tools/call': () => ({ content: [{ type: 'text', text: 'done' }] }),
  };
  const server = http.createServer((request, reply) => {
    if (request.method !== 'POST') return void reply.writeHead(405).end();
    let body = '';
    request.on('data', (d) => (body += d)).on('end', () => {
      const { id, method, params } = JSON.parse(body);
      if (id === undefined) return void reply.writeHead(202).end();
      const answer = answers[method];
      const message = answer ? { result: answer(params ?? {}) } : { error: { code: -32601, message: 'not here' } };
      reply.writeHead(200, { 'Content-Type': 'application/json' }).end(JSON.stringify({ jsonrpc: '2.0', id, ...message }));
    });
  });
  return new Promise((yes) =>
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      const entries = Array.from({ length: n }, (_, i) => [`server${String(i).padStart(3, '0')}`, { type: 'http', url: `http://127.0.0.1:${port}/${i}`, era: 'legacy' }]);
      yes({ servers: Object.fromEntries(entries), close: () => (server.closeAllConnections(), server.close()) });
    }),
  );
}

async function withMany(n, run) {
  const many = await manyServers(n);
  const h = await serve({ servers: many.servers });
  try {
    await until(async () => (await h.ask('/api/status')).tools === n * 100, `${n * 100} tools`);
    await run(h);
  } finally {
    await h.stop();
    many.close();
  }
}

const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

test(`first paint with 50 servers and 5,000 tools is under ${FIRST_PAINT_MS} ms`, () =>
  withMany(50, async (h) => {
    const paints = [], lists = [];
    await (await visit(h)).context().close(); // the browser itself has started
    for (let i = 0; i < 3; i++) {
      const context = await (await launch()).newContext();
      await context.addInitScript(() => {
        new MutationObserver((_, me) => {
          if (document.querySelectorAll('main ul[aria-label=Servers] > li').length < 50) return;
          me.disconnect();
          requestAnimationFrame(() => (window.listedAt = performance.now()));
        }).observe(document, { childList: true, subtree: true });
      });
      const page = await context.newPage();
      await page.goto(h.link);
      await page.waitForFunction(() => window.listedAt && performance.getEntriesByName('first-contentful-paint').length);
      paints.push(await page.evaluate(() => performance.getEntriesByName('first-contentful-paint')[0].startTime));
      lists.push(await page.evaluate(() => window.listedAt));
      await context.close();
    }
    console.log(`# first contentful paint ${paints.map(Math.round)} ms, all 50 servers listed ${lists.map(Math.round)} ms`);
    if (median(paints) >= FIRST_PAINT_MS) throw new Error(`first paint after ${median(paints)} ms`);
  }));

test(`10,000 tools scroll under ${EVENTS_PER_S} events a second without a task over ${LONG_TASK_MS} ms`, () =>
  withMany(100, async (h) => {
    const page = await visit(h, { where: 'tools' });
    const list = page.getByRole('list', { name: 'tools' });
    await list.getByRole('listitem').first().waitFor();
    await page.evaluate(() => {
      window.tasks = [];
      window.frames = 0;
      new PerformanceObserver((seen) => window.tasks.push(...seen.getEntries().map((e) => e.duration))).observe({ type: 'longtask' });
      const count = () => requestAnimationFrame(count, window.frames++);
      count();
    });
    // A call is two events: it starts, it ends.
    const headers = { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json' };
    let calls = 0;
    const timer = setInterval(() => {
      const body = JSON.stringify({ tool: `server${String(calls % 100).padStart(3, '0')}/tool_1`, arguments: { path: '/' } });
      fetch(`${h.origin}/api/mcp-tools/call`, { method: 'POST', headers, body }).then(() => calls++, () => {});
    }, 2000 / EVENTS_PER_S);
    const height = await list.evaluate((e) => e.scrollHeight);
    const steps = SCROLL_S * 30;
    for (let i = 0; i < steps; i++) {
      await list.evaluate((e, top) => void (e.scrollTop = top), (height * i) / steps);
      await page.waitForTimeout(1000 / 30);
    }
    clearInterval(timer);
    const { tasks, frames } = await page.evaluate(() => ({ tasks: window.tasks, frames: window.frames }));
    const longest = Math.max(0, ...tasks);
    console.log(`# ${calls * 2} events, ${frames} frames, ${tasks.length} tasks over 50 ms, the longest ${Math.round(longest)} ms`);
    await page.context().close();
    if (longest > LONG_TASK_MS) throw new Error(`a task of ${longest} ms`);
  }));

await end();
