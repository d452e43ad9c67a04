import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { csvToMarkdown, parseCsv } from '../../src/documents/csv.ts';
import { htmlToMarkdown } from '../../src/documents/html.ts';
import { notebookToMarkdown } from '../../src/documents/notebook.ts';
import { decodeText } from '../../src/documents/text.ts';
import { decodeEntities, readXml } from '../../src/documents/xml.ts';
import { property } from './cases.ts';
import { orRefusal } from './refusals.ts';

describe('documents of text', () => {
  const converters: Readonly<Record<string, (text: string) => unknown>> = {
    csv: csvToMarkdown,
    html: (text) => htmlToMarkdown(text).text,
    notebook: notebookToMarkdown,
    xml: (text) => readXml(text, { open: () => {}, text: () => {} }),
    bytes: (text) => decodeText(Buffer.from(text, 'latin1')),
  };
  for (const [name, convert] of Object.entries(converters)) {
    test(`${name}: is text or a refusal`, async () => {
      await property(name === 'html' ? 60 : 400, (random) => {
        const text = random.many(random.below(14), () => random.pick([...MARKUP, random.text(4)])).join('');
        orRefusal(() => convert(text));
      });
    });
  }

  test('an entity that has the name of something else of an object stays as written', () => {
    assert.equal(decodeEntities('&toString;&valueOf;&amp;'), '&toString;&valueOf;&');
  });

  test('cells of CSV come back as they were written', async () => {
    await property(1_000, (random) => {
      const rows = random.many(random.between(1, 4), () => random.many(2, () => random.text(4).replaceAll('\0', '')));
      const text = rows.map((cells) => cells.map((cell) => `"${cell.replaceAll('"', '""')}"`).join(',')).join('\n');
      assert.deepEqual(parseCsv(text, ','), rows);
    });
  });
});

const MARKUP: readonly string[] = [
  ...[
    '<p>',
    '</p>',
    '<table>',
    '<tr>',
    '<td colspan="9e9">',
    '<a href="javascript:x">',
    '<script>',
    '<!--',
    '-->',
    '<![CDATA[',
    ']]>',
  ],
  ...[
    '&amp;',
    '&#0;',
    '&#x110000;',
    '&#xd800;',
    '&nope;',
    '<?xml',
    '?>',
    '<!DOCTYPE a [',
    '<!ENTITY a "b">',
    '{"cells":[',
    '{"cell_type":"code","source":',
    ']}',
    'null',
  ],
  ...[
    '"',
    ',',
    '\n',
    '\r\n',
    '\t',
    ';',
    '|',
    '\ufeff',
    '<li>',
    '<pre><code>',
    '</code>',
    '<img src=x alt="]">',
    '<h9>',
    '< >',
    '</',
  ],
];
