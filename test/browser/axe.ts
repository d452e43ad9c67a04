import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';

const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** What axe complains about, in a line each. */
export async function violations(page: Page): Promise<readonly string[]> {
  if ((await page.evaluate('typeof axe')) === 'undefined') await page.evaluate(AXE);
  const { violations: found } = (await page.evaluate('axe.run()')) as {
    violations: { id: string; help: string; nodes: { html: string; failureSummary: string }[] }[];
  };
  return found.flatMap(({ id, help, nodes }) =>
    nodes.map((node) => `${id}: ${help}: ${node.html.slice(0, 200)} ${node.failureSummary}`),
  );
}
