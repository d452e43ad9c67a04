import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { withoutBrowser } from './chromium.ts';
import { longAnswer } from './long-answer.ts';
import { setMarkdownStage } from './markdown-stage.ts';
import { longTasks } from './trace.ts';

describe('the speed of markdown', { skip: withoutBrowser, timeout: 900_000 }, () => {
  const stage = setMarkdownStage();

  /** Tasks of more than 50 ms of the page's thread, in processor time, while `script` runs. */
  async function tasksDuring(script: string): Promise<number[]> {
    const { page } = await stage.open();
    try {
      return await longTasks(stage.browser(), page, () => page.evaluate(script));
    } finally {
      await page.close();
    }
  }

  /** Others share this machine: what happens once in two runs is not the renderer's. */
  async function never(script: string): Promise<void> {
    const first = await tasksDuring(script);
    if (first.length > 0) assert.deepEqual(await tasksDuring(script), [], `first run: ${first.join(', ')} ms`);
  }

  test('a long task is seen, or the rest would prove nothing', async () => {
    const script =
      'new Promise((resolve) => setTimeout(() => { const end = performance.now() + 1500; while (performance.now() < end); resolve(); }))';
    const [found] = await tasksDuring(script);
    assert.ok(found !== undefined);
  });

  test('20,000 tokens at 500 a second hold the thread for 50 ms at no time', async () => {
    await never(`markdown.stream(${JSON.stringify(longAnswer(20_000))}, 500)`);
  });

  test('a text that comes at once does not either', async () => {
    await never(`markdown.render(${JSON.stringify(longAnswer(20_000))})`);
  });

  test('what is read grows with the text, not with its square', async () => {
    const { page } = await stage.open();
    const short = (await page.evaluate(`markdown.characters(${JSON.stringify(longAnswer(2_000))}, 40)`)) as number;
    const long = (await page.evaluate(`markdown.characters(${JSON.stringify(longAnswer(16_000))}, 40)`)) as number;
    assert.ok(long < short * 8 * 1.5, `${short} characters read for 8,000, ${long} for 64,000`);
    await page.close();
  });
});
