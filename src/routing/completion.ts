import type { Usage } from '../core/chunk.ts';
import { jsonIn } from '../core/fenced-block.ts';
import { editObject, scanObject } from '../core/json.ts';
import { isObject, membersOf, parseObject } from '../core/objects.ts';
import { headOf, holds, join, type Pieces, sizeOf, tailOf, withoutTail } from '../core/pieces.ts';
import { decodeUsage, encodeUsage, isWholeUsage, TextEstimate } from '../core/usage.ts';
import { notACompletion, parseAnswer } from '../providers/openai/decode.ts';
import { failureInAnswer } from '../providers/openai/failure.ts';
import { completionId } from '../providers/openai/ids.ts';
import { ToolCalls } from '../providers/openai/tool-calls.ts';
import { AlikeAnswers } from './alike-answers.ts';
import { mendMessage } from './mend.ts';

/** Up to this size a body is parsed; of a larger one, which holds long texts, only both ends are looked at first. */
const SMALL_BYTES = 64 * 1024;
const EDGE_BYTES = 4 * 1024;

/** Members that must be there, in a whole answer of any upstream. */
const WANTED = ['"id"', '"object"', '"created"', '"model"', '"usage"', '"finish_reason"'];
/** What has to be changed, if it is there. In JSON text a quote inside a string is escaped, so no text of a model matches. */
const UNWANTED =
  /"(?:provider|tool_calls|reasoning_content)"|"reasoning"\s*:\s*"(?!")|"error"\s*:(?!\s*(?:null|false))|"finish_reason"\s*:\s*"error"|"(?:audio|reasoning|content|finish_reason|usage)"\s*:\s*null|"content"\s*:\s*\[/;

/** The end of `"reasoning_content"`. It begins with a rare letter, which makes the search in a long text much faster. */
const THOUGHTS = '_content"';

/** Of all upstreams. */
const allAnswers = new AlikeAnswers();

type Json = Record<string, unknown>;

/** What an answer shall say of itself where the upstream does not, and what was asked, for an estimate. */
export interface CompletionOptions {
  readonly provider: string;
  readonly model: string;
  readonly promptTokens: number;
  /** Texts shall be JSON and nothing else. */
  readonly wantsJson: boolean;
}

/**
 * A whole chat completion of an upstream, made what dialect B promises: it names the answer, the model and the provider,
 * every choice has a text and a finish, nothing is null that has to be absent, and there is a usage with all counts. Where
 * nothing of that was missing, all but the provider stays byte for byte, and where a count was, all but the provider and the
 * usage. Throws the upstream's error, if it is one.
 */
export function completionBytes(
  body: Pieces,
  options: CompletionOptions,
  answers: AlikeAnswers = allAnswers,
): { readonly pieces: Pieces; readonly usage: Usage | undefined } {
  if (sizeOf(body) > SMALL_BYTES && !options.wantsJson) {
    const passed = passLarge(body, options);
    if (passed !== undefined) return passed;
  }
  const bytes = join(body);
  const { provider, model } = options;
  const alike = options.wantsJson ? undefined : answers.usageOf(bytes, provider, model);
  if (alike !== undefined) return { pieces: stamp([bytes], provider), usage: alike };
  const answer = parseAnswer(bytes);
  const failure = failureInAnswer(answer);
  if (failure !== undefined) throw failure;
  const { choices } = answer;
  if (!Array.isArray(choices) || choices.length === 0) throw notACompletion();
  const usage = decodeUsage(answer['usage']);
  const hasMended = mendChoices(choices, options);
  const isIntact = !mendHead(answer, options) && !hasMended;
  if (isIntact && usage !== undefined) {
    if (!isWholeUsage(answer['usage'])) return { pieces: stamp(withUsage(bytes, usage), provider), usage };
    answers.learn(bytes, usage, provider, model);
    return { pieces: stamp([bytes], provider), usage };
  }
  const counted = usage ?? estimate(choices, options);
  const mended = { ...answer, provider, usage: encodeUsage(counted) };
  return { pieces: [Buffer.from(JSON.stringify(mended))], usage: counted };
}

/** The same answer with all counts of its usage; nothing else changes. */
function withUsage(bytes: Buffer, usage: Usage): Pieces {
  const json = JSON.stringify(encodeUsage(usage));
  const found = usageIn(bytes);
  if (found?.usage.totalTokens === usage.totalTokens && found.usage.promptTokens === usage.promptTokens)
    return [bytes.subarray(0, found.start), Buffer.from(json), bytes.subarray(found.end)];
  // What stands last under this name is another one's.
  return [editObject(bytes, scanObject(bytes).members, new Map([['usage', json]]))];
}

/** The same without reading the middle, where its ends say that nothing is missing; else undefined. */
function passLarge(body: Pieces, { provider }: CompletionOptions): ReturnType<typeof completionBytes> | undefined {
  const tail = tailOf(body, EDGE_BYTES);
  const found = looksFine(headOf(body, EDGE_BYTES), tail, body) ? usageIn(tail) : undefined;
  if (found === undefined) return undefined;
  const { usage, start, end } = found;
  if (isWholeUsage(usage.raw)) return { pieces: stamp(body, provider), usage };
  const counted = Buffer.from(JSON.stringify(encodeUsage(usage)));
  const pieces = [...withoutTail(body, tail.length), tail.subarray(0, start), counted, tail.subarray(end)];
  return { pieces: stamp(pieces, provider), usage };
}

function looksFine(head: Buffer, tail: Buffer, body: Pieces): boolean {
  const edges = head.toString('latin1') + tail.toString('latin1');
  if (!edges.trimEnd().endsWith('}') || !WANTED.every((name) => edges.includes(name))) return false;
  // A second long text may stand between the ends.
  return !UNWANTED.test(edges) && !holds(body, THOUGHTS);
}

/** Mends the choices in place. Returns whether anything had to be changed. */
function mendChoices(choices: unknown[], { wantsJson }: CompletionOptions): boolean {
  let changed = false;
  for (let at = 0; at < choices.length; at += 1) {
    const choice = choices[at];
    if (!isObject(choice)) throw notACompletion();
    const message = isObject(choice['message']) ? choice['message'] : { role: 'assistant' };
    const calls = new ToolCalls();
    if (mendMessage(message, calls)) changed = true;
    if (message !== choice['message']) changed = put(choice, 'message', message);
    if (choice['index'] !== at) changed = put(choice, 'index', at);
    if (!isText(choice['finish_reason'])) changed = put(choice, 'finish_reason', calls.any ? 'tool_calls' : 'stop');
    if (typeof message['role'] !== 'string') changed = put(message, 'role', 'assistant');
    const { content } = message;
    if (typeof content !== 'string') changed = put(message, 'content', '');
    else if (wantsJson && jsonIn(content) !== content) changed = put(message, 'content', jsonIn(content));
  }
  return changed;
}

/** Gives the answer its name in place. Returns whether it lacked it. */
function mendHead(answer: Json, { model }: CompletionOptions): boolean {
  let changed = 'provider' in answer;
  if (!isText(answer['id'])) changed = put(answer, 'id', completionId());
  if (answer['object'] !== 'chat.completion') changed = put(answer, 'object', 'chat.completion');
  if (!Number.isSafeInteger(answer['created'])) changed = put(answer, 'created', Math.floor(Date.now() / 1000));
  if (!isText(answer['model'])) changed = put(answer, 'model', model);
  return changed;
}

function put(object: Json, name: string, value: unknown): true {
  object[name] = value;
  return true;
}

/** The same with the provider in front. None of the bytes is copied: there may be megabytes of them. */
function stamp(body: Pieces, provider: string): Pieces {
  for (const [place, piece] of body.entries()) {
    const brace = piece.indexOf(OPENING_BRACE);
    if (brace !== -1) return [namedHead(provider), piece.subarray(brace + 1), ...body.slice(place + 1)];
  }
  throw notACompletion();
}

const OPENING_BRACE = 0x7b;

/** How objects begin that name a provider, by provider. */
const namedHeads = new Map<string, Buffer>();
/** Providers come and go with the configuration. */
const MOST_HEADS = 1_000;

function namedHead(provider: string): Buffer {
  const known = namedHeads.get(provider);
  if (known !== undefined) return known;
  const head = Buffer.from(`{"provider":${JSON.stringify(provider)},`);
  if (namedHeads.size < MOST_HEADS) namedHeads.set(provider, head);
  return head;
}

/** What the request and the mended choices' texts are about. */
function estimate(choices: readonly unknown[], { promptTokens }: CompletionOptions): Usage {
  const texts = choices.flatMap((choice) => textsOf(membersOf(membersOf(choice)['message'])));
  const written = new TextEstimate();
  for (const text of texts) written.add(text);
  const completionTokens = written.tokens;
  return { promptTokens, completionTokens, totalTokens: promptTokens + completionTokens, estimated: true };
}

function textsOf({ content, reasoning, refusal, tool_calls: calls }: Json): string[] {
  const written = Array.isArray(calls) ? calls.map((call) => membersOf(membersOf(call)['function'])['arguments']) : [];
  return [content, reasoning, refusal, ...written].filter((text) => typeof text === 'string');
}

/** The usage in the last bytes of an answer, and where it stands in them. */
function usageIn(bytes: Buffer): { readonly usage: Usage; readonly start: number; readonly end: number } | undefined {
  const tail = bytes.toString('latin1');
  const at = tail.lastIndexOf('"usage"');
  const [all, json] =
    (at === -1 ? null : /^"usage"\s*:\s*(\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\})/.exec(tail.slice(at))) ?? [];
  if (all === undefined || json === undefined) return undefined;
  const end = at + all.length;
  const start = end - json.length;
  const usage = decodeUsage(parseObject(bytes.toString('utf8', start, end)));
  return usage === undefined ? undefined : { usage, start, end };
}

function isText(value: unknown): boolean {
  return typeof value === 'string' && value !== '';
}
