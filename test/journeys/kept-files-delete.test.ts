import assert from 'node:assert/strict';
import { once } from 'node:events';
import { get, type IncomingMessage } from 'node:http';
import { after, before, describe, test } from 'node:test';
import { eventually } from '../support/eventually.ts';
import { dataOf, slowUpload, textOf } from './kept-files-world.ts';
import { at, filesBelow, type KeptWorld, openKept, pick, remove, statusOf, told, upload } from './kept-world.ts';

/** More than the connection holds, so that whoever does not read it to its end stops the answer in its middle. */
const LONG = 'long '.repeat(4_000_000);

describe('reading a bucket that goes afterwards', { timeout: 120_000 }, () => {
  let world: KeptWorld;
  before(async () => {
    // Whoever waits for an upload to go on waits for ever.
    world = await openKept('limits: { clientBodyIdleMs: 600000 }');
  });
  after(() => world.close());

  const stays = (id: string): Promise<boolean> =>
    eventually('the log says that it stays', () => world.logged().includes(`"bucket":"${id}"}`));

  test('a reader that leaves in the middle of the text loses nothing', async () => {
    await upload(world, 'left', ['long.txt', LONG], ['short.txt', 'unread']);
    const reading = await opened(at(world, 'files/left?delete_files=true'));
    await once(reading, 'data');
    reading.destroy();
    await stays('left');
    assert.ok((await textOf(world, 'left')).includes('unread'));
  });

  test('nor does one that leaves while an upload is watched', async () => {
    await upload(world, 'watched', ['old.txt', 'unread']);
    const slow = slowUpload(at(world, 'files/watched'));
    slow.begin('new.txt');
    const reading = await eventually('the upload is watched', async () => {
      const response = await opened(at(world, 'files/watched/stream?delete_files=true'));
      if (String(await once(response, 'data')).includes('"convert"')) return response;
      response.destroy();
      return undefined;
    });
    reading.destroy();
    await stays('watched');
    assert.equal(await slow.end('end'), 200);
    assert.match(await textOf(world, 'watched'), /unread[\s\S]*the end/);
  });

  test('what comes while the text is read stays, for nobody has read it', async () => {
    await upload(world, 'later', ['long.txt', LONG]);
    const reading = await opened(at(world, 'files/later?delete_files=true'));
    await upload(world, 'later', ['late.txt', 'late']);
    const text = await drained(reading);
    assert.ok(text.endsWith('long\n<!-- End -->\n\n'));
    assert.equal(await textOf(world, 'later'), '<!-- File: late.txt -->\nlate\n<!-- End -->\n\n');
  });

  for (const [what, before] of [
    ['its first upload', []],
    ['a further one', [['old.txt', 'old'] as const]],
  ] as const) {
    test(`a bucket that is deleted while ${what} runs does not come back with it`, async () => {
      const id = `deleted-${before.length}`;
      if (before.length > 0) await upload(world, id, ...before);
      const slow = slowUpload(at(world, `files/${id}`));
      slow.part('one.txt', 'first');
      slow.begin('two.txt');
      await eventually('the first file is taken in', () => filesBelow(world, `buckets/${id}`).length > before.length);
      assert.equal((await told(remove(at(world, `files/${id}`)))).status, 200);
      for (const again of [remove, fetch]) {
        assert.deepEqual(pick(await told(again(at(world, `files/${id}`)))), [404, 'not_found']);
      }
      // Whoever begins after the deletion makes a new one.
      await upload(world, id, ['later.txt', 'later']);
      // Though its second file has not come to an end.
      assert.equal(await slow.answered, 409);
      assert.equal(await textOf(world, id), '<!-- File: later.txt -->\nlater\n<!-- End -->\n\n');
      assert.equal(filesBelow(world, `buckets/${id}`).length, 1);
      assert.deepEqual(filesBelow(world, 'uploads'), []);
    });
  }

  test('a bucket that is deleted after one of two uploads has ended does not come back with the other', async () => {
    const slow = slowUpload(at(world, 'files/two'));
    slow.part('one.txt', 'first');
    slow.begin('two.txt');
    await eventually('the first file is taken in', () => filesBelow(world, 'buckets/two').length > 0);
    await upload(world, 'two', ['other.txt', 'other']);
    assert.equal((await told(remove(at(world, 'files/two')))).status, 200);
    assert.equal(await slow.answered, 409);
    assert.deepEqual(pick(await told(fetch(at(world, 'files/two')))), [404, 'not_found']);
    assert.deepEqual(filesBelow(world, 'buckets/two'), []);
  });

  test('HEAD deletes nothing', async () => {
    await upload(world, 'head', ['a.txt', 'stays']);
    for (const path of ['files/head', 'files/head/stream']) {
      assert.equal(await statusOf(at(world, `${path}?delete_files=true`), { method: 'HEAD' }), 200);
      assert.match(await textOf(world, 'head'), /stays/, path);
    }
  });

  test('a bucket that goes while it is read is no whole answer', async () => {
    await upload(world, 'gone', ['long.txt', LONG], ['short.txt', 'missed']);
    const reading = await opened(at(world, 'files/gone'));
    assert.equal((await told(remove(at(world, 'files/gone')))).status, 200);
    await assert.rejects(drained(reading), { code: 'ECONNRESET' });
    assert.match(world.logged(), /The bucket was deleted in the meantime/);
  });

  test('all of it goes with the last that was read, also of the event form', async () => {
    await upload(world, 'all', ['a.txt', 'abc']);
    const events = dataOf(await (await fetch(at(world, 'files/all/stream?delete_files=true'))).text());
    assert.deepEqual(events.slice(-2), [{ action: 'delete_files' }, { action: 'done', size: 3 }]);
    assert.deepEqual(pick(await told(fetch(at(world, 'files/all')))), [404, 'not_found']);
  });
});

function opened(url: string): Promise<IncomingMessage> {
  return new Promise((resolve, reject) => {
    get(url, { agent: false }, resolve).on('error', reject);
  });
}

/** All of an answer; throws when it was cut. */
async function drained(response: IncomingMessage): Promise<string> {
  let text = '';
  for await (const piece of response.setEncoding('utf8')) text += piece;
  return text;
}
