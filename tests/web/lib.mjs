// lib.mjs - a daemon of its own, a page of its own in Chromium, and what no page may do: log an
// error, ask anybody but its origin, break its content policy, open a dialog, run a script of others.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import fs from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { chromium } from 'playwright-core';
import { main, program, scratch, test } from '../interop/lib.mjs';

export { assert, main, program, scratch, test };
export { everything, filesystem, memory } from '../interop/lib.mjs';

export const TOKEN = 'a token of the tests';
export const example = { command: program('patchbay-example-server') };
const WAIT_MS = 20_000; // for what a slow machine needs; nothing waits that long when all is well

// ---- the daemon ----

const daemons = new Set();
process.on('exit', () => daemons.forEach((d) => d.kill('SIGKILL')));

const ended = (child) => new Promise((yes) => (child.exitCode !== null || child.signalCode ? yes() : child.once('exit', yes)));

/** `patchbay serve` with these servers; give `home` and `port` of one that has ended to start it again. */
export async function serve({ servers, settings, policy, record, socket, home = scratch(), port = 0, env = {} } = {}) {
  fs.mkdirSync(home, { recursive: true });
  if (servers) fs.writeFileSync(path.join(home, 'config.json'), JSON.stringify({ mcpServers: servers, ...(settings && { settings }), ...(policy && { policy }) }));
  const child = spawn(program('patchbay'), ['serve', '--port', String(port), ...(socket ? [] : ['--no-socket']), ...(record ? [] : ['--no-record'])], {
    env: { ...process.env, ...env, PATCHBAY_HOME: home, PATCHBAY_TOKEN: TOKEN },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  daemons.add(child);
  let said = '';
  const origin = await new Promise((yes, no) => {
    const hear = (data) => {
      said += data;
      const found = /http:\/\/127\.0\.0\.1:\d+/.exec(said);
      if (found) yes(found[0]);
    };
    child.stdout.on('data', hear);
    child.stderr.on('data', hear);
    child.once('exit', () => no(new Error(`patchbay serve ended: ${said}`)));
  });
  const ask = async (where, method = 'GET', body) => {
    const answer = await fetch(origin + where, {
      method,
      headers: { Authorization: `Bearer ${TOKEN}`, ...(body && { 'Content-Type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    });
    return answer.json();
  };
  const stop = async () => {
    child.kill('SIGTERM');
    await ended(child);
    daemons.delete(child);
  };
  return { home, origin, port: Number(new URL(origin).port), link: `${origin}/#token=${encodeURIComponent(TOKEN)}`, ask, stop };
}

// ---- the browser ----

let browser;
export async function launch() {
  browser ??= await chromium.launch({
    executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
    args: process.getuid() === 0 ? ['--no-sandbox'] : [],
  });
  return browser;
}

/** Text of the console by Chromium itself when a request is refused; a test that provokes one allows it. */
export const REFUSED = /Failed to load resource/;

function watch(page, origin, allowed) {
  const problems = [];
  page.on('console', (m) => {
    if (m.type() === 'error' && !allowed.some((a) => a.test(m.text()))) problems.push(`console: ${m.text()}`);
  });
  page.on('pageerror', (e) => problems.push(`uncaught: ${e.stack}`));
  page.on('dialog', (d) => (problems.push(`dialog: ${d.message()}`), d.dismiss()));
  page.pending = new Set();
  for (const over of ['requestfinished', 'requestfailed']) page.on(over, (r) => page.pending.delete(r));
  page.on('request', (r) => {
    const url = r.url();
    if (!url.endsWith('/api/events')) page.pending.add(r);
    if (!url.startsWith(`${origin}/`) && !url.startsWith('data:') && !url.startsWith('blob:')) problems.push(`asked ${url}`);
    if (url.includes(encodeURIComponent(TOKEN)) && !r.isNavigationRequest()) problems.push(`token in ${url}`);
  });
  return problems;
}

/** A page of the console, let in by the link. Its `problems` must be empty at the end. */
export async function visit(h, { where = 'servers', width = 1280, height = 800, scheme = 'light', allow = [], link = h.link } = {}) {
  const context = await (await launch()).newContext({ viewport: { width, height }, colorScheme: scheme, locale: 'en-GB' });
  context.setDefaultTimeout(WAIT_MS);
  await context.addInitScript(() => {
    window.violations = [];
    addEventListener('securitypolicyviolation', (e) => window.violations.push(`${e.violatedDirective} ${e.blockedURI}`));
  });
  const page = await context.newPage();
  page.problems = watch(page, h.origin, allow);
  await page.goto(link);
  if (where !== 'servers') await go(page, where);
  return page;
}

/** To "#/where" without a step of the mouse; that page is drawn, and has asked what it wants to know. */
export const go = (page, where) =>
  page.evaluate(
    (hash) =>
      new Promise((drawn) => {
        const after = () => requestAnimationFrame(() => requestAnimationFrame(() => setTimeout(drawn, 50)));
        if (location.hash === hash) return after();
        addEventListener('hashchange', after, { once: true });
        location.hash = hash;
      }),
    `#/${where}`,
  );

/** That a page did nothing that no page may do, and that nobody else's script ran in it. */
export async function clean(page) {
  const inside = await page.evaluate(() => ({ violations: window.violations, pwned: window.pwned }));
  assert.deepEqual(inside.violations, [], 'content policy');
  assert.equal(inside.pwned, undefined, 'a script of others ran');
  assert.deepEqual(page.problems, []);
}

/** A test with a daemon and a page of its own, both ended and the page looked after. */
export function story(name, { servers = {}, settings, policy, record, socket, env, ...how }, run) {
  test(name, async () => {
    const h = await serve({ servers, settings, policy, record, socket, env });
    const page = await visit(h, how);
    try {
      await run(page, h);
      await clean(page);
    } catch (e) {
      if (process.env.SHOTS) await page.screenshot({ path: path.join(process.env.SHOTS, `${name.replace(/\W+/g, '-')}.png`) });
      for (const problem of page.problems) e.stack += `\n${problem}`;
      throw e;
    } finally {
      await page.context().close();
      await h.stop();
    }
  });
}

export async function end() {
  process.once('exit', () => browser?.close());
  await main();
}

// ---- looking ----

const axeSource = fs.readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** What axe-core finds serious or critical, in words. */
export async function axe(page) {
  await page.evaluate(axeSource);
  const found = await page.evaluate(async () => {
    const { violations } = await window.axe.run(document, { resultTypes: ['violations'] });
    return violations
      .filter((v) => v.impact === 'serious' || v.impact === 'critical')
      .flatMap((v) => v.nodes.map((n) => `${v.id}: ${n.html.slice(0, 200)} ${n.failureSummary}`));
  });
  return found;
}

/** Until fn, asked again and again, says something true. */
export async function until(fn, what) {
  const end = Date.now() + WAIT_MS;
  for (;;) {
    const got = await fn();
    if (got) return got;
    if (Date.now() > end) throw new Error(`never: ${what}`);
    await new Promise((r) => setTimeout(r, 50));
  }
}

/** As the daemon sees it: waits for a server's state. */
export const stateOf = (h, name, state) =>
  until(async () => {
    const s = (await h.ask('/api/servers')).servers.find((one) => one.name === name);
    return s?.state === state && s;
  }, `${name} is ${state}`);
