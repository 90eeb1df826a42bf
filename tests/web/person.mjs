// What a person does in the console from the first server on.
import http from 'node:http';
import { assert, end, everything, example, go, REFUSED, stateOf, story } from './lib.mjs';

const servers = (page) => page.getByRole('list', { name: 'Servers' });
const row = (page, name) => servers(page).getByRole('listitem').filter({ hasText: name }).first();
const menu = async (page, name, item) => {
  await page.getByRole('button', { name: `Actions for ${name}` }).click();
  await page.getByRole('menuitem', { name: item, exact: true }).click();
};

// S1-80, S1-85, S1-86, S1-87, S1-120, S0-130
story('a pasted command is understood, tested, saved, and connects', {}, async (page, h) => {
  await page.getByRole('heading', { name: 'No servers yet' }).waitFor();
  await page.getByRole('link', { name: '+ Add server' }).last().click();
  await page.getByRole('heading', { name: 'Add a server' }).waitFor();
  const next = page.getByRole('button', { name: 'Next' });
  assert.ok(await next.isDisabled(), 'nothing to go on with yet');

  const { command, args } = everything();
  const line = [command, ...args].join(' ');
  const field = page.getByLabel('Command, package, URL or JSON');
  await field.fill('   ');
  assert.ok(await next.isDisabled());
  await field.fill(line);
  await page.getByRole('region', { name: 'What was understood' }).getByText(line, { exact: true }).waitFor();
  assert.deepEqual((await h.ask('/api/servers')).servers, [], 'nothing is run yet');
  await next.click();

  await page.getByRole('heading', { name: 'Configure the new server' }).waitFor();
  const name = page.getByRole('textbox', { name: 'Name', exact: true });
  assert.notEqual(await name.inputValue(), '', 'a name is offered');
  await page.getByRole('group', { name: 'Authentication' }).getByRole('radio', { name: /API key/ }).waitFor();
  await page.getByRole('group', { name: 'Authentication' }).getByRole('radio', { name: /Key file/ }).waitFor();
  await name.fill('');
  assert.ok(await page.getByRole('button', { name: 'Save' }).isDisabled(), 'not without a name');
  await name.fill('every');
  await page.getByLabel('Display name').fill('Everything');
  await page.getByRole('button', { name: 'Test connection' }).click();
  await page.getByText('It works.').waitFor();
  await page.getByRole('region', { name: 'Test connection' }).getByText('echo', { exact: true }).waitFor();
  assert.deepEqual((await h.ask('/api/servers')).servers, [], 'a test leaves nothing behind');
  await page.getByRole('button', { name: 'Save' }).click();

  await row(page, 'Everything').getByText('Connected', { exact: true }).waitFor();
  await row(page, 'Everything').getByRole('link', { name: /^\d+ tools$/ }).waitFor();
  await page.getByRole('link', { name: '1/1: 1 of 1 servers connected' }).waitFor();

  await menu(page, 'Everything', 'Edit');
  await page.getByRole('heading', { name: 'Everything' }).waitFor();
  assert.equal(await page.getByLabel('Display name').inputValue(), 'Everything', 'opened with what was saved');
  assert.ok((await page.getByLabel('Command line').inputValue()).includes(command));
});

// S1-97, S4-54: by decision 17 tools of servers have a page
story('echo is called from its form, and answers', { servers: { every: everything() } }, async (page, h) => {
  await stateOf(h, 'every', 'connected');
  await page.getByRole('link', { name: 'Tools', exact: true }).click();
  await page.getByRole('searchbox', { name: 'Search tools' }).fill('echo');
  await page.getByRole('link', { name: /^echo/ }).click();
  const form = page.getByRole('form', { name: 'Call echo' });
  await form.getByRole('button', { name: 'Call', exact: true }).click();
  await form.getByText('This is required.').waitFor();
  await form.getByRole('textbox', { name: /message/ }).fill('hello <b>there</b>');
  await page.keyboard.press('Control+Enter');
  await page.getByText('Echo: hello <b>there</b>', { exact: true }).waitFor();
  const result = page.getByRole('region', { name: 'Result' });
  await result.getByRole('heading', { name: 'every.echo completed' }).waitFor();
  assert.match(await result.getByRole('status').first().innerText(), /^✓ [\d.]+ m?s/);

  await page.getByRole('link', { name: /^Calls/ }).click();
  const call = page.getByRole('list', { name: 'Calls' }).getByRole('listitem').first();
  await call.getByText('asked by console').waitFor();
  await call.getByText('done').waitFor();
  await page.getByRole('img', { name: /1 call in the last minute/ }).waitFor();
});

