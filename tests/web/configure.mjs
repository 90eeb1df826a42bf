// Forms: what is pasted, changed, kept hidden, asked about and saved.
import fs from 'node:fs';
import path from 'node:path';
import { assert, end, example, go, REFUSED, serve, stateOf, story, test, until, visit } from './lib.mjs';

const saved = (h) => JSON.parse(fs.readFileSync(path.join(h.home, 'config.json'), 'utf8'));
const field = (page) => page.getByLabel('Command, package, URL or JSON');
const save = (page) => page.getByRole('button', { name: 'Save' });
const leaving = (page) => page.getByRole('dialog', { name: 'Leave without saving?' });

story('a file of another client is added in one go, but for what is there already', { servers: { there: example } }, async (page, h) => {
  await stateOf(h, 'there', 'connected');
  await go(page, 'add');
  await field(page).fill(JSON.stringify({ mcpServers: { one: example, two: { ...example, args: ['--help'] }, there: { command: 'other' } } }));
  await page.getByText('3 servers found').waitFor();
  assert.equal(await page.getByRole('checkbox', { name: 'there' }).isChecked(), false, 'it would be replaced');
  await page.getByRole('checkbox', { name: 'two' }).uncheck();
  await page.getByRole('button', { name: 'Add 1 server' }).click();
  await page.getByRole('heading', { name: '1 server added', exact: true }).waitFor();
  await stateOf(h, 'one', 'connected');
  assert.deepEqual(Object.keys(saved(h).mcpServers).sort(), ['one', 'there']);
  assert.equal(saved(h).mcpServers.there.command, example.command);
});

story('what makes no sense is said after a pause, and Next stays disabled', { allow: [REFUSED] }, async (page) => {
  await go(page, 'add');
  await field(page).fill('nonsense');
  await page.getByRole('alert').getByText(/nonsense/).waitFor();
  assert.ok(await page.getByRole('button', { name: 'Next' }).isDisabled());
  await field(page).fill('https://mcp.example.com/mcp');
  await page.getByText('Remote server').waitFor();
  await page.getByRole('alert').waitFor({ state: 'detached' });
  assert.ok(await page.getByRole('button', { name: 'Next' }).isEnabled());
});

// S1-85 S1-88
story('a package names itself, and is not saved while its key is missing', {}, async (page) => {
  await go(page, 'add');
  await field(page).fill('npx -y @github/mcp-server');
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByRole('heading', { name: 'Configure the new server' }).waitFor();
  assert.equal(await page.getByLabel('Display name').inputValue(), 'GitHub MCP Server');
  assert.equal(await page.getByLabel('Name', { exact: true }).inputValue(), 'github-mcp-server');
  for (const name of ['None', 'API key', 'Key file']) await page.getByRole('radio', { name }).waitFor();
  await page.getByRole('link', { name: 'Cancel' }).waitFor();
  assert.ok(await save(page).isEnabled());
  await page.getByRole('radio', { name: 'API key' }).check();
  assert.ok(await save(page).isDisabled());
});

// S1-87
story('a key goes to the secrets, and nowhere else', {}, async (page, h) => {
  await go(page, 'add');
  await field(page).fill(`"keyed": ${JSON.stringify(example)}`);
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByRole('radio', { name: 'API key' }).check();
  await page.getByLabel('Variable', { exact: true }).fill('SOME_TOKEN');
  await page.getByLabel('API key', { exact: true }).last().fill('hush-hush-hush');
  await save(page).click();
  await page.getByRole('heading', { name: 'Servers', exact: true }).waitFor();
  await stateOf(h, 'keyed', 'connected');
  const { uuid } = saved(h).mcpServers.keyed;
  const file = path.join(h.home, 'secrets', `mcp_${uuid}.key`);
  assert.equal(fs.readFileSync(file, 'utf8'), 'hush-hush-hush');
  assert.equal(fs.statSync(file).mode & 0o777, 0o600);
  assert.ok(!fs.readFileSync(path.join(h.home, 'config.json'), 'utf8').includes('hush'));
  assert.ok(!(await page.content()).includes('hush'));
});

