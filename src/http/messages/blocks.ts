import type { MediaPart, Part, ReasoningPart, TextPart, VendorData } from '../../core/chat.ts';
import { dataUri } from '../../core/data-uri.ts';
import { isObject, wordsOf } from '../../core/objects.ts';
import { isUploadId, uploadAddress } from '../../core/upload-address.ts';
import { openVendor, UNSIGNED } from '../../core/vendor.ts';
import { hiddenThought } from './hidden.ts';
import type { WireBlock, WireTool } from './wire.ts';

type Json = Record<string, unknown>;

/** Hears of everything in a block that only Anthropic understands, by the name of its field or block. */
export type Note = (name: string) => void;

/** A text of the content's place of blocks. */
export function textPart(text: string): TextPart {
  return { type: 'text', text };
}

/** A block of a message or a tool's result → parts. Calls and results of tools are the message's business, and none. */
export function toParts(block: WireBlock, note: Note): Part[] {
  const known = block as WireBlock & Json;
  if (!('type' in known) || known.type === undefined) {
    const { bucket_id: bucketId, name, cache_control: mark } = known as Json & { bucket_id: string; name?: string };
    return [{ type: 'bucket', bucketId, ...(name === undefined ? {} : { name }), ...own(mark, {}, note) }];
  }
  switch (known['type']) {
    case 'text': {
      const { type: _, text, cache_control: mark, ...further } = known as Json & { text: string };
      const theirs = withoutOurCitations(further);
      // Such a text was made for sources alone, and Anthropic refuses an empty one.
      if (text === '' && theirs !== further) return [];
      return [{ type: 'text', text, ...own(mark, theirs, note) }];
    }
    case 'image':
      return [toImage(known as Json & { source: Json }, note)];
    case 'document':
      return [toDocument(known as Json & { source: Json }, note)];
    case 'search_result': {
      const {
        type: _type,
        source,
        title,
        content,
        cache_control: _mark,
        ...further
      } = known as Json & {
        content: readonly { text: string }[];
      };
      const text = [`# ${wordsOf(title)}`, `Source: ${wordsOf(source)}`, ...content.map((each) => each.text)].join(
        '\n\n',
      );
      return [whole(text, known, note, further)];
    }
    case 'tool_reference': {
      const { type: _type, tool_name: name, cache_control: _mark, ...further } = known as Json;
      return [whole(changeInWords({ name: wordsOf(name), isAdded: true }), known, note, further)];
    }
    case 'thinking': {
      const { thinking, signature } = known as Json & { thinking: string };
      return [toThought(thinking, signature, 'signature', note)];
    }
    case 'redacted_thinking':
      return [toThought('', redactedData(known), 'redactedData', note)];
    case 'tool_use':
    case 'tool_result':
      return [];
    default: {
      const change = toolChange(block);
      if (change !== undefined) return [whole(changeInWords(change), known, note)];
      note(wordsOf(known['type']));
      return [whole('', known, note)];
    }
  }
}

/** A tool that the model may call from a message on, or may not any longer. */
export interface ToolChange {
  readonly name: string;
  readonly isAdded: boolean;
  /** Of a tool that is told of there for the first time, or anew. */
  readonly definition?: WireTool;
}

/** What a block changes of the tools that clients run; undefined for all other blocks, and tools of the vendor's own. */
export function toolChange(block: WireBlock): ToolChange | undefined {
  const { type, tool } = block as Json;
  const isAdded = type === 'tool_addition';
  if ((!isAdded && type !== 'tool_removal') || !isObject(tool)) return undefined;
  if (tool['type'] === 'tool_reference') return { name: wordsOf(tool['name']), isAdded };
  const definition = tool['definition'] as WireTool | undefined;
  if (!isAdded || definition === undefined || !isFunction(definition)) return undefined;
  return { name: definition.name, isAdded, definition };
}

function changeInWords({ name, isAdded }: ToolChange): string {
  return isAdded ? `The tool ${name} can be called now.` : `The tool ${name} can no longer be called.`;
}

type FunctionTool = Extract<WireTool, { input_schema: unknown }>;

/** Whether the client runs this tool. */
export function isFunction(tool: WireTool): tool is FunctionTool {
  return tool.type === undefined || tool.type === null || tool.type === 'custom';
}

/** A block that goes to Anthropic as it is; others get its text, which does not say what stands in `further`. */
function whole(text: string, block: Json, note: Note, further: Json = {}): TextPart {
  const mark = block['cache_control'];
  own(mark, further, note);
  return {
    type: 'text',
    text,
    vendor: { anthropic: { block, ...(isObject(mark) ? { cacheControl: mark } : {}) } },
  };
}

