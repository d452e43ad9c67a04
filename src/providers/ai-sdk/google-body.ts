import { toolInput } from '../../core/call-pieces.ts';
import type { ChatRequest, MediaPart, Message, Part, ToolCall, VendorData } from '../../core/chat.ts';
import { heldAsBase64, mimeTypeOf } from '../../core/data-uri.ts';
import { isObject, membersOf } from '../../core/objects.ts';
import { vendorText } from '../../core/vendor.ts';

type Json = Record<string, unknown>;
type Of<Role> = Extract<Message, { role: Role }>;

/** Stands for a signature that there is none of (https://ai.google.dev/gemini-api/docs/thought-signatures). */
const NO_SIGNATURE = 'skip_thought_signature_validator';

/** Models that insist on a signature: from Gemini 3 on, and so whatever is the latest by its name. */
const STRICT = /gemini-(?:[3-9]|[1-9]\d|(?:[a-z]{1,10}-){1,3}latest)/;

/**
 * A request of one of Google's own clients → the body that Google gets (https://ai.google.dev/api/generate-content). Fields
 * are as the client sent them; contents are written anew, since steps may have added to them. A part as the client sent it,
 * except for its signature, lies in its `vendor.google.part`.
 */
export function toGenerateBody(request: ChatRequest): Json {
  const system: Json[] = [];
  const contents: { readonly role: string; readonly parts: Json[] }[] = [];
  const names = new Map<string, string>();
  const append = (role: string, parts: readonly Json[]): void => {
    if (parts.length === 0) return;
    const last = contents.at(-1);
    if (last?.role === role) last.parts.push(...parts);
    else contents.push({ role, parts: [...parts] });
  };
  for (const message of request.messages) {
    switch (message.role) {
      case 'system':
      case 'developer':
        system.push(...message.content.flatMap(toParts));
        break;
      case 'user':
        append('user', message.content.flatMap(toParts));
        break;
      case 'assistant':
        for (const { id, name } of message.toolCalls ?? []) names.set(id, name);
        append('model', [...message.content.flatMap(toParts), ...toCalls(message, request.model)]);
        break;
      case 'tool':
        append('user', [toResponse(message, names.get(message.toolCallId) ?? 'unknown')]);
        break;
    }
  }
  return {
    ...request.extra,
    ...(system.length === 0 ? {} : { systemInstruction: { parts: system } }),
    contents,
  };
}

function toParts(part: Part): Json[] {
  if (part.type === 'bucket') return []; // text or media by now
  const own = ownPart(part.vendor);
  if (own !== undefined)
    return [{ ...(part.type === 'media' ? withMedia(own, part) : own), ...signature(part.vendor) }];
  switch (part.type) {
    case 'text':
      return [{ text: part.text, ...signature(part.vendor) }];
    case 'reasoning':
      return [{ text: part.text, thought: true, ...signature(part.vendor) }];
    case 'media':
      return [{ ...toMedia(part), ...signature(part.vendor) }];
  }
}

/** What else a part says (`videoMetadata`) of its file, which stands inline by now if it was one of ours. */
function withMedia(own: Json, part: MediaPart): Json {
  const { fileData, ...rest } = own;
  const isElsewhere = !isObject(fileData) || fileData['fileUri'] === part.url;
  return isElsewhere ? own : { ...rest, ...toMedia(part) };
}

function toMedia({ url, mimeType }: MediaPart): Json {
  const data = heldAsBase64(url);
  if (data === undefined) return { fileData: { ...(mimeType === undefined ? {} : { mimeType }), fileUri: url } };
  return { inlineData: { mimeType: mimeTypeOf(url).mimeType ?? mimeType, data } };
}

/** Of the calls of an answer the first has to bear a signature. One that another vendor's model made has none that Google would know. */
function toCalls({ toolCalls = [] }: Of<'assistant'>, model: string): Json[] {
  const isStrict = STRICT.test(model);
  return toolCalls.map((call, index) => {
    const signed = signature(call.vendor);
    const mended = isStrict && index === 0 && signed.thoughtSignature === undefined;
    return { ...toCall(call), ...(mended ? { thoughtSignature: NO_SIGNATURE } : signed) };
  });
}

function toCall({ id, name, arguments: written, vendor }: ToolCall): Json {
  return ownPart(vendor) ?? { functionCall: { id, name, args: toolInput(written) } };
}

/** A result as it was sent, but for files of ours in it: they are inline, or text, by now. */
function toResponse({ content, toolCallId, isError, vendor }: Of<'tool'>, name: string): Json {
  const own = ownPart(vendor);
  const sent = membersOf(own?.['functionResponse']);
  if (own !== undefined && standsAsSent(sent['parts'], content)) return own;
  const texts = content.flatMap((part) => (part.type === 'text' ? [part.text] : []));
  const media = content.flatMap((part) =>
    part.type === 'media' ? toParts(part).map((each) => withName(each, part)) : [],
  );
  const { parts: _, response, ...further }: Json = { id: toolCallId, name, ...sent };
  const said = texts.join('\n');
  const result = isError === true ? { error: said } : { output: said };
  const saysItself = isObject(response) && texts.length <= 1;
  return {
    functionResponse: {
      ...further,
      response: saysItself ? response : result,
      ...(media.length === 0 ? {} : { parts: media }),
    },
  };
}

/** A result may refer to its media by the names that the client gave them (`{"$ref": name}`). */
function withName(sent: Json, { vendor }: MediaPart): Json {
  const { displayName } = membersOf(ownPart(vendor)?.['fileData']);
  const { inlineData } = sent;
  return displayName === undefined || !isObject(inlineData)
    ? sent
    : { ...sent, inlineData: { ...inlineData, displayName } };
}

function standsAsSent(parts: unknown, content: readonly Part[]): boolean {
  if (!Array.isArray(parts)) return true;
  const urls = new Set<unknown>(content.flatMap((part) => (part.type === 'media' ? [part.url] : [])));
  return parts.map(membersOf).every(({ bucketId, fileData }) => {
    return bucketId === undefined && (!isObject(fileData) || urls.has(fileData['fileUri']));
  });
}

function ownPart(vendor: VendorData | undefined): Json | undefined {
  const part = vendor?.['google']?.['part'];
  return isObject(part) ? part : undefined;
}

function signature(vendor: VendorData | undefined): { thoughtSignature?: string } {
  const signed = vendorText(vendor, 'google', 'thoughtSignature');
  return signed === undefined ? {} : { thoughtSignature: signed };
}
