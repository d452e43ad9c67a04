import type { CallScope } from '../../core/call.ts';
import { type ChatRequest, MOST_CHOICES } from '../../core/chat.ts';
import type { Batch, Chunk, Usage } from '../../core/chunk.ts';
import { SluiceError } from '../../core/errors.ts';
import { sumUsages } from '../../core/usage.ts';
import { noteRateLimits, rateLimitsOf } from '../../outbound/rate-limits.ts';
import { openChunks } from '../../routing/chunks.ts';
import type { Summary } from '../../routing/relayed.ts';
import type { Target } from '../../routing/select.ts';
import type { Deps } from '../deps.ts';
import { furtherFields } from '../task-fields.ts';
import { toChatFields } from '../to-chat.ts';
import { CompletionBody } from './completion-body.ts';
import { type CompletionHead, completionHead } from './encode.ts';
import { interleaved } from './merge.ts';

const KNOWN = Object.keys(CompletionBody.shape);
/** What a chat has no place for. */
const LOST = ['suffix', 'logprobs', 'best_of'] as const;

/** One choice of the answer that is coming. */
interface Choice {
  readonly prompt: string;
  readonly chunks: AsyncIterable<Batch>;
}

/** A completion that chats make, from their first visible chunks on. */
export interface ChatCompletion {
  readonly head: CompletionHead;
  readonly choices: readonly Choice[];
}

/**
 * Answers a completion by chats: each prompt is the only message of one, as the user's, without any instruction. Every choice is
 * a chat of its own. `echo` is done here; `suffix`, `logprobs` and `best_of` have no place in a chat.
 */
export async function completeByChat(
  body: CompletionBody,
  target: Target,
  scope: CallScope,
  deps: Deps,
): Promise<ChatCompletion> {
  for (const field of LOST) if (body[field] != null) scope.drop(field);
  const { n } = body;
  const prompts = promptsOf(body.prompt).flatMap((prompt) => Array.from({ length: n ?? 1 }, () => prompt));
  if (prompts.length > MOST_CHOICES) {
    throw new SluiceError('invalid_request', `A request may ask for ${MOST_CHOICES} choices.`, { param: 'n' });
  }
  const begin = async (prompt: string): Promise<Choice> => {
    const own = scope.fork();
    const onEnd = ({ usage }: Summary): void => {
      if (usage !== undefined) deps.router.spent(target, usage, own);
    };
    const request = toChat(body, prompt, target);
    const opened = await openChunks(target, request, own, deps.deadlines, deps.config().limits, onEnd);
    for (const field of own.dropped) scope.drop(field);
    noteRateLimits(scope, rateLimitsOf(own));
    return { prompt, chunks: opened.chunks };
  };
  return {
    head: completionHead(target.provider.id, target.model),
    choices: await Promise.all(prompts.map(begin)),
  };
}

function promptsOf(prompt: CompletionBody['prompt']): readonly string[] {
  // What OpenAI takes a missing prompt for: the beginning of a document.
  if (prompt == null) return [''];
  const prompts = typeof prompt === 'string' ? [prompt] : prompt;
  if (prompts.every((each) => typeof each === 'string')) return prompts as readonly string[];
  throw new SluiceError(
    'invalid_request',
    'This provider answers completions by chat, where tokens are not understood: send the prompt as text.',
    { param: 'prompt' },
  );
}

function toChat(body: CompletionBody, prompt: string, { provider, model }: Target): ChatRequest {
  return {
    model,
    providers: [provider.id],
    ignored: [],
    messages: [{ role: 'user', content: [{ type: 'text', text: prompt }] }],
    ...toChatFields(body),
    downloadMedia: false,
    extra: { ...furtherFields(body, KNOWN), ...(body.user == null ? {} : { user: body.user }) },
  };
}

/** The whole answer. */
export async function encodeWhole({ head, choices }: ChatCompletion, { echo }: CompletionBody): Promise<object> {
  const usages: Usage[] = [];
  const answers = await Promise.all(
    choices.map(async ({ prompt, chunks }, index) => {
      let text = echo === true ? prompt : '';
      let finish = 'stop';
      for await (const batch of chunks) {
        for (const chunk of batch) {
          text += textOf(chunk);
          if (chunk.type === 'finish') finish = chunk.finish;
          if (chunk.type === 'usage') usages.push(chunk.usage);
        }
      }
      return choice(index, text, finish);
    }),
  );
  return { ...answer(head, answers), usage: usageOf(usages) };
}

/** The same as events, in the order in which the choices grow. */
export async function* encodeEvents(
  { head, choices }: ChatCompletion,
  { echo, stream_options: options }: CompletionBody,
): AsyncGenerator<string, void> {
  const usages: Usage[] = [];
  if (echo === true)
    for (const [index, { prompt }] of choices.entries()) yield event(head, [choice(index, prompt, null)]);
  for await (const [index, batch] of interleaved(choices.map(({ chunks }) => chunks))) {
    let text = '';
    for (const chunk of batch) {
      text += textOf(chunk);
      if (chunk.type === 'usage') usages.push(chunk.usage);
    }
    if (text !== '') yield event(head, [choice(index, text, null)]);
    for (const chunk of batch) if (chunk.type === 'finish') yield event(head, [choice(index, '', chunk.finish)]);
  }
  if (options?.include_usage === true) yield event(head, [], { usage: usageOf(usages) });
  yield 'data: [DONE]\n\n';
}

/** What a model says when it refuses is text as well: the format has no other place for it. */
function textOf(chunk: Chunk): string {
  if (chunk.type === 'refusal') return chunk.refusal;
  return chunk.type === 'content' ? chunk.content : '';
}

function event(head: CompletionHead, choices: readonly object[], more: object = {}): string {
  return `data: ${JSON.stringify({ ...answer(head, choices), ...more })}\n\n`;
}

function answer({ id, created, model, provider }: CompletionHead, choices: readonly object[]): object {
  return { id: id.replace(/^chatcmpl-/, 'cmpl-'), object: 'text_completion', created, model, provider, choices };
}

function choice(index: number, text: string, finish: string | null): object {
  return { text, index, logprobs: null, finish_reason: finish };
}

function usageOf(usages: readonly Usage[]): object {
  const { promptTokens, completionTokens, totalTokens } = sumUsages(usages);
  return { prompt_tokens: promptTokens, completion_tokens: completionTokens, total_tokens: totalTokens };
}
