import { AnswerEnd } from '../../core/answer-end.ts';
import type { ToolCall, VendorData } from '../../core/chat.ts';
import type { Batch, Chunk, Source } from '../../core/chunk.ts';
import type { Collected } from '../../core/collect.ts';
import { unreachable } from '../../core/errors.ts';
import { isObject, membersOf } from '../../core/objects.ts';
import type { Encoder } from '../../core/stream.ts';
import { sumUsages } from '../../core/usage.ts';
import { randomName, toolCallId } from '../../providers/openai/ids.ts';
import { streamError } from './errors.ts';
import { argumentsOf, finishReason, groundingOf, mediaPart, textPart, usageOf } from './parts.ts';
import { isEmpty, toSignature } from './signature.ts';

type Json = Record<string, unknown>;

/** What all pieces of one answer have in common. */
export interface AnswerHead {
  readonly modelVersion: string;
  readonly responseId: string;
}

/** The head of a new answer, with a random id. */
export function answerHead(model: string): AnswerHead {
  return { modelVersion: model, responseId: randomName(22) };
}

/** How a stream is framed: with `alt=sse` as events, else as the elements of one JSON array. */
export type Framing = 'events' | 'array';

/**
 * Chunks → pieces of a `GenerateContentResponse`. Calls are whole in this API, so they come with the end. All else has a piece
 * for each part: many clients read the first part of a piece only, and would lose the text that comes behind a thought.
 */
export class ContentStream implements Encoder {
  readonly contentType: string;
  // No comment: Google's library for Python takes any line without `data:` for the beginning of an error.
  readonly heartbeat = '\n\n';
  readonly #head: AnswerHead;
  readonly #framing: Framing;
  readonly #last = new AnswerEnd();
  #text = '';
  #refusal = '';
  #saysSomething = false;
  #elements = 0;
  #failure: Json | undefined;
  /** What Google itself said of the answer. */
  #asSaid: Json = {};

  constructor(head: AnswerHead, framing: Framing) {
    this.#head = head;
    this.#framing = framing;
    this.contentType = framing === 'events' ? 'text/event-stream; charset=utf-8' : 'application/json; charset=utf-8';
  }

  encode(batch: Batch): string {
    let out = '';
    let waiting: Json | undefined;
    for (const chunk of batch) {
      const part = this.#part(chunk);
      if (part !== undefined) {
        const joined = join(waiting, part);
        if (joined === undefined) out += this.#piece(waiting);
        waiting = joined ?? part;
      } else if (chunk.type === 'finish') {
        out += this.#end(waiting, chunk.finish);
        waiting = undefined;
      } else if (chunk.type === 'error' || chunk.type === 'auth') {
        this.#failure = streamError(chunk.type === 'error' ? chunk.error : chunk.auth);
        out += this.#piece(waiting) + this.#frame(this.#failure);
        waiting = undefined;
      }
    }
    return out + this.#piece(waiting);
  }

  /**
   * A failure is told twice: Google's own libraries read it outside of the events, as the API sends it, and those of others
   * inside.
   */
  end(): string {
    if (this.#framing === 'array') return this.#elements === 0 ? '[]' : ']';
    return this.#failure === undefined ? '' : JSON.stringify(this.#failure);
  }

  #part(chunk: Chunk): Json | undefined {
    switch (chunk.type) {
      case 'content':
        this.#text += chunk.content;
        this.#asSaid = { ...this.#asSaid, ...answerAsSaid(chunk.vendor) };
        if (chunk.content === '' && (chunk.vendor === undefined || isAside(chunk.vendor))) return undefined;
        return textPart({ type: 'text', text: chunk.content, ...signed(chunk.vendor) });
      case 'reasoning':
        if (chunk.reasoning === '' && chunk.vendor === undefined) return undefined;
        return textPart({ type: 'reasoning', text: chunk.reasoning, ...signed(chunk.vendor) });
      case 'refusal':
        this.#refusal += chunk.refusal;
        return chunk.refusal === '' ? undefined : { text: chunk.refusal };
      case 'media':
        return mediaPart(chunk.media);
      case 'tool_call':
      case 'source':
      case 'usage':
      case 'conversation':
        this.#last.add(chunk);
        return undefined;
      case 'finish':
      case 'error':
      case 'auth':
      case 'provider':
      case 'parameters':
      case 'search':
      case 'item':
      case 'preview':
      case 'suggestions':
      case 'title':
      case 'log':
        return undefined;
      default:
        return unreachable(chunk);
    }
  }

