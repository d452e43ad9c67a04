import { answeredAs } from '../core/answered-as.ts';
import { MOST_CHOICES } from '../core/chat.ts';
import type { AnsweredAs, Usage } from '../core/chunk.ts';
import { SluiceError } from '../core/errors.ts';
import { isObject, membersOf, objectsIn } from '../core/objects.ts';
import { decodeUsage, encodeUsage } from '../core/usage.ts';
import { completionId } from '../providers/openai/ids.ts';
import { ToolCalls } from '../providers/openai/tool-calls.ts';
import { isVisibleMessage, mendDelta } from './mend.ts';

const OBJECT = 'chat.completion.chunk';
/** Members that are kept for the end of what an upstream says beside all choices, and characters of JSON that one may have. */
const MOST_ASIDE = 32;
const LONGEST_ASIDE = 64 * 1024;

type Json = Record<string, unknown>;

/** What the chunks of one answer shall say of it, and what the client asked for. */
export interface ChunkOptions {
  readonly provider: string;
  /** Where the upstream does not name its model. */
  readonly model: string;
  /** The client asked for usage in a chunk of its own (`stream_options.include_usage`). */
  readonly wantsUsage: boolean;
  /** How many choices were asked for. */
  readonly choices: number;
}

/** A chunk for the client. */
export interface Mended {
  readonly chunk: Json;
  /** Nothing was changed but, perhaps, its name. */
  readonly isIntact: boolean;
  /** Id, model and the like were right; only the provider was added. */
  readonly isNamed: boolean;
}

/**
 * The chunks of one streamed answer, made what dialect B promises: each names the answer, the model and the provider; one
 * finish for every choice, at the very end and with the usage; nothing null that has to be absent.
 */
export class ChunkMender {
  readonly #options: ChunkOptions;
  readonly #calls = new Map<number, ToolCalls>();
  /** The choices that were seen, and how those ended that did. */
  readonly #choices = new Map<number, Json | undefined>();
  readonly #introduced = new Set<number>();
  #visible = false;
  #ending = false;
  #usage: Usage | undefined;
  #id = '';
  #created = 0;
  #model = '';
  /** What else the upstream says of the answer, for example its `system_fingerprint`. */
  #fields: Json = {};
  /** What it says in chunks of which no choice is shown: llama.cpp's `timings`, Azure's `prompt_filter_results`. */
  readonly #aside = new Map<string, unknown>();

  constructor(options: ChunkOptions) {
    this.#options = options;
  }

  /** Whether a client has something to see: content, reasoning, a tool call, media. */
  get visible(): boolean {
    return this.#visible;
  }

  /** Whether a choice has come to its end. */
  get ending(): boolean {
    return this.#ending;
  }

