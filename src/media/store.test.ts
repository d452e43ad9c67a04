import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, test } from 'node:test';
import sharp from 'sharp';
import { testLogger } from '../../test/support/call.ts';
import { temporaryFolder } from '../../test/support/config-folder.ts';
import { plainServer } from '../../test/support/plain-server.ts';
import { temporaryFiles } from '../../test/support/stores.ts';
import { SluiceError } from '../core/errors.ts';
import type { FileInfo, Files } from '../core/stores.ts';
import { createGuardedFetch } from '../outbound/guarded-fetch.ts';
import { DiskFiles } from '../stores/disk/files.ts';
import { thumbnailPath } from './names.ts';
import { createMediaStore } from './store.ts';

const NOW = 1_700_000_000;
const fetch = createGuardedFetch({ isPublic: () => true });

function store(files: Files) {
  return createMediaStore(files, fetch, () => NOW * 1_000);
}

const picture = (width: number, height: number, orientation?: number): Promise<Buffer> => {
  const image = sharp({ create: { width, height, channels: 3, background: 'teal' } }).jpeg();
  return (orientation === undefined ? image : image.withMetadata({ orientation })).toBuffer();
};

const hashOf = (bytes: Uint8Array): string => createHash('sha256').update(bytes).digest('hex').slice(0, 16);
const MP3 = Buffer.from('\xff\xfb\x90\x64 sound', 'latin1');

async function readBack(files: Files, path: string): Promise<Buffer> {
  const opened = await files.open(path);
  assert.ok(opened !== undefined, path);
  return Buffer.concat(await Array.fromAsync(opened.body));
}

