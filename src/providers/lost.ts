import type { ChatRequest, Part, Sampling, VendorData } from '../core/chat.ts';
import { isObject } from '../core/objects.ts';

/** Fields, by OpenAI's names, that some upstreams have no place for. */

/** Whether a field that only some upstream understands asks for nothing: generated clients write out what they do not want. */
export function saysNothing(field: string, value: unknown): boolean {
  return (
    value === null ||
    (value === false && (field === 'logprobs' || field === 'store')) ||
    (field === 'logit_bias' && isObject(value) && Object.keys(value).length === 0)
  );
}

/** The same of how to choose words: what clients write out to leave the choice as it is. Models that take no other value do just that. */
export function leavesChoice(field: string, { sampling }: ChatRequest): boolean {
  return CHOICES.get(field)?.(sampling) === true;
}

const CHOICES: ReadonlyMap<string, (sampling: Sampling) => boolean> = new Map([
  ['temperature', ({ temperature }) => temperature === 1],
  ['top_p', ({ topP }) => topP === 1],
  ['presence_penalty', ({ presencePenalty }) => presencePenalty === 0],
  ['frequency_penalty', ({ frequencyPenalty }) => frequencyPenalty === 0],
]);

/** Where Anthropic is to end a cache. */
export function lostCacheMarks({ messages, tools = [] }: ChatRequest): readonly string[] {
  const parts = messages.flatMap(({ content }) => content);
  const isCached = (item: { readonly vendor?: VendorData }): boolean =>
    item.vendor?.['anthropic']?.['cacheControl'] !== undefined;
  return [...parts, ...tools].some(isCached) ? ['cache_control'] : [];
}

/** Thoughts that another vendor has signed, encrypted or withheld; `own`: the names of this one. */
export function lostThoughts({ messages }: ChatRequest, ...own: readonly string[]): readonly string[] {
  const isLost = (part: Part): boolean =>
    part.type === 'reasoning' && part.vendor !== undefined && !own.some((name) => part.vendor?.[name] !== undefined);
  return messages.some(({ content }) => content.some(isLost)) ? ['signature'] : [];
}

/** What one vendor understands of a conversation and its tools, and what a result of a tool says beside its words. */
export function* lostMarks(request: ChatRequest): Iterable<string> {
  yield* lostCacheMarks(request);
  yield* lostThoughts(request);
  yield* lostErrors(request);
}

/** That a tool has failed; `where`: of which results it is lost. */
export function lostErrors(
  { messages }: ChatRequest,
  where: (content: readonly Part[]) => boolean = () => true,
): readonly string[] {
  const isLost = messages.some((each) => each.role === 'tool' && each.isError === true && where(each.content));
  return isLost ? ['is_error'] : [];
}

/** Libraries of vendors say it of texts alone. */
export function hasMedia(content: readonly Part[]): boolean {
  return content.some((part) => part.type === 'media');
}

/** The detail in which a picture shall be seen; `auto` asks for nothing. */
export function lostDetail({ messages }: ChatRequest): readonly string[] {
  const isDetailed = messages.some(({ content }) =>
    content.some((part) => part.type === 'media' && part.detail !== undefined && part.detail !== 'auto'),
  );
  return isDetailed ? ['detail'] : [];
}

/** Who of several people has written a message. */
export function lostNames({ messages }: ChatRequest): readonly string[] {
  return messages.some((message) => message.role !== 'tool' && message.name !== undefined) ? ['messages.name'] : [];
}

/** That a model shall call one tool at a time. */
export function lostOneCall({ parallelToolCalls, tools = [] }: ChatRequest): readonly string[] {
  return parallelToolCalls === false && tools.length > 0 ? ['parallel_tool_calls'] : [];
}
