import type { Dialect, Operation, RouteKind } from './observation.ts';

/** How a path ends, and what is asked there. */
const ENDINGS: readonly (readonly [end: string, dialect: Dialect, operation: Operation])[] = [
  ['/chat/completions', 'openai', 'chat'],
  ['/completions', 'openai', 'completion'],
  ['/embeddings', 'openai', 'embedding'],
  ['/moderations', 'openai', 'moderation'],
  ['/rerank', 'openai', 'rerank'],
  ['/audio/speech', 'openai', 'speech'],
  ['/audio/transcriptions', 'openai', 'transcription'],
  ['/audio/translations', 'openai', 'transcription'],
  ['/images/generations', 'openai', 'image'],
  ['/images/generate', 'openai', 'image'],
  ['/images/edits', 'openai', 'image'],
  ['/images/variations', 'openai', 'image'],
  ['/media/generate', 'openai', 'image'],
  ['/responses', 'responses', 'chat'],
  ['/messages', 'anthropic', 'chat'],
  ['/messages/count_tokens', 'anthropic', 'count_tokens'],
];

/** Whole routes that the endings would mistake or miss. */
const ROUTES: Readonly<Record<string, RouteKind>> = {
  'POST /backend-api/v2/conversation': { dialect: 'backend', operation: 'chat' },
  'GET /backend-api/v2/create': { dialect: 'backend', operation: 'chat' },
  'GET /backend-api/v2/synthesize/:provider': { dialect: 'backend', operation: 'speech' },
  'POST /api/chat': { dialect: 'ollama', operation: 'chat' },
  'POST /api/generate': { dialect: 'ollama', operation: 'completion' },
  'POST /api/embed': { dialect: 'ollama', operation: 'embedding' },
  'POST /api/embeddings': { dialect: 'ollama', operation: 'embedding' },
  'POST /v1beta/models/*': { dialect: 'gemini', operation: 'chat' },
  'POST /v1/models/*': { dialect: 'gemini', operation: 'chat' },
};

/** What is asked of models at a route; undefined: nothing. */
export function kindOf(method: string, route: string): RouteKind | undefined {
  const whole = ROUTES[`${method} ${route}`];
  if (whole !== undefined || method !== 'POST') return whole;
  for (const [end, dialect, operation] of ENDINGS) if (route.endsWith(end)) return { dialect, operation };
  return undefined;
}

const COUNTING: RouteKind = { dialect: 'gemini', operation: 'count_tokens' };
const CHATTING = /:(?:generateContent|streamGenerateContent)$/;

/** The same for one request: at Google's routes the address says what is to be done. */
export function kindOfRequest(kind: RouteKind | undefined, url: string): RouteKind | undefined {
  if (kind?.dialect !== 'gemini') return kind;
  // A colon may come escaped.
  const path = (url.split('?', 1)[0] ?? '').replaceAll(/%3a/gi, ':');
  if (path.endsWith(':countTokens')) return COUNTING;
  // Without a method that there is, an address of /v1 means the model itself, whose name may have colons.
  const method = path.startsWith('/v1/') ? CHATTING : /:\w+$/;
  return method.test(path) ? kind : undefined;
}
