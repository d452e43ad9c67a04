import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { Page, Route } from 'playwright-core';
import type { LoggedRequest, Stats, WholeRequest } from '../../web/src/api/observe.ts';
import { LOGGED_CHAT } from '../../web/src/api/testing.ts';
import type { VendorScript } from '../support/vendor-script.ts';
import { violations } from './axe.ts';
import { withoutBrowser } from './chromium.ts';
import { becomes, comesToFit, eventually } from './eventually.ts';
import { openGateway } from './gateway.ts';
import { setStage } from './stage.ts';
import { ask, goTo, PHONE, ready, settled } from './visit.ts';

const script: VendorScript = ({ prompt }) => {
  if (prompt === 'refused') return { status: 429, errorMessage: 'Slow down' };
  return { text: ['You said: ', prompt], usage: { prompt: 1_000, completion: 234 } };
};

const ENTRY: LoggedRequest = {
  ...LOGGED_CHAT,
  provider: 'scripted',
  stream: true,
  first_chunk_ms: 412.3,
  duration_ms: 2210.8,
  usage: {
    prompt_tokens: 1200,
    completion_tokens: 310,
    total_tokens: 1510,
    cached_tokens: 0,
    cache_write_tokens: 0,
    reasoning_tokens: 0,
    estimated: false,
  },
  cost: 0.0061,
  attempts: 2,
  failed_attempts: [{ provider: 'groq', model: 'llama', code: 'rate_limited', status: 429, duration_ms: 80.1 }],
};
const WHOLE: WholeRequest = {
  ...ENTRY,
  request: {
    body: { model: 'gpt-4o', stream: true, messages: [{ role: 'user', content: "What's a gateway?" }] },
    truncated: false,
  },
  answer: { text: 'One **address**.', reasoning: '', tool_calls: [], truncated: false },
};

