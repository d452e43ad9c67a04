/** Takes the pictures of the README: docs/screenshot.png and docs/screenshot-dark.png. Needs Chromium. */
import { mkdirSync } from 'node:fs';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { launchChromium } from '../test/browser/chromium.ts';
import { openGateway } from '../test/browser/gateway.ts';

const FOLDER = fileURLToPath(new URL('../docs', import.meta.url));

const QUESTION = 'Why would I put a gateway in front of my language models?';

const ANSWER = `A gateway gives all your programs **one address**, whichever models you use behind it:

1. **Swap models freely.** The name of a model is the only thing that changes.
2. **Survive failures.** When a provider does not answer, the next one takes over.
3. **Keep keys in one place** instead of in every program.

Any client of the OpenAI API works as it is:

\`\`\`python
from openai import OpenAI

client = OpenAI(base_url="http://localhost:1337/v1", api_key="none")
\`\`\`
`;

const gateway = await openGateway(
  () => ({
    reasoning: ['Name the reasons that matter most, then show how little it takes.'],
    text: ANSWER.match(/.{1,6}/gs) ?? [],
    usage: { prompt: 24, completion: 131 },
    delayMs: 15,
  }),
  ['qwen3:8b'],
  'Ollama',
);
try {
  const browser = await launchChromium();
  try {
    mkdirSync(FOLDER, { recursive: true });
    for (const [colorScheme, name] of [
      ['light', 'screenshot.png'],
      ['dark', 'screenshot-dark.png'],
    ] as const) {
      const page = await browser.newPage({
        colorScheme,
        viewport: { width: 1100, height: 760 },
        deviceScaleFactor: 1.5,
      });
      await page.goto(gateway.origin);
      await page.locator('#providers strong').first().waitFor({ state: 'attached' });
      await page.locator('#prompt').fill(QUESTION);
      await page.locator('#prompt').press('Enter');
      await page.locator('.answer .line').waitFor();
      await page.screenshot({ path: path.join(FOLDER, name) });
      console.log(path.join('docs', name));
      await page.close();
    }
  } finally {
    await browser.close();
  }
} finally {
  await gateway.close();
}
