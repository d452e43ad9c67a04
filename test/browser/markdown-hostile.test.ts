import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { withoutBrowser } from './chromium.ts';
import { comesToFit } from './eventually.ts';
import { setMarkdownPage } from './markdown-stage.ts';
import { longTasks } from './trace.ts';

const FENCE = '```';

describe('markdown of an enemy', { skip: withoutBrowser, timeout: 900_000 }, () => {
  const here = setMarkdownPage();
  const { render, update, words, count } = here;

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
      await here.page.evaluate('markdown.open()');
      for (let length = step; length < HOSTILE.length; length += step) await update(HOSTILE.slice(0, length));
      await update(HOSTILE, true);
      for (const link of await here.page.locator('#markdown a:not([href^="http"])').all())
        await link.dispatchEvent('click');
      assert.deepEqual(await here.page.evaluate(`markdown.dangers(document.querySelector('#markdown'))`), []);
      assert.equal(await here.page.evaluate('window.hacked'), undefined);
      assert.match(await words(), /The last words\./);
      assert.equal(await count(':is(h3, form, iframe, style, script)'), 0);
    }
    assert.deepEqual(
      here.requests.filter((url) => !/\/(?:media|thumbnail)\/[^.]/.test(url)),
      [],
    );
    assert.deepEqual(
      here.problems.filter((problem) => !problem.includes('404')),
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
    test(`${name} freeze nothing`, { timeout: 60_000 }, async () => {
      await here.page.evaluate(`window.text = ${JSON.stringify(text)}`);
      const whole = await longTasks(here.browser(), here.page, () => here.page.evaluate('markdown.render(text)'), 250);
      const pieces = await longTasks(
        here.browser(),
        here.page,
        () =>
          here.page.evaluate(`(async () => {
            markdown.open();
            for (let at = 0; at < 20; at++) await markdown.update(text.slice(0, at * text.length / 20), false);
            await markdown.update(text, true);
          })()`),
        250,
      );
      assert.deepEqual([whole, pieces], [[], []]);
      assert.ok(((await here.page.evaluate(`document.querySelectorAll('#markdown *').length`)) as number) < 120_000);
    });
  }

  test('what is too long can be had in full', async () => {
    await render(`| a |\n|---|\n${'| cell |\n'.repeat(2_000)}`);
    assert.ok((await here.page.locator('tr:visible').count()) < 500);
    await here.page.getByRole('button', { name: 'Show all' }).click();
    assert.equal(await here.page.locator('tr:visible').count(), 2_001);
    await render(`begin ${'x'.repeat(100_000)} end`);
    assert.doesNotMatch(await words(), /end$/m);
    await here.page.getByRole('button', { name: 'Show all' }).click();
    await comesToFit(words, /end$/m);
    await render(`begin\n\n${'A paragraph.\n\n'.repeat(22_000)}The end.`);
    assert.doesNotMatch(await words(), /The end/);
    await here.page.getByRole('button', { name: 'Show all' }).click();
    await here.page.getByText('The end.').waitFor();
  });
});
