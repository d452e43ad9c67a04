import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { withoutBrowser } from './chromium.ts';
import { becomes } from './eventually.ts';
import { setMarkdownPage } from './markdown-stage.ts';

const FENCE = '```';

describe('markdown shows', { skip: withoutBrowser, timeout: 900_000 }, () => {
  const here = setMarkdownPage();
  const { render, update, words, count } = here;

  /** Copies, and waits until it was said: the button has these words for two seconds only, however late somebody looks. */
  async function copy(): Promise<void> {
    await here.page.evaluate(`(() => {
      const all = document.querySelector('#markdown');
      const look = () => { globalThis.wasSaid ||= [...all.querySelectorAll('button')].some((each) => each.innerText === 'Copied'); };
      new MutationObserver(look).observe(all, { subtree: true, childList: true, characterData: true });
    })()`);
    await here.page.getByRole('button', { name: 'Copy', exact: true }).click();
    await becomes(() => here.page.evaluate('wasSaid'), true);
  }

  test('formulas, but not money', async () => {
    await render(
      'It costs $5 and $10, or US$5-$10, in $HOME/$USER. But $x^2$, \\(y\\), $$z$$ and $n$th.\n\n$$\na\n$$\n\n\\[\nb\n\\]',
    );
    assert.equal(await count('.katex'), 6);
    assert.match(await words(), /\$5 and \$10, or US\$5-\$10, in \$HOME\/\$USER\./);
    assert.deepEqual(here.problems, []);
  });

  test('the source of what is no formula', async () => {
    await render('$\\frac{$ and $\\nosuchcommand{x}$');
    assert.match(await words(), /\\nosuchcommand\{x\}/);
  });

  test('code in colours, with its language; buttons copy it and wrap it', async () => {
    await here.page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await render(`${FENCE}js\nconst a = 1; // one\n\nfoo();\n${FENCE}`);
    assert.equal(await count('.hljs-keyword'), 1);
    await here.page.getByRole('button', { name: 'Wrap lines' }).click();
    assert.equal(await count('.markdown-code[data-wrap]'), 1);
    await copy();
    assert.equal(await here.page.evaluate('navigator.clipboard.readText()'), 'const a = 1; // one\n\nfoo();');
  });

  test('formulas and colours also in browsers that do not tell when they are idle, such as Safari', async () => {
    assert.equal(
      await here.page.evaluate('delete window.requestIdleCallback && typeof requestIdleCallback'),
      'undefined',
    );
    await render(`$x^2$\n\n${FENCE}js\nconst a = 1;\n${FENCE}`);
    assert.equal(await count('.katex'), 1);
    assert.equal(await count('.hljs-keyword'), 1);
    assert.deepEqual(here.problems, []);
  });

  test('emphasis beside East Asian marks, without blanks', async () => {
    await render('**「强调」**文字，这是**“引号”**的。**강조(설명)**은\n\n**スター。**次 a*b*c 2 * 3');
    const strong = await here.page.locator('strong').allInnerTexts();
    assert.deepEqual(strong, ['「强调」', '“引号”', '강조(설명)', 'スター。']);
    assert.equal(await count('em'), 1);
  });

  test('alerts, whose parts come later, and quotes that only look like them', async () => {
    await render('> [!WARNING]\n> Hot\n>\n> Very hot\n\n> [!NOTE] not alone\n\n> A quote\n>\n> [!TIP]\n> in it');
    assert.equal(await count('.markdown-warning'), 1);
    assert.deepEqual(await here.page.locator('.markdown-warning > p').allInnerTexts(), ['Warning', 'Hot', 'Very hot']);
    assert.equal(await count('.markdown-alert'), 1);
    await render('> [!NO', false);
    assert.doesNotMatch(await words(), /NO/);
  });

  test('footnotes as raised numbers, but not patterns', async () => {
    await render('One[^1] and two[^2], not [^a-z].\n\n[^1]: First\n[^2]: https://example.com/');
    assert.deepEqual(await here.page.locator('sup').allInnerTexts(), ['1', '2', '1', '2']);
    assert.match(await words(), /not \[\^a-z\][\s\S]*1 First[\s\S]*2 https/);
  });

  test('details that fold, stay unfolded while more comes, and hold nothing that runs', async () => {
    const begin = '<details><summary>More <b>of it</b></summary>\n\n- a **bold** item';
    await render(begin, false);
    await here.page.getByText('More of it').click();
    assert.equal(await here.page.getByText('bold').isVisible(), true);
    const end = '\n\n```js\n</details>\n```\n<img src=x onerror=alert(1)>\n</details>\n\nBehind it';
    await update(begin + end, true);
    assert.equal(await here.page.locator('strong').isVisible(), true);
    assert.equal(await count('details .markdown-code'), 1);
    assert.equal(await count('details img'), 0);
    assert.equal(await here.page.locator('details').getByText('Behind it').count(), 0);
    await render('<details onclick="alert(1)">\n<summary>a</summary>\n</details>');
    assert.equal(await count('details'), 0);
  });

  test('details that are written in one line, or begin or end in one with their words', async () => {
    const one = '<details><summary>One</summary>all **of** it</details>';
    await render(`${one}\n\nBehind it`);
    const parts = async (): Promise<readonly string[]> => {
      const texts = await here.page
        .locator('details')
        .evaluateAll((folds) => folds.map((fold) => fold.textContent.replaceAll(/\s+/g, ' ').trim()));
      return [...texts, String(await count('details > p > strong'))];
    };
    assert.deepEqual(await parts(), ['One all of it', '1']);
    assert.equal(await here.page.locator('details').getByText('Behind it').count(), 0);
    await render('<details><summary>Begun</summary>first\n\nlast **words**</details>\nBehind it');
    assert.deepEqual(await parts(), ['Begun first last words', '1']);
    await render('<details>\n<summary>Below</summary>- **a**\n- b\n</details>\nBehind it');
    assert.deepEqual(await parts(), ['Below a b', '0']);
    assert.equal(await count('details li'), 2);
    await render('<details><summary>Nothing</summary></details>\nBehind it');
    assert.deepEqual(await parts(), ['Nothing', '0']);
    // One in another one does not end that.
    await render(`<details><summary>Two</summary>\n\n${one}\n\nstill in it\n\n</details>\n\nBehind it`);
    assert.match((await parts())[0] ?? '', /still in it$/);
    // What stands behind the end of one could not be told from what is in it.
    await render(`${one} and more`);
    assert.deepEqual(await parts(), ['0']);
    assert.match(await words(), /and more/);
  });

  test('code is copied at plain http addresses, too, which have no clipboard', async () => {
    await here.page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
    await here.page.evaluate(`globalThis.kept = navigator.clipboard;
      Object.defineProperty(navigator, 'clipboard', { value: undefined, configurable: true })`);
    await render(`${FENCE}js\nfoo();\n${FENCE}`);
    await copy();
    assert.equal(await here.page.evaluate('kept.readText()'), 'foo();');
  });

  test('HTML in a frame that can reach nothing', async () => {
    await render(`${FENCE}html\n<h1>Hi</h1><script>parent.document.title = 'hacked'</script>\n${FENCE}`);
    await here.page.getByRole('button', { name: 'Preview' }).click();
    const frame = here.page.locator('iframe');
    assert.equal(await frame.getAttribute('sandbox'), 'allow-scripts');
    await here.page.frameLocator('iframe').getByRole('heading', { name: 'Hi' }).waitFor();
    assert.equal(await here.page.title(), 'Markdown');
    await here.page.getByRole('button', { name: 'Close preview' }).click();
    assert.equal(await frame.count(), 0);
  });

  test('diagrams when they are complete, as pictures; of those that are none the source', async () => {
    const flow = `graph TD\nA[Start] --> B{Hot?}\nB -->|yes| C(Pour) & D\nB -- no --> A\nC -.-> D\nD ==> D`;
    await render(`${FENCE}mermaid\n${flow}`, false);
    assert.equal(await count('figure'), 0);
    await update(`${FENCE}mermaid\n${flow}\n${FENCE}`, true);
    assert.equal(await count('figure img[src^="blob:"]'), 1);
    assert.equal(await here.page.locator('pre').isVisible(), false);
    // A picture has no lines.
    assert.equal(await here.page.getByRole('button', { name: 'Wrap lines' }).count(), 0);
    await here.page.getByRole('button', { name: 'Source' }).click();
    assert.equal(await here.page.locator('pre').innerText(), flow);
    assert.equal(await here.page.getByRole('button', { name: 'Wrap lines' }).count(), 1);
    const sequence =
      'sequenceDiagram\nparticipant A as Anna\nA->>B: hello <b>\nloop often\nB-->>A: hi\nend\nNote over A,B: done';
    await render(
      `${FENCE}mermaid\n${sequence}\n${FENCE}\n\n${FENCE}mermaid\ngantt\ntitle x\n${FENCE}\n\n${FENCE}mermaid\ngraph TD\nA[<img src=x onerror=alert(1)>] --> B\n${FENCE}`,
    );
    const areDrawn = `[...document.querySelectorAll('figure img')].every((each) => each.naturalWidth > 50)`;
    await becomes(() => here.page.evaluate(areDrawn), true);
    assert.equal(await count('figure img'), 2);
    assert.equal(await here.page.locator('pre:visible').innerText(), 'gantt\ntitle x');
    assert.deepEqual([here.requests, here.problems], [[], []]);
  });

  test('colours and diagrams whose workers were long on their way', async () => {
    const { page } = here;
    await page.clock.install();
    const asked: (() => Promise<void>)[] = [];
    await page.route('**/assets/*worker*', (route) => void asked.push(() => route.continue()));
    const rendered = render(`${FENCE}js\nconst a = 1;\n${FENCE}\n\n${FENCE}mermaid\ngraph TD\nA --> B\n${FENCE}`);
    await becomes(async () => asked.length, 2);
    // Longer than they may take for a text once they are there.
    await page.clock.fastForward(60_000);
    for (const go of asked) await go();
    await rendered;
    assert.equal(await count('.hljs-keyword'), 1);
    assert.equal(await count('figure img[src^="blob:"]'), 1);
  });

  test('media of this server, and links to those of others', async () => {
    await render(
      '<a href="/media/1.png" data-src="/media/1.png" data-width="800" data-height="600"><img src="/thumbnail/1.png" alt="A &quot;cat&quot;"></a>\n\n' +
        '<video src="/media/v.mp4" controls></video> <audio src="/media/a.mp3" controls></audio>\n\n' +
        '![remote](https://evil.example/x.png) <video src="https://evil.example/v.mp4" controls></video>',
    );
    const image = here.page.locator('img');
    assert.deepEqual(await Promise.all(['src', 'alt', 'width', 'height'].map((name) => image.getAttribute(name))), [
      '/thumbnail/1.png',
      'A "cat"',
      '400',
      '300',
    ]);
    assert.equal(await count('a[data-src="/media/1.png"]'), 1);
    assert.equal(await count(':is(video, audio)[controls]'), 2);
    assert.equal(await count('a[href^="https://evil.example/"]'), 2);
    assert.deepEqual(
      here.requests.filter((url) => !url.startsWith(here.origin)),
      [],
    );
  });

  test('a picture of another host within a link is words of that link', async () => {
    await render('[![build](https://evil.example/badge.svg)](https://example.com/build) ![x](https://evil.example/x)');
    const links = here.page.locator('.markdown a, a');
    assert.deepEqual(
      await links.evaluateAll((all) => all.map((each) => [each.getAttribute('href'), each.textContent])),
      [
        ['https://example.com/build', 'build (Picture on evil.example)'],
        ['https://evil.example/x', 'x (Picture on evil.example)'],
      ],
    );
  });

  test('a picture of a megabyte within the text, and the same as code', async () => {
    const address = `data:image/png;base64,${'iVBORw0K'.repeat(130_000)}`;
    await render(`Look: ![of it](${address}) here\n\n    ${address}`);
    assert.equal(await here.page.locator('img').getAttribute('src'), address);
    assert.equal((await here.page.locator('pre').innerText()).slice(0, 30), address.slice(0, 30));
    assert.equal(await words().then((text) => text.startsWith('Look:')), true);
  });

  test('tables that the keyboard can scroll, tasks, and a direction for each block', async () => {
    await render('| a | b |\n|---|--:|\n| 1 | 2 |\n\n- [ ] open\n- [x] done\n\nمرحبا\n\nHello');
    assert.equal(await count('[role="group"][tabindex="0"] table'), 1);
    assert.equal(await count('input[type="checkbox"][disabled]'), 2);
    assert.equal(await count('input[checked]'), 1);
    const directions = await here.page.evaluate(
      `[...document.querySelectorAll('#markdown > div > p')].map((each) => getComputedStyle(each).direction)`,
    );
    assert.deepEqual(directions, ['rtl', 'ltr']);
  });

  test('paragraphs and lists in the direction of their words, whatever code or formula they begin with', async () => {
    await render('`npm start` يبدأ الخادم\n\n- `ls` عرض الملفات\n\n$x$ هو عدد\n\n`npm start` starts it\n\n`npm start`');
    const directions = await here.page.evaluate(
      `[...document.querySelectorAll('#markdown > div > *')].map((each) => getComputedStyle(each).direction)`,
    );
    assert.deepEqual(directions, ['rtl', 'rtl', 'rtl', 'ltr', 'ltr']);
    assert.equal(
      await here.page.evaluate("getComputedStyle(document.querySelector('#markdown code')).direction"),
      'ltr',
    );
  });

  test('columns in the direction of their heads, from the first row on', async () => {
    const columns = (): Promise<unknown> =>
      here.page.evaluate("getComputedStyle(document.querySelector('#markdown table')).direction");
    const hebrew = '| 1. שם | Name |\n|---|---|\n| a | b |\n';
    await render(hebrew, false);
    assert.equal(await columns(), 'rtl');
    await update(`${hebrew}| c | d |\n`, true);
    assert.equal(await columns(), 'rtl');
    await render('| Name | שם |\n|---|---|\n| א | ב |\n');
    assert.equal(await columns(), 'ltr');
    await render('| `id` | שם |\n|---|---|\n| 1 | ב |\n');
    assert.equal(await columns(), 'rtl', 'whatever code they begin with');
    await render('| `id` | `name` |\n|---|---|\n| א | ב |\n');
    assert.equal(await columns(), 'ltr', 'of code alone');
  });

  test('figures below their heads, and in their own order', async () => {
    const hebrew = '| שם | סכום | יתרה |\n|---|---|--:|\n| אבי | -5 | +7.5% |\n';
    const cells = (): Promise<unknown> =>
      here.page.evaluate(`[...document.querySelectorAll('#markdown td:not(:empty)')].map((cell) => {
        const range = document.createRange();
        const text = document.createTreeWalker(cell, NodeFilter.SHOW_TEXT).nextNode();
        const [first, last] = [0, text.length - 1].map((at) => {
          range.setStart(text, at);
          range.setEnd(text, at + 1);
          return range.getBoundingClientRect().left;
        });
        const { left, right } = cell.getBoundingClientRect();
        return [(first + last) / 2 > (left + right) / 2 ? 'right' : 'left', first < last ? 'ltr' : 'rtl'];
      })`);
    const row = [
      ['right', 'rtl'],
      ['right', 'ltr'],
      ['left', 'ltr'],
    ];
    await render(`${hebrew}| דנה | 12`, false);
    assert.deepEqual(await cells(), [...row, ['right', 'rtl'], ['right', 'ltr']]);
    await update(`${hebrew}| דנה | 12 ימים | **-3** |\n`, true);
    assert.deepEqual((await cells()) as unknown[], [...row, ['right', 'rtl'], ['right', 'rtl'], ['left', 'ltr']]);
    assert.equal(await here.page.locator('td').last().innerText(), '-3');
  });
});
