import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import type { VendorScript } from '../support/vendor-script.ts';
import { withoutBrowser } from './chromium.ts';
import { becomes, comesToFit, eventually } from './eventually.ts';
import { openGateway } from './gateway.ts';
import { answerWith } from './scripted-events.ts';
import { setStage } from './stage.ts';
import { ask, button, finished, lastAnswer, ready, scrollUp, send } from './visit.ts';

/** The key that the upstream takes for questions about keys. */
const RIGHT_KEY = 'right-key';

let asked = 0;

/** What OpenAI says to an account without credit. */
const OVER_QUOTA = JSON.stringify({
  error: { message: 'You exceeded your current quota', type: 'insufficient_quota', code: 'insufficient_quota' },
});

const script: VendorScript = ({ prompt, headers }) => {
  asked += 1;
  if (prompt === 'think') return { reasoning: ['First this, ', 'then that.'], text: ['So: yes.'], delayMs: 20 };
  if (prompt === 'tool') return { toolCalls: [{ id: 'call_1', name: 'weather', arguments: ['{"city":', '"Paris"}'] }] };
  if (prompt === 'long') return { text: ['One, two,'], finish: 'length' };
  if (prompt === 'broken') return { text: ['One, two,'], cutAfter: 1 };
  if (prompt === 'nothing') return { text: [] };
  if (prompt.includes('was cut off')) return { text: [' three, four.'] };
  if (prompt === 'key' && headers.authorization !== `Bearer ${RIGHT_KEY}`)
    return { status: 401, errorMessage: 'Incorrect API key provided' };
  if (prompt === 'limited') return { status: 429, errorMessage: 'Slow down', headers: { 'retry-after': '1' } };
  if (prompt === 'busy for long') return { status: 429, errorMessage: 'Slow down', headers: { 'retry-after': '600' } };
  if (prompt === 'unpaid') return { status: 402, errorMessage: 'Insufficient Balance' };
  if (prompt === 'over quota') return { status: 429, raw: OVER_QUOTA };
  if (prompt === 'endless') return { text: endless(), delayMs: 5 };
  if (prompt === 'tall') return { text: [`Answer number ${asked}`, '\n\nA line of it.'.repeat(40)] };
  if (prompt === 'count') return { text: [`Answer number ${asked}`] };
  return { text: ['You said: ', prompt] };
};

/** A tenth of a second without a sound. */
const SILENCE = `data:audio/wav;base64,${silence(800).toString('base64')}`;

function silence(samples: number): Buffer {
  const head = Buffer.alloc(44);
  head.write('RIFF');
  head.writeUInt32LE(36 + samples, 4);
  head.write('WAVEfmt ', 8);
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(1, 22);
  head.writeUInt32LE(8_000, 24);
  head.writeUInt32LE(8_000, 28);
  head.writeUInt16LE(1, 32);
  head.writeUInt16LE(8, 34);
  head.write('data', 36);
  head.writeUInt32LE(samples, 40);
  return Buffer.concat([head, Buffer.alloc(samples, 128)]);
}

function* endless(): Generator<string> {
  for (let index = 0; ; index += 1) yield `line ${index}\n\n`;
}