function toImage(block: Json & { source: Json }, note: Note): Part {
  const { type: _, source, cache_control: mark, ...further } = block;
  const url = addressOf(source);
  if (url === undefined) {
    note(`source.${wordsOf(source['type'])}`);
    return whole('', block, note);
  }
  return { type: 'media', kind: 'image', url, ...mimeType(source), ...own(mark, further, note) };
}

/** Texts go to others as text, since few of them take documents of any other kind than PDF. */
function toDocument(block: Json & { source: Json }, note: Note): Part {
  const { type: _, source, title, cache_control: mark, ...further } = block;
  const name = typeof title === 'string' ? { name: title } : {};
  const { context, ...unsaid } = further;
  const heading = [
    ...(typeof title === 'string' ? [`# ${title}`] : []),
    ...(typeof context === 'string' ? [context] : []),
  ];
  switch (source['type']) {
    case 'text':
      return whole([...heading, wordsOf(source['data'] ?? '')].join('\n\n'), block, note, unsaid);
    case 'content': {
      const { content } = source;
      const blocks = (Array.isArray(content) ? content : [{ type: 'text', text: content }]).filter(isObject);
      for (const { type } of blocks) if (type !== 'text') note(`source.content.${wordsOf(type)}`);
      return whole([...heading, ...blocks.map(textOf).filter((text) => text !== '')].join('\n\n'), block, note, unsaid);
    }
    default: {
      const url = addressOf(source);
      if (url === undefined) {
        note(`source.${wordsOf(source['type'])}`);
        return whole('', block, note);
      }
      const media: MediaPart = { type: 'media', kind: 'file', url, mimeType: 'application/pdf', ...name };
      return { ...media, ...mimeType(source), ...own(mark, further, note) };
    }
  }
}

function textOf({ text }: Json): string {
  return typeof text === 'string' ? text : '';
}

/** The address of a picture or document; undefined where only Anthropic can find it. */
function addressOf({ type, media_type: mediaType, data, url, file_id: id }: Json): string | undefined {
  if (type === 'file' && isUploadId(id)) return uploadAddress(id);
  if (type === 'base64' && typeof data === 'string') return dataUri(wordsOf(mediaType), data);
  return type === 'url' && typeof url === 'string' ? url : undefined;
}

function mimeType({ media_type: type }: Json): { mimeType?: string } {
  return typeof type === 'string' ? { mimeType: type.toLowerCase() } : {};
}

/** The text of a `redacted_thinking` block, also where it came back as bytes. */
export function redactedData({ data }: Json): string {
  return isObject(data) ? Buffer.from(Object.values(data) as number[]).toString('latin1') : wordsOf(data);
}

/** A signature is Anthropic's own, or holds what another vendor attached. */
function toThought(text: string, sealed: unknown, field: 'signature' | 'redactedData', note: Note): ReasoningPart {
  // Thoughts of upstreams that sign nothing come back with what they went out with.
  if (typeof sealed !== 'string' || sealed === '' || sealed === UNSIGNED) return { type: 'reasoning', text };
  const opened = openVendor(sealed);
  if (opened === undefined) note('signature');
  const hidden = opened && hiddenThought(opened);
  if (hidden !== undefined) return hidden;
  return { type: 'reasoning', text, vendor: opened ?? { anthropic: { [field]: sealed } } };
}

/** What Anthropic attached to a block: the mark for its cache, and further members. */
export function own(mark: unknown, further: Json, note: Note): { vendor?: VendorData } {
  const fields = Object.fromEntries(Object.entries(further).filter(([, value]) => value !== null));
  const said = Object.entries(fields).filter(([name, value]) => !isUsual(name, value));
  for (const [name] of said) note(name);
  if (isObject(mark)) note('cache_control');
  const anthropic = {
    ...(isObject(mark) ? { cacheControl: mark } : {}),
    ...(Object.keys(fields).length === 0 ? {} : { fields }),
  };
  return Object.keys(anthropic).length === 0 ? {} : { vendor: { anthropic } };
}

/** Members that say what is so anyway. */
function isUsual(name: string, value: unknown): boolean {
  if (name === 'caller') return isObject(value) && value['type'] === 'direct';
  return name === 'citations' && (Array.isArray(value) ? value.length === 0 : isObject(value) && !value['enabled']);
}

/** The same where there are no citations that were made here of another provider's sources: Anthropic would miss its index in these. */
function withoutOurCitations(further: Json): Json {
  const { citations, ...others } = further;
  if (!Array.isArray(citations)) return further;
  const theirs = citations.filter((each) => !isObject(each) || each['encrypted_index'] !== '');
  if (theirs.length === citations.length) return further;
  return theirs.length === 0 ? others : { ...others, citations: theirs };
}
