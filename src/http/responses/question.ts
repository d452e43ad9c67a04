import type { FastifyRequest } from 'fastify';
import type { ChatRequest } from '../../core/chat.ts';
import type { Searched } from '../../core/chunk.ts';
import { SluiceError } from '../../core/errors.ts';
import { SEARCH_BY_MODEL } from '../../enrich/search-by-model.ts';
import type { Question } from '../../routing/router.ts';
import type { WebSearch } from '../../search/search.ts';
import { firstSpeaks } from '../first-target.ts';
import { clientKeys } from '../keys.ts';
import { toWebSearch } from '../to-chat.ts';
import { hasSearch, toolSteps } from '../tool-calls.ts';
import { memoryOf } from '../user.ts';
import { DROPPED_FIELDS } from '../wire.ts';
import { wishOf } from '../wish.ts';
import { enterConversation } from './conversation.ts';
import { additionalTools, mayFetchPages, searchOf, toFields, toMessages } from './decode.ts';
import { historyUpTo } from './history.ts';
import { responseId } from './ids.ts';
import { inputOf } from './input.ts';
import type { KeptItem } from './items.ts';
import type { Kept } from './run.ts';
import { keepOn, keepsAnswers, type ResponseDeps } from './store.ts';
import { isTriggered, withoutGranted } from './summarising.ts';
import { missingInput, sentTo, unknownPrompt } from './targets.ts';
import { LOST_SEARCH, searching, withoutPages } from './web-search.ts';
import { type Json, ResponseBody } from './wire.ts';

/** A request, understood. */
export interface Prepared {
  readonly id: string;
  readonly question: Question & Required<Pick<Question, 'send'>>;
  readonly input: readonly KeptItem[];
  /** All that the model gets: what went before, and the input. */
  readonly items: readonly KeptItem[];
  /** Whether the answer is to be a compaction of all that. */
  readonly compacts: boolean;
  readonly previous: string | null;
  readonly conversation?: Kept['conversation'];
  /** What all answers of one conversation have in common. */
  readonly session: string;
  /** Whether the answer is to be kept. */
  readonly store: boolean;
  /** What the first choice has no place for, as far as that is known before it is asked. */
  readonly lost: readonly string[];
  /** Tools that came with the items. */
  readonly moreTools: readonly Json[];
  /** The search that came first; known once the question is asked. */
  searched(): Searched | undefined;
  /** What the model may search with while it answers; absent: it may not. */
  readonly searchByModel?: WebSearch;
}

