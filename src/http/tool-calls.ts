import { z } from 'zod';
import { SluiceError } from '../core/errors.ts';
import type { Step } from '../core/stream.ts';
import { noted } from '../enrich/noted.ts';
import { type SearchCall, searchToolStep } from '../enrich/search-tool.ts';
import type { WebSearch } from '../search/search.ts';
import { validate } from './validate.ts';
import type { ServerToolCall } from './wire.ts';

const SEARCH_TOOL = 'search_tool';
/** Searches of one request. */
const MOST_SEARCHES = 4;

/** The arguments of `search_tool`. The bounds are those of the section `search` in sluice.yaml. */
const SearchArguments = z.object({
  query: z.string().max(2_000).nullish(),
  max_results: z.int().min(1).max(20).nullish(),
  max_words: z.int().min(1).max(20_000).nullish(),
  backend: z.string().max(64).nullish(),
  add_text: z.boolean().nullish(),
  timeout: z.number().min(0.1).max(60).nullish(),
});
type SearchArguments = z.infer<typeof SearchArguments>;

const SearchCalls = z.object({
  tool_calls: z.array(z.object({ function: z.object({ arguments: SearchArguments }) }).optional()),
});

/** Whether a request wants a search by the tool. */
export function hasSearch(calls: readonly ServerToolCall[] | null | undefined): boolean {
  return calls?.some((call) => call.function?.name === SEARCH_TOOL) === true;
}

/**
 * The tools that a client wants to be run here, as steps of its question. Throws when arguments make no sense; a tool that
 * is not known is passed over with a log chunk, since front ends name some that only other servers have.
 */
export function toolSteps(
  calls: readonly ServerToolCall[] | null | undefined,
  code: 'invalid_request' | 'invalid_field',
  search: WebSearch,
): readonly Step[] {
  if (calls === null || calls === undefined) return [];
  const searches = toSearchCalls(calls, code);
  const unknown = new Set(calls.flatMap((call) => call.function?.name ?? []));
  unknown.delete(SEARCH_TOOL);
  return [
    ...(searches.length === 0 ? [] : [searchToolStep(search, searches)]),
    ...[...unknown].map((name) => unknownTool(name)),
  ];
}

function toSearchCalls(calls: readonly ServerToolCall[], code: 'invalid_request' | 'invalid_field'): SearchCall[] {
  // Checked in their places, so that a complaint names the very field.
  const parsed = calls.map((call, index) =>
    call.function?.name === SEARCH_TOOL
      ? { function: { arguments: parse(call.function.arguments, index, code) } }
      : undefined,
  );
  const { tool_calls } = validate(SearchCalls, { tool_calls: parsed }, code);
  const searches = tool_calls.flatMap((call) => (call === undefined ? [] : [toSearchCall(call.function.arguments)]));
  if (searches.length <= MOST_SEARCHES) return searches;
  throw new SluiceError(code, `'tool_calls' must have at most ${MOST_SEARCHES} calls of ${SEARCH_TOOL}.`, {
    param: 'tool_calls',
  });
}

/** Arguments are JSON text, as models write them, or the object itself. */
function parse(written: string | object | null | undefined, index: number, code: 'invalid_request' | 'invalid_field') {
  if (typeof written !== 'string') return written ?? {};
  if (written.trim() === '') return {};
  try {
    return JSON.parse(written) as unknown;
  } catch {
    const param = `tool_calls[${index}].function.arguments`;
    throw new SluiceError(code, `'${param}' must be an object, or its JSON text.`, { param });
  }
}

function toSearchCall(given: SearchArguments): SearchCall {
  const { query, max_results: results, max_words: words, backend: engine, add_text: addText, timeout } = given;
  return {
    ...(query?.trim() ? { query: query.trim() } : {}),
    options: {
      ...(results == null ? {} : { results }),
      ...(words == null ? {} : { words }),
      ...(engine == null ? {} : { engine }),
      ...(addText === false ? { pages: 0 } : {}),
      ...(timeout == null ? {} : { totalMs: timeout * 1_000 }),
    },
  };
}

function unknownTool(name: string): Step {
  return {
    name: 'unknown-tool',
    enrich: (request) =>
      noted(request, { log: `There is no tool '${name}' on this server; the call was passed over.` }),
  };
}
