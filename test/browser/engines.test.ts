import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { after, before, describe, test } from 'node:test';
import type { VendorScript } from '../support/vendor-script.ts';
import type { Driven } from './driven.ts';
import { becomes, comesToFit, eventually } from './eventually.ts';
import { launchFirefox, withoutFirefox } from './firefox.ts';
import { type Gateway, openGateway } from './gateway.ts';
import { longAnswer } from './long-answer.ts';
import { launchWebKit, withoutWebKit } from './webkit.ts';

const MARKDOWN = [
  '# A heading\n\n- one\n- two\n\n| a | b |\n|---|--:|\n| c | 2 |\n\n',
  '```ts\nconst one: number = 1;\n```\n\n$$\\frac{1}{2}$$\n\nDone.',
];

const script: VendorScript = ({ prompt }) => {
  if (prompt === 'endless') return { text: endless(), delayMs: 50 };
  return { text: prompt === 'tall' ? [...MARKDOWN, '\n\n', longAnswer(600)] : MARKDOWN };
};

function* endless(): Generator<string> {
  for (;;) yield 'and ';
}

/**
 * Goes up through a chat step by step, and lets it come to rest after each. Comes to what did not move as far as was scrolled: which message
 * that is seen, and by how many pixels more.
 */
const GO_UP = `(async () => {
  const area = document.querySelector('#scroll');
  // What is still being made would move something by itself; a formula is, until its library has come.
  const UNFINISHED = '.is-dressing, .markdown[aria-busy="true"], .markdown-formula-source';
  const rest = async () => {
    for (let still = 0, was; still < 3; ) {
      await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
      const isSame = was === area.scrollHeight && area.querySelector(UNFINISHED) === null;
      was = area.scrollHeight;
      still = isSame ? still + 1 : 0;
    }
  };
  await rest();
  const jumps = [];
  for (let step = 0; step < 300 && area.scrollTop > 200; step += 1) {
    const { top, bottom } = area.getBoundingClientRect();
    const messages = [...area.querySelectorAll('.message')];
    const seen = messages.find((each) => each.getBoundingClientRect().bottom > (top + bottom) / 2);
    const before = seen.getBoundingClientRect().bottom;
    area.scrollTop -= 200;
    await rest();
    const moved = seen.getBoundingClientRect().bottom - before;
    if (Math.abs(moved - 200) > 2) jumps.push([messages.indexOf(seen), Math.round(moved - 200)]);
  }
  return { jumps, plain: area.querySelectorAll('.undressed').length };
})()`;

const ENGINES = [
  { name: 'Firefox', skip: withoutFirefox, launch: launchFirefox },
  { name: 'WebKit', skip: withoutWebKit, launch: launchWebKit },
];

