import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { type Member, text, zip } from '../../../test/fixtures/documents/hostile.ts';
import { DEFAULT_LIMITS, openBudget } from '../conversion.ts';
import { openZip } from '../zip.ts';
import { officeToMarkdown } from './office.ts';
import { openPackage, type Package } from './package.ts';

const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const NAMES =
  'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main" xmlns:a="http://schemas.openxmlformats.org/drawingml/2006/main" ' +
  'xmlns:p="http://schemas.openxmlformats.org/presentationml/2006/main" xmlns:c="http://schemas.openxmlformats.org/drawingml/2006/chart" ' +
  `xmlns:m="http://schemas.openxmlformats.org/officeDocument/2006/math" xmlns:r="${OFFICE}"`;

const targets = (...paths: readonly string[]): string => {
  const all = paths.map((path, index) => {
    const type = /\/?([a-z]+?)\d*\.xml$/i.exec(path)?.[1]?.replace(/^comment$/, 'comments');
    return `<Relationship Id="r${index}" Type="${OFFICE}/${type}" Target="${path}"/>`;
  });
  return `<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships">${all.join('')}</Relationships>`;
};
const contentTypes = (path: string, type: string): Member =>
  text(
    '[Content_Types].xml',
    `<Types><Override PartName="/${path}" ContentType="application/vnd.openxmlformats-officedocument.${type}.main+xml"/></Types>`,
  );

async function read(members: readonly Member[]): Promise<string> {
  const parts = openPackage(openZip(zip(members), openBudget(DEFAULT_LIMITS))) as Package;
  return (await officeToMarkdown(parts, DEFAULT_LIMITS)).text;
}

/** A Word document of these paragraphs, and of parts beside it. */
function word(body: string, parts: Readonly<Record<string, string>> = {}): Promise<string> {
  return read([
    contentTypes('word/document.xml', 'wordprocessingml.document'),
    text('word/document.xml', `<w:document ${NAMES}><w:body>${body}</w:body></w:document>`),
    text('word/_rels/document.xml.rels', targets(...Object.keys(parts))),
    ...Object.entries(parts).map(([path, xml]) => text(`word/${path}`, xml)),
  ]);
}

/** A presentation of one slide, and of parts beside it. */
function slide(shapes: string, parts: Readonly<Record<string, string>> = {}): Promise<string> {
  return read([
    contentTypes('ppt/presentation.xml', 'presentationml.presentation'),
    text(
      'ppt/presentation.xml',
      `<p:presentation ${NAMES}><p:sldIdLst><p:sldId r:id="r0"/></p:sldIdLst></p:presentation>`,
    ),
    text('ppt/_rels/presentation.xml.rels', targets('slides/slide1.xml')),
    text('ppt/slides/slide1.xml', `<p:sld ${NAMES}><p:cSld><p:spTree>${shapes}</p:spTree></p:cSld></p:sld>`),
    text('ppt/slides/_rels/slide1.xml.rels', targets(...Object.keys(parts).map((path) => `../${path}`))),
    ...Object.entries(parts).map(([path, xml]) => text(`ppt/${path}`, xml)),
  ]);
}

const p = (...runs: readonly string[]): string => `<w:p>${runs.join('')}</w:p>`;
const r = (words: string, properties = ''): string =>
  `<w:r>${properties === '' ? '' : `<w:rPr>${properties}</w:rPr>`}<w:t xml:space="preserve">${words}</w:t></w:r>`;
const title = (words: string): string =>
  `<p:sp><p:nvSpPr><p:nvPr><p:ph type="title"/></p:nvPr></p:nvSpPr><p:txBody><a:p><a:r><a:t>${words}</a:t></a:r></a:p></p:txBody></p:sp>`;

const points = (values: readonly string[]): string =>
  values.map((value, index) => (value === '' ? '' : `<c:pt idx="${index}"><c:v>${value}</c:v></c:pt>`)).join('');
const series = (name: string, categories: readonly string[], values: readonly string[], format = 'General'): string =>
  `<c:ser><c:tx><c:strRef><c:f>S!A1</c:f><c:strCache>${points([name])}</c:strCache></c:strRef></c:tx>` +
  `<c:cat><c:strRef><c:strCache>${points(categories)}</c:strCache></c:strRef></c:cat>` +
  `<c:val><c:numRef><c:numCache><c:formatCode>${format}</c:formatCode>${points(values)}</c:numCache></c:numRef></c:val></c:ser>`;
const chart = (heading: string, ...all: readonly string[]): string =>
  `<c:chartSpace ${NAMES}><c:chart><c:title><c:tx><c:rich><a:p><a:r><a:t>${heading}</a:t></a:r></a:p></c:rich></c:tx></c:title>` +
  `<c:plotArea><c:barChart>${all.join('')}</c:barChart><c:valAx><c:title><c:tx><c:rich><a:p><a:r><a:t>Axis</a:t></a:r></a:p></c:rich></c:tx></c:title></c:valAx></c:plotArea></c:chart></c:chartSpace>`;
const FIGURES = chart(
  'Ships &amp; quays',
  series('2023', ['North', 'South &lt; 5'], ['0.25', ''], '0.0%'),
  series('2024', ['North', 'South &lt; 5'], ['7', '1234.5'], '#,##0.00'),
);
const TABLE = '|  | 2023 | 2024 |\n| --- | --- | --- |\n| North | 25.0% | 7.00 |\n| South < 5 |  | 1,234.50 |';

