import type { ChatRequest, Message } from '../../core/chat.ts';
import type { Target } from '../../routing/select.ts';

/** What an API gets that begins a new message whatever stands last. */
const GO_ON =
  'Your last answer was cut off. Go on with it exactly where it ends, so that both parts read as one text: ' +
  'begin with the very next character, repeat nothing, and say nothing about going on.';

/** What the front end's buttons ask for. */
export type Action = 'next' | 'variant' | 'continue';

/**
 * What an `action` makes of the messages. `variant` wants another answer to the same question, so the answer that there is
 * does not count; `continue` wants more of the last answer, which is then the last message. Without an answer to go on with,
 * and for any other word, it is `next`.
 */
export function withAction(
  action: string | null | undefined,
  messages: readonly Message[],
): { readonly action: Action; readonly messages: readonly Message[] } {
  const last = messages.at(-1);
  if (action === 'variant') {
    const end = messages.findLastIndex((message) => !isAnswer(message)) + 1;
    return { action, messages: end === 0 ? messages : messages.slice(0, end) };
  }
  if (action !== 'continue' || last === undefined || !isAnswer(last)) return { action: 'next', messages };
  const content = last.content.map((part) =>
    part.type === 'text' ? { ...part, text: withoutSources(part.text) } : part,
  );
  const said = content.some((part) => part.type !== 'text' || part.text.trim() !== '');
  return said
    ? { action, messages: [...messages.slice(0, -1), { ...last, content }] }
    : { action: 'next', messages: messages.slice(0, -1) };
}

/** Without the list of sources that a web search puts behind an answer, even behind one that was cut. */
function withoutSources(text: string): string {
  const said = text.trimEnd();
  const start = said.lastIndexOf('\n\n> [1] [');
  if (start === -1) return text;
  const list = said.slice(start + 2).split('\n');
  return list.every((line) => line.startsWith('>')) ? said.slice(0, start) : text;
}

/** A message of the assistant that is only words: one with calls waits for their results. */
function isAnswer(message: Message): boolean {
  return message.role === 'assistant' && (message.toolCalls ?? []).length === 0;
}

/**
 * The request for an answer that goes on. Some go on where a message of the assistant ends; other APIs
 * refuse such a conversation (Mistral, newer Claude models) or begin anew (OpenAI), so they are told what to do.
 */
export function goingOn(request: ChatRequest, { provider }: Target): ChatRequest {
  if (provider.continues === true) return request;
  return { ...request, messages: [...request.messages, { role: 'user', content: [{ type: 'text', text: GO_ON }] }] };
}
