import assert from 'node:assert/strict';
import type { MockTracker } from 'node:test';
import { LINGER_MS } from '../../src/http/edge/errors.ts';
import { type Gateway, startGateway } from '../support/gateway.ts';
import { type OpenAiOptions, type OpenAiUpstream, startOpenAiUpstream } from '../support/openai-upstream.ts';
import { type Answer, type Ask, ask } from '../support/raw-http.ts';
import type { SeenRequest } from '../support/seen-request.ts';
import type { VendorScript } from '../support/vendor-script.ts';

/** Where chats are asked for, in both dialects, with what a wrong field answers there. */
export const CHATS = [
  { dialect: 'A', path: '/backend-api/v2/conversation', wrongField: 400 },
  { dialect: 'B', path: '/v1/chat/completions', wrongField: 422 },
] as const;

export const CREATE = '/backend-api/v2/create';
export const HI = { model: 'test-model', messages: [{ role: 'user', content: 'Hi' }] } as const;

/** The gateway before one scripted upstream. */
export interface World extends AsyncDisposable {
  readonly gateway: Gateway;
  readonly upstream: OpenAiUpstream;
  ask(what: Ask): Promise<Answer>;
  /** The last chat that reached the upstream, and its body. */
  readonly last: SeenRequest & { readonly fields: Readonly<Record<string, unknown>> };
  /** Checks that the gateway still answers a chat exactly, in both dialects. */
  isWell(): Promise<void>;
  close(): Promise<void>;
}

export interface WorldOptions extends OpenAiOptions {
  readonly script?: VendorScript;
  /** More of sluice.yaml, beginning with further providers. */
  readonly yaml?: string | ((upstream: OpenAiUpstream) => string);
  /** More lines of the provider `mock`. */
  readonly provider?: string;
  /** Headers that every request of `isWell` needs. */
  readonly headers?: Readonly<Record<string, string>>;
}

export async function openWorld({
  script,
  yaml = '',
  provider = '',
  headers = {},
  ...options
}: WorldOptions = {}): Promise<World> {
  const upstream = await startOpenAiUpstream(script, options);
  const mock = `mock: { kind: openai, baseUrl: '${upstream.baseUrl}'${provider === '' ? '' : `, ${provider}`} }`;
  const more = typeof yaml === 'string' ? yaml : yaml(upstream);
  const gateway = await startGateway(`providers:\n  ${mock}\n${more}`);
  const close = async (): Promise<void> => {
    await gateway.close();
    await upstream.close();
  };
  return {
    gateway,
    upstream,
    ask: (what) => ask(gateway.origin, what),
    get last() {
      const last = upstream.chats.at(-1);
      assert.ok(last, 'no chat has reached the upstream');
      return { ...last, fields: last.body as Record<string, unknown> };
    },
    async isWell() {
      for (const { path } of CHATS) {
        const answer = await ask(gateway.origin, { path, headers, body: { ...HI, provider: 'mock' } });
        assert.equal(answer.status, 200, answer.text);
        assert.match(answer.text, /upstream\./);
      }
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

/** Lets the time not pass, until the test is over, for which a client is listened to that was refused: a busy machine may need more. */
export function holdLinger(context: { readonly mock: MockTracker }): void {
  const { setTimeout: real } = globalThis;
  context.mock.method(globalThis, 'setTimeout', (...words: Parameters<typeof setTimeout>) => {
    const [callback, milliseconds, ...rest] = words;
    return Reflect.apply(real, globalThis, milliseconds === LINGER_MS ? [callback, 300_000, ...rest] : words);
  });
}

/** Traces of our own inside: stacks, files, folders. */
const INTERNALS = /\n\s+at |node_modules|node:internal|\.[jt]s:\d+|SQLITE|file:\/\/\S*\.[jt]s/;

interface ErrorFields {
  readonly message: string;
  readonly type: string;
  readonly code: string;
  readonly param: string | null;
}

/** Checks that an answer is an error with one of these statuses, in the one form of all errors, and returns it. */
export function assertError(answer: Answer, status: number | readonly number[], about = ''): ErrorFields {
  const hint = about.slice(0, 200);
  const allowed = typeof status === 'number' ? [status] : status;
  assert.ok(allowed.includes(answer.status), `${hint}: ${answer.status} ${answer.text.slice(0, 500)}`);
  assert.match(answer.headers['content-type'] ?? '', /^application\/json/, hint);
  const { error } = answer.json as { error?: Partial<ErrorFields> };
  assert.ok(error, `${hint}: ${answer.text}`);
  const { message, type, code, param } = error;
  assert.deepEqual(Object.keys(error).sort(), ['code', 'message', 'param', 'type'], hint);
  assert.ok(typeof message === 'string' && message !== '', hint);
  assert.ok(typeof type === 'string' && type !== '', hint);
  assert.ok(typeof code === 'string' && code !== '', hint);
  assert.ok(param === null || typeof param === 'string', hint);
  assert.doesNotMatch(answer.text, INTERNALS, hint);
  assert.ok(!answer.text.includes(process.cwd()), hint);
  return { message, type, code, param };
}

/** Forms of errors, as the documents call the parts of this server; all others have the one of `assertError`. */
export type ErrorForm = 'Anthropic Messages' | 'Gemini API' | 'Ollama API' | 'OpenAI';

/** Checks that an answer is an error with this status in the form of a dialect, and returns its code. */
export function codeInForm(form: ErrorForm, answer: Answer, status: number, about = ''): string {
  const { type, error, code } = answer.json as { type?: unknown; error: unknown; code?: unknown };
  if (form === 'OpenAI' || form === 'Anthropic Messages') {
    assert.equal(type, form === 'OpenAI' ? undefined : 'error', about);
    return assertError(answer, status, about).code;
  }
  assert.equal(answer.status, status, about);
  assert.match(answer.headers['content-type'] ?? '', /^application\/json/, about);
  assert.doesNotMatch(answer.text, INTERNALS, about);
  if (form === 'Ollama API') {
    assert.ok(typeof error === 'string' && error !== '', about);
    return String(code);
  }
  const { code: told, message, status: word, details, ...more } = error as Record<string, unknown>;
  assert.deepEqual(more, {}, about);
  assert.equal(told, status, about);
  assert.ok(typeof message === 'string' && message !== '', about);
  assert.match(String(word), /^[A-Z_]+$/, about);
  return (details as readonly { readonly reason: string }[])[0]?.reason ?? '';
}
