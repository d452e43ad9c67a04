import { answeredAs } from '../../core/answered-as.ts';
import type { VendorData } from '../../core/chat.ts';
import type { Chunk, FinishReason, Usage } from '../../core/chunk.ts';
import { dataUri } from '../../core/data-uri.ts';
import { isObject, membersOf, textOf, wordsOf } from '../../core/objects.ts';
import { tokenCount } from '../../core/usage.ts';
import { type Speaker, streamFailure } from './failure.ts';
import { failureIn } from './google-mend.ts';
import { numbers } from './numbers.ts';

type Json = Record<string, unknown>;

/**
 * Events of Google's stream → chunks, for Google's own clients: parts that nobody else knows go through as they are, in
 * `vendor.google.part`, and what the API says of the answer as a whole in `vendor.google.answer`, both on empty text.
 */
export class ContentEvents {
  readonly #speaker: Speaker;
  #calls = 0;
  /** Text was said that nothing has ended yet: what follows on empty text would be taken for its signature. */
  #isOpen = false;
  /** What was said of the candidate and of the answer so far; the last word on each counts. */
  #candidate: Json = {};
  #answer: Json = {};
  finished = false;

  constructor(speaker: Speaker) {
    this.#speaker = speaker;
  }

  /** Adds the chunks of one event to `batch`. Throws when it tells of a failure. */
  translate(event: Json, batch: Chunk[]): void {
    const { candidates, error, ...answer } = event;
    if (error != null) {
      const { message, code } = failureIn(error);
      throw streamFailure(this.#speaker, { message, statusCode: code });
    }
    if (Object.keys(this.#answer).length === 0) this.#aside({ answer }, batch);
    this.#answer = { ...this.#answer, ...answer };
    const { content, finishReason, index: _, ...candidate } = membersOf(Array.isArray(candidates) ? candidates[0] : {});
    this.#candidate = { ...this.#candidate, ...candidate };
    const { parts } = membersOf(content);
    for (const part of Array.isArray(parts) ? parts : []) this.#part(membersOf(part), batch);
    if (typeof finishReason === 'string' && finishReason !== '') this.#finish(finishReason, batch);
    else if (typeof membersOf(answer['promptFeedback'])['blockReason'] === 'string') this.#finish(undefined, batch);
  }

  #part(part: Json, batch: Chunk[]): void {
    const { text, thought, thoughtSignature, functionCall, inlineData, ...others } = part;
    const signed: { vendor?: VendorData } =
      typeof thoughtSignature === 'string' ? { vendor: { google: { thoughtSignature } } } : {};
    const isPlain = Object.keys(others).length === 0;
    if (isPlain && typeof text === 'string' && functionCall === undefined && inlineData === undefined) {
      if (text === '' && signed.vendor === undefined) return;
      this.#isOpen = thought !== true && signed.vendor === undefined;
      batch.push(
        thought === true
          ? { type: 'reasoning', reasoning: text, ...signed }
          : { type: 'content', content: text, ...signed },
      );
      return;
    }
    if (isPlain && isObject(functionCall) && typeof functionCall['name'] === 'string') {
      const { id, name, args } = functionCall;
      const called = { index: this.#calls, name, arguments: JSON.stringify(args ?? {}), ...signed };
      this.#calls += 1;
      batch.push({ type: 'tool_call', tool_call: { ...called, id: textOf(id) } });
      return;
    }
    const media =
      isPlain && thought !== true && signed.vendor === undefined ? mediaOf(membersOf(inlineData)) : undefined;
    if (media === undefined) this.#aside({ part }, batch);
    else batch.push(media);
  }

  #aside(google: Json, batch: Chunk[]): void {
    if (this.#isOpen) batch.push({ type: 'content', content: '', vendor: { google: {} } });
    this.#isOpen = false;
    batch.push({ type: 'content', content: '', vendor: { google } });
  }

  /** Without a reason, the prompt was blocked. */
  #finish(reason: string | undefined, batch: Chunk[]): void {
    const candidate = reason === undefined ? {} : { candidate: { ...this.#candidate, finishReason: reason } };
    this.#aside({ answer: { ...this.#answer, ...candidate } }, batch);
    const usage = toUsage(numbers(this.#answer['usageMetadata']));
    if (usage !== undefined) batch.push({ type: 'usage', usage });
    const { responseId, modelVersion } = this.#answer;
    batch.push({ type: 'finish', finish: toFinish(reason, this.#calls > 0), ...answeredAs(responseId, modelVersion) });
    this.finished = true;
  }
}

function mediaOf({ mimeType, data }: Json): Chunk | undefined {
  const kind = /^(image|audio|video)\//.exec(wordsOf(mimeType))?.[1] as 'image' | 'audio' | 'video' | undefined;
  if (kind === undefined || typeof mimeType !== 'string' || typeof data !== 'string') return undefined;
  return { type: 'media', media: { kind, url: dataUri(mimeType, data), mimeType } };
}

function toFinish(reason: string | undefined, hasCalls: boolean): FinishReason {
  switch (reason) {
    case 'STOP':
      return hasCalls ? 'tool_calls' : 'stop';
    case 'MAX_TOKENS':
      return 'length';
    case undefined:
    case 'SAFETY':
    case 'RECITATION':
    case 'BLOCKLIST':
    case 'PROHIBITED_CONTENT':
    case 'SPII':
    case 'IMAGE_SAFETY':
      return 'content_filter';
    default:
      return reason.toLowerCase();
  }
}

/** Google counts thoughts, and what its own tools read, beside the others. */
function toUsage(usage: Json): Usage | undefined {
  const prompt = tokenCount(usage['promptTokenCount']);
  if (prompt === undefined) return undefined;
  const reasoning = tokenCount(usage['thoughtsTokenCount']);
  const cached = tokenCount(usage['cachedContentTokenCount']);
  const promptTokens = prompt + (tokenCount(usage['toolUsePromptTokenCount']) ?? 0);
  const completionTokens = (tokenCount(usage['candidatesTokenCount']) ?? 0) + (reasoning ?? 0);
  return {
    promptTokens,
    completionTokens,
    totalTokens: promptTokens + completionTokens,
    ...(cached === undefined ? {} : { cachedTokens: cached }),
    ...(reasoning === undefined ? {} : { reasoningTokens: reasoning }),
  };
}