/** What is different from one engine to the next; all else is tried in Chromium. */
for (const { name, skip, launch } of ENGINES) {
  describe(`the page in ${name}`, { skip, timeout: 180_000 }, () => {
    let gateway: Gateway;
    let browser: Driven;
    let folder = '';
    before(async () => {
      folder = mkdtempSync(path.join(tmpdir(), 'sluice-files-'));
      gateway = await openGateway(script, ['gpt-4o']);
      browser = await launch();
      await browser.page.goTo(gateway.origin);
    });
    after(async () => {
      await browser?.close();
      await gateway?.close();
      rmSync(folder, { recursive: true, force: true });
    });

    const count = (selector: string): Promise<number> =>
      browser.page.evaluate(`document.querySelectorAll(${JSON.stringify(selector)}).length`);
    const words = (selector: string): Promise<string> =>
      browser.page.evaluate(`[...document.querySelectorAll(${JSON.stringify(selector)})].at(-1)?.innerText ?? ''`);
    const focused = (): Promise<string> => browser.page.evaluate('document.activeElement.id');
    const ask = async (text: string): Promise<void> => {
      await becomes(focused, 'prompt');
      await browser.page.press(...text, 'Enter');
    };

    test('a question is written and answered, and the focus stays', async () => {
      await eventually(async () => assert.ok((await count('#providers strong')) > 0));
      await ask('Hello');
      await becomes(() => count('.answer .line'), 1);
      await becomes(() => count('.answer .markdown[aria-busy="true"]'), 0);
      await becomes(() => count('.markdown :is(h1, h2, h3, h4)'), 1);
      await becomes(() => count('.markdown li'), 2);
      await becomes(() => count('.markdown td'), 2);
      await becomes(() => count('.markdown .katex'), 1);
      // Colours come from a worker.
      await eventually(async () => assert.ok((await count('.markdown pre code span')) > 1));
      assert.equal(await focused(), 'prompt');
      assert.match(await words('.chat-list li a'), /^Hello\s*$/);
    });

    test('a file goes along, an answer goes on after a reload, and Escape stops it', async () => {
      const file = path.join(folder, 'hours.txt');
      writeFileSync(file, 'The office opens at nine.');
      await browser.page.choose('#files', file);
      await becomes(() => count('#attached .is-ready'), 1);
      await ask('endless');
      await comesToFit(() => words('.answer'), /and and/);
      assert.match(String(gateway.upstream.chats.at(-1)?.rawBody), /The office opens at nine/);
      const before = (await words('.answer')).length;
      await browser.page.reload();
      await eventually(async () => assert.ok((await words('.answer')).length > before + 20));
      await becomes(focused, 'prompt');
      await browser.page.press('Escape');
      await comesToFit(() => words('.answer'), /Stopped/);
    });

    test('what is written makes the field grow, and the end of the answer stays in sight', async () => {
      const height = (): Promise<number> => browser.page.evaluate("document.querySelector('#prompt').offsetHeight");
      const small = await height();
      await browser.page.evaluate(`(() => {
        document.querySelector('#prompt').value = 'one\\n'.repeat(6);
        document.querySelector('#prompt').dispatchEvent(new InputEvent('input', { bubbles: true }));
      })()`);
      await eventually(async () => assert.ok((await height()) > 3 * small));
      await browser.page.press('Enter');
      await becomes(height, small);
      await becomes(() => count('.answer .line'), 3);
      await becomes(
        () =>
          browser.page.evaluate(
            "(({ scrollHeight, scrollTop, clientHeight }) => Math.round(scrollHeight - scrollTop - clientHeight))(document.querySelector('#scroll'))",
          ),
        0,
      );
    });

    test('whoever goes up in a long chat sees it go by and never jump', async () => {
      await becomes(() => count('#new-chat'), 1);
      await browser.page.evaluate("document.querySelector('#new-chat').click()");
      await becomes(() => count('#welcome-title'), 1);
      for (let asked = 1; asked <= 9; asked += 1) {
        await ask(asked % 3 === 0 ? 'short' : 'tall');
        await becomes(() => count('.answer .line'), asked);
      }
      await browser.page.reload();
      await becomes(() => count('.message'), 18);
      await becomes(() => count('.undressed'), 10);
      assert.deepEqual(await browser.page.evaluate(GO_UP), { jumps: [], plain: 0 });
    });

    test('a dark system gets a dark page, also where it scrolls, and nothing was complained about', async () => {
      const styleOf = (element: string, name: string): Promise<string> =>
        browser.page.evaluate(`getComputedStyle(${element}).${name}`);
      assert.equal(await styleOf('document.documentElement', 'backgroundColor'), 'rgb(22, 24, 26)');
      // WebKit draws bars as the system does.
      if (await browser.page.evaluate("CSS.supports('scrollbar-color: auto')"))
        assert.equal(
          await styleOf("document.querySelector('#scroll')", 'scrollbarColor'),
          'rgb(86, 92, 98) rgba(0, 0, 0, 0)',
        );
      assert.deepEqual(await browser.complaints(), []);
    });
  });
}
