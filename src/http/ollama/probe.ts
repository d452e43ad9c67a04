import type { Variant } from '../variant.ts';

/** How Ollama's own libraries and its command line call themselves. */
const OLLAMA_CLIENT = /^ollama\b/i;

/** What Ollama's own clients get in place of the page: they ask there whether it runs. */
export const ollamaProbe: Variant = {
  isFor: ({ headers }) => OLLAMA_CLIENT.test(headers['user-agent'] ?? ''),
  handler: async (_request, reply) =>
    reply.header('content-type', 'text/plain; charset=utf-8').send('Ollama is running'),
};
