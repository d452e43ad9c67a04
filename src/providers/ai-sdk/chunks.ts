import type {
  LanguageModelV4File,
  LanguageModelV4FinishReason,
  LanguageModelV4ReasoningPart,
  LanguageModelV4StreamPart,
  LanguageModelV4Usage,
  SharedV4ProviderMetadata,
  SharedV4Warning,
} from '@ai-sdk/provider';
import { answeredAs } from '../../core/answered-as.ts';
import type { AnsweredAs, Chunk, FinishReason, Usage } from '../../core/chunk.ts';
import { dataUri } from '../../core/data-uri.ts';
import { SluiceError } from '../../core/errors.ts';
import type { Logger } from '../../core/logger.ts';
import { defined, isObject, parseObject } from '../../core/objects.ts';
import { tokenCount } from '../../core/usage.ts';
import { vendorText } from '../../core/vendor.ts';
import { Unreadable } from '../openai/unreadable.ts';
import { type Speaker, streamFailure } from './failure.ts';
import type { SignedThought } from './thoughts.ts';

type FinishPart = Extract<LanguageModelV4StreamPart, { type: 'finish' }>;

interface TranslatorOptions {
  readonly speaker: Speaker;
  readonly log: Logger;
  /** The pieces of a text, if it was joined on its way here. */
  apart(text: string): readonly string[];
  /** What the client calls the tool of that name. */
  ownName(name: string): string;
  remember(callId: string, thought: SignedThought): void;
  /** A field of the request that had no place. */
  drop(field: string): void;
}

/** The parts of one answer → chunks. Parts that say nothing to a client become none. */
export class Translator {
  readonly #options: TranslatorOptions;
  readonly #calls = new Map<string, { readonly index: number; hasArguments: boolean }>();
  /** Calls which the vendor runs itself, for example its own web search. */
  readonly #foreign = new Set<string>();
  /** What vendors attached to blocks of text that are not over. */
  readonly #texts = new Map<string, SharedV4ProviderMetadata>();
  readonly #reasoning = new Map<string, LanguageModelV4ReasoningPart>();
  readonly #unreadable = new Unreadable();
  #named: { readonly answeredAs?: AnsweredAs } = {};
  finished = false;

  constructor(options: TranslatorOptions) {
    this.#options = options;
  }

