import assert from 'node:assert/strict';
import { beforeEach, describe, test } from 'node:test';
import type { BrowserContext, Page, Request } from 'playwright-core';
import type { VendorScript } from '../support/vendor-script.ts';
import { withoutBrowser } from './chromium.ts';
import { becomes, comesToFit, eventually, PATIENCE_MS } from './eventually.ts';
import { openGateway } from './gateway.ts';
import { type Line, openLine } from './line.ts';
import { setStage } from './stage.ts';
import { ask, finished, lastAnswer, mayAsk, send } from './visit.ts';

const WORDS = 300;
/** So many words of `count` come before it is held. */
const FIRST_WORDS = 100;
/** How long a page may take that has to try again and again, in milliseconds. */
const MANY_TRIES_MS = 300_000;

/** Answers are held for it: `wait` before its first word, `count` in its midst. So however late a page is, it sees them run. */
let held = Promise.withResolvers<void>();

/** Holds the answers to what is asked from now on. */
function hold(): void {
  held = Promise.withResolvers();
}

const script: VendorScript = async ({ prompt }) => {
  const { promise } = held;
  if (prompt === 'wait') await promise;
  if (prompt === 'count') {
    let words = 0;
    const afterPiece = async (): Promise<void> => {
      words += 1;
      if (words === FIRST_WORDS) await promise;
    };
    return { text: numbers(WORDS), delayMs: 5, afterPiece };
  }
  if (prompt === 'endless') return { text: numbers(Number.POSITIVE_INFINITY), delayMs: 10 };
  return { text: ['You said: ', prompt] };
};

function* numbers(most: number): Generator<string> {
  for (let index = 0; index < most; index += 1) yield `w${index} `;
}

const ALL = [...numbers(WORDS)].join('').trim();

/** The whole answer, each word once and in its order. */
async function isWhole(page: Page, patience = PATIENCE_MS): Promise<void> {
  await lastAnswer(page).locator('.line').waitFor({ timeout: patience });
  await finished(lastAnswer(page));
  assert.equal((await lastAnswer(page).locator('.body').innerText()).trim(), ALL);
}