describe('saving media', () => {
  test('a picture: name, size as shown, thumbnail without metadata', async (context) => {
    const files = temporaryFiles(context);
    const bytes = await picture(1200, 600, 6);
    const saved = await store(files).save(bytes, { tags: ['flux', '16:9'], alt: 'A red cat' });
    const name = `${NOW}_flux+16_9+A_red_cat_${hashOf(bytes)}.jpg`;
    assert.deepEqual(saved, {
      name,
      path: `/media/${name}`,
      kind: 'image',
      mimeType: 'image/jpeg',
      size: bytes.length,
      width: 600,
      height: 1200,
    });
    assert.ok((await readBack(files, `media/${name}`)).equals(bytes));
    const thumbnail = await sharp(await readBack(files, thumbnailPath(name))).metadata();
    assert.deepEqual([thumbnail.format, thumbnail.width, thumbnail.height], ['webp', 200, 400]);
    assert.equal(thumbnail.exif, undefined);
  });

  test('a small picture is its own thumbnail', async (context) => {
    const files = temporaryFiles(context);
    const { name } = await store(files).save(await picture(400, 300));
    assert.equal(await files.stat(thumbnailPath(name)), undefined);
  });

  test('sound from a data: URI, whatever type it claims', async (context) => {
    const files = temporaryFiles(context);
    const saved = await store(files).save(`data:image/png;base64,${MP3.toString('base64')}`, { tags: ['tts'] });
    assert.deepEqual([saved.kind, saved.mimeType, saved.width], ['audio', 'audio/mpeg', undefined]);
    assert.equal(saved.name, `${NOW}_tts_${hashOf(MP3)}.mp3`);
  });

  test('the same content is kept once, also when it comes several times at once', async (context) => {
    const files = temporaryFiles(context);
    const media = store(files);
    const saved = await Promise.all(['a', 'b', 'c'].map((alt) => media.save(MP3, { alt })));
    const again = await media.save(MP3, { alt: 'd' });
    assert.equal(new Set([...saved, again].map(({ name }) => name)).size, 1);
    assert.equal((await Array.fromAsync(files.list('media'))).length, 1);
    const restarted = createMediaStore(files, fetch);
    const later = await restarted.save(MP3, { alt: 'after a restart' });
    assert.equal(later.name, again.name);
    for (const words of ['a', 'b', 'c', 'd', 'restart']) assert.equal(await restarted.search(words), again.name, words);
  });

  test('words are taken as long as they can be looked through, and other processes are told of them', async (context) => {
    const files = temporaryFiles(context);
    const other = store(files);
    const media = createMediaStore(
      files,
      fetch,
      () => NOW * 1_000,
      // They are some way off.
      async (change) => {
        await new Promise(setImmediate);
        await other.noticed(change);
      },
    );
    assert.equal(await other.search('first'), undefined);
    // It may have been deleted meanwhile.
    await other.noticed({ name: `${NOW}_gone_0123456789abcdef.mp3`, words: 'x' });
    const { name } = await media.save(MP3, { alt: 'first' });
    assert.equal(await other.search('first'), name);
    await media.save(MP3, { alt: 'second' });
    assert.equal(await other.search('second'), name);
    for (let time = 100; time < 250; time += 1) await media.save(MP3, { alt: `${time}_${'x'.repeat(90)}` });
    const found = await Promise.all(
      Array.from({ length: 150 }, (_, at) => Promise.all([media, other].map((each) => each.search(`${100 + at}_x`)))),
    );
    const taken = found.filter(([here]) => here === name).length;
    assert.ok(taken > 90 && taken < 110, `${taken}`);
    for (const [here, there] of found) assert.equal(here, there);
    assert.equal((await Array.fromAsync(files.list('words'))).length, taken + 1);
    await media.delete(name);
    assert.equal((await Array.fromAsync(files.list('words'))).length, 0);
    // It may come once more within the same second.
    assert.equal((await media.save(MP3, { alt: 'first' })).name, name);
    assert.equal(await other.search('first'), name);
    assert.equal(await other.search('100_x'), undefined);
  });

  /** Files of which no words are kept as long as the disk is full. */
  function disk(files: Files) {
    const state = { isFull: true };
    const full: Files = {
      async write(path, body, options) {
        if (state.isFull && path.startsWith('words/')) throw new SluiceError('storage_failed', 'The disk is full.');
        return files.write(path, body, options);
      },
      stat: (path) => files.stat(path),
      open: (path, range) => files.open(path, range),
      list: (folder) => files.list(folder),
      delete: (path) => files.delete(path),
    };
    return { state, media: store(full) };
  }

  test('words that found no place on the disk are written when they come again', async (context) => {
    const files = temporaryFiles(context);
    const { state, media } = disk(files);
    const { name } = await media.save(MP3, { alt: 'first' });
    for (state.isFull of [true, true, false, false]) {
      await media.save(MP3, { alt: 'second' });
      assert.equal(await media.search('second'), name);
    }
    assert.equal(await store(files).search('second'), name);
  });

  test('of words that found no place only the latest thousand are noted', async (context) => {
    const files = temporaryFiles(context);
    const { state, media } = disk(files);
    await media.save(MP3, { alt: 'first' });
    for (let time = 1_000; time <= 2_000; time += 1) await media.save(MP3, { alt: `w${time}` });
    state.isFull = false;
    for (const alt of ['w1000', 'w1001', 'w2000']) await media.save(MP3, { alt });
    const written = await Array.fromAsync(files.list('words'));
    assert.deepEqual(written.map(({ path }) => path.split('/').at(-1)).sort(), ['w1001', 'w2000']);
  });

  test('words that are names of devices on Windows are no names of files', async (context) => {
    const files = temporaryFiles(context);
    const { name } = await store(files).save(MP3, { alt: 'first' });
    const words = ['con', 'NUL', 'com1', 'lpt9.txt', 'aux.b.c', 'console'];
    for (const alt of words) await store(files).save(MP3, { alt });
    const stored = (await Array.fromAsync(files.list('words'))).map(({ path }) => path.split('/').at(-1) ?? '');
    assert.deepEqual(stored.sort(), ['=NUL', '=aux.b.c', '=com1', '=con', '=lpt9.txt', 'console']);
    for (const each of words) assert.equal(await store(files).search(each), name, each);
  });

  test('words stay where a name is deleted that another file with this content has not', async (context) => {
    const files = temporaryFiles(context);
    const media = store(files);
    const { name } = await media.save(MP3, { alt: 'first' });
    await media.save(MP3, { alt: 'second' });
    assert.equal(await media.delete(name.replace('first', 'other')), false);
    assert.equal(await store(files).search('second'), name);
  });

  test('words of any script are found, also after a restart, and ASCII on the disk', async (context) => {
    const files = temporaryFiles(context);
    const saved = await store(files).save(await picture(900, 30), { alt: 'Красная кошка' });
    assert.match(saved.name, /^\d+_Красная_кошка_/);
    assert.equal(decodeURIComponent(saved.path), `/media/${saved.name}`);
    assert.match(saved.path, /^[\x21-\x7e]+$/);
    const [stored] = await Array.fromAsync(files.list('media'));
    assert.match(stored?.path ?? '', /^media\/[\w=]+\.jpg$/);
    const media = store(files);
    assert.equal(await media.search('КОШКА'), saved.name);
    assert.deepEqual(
      (await media.list({ limit: 5 })).media.map(({ name }) => name),
      [saved.name],
    );
    assert.ok(await media.delete(saved.name));
    assert.deepEqual(await Array.fromAsync(files.list('thumbnails')), []);
    assert.equal(await media.search('кошка'), undefined);
  });

  test('lists what is there, in pages, and leaves out what was taken away behind our back', async (context) => {
    const files = temporaryFiles(context);
    let now = NOW;
    const media = createMediaStore(files, fetch, () => now * 1_000);
    const names: string[] = [];
    for (const alt of ['cat one', 'cat two', 'dog', 'cat three']) {
      const bytes = await picture(20 + names.length, 10);
      names.unshift((await media.save(bytes, { alt })).name);
      now += 1;
    }
    const [three = '', dog = '', two = '', one = ''] = names;
    const first = await media.list({ limit: 2 });
    assert.deepEqual(
      first.media.map(({ name }) => name),
      [three, dog],
    );
    const [newest] = first.media;
    const info = await files.stat(`media/${three}`);
    assert.deepEqual(newest, {
      name: three,
      kind: 'image',
      mimeType: 'image/jpeg',
      size: info?.size,
      createdAt: (NOW + 3) * 1_000,
    });
    await files.delete(`media/${two}`);
    await media.delete(dog);
    const second = await media.list({ limit: 2, before: first.next ?? '' });
    assert.deepEqual([second.media.map(({ name }) => name), second.next], [[one], undefined]);
    const cats = await media.list({ limit: 2, text: 'cat', kind: 'image' });
    assert.deepEqual([cats.media.map(({ name }) => name), cats.next], [[three, one], undefined]);
    await files.delete(`media/${three}`);
    const next = await media.list({ limit: 1 });
    assert.deepEqual([next.media.map(({ name }) => name), next.next], [[one], undefined]);
    assert.deepEqual(await media.list({ limit: 2, kind: 'video' }), { media: [] });
    for (const before of ['', 'x', '12', '12/', '/x.png'])
      await assert.rejects(media.list({ limit: 2, before }), /'before'/, before);
  });

  test('whoever sees a picture finds its thumbnail too', async (context) => {
    const files = temporaryFiles(context);
    const write = files.write.bind(files);
    const seen: string[] = [];
    context.mock.method(files, 'write', async (...given: Parameters<typeof write>) => {
      const [path] = given;
      seen.push(`begins ${path.split('/')[0]}`);
      const info = await write(...given);
      seen.push(`has ${path.split('/')[0]}`);
      return info;
    });
    await store(files).save(await picture(900, 30));
    assert.deepEqual(seen, ['begins thumbnails', 'has thumbnails', 'begins media', 'has media']);
  });

  test('a file whose words cannot be removed is not deleted', async (context) => {
    const files = temporaryFiles(context);
    const media = store(files);
    const { name } = await media.save(MP3, { alt: 'first' });
    await media.save(MP3, { alt: 'second' });
    const remove = files.delete.bind(files);
    const stuck = context.mock.method(files, 'delete', async (path: string) => {
      if (path.startsWith('words/')) throw new SluiceError('storage_failed', 'It cannot be removed.');
      return remove(path);
    });
    await assert.rejects(media.delete(name), { code: 'storage_failed' });
    assert.equal(await media.search('second'), name);
    stuck.mock.restore();
    assert.equal(await media.delete(name), true);
    assert.equal((await media.save(MP3, { alt: 'first' })).name, name);
    assert.equal(await media.search('first'), name);
    assert.equal(await media.search('second'), undefined);
  });

  test('content that was deleted, here or behind our back, is kept anew', async (context) => {
    const files = temporaryFiles(context);
    const media = store(files);
    const { name } = await media.save(MP3, { alt: 'one' });
    assert.equal(await media.delete(name), true);
    assert.equal(await media.delete(name), false);
    assert.equal(await media.search('one'), undefined);
    const second = await media.save(MP3, { alt: 'two' });
    assert.notEqual(second.name, name);
    await files.delete(second.path.slice(1));
    const third = await media.save(MP3, { alt: 'three' });
    assert.ok(third.name.includes('three'));
    // That the second is gone is noticed now; its content is the third's.
    assert.equal(await media.search('two'), undefined);
    assert.equal((await media.save(MP3, { alt: 'four' })).name, third.name);
  });

  test('what is none of our media is refused', async (context) => {
    const files = temporaryFiles(context);
    const damaged = (await picture(800, 800)).subarray(0, 300);
    const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>');
    for (const bytes of [svg, Buffer.from('<!doctype html>'), Buffer.alloc(0), damaged]) {
      await assert.rejects(store(files).save(bytes), SluiceError);
    }
    assert.deepEqual(await Array.fromAsync(files.list('media')), []);
  });

  test('a picture with too many pixels is refused before it is unpacked', async (context) => {
    const flood = await sharp({ create: { width: 10_000, height: 10_000, channels: 3, background: 'white' } })
      .png({ compressionLevel: 9 })
      .toBuffer();
    await assert.rejects(store(temporaryFiles(context)).save(flood), /10000 × 10000 pixels/);
  });
});