describe('a conversation', { skip: withoutBrowser }, () => {
  const { visit, sent } = setStage(() => openGateway(script, ['gpt-4o', 'plain-model']));

  test('folds what the model thought, and says how long', async () => {
    await visit(async (page) => {
      await ask(page, 'think');
      const reasoning = lastAnswer(page).locator('.reasoning');
      await comesToFit(
        () => reasoning.locator('summary').innerText(),
        /Thought for (1 second|[2-9] seconds|\d\d seconds)$/,
      );
      await becomes(() => reasoning.locator('.thoughts').count(), 0);
      await reasoning.locator('summary').click();
      await comesToFit(() => reasoning.locator('.thoughts').innerText(), /First this, then that\./);
      await becomes(() => lastAnswer(page).locator('.body').innerText(), 'So: yes.');
    });
  });

  test('shows the tools that a model wants, with what it gives them', async () => {
    await visit(async (page) => {
      await ask(page, 'tool');
      await lastAnswer(page).getByText('Tool: weather').click();
      await comesToFit(() => lastAnswer(page).locator('.tools pre').innerText(), /"city": "Paris"/);
    });
  });

  test('is called by the first words of its question, whose last sign is whole', async () => {
    await visit(async (page) => {
      await answerWith(page, [
        { type: 'content', content: 'Well.' },
        { type: 'finish', finish: { reason: 'stop' } },
      ]);
      await ask(page, `${'a'.repeat(57)}\u{1f469}\u200d\u{1f52c} and so on`);
      await becomes(() => page.locator('.chat-list a').innerText(), `${'a'.repeat(57)}…`);
    });
  });

  test('shows sources, previews, media, suggestions and titles', async () => {
    await visit(async (page) => {
      await ready(page);
      await answerWith(page, [
        { type: 'provider', provider: { name: 'scripted', label: 'Scripted', model: 'gpt-4o' } },
        { type: 'preview', preview: 'soon' },
        { type: 'content', content: 'Look: ' },
        { type: 'content', content: '<a></a>', urls: '/icon-192.png', alt: 'A gate' },
        { type: 'source', source: { url: 'https://example.com/page', title: 'The page', text: 'What it says' } },
        { type: 'source', source: { url: 'javascript:alert(1)', title: 'No page' } },
        { type: 'suggestions', suggestions: ['And then?', 'Why?'] },
        { type: 'title', title: 'All about gates' },
        { type: 'usage', usage: { prompt_tokens: 12, completion_tokens: 34, total_tokens: 46 } },
        { type: 'finish', finish: { reason: 'stop' } },
      ]);
      await ask(page, 'gates');
      const answer = lastAnswer(page);
      await comesToFit(() => answer.locator('.info').innerText(), /gpt-4o · Scripted · 12 → 34 tokens/);
      await becomes(() => page.locator('.chat-list a').innerText(), 'All about gates');
      await becomes(() => page.title(), 'All about gates · Sluice');
      await answer.getByText('2 sources').click();
      await becomes(() => answer.locator('.sources a').count(), 1);
      await becomes(() => answer.locator('.sources a').getAttribute('href'), 'https://example.com/page');
      await answer.getByRole('button', { name: 'Enlarge A gate' }).click();
      await page.locator('dialog.viewer img').waitFor();
      await page.keyboard.press('Escape');
      await page.unroute('**/backend-api/v2/conversation');
      await page.getByRole('button', { name: 'And then?' }).click();
      await page.getByText('You said: And then?').waitFor();
      await becomes(() => page.getByRole('button', { name: 'Why?' }).count(), 0);
    });
  });

  test('moves between branches that come from editing and regenerating', async () => {
    await visit(async (page) => {
      await ask(page, 'count');
      const first = await lastAnswer(page).locator('.body').innerText();
      await button(page, 'Regenerate').click();
      await lastAnswer(page).getByText('2/2').waitFor();
      await finished(lastAnswer(page));
      const second = await lastAnswer(page).locator('.body').innerText();
      assert.notEqual(first, second);
      await button(page, 'Previous version').click();
      await page.getByText(first).waitFor();
      await ask(page, 'more');
      assert.match(sent(), new RegExp(`${first}.*more`));
      // The edited question begins a branch, from which the old one can be reached.
      const question = page.locator('.question').first();
      await question.hover();
      await question.getByRole('button', { name: 'Edit' }).click();
      await page.locator('.editor textarea').fill('edited');
      await page.locator('.editor textarea').press('Enter');
      await page.getByText('You said: edited').waitFor();
      await finished(lastAnswer(page));
      assert.doesNotMatch(sent(), /count|more/);
      await becomes(() => page.locator('.message').count(), 2);
      await page.locator('.question').first().getByRole('button', { name: 'Previous version' }).click();
      await page.getByText('You said: more').waitFor();
      await becomes(() => page.locator('.message').count(), 4);
      await page.reload();
      await page.getByText('You said: more').waitFor();
      await becomes(() => page.locator('.message').count(), 4);
    });
  });

  test('another version of an early message comes in its place, and nothing jumps', async () => {
    await visit(async (page) => {
      for (const prompt of ['tall', 'tall', 'tall']) await ask(page, prompt);
      const first = page.locator('.message').nth(1);
      const top = (): Promise<number> => first.evaluate((node) => Math.round(node.getBoundingClientRect().top));
      const foot = first.locator('.message-foot');
      await scrollUp(page, 20_000);
      await page.locator('#scroll').evaluate((area) => {
        area.scrollTop = 400;
      });
      await eventually(async () => assert.ok((await top()) < 0));
      const place = await top();
      await foot.getByRole('button', { name: 'Regenerate' }).evaluate((button: { click(): void }) => button.click());
      await first.getByText('2/2').waitFor();
      await finished(first);
      await becomes(() => page.locator('.message').count(), 2);
      await becomes(top, place);
      await foot
        .getByRole('button', { name: 'Previous version' })
        .evaluate((button: { click(): void }) => button.click());
      await becomes(() => page.locator('.message').count(), 6);
      await first.getByText('1/2').waitFor();
      await becomes(top, place);
    });
  });

  test('answers can be edited, and what is asked then knows the new words', async () => {
    await visit(async (page) => {
      await ask(page, 'first');
      await button(page, 'Edit the answer').click();
      const field = page.locator('.editor textarea');
      await becomes(() => field.inputValue(), 'You said: first');
      await field.fill('In **other** words');
      await field.press('Control+Enter');
      await becomes(() => lastAnswer(page).locator('.markdown strong').innerText(), 'other');
      await comesToFit(() => lastAnswer(page).locator('.info').innerText(), /edited/);
      await ask(page, 'second');
      assert.match(sent(), /In \*\*other\*\* words/);
      await page.reload();
      await becomes(() => page.locator('.answer').first().locator('.body').innerText(), 'In other words');
    });
  });

  test('single messages can be deleted, and brought back', async () => {
    await visit(async (page) => {
      for (const prompt of ['first', 'second']) await ask(page, prompt);
      const said = (): Promise<readonly string[]> => page.locator('.message :is(.bubble, .body)').allInnerTexts();
      const all = ['first', 'You said: first', 'second', 'You said: second'];
      const undo = page.getByRole('button', { name: 'Undo' });
      await page.locator('.answer').first().getByRole('button', { name: 'Delete this message' }).click();
      await becomes(said, ['first', 'second', 'You said: second']);
      await undo.click();
      await becomes(said, all);
      await button(page, 'Delete this message').click();
      await becomes(said, all.slice(0, 3));
      await undo.click();
      await becomes(said, all);
      await page.locator('.question').first().hover();
      await page.locator('.question').first().getByRole('button', { name: 'Delete this message' }).click();
      await becomes(said, all.slice(1));
      await page.reload();
      await becomes(said, all.slice(1));
      await ask(page, 'third');
      assert.doesNotMatch(sent(), /"first"/);
    });
  });

  test('continues an answer that was cut off', async () => {
    await visit(async (page) => {
      await page.clock.install();
      await ask(page, 'long');
      await comesToFit(() => lastAnswer(page).locator('.note').innerText(), /greatest length/);
      // A pause that does not count.
      await page.clock.fastForward('20:00');
      const request = page.waitForRequest('**/backend-api/v2/conversation');
      await lastAnswer(page).locator('.note').getByRole('button', { name: 'Continue' }).click();
      assert.equal((await request).postDataJSON().action, 'continue');
      await page.getByText('One, two, three, four.').waitFor();
      await lastAnswer(page).locator('.line').waitFor();
      await becomes(() => page.locator('.answer').count(), 1);
      await comesToFit(() => lastAnswer(page).locator('.info').innerText(), /22 → 14 tokens · \d{1,3}(\.\d)? s/);
    });
  });

  test('continues an answer whose provider broke off', async () => {
    await visit(async (page) => {
      await ask(page, 'broken');
      await lastAnswer(page).getByRole('alert').getByRole('button', { name: 'Continue' }).click();
      await page.getByText('One, two, three, four.').waitFor();
      await lastAnswer(page).locator('.line').waitFor();
      await becomes(() => lastAnswer(page).getByRole('alert').count(), 0);
      await becomes(() => page.locator('.answer').count(), 1);
    });
  });

  test('says so when the model said nothing, or wants a tool that nobody has', async () => {
    await visit(async (page) => {
      await ask(page, 'nothing');
      await comesToFit(() => lastAnswer(page).locator('.note').innerText(), /without saying anything/);
      await lastAnswer(page).locator('.note').getByRole('button', { name: 'Try again' }).click();
      await lastAnswer(page).getByText('2/2').waitFor();
      await finished(lastAnswer(page));
      await ask(page, 'tool');
      await comesToFit(() => lastAnswer(page).locator('.note').innerText(), /wants a tool/);
    });
  });

  test('plays sounds and films, with what is said in them', async () => {
    await visit(async (page) => {
      await ready(page);
      await answerWith(page, [
        {
          type: 'content',
          content: '<audio src="/a" controls></audio>\n\nGood morning.',
          urls: SILENCE,
          data: SILENCE,
        },
        { type: 'content', content: '<video src="/media/film.mp4" controls></video>', urls: ['/media/film.mp4'] },
        { type: 'finish', finish: { reason: 'stop' } },
      ]);
      await ask(page, 'sing');
      const audio = lastAnswer(page).locator('audio');
      await becomes(() => audio.getAttribute('controls'), '');
      await audio.evaluate('(player) => player.play()');
      await becomes(() => lastAnswer(page).locator('video[controls]').getAttribute('src'), '/media/film.mp4');
      await lastAnswer(page).getByText('Good morning.').waitFor();
    });
  });

  test('asks for the key that a provider wants, keeps it in the browser and sends it', async () => {
    await visit(async (page) => {
      await ask(page, 'key');
      await button(page, 'Enter a key for Scripted').click();
      const dialog = page.getByRole('dialog', { name: 'Key for Scripted' });
      await comesToFit(() => dialog.innerText(), /stays in this browser/);
      await dialog.getByLabel('API key').fill(RIGHT_KEY);
      await dialog.getByRole('button', { name: 'Save' }).click();
      await dialog.waitFor({ state: 'detached' });
      await button(page, 'Try again').click();
      await page.getByText('You said: key').waitFor();
      assert.doesNotMatch(sent(), /right-key/);
      // Nothing else is sent before.
      await finished(lastAnswer(page));
      await page.reload();
      await ask(page, 'key');
      await comesToFit(() => lastAnswer(page).locator('.body').innerText(), /You said: key/);
    });
  });

  test('says that the account has no credit, for which neither waiting nor the same key helps', async () => {
    await visit(async (page) => {
      for (const [question, words] of [
        ['unpaid', 'Insufficient Balance'],
        ['over quota', 'You exceeded your current quota'],
      ] as const) {
        await ask(page, question);
        const box = lastAnswer(page).getByRole('alert');
        await comesToFit(() => box.innerText(), new RegExp(`^${words}\\s+There is no credit left`));
        for (const name of ['Enter a key for Scripted', 'Choose a model', 'Try again']) {
          await box.getByRole('button', { name }).waitFor();
        }
      }
    });
  });

  test('opens the key for an auth chunk', async () => {
    await visit(async (page) => {
      await ready(page);
      await answerWith(page, [
        { type: 'provider', provider: { name: 'scripted', label: 'Scripted' } },
        { type: 'auth', auth: 'MissingAuthError', message: 'MissingAuthError: No key for Scripted' },
      ]);
      await ask(page, 'anything');
      await comesToFit(() => lastAnswer(page).getByRole('alert').innerText(), /^No key for Scripted/);
      await button(page, 'Enter a key for Scripted').click();
      await page.getByRole('dialog', { name: 'Key for Scripted' }).waitFor();
    });
  });

  test('says what to do about limits', async () => {
    await visit(async (page) => {
      await ask(page, 'limited');
      await comesToFit(() => lastAnswer(page).getByRole('alert').innerText(), /Slow down[\s\S]*Wait a moment/);
      await ask(page, 'busy for long');
      await comesToFit(() => lastAnswer(page).getByRole('alert').innerText(), /Try again in (10:00|9:\d\d)/);
      await becomes(() => button(page, 'Try again').count(), 0);
      await page.clock.install();
      const error = {
        error: 'RateLimitError',
        message: 'RateLimitError: Slow',
        code: 'rate_limited',
        retry_after: 300,
      };
      await answerWith(page, [{ type: 'error', ...error }]);
      await ask(page, 'again');
      await lastAnswer(page)
        .getByText(/Try again in (5:00|4:\d\d)/)
        .waitFor();
      await page.clock.fastForward('05:00');
      await page.unroute('**/backend-api/v2/conversation');
      await button(page, 'Try again').click();
      await page.getByText('You said: again').waitFor();
    });
  });

  test('follows the end while one is there, and only then', async () => {
    await visit(async (page) => {
      const area = page.locator('#scroll');
      // A text that came a moment ago is followed with the next picture.
      const atEnd = (): Promise<void> =>
        eventually(async () =>
          assert.ok((await area.evaluate((node) => node.scrollHeight - node.scrollTop - node.clientHeight)) < 60),
        );
      const lines = lastAnswer(page).locator('.body p');
      const more = async (): Promise<void> => {
        const wanted = (await lines.count()) + 60;
        await eventually(async () => assert.ok((await lines.count()) >= wanted));
      };
      await send(page, 'endless');
      await page.getByText('line 60', { exact: true }).waitFor();
      await atEnd();
      const top = await scrollUp(page, 600);
      await more();
      assert.equal(await area.evaluate((node) => node.scrollTop), top, 'stays where one reads');
      await page.getByRole('button', { name: 'To the end' }).click();
      await more();
      await atEnd();
      await page.keyboard.press('Escape');
      await lastAnswer(page).getByText('Stopped.').waitFor();
    });
  });

  test('deletes a chat, and brings it back', async () => {
    await visit(async (page) => {
      await ask(page, 'keep me');
      await page.getByRole('button', { name: 'What to do with' }).click();
      await page.getByRole('menuitem', { name: 'Delete' }).click();
      await becomes(() => page.locator('.chat-list li').count(), 0);
      await becomes(() => page.locator('.message').count(), 0);
      await page.getByRole('button', { name: 'Undo' }).click();
      await page.getByText('You said: keep me').waitFor();
      await page.reload();
      await page.getByText('You said: keep me').waitFor();
      await page.getByRole('button', { name: 'What to do with' }).click();
      await page.getByRole('menuitem', { name: 'Rename' }).click();
      await page.locator('.rename').fill('A better name');
      await page.locator('.rename').press('Enter');
      await becomes(() => page.locator('.chat-list a').innerText(), 'A better name');
    });
  });

  test('says so when a picture is gone', async () => {
    await visit(async (page) => {
      await ready(page);
      await answerWith(page, [
        { type: 'content', content: '<a></a>', urls: '/media/nowhere.png', alt: 'A boat' },
        { type: 'finish', finish: { reason: 'stop' } },
      ]);
      await ask(page, 'draw');
      await lastAnswer(page).getByText('A boat This picture cannot be loaded.').waitFor();
      assert.equal(await lastAnswer(page).locator('img').count(), 0);
    });
  });
});
