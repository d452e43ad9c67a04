import assert from 'node:assert/strict';
import { test } from 'node:test';
import { DEFAULT_LIMITS, openBudget } from '../conversion.ts';
import { convertFile } from '../convert-file.ts';
import { INSTALLED } from '../libraries.ts';
import { writeZip } from '../write-zip.ts';
import { listItemsByStyle } from './docx-lists.ts';

const MAIN = 'http://schemas.openxmlformats.org/wordprocessingml/2006/main';
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const TYPE = 'application/vnd.openxmlformats-officedocument.wordprocessingml';

const style = (id: string, properties: string, basedOn = 'Normal'): string =>
  `<w:style w:type="paragraph" w:styleId="${id}"><w:basedOn w:val="${basedOn}"/><w:pPr>${properties}</w:pPr></w:style>`;
const inList = (id: string): string => `<w:numPr><w:numId w:val="${id}"/></w:numPr>`;
const item = (id: string): string => `<w:numPr><w:ilvl w:val="0"/><w:numId w:val="${id}"/></w:numPr>`;
const paragraph = (styled: string, text: string, properties = ''): string =>
  `<w:p><w:pPr><w:pStyle w:val="${styled}"/>${properties}</w:pPr><w:r><w:t>${text}</w:t></w:r></w:p>`;
const STYLES = `<w:styles xmlns:w="${MAIN}">${[
  style('Normal', '', ''),
  style('ListBullet', inList('1')),
  style('Compact', '', 'ListBullet'),
  style('NoList', inList('0'), 'ListBullet'),
  style('ListNumber', inList('2')),
  style('Heading1', `<w:outlineLvl w:val="0"/>${inList('2')}`),
  style('Round', inList('1'), 'Round'),
].join('')}</w:styles>`;

test('a list of its style is said of the paragraph itself', () => {
  const changed = (xml: string): string => listItemsByStyle(xml, STYLES);
  assert.equal(changed(paragraph('ListBullet', 'a')), paragraph('ListBullet', 'a', item('1')));
  assert.equal(changed(paragraph('Compact', 'a')), paragraph('Compact', 'a', item('1')));
  assert.equal(changed(paragraph('Round', 'a')), paragraph('Round', 'a', item('1')));
  for (const left of [
    paragraph('Normal', 'a'),
    paragraph('NoList', 'a'),
    paragraph('Heading1', 'a'),
    paragraph('Unknown', 'a'),
    paragraph('ListBullet', 'a', item('7')),
    '<w:p><w:pPr><w:pStyle w:val="ListBullet"/>',
  ])
    assert.equal(changed(left), left);
});

test('lists by style, and hyphens that keep a word in one line, are there in the markdown', async () => {
  const level = (id: number, format: string): string =>
    `<w:abstractNum w:abstractNumId="${id}"><w:lvl w:ilvl="0"><w:numFmt w:val="${format}"/></w:lvl></w:abstractNum>`;
  const files = {
    '[Content_Types].xml': `<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/word/document.xml" ContentType="${TYPE}.document.main+xml"/><Override PartName="/word/styles.xml" ContentType="${TYPE}.styles+xml"/><Override PartName="/word/numbering.xml" ContentType="${TYPE}.numbering+xml"/></Types>`,
    '_rels/.rels': `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="a" Type="${OFFICE}/officeDocument" Target="word/document.xml"/></Relationships>`,
    'word/_rels/document.xml.rels': `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="a" Type="${OFFICE}/styles" Target="styles.xml"/><Relationship Id="b" Type="${OFFICE}/numbering" Target="numbering.xml"/></Relationships>`,
    'word/styles.xml': STYLES,
    'word/numbering.xml': `<w:numbering xmlns:w="${MAIN}">${level(5, 'bullet')}${level(6, 'decimal')}<w:num w:numId="1"><w:abstractNumId w:val="5"/></w:num><w:num w:numId="2"><w:abstractNumId w:val="6"/></w:num></w:numbering>`,
    'word/document.xml': `<w:document xmlns:w="${MAIN}"><w:body>${[
      paragraph('Heading1', 'Things'),
      paragraph('ListBullet', 'one'),
      paragraph('ListBullet', 'two'),
      paragraph('Normal', 'and a well</w:t><w:noBreakHyphen/><w:t>known word'),
      paragraph('ListNumber', 'first'),
      paragraph('ListNumber', 'second'),
    ].join('')}</w:body></w:document>`,
  };
  const bytes = writeZip(Object.entries(files).map(([path, text]) => [path, Buffer.from(text)] as const));
  const conversion = await convertFile(
    { name: 'a.docx', bytes },
    { libraries: INSTALLED, budget: openBudget(DEFAULT_LIMITS), onProgress() {}, onFault() {} },
  );
  assert.ok(conversion.kind === 'markdown', JSON.stringify(conversion));
  assert.equal(conversion.text, '# Things\n\n- one\n- two\n\nand a well-known word\n\n1. first\n2. second\n');
});
