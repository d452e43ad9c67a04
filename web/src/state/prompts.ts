/** A text to begin messages with, by `/name`. */
export interface Prompt {
  readonly id: string;
  /** Without the slash: small letters, digits and hyphens. */
  readonly name: string;
  readonly title: string;
  /** May have variables: `{{name}}`, `{{name=what it is at first}}`, `{{name=one|two|three}}`. */
  readonly text: string;
  readonly updated: number;
}

/** The kind of its records. */
export const PROMPTS = 'prompts';

/** A word that is asked for when a prompt is used. */
export interface Variable {
  readonly name: string;
  readonly initial: string;
  /** There are no others, if there are any. */
  readonly choices: readonly string[];
}

const PATTERN = /\{\{\s*([\p{L}\p{N}_][\p{L}\p{N}_ -]*?)\s*(?:=([^{}]*))?\}\}/gu;

/** Those are known without asking. */
const KNOWN = new Set(['date', 'time', 'language']);

/** What has to be asked for, each name once, in the order of the text. */
export function variablesOf(text: string): readonly Variable[] {
  const found = new Map<string, Variable>();
  for (const [, name = '', given] of text.matchAll(PATTERN)) {
    if (KNOWN.has(name.toLowerCase()) && given === undefined) continue;
    const choices = given?.includes('|') ? given.split('|').map((choice) => choice.trim()) : [];
    const known = found.get(name);
    if (known !== undefined && (given === undefined || known.initial !== '')) continue;
    found.set(name, { name, initial: choices[0] ?? given?.trim() ?? '', choices });
  }
  return [...found.values()];
}

/** The values of variables: what was written for them, or what they are at first. */
export function valuesOf(
  variables: readonly Variable[],
  written: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  // Some have the name of what every object inherits.
  const own = new Map(Object.entries(written));
  return Object.fromEntries(variables.map(({ name, initial }) => [name, own.get(name) ?? initial]));
}

/** The text with the values in the places of its variables. */
export function fillIn(text: string, values: Readonly<Record<string, string>>): string {
  return text.replace(PATTERN, (whole, name: string) => {
    if (Object.hasOwn(values, name)) return values[name] ?? '';
    const own = name.toLowerCase();
    return KNOWN.has(own) && Object.hasOwn(values, own) ? (values[own] ?? '') : whole;
  });
}

/** The values that need not be asked for. */
export function knownValues(now: Date, language: string): Readonly<Record<string, string>> {
  return {
    date: now.toLocaleDateString(language, { dateStyle: 'long' }),
    time: now.toLocaleTimeString(language, { timeStyle: 'short' }),
    language: new Intl.DisplayNames([language], { type: 'language' }).of(language) ?? language,
  };
}

/** A name for `/name`, made of what was typed; empty where nothing of it can be used. */
export function slashName(typed: string): string {
  return typed
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{M}\p{N}]+/gu, '-')
    .replace(/^-|-$/g, '')
    .slice(0, 40);
}

/** The name, or one like it that is not taken. */
export function freeName(wish: string, taken: ReadonlySet<string>): string {
  const name = wish === '' ? 'prompt' : wish;
  if (!taken.has(name)) return name;
  for (let number = 2; ; number += 1) if (!taken.has(`${name}-${number}`)) return `${name}-${number}`;
}

/** Whether all words of a search are somewhere in it. */
export function promptFits({ name, title, text }: Prompt, search: string): boolean {
  const all = `${name}\n${title}\n${text}`.toLowerCase();
  return search
    .toLowerCase()
    .split(/\s+/)
    .every((word) => all.includes(word));
}

/**
 * Reads exports: Sluice's own, and those of Open WebUI (a list of `command`, `title`, `content`). Names that are taken get
 * a number.
 */
export function readPrompts(file: unknown, takenNames: readonly string[], newId: () => string): readonly Prompt[] {
  const list = Array.isArray(file) ? file : (file as { prompts?: unknown } | null)?.prompts;
  if (!Array.isArray(list)) return [];
  const taken = new Set(takenNames);
  return list.flatMap((each: unknown): Prompt[] => {
    const fields = (each ?? {}) as Readonly<Record<string, unknown>>;
    const text = fields['text'] ?? fields['content'];
    if (typeof text !== 'string' || text.trim() === '') return [];
    const title = asText(fields['title']) || asText(fields['name']);
    const wish = slashName(asText(fields['name']) || asText(fields['command']) || title);
    const name = freeName(wish, taken);
    taken.add(name);
    return [{ id: newId(), name, title: title.slice(0, 200), text, updated: Date.now() }];
  });
}

function asText(value: unknown): string {
  return typeof value === 'string' ? value.trim() : '';
}

/** As a file to take along. */
export function writePrompts(prompts: readonly Prompt[]): string {
  const list = prompts.map(({ name, title, text }) => ({ name, title, text }));
  return `${JSON.stringify({ sluice: 'prompts', prompts: list }, null, 2)}\n`;
}
