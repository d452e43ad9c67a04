import assert from 'node:assert/strict';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { dataOf, listen, png, slowUpload } from './kept-files-world.ts';
import { at, filesBelow, type KeptWorld, openKept, pick, told, upload } from './kept-world.ts';

describe('events of buckets', { timeout: 60_000 }, () => {
  let world: KeptWorld;
  before(async () => {
    world = await openKept();
  });
  after(() => world.close());

  test('the event form, by path and by Accept: sizes, media, done, and the end', async () => {
    await upload(world, 'events', ['a.txt', 'abc'], ['b.txt', 'déf'], ['p.png', await png(10, 10)]);
    const expected = [
      { action: 'load', size: 3 },
      { action: 'load', size: 7 },
      { action: 'media', filename: 'p.png' },
      { action: 'done', size: 7 },
    ];
    for (const [url, headers] of [
      [at(world, 'files/events/stream'), {}],
      [at(world, 'files/events'), { accept: 'text/event-stream' }],
      [at(world, 'files/events'), { accept: 'text/plain;q=0.5, Text/Event-Stream' }],
    ] as const) {
      const response = await fetch(url, { headers });
      assert.equal(response.headers.get('content-type'), 'text/event-stream; charset=utf-8');
      const text = await response.text();
      assert.ok(!/^event:/m.test(text), 'the events have no name');
      assert.deepEqual(dataOf(text), expected);
      assert.ok(!text.includes('déf'), 'events never carry the text');
    }
  });

  test('a bucket may be called stream: its text is its text, and its events have their own path', async () => {
    await upload(world, 'stream', ['a.txt', 'abc']);
    const response = await fetch(at(world, 'files/stream?x=/stream'));
    assert.equal(response.headers.get('content-type'), 'text/plain; charset=utf-8');
    assert.match(await response.text(), /abc/);
    for (const path of ['files/stream/stream', 'files/stream/stream?delete_files=false', 'files/stream/str%65am'])
      assert.deepEqual(await listen(at(world, path)), [
        { action: 'load', size: 3 },
        { action: 'done', size: 3 },
      ]);
  });

  test('a bucket without a text is done with a size of 0, by which front ends know that there is none', async () => {
    await upload(world, 'pictures', ['blank.txt', ' \n'], ['p.png', await png(10, 10)]);
    assert.deepEqual(await listen(at(world, 'files/pictures/stream')), [
      { action: 'load', size: 0 },
      { action: 'media', filename: 'p.png' },
      { action: 'done', size: 0 },
    ]);
    assert.equal(await (await fetch(at(world, 'files/pictures'))).text(), '');
  });

  test('as a browser listens: messages, then the end', async () => {
    await upload(world, 'listen', ['a.txt', 'abc']);
    const messages = await listen(at(world, 'files/listen/stream'));
    assert.deepEqual(messages, [
      { action: 'load', size: 3 },
      { action: 'done', size: 3 },
    ]);
  });

  test('shows what happens while an upload runs', async () => {
    const slow = slowUpload(at(world, 'files/slow'));
    slow.part('one.txt', 'first');
    slow.begin('two.txt');
    const watching = await eventually('the upload is known', async () => {
      const response = await fetch(at(world, 'files/slow/stream'));
      if (response.status === 200) return response;
      await response.text();
      return undefined;
    });
    assert.ok(watching.body !== null);
    const reader = watching.body.getReader();
    const decoder = new TextDecoder();
    let seen = '';
    while (!seen.includes('"two.txt"')) {
      const { value, done } = await reader.read();
      assert.ok(!done, 'the stream waits for the upload');
      seen += decoder.decode(value, { stream: true });
    }
    assert.ok(!seen.includes('done'));
    assert.equal(await slow.end('second'), 200);
    for (let step = await reader.read(); !step.done; step = await reader.read()) seen += decoder.decode(step.value);
    assert.deepEqual(dataOf(seen).slice(-3), [
      { action: 'load', size: 5 },
      { action: 'load', size: 15 },
      { action: 'done', size: 15 },
    ]);
  });

  test('an upload that breaks off leaves nothing, and its watchers are told', async () => {
    const slow = slowUpload(at(world, 'files/broken'));
    slow.part('one.txt', 'first');
    slow.begin('two.txt');
    const watching = await eventually('the upload is known', async () => {
      const response = await fetch(at(world, 'files/broken/stream'));
      if (response.status === 200) return response;
      await response.text();
      return undefined;
    });
    slow.abort();
    // The failure is told, then the connection is cut.
    const text = await drained(watching);
    assert.match(text, /data: \{"error":\{"message":"Bucket directory not found/);
    assert.deepEqual(pick(await told(fetch(at(world, 'files/broken')))), [404, 'not_found']);
    await eventually('nothing is left of it', () => filesBelow(world, 'uploads').length === 0);
    assert.deepEqual(filesBelow(world, path.join('buckets', 'broken')), []);
  });

  test('a client that leaves while its file is read leaves nothing, and is no failure of ours', async () => {
    const slow = slowUpload(at(world, 'files/left'));
    slow.part('rows.csv', 'name,number,words\n'.repeat(300_000));
    slow.begin('next.txt');
    // It is in its place once all of it is there.
    await eventually('the file is there', () => filesBelow(world, 'uploads').length === 1);
    slow.abort();
    await eventually('nothing is left of it', () => filesBelow(world, 'uploads').length === 0);
    await eventually('its bucket is gone', async () => (await told(fetch(at(world, 'files/left')))).status === 404);
    assert.doesNotMatch(world.logged(), /failed unexpectedly/);
  });
});

/** All that a body brings before it ends or is cut. */
async function drained(response: Response): Promise<string> {
  let text = '';
  try {
    for await (const piece of response.body ?? []) text += Buffer.from(piece).toString();
  } catch {
    // cut
  }
  return text;
}