  /** Adds the chunks of `part` to `batch`. Throws when the part tells of a failure. */
  translate(part: LanguageModelV4StreamPart, batch: Chunk[]): void {
    if (part.type !== 'error') this.#unreadable.makeUp();
    switch (part.type) {
      case 'text-start':
        this.#collectText(part.id, part.providerMetadata);
        break;
      case 'text-end': {
        this.#collectText(part.id, part.providerMetadata);
        const attached = this.#texts.get(part.id);
        if (attached !== undefined) batch.push({ type: 'content', content: '', vendor: attached });
        break;
      }
      case 'text-delta':
        if (part.providerMetadata?.['openai']?.['isRefusal'] === true) {
          for (const refusal of this.#piecesOf(part.delta)) batch.push({ type: 'refusal', refusal });
          break;
        }
        this.#collectText(part.id, part.providerMetadata);
        for (const content of this.#piecesOf(part.delta)) batch.push({ type: 'content', content });
        break;
      case 'reasoning-start':
        this.#collectReasoning(part.id, '', part.providerMetadata);
        break;
      case 'reasoning-end': {
        this.#collectReasoning(part.id, '', part.providerMetadata);
        const signed = this.#reasoning.get(part.id)?.providerOptions;
        if (signed !== undefined) batch.push({ type: 'reasoning', reasoning: '', vendor: signed });
        break;
      }
      case 'source':
        if (part.sourceType !== 'url') break;
        batch.push({
          type: 'source',
          source: {
            url: part.url,
            ...(part.title === undefined ? {} : { title: part.title }),
            ...placeOf(part.providerMetadata),
          },
        });
        break;
      case 'reasoning-delta':
        this.#collectReasoning(part.id, part.delta, part.providerMetadata);
        for (const reasoning of this.#piecesOf(part.delta)) batch.push({ type: 'reasoning', reasoning });
        break;
      case 'tool-input-start':
        if (part.providerExecuted === true) this.#foreign.add(part.id);
        else this.#startCall(part.id, part.toolName, '', batch);
        break;
      case 'tool-input-delta':
        for (const piece of this.#piecesOf(part.delta)) this.#continueCall(part.id, piece, batch);
        break;
      case 'tool-call':
        if (part.providerExecuted === true) break;
        // The whole call: news only when it was not streamed, or when it has no arguments but the vendor's `{}`.
        if (!this.#calls.has(part.toolCallId)) this.#startCall(part.toolCallId, part.toolName, part.input, batch);
        else if (this.#calls.get(part.toolCallId)?.hasArguments === false) {
          this.#continueCall(part.toolCallId, part.input, batch);
        }
        this.#signCall(part.toolCallId, part.providerMetadata, batch);
        this.#rememberThoughts(part.toolCallId, part.providerMetadata);
        break;
      case 'file':
        this.#addMedia(part, batch);
        break;
      case 'stream-start':
        for (const warning of part.warnings) this.#heed(warning);
        break;
      case 'error':
        if (isNoJson(part.error)) {
          const failure = this.#unreadable.add();
          if (failure !== undefined) throw failure;
          break;
        }
        if (!isNews(part.error)) throw streamFailure(this.#options.speaker, part.error);
        this.#options.log.debug({}, 'a part of an answer of a type that the vendor library does not know is left out');
        break;
      case 'response-metadata':
        this.#named = answeredAs(part.id, part.modelId);
        break;
      case 'finish':
        this.#finish(part, batch);
        break;
      default:
        break;
    }
  }

  #piecesOf(text: string): readonly string[] {
    return this.#options.apart(text).filter((piece) => piece !== '');
  }

  #startCall(id: string, name: string, text: string, batch: Chunk[]): void {
    const index = this.#calls.size;
    this.#calls.set(id, { index, hasArguments: text !== '' });
    batch.push({ type: 'tool_call', tool_call: { index, id, name: this.#options.ownName(name), arguments: text } });
  }

  #continueCall(id: string, text: string, batch: Chunk[]): void {
    const call = this.#calls.get(id);
    if (call === undefined || text === '' || this.#foreign.has(id)) return;
    call.hasArguments = true;
    batch.push({ type: 'tool_call', tool_call: { index: call.index, arguments: text } });
  }

  #signCall(id: string, vendor: SharedV4ProviderMetadata | undefined, batch: Chunk[]): void {
    const index = this.#calls.get(id)?.index;
    if (vendor === undefined || index === undefined) return;
    batch.push({ type: 'tool_call', tool_call: { index, arguments: '', vendor } });
  }

  /** What the vendor's library left out of the request. */
  #heed(warning: SharedV4Warning): void {
    this.#options.log.debug({ warning }, 'the vendor library warns');
    if (warning.type === 'unsupported') this.#options.drop(fieldOf(warning.feature));
  }

  #collectText(id: string, metadata: SharedV4ProviderMetadata | undefined): void {
    if (metadata !== undefined) this.#texts.set(id, { ...this.#texts.get(id), ...metadata });
  }

  #collectReasoning(id: string, text: string, metadata: SharedV4ProviderMetadata | undefined): void {
    const known = this.#reasoning.get(id);
    const providerOptions =
      metadata === undefined ? known?.providerOptions : { ...known?.providerOptions, ...metadata };
    this.#reasoning.set(id, {
      type: 'reasoning',
      text: (known?.text ?? '') + text,
      ...(providerOptions === undefined ? {} : { providerOptions }),
    });
  }

  #rememberThoughts(callId: string, callOptions: SharedV4ProviderMetadata | undefined): void {
    const reasoning = [...this.#reasoning.values()].filter((part) => part.providerOptions !== undefined);
    if (reasoning.length === 0 && callOptions === undefined) return;
    this.#options.remember(callId, { reasoning, ...(callOptions === undefined ? {} : { callOptions }) });
  }

  #addMedia(part: LanguageModelV4File, batch: Chunk[]): void {
    const kind = /^(image|audio|video)\//.exec(part.mediaType)?.[1] as 'image' | 'audio' | 'video' | undefined;
    if (kind === undefined) {
      this.#options.log.debug({ mediaType: part.mediaType }, 'a generated file of this type is left out');
      return;
    }
    batch.push({ type: 'media', media: { kind, url: addressOf(part), mimeType: part.mediaType } });
  }

