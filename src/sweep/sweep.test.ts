import assert from 'node:assert/strict';
import { test } from 'node:test';
import { WORLDS } from '../../test/contract/worlds.ts';
import { testLogger } from '../../test/support/call.ts';
import { eventually } from '../../test/support/eventually.ts';
import { USED } from '../../test/support/usage.ts';
import { dayOf } from '../core/days.ts';
import { SluiceError } from '../core/errors.ts';
import type { BucketFile, UploadRecord } from '../core/stores.ts';
import { UsageBatch } from '../core/usage-batch.ts';
import { mediaPath, thumbnailPath, wordsPath } from '../media/names.ts';
import { forgetExpired } from './expired.ts';
import { sweepLeftovers } from './leftovers.ts';
import { sweepRegularly } from './sweep.ts';

const HOUR = 60 * 60_000;
const hoursLater =
  (hours: number) =>
  (modified: number): number =>
    Date.now() + hours * HOUR - modified;
const usageDays = (): number => 0;
const requests = { forgetOld: async () => 0 };
const file = (path: string): BucketFile => ({ name: path, kind: 'text', path, size: 1, mimeType: 'text/markdown' });

for (const [name, open] of WORLDS) {
  test(`what a killed upload left goes, what buckets hold and what is young stays: ${name}`, async (context) => {
    const { buckets, uploads, files } = (await open(context)).store;
    const all = [
      'uploads/a',
      'buckets/one/kept.md',
      'buckets/one/lost.md',
      'buckets/one/small.webp',
      'buckets/two/x.md',
      'sent/file-kept/original',
      'sent/file-kept/text.md',
      'sent/file-lost/original',
    ];
    // Of a file that was sent piece by piece, and given up.
    await files.write('sending/given-up/000000000000', [Buffer.from('x')]);
    for (const path of [...all, 'media/1_cat.png']) await files.write(path, [Buffer.from('x')]);
    await buckets.put({ id: 'one', files: [{ ...file('buckets/one/kept.md'), thumbnail: 'buckets/one/small.webp' }] });
    await uploads.add({
      id: 'file-kept',
      owner: null,
      name: 'x',
      mimeType: 'text/plain',
      purpose: 'user_data',
      size: 1,
      createdAt: 0,
      expires: null,
      path: 'sent/file-kept/original',
    });
    const left = async (): Promise<string[]> => {
      const found: string[] = [];
      for (const folder of ['uploads', 'buckets', 'media', 'sent', 'sending']) {
        for await (const { path } of files.list(folder)) found.push(path);
      }
      return found.sort();
    };
    assert.equal(await sweepLeftovers({ buckets, uploads, files, age: hoursLater(0.9) }), 0);
    // An upload may take many hours, but none of its pieces does.
    assert.equal(await sweepLeftovers({ buckets, uploads, files, age: hoursLater(23) }), 1);
    assert.deepEqual(await left(), [...all, 'media/1_cat.png'].sort());
    assert.equal(await sweepLeftovers({ buckets, uploads, files, age: hoursLater(25) }), 4);
    assert.deepEqual(await left(), [
      'buckets/one/kept.md',
      'buckets/one/small.webp',
      'media/1_cat.png',
      'sent/file-kept/original',
      'sent/file-kept/text.md',
    ]);
  });

  test(`what cannot be removed keeps nothing else from going, and is told of: ${name}`, async (context) => {
    const { store } = await open(context);
    const { files, uploads, caches } = store;
    const stuck = ['sending/stuck/000000000000', 'uploads/stuck', 'sent/file-stuck/original'];
    for (const path of [...stuck, 'sending/z/000000000000', 'uploads/z', 'buckets/lost/x.md'])
      await files.write(path, [Buffer.from('x')]);
    const remove = files.delete.bind(files);
    context.mock.method(files, 'delete', async (path: string) => {
      if (path.includes('stuck')) throw new SluiceError('storage_failed', `${path} cannot be removed.`);
      return remove(path);
    });
    await assert.rejects(sweepLeftovers({ ...store, age: hoursLater(25) }), /sending\/stuck cannot be removed/);
    const folders = ['sending', 'uploads', 'buckets', 'sent'];
    const left = await Promise.all(folders.map((folder) => Array.fromAsync(files.list(folder))));
    assert.deepEqual(
      left.flat().map(({ path }) => path),
      stuck,
    );
    await remove('sending/stuck');
    await assert.rejects(sweepLeftovers({ ...store, age: hoursLater(25) }), /uploads\/stuck cannot be removed/);

    const about = { name: 'x', mimeType: 'text/plain', purpose: 'user_data', size: 1, createdAt: 0, expires: 1 };
    await uploads.add({ id: 'file-stuck', owner: null, ...about, path: 'sent/file-stuck/original' });
    await caches.put({ id: 'short', expires: 1, value: 'short' });
    const log = context.mock.fn(async () => 1);
    await assert.rejects(
      forgetExpired({ ...store, requests: { forgetOld: log }, usageDays }),
      /file-stuck cannot be removed/,
    );
    assert.equal(await caches.forgetExpired(2), 0, 'it is gone already');
    assert.equal(log.mock.callCount(), 1);
    context.mock.restoreAll();
    assert.equal(await forgetExpired({ ...store, requests: { forgetOld: async () => 2 }, usageDays }), 2);
  });

  test(`thumbnails go whose pictures are gone: ${name}`, async (context) => {
    const { buckets, uploads, files } = (await open(context)).store;
    const kept = ['1_cat_0123456789abcdef.png', '2_日本_0123456789abcdef.png'];
    for (const each of kept) await files.write(mediaPath(each), [Buffer.from('x')]);
    for (const each of [...kept, '3_dog_0123456789abcdef.png'])
      await files.write(thumbnailPath(each), [Buffer.from('x')]);
    const sweep = (hours: number) => sweepLeftovers({ buckets, uploads, files, age: hoursLater(hours) });
    // The thumbnail is stored first.
    assert.equal(await sweep(23), 0);
    assert.equal(await sweep(25), 1);
    const left = (await Array.fromAsync(files.list('thumbnails'))).map(({ path }) => path);
    assert.deepEqual(left.sort(), kept.map(thumbnailPath).sort());
    for (const each of kept) assert.notEqual(await files.stat(mediaPath(each)), undefined);
  });

  test(`words go by which pictures were found that are gone: ${name}`, async (context) => {
    const { buckets, uploads, files } = (await open(context)).store;
    const [kept, gone] = ['0123456789abcdef', 'fedcba9876543210'];
    await files.write(mediaPath(`1_cat_${kept}.png`), [Buffer.from('x')]);
    for (const words of ['cat', 'кошка'])
      for (const hash of [kept, gone]) await files.write(wordsPath(hash, words), []);
    const sweep = (hours: number) => sweepLeftovers({ buckets, uploads, files, age: hoursLater(hours) });
    assert.equal(await sweep(23), 0);
    assert.equal(await sweep(25), 2);
    const left = (await Array.fromAsync(files.list('words'))).map(({ path }) => path);
    assert.deepEqual(left.sort(), [wordsPath(kept, 'cat'), wordsPath(kept, 'кошка')].sort());
  });

  test(`what has expired leaves the disk, though nothing else of its kind comes: ${name}`, async (context) => {
    const { caches, responses, uploads, files, usage } = (await open(context)).store;
    const at = Date.now();
    const sent = (id: string, expires: number | null): UploadRecord => {
      const about = { name: 'x', mimeType: 'text/plain', purpose: 'user_data', size: 1, createdAt: at };
      return { id, owner: null, ...about, expires, path: `sent/${id}/original` };
    };
    for (const [id, expires] of [
      ['short', at + HOUR],
      ['long', at + 3 * HOUR],
    ] as const) {
      await caches.put({ id, expires, value: id });
      await responses.put({ id, owner: null, expires, body: {} });
    }
    // More than are removed at once.
    for (let n = 0; n < 60; n += 1) await uploads.add(sent(`file-short-${n}`, at + HOUR));
    for (const upload of [sent('file-long', at + 3 * HOUR), sent('file-kept', null)]) await uploads.add(upload);
    for (const id of ['file-short-0', 'file-long', 'file-kept'])
      await files.write(`sent/${id}/original`, [Buffer.from('x')]);
    const forget = (hours: number) =>
      forgetExpired({ caches, responses, uploads, files, usage, requests, usageDays, now: () => at + hours * HOUR });
    assert.equal(await forget(0.5), 0);
    assert.equal(await forget(2), 62);
    assert.equal(await forget(2), 0);
    for (const store of [caches, responses]) {
      assert.equal(await store.get('short'), undefined);
      assert.equal((await store.get('long'))?.id, 'long');
    }
    const left = (await Array.fromAsync(files.list('sent'))).map(({ path }) => path);
    assert.deepEqual(left.sort(), ['sent/file-kept/original', 'sent/file-long/original']);
    assert.equal(await uploads.get('file-short-0'), undefined);
  });

  test(`usage is forgotten after as many days as it is to be kept, and no earlier by a clock that jumps: ${name}`, async (context) => {
    const { store } = await open(context);
    const now = Date.now();
    const old = [100, 8, 6, 0].map((days) => now - days * 24 * HOUR);
    for (const time of old) await store.usage.add(UsageBatch.of({ ...USED, time }));
    const kept = async (): Promise<boolean[]> => {
      const days = await Promise.all(old.map((time) => Array.fromAsync(store.usage.day(dayOf(time)))));
      return days.map(({ length }) => length === 1);
    };
    let days = 0;
    const forget = () => forgetExpired({ ...store, requests, usageDays: () => days });
    assert.equal(await forget(), 0);
    assert.deepEqual(await kept(), [true, true, true, true]);
    days = 7;
    assert.equal(await forget(), 4);
    assert.deepEqual(await kept(), [false, false, true, true]);
    context.mock.method(Date, 'now', () => now + 1_000 * 24 * HOUR);
    assert.equal(await forget(), 0);
    assert.deepEqual(await kept(), [false, false, true, true]);
  });

  test(`days of the dashboard are forgotten at once, and nothing is asked of those that are not there: ${name}`, async (context) => {
    const { store } = await open(context);
    const { caches } = store;
    const now = Date.now();
    const idOf = (days: number): string => `observed-day ${dayOf(now - days * 24 * HOUR)}`;
    const others = ['observed-dax', 'observed-daz', 'request-log'];
    for (const id of [...[1_000, 399, 8, 6, 0].map(idOf), ...others])
      await caches.put({ id, expires: now + HOUR, value: id });
    const asked: string[] = [];
    const watched = new Proxy(caches, {
      get(target, name) {
        asked.push(String(name));
        const method: unknown = Reflect.get(target, name);
        return typeof method === 'function' ? method.bind(target) : method;
      },
    });
    assert.equal(await forgetExpired({ ...store, requests, caches: watched, usageDays: () => 7 }), 3);
    assert.deepEqual(asked, ['forgetExpired', 'deleteBetween']);
    const kept = [...[6, 0].map(idOf), ...others];
    for (const id of kept) assert.equal((await caches.get(id))?.id, id);
    for (const id of [1_000, 399, 8].map(idOf)) assert.equal(await caches.get(id), undefined);
  });

  test(`what expires stays on the disk when the clock jumps far ahead for a moment: ${name}`, async (context) => {
    const { store } = await open(context);
    const { caches, responses, uploads } = store;
    const now = Date.now();
    const expires = now + HOUR;
    const about = { name: 'x', mimeType: 'text/plain', purpose: 'user_data', size: 1, createdAt: now };
    await uploads.add({ id: 'file-short', owner: null, ...about, expires, path: 'sent/file-short/original' });
    await caches.put({ id: 'short', expires, value: 1 });
    await responses.put({ id: 'short', owner: null, expires, body: {} });
    const jump = context.mock.method(Date, 'now', () => now + 1_000 * 24 * HOUR);
    assert.equal(await forgetExpired({ ...store, requests, usageDays }), 0);
    // Writing forgets, too, now and then.
    const later = Date.now() + HOUR;
    for (let n = 0; n < 64; n += 1) {
      await caches.put({ id: 'other', expires: later, value: 1 });
      await responses.put({ id: 'other', owner: null, expires: later, body: {} });
    }
    for (const records of [caches, responses]) assert.equal(await records.get('short'), undefined, 'nobody gets it');
    jump.mock.restore();
    for (const records of [caches, responses]) assert.equal((await records.get('short'))?.id, 'short');
    assert.equal((await uploads.get('file-short'))?.id, 'file-short');
  });

  test(`what has expired makes room on a full disk: ${name}`, async (context) => {
    const { caches, responses, uploads, files, usage } = (await open(context)).store;
    const path = 'sent/file-short/original';
    const about = { name: 'x', mimeType: 'text/plain', purpose: 'user_data', size: 1, createdAt: 0, expires: 1 };
    await uploads.add({ id: 'file-short', owner: null, ...about, path });
    await files.write(path, [Buffer.from('x')]);
    const onFullDisk = {
      async forgetExpired(now: number) {
        if ((await files.stat(path)) !== undefined) throw new SluiceError('storage_failed', 'The disk is full.');
        return caches.forgetExpired(now);
      },
      deleteBetween: caches.deleteBetween.bind(caches),
    };
    assert.equal(await forgetExpired({ caches: onFullDisk, responses, uploads, files, usage, requests, usageDays }), 1);
  });

  test(`it is looked for soon after the start, and from then on every hour: ${name}`, async (context) => {
    const { store } = await open(context);
    context.mock.timers.enable({ apis: ['setTimeout', 'setInterval'] });
    let told = Promise.withResolvers<void>();
    const caches = {
      async forgetExpired() {
        told.resolve();
        return 0;
      },
      deleteBetween: async () => 0,
    };
    const sweep = sweepRegularly({ ...store, requests, usageDays, caches }, testLogger());
    context.after(() => sweep.stop());
    for (const waited of [60_000, HOUR - 60_000, HOUR]) {
      context.mock.timers.tick(waited);
      await told.promise;
      told = Promise.withResolvers<void>();
    }
    sweep.stop();
    const looked = context.mock.method(store.uploads, 'expired');
    context.mock.timers.tick(48 * HOUR);
    assert.equal(looked.mock.callCount(), 0, 'it has an end');
  });

  test(`so is what nobody has any more, every day, and the log tells: ${name}`, async (context) => {
    const { store } = await open(context);
    const { files } = store;
    const log = testLogger();
    const tells = (level: string, message: string, times: number) =>
      eventually(message, () => {
        const said = log.lines.filter((line) => line.level === level && line.message === message);
        return said.length === times;
      });
    context.mock.timers.enable({ apis: ['setInterval', 'setTimeout'] });
    const sweep = sweepRegularly({ ...store, requests, usageDays, age: hoursLater(25) }, log);
    context.after(() => sweep.stop());
    for (const [times, waited] of [60_000, 24 * HOUR - 60_000].entries()) {
      await files.write('uploads/a', [Buffer.from('x')]);
      context.mock.timers.tick(waited);
      await tells('info', 'removed files that nobody has any more', times + 1);
      assert.deepEqual(await Array.fromAsync(files.list('uploads')), []);
    }
    context.mock.method(files, 'list', () => {
      throw new SluiceError('storage_failed', 'The disk is gone.');
    });
    context.mock.timers.tick(24 * HOUR);
    await tells('warn', 'could not remove files that nobody has any more', 1);
    await tells('info', 'removed files that nobody has any more', 2);
  });
}
