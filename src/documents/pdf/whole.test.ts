import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pdfToMarkdown } from './pdf.ts';

/** A PDF of objects, numbered from 1 on; the first is its catalogue. */
function pdf(...objects: string[]): Buffer {
  let file = '%PDF-1.4\n';
  const places = objects.map((object, index) => {
    const place = file.length;
    file += `${index + 1} 0 obj\n${object}\nendobj\n`;
    return `${String(place).padStart(10, '0')} 00000 n \n`;
  });
  const size = objects.length + 1;
  const table = `xref\n0 ${size}\n0000000000 65535 f \n${places.join('')}`;
  const trailer = `trailer\n<</Size ${size}/Root 1 0 R>>\nstartxref\n${file.length}\n%%EOF\n`;
  return Buffer.from(file + table + trailer, 'latin1');
}

const stream = (content: string, about = ''): string =>
  `<<${about}/Length ${content.length}>>stream\n${content}\nendstream`;
const page = (content: number, resources: string): string =>
  `<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Contents ${content} 0 R/Resources<<${resources}>>>>`;
const IMAGE = stream('\xff', '/Type/XObject/Subtype/Image/Width 1/Height 1/ColorSpace/DeviceGray/BitsPerComponent 8');
const CATALOGUE = '<</Type/Catalog/Pages 2 0 R>>';

test('the words of some pages are there although the others are pictures', () => {
  const bytes = pdf(
    CATALOGUE,
    '<</Type/Pages/Count 2/Kids[3 0 R 4 0 R]>>',
    page(5, '/Font<</F 7 0 R>>'),
    page(6, '/XObject<</I 8 0 R>>'),
    stream('BT /F 12 Tf 50 700 Td (Cover text) Tj ET'),
    stream('500 0 0 700 50 50 cm /I Do'),
    '<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>',
    IMAGE,
  );
  assert.match(pdfToMarkdown(bytes).text, /Cover text/);
});

test('which pages are pictures is told, and nothing of pages with a picture beside their text, or without either', () => {
  const kinds = ['text', 'picture', 'picture', 'both', 'nothing', 'picture'];
  const resources = '/Font<</F 3 0 R>>/XObject<</I 4 0 R>>';
  const shown = 'q 500 0 0 700 50 50 cm /I Do Q';
  const contents = kinds.map((kind, index) =>
    [
      kind === 'text' || kind === 'both' ? `BT /F 12 Tf 50 700 Td (Some words of page ${index + 1}) Tj ET` : '',
      kind === 'picture' || kind === 'both' ? shown : '',
    ].join('\n'),
  );
  const bytes = pdf(
    CATALOGUE,
    `<</Type/Pages/Count 6/Kids[${kinds.map((_, index) => `${5 + index} 0 R`).join(' ')}]>>`,
    '<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>',
    IMAGE,
    ...kinds.map((_, index) => page(11 + index, resources)),
    ...contents.map((content) => stream(content)),
  );
  const { text } = pdfToMarkdown(bytes);
  assert.match(
    text,
    /Some words of page 1\n.*Some words of page 4\n\n\*\(Without any text, perhaps because they were scanned: pages 2-3, 6\)\*\n$/s,
  );
});

test('pages that are nearly the same are all there', () => {
  const numbers = [1001, 1002, 1003, 1004];
  const invoice = (number: number): string =>
    [
      `Invoice number ${number}`,
      'Dear customer,',
      'we charge you for the following:',
      'Travel: 25.00 EUR',
      'Kind regards',
    ]
      .map((line, index) => `BT /F 12 Tf 50 ${750 - 20 * index} Td (${line}) Tj ET`)
      .join('\n');
  const bytes = pdf(
    CATALOGUE,
    `<</Type/Pages/Count 4/Kids[${numbers.map((_, index) => `${4 + index} 0 R`).join(' ')}]>>`,
    '<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>',
    ...numbers.map((_, index) => page(8 + index, '/Font<</F 3 0 R>>')),
    ...numbers.map((number) => stream(invoice(number))),
  );
  const { text } = pdfToMarkdown(bytes);
  for (const number of numbers) assert.match(text, new RegExp(`Invoice number ${number}`));
  assert.equal(text.split('Travel: 25.00 EUR').length, 5);
});

test('pictures alone are refused', () => {
  const bytes = pdf(
    CATALOGUE,
    '<</Type/Pages/Count 1/Kids[3 0 R]>>',
    page(4, '/XObject<</I 5 0 R>>'),
    stream('500 0 0 700 50 50 cm /I Do'),
    IMAGE,
  );
  assert.throws(() => pdfToMarkdown(bytes), { name: 'Refusal', message: /^has no text in it, perhaps/ });
});

test('letters that nobody can tell are refused, and not given as signs that say nothing', () => {
  const bytes = pdf(
    CATALOGUE,
    '<</Type/Pages/Count 1/Kids[3 0 R]>>',
    page(4, '/Font<</F 5 0 R>>'),
    stream('BT /F 12 Tf 50 700 Td <65e5672c8a9e306e65876bf83067> Tj ET'),
    '<</Type/Font/Subtype/Type0/BaseFont/HeiseiMin-W3/Encoding/UniJIS-UCS2-H/DescendantFonts[6 0 R]>>',
    '<</Type/Font/Subtype/CIDFontType0/BaseFont/HeiseiMin-W3/DW 1000' +
      '/CIDSystemInfo<</Registry(Adobe)/Ordering(Japan1)/Supplement 2>>/FontDescriptor 7 0 R>>',
    '<</Type/FontDescriptor/FontName/HeiseiMin-W3/Flags 6/FontBBox[0 -200 1000 900]/ItalicAngle 0/Ascent 700/Descent -200/CapHeight 700/StemV 80>>',
  );
  assert.throws(() => pdfToMarkdown(bytes), { name: 'Refusal', message: /^has no text that can be read/ });
});
