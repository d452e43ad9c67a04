import type { z } from 'zod';
import { soleReference } from './interpolate.ts';
import { given, type Path, type Problem, valueAt } from './problems.ts';
import { suggest } from './suggest.ts';

/**
 * The schema's complaints as problems. What was given is shown as it stands in the file (`raw`), so that no value from
 * the environment gets into a message.
 */
export function problemsOf(error: z.ZodError, raw: unknown): Problem[] {
  return error.issues.flatMap(ofRightForm).flatMap((issue): Problem[] => {
    switch (issue.code) {
      case 'unrecognized_keys':
        return issue.keys.map((key) => unknownKey([...issue.path, key], key, issue.message.split(', ')));
      case 'invalid_key': {
        const key = String(issue.path.at(-1));
        const allowed = issue.issues[0]?.message ?? issue.message;
        return [{ path: issue.path, message: `${JSON.stringify(key)} is no possible name here; allowed: ${allowed}` }];
      }
      default: {
        const value = valueAt(raw, issue.path);
        const shown = wantsMembers(issue) && typeof value === 'string' ? 'a text' : given(value, issue.path);
        return [{ path: issue.path, message: `got ${shown}; allowed: ${issue.message}` }];
      }
    }
  });
}

/** Of a value that may have several forms, what is wrong within the one that it has; as a whole, when it has none of them. */
function ofRightForm(issue: z.core.$ZodIssue): z.core.$ZodIssue[] {
  if (issue.code !== 'invalid_union') return [issue];
  const isOther = ({ path, code }: z.core.$ZodIssue) => path.length === 0 && code !== 'unrecognized_keys';
  const [form, another] = issue.errors.filter((issues) => !issues.some(isOther));
  if (form === undefined || another !== undefined) return [issue];
  return form.map((inner) => ({ ...inner, path: [...issue.path, ...inner.path] })).flatMap(ofRightForm);
}

/**
 * The texts among the refused values that only stand there for a variable, as the numbers and switches that they are:
 * a copy of `value` with these, or undefined when there are none.
 */
export function withTypes(error: z.ZodError, value: unknown, raw: unknown): unknown {
  const places = error.issues.flatMap(ofRightForm).map(({ path }) => path);
  const typed = places.flatMap((path) => {
    const text = valueAt(value, path);
    const isVariable = soleReference(valueAt(raw, path)) !== undefined && typeof text === 'string';
    return isVariable && TYPED.test(text) ? [{ path, value: JSON.parse(text) as unknown }] : [];
  });
  if (typed.length === 0) return undefined;
  const copy: unknown = structuredClone(value);
  for (const { path, value: member } of typed) {
    const parent = valueAt(copy, path.slice(0, -1)) as Record<PropertyKey, unknown>;
    const [name = ''] = path.slice(-1);
    parent[name] = member;
  }
  return copy;
}

/** Numbers and switches, as in JSON. */
const TYPED = /^(?:true|false|-?(?:0|[1-9]\d{0,14})(?:\.\d{1,14})?)$/;

function unknownKey(path: Path, key: string, known: readonly string[]): Problem {
  const meant = suggest(key, known);
  const hint = meant === undefined ? '' : ` did you mean "${meant}"?`;
  return { path, message: `unknown key;${hint} allowed: ${known.join(', ')}` };
}

/** A text in the place of a list or map is not shown: it may well be a key that slipped there. */
function wantsMembers(issue: z.core.$ZodIssue): boolean {
  return issue.code === 'invalid_type' && ['object', 'record', 'array'].includes(issue.expected);
}
