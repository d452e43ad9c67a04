import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';
import { describe, test } from 'node:test';
import { pngFlood, text, zip } from '../../test/fixtures/documents/hostile.ts';
import { type Conversion, type ConversionLimits, DEFAULT_LIMITS, openBudget } from './conversion.ts';
import { convertFile } from './convert-file.ts';
import { INSTALLED, type Libraries } from './libraries.ts';

const FIXTURES = path.join(import.meta.dirname, '../../test/fixtures/documents');
const fixture = (name: string): Buffer => readFileSync(path.join(FIXTURES, name));

/** Everything that was thrown on the way is told, so that the operator can know. */
async function convert(
  name: string,
  bytes: Uint8Array,
  libraries: Partial<Libraries> = {},
  limits: Partial<ConversionLimits> = {},
): Promise<{ conversion: Conversion; faults: string[] }> {
  const faults: string[] = [];
  const conversion = await convertFile(
    { name, bytes },
    {
      libraries: { ...INSTALLED, ...libraries },
      budget: openBudget({ ...DEFAULT_LIMITS, ...limits }),
      onProgress() {},
      onFault: (error) => faults.push((error as Error).message),
    },
  );
  return { conversion, faults };
}

const missing = async (): Promise<never> => {
  throw Object.assign(new Error("Cannot find package 'x'"), { code: 'ERR_MODULE_NOT_FOUND' });
};

describe('a library that is not installed', () => {
  const reason = 'was not converted: the converter is not installed';
  for (const [name, libraries] of [
    ['writer.pdf', { pdf: missing }],
    ['writer.docx', { office: missing }],
    ['calc.xlsx', { office: missing }],
    ['mail.eml', { mail: missing }],
  ] as const) {
    test(name, async () => {
      const { conversion, faults } = await convert(name, fixture(name), libraries);
      assert.deepEqual(conversion, { kind: 'rejected', reason });
      assert.deepEqual(faults, ["Cannot find package 'x'"]);
    });
  }

  test('pages stay text, images are kept without a size', async () => {
    assert.deepEqual((await convert('a.html', Buffer.from('<p>a'), { html: missing })).conversion, {
      kind: 'text',
      text: '<p>a',
    });
    const { conversion } = await convert('a.png', pngFlood(2, 2), { image: missing });
    assert.deepEqual(conversion, { kind: 'image', mimeType: 'image/png' });
  });
});

describe('a library that fails', () => {
  const failing = (error: Error) => async () => () => {
    throw error;
  };

  test('is told about, and its words are not for users', async () => {
    const { conversion, faults } = await convert('a.html', Buffer.from('<p>a'), {
      html: failing(new Error('at /home/x')),
    });
    assert.deepEqual(conversion, { kind: 'rejected', reason: 'could not be read' });
    assert.deepEqual(faults, ['at /home/x']);
  });

  test('because something is nested too deeply', async () => {
    const { conversion } = await convert('a.html', Buffer.from('<p>a'), { html: failing(new RangeError('stack')) });
    assert.deepEqual(conversion, { kind: 'rejected', reason: 'is nested too deeply, or too large' });
  });
});

test('a document without any text', async () => {
  for (const [name, bytes] of [
    ['a.html', '<script>a</script>'],
    ['a.csv', ' \n'],
    ['a.ipynb', '{"nbformat":4,"cells":[]}'],
  ] as const) {
    const { conversion } = await convert(name, Buffer.from(bytes));
    assert.deepEqual(conversion, { kind: 'rejected', reason: 'has no text in it' }, name);
  }
});

test('the columns of a file are between tabs where its name says so', async () => {
  const { conversion } = await convert('a.TSV', Buffer.from('a,b,c\td\n1,5\t2\n'));
  assert.deepEqual(conversion, { kind: 'markdown', text: '| a,b,c | d |\n| --- | --- |\n| 1,5 | 2 |\n' });
  const wrong = await convert('a.tsv', Buffer.from('a,b\n1,5\n'));
  assert.deepEqual(wrong.conversion, { kind: 'markdown', text: '| a | b |\n| --- | --- |\n| 1 | 5 |\n' });
});

test('an archive without any file', async () => {
  for (const members of [[], [text('.DS_Store', 'a'), text('__MACOSX/b.txt', 'b')]]) {
    const { conversion } = await convert('a.zip', zip(members));
    assert.deepEqual(conversion, { kind: 'rejected', reason: 'has no files in it' });
  }
});

test('members that become the same path are one, and the others are named', async () => {
  const bytes = zip([text('a\\b.txt', 'one'), text('./a/b.txt', 'two'), text('a/c.txt', 'three')]);
  assert.deepEqual((await convert('a.zip', bytes)).conversion, {
    kind: 'archive',
    entries: [
      { path: 'a/b.txt', kind: 'text', text: 'one' },
      { path: 'a/c.txt', kind: 'text', text: 'three' },
    ],
    rejected: [{ name: './a/b.txt', reason: 'is in the archive twice' }],
  });
});

test('the members of an archive share the text that may come of it', async () => {
  const bytes = zip([text('a.txt', 'a'.repeat(60)), text('b.csv', 'b,'.repeat(15)), text('c.txt', 'c')]);
  const { conversion } = await convert('a.zip', bytes, {}, { unpackedBytes: 100 });
  assert.equal(conversion.kind, 'archive');
  const { entries, rejected } = conversion as Extract<Conversion, { kind: 'archive' }>;
  assert.deepEqual(
    entries.map((entry) => entry.path),
    ['a.txt', 'c.txt'],
  );
  assert.deepEqual(
    rejected.map(({ name }) => name),
    ['b.csv'],
  );
});

test('pictures in archives and messages, of which nothing is kept, are not decoded', async () => {
  let opened = 0;
  const image = (): Promise<never> => {
    opened += 1;
    return missing();
  };
  const picture = { path: 'a.png', bytes: pngFlood(2, 2) };
  const { conversion } = await convert('a.zip', zip([picture, text('b.txt', 'b')]), { image });
  assert.deepEqual(conversion, {
    kind: 'archive',
    entries: [{ path: 'b.txt', kind: 'text', text: 'b' }],
    rejected: [{ name: 'a.png', reason: 'is media, which is taken in by itself only' }],
  });
  const letter = [
    'From: ada@a.example',
    'Subject: Tides',
    'MIME-Version: 1.0',
    'Content-Type: multipart/mixed; boundary=x',
    '',
  ];
  const part = ['--x', 'Content-Type: application/octet-stream', 'Content-Disposition: attachment; filename=a.png'];
  const base64 = ['Content-Transfer-Encoding: base64', '', pngFlood(2, 2).toString('base64'), '--x--', ''];
  const mail = await convert('a.eml', Buffer.from([...letter, ...part, ...base64].join('\r\n')), { image });
  assert.equal(mail.conversion.kind, 'markdown');
  assert.equal(opened, 0);
});
