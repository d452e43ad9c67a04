import type { Limits, ProviderConfig } from '../../config/config.ts';
import type { Call } from '../../core/call.ts';
import type { ChatRequest, WireFormat } from '../../core/chat.ts';
import type { Usage } from '../../core/chunk.ts';
import type { Provider } from '../../core/provider.ts';
import type { Answering } from './answering.ts';
import type { Connection, Reached } from './connection.ts';
import { type Speaker, thrownFailure } from './failure.ts';

/** A provider that speaks a client's API to the end, so that such a client loses nothing on the way. */
export interface NativeProvider extends Provider {
  readonly speaks: WireFormat;
  /** The upstream's own count of a request's tokens. */
  countTokens(request: ChatRequest, call: Call): Promise<number>;
  /** What the upstream itself makes of a long conversation; absent where its API has no way to ask for that. */
  compact?(request: ChatRequest, call: Call): Promise<Compacted>;
}

/** A conversation in short, as its vendor writes it. */
export interface Compacted {
  readonly answer: Readonly<Record<string, unknown>>;
  readonly usage?: Usage;
}

/** A vendor's own API, for clients that speak it too. */
export interface NativeApi {
  /** Whose requests it takes. Their `extra` holds the fields of the client's body that go to the vendor as they are. */
  readonly format: WireFormat;
  /** Which providers speak it to the end; absent: all of the vendor's. */
  isFor?(config: ProviderConfig): boolean;
  /** Asks for an answer as a stream; resolves with its head. */
  open(request: ChatRequest, connection: Connection, context: StreamContext): Promise<NativeAnswer>;
  /** The tokens of a request, counted by the vendor. */
  countTokens(request: ChatRequest, connection: Connection, context: NativeContext): Promise<number>;
  /** What the vendor makes of a long conversation, as far as its API does that; `limit`: bytes of the answer that are taken in. */
  compact?(request: ChatRequest, connection: Connection, context: NativeContext, limit: number): Promise<Compacted>;
}

/** `drop` notes a field of the client's that has no place in the vendor's API. */
export interface NativeContext {
  readonly speaker: Speaker;
  drop(field: string): void;
  readonly signal: AbortSignal;
}

/** For answers as a stream. */
export interface StreamContext extends NativeContext {
  /** Bytes that one event may have. */
  readonly eventBytes: number;
}

interface NativeAnswer {
  readonly answering: Answering;
  readonly headers: Readonly<Record<string, string>>;
}

/** Whether requests of clients of that format reach this provider's upstream as they are. */
export function speaks(provider: Provider, format: WireFormat): provider is NativeProvider {
  return 'speaks' in provider && provider.speaks === format;
}

/** What a provider does beside chatting whose vendor's own API is spoken; nothing for others. */
export function nativeOf(
  native: NativeApi | undefined,
  { limits }: { readonly limits: () => Pick<Limits, 'answerBytes'> },
  reach: (call: Call) => Reached,
): Partial<Pick<NativeProvider, 'speaks' | 'countTokens' | 'compact'>> {
  if (native === undefined) return {};
  type Ask<T> = (named: ChatRequest, connection: Connection, context: NativeContext) => Promise<T>;
  const asking =
    <T>(ask: Ask<T>) =>
    async (request: ChatRequest, call: Call): Promise<T> => {
      const { connection, who, nameOf } = reach(call);
      const named = { ...request, model: nameOf(request.model) };
      const { signal } = call;
      try {
        return await ask(named, connection, { speaker: who, drop: (field) => call.drop(field), signal });
      } catch (thrown) {
        throw call.cancelled ?? thrownFailure(who, thrown);
      }
    };
  const { format, countTokens, compact } = native;
  return {
    speaks: format,
    countTokens: asking((...asked) => countTokens(...asked)),
    ...(compact === undefined ? {} : { compact: asking((...asked) => compact(...asked, limits().answerBytes)) }),
  };
}
