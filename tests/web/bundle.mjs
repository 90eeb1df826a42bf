// The page is one small bundle, made of nothing but what the program holds.
import http from 'node:http';
import { assert, end, serve, test } from './lib.mjs';

const LIMIT = 200 * 1024;

/** One GET as a browser asks, without undoing what came. */
const get = (url) =>
  new Promise((yes, no) =>
    http.get(url, { headers: { 'Accept-Encoding': 'gzip' } }, (answer) => {
      const parts = [];
      answer.on('data', (d) => parts.push(d)).on('end', () => yes({ status: answer.statusCode, headers: answer.headers, body: Buffer.concat(parts) }));
    }).on('error', no),
  );

test('page, script, style and icon together are under 200 KB as they are sent', async () => {
  const h = await serve();
  try {
    let bytes = 0;
    for (const path of ['/', '/console.js', '/console.css', '/console.svg']) {
      const { status, headers, body } = await get(h.origin + path);
      assert.equal(status, 200, path);
      if (path !== '/console.svg') assert.equal(headers['content-encoding'], 'gzip', path);
      bytes += body.length;
    }
    console.log(`# ${bytes} bytes`);
    assert.ok(bytes < LIMIT, `${bytes} bytes`);
  } finally {
    await h.stop();
  }
});

await end();
