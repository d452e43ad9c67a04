import type { Call } from '../../core/call.ts';
import type { ChatRequest, WireFormat } from '../../core/chat.ts';
import type { Usage } from '../../core/chunk.ts';
import type { Provider } from '../../core/provider.ts';
import type { Connection, NativeApi, NativeContext, Reached, VendorDeps } from './adapter.ts';
import { thrownFailure } from './failure.ts';

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

/** Whether requests of clients of that format reach this provider's upstream as they are. */
export function speaks(provider: Provider, format: WireFormat): provider is NativeProvider {
  return 'speaks' in provider && provider.speaks === format;
}

/** What a provider does beside chatting whose vendor's own API is spoken; nothing for others. */
export function nativeOf(
  native: NativeApi | undefined,
  { limits }: Pick<VendorDeps, 'limits'>,
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
