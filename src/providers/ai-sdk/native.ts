import type { Call } from '../../core/call.ts';
import type { ChatRequest, WireFormat } from '../../core/chat.ts';
import type { Provider } from '../../core/provider.ts';

/** A provider that speaks a client's API to the end, so that such a client loses nothing on the way. */
export interface NativeProvider extends Provider {
  readonly speaks: WireFormat;
  /** The upstream's own count of a request's tokens. */
  countTokens(request: ChatRequest, call: Call): Promise<number>;
}

/** Whether requests of clients of that format reach this provider's upstream as they are. */
export function speaks(provider: Provider, format: WireFormat): provider is NativeProvider {
  return 'speaks' in provider && provider.speaks === format;
}