describe('saving media from an address', () => {
  test('the time is that of the file, else of the answer, when it makes sense', async (context) => {
    const { url } = await plainServer(context, (request, response) => {
      const [time = '', date = ''] = (request.url ?? '').slice(1).split('/').map(decodeURIComponent);
      response.sendDate = false;
      response.writeHead(200, {
        'content-type': 'audio/mpeg',
        ...(time === '' ? {} : { 'last-modified': time }),
        ...(date === '' ? {} : { date }),
      });
      response.end(Buffer.concat([MP3, Buffer.from(`${time} ${date}`)]));
    });
    const secondsOf = async (time: string, date: string) => {
      const address = `${url}/${encodeURIComponent(time)}/${encodeURIComponent(date)}`;
      return Number((await store(temporaryFiles(context)).save(address)).name.split('_')[0]);
    };
    const sound = 'Tue, 14 Nov 2023 00:00:00 GMT';
    assert.equal(await secondsOf(sound, 'Mon, 13 Nov 2023 00:00:00 GMT'), Date.UTC(2023, 10, 14) / 1_000);
    for (const time of ['', 'soon', 'Thu, 01 Jan 1970 00:00:00 GMT', 'Fri, 01 Jan 2100 00:00:00 GMT']) {
      assert.equal(await secondsOf(time, ''), NOW, time);
      assert.equal(await secondsOf('', time), NOW, time);
      assert.equal(await secondsOf(time, sound), Date.UTC(2023, 10, 14) / 1_000, time);
    }
  });

  test('pages and errors are no media', async (context) => {
    const { url } = await plainServer(context, (request, response) => {
      if (request.url === '/page') response.writeHead(200, { 'content-type': 'text/html' }).end('<html>');
      else if (request.url === '/lie') response.writeHead(200, { 'content-type': 'image/png' }).end('<script>');
      else response.writeHead(404).end();
    });
    await assert.rejects(store(temporaryFiles(context)).save(`${url}/page`), /text\/html/);
    await assert.rejects(store(temporaryFiles(context)).save(`${url}/lie`), /no image, audio or video/);
    await assert.rejects(store(temporaryFiles(context)).save(`${url}/none`), /404/);
  });

  test('what servers call nothing, or bytes, is what its bytes are', async (context) => {
    const { url } = await plainServer(context, (request, response) => {
      const type = decodeURIComponent((request.url ?? '').slice(1));
      response.writeHead(200, type === '' ? {} : { 'content-type': type }).end(MP3);
    });
    for (const type of ['', 'application/octet-stream', 'binary/octet-stream', 'application/ogg', 'video/x']) {
      const { mimeType } = await store(temporaryFiles(context)).save(`${url}/${encodeURIComponent(type)}`);
      assert.equal(mimeType, 'audio/mpeg', type);
    }
  });

  test('private addresses are refused, but for the origin that is allowed', async (context) => {
    let hits = 0;
    const { url } = await plainServer(context, (_request, response) => {
      hits += 1;
      response.writeHead(200, { 'content-type': 'audio/mpeg' }).end(MP3);
    });
    const media = createMediaStore(temporaryFiles(context), createGuardedFetch());
    await assert.rejects(media.save(`${url}/a.mp3`), /public Internet/);
    assert.equal(hits, 0);
    await media.save(`${url}/a.mp3`, { allowedOrigins: [url] });
    assert.equal(hits, 1);
  });

  test('a large file passes through', async (context) => {
    const large = Buffer.concat([MP3, Buffer.alloc(10_000_000, 7)]);
    const { url } = await plainServer(context, (_request, response) => {
      response.writeHead(200, { 'content-type': 'application/octet-stream' }).end(large);
    });
    const files = temporaryFiles(context);
    const { path, size } = await store(files).save(url);
    assert.equal(size, large.length);
    assert.ok((await readBack(files, path.slice(1))).equals(large));
  });

  test('who gives up ends what is fetched, and keeps nothing', { timeout: 60_000 }, async (context) => {
    const begun = Promise.withResolvers<void>();
    const closed = Promise.withResolvers<void>();
    const { url } = await plainServer(context, (_request, response) => {
      response.on('close', () => closed.resolve());
      response.writeHead(200, { 'content-type': 'audio/mpeg' }).write(MP3, () => begun.resolve());
    });
    const files = temporaryFiles(context);
    const controller = new AbortController();
    const reason = new SluiceError('cancelled', 'gone');
    const saving = assert.rejects(store(files).save(url, { signal: controller.signal }), reason);
    await begun.promise;
    controller.abort(reason);
    await saving;
    await closed.promise;
    assert.deepEqual(await Array.fromAsync(files.list('media')), []);
  });

  test('who gives up while waiting keeps nothing', async (context) => {
    const files = temporaryFiles(context);
    const reason = new SluiceError('cancelled', 'gone');
    await assert.rejects(store(files).save(MP3, { signal: AbortSignal.abort(reason) }), reason);
    assert.deepEqual(await Array.fromAsync(files.list('media')), []);
  });
});

