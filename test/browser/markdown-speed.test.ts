import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Browser } from 'playwright-core';
import { launchChromium, withoutBrowser } from './chromium.ts';
import { longTasks } from './long-tasks.ts';
import { type MarkdownPage, serveMarkdown } from './markdown-page.ts';

/** An answer of everything that answers have, of so many tokens of four characters. */
function answer(tokens: number): string {
  const parts: string[] = [];
  let length = 0;
  for (let number = 1; length < tokens * 4; number++) {
    const part = `## Section ${number}

A paragraph with **bold words**, *emphasis*, \`code\`, a [link](https://example.com/${number}) and a formula $x_{${number}}^2$, that
goes on for a while, as paragraphs of answers do: ${'some more words about it, '.repeat(6)}and an end.

- first item of list ${number}
- second item, with \`code\`
  - nested item
- [x] a task

| Name | Value | Meaning |
|------|------:|---------|
${Array.from({ length: 8 }, (_, row) => `| row ${row} | ${row * number} | words in a cell |`).join('\n')}

\`\`\`typescript
${Array.from({ length: 15 }, (_, line) => `export const value${line} = compute(${line}, 'text', { deep: [1, 2, ${number}] }); // note`).join('\n')}
\`\`\`

$$
\\sum_{i=1}^{${number}} i^2 = \\frac{n(n+1)(2n+1)}{6}
$$

> A quote, number ${number}.
`;
    parts.push(part);
    length += part.length;
  }
  return parts.join('\n').slice(0, tokens * 4);
}

describe('the speed of markdown', { skip: withoutBrowser, timeout: 900_000 }, () => {
  let browser: Browser;
  let served: MarkdownPage;

  before(async () => {
    [browser, served] = await Promise.all([launchChromium(), serveMarkdown()]);
  });

  after(async () => {
    await browser?.close();
    await served?.close();
  });

  /** Tasks of more than 50 ms of the page's thread, in processor time, while `script` runs. */
  async function tasksDuring(script: string): Promise<number[]> {
    const { page } = await served.open(browser);
    try {
      return await longTasks(browser, page, () => page.evaluate(script));
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
    await never(`markdown.stream(${JSON.stringify(answer(20_000))}, 500)`);
  });

  test('a text that comes at once does not either', async () => {
    await never(`markdown.render(${JSON.stringify(answer(20_000))})`);
  });

  test('what is read grows with the text, not with its square', async () => {
    const { page } = await served.open(browser);
    const short = (await page.evaluate(`markdown.characters(${JSON.stringify(answer(2_000))}, 40)`)) as number;
    const long = (await page.evaluate(`markdown.characters(${JSON.stringify(answer(16_000))}, 40)`)) as number;
    assert.ok(long < short * 8 * 1.5, `${short} characters read for 8,000, ${long} for 64,000`);
    await page.close();
  });
});
