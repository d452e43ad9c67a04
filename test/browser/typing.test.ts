import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import type { VendorScript } from '../support/vendor-script.ts';
import { withoutBrowser } from './chromium.ts';
import { becomes } from './eventually.ts';
import { openGateway } from './gateway.ts';
import { setStage } from './stage.ts';
import { ask, finished, lastAnswer, PHONE, ready, send, type VisitOptions } from './visit.ts';

type Made = new (
  ...options: unknown[]
) => { readonly items: { add(file: File): void }; setData(type: string, text: string): void } & Event;

interface BrowserScope {
  readonly DataTransfer: Made;
  readonly ClipboardEvent: Made;
}

const script: VendorScript = ({ prompt }) =>
  prompt === 'endless' ? { text: endless(), delayMs: 20 } : { text: [prompt] };

function* endless(): Generator<string> {
  for (;;) yield 'and ';
}

/** Ways to stop an answer. */
const STOPS: readonly (readonly [
  name: string,
  stop: (page: Page, button: Locator) => Promise<void>,
  options?: VisitOptions,
])[] = [
  ['a click', (_, button) => button.click()],
  ['a double click', (_, button) => button.dblclick()],
  ['a key on the button', (_, button) => button.press('Enter')],
  [
    // The button is another one before the mouse is let go of.
    'a click that the end of the answer overtakes',
    async (page, button) => {
      await button.hover();
      await page.mouse.down();
      await page.keyboard.press('Escape');
      await page.getByRole('button', { name: 'Send' }).waitFor();
      await page.mouse.up();
    },
  ],
  ['a touch', (_, button) => button.tap(), { viewport: PHONE, hasTouch: true, isMobile: true }],
];

/** A key press as an input method has it while it composes a word. */
async function compose(field: Locator, key: string): Promise<void> {
  await field.evaluate((node, pressed) => {
    const { KeyboardEvent } = globalThis as unknown as { KeyboardEvent: new (...options: unknown[]) => Event };
    const init = { key: pressed, keyCode: 229, isComposing: true, bubbles: true, cancelable: true };
    node.dispatchEvent(new KeyboardEvent('keydown', init));
  }, key);
}

