import type { MediaPart, Message, Part, ToolCall, VendorData } from '../../core/chat.ts';
import { dataUri } from '../../core/data-uri.ts';
import { mediaKind } from '../../core/media-types.ts';
import { uploadAddress, uploadOfUri } from '../../core/upload-address.ts';
import { refuseNoBase64, refuseUnreadable } from '../to-chat.ts';
import { hiddenThoughts } from './hidden.ts';
import { fromSignature } from './signature.ts';
import type { WireContent, WirePart } from './wire.ts';

type Assistant = Extract<Message, { role: 'assistant' }>;
type ToolMessage = Extract<Message, { role: 'tool' }>;
type Response = NonNullable<WirePart['functionResponse']>;

/** What the contents say, and the names of parts that only Google understands. */
export interface DecodedContents {
  readonly messages: readonly Message[];
  readonly foreign: readonly string[];
}

/**
 * `contents` → messages. Contents of the model in a row are one message: clients keep what a stream brought piece by piece.
 * Parts that are more than the middle has a place for are kept as they are, for Google, in `vendor.google.part`.
 */
export function toMessages(contents: readonly WireContent[]): DecodedContents {
  const decoder = new ContentsDecoder();
  for (const content of contents) decoder.add(content);
  return { messages: decoder.messages, foreign: [...decoder.foreign] };
}

/** A system instruction. What is more than text is Google's to judge. */
export function toSystem(instruction: WireContent | string): DecodedContents {
  const foreign = new Set<string>();
  const parts = typeof instruction === 'string' ? [{ text: instruction }] : partsOf(instruction);
  const content = parts.flatMap((part): Part[] => {
    const { text = '' } = part;
    const others = Object.keys(part).filter((name) => name !== 'text');
    for (const name of others) foreign.add(`systemInstruction.parts.${name}`);
    if (others.length > 0) return [{ type: 'text', text, vendor: asSent(part) }];
    return text === '' ? [] : [{ type: 'text', text }];
  });
  return { messages: content.length === 0 ? [] : [{ role: 'system', content }], foreign: [...foreign] };
}

/** Throws at media that nobody could read. Google hears of them as they are. */
export function refuseBroken(contents: readonly WireContent[]): void {
  for (const [index, content] of contents.entries()) {
    for (const [at, part] of partsOf(content).entries()) {
      const place = `contents[${index}].parts[${at}]`;
      refuseBrokenPart(part, place);
      for (const [which, each] of (part.functionResponse?.parts ?? []).entries()) {
        refuseBrokenPart(each, `${place}.functionResponse.parts[${which}]`);
      }
    }
  }
}

function refuseBrokenPart({ inlineData, fileData }: WirePart, place: string): void {
  if (inlineData !== undefined) refuseNoBase64(inlineData.data, inlineData.mimeType ?? '', `${place}.inlineData.data`);
  else if (fileData !== undefined) refuseUnreadable(fileData.fileUri, `${place}.fileData.fileUri`, 'invalid_request');
}

class ContentsDecoder {
  readonly messages: Message[] = [];
  readonly foreign = new Set<string>();
  /** Calls without an answer, oldest first: older clients know no ids, and answer by name and order. */
  readonly #open: { readonly id: string; readonly name: string }[] = [];
  #calls = 0;
  /** Where in the model's last message the words behind its last call begin. */
  #behindCall = 0;

  add(content: WireContent): void {
    this.#note('contents', content, CONTENT_FIELDS);
    const parts = partsOf(content);
    if (content.role === 'model') this.#addAssistant(parts);
    else this.#addUser(parts);
  }