/** A folder of many names, which counts how often it is listed. */
class ManyFiles extends DiskFiles {
  listed = 0;
  readonly #count: number;

  constructor(folder: string, count: number) {
    super(folder, testLogger());
    this.#count = count;
  }

  override async *list(folder: string): AsyncIterable<FileInfo> {
    if (folder !== 'media') return yield* super.list(folder);
    this.listed += 1;
    for (let at = 0; at < this.#count; at += 1) {
      const hash = at.toString(16).padStart(16, '0');
      yield { path: `${folder}/${NOW + at}_flux+picture_${at}_${hash}.png`, size: 1, modified: 0 };
    }
    yield { path: `${folder}/sub/folder.png`, size: 1, modified: 0 };
    yield* super.list(folder);
  }

  override async stat(path: string): Promise<FileInfo | undefined> {
    return path.includes('flux+picture') ? { path, size: 1, modified: 0 } : super.stat(path);
  }
}

describe('searching stored media', () => {
  test('lists a folder of 100,000 files once, and sees new files at once', async (context) => {
    const files = new ManyFiles(temporaryFolder(context), 100_000);
    const media = store(files);
    assert.equal(await media.search('flux'), `${NOW + 99_999}_flux+picture_99999_000000000001869f.png`);
    for (let at = 0; at < 100; at += 1) {
      const hash = at.toString(16).padStart(16, '0');
      assert.equal(await media.search(`image+picture_${at}_${hash}`), `${NOW + at}_flux+picture_${at}_${hash}.png`);
    }
    const { name } = await media.save(MP3, { alt: 'brand new' });
    assert.equal(await media.search('audio+brand'), name);
    await media.delete(name);
    assert.equal(await media.search('audio+brand'), undefined);
    assert.equal(await media.search('folder'), undefined, 'only files directly in the folder');
    assert.equal(files.listed, 1);
  });

  test('a file that was taken away behind our back is not found', async (context) => {
    const files = temporaryFiles(context);
    const media = store(files);
    const { path, name } = await media.save(MP3, { alt: 'cat' });
    const other = await media.save(Buffer.concat([MP3, MP3]), { alt: 'cat' });
    assert.ok([name, other.name].includes((await media.search('cat')) ?? ''));
    await files.delete(path.slice(1));
    assert.equal(await media.search('cat'), other.name);
    assert.equal(await media.search('cat', { skip: 1 }), undefined);
  });

  test('min must be one of the terms; a listing that fails is tried again', async (context) => {
    for (const min of [0, 3, 1.5, -1]) {
      await assert.rejects(store(temporaryFiles(context)).search('a+b', { min }), (error) => {
        assert.ok(error instanceof SluiceError && error.code === 'invalid_request' && error.options.param === 'min');
        return true;
      });
    }
    const files = temporaryFiles(context);
    let isBroken = true;
    const list = files.list.bind(files);
    files.list = (folder) => {
      if (isBroken) throw new SluiceError('storage_failed', 'no disk');
      return list(folder);
    };
    const media = store(files);
    await assert.rejects(media.search('a'), /no disk/);
    isBroken = false;
    assert.equal(await media.search('a'), undefined);
  });
});