  #piece(part: Json | undefined): string {
    if (part === undefined) return '';
    this.#saysSomething = true;
    const { responseId = this.#head.responseId, modelVersion = this.#head.modelVersion } = this.#asSaid;
    return this.#frame({
      candidates: [{ content: { parts: [part], role: 'model' }, index: 0 }],
      modelVersion,
      responseId,
    });
  }

  #end(waiting: Json | undefined, finish: string): string {
    const { sources, usage, conversation } = this.#last;
    const calls = this.#last.calls.whole();
    const before = calls.length === 0 ? '' : this.#piece(waiting);
    const parts = waiting === undefined || calls.length > 0 ? [] : [waiting];
    const ended: Ended = { finish, refusal: this.#refusal, sources, text: this.#text };
    const tail = {
      ...(usage === undefined ? {} : { usageMetadata: usageOf(usage) }),
      ...this.#head,
      ...(conversation === undefined ? {} : { conversation }),
    };
    const { candidate: own, ...said } = this.#asSaid;
    const { candidate, blocked } = endOf(parts, calls, ended, this.#saysSomething);
    if (blocked !== undefined && !isObject(own)) return this.#frame({ ...blocked, ...tail, ...said });
    // Google's libraries drop a turn from their chats when one of its pieces has a content without parts.
    const content = candidate.content.parts.length === 0 ? { parts: [{ text: '' }], role: 'model' } : candidate.content;
    const last = { candidates: [{ ...candidate, content, ...membersOf(own), index: 0 }], ...tail, ...said };
    return before + this.#frame(last);
  }

  #frame(value: Json): string {
    const text = JSON.stringify(value);
    this.#elements += 1;
    if (this.#framing === 'events') return `data: ${text}\r\n\r\n`;
    return `${this.#elements === 1 ? '[' : ',\r\n'}${text}`;
  }
}

/** Whole answers as one `GenerateContentResponse`; several become several candidates. */
export function encodeAnswers(head: AnswerHead, answers: readonly Collected[]): Json {
  const candidates: Json[] = [];
  let feedback: Json = {};
  let said: Json = {};
  for (const [index, answer] of answers.entries()) {
    const parts: Json[] = answer.parts.flatMap((part) =>
      (part.type === 'text' || part.type === 'reasoning') && (part.text !== '' || !isAside(part.vendor))
        ? [textPart(part)]
        : [],
    );
    if (answer.refusal !== '') parts.push({ text: answer.refusal });
    parts.push(...answer.media.map(mediaPart));
    const { finish = 'stop', refusal, sources, content: text, toolCalls } = answer;
    const { candidate, blocked } = endOf(parts, toolCalls, { finish, refusal, sources, text }, false);
    const { candidate: own, ...rest } = Object.assign(
      {},
      ...answer.parts.map((part) => (part.type === 'text' ? answerAsSaid(part.vendor) : {})),
    );
    if (answers.length === 1) said = rest;
    if (blocked !== undefined && !isObject(own)) feedback = blocked;
    else candidates.push({ ...candidate, ...membersOf(own), index });
  }
  const usages = answers.flatMap((answer) => (answer.usage === undefined ? [] : [answer.usage]));
  const conversation = answers.find((answer) => answer.conversation !== undefined)?.conversation;
  return {
    ...(candidates.length === 0 ? feedback : { candidates }),
    ...(usages.length === 0 ? {} : { usageMetadata: usageOf(sumUsages(usages)) }),
    ...head,
    ...(conversation === undefined ? {} : { conversation }),
    ...said,
  };
}

/** What Google said of its answer as a whole, candidate and all, when it speaks to one of its own clients. */
function answerAsSaid(vendor: VendorData | undefined): Json {
  const answer = vendor?.['google']?.['answer'];
  return membersOf(answer);
}

/** What is said of the answer, or says that a block of text is over, is no part of it. */
function isAside(vendor: VendorData | undefined): boolean {
  return vendor?.['google']?.['answer'] !== undefined || (vendor !== undefined && isEmpty(vendor));
}

interface Ended {
  readonly finish: string;
  readonly refusal: string;
  readonly sources: readonly Source[];
  readonly text: string;
}

/** The candidate with which an answer ends; or, when nothing was said because it must not be, what blocked it. */
function endOf(
  said: readonly Json[],
  calls: readonly ToolCall[],
  { finish, refusal, sources, text }: Ended,
  saidSomething: boolean,
): { readonly candidate: Json & { readonly content: { readonly parts: readonly Json[] } }; readonly blocked?: Json } {
  const parts = [...said];
  let reason = refusal === '' ? finishReason(finish) : 'SAFETY';
  let message = refusal;
  for (const call of calls) {
    const args = argumentsOf(call.arguments);
    if (args !== undefined) {
      const id = call.id === '' ? toolCallId() : call.id;
      parts.push({ functionCall: { id, name: call.name, args }, ...toSignature(call.vendor) });
    } else if (reason === 'STOP') {
      reason = 'MALFORMED_FUNCTION_CALL';
      message = `Malformed function call: ${call.name}(${call.arguments})`;
    }
  }
  const candidate = {
    content: { parts, role: 'model' },
    finishReason: reason,
    ...(message === '' ? {} : { finishMessage: message }),
    ...groundingOf(sources, text),
  };
  if (reason !== 'SAFETY' || saidSomething || parts.length > 0) return { candidate };
  return { candidate, blocked: { promptFeedback: { blockReason: 'SAFETY' } } };
}

/** Two parts as one where they are pieces of one text or thought, which a signature ends. */
function join(last: Json | undefined, part: Json): Json | undefined {
  const goesOn =
    typeof last?.['text'] === 'string' &&
    typeof part['text'] === 'string' &&
    last['thought'] === part['thought'] &&
    last['thoughtSignature'] === undefined;
  return goesOn ? { ...part, text: `${last['text']}${part['text']}` } : undefined;
}

function signed(vendor: VendorData | undefined): { vendor?: VendorData } {
  return vendor === undefined ? {} : { vendor };
}
