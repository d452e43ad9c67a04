import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Page, Route } from 'playwright-core';
import sharp from 'sharp';
import type { VendorScript } from '../support/vendor-script.ts';
import { withoutBrowser } from './chromium.ts';
import { becomes, comesToFit, eventually } from './eventually.ts';
import { openGateway } from './gateway.ts';
import { setStage } from './stage.ts';
import type { VisitOptions } from './visit.ts';
import { ask, goTo, PIXEL, ready, settled } from './visit.ts';

const COUNT = 70;

/** Pictures of different widths, so that no two are the same. */
const pictures: readonly { readonly mimeType: string; readonly data: string }[] = await Promise.all(
  Array.from({ length: COUNT }, async (_, index) => ({
    mimeType: 'image/png',
    data: (
      await sharp({ create: { width: 10 + index, height: 10, channels: 3, background: '#246' } })
        .png()
        .toBuffer()
    ).toString('base64'),
  })),
);

const script: VendorScript = ({ prompt }) => {
  if (prompt === 'many tiny squares') return { images: pictures };
  if (prompt === 'a red cat') return { images: [{ mimeType: 'image/png', data: PIXEL.toString('base64') }] };
  return { text: ['You said: ', prompt] };
};

/** Keeps the first request that removes something under an address from the server, and gives it once it is there. */
async function holdRemoval(page: Page, address: string): Promise<readonly Route[]> {
  const held: Route[] = [];
  await page.route(address, async (route) => {
    if (route.request().method() === 'DELETE' && held.length === 0) held.push(route);
    else await route.continue();
  });
  return held;
}

