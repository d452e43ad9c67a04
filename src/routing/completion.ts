import type { Usage } from '../core/chunk.ts';
import { decodeUsage, encodeUsage } from '../core/usage.ts';
import { notACompletion, parseAnswer } from '../providers/openai/decode.ts';
import { failureInAnswer } from '../providers/openai/failure.ts';
import { completionId } from '../providers/openai/ids.ts';
import { ToolCalls } from '../providers/openai/tool-calls.ts';
import { mendMessage } from './mend.ts';

/** Up to this size a body is parsed; of a larger one, which holds long texts, only both ends are looked at first. */
const SMALL_BYTES = 64 * 1024;
const EDGE_BYTES = 4 * 1024;

/** Members that must be there, in a whole answer of any upstream. */
const WANTED = ['"id"', '"object"', '"created"', '"model"', '"usage"', '"finish_reason"'];
/** What has to be changed, if it is there. In JSON text a quote inside a string is escaped, so no text of a model matches. */
const UNWANTED =
  /"(?:provider|tool_calls|reasoning_content)"|"error"\s*:(?!\s*(?:null|false))|"(?:audio|reasoning|content|finish_reason|usage)"\s*:\s*null|"content"\s*:\s*\[/;

/** The end of `"reasoning_content"`. It begins with a rare letter, which makes the search in a long text much faster. */
const THOUGHTS = '_content"';

type Json = Record<string, unknown>;

/** What an answer shall say of itself where the upstream does not, and what was asked, for an estimate. */
export interface CompletionOptions {
  readonly provider: string;
  readonly model: string;
  readonly promptBytes: number;
}

/**
 * A whole chat completion of an upstream, made what dialect B promises: it names the answer, the model and the provider,
 * every choice has a text and a finish, nothing is null that has to be absent, and there is a usage. Where nothing of that
 * was missing, all but the provider stays byte for byte. Throws the upstream's error, if it is one.
 */
export function completionBytes(
  body: Buffer,
  options: CompletionOptions,
): { readonly bytes: Buffer; readonly usage: Usage | undefined } {
  if (body.length > SMALL_BYTES && looksFine(body)) {
    const usage = usageInTail(body);
    if (usage !== undefined) return { bytes: stamp(body, options.provider), usage };
  }
  const answer = parseAnswer(body);
  const failure = failureInAnswer(answer);
  if (failure !== undefined) throw failure;
  const { choices } = answer;
  if (!Array.isArray(choices) || choices.length === 0) throw notACompletion();
  const usage = decodeUsage(answer['usage']);
  const isIntact = [mendChoices(choices), mendHead(answer, options)].every((changed) => !changed);
  if (isIntact && usage !== undefined) return { bytes: stamp(body, options.provider), usage };
  const counted = usage ?? estimate(body, options);
  return {
    bytes: Buffer.from(JSON.stringify({ ...answer, provider: options.provider, usage: encodeUsage(counted) })),
    usage: counted,
  };
}

function looksFine(body: Buffer): boolean {
  const edges = body.toString('latin1', 0, EDGE_BYTES) + body.toString('latin1', body.length - EDGE_BYTES);
  if (!edges.trimEnd().endsWith('}') || !WANTED.every((name) => edges.includes(name))) return false;
  // A second long text may stand between the ends.
  return !UNWANTED.test(edges) && !body.includes(THOUGHTS);
}

/** Mends the choices in place. Returns whether anything had to be changed. */
function mendChoices(choices: unknown[]): boolean {
  let changed = false;
  for (const [at, choice] of choices.entries()) {
    if (!isObject(choice)) throw notACompletion();
    const message = isObject(choice['message']) ? choice['message'] : { role: 'assistant' };
    const calls = new ToolCalls();
    changed = mendMessage(message, calls) || message !== choice['message'] || changed;
    choice['message'] = message;
    for (const [name, value, isRight] of [
      ['index', at, choice['index'] === at],
      ['finish_reason', calls.any ? 'tool_calls' : 'stop', isText(choice['finish_reason'])],
    ] as const) {
      if (isRight) continue;
      choice[name] = value;
      changed = true;
    }
    for (const [name, value] of [
      ['role', 'assistant'],
      ['content', ''],
    ] as const) {
      if (typeof message[name] === 'string') continue;
      message[name] = value;
      changed = true;
    }
  }
  return changed;
}

/** Gives the answer its name in place. Returns whether it lacked it. */
function mendHead(answer: Json, { model }: CompletionOptions): boolean {
  let changed = 'provider' in answer;
  for (const [name, value, isRight] of [
    ['id', completionId, isText(answer['id'])],
    ['object', () => 'chat.completion', answer['object'] === 'chat.completion'],
    ['created', () => Math.floor(Date.now() / 1000), Number.isSafeInteger(answer['created'])],
    ['model', () => model, isText(answer['model'])],
  ] as const) {
    if (isRight) continue;
    answer[name] = value();
    changed = true;
  }
  return changed;
}

function stamp(body: Buffer, provider: string): Buffer {
  const start = body.indexOf('{');
  return Buffer.concat([Buffer.from(`{"provider":${JSON.stringify(provider)},`), body.subarray(start + 1)]);
}

/** Four bytes are about one token; what surrounds the texts of an answer is some 400 bytes. */
function estimate(body: Buffer, { promptBytes }: CompletionOptions): Usage {
  const promptTokens = Math.ceil(promptBytes / 4);
  const completionTokens = Math.ceil(Math.max(4, body.length - 400) / 4);
  return { promptTokens, completionTokens, totalTokens: promptTokens + completionTokens, estimated: true };
}

function usageInTail(body: Buffer): Usage | undefined {
  const tail = body.subarray(-EDGE_BYTES).toString('utf8');
  const at = tail.lastIndexOf('"usage"');
  const json = at === -1 ? null : /^"usage"\s*:\s*(\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\})/.exec(tail.slice(at));
  if (json?.[1] === undefined) return undefined;
  try {
    return decodeUsage(JSON.parse(json[1]));
  } catch {
    return undefined;
  }
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
