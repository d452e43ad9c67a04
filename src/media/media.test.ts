import assert from 'node:assert/strict';
import { open } from 'node:fs/promises';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { collectBytes } from '../core/pieces.ts';
import { kindOf } from './kind.ts';
import { mediaMarkup } from './markup.ts';
import { MediaIndex, type MediaPageQuery, type MediaPlace, type MediaQuery, searchTerms } from './media-index.ts';
import { isMediaName, mediaName, nameOfStored, readMediaName, slugOf, storedName } from './names.ts';
import { spool } from './spool.ts';

const HASH = '0123456789abcdef';

describe('what bytes are', () => {
  const cases: readonly (readonly [string, string | undefined])[] = [
    ['\x89PNG\r\n\x1a\n', 'png'],
    ['\xff\xd8\xff\xe0\0\x10JFIF', 'jpg'],
    ['GIF89a', 'gif'],
    ['GIF87a', 'gif'],
    ['RIFF\x24\0\0\0WEBPVP8 ', 'webp'],
    ['RIFF\x24\0\0\0WAVEfmt ', 'wav'],
    ['RIFF\x24\0\0\0AVI LIST', 'avi'],
    ['RIFF\x24\0\0\0CDXA', undefined],
    ['fLaC\0\0\0\x22', 'flac'],
    [`OggS${'\0'.repeat(24)}OpusHead`, 'opus'],
    [`OggS${'\0'.repeat(24)}\x01vorbis`, 'ogg'],
    [`OggS${'\0'.repeat(24)}\x80theora`, 'ogv'],
    // What else is in the file may be said first.
    [`OggS${'\0'.repeat(24)}fishead${'\0'.repeat(57)}OggS${'\0'.repeat(24)}\x80theora`, 'ogv'],
    ['\x1a\x45\xdf\xa3\x9f\x42\x86\x81\x01\x42\x82\x84webm', 'webm'],
    ['\x1a\x45\xdf\xa3\x9f\x42\x86\x81\x01\x42\x82\x88matroska', 'mkv'],
    ['\0\0\x01\xba\x44', 'mpg'],
    ['\0\0\0\x18ftypmp42', 'mp4'],
    ['\0\0\0\x18ftypisom', 'mp4'],
    ['\0\0\0\x14ftypqt  ', 'mov'],
    ['\0\0\0\x08wide', 'mov'],
    ['\0\0\0\x08free\0', 'mov'],
    ['The wide river', undefined],
    ['\0\0\0\x18ftypM4A ', 'm4a'],
    ['\0\0\0\x18ftypavif', undefined],
    ['\0\0\0\x18ftypheic', undefined],
    ['ID3\x04\0', 'mp3'],
    ['\xff\xfb\x90\x64', 'mp3'],
    ['\xff\xf3\x40\xc4', 'mp3'],
    ['\xff\xf1\x50\x80', undefined], // AAC
    ['\xff\xfb\xf0\x64', undefined], // no such bit rate
    ['\xff\xeb\x90\x64', undefined], // no such version
    ['\xff\xfe<\0h\0t\0m\0l\0', undefined], // text in UTF-16
    ['<svg xmlns="http://www.w3.org/2000/svg">', undefined],
    ['<!doctype html><script>', undefined],
    ['%PDF-1.7', undefined],
    ['PK\x03\x04', undefined],
    ['MZ\x90\0', undefined],
    ['', undefined],
  ];
  for (const [text, expected] of cases) {
    test(`${JSON.stringify(text.slice(0, 24))} is ${expected ?? 'nothing of ours'}`, () => {
      assert.equal(kindOf(Buffer.from(text, 'latin1'))?.extension, expected);
    });
  }
});