story('a name that is taken is replaced only when that is asked for', { servers: { there: { ...example, cwd: '/' } } }, async (page, h) => {
  await go(page, `add?text=${encodeURIComponent(`"there": ${JSON.stringify(example)}`)}`);
  await page.getByRole('note').getByText(/There is a server called/).waitFor();
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByRole('alert').getByText('There is a server of this name already.').waitFor();
  assert.ok(await save(page).isDisabled());
  await page.getByLabel('Replace the one that is there').check();
  await save(page).click();
  await page.getByText('is added.').waitFor();
  assert.equal(saved(h).mcpServers.there.cwd, undefined);
});

// S1-86
story('what is not shown stays as it is when something else is changed', { servers: { s: { ...example, env: { TOKEN: 'hush', MODE: 'a' } } } }, async (page, h) => {
  await go(page, 'configure/s');
  const token = page.getByLabel('Value of TOKEN');
  assert.equal(await token.getAttribute('placeholder'), 'unchanged');
  assert.equal(await token.inputValue(), '');
  await page.getByLabel('Value of MODE').fill('b');
  await page.getByText('More', { exact: true }).click();
  await page.getByLabel('Timeout of a call, in seconds').fill('7');
  await save(page).click();
  await page.getByText('s is saved.').waitFor();
  // Variables can make another program of it: from now on it is one that came by REST.
  assert.deepEqual(saved(h).mcpServers.s, { ...example, env: { TOKEN: 'hush', MODE: 'b' }, timeout_s: 7, origin: 'rest' });
});

