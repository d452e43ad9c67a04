import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { ServerResponse } from 'node:http';
import { after, describe, test } from 'node:test';
import type { Locator, Page } from 'playwright-core';
import { type OpenAiUpstream, startOpenAiUpstream } from '../support/openai-upstream.ts';
import type { SeenRequest } from '../support/seen-request.ts';
import type { VendorScript } from '../support/vendor-script.ts';
import { withoutBrowser } from './chromium.ts';
import { becomes, comesToFit, eventually } from './eventually.ts';
import { openGateway } from './gateway.ts';
import { answerWith } from './scripted-events.ts';
import { setStage } from './stage.ts';
import { ask, finished, goTo, keepToasts, lastAnswer, PHONE, PIXEL, ready, settled } from './visit.ts';

const RIGHT_KEY = 'the-right-key';

const script: VendorScript = ({ prompt }) =>
  prompt.includes('draw')
    ? { images: [{ mimeType: 'image/png', data: PIXEL.toString('base64') }] }
    : { text: ['You said: ', prompt] };

/** Keys that are right too, once the provider is no longer too busy to say so. */
const LATE_KEYS = ['a-late-key', 'a-later-key'];
let isBusy = true;

/** Lists its models to holders of a right key only. */
function handle(request: SeenRequest, response: ServerResponse): boolean {
  const key = request.headers.authorization?.replace('Bearer ', '') ?? '';
  if (key === RIGHT_KEY || (LATE_KEYS.includes(key) && !isBusy)) return false;
  if (LATE_KEYS.includes(key)) {
    response.writeHead(503, { 'content-type': 'application/json' });
    response.end(JSON.stringify({ error: { message: 'Too busy' } }));
    return true;
  }
  response.writeHead(401, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ error: { message: 'Incorrect API key provided' } }));
  return true;
}

