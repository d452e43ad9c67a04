import type { Call } from '../core/call.ts';
import { toolInput } from '../core/call-pieces.ts';
import type { ChatRequest, Message, Tool, ToolCall } from '../core/chat.ts';
import type { Batch, Chunk, Searched, Usage } from '../core/chunk.ts';
import { collect, within } from '../core/collect.ts';
import { toSluiceError } from '../core/errors.ts';
import type { Step } from '../core/stream.ts';
import { sumUsages } from '../core/usage.ts';
import type { WebSearch } from '../search/search.ts';
import { foundText } from './web-search.ts';

/** Rounds of searches within one answer. */
const MOST_ROUNDS = 8;
/** Searches of one round; a model that asks for more gets these. */
const MOST_SEARCHES = 4;

const TOOL: Tool = {
  name: 'web_search',
  description:
    'Searches the web and returns what the best pages say. Use it for what is recent, or what you do not know for sure; not for ' +
    'what stands in this conversation.',
  parameters: {
    type: 'object',
    properties: { query: { type: 'string', description: 'What to search for, in a few words' } },
    required: ['query'],
    additionalProperties: false,
  },
};

/** What the tool is called. */
export const SEARCH_BY_MODEL = TOOL.name;

/** Asks the one who answers for the next round: the same provider and model. */
export type AskAgain = (request: ChatRequest) => Promise<AsyncIterable<Batch>>;

/**
 * Lets the model search the web while it answers: it gets a tool which runs here, and is asked again with what was found. Calls of
 * tools that the client runs end the answer, as they always do; searches beside them are not made.
 *
 * @param limit about bytes of one round, which is held in memory
 */
export function searchByModel(search: WebSearch, limit: number, again: AskAgain): Step {
  return {
    name: 'search-by-model',
    enrich(request, call) {
      const offered = { ...request, tools: [...(request.tools ?? []), TOOL] };
      return { request: offered, chunks: (chunks) => new Rounds(search, limit, again, call).answer(chunks, offered) };
    },
  };
}

class Rounds {
  readonly #search: WebSearch;
  readonly #limit: number;
  readonly #again: AskAgain;
  readonly #call: Call;
  readonly #usages: Usage[] = [];
  #isIntroduced = false;

  constructor(search: WebSearch, limit: number, again: AskAgain, call: Call) {
    this.#search = search;
    this.#limit = limit;
    this.#again = again;
    this.#call = call;
  }

  async *answer(first: AsyncIterable<Batch>, asked: ChatRequest): AsyncGenerator<Batch, void, undefined> {
    let chunks = first;
    let request = asked;
    for (let round = 1; ; round += 1) {
      const said: Chunk[] = [];
      const closing = yield* this.#round(chunks, said);
      const { parts, toolCalls } = await collect(inOne(said));
      const calls = toolCalls.map((each, index) =>
        each.id === '' ? { ...each, id: `search_${round}_${index}` } : each,
      );
      const searches = calls.filter(({ name }) => name === TOOL.name);
      const isLast = searches.length === 0 || searches.length < calls.length || round > MOST_ROUNDS;
      if (isLast) {
        // Nobody is left to answer a call of the search.
        yield closing.map((chunk) =>
          chunk.type === 'finish' && searches.length === calls.length && searches.length > 0
            ? { ...chunk, finish: 'stop' }
            : chunk,
        );
        return;
      }
      const found = await Promise.all(searches.slice(0, MOST_SEARCHES).map((each) => this.#searched(each)));
      yield found.map(({ search }): Chunk => ({ type: 'search', search }));
      const results = searches.map(
        ({ id }, index): Message => ({
          role: 'tool',
          toolCallId: id,
          content: [{ type: 'text', text: found[index]?.text ?? `Only ${MOST_SEARCHES} searches are made at once.` }],
        }),
      );
      request = next(request, [{ role: 'assistant', content: parts, toolCalls: calls }, ...results]);
      chunks = await this.#again(request);
    }
  }

  /** Passes on what a round says, but for its searches and its end, and gathers all of it in `said`. */
  async *#round(chunks: AsyncIterable<Batch>, said: Chunk[]): AsyncGenerator<Batch, Batch, undefined> {
    const searches = new Set<number>();
    const closing: Chunk[] = [];
    for await (const batch of within(chunks, this.#limit)) {
      const shown: Chunk[] = [];
      for (const chunk of batch) {
        said.push(chunk);
        switch (chunk.type) {
          case 'provider':
            if (!this.#isIntroduced) shown.push(chunk);
            this.#isIntroduced = true;
            break;
          case 'tool_call':
            if (chunk.tool_call.name === TOOL.name) searches.add(chunk.tool_call.index);
            if (!searches.has(chunk.tool_call.index)) shown.push(chunk);
            break;
          case 'usage':
            this.#usages.push(chunk.usage);
            closing.push({ type: 'usage', usage: sumUsages(this.#usages) });
            break;
          case 'finish':
            closing.push(chunk);
            break;
          default:
            shown.push(chunk);
        }
      }
      yield shown;
    }
    return closing;
  }

  /** Never throws, except when the call is cancelled: the model hears of a search that failed. */
  async #searched({ arguments: written }: ToolCall): Promise<{ readonly search: Searched; readonly text: string }> {
    const { query: given } = toolInput(written);
    const query = typeof given === 'string' ? given.trim() : '';
    if (query === '') return { search: { query, isUsed: false }, text: "The argument 'query' is missing." };
    try {
      const results = await this.#search.search(query, { signal: this.#call.signal });
      if (results.length === 0) return { search: { query, isUsed: false }, text: 'Nothing was found.' };
      return { search: { query, isUsed: true }, text: foundText(query, results) };
    } catch (thrown) {
      if (this.#call.cancelled !== undefined) throw this.#call.cancelled;
      const { message } = toSluiceError(thrown);
      this.#call.log.warn(
        { id: this.#call.id, error: thrown instanceof Error ? thrown.message : message },
        'a web search failed',
      );
      return { search: { query, isUsed: false }, text: `The search failed. ${message}` };
    }
  }
}

/** The request of the next round. What steps did to the first one is done. */
function next(request: ChatRequest, said: readonly Message[]): ChatRequest {
  const { webSearch: _, memoryUser: __, toolChoice, ...rest } = request;
  return {
    ...rest,
    messages: [...request.messages, ...said],
    // A model that had to call a tool has done so.
    ...(toolChoice === undefined ? {} : { toolChoice: 'auto' as const }),
  };
}

async function* inOne(chunks: readonly Chunk[]): AsyncGenerator<Batch, void, undefined> {
  yield chunks;
}
