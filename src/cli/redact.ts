import { isSecretName } from '../core/secret-names.ts';

const HIDDEN = '[hidden]';

/** Deeper fields are left out: a log line is not a dump. */
const DEEPEST = 6;

/** The fields of a log line, with keys and cookies masked, and errors reduced to what helps. */
export function fieldsWithoutSecrets(fields: object): Record<string, unknown> {
  return members(fields, 0);
}

function members(fields: object, depth: number): Record<string, unknown> {
  const clean: Record<string, unknown> = {};
  for (const [name, value] of Object.entries(fields)) {
    clean[name] = isSecretName(name) && value !== undefined ? HIDDEN : cleaned(value, depth + 1);
  }
  return clean;
}

function cleaned(value: unknown, depth: number): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Error) return describeError(value, depth);
  if (depth >= DEEPEST) return '[deeper]';
  if (Array.isArray(value)) return value.map((member) => cleaned(member, depth + 1));
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null)
    return 'toJSON' in value ? value : `[${value.constructor.name}]`;
  return members(value, depth);
}

/** Only these members: errors of libraries carry whole requests with prompts and keys. */
function describeError(error: Error, depth: number): Record<string, unknown> {
  const { code, status } = error as { code?: unknown; status?: unknown };
  return {
    type: error.name,
    message: error.message,
    ...(typeof code === 'string' ? { code } : {}),
    ...(typeof status === 'number' ? { status } : {}),
    stack: error.stack,
    ...(error.cause === undefined || depth >= DEEPEST ? {} : { cause: cleaned(error.cause, depth + 1) }),
  };
}
