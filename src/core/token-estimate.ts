import type { ChatRequest } from './chat.ts';

/** What vendors count for a picture of ordinary size, about. */
const MEDIA_TOKENS = 258;

/**
 * About how many tokens a request's prompt has, where no upstream is asked: four bytes are about one token of English, and
 * every message costs four more.
 */
export function estimatePromptTokens({ messages, tools }: Pick<ChatRequest, 'messages' | 'tools'>): number {
  let tokens = 1;
  for (const message of messages) {
    tokens += 4;
    for (const part of message.content) {
      if (part.type === 'text' || part.type === 'reasoning') tokens += textTokens(part.text);
      else if (part.type === 'media') tokens += MEDIA_TOKENS;
    }
    if (message.role !== 'assistant') continue;
    for (const call of message.toolCalls ?? []) tokens += textTokens(call.name) + textTokens(call.arguments);
  }
  for (const { name, description = '', parameters } of tools ?? []) {
    tokens += textTokens(name) + textTokens(description) + textTokens(JSON.stringify(parameters ?? {}));
  }
  return tokens;
}

function textTokens(text: string): number {
  return Math.ceil(Buffer.byteLength(text) / 4);
}
