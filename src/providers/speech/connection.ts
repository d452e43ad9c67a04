/** What a vendor's library is opened with, anew for each request, since the key may be the client's. */
export interface SpeechConnection {
  readonly apiKey: string;
  readonly headers: Record<string, string>;
  readonly fetch: typeof fetch;
}

/** What each provider that speaks or listens is made with: `fetch` is the gateway's own client towards upstreams. */
export interface SpeechDeps {
  readonly fetch: typeof fetch;
}
