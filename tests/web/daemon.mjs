// The page and its daemon: who is let in, and what happens when the daemon goes and comes.
import { assert, clean, end, example, REFUSED, serve, stateOf, story, test, TOKEN, visit } from './lib.mjs';

story('the token is taken from the link, kept out of sight, and sent in a header only', { servers: { example } }, async (page, h) => {
  await stateOf(h, 'example', 'connected');
  await page.getByRole('link', { name: '1/1: 1 of 1 servers connected' }).waitFor();
  assert.ok(!page.url().includes('token'), page.url());
  const chrome = await page.context().newCDPSession(page);
  const { entries } = await chrome.send('Page.getNavigationHistory');
  assert.ok(entries.every((e) => !e.url.includes('token')), 'nor in the history');

  const asked = page.waitForRequest((r) => r.url().endsWith('/api/servers'));
  await page.reload();
  const request = await asked;
  assert.equal((await request.allHeaders()).authorization, `Bearer ${TOKEN}`);
  assert.equal((await request.allHeaders()).referer, undefined);
  await page.getByRole('link', { name: '1/1: 1 of 1 servers connected' }).waitFor();
  assert.deepEqual(await page.context().cookies(), []);
  assert.ok(!JSON.stringify(await page.evaluate(() => ({ ...localStorage }))).includes(TOKEN), 'not kept past the tab');
});

test('a wrong token gets a form, the right one lets in', async () => {
  const h = await serve({ servers: { example } });
  const page = await visit(h, { link: `${h.origin}/#token=wrong`, allow: [REFUSED] });
  try {
    const field = page.getByLabel('Link or token');
    await field.waitFor();
    assert.ok(await page.getByRole('button', { name: 'Open' }).isDisabled());
    await field.fill('still wrong');
    await page.getByRole('button', { name: 'Open' }).click();
    await field.waitFor();
    await field.fill(h.link);
    await page.getByRole('button', { name: 'Open' }).click();
    await page.getByRole('heading', { name: 'Servers' }).waitFor();
    await page.getByText('example', { exact: true }).first().waitFor();
    await clean(page);
  } finally {
    await page.context().close();
    await h.stop();
  }
});

test('the daemon is restarted: the page says so and comes back by itself', async () => {
  let h = await serve({ servers: { example } });
  const page = await visit(h, { allow: [REFUSED, /ERR_/] });
  try {
    await page.getByRole('link', { name: '1/1: 1 of 1 servers connected' }).waitFor();
    await h.stop();
    await page.getByRole('alert').getByText('Patchbay does not answer.').waitFor();
    h = await serve({ home: h.home, port: h.port });
    await page.getByText('Patchbay is back.').waitFor();
    await page.getByText('Patchbay does not answer.').waitFor({ state: 'detached' });
    await stateOf(h, 'example', 'connected');
    await page.getByRole('link', { name: '1/1: 1 of 1 servers connected' }).waitFor();
    await clean(page);
  } finally {
    await page.context().close();
    await h.stop();
  }
});

await end();
