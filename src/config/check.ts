import type { z } from 'zod';
import { given, type Path, type Problem, valueAt } from './problems.ts';
import { suggest } from './suggest.ts';

/**
 * The schema's complaints as problems. What was given is shown as it stands in the file (`raw`), so that no value from
 * the environment gets into a message.
 */
export function problemsOf(error: z.ZodError, raw: unknown): Problem[] {
  return error.issues.flatMap((issue): Problem[] => {
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

function unknownKey(path: Path, key: string, known: readonly string[]): Problem {
  const meant = suggest(key, known);
  const hint = meant === undefined ? '' : ` did you mean "${meant}"?`;
  return { path, message: `unknown key;${hint} allowed: ${known.join(', ')}` };
}

/** A text in the place of a list or map is not shown: it may well be a key that slipped there. */
function wantsMembers(issue: z.core.$ZodIssue): boolean {
  return issue.code === 'invalid_type' && ['object', 'record', 'array'].includes(issue.expected);
}