describe('charts are tables of their figures', () => {
  test('on slides', async () => {
    const frame =
      '<p:graphicFrame><a:graphic><a:graphicData><c:chart r:id="r0"/></a:graphicData></a:graphic></p:graphicFrame>';
    const made = await slide(title('Figures') + frame + frame, { 'charts/chart1.xml': FIGURES });
    assert.equal(made, `# Figures\n\nShips & quays\n\n${TABLE}\n`);
  });

  test('in text, below the paragraph that they are in', async () => {
    const drawing =
      '<w:r><w:drawing><a:graphic><a:graphicData><c:chart r:id="r0"/></a:graphicData></a:graphic></w:drawing></w:r>';
    const made = await word(p(r('Look: '), drawing) + p(r('after')), { 'charts/chart1.xml': FIGURES });
    assert.equal(made, `Look:\n\nShips & quays\n\n${TABLE}\n\nafter\n`);
  });

  test('each of which has its own categories', async () => {
    const two = chart('', series('a', ['x'], ['1']), series('b', ['y', 'z'], ['2', '3']));
    const frame = '<p:graphicFrame><c:chart r:id="r0"/></p:graphicFrame>';
    const made = await slide(title('T') + frame, { 'charts/chart1.xml': two });
    assert.equal(made, '# T\n\n|  | a |\n| --- | --- |\n| x | 1 |\n\n|  | b |\n| --- | --- |\n| y | 2 |\n| z | 3 |\n');
  });
});

test('few points far apart make no table of nothing', async () => {
  const far = Array.from({ length: 3_000 }, (_, index) => {
    const point = `<c:pt idx="${index}"><c:v>1</c:v></c:pt>`;
    return `<c:ser><c:val><c:numRef><c:numCache>${point}</c:numCache></c:numRef></c:val></c:ser>`;
  });
  const parts = { 'charts/chart1.xml': chart('', ...far) };
  await assert.rejects(slide('<p:graphicFrame><c:chart r:id="r0"/></p:graphicFrame>', parts), {
    name: 'OverLimit',
    message: 'has charts that are too large for tables',
  });
});

describe('comments', () => {
  test('on text are footnotes', async () => {
    const made = await word(
      p(
        r('Quay'),
        '<w:r><w:commentReference w:id="0"/></w:r>',
        r(' seven'),
        '<w:r><w:commentReference w:id="1"/></w:r>',
      ),
      {
        'comments.xml':
          `<w:comments ${NAMES}><w:comment w:id="0" w:author="Anna">${p(r('Which '), r('one', '<w:b/>'))}${p(r('North?'))}</w:comment>` +
          `<w:comment w:id="1">${p(r('Yes'))}</w:comment></w:comments>`,
      },
    );
    assert.equal(
      made,
      'Quay[^1] seven[^2]\n\n[^1]: Comment by Anna: Which **one**\n\n    North?\n\n[^2]: Comment: Yes\n',
    );
  });

  test('on slides stand below them', async () => {
    const made = await slide(title('Figures'), {
      'comments/comment1.xml': `<p:cmLst ${NAMES}><p:cm authorId="0" idx="1"><p:text>Check this</p:text></p:cm></p:cmLst>`,
      'commentAuthors.xml': `<p:cmAuthorLst ${NAMES}><p:cmAuthor id="0" name="Bob"/></p:cmAuthorLst>`,
    });
    assert.equal(made, '# Figures\n\n> Comment by Bob: Check this\n');
  });

  test('on cells of OpenDocument sheets', async () => {
    const of = (name: string): string => `xmlns:${name}="urn:oasis:names:tc:opendocument:xmlns:${name}:1.0"`;
    const made = await read([
      text('mimetype', 'application/vnd.oasis.opendocument.spreadsheet'),
      text(
        'content.xml',
        `<office:document-content ${['office', 'text', 'table'].map(of).join(' ')} xmlns:dc="http://purl.org/dc/elements/1.1/"><office:body><office:spreadsheet><table:table table:name="S"><table:table-row>
        <table:table-cell office:value-type="float" office:value="5"><office:annotation><dc:creator>Anna</dc:creator><text:p>Too much</text:p></office:annotation><text:p>5</text:p></table:table-cell>
        </table:table-row></table:table></office:spreadsheet></office:body></office:document-content>`,
      ),
    ]);
    assert.equal(made, '## S\n\n| 5[^1] |\n| --- |\n\n[^1]: Comment by Anna: Too much\n');
  });
});

describe('text of Word documents', () => {
  test('that was deleted, moved away or hidden is left out', async () => {
    const made = await word(
      p(
        r('kept '),
        '<w:del w:id="1"><w:r><w:delText>deleted</w:delText></w:r></w:del>',
        `<w:ins w:id="2">${r('inserted ')}</w:ins><w:moveFrom w:id="3">${r('moved')}</w:moveFrom>`,
        r('hidden', '<w:b/><w:vanish/>'),
        r('shown ', '<w:vanish w:val="0"/>'),
        r('on the web', '<w:webHidden/>'),
      ),
    );
    assert.equal(made, 'kept inserted shown on the web\n');
  });

  test('of formulas is TeX', async () => {
    const letter = (name: string): string => `<m:r><m:t>${name}</m:t></m:r>`;
    const fraction = `<m:oMath><m:f><m:num>${letter('a')}</m:num><m:den>${letter('b')}</m:den></m:f></m:oMath>`;
    assert.equal(await word(p(fraction)), '$\\frac ab$\n');
  });
});