describe('names', () => {
  test('follow the pattern, with tags before the alternative text', () => {
    const about = { tags: ['openai/gpt-image 1', '', '16:9'], alt: 'Un café à  Paris/?.' };
    assert.equal(
      mediaName(1_700_000_000, about, `${HASH}ffff`, 'png'),
      `1700000000_openai_gpt-image_1+16_9+Un_cafe_a_Paris_${HASH}.png`,
    );
    assert.equal(mediaName(1, {}, HASH, 'mp3'), `1_audio_${HASH}.mp3`);
    assert.equal(mediaName(1, { alt: '?!' }, HASH, 'png'), `1_image_${HASH}.png`);
  });

  test('keep the letters of every script, also of those with marks', () => {
    const cases: readonly (readonly [alt: string, slug: string])[] = [
      ['Красная кошка, ёж и йод', 'Красная_кошка,_ёж_и_йод'],
      ['漢字の猫。が', '漢字の猫_が'],
      ['한국어 고양이', '한국어_고양이'],
      ['बिल्ली', 'बिल्ली'],
      ['قطة حمراء', 'قطة_حمراء'],
      ['ein Übermut naïve', 'ein_Ubermut_naive'],
      ['❤️ cat 👩‍👩‍👧', 'cat'],
    ];
    for (const [alt, slug] of cases) {
      const name = mediaName(1, { alt }, HASH, 'png');
      assert.equal(name, `1_${slug}_${HASH}.png`.normalize('NFC'));
      assert.match(storedName(name), /^[\w.,+=-]+$/);
      assert.equal(nameOfStored(storedName(name)), name);
      assert.ok(isMediaName(name), name);
    }
  });

  test('are what they are on the disk, unless they are spelled as we do', () => {
    assert.equal(storedName('1_猫_a.png'), '1_=E7=8C=AB_a.png');
    // Not UTF-8, cut in the middle, ASCII, lower case: files that somebody else put there.
    for (const stored of ['a=FF.png', 'a=E7=8C.png', 'a=41.png', 'a=e7=8c=ab.png', 'a=b.png', 'a=C3=BCü.png'])
      assert.equal(nameOfStored(stored), stored);
    for (const name of ['../a.png', '.a.png', 'a/b.png', 'a b.png', 'a%2fb.png', 'a.txt', 'a', '', 'ü.png', '\0a.png'])
      assert.equal(isMediaName(name), false, name);
    // A file system takes no more.
    assert.equal(isMediaName(`${'a'.repeat(246)}.png`), true);
    for (const name of [`${'a'.repeat(247)}.png`, `a${'猫'.repeat(28)}.png`])
      assert.equal(isMediaName(name), false, name);
  });

  test('never leave their place, whatever the text', () => {
    for (const alt of [
      '../../etc/passwd',
      '..',
      '%2e%2e%2fx',
      '\0',
      'a\\b',
      'a..b',
      'x'.repeat(500),
      '.hidden',
      '-rf',
      'é'.repeat(99),
      '猫'.repeat(99),
    ]) {
      const name = mediaName(1_700_000_000, { alt }, HASH, 'png');
      assert.match(name, /^1700000000_[\p{L}\p{N}][\p{L}\p{N}_.,+-]*_[0-9a-f]{16}\.png$/u, alt);
      assert.ok(`${storedName(name)}.webp`.length <= 255, alt);
      assert.ok(!name.includes('..'));
      assert.ok(Buffer.byteLength(name) <= 10 + 1 + 100 + 1 + 16 + 4);
    }
    assert.equal(slugOf('%41%zz'), '41_zz');
  });

  test('are read back', () => {
    assert.deepEqual(readMediaName(`1700000000_a_b_${HASH}.png`), { seconds: 1_700_000_000, hash: HASH });
    for (const name of ['cat.png', `cat_17_${HASH}.png.bak`]) assert.deepEqual(readMediaName(name), {});
  });
});

