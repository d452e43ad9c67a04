import type { EmbeddedConfig, Limits } from './config.ts';
import type { LogLevel } from './kinds.ts';

const SECOND = 1_000;
const KB = 1_024;
const MB = 1_024 * KB;

/** Used where neither a flag, nor the environment, nor the file says otherwise. */
export const defaultLimits: Limits = {
  connectMs: 10 * SECOND,
  firstByteMs: 120 * SECOND,
  imageMs: 600 * SECOND,
  idleMs: 60 * SECOND,
  totalMs: 1_800 * SECOND,
  attempts: 3,
  retryWaitMs: 10 * SECOND,
  headerBytes: 16 * KB,
  urlBytes: 8 * KB,
  chatBodyBytes: 10 * MB,
  bodyBytes: 1 * MB,
  sharedChatBytes: 5 * MB,
  cookieFileBytes: 5 * MB,
  jsonDepth: 100,
  messages: 10_000,
  uploadFileBytes: 64 * MB,
  uploadRequestBytes: 256 * MB,
  uploadBucketBytes: 512 * MB,
  uploadParts: 100,
  uploadNameBytes: 255,
  unpackedBytes: 100 * MB,
  unpackedEntries: 1_000,
  unpackedRatio: 100,
  sseLineBytes: 8 * MB,
  answerBytes: 32 * MB,
  inflateBytes: 32 * MB,
  fetchBytes: 64 * MB,
  fetchMs: 30 * SECOND,
  fetchRedirects: 3,
  clientHeaderMs: 20 * SECOND,
  clientBodyIdleMs: 30 * SECOND,
  keepAliveMs: 65 * SECOND,
  upstreamKeepAliveMs: 30 * SECOND,
  streams: 5_000,
  streamsPerClient: 200,
  unattendedMs: 600 * SECOND,
  keptAnswerMs: 300 * SECOND,
  keptAnswerBytes: 4 * MB,
  keptAnswers: 200,
  keptAnswersPerClient: 50,
  keptResponses: 10_000,
  keptResponseDays: 30,
  keptUsageDays: 0,
  drainMs: 30 * SECOND,
  heartbeatMs: 15 * SECOND,
};

/** Loopback only: Sluice asks nobody for a key there. */
export const defaultBind = { host: '127.0.0.1', port: 1337 } as const;

/** Whoever is on this machine may ask for everything anyway. */
export const defaultTrustedProxies: readonly string[] = ['loopback'];

/** Requests that went well have no line of their own at this level, unless the access log wants them. */
export const defaultLogLevel: LogLevel = 'info';

/** `modelsDir` is missing here because it lies in the data directory. */
export const defaultEmbedded: Omit<EmbeddedConfig, 'modelsDir' | 'threads'> = { enabled: true, parallel: 2 };
