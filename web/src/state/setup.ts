import type { Chat, Parameters } from './model.ts';
import type { Settings } from './settings.ts';

/** How answers of a chat shall be made: what the model is told first, and its parameters. */
export interface Setup {
  readonly system?: string;
  readonly parameters?: Parameters;
}

/** A parameter with the values it may have. */
export type ParameterRow =
  | {
      readonly name: 'temperature' | 'top_p' | 'presence_penalty' | 'frequency_penalty';
      readonly kind: 'range';
      readonly from: number;
      readonly to: number;
      readonly step: number;
      /** Where the slider stands while nothing is set: what most providers take then. */
      readonly usual: number;
    }
  | { readonly name: 'max_tokens' | 'seed'; readonly kind: 'count'; readonly from: number; readonly to: number }
  | { readonly name: 'reasoning_effort'; readonly kind: 'choice'; readonly values: readonly string[] };

/** All parameters that the page offers, in its order. The limits are those of the OpenAI API. */
export const PARAMETERS: readonly ParameterRow[] = [
  { name: 'temperature', kind: 'range', from: 0, to: 2, step: 0.05, usual: 1 },
  { name: 'top_p', kind: 'range', from: 0, to: 1, step: 0.01, usual: 1 },
  { name: 'max_tokens', kind: 'count', from: 1, to: 10_000_000 },
  { name: 'reasoning_effort', kind: 'choice', values: ['minimal', 'low', 'medium', 'high'] },
  { name: 'presence_penalty', kind: 'range', from: -2, to: 2, step: 0.1, usual: 0 },
  { name: 'frequency_penalty', kind: 'range', from: -2, to: 2, step: 0.1, usual: 0 },
  { name: 'seed', kind: 'count', from: 0, to: 2_147_483_647 },
];

/** What was written or chosen, as a value of the parameter; undefined: the provider's default. */
export function parseParameter(row: ParameterRow, typed: unknown): number | string | undefined {
  const text = String(typed ?? '').trim();
  if (text === '') return undefined;
  if (row.kind === 'choice') return row.values.includes(text) ? text : undefined;
  const number = Number(text.replace(',', '.'));
  if (!Number.isFinite(number)) return undefined;
  const inside = Math.min(row.to, Math.max(row.from, number));
  // 0.1 + 0.2 would be shown as 0.30000000000000004.
  return row.kind === 'count' ? Math.round(inside) : Number(inside.toFixed(2));
}

/** The parameters with one of them changed, or without it. */
export function withParameter(
  parameters: Parameters,
  name: ParameterRow['name'],
  value: number | string | undefined,
): Parameters {
  const { [name]: _, ...rest } = parameters;
  return value === undefined ? rest : { ...rest, [name]: value };
}

/** Of anything what is a setup, for files that people import. */
export function toSetup(value: unknown): Setup {
  const { system, parameters } = (value ?? {}) as { system?: unknown; parameters?: unknown };
  const given = (typeof parameters === 'object' && parameters !== null ? parameters : {}) as Record<string, unknown>;
  const taken = PARAMETERS.reduce<Parameters>(
    (all, row) => withParameter(all, row.name, parseParameter(row, given[row.name])),
    {},
  );
  return cleaned({ system: typeof system === 'string' ? system : '', parameters: taken });
}

/** Without what says nothing. */
export function cleaned({ system = '', parameters = {} }: Setup): Setup {
  return {
    ...(system.trim() === '' ? {} : { system }),
    ...(Object.keys(parameters).length === 0 ? {} : { parameters }),
  };
}

/** How much of it is set. */
export function countOf({ system, parameters = {} }: Setup): number {
  return (system?.trim() ? 1 : 0) + Object.keys(parameters).length;
}

/** In `Settings.more`: the setup of the next chat, which begins with its first message only. */
export const NEXT_SETUP = 'nextSetup';

/** The setup of a chat, or of the one that is about to begin. */
export function setupOf(chat: Pick<Chat, 'system' | 'parameters'> | undefined, settings: Settings): Setup {
  return cleaned((chat ?? settings.more[NEXT_SETUP] ?? {}) as Setup);
}
