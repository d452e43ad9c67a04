import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import type { VendorScript } from '../support/vendor-script.ts';
import { withoutBrowser } from './chromium.ts';
import { becomes, comesToFit, eventually } from './eventually.ts';
import { openGateway } from './gateway.ts';
import { setStage } from './stage.ts';
import { ask, button, finished, goTo, lastAnswer, newChat, PHONE, PIXEL, ready, settled } from './visit.ts';

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
  const { visit, gateway } = setStage(() => openGateway(script, ['gpt-4o', 'plain-model']));

  test('lists what is on and shows how to use it', async () => {
    await visit(async (page) => {
      await ready(page);
      for (const summary of await page.locator('.welcome summary').all()) await summary.click();
      await comesToFit(() => page.locator('#providers').innerText(), /Scripted[\s\S]*2 models/);
      // Known providers that only wait for a key are not on.
      assert.doesNotMatch(await page.locator('#providers').innerText(), /Anthropic|OpenRouter/);
      await becomes(() => page.locator('#base-url').innerText(), `${gateway.origin}/v1`);
      await comesToFit(() => page.locator('#curl').innerText(), /\/v1\/chat\/completions/);
      await page.getByRole('button', { name: 'Copy the address' }).click();
      await becomes(() => page.evaluate('navigator.clipboard.readText()'), `${gateway.origin}/v1`);
      // Nobody has to start the server anew for another model.
      await page.locator('.welcome').getByRole('link', { name: 'Settings → Providers' }).click();
      await page.locator('#provider-search').waitFor();
    });
  });

  test('notices that the server is back, and what models it has got meanwhile', async () => {
    await visit(async (page) => {
      await ready(page);
      await page.route('**/backend-api/v2/providers', (route) => route.abort());
      await page.reload();
      await page.getByText('Sluice does not answer').waitFor();
      await page.unroute('**/backend-api/v2/providers');
      await page.getByText('Sluice does not answer').waitFor({ state: 'detached' });
      await page.route('**/backend-api/v2/models', async (route) => {
        const response = await route.fetch();
        const text = (await response.text()).replaceAll('plain-model', 'newer-model');
        await route.fulfill({ response, body: text, headers: { ...response.headers(), etag: '"newer"' } });
      });
      // Whoever comes back to the page after a while.
      await page.evaluate(`{
        const { now } = Date;
        Date.now = () => now() + 60_000;
        dispatchEvent(new Event('focus'));
      }`);
      await page.locator('#model').click();
      await page.getByRole('option', { name: 'newer-model' }).waitFor();
      await becomes(() => page.getByRole('option', { name: 'plain-model' }).count(), 0);
    });
  });

  test('notices that the server is back where the clock was set right meanwhile', async () => {
    await visit(async (page) => {
      await ready(page);
      await page.route('**/backend-api/v2/providers', (route) => route.abort());
      await page.addInitScript(`{
        const { now } = Date;
        window.ahead = 7_200_000;
        Date.now = () => now() + window.ahead;
      }`);
      await page.reload();
      await page.getByText('Sluice does not answer').waitFor();
      await page.evaluate('window.ahead = 0');
      await page.unroute('**/backend-api/v2/providers');
      await page.getByText('Sluice does not answer').waitFor({ state: 'detached' });
    });
  });

  test('says that models are still to come, wherever they are listed', async () => {
    await visit(async (page) => {
      await ready(page);
      const held = Promise.withResolvers<void>();
      await page.route('**/backend-api/v2/models', async (route) => {
        await held.promise;
        await route.continue();
      });
      await page.reload();
      await page.locator('#model').click();
      const inList = page.locator('.picker').getByText('Loading models…');
      await inList.waitFor();
      await goTo(page, '#/settings/providers');
      const words = page.locator('main').getByRole('status').filter({ hasText: 'Loading…' });
      await words.waitFor();
      await goTo(page, '#/settings/voices');
      await words.waitFor();
      await goTo(page, '#/');
      await page.locator('#model').click();
      await inList.waitFor();
      held.resolve();
      await page.getByRole('option', { name: 'plain-model' }).waitFor();
      await becomes(() => inList.count(), 0);
    });
  });

  test('picks a model with the keyboard and keeps it', async () => {
    await visit(async (page) => {
      await ready(page);
      await page.locator('#model').click();
      await page.locator('#picker-search:focus').waitFor();
      await page.keyboard.type('plain');
      await becomes(() => page.getByRole('option').count(), 1);
      await page.keyboard.press('Enter');
      await becomes(() => page.locator('#model-name').innerText(), 'plain-model');
      await page.reload();
      await ready(page);
      await becomes(() => page.locator('#model-name').innerText(), 'plain-model');
      await ask(page, 'hello');
      assert.equal(gateway.upstream.chats.at(-1)?.model, 'plain-model');
      await comesToFit(() => lastAnswer(page).locator('.line').innerText(), /plain-model.*tokens/);
      await comesToFit(() => lastAnswer(page).locator('.line').innerText(), /Scripted/);
    });
  });

  test('shows an answer as it was meant, and again after a reload', async () => {
    await visit(async (page) => {
      await ask(page, 'markdown');
      const body = lastAnswer(page).locator('.body');
      const check = async (): Promise<void> => {
        await becomes(() => body.getByRole('heading').innerText(), 'Title');
        await becomes(() => body.locator('strong').innerText(), 'bold');
        await becomes(() => body.locator('em').innerText(), 'italic');
        await becomes(() => body.locator('p > code').innerText(), 'code');
        await becomes(() => body.locator('p a').getAttribute('href'), 'https://example.com/');
        await becomes(() => body.locator('ul > li').count(), 2);
        await becomes(() => body.locator('ul ol > li').innerText(), 'nested');
        await becomes(async () => (await body.locator('pre').innerText()).trim(), 'const answer = 42;');
        await becomes(() => body.locator('tr').allInnerTexts(), ['Name\tValue', 'one\t1']);
        await becomes(() => body.locator('p').last().innerText(), 'Done.');
        await lastAnswer(page).locator('.reasoning summary').click();
        await comesToFit(
          async () => String(await lastAnswer(page).locator('.thoughts').textContent()),
          /Let me think\./,
        );
      };
      await check();
      await body.getByRole('button', { name: 'Copy' }).first().click();
      await becomes(() => page.evaluate('navigator.clipboard.readText()'), 'const answer = 42;');
      await page.reload();
      await finished(lastAnswer(page));
      await check();
    });
  });

  test('sends the whole conversation, and a new chat forgets it', async () => {
    await visit(async (page) => {
      const sent = () => String(gateway.upstream.chats.at(-1)?.rawBody);
      await ask(page, 'one');
      await ask(page, 'two');
      assert.match(sent(), /"one".*"You said: one".*"two"/);
      await button(page, 'Regenerate').click();
      await lastAnswer(page).getByText('2/2').waitFor();
      await finished(lastAnswer(page));
      assert.match(sent(), /"one".*"You said: one".*"two"/);
      assert.doesNotMatch(sent(), /You said: two/);
      await becomes(() => page.locator('.answer').count(), 2);
      await newChat(page);
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
      await finished(lastAnswer(page));
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
        await comesToFit(() => lastAnswer(page).locator('.body').innerText(), /word0 .*word9/);
        await ask(page, 'and on');
        await comesToFit(() => lastAnswer(page).locator('.body').innerText(), /You said: and on/);
      });
    });
  }

  test('treats everything in an answer as words', async () => {
    await visit(async (page) => {
      await ask(page, 'hostile');
      const answer = lastAnswer(page).locator('.body');
      await comesToFit(() => answer.innerText(), /The last words\.$/);
      await settled(page);
      assert.equal(await page.evaluate('window.hacked'), undefined);
      assert.equal(await answer.locator('script, iframe, style, svg, img, [onerror], [onload]').count(), 0);
      const hrefs = await answer
        .locator('a[href]')
        .evaluateAll((links) => links.map((link) => String(link.getAttribute('href'))));
      assert.ok(hrefs.length > 0);
      for (const href of hrefs) assert.match(href, /^https:\/\/evil\.example\//);
      assert.match(await answer.innerText(), /<script>window\.hacked = 1<\/script>/);
    });
  });

  test('says what is wrong and what to do', async () => {
    await visit(async (page) => {
      await ask(page, 'refused');
      await comesToFit(() => lastAnswer(page).getByRole('alert').innerText(), /key[\s\S]*sluice\.yaml/);
      await ask(page, 'cut');
      await lastAnswer(page).locator('.body').filter({ hasText: 'The first half of it' }).waitFor();
      await comesToFit(() => lastAnswer(page).getByRole('alert').innerText(), /[\s\S]{21,}/);
      await becomes(() => button(page, 'Try again').count(), 1);
      for (const path of ['version?**', 'conversation'])
        await page.route(`**/backend-api/v2/${path}`, (route) => route.abort());
      await ask(page, 'nobody there');
      await comesToFit(
        () => lastAnswer(page).getByRole('alert').innerText(),
        /Sluice does not answer[\s\S]*network[\s\S]*still running/,
      );
      await page.unroute('**/backend-api/v2/version?**');
      await lastAnswer(page).getByRole('alert').getByText('Sluice did not answer, and is back now.').waitFor();
      await page.unroute('**/backend-api/v2/conversation');
      await button(page, 'Try again').click();
      await lastAnswer(page).getByText('nobody there').waitFor();
    });
  });

  for (const [locale, code, named] of [
    ['zh-CN', '代码：js', /^[^:]+：Scripted$/],
    ['fr-FR', 'Code : js', /^[^:]+ : Scripted$/],
  ] as const) {
    test(`names code and buttons with the colon of the language, ${locale}`, async () => {
      await visit(
        async (page) => {
          await ask(page, 'markdown');
          await becomes(() => lastAnswer(page).locator('pre').getAttribute('aria-label'), code);
          await goTo(page, '#/settings/providers');
          await page.getByRole('button', { name: named }).first().waitFor();
        },
        { locale },
      );
    });
  }

  test('attaches images', async () => {
    await visit(async (page) => {
      await ready(page);
      await page.locator('#files').setInputFiles({ name: 'pixel.png', mimeType: 'image/png', buffer: PIXEL });
      await page.locator('#attached .is-ready img').waitFor();
      await ask(page, 'What is this?');
      assert.equal(gateway.upstream.chats.at(-1)?.images, 1);
      await becomes(() => page.locator('.question img').count(), 1);
    });
  });

  for (const width of [PHONE.width, 320]) {
    test(`fits a screen of ${width} pixels`, async () => {
      await visit(
        async (page) => {
          const fits = async (what: string): Promise<void> => {
            const [wide, shown] = (await page.evaluate(
              "[document.documentElement, document.getElementById('scroll') ?? document.body].map((each) => each.scrollWidth - each.clientWidth)",
            )) as [number, number];
            assert.deepEqual([wide, shown], [0, 0], what);
          };
          await ready(page);
          await fits('the empty page');
          await page.locator('#model').click();
          await page.locator('#picker-search:focus').waitFor();
          await fits('the list of models');
          await page.keyboard.press('Escape');
          await page.locator('.picker').waitFor({ state: 'detached' });
          await ask(page, 'wide');
          await ask(page, 'x'.repeat(300));
          await fits('long words, code and tables');
          await ask(page, 'refused');
          await fits('an error');
          await page.locator('#prompt').click();
          await becomes(() => page.locator('#send').isVisible(), true);
        },
        { viewport: { ...PHONE, width }, hasTouch: true, isMobile: true },
      );
    });
  }

  test('describes the API', async () => {
    await visit(
      async (page) => {
        // One of the first: of so many Swagger UI draws those alone that are in sight.
        await page.getByText('/v1/images/generations', { exact: true }).first().waitFor();
        await eventually(async () => assert.ok((await page.locator('.opblock').count()) > 5));
        assert.equal(await page.locator('.errors-wrapper').count(), 0);
      },
      { path: '/docs' },
    );
  });
});