describe('the dashboard', { skip: withoutBrowser }, () => {
  const { visit, gateway } = setStage(() => openGateway(script, ['gpt-4o', 'plain-model']));

  /** Goes to what was used once something was: that is written behind the answer, and the page reads it only once. */
  async function useAndLook(page: Page, { origin } = gateway, model = 'gpt-4o'): Promise<void> {
    await ask(page, 'hello');
    await eventually(async () => {
      const { models } = (await (await fetch(`${origin}/backend-api/v2/stats`)).json()) as Stats;
      assert.ok((models[model] ?? 0) > 0);
    });
    await goTo(page, '#/dashboard');
  }

  test('shows what was used, by model and by provider, as a picture and as a table', async () => {
    await visit(async (page) => {
      await useAndLook(page);
      await comesToFit(() => page.locator('.plot-legend').innerText(), /gpt-4o\s*1\.\d+k/i);
      await comesToFit(() => page.locator('.tiles').innerText(), /Tokens\s*1\.\d+k\s*1k in, 234 out/i);
      await page.getByRole('radio', { name: 'By provider' }).check();
      await eventually(async () => assert.match(await page.locator('.plot-legend').innerText(), /Scripted/));
      await page.getByText('As a table').click();
      await comesToFit(() => page.locator('.plot-table table').innerText(), /Day\s+Scripted/);
      await page.getByRole('radio', { name: 'Cost' }).check();
      await page.getByText('No price is known').waitFor();
    });
  });

  test('keeps all figures of its table in sight beside a long name', async () => {
    const long = `organisation/${Array(12).fill('long-name').join('-')}`;
    const other = await openGateway(script, [long]);
    await visit(
      async (page) => {
        await useAndLook(page, other, long);
        await page.locator('.names tbody tr').filter({ hasText: long }).waitFor();
        const hidden = page.locator('.names').evaluate((table) => table.scrollWidth - table.clientWidth);
        assert.equal(await hidden, 0);
      },
      { gateway: other },
    ).finally(() => other.close());
  });

  test('says how long most answers took only where there were any', async () => {
    const unused = await openGateway(script, ['gpt-4o']);
    try {
      await visit(
        async (page) => {
          await comesToFit(() => page.locator('.tiles').innerText(), /First words after\s*–/);
          assert.doesNotMatch(await page.locator('.tiles').innerText(), /9 of 10/);
        },
        { gateway: unused, path: '/#/dashboard' },
      );
      await visit(async (page) => {
        await useAndLook(page);
        // A figure and its unit stand in one line.
        await comesToFit(() => page.locator('.tiles').innerText(), /9 of 10 within [\d.]+\u00a0m?s/);
      });
    } finally {
      await unused.close();
    }
  });

  test('says that what was used, or asked, is still to come', async () => {
    await visit(async (page) => {
      await ready(page);
      const held = Promise.withResolvers<void>();
      for (const path of ['stats', 'requests']) {
        await page.route(`**/backend-api/v2/${path}?**`, async (route) => {
          await held.promise;
          await route.continue();
        });
      }
      const words = page.locator('main').getByText('Loading…');
      await goTo(page, '#/dashboard/requests');
      await words.waitFor();
      await goTo(page, '#/dashboard');
      await words.waitFor();
      held.resolve();
      await becomes(() => words.count(), 0);
    });
  });

  test('says so when the server has no log', async () => {
    await visit(
      async (page) => {
        await page.route('**/backend-api/v2/requests?**', (route) =>
          route.fulfill({ status: 404, json: { error: { message: 'Not found' } } }),
        );
        await page.reload();
        await page.getByText('keeps no log of requests').waitFor();
      },
      { path: '/#/dashboard/requests', mayComplain: /404/ },
    );
  });

  test('shows requests, and one of them as chat, as curl and as code', async () => {
    await visit(async (page) => {
      const asked: string[] = [];
      await page.route('**/backend-api/v2/requests?**', (route) => {
        asked.push(new URL(route.request().url()).search);
        return route.fulfill({ json: { requests: [ENTRY], total: 1, kept: 1, next: null, mode: 'full' } });
      });
      await page.route('**/backend-api/v2/requests/*', (route) => route.fulfill({ json: WHOLE }));
      await goTo(page, '#/dashboard/requests');
      await page.locator('.request').waitFor();
      await comesToFit(
        () => page.locator('.request').innerText(),
        /200\s*gpt-4o\s*.*Scripted · chat · 1\.5k tokens · \$0\.0061 · 2\.2 s · 2 attempts/,
      );
      await page.locator('#requests-search').fill('gate');
      await page.getByRole('radio', { name: 'Failed' }).check();
      await eventually(async () =>
        assert.ok(asked.some((query) => /text=gate/.test(query) && /status=error/.test(query))),
      );
      await page.locator('.request').click();
      await becomes(() => page.locator('.said .bubble').innerText(), "What's a gateway?");
      await becomes(() => page.locator('.said-answer strong').innerText(), 'address');
      await comesToFit(() => page.locator('.attempts').innerText(), /groq llama · rate_limited 429 · 80 ms/);
      await page.getByRole('radio', { name: 'curl' }).check();
      await comesToFit(() => page.locator('#snippet').innerText(), /curl 'http.*\/v1\/chat\/completions'/);
      await page.getByRole('radio', { name: 'Python' }).check();
      await comesToFit(
        () => page.locator('#snippet').innerText(),
        /client\.chat\.completions\.create\(\n {4}model="gpt-4o"/,
      );
      await page.getByRole('radio', { name: 'Node.js' }).check();
      await comesToFit(() => page.locator('#snippet').innerText(), /for await \(const chunk of answer\)/);
      await page.locator('.snippet').getByRole('button', { name: 'Copy' }).click();
      await comesToFit(async () => String(await page.evaluate('navigator.clipboard.readText()')), /import OpenAI/);
    });
  });

  test('shows all of what went wrong with a request', async () => {
    const error = { code: 'context_length_exceeded', name: 'SluiceError', message: 'Too long' };
    for (const viewport of [undefined, PHONE, { width: 320, height: 640 }]) {
      await visit(
        async (page) => {
          await page.route('**/backend-api/v2/requests?**', (route) =>
            route.fulfill({
              json: { requests: [{ ...ENTRY, status: 400, error }], total: 1, kept: 1, next: null, mode: 'full' },
            }),
          );
          await goTo(page, '#/dashboard/requests');
          const sign = page.locator('.request .status');
          await becomes(() => sign.innerText(), error.code);
          assert.equal(await sign.evaluate((node) => node.scrollWidth > node.clientWidth), false);
        },
        viewport === undefined ? {} : { viewport },
      );
    }
  });

  test('has what became of a request, however long its name, in one line with the model on a phone', async () => {
    const error = { code: 'context_length_exceeded', name: 'SluiceError', message: 'Too long' };
    const requests = [ENTRY, { ...ENTRY, id: 'failed', status: 400, error }];
    await visit(
      async (page) => {
        await page.route('**/backend-api/v2/requests?**', (route) =>
          route.fulfill({ json: { requests, total: 2, kept: 2, next: null, mode: 'full' } }),
        );
        await goTo(page, '#/dashboard/requests');
        await becomes(() => page.locator('.request').count(), 2);
        for (const row of await page.locator('.request').all()) {
          const sign = await row.locator('.status').boundingBox();
          const model = await row.locator('strong').boundingBox();
          assert.ok(sign !== null && model !== null && model.y < sign.y + sign.height, 'beside it');
        }
      },
      { viewport: PHONE },
    );
  });

  test('shows no more of what is no longer searched for', async () => {
    await visit(async (page) => {
      const held: Route[] = [];
      const rows = (id: string, next: string | null) => ({
        json: { requests: [{ ...ENTRY, id, model: id }], total: 2, kept: 2, next, mode: 'full' },
      });
      await page.route('**/backend-api/v2/requests?**', async (route) => {
        const query = new URL(route.request().url()).searchParams;
        if (query.has('before')) held.push(route);
        else await route.fulfill(query.has('text') ? rows('found', null) : rows('newest', 'x'));
      });
      await goTo(page, '#/dashboard/requests');
      await page.getByRole('button', { name: 'Show more' }).click();
      await becomes(async () => held.length, 1);
      await page.locator('#requests-search').fill('gate');
      await page.locator('.request').getByText('found').waitFor();
      await held[0]?.fulfill(rows('earlier', null));
      await settled(page);
      assert.deepEqual(await page.locator('.request strong').allInnerTexts(), ['found']);
    });
  });

  for (const colorScheme of ['light', 'dark'] as const) {
    test(`axe finds nothing on the new screens, ${colorScheme}`, async () => {
      for (const viewport of [{ width: 1280, height: 800 }, PHONE]) {
        await visit(
          async (page) => {
            const check = async (what: string): Promise<void> => assert.deepEqual(await violations(page), [], what);
            await page.route('**/backend-api/v2/requests?**', (route) =>
              route.fulfill({ json: { requests: [ENTRY], total: 1, kept: 1, next: 'x', mode: 'full' } }),
            );
            await page.route('**/backend-api/v2/requests/*', (route) => route.fulfill({ json: WHOLE }));
            await useAndLook(page);
            await page.locator('.plot-legend li').first().waitFor();
            await page.getByText('As a table').click();
            await page.locator('.plot-table table').waitFor();
            await check('usage');
            await goTo(page, '#/dashboard/requests');
            await page.locator('.request').waitFor();
            await check('requests');
            await page.locator('.request').click();
            await page.locator('.said').waitFor();
            await check('a request');
            await page.getByRole('radio', { name: 'curl' }).check();
            await page.locator('#snippet').getByText('curl').first().waitFor();
            await check('curl');
            await goTo(page, '#/prompts');
            await page.locator('#new-prompt').click();
            await page.getByRole('textbox', { name: 'Text' }).fill('About {{topic}}, {{tone=kind|stern}}');
            await check('a prompt');
            await page.getByRole('button', { name: 'Save', exact: true }).click();
            await page.locator('.library-use').waitFor();
            await check('prompts');
            await page.locator('.library-use').click();
            await page.locator('.prompt-dialog').waitFor();
            await check('variables');
            await page.keyboard.press('Escape');
            await page.locator('.prompt-dialog').waitFor({ state: 'detached' });
            await page.keyboard.press('Control+.');
            await page.locator('.setup').waitFor();
            await check('instructions and parameters');
            await page.keyboard.press('Escape');
            await page.locator('.setup').waitFor({ state: 'detached' });
            await goTo(page, '#/presets');
            await page.locator('#new-preset').click();
            await page.getByRole('textbox', { name: 'Name' }).fill('A');
            await check('a preset');
            await page.getByRole('button', { name: 'Save', exact: true }).click();
            await page.locator('.library-use').waitFor();
            await check('presets');
            await goTo(page, '#/compare');
            await page.locator('#prompt').fill('compare');
            await page.locator('#prompt').press('Enter');
            await page.locator('.side .line').nth(1).waitFor();
            await check('comparison');
            await goTo(page, '#/');
            await ready(page);
            await page.locator('#model').click();
            await page.locator('#picker-search:focus').waitFor();
            await check('models');
          },
          { colorScheme, viewport, reducedMotion: 'reduce' },
        );
      }
    });
  }
});
