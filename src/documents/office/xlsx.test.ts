import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { text, zip } from '../../../test/fixtures/documents/hostile.ts';
import { DEFAULT_LIMITS, openBudget } from '../conversion.ts';
import { openZip } from '../zip.ts';
import { openPackage, type Package } from './package.ts';
import { xlsxToMarkdown } from './xlsx.ts';

const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const TYPE = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml';

const cell = (reference: string, value: string): string =>
  `<c r="${reference}" t="inlineStr"><is><t>${value}</t></is></c>`;
const sheet = (...rows: readonly (readonly string[])[]): string =>
  `<worksheet xmlns="${MAIN}"><sheetData>${rows.map((cells) => `<row>${cells.join('')}</row>`).join('')}</sheetData></worksheet>`;
const targets = (...paths: readonly string[]): string =>
  `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${paths.map((path, index) => `<Relationship Id="r${index}" Type="${OFFICE}/x" Target="${path}"/>`).join('')}</Relationships>`;

/** A workbook of these sheets, the attributes of each before its content, with these parts, and this said about all of it. */
function read(
  sheets: readonly (readonly [attributes: string, xml: string])[],
  parts: Readonly<Record<string, string>> = {},
  about = '',
): string {
  const bytes = zip([
    text('[Content_Types].xml', `<Types><Override PartName="/xl/workbook.xml" ContentType="${TYPE}"/></Types>`),
    text('xl/_rels/workbook.xml.rels', targets(...sheets.map((_, index) => `worksheets/sheet${index}.xml`))),
    text(
      'xl/workbook.xml',
      `<workbook xmlns="${MAIN}" xmlns:r="${OFFICE}">${about}<sheets>${sheets.map(([about], index) => `<sheet ${about} r:id="r${index}"/>`).join('')}</sheets></workbook>`,
    ),
    ...sheets.map(([, xml], index) => text(`xl/worksheets/sheet${index}.xml`, xml)),
    ...Object.entries(parts).map(([path, xml]) => text(path, xml)),
  ]);
  const opened = openPackage(openZip(bytes, openBudget(DEFAULT_LIMITS))) as Package;
  return xlsxToMarkdown(opened, DEFAULT_LIMITS);
}

describe('workbooks', () => {
  test('hidden sheets are there and say so', () => {
    const made = read([
      ['name="Quays"', sheet([cell('A1', 'a')])],
      ['name="Old" state="hidden"', sheet([cell('A1', 'b')])],
      ['name="Older" state="veryHidden"', sheet([cell('A1', 'c')])],
    ]);
    assert.deepEqual(made.match(/^## .*$/gm), ['## Quays', '## Old (hidden)', '## Older (hidden)']);
  });

  test('characters that XML does not have', () => {
    const made = read([['name="S"', sheet([cell('A1', 'one_x000D_\ntwo_x0041_'), '<c r="B1" t="s"><v>0</v></c>'])]], {
      'xl/sharedStrings.xml': `<sst xmlns="${MAIN}"><si><t>a_x0009_b_x005F_x000D_</t></si></sst>`,
    });
    assert.equal(made, '## S\n\n| one<br>twoA | a\tb_x000D_ |\n| --- | --- |\n');
  });

  test('how a word is pronounced is no part of it', () => {
    const made = read([['name="S"', sheet(['<c r="A1" t="s"><v>0</v></c>'])]], {
      'xl/sharedStrings.xml': `<sst xmlns="${MAIN}"><si><t>東京</t><rPh sb="0" eb="2"><t>トウキョウ</t></rPh></si></sst>`,
    });
    assert.equal(made, '## S\n\n| 東京 |\n| --- |\n');
  });

  test('cells that do not say where they are follow each other', () => {
    const here = (value: string): string => `<c t="inlineStr"><is><t>${value}</t></is></c>`;
    const made = read([['name="S"', sheet([here('a'), here('b')], [cell('B2', 'c'), here('d')], [here('e')])]]);
    assert.equal(made, '## S\n\n| a | b |  |\n| --- | --- | --- |\n|  | c | d |\n| e |  |  |\n');
  });

  test('days count from 1904 on where the workbook says so', () => {
    const days = sheet(['<c r="A1" s="0"><v>44628</v></c>']);
    const parts = {
      'xl/styles.xml': `<styleSheet xmlns="${MAIN}"><cellXfs><xf numFmtId="14"/></cellXfs></styleSheet>`,
    };
    for (const [said, date] of [
      ['1', '2026-03-09'],
      ['true', '2026-03-09'],
      ['0', '2022-03-08'],
      ['false', '2022-03-08'],
    ] as const) {
      const made = read([['name="S"', days]], parts, `<workbookPr date1904="${said}"/>`);
      assert.equal(made, `## S\n\n| ${date} |\n| --- |\n`, said);
    }
  });

  test('comments are footnotes, also to cells without anything in them', () => {
    const made = read([['name="S"', sheet([cell('A1', 'Fee'), '<c r="B1"><v>5</v></c>'])]], {
      'xl/worksheets/_rels/sheet0.xml.rels': targets('../comments1.xml'),
      'xl/comments1.xml': `<comments xmlns="${MAIN}"><authors><author>Anna</author><author></author></authors><commentList>
        <comment ref="B1" authorId="0"><text><r><rPr><b/></rPr><t>Anna:</t></r><r><t>\nToo much?\nAsk Bob.</t></r></text></comment>
        <comment ref="C2" authorId="1"><text><t>Missing &amp; late</t></text></comment></commentList></comments>`,
    });
    assert.equal(
      made,
      '## S\n\n| Fee | 5[^1] |  |\n| --- | --- | --- |\n|  |  | [^2] |\n\n' +
        '[^1]: Comment by Anna: Too much?\n    Ask Bob.\n\n[^2]: Comment: Missing & late\n',
    );
  });

  test('comments where openpyxl puts them', () => {
    const made = read([['name="S"', sheet([cell('A1', 'Fee')])]], {
      'xl/worksheets/_rels/sheet0.xml.rels': targets('/xl/comments/comment1.xml'),
      'xl/comments/comment1.xml': `<comments xmlns="${MAIN}"><commentList><comment ref="A1"><text><t>Why?</t></text></comment></commentList></comments>`,
    });
    assert.equal(made, '## S\n\n| Fee[^1] |\n| --- |\n\n[^1]: Comment: Why?\n');
  });

  test('threads of comments instead of the copies made for older programs', () => {
    const made = read([['name="S"', sheet([cell('A1', 'Fee')])]], {
      'xl/worksheets/_rels/sheet0.xml.rels': targets('../comments1.xml', '../threadedComments/threadedComment1.xml'),
      'xl/comments1.xml': `<comments xmlns="${MAIN}"><commentList><comment ref="A1"><text><t>[Threaded comment] …</t></text></comment></commentList></comments>`,
      'xl/threadedComments/threadedComment1.xml':
        '<ThreadedComments><threadedComment ref="A1" personId="{1}" id="{A}"><text>Too much?</text></threadedComment>' +
        '<threadedComment ref="A1" personId="{2}" id="{B}" parentId="{A}"><text>No.</text></threadedComment></ThreadedComments>',
      'xl/persons/person.xml':
        '<personList><person displayName="Anna" id="{1}"/><person displayName="Bob" id="{2}"/></personList>',
    });
    assert.equal(
      made,
      '## S\n\n| Fee[^1][^2] |\n| --- |\n\n[^1]: Comment by Anna: Too much?\n\n[^2]: Comment by Bob: No.\n',
    );
  });
});
