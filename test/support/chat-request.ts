import type { ChatRequest, Message } from '../../src/core/chat.ts';

/** A request for tests. A text stands for one message of the user. */
export function chatRequest(messages: string | readonly Message[], fields: Partial<ChatRequest> = {}): ChatRequest {
  return {
    model: 'test-model',
    providers: [],
    ignored: [],
    messages: typeof messages === 'string' ? [{ role: 'user', content: [{ type: 'text', text: messages }] }] : messages,
    sampling: {},
    downloadMedia: false,
    extra: {},
    ...fields,
  };
}