  #addUser(parts: readonly WirePart[]): void {
    const said: Part[] = [];
    for (const part of parts) {
      if (part.functionResponse !== undefined) this.messages.push(this.#toolMessage(part, part.functionResponse));
      else said.push(...this.#toParts(part));
    }
    // Results belong directly behind their calls, whatever else stands between them.
    if (said.length > 0) this.messages.push({ role: 'user', content: said });
  }

  #addAssistant(parts: readonly WirePart[]): void {
    const last = this.messages.at(-1);
    const goesOn = last?.role === 'assistant';
    const content = goesOn ? [...last.content] : [];
    const toolCalls = goesOn ? [...(last.toolCalls ?? [])] : [];
    if (!goesOn) this.#behindCall = 0;
    for (const part of parts) {
      const vendor = fromSignature(part.thoughtSignature);
      if (part.functionCall !== undefined) {
        const { thoughts, rest } = hiddenThoughts(vendor);
        // Before the words that led to the call: Anthropic wants thoughts first.
        content.splice(this.#behindCall, 0, ...thoughts);
        this.#behindCall = content.length;
        toolCalls.push(this.#toolCall(part, part.functionCall, rest));
      } else if (part.text === undefined || hasMore(part, TEXT_FIELDS)) content.push(...this.#toParts(part));
      else addText(content, part.thought === true ? 'reasoning' : 'text', part.text, vendor);
    }
    if (content.length === 0 && toolCalls.length === 0) return;
    const message: Assistant = { role: 'assistant', content, ...(toolCalls.length === 0 ? {} : { toolCalls }) };
    if (goesOn) this.messages[this.messages.length - 1] = message;
    else this.messages.push(message);
  }

  #toolCall(part: WirePart, call: NonNullable<WirePart['functionCall']>, vendor: VendorData | undefined): ToolCall {
    const id = call.id || `call_${this.#calls}`;
    this.#calls += 1;
    this.#open.push({ id, name: call.name });
    const { name, args } = call;
    this.#note('contents.parts', part, KNOWN_FIELDS);
    this.#note('contents.parts.functionCall', call, CALL_FIELDS);
    return { id, name, arguments: JSON.stringify(args ?? {}), vendor: asSent(part, vendor) };
  }

  #toolMessage(part: WirePart, response: Response): ToolMessage {
    this.#note('contents.parts', part, KNOWN_FIELDS);
    this.#note('contents.parts.functionResponse', response, RESPONSE_FIELDS);
    const toolCallId = this.#answered(response);
    const { text, isError } = toResult(response.response ?? {});
    const media = (response.parts ?? []).flatMap((each) => this.#toParts(each));
    return {
      role: 'tool',
      toolCallId,
      content: [{ type: 'text', text }, ...media],
      ...(isError ? { isError } : {}),
      vendor: asSent(part),
    };
  }

  /** The id of the call that a response answers. */
  #answered({ id, name }: Response): string {
    const at = this.#open.findIndex((call) => (id ? call.id === id : call.name === name));
    const [call] = at === -1 ? [] : this.#open.splice(at, 1);
    return id || (call?.id ?? `call_${name}`);
  }

  #toParts(part: WirePart): Part[] {
    const { text, inlineData, fileData, bucketId, executableCode, codeExecutionResult } = part;
    if (bucketId !== undefined) {
      const { name } = part as { name?: unknown };
      return [{ type: 'bucket', bucketId, ...(typeof name === 'string' ? { name } : {}) }];
    }
    this.#note('contents.parts', part, KNOWN_FIELDS);
    if (text !== undefined) {
      if (hasMore(part, TEXT_FIELDS)) return [{ type: 'text', text, vendor: asSent(part) }];
      return text === '' ? [] : [{ type: 'text', text }];
    }
    if (inlineData !== undefined) {
      this.#note('contents.parts.inlineData', inlineData, INLINE_FIELDS);
      const { data, mimeType = 'application/octet-stream', displayName } = inlineData;
      const url = dataUri(mimeType, standardBase64(data));
      return [toMedia(url, mimeType, part, displayName)];
    }
    if (fileData !== undefined) {
      this.#note('contents.parts.fileData', fileData, FILE_FIELDS);
      const { fileUri, mimeType, displayName } = fileData;
      return [toMedia(addressOf(fileUri), mimeType, part, displayName)];
    }
    // Code that the model ran itself has no place of its own in the middle; what it says is kept.
    if (executableCode !== undefined) {
      const { language = '', code = '' } = executableCode;
      return [{ type: 'text', text: `\`\`\`${language.toLowerCase()}\n${code}\n\`\`\``, vendor: asSent(part) }];
    }
    if (codeExecutionResult !== undefined) {
      return [{ type: 'text', text: codeExecutionResult.output ?? '', vendor: asSent(part) }];
    }
    return Object.keys(part).length === 0 ? [] : [{ type: 'text', text: '', vendor: asSent(part) }];
  }

