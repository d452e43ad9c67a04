import { CallPieces } from '../../core/call-pieces.ts';
import type { Batch, Chunk, MediaRef, Usage } from '../../core/chunk.ts';
import { type ErrorInfo, unreachable } from '../../core/errors.ts';
import { JoinedThoughts } from '../../core/joined-thoughts.ts';
import { withLineFeedsOnly } from '../../core/line-ends.ts';
import type { Encoder } from '../../core/stream.ts';
import { encodeUsage } from '../../core/usage.ts';
import { mediaMarkup } from '../../media/markup.ts';
import { wholeCall } from '../chat-tools.ts';
import type { Aside, Asides } from './asides.ts';

type Json = Record<string, unknown>;

/**
 * Chunks → typed events: `event: <type>`, `data: <JSON>`, empty line; the payload's key is the type's name. Bare JSON
 * lines for clients that ask for `application/x-ndjson`.
 */
export class TypedStream implements Encoder {
  readonly contentType: string;
  readonly #isBare: boolean;
  readonly #contentPrefix: string;
  readonly #suffix: string;
  readonly #asides: Asides | undefined;
  readonly #freeform: ReadonlySet<string>;
  readonly #calls = new CallPieces();
  #usage: Usage | undefined;
  #provider = '';
  #model = '';
  readonly #thoughts = new JoinedThoughts();
  #isReasoning = false;

  /**
   * @param asides what comes beside the provider's own chunks
   * @param freeform the tools whose calls are told as freeform ones
   */
  constructor(form: 'events' | 'lines', asides?: Asides, freeform: ReadonlySet<string> = new Set()) {
    this.#asides = asides;
    this.#freeform = freeform;
    this.#isBare = form === 'lines';
    this.contentType = this.#isBare ? 'application/x-ndjson; charset=utf-8' : 'text/event-stream; charset=utf-8';
    this.#contentPrefix = this.#isBare
      ? '{"type":"content","content":'
      : 'event: content\ndata: {"type":"content","content":';
    this.#suffix = this.#isBare ? '}\n' : '}\n\n';
  }

  encode(batch: Batch): string {
    let out = '';
    for (const chunk of batch) out += this.#one(chunk);
    return withLineFeedsOnly(out);
  }

  /** The end of the connection is the end of the stream; there is no sentinel. */
  end(): string {
    return '';
  }

  #one(chunk: Chunk): string {
    switch (chunk.type) {
      case 'content':
        if (chunk.content === '' && chunk.vendor !== undefined) return '';
        return this.#endReasoning() + this.#contentPrefix + JSON.stringify(chunk.content) + this.#suffix;
      case 'refusal':
        return this.#one({ type: 'content', content: chunk.refusal });
      case 'source':
        return this.#event('source', { source: chunk.source });
      case 'reasoning': {
        const token = this.#thoughts.add(chunk.reasoning, chunk.vendor !== undefined);
        if (token === '') return '';
        const status = this.#isReasoning ? {} : { status: 'thinking' };
        this.#isReasoning = true;
        return this.#event('reasoning', { token, ...status });
      }
      case 'provider': {
        const { id, label, url, model } = chunk.provider;
        this.#provider = id;
        this.#model = model;
        const event = this.#event('provider', { provider: { name: id, url, label, model } });
        return event + this.#beside(this.#asides?.first);
      }
      case 'tool_call':
        this.#calls.add(chunk.tool_call);
        return this.#endReasoning();
      case 'media':
        return this.#endReasoning() + this.#event('content', mediaContent(chunk.media));
      case 'usage': {
        this.#usage = chunk.usage;
        const usage = encodeUsage(chunk.usage);
        return (
          this.#endReasoning() +
          this.#endCalls() +
          this.#beside(this.#asides?.beforeUsage) +
          this.#event('usage', { usage, model: this.#model, provider: this.#provider })
        );
      }
      case 'finish': {
        const event = this.#event('finish', { finish: { reason: chunk.finish } });
        return this.#endCalls() + this.#beside(this.#asides?.beforeFinish(chunk.finish, this.#usage)) + event;
      }
      case 'error':
        return this.#event('error', failure('error', chunk.error));
      case 'auth':
        return this.#event('auth', failure('auth', chunk.auth));
      case 'search':
      case 'item':
        return '';
      case 'parameters':
      case 'conversation':
      case 'preview':
      case 'suggestions':
      case 'title':
      case 'log': {
        const { type, ...payload } = chunk;
        return this.#event(type, payload);
      }
      default:
        return unreachable(chunk);
    }
  }

  /** An empty status tells the front end that the thinking is over. */
  #endReasoning(): string {
    if (!this.#isReasoning) return '';
    this.#isReasoning = false;
    return this.#event('reasoning', { token: '', status: '' });
  }

  /** All calls at once, when the answer is over: the front end runs tools, and one that was cut is no call. */
  #endCalls(): string {
    const calls = this.#calls.entries().map(([index, call]) => ({ index, ...wholeCall(call, this.#freeform) }));
    if (calls.length === 0) return '';
    this.#calls.clear();
    return this.#event('tool_calls', { tool_calls: calls });
  }

  #beside(asides: readonly Aside[] = []): string {
    return asides.map(({ type, payload }) => this.#event(type, { [type]: payload })).join('');
  }

  #event(type: string, payload: Json): string {
    const data = JSON.stringify({ type, ...payload });
    return this.#isBare ? `${data}\n` : `event: ${type}\ndata: ${data}\n\n`;
  }
}

function failure(key: 'error' | 'auth', { name, message, code, retryAfter }: ErrorInfo): Json {
  const pace = retryAfter === undefined ? {} : { retry_after: retryAfter };
  return { [key]: name, message: `${name}: ${message}`, code, ...pace };
}

/** Media as content: `urls` shows at once, the text is what stays in the message. */
function mediaContent(media: MediaRef): Json {
  const { kind, url, alt = '' } = media;
  return { content: mediaMarkup(media), urls: url, alt, ...(kind === 'audio' ? { data: url } : {}) };
}