/** Reads what the request refers to, and makes a question of it. */
export async function prepare(
  request: FastifyRequest,
  value: Json,
  body: ResponseBody,
  deps: ResponseDeps,
): Promise<Prepared> {
  refuse(body, deps);
  const id = responseId(deps.tag);
  const { previous_response_id: previous = null } = body;
  const conversation = await enterConversation(body, deps);
  const history = previous === null ? undefined : await historyUpTo(deps, previous);
  if (history !== undefined) void keepOn(deps, history.answers);
  const input = await inputOf(body, id, deps, { before: conversation?.items ?? [] });
  const items = withoutGranted([...((conversation ?? history)?.items ?? []), ...input]);
  const compacts = isTriggered(items);
  const messages = toMessages(items, body.instructions);
  const moreTools = additionalTools(items);
  const offering = moreTools.length === 0 ? body : { ...body, tools: [...(body.tools ?? []), ...moreTools] };
  const fields = toFields(offering);
  const isTaken = fields.value.tools?.some(({ name }) => name === SEARCH_BY_MODEL) === true;
  const wish = wishOf(body, request);
  const keys = clientKeys(request, body.api_key);
  // An upstream of the same API does by itself whatever the client asks for.
  const isOwnApi = await firstSpeaks('responses', wish, keys, deps);
  if (body['prompt'] != null && !isOwnApi) throw unknownPrompt();
  if (messages.value.length === 0 && body['prompt'] == null) throw missingInput(body.input);
  const search = isOwnApi || compacts ? undefined : searchOf(offering);
  const extra = extraOf(value, body);
  const chat: ChatRequest = {
    ...wish,
    messages: messages.value,
    ...fields.value,
    ...(hasSearch(body.tool_calls) || search !== undefined ? {} : toWebSearch(body.web_search)),
    downloadMedia: body.download_media === true,
    ...memoryOf(body.memory, body.user),
    format: 'responses',
    extra,
  };
  let searched: Searched | undefined;
  const noteSearch = (done: Searched): void => {
    searched = done;
  };
  const engine = mayFetchPages(offering) ? deps.search : withoutPages(deps.search);
  const steps = search === 'first' ? [searching(engine, noteSearch)] : [];
  const isOffered = search === 'by-model' && deps.search.isOn && !isTaken;
  const lostSearch = searchOf(offering) !== undefined && search !== 'first' && !isOffered;
  // A summary needs no tools.
  const lostTools = compacts ? [] : [...fields.dropped, ...(lostSearch ? [LOST_SEARCH] : [])];
  const foreign = [...messages.dropped, ...lostTools];
  const dropped = DROPPED_FIELDS.filter((name) => Object.hasOwn(value, name));
  const sent = { value, body, extra, foreign, isSearched: search === 'first' };
  return {
    id,
    input,
    items,
    compacts,
    previous,
    ...(conversation === undefined ? {} : { conversation: { id: conversation.id, below: conversation.below } }),
    session: conversation?.id ?? history?.answers.at(-1) ?? id,
    store: body.store !== false && keepsAnswers(deps),
    lost: [...dropped, ...(isOwnApi ? [] : foreign)],
    searched: () => searched,
    moreTools,
    ...(isOffered ? { searchByModel: engine } : {}),
    question: {
      wish,
      keys,
      steps: [...toolSteps(body.tool_calls, 'invalid_field', deps.search), ...steps],
      dropped,
      request: () => chat,
      send: (ready, target) => sentTo(target, ready, sent),
    },
  };
}

/** What stands before an answer, for its record. */
export function placeOf({ previous, conversation }: Prepared): Pick<Kept, 'previous' | 'conversation'> {
  return { previous, ...(conversation === undefined ? {} : { conversation }) };
}

/** What no answer could make up for, so that leaving it out would be no help. */
function refuse(body: ResponseBody, deps: ResponseDeps): void {
  if (body.background !== true) return;
  const why = body.store === false ? "'store' is false" : keepsAnswers(deps) ? undefined : 'this server stores none';
  if (why === undefined) return;
  throw new SluiceError('invalid_request', `An answer in the background has to be stored, but ${why}.`, {
    param: 'background',
  });
}

/** Understood here, so not for a provider to guess at. `user` is passed on: vendors ask for it too. */
const KNOWN_FIELDS: ReadonlySet<string> = new Set(
  [...Object.keys(ResponseBody.shape), ...DROPPED_FIELDS, 'stream_options'].filter(
    (name) => !['user', 'service_tier', 'prompt_cache_key', 'safety_identifier', 'max_tool_calls'].includes(name),
  ),
);

/** Fields only an upstream of this format understands. What merely says the default says nothing. */
function extraOf(value: Json, body: ResponseBody): Json {
  const extra = Object.fromEntries(
    Object.entries(value).filter(([name, given]) => !KNOWN_FIELDS.has(name) && given !== null),
  );
  if (extra['service_tier'] === 'auto' || extra['service_tier'] === 'default') delete extra['service_tier'];
  if (body.truncation === 'auto') extra['truncation'] = 'auto';
  if ((body.top_logprobs ?? 0) > 0) extra['top_logprobs'] = body.top_logprobs;
  const { effort: _effort, ...reasoning } = body.reasoning ?? {};
  const { format: _format, ...text } = body.text ?? {};
  for (const [group, members] of Object.entries({ reasoning, text })) {
    for (const [name, given] of Object.entries(members)) if (given != null) extra[`${group}.${name}`] = given;
  }
  return extra;
}