story('a call that ends while the calls are being read is neither lost nor told twice', { servers: { example } }, async (page, h) => {
  const { pid } = await stateOf(h, 'example', 'connected');
  const call = (n) => h.ask('/api/mcp-tools/call', 'POST', { tool: 'example/echo', arguments: { text: String(n) } });
  await call(1);
  let asked, goOn;
  const wasAsked = new Promise((yes) => (asked = yes)), mayGoOn = new Promise((yes) => (goOn = yes));
  await page.route('**/api/calls?limit=1000', async (route) => {
    const answer = await route.fetch();
    asked();
    await mayGoOn;
    await route.fulfill({ response: answer });
  });
  await page.reload();
  await wasAsked;
  await call(2); // not in the answer that is on its way
  process.kill(pid, 'SIGKILL'); // what the page is told of this comes after the events of the call
  await page.getByRole('status').getByText('example MCP disconnected. Reconnecting...', { exact: true }).waitFor();
  goOn();
  await go(page, 'calls');
  const list = page.getByRole('list', { name: 'Calls' }).getByRole('listitem');
  await list.nth(1).waitFor();
  assert.equal(await list.count(), 2);
  assert.deepEqual(await list.getByText('done').count(), 2);
});

// S1-99
story('a call that takes too long says after which time it was given up', { servers: { every: { ...everything(), timeout_s: 1 } }, allow: [REFUSED] }, async (page, h) => {
  await stateOf(h, 'every', 'connected');
  await go(page, 'tools/every/trigger-long-running-operation');
  const form = page.getByRole('form', { name: 'Call trigger-long-running-operation' });
  await form.getByRole('spinbutton', { name: /duration/ }).fill('300');
  await form.getByRole('button', { name: 'Call', exact: true }).click();
  await page.getByRole('heading', { name: 'every.trigger-long-running-operation timed out after 1s' }).waitFor();
});

const registry = http.createServer((request, response) => {
  const answer = request.url.startsWith('/v0.1/')
    ? { servers: [{ server: { name: 'io.example/files', title: 'Files', description: 'of this machine', packages: [{ registryType: 'npm', identifier: '@x/files' }] } }] }
    : { servers: [{ qualifiedName: 'brave', displayName: 'Brave' }] };
  response.setHeader('Content-Type', 'application/json').end(JSON.stringify(answer));
});
await new Promise((ready) => registry.unref().listen(0, '127.0.0.1', ready));
const registryUrl = `http://127.0.0.1:${registry.address().port}`;

// S1-79, S1-111
story('a server is found in a registry, and taken from there', { settings: { registry_url: registryUrl, smithery_url: registryUrl } }, async (page) => {
  await go(page, 'add');
  const next = page.getByRole('button', { name: 'Next' });
  await page.getByText('Find one in a registry').click();
  const words = page.getByRole('searchbox', { name: 'Search for' });
  assert.ok(await words.isDisabled(), 'not before a registry is chosen');
  await page.getByLabel('Registry').selectOption({ label: 'All registries' });
  await words.fill('files');
  await words.press('Enter');
  const found = page.getByRole('list', { name: 'Found in registries' }).getByRole('listitem');
  await found.nth(1).getByText('Smithery', { exact: true }).waitFor();
  await found.first().getByText('Official', { exact: true }).waitFor();
  assert.ok(await next.isDisabled(), 'nothing is selected yet');
  await found.first().getByRole('button', { name: 'Use io.example/files' }).click();
  await page.getByRole('region', { name: 'What was understood' }).getByText('npx -y @x/files', { exact: true }).waitFor();
  assert.ok(await next.isEnabled());
  await next.click();
  await page.getByRole('heading', { name: 'Configure the new server' }).waitFor();
  assert.equal(await page.getByRole('textbox', { name: 'Name', exact: true }).inputValue(), 'files');
  assert.match(await page.getByLabel('Command line').inputValue(), /npx -y @x\/files/);
});

// S0-133
story('a long call shows its progress wherever one is, and is cancelled', { servers: { every: everything() }, allow: [REFUSED] }, async (page, h) => {
  await stateOf(h, 'every', 'connected');
  await go(page, 'tools/every/trigger-long-running-operation');
  const form = page.getByRole('form', { name: 'Call trigger-long-running-operation' });
  await form.getByRole('spinbutton', { name: /duration/ }).fill('300');
  await form.getByRole('spinbutton', { name: /steps/ }).fill('1000');
  assert.equal(await page.getByRole('region', { name: 'Running calls' }).count(), 0);
  await form.getByRole('button', { name: 'Call', exact: true }).click();

  const panel = page.getByRole('region', { name: 'Running calls' });
  await panel.getByRole('img', { name: 'running' }).waitFor();
  await panel.getByText('trigger-long-running-operation').waitFor();
  await panel.getByText(/^on every • \d+s$/).waitFor();
  await panel.getByRole('progressbar').waitFor();
  await page.getByRole('link', { name: /^Servers/ }).click(); // it goes on wherever one looks
  const { calls } = await h.ask('/api/calls');
  assert.equal(calls.length, 1);
  await panel.getByRole('button', { name: 'Cancel trigger-long-running-operation' }).click();
  await panel.waitFor({ state: 'detached' });
  assert.deepEqual((await h.ask('/api/calls')).calls, []);
  assert.equal((await h.ask('/api/calls')).recent[0].id, calls[0].id, 'it was that one');
  await go(page, 'calls');
  const list = page.getByRole('list', { name: 'Calls' }).getByRole('listitem');
  await list.first().getByText('cancelled by a person or the client').waitFor();

  await go(page, 'tools/every/trigger-long-running-operation');
  await form.getByRole('spinbutton', { name: /duration/ }).fill('300');
  await form.getByRole('button', { name: 'Call', exact: true }).click();
  await page.getByRole('region', { name: 'Result' }).getByRole('img', { name: 'calling' }).waitFor();
  await page.getByRole('heading', { name: 'Using every.trigger-long-running-operation...' }).waitFor();
  await go(page, 'calls');
  await list.first().getByRole('img', { name: 'running' }).waitFor();
  await list.first().getByRole('button', { name: /^Cancel/ }).click();
  await list.first().getByText('cancelled by a person or the client').waitFor();
  assert.equal(await list.count(), 2);
});

