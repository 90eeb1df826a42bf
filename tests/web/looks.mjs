// How every page looks and is used: without a mouse, without good eyes, on a phone, in the dark.
import { assert, axe, clean, end, everything, example, go, serve, stateOf, story, test, until, visit } from './lib.mjs';

const CALL = '0af1e2d3-0000-4000-8000-00000000000a';
const policy = { rules: [{ action: 'ask', server: 'example', tool: 'echo' }] };
const servers = { every: everything(), example, bad: { command: 'no-such-program-anywhere' } };
/** Every page, and what it says when all that it asks for is there. */
const pages = {
  servers: /17 tools/,
  'servers/every': /What it tells agents/,
  'servers/every/logs': /State: .* connected/,
  tools: /Echoes back/,
  'tools/every/echo': /Arguments/,
  'tools/every/get-annotated-message': /Arguments/,
  resources: /architecture/,
  prompts: /every/,
  calls: /asked by REST/,
  [`calls/${CALL}`]: /What the tool said of itself/,
  questions: /REST wants to use example\/echo/,
  modes: /21 of 21 tools/,
  'modes/full': /Matches 21 of 21 tools/,
  'modes?new=1': /Matches 21 of 21 tools/,
  changes: /All is as it was approved/,
  alerts: /no-such-program-anywhere/,
  settings: /attempts to reconnect/,
  add: /What it means shows up here/,
  'configure/every': /Test connection/,
  'no-such-page': /17 tools/,
};

async function settled(page, where) {
  await go(page, where);
  const there = async () => pages[where].test(await page.locator('body').innerText());
  await until(async () => page.pending.size === 0 && (await there()), `#/${where} shows ${pages[where]}`);
}

async function walk(how, look) {
  const h = await serve({ servers, policy, record: true });
  const page = await visit(h, how);
  try {
    for (const name of ['every', 'example']) await stateOf(h, name, 'connected');
    await h.ask('/api/mcp-tools/call', 'POST', { tool: 'every/echo', arguments: { message: 'hello' }, id: CALL });
    h.ask('/api/mcp-tools/call', 'POST', { tool: 'example/echo', arguments: { text: 'hello' } }).catch(() => {}); // nobody answers it
    const found = {};
    for (const where of Object.keys(pages)) {
      await settled(page, where);
      if (!(await page.getByRole('main').innerText()).trim()) (found['nothing to be seen'] ??= []).push(where);
      for (const problem of await look(page)) (found[problem] ??= []).push(where);
      if (await page.getByRole('dialog').count()) await go(page, 'servers');
    }
    assert.deepEqual(found, {});
    await clean(page);
  } finally {
    await page.context().close();
    await h.stop();
  }
}

test('no page has a serious fault of accessibility, light', () => walk({ scheme: 'light' }, axe));
test('no page has a serious fault of accessibility, dark', () => walk({ scheme: 'dark' }, axe));

test('no page is wider than a phone of 360 px', () =>
  walk({ width: 360, height: 740 }, (page) =>
    page.evaluate(() => {
      const over = document.documentElement.scrollWidth - document.documentElement.clientWidth;
      return over > 0 ? [`${over} px too wide`] : [];
    })));

story('the keyboard leads everywhere', { servers: { example } }, async (page, h) => {
  await stateOf(h, 'example', 'connected');
  await page.getByRole('button', { name: /example/ }).first().waitFor();
  await page.keyboard.press('/');
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute('aria-label')), 'Search servers');
  await page.keyboard.type('g t?'); // typing in a field is typing
  assert.match(page.url(), /#\/servers/);
  await page.keyboard.press('Escape');
  for (const [keys, title] of [['gt', 'Tools'], ['gr', 'Resources'], ['gp', 'Prompts'], ['gc', 'Calls'], ['gq', 'Questions'], ['gm', 'Modes'], ['ga', 'Alerts'], ['g,', 'Settings'], ['a', 'Add a server'], ['gs', 'Servers']]) {
    await page.evaluate(() => document.activeElement?.blur());
    for (const key of keys) await page.keyboard.press(key);
    await page.waitForFunction((t) => document.title === `${t} · Patchbay`, title);
  }
  await page.keyboard.press('?');
  const help = page.getByRole('dialog', { name: 'Keys' });
  await help.getByText('Go to servers').waitFor();
  await page.keyboard.press('Escape');
  await help.waitFor({ state: 'detached' });

  await page.keyboard.press('Tab');
  const menu = page.getByRole('button', { name: 'Actions for example' });
  await menu.focus();
  await page.keyboard.press('Enter');
  await page.waitForFunction(() => document.activeElement.getAttribute('role') === 'menuitem');
  await page.keyboard.press('ArrowUp');
  assert.equal(await page.evaluate(() => document.activeElement.textContent), 'Remove…');
  await page.keyboard.press('Escape');
  assert.equal(await page.evaluate(() => document.activeElement.getAttribute('aria-label')), 'Actions for example');
});

story('light or dark as the system has it, until a person says otherwise', { scheme: 'dark' }, async (page) => {
  const background = () => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  const button = page.getByRole('button', { name: /^Theme:/ });
  const dark = await background();
  await button.click();
  await page.getByRole('button', { name: 'Theme: light' }).waitFor();
  const light = await background();
  assert.notEqual(light, dark);
  await page.reload();
  await page.getByRole('button', { name: 'Theme: light' }).waitFor();
  assert.equal(await background(), light, 'remembered');
  await button.click();
  assert.equal(await background(), dark);
  await button.click();
  await page.emulateMedia({ colorScheme: 'light' });
  assert.equal(await background(), light);
});

await end();