  /** Whether all that were seen have: enough for an end that the upstream itself has made. */
  get ended(): boolean {
    if (this.#choices.size === 0) return false;
    for (const finish of this.#choices.values()) if (finish === undefined) return false;
    return true;
  }

  /** Whether all that were asked for have: enough for any end. */
  get complete(): boolean {
    return this.#choices.size >= this.#options.choices && this.ended;
  }

  /** Whether a choice that has not come to its end stops in the middle of a tool call. */
  get isCut(): boolean {
    for (const [index, finish] of this.#choices)
      if (finish === undefined && this.#calls.get(index)?.isCut === true) return true;
    return false;
  }

  get usage(): Usage | undefined {
    return this.#usage;
  }

  /** As clients see it. */
  get answeredAs(): AnsweredAs | undefined {
    return answeredAs(this.#id, this.#modelName).answeredAs;
  }

  get finish(): string | undefined {
    for (const finish of this.#choices.values()) if (finish !== undefined) return String(finish['finish_reason']);
    return undefined;
  }

  /**
   * What a client gets of a chunk; undefined: nothing now. What belongs to the end is kept for it. Throws for more choices or calls
   * than there can be.
   */
  mend(chunk: Json): Mended | undefined {
    const usage = decodeUsage(chunk['usage']);
    if (usage !== undefined) this.#usage = usage;
    const choices = choicesOf(chunk);
    if (choices.length === 0) return this.#keepAside(chunk);
    let isIntact = !isObject(chunk['usage']);
    if (!isIntact || this.lacksUsage(chunk)) delete chunk['usage'];
    const shown: Json[] = [];
    const before = this.#fields;
    for (const choice of choices) {
      const delta = deltaOf(choice);
      const index = typeof choice['index'] === 'number' ? choice['index'] : 0;
      if (mendDelta(delta, this.#callsOf(index)) || delta !== choice['delta'] || index !== choice['index']) {
        Object.assign(choice, { index, delta });
        delete choice['message'];
        isIntact = false;
      }
      const isVisible = isVisibleMessage(delta);
      this.#visible ||= isVisible;
      if (this.#ends(choice, index, delta, isVisible, chunk)) isIntact = false;
      if (!isVisible && this.#choices.get(index) !== undefined) continue;
      if (this.#introduce(index, delta)) isIntact = false;
      shown.push(choice);
    }
    // An end's own fields are kept with it.
    if (shown.length === 0) return this.#fields === before ? this.#keepAside(chunk) : undefined;
    if (shown.length < (chunk['choices'] as unknown[]).length) {
      chunk['choices'] = shown;
      isIntact = false;
    }
    return { chunk, isIntact, isNamed: this.#name(chunk) };
  }

  /** Upstreams are always asked for usage, and say null until there is one: to a client that did not ask, they say nothing. */
  lacksUsage({ usage }: Json): boolean {
    return usage === null && !this.#options.wantsUsage;
  }

  /** What all chunks have in common, the fields of this one first. */
  nameOf(chunk: Json): Json {
    const { id, created, model } = chunk;
    if (this.#id === '') this.#id = typeof id === 'string' && id !== '' ? id : completionId();
    if (Number.isSafeInteger(created)) this.#created = Number(created);
    else if (this.#created === 0) this.#created = Math.floor(Date.now() / 1000);
    if (typeof model === 'string' && model !== '') this.#model = model;
    return {
      id: this.#id,
      object: OBJECT,
      created: this.#created,
      model: this.#modelName,
      provider: this.#options.provider,
    };
  }

  get #modelName(): string {
    return this.#model === '' ? this.#options.model : this.#model;
  }

  /** The end of the answer, chunk by chunk. `estimated` counts where the upstream did not. */
  closing(estimated: Usage): Json[] {
    this.#usage ??= estimated;
    const usage = encodeUsage(this.#usage);
    const head = this.nameOf({});
    const indices = this.#choices.size === 0 ? [0] : [...this.#choices.keys()].sort((a, b) => a - b);
    const chunks: Json[] = indices.map((index) => ({ ...this.#fields, ...head, choices: [this.#endOf(index)] }));
    const aside = Object.fromEntries(this.#aside);
    if (this.#options.wantsUsage) chunks.push({ ...aside, ...head, choices: [], usage });
    else Object.assign(chunks.at(-1) ?? {}, aside, { usage });
    return chunks;
  }

  /** Clients that did not ask for chunks without choices would stumble over one, so the last one says it. */
  #keepAside({ id, object, created, model, provider, choices, usage, ...said }: Json): undefined {
    // What has no choices at all, such as a sign of life, is no chunk.
    if (!Array.isArray(choices)) return;
    for (const [name, value] of Object.entries(said)) {
      if (this.#aside.size >= MOST_ASIDE && !this.#aside.has(name)) continue;
      if (JSON.stringify(value).length <= LONGEST_ASIDE) this.#aside.set(name, value);
    }
  }

  /** Takes the finish out of a choice. Returns whether the choice was changed by that. */
  #ends(choice: Json, index: number, delta: Json, isVisible: boolean, chunk: Json): boolean {
    const reason = choice['finish_reason'];
    if (reason === null || reason === undefined) {
      if (!this.#choices.has(index)) this.#choices.set(index, undefined);
      if (reason === null) return false;
      // Google's compatible interface leaves it out until the end.
      choice['finish_reason'] = null;
      return true;
    }
    choice['finish_reason'] = null;
    if (typeof reason !== 'string' || reason === '') {
      if (!this.#choices.has(index)) this.#choices.set(index, undefined);
      return true;
    }
    const said = isVisible ? { index, delta: { content: '' } } : { ...choice, delta: { ...delta, content: '' } };
    this.#ending = true;
    this.#choices.set(index, { ...said, finish_reason: reason });
    const { choices: _choices, usage: _usage, ...fields } = chunk;
    this.#fields = fields;
    return true;
  }

  /** How a choice ended; one whose upstream only said that all is over ended as answers do. */
  #endOf(index: number): Json {
    const reason = this.#calls.get(index)?.any === true ? 'tool_calls' : 'stop';
    const delta = { content: '' };
    const end = this.#choices.get(index) ?? { index, delta, finish_reason: reason };
    this.#introduce(index, deltaOf(end));
    return end;
  }

  /** Libraries that put an answer together want to hear once who speaks. Returns whether the upstream had left that out. */
  #introduce(index: number, delta: Json): boolean {
    if (this.#introduced.has(index)) return false;
    this.#introduced.add(index);
    if (typeof delta['role'] === 'string') return false;
    delta['role'] = 'assistant';
    return true;
  }

  #callsOf(index: number): ToolCalls {
    let calls = this.#calls.get(index);
    if (calls === undefined) {
      if (this.#calls.size >= MOST_CHOICES)
        throw new SluiceError('upstream_invalid', `The provider gave more than ${MOST_CHOICES} choices.`);
      calls = new ToolCalls();
      this.#calls.set(index, calls);
    }
    return calls;
  }

  /** Gives the chunk its name. Returns whether it had it, save for the provider. */
  #name(chunk: Json): boolean {
    const name = this.nameOf(chunk);
    const isNamed =
      chunk['id'] === name['id'] &&
      chunk['object'] === OBJECT &&
      chunk['created'] === name['created'] &&
      chunk['model'] === name['model'] &&
      !Object.hasOwn(chunk, 'provider');
    Object.assign(chunk, name);
    return isNamed;
  }
}

/** The choices of a chunk that are any; `index` and `delta` may still be missing. */
function choicesOf(chunk: Json): Json[] {
  return objectsIn(chunk['choices']);
}

function deltaOf({ delta, message }: Json): Json {
  if (isObject(delta)) return delta;
  return membersOf(message);
}