describe('an answer that the server keeps', { skip: withoutBrowser }, () => {
  // What the last test leaves behind goes on without end, and a stop would wait for it.
  const { visit, gateway } = setStage(() => openGateway(script, ['gpt-4o'], 'Scripted', 'limits: { drainMs: 100 }'));
  beforeEach(hold);

  test('goes on after a reload', async () => {
    await visit(async (page) => {
      await send(page, 'count');
      await page.getByText('w40 ').waitFor();
      await page.reload();
      await page.getByText('w40 ').waitFor();
      held.resolve();
      await isWhole(page);
      assert.equal(gateway.upstream.chats.length, 1);
      await comesToFit(() => lastAnswer(page).locator('.info').innerText(), /tokens/);
    });
  });

  test('comes to a second tab as well, which can stop it', async () => {
    await visit(async (page, context) => {
      await send(page, 'endless');
      await page.getByText('w20 ').waitFor();
      const second = await context.newPage();
      await second.goto(page.url());
      await second.getByText('w60 ').waitFor();
      await second.locator('#send').click();
      await lastAnswer(second).getByText('Stopped.').waitFor();
      await lastAnswer(page).getByText('Stopped.').waitFor();
      assert.equal(await gateway.upstream.chats.at(-1)?.closed, 'aborted');
      await mayAsk(second);
      await ask(second, 'and on');
      await page.getByText('You said: and on').waitFor();
    });
  });

  test('goes on after the connection was lost', async () => {
    const line = await openLine(gateway);
    try {
      await visit(
        async (page) => {
          await send(page, 'count');
          await page.getByText('w40 ').waitFor();
          line.cut();
          held.resolve();
          await page.getByText('The connection was lost').waitFor();
          line.mend();
          // The longer it was away, the longer the page waits until it tries again.
          await isWhole(page, MANY_TRIES_MS);
          assert.equal(await page.getByText('The connection was lost').count(), 0);
          assert.equal(await lastAnswer(page).getByRole('alert').count(), 0);
        },
        { gateway: line, mayComplain: /ERR_|Failed to load/ },
      );
    } finally {
      await line.close();
    }
  });

  /** Lets time pass on the page, half a minute at a time, until it has tried so often in vain to get back to the answer. */
  const triesInVain = async (page: Page, most: number): Promise<void> => {
    let tries = 0;
    const count = (request: Request): void => {
      if (request.url().includes('/streams/')) tries += 1;
    };
    page.on('requestfailed', count);
    await eventually(async () => {
      await page.clock.fastForward(30_000);
      assert.ok(tries >= most, `${tries} of ${most}`);
    }, MANY_TRIES_MS);
    page.off('requestfailed', count);
  };

  /** Asks on a page whose clock the test turns, and cuts its line in the midst of the answer, which goes on without it. */
  const visitCut = async (use: (page: Page, line: Line, context: BrowserContext) => Promise<void>): Promise<void> => {
    const line = await openLine(gateway);
    try {
      await visit(
        async (page, context) => {
          await page.clock.install();
          await send(page, 'count');
          await page.getByText('w40 ').waitFor();
          line.cut();
          held.resolve();
          await use(page, line, context);
        },
        { gateway: line, mayComplain: /ERR_|Failed to load/ },
      );
    } finally {
      await line.close();
    }
  };

  test('goes on once somebody looks at the page again, though the server was away for long', async () => {
    await visitCut(async (page, line) => {
      await triesInVain(page, 50);
      assert.equal(await lastAnswer(page).getByRole('alert').count(), 0);
      line.mend();
      await page.evaluate(`document.dispatchEvent(new Event('visibilitychange'))`);
      await isWhole(page);
    });
  });

  test('goes on at once where the network came back while an attempt was on its way that failed', async () => {
    await visitCut(async (page, line) => {
      // By now half a minute passes between two attempts, which is longer than this test waits for anything.
      await triesInVain(page, 20);
      let fail: (() => Promise<void>) | undefined;
      await page.route('**/backend-api/v2/streams/**', async (route) => {
        if (fail === undefined) fail = () => route.abort('internetdisconnected');
        else await route.continue();
      });
      await eventually(async () => {
        await page.clock.fastForward(30_000);
        assert.ok(fail !== undefined, 'an attempt is on its way');
      });
      line.mend();
      await page.evaluate(`dispatchEvent(new Event('online'))`);
      await fail?.();
      await isWhole(page);
    });
  });

  test('goes on when the network is back, however long that took, but does not wait for a server for ever', async () => {
    await visitCut(async (page, line, context) => {
      await context.setOffline(true);
      await triesInVain(page, 150);
      assert.equal(await lastAnswer(page).getByRole('alert').count(), 0);
      line.mend();
      await context.setOffline(false);
      await isWhole(page);
      await send(page, 'endless');
      const second = page.locator('.answer').nth(1);
      await second.getByText('w20 ').waitFor();
      line.cut();
      await eventually(async () => {
        await page.clock.fastForward(30_000);
        assert.match((await second.getByRole('alert').allInnerTexts()).join(), /Sluice does not answer/);
      }, MANY_TRIES_MS);
    });
  });

  test('goes on where the network has fallen silent, of which nobody tells, and an attempt to get back met the same', async () => {
    const line = await openLine(gateway);
    try {
      await visit(
        async (page) => {
          await page.clock.install();
          let tries = 0;
          page.on('request', (request) => {
            if (request.url().includes('/streams/')) tries += 1;
          });
          const passTime = async (until: () => Promise<void>): Promise<void> =>
            eventually(async () => {
              await page.clock.fastForward(30_000);
              await until();
            }, MANY_TRIES_MS);
          await send(page, 'count');
          await page.getByText('w40 ').waitFor();
          line.hold();
          held.resolve();
          await passTime(async () => assert.ok(tries > 0, 'no attempt to get back'));
          line.mend();
          await passTime(async () => assert.equal(await lastAnswer(page).locator('.line').count(), 1));
          await isWhole(page);
          assert.equal(await lastAnswer(page).getByRole('alert').count(), 0);
        },
        { gateway: line, mayComplain: /ERR_|Failed to load/ },
      );
    } finally {
      await line.close();
    }
  });

  test('goes on after others have answered in place of the server, or it had no room', async () => {
    const json = (status: number, code: string) => ({ status, json: { error: { message: 'Not now', code } } });
    const html = (status: number) => ({ status, contentType: 'text/html', body: `<h1>${status}</h1>` });
    const answers = [html(502), json(503, 'shutting_down'), html(404), json(429, 'rate_limited')];
    await visit(async (page) => {
      await send(page, 'count');
      await page.getByText('w40 ').waitFor();
      const told = Promise.withResolvers<void>();
      await page.route('**/backend-api/v2/streams/**', async (route) => {
        const answer = answers.shift();
        // The words go with the last attempt, however late they are looked for.
        if (answers.length === 0) await told.promise;
        return answer === undefined ? route.continue() : route.fulfill(answer);
      });
      await page.reload();
      held.resolve();
      await page.getByText('The connection was lost').waitFor();
      told.resolve();
      await isWhole(page, MANY_TRIES_MS);
      assert.equal(await lastAnswer(page).getByRole('alert').count(), 0);
      assert.equal(answers.length, 0);
    });
  });

  test('that a proxy refuses without the server is not the fault of a provider', async () => {
    await visit(async (page) => {
      for (const path of ['version?**', 'conversation']) {
        await page.route(`**/backend-api/v2/${path}`, (route) =>
          route.fulfill({ status: 502, contentType: 'text/html', body: '<h1>502 Bad Gateway</h1>' }),
        );
      }
      await send(page, 'count');
      await comesToFit(() => lastAnswer(page).getByRole('alert').innerText(), /Sluice does not answer/);
    });
  });

  test('says so when the server has it no more', async () => {
    await visit(async (page) => {
      await send(page, 'endless');
      await page.getByText('w20 ').waitFor();
      await page.route('**/backend-api/v2/streams/**', (route) =>
        route.fulfill({ status: 404, json: { error: { message: 'No such stream', code: 'not_found' } } }),
      );
      await page.reload();
      await comesToFit(() => lastAnswer(page).getByRole('alert').innerText(), /no longer has the rest/);
      await comesToFit(() => lastAnswer(page).locator('.body').innerText(), /w0 .*w20/);
    });
  });

  test('is broken off by a reload before its first word, and says no more than that', async () => {
    await visit(async (page) => {
      await send(page, 'wait');
      await lastAnswer(page).getByText('Waiting for the answer').waitFor();
      await page.reload();
      await comesToFit(() => lastAnswer(page).innerText(), /broke off before its end/);
      assert.equal(await lastAnswer(page).getByRole('alert').count(), 0);
      held.resolve();
    });
  });

  test('ends when another tab deletes its chat, and has no hole after an Undo', async () => {
    await visit(async (page, context) => {
      await send(page, 'endless');
      await page.getByText('w20 ').waitFor();
      const second = await context.newPage();
      await second.goto(new URL(page.url()).origin);
      await second.locator('.chat-list li button').first().click();
      await second.getByRole('menuitem', { name: 'Delete' }).click();
      assert.equal(await gateway.upstream.chats.at(-1)?.closed, 'aborted');
      await second.getByRole('button', { name: 'Undo' }).click();
      await lastAnswer(page).getByText('Stopped.').waitFor();
      await finished(lastAnswer(page));
      const words = (await lastAnswer(page).locator('.body').innerText()).trim().split(' ');
      assert.deepEqual(
        words,
        words.map((_, index) => `w${index}`),
      );
    });
  });

  test('is waited for in a second tab as well, which can stop it', async () => {
    await visit(async (page, context) => {
      for (const isStopped of [false, true]) {
        hold();
        await send(page, 'wait');
        await lastAnswer(page).getByText('Waiting for the answer').waitFor();
        const second = await context.newPage();
        await second.goto(page.url());
        await lastAnswer(second).getByText('Waiting for the answer').waitFor();
        assert.equal(await second.getByText('broke off').count(), 0);
        if (isStopped) await second.locator('#send').click();
        else held.resolve();
        const end = isStopped ? 'Stopped.' : 'You said: wait';
        for (const each of [page, second]) {
          await lastAnswer(each).getByText(end).waitFor();
          await finished(lastAnswer(each));
        }
        await second.close();
        await mayAsk(page);
      }
    });
  });

  test('is no longer waited for when the tab that has asked crashes', async () => {
    await visit(async (page, context) => {
      const second = await context.newPage();
      await second.goto(page.url());
      await send(second, 'wait');
      await lastAnswer(second).getByText('Waiting for the answer').waitFor();
      await page.goto(second.url());
      await lastAnswer(page).getByText('Waiting for the answer').waitFor();
      const crashed = second.waitForEvent('crash');
      const session = await context.newCDPSession(second);
      // It does not live to answer.
      session.send('Page.crash').catch(() => {});
      await crashed;
      await comesToFit(() => lastAnswer(page).innerText(), /broke off before its end/);
      await becomes(() => page.locator('.chat-list .is-running').count(), 0);
      held.resolve();
    });
  });
});