  #finish({ finishReason, usage, providerMetadata }: FinishPart, batch: Chunk[]): void {
    // Of a call that its vendor has not ended, no arguments may have come: clients parse them.
    for (const [id, call] of this.#calls) if (!call.hasArguments) this.#continueCall(id, '{}', batch);
    const finish = toFinishReason(finishReason, this.#calls.size > 0, this.#options.speaker.label);
    const counted = toUsage(usage);
    if (counted !== undefined) batch.push({ type: 'usage', usage: counted });
    const stopSequence = vendorText(providerMetadata, 'anthropic', 'stopSequence');
    const serviceTier = vendorText(providerMetadata, 'openai', 'serviceTier');
    batch.push({ type: 'finish', finish, ...defined({ stopSequence, serviceTier }), ...this.#named });
    this.finished = true;
  }
}

/**
 * Whether the library complains of nothing but a type it has never heard of: an event, a block or a piece that the vendor has
 * added to its API since, as Anthropic says it will.
 */
function isNews(error: unknown): boolean {
  const { value, cause } = (error ?? {}) as { value?: unknown; cause?: { issues?: unknown } };
  const issues = (Array.isArray(cause?.issues) ? cause.issues : []) as { note?: unknown; path?: PropertyKey[] }[];
  const isUnknown = ({ note, path = [] }: (typeof issues)[number]): boolean =>
    note === 'No matching discriminator' &&
    typeof path.reduce((at: unknown, name) => (isObject(at) ? at[String(name)] : undefined), value) === 'string';
  return issues.length > 0 && issues.every(isUnknown);
}

/**
 * Whether the library could not parse an event. Only what looks like one from outside comes as far as here. JSON it may be all the
 * same: the library refuses members such as `__proto__`, and nobody may lose what stands beside them without a word.
 */
function isNoJson(error: unknown): boolean {
  if (!(error instanceof Error) || error.name !== 'AI_JSONParseError') return false;
  const { text } = error as { text?: unknown };
  return typeof text === 'string' && parseObject(text) === undefined;
}

/** Where a citation belongs, which `responses-stream.ts` adds. */
function placeOf(metadata: SharedV4ProviderMetadata | undefined): { start?: number; end?: number } {
  const { start, end } = metadata?.['openai'] ?? {};
  return typeof start === 'number' && typeof end === 'number' ? { start, end } : {};
}

/** Names of the libraries' options → the client's fields. */
const FIELDS: Readonly<Record<string, string>> = {
  stopSequences: 'stop',
  maxOutputTokens: 'max_tokens',
  reasoning: 'reasoning_effort',
};

function fieldOf(feature: string): string {
  return FIELDS[feature] ?? feature.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function addressOf(part: LanguageModelV4File): string {
  if (part.data.type === 'url') return part.data.url.href;
  const { data } = part.data;
  return dataUri(part.mediaType, typeof data === 'string' ? data : Buffer.from(data).toString('base64'));
}

function toFinishReason(reason: LanguageModelV4FinishReason, hasCalls: boolean, label: string): FinishReason {
  switch (reason.unified) {
    case 'stop':
      return hasCalls ? 'tool_calls' : 'stop';
    case 'length':
      return 'length';
    case 'tool-calls':
      return 'tool_calls';
    case 'content-filter':
      return 'content_filter';
    default:
      // Without the vendor's own word: libraries close a stream that was cut between two events as if it had ended, and one whose
      // last event cannot be read as if it had failed.
      if (reason.raw === undefined) throw new SluiceError('upstream_cut', `${label} broke off its answer.`);
      if (reason.unified === 'error') throw new SluiceError('upstream_failed', `${label} gave up: ${reason.raw}.`);
      return reason.raw.toLowerCase();
  }
}

function toUsage({ inputTokens, outputTokens }: LanguageModelV4Usage): Usage | undefined {
  const [prompt, completion] = [tokenCount(inputTokens.total), tokenCount(outputTokens.total)];
  if (prompt === undefined && completion === undefined) return undefined;
  const [promptTokens, completionTokens] = [prompt ?? 0, completion ?? 0];
  return {
    promptTokens,
    completionTokens,
    totalTokens: promptTokens + completionTokens,
    ...(inputTokens.cacheRead === undefined ? {} : { cachedTokens: inputTokens.cacheRead }),
    ...(inputTokens.cacheWrite === undefined ? {} : { cacheWriteTokens: inputTokens.cacheWrite }),
    ...(outputTokens.reasoning === undefined ? {} : { reasoningTokens: outputTokens.reasoning }),
  };
}
