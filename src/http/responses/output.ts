import type { VendorData } from '../../core/chat.ts';
import type { Chunk, ItemEvent, MediaRef, Searched, Source } from '../../core/chunk.ts';
import { heldAsBase64, mimeTypeOf } from '../../core/data-uri.ts';
import { unreachable } from '../../core/errors.ts';
import { membersOf, textOf, without } from '../../core/objects.ts';
import { mediaInWords } from '../../media/link.ts';
import type { Callable } from './callables.ts';
import { ClientCalls } from './client-calls.ts';
import { type Emit, type Growing, GrowingItems, placeOf } from './growing.ts';
import { HostedItems } from './hosted.ts';
import { type KeptItem, partKey, shown } from './items.ts';
import type { Json } from './wire.ts';

interface TextPart {
  readonly type: 'output_text' | 'refusal';
  readonly index: number;
  text: string;
  readonly annotations: Json[];
  /** Where it begins in the whole text of the answer, in UTF-16 units. */
  readonly offset: number;
  /** Its vendor has said that the block is over. */
  isOver: boolean;
}

/**
 * Chunks → output items and the events that tell of them. The same chunks always make the same items and events, down to
 * their ids, so that an answer can be replayed from what was kept of it.
 */
export class Output {
  readonly #emit: Emit;
  readonly #encrypted: boolean;
  readonly #items: GrowingItems;
  #open: Growing | undefined;
  #part: TextPart | undefined;
  readonly #calls: ClientCalls;
  readonly #hosted: HostedItems;
  /** What follows is another part of the thoughts. */
  #thoughtIsOver = false;
  #length = 0;
  #sources: Source[] = [];

  /**
   * @param encrypted whether clients get what vendors attached, to hand it back
   * @param callables the tools of the request, by the names that models know them by
   */
  constructor(response: string, encrypted: boolean, emit: Emit, callables: ReadonlyMap<string, Callable> = new Map()) {
    this.#encrypted = encrypted;
    this.#emit = emit;
    this.#items = new GrowingItems(response, encrypted, emit);
    this.#calls = new ClientCalls(response, this.#items, emit, callables);
    this.#hosted = new HostedItems(this.#items, emit);
  }

