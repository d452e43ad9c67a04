import type { Speaker } from './failure.ts';

/** Of a vendor, by name: `region` of Bedrock and the like. */
export type Settings = Readonly<Record<string, string>>;

/** Where and as whom to call a vendor. */
export interface Connection {
  readonly baseUrl: string;
  /** Empty when none is needed. To be handed to the library in any case: it would look into the environment else. */
  readonly apiKey: string;
  readonly headers: Record<string, string>;
  readonly settings: Settings;
  /** Throws `SluiceError`s, for error statuses too, and follows no redirects. */
  readonly fetch: typeof fetch;
}

/** Where and as whom a vendor is called for one request, and what it calls the models. */
export interface Reached {
  readonly connection: Connection;
  readonly who: Speaker;
  nameOf(model: string): string;
}
