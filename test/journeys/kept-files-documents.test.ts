import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { deflateSync } from 'node:zlib';
import { docx, paragraphs, pptx, text, zip } from '../fixtures/documents/hostile.ts';
import { textOf } from './kept-files-world.ts';
import { type KeptWorld, openKept, upload } from './kept-world.ts';

const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const PACKAGE = 'http://schemas.openxmlformats.org/package/2006';
const MAIN = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';

const relationships = (...targets: readonly (readonly [type: string, target: string])[]): string =>
  `<Relationships xmlns="${PACKAGE}/relationships">${targets
    .map(([type, target], index) => `<Relationship Id="r${index}" Type="${OFFICE}/${type}" Target="${target}"/>`)
    .join('')}</Relationships>`;

function presentation(): Buffer {
  const points = (...values: readonly string[]): string =>
    values.map((value, index) => `<c:pt idx="${index}"><c:v>${value}</c:v></c:pt>`).join('');
  const chart = `<c:chartSpace xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart"><c:chart><c:plotArea><c:ser>
    <c:tx><c:strRef><c:strCache>${points('Ships')}</c:strCache></c:strRef></c:tx>
    <c:cat><c:strRef><c:strCache>${points('North', 'South')}</c:strCache></c:strRef></c:cat>
    <c:val><c:numRef><c:numCache>${points('7', '9')}</c:numCache></c:numRef></c:val></c:ser></c:plotArea></c:chart></c:chartSpace>`;
  const frame = '<a:graphic><a:graphicData><c:chart r:id="r0"/></a:graphicData></a:graphic>';
  return pptx(`<p:graphicFrame>${frame}</p:graphicFrame>`, { 'charts/chart1.xml': chart });
}

function letter(): Buffer {
  const names = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"';
  const comment = '<w:p><w:r><w:t>Which one?</w:t></w:r></w:p>';
  return docx(paragraphs(['Quay seven']).replace('</w:p>', '<w:r><w:commentReference w:id="0"/></w:r>$&'), [
    text('word/_rels/document.xml.rels', relationships(['comments', 'comments.xml'])),
    text(
      'word/comments.xml',
      `<w:comments ${names}><w:comment w:id="0" w:author="Anna">${comment}</w:comment></w:comments>`,
    ),
  ]);
}

function workbook(): Buffer {
  const sheet = (value: number): string =>
    `<worksheet xmlns="${MAIN}"><sheetData><row r="1"><c r="A1"><v>${value}</v></c></row></sheetData></worksheet>`;
  const sheets = '<sheet name="Fees" sheetId="1" r:id="r0"/><sheet name="Old" sheetId="2" state="hidden" r:id="r1"/>';
  const type = 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml';
  return zip([
    text(
      '[Content_Types].xml',
      `<Types xmlns="${PACKAGE}/content-types"><Override PartName="/xl/workbook.xml" ContentType="${type}"/></Types>`,
    ),
    text('xl/workbook.xml', `<workbook xmlns="${MAIN}" xmlns:r="${OFFICE}"><sheets>${sheets}</sheets></workbook>`),
    text(
      'xl/_rels/workbook.xml.rels',
      relationships(['worksheet', 'worksheets/sheet1.xml'], ['worksheet', 'worksheets/sheet2.xml']),
    ),
    text('xl/worksheets/sheet1.xml', sheet(5)),
    text('xl/worksheets/sheet2.xml', sheet(4)),
    text('xl/worksheets/_rels/sheet1.xml.rels', relationships(['comments', '../comments1.xml'])),
    text(
      'xl/comments1.xml',
      `<comments xmlns="${MAIN}"><commentList><comment ref="A1"><text><t>Too much</t></text></comment></commentList></comments>`,
    ),
  ]);
}

