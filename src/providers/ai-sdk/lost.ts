import type { ChatRequest } from '../../core/chat.ts';

/** Fields, by OpenAI's names, that a vendor's API has no place for and its library leaves out without a word. */

/** The detail in which a picture shall be seen; `auto` asks for nothing. */
export function lostDetail({ messages }: ChatRequest): readonly string[] {
  const isDetailed = messages.some(({ content }) =>
    content.some((part) => part.type === 'media' && part.detail !== undefined && part.detail !== 'auto'),
  );
  return isDetailed ? ['detail'] : [];
}

/** That a model shall call one tool at a time. */
export function lostOneCall({ parallelToolCalls, tools = [] }: ChatRequest): readonly string[] {
  return parallelToolCalls === false && tools.length > 0 ? ['parallel_tool_calls'] : [];
}