describe('search among names', () => {
  const names = [
    `1700000003_flux+16_9+A_red_cat_${HASH.replace('0', '1')}.png`,
    `1700000002_flux+A_blue_cat_${HASH.replace('0', '2')}.webp`,
    `1700000002_veo+A_cat_runs_${HASH.replace('0', '3')}.mp4`,
    `1700000001_tts+cat_says_hello_${HASH.replace('0', '4')}.mp3`,
  ];
  const shuffled = [2, 0, 3, 1].map((at) => ({ name: names[at] ?? '', modified: 0 }));
  const find = (text: string, options: Partial<MediaQuery> = {}) => {
    const index = new MediaIndex();
    index.fill(shuffled);
    const terms = searchTerms(text);
    const found = index.find({ terms, min: terms.length, skip: 0, ...options });
    return found === undefined ? undefined : names.indexOf(found);
  };

  test('terms are separated by plus or white space, and cleaned', () => {
    assert.deepEqual(searchTerms('Red+CAT'), ['red', 'cat']);
    assert.deepEqual(searchTerms(' red  cat++'), ['red', 'cat']);
    assert.deepEqual(searchTerms('16:9+café'), ['16_9', 'cafe']);
    assert.deepEqual(searchTerms('../+?'), []);
  });

  test('all terms, the first one also as a type; the newest first, then by name', () => {
    assert.equal(find('cat'), 0);
    assert.equal(find('CAT+red'), 0);
    assert.equal(find('image+blue'), 1);
    assert.equal(find('webp'), 1);
    assert.equal(find('video+cat'), 2);
    assert.equal(find('audio'), 3);
    assert.equal(find('mp3+hello'), 3);
    assert.equal(find('cat+video'), undefined, 'only the first term may be a type');
    assert.equal(find('dog'), undefined);
    assert.equal(find(''), undefined);
  });

  test('skip, min', () => {
    assert.deepEqual(
      [0, 1, 2, 3, 4].map((skip) => find('cat', { skip })),
      [0, 1, 2, 3, undefined],
    );
    assert.equal(find('dog+blue', { min: 1 }), 1);
    assert.equal(find('dog+blue+cat', { min: 2 }), 1);
    assert.equal(find('dog+blue+horse', { min: 2 }), undefined);
  });

  test('pages: each file once, however many a page has, also when the last one of a page is deleted', () => {
    for (const limit of [1, 2, 3, 4, 5]) {
      const index = new MediaIndex();
      index.fill(shuffled);
      const seen: string[] = [];
      for (let after: MediaPlace | undefined; ; ) {
        const page = index.page({ terms: [], limit, ...(after && { after }) });
        seen.push(...page.map(({ name }) => name));
        after = page.at(-1);
        if (after === undefined) break;
        index.delete(after.name);
      }
      assert.deepEqual(seen, names);
    }
    const index = new MediaIndex();
    index.fill(shuffled);
    const namesOf = (query: Partial<MediaPageQuery>): number[] =>
      index.page({ terms: [], limit: 9, ...query }).map(({ name }) => names.indexOf(name));
    assert.deepEqual(namesOf({ kind: 'image' }), [0, 1]);
    assert.deepEqual(namesOf({ kind: 'audio', terms: ['cat'] }), [3]);
    assert.deepEqual(namesOf({ terms: ['red', 'cat'] }), [0]);
    assert.deepEqual(namesOf({ terms: ['dog'] }), []);
  });

  test('random: any hit; with a seed always the same one, also when others come and go', () => {
    const index = new MediaIndex();
    index.fill(shuffled);
    const query = { terms: ['cat'], min: 1, skip: 0 };
    const drawn = new Set(Array.from({ length: 200 }, () => index.find({ ...query, random: true })));
    assert.equal(drawn.size, 4);
    const seeds = Array.from({ length: 50 }, (_, seed) => `seed ${seed}`);
    const first = seeds.map((random) => index.find({ ...query, random }));
    assert.ok(new Set(first).size > 1);
    assert.deepEqual(
      seeds.map((random) => index.find({ ...query, random })),
      first,
    );
    index.delete(names[3] ?? '');
    for (const [at, random] of seeds.entries()) {
      if (first[at] !== names[3]) assert.equal(index.find({ ...query, random }), first[at]);
    }
  });

  test('keeps its order as files are added and deleted', () => {
    const index = new MediaIndex();
    index.fill(shuffled.slice(0, 2));
    for (const { name } of shuffled.slice(2)) index.add(name, 0);
    index.add(names[0] ?? '', 0); // twice counts once
    index.add('notes.txt', 0);
    index.add('old cat.gif', 1_600_000_000_000);
    assert.equal(index.size, 5);
    const all = (): (string | undefined)[] =>
      Array.from({ length: index.size }, (_, skip) => index.find({ terms: ['cat'], min: 1, skip }));
    assert.deepEqual(all(), [...names, 'old cat.gif']);
    index.delete(names[1] ?? '');
    index.delete('never there.png');
    assert.deepEqual(all(), [names[0], names[2], names[3], 'old cat.gif']);
    assert.equal(index.withHash(HASH.replace('0', '2')), undefined);
    assert.equal(index.withHash(HASH.replace('0', '3')), names[2]);
  });
});