  /** Hears of members that only Google understands. */
  #note(path: string, holder: object, known: ReadonlySet<string>): void {
    for (const [name, value] of Object.entries(holder)) {
      if (!known.has(name) && value !== null) this.foreign.add(`${path}.${name}`);
    }
  }
}

const TEXT_FIELDS: ReadonlySet<string> = new Set(['text', 'thought', 'thoughtSignature']);
const MEDIA_FIELDS: ReadonlySet<string> = new Set(['inlineData', 'fileData']);
const CONTENT_FIELDS: ReadonlySet<string> = new Set(['role', 'parts']);
const CALL_FIELDS: ReadonlySet<string> = new Set(['id', 'name', 'args']);
const RESPONSE_FIELDS: ReadonlySet<string> = new Set(['id', 'name', 'response', 'parts']);
const INLINE_FIELDS: ReadonlySet<string> = new Set(['data', 'mimeType', 'displayName']);
const FILE_FIELDS: ReadonlySet<string> = new Set(['fileUri', 'mimeType', 'displayName']);
/** The members of media that Google's own form of them has, wherever they came from. */
const PLAIN_MEDIA: ReadonlySet<string> = new Set(['data', 'fileUri', 'mimeType']);
/** The members of parts that can be said to everybody. */
const KNOWN_FIELDS: ReadonlySet<string> = new Set([
  ...TEXT_FIELDS,
  ...MEDIA_FIELDS,
  'functionCall',
  'functionResponse',
]);

function hasMore(holder: object, known: ReadonlySet<string>): boolean {
  return Object.keys(holder).some((name) => !known.has(name));
}

/** A part as it is, for Google. Its signature stands beside it, since it may be another vendor's. */
function asSent({ thoughtSignature, ...part }: WirePart, vendor = fromSignature(thoughtSignature)): VendorData {
  return { ...vendor, google: { ...vendor?.['google'], part } };
}

/** Pieces of one block of text or thoughts are put together; a signature ends the block (as in `core/collect.ts`). */
function addText(content: Part[], type: 'text' | 'reasoning', text: string, vendor: VendorData | undefined): void {
  if (text === '' && vendor === undefined) return;
  const last = content.at(-1);
  const signed = vendor === undefined ? {} : { vendor };
  if (last?.type === type && last.vendor === undefined) {
    content[content.length - 1] = { type, text: last.text + text, ...signed };
  } else content.push({ type, text, ...signed });
}

function addressOf(fileUri: string): string {
  const id = uploadOfUri(fileUri);
  return id === undefined ? fileUri : uploadAddress(id);
}

function toMedia(url: string, mimeType: string | undefined, part: WirePart, name?: string): MediaPart {
  return {
    type: 'media',
    kind: mediaKind(mimeType ?? ''),
    url,
    ...(mimeType === undefined ? {} : { mimeType: mimeType.toLowerCase() }),
    ...(name === undefined ? {} : { name }),
    ...(isMore(part) ? { vendor: asSent(part) } : {}),
  };
}

function isMore(part: WirePart): boolean {
  const { inlineData = {}, fileData = {} } = part;
  return hasMore(part, MEDIA_FIELDS) || hasMore(inlineData, PLAIN_MEDIA) || hasMore(fileData, PLAIN_MEDIA);
}

/** protobuf's JSON takes the alphabet for addresses too; `data:` URIs do not. */
function standardBase64(data: string): string {
  return /[-_]/.test(data) ? data.replaceAll('-', '+').replaceAll('_', '/') : data;
}

/**
 * What a tool said, as text. The API wants an object; `output`, or `result` as Google's own libraries have it, alone in it
 * is what is meant, and `error` says that the tool failed (https://ai.google.dev/api/caching#FunctionResponse).
 */
function toResult(response: Readonly<Record<string, unknown>>): { readonly text: string; readonly isError: boolean } {
  const [[name, value] = [], ...others] = Object.entries(response);
  if (others.length > 0 || value === undefined) return { text: JSON.stringify(response), isError: false };
  const isError = name === 'error';
  if (!isError && name !== 'output' && name !== 'result') return { text: JSON.stringify(response), isError };
  return { text: typeof value === 'string' ? value : JSON.stringify(value), isError };
}

function partsOf({ parts }: WireContent): readonly WirePart[] {
  if (parts === undefined || parts === null) return [];
  return Array.isArray(parts) ? parts : [parts];
}