  /** What there is so far, the part that is being written included. */
  get items(): readonly KeptItem[] {
    return this.#items.kept((growing) =>
      growing === this.#open && this.#part !== undefined ? partFields(this.#part) : undefined,
    );
  }

  /** The same for clients. */
  shown(encrypted: boolean = this.#encrypted): readonly Json[] {
    return this.items.map((item) => shown(item, encrypted));
  }

  add(chunk: Chunk): void {
    switch (chunk.type) {
      case 'content':
        this.#text('output_text', chunk.content, chunk.vendor);
        break;
      case 'refusal':
        this.#text('refusal', chunk.refusal);
        break;
      case 'reasoning':
        this.#think(chunk.reasoning, chunk.vendor);
        break;
      case 'source':
        if (this.#part?.type === 'output_text') this.#annotate(this.#part, chunk.source);
        else this.#sources.push(chunk.source);
        break;
      case 'search':
        this.#closeAll();
        this.search(chunk.search);
        break;
      case 'item':
        this.#item(chunk.item);
        break;
      case 'tool_call':
        if (!this.#calls.has(chunk.tool_call.index)) this.#close();
        this.#calls.add(chunk.tool_call);
        break;
      case 'media':
        this.#media(chunk.media);
        break;
      case 'provider':
      case 'parameters':
      case 'conversation':
      case 'preview':
      case 'suggestions':
      case 'title':
      case 'usage':
      case 'log':
      case 'auth':
      case 'error':
      case 'finish':
        break;
      default:
        unreachable(chunk);
    }
  }

  /** A search that is over. */
  search({ query, isUsed }: Searched): void {
    const call = this.#items.begin('ws', {
      type: 'web_search_call',
      status: 'in_progress',
      action: { type: 'search', query, queries: [query] },
    });
    this.#emit('response.web_search_call.in_progress', placeOf(call));
    this.#emit('response.web_search_call.searching', placeOf(call));
    if (isUsed) this.#emit('response.web_search_call.completed', placeOf(call));
    this.#items.done(call, { status: isUsed ? 'completed' : 'failed' });
  }

  /** Nothing follows. An answer has a message, even if it says nothing. */
  end(status: 'completed' | 'incomplete'): void {
    if (this.#sources.length > 0 || (status === 'completed' && this.#items.length === 0)) this.#partOf('output_text');
    this.#close({ status });
    this.#calls.end(status);
  }

  /** What comes next stands behind all that has been said. */
  #closeAll(): void {
    this.#close();
    this.#calls.interrupt();
  }

  // Messages

  #text(type: TextPart['type'], text: string, vendor?: VendorData): void {
    if (text !== '') {
      const part = this.#partOf(type);
      const item = this.#message();
      part.text += text;
      if (type === 'output_text') this.#length += text.length;
      this.#emit(`response.${type}.delta`, {
        item_id: item.id,
        output_index: item.index,
        content_index: part.index,
        delta: text,
        ...(type === 'output_text' ? { logprobs: [] } : {}),
      });
    }
    if (vendor === undefined || this.#part === undefined || this.#open === undefined) return;
    this.#part.isOver = true;
    this.#open.parts ??= [];
    while (this.#open.parts.length < this.#part.index) this.#open.parts.push(null);
    this.#open.parts[this.#part.index] = vendor;
  }

  #message(): Growing {
    if (this.#open?.item['type'] === 'message') return this.#open;
    this.#closeAll();
    this.#open = this.#items.begin('msg', { type: 'message', status: 'in_progress', role: 'assistant', content: [] });
    return this.#open;
  }

  #partOf(type: TextPart['type']): TextPart {
    const message = this.#message();
    if (this.#part !== undefined && (this.#part.isOver || this.#part.type !== type)) this.#closePart(message);
    if (this.#part !== undefined) return this.#part;
    const index = (message.item['content'] as Json[]).length;
    const part: TextPart = { type, index, text: '', annotations: [], offset: this.#length, isOver: false };
    this.#part = part;
    this.#emit('response.content_part.added', { ...placeOf(message), content_index: index, part: partFields(part) });
    if (type === 'output_text') {
      for (const source of this.#sources) this.#annotate(part, source);
      this.#sources = [];
    }
    return part;
  }

  #annotate(part: TextPart, { url, title, start, end }: Source): void {
    this.#note(part, {
      type: 'url_citation',
      url,
      title: title ?? '',
      start_index: Math.max(0, (start ?? part.offset) - part.offset),
      end_index: Math.max(0, (end ?? part.offset) - part.offset),
    });
  }

  #note(part: TextPart, annotation: Json): void {
    const message = this.#message();
    part.annotations.push(annotation);
    this.#emit('response.output_text.annotation.added', {
      ...placeOf(message),
      content_index: part.index,
      annotation_index: part.annotations.length - 1,
      annotation,
    });
  }

  /** @param written the part as its upstream wrote it, which may say more of the same text */
  #closePart(message: Growing, written: Json = {}): void {
    const part = this.#part;
    if (part === undefined) return;
    this.#part = undefined;
    const own = partFields(part);
    const isSame = written['type'] === part.type && (written['text'] ?? written['refusal']) === part.text;
    const fields = isSame ? { ...own, ...written } : own;
    (message.item['content'] as Json[]).push(fields);
    const place = { ...placeOf(message), content_index: part.index };
    if (part.type === 'refusal') this.#emit('response.refusal.done', { ...place, refusal: part.text });
    else this.#emit('response.output_text.done', { ...place, text: part.text, logprobs: [] });
    this.#emit('response.content_part.done', { ...place, part: fields });
  }

  // Thoughts

  #think(text: string, vendor: VendorData | undefined): void {
    if (text === '' && vendor === undefined) return;
    if (this.#open?.item['type'] !== 'reasoning') {
      this.#closeAll();
      this.#open = this.#items.begin('rs', { type: 'reasoning', status: 'in_progress', summary: [] });
    }
    const { item } = this.#open;
    const summary = item['summary'] as { type: string; text: string }[];
    if (text !== '') {
      const isNext = summary.length === 0 || this.#thoughtIsOver;
      const place = { ...placeOf(this.#open), summary_index: summary.length - (isNext ? 0 : 1) };
      this.#thoughtIsOver = false;
      if (isNext) {
        this.#emit('response.reasoning_summary_part.added', { ...place, part: { type: 'summary_text', text: '' } });
        summary.push({ type: 'summary_text', text: '' });
      }
      const part = summary.at(-1);
      if (part !== undefined) part.text += text;
      this.#emit('response.reasoning_summary_text.delta', { ...place, delta: text });
    }
    if (vendor === undefined) return;
    this.#open.vendor = vendor;
    this.#close();
  }

  // Items of an upstream of this API

  #item({ event }: ItemEvent): void {
    const { type, sequence_number: _, ...fields } = event;
    const item = membersOf(event['item']);
    const isMessage = item['type'] === 'message';
    switch (type) {
      case 'response.output_item.added':
        this.#closeAll();
        if (isMessage) this.#open = this.#items.begin('msg', { ...without(item, 'id'), content: [] });
        else this.#hosted.begin(item);
        break;
      case 'response.output_item.done':
        if (!isMessage) this.#hosted.end(item);
        else if (this.#open?.item['type'] === 'message') this.#close(item);
        break;
      case 'response.content_part.done':
        if (this.#open !== undefined) this.#closePart(this.#open, membersOf(event['part']));
        break;
      case 'response.output_text.annotation.added':
        if (this.#part !== undefined) this.#note(this.#part, membersOf(event['annotation']));
        break;
      case 'response.reasoning_summary_part.added':
        if (this.#open?.item['type'] === 'reasoning') this.#thoughtIsOver = true;
        break;
      default:
        this.#hosted.goOn(textOf(type), fields);
    }
  }

  // Media

  /** A picture is an item; anything else, for which the format has no place, a link or what it says. */
  #media(media: MediaRef): void {
    const data = heldAsBase64(media.url);
    if (media.kind !== 'image' || data === undefined) {
      this.#text('output_text', mediaInWords(media));
      return;
    }
    this.#closeAll();
    const image = this.#items.begin('ig', { type: 'image_generation_call', status: 'in_progress', result: null });
    const place = placeOf(image);
    this.#emit('response.image_generation_call.in_progress', place);
    this.#emit('response.image_generation_call.generating', place);
    this.#emit('response.image_generation_call.completed', place);
    image.item['result'] = data;
    const type = media.mimeType ?? mimeTypeOf(media.url).mimeType ?? 'image/png';
    image.item['output_format'] = type.replace(/^image\//, '');
    this.#items.done(image, { status: 'completed' });
  }

  /** @param members what else its upstream says of a message, its `status` among it */
  #close({ id: _, content: __, ...members }: Json = {}): void {
    const open = this.#open;
    if (open === undefined) return;
    this.#open = undefined;
    this.#thoughtIsOver = false;
    if (open.item['type'] === 'message') this.#closePart(open);
    else {
      for (const [index, part] of (open.item['summary'] as { text: string }[]).entries()) {
        const place = { ...placeOf(open), summary_index: index };
        this.#emit('response.reasoning_summary_text.done', { ...place, text: part.text });
        this.#emit('response.reasoning_summary_part.done', { ...place, part: { ...part } });
      }
    }
    this.#items.done(open, { status: 'completed', ...members });
    for (const [index, vendor] of (open.parts ?? []).entries()) this.#items.carry(partKey(open.id, index), vendor);
  }
}

function partFields({ type, text, annotations }: TextPart): Json {
  if (type === 'refusal') return { type, refusal: text };
  return { type, annotations: [...annotations], logprobs: [], text };
}
