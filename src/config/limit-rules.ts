import type { Limits } from './config.ts';

/** What a limit is and which values make sense. */
export interface LimitRule {
  readonly about: string;
  readonly unit: 'milliseconds' | 'bytes' | 'count';
  readonly least: number;
  readonly most: number;
}

/** The longest wait of a timer: one millisecond more and it fires at once (setTimeout's 32 bits). */
const LONGEST_WAIT = 2_147_483_647;
/** What is held in memory as one string must stay below V8's 512 MB. */
const LARGEST_TEXT = 500 * 1_024 * 1_024;
const LARGEST_FILE = 1_024 ** 4;

const wait = (about: string, least = 1): LimitRule => ({ about, unit: 'milliseconds', least, most: LONGEST_WAIT });
const size = (about: string, most = LARGEST_TEXT): LimitRule => ({ about, unit: 'bytes', least: 1, most });
const count = (about: string, most: number): LimitRule => ({ about, unit: 'count', least: 1, most });

/** In the order in which the schema lists them. */
export const limitRules: Readonly<Record<keyof Limits, LimitRule>> = {
  connectMs: wait('Connecting to an upstream; over it: 504 or the next provider.'),
  firstByteMs: wait('From the request to the first byte of the answer; over it: 504 or the next provider.'),
  imageMs: wait('Silence of an upstream that makes a picture or a video; over it: 504 or the next provider.'),
  idleMs: wait('Silence between two pieces of an answer; over it: an error in the stream.'),
  totalMs: wait('A whole answer, from the request on.'),
  attempts: count('Attempts upstream per request, all before the first visible piece of the answer.', 20),
  retryWaitMs: wait('Waiting between the attempts of one request, summed up; 0: no waiting.', 0),
  headerBytes: size('All headers of a request; over it: 431. Needs a restart.', 1_024 * 1_024),
  urlBytes: size('Path and query of a request; over it: 414.', 1_024 * 1_024),
  chatBodyBytes: size(
    'Body of a request to a model, inline images included; over it: 413. Texts to be read aloud have `bodyBytes`.',
  ),
  bodyBytes: size('Body of any other JSON request, and a field of an upload form; over it: 413.'),
  sharedChatBytes: size('Body of a shared chat, which holds whole conversations; over it: 413.'),
  cookieFileBytes: size('An uploaded file of cookies; over it: 413.'),
  jsonDepth: count('Nesting of a JSON body; over it: 400.', 1_000),
  messages: count('Messages in one request; over it: 400, or 422 in the formats of OpenAI.', 1_000_000),
  uploadFileBytes: size('One uploaded file; over it: 413.', LARGEST_FILE),
  uploadRequestBytes: size('All files of one upload; over it: 413.', LARGEST_FILE),
  uploadBucketBytes: size('Everything in one bucket; over it: 413.', LARGEST_FILE),
  uploadParts: count('Parts of one upload; over it: 400.', 10_000),
  uploadNameBytes: size('Name of an uploaded file; over it: 400.', 255),
  unpackedBytes: size(
    'What an archive or a zipped document unpacks to, and the text of any; over it the file is refused (422).',
  ),
  unpackedEntries: count('Files in an archive or a zipped document; over it the file is refused (422).', 100_000),
  unpackedRatio: count(
    'How many times its size a zipped file unpacks to, from 1 MB on; over it the file is refused (422).',
    100_000,
  ),
  sseLineBytes: size('One event of a stream from an upstream; over it: an error.'),
  answerBytes: size('An answer that is not streamed; over it: 502.'),
  inflateBytes: size('A compressed answer from an upstream, unpacked; over it: 502.'),
  fetchBytes: size(
    'What is fetched from an address in an answer, a request or a page; over it: media stay where they are.',
    LARGEST_FILE,
  ),
  fetchMs: wait('The same from the lookup of its name to its last byte.'),
  fetchRedirects: { about: 'Redirects that are followed for it; 0: none.', unit: 'count', least: 0, most: 20 },
  clientHeaderMs: wait('A client sending its headers; over it: 408.'),
  clientBodyIdleMs: wait('Silence while a client sends its body; over it: 408.'),
  keepAliveMs: wait('An idle connection from a client stays open this long.'),
  upstreamKeepAliveMs: wait('An idle connection to an upstream stays open at most this long.'),
  streams: count('Answers streamed at the same time; over it: 503.', 1_000_000),
  streamsPerClient: count(
    'Answers streamed at the same time to one client; over it: 429. Programs on this machine count as none.',
    1_000_000,
  ),
  unattendedMs: wait('A resumable answer that nobody reads goes on this long; then it is stopped.'),
  keptAnswerMs: wait('A resumable answer is kept this long after its end, or after its last reader left.'),
  keptAnswerBytes: size('Newest bytes of a resumable answer that are kept; for older ones: 410.'),
  keptAnswers: count('Resumable answers kept at the same time; over it, with none that could go: 503.', 100_000),
  keptAnswersPerClient: count('The same for one client; over it: 429.', 100_000),
  keptResponses: {
    about:
      'Answers of the Responses API that are stored, about; over it the oldest go. 0: none is stored, and no conversation either.',
    unit: 'count',
    least: 0,
    most: 10_000_000,
  },
  keptResponseDays: count(
    'Days after which a stored answer of the Responses API is forgotten, counted from the last one that goes on from it.',
    36_500,
  ),
  keptUsageDays: {
    about:
      'Days after which records of usage are removed, all sums by day, and entries of the request log. 0: usage is kept for ever.',
    unit: 'count',
    least: 0,
    most: 36_500,
  },
  drainMs: wait('Running answers may finish this long after a stop was asked for; then they are cut.'),
  heartbeatMs: wait('Silence in an event stream after which a comment line keeps it alive.'),
};

/** What a limit may be, in words. */
export function allowedFor(rule: LimitRule): string {
  const what = rule.unit === 'count' ? 'a whole number' : `a whole number of ${rule.unit}`;
  return `${what} from ${rule.least} to ${rule.most}`;
}
