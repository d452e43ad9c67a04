import type { FastifyRequest } from 'fastify';
import type { ChatRequest, Message, VendorData } from '../../core/chat.ts';
import { endsWithQuestion } from '../../core/chat-text.ts';
import { isObject } from '../../core/objects.ts';
import { speaks } from '../../providers/ai-sdk/native.ts';
import type { Question } from '../../routing/router.ts';
import type { Target } from '../../routing/select.ts';
import type { Deps } from '../deps.ts';
import { firstSpeaks } from '../first-target.ts';
import { clientKeys } from '../keys.ts';
import { samplingFor } from '../thinking.ts';
import { wishOf } from '../wish.ts';
import { type Decoded, decode, SEARCH_TOOLS } from './decode.ts';
import { type GenerateContentBody, REFUSED_FIELDS } from './wire.ts';

/** A question, its request as it is before any step, and the request as one target gets it. */
export interface GeminiQuestion extends Question {
  readonly asked: ChatRequest;
  send(request: ChatRequest, target: Target): ChatRequest;
}

/** What a body of the Gemini API asks of a model. */
export async function toQuestion(
  request: FastifyRequest,
  body: GenerateContentBody,
  model: string,
  deps: Deps,
): Promise<GeminiQuestion> {
  const wish = wishOf({ ...body, model });
  const keys = clientKeys(request, body.apiKey);
  const decoded = decode(body, wish);
  // Google searches by itself; for everybody else the search is ours.
  const searchesHere = wantsSearch(decoded) && !(await firstSpeaks('gemini', wish, keys, deps));
  // Once for every question: results of tools go on with what was found.
  const asked =
    searchesHere && endsWithQuestion(decoded.request.messages)
      ? { ...decoded.request, webSearch: decoded.request.webSearch ?? true }
      : decoded.request;
  return {
    wish,
    keys,
    dropped: [...REFUSED_FIELDS].filter((name) => Object.hasOwn(body, name)),
    asked,
    request: () => asked,
    send(ready, target) {
      if (speaks(target.provider, 'gemini')) {
        return { ...ready, extra: searchesHere ? withoutSearch(decoded.fields) : decoded.fields };
      }
      decoded.refuseBroken();
      return forOthers(ready, decoded.foreign, searchesHere, target);
    },
  };
}

const SEARCH_NAMES: ReadonlySet<string> = new Set(SEARCH_TOOLS.map((name) => `tools.${name}`));

function wantsSearch({ foreign }: Decoded): boolean {
  return foreign.some((name) => SEARCH_NAMES.has(name));
}

/** What was searched for here, Google need not search for again. */
function withoutSearch({ tools, ...fields }: Decoded['fields']): Decoded['fields'] {
  const kept = [tools].flat().flatMap((tool) => {
    if (!isObject(tool)) return [];
    const rest = Object.entries(tool).filter(([name]) => !SEARCH_TOOLS.includes(name));
    return rest.length === 0 ? [] : [Object.fromEntries(rest)];
  });
  return { ...fields, ...(kept.length === 0 ? {} : { tools: kept }) };
}

/** Without what only Google understands, which is named instead. */
function forOthers(request: ChatRequest, foreign: readonly string[], isSearched: boolean, target: Target): ChatRequest {
  const lost = new Set(foreign.filter((name) => !isSearched || !SEARCH_NAMES.has(name)));
  const { sampling, isLost } = samplingFor(request.sampling, target);
  if (isLost) lost.add('generationConfig.thinkingConfig');
  return {
    ...request,
    messages: request.messages.map(forAnybody).filter(({ role, content }) => role !== 'system' || content.length > 0),
    sampling,
    extra: Object.fromEntries([...lost].map((name) => [name, true])),
  };
}

/** Parts as Google knows them are only for Google, and what has no text without them says nothing. */
function forAnybody(message: Message): Message {
  const content = message.content.filter((part) => part.type !== 'text' || part.text !== '').map(withVendor);
  if (message.role === 'assistant') {
    const { toolCalls, ...said } = message;
    return { ...said, content, ...(toolCalls === undefined ? {} : { toolCalls: toolCalls.map(withVendor) }) };
  }
  return message.role === 'tool' ? { ...withVendor(message), content } : { ...message, content };
}

function withVendor<T extends { readonly vendor?: VendorData }>(item: T): T {
  const google = item.vendor?.['google'];
  if (google === undefined || !('part' in google)) return item;
  const { vendor, ...rest } = item;
  const { part: _, ...kept } = google;
  const { google: __, ...others } = vendor ?? {};
  const all = Object.keys(kept).length === 0 ? others : { ...others, google: kept };
  return { ...rest, ...(Object.keys(all).length === 0 ? {} : { vendor: all }) } as T;
}