// S0-131, S1-86, S1-125, S1-126
story('a server is disconnected by its menu, and removed only after a question', { servers: { example: { ...example, display_name: 'Example' } } }, async (page, h) => {
  await row(page, 'Example').getByText('Connected', { exact: true }).waitFor();
  await page.getByRole('button', { name: 'Actions for Example' }).click();
  const items = await page.getByRole('menuitem').allInnerTexts();
  assert.ok(items.includes('Disconnect') && items.includes('View Logs') && !items.includes('Retry') && !items.includes('Cancel'), items.join());
  await page.getByRole('menuitem', { name: 'Disconnect' }).click();
  await stateOf(h, 'example', 'disconnected');
  await row(page, 'Example').getByText('Connected', { exact: true }).waitFor({ state: 'detached' });
  assert.equal(await row(page, 'Example').getByRole('link', { name: /tools$/ }).count(), 0);

  const question = page.getByRole('dialog', { name: 'Remove server' });
  await menu(page, 'Example', 'Remove…');
  await question.waitFor();
  assert.equal(await question.getByRole('paragraph').innerText(), 'Delete "Example"?\n\nThis will remove the MCP and its stored credentials.');
  await question.getByRole('button', { name: 'Cancel' }).click();
  await question.waitFor({ state: 'detached' });
  assert.equal((await h.ask('/api/servers')).servers.length, 1);

  await menu(page, 'Example', 'Remove…');
  await question.getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('heading', { name: 'No servers yet' }).waitFor();
  assert.deepEqual((await h.ask('/api/servers')).servers, []);
});

// S0-131
story('the log of a server opens, follows, and is searched', { servers: { example } }, async (page, h) => {
  await stateOf(h, 'example', 'connected');
  await row(page, 'example').waitFor();
  await menu(page, 'example', 'View Logs');
  const drawer = page.getByRole('dialog', { name: 'Log of example' });
  const lines = drawer.getByRole('list', { name: 'Log lines' }).getByRole('listitem');
  await lines.first().waitFor();
  await drawer.getByText(/following/).waitFor();
  const before = await lines.count();
  await h.ask('/api/servers/example/restart', 'POST', {});
  await lines.nth(before).waitFor();
  await drawer.getByRole('searchbox', { name: 'Search the log' }).fill('no line holds this');
  await drawer.getByRole('heading', { name: 'No line is like that' }).waitFor();
  await page.keyboard.press('Escape');
  await page.keyboard.press('Escape');
  await drawer.waitFor({ state: 'detached' });
});

story('a mode is made, counts what it lets through, and filters the tools', { servers: { one: example, two: example } }, async (page, h) => {
  await stateOf(h, 'one', 'connected');
  await stateOf(h, 'two', 'connected');
  const all = (await h.ask('/api/tools')).tools.length;
  await go(page, 'modes');
  await page.getByRole('link', { name: '+ New mode' }).click();
  await page.getByLabel('Name', { exact: true }).fill('Only one');
  await page.getByText(`Matches ${all} of ${all} tools`).waitFor();
  await page.getByLabel('As JSON').fill('{"servers": ["one"]}');
  await page.getByText(`Matches ${all / 2} of ${all} tools`).waitFor();
  await page.getByRole('button', { name: 'Save' }).click();
  await page.getByRole('link', { name: /Only one/ }).waitFor();
  await page.getByText(`${all / 2} of ${all} tools`).waitFor();

  await go(page, 'tools');
  const tools = page.getByRole('list', { name: 'tools' });
  await tools.getByText('two', { exact: true }).first().waitFor();
  await page.getByLabel('Mode').selectOption({ label: 'Only one' });
  await tools.getByText('two', { exact: true }).first().waitFor({ state: 'detached' });
  await tools.getByText('one', { exact: true }).first().waitFor();
});


await end();
