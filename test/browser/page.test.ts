import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser, BrowserContextOptions, Page } from 'playwright-core';
import type { VendorScript } from '../support/vendor-script.ts';
import { launchChromium, withoutBrowser } from './chromium.ts';
import { type Gateway, openGateway } from './gateway.ts';

const PHONE = { width: 390, height: 844 };

/** A picture of one pixel. */
const PIXEL = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNkYPhfDwAChwGA60e6kgAAAABJRU5ErkJggg==',
  'base64',
);

const HOSTILE = `<script>window.hacked = 1</script> <img src=x onerror="window.hacked = 1"> <svg onload="window.hacked = 1">

[a](javascript:window.hacked=1) [b](JaVaScRiPt:window.hacked=1) [c](data:text/html,<script>window.hacked=1</script>)
[d](//evil.example/x) [e](/backend-api/v2/version) [f](file:///etc/passwd) <a href="javascript:window.hacked=1">g</a>

![beacon](https://evil.example/beacon.png) ![svg](data:image/svg+xml;base64,PHN2Zz4=) ![up](/media/../backend-api/v2/version)

<iframe src="https://evil.example/frame"></iframe> <style>body { display: none }</style>

| <b>cell</b> |
|---|
| <script>window.hacked = 1</script> |

\`\`\`html
<script>window.hacked = 1</script>
\`\`\`

${'> '.repeat(3000)}deep

${'- '.repeat(3000)}deep

The last words.`;

const MARKDOWN = `# Title

A **bold** word, an *italic* one, \`code\` and [a link](https://example.com/).

- first
- second
  1. nested

\`\`\`js
const answer = 42;
\`\`\`

| Name | Value |
|---|---|
| one | 1 |

Done.`;

/** What is hard to tell before the next line has come. */
const TRICKY = `Text
-5 degrees, then
- an item

- another, after an empty line
  that goes on


- a list of its own

1. one

   \`\`\`js
   inside()

   still()
   \`\`\`
2. two
> quoted
> > twice

Before | the table
---|---
a | b\\|c
no more table
---
#no heading
####### nor this
***both*** and 2 * 3 * 4 and snake_case_name and ** alone
~~~
not closed
`;

const script: VendorScript = ({ prompt }) => {
  if (prompt === 'markdown')
    return { reasoning: ['Let me ', 'think.'], text: MARKDOWN.match(/.{1,5}/gs) ?? [], delayMs: 10 };
  if (prompt === 'hostile') return { text: HOSTILE.match(/.{1,200}/gs) ?? [] };
  if (prompt === 'endless') return { text: endless(), delayMs: 5 };
  if (prompt === 'refused') return { status: 401, errorMessage: 'Incorrect API key provided' };
  if (prompt === 'cut') return { text: ['The first half', ' of it'], cutAfter: 2 };
  if (prompt === 'wide')
    return { text: [`${'w'.repeat(500)}\n\n\`\`\`\n${'c'.repeat(500)}\n\`\`\`\n\n|${'t'.repeat(300)}|\n|---|\n|1|`] };
  return { text: ['You said: ', prompt] };
};

function* endless(): Generator<string> {
  for (let index = 0; ; index += 1) yield `word${index} `;
}