describe('spool', () => {
  test('keeps little in memory and much on disk, and gives the same bytes as often as wanted', async () => {
    for (const size of [0, 10, 3_000_000, 9_000_001]) {
      const whole = Buffer.alloc(size, 'abcdefghijk');
      const pieces = Array.from({ length: Math.ceil(size / 700_000) }, (_, at) =>
        whole.subarray(at * 700_000, (at + 1) * 700_000),
      );
      const spooled = await spool(pieces);
      assert.equal(spooled.size, size);
      assert.ok(spooled.head.equals(whole.subarray(0, 4_096)));
      for (let round = 0; round < 2; round += 1)
        assert.ok((await collectBytes(spooled.pieces())).equals(whole), `${size}`);
      await spooled.discard();
    }
    const { sha256 } = await spool([Buffer.from('abc')]);
    assert.equal(sha256, 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad');
  });

  test('a body that breaks off is told', async () => {
    const body = (async function* () {
      yield Buffer.alloc(5_000_000);
      throw new Error('cut');
    })();
    await assert.rejects(spool(body), /cut/);
  });

  test('a disk without room is a failure of the storage, whenever that turns out', async (context) => {
    const body = [Buffer.alloc(5_000_000), Buffer.alloc(1_000)];
    const failed = { code: 'storage_failed', message: 'There is no place for temporary files.' };
    const handle = await open(fileURLToPath(import.meta.url));
    await handle.close();
    const full = Object.assign(new Error('ENOSPC: no space left on device, write'), { code: 'ENOSPC' });
    const { mock } = context.mock.method(Object.getPrototypeOf(handle), 'appendFile', () => Promise.reject(full));
    await assert.rejects(spool(body), failed);
    mock.restore();
    await (await spool(body)).discard();
  });
});

describe('media in text', () => {
  const stored = { kind: 'image', url: '/media/1_a+b_0123456789abcdef.png', alt: 'A "red" <cat>\n\nnow' } as const;
  test('a stored picture is its thumbnail, linked', () => {
    assert.equal(
      mediaMarkup({ ...stored, width: 800, height: 600, source: 'https://x.example/?a=1&b="' }),
      '<a href="/media/1_a+b_0123456789abcdef.png" data-src="/media/1_a+b_0123456789abcdef.png" data-width="800" ' +
        'data-height="600" data-source="https://x.example/?a=1&amp;b=&quot;">' +
        '<img src="/thumbnail/1_a+b_0123456789abcdef.png" alt="A &quot;red&quot; &lt;cat&gt; now"></a>',
    );
  });

  test('any other picture is a markdown image; several are numbered', () => {
    assert.equal(mediaMarkup({ ...stored, number: 2 }), '![#2 A "red" cat now](/media/1_a+b_0123456789abcdef.png)');
    assert.equal(
      mediaMarkup({ kind: 'image', url: 'https://x.example/a(1) b.png' }),
      '![](https://x.example/a%281%29%20b.png)',
    );
  });

  test('video, audio with its words, inline data', () => {
    assert.equal(mediaMarkup({ kind: 'video', url: '/media/v.mp4' }), '<video src="/media/v.mp4" controls></video>');
    assert.equal(
      mediaMarkup({ kind: 'audio', url: '/media/a.mp3', transcript: 'Hello.' }),
      '<audio src="/media/a.mp3" controls></audio>\n\nHello.',
    );
    assert.equal(mediaMarkup({ kind: 'image', url: 'data:image/png;base64,AA+/' }), '![](data:image/png;base64,AA+/)');
    assert.equal(
      mediaMarkup({ kind: 'audio', url: 'data:audio/aac;base64,AAAA', transcript: 'Hello.' }),
      '<audio controls></audio>\n\nHello.',
    );
  });
});