story('leaving a form with changes has to be confirmed', { servers: { s: example } }, async (page) => {
  await go(page, 'configure/s');
  await page.getByLabel('Display name').fill('Changed');
  await page.getByRole('link', { name: 'Tools', exact: true }).click();
  await leaving(page).getByRole('button', { name: 'Stay' }).click();
  assert.match(page.url(), /#\/configure\/s$/);
  assert.equal(await page.getByLabel('Display name').inputValue(), 'Changed');
  await page.goBack();
  await leaving(page).getByRole('button', { name: 'Leave' }).click();
  await page.getByRole('button', { name: 'Save' }).waitFor({ state: 'detached' });
  await go(page, 'configure/s');
  await page.getByLabel('Display name').waitFor();
  await page.getByRole('link', { name: 'Tools', exact: true }).click();
  await page.waitForFunction(() => document.title.startsWith('Tools'));
});

test('a server that another file defines can only be looked at', async () => {
  const h = await serve({ servers: {} });
  const page = await visit(h);
  try {
    await h.ask('/api/mcp-clients/connect', 'POST', { name: 'elsewhere', ...example });
    await go(page, 'configure/elsewhere');
    await page.getByRole('note').getByText(/This server is defined/).waitFor();
    assert.ok(await page.getByLabel('Command line').isDisabled());
    assert.ok(await save(page).isDisabled());
  } finally {
    await page.context().close();
    await h.stop();
  }
});

story('a test that takes long is cancelled, and leaves no process behind', {}, async (page, h) => {
  await go(page, 'add');
  const seconds = `${process.pid}.987`; // nobody else's
  await field(page).fill(JSON.stringify({ command: 'sleep', args: [seconds] }));
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByRole('button', { name: 'Test connection' }).click();
  const left = () => fs.readdirSync('/proc').some((pid) => {
    try {
      return fs.readFileSync(`/proc/${pid}/cmdline`, 'utf8').includes(seconds);
    } catch {
      return false;
    }
  });
  await until(left, 'it runs');
  await page.getByRole('button', { name: 'Cancel test' }).click();
  await page.getByRole('button', { name: 'Test connection' }).waitFor();
  await until(() => !left(), 'it is gone');
  assert.deepEqual((await h.ask('/api/servers')).servers, []);
});

story('a test that fails says what the server printed', {}, async (page) => {
  await go(page, 'add');
  await field(page).fill('"bad": {"command": "sh", "args": ["-c", "echo \'<b>no license</b>\' >&2; exit 3"]}');
  await page.getByRole('button', { name: 'Next' }).click();
  await page.getByRole('button', { name: 'Test connection' }).click();
  const region = page.getByRole('region', { name: 'Test connection' });
  await region.getByRole('alert').getByText('<b>no license</b>').first().waitFor();
});

story('a filter is built by its form, refused by its JSON, saved and removed', { servers: { one: example, two: example }, allow: [REFUSED] }, async (page, h) => {
  await stateOf(h, 'one', 'connected');
  await stateOf(h, 'two', 'connected');
  await go(page, 'modes?new=1');
  await page.getByLabel('Name', { exact: true }).fill('Only echo');
  assert.equal(await page.getByLabel('Id', { exact: true }).inputValue(), 'only-echo');
  await page.getByLabel('Kind of filter', { exact: true }).selectOption('and');
  await page.getByLabel('Kind of filter, part 1', { exact: true }).selectOption('tools');
  await page.getByLabel('Tools of filter, part 1, one per line').fill('echo');
  await page.getByText(/Matches 2 of \d+ tools/).waitFor();
  await page.getByRole('button', { name: '+ Add a part' }).click();
  await page.getByRole('group', { name: 'filter, part 2' }).getByLabel('two').check();
  await page.getByText(/Matches 1 of \d+ tools/).waitFor();
  await page.getByText('two/echo', { exact: true }).waitFor();

  const json = page.getByLabel('As JSON');
  const good = JSON.parse(await json.inputValue());
  assert.deepEqual(good, { and: [{ tools: ['echo'] }, { servers: ['two'] }] });
  await json.fill('{"and": [{"tool": []}]}');
  await page.getByText('and.0: "tool" is no kind of filter').waitFor();
  assert.ok(await save(page).isDisabled());
  await json.fill('{"pattern": "("}');
  await page.getByText(/not a usable pattern/).waitFor();
  assert.ok(await save(page).isDisabled());
  await json.fill(JSON.stringify(good));
  await save(page).click();
  await page.getByRole('link', { name: /Only echo/ }).click();
  await page.getByText(`${h.origin}/mcp/mode/only-echo`).waitFor();
  await page.getByText('patchbay mcp --mode only-echo').waitFor();

  await page.getByRole('button', { name: 'Delete…' }).click();
  await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
  await page.getByRole('link', { name: /Full Access/ }).waitFor();
  assert.equal((await h.ask('/api/modes')).modes.length, 1);
  await go(page, 'modes/full');
  await page.getByText('always there').waitFor();
  assert.equal(await page.getByRole('button', { name: 'Delete…' }).count(), 0);
});

story('settings are changed, checked, and put back', {}, async (page, h) => {
  await go(page, 'settings');
  const health = page.getByLabel('Health', { exact: true });
  await health.fill('-1');
  await page.getByText('Give 0 to 86,400.').waitFor();
  assert.ok(await save(page).isDisabled());
  await health.fill('12.5');
  await page.getByLabel('Reconnect jitter').check();
  await save(page).click();
  await page.getByText('It takes effect at once.', { exact: false }).last().waitFor();
  await until(() => saved(h).settings, 'it is saved');
  assert.deepEqual(saved(h).settings, { health_s: 12.5, reconnect_jitter: true });
  await page.getByRole('button', { name: 'Reset Health to its default' }).click();
  await save(page).click();
  await until(() => saved(h).settings.health_s === undefined, 'it is the default again');
  await page.getByRole('button', { name: 'Reload config' }).click();
  await page.getByText('The config has been read again.').waitFor();
});

await end();
