import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { ask as askRaw } from '../support/raw-http.ts';
import { withoutBrowser } from './chromium.ts';
import { becomes } from './eventually.ts';
import { openGateway } from './gateway.ts';
import { setStage } from './stage.ts';
import { ask, button, goTo, PHONE, ready, settled } from './visit.ts';

const NAME = 'sluice.example';

describe('a page whose script does not come', { skip: withoutBrowser }, () => {
  const { browser, gateway, visit } = setStage(() =>
    openGateway(() => ({ text: ['Hi'] }), ['gpt-4o'], 'Scripted', `allowedHosts: [${NAME}]\n`),
  );

  test('says what a proxy in front that changes the Host header has to do', async () => {
    const context = await browser().newContext({ serviceWorkers: 'block' });
    try {
      const refused: string[] = [];
      // As nginx does with `proxy_set_header Host $host`: the port is lost.
      await context.route('**', async (route) => {
        const { pathname, search } = new URL(route.request().url());
        const headers = { ...(await route.request().allHeaders()), host: NAME };
        const answer = await askRaw(gateway.origin, { path: pathname + search, headers });
        if (answer.status === 403) refused.push(answer.text);
        await route.fulfill({
          status: answer.status,
          contentType: String(answer.headers['content-type']),
          body: answer.text,
        });
      });
      const page = await context.newPage();
      await page.goto(`http://${NAME}:8080/`);
      const words = page.getByText('it must hand on the Host header as the browser sent it');
      await words.waitFor();
      assert.match(refused[0] ?? '', /a proxy in front must hand on the Host header as the browser sent it/);
    } finally {
      await context.close();
    }
  });

  test('says that it is not to be had below a path of another server', async () => {
    const context = await browser().newContext({ serviceWorkers: 'block' });
    try {
      await context.route('**', async (route) => {
        const { pathname, search } = new URL(route.request().url());
        if (!pathname.startsWith('/sluice/')) return await route.fulfill({ status: 404, body: 'no such page' });
        const headers = { ...(await route.request().allHeaders()), host: NAME };
        const answer = await askRaw(gateway.origin, { path: pathname.slice('/sluice'.length) + search, headers });
        await route.fulfill({
          status: answer.status,
          contentType: String(answer.headers['content-type']),
          body: answer.text,
        });
      });
      const page = await context.newPage();
      await page.goto(`http://${NAME}/sluice/`);
      await page.getByText('below a path of another server there is no page').waitFor();
    } finally {
      await context.close();
    }
  });

  test('keeps that to itself while it may still come', async () => {
    const context = await browser().newContext({ serviceWorkers: 'block' });
    try {
      await context.route('**/*.js', (route) => route.abort());
      const page = await context.newPage();
      await page.goto(gateway.origin);
      await page.locator('.starting').waitFor();
      // By the clock of the animation that shows it: the one on the wall may be late here.
      const visibilityAfter = (milliseconds: number): Promise<unknown> =>
        page.evaluate(`(() => {
          const words = document.querySelector('.not-started');
          const [animation] = words.getAnimations();
          animation.pause();
          animation.currentTime = ${milliseconds};
          return getComputedStyle(words).visibility;
        })()`);
      assert.equal(await visibilityAfter(9_900), 'hidden');
      assert.equal(await visibilityAfter(10_100), 'visible');
    } finally {
      await context.close();
    }
  });

  test('is said of the screen whose script it is, and of no other one', async () => {
    await visit(async (page) => {
      await goTo(page, '#/prompts');
      await page.locator('#new-prompt').waitFor();
      await page.route('**/assets/MediaScreen*', (route) => route.abort());
      await goTo(page, '#/media');
      const words = page.getByText('This part of the page could not be loaded.');
      await words.waitFor();
      await goTo(page, '#/prompts');
      await page.locator('#new-prompt').waitFor();
      assert.equal(await words.count(), 0);
    });
  });

  test('leaves the way to the other screens on phones, while it comes and where it does not', async () => {
    await visit(
      async (page) => {
        await ready(page);
        const held = Promise.withResolvers<void>();
        await page.route('**/assets/PromptsScreen*.js', async (route) => {
          await held.promise;
          await route.continue();
        });
        await page.route('**/assets/MemoryScreen*.js', (route) => route.abort());
        await goTo(page, '#/prompts');
        await page.getByRole('heading', { name: 'Prompts' }).waitFor();
        await page.locator('#open-sidebar').click();
        await page.locator('.sidebar').getByRole('link', { name: 'Memory' }).click();
        await page.getByText('This part of the page could not be loaded.').waitFor();
        await page.locator('#open-sidebar').click();
        await page.locator('.sidebar').getByRole('link', { name: 'Prompts' }).click();
        await page.getByRole('heading', { name: 'Prompts' }).waitFor();
        // Whoever stands there goes on from there.
        await page.locator('#open-sidebar').focus();
        held.resolve();
        await page.locator('#new-prompt').waitFor();
        await becomes(() => page.evaluate('document.activeElement.id'), 'open-sidebar');
      },
      { viewport: PHONE },
    );
  });

  test('comes by itself once the server is back', async () => {
    await visit(async (page) => {
      await ready(page);
      await page.route('**/backend-api/v2/version*', (route) => route.abort());
      await page.route('**/assets/PromptsScreen*', (route) => route.abort());
      await goTo(page, '#/prompts');
      const words = page.getByText('This part of the page could not be loaded.');
      await words.waitFor();
      await page.unroute('**/assets/PromptsScreen*');
      await page.unroute('**/backend-api/v2/version*');
      await page.locator('#new-prompt').waitFor();
      assert.equal(await words.count(), 0);
    });
  });

  for (const [what, where] of [
    ['a screen', 'on it'],
    ['a window', 'in a window, which can be closed'],
  ] as const) {
    test(`is said of ${what} that takes long to come, ${where}, and no more once it is there`, async () => {
      await visit(async (page) => {
        await ready(page);
        const part = what === 'a screen' ? 'PromptsScreen' : 'Shortcuts-';
        const held = Promise.withResolvers<void>();
        await page.route(`**/assets/${part}*.js`, async (route) => {
          await held.promise;
          await route.continue();
        });
        const words = page.getByRole('status').filter({ hasText: 'Loading…' });
        if (what === 'a screen') {
          await goTo(page, '#/prompts');
          await words.waitFor();
          held.resolve();
          await page.locator('#new-prompt').waitFor();
        } else {
          await page.locator('#prompt').focus();
          await page.keyboard.press('Control+/');
          const dialog = page.getByRole('dialog', { name: 'Sluice' });
          await dialog.and(page.locator(':has([role="status"])')).waitFor();
          await page.keyboard.press('Escape');
          await dialog.waitFor({ state: 'detached' });
          await page.keyboard.press('Control+/');
          await dialog.waitFor();
          held.resolve();
          await page.getByRole('dialog', { name: 'Keyboard shortcuts' }).waitFor();
          await becomes(() => dialog.count(), 0);
          await page.keyboard.press('Escape');
          await becomes(() => page.evaluate('document.activeElement.id'), 'prompt');
        }
        await becomes(() => words.count(), 0);
      });
    });
  }

  test('is said in a window of a window whose script it is, which can be closed', async () => {
    await visit(async (page) => {
      await ask(page, 'hello');
      await page.route('**/assets/ShareDialog*', (route) => route.abort());
      const open = async (): Promise<void> => {
        await page.getByRole('button', { name: 'What to do with' }).click();
        await page.getByRole('menuitem', { name: 'Share' }).click();
      };
      await open();
      const dialog = page.getByRole('dialog');
      await dialog.getByText('This part of the page could not be loaded.').waitFor();
      await dialog.getByRole('button', { name: 'Load the page again' }).waitFor();
      await page.keyboard.press('Escape');
      await dialog.waitFor({ state: 'detached' });
      // What has come back meanwhile needs no other page.
      await page.unroute('**/assets/ShareDialog*');
      await open();
      await page.getByRole('dialog', { name: 'Share this chat' }).waitFor();
    });
  });

  test('is said of parts that are nothing to look at, when they are wanted', async () => {
    await visit(async (page) => {
      await page.route('**/assets/slash-source-*', (route) => route.abort());
      await page.reload();
      const words = page.getByText('This part of the page could not be loaded.');
      await words.waitFor();
      await words.waitFor({ state: 'detached' });
      await ask(page, 'hello');
      for (const [part, item] of [
        ['name-chat', 'Name by the model'],
        ['export', 'Export as Markdown'],
      ] as const) {
        await page.route(`**/assets/${part}-*`, (route) => route.abort());
        await page.getByRole('button', { name: 'What to do with' }).click();
        await page.getByRole('menuitem', { name: item }).click();
        await words.waitFor();
        await words.waitFor({ state: 'detached' });
      }
      await page.route('**/assets/player-*', (route) => route.abort());
      await button(page, 'Read aloud').click();
      await words.waitFor();
    });
  });

  test('is said of the words of a language, and of what exports everything', async () => {
    await visit(async (page) => {
      const toast = page.locator('.toasts').first();
      const words =
        /^This part of the page could not be loaded\. Perhaps Sluice does not answer, or has been updated\.$/;
      await goTo(page, '#/settings');
      await page.route('**/assets/de-*', (route) => route.abort());
      await page.locator('#language').selectOption('de');
      await toast.getByText(words).waitFor();
      await page.locator('#language').selectOption('en');
      await goTo(page, '#/settings/data');
      await toast.getByText(words).waitFor({ state: 'detached' });
      await page.route('**/assets/export-all-*', (route) => route.abort());
      await page.getByRole('button', { name: 'Export everything' }).click();
      await toast.getByText(words).waitFor();
    });
  });

  test('leaves the words to the language that was chosen last, whichever comes first', async () => {
    await visit(async (page) => {
      await goTo(page, '#/settings');
      const held = Promise.withResolvers<void>();
      await page.route('**/assets/de-*', async (route) => {
        await held.promise;
        await route.continue();
      });
      await page.locator('#language').selectOption('de');
      await page.locator('#language').selectOption('fr');
      await page.locator('html[lang="fr"]').waitFor();
      await page.getByRole('heading', { name: 'Réglages' }).waitFor();
      const late = page.waitForResponse('**/assets/de-*.js');
      held.resolve();
      await (await late).finished();
      await settled(page);
      assert.equal(await page.locator('html').getAttribute('lang'), 'fr');
      assert.equal(await page.getByRole('heading', { level: 1 }).innerText(), 'Réglages');
    });
  });
});
