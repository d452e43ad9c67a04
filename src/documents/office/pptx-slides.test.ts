import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Package } from './package.ts';
import { withBullets, withoutDecoration } from './pptx-slides.ts';

const BULLET = '<a:buChar char="•"/>';
const shape = (placeholder: string, ...content: string[]): string =>
  `<p:sp><p:nvSpPr><p:nvPr>${placeholder}</p:nvPr></p:nvSpPr><p:txBody>${content.join('')}</p:txBody></p:sp>`;
const run = '<a:r><a:t>text</a:t></a:r>';

/** A slide whose layout has this in it. */
const parts = (layout: string): Package => ({
  kind: 'pptx',
  main: undefined,
  paths: [],
  find: (path) => path,
  text: (path) =>
    path === 'ppt/slides/_rels/slide1.xml.rels'
      ? '<Relationships><Relationship Id="r" Target="../slideLayouts/slideLayout2.xml"/></Relationships>'
      : path === 'ppt/slideLayouts/slideLayout2.xml'
        ? layout
        : undefined,
});
const bullets = (slide: string, layout = ''): number =>
  withBullets(slide, 'ppt/slides/slide1.xml', parts(layout)).split(BULLET).length - 1;

describe('bullets that stand in the layout are written into the slide', () => {
  const body = '<p:ph type="body" idx="1"/>';
  test('of body text, whatever says how it is set', () => {
    assert.equal(bullets(shape(body, `<a:p>${run}</a:p>`)), 1);
    assert.equal(bullets(shape('<p:ph idx="1"/>', `<a:p><a:pPr lvl="1"/>${run}</a:p>`)), 1);
    assert.equal(bullets(shape(body, `<a:p><a:pPr lvl="1"><a:spcBef/></a:pPr>${run}</a:p>`)), 1);
  });

  test('the level stays', () => {
    const slide = withBullets(shape(body, `<a:p><a:pPr lvl="1"/>${run}</a:p>`), 'ppt/slides/slide1.xml', parts(''));
    assert.ok(slide.includes(`<a:p><a:pPr lvl="1">${BULLET}</a:pPr>${run}</a:p>`));
  });

  test('not of titles, free text, empty paragraphs, or where the paragraph decides', () => {
    assert.equal(bullets(shape('<p:ph type="title"/>', `<a:p>${run}</a:p>`)), 0);
    assert.equal(bullets(shape('', `<a:p>${run}</a:p>`)), 0);
    assert.equal(bullets(shape(body, '<a:p><a:endParaRPr/></a:p>')), 0);
    assert.equal(bullets(shape(body, `<a:p><a:pPr><a:buNone/></a:pPr>${run}</a:p>`)), 0);
    assert.equal(bullets(shape(body, `<a:p><a:pPr><a:buAutoNum type="arabicPeriod"/></a:pPr>${run}</a:p>`)), 0);
  });

  test('not on levels where the layout has none', () => {
    const layout = shape(body, '<a:lstStyle><a:lvl1pPr marL="0"><a:buNone/></a:lvl1pPr></a:lstStyle>');
    assert.equal(bullets(shape(body, `<a:p>${run}</a:p>`, `<a:p><a:pPr lvl="1"/>${run}</a:p>`), layout), 1);
    const unnumbered = layout.replace(' idx="1"', '');
    assert.equal(bullets(shape('<p:ph idx="0"/>', `<a:p>${run}</a:p>`), unnumbered), 0);
    assert.equal(bullets(shape(body, `<a:p>${run}</a:p>`), unnumbered), 1);
  });
});

test('numbers, dates and footers of slides are left out', () => {
  const title = shape('<p:ph type="title"/>', run);
  assert.equal(
    withoutDecoration(
      shape('<p:ph type="sldNum" idx="12"/>', run) +
        title +
        shape('<p:ph type="dt"/>', run) +
        shape('<p:ph type="ftr"/>', run),
    ),
    title,
  );
});
