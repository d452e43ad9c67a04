import type { ChatRequest } from '../../core/chat.ts';
import type { Wish } from '../../routing/select.ts';
import { parseId } from '../edge/body.ts';
import { toWebSearch } from '../to-chat.ts';
import { toSettings } from './config.ts';
import { toMessages, toSystem } from './contents.ts';
import { type GenerateContentBody, KNOWN_FIELDS, type WireContent } from './wire.ts';

/** A request in the words of the middle, and the fields that got lost on the way. */
export interface Decoded {
  readonly request: ChatRequest;
  readonly dropped: readonly string[];
}

/** The tool by which Google searches the web; for everybody else the search is ours. */
export const SEARCH_TOOL = 'tools.googleSearch';
/** The same as older models know it. */
const OLD_SEARCH_TOOL = 'tools.googleSearchRetrieval';

/** A request of the Gemini API → ours. `searches`: whoever is asked has Google's search of its own. */
export function toChatRequest(body: GenerateContentBody, wish: Wish, searches: boolean): Decoded {
  const { extra, dropped, ...settings } = toSettings(body);
  const { messages, dropped: lost } = toMessages(contentsOf(body));
  const system = body.systemInstruction == null ? undefined : toSystem(body.systemInstruction);
  const webSearch = toWebSearch(body.webSearch);
  if (wantsSearch(extra)) {
    delete extra[OLD_SEARCH_TOOL];
    if (searches) extra[SEARCH_TOOL] ??= {};
    else {
      delete extra[SEARCH_TOOL];
      webSearch.webSearch ??= true;
    }
  }
  for (const [name, value] of Object.entries(body)) {
    if (!KNOWN_FIELDS.has(name) && value !== null) extra[name] = value;
  }
  const remembers = body.memory === true && typeof body.user === 'string';
  return {
    request: {
      ...wish,
      format: 'gemini',
      messages: system === undefined || system.content.length === 0 ? messages : [system, ...messages],
      ...settings,
      ...(body.conversation == null ? {} : { conversation: body.conversation }),
      ...webSearch,
      downloadMedia: body.downloadMedia === true,
      ...(remembers && typeof body.user === 'string' ? { memoryUser: parseId(body.user, 'user') } : {}),
      extra,
    },
    dropped: [...dropped, ...lost],
  };
}

/** Whether a request offers Google's search. */
export function asksGoogle(body: GenerateContentBody): boolean {
  return wantsSearch(toSettings(body).extra);
}

function wantsSearch(extra: Readonly<Record<string, unknown>>): boolean {
  return Object.hasOwn(extra, SEARCH_TOOL) || Object.hasOwn(extra, OLD_SEARCH_TOOL);
}

export function contentsOf({ contents }: Pick<GenerateContentBody, 'contents'>): readonly WireContent[] {
  return Array.isArray(contents) ? contents : [contents];
}
