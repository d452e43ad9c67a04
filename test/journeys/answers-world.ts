import type { TestContext } from 'node:test';
import { type Gateway, startGateway } from '../support/gateway.ts';
import { sendRaw } from '../support/openai-faults.ts';
import { type OpenAiOptions, type OpenAiUpstream, startOpenAiUpstream } from '../support/openai-upstream.ts';
import type { VendorScript } from '../support/vendor-script.ts';
import type { Json } from '../support/wire-answers.ts';

// What is asked reaches the upstream as it was asked, and whatever it answers arrives as each dialect promises it.

export async function openGateway(
  context: TestContext,
  script?: VendorScript,
  options?: OpenAiOptions,
  settings = '',
): Promise<[Gateway, OpenAiUpstream]> {
  const upstream = await startOpenAiUpstream(script, options);
  const gateway = await startGateway(
    `providers: { mock: { kind: openai, baseUrl: '${upstream.baseUrl}', apiKey: key-of-mock } }\naliases: { best: [mock/real-model] }\n${settings}`,
  );
  context.after(async () => {
    await gateway.close();
    await upstream.close();
  });
  return [gateway, upstream];
}

/** The upstream sends exactly these events, one by one. */
export const sending = (...events: readonly (object | string)[]): OpenAiOptions => ({
  async handle(request, response) {
    if (request.method !== 'POST') return false;
    const pieces = events.map((event) => {
      if (typeof event === 'string' && event.startsWith(':')) return `${event}\n\n`;
      return `data: ${typeof event === 'string' ? event : JSON.stringify(event)}\n\n`;
    });
    await sendRaw(request, response, { pieces });
    return true;
  },
});

export const HEAD = { id: 'c-1', object: 'chat.completion.chunk', created: 1_700_000_000, model: 'm' };
export const delta = (given: unknown, finish: string | null = null, more: Json = {}): Json => ({
  ...HEAD,
  choices: [{ index: 0, delta: given, finish_reason: finish }],
  ...more,
});
