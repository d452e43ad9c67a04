/** For tests; no part of the built page. */
import type { LoggedRequest } from './observe.ts';

/** A chat as the server's log has it. Tests say beside it what they look for. */
export const LOGGED_CHAT: LoggedRequest = {
  id: '5a1f0c1e-0000-4000-8000-000000000000',
  time: '2026-11-20T18:00:00.000Z',
  method: 'POST',
  route: '/v1/chat/completions',
  dialect: 'openai',
  operation: 'chat',
  user: 'unknown',
  asked: 'gpt-4o',
  provider: 'openai',
  model: 'gpt-4o',
  status: 200,
  error: null,
  stream: false,
  first_chunk_ms: null,
  duration_ms: 5,
  usage: null,
  cost: null,
  attempts: 1,
  failed_attempts: [],
  has_content: true,
};
