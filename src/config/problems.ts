import { isSecretName } from '../core/secret-names.ts';

/** Where a value stands in the file: keys and list positions from the top. */
export type Path = readonly PropertyKey[];

/** One thing that is wrong in the file: what was given and what is allowed, in words. */
export interface Problem {
  readonly path: Path;
  readonly message: string;
}

/** A configuration that cannot be used. */
export class ConfigError extends Error {
  /** Everything that is wrong, one line each: where it is, what was given, what is allowed. Never holds a secret. */
  readonly problems: readonly string[];
  /** The machine is at fault and not the file: what failed may work a little later. */
  readonly mayPass: boolean;

  constructor(problems: readonly string[], { mayPass = false }: { readonly mayPass?: boolean } = {}) {
    super(problems.join('\n'));
    this.name = 'ConfigError';
    this.problems = problems;
    this.mayPass = mayPass;
  }
}

/** A path as people write it: `providers.mock.models[0]`. */
export function pathText(path: Path): string {
  let text = '';
  for (const segment of path) {
    if (typeof segment === 'number') text += `[${segment}]`;
    else if (/^[\w-]+$/.test(String(segment))) text += text === '' ? String(segment) : `.${String(segment)}`;
    else text += `[${JSON.stringify(shorten(String(segment)))}]`;
  }
  return text;
}

/** The value at a path; undefined when there is none. */
export function valueAt(tree: unknown, path: Path): unknown {
  let value = tree;
  for (const segment of path) {
    if (typeof value !== 'object' || value === null || !Object.hasOwn(value, segment)) return undefined;
    value = (value as Record<PropertyKey, unknown>)[segment];
  }
  return value;
}

/** Sections in which any name may stand for a secret, and an address with a password in it. */
const SECTIONS: ReadonlySet<unknown> = new Set(['headers', 'settings', 'database']);
/** How the keys of well-known vendors begin: someone may have put one in the wrong place. */
const SECRET_VALUE = /^(?:(?:sk|pk|rk|gsk|xai|hf|gh[pousr]|github_pat|nvapi|csk|fw|pplx|r8)[-_]|AIza)[\w-]{8}/;

/** A value that was given, for a message: short, on one line, without secrets. */
export function given(value: unknown, path: Path): string {
  if (value === undefined || value === null) return 'nothing';
  if (Array.isArray(value)) return value.length === 0 ? 'an empty list' : 'a list';
  if (typeof value === 'object') return 'a map';
  if (path.some((segment) => SECTIONS.has(segment) || isSecretName(String(segment))))
    return `a ${typeof value === 'string' ? 'text' : typeof value}, which is hidden here`;
  if (typeof value !== 'string') return String(value);
  return SECRET_VALUE.test(value) ? 'a text that looks like a key' : JSON.stringify(shorten(withoutUrlSecrets(value)));
}

/** The place of the user name, the password and the query is kept, their text is not. */
function withoutUrlSecrets(text: string): string {
  return text.replace(/\/\/[^/@\s]*@/, '//…@').replace(/\?.*/s, '?…');
}

function shorten(text: string): string {
  return text.length > 60 ? `${text.slice(0, 60)}…` : text;
}
