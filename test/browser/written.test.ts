import { describe, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import type { VendorScript } from '../support/vendor-script.ts';
import { withoutBrowser } from './chromium.ts';
import { becomes, comesToFit } from './eventually.ts';
import { openGateway } from './gateway.ts';
import { setStage } from './stage.ts';
import { ask, button, goTo, ready } from './visit.ts';

const script: VendorScript = ({ prompt }) => ({ text: ['You said: ', prompt] });

/** Some megabytes, more than fit into a browser's local storage: so many times ten letters. */
const TENS = 540_000;

/** Keeps what is read of drafts from the database until `late.come()`. */
const LATE_DRAFTS = `globalThis.late = { words: [] };
  late.come = () => { for (const say of late.words.splice(0)) say(); };
  const get = IDBObjectStore.prototype.get;
  IDBObjectStore.prototype.get = function (key) {
    const request = get.call(this, key);
    if (key[0] !== 'draft') return request;
    const { set } = Object.getOwnPropertyDescriptor(IDBRequest.prototype, 'onsuccess');
    const wait = (hear) => (event) => late.words.push(() => hear.call(request, event));
    Object.defineProperty(request, 'onsuccess', { set: (hear) => set.call(request, wait(hear)) });
    const add = request.addEventListener;
    request.addEventListener = (name, hear, ...rest) =>
      add.call(request, name, name === 'success' ? wait(hear) : hear, ...rest);
    return request;
  };`;

/** A browser that does not live to say that drafts are on the disk, from `lasting.isOn` on. */
const LASTING = `globalThis.lasting = { isOn: false, count: 0 };
  const complete = Object.getOwnPropertyDescriptor(IDBTransaction.prototype, 'oncomplete');
  Object.defineProperty(IDBTransaction.prototype, 'oncomplete', {
    set(hear) {
      const isHeld = lasting.isOn && this.objectStoreNames[0] === 'records';
      if (isHeld) lasting.count += 1;
      else complete.set.call(this, hear);
    },
  });`;

/** Opens a window in which something is written, or an editor in the page. */
interface Form {
  readonly name: string;
  readonly open: (page: Page) => Promise<void>;
  readonly field: (page: Page) => Locator;
  readonly before: string;
  /** Where to go, and come back from. */
  readonly address?: string;
}

const FORMS: readonly Form[] = [
  {
    name: 'a question',
    open: (page) => page.locator('.question .edit').click(),
    field: (page) => page.locator('.editor textarea'),
    before: 'first',
  },
  {
    name: 'an answer',
    open: (page) => button(page, 'Edit the answer').click(),
    field: (page) => page.locator('.editor textarea'),
    before: 'You said: first',
  },
  {
    name: 'a new prompt',
    open: (page) => page.locator('#new-prompt').click(),
    field: (page) => page.getByRole('dialog').getByLabel('Text', { exact: true }),
    before: '',
    address: '#/prompts',
  },
  {
    name: 'a preset',
    open: (page) => page.locator('#new-preset').click(),
    field: (page) => page.getByRole('dialog').getByLabel('Instructions'),
    before: '',
    address: '#/presets',
  },
];

describe('what is written', { skip: withoutBrowser }, () => {
  const { visit } = setStage(() => openGateway(script, ['gpt-4o']));

  for (const { name, open, field, before, address } of FORMS) {
    test(`into ${name} is there again after Escape, on the way back and after a reload, until it is given up`, async () => {
      await visit(async (page) => {
        await ask(page, 'first');
        const chat = new URL(page.url()).hash;
        if (address !== undefined) await goTo(page, address);
        await open(page);
        await becomes(() => field(page).inputValue(), before);
        await field(page).fill('in other words');
        await field(page).press('Escape');
        await field(page).waitFor({ state: 'detached' });
        await open(page);
        await becomes(() => field(page).inputValue(), 'in other words');
        await field(page).fill('in still other words');
        await goTo(page, '#/settings');
        await page.locator('#language').waitFor();
        await goTo(page, address ?? chat);
        await open(page);
        await becomes(() => field(page).inputValue(), 'in still other words');
        await page.reload();
        await open(page);
        await becomes(() => field(page).inputValue(), 'in still other words');
        await page.getByRole('button', { name: 'Cancel' }).click();
        await open(page);
        await becomes(() => field(page).inputValue(), before);
      });
    });
  }

  test('is written in the direction of its first letter, which is not left to the browser, that looks at all of it again for each key', async () => {
    await visit(async (page) => {
      await ask(page, 'first');
      for (const { open, field, address } of FORMS) {
        if (address !== undefined) await goTo(page, address);
        await open(page);
        for (const [text, direction] of [
          ['1. שלום, and more', 'rtl'],
          ['1. Hello, ושלום', 'ltr'],
        ] as const) {
          await field(page).fill(text);
          await becomes(() => field(page).getAttribute('dir'), direction);
        }
        await page.getByRole('button', { name: 'Cancel' }).click();
      }
    });
  });

  test('into a question anew goes with its sending, and with its chat', async () => {
    await visit(async (page) => {
      await ask(page, 'first');
      const editor = page.locator('.editor textarea');
      const kept = (): Promise<number> =>
        page.evaluate(() => Object.values(localStorage).filter((text) => text.includes('in other words')).length);
      await page.locator('.question .edit').click();
      await editor.fill('in other words');
      await becomes(kept, 1);
      await page.getByRole('button', { name: 'Send' }).and(page.locator('.editor *')).click();
      await page.locator('.answer').getByText('You said: in other words').waitFor();
      await becomes(kept, 0);
      await page.locator('.question .edit').click();
      await editor.fill('in other words, once more');
      await becomes(kept, 1);
      await page.locator('.chat-list li button').first().click();
      await page.getByRole('menuitem', { name: 'Delete' }).click();
      await becomes(kept, 0);
      await page.getByRole('button', { name: 'Undo' }).click();
      await page.locator('.question .edit').click();
      await becomes(() => editor.inputValue(), 'in other words, once more');
    });
  });

  test('into a question anew stays while another one is sent', async () => {
    await visit(async (page) => {
      await ask(page, 'first');
      const editor = page.locator('.editor textarea');
      await page.locator('.question .edit').click();
      await editor.fill('in other words');
      await ask(page, 'second');
      await page.locator('.answer').getByText('You said: second').waitFor();
      await becomes(() => editor.inputValue(), 'in other words');
    });
  });

  test('into a question anew, and is large, comes whole though something is typed before it is there', async () => {
    await visit(async (page) => {
      await ask(page, 'first');
      const editor = page.locator('.editor textarea');
      const large = `begin ${'all of it '.repeat(30_000)}end`;
      await page.locator('.question .edit').click();
      await editor.fill(large);
      await page.addInitScript(LATE_DRAFTS);
      await page.reload();
      await page.locator('.question .edit').click();
      await becomes(() => editor.inputValue(), 'first');
      await editor.pressSequentially('!');
      await becomes(() => editor.inputValue(), 'first!');
      await becomes(() => page.evaluate('late.words.length'), 1);
      await page.evaluate('late.come()');
      await becomes(() => editor.inputValue().then((text) => text.length), large.length);
      await page.reload();
      await becomes(() => page.evaluate('late.words.length'), 1);
      await page.evaluate('late.come()');
      await page.locator('.question .edit').click();
      await becomes(() => editor.inputValue().then((text) => text.length), large.length);
    });
  });

  test('and is large, is there again though something was typed before it came, and the page went', async () => {
    await visit(async (page) => {
      await ask(page, 'first');
      const large = `begin ${'all of it '.repeat(30_000)}end`;
      const editor = page.locator('.editor textarea');
      const field = page.locator('#prompt');
      await page.locator('.question .edit').click();
      await editor.fill(large);
      await field.fill(large);
      await page.addInitScript(LATE_DRAFTS);
      await page.reload();
      await becomes(() => page.evaluate('late.words.length'), 2);
      await page.locator('.question .edit').click();
      await editor.pressSequentially('!');
      await becomes(() => editor.inputValue(), 'first!');
      await field.pressSequentially('?');
      await becomes(() => field.inputValue(), '?');
      await page.reload();
      await becomes(() => page.evaluate('late.words.length'), 2);
      await page.evaluate('late.come()');
      await page.locator('.question .edit').click();
      await becomes(() => editor.inputValue().then((text) => text.length), large.length);
      await becomes(() => field.inputValue().then((text) => text.length), large.length);
    });
  });

  test('and is large, is there again though an earlier one was still on its way to the disk when the page went', async () => {
    await visit(async (page) => {
      await page.addInitScript(LASTING);
      await page.reload();
      await ask(page, 'first');
      const large = `begin ${'all of it '.repeat(30_000)}end`;
      const editor = page.locator('.editor textarea');
      const field = page.locator('#prompt');
      await page.evaluate('lasting.isOn = true');
      await page.locator('.question .edit').click();
      await editor.fill(large);
      await becomes(() => page.evaluate('lasting.count'), 1);
      await editor.fill(`${large}, and more`);
      await field.fill(large);
      await page.reload();
      await becomes(() => field.inputValue().then((text) => text.length), large.length);
      await page.locator('.question .edit').click();
      await becomes(() => editor.inputValue().then((text) => text.length), large.length + ', and more'.length);
    });
  });

  test('and is large, is there again though the page went before the database was open', async () => {
    await visit(async (page) => {
      const field = page.locator('#prompt');
      const large = `begin ${'all of it '.repeat(30_000)}end`;
      await page.addInitScript(`if (sessionStorage.getItem('late') === null) {
        sessionStorage.setItem('late', 'once');
        indexedDB.open = () => ({});
      }`);
      await page.reload();
      await field.fill(large);
      await becomes(() => page.evaluate("localStorage.getItem('sluice.draft.')"), '{"elsewhere":""}');
      await page.reload();
      await becomes(() => field.inputValue().then((text) => text.length), large.length);
      await field.press('End');
      await field.pressSequentially('!');
      await comesToFit(() => page.evaluate("localStorage.getItem('sluice.draft.')"), /^{"elsewhere":"\w/);
      await page.reload();
      await becomes(() => field.inputValue().then((text) => text.length), large.length + 1);
    });
  });

  test('into a message anew goes with the message, and comes back with it', async () => {
    await visit(async (page) => {
      await ask(page, 'first');
      const question = page.locator('.question');
      const kept = (): Promise<number> =>
        page.evaluate(() => Object.values(localStorage).filter((text) => text.includes('in other words')).length);
      await question.locator('.edit').click();
      await page.locator('.editor textarea').fill('in other words');
      await becomes(kept, 1);
      await page.keyboard.press('Escape');
      await question.getByRole('button', { name: 'Delete' }).click();
      await becomes(kept, 0);
      await page.getByRole('button', { name: 'Undo' }).click();
      await question.locator('.edit').click();
      await becomes(() => page.locator('.editor textarea').inputValue(), 'in other words');
      await becomes(kept, 1);
    });
  });

  test('is kept without the database, too, though it is large, while there is room for it elsewhere', async () => {
    await visit(async (page) => {
      await page.addInitScript("indexedDB.open = () => { throw new DOMException('blocked', 'SecurityError'); }");
      await page.reload();
      await ready(page);
      const field = page.locator('#prompt');
      const large = 'all of it '.repeat(30_000);
      await field.fill(large);
      await becomes(() => page.evaluate("localStorage.getItem('sluice.draft.')?.length > 300_000"), true);
      await page.reload();
      await becomes(() => field.inputValue().then((text) => text.length), large.length);
    });
  });

  for (const [how, leave] of [
    ['on the way back', (page: Page) => page.goBack()],
    ['when the sidebar is hidden', (page: Page) => page.keyboard.press('Control+b')],
  ] as const) {
    test(`into a title is kept ${how}, and not after Escape`, async () => {
      await visit(async (page) => {
        await ask(page, 'hello');
        await goTo(page, '#/history');
        const rename = async (list: string): Promise<Locator> => {
          await page.locator(list).getByRole('button', { name: 'What to do with' }).click();
          await page.getByRole('menuitem', { name: 'Rename' }).click();
          return page.locator('.rename:focus');
        };
        const field = await rename(how === 'on the way back' ? '.history' : '.chat-list');
        await field.fill('Another title');
        await leave(page);
        await field.waitFor({ state: 'detached' });
        await goTo(page, '#/history');
        const title = page.locator('.history-title');
        await becomes(() => title.innerText(), 'Another title');
        await (await rename('.history')).fill('Never mind');
        await page.keyboard.press('Escape');
        await becomes(() => title.innerText(), 'Another title');
      });
    });
  }

  test('into the windows of tags and keys is not lost by a click beside them', async () => {
    await visit(async (page) => {
      await ask(page, 'hello');
      const dialog = page.getByRole('dialog');
      const open = async (): Promise<void> => {
        await page.getByRole('button', { name: 'What to do with' }).first().click();
        await page.getByRole('menuitem', { name: 'Folder and tags' }).click();
        await dialog.waitFor();
      };
      const clickBeside = () => page.mouse.click(4, 4);
      await open();
      await clickBeside();
      await dialog.waitFor({ state: 'detached' });
      for (const label of ['Folder', 'Add a tag']) {
        await open();
        await dialog.getByLabel(label).fill('recipes');
        await clickBeside();
        await becomes(() => dialog.getByLabel(label).inputValue(), 'recipes');
        await page.keyboard.press('Escape');
        await dialog.waitFor({ state: 'detached' });
      }
      await goTo(page, '#/settings/providers');
      await page
        .getByRole('button', { name: /^Enter key: / })
        .first()
        .click();
      await dialog.getByLabel('API key').fill('key-of-mine');
      await clickBeside();
      await becomes(() => dialog.getByLabel('API key').inputValue(), 'key-of-mine');
    });
  });

  test('for what a prompt asks for is there again after Escape, until it is used', async () => {
    await visit(async (page) => {
      const dialog = page.getByRole('dialog');
      await goTo(page, '#/prompts');
      await page.locator('#new-prompt').click();
      await dialog.getByLabel('Text', { exact: true }).fill('Say {{what}} kindly');
      await dialog.getByRole('button', { name: 'Save' }).click();
      const use = (): Promise<void> => page.locator('.library-use').click();
      await use();
      await dialog.getByLabel('what').fill('no');
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      await goTo(page, '#/prompts');
      await use();
      await becomes(() => dialog.getByLabel('what').inputValue(), 'no');
      await dialog.getByRole('button', { name: 'Insert' }).click();
      await becomes(() => page.locator('#prompt').inputValue(), 'Say no kindly');
      await goTo(page, '#/prompts');
      await use();
      await becomes(() => dialog.getByLabel('what').inputValue(), '');
    });
  });

  test('into the message field is kept whatever its size, and is the same in another tab', async () => {
    await visit(async (page, context) => {
      await ask(page, 'first');
      const field = page.locator('#prompt');
      // Made and looked at within the page: megabytes that go there and back take longer on a busy machine than is waited.
      const length = (of: Page): Promise<number> => of.evaluate("document.querySelector('#prompt')?.value.length");
      await page.evaluate(`(() => {
        const field = document.querySelector('#prompt');
        field.value = 'all of it '.repeat(${TENS});
        field.dispatchEvent(new InputEvent('input', { bubbles: true }));
      })()`);
      await page.reload();
      await ready(page);
      await becomes(() => length(page), 10 * TENS);
      const other = await context.newPage();
      await other.goto(page.url());
      await becomes(() => length(other), 10 * TENS);
      await field.press('ControlOrMeta+End');
      await field.pressSequentially('!!');
      await becomes(() => length(other), 10 * TENS + 2);
      await other.locator('#prompt').fill('less');
      await becomes(() => field.inputValue(), 'less');
      for (const tab of [page, other]) {
        await tab.reload();
        await becomes(() => tab.locator('#prompt').inputValue(), 'less');
      }
      const records = `new Promise((done) => {
        indexedDB.open('sluice').onsuccess = ({ target: { result } }) => {
          const asked = result.transaction('records').objectStore('records').getAll();
          asked.onsuccess = () => done(asked.result.filter(({ kind }) => kind === 'draft').length, result.close());
        };
      })`;
      await becomes(() => page.evaluate(records), 0);
    });
  });
});