describe('media', { skip: withoutBrowser }, () => {
  const stage = setStage(async () => {
    const gateway = await openGateway(script, ['gpt-4o']);
    for (const content of ['many tiny squares', 'a red cat']) {
      const answer = await fetch(`${gateway.origin}/backend-api/v2/conversation`, {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ provider: 'scripted', model: 'gpt-4o', messages: [{ role: 'user', content }] }),
      });
      await answer.text();
    }
    return gateway;
  });
  const { gateway } = stage;
  const visit = (use: (page: Page) => Promise<void>, options?: VisitOptions): Promise<void> =>
    stage.visit(use, { path: '/#/media', ...options });
  const tiles = (page: Page) => page.locator('.tile');
  /** Searches for the squares, and waits until only they are there: what was there before is for a moment longer. */
  const searchSquares = async (page: Page): Promise<void> => {
    await page.locator('#media-search').fill('squares');
    await eventually(async () => {
      const titles = await tiles(page).allInnerTexts();
      assert.ok(titles.length > 5 && titles.every((title) => title.startsWith('many tiny squares')), titles.join());
    });
  };
  const counts = (page: Page, wanted: number): Promise<void> =>
    eventually(async () => assert.equal(await tiles(page).count(), wanted));

  test('shows all that is kept, page by page, and nothing moves as pictures arrive', async () => {
    await visit(async (page) => {
      await tiles(page).first().waitFor();
      await page.evaluate(`globalThis.shift = 0; new PerformanceObserver((list) => {
        for (const entry of list.getEntries()) if (!entry.hadRecentInput) globalThis.shift += entry.value;
      }).observe({ type: 'layout-shift', buffered: true })`);
      await eventually(async () => {
        await page.locator('main').evaluate((area) => area.scrollTo(0, area.scrollHeight));
        assert.equal(await tiles(page).count(), COUNT + 1);
      });
      // Those that are in sight come.
      await eventually(async () => {
        const image = tiles(page).last().locator('img');
        assert.ok((await image.evaluate((node: { naturalWidth: number }) => node.naturalWidth)) > 0);
      });
      assert.ok(Number(await page.evaluate('globalThis.shift')) < 0.02);
    });
  });

  test('is searched by words, and by kind', async () => {
    await visit(async (page) => {
      await page.locator('#media-search').fill('red cat');
      await counts(page, 1);
      await comesToFit(() => tiles(page).innerText(), /^a red cat/);
      // As large as can be seen, though it is a single pixel.
      await tiles(page).click();
      await eventually(async () => {
        const { width = 0, height = 0 } = (await page.locator('.gallery-stage > img').boundingBox()) ?? {};
        assert.ok(Math.min(width, height) >= 40, `${width} by ${height}`);
      });
      await page.keyboard.press('Escape');
      await page.getByRole('radio', { name: 'Videos' }).check();
      await page.getByText('Nothing fits.').waitFor();
      await becomes(async () => new URL(page.url()).hash, '#/media/video');
      await page.locator('#media-search').fill('');
      await page.getByText('No pictures, sound or videos yet.').waitFor();
      await page.getByRole('radio', { name: 'Pictures' }).check();
      await tiles(page).nth(5).waitFor();
    });
  });

  test('is looked at with the keyboard, in both directions of writing', async () => {
    await visit(async (page) => {
      await searchSquares(page);
      await tiles(page).first().focus();
      await page.keyboard.press('Enter');
      const stage = page.locator('.gallery-stage img');
      const source = async (): Promise<string | null> => stage.getAttribute('src');
      await stage.waitFor();
      const first = await source();
      await page.keyboard.press('ArrowRight');
      await eventually(async () => assert.notEqual(await source(), first));
      const second = await source();
      await page.getByText(`2 of`, { exact: false }).first().waitFor({ state: 'attached' });
      await page.keyboard.press('ArrowLeft');
      await becomes(() => source(), first);
      await page.keyboard.press('ArrowLeft');
      await becomes(() => source(), first);
      await becomes(() => page.getByRole('button', { name: 'Previous' }).isDisabled(), true);
      await page.keyboard.press('End');
      await eventually(async () => assert.notEqual(await source(), first));
      await page.keyboard.press('Home');
      await becomes(() => source(), first);
      await page.evaluate("document.documentElement.dir = 'rtl'");
      await page.keyboard.press('ArrowLeft');
      await becomes(() => source(), second);
      await page.keyboard.press('Escape');
      await stage.waitFor({ state: 'detached' });
      // Back to where one came from.
      await page.locator('.tile:focus').waitFor();
    });
  });

  test('counts keys that come faster than pictures are drawn', async () => {
    await visit(async (page) => {
      await searchSquares(page);
      await tiles(page).first().click();
      await page.locator('.gallery-stage img').waitFor();
      await page.evaluate(`(async () => {
        for (let count = 0; count < 3; count += 1) {
          document.activeElement.dispatchEvent(new KeyboardEvent('keydown', { key: 'ArrowRight', bubbles: true }));
          // The page renders, but has drawn nothing by the next one.
          for (let turn = 0; turn < 10; turn += 1) await undefined;
        }
      })()`);
      await page.getByRole('status').filter({ hasText: ', 4 of' }).waitFor({ state: 'attached' });
    });
  });

  test('deletes after asking, and goes on with the next one', async () => {
    await visit(async (page) => {
      await searchSquares(page);
      const total = async (): Promise<number> => {
        const names: string[] = [];
        for (let before = ''; ; ) {
          const query = new URLSearchParams({ search: 'squares', limit: '200', ...(before && { before }) });
          const answer = await fetch(`${gateway.origin}/backend-api/v2/media?${query}`);
          const { media, next } = (await answer.json()) as { media: { name: string }[]; next: string | null };
          names.push(...media.map(({ name }) => name));
          if (next === null) return names.length;
          before = next;
        }
      };
      const count = await total();
      await tiles(page).nth(1).click();
      const stage = page.locator('.gallery-stage img');
      await stage.waitFor();
      const doomed = await stage.getAttribute('src');
      await page.keyboard.press('Delete');
      const asked = page.getByRole('dialog', { name: 'Delete this file?' });
      await asked.getByRole('button', { name: 'Cancel' }).click();
      await asked.waitFor({ state: 'detached' });
      assert.equal(await total(), count);
      await stage.waitFor();
      await page.keyboard.press('Delete');
      await asked.getByRole('button', { name: 'Delete' }).click();
      await page.getByText(/was deleted\.$/).waitFor();
      assert.equal(await total(), count - 1);
      assert.equal((await fetch(gateway.origin + doomed)).status, 404);
      await eventually(async () => assert.notEqual(await stage.getAttribute('src'), doomed));
      await page.keyboard.press('Escape');
      await stage.waitFor({ state: 'detached' });
      await page.reload();
      await tiles(page).first().waitFor();
      await settled(page);
      assert.equal(await page.locator(`.tile img[src*="${doomed?.split('_').at(-1)}"]`).count(), 0);
    });
  });

  /** Has the second of the squares deleted, and closes the question about it while that is on its way. */
  async function deleteSlowly(page: Page) {
    const removals = await holdRemoval(page, '**/backend-api/v2/media/*');
    await searchSquares(page);
    await tiles(page).nth(1).click();
    const stage = page.locator('.gallery-stage img');
    const doomed = (await stage.getAttribute('src'))?.split('_').at(-1);
    await page.keyboard.press('Delete');
    const asked = page.getByRole('dialog', { name: 'Delete this file?' });
    await asked.getByRole('button', { name: 'Delete' }).click();
    await becomes(async () => removals.length, 1);
    await page.keyboard.press('Escape');
    await asked.waitFor({ state: 'detached' });
    const arrive = async (): Promise<void> => {
      await removals[0]?.continue();
      await becomes(() => page.locator(`.tile img[src*="${doomed}"]`).count(), 0);
    };
    return { stage, asked, arrive };
  }

  test('opens nothing again when a deletion took longer than somebody looked', async () => {
    await visit(async (page) => {
      const { stage, arrive } = await deleteSlowly(page);
      await page.keyboard.press('Escape');
      await stage.waitFor({ state: 'detached' });
      await arrive();
      assert.equal(await stage.count(), 0);
    });
  });

  test('goes on asking about another one when a deletion took longer than that', async () => {
    await visit(async (page) => {
      const { stage, asked, arrive } = await deleteSlowly(page);
      const before = await stage.getAttribute('src');
      await page.keyboard.press('ArrowRight');
      await eventually(async () => assert.notEqual(await stage.getAttribute('src'), before));
      const next = await stage.getAttribute('src');
      await page.keyboard.press('Delete');
      await asked.waitFor();
      await arrive();
      assert.equal(await asked.count(), 1);
      assert.equal(await stage.getAttribute('src'), next);
    });
  });

  test('has the files that were attached, too', async () => {
    await visit(
      async (page) => {
        await ready(page);
        await page.locator('#files').setInputFiles([
          { name: 'pixel.png', mimeType: 'image/png', buffer: PIXEL },
          { name: 'winter notes.txt', mimeType: 'text/plain', buffer: Buffer.from('It was cold.') },
          { name: 'gone again.txt', mimeType: 'text/plain', buffer: Buffer.from('Nobody wants it.') },
        ]);
        await page.locator('#attached .is-ready').nth(2).waitFor();
        // It is there until the server has taken it away, however long that takes.
        const removals = await holdRemoval(page, '**/files/*');
        await page.getByRole('button', { name: 'Remove gone again.txt' }).click();
        await becomes(async () => removals.length, 1);
        await ask(page, 'look at this');
        await goTo(page, '#/media/attached');
        await counts(page, 3);
        await removals[0]?.continue();
        await counts(page, 2);
        await page.locator('#media-search').fill('winter');
        await counts(page, 1);
        await tiles(page).click();
        await page.locator('.gallery-text').getByText('It was cold.').waitFor();
        const deleted = page.waitForResponse((answer) => answer.request().method() === 'DELETE');
        await page.getByRole('dialog').getByRole('button', { name: 'Delete' }).click();
        await page.getByRole('dialog', { name: 'Delete this file?' }).getByRole('button', { name: 'Delete' }).click();
        assert.equal((await deleted).status(), 200);
        await counts(page, 0);
        await page.locator('#media-search').fill('');
        await counts(page, 1);
        await tiles(page).click();
        await eventually(async () => {
          const image = page.locator('.gallery-stage img');
          assert.equal(await image.evaluate((node: { naturalWidth: number }) => node.naturalWidth), 1);
        });
      },
      { path: '/' },
    );
  });

  test('says so when the server does not answer, and tries again', async () => {
    await visit(async (page) => {
      await tiles(page).first().waitFor();
      // Otherwise it is noticed that the server is back.
      await page.route('**/backend-api/v2/version?**', (route) => route.abort());
      await page.route('**/backend-api/v2/media?**', (route) => route.abort());
      await page.locator('#media-search').fill('cat');
      await page.getByRole('alert').getByText('Sluice does not answer').waitFor();
      await page.unroute('**/backend-api/v2/media?**');
      await page.getByRole('button', { name: 'Try again' }).click();
      await counts(page, 1);
    });
  });

  test('tries again by itself when the server is back', async () => {
    await visit(async (page) => {
      await tiles(page).first().waitFor();
      for (const path of ['version?**', 'media?**'])
        await page.route(`**/backend-api/v2/${path}`, (route) => route.abort());
      await page.locator('#media-search').fill('cat');
      await page.getByRole('alert').getByText('Sluice does not answer').waitFor();
      await page.unroute('**/backend-api/v2/media?**');
      await page.unroute('**/backend-api/v2/version?**');
      await counts(page, 1);
      await becomes(() => page.getByRole('alert').count(), 0);
    });
  });

  test('leaves what is there when the server was away before the rest came', async () => {
    const pages: string[] = [];
    let isAway = true;
    await visit(
      async (page) => {
        await page.route('**/backend-api/v2/version?**', (route) => (isAway ? route.abort() : route.continue()));
        await page.route('**/backend-api/v2/media?**', async (route) => {
          const before = new URL(route.request().url()).searchParams.get('before') ?? 'the first';
          if (before !== 'the first' && isAway) return route.abort();
          pages.push(before);
          const response = await route.fetch({ url: `${new URL(route.request().url()).origin}/backend-api/v2/media` });
          const { media } = (await response.json()) as { media: { name: string }[] };
          const shown = before === 'the first' ? media.slice(0, 1) : media.slice(1);
          return route.fulfill({ json: { media: shown, next: before === 'the first' ? 'the second' : null } });
        });
        await goTo(page, '#/media');
        await page.getByRole('alert').getByText('Sluice does not answer').waitFor();
        await counts(page, 1);
        await page.evaluate("{ globalThis.first = document.querySelector('.tile'); }");
        isAway = false;
        await becomes(() => page.getByRole('alert').count(), 0);
        await eventually(async () => assert.ok((await tiles(page).count()) > 1));
        assert.equal(await page.evaluate('first.isConnected'), true);
        assert.deepEqual(pages, ['the first', 'the second']);
      },
      { path: '/' },
    );
  });
});
