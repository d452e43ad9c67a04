import { z } from 'zod';

const word = (longest: number) => z.string().max(longest).optional();

const MOMENT = /^(?:\d{1,15}|\d{4}-\d\d-\d\d(?:T[\d:.]+(?:Z|[+-]\d\d:?\d\d)?)?|[0-9a-f]{8}-[0-9a-f-]{27})$/;
/** A time becomes milliseconds, an id stays a text. */
const moment = z
  .string()
  .refine((text) => MOMENT.test(text) && (isId(text) || !Number.isNaN(timeOf(text))), {
    error: 'must be a time (ISO 8601, or milliseconds since 1970) or the id of an entry',
  })
  .optional()
  .transform((text) => (text === undefined || isId(text) ? text : timeOf(text)));

function isId(text: string): boolean {
  return text.length === 36 && text[8] === '-';
}

function timeOf(text: string): number {
  return /^\d+$/.test(text) ? Number(text) : Date.parse(text);
}

/** `GET requests` */
export const RequestsQuery = z.object({
  provider: word(256).describe('Of the answer, or of a failed attempt'),
  model: word(256).describe('Of the answer, of a failed attempt, or as it was asked for'),
  user: word(256),
  status: z
    .string()
    .toLowerCase()
    .regex(/^(?:ok|error|[1-5]xx|[1-5]\d\d)$/, 'must be ok, error, a status such as 429, or a class such as 5xx')
    .optional()
    .describe('ok, error, a status, or a class of them such as 5xx'),
  text: word(1_000).describe('Part of id, route, user, model, provider or error; of the content too where it is kept'),
  before: moment.describe('Only older ones: a time, or the id of an entry'),
  after: moment.describe('Only newer ones: a time, or the id of an entry'),
  limit: z.coerce.number().int().min(1).max(1_000).default(50),
});

const milliseconds = z.number().nonnegative();

/** A request as the log shows it, without what was said. */
export const LoggedRequest = z.object({
  id: z.string().describe("The request's id, which the client has in x-request-id"),
  time: z.string().describe('When it began'),
  method: z.string(),
  route: z.string(),
  dialect: z.string().describe('backend, openai, responses, anthropic, gemini or ollama'),
  operation: z
    .string()
    .describe('chat, completion, image, speech, transcription, embedding, rerank, moderation or count_tokens'),
  user: z.string(),
  asked: z.string().nullable().describe('The model as the client named it'),
  provider: z.string().nullable().describe('Who answered'),
  model: z.string().nullable(),
  status: z.int().describe('499: the client left before the end'),
  error: z.object({ code: z.string(), name: z.string(), message: z.string().nullable() }).nullable(),
  stream: z.boolean(),
  first_chunk_ms: milliseconds.nullable(),
  duration_ms: milliseconds,
  usage: z
    .object({
      prompt_tokens: z.number(),
      completion_tokens: z.number(),
      total_tokens: z.number(),
      cached_tokens: z.number(),
      cache_write_tokens: z.number(),
      reasoning_tokens: z.number(),
      estimated: z.boolean(),
    })
    .nullable(),
  cost: z.number().nullable().describe('US dollars; null: no price is known'),
  attempts: z.int(),
  failed_attempts: z.array(
    z.object({
      provider: z.string(),
      model: z.string(),
      code: z.string(),
      status: z.int(),
      duration_ms: milliseconds,
    }),
  ),
  has_content: z.boolean().describe('Whether request and answer are kept too'),
});
export type LoggedRequest = z.infer<typeof LoggedRequest>;

/** `GET requests` */
export const RequestPage = z.object({
  requests: z.array(LoggedRequest).describe('The newest first'),
  total: z.int().describe('All that match'),
  kept: z.int().describe('All that there are'),
  next: z.string().nullable().describe('What to give as `before` for the next page'),
  mode: z.enum(['none', 'meta', 'full']),
});

/** `GET requests/<id>`. `request` and `answer` are null where their content was not kept. */
export const WholeRequest = LoggedRequest.extend({
  request: z.object({ body: z.unknown(), truncated: z.boolean() }).nullable(),
  answer: z
    .object({
      text: z.string(),
      reasoning: z.string(),
      tool_calls: z.array(z.object({ name: z.string(), arguments: z.string() })),
      truncated: z.boolean(),
    })
    .nullable(),
});

/** `DELETE requests`: how many there were. */
export const CountAnswer = z.object({ count: z.int() });

/** `GET /health`: the process answers, whether it can serve or not. */
export const HealthAnswer = z.object({ status: z.literal('ok') });

/** `GET /ready`: 200 where `status` is `ready`, else 503. */
export const ReadyAnswer = z.object({
  status: z.enum(['ready', 'starting', 'draining', 'storage_failed']),
  message: z.string().optional().describe('What is in the way'),
});
export type ReadyAnswer = z.infer<typeof ReadyAnswer>;
