import type { ObserveConfig } from '../observe/config.ts';
import type { SearchConfig } from '../search/config.ts';
import type { Bind } from './bind.ts';
import type { Choice, LogLevel, ProviderKind } from './kinds.ts';
import type { ProxyConfig } from './proxy.ts';

/** The whole configuration, frozen, as the rest of the program sees it. Only `config/` reads the environment and files. */

/** What all settings come to, from flags, environment, file and defaults. */
export interface Config {
  readonly bind: Bind;
  /** Absolute path. */
  readonly dataDir: string;
  /** Address of a database on a PostgreSQL server; undefined: SQLite, in the data folder. */
  readonly database?: string;
  /** The file it came from, if there is one: absolute path. */
  readonly file?: string;
  readonly logLevel: LogLevel;
  /** Processes that serve the one port. */
  readonly workers: number;
  /** Access key that every client must show; undefined: nobody is asked. */
  readonly key?: string;
  /** The key was made up for this start, so the start has to print it. */
  readonly keyGenerated?: true;
  /** Host names beside the loopback ones under which Sluice may be addressed (DNS rebinding guard). */
  readonly allowedHosts: readonly string[];
  /** Origins beside the loopback ones whose pages may call Sluice. */
  readonly allowedOrigins: readonly string[];
  /** Addresses and ranges of proxies in front that are believed when they say on whose behalf they ask. */
  readonly trustedProxies: readonly string[];
  /** Answers requests that name no provider. */
  readonly defaultProvider?: string;
  /** Used for requests that name neither model nor provider: a model, an alias or `provider/model`. */
  readonly defaultModel?: string;
  /** Whether to look for local servers (Ollama, LM Studio, …) on their usual loopback ports. */
  readonly detectLocal: boolean;
  readonly embedded: EmbeddedConfig;
  /** In order of preference: the file's own first, then those that a key in the environment switched on. */
  readonly providers: readonly ProviderConfig[];
  /** Known providers that nobody switched on: a client may use one with a key of its own. */
  readonly available: readonly ProviderConfig[];
  /** Ids that the file switches off with `enabled: false`; detection of local servers leaves them alone too. */
  readonly disabled?: readonly string[];
  /** Another name → the models it stands for, tried in order, each `provider/model` or a model's name. */
  readonly aliases: ReadonlyMap<string, readonly string[]>;
  readonly routing: RoutingConfig;
  readonly proxy: ProxyConfig;
  readonly search: SearchConfig;
  /** What is written down of requests; a change of the file counts from the next start on. */
  readonly observe: ObserveConfig;
  readonly limits: Limits;
}

/** How one of several targets that can do the same is chosen. */
export interface RoutingConfig {
  readonly choice: Choice;
  /** Shares of providers by id, for the weighted choice; absent: 1. */
  readonly weights: ReadonlyMap<string, number>;
  /** Aliases whose models are equals rather than a chain. */
  readonly aliases: ReadonlyMap<string, { readonly choice: Choice; readonly weights: ReadonlyMap<string, number> }>;
}

/** One upstream as it is to be used, with what its kind and its vendor's row add to what the operator wrote. */
export interface ProviderConfig {
  readonly id: string;
  readonly kind: ProviderKind;
  readonly label: string;
  readonly origin: 'file' | 'environment' | 'local';
  /** Absolute address without a trailing slash; undefined where the vendor's library knows it. */
  readonly baseUrl?: string;
  readonly apiKey?: string;
  /** Several keys that take turns, `apiKey` the first of them. */
  readonly apiKeys?: readonly string[];
  /** Whether the upstream refuses calls without a key. */
  readonly needsKey: boolean;
  /** The variable that would give the key; named when it is missing. */
  readonly keyVariable?: string;
  /** The header that carries the key: `authorization` (as a Bearer token) or a name such as `api-key`. */
  readonly keyHeader: string;
  /** The domain whose uploaded cookies go with every request; the provider is off until there are some. */
  readonly cookieDomain?: string;
  /** Sent with every request, for example OpenRouter's `X-Title`. */
  readonly headers: Readonly<Record<string, string>>;
  /** Models to offer; undefined: the upstream is asked. */
  readonly models?: readonly string[];
  readonly defaultModel?: string;
  /** Home page and the page where a person gets a key. */
  readonly url?: string;
  readonly loginUrl?: string;
  /** Whether the upstream's Responses API runs tools of its own; undefined: its address tells. */
  readonly hostedTools?: boolean;
  /** Vendor settings beside key and address, for example `region` of Bedrock. */
  readonly settings: Readonly<Record<string, string>>;
}

/** The model that runs on this machine. */
export interface EmbeddedConfig {
  readonly enabled: boolean;
  /** Folder whose `*.gguf` files are served beside the bundled model. Absolute path. */
  readonly modelsDir: string;
  /** Requests answered at the same time; further ones wait. */
  readonly parallel: number;
  /** Threads for inference; undefined: cores − 1, at least one. */
  readonly threads?: number;
}

/** All in milliseconds, bytes or counts. Defaults: `defaults.ts`. */
export interface Limits {
  readonly connectMs: number;
  readonly firstByteMs: number;
  /** The same for pictures and videos, which take longer. */
  readonly imageMs: number;
  readonly idleMs: number;
  /** A whole answer, from the request on. */
  readonly totalMs: number;
  /** Attempts upstream per request, all before the first visible chunk. */
  readonly attempts: number;
  /** Waiting between attempts, summed up. */
  readonly retryWaitMs: number;
  readonly headerBytes: number;
  readonly urlBytes: number;
  readonly chatBodyBytes: number;
  readonly bodyBytes: number;
  readonly sharedChatBytes: number;
  readonly cookieFileBytes: number;
  readonly jsonDepth: number;
  readonly messages: number;
  readonly uploadFileBytes: number;
  readonly uploadRequestBytes: number;
  readonly uploadBucketBytes: number;
  readonly uploadParts: number;
  readonly uploadNameBytes: number;
  /** What an archive or a zipped document unpacks to; also the longest text that is made of a file. */
  readonly unpackedBytes: number;
  /** Members of one. */
  readonly unpackedEntries: number;
  /** How many times its own size one may unpack to. */
  readonly unpackedRatio: number;
  readonly sseLineBytes: number;
  readonly answerBytes: number;
  readonly inflateBytes: number;
  /** Of an address from outside: media of an answer, a page, a picture in a request. */
  readonly fetchBytes: number;
  readonly fetchMs: number;
  readonly fetchRedirects: number;
  readonly clientHeaderMs: number;
  readonly clientBodyIdleMs: number;
  readonly keepAliveMs: number;
  readonly upstreamKeepAliveMs: number;
  readonly streams: number;
  readonly streamsPerClient: number;
  /** How long a resumable answer goes on that nobody reads. */
  readonly unattendedMs: number;
  /** How long one can be read again after its end, or after its last reader left. */
  readonly keptAnswerMs: number;
  /** Of each, so many of its newest bytes. */
  readonly keptAnswerBytes: number;
  /** Running ones included. */
  readonly keptAnswers: number;
  readonly keptAnswersPerClient: number;
  /** Answers of the Responses API that are stored. */
  readonly keptResponses: number;
  readonly keptResponseDays: number;
  /** 0: for ever. */
  readonly keptUsageDays: number;
  readonly drainMs: number;
  readonly heartbeatMs: number;
}
