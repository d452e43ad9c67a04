import assert from 'node:assert/strict';
import { before, describe, test } from 'node:test';
import fc from 'fast-check';
import type { Page } from 'playwright-core';
import { withoutBrowser } from './chromium.ts';
import { setMarkdownStage } from './markdown-stage.ts';

/** Pieces of which texts are made that reach every corner of the grammar, and some that hope to reach beyond it. */
const PIECES = [
  ...[
    'word',
    'zwei Wörter',
    'مرحبا',
    '😀',
    '1',
    '12',
    'x',
    'A',
    ' ',
    '  ',
    '    ',
    '\t',
    '\n',
    '\n',
    '\n',
    '\n\n',
    '\n\n',
    // What JavaScript takes for blanks or ends of lines, and the grammar does not.
    '\u00a0',
    '\u2028',
    '\r\n',
    '\u0000',
  ],
  ...[
    '*',
    '**',
    '_',
    '__',
    '~~',
    '`',
    '``',
    '```',
    '```js',
    '~~~',
    '````',
    '# ',
    '## ',
    '#',
    '> ',
    '>',
    '- ',
    '-',
    '* ',
    '+ ',
  ],
  ...[
    '1. ',
    '2. ',
    '3) ',
    '  - ',
    '   ',
    '---',
    '***',
    '===',
    '|',
    '| a | b |',
    '|---|---|',
    '| 1 | 2 |',
    'a | b',
    '---|---',
  ],
  ...[
    '[',
    ']',
    '(',
    ')',
    '](',
    '[a](https://example.com/x)',
    '[a][b]',
    '[b]',
    '[b]: https://example.com/b',
    '[b]:',
    '"title"',
  ],
  ...[
    '![',
    '![p](/media/1_p.png)',
    '![p](https://evil.example/p.png)',
    '<',
    '>',
    '<br>',
    '&amp;',
    '&',
    '\\',
    '\\*',
    '!',
    ':',
  ],
  ...[
    '$',
    '$$',
    '$x^2$',
    '\\(',
    '\\)',
    '\\[',
    '\\]',
    '$5 ',
    'https://example.com/path',
    '<https://example.com>',
    '[ ] ',
    '[x] ',
  ],
  ...[
    '<a href="/media/1.png" data-src="/media/1.png"><img src="/thumbnail/1.png" alt="x"></a>',
    '<video src="/media/v.mp4" controls></video>',
  ],
  ...[
    '「',
    '」',
    '强调',
    '。',
    '> [!NOTE]',
    '[!TIP]\n',
    '[^1]',
    '[^1]: ',
    '<details>',
    '<details><summary>s</summary>',
    '<details><summary>s</summary>a</details>',
    '<summary>s</summary>',
    '</details>',
  ],
  ...[
    '<script>',
    '</script>',
    'javascript:alert(1)',
    '[a](javascript:alert(1))',
    '<img src=x onerror=alert(1)>',
    '<svg onload=alert(1)>',
  ],
  ...[
    'data:text/html,x',
    '" onmouseover="alert(1)',
    "' style='x",
    '{',
    '}',
    '^',
    '=',
    '\\frac{1}{2}',
    '\\href{javascript:alert(1)}{x}',
  ],
];

const texts = fc.oneof(
  fc.array(fc.constantFrom(...PIECES), { maxLength: 40 }).map((pieces) => pieces.join('')),
  fc
    .array(fc.array(fc.constantFrom(...PIECES), { maxLength: 5 }), { maxLength: 12 })
    .map((lines) => lines.map((line) => line.join('')).join('\n')),
  // A fence is read by a reader of its own while it grows.
  fc
    .tuple(
      fc.constantFrom('~~~', '   ~~~', ' ```js', ' ````', ' ~~~ a'),
      fc.array(fc.constantFrom(...PIECES, '\t', ' ', '\n', '~~~', '````', '\u3000', '\u2029', '\f'), { maxLength: 14 }),
    )
    .map(([fence, pieces]) => fence + pieces.join('')),
  fc.string({ unit: 'grapheme', maxLength: 80 }),
);

const CASES = Number(process.env['SLUICE_MARKDOWN_CASES'] ?? 400);

describe('markdown of any form', { skip: withoutBrowser, timeout: 900_000 }, () => {
  const stage = setMarkdownStage();
  let page: Page;
  let requests: string[];
  let problems: string[];

  before(async () => {
    ({ page, requests, problems } = await stage.open());
  });

  test('looks the same in the end, however it was cut into pieces', async () => {
    const cases = fc.tuple(texts, fc.array(fc.nat(), { maxLength: 12 }));
    await fc.assert(
      fc.asyncProperty(cases, async ([text, wishes]) => {
        const cuts = [...new Set(wishes.map((wish) => wish % (text.length + 1)))].sort((a, b) => a - b);
        const { pieces, once, whole } = await inPieces(page, text, cuts);
        assert.equal(pieces, once);
        assert.equal(once, whole);
      }),
      {
        numRuns: CASES,
        examples: [
          // A table whose first row is there at once, before anything of it was shown.
          [['a | b\n|---|---|\nword\n', [21]]],
          // An alert that is only part of a quote.
          [['> a\n>\n> [!NOTE]\n>\n> b\n\nc', [6, 16, 20]]],
          // Fences that are indented: a tab is more of a blank than is taken away, and no line begins behind U+2028.
          [['   ~~~\n\t\n', [8]]],
          [[' ~~~\n  \t x\n\n y\n', [5, 8]]],
          [[' ~~~\na\u2028 b\n', [9]]],
          [['~~~ a\u2028b\nx\n~~~\ny', [10]]],
          // A last line of no blanks that the grammar knows.
          [['~~~\nx\n\u00a0', [6]]],
        ],
      },
    );
  });

  test('looks the same in the end when it came character by character', async () => {
    await fc.assert(
      fc.asyncProperty(texts, async (text) => {
        const { pieces, once } = await inPieces(
          page,
          text,
          Array.from({ length: text.length }, (_, at) => at),
        );
        assert.equal(pieces, once);
      }),
      // A quote that opens with an empty line; a fence that turns out to be the head of a table.
      { numRuns: CASES / 4, examples: [['> \n> word\nword'], ['````a | b\n---|---']] },
    );
  });

  test('has nothing that runs and nothing that reaches another host, at any point', async () => {
    await fc.assert(
      fc.asyncProperty(texts, async (text) => {
        for (const shown of [text.slice(0, text.length / 2), text]) {
          const found = await page.evaluate(`(async () => {
            await markdown.render(${JSON.stringify(shown)}, ${shown === text});
            return markdown.dangers(document.querySelector('#markdown'));
          })()`);
          assert.deepEqual(found, []);
        }
      }),
      { numRuns: CASES / 4 },
    );
    const beyond = requests.filter((url) => !/\/(?:media|thumbnail|images|search|files)\//.test(url));
    assert.deepEqual(beyond, []);
    assert.deepEqual(
      problems.filter((problem) => !problem.includes('404')),
      [],
    );
  });
});

interface Rendered {
  readonly pieces: string;
  readonly once: string;
  readonly whole: string;
}

function inPieces(page: Page, text: string, cuts: readonly number[]): Promise<Rendered> {
  return page.evaluate(`markdown.inPieces(${JSON.stringify(text)}, ${JSON.stringify(cuts)})`);
}
