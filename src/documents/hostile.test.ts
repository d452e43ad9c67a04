import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import {
  billionLaughs,
  docx,
  type Member,
  paragraphs,
  pdf,
  pngFlood,
  pptx,
  text,
  xlsx,
  zip,
} from '../../test/fixtures/documents/hostile.ts';
import { memoryWatch } from '../../test/fixtures/documents/memory-watch.ts';
import type { Conversion } from './conversion.ts';
import { type Converter, createConverter } from './converter.ts';

const FIXTURES = path.join(import.meta.dirname, '../../test/fixtures/documents');
const MEGABYTE = 1024 * 1024;

const fixture = (name: string): Buffer => readFileSync(path.join(FIXTURES, name));
const zeros = (size: number): Buffer => Buffer.alloc(size);

/** Files that are refused as a whole: what they are called, their bytes, why. */
const REFUSED: readonly (readonly [what: string, name: string, bytes: () => Uint8Array, reason: RegExp])[] = [
  ['a member of 400 MB', 'a.zip', () => zip([{ path: 'a.txt', bytes: zeros(400 * MEGABYTE) }]), /more than 100 MB/],
  ['a member of 90 MB out of 90 KB', 'a.zip', () => zip([{ path: 'a.txt', bytes: zeros(90 * MEGABYTE) }]), /100 times/],
  [
    'forty members over the same data',
    'a.zip',
    () => {
      const first = { path: '0.txt', bytes: randomText(MEGABYTE) };
      const others = Array.from({ length: 39 }, (_, index) => ({ ...first, path: `${index}.txt`, sameAs: 0 }));
      return zip([first, ...others]);
    },
    /damaged/,
  ],
  [
    '2,000 members',
    'a.zip',
    () => zip(Array.from({ length: 2_000 }, (_, index) => text(`${index}.txt`, 'a'))),
    /holds 2000 files/,
  ],
  ['a locked zip', 'locked.zip', () => fixture('locked.zip'), /password/],
  ['a zip locked with AES', 'locked-aes.zip', () => fixture('locked-aes.zip'), /password/],
  ['half a zip', 'a.zip', () => zip([text('a.txt', 'text')]).subarray(0, 40), /damaged/],
  ['text called zip', 'a.zip', () => Buffer.from('PKhello'), /not a zip/],
  [
    'a document with a part of 400 MB',
    'a.docx',
    () => docx(paragraphs([' '.repeat(400 * MEGABYTE)])),
    /more than 100 MB/,
  ],
  [
    'a document with eight million elements',
    'a.docx',
    () =>
      docx(paragraphs(['a']).replace('<w:p>', `${'<w:p/>'.repeat(3_000_000)}<w:p>`), [
        { path: 'word/media/x.bin', bytes: randomText(MEGABYTE) },
      ]),
    /too large|too much memory/,
  ],
  ['entities of entities', 'a.docx', () => docx(paragraphs(['&lol8;'], billionLaughs())), /entities/],
  [
    'entities in a workbook',
    'a.xlsx',
    () => xlsx(`${billionLaughs()}<row r="1"><c r="A1"><v>1</v></c></row>`),
    /entities/,
  ],
  [
    'a file of this machine as an entity',
    'a.docx',
    () => docx(paragraphs(['&x;'], '<!DOCTYPE d [<!ENTITY x SYSTEM "file:///etc/passwd">]>')),
    /entities/,
  ],
  [
    'entities in UTF-16',
    'a.docx',
    () => {
      const bytes = Buffer.from(`\ufeff${paragraphs(['&lol8;'], billionLaughs())}`, 'utf16le');
      return docx('', [{ path: 'word/document2.xml', bytes }]);
    },
    /entities|damaged/,
  ],
  ['half a document', 'a.docx', () => fixture('writer.docx').subarray(0, 4_000), /damaged/],
  [
    'a document without its main part',
    'a.docx',
    () => zip([text('[Content_Types].xml', '<Types/>')]),
    /not a document/,
  ],
  ['a zip called a document', 'a.docx', () => zip([text('a.txt', 'text')]), /not a document/],
  [
    'an old or locked Office file',
    'a.docx',
    () => Buffer.from('d0cf11e0a1b11ae1'.padEnd(2_000, '0'), 'hex'),
    /password/,
  ],
  [
    'one text in a hundred thousand cells',
    'a.xlsx',
    () => {
      const row = `<c t="s"><v>0</v></c>`.repeat(1_000);
      const strings = `<si><t>${'text '.repeat(20_000)}</t></si>`;
      return xlsx(`<row>${row}</row>`.repeat(100), strings + randomText(MEGABYTE).toString());
    },
    /too large/,
  ],
  [
    'cells far apart',
    'a.xlsx',
    () => {
      const name = (index: number): string => `${columnName(index)}${index + 1}`;
      const cells = Array.from(
        { length: 8_000 },
        (_, index) => `<row r="${index + 1}"><c r="${name(index)}"><v>1</v></c></row>`,
      );
      return xlsx(cells.join(''));
    },
    /too large/,
  ],
  ['an image of 900 million pixels', 'a.png', () => pngFlood(30_000, 30_000), /pixels/],
  ['an image that says 4 billion pixels', 'a.png', () => pngFlood(65_535, 65_535), /pixels/],
  ['half an image', 'a.png', () => pngFlood(2_000, 2_000).subarray(0, 2_000), /damaged image/],
  ['text called png', 'a.png', () => Buffer.from('hello'), /not an image/],
  ['SVG called png', 'a.png', () => Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'), /not an image/],
  ['a PDF called jpg', 'a.jpg', () => fixture('writer.pdf'), /not an image/],
  ['HTML called mp4', 'a.mp4', () => Buffer.from('<script>alert(1)</script>'), /not video/],
  ['a fake PDF', 'a.pdf', () => Buffer.from('%PDF-1.7\nhello'), /damaged PDF/],
  ['text called pdf', 'a.pdf', () => Buffer.from('hello'), /not a PDF/],
  ['half a PDF', 'a.pdf', () => fixture('writer.pdf').subarray(0, 20_000), /damaged PDF/],
  ['a locked PDF', 'a.pdf', () => fixture('locked.pdf'), /password/],
  ['a program called txt', 'a.txt', () => readFileSync(process.execPath).subarray(0, 100_000), /not text/],
  [
    'random bytes called txt',
    'a.txt',
    () => randomText(100).map((byte, index) => (index % 7 === 0 ? 1 : byte)),
    /not text/,
  ],
  ['a program', 'setup.exe', () => Buffer.from('MZ'), /not supported: .exe/],
  ['nothing', 'a.txt', () => Buffer.alloc(0), /empty/],
  ['a page of 20,000 levels', 'a.html', () => Buffer.from('<div>'.repeat(20_000)), /deeper than 512 levels/],
  [
    'a page that is deep behind its end',
    'a.html',
    () => Buffer.from(`<p>a</p></body></html>${'<svg><b title="</b>">'.repeat(20_000)}`),
    /deeper than 512 levels/,
  ],
  [
    'a message with 50 MB of headers',
    'a.eml',
    () => Buffer.concat([Buffer.from('Subject: a\n'), Buffer.alloc(50 * MEGABYTE, `X-A: ${'a'.repeat(70)}\n`)]),
    /too many headers/,
  ],
  [
    'a message whose parts nest 20,000 deep',
    'a.eml',
    () => {
      const part = (_: unknown, at: number): string => `Content-Type: multipart/mixed; boundary=b${at}\n\n--b${at}\n`;
      return Buffer.from(Array.from({ length: 20_000 }, part).join(''));
    },
    /nested too deeply/,
  ],
  [
    'a message of 5,000 files',
    'a.eml',
    () => Buffer.from(`Content-Type: multipart/mixed; boundary=b\n\n${'--b\nContent-Type: a/b\n\na\n'.repeat(5_000)}`),
    /holds 5000 files/,
  ],
  ['a notebook that is none', 'a.ipynb', () => Buffer.from('[]'), /notebook/],
];

describe('hostile files', () => {
  let converter: Converter;
  let memory: ReturnType<typeof memoryWatch>;
  const convert = (name: string, bytes: Uint8Array): Promise<Conversion> => converter.convert({ name, bytes });

  before(async () => {
    converter = createConverter({ workers: 1 });
    // What libraries take is not what files take.
    for (const name of ['writer.docx', 'writer.pdf', 'page.html', 'mail.eml']) await convert(name, fixture(name));
    await convert('a.png', pngFlood(10, 10));
    memory = memoryWatch();
  });
  after(() => converter.close());

  for (const [what, name, bytes, reason] of REFUSED) {
    test(`${what} is refused`, async () => {
      const made = bytes();
      memory.begin();
      const conversion = await convert(name, made);
      const growth = memory.end();
      assert.equal(conversion.kind, 'rejected', JSON.stringify(conversion).slice(0, 300));
      assert.match((conversion as { reason: string }).reason, reason);
      assert.ok(growth < 300 * MEGABYTE, `memory grew by ${Math.round(growth / MEGABYTE)} MB`);
    });
  }

  test('half a tag, 200,000 times, takes no time that grows with its square', async () => {
    const conversion = await convert('a.html', Buffer.from(`<p>before</p>${'<html'.repeat(200_000)}`));
    assert.equal(conversion.kind === 'markdown' && conversion.text, 'before\n');
  });

  // What is in a comment may be anything, and is there for whoever looks for it in the XML as it is written.
  const ballast = { path: 'ballast.bin', bytes: randomText(MEGABYTE) };
  const shape = (content: string): string =>
    `<p:sp><p:txBody><a:p><a:r><a:t>before</a:t></a:r></a:p></p:txBody></p:sp><!--${content}-->`;
  const many = (piece: string): string => piece.repeat(300_000);
  for (const [what, content] of [
    ['shapes that do not end', many('<p:sp>')],
    ['shapes whose tags do not end', many('<p:sp ')],
    ['half places for text', `<p:sp>${many('<p:ph ')}</p:sp>`],
    ['paragraphs that do not end', `<p:sp><p:ph type="body"/>${many('<a:p>')}</p:sp>`],
  ] as const)
    test(`${what}, 300,000 times on a slide, take no time that grows with its square`, async () => {
      const conversion = await convert('a.pptx', pptx(shape(content), {}, [ballast]));
      assert.deepEqual(conversion, { kind: 'markdown', text: 'before\n' });
    });

  test('half fields, 100,000 times, take no time that grows with its square', async () => {
    const content = `<!--${'<w:fldChar '.repeat(100_000)}${'<w:instrText '.repeat(100_000)}-->`;
    const conversion = await convert(
      'a.docx',
      docx(paragraphs(['before']).replace('<w:body>', `$&${content}`), [ballast]),
    );
    assert.deepEqual(conversion, { kind: 'markdown', text: 'before\n' });
  });

  test('members that lead out of an archive, come twice, are archives or bombs are left out', async () => {
    const inner = zip([{ path: 'bomb.txt', bytes: zeros(50 * MEGABYTE) }]);
    const members: Member[] = [
      ...[
        '../up.txt',
        '/etc/cron.d/x.txt',
        'a/../../up.txt',
        '..\\up2.txt',
        'C:\\up.txt',
        'a/./b.txt',
        'nul\0.txt',
        '\u202e/..',
        '~/../x.txt',
      ].map((name) => text(name, 'evil')),
      text('good.txt', 'good'),
      text('good.txt', 'again'),
      text('./also/good.MD', '# good'),
      text('.hidden.txt', 'hidden'),
      text('__MACOSX/._good.txt', 'system'),
      text('folder/', ''),
      text('windows\\name.txt', 'good'),
      { path: 'inner.zip', bytes: inner },
      { path: 'inner.docx', bytes: zip([text('a.txt', 'a')]) },
      { path: 'liar.txt', bytes: zeros(MEGABYTE), claimedSize: 10 },
      { path: 'quay.png', bytes: pngFlood(10, 10) },
      { path: 'program.exe', bytes: Buffer.from('MZ') },
    ];
    const conversion = await convert('a.zip', zip(members));
    assert.equal(conversion.kind, 'archive');
    const { entries, rejected } = conversion as Extract<Conversion, { kind: 'archive' }>;
    assert.deepEqual(
      entries.map(({ path, text: content }) => [path, content]),
      [
        ['good.txt', 'good'],
        ['also/good.MD', '# good'],
        ['windows/name.txt', 'good'],
      ],
    );
    const reasons = Object.fromEntries(rejected.map(({ name, reason }) => [name, reason]));
    assert.equal(rejected.length, 9 + 6);
    assert.equal(rejected.filter(({ reason }) => reason === 'has an unsafe name').length, 9);
    assert.equal(reasons['good.txt'], 'is in the archive twice');
    assert.equal(reasons['inner.zip'], 'is an archive inside an archive');
    assert.equal(reasons['inner.docx'], 'is not a document, though its name says so');
    assert.equal(reasons['liar.txt'], 'is damaged');
    assert.match(reasons['quay.png'] ?? '', /media/);
    assert.match(reasons['program.exe'] ?? '', /not supported/);
  });

  test('forty-two zips in a zip stay packed', async () => {
    const bomb = zip([{ path: 'a.txt', bytes: zeros(20 * MEGABYTE) }]);
    const members = Array.from({ length: 42 }, (_, index) => ({ path: `${index}.zip`, bytes: bomb }));
    memory.begin();
    const conversion = await convert('42.zip', zip(members));
    assert.ok(memory.end() < 300 * MEGABYTE);
    if (conversion.kind === 'rejected') return;
    assert.equal(conversion.kind, 'archive');
    assert.equal((conversion as Extract<Conversion, { kind: 'archive' }>).rejected.length, 42);
  });

  test('markup called txt, and SVG, are text and stay what they are', async () => {
    const svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>';
    for (const name of ['a.txt', 'a.SVG'])
      assert.deepEqual(await convert(name, Buffer.from(svg)), { kind: 'text', text: svg });
  });

  test('scripts of a page are gone, and addresses that would run something', async () => {
    const html =
      '<body><script>one()</script><a href=" jav&#x09;ascript:two()">a</a><img src=data:text/html,three alt=b>';
    const conversion = await convert('a.html', Buffer.from(html));
    assert.deepEqual(conversion, { kind: 'markdown', text: 'ab\n' });
  });

  test('a PDF with a page of a gigabyte takes no more than its limit, and not from the gateway', async () => {
    const bomb = pdf(Buffer.alloc(1_024 * MEGABYTE, 0x20));
    const before = process.memoryUsage.rss();
    memory.begin();
    const conversion = await convert('a.pdf', bomb);
    assert.ok(memory.end() < 600 * MEGABYTE);
    assert.ok(process.memoryUsage.rss() - before < 50 * MEGABYTE);
    assert.deepEqual(conversion, { kind: 'rejected', reason: 'needs too much memory', isOverLimit: true });
  });

  test('ten megabytes on one line', async () => {
    const line = 'harbour '.repeat((10 * MEGABYTE) / 8);
    memory.begin();
    const plain = await convert('a.txt', Buffer.from(line));
    assert.equal((plain as { text: string }).text, line);
    const page = await convert('a.html', Buffer.from(`<p>${line}</p>`));
    assert.equal((page as { text: string }).text.length, line.length);
    const values = await convert('a.csv', Buffer.from(line.replaceAll(' ', ',')));
    assert.equal(values.kind, 'markdown');
    assert.ok(memory.end() < 300 * MEGABYTE);
  });

  test('what is nested twenty thousand deep ends well', async () => {
    const deep = '<div>'.repeat(20_000);
    const page = await convert('a.html', Buffer.from(`${deep}text`));
    assert.ok(['markdown', 'rejected'].includes(page.kind));
    const table = await convert(
      'a.docx',
      docx(paragraphs(['a']).replace('<w:p>', `${'<w:tbl><w:tr><w:tc>'.repeat(20_000)}<w:p>`)),
    );
    assert.equal(table.kind, 'rejected');
    const json = await convert('a.ipynb', Buffer.from(`{"nbformat":4,"cells":${'['.repeat(20_000)}`));
    assert.equal(json.kind, 'rejected');
    // And the worker still works.
    assert.equal((await convert('writer.docx', fixture('writer.docx'))).kind, 'markdown');
  });
});

/** Text that hardly packs, the same every time. */
function randomText(size: number): Buffer {
  const bytes = Buffer.alloc(size);
  let state = 1;
  for (let index = 0; index < size; index += 1) {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fffffff;
    bytes[index] = 97 + ((state >> 16) % 26);
  }
  return bytes;
}

function columnName(index: number): string {
  return index < 26 ? String.fromCharCode(65 + index) : columnName(Math.floor(index / 26) - 1) + columnName(index % 26);
}
