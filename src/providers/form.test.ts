import assert from 'node:assert/strict';
import { test } from 'node:test';
import { toForm } from './form.ts';

test('a form says what it was made of, whatever stands in it', async () => {
  const bytes = Buffer.from([0, 13, 10, 45, 45, 255]);
  const name = 'a "b"\r\nc.png';
  const { contentType, body } = toForm([
    { name: 'prompt', text: 'one\ntwo\r\nthree\rü"' },
    { name: 'odd"\r\nname', text: '' },
    { name: 'image', bytes, mimeType: 'image/png', filename: name },
  ]);
  const form = await new Response(new Uint8Array(body), { headers: { 'content-type': contentType } }).formData();
  assert.deepEqual([...form.keys()], ['prompt', 'odd"\r\nname', 'image']);
  assert.equal(form.get('prompt'), 'one\ntwo\r\nthree\rü"');
  const file = form.get('image');
  assert.ok(file instanceof File);
  assert.deepEqual([file.name, file.type], [name, 'image/png']);
  assert.deepEqual(Buffer.from(await file.arrayBuffer()), bytes);
});
