// What stays of calls, and what is asked before they go on, in the console.
import { assert, axe, end, example, go, stateOf, story, TOKEN, until } from './lib.mjs';

/** One that waits for an answer may never get it, when a test fails: that is told elsewhere. */
const call = (h, tool, args, more = {}, client = 'some agent') => {
  const made = send(h, tool, args, more, client);
  made.catch(() => {});
  return made;
};
const send = (h, tool, args, more, client) =>
  fetch(`${h.origin}/api/mcp-tools/call`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${TOKEN}`, 'Content-Type': 'application/json', 'X-Patchbay-Client': client },
    body: JSON.stringify({ tool, arguments: args, ...more }),
  });
const rows = (page) => page.getByRole('list', { name: 'Calls' }).getByRole('listitem');

story('recorded calls are searched, filtered and opened', { servers: { example }, record: true }, async (page, h) => {
  await stateOf(h, 'example', 'connected');
  for (let i = 0; i < 130; i++) await call(h, 'example/echo', { text: `number${i} ${i === 7 ? 'a needle-like thing' : 'hay'}` });
  await call(h, 'example/calculator', { expression: '1/0' }, {}, 'another agent');
  await go(page, 'calls');
  await page.getByText(/131 recorded/).waitFor();
  await rows(page).first().getByText('calculator').waitFor();

  const search = page.getByRole('searchbox', { name: 'Search arguments and results' });
  await search.fill('needle-li');
  await until(async () => (await rows(page).count()) === 1, 'one row is left');
  await rows(page).first().click();
  const pane = page.getByRole('dialog', { name: 'example/echo' });
  await pane.getByRole('region', { name: 'Arguments' }).getByText('number7 a needle-like thing').waitFor();
  await pane.getByRole('region', { name: 'Result' }).getByText('number7 a needle-like thing').waitFor();
  await pane.getByText('some agent').waitFor();
  assert.deepEqual(await axe(page), []);
  const [download] = await Promise.all([page.waitForEvent('download'), pane.getByRole('region', { name: 'Result' }).getByRole('button', { name: /^Download object/ }).click()]);
  assert.match(download.suggestedFilename(), /^[0-9a-f]{16}\.json$/);
  await page.keyboard.press('Escape');
  await pane.waitFor({ state: 'detached' });

  await search.fill('');
  await page.getByLabel('Outcome').selectOption('tool error');
  await until(async () => (await rows(page).count()) === 1, 'one has failed');
  await rows(page).first().getByText('asked by another agent').waitFor();
  await page.getByLabel('Outcome').selectOption('All outcomes');
  await page.getByLabel('Client').selectOption('another agent');
  await until(async () => (await rows(page).count()) === 1, 'one is by the other');
  await page.getByLabel('Client').selectOption('All clients');

  // Older ones come as they are scrolled to.
  await page.getByText('100 ended calls shown of 131 recorded').waitFor();
  await page.getByRole('list', { name: 'Calls' }).evaluate((list) => list.scrollTo(0, list.scrollHeight));
  await page.getByText('131 ended calls shown of 131 recorded').waitFor();
  await call(h, 'example/echo', { text: 'one more' });
  await page.getByText('132 ended calls shown of 132 recorded').waitFor();
});

story('where nothing is recorded, that is said', { servers: { example } }, async (page, h) => {
  await stateOf(h, 'example', 'connected');
  await call(h, 'example/echo', { text: 'hi' });
  await go(page, 'calls');
  await page.getByText('Calls are not recorded').waitFor();
  await rows(page).first().getByRole('link', { name: 'echo' }).click();
  await page.getByRole('dialog', { name: 'example/echo' }).getByText('It was not recorded').waitFor();
});

const policy = { rules: [{ name: 'careful', action: 'ask', tool: 'echo', reason: 'it talks' }] };

story('a question comes, is counted, and is answered', { servers: { example }, policy, record: true }, async (page, h) => {
  await stateOf(h, 'example', 'connected');
  await go(page, 'questions');
  await page.getByRole('heading', { name: 'Nothing is asked' }).waitFor();
  const approved = call(h, 'example/echo', { text: 'please <b>do</b>' });
  const card = page.getByRole('list', { name: /^Questions/ }).getByRole('listitem').first();
  await card.getByRole('heading', { name: 'some agent wants to use example/echo: it talks' }).waitFor();
  await card.getByText('"text": "please <b>do</b>"').waitFor();
  await card.getByText('rule “careful”').waitFor();
  await card.getByText(/left$/).waitFor();
  await page.getByRole('navigation').getByRole('link', { name: /^Questions\s*1$/ }).waitFor();
  assert.deepEqual(await axe(page), []);
  await card.getByRole('button', { name: 'Approve example/echo', exact: true }).focus();
  await page.keyboard.press('Enter');
  assert.equal((await approved).status, 200);
  await page.getByRole('heading', { name: 'Nothing is asked' }).waitFor();

  const denied = call(h, 'example/echo', { text: 'again' });
  await card.getByRole('button', { name: 'Deny example/echo' }).click();
  await page.getByLabel('Reason, which the caller is told').fill('not today');
  await page.keyboard.press('Enter');
  const answer = await denied;
  assert.equal(answer.status, 403);
  assert.match((await answer.json()).message, /not today/);

  const granted = call(h, 'example/echo', { text: 'a third time' });
  await card.getByRole('button', { name: 'Approve for 5 minutes: example/echo' }).click();
  assert.equal((await granted).status, 200);
  assert.equal((await call(h, 'example/echo', { text: 'a fourth time' })).status, 200, 'nobody is asked');

  await go(page, 'calls');
  await page.getByLabel('Outcome').selectOption('denied');
  await until(async () => (await rows(page).count()) === 1, 'one was denied');
  await rows(page).first().click();
  const pane = page.getByRole('dialog', { name: 'example/echo' });
  await pane.getByText('careful').waitFor();
  await pane.getByText('answered by console').waitFor();
  await pane.getByText(/not today/).first().waitFor();
});

await end();
