import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { TextItem } from '@firecrawl/pdf-inspector';
import fc from 'fast-check';
import { align, edit } from './alignment.ts';
import { codeEdits } from './code.ts';
import { linkEdits } from './links.ts';
import { listItemEdits, nestLists } from './lists.ts';

/** A piece of text as the library describes it. */
function item(text: string, place: Partial<TextItem>): TextItem {
  return {
    text,
    page: 1,
    x: 0,
    y: 0,
    width: text.length * 6,
    height: 10,
    fontSize: 10,
    isBold: false,
    isItalic: false,
    itemType: 'Text',
    fixedPitch: false,
    ...place,
  } as TextItem;
}

const repaired = (markdown: string, items: readonly TextItem[], repair: typeof codeEdits): string =>
  edit(markdown, repair(markdown, items, align(markdown, items)));

describe('where text stands', () => {
  test('whatever became markup', () => {
    const markdown = '# A **b** <u>c</u>\n\n| d \\| e |';
    const ranges = align(
      markdown,
      ['A', 'b', 'c', 'd | e', 'f'].map((text) => ({ text })),
    );
    assert.deepEqual(
      ranges.map((range) => range && markdown.slice(range.start, range.end)),
      ['A', 'b', 'c', 'd \\| e', undefined],
    );
  });

  test('a short word is not looked for far away', () => {
    const ranges = align(`${'x'.repeat(500)} no`, [{ text: 'no' }]);
    assert.deepEqual(ranges, [undefined]);
  });

  test('characters outside the basic plane', () => {
    const markdown = '𝒜 b';
    assert.deepEqual(align(markdown, [{ text: '𝒜' }, { text: 'b' }]), [
      { start: 0, end: 2 },
      { start: 3, end: 4 },
    ]);
  });

  test('ranges follow each other', () => {
    const words = fc.array(fc.string({ maxLength: 8 }), { maxLength: 20 });
    fc.assert(
      fc.property(fc.string({ maxLength: 200 }), words, (markdown, texts) => {
        let end = 0;
        for (const range of align(
          markdown,
          texts.map((text) => ({ text })),
        )) {
          if (range === undefined) continue;
          assert.ok(range.start >= end && range.end > range.start && range.end <= markdown.length);
          end = range.end;
        }
      }),
    );
  });
});

describe('code', () => {
  const code = (text: string, y: number, x = 0): TextItem => item(text, { y, x, fixedPitch: true });
  const lines = [
    item('As follows, for instance:', { y: 100 }),
    code('if (a) {', 80),
    code('b();', 68, 12),
    code('}', 56),
  ];

  test('that was run together is a block again', () => {
    const markdown = `As follows, for instance: if (a) { b(); }\n\nThen ${'words '.repeat(20)}`;
    const items = [...lines, item(`Then ${'words '.repeat(20)}`, { y: 30 })];
    assert.match(
      repaired(markdown, items, codeEdits),
      /^As follows, for instance: \n\n```\nif \(a\) \{\n {2}b\(\);\n\}\n```\n\n/,
    );
  });

  test('keeps its empty lines, and its spaces where letters are narrow', () => {
    const words = `Then ${'words '.repeat(20)}`;
    const items = [
      item('As follows, for instance:', { y: 100 }),
      code('let a;', 80),
      code('let b;', 68),
      { ...code('call', 44), width: 18 },
      code('b;', 44, 22),
      item(words, { y: 10 }),
    ];
    const markdown = `As follows, for instance: let a; let b; call b;\n\n${words}`;
    assert.match(repaired(markdown, items, codeEdits), /\n```\nlet a;\nlet b;\n\ncall b;\n```\n/);
  });

  test('in the middle of a sentence is none, and so is a typewritten document', () => {
    const text = `Call a and b here, then ${'words '.repeat(20)}`;
    const sentence = [item('Call', { y: 80 }), code('a', 68), code('and b', 56), item(text.slice(11), { y: 44 })];
    assert.equal(repaired(text, sentence, codeEdits), text);
    const typed = 'if (a) { b(); }';
    assert.equal(repaired(typed, lines.slice(1), codeEdits), typed);
  });

  test('loses nothing when the page has another order', () => {
    const markdown = `As follows, for instance: if (a) { other words b(); }\n\n${'words '.repeat(20)}`;
    assert.equal(repaired(markdown, [...lines, item('words '.repeat(20), { y: 30 })], codeEdits), markdown);
  });
});

describe('lists', () => {
  test('get their levels from the page', () => {
    const items = [
      item('one', { x: 50 }),
      item('two', { x: 70 }),
      item('three', { x: 70 }),
      item('four', { x: 50 }),
      item('text', { x: 30 }),
    ];
    assert.equal(
      nestLists('- one\n- two ▪ three\n- four\ntext', items),
      '- one\n    - two\n    - three\n- four\n\ntext',
    );
  });

  test('go on over the page, where the margin is another', () => {
    const left = [item('text', { x: 30 }), item('1. one', { x: 50 })];
    const right = [item('2. two', { x: 80, page: 2 }), item('head', { x: 60, page: 2 })];
    assert.equal(nestLists('text\n\n1. one\n2. two\n\nhead', [...left, ...right]), 'text\n\n1. one\n2. two\n\nhead');
  });

  test('a first item is never deeper than the outermost level', () => {
    assert.equal(nestLists('text\n\n3. one', [item('text', { x: 0 }), item('3. one', { x: 90 })]), 'text\n\n3. one');
  });

  test('whose bullets are drawn begin where the structure says', () => {
    const items = [item('one', { mcid: 2 }), item('two', { mcid: 4 }), item('three', { mcid: 5 })];
    const structure = [1, 3].map((mcid) => ({ page: 1, mcid, role: 'Lbl' }));
    const markdown = 'one **two** three';
    const edits = listItemEdits(markdown, items, align(markdown, items), structure);
    assert.equal(edit(markdown, edits), '- one \n- **two** three');
  });
});

describe('links', () => {
  const area = (linkUrl: string, place: Partial<TextItem>): TextItem =>
    item(linkUrl, { itemType: 'Link' as TextItem['itemType'], linkUrl, height: 12, ...place });
  const linked = (markdown: string, items: readonly TextItem[]): string => edit(markdown, linkEdits(markdown, items));

  test('cover words', () => {
    const items = [item('see the page now', {}), area('https://a.example/(b)', { x: 24, width: 48, y: -2 })];
    assert.equal(linked('see the page now', items), 'see [the page](https://a.example/%28b%29) now');
  });

  test('go on in the next line, and end with another one', () => {
    const items = [
      item('one two', { y: 20 }),
      item('three four', { y: 8 }),
      area('https://a.example', { x: 24, width: 18, y: 18 }),
      area('https://a.example', { x: 0, width: 30, y: 6 }),
      area('https://b.example', { x: 36, width: 24, y: 6 }),
    ];
    assert.equal(linked('one two three four', items), 'one [two three](https://a.example) [four](https://b.example)');
  });

  test('that run something, lead inside, or are written out are left alone', () => {
    const items = (url: string): TextItem[] => [item('words', {}), area(url, { width: 30, y: -2 })];
    for (const url of ['javascript:a()', '#chapter', 'file:///etc/passwd'])
      assert.equal(linked('words', items(url)), 'words');
    const written = [item('https://a.example/b', {}), area('https://a.example/b', { width: 200, y: -2 })];
    assert.equal(linked('https://a.example/b', written), 'https://a.example/b');
  });
});
