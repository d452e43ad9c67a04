import type { ToolCall } from './chat.ts';
import type { ToolCallDelta } from './chunk.ts';
import { SluiceError } from './errors.ts';
import { parseObject } from './objects.ts';

/** Of one answer. No model calls that many; a program that does so has no end. */
export const MOST_CALLS = 250_000;

/** 502, or the error of a stream. */
export function tooManyCalls(): SluiceError {
  return new SluiceError('upstream_invalid', `The provider called more than ${MOST_CALLS} tools in one answer.`);
}

type Growing = { -readonly [Name in keyof ToolCall]: ToolCall[Name] };

/** Puts the pieces of tool calls together. */
export class CallPieces {
  readonly #calls = new Map<number, Growing>();

  add({ index, id, name, arguments: fragment, vendor }: ToolCallDelta): void {
    const call = this.#calls.get(index) ?? { id: '', name: '', arguments: '' };
    if (id !== undefined) call.id = id;
    if (name !== undefined) call.name = name;
    if (vendor !== undefined) call.vendor = vendor;
    call.arguments += fragment;
    this.#calls.set(index, call);
  }

  /** With their indices, in the order of these. */
  entries(): readonly (readonly [number, ToolCall])[] {
    return [...this.#calls].sort(([a], [b]) => a - b);
  }

  whole(): readonly ToolCall[] {
    return this.entries().map(([, call]) => call);
  }

  clear(): void {
    this.#calls.clear();
  }
}

/**
 * The arguments of a call for whoever wants an object; text that is none is handed over under a name that tells so. Some models
 * write `null` where a tool takes none.
 */
export function toolInput(text: string): Record<string, unknown> {
  if (['', 'null'].includes(text.trim())) return {};
  return parseObject(text) ?? { rawInvalidInput: text };
}

/** Whether the pieces so far make JSON: no more of them follow then. */
export function isWholeJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