describe('the page', { skip: withoutBrowser }, () => {
  let browser: Browser;
  let gateway: Gateway;

  before(async () => {
    gateway = await openGateway(script, ['gpt-4o', 'plain-model']);
    browser = await launchChromium();
  });
  after(async () => {
    await browser?.close();
    await gateway?.close();
  });

  /**
   * Opens the page in a browser without a past, lets `use` work with it, and then fails if the page asked any other server
   * for anything, or if something in it was refused by its own content security policy or threw.
   */
  async function visit(
    use: (page: Page) => Promise<void>,
    options: BrowserContextOptions = {},
    path = '/',
  ): Promise<void> {
    const context = await browser.newContext({ permissions: ['clipboard-read', 'clipboard-write'], ...options });
    try {
      const page = await context.newPage();
      page.setDefaultTimeout(10_000);
      const strangers: string[] = [];
      const complaints: string[] = [];
      await context.route('**', async (route) => {
        const address = new URL(route.request().url());
        if (address.origin === gateway.origin) return route.continue();
        strangers.push(address.href);
        return route.abort();
      });
      page.on('pageerror', (error) => complaints.push(error.message));
      page.on('console', (message) => {
        if (message.type() === 'error' && !message.text().startsWith('Failed to load resource'))
          complaints.push(message.text());
      });
      await page.goto(gateway.origin + path);
      await use(page);
      assert.deepEqual(strangers, []);
      assert.deepEqual(complaints, []);
    } finally {
      await context.close();
    }
  }

  async function ready(page: Page): Promise<void> {
    await page.locator('#providers strong').first().waitFor({ state: 'attached' });
  }

  /** Sends `text` with the keyboard and waits until the answer to it is over. */
  async function ask(page: Page, text: string): Promise<void> {
    await ready(page);
    const answers = await page.locator('.answer .line').count();
    await page.locator('#prompt').fill(text);
    await page.locator('#prompt').press('Enter');
    await page.locator('.answer .line').nth(answers).waitFor();
  }

  const lastAnswer = (page: Page) => page.locator('.answer').last();

  test('lists what is on and shows how to use it', async () => {
    await visit(async (page) => {
      await ready(page);
      assert.match(await page.locator('#providers').innerText(), /Scripted[\s\S]*2 models/);
      // Known providers that only wait for a key are not on.
      assert.doesNotMatch(await page.locator('#providers').innerText(), /Anthropic|OpenRouter/);
      assert.equal(await page.locator('#base-url').innerText(), `${gateway.origin}/v1`);
      assert.match(await page.locator('#curl').innerText(), /\/v1\/chat\/completions/);
      await page.locator('[data-copy=base-url]').click();
      assert.equal(await page.evaluate('navigator.clipboard.readText()'), `${gateway.origin}/v1`);
    });
  });

  test('picks a model with the keyboard and keeps it', async () => {
    await visit(async (page) => {
      await ready(page);
      await page.locator('#model').click();
      await page.keyboard.type('plain');
      assert.equal(await page.getByRole('option').count(), 1);
      await page.keyboard.press('Enter');
      assert.equal(await page.locator('#model-name').innerText(), 'plain-model');
      await page.reload();
      await ready(page);
      assert.equal(await page.locator('#model-name').innerText(), 'plain-model');
      await ask(page, 'hello');
      assert.equal(gateway.upstream.chats.at(-1)?.model, 'plain-model');
      assert.match(await lastAnswer(page).locator('.line').innerText(), /plain-model.*tokens/);
    });
  });

  test('shows an answer as it was meant', async () => {
    await visit(async (page) => {
      await ask(page, 'markdown');
      const body = lastAnswer(page).locator('.body');
      assert.equal(await body.locator('h2').innerText(), 'Title');
      assert.equal(await body.locator('strong').innerText(), 'bold');
      assert.equal(await body.locator('em').innerText(), 'italic');
      assert.equal(await body.locator('p > code').innerText(), 'code');
      assert.equal(await body.locator('a').getAttribute('href'), 'https://example.com/');
      assert.equal(await body.locator('ul > li').count(), 2);
      assert.equal(await body.locator('ul ol > li').innerText(), 'nested');
      assert.equal(await body.locator('pre').innerText(), 'const answer = 42;');
      assert.deepEqual(await body.locator('tr').allInnerTexts(), ['Name\tValue', 'one\t1']);
      assert.equal(await body.locator('p').last().innerText(), 'Done.');
      assert.equal(await lastAnswer(page).locator('.reasoning p').textContent(), 'Let me think.');
      const html = await body.innerHTML();
      await body.locator('.code button').click();
      assert.equal(await page.evaluate('navigator.clipboard.readText()'), 'const answer = 42;');
      await page.reload();
      assert.equal(await body.innerHTML(), html, 'the same after a reload, all at once');
    });
  });

  test('leaves alone what is already shown while an answer grows', async () => {
    await visit(async (page) => {
      await ready(page);
      await page.evaluate(`
        window.replaced = 0;
        new MutationObserver((changes) => {
          for (const { removedNodes } of changes) for (const node of removedNodes) if (node.nodeName === 'H2') window.replaced += 1;
        }).observe(document.getElementById('thread'), { childList: true, subtree: true });
      `);
      await ask(page, 'markdown');
      // The heading may be made anew while it is the last block, which it is for five chunks at most.
      assert.ok(Number(await page.evaluate('window.replaced')) <= 5);
    });
  });

  test('shows the same whether a text comes letter by letter or at once', async () => {
    await visit(async (page) => {
      const texts = JSON.stringify([MARKDOWN, TRICKY, HOSTILE.replaceAll(/(?:[>-] ){9,}/g, '> > > ')]);
      const shown = await page.evaluate(`(async () => {
        const { growing } = await import('/markdown.js');
        return ${texts}.map((text) => {
          const [slow, fast] = [document.createElement('div'), document.createElement('div')];
          const grow = growing(slow);
          for (let length = 1; length <= text.length; length += 1) grow(text.slice(0, length));
          growing(fast)(text);
          return [slow.innerHTML, fast.innerHTML];
        });
      })()`);
      for (const [slow, fast] of shown as [string, string][]) assert.equal(slow, fast);
    });
  });

  test('sends the whole conversation, and a new chat forgets it', async () => {
    await visit(async (page) => {
      const sent = () => String(gateway.upstream.chats.at(-1)?.rawBody);
      await ask(page, 'one');
      await ask(page, 'two');
      assert.match(sent(), /"one".*"You said: one".*"two"/);
      await lastAnswer(page).getByRole('button', { name: 'Regenerate' }).click();
      await page.locator('body:not(.running)').waitFor();
      assert.match(sent(), /"one".*"You said: one".*"two"/);
      assert.doesNotMatch(sent(), /You said: two/);
      assert.equal(await page.locator('.answer').count(), 2);
      await page.locator('#new-chat').click();
      assert.equal(await page.locator('.answer').count(), 0);
      await ask(page, 'three');
      assert.doesNotMatch(sent(), /one/);
    });
  });

  test('starts a new line with Shift and Enter', async () => {
    await visit(async (page) => {
      await ready(page);
      await page.locator('#prompt').pressSequentially('first');
      await page.locator('#prompt').press('Shift+Enter');
      await page.locator('#prompt').pressSequentially('second');
      await page.locator('#prompt').press('Enter');
      await lastAnswer(page).locator('.line').waitFor();
      assert.equal(gateway.upstream.chats.at(-1)?.prompt, 'first\nsecond');
    });
  });

  for (const [way, stop] of [
    ['Escape', (page: Page) => page.keyboard.press('Escape')],
    ['the button', (page: Page) => page.locator('#send').click()],
  ] as const) {
    test(`stops with ${way}, and the upstream with it`, async () => {
      await visit(async (page) => {
        await ready(page);
        await page.locator('#prompt').fill('endless');
        await page.locator('#prompt').press('Enter');
        await lastAnswer(page).getByText('word9 ').waitFor();
        await stop(page);
        await lastAnswer(page).getByText('Stopped.').waitFor();
        assert.equal(await gateway.upstream.chats.at(-1)?.closed, 'aborted');
        assert.match(await lastAnswer(page).locator('.body').innerText(), /word0 .*word9/);
        await ask(page, 'and on');
        assert.match(await lastAnswer(page).locator('.body').innerText(), /You said: and on/);
      });
    });
  }

  test('treats everything in an answer as words', async () => {
    await visit(async (page) => {
      await ask(page, 'hostile');
      const answer = lastAnswer(page).locator('.body');
      assert.equal(await page.evaluate('window.hacked'), undefined);
      assert.equal(await answer.locator('script, iframe, style, svg, img, [onerror], [onload]').count(), 0);
      const hrefs = await answer
        .locator('a')
        .evaluateAll((links) => links.map((link) => String(link.getAttribute('href'))));
      assert.ok(hrefs.length > 0);
      for (const href of hrefs) assert.match(href, /^https:\/\/evil\.example\//);
      assert.match(await answer.innerText(), /<script>window\.hacked = 1<\/script>/);
      assert.match(await answer.innerText(), /The last words\.$/);
    });
  });

  test('says what is wrong and what to do', async () => {
    await visit(async (page) => {
      await ask(page, 'refused');
      assert.match(await lastAnswer(page).getByRole('alert').innerText(), /key[\s\S]*sluice\.yaml/);
      await ask(page, 'cut');
      assert.match(await lastAnswer(page).locator('.body').innerText(), /The first half of it/);
      assert.ok((await lastAnswer(page).getByRole('alert').innerText()).length > 20);
      assert.equal(await lastAnswer(page).getByRole('button', { name: 'Try again' }).count(), 1);
      await page.route('**/backend-api/v2/conversation', (route) => route.abort());
      await ask(page, 'nobody there');
      assert.match(await lastAnswer(page).getByRole('alert').innerText(), /Sluice does not answer[\s\S]*still running/);
    });
  });

  test('attaches images for models that see, and only for them', async () => {
    await visit(async (page) => {
      await ready(page);
      await page.locator('#model').click();
      await page.getByRole('option', { name: 'gpt-4o' }).click();
      await page.locator('#files').setInputFiles({ name: 'pixel.png', mimeType: 'image/png', buffer: PIXEL });
      await page.locator('#attached img').waitFor();
      await ask(page, 'What is this?');
      assert.equal(gateway.upstream.chats.at(-1)?.images, 1);
      assert.equal(await page.locator('.question img').count(), 1);
      await page.locator('#model').click();
      await page.getByRole('option', { name: 'plain-model' }).click();
      assert.equal(await page.locator('#attach').isVisible(), false);
    });
  });

  for (const width of [PHONE.width, 320]) {
    test(`fits a screen of ${width} pixels`, async () => {
      await visit(
        async (page) => {
          const fits = async (what: string): Promise<void> => {
            const [wide, shown] = (await page.evaluate(
              "[document.documentElement, document.getElementById('scroll')].map((each) => each.scrollWidth - each.clientWidth)",
            )) as [number, number];
            assert.deepEqual([wide, shown], [0, 0], what);
          };
          await ready(page);
          await fits('the empty page');
          await page.locator('#model').click();
          await fits('the list of models');
          await page.keyboard.press('Escape');
          await ask(page, 'wide');
          await ask(page, 'x'.repeat(300));
          await fits('long words, code and tables');
          await ask(page, 'refused');
          await fits('an error');
          await page.locator('#prompt').click();
          assert.equal(await page.locator('#send').isVisible(), true);
        },
        { viewport: { ...PHONE, width }, hasTouch: true, isMobile: true },
      );
    });
  }

  test('describes the API', async () => {
    await visit(
      async (page) => {
        await page.getByText('/v1/chat/completions', { exact: true }).first().waitFor();
        assert.ok((await page.locator('.opblock').count()) > 5);
        assert.equal(await page.locator('.errors-wrapper').count(), 0);
      },
      {},
      '/docs',
    );
  });
});
