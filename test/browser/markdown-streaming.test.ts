import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { withoutBrowser } from './chromium.ts';
import { setMarkdownPage } from './markdown-stage.ts';

const FENCE = '```';

describe('markdown while it streams', { skip: withoutBrowser, timeout: 900_000 }, () => {
  const here = setMarkdownPage();
  const { render, update, words, count } = here;

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
      await here.page.evaluate('markdown.open()');
      for (let length = 1; length < text.length; length++) {
        await update(text.slice(0, length));
        const shown = (await words()).replace(/Wrap lines|Copy|Show all/g, '');
        assert.doesNotMatch(shown, never, `after ${JSON.stringify(text.slice(0, length))}`);
      }
    });
  }

  test('a table is never anything else, nor does it move words in cells, and a fence is code at once', async () => {
    await render('Text\n\n| Name | Value |', false);
    assert.equal(await here.page.locator('.markdown').innerText(), 'Text');
    await update('Text\n\n| Name | Value |\n|---|--');
    assert.equal(await count('table'), 0);
    await update('Text\n\n| Name | Value |\n|---|--:|\n');
    assert.equal(await count('table th'), 2);
    await update('Text\n\n| Name | Value |\n|---|--:|\n| a');
    assert.equal(await count('table td'), 2);
    await render(`${FENCE}py`, false);
    assert.equal(await count('pre'), 1);
    assert.equal(await here.page.locator('.markdown-code-language').innerText(), '');
    await update(`${FENCE}py\nprint(1)\n${FENCE.slice(1)}`);
    assert.equal(await here.page.locator('pre').innerText(), 'print(1)');
  });

  test('a dash under a paragraph makes no heading for a moment', async () => {
    for (const text of ['Text\n-', 'Text\n--', 'Text\n=', 'a | b\n---']) {
      await render(text, false);
      assert.equal(await count(':is(h3, h4)'), 0, text);
    }
  });

  test('what is finished stays the same element, and so does a picture in what is not', async () => {
    await render('# Title\n\n- one\n- two\n\n![x](/media/1.png) and', false);
    await here.page.evaluate(`window.kept = [...document.querySelectorAll('#markdown :is(h3, ul, li, p, img)')]`);
    await update('# Title\n\n- one\n- two\n\n![x](/media/1.png) and **more');
    await update('# Title\n\n- one\n- two\n\n![x](/media/1.png) and **more** words\n\n> Next', true);
    const kept = await here.page.evaluate('window.kept.map((each) => each.isConnected)');
    assert.deepEqual([...new Set(kept as boolean[])], [true]);
  });

  test('a selection survives what comes behind it', async () => {
    await render('First paragraph.\n\nSecond par', false);
    await here.page.evaluate(`getSelection().selectAllChildren(document.querySelector('#markdown p:last-child'))`);
    await update('First paragraph.\n\nSecond paragraph, **longer**.\n\nThird.', true);
    assert.match(await here.page.evaluate('String(getSelection())'), /^Second par/);
  });

  test('finished blocks are not touched: the page sees no change of them', async () => {
    const text = '# Title\n\nText with $x$ and `code`.\n\n- one\n- two\n- three\n\n| a |\n|---|\n| 1 |\n| 2 |\n';
    await render(`${text}\nE`, false);
    await here.page.evaluate(`
        window.changes = [];
        window.finished = [...document.querySelectorAll('#markdown > div > *')].slice(0, -1);
        new MutationObserver((all) => {
          for (const { target } of all) if (finished.some((each) => each.contains(target))) changes.push(target.nodeName);
        }).observe(document.querySelector('#markdown'), { subtree: true, childList: true, attributes: true, characterData: true });
      `);
    for (const more of ['En', 'End', 'End.\n', 'End.\n\n## More', 'End.\n\n## More\n\n- x\n'])
      await update(`${text}\n${more}`);
    await update(`${text}\nEnd.\n\n## More\n\n- x\n`, true);
    assert.deepEqual(await here.page.evaluate('window.changes'), []);
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
