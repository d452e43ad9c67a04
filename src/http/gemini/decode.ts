import type { ChatRequest } from '../../core/chat.ts';
import { SluiceError } from '../../core/errors.ts';
import type { Wish } from '../../routing/select.ts';
import { toWebSearch } from '../to-chat.ts';
import { memoryOf } from '../user.ts';
import { toSettings } from './config.ts';
import { type DecodedContents, refuseBroken, toMessages, toSystem } from './contents.ts';
import { type GenerateContentBody, KNOWN_FIELDS, OWN_FIELDS, REFUSED_FIELDS, type WireContent } from './wire.ts';

type Json = Record<string, unknown>;

/** A request in the words of the middle, and what they cannot say. */
export interface Decoded {
  readonly request: ChatRequest;
  /** What Google gets beside the contents, as the client sent it. */
  readonly fields: Json;
  /** The paths of the fields that only Google understands. */
  readonly foreign: readonly string[];
  /** Throws at what only Google might read. */
  refuseBroken(): void;
}

/** The tools by which Google searches the web: as it is now, and as older models know it. */
export const SEARCH_TOOLS: readonly string[] = ['googleSearch', 'googleSearchRetrieval'];

/** Throws `invalid_request` where none of the contents says anything. */
export function decode(body: GenerateContentBody, wish: Wish): Decoded {
  const { foreign, ...settings } = toSettings(body);
  const contents = contentsOf(body);
  if (contents.every(saysNothing)) throw nothingSaid();
  const { messages, foreign: parts } = toMessages(contents);
  const system = body.systemInstruction == null ? NOTHING : toSystem(body.systemInstruction);
  const unknown = Object.entries(body).flatMap(([name, value]) =>
    KNOWN_FIELDS.has(name) || REFUSED_FIELDS.has(name) || value === null ? [] : [name],
  );
  return {
    request: {
      ...wish,
      format: 'gemini',
      messages: [...system.messages, ...messages],
      ...settings,
      ...(body.conversation == null ? {} : { conversation: body.conversation }),
      ...toWebSearch(body.webSearch),
      downloadMedia: body.downloadMedia === true,
      ...memoryOf(body.memory, body.user),
      extra: {},
    },
    fields: fieldsOf(body),
    foreign: [...foreign, ...system.foreign, ...parts, ...unknown],
    refuseBroken: () => refuseBroken(contents),
  };
}

/** Google refuses every content without parts; one among others is passed over here, as empty messages are elsewhere. */
function saysNothing({ parts }: WireContent): boolean {
  return [parts ?? []].flat().every((part) => Object.keys(part).length === 0);
}

function nothingSaid(): SluiceError {
  return new SluiceError('invalid_request', "'contents[0].parts' must not be empty.", { param: 'contents[0].parts' });
}

const NOTHING: DecodedContents = { messages: [], foreign: [] };

/** Candidates beyond the first are asked for one by one. */
function fieldsOf(body: GenerateContentBody): Json {
  const fields = Object.entries(body).filter(([name, value]) => !OWN_FIELDS.has(name) && value !== undefined);
  const { candidateCount: _, ...generationConfig } = body.generationConfig ?? {};
  const rest = Object.fromEntries(fields.filter(([name]) => name !== 'generationConfig'));
  return { ...rest, ...(Object.keys(generationConfig).length === 0 ? {} : { generationConfig }) };
}

function contentsOf({ contents }: Pick<GenerateContentBody, 'contents'>): readonly WireContent[] {
  return Array.isArray(contents) ? contents : [contents];
}
