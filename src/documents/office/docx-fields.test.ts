import assert from 'node:assert/strict';
import { test } from 'node:test';
import { linkFields } from './docx-fields.ts';

const run = (content: string): string => `<w:r><w:rPr/>${content}</w:r>`;
const mark = (kind: string): string => run(`<w:fldChar w:fldCharType="${kind}"/>`);
const instruction = (text: string): string => run(`<w:instrText xml:space="preserve">${text}</w:instrText>`);
const words = (text: string): string => run(`<w:t>${text}</w:t>`);
const field = (address: string, result: string): string =>
  mark('begin') + instruction(address) + mark('separate') + result + mark('end');
const addresses = (xml: string): string[] => [...linkFields(xml).targets.values()].map(({ address }) => address);

test('the result of a link field becomes a link', () => {
  const before = words('see ');
  const paragraph = `<w:p>${before}${field(' HYPERLINK &quot;https://a.example/?b=1&amp;c=2&quot; \\l &quot;d&quot; ', words('this'))}</w:p>`;
  const { xml, targets } = linkFields(paragraph);
  assert.deepEqual([...targets], [['field1', { address: 'https://a.example/?b=1&c=2#d', isExternal: true }]]);
  assert.ok(xml.includes(`${mark('separate')}<w:hyperlink r:id="field1">${words('this')}</w:hyperlink>${mark('end')}`));
});

test('an instruction in several runs, several fields', () => {
  const split =
    mark('begin') +
    instruction(' HYPER') +
    instruction('LINK "https://a.example"') +
    mark('separate') +
    words('a') +
    mark('end');
  const xml = `<w:p>${split}${field('HYPERLINK "https://b.example"', words('b') + words('c'))}</w:p>`;
  assert.deepEqual(addresses(xml), ['https://a.example', 'https://b.example']);
});

test('other fields, links inside the document, fields that do not end stay as they are', () => {
  for (const paragraph of [
    `<w:p>${field(' PAGE ', words('7'))}</w:p>`,
    `<w:p>${field(' HYPERLINK \\l "chapter" ', words('chapter'))}</w:p>`,
    `<w:p>${mark('begin')}${instruction('HYPERLINK "https://a.example"')}${mark('separate')}${words('a')}</w:p><w:p>${mark('end')}</w:p>`,
    `<w:p>${field('HYPERLINK "https://a.example"', '')}</w:p>`,
    `<w:p>${mark('end')}${mark('separate')}</w:p>`,
  ]) {
    assert.deepEqual(linkFields(paragraph), { xml: paragraph, targets: new Map() });
  }
});
