import assert from 'node:assert/strict';
import { afterEach, beforeEach, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import { withoutBrowser } from './chromium.ts';
import { comesToFit } from './eventually.ts';
import { setMarkdownStage } from './markdown-stage.ts';
import { longTasks } from './trace.ts';

const FENCE = '```';

describe('markdown', { skip: withoutBrowser, timeout: 900_000 }, () => {
  const stage = setMarkdownStage();
  let page: Page;
  let requests: string[];
  let problems: string[];

  beforeEach(async () => {
    ({ page, requests, problems } = await stage.open());
  });

  afterEach(async () => {
    await page.close();
  });

  const render = (text: string, done = true): Promise<string> =>
    page.evaluate(`markdown.render(${JSON.stringify(text)}, ${done})`);
  const update = (text: string, done = false): Promise<string> =>
    page.evaluate(`markdown.update(${JSON.stringify(text)}, ${done})`);
  const words = (): Promise<string> => page.evaluate(`document.querySelector('#markdown').innerText`);
  const count = (selector: string): Promise<number> => page.locator(`#markdown ${selector}`).count();

  describe('while it streams', () => {
    /** What each beginning of a text shows, without marks that are only there for a moment. */
    const NEVER_SHOWN: readonly (readonly [text: string, shown: RegExp])[] = [
      ['A **bold word** here', /\*/],
      ['An *italic* and a ***both*** one', /\*/],
      ['A ~~struck~~ word', /~/],
      ['Some `code` here', /`/],
      ['Some ``co`de`` here', /``/],
      ['See [the page](https://example.com/a(b)) now', /[[\]()]|https/],
      ['**See [the *page*](https://example.com/)** now', /[*[\]()]|https/],
      ['A picture ![of *it*](/media/1_x.png) here', /[*[\]()]|media/],
      ['A formula \\(x^2\\) here', /\\/],
      ['A formula $$x^2$$ here', /\$/],
      ['<https://example.com/> is it', /[<>]/],
      ['Film: <video src="/media/1.mp4" controls></video> there', /[<>"=]/],
      [
        'Picture: <a href="/media/1.png" data-src="/media/1.png"><img src="/thumbnail/1.png" alt="x"></a> there',
        /[<>"=]/,
      ],
      ['Text\n\n- one\n- two\n  - three\n\n1. first\n2. second', /^-|^\d\.?$/m],
      ['Text\n- one\n- **two**', /[-*]/],
      ['# One\n\n## Two', /#/],
      [`Text\n\n${FENCE}js\nlet x;\n${FENCE}\nmore`, /`|js\b(?!\n)/],
      ['- [ ] open\n- [x] done', /[[\]]/],
      ['> a quote\n> goes on', />/],
      ['| a | b |\n|---|:-:|\n| 1 | 2 |', /[|]|--/],
      ['[site]: https://example.com/\n\nSee [it][site] now', /[[\]:]/],
    ];

    for (const [text, never] of NEVER_SHOWN) {
      test(`shows no loose marks of ${JSON.stringify(text.slice(0, 50))}`, async () => {
        await page.evaluate('markdown.open()');
        for (let length = 1; length < text.length; length++) {
          await update(text.slice(0, length));
          const shown = (await words()).replace(/Wrap lines|Copy|Show all/g, '');
          assert.doesNotMatch(shown, never, `after ${JSON.stringify(text.slice(0, length))}`);
        }
      });
    }

    test('a table is never anything else, nor does it move words in cells, and a fence is code at once', async () => {
      await render('Text\n\n| Name | Value |', false);
      assert.equal(await page.locator('.markdown').innerText(), 'Text');
      await update('Text\n\n| Name | Value |\n|---|--');
      assert.equal(await count('table'), 0);
      await update('Text\n\n| Name | Value |\n|---|--:|\n');
      assert.equal(await count('table th'), 2);
      await update('Text\n\n| Name | Value |\n|---|--:|\n| a');
      assert.equal(await count('table td'), 2);
      await render(`${FENCE}py`, false);
      assert.equal(await count('pre'), 1);
      assert.equal(await page.locator('.markdown-code-language').innerText(), '');
      await update(`${FENCE}py\nprint(1)\n${FENCE.slice(1)}`);
      assert.equal(await page.locator('pre').innerText(), 'print(1)');
    });

    test('a dash under a paragraph makes no heading for a moment', async () => {
      for (const text of ['Text\n-', 'Text\n--', 'Text\n=', 'a | b\n---']) {
        await render(text, false);
        assert.equal(await count(':is(h3, h4)'), 0, text);
      }
    });

    test('what is finished stays the same element, and so does a picture in what is not', async () => {
      await render('# Title\n\n- one\n- two\n\n![x](/media/1.png) and', false);
      await page.evaluate(`window.kept = [...document.querySelectorAll('#markdown :is(h3, ul, li, p, img)')]`);
      await update('# Title\n\n- one\n- two\n\n![x](/media/1.png) and **more');
      await update('# Title\n\n- one\n- two\n\n![x](/media/1.png) and **more** words\n\n> Next', true);
      const kept = await page.evaluate('window.kept.map((each) => each.isConnected)');
      assert.deepEqual([...new Set(kept as boolean[])], [true]);
    });

    test('a selection survives what comes behind it', async () => {
      await render('First paragraph.\n\nSecond par', false);
      await page.evaluate(`getSelection().selectAllChildren(document.querySelector('#markdown p:last-child'))`);
      await update('First paragraph.\n\nSecond paragraph, **longer**.\n\nThird.', true);
      assert.match(await page.evaluate('String(getSelection())'), /^Second par/);
    });

    test('finished blocks are not touched: the page sees no change of them', async () => {
      const text = '# Title\n\nText with $x$ and `code`.\n\n- one\n- two\n- three\n\n| a |\n|---|\n| 1 |\n| 2 |\n';
      await render(`${text}\nE`, false);
      await page.evaluate(`
        window.changes = [];
        window.finished = [...document.querySelectorAll('#markdown > div > *')].slice(0, -1);
        new MutationObserver((all) => {
          for (const { target } of all) if (finished.some((each) => each.contains(target))) changes.push(target.nodeName);
        }).observe(document.querySelector('#markdown'), { subtree: true, childList: true, attributes: true, characterData: true });
      `);
      for (const more of ['En', 'End', 'End.\n', 'End.\n\n## More', 'End.\n\n## More\n\n- x\n'])
        await update(`${text}\n${more}`);
      await update(`${text}\nEnd.\n\n## More\n\n- x\n`, true);
      assert.deepEqual(await page.evaluate('window.changes'), []);
    });

    test('a definition that comes late still makes its links', async () => {
      await render('See [this][1] and\n\n- [that]\n\nText.\n\n', false);
      assert.equal(await count('a'), 0);
      await update(
        'See [this][1] and\n\n- [that]\n\nText.\n\n[1]: https://example.com/1\n[that]: https://example.com/2\n',
        true,
      );
      assert.equal(await count('a[href]'), 2);
    });

    test('another text in its place is read anew', async () => {
      await render('# One\n\ntwo', true);
      const html = await update('# Other\n\ntwo\n\nthree', true);
      assert.equal(html, await render('# Other\n\ntwo\n\nthree'));
    });
  });

  describe('shows', () => {
    test('formulas, but not money', async () => {
      await render(
        'It costs $5 and $10, or US$5-$10, in $HOME/$USER. But $x^2$, \\(y\\), $$z$$ and $n$th.\n\n$$\na\n$$\n\n\\[\nb\n\\]',
      );
      assert.equal(await count('.katex'), 6);
      assert.match(await words(), /\$5 and \$10, or US\$5-\$10, in \$HOME\/\$USER\./);
      assert.deepEqual(problems, []);
    });

    test('the source of what is no formula', async () => {
      await render('$\\frac{$ and $\\nosuchcommand{x}$');
      assert.match(await words(), /\\nosuchcommand\{x\}/);
    });

    test('code in colours, with its language; buttons copy it and wrap it', async () => {
      await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
      await render(`${FENCE}js\nconst a = 1; // one\n\nfoo();\n${FENCE}`);
      assert.equal(await count('.hljs-keyword'), 1);
      await page.getByRole('button', { name: 'Wrap lines' }).click();
      assert.equal(await count('.markdown-code[data-wrap]'), 1);
      await page.getByRole('button', { name: 'Copy', exact: true }).click();
      await page.getByRole('button', { name: 'Copied' }).waitFor();
      assert.equal(await page.evaluate('navigator.clipboard.readText()'), 'const a = 1; // one\n\nfoo();');
    });

    test('HTML in a frame that can reach nothing', async () => {
      await render(`${FENCE}html\n<h1>Hi</h1><script>parent.document.title = 'hacked'</script>\n${FENCE}`);
      await page.getByRole('button', { name: 'Preview' }).click();
      const frame = page.locator('iframe');
      assert.equal(await frame.getAttribute('sandbox'), 'allow-scripts');
      await page.frameLocator('iframe').getByRole('heading', { name: 'Hi' }).waitFor();
      assert.equal(await page.title(), 'Markdown');
      await page.getByRole('button', { name: 'Close preview' }).click();
      assert.equal(await frame.count(), 0);
    });

    test('diagrams when they are complete, as pictures; of those that are none the source', async () => {
      const flow = `graph TD\nA[Start] --> B{Hot?}\nB -->|yes| C(Pour) & D\nB -- no --> A\nC -.-> D\nD ==> D`;
      await render(`${FENCE}mermaid\n${flow}`, false);
      assert.equal(await count('figure'), 0);
      await update(`${FENCE}mermaid\n${flow}\n${FENCE}`, true);
      assert.equal(await count('figure img[src^="blob:"]'), 1);
      assert.equal(await page.locator('pre').isVisible(), false);
      await page.getByRole('button', { name: 'Source' }).click();
      assert.equal(await page.locator('pre').innerText(), flow);
      const sequence =
        'sequenceDiagram\nparticipant A as Anna\nA->>B: hello <b>\nloop often\nB-->>A: hi\nend\nNote over A,B: done';
      await render(
        `${FENCE}mermaid\n${sequence}\n${FENCE}\n\n${FENCE}mermaid\ngantt\ntitle x\n${FENCE}\n\n${FENCE}mermaid\ngraph TD\nA[<img src=x onerror=alert(1)>] --> B\n${FENCE}`,
      );
      await page.waitForFunction(
        `[...document.querySelectorAll('figure img')].every((each) => each.naturalWidth > 50)`,
      );
      assert.equal(await count('figure img'), 2);
      assert.equal(await page.locator('pre:visible').innerText(), 'gantt\ntitle x');
      assert.deepEqual([requests, problems], [[], []]);
    });

    test('media of this server, and links to those of others', async () => {
      await render(
        '<a href="/media/1.png" data-src="/media/1.png" data-width="800" data-height="600"><img src="/thumbnail/1.png" alt="A &quot;cat&quot;"></a>\n\n' +
          '<video src="/media/v.mp4" controls></video> <audio src="/media/a.mp3" controls></audio>\n\n' +
          '![remote](https://evil.example/x.png) <video src="https://evil.example/v.mp4" controls></video>',
      );
      const image = page.locator('img');
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
        requests.filter((url) => !url.startsWith(stage.origin)),
        [],
      );
    });

    test('a picture of another host within a link is words of that link', async () => {
      await render(
        '[![build](https://evil.example/badge.svg)](https://example.com/build) ![x](https://evil.example/x)',
      );
      const links = page.locator('.markdown a, a');
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
      assert.equal(await page.locator('img').getAttribute('src'), address);
      assert.equal((await page.locator('pre').innerText()).slice(0, 30), address.slice(0, 30));
      assert.equal(await words().then((text) => text.startsWith('Look:')), true);
    });

    test('tables that the keyboard can scroll, tasks, and a direction for each block', async () => {
      await render('| a | b |\n|---|--:|\n| 1 | 2 |\n\n- [ ] open\n- [x] done\n\nمرحبا\n\nHello');
      assert.equal(await count('[role="region"][tabindex="0"] table'), 1);
      assert.equal(await count('input[type="checkbox"][disabled]'), 2);
      assert.equal(await count('input[checked]'), 1);
      const directions = await page.evaluate(
        `[...document.querySelectorAll('#markdown > div > p')].map((each) => getComputedStyle(each).direction)`,
      );
      assert.deepEqual(directions, ['rtl', 'ltr']);
    });
  });

  describe('of an enemy', () => {
    const HOSTILE = `<script>window.hacked = 1</script> <img src=x onerror="window.hacked = 1"> <svg onload="window.hacked = 1">

[a](javascript:window.hacked=1) [b](JaVaScRiPt:window.hacked=1) [c](data:text/html,<script>window.hacked=1</script>)
[d](//evil.example/x) [e](/backend-api/v2/version) [f](file:///etc/passwd) <a href="javascript:window.hacked=1">g</a>
[h](vbscript:x) [i](java&#10;script:window.hacked=1) [j](\x01javascript:window.hacked=1) <javascript:window.hacked=1>
[k][k] ![l](javascript:window.hacked=1) [m](https://user:pass@evil.example/)

[k]: javascript:window.hacked=1

![beacon](https://evil.example/beacon.png) ![svg](data:image/svg+xml;base64,PHN2Zz4=) ![up](/media/../backend-api/v2/version)
![up](/media/%2e%2e/backend-api/v2/create?prompt=x) ![back](\\\\evil.example/x.png) ![x](/\\evil.example/x.png) ![y](//evil.example/y.png)

<iframe src="https://evil.example/frame"></iframe> <style>body { display: none }</style> <p style="position:fixed">x</p>
<a href="/media/1.png" onclick="window.hacked=1"><img src="https://evil.example/x.png"></a> <form action="https://evil.example/">
<video src="/media/v.mp4" onerror="window.hacked=1" poster="https://evil.example/p.png"></video> <audio src="javascript:x"></audio>
<a href="javascript:window.hacked=1" data-src="x"><img src="/thumbnail/x.png" alt="&quot;><script>window.hacked=1</script>"></a>

$\\href{javascript:window.hacked=1}{x}$ $\\includegraphics{https://evil.example/x.png}$ $\\htmlStyle{position:fixed}{x}$
$\\url{https://evil.example}$ $\\rule{99999em}{99999em}$ $\\def\\a{\\a\\a}\\a$

| <b>cell</b> |
|---|
| <script>window.hacked = 1</script> |

${FENCE}html"onmouseover="window.hacked=1
<script>window.hacked = 1</script>
${FENCE}

${FENCE}mermaid
graph TD; A["<img src=x onerror=window.hacked=1>"] --> B; click A "javascript:window.hacked=1"
${FENCE}

The last words.`;

    test('nothing runs and nothing leaves, whole and in pieces', async () => {
      for (const step of [HOSTILE.length, 7]) {
        await page.evaluate('markdown.open()');
        for (let length = step; length < HOSTILE.length; length += step) await update(HOSTILE.slice(0, length));
        await update(HOSTILE, true);
        for (const link of await page.locator('#markdown a:not([href^="http"])').all())
          await link.dispatchEvent('click');
        assert.deepEqual(await page.evaluate(`markdown.dangers(document.querySelector('#markdown'))`), []);
        assert.equal(await page.evaluate('window.hacked'), undefined);
        assert.match(await words(), /The last words\./);
        assert.equal(await count(':is(h3, form, iframe, style, script)'), 0);
      }
      assert.deepEqual(
        requests.filter((url) => !/\/(?:media|thumbnail)\/[^.]/.test(url)),
        [],
      );
      assert.deepEqual(
        problems.filter((problem) => !problem.includes('404')),
        [],
      );
    });

    const HUGE: Readonly<Record<string, string>> = {
      'a line of 1 MB': 'x'.repeat(1_000_000),
      'words of 1 MB in a line': 'word '.repeat(200_000),
      'marks of 1 MB': '*_`~[('.repeat(170_000),
      'a table of 10,000 rows': `| a | b |\n|---|---|\n${'| cell | cell |\n'.repeat(10_000)}`,
      'a table of 1,000 columns': `${'|a'.repeat(1_000)}|\n${'|-'.repeat(1_000)}|\n${`${'|b'.repeat(1_000)}|\n`.repeat(100)}`,
      'a list of 10,000 items': '- an item\n'.repeat(10_000),
      'quotes within quotes': `${'> '.repeat(3_000)}deep`,
      'lists within lists': `${'- '.repeat(3_000)}deep`,
      'a staircase of lists': Array.from({ length: 500 }, (_, depth) => `${' '.repeat(depth * 2)}- deep`).join('\n'),
      brackets: '['.repeat(50_000),
      links: '[a]('.repeat(20_000),
      pictures: '![a]('.repeat(20_000),
      backticks: Array.from({ length: 400 }, (_, length) => '`'.repeat(length)).join(' '),
      stars: '*a **b '.repeat(10_000),
      'emphasis within emphasis': '**a '.repeat(1_000) + 'b** '.repeat(1_000),
      'struck words': '~~a '.repeat(20_000),
      tags: '<a href="'.repeat(10_000),
      attributes: `<video ${'a="b" '.repeat(10_000)}`,
      dollars: '$a '.repeat(30_000),
      backslashes: '\\('.repeat(30_000),
      entities: '&#x41;&amp'.repeat(10_000),
      addresses: 'https://a.'.repeat(10_000),
      mail: 'a@'.repeat(30_000),
      'a diagram without end': `${FENCE}mermaid\ngraph TD\n${Array.from({ length: 300 }, (_, number) => `A${number % 140} --> A${(number * 7) % 140}`).join('\n')}\n${FENCE}`,
      formulas: '$x^2$ '.repeat(5_000),
      'a formula that grows': `$${'\\def\\a{'.repeat(100)}x$`,
      definitions: Array.from({ length: 5_000 }, (_, number) => `[l${number}]: https://example.com/${number}\n`).join(
        '\n',
      ),
      'late definitions': `${'[a] [b] [c]\n\n'.repeat(2_000)}[a]: https://example.com/a\n\n[b]: https://example.com/b\n`,
      'code of 20,000 lines': `${FENCE}js\n${'const a = "b"; // c\n'.repeat(20_000)}${FENCE}`,
      'code in a line of 1 MB': `${FENCE}json\n${'[1,'.repeat(330_000)}\n${FENCE}`,
      'code for regular expressions': `${FENCE}cpp\n${'a('.repeat(20_000)}\n${FENCE}`,
      'empty lines': '\n'.repeat(300_000),
      spaces: `${' '.repeat(300_000)}x`,
      digits: `${'1'.repeat(50_000)}\n${'1) '.repeat(10_000)}`,
      'right to left': '\u202e\u05d0'.repeat(50_000),
      'combining marks': `a${'\u0301'.repeat(50_000)}`,
    };

    for (const [name, text] of Object.entries(HUGE)) {
      test(`${name} freeze nothing`, { timeout: 240_000 }, async () => {
        await page.evaluate(`window.text = ${JSON.stringify(text)}`);
        const whole = await longTasks(stage.browser(), page, () => page.evaluate('markdown.render(text)'), 250);
        const pieces = await longTasks(
          stage.browser(),
          page,
          () =>
            page.evaluate(`(async () => {
            markdown.open();
            for (let at = 0; at < 20; at++) await markdown.update(text.slice(0, at * text.length / 20), false);
            await markdown.update(text, true);
          })()`),
          250,
        );
        assert.deepEqual([whole, pieces], [[], []]);
        assert.ok(((await page.evaluate(`document.querySelectorAll('#markdown *').length`)) as number) < 120_000);
      });
    }

    test('what is too long can be had in full', async () => {
      await render(`| a |\n|---|\n${'| cell |\n'.repeat(2_000)}`);
      assert.ok((await page.locator('tr:visible').count()) < 500);
      await page.getByRole('button', { name: 'Show all' }).click();
      assert.equal(await page.locator('tr:visible').count(), 2_001);
      await render(`begin ${'x'.repeat(100_000)} end`);
      assert.doesNotMatch(await words(), /end$/m);
      await page.getByRole('button', { name: 'Show all' }).click();
      await comesToFit(words, /end$/m);
      await render(`begin\n\n${'A paragraph.\n\n'.repeat(22_000)}The end.`);
      assert.doesNotMatch(await words(), /The end/);
      await page.getByRole('button', { name: 'Show all' }).click();
      await page.getByText('The end.').waitFor();
    });
  });
});
