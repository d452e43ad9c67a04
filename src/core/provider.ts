import type { Call, Credentials } from './call.ts';
import type { ChatRequest } from './chat.ts';
import type { Batch } from './chunk.ts';
import type { EmbeddingRequest, Embeddings } from './embedding.ts';
import type { SluiceError } from './errors.ts';
import type { ImageAnswer, ImageRequest, ImageWatcher } from './image.ts';
import type { JsonAnswer, JsonRequest } from './json-task.ts';
import type { Model } from './model.ts';
import type { Ranking, RerankRequest } from './rerank.ts';
import type { Speech, SpeechFormat, SpeechRequest, Voice } from './speech.ts';
import type { Transcribed, TranscriptionRequest } from './transcription.ts';

/** What a provider needs before it can be called. */
export type AuthNeed =
  | { readonly kind: 'none' }
  | {
      readonly kind: 'api_key';
      /** The environment variable that switches the provider on. */
      readonly variable?: string;
      /** Whether configuration or the environment gave a key. */
      readonly configured: boolean;
    }
  | {
      readonly kind: 'cookies';
      /** The domain whose cookies are needed. */
      readonly domain: string;
      /** Whether there are any now. */
      readonly configured: boolean;
    };

/** What a provider may be asked to do: the names of its optional methods. */
export type Ability = 'chat' | 'speech' | 'image' | 'transcribe' | 'embed' | 'moderate' | 'rerank';

/** How a provider came to be on. Also the order in which the automatic choice prefers them. */
export type Origin = 'file' | 'environment' | 'local' | 'embedded';

/**
 * Our object for one upstream. What it can do is what it implements. A provider throws `SluiceError`;
 * routing turns that into status codes and chunks.
 */
export interface Provider {
  /** Name in requests: lower case letters, digits, `-`, `_`, `.`. */
  readonly id: string;
  readonly label: string;
  readonly origin: Origin;
  readonly auth: AuthNeed;
  /** The configured keys, where there are several that take turns. */
  keys?(): readonly string[];
  /** Home page, shown to people. */
  readonly url?: string;
  /** Where a person gets a key. */
  readonly loginUrl?: string;
  /** Used when the client names no model; without it the first chat model of the listing. */
  readonly defaultModel?: string;
  /** The models that the operator named; absent: the upstream is asked. */
  readonly configuredModels?: readonly string[];
  /** The models it offers now. Throws when the upstream cannot be asked. */
  models(credentials: Credentials, signal: AbortSignal): Promise<readonly Model[]>;
  /**
   * Answers in batches; returns after `finish`. Stops at once when `call.signal` aborts. Back-pressure is the pull:
   * whatever is behind it must pause while nobody asks for the next batch.
   */
  chat?(request: ChatRequest, call: Call): AsyncIterable<Batch>;
  /** `chat` goes on where a message of the assistant at the end stops. Most upstreams refuse such a conversation, or begin anew. */
  readonly continues?: true;
  /** What is left of the account that the credentials belong to: the upstream's own JSON object, as it came. */
  quota?(credentials: Credentials, signal: AbortSignal): Promise<string>;
  /** Reads a text aloud. Resolves with the first bytes; stops at once when `call.signal` aborts. */
  speech?(request: SpeechRequest, call: Call): Promise<Speech>;
  /** The formats that `speech` knows, its favourite first. */
  readonly speechFormats?: readonly SpeechFormat[];
  /** The voices that `speech` can be asked for, its default first; absent where only the upstream knows them. */
  readonly voices?: readonly Voice[];
  /** Draws, or makes a video. Stops at once when `call.signal` aborts, and calls off what runs upstream where there is a way. */
  image?(request: ImageRequest, call: Call, watcher: ImageWatcher): Promise<ImageAnswer>;
  /** Writes down what a recording says. Resolves with the first event or the whole; stops at once when `call.signal` aborts. */
  transcribe?(request: TranscriptionRequest, call: Call): Promise<Transcribed>;
  /** Turns texts into vectors, however many there are. */
  embed?(request: EmbeddingRequest, call: Call): Promise<Embeddings>;
  /** Says whether texts or pictures are harmful. */
  moderate?(request: JsonRequest, call: Call): Promise<JsonAnswer>;
  /** Orders documents by how well they fit a question. */
  rerank?(request: RerankRequest, call: Call): Promise<Ranking>;
  /** Goes on with a text that is no conversation; `not_supported` where only `chat` will do. */
  complete?(request: JsonRequest, call: Call): Promise<JsonAnswer>;
  /** Present when the upstream speaks the OpenAI wire format, so that bytes can be passed through. */
  readonly relay?: Relay;
  close?(): Promise<void>;
}

/** Uploaded cookies, as far as providers may see them. */
export interface ProviderCookies {
  /** The `Cookie` header for an address; undefined when no cookie belongs there. */
  header(url: URL): string | undefined;
}

/** Models of which an upstream wants some requests over another of its APIs. */
export interface Detours {
  /** Whether requests for this model are not to be relayed: `chat` knows where to send each. */
  has(model: string): boolean;
  /** Whether a failure says that the request belongs to the other API, so that `chat` will do. It is remembered for the model. */
  learn(model: string, failure: SluiceError): boolean;
}

/** Where bytes of the OpenAI wire format go. */
export interface Relay {
  /** Absent: every request can be relayed. */
  readonly detours?: Detours;
  /** Streams tell the usage without `stream_options`, which the upstream refuses. */
  readonly countsUnasked?: boolean;
  /** A request with a JSON Schema for its answer is refused, and has to be decoded. */
  readonly takesNoSchemas?: boolean;
  /**
   * A message in the form in which a model of the upstream takes it: the same object where there is nothing to change. `drop` hears
   * of what has no place there.
   */
  readonly taken?: <T extends { readonly role: string }>(message: T, model: string, drop: (field: string) => void) => T;
  /** Whether a failure says how messages of a model are to be taken from now on, so that the same request may succeed. */
  learn?(model: string, failure: SluiceError): boolean;
  /** Address and headers of an endpoint such as `/chat/completions`, with the credentials of the call. */
  target(endpoint: string, credentials: Credentials): RelayTarget;
}

/** Where a relayed request goes; its credentials are among the headers. */
export interface RelayTarget {
  readonly origin: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** Whether a provider can be called without a key from the client. */
export function isReady(provider: Provider): boolean {
  return provider.auth.kind === 'none' || provider.auth.configured;
}