describe('typing', { skip: withoutBrowser }, () => {
  const { visit, gateway, sent } = setStage(() => openGateway(script, ['gpt-4o', 'other-model']));

  for (const [name, stop, options] of STOPS) {
    test(`goes on where an answer is stopped meanwhile: ${name}`, async () => {
      await visit(async (page) => {
        await send(page, 'endless');
        await lastAnswer(page).getByText('and and').waitFor();
        const prompt = page.locator('#prompt');
        await prompt.fill('half a thought');
        await stop(page, page.getByRole('button', { name: 'Stop' }));
        await lastAnswer(page).getByText('Stopped.').waitFor();
        await finished(lastAnswer(page));
        await prompt.press('End');
        await prompt.pressSequentially(' and the rest');
        await page.getByRole('button', { name: 'Send' }).click();
        await page.locator('.answer').nth(1).waitFor();
        await finished(lastAnswer(page));
        assert.deepEqual(await page.locator('.question .bubble').allInnerTexts(), [
          'endless',
          'half a thought and the rest',
        ]);
      }, options);
    });
  }

  test('is sent by a double click as well, which does not stop the answer', async () => {
    await visit(async (page) => {
      await ready(page);
      await page.locator('#prompt').fill('endless');
      await page.getByRole('button', { name: 'Send' }).hover();
      await page.mouse.down();
      await page.mouse.up();
      await page.getByRole('button', { name: 'Stop' }).waitFor();
      await page.mouse.down({ clickCount: 2 });
      await page.mouse.up({ clickCount: 2 });
      await lastAnswer(page).getByText('and and').waitFor();
      await page.getByRole('button', { name: 'Stop' }).click();
      await lastAnswer(page).getByText('Stopped.').waitFor();
    });
  });

  test('is sent anew by a double click as well, which does nothing to the question', async () => {
    await visit(async (page) => {
      await ask(page, 'hello');
      const editor = page.locator('.editor');
      await page.locator('.question .edit').click();
      await editor.locator('textarea').fill('hello again');
      await editor.getByRole('button', { name: 'Send' }).hover();
      await page.mouse.down();
      await page.mouse.up();
      await page.locator('.question').getByText('2/2').waitFor();
      for (const name of ['Edit', 'Delete this message']) {
        await page.locator('.question').getByRole('button', { name }).hover();
        await page.mouse.down({ clickCount: 2 });
        await page.mouse.up({ clickCount: 2 });
      }
      await finished(lastAnswer(page));
      assert.deepEqual(await page.locator('.question .bubble').allInnerTexts(), ['hello again']);
      assert.equal(await editor.count(), 0);
    });
  });

  test('leaves to an input method the keys with which it composes a word', async () => {
    await visit(async (page) => {
      await ask(page, 'hello');
      const asked = gateway.upstream.chats.length;
      const prompt = page.locator('#prompt');
      await prompt.fill('half a w');
      await compose(prompt, 'Enter');
      await prompt.fill('/new');
      await page.locator('#slash-menu').waitFor();
      await compose(prompt, 'Enter');
      await compose(prompt, 'Escape');
      await page.locator('#slash-menu').waitFor();
      await becomes(() => prompt.inputValue(), '/new');
      await prompt.fill('');

      await page.locator('.question').hover();
      await page.locator('.question').getByRole('button', { name: 'Edit' }).click();
      const editor = page.locator('.editor textarea');
      await editor.fill('anew');
      await compose(editor, 'Escape');
      await compose(editor, 'Enter');
      await becomes(() => editor.inputValue(), 'anew');
      await editor.press('Escape');

      await page.locator('#model').click();
      await page.locator('#picker-search').fill('other');
      await compose(page.locator('#picker-search'), 'Enter');
      await becomes(() => page.locator('#picker-search').inputValue(), 'other');
      await page.keyboard.press('Escape');

      await page.locator('.chat-list li').getByRole('button').click();
      await page.getByRole('menuitem', { name: 'Rename' }).click();
      await page.locator('.rename').fill('half a t');
      await compose(page.locator('.rename'), 'Enter');
      await compose(page.locator('.rename'), 'Escape');
      await becomes(() => page.locator('.rename').inputValue(), 'half a t');
      assert.equal(gateway.upstream.chats.length, asked);
    });
  });

  test('takes the words of a paste where an office program puts a picture of them beside them', async () => {
    await visit(async (page) => {
      await ready(page);
      const isTaken = (types: readonly string[]): Promise<boolean> =>
        page.locator('#prompt').evaluate((field, texts) => {
          const { DataTransfer, ClipboardEvent } = globalThis as unknown as BrowserScope;
          const data = new DataTransfer();
          for (const type of texts) data.setData(type, 'A1');
          data.items.add(new File(['no picture'], 'image.txt', { type: 'text/plain' }));
          const event = new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true });
          return !field.dispatchEvent(event);
        }, types);
      assert.equal(await isTaken(['text/plain', 'text/html']), false);
      assert.equal(await page.locator('#attached').count(), 0);
      // A picture of another page has its markup beside it, a file of a file manager its name.
      assert.equal(await isTaken(['text/html']), true);
      assert.equal(await isTaken(['text/plain']), true);
      await page.locator('#attached .is-ready').nth(1).waitFor();
    });
  });

  test('hears nothing more of what was sent, and leaves alone what is typed while it listens', async () => {
    await visit(async (page) => {
      await page.addInitScript(`
        globalThis.SpeechRecognition = globalThis.webkitSpeechRecognition = class extends EventTarget {
          start() {
            globalThis.listening = this;
          }
          abort() {
            this.dispatchEvent(new Event('end'));
          }
          stop() {
            this.hear();
            this.abort();
          }
          hear(...said) {
            this.said = said.length > 0 ? said : this.said;
            const results = this.said.map((transcript) => [{ transcript }]);
            this.dispatchEvent(Object.assign(new Event('result'), { results }));
          }
        };
      `);
      await page.reload();
      await ask(page, 'hello');
      const prompt = page.locator('#prompt');
      await page.locator('#voice').click();
      await page.evaluate("listening.hear('Tell me')");
      await becomes(() => prompt.inputValue(), 'Tell me');
      await prompt.fill('Please tell me');
      await page.evaluate("listening.hear('Tell me', ' more')");
      await becomes(() => prompt.inputValue(), 'Please tell me more');
      await ask(page, 'Please tell me more');
      await becomes(() => page.locator('#voice').getAttribute('aria-pressed'), 'false');
      assert.equal(await prompt.inputValue(), '');
      assert.match(sent(), /Please tell me more/);
      // Browsers without a service that recognises speech have a microphone all the same.
      for (const [error, words] of [
        ['network', 'speech recognition does not answer'],
        ['not-allowed', 'The microphone cannot be used'],
      ]) {
        await page.locator('#voice').click();
        await page.evaluate(`listening.dispatchEvent(Object.assign(new Event('error'), { error: '${error}' }))`);
        await page.evaluate('listening.abort()');
        await page.getByText(String(words)).waitFor();
        await becomes(() => page.locator('#voice').getAttribute('aria-pressed'), 'false');
      }
    });
  });

  test('is written in the direction of its first letter, without having the browser look for that in each line', async () => {
    await visit(async (page) => {
      await ready(page);
      const direction = (): Promise<unknown> =>
        page.evaluate(
          "[document.querySelector('#prompt').getAttribute('dir'), getComputedStyle(document.querySelector('#prompt')).direction]",
        );
      await becomes(direction, [null, 'ltr']);
      await page.locator('#prompt').fill('1. שלום');
      await becomes(direction, ['rtl', 'rtl']);
      await page.locator('#prompt').fill('Hello שלום');
      await becomes(direction, ['ltr', 'ltr']);
    });
  });
});
