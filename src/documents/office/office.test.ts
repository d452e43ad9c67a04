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

const ODF = 'urn:oasis:names:tc:opendocument:xmlns';
const ODF_NAMES = ['office', 'text', 'table', 'style', 'chart']
  .map((name) => `xmlns:${name}="${ODF}:${name}:1.0"`)
  .concat(`xmlns:draw="${ODF}:drawing:1.0"`, `xmlns:fo="${ODF}:xsl-fo-compatible:1.0"`)
  .concat('xmlns:dc="http://purl.org/dc/elements/1.1/"', 'xmlns:xlink="http://www.w3.org/1999/xlink"')
  .join(' ');

/** An OpenDocument file. */
function open(
  kind: 'text' | 'spreadsheet' | 'presentation',
  body: string,
  { styles = '', object }: { readonly styles?: string; readonly object?: string } = {},
): Promise<string> {
  const automatic = `<office:automatic-styles>${styles}</office:automatic-styles>`;
  return read([
    text('mimetype', `application/vnd.oasis.opendocument.${kind}`),
    text(
      'content.xml',
      `<office:document-content ${ODF_NAMES}>${automatic}<office:body><office:${kind}>${body}</office:${kind}></office:body></office:document-content>`,
    ),
    ...(object === undefined ? [] : [text('Object 1/content.xml', object)]),
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

  test('that share categories, or have none, are one', async () => {
    const frame = (id: string): string => `<p:graphicFrame><c:chart r:id="${id}"/></p:graphicFrame>`;
    const scattered = (x: string, y: string): string =>
      `<c:ser><c:xVal><c:numRef><c:numCache>${points([x])}</c:numCache></c:numRef></c:xVal>` +
      `<c:yVal><c:numRef><c:numCache>${points([y])}</c:numCache></c:numRef></c:yVal></c:ser>`;
    const made = await slide(title('T') + frame('r0') + frame('r1') + frame('r2'), {
      'charts/chart1.xml': chart('', series('a', ['x'], ['1']), series('b', [], ['2'])),
      'charts/chart2.xml': chart('', series('a', [], ['', '1']), series('b', [], ['2', '3'])),
      'charts/chart3.xml': chart('', scattered('0.5', '7')),
    });
    assert.equal(
      made,
      '# T\n\n|  | a | b |\n| --- | --- | --- |\n| x | 1 | 2 |\n\n' +
        '|  | a | b |\n| --- | --- | --- |\n| 1 |  | 2 |\n| 2 | 1 | 3 |\n\n|  |  |\n| --- | --- |\n| 0.5 | 7 |\n',
    );
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
    const cell =
      '<table:table-cell office:value-type="float" office:value="5"><office:annotation><dc:creator>Anna</dc:creator><text:p>Too much</text:p></office:annotation><text:p>5</text:p></table:table-cell>';
    const made = await open(
      'spreadsheet',
      `<table:table table:name="S"><table:table-row>${cell}</table:table-row></table:table>`,
    );
    assert.equal(made, '## S\n\n| 5[^1] |\n| --- |\n\n[^1]: Comment by Anna: Too much\n');
  });
});

describe('OpenDocument', () => {
  test('behind a password is refused, and says so', async () => {
    const locked = [
      text('mimetype', 'application/vnd.oasis.opendocument.text'),
      text('META-INF/manifest.xml', '<manifest><file-entry><encryption-data/></file-entry></manifest>'),
      { path: 'content.xml', bytes: Buffer.of(0x00, 0x9c, 0x01, 0x02) },
    ];
    await assert.rejects(async () => read(locked), { name: 'Refusal', message: 'is protected by a password' });
  });

  test('hidden text is left out', async () => {
    const style = (name: string, family: string, display: string): string =>
      `<style:style style:name="${name}" style:family="${family}"><style:text-properties${display}/></style:style>`;
    const styles =
      style('P1', 'paragraph', ' text:display="none"') +
      style('T1', 'text', ' text:display="none"') +
      '<style:style style:name="T2" style:family="text" style:parent-style-name="T1"/>' +
      style('T3', 'text', ' text:display="true"') +
      style('T4', 'text', ' fo:font-weight="bold"');
    const span = (name: string, words: string): string => `<text:span text:style-name="${name}">${words}</text:span>`;
    const made = await open(
      'text',
      `<text:p>a${span('T1', ' gone')}${span('T2', ' too')}${span('T4', ' bold')}</text:p><text:p text:style-name="P1">hidden${span('T4', ' all')}</text:p>` +
        `<text:p text:style-name="P1">hidden${span('T3', 'shown')}</text:p><text:p>${span('T1', 'gone')}</text:p><text:p>end</text:p>`,
      { styles },
    );
    assert.equal(made, 'a **bold**\n\nshown\n\nend\n');
  });

  test('values of cells are shown where nothing else is', async () => {
    const cells = [
      'office:value-type="float" office:value="5.5"',
      'office:value-type="percentage" office:value="0.075"',
      'office:value-type="string" office:string-value="R &amp; D"',
      'office:value-type="date" office:date-value="2024-05-06T07:08:00"',
      'office:value-type="time" office:time-value="PT01H30M00S"',
      'office:value-type="boolean" office:boolean-value="true"',
    ].map((value, index) => `<table:table-cell ${value}${index % 2 === 0 ? '/>' : '></table:table-cell>'}`);
    const made = await open(
      'spreadsheet',
      `<table:table table:name="S"><table:table-row>${cells.join('')}</table:table-row></table:table>`,
    );
    assert.match(made, /^\| 5\.5 \| 7\.5% \| R & D \| 2024-05-06 07:08:00 \| 01:30:00 \| TRUE \|$/m);
  });

  const row = (...cells: string[]): string =>
    `<table:table-row>${cells.map((each) => `<table:table-cell><text:p>${each}</text:p></table:table-cell>`).join('')}</table:table-row>`;
  const object = `<office:document-content ${ODF_NAMES}><office:body><office:chart><chart:chart><chart:title><text:p>Ships &amp; quays</text:p></chart:title>
    <chart:plot-area><chart:axis><chart:title><text:p>Axis</text:p></chart:title></chart:axis></chart:plot-area>
    <table:table table:name="local-table"><table:table-header-rows>${row('', '2023', '2024')}</table:table-header-rows>
    <table:table-rows>${row('North', '0.25', '7')}${row('South', 'NaN', '1')}</table:table-rows></table:table></chart:chart></office:chart></office:body></office:document-content>`;
  const figures = '|  | 2023 | 2024 |\n| --- | --- | --- |\n| North | 0.25 | 7 |\n| South |  | 1 |';
  const drawn =
    '<draw:frame><draw:object xlink:href="./Object 1"/><draw:image xlink:href="./ObjectReplacements/Object 1"/></draw:frame>';

  test('charts in text are tables of their figures', async () => {
    const made = await open('text', `<text:p>Look: ${drawn}${drawn}</text:p><text:p>after</text:p>`, { object });
    assert.equal(made, `Look:\n\nShips & quays\n\n${figures}\n\nafter\n`);
  });

  test('charts on slides are, too', async () => {
    const made = await open('presentation', `<draw:page draw:name="p">${drawn}</draw:page>`, { object });
    assert.equal(made, `Ships & quays\n\n${figures}\n`);
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
        r('too', '<w:vanish w:val="on"/>'),
        r('shown ', '<w:vanish w:val="0"/>'),
        r('on the web', '<w:webHidden/>'),
      ),
    );
    assert.equal(made, 'kept inserted shown on the web\n');
  });

  test('has hyphens at which no line breaks', async () => {
    assert.equal(await word(p(r('e'), '<w:r><w:noBreakHyphen/></w:r>', r('mail'))), 'e-mail\n');
  });

  test('in fonts of symbols is text', async () => {
    const symbol = (font: string, char: string): string => `<w:r><w:sym w:font="${font}" w:char="${char}"/></w:r>`;
    const made = await word(
      p(
        ...['F0FC', 'F0FB', 'F0A7', 'F0E0', 'F0E8', 'F0FE', 'F001'].map((char) => symbol('Wingdings', char)),
        symbol('Symbol', 'F0B3'),
        symbol('Symbol', '0061'),
        symbol('Segoe UI Symbol', '2713'),
        symbol('Webdings', 'F061'),
        r(' done'),
      ),
    );
    assert.equal(made, '✓✗▪→➔☑≥α✓ done\n');
  });

  test('of formulas is TeX', async () => {
    const letter = (name: string): string => `<m:r><m:t>${name}</m:t></m:r>`;
    const fraction = `<m:oMath><m:f><m:num>${letter('a')}</m:num><m:den>${letter('b')}</m:den></m:f></m:oMath>`;
    assert.equal(await word(p(fraction)), '$\\frac ab$\n');
  });
});