describe('settings', { skip: withoutBrowser }, () => {
  let locked: OpenAiUpstream;
  const { visit, gateway } = setStage(async () => {
    locked = await startOpenAiUpstream(undefined, { models: ['locked-one', 'locked-two'], handle });
    return openGateway(
      script,
      ['gpt-4o'],
      'Scripted',
      `  groq: { label: Locked, baseUrl: '${locked.baseUrl}' }
  mute: { kind: openai, label: Mute, baseUrl: 'http://127.0.0.1:9/v1', apiKey: anything }
  bare: { kind: openai, label: Set up without a key, baseUrl: '${locked.baseUrl}' }
  known: { kind: openai, label: Known by cookies, baseUrl: '${locked.baseUrl}', auth: cookies }
embedded: { enabled: true }
`,
    );
  });
  after(() => locked?.close());
  const api = (path: string): string => `${gateway.origin}/backend-api/v2/${path}`;
  const stored = (page: Page): Promise<Record<string, unknown>> =>
    page.evaluate("JSON.parse(localStorage.getItem('sluice.settings') ?? '{}')");
  const row = (page: Page, name: string) => page.locator(`[data-provider="${name}"]`);

  test('the keyboard leads there, and its help sheet is the same in both places', async () => {
    await visit(async (page) => {
      await ready(page);
      await page.keyboard.press('Control+,');
      await page.getByRole('heading', { name: 'General' }).waitFor();
      await becomes(() => page.title(), 'Settings · Sluice');
      await page.getByRole('link', { name: 'Keyboard' }).click();
      await page.getByRole('heading', { name: 'Keyboard' }).waitFor();
      const listed = await page.locator('.settings-section .shortcuts').innerText();
      assert.match(listed, /New chat[\s\S]*\/new[\s\S]*Settings[\s\S]*\/settings[\s\S]*Ctrl/);
      await page.keyboard.press('Control+/');
      const sheet = page.getByRole('dialog', { name: 'Keyboard shortcuts' });
      await sheet.waitFor();
      await becomes(async () => (await sheet.locator('.dialog-content').innerText()).trim(), listed.trim());
    });
  });

  test('theme, direction and motion are shown at once and kept', async () => {
    await visit(
      async (page) => {
        const html = page.locator('html');
        const background = (): Promise<string> =>
          page.evaluate('getComputedStyle(document.documentElement).backgroundColor');
        await page.getByRole('heading', { name: 'General' }).waitFor();
        const light = await background();
        await page.getByRole('radio', { name: 'Dark' }).check();
        await eventually(async () => assert.notEqual(await background(), light));
        await page.getByRole('radio', { name: 'Right to left' }).check();
        await becomes(() => html.getAttribute('dir'), 'rtl');
        // The full stop of English words stays behind them.
        const ends = await page.evaluate(`(() => {
          const words = document.querySelector('main .hint').firstChild;
          return [0, words.length - 1].map((at) => {
            const letter = document.createRange();
            letter.setStart(words, at);
            letter.setEnd(words, at + 1);
            return letter.getBoundingClientRect().x;
          });
        })()`);
        const [first = 0, last = 0] = ends as readonly number[];
        assert.ok(first < last, `from ${first} to ${last}`);
        await page.getByLabel('Reduce motion').check();
        const durations = "getComputedStyle(document.querySelector('.switch input')).transitionDuration";
        await becomes(() => page.evaluate(durations), '0.001s');
        await page.reload();
        await page.getByRole('heading', { name: 'General' }).waitFor();
        await becomes(
          () => Promise.all([html.getAttribute('data-theme'), html.getAttribute('dir'), page.evaluate(durations)]),
          ['dark', 'rtl', '0.001s'],
        );
        // The sidebar is where lines begin.
        const sidebar = await page.locator('.sidebar').boundingBox();
        assert.ok(sidebar !== null && sidebar.x > 600, JSON.stringify(sidebar));
        await page.getByRole('radio', { name: 'Left to right' }).check();
        await becomes(() => html.getAttribute('dir'), 'ltr');
      },
      { path: '/#/settings', colorScheme: 'light', viewport: { width: 1000, height: 800 } },
    );
  });

  for (const [code, settings, send] of [
    ['de', 'Einstellungen', 'Enter sendet eine Nachricht'],
    ['es', 'Ajustes', 'Intro envía el mensaje'],
    ['fr', 'Réglages', 'Entrée envoie le message'],
    ['zh', '设置', '按 Enter 发送消息'],
  ] as const) {
    test(`speaks ${code}, everywhere`, async () => {
      await visit(
        async (page) => {
          await page.locator('#language').selectOption(code);
          await page.getByRole('heading', { name: settings, level: 1 }).waitFor();
          await becomes(() => page.locator('html').getAttribute('lang'), code);
          await page.getByText(send).waitFor();
          for (const name of ['providers', 'cookies', 'voices', 'shortcuts', 'data']) {
            await goTo(page, `#/settings/${name}`);
            await page.locator(`.settings-nav a[href="#/settings/${name}"][aria-current]`).waitFor();
            await settled(page);
            const words = await page.locator('main').innerText();
            assert.ok(words.length > 20, words);
            // Names of keys that have no words would stand there as they are.
            assert.doesNotMatch(words, /\b(settings|voices|transfer)\.[a-z]/i);
          }
        },
        { path: '/#/settings' },
      );
    });
  }

  test('Enter begins a new line where it shall not send', async () => {
    await visit(async (page) => {
      await ready(page);
      await goTo(page, '#/settings');
      await page.getByLabel('Enter sends a message').uncheck();
      await goTo(page, '#/');
      await page.locator('#prompt').fill('one');
      await page.locator('#prompt').press('Enter');
      await page.locator('#prompt').pressSequentially('two');
      await becomes(() => page.locator('#prompt').inputValue(), 'one\ntwo');
      await page.locator('#prompt').press('Control+Enter');
      await finished(lastAnswer(page));
      // So do questions that are edited.
      await page.locator('.question').hover();
      await page.locator('.question').getByRole('button', { name: 'Edit' }).click();
      await page.locator('.editor textarea').press('Enter');
      await page.locator('.editor textarea').pressSequentially('three');
      await becomes(() => page.locator('.editor textarea').inputValue(), 'one\ntwo\nthree');
      await page.locator('.editor textarea').press('Control+Enter');
      await page.getByText('three').last().waitFor();
      await becomes(() => page.locator('.editor').count(), 0);
    });
  });

  test('Enter begins a new line on a keyboard on the screen, until somebody wants it to send', async () => {
    await visit(
      async (page) => {
        const prompt = page.locator('#prompt');
        await ready(page);
        // Any other setting that is kept decides nothing about it.
        await goTo(page, '#/settings');
        await page.getByLabel('Reduce motion').check();
        await goTo(page, '#/');
        await becomes(() => prompt.getAttribute('enterkeyhint'), 'enter');
        await prompt.fill('one');
        await prompt.press('Enter');
        await prompt.pressSequentially('two');
        await becomes(() => prompt.inputValue(), 'one\ntwo');
        await page.locator('#send').click();
        await finished(lastAnswer(page));
        await becomes(() => page.locator('.question .bubble').innerText(), 'one\ntwo');
        await page.locator('.question').getByRole('button', { name: 'Edit' }).click();
        await page.locator('.editor textarea').press('Enter');
        await page.locator('.editor textarea').pressSequentially('three');
        await becomes(() => page.locator('.editor textarea').inputValue(), 'one\ntwo\nthree');
        await page.getByRole('button', { name: 'Cancel' }).click();
        await goTo(page, '#/settings');
        await becomes(() => page.getByLabel('Enter sends a message').isChecked(), false);
        await page.getByLabel('Enter sends a message').check();
        await page.reload();
        await becomes(() => page.getByLabel('Enter sends a message').isChecked(), true);
        await goTo(page, '#/');
        await ready(page);
        await becomes(() => prompt.getAttribute('enterkeyhint'), 'send');
        await prompt.fill('four');
        await prompt.press('Enter');
        await finished(lastAnswer(page));
        await becomes(() => page.locator('.question .bubble').innerText(), 'four');
      },
      { viewport: PHONE, hasTouch: true, isMobile: true },
    );
  });

  test('says what providers need, where their keys are, and tests keys', async () => {
    await visit(
      async (page) => {
        await comesToFit(() => row(page, 'scripted').innerText(), /Set up in the server’s sluice.yaml · 1 model/);
        await comesToFit(
          () => row(page, 'groq').innerText(),
          /Wants a key: here, or as GROQ_API_KEY in the server’s env/,
        );
        await comesToFit(() => row(page, 'known').innerText(), /Wants cookies of 127\.0\.0\.1/);
        await comesToFit(() => page.locator('main').innerText(), /A key that you enter here stays in this browser/);
        await page.locator('#provider-search').fill('lock');
        await becomes(() => page.locator('[data-provider]').count(), 1);
        await page.getByRole('button', { name: 'Enter key: Locked' }).click();
        const dialog = page.getByRole('dialog', { name: 'Key for Locked' });
        await dialog.getByLabel('API key').fill('a-wrong-key');
        await dialog.getByRole('button', { name: 'Save' }).click();
        await dialog.getByText('This key was refused, and is not kept.').waitFor();
        // There is another one to be written, whichever way the first was sent.
        await dialog.locator('input:focus').waitFor();
        await dialog.getByLabel('API key').press('Enter');
        await dialog.getByText('This key was refused, and is not kept.').waitFor();
        await dialog.locator('input:focus').waitFor();
        assert.deepEqual((await stored(page))['keys'] ?? {}, {});
        await dialog.getByLabel('API key').fill(RIGHT_KEY);
        await dialog.getByRole('button', { name: 'Save' }).click();
        await dialog.waitFor({ state: 'detached' });
        await row(page, 'groq').getByText('Your key, in this browser · 2 models').waitFor();
        // Though the row has come to stand in the other list.
        const change = page.getByRole('button', { name: 'Change key: Locked' });
        await change.and(page.locator(':focus')).waitFor();
        await page.getByRole('button', { name: 'Test: Locked' }).click();
        await row(page, 'groq').getByText('It works: 2 models.').waitFor();
        // The models come back with a key that was forgotten by mistake.
        await keepToasts(page);
        await page.getByRole('button', { name: 'Forget the key for Locked' }).click();
        await row(page, 'groq').getByText('Wants a key').waitFor();
        await settled(page);
        await page.getByRole('button', { name: 'Undo' }).click();
        await row(page, 'groq').getByText('Your key, in this browser · 2 models').waitFor();
        // A key that became wrong.
        const settings = await stored(page);
        await page.evaluate(
          `localStorage.setItem('sluice.settings', ${JSON.stringify(
            JSON.stringify({ ...settings, keys: { groq: 'no-longer-right' } }),
          )})`,
        );
        await page.reload();
        await page.getByRole('button', { name: 'Test: Locked' }).click();
        await row(page, 'groq')
          .getByText(/It does not work\. .*(Incorrect|key)/)
          .waitFor();
        await page.getByRole('button', { name: 'Forget the key for Locked' }).click();
        await row(page, 'groq').getByText('Wants a key').waitFor();
        await becomes(async () => (await stored(page))['keys'], {});
        await page.getByRole('button', { name: 'Undo' }).click();
        await row(page, 'groq').getByText('Your key, in this browser').waitFor();
        // The server got it with requests, and keeps it nowhere.
        const providers = await (await fetch(api('providers'))).text();
        assert.doesNotMatch(providers, /no-longer-right|the-right-key/);
      },
      { path: '/#/settings/providers' },
    );
  });

  test('tells keys that could not be tested from those that work', async () => {
    await visit(
      async (page) => {
        const save = async (button: string, key: string): Promise<void> => {
          await page.getByRole('button', { name: button }).click();
          const dialog = page.getByRole('dialog', { name: 'Key for Locked' });
          await dialog.getByLabel('API key').fill(key);
          await dialog.getByRole('button', { name: 'Save' }).click();
          await dialog.waitFor({ state: 'detached' });
        };
        await page.locator('#provider-search').fill('lock');
        const good = row(page, 'groq').locator('.row-status.is-good');
        const heading = page.locator('main h3');
        const isUntested = async (): Promise<void> => {
          await row(page, 'groq').getByText('Your key, in this browser, not known to work').waitFor();
          await becomes(() => heading.innerText(), '0 providers are ready · 1 has a key not known to work');
          assert.equal(await good.count(), 0);
        };
        isBusy = true;
        await save('Enter key: Locked', LATE_KEYS[0] ?? '');
        await isUntested();
        isBusy = false;
        await page.getByRole('button', { name: 'Test: Locked' }).click();
        await row(page, 'groq').getByText('It works: 2 models.').waitFor();
        await good.getByText('Your key, in this browser · 2 models').waitFor();
        await becomes(() => heading.innerText(), '1 provider is ready');
        // Of another key that says nothing.
        isBusy = true;
        await save('Change key: Locked', LATE_KEYS[1] ?? '');
        await isUntested();
      },
      { path: '/#/settings/providers' },
    );
  });

  test('offers to enter a key only where it is used: else it says where one goes, or asks for cookies', async () => {
    await visit(
      async (page) => {
        await row(page, 'bare')
          .getByText(/Incorrect API key provided.* Add its apiKey in the server’s sluice\.yaml\./)
          .waitFor();
        await goTo(page, '#/');
        const askOf = async (name: string): Promise<Locator> => {
          await answerWith(page, [
            { type: 'provider', provider: { name, label: name } },
            { type: 'auth', auth: 'MissingAuthError', message: 'MissingAuthError: Not without' },
          ]);
          await ask(page, 'hello');
          return lastAnswer(page).locator('.error');
        };
        const keyless = await askOf('bare');
        await keyless.getByText('Add its apiKey in the server’s sluice.yaml.').waitFor();
        assert.equal(await keyless.getByRole('button', { name: /Enter a key/ }).count(), 0);
        const known = await askOf('known');
        await known.getByText('upload its cookies in the settings.').waitFor();
        assert.equal(await known.getByRole('button', { name: /Enter a key/ }).count(), 0);
        await known.getByRole('link', { name: 'Upload cookies' }).click();
        await page.getByRole('heading', { name: 'Cookies' }).waitFor();
      },
      { path: '/#/settings/providers' },
    );
  });

  test('every provider that is ready can be tested, anew each time', async () => {
    await visit(
      async (page) => {
        const lists = (): number => gateway.upstream.requests.filter(({ path }) => path === '/v1/models').length;
        await page.getByRole('button', { name: 'Test: Scripted' }).waitFor();
        const before = lists();
        await page.getByRole('button', { name: 'Test: Scripted' }).click();
        await row(page, 'scripted').getByText('It works: 1 model.').waitFor();
        assert.equal(lists(), before + 1);
        assert.equal(await page.getByRole('button', { name: 'Test: Locked' }).count(), 0);
      },
      { path: '/#/settings/providers' },
    );
  });

  test('says what is left of an account, where its provider tells', async () => {
    const paid = await startOpenAiUpstream(undefined, {
      models: ['dear'],
      handle: ({ path, headers }, response) => {
        if (path !== '/v1/credits') return false;
        const isOwn = headers.authorization === `Bearer ${RIGHT_KEY}`;
        response.writeHead(200, { 'content-type': 'application/json' });
        response.end(JSON.stringify({ credits: isOwn ? 'my last 3' : 12.5 }));
        return true;
      },
    });
    const settings = `{ quotaPath: /v1/credits }`;
    const row = `  paid: { kind: openai, label: Paid, baseUrl: '${paid.baseUrl}', apiKey: shared, settings: ${settings} }\n`;
    const other = await openGateway(script, ['gpt-4o'], 'Scripted', row);
    try {
      await visit(
        async (page) => {
          await page.getByRole('button', { name: 'What is left: Paid' }).click();
          await page.locator('[data-provider="paid"]').getByText('"credits": 12.5').waitFor();
          assert.equal(await page.getByRole('button', { name: 'What is left: Scripted' }).count(), 0);
          await page.getByRole('button', { name: 'Enter key: Paid' }).click();
          await page.getByRole('dialog').getByRole('textbox').fill(RIGHT_KEY);
          await page.getByRole('dialog').getByRole('textbox').press('Enter');
          await page.getByRole('button', { name: 'Change key: Paid' }).waitFor();
          // That was another account.
          await becomes(() => page.locator('.row-told').count(), 0);
          await page.getByRole('button', { name: 'What is left: Paid' }).click();
          await page.locator('[data-provider="paid"]').getByText('my last 3').waitFor();
        },
        { gateway: other, path: '/#/settings/providers' },
      );
    } finally {
      await other.close();
      await paid.close();
    }
  });

  test('says why a provider that is set up lists no models', async () => {
    await visit(
      async (page) => {
        await row(page, 'mute')
          .getByText(/Its models cannot be listed\. ./)
          .waitFor();
        await page.getByRole('button', { name: 'Test: Mute' }).click();
        await row(page, 'mute')
          .getByText(/Its models cannot be listed\. ./)
          .waitFor();
        await goTo(page, '#/');
        await page.locator('.welcome summary').first().click();
        await page.getByRole('link', { name: 'No models: see why' }).first().click();
        await page.locator('#provider-search').waitFor();
      },
      { path: '/#/settings/providers' },
    );
  });

  test('hands cookies over, and says what became of them', async () => {
    await visit(
      async (page) => {
        await page.getByText('Wants cookies of 127.0.0.1').waitFor();
        const choose = (name: string, content: string): Promise<void> =>
          page.locator('#cookie-file').setInputFiles({ name, mimeType: 'text/plain', buffer: Buffer.from(content) });
        await choose('cookies.pdf', 'x');
        await page.getByText(/cookies\.pdf was not taken\. The file's name must end in/).waitFor();
        await choose('broken.json', '{"x"');
        await page.getByText(/broken\.json was not taken\./).waitFor();
        const cookie = { domain: '127.0.0.1', name: 'session', value: 'a-secret-value', path: '/' };
        await choose('cookies.json', JSON.stringify([cookie]));
        await page.getByText('cookies.json: File saved: one cookie of one domain').waitFor();
        await page.getByText('The server has cookies of 127.0.0.1').waitFor();
      },
      { path: '/#/settings/cookies' },
    );
  });

  test('lets voices be heard and chosen', async () => {
    await visit(
      async (page) => {
        // What is said goes on until it is stopped.
        await page.addInitScript(`{
          const { play } = HTMLMediaElement.prototype;
          HTMLMediaElement.prototype.play = function () {
            this.loop = true;
            return play.call(this);
          };
        }`);
        await page.reload();
        const asked = page.waitForResponse((response) => response.url().includes('/synthesize/flite'));
        await page.getByRole('button', { name: 'Listen to RMS' }).click();
        const answer = await asked;
        assert.deepEqual([answer.status(), new URL(answer.url()).searchParams.get('voice')], [200, 'rms']);
        assert.match(answer.headers()['content-type'] ?? '', /^audio\//);
        await page.getByRole('button', { name: 'Stop' }).click();
        await page.getByRole('button', { name: 'Listen to RMS' }).waitFor();
        await page.getByRole('radio', { name: 'AWB' }).check();
        await page.reload();
        await page.getByRole('radio', { name: 'AWB' }).waitFor();
        await becomes(() => page.getByRole('radio', { name: 'AWB' }).isChecked(), true);
        await becomes(async () => (await stored(page))['voice'], 'flite/awb');
      },
      { path: '/#/settings/voices' },
    );
  });

  /** A chat with a file, a picture and a memory. Returns what the page left on the server. */
  async function fill(
    page: Page,
  ): Promise<{ readonly user: string; readonly bucket: string; readonly picture: string }> {
    await ready(page);
    await page
      .locator('#files')
      .setInputFiles({ name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('Hi!') });
    await page.locator('#attached .is-ready').waitFor();
    const sent = page.waitForRequest('**/backend-api/v2/conversation');
    await ask(page, 'read this');
    const [, bucket = ''] = /"bucket_id":"([^"]+)"/.exec((await sent).postData() ?? '') ?? [];
    await ask(page, 'draw a pixel');
    const source = await lastAnswer(page).locator('img').getAttribute('src');
    const picture = (source ?? '').replace('/thumbnail/', '/media/');
    await goTo(page, '#/memory');
    await page.locator('#memory-new').fill('My boat is called Albatross.');
    await page.getByRole('button', { name: 'Add', exact: true }).click();
    await page.locator('.memory-text').waitFor();
    const user = String((await stored(page))['user']);
    await goTo(page, '#/settings/data');
    return { user, bucket, picture };
  }
  const status = async (url: string): Promise<number> => {
    const response = await fetch(url);
    await response.arrayBuffer();
    return response.status;
  };

  test('exports everything but keys', async () => {
    await visit(async (page) => {
      await page.evaluate(`localStorage.setItem('sluice.settings', JSON.stringify({ keys: { groq: 'my-own-key' } }))`);
      await page.reload();
      await fill(page);
      const download = page.waitForEvent('download');
      await page.getByRole('button', { name: 'Export everything' }).click();
      const text = readFileSync((await (await download).path()) ?? '', 'utf8');
      // biome-ignore lint/suspicious/noExplicitAny: the test looks into it
      const whole = JSON.parse(text) as Record<string, any>;
      assert.equal(whole['chats'].length, 1);
      assert.equal(whole['chats'][0].messages.length, 4);
      assert.equal(whole['memory'][0].memory, 'My boat is called Albatross.');
      assert.equal(
        whole['records'].some(({ name }: { name?: string }) => name === 'notes.txt'),
        true,
      );
      assert.equal(whole['settings'].theme, 'system');
      assert.doesNotMatch(text, /my-own-key/);
    });
  });

  test('deletes everything, here and on the server', async () => {
    await visit(async (page, context) => {
      const { user, bucket, picture } = await fill(page);
      const there = (): Promise<(number | string)[]> =>
        Promise.all([
          fetch(api(`memory/${user}`)).then(async (answer) => `${((await answer.json()) as { count: number }).count}`),
          status(api(`files/${bucket}`)),
          status(gateway.origin + picture),
        ]);
      assert.deepEqual(await there(), ['1', 200, 200]);
      const other = await context.newPage();
      await other.goto(gateway.origin);
      await other.locator('.chat-list li').waitFor();
      await page.getByRole('button', { name: 'Delete everything…' }).click();
      await page.getByRole('button', { name: 'Delete for good' }).click();
      await page.getByText('Everything that you chose was deleted.').waitFor();
      assert.deepEqual(await there(), ['0', 404, 404]);
      await becomes(() => page.locator('.chat-list li').count(), 0);
      await other.locator('.chat-list .hint').waitFor();
      await page.reload();
      await page.locator('.chat-list .hint').waitFor();
      await becomes(async () => (await stored(page))['user'], '');
      const left = await page.evaluate(`new Promise((resolve) => {
        const asked = indexedDB.open('sluice');
        asked.onsuccess = () => {
          const names = [...asked.result.objectStoreNames];
          const transaction = asked.result.transaction(names);
          Promise.all(names.map((name) => new Promise((done) => {
            transaction.objectStore(name).count().onsuccess = (event) => done(event.target.result);
          }))).then(resolve);
        };
      })`);
      assert.deepEqual(new Set(left as number[]), new Set([0]));
    });
  });

  test('what cannot be deleted on the server stays known', async () => {
    await visit(async (page) => {
      const { user } = await fill(page);
      await page.route('**/backend-api/v2/memory/**', (route) => route.abort());
      await page.getByRole('button', { name: 'Delete everything…' }).click();
      await page.getByRole('button', { name: 'Delete for good' }).click();
      await page.getByText(/1 thing could not be deleted on the server/).waitFor();
      await becomes(() => page.locator('.chat-list li').count(), 1);
      assert.equal((await stored(page))['user'], user);
      // Once more, when it can be reached; this time the settings stay.
      await page.unroute('**/backend-api/v2/memory/**');
      await page.getByLabel('Settings and keys').uncheck();
      await page.getByRole('button', { name: 'Delete for good' }).click();
      await page.locator('.chat-list .hint').waitFor();
      assert.equal((await stored(page))['user'], user);
    });
  });
});
