/** Fields that some services answer with an error, where most pass over what they do not know. */
export type RefusedField = 'top_k' | MessageExtra;

/** What answers of some vendors have beside text and calls. Clients hand it back, also to others, and it can be left out. */
export type MessageExtra = (typeof MESSAGE_EXTRAS)[number];
/** As they are called in a message, and in the complaint of a service that refuses one. */
export const MESSAGE_EXTRAS = [
  'reasoning_content',
  'reasoning_details',
  'reasoning',
  'refusal',
  'annotations',
  'images',
  // Of a tool call: Gemini's signature of it.
  'extra_content',
] as const;

/** What one service takes otherwise than most that speak this wire format. */
export interface Service {
  readonly refuses?: ReadonlySet<RefusedField>;
  /** An answer that comes back without the thoughts that led to it is refused. */
  readonly wantsThoughts?: true;
  /** Its streams tell the usage unasked, and `stream_options` is refused. */
  readonly countsUnasked?: true;
  /** Takes the role `developer`, which most refuse or pass over: to them these instructions are the system's. */
  readonly knowsDeveloper?: true;
  /** Ids of tool calls have nine letters and digits; others, as of a conversation that went on elsewhere before, are refused. */
  readonly hasShortIds?: true;
  /** Knows JSON as the form of an answer, and refuses a schema of it. */
  readonly takesNoSchemas?: true;
  /** Fetches a file whose address stands where its data belong. */
  readonly fetchesFiles?: true;
}

/** By the end of their host: they are the same under every id. */
const SERVICES: readonly (readonly [host: string, service: Service])[] = [
  ['api.openai.com', { refuses: new Set(['top_k']), knowsDeveloper: true }],
  ['.openai.azure.com', { refuses: new Set(['top_k']), knowsDeveloper: true }],
  ['api.groq.com', { refuses: new Set(['top_k', 'reasoning_content']) }],
  ['api.cerebras.ai', { refuses: new Set(['reasoning_content']) }],
  // https://api-docs.deepseek.com/guides/json_mode
  ['api.deepseek.com', { takesNoSchemas: true }],
  // https://openrouter.ai/docs/features/multimodal/pdfs
  ['openrouter.ai', { fetchesFiles: true }],
  ['.mistral.ai', { refuses: new Set(MESSAGE_EXTRAS), countsUnasked: true, hasShortIds: true }],
];

/** A service of which nothing is known. */
export const USUAL_SERVICE: Service = {};

/** What is known of the service at a host. */
export function serviceAt(host: string): Service {
  return SERVICES.find(([end]) => host.endsWith(end))?.[1] ?? USUAL_SERVICE;
}
