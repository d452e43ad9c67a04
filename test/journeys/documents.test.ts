import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { after, describe, test } from 'node:test';
import { createConverter } from '../../src/documents/converter.ts';

/**
 * Documents as people's programs write them (scripts/make-documents.sh) against the markdown that they have to become. With
 * UPDATE_GOLDEN=1 the markdown is written instead: read it before it is committed.
 */
const FOLDER = path.join(import.meta.dirname, '../fixtures/documents');
const GOLDEN = path.join(FOLDER, 'golden');

/** How one document looks. The sources have the same things in them, whatever the format. */
const TITLES: Readonly<Record<string, string>> = {
  'browser.pdf': 'Harbour report',
  'impress.odp': 'Quays',
  'impress.pptx': 'Quays',
  'mail.eml': 'Fwd: quay 7 – paint, rust & “fees” of Zürich’s harbour, and of 東京 as well',
  'page.html': 'Paint & rust — Harbour',
  'pandoc.docx': 'Harbour report',
  'pandoc.epub': 'Harbour report',
  'pandoc.html': 'Harbour report',
  'pandoc.odt': 'Harbour report',
  'pandoc.pptx': 'Harbour slides',
  'writer.docx': 'Letter about the quays',
  'writer.odt': 'Letter about the quays',
  'writer.pdf': 'Letter about the quays',
};

const documents = readdirSync(FOLDER, { withFileTypes: true })
  .filter((entry) => entry.isFile() && !/^locked|\.(ts|zip)$/.test(entry.name))
  .map(({ name }) => name);

describe('documents become markdown', () => {
  const converter = createConverter();
  after(() => converter.close());

  for (const name of documents) {
    test(name, async () => {
      const conversion = await converter.convert({ name, bytes: readFileSync(path.join(FOLDER, name)) });
      assert.equal(conversion.kind, 'markdown', JSON.stringify(conversion));
      assert.equal(conversion.title, TITLES[name]);
      const golden = path.join(GOLDEN, `${name}.md`);
      if (process.env['UPDATE_GOLDEN'] === '1') writeFileSync(golden, conversion.text);
      assert.equal(conversion.text, readFileSync(golden, 'utf8'));
    });
  }

  test('every golden file has its document', () => {
    const expected = documents.map((name) => `${name}.md`).sort();
    assert.deepEqual(readdirSync(GOLDEN).sort(), expected);
    for (const name of documents) assert.ok(existsSync(path.join(GOLDEN, `${name}.md`)));
  });

  test('a zip of what people zip', async () => {
    const conversion = await converter.convert({
      name: 'Mixed.ZIP',
      bytes: readFileSync(path.join(FOLDER, 'mixed.zip')),
    });
    assert.equal(conversion.kind, 'archive');
    const { entries, rejected } = conversion as Extract<typeof conversion, { kind: 'archive' }>;
    assert.deepEqual(entries.map(({ path, kind, text }) => [path, kind, text.slice(0, 24)]).sort(), [
      ['fees.py', 'text', 'import sys, datetime, xl'],
      ['notes/Letter.DOCX', 'markdown', '# Letter about the quays'],
      ['table.CSV', 'markdown', '| a | b |\n| --- | --- |\n'],
    ]);
    assert.deepEqual(rejected, [{ name: 'picture.png', reason: 'is media, which is taken in by itself only' }]);
  });
});
