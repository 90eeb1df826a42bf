// A server whose every word is an attack: it is shown as text, and the page stays as it is.
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { assert, end, go, stateOf, story } from './lib.mjs';

const evil = { command: process.execPath, args: [path.join(path.dirname(fileURLToPath(import.meta.url)), 'hostile_server.mjs')], display_name: '<b>evil</b>\u202E' };
const IMG = '<img src=x onerror="window.pwned=1">';

/** Nothing of the server became part of the page, nothing is wider than the page, no control is hidden in it. */
async function harmless(page) {
  const found = await page.evaluate(() => {
    const bad = [];
    for (const e of document.querySelectorAll('main *, dialog *')) {
      if (['SCRIPT', 'IFRAME', 'OBJECT', 'EMBED', 'BASE', 'META', 'LINK', 'STYLE', 'FORM'].includes(e.tagName) && !e.closest('form[class]')) bad.push(e.tagName);
      for (const a of e.attributes) {
        if (/^on/i.test(a.name)) bad.push(`${e.tagName} ${a.name}`);
        if (/^(href|src|action|formaction)$/.test(a.name) && !/^(#|\/|data:(image|audio)\/|https?:)/.test(a.value)) bad.push(`${a.name}=${a.value.slice(0, 60)}`);
        if (a.name === 'src' && /^data:image\/svg|^https?:/.test(a.value)) bad.push(`src=${a.value.slice(0, 60)}`);
      }
    }
    const hidden = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/.exec(document.body.innerText);
    if (hidden) bad.push(`U+${hidden[0].charCodeAt(0).toString(16)} in the text`);
    const drawer = document.querySelector('dialog[open]')?.getBoundingClientRect();
    if (drawer && (drawer.left < 0 || drawer.right > innerWidth)) bad.push('the drawer is cut off');
    const over = document.documentElement.scrollWidth - document.documentElement.clientWidth;
    if (over > 0) bad.push(`${over} px too wide`);
    return bad;
  });
  assert.deepEqual(found, [], page.url());
}

for (const width of [1280, 360]) {
  story(`a hostile server is text on every page, ${width} px wide`, { servers: { evil }, width }, async (page, h) => {
    await stateOf(h, 'evil', 'connected');
    await page.getByRole('button', { name: /<b>evil<\/b>⟨U\+202E⟩/ }).first().waitFor();
    await harmless(page);

    await go(page, 'servers/evil');
    await page.getByText(IMG).first().waitFor(); // what it says of itself
    await harmless(page);

    await go(page, 'tools');
    await page.getByText(IMG).first().waitFor();
    await harmless(page);
    for (const { definition } of (await h.ask('/api/tools')).tools) {
      await go(page, `tools/evil/${encodeURIComponent(definition.name)}`);
      await page.getByRole('button', { name: /^Call/ }).first().waitFor();
      await harmless(page);
    }

    await go(page, 'tools/evil/plain');
    await page.getByRole('button', { name: /^Call/ }).first().click();
    await page.getByText('javascript:window.pwned=7').first().waitFor();
    await harmless(page);

    await go(page, 'servers/evil/logs');
    await page.getByRole('dialog').getByText(IMG).first().waitFor();
    await harmless(page);
    await page.getByRole('dialog').getByRole('listitem').last().getByRole('button').click();
    await harmless(page);

    await go(page, 'resources');
    await page.getByText('javascript:window.pwned=9').first().waitFor();
    await harmless(page);
    await page.getByRole('list', { name: 'resources' }).getByRole('link').first().click();
    await page.getByRole('article', { name: 'Resource' }).getByText('window.pwned=2').last().waitFor();
    await harmless(page);
    await go(page, 'resources?kind=templates');
    await page.getByRole('list', { name: 'templates' }).getByRole('link').first().click();
    await page.getByRole('article', { name: 'Resource template' }).waitFor();
    await harmless(page);

    await go(page, 'prompts');
    await page.getByRole('list', { name: 'prompts' }).getByRole('link').first().click();
    const prompt = page.getByRole('article', { name: `Prompt ${IMG}` });
    await prompt.getByRole('textbox').fill(IMG);
    await prompt.getByRole('button', { name: 'Preview' }).click();
    await page.getByRole('region', { name: 'Messages' }).getByText(IMG).first().waitFor();
    await harmless(page);

    await go(page, 'calls');
    await page.getByRole('list', { name: 'Calls' }).getByText('plain').first().waitFor();
    await harmless(page);
    await go(page, 'modes?new=1');
    await page.getByText(/^Matches/).waitFor();
    await harmless(page);
    await go(page, 'configure/evil');
    await page.getByLabel('Display name').waitFor();
    await harmless(page);
  });
}

await end();
