import assert from 'node:assert/strict';
import type { IncomingMessage } from 'node:http';
import type { TestContext } from 'node:test';
import { type Gateway, startGateway } from '../support/gateway.ts';
import { type OpenAiOptions, type OpenAiUpstream, startOpenAiUpstream } from '../support/openai-upstream.ts';
import type { VendorScript } from '../support/vendor-script.ts';
import { begin, type Json, QUESTION, type Received, receive } from '../support/wire-answers.ts';

export interface StreamsWorld {
  readonly gateway: Gateway;
  readonly upstream: OpenAiUpstream;
  /** Where the routes of dialect A are. */
  readonly base: string;
}

/** A gateway before one scripted upstream, the provider `mock`; both end with the test. */
export async function openStreams(
  context: TestContext,
  script: VendorScript | undefined,
  limits = '{}',
  options?: OpenAiOptions,
): Promise<StreamsWorld> {
  const upstream = await startOpenAiUpstream(script, options);
  const gateway = await startGateway(
    `providers: { mock: { kind: openai, baseUrl: '${upstream.baseUrl}' } }\nlimits: ${limits}`,
  );
  context.after(async () => {
    await gateway.close();
    await upstream.close();
  });
  return { gateway, upstream, base: `${gateway.origin}/backend-api/v2` };
}

/** Asks for a resumable answer. */
export function beginKept({ gateway }: Pick<StreamsWorld, 'gateway'>, more: Json = {}): ReturnType<typeof begin> {
  return begin(gateway.origin, '/backend-api/v2/conversation', {
    provider: 'mock',
    model: 'test-model',
    messages: QUESTION,
    resumable: true,
    ...more,
  });
}

/** The id of a resumable answer that has begun. */
export function streamOf({ headers }: { readonly headers: IncomingMessage['headers'] }): string {
  const id = headers['x-sluice-stream'];
  assert.ok(typeof id === 'string', 'the answer names its stream');
  assert.match(id, /^[0-9a-f]{32}$/);
  return id;
}

/** Begins to read a stream; `headers` may hold Last-Event-ID. */
export function beginReading(
  { gateway }: Pick<StreamsWorld, 'gateway'>,
  id: string,
  query = '',
  headers: Readonly<Record<string, string>> = {},
): ReturnType<typeof begin> {
  return begin(gateway.origin, `/backend-api/v2/streams/${id}${query}`, undefined, { headers });
}

/** Reads a stream to its end. */
export async function readStream(...asked: Parameters<typeof beginReading>): Promise<Received> {
  return receive(await beginReading(...asked).response);
}

/** Leaves in the middle: what had arrived once there were so many events (or a few more), as whole events. */
export async function readEvents(begun: ReturnType<typeof begin>, count: number): Promise<string> {
  const response = await begun.response;
  assert.equal(response.statusCode, 200);
  let text = '';
  response.setEncoding('utf8');
  if (count > 0) {
    for await (const piece of response) {
      text += piece as string;
      if (eventsOf(text).length >= count) break;
    }
  }
  begun.leave();
  return text.slice(0, text.lastIndexOf('\n\n') + 2);
}

export interface NumberedEvent {
  readonly id: number;
  readonly type: string;
  readonly data: Json;
}

/** The whole events of a text, and asserts that their framing is the promised one. */
export function eventsOf(text: string): readonly NumberedEvent[] {
  return text
    .slice(0, text.lastIndexOf('\n\n') + 2)
    .split('\n\n')
    .filter((frame) => frame !== '' && frame !== ': ping')
    .map((frame) => {
      const [, id, type = '', data = ''] =
        /^id: (\d+)\nevent: ([a-z_]+)\ndata: ([^\n]*)$/.exec(frame) ?? assert.fail(`framing: ${frame.slice(0, 300)}`);
      return { id: Number(id), type, data: JSON.parse(data) as Json };
    });
}

/** The same events without numbers, as they come without `resumable`. */
export function withoutNumbers(text: string): string {
  return text.replace(/^id: \d+\n/gm, '');
}

/** The text of an answer. */
export function textOf(text: string): string {
  return eventsOf(text)
    .map(({ type, data }) => (type === 'content' ? String(data['content']) : ''))
    .join('');
}

export async function stop({ base }: Pick<StreamsWorld, 'base'>, id: string): Promise<{ status: number; json: Json }> {
  const response = await fetch(`${base}/streams/${id}`, { method: 'DELETE' });
  return { status: response.status, json: (await response.json()) as Json };
}
