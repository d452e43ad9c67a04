export interface SpeechConnection {
  readonly apiKey: string;
  readonly headers: Record<string, string>;
  readonly fetch: typeof fetch;
}

export interface SpeechDeps {
  readonly fetch: typeof fetch;
}