/** Two pages: one of words, one of a picture alone. */
function scan(): Buffer {
  const stream = (dictionary: string, content: Uint8Array): Buffer => {
    const packed = deflateSync(content);
    const head = `<< ${dictionary} /Length ${packed.length} /Filter /FlateDecode >>\nstream\n`;
    return Buffer.concat([Buffer.from(head), packed, Buffer.from('\nendstream')]);
  };
  const page = (content: number): string =>
    `<< /Type /Page /Parent 2 0 R /MediaBox [0 0 612 792] /Contents ${content} 0 R /Resources << /Font << /F1 8 0 R >> /XObject << /I 7 0 R >> >> >>`;
  const words = 'The tide table of the northern quays, as the harbour office keeps it for everyone';
  const objects = [
    '<< /Type /Catalog /Pages 2 0 R >>',
    '<< /Type /Pages /Kids [3 0 R 4 0 R] /Count 2 >>',
    page(5),
    page(6),
    stream('', Buffer.from(`BT /F1 12 Tf 50 700 Td (${words}) Tj ET`)),
    stream('', Buffer.from('q 600 0 0 780 0 0 cm /I Do Q')),
    stream(
      '/Type /XObject /Subtype /Image /Width 2 /Height 2 /ColorSpace /DeviceGray /BitsPerComponent 8',
      Buffer.alloc(4, 99),
    ),
    '<< /Type /Font /Subtype /Type1 /BaseFont /Helvetica >>',
  ].map((object, index) =>
    Buffer.concat([Buffer.from(`${index + 1} 0 obj\n`), Buffer.from(object), Buffer.from('\nendobj\n')]),
  );
  let at = '%PDF-1.4\n'.length;
  const places = objects.map((object) => {
    at += object.length;
    return `${String(at - object.length).padStart(10, '0')} 00000 n \n`;
  });
  const end = `xref\n0 9\n0000000000 65535 f \n${places.join('')}trailer\n<< /Size 9 /Root 1 0 R >>\nstartxref\n${at}\n%%EOF\n`;
  return Buffer.concat([Buffer.from('%PDF-1.4\n'), ...objects, Buffer.from(end)]);
}

const NOTEBOOK = JSON.stringify({
  nbformat: 4,
  metadata: { language_info: { name: 'python' } },
  cells: [
    { cell_type: 'markdown', source: ['# Tides'] },
    { cell_type: 'code', source: 'print(1)', outputs: [{ output_type: 'stream', text: ['0%\r', '100%\n'] }] },
  ],
});

describe('documents of a bucket', { timeout: 120_000 }, () => {
  let world: KeptWorld;
  before(async () => {
    world = await openKept();
  });
  after(() => world.close());

  test('are read with what their programs show beside the text', async () => {
    const answer = await upload(
      world,
      'office',
      ['chart.pptx', presentation()],
      ['letter.docx', letter()],
      ['fees.xlsx', workbook()],
      ['scan.pdf', scan()],
      ['tides.tsv', 'quay\thigh, low\nNorth\t1,2, 0,3\n'],
      ['tides.ipynb', NOTEBOOK],
    );
    assert.deepEqual(answer.rejected, []);
    const whole = await textOf(world, 'office');
    const files = [...whole.matchAll(/<!-- File: (.*?) -->\n(.*?)\n<!-- End -->/gs)];
    assert.deepEqual(Object.fromEntries(files.map(([, name, content]) => [name, content])), {
      'chart.pptx.md': '|  | Ships |\n| --- | --- |\n| North | 7 |\n| South | 9 |',
      'letter.docx.md': 'Quay seven[^1]\n\n[^1]: Comment by Anna: Which one?',
      'fees.xlsx.md': '## Fees\n\n| 5[^1] |\n| --- |\n\n## Old (hidden)\n\n| 4 |\n| --- |\n\n[^1]: Comment: Too much',
      'scan.pdf.md':
        'The tide table of the northern quays, as the harbour office keeps it for everyone\n\n*(Without any text, perhaps because they were scanned: pages 2)*',
      'tides.tsv.md': '| quay | high, low |\n| --- | --- |\n| North | 1,2, 0,3 |',
      'tides.ipynb.md': '# Tides\n\n```python\nprint(1)\n```\n\n```text\n100%\n```',
    });
  });
});
