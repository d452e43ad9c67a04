import type { Usage } from '../core/chunk.ts';
import { SluiceError } from '../core/errors.ts';
import { decodeUsage } from '../core/usage.ts';
import { failureInAnswer } from '../providers/openai/failure.ts';

/** Up to this size a body is parsed; a larger one is looked at from both ends only. */
const SMALL_BYTES = 64 * 1024;
/** Where usage stands in a large body, counted from its end. */
const TAIL_BYTES = 4 * 1024;

type Json = Record<string, unknown>;

/**
 * A whole chat completion of an upstream, made fit for our clients: `provider` is added, and what is null although it is
 * absent is left out. Everything else stays byte for byte. Throws the upstream's error, if it is one.
 */
export function completionBytes(body: Buffer, provider: string): { bytes: Buffer; usage: Usage | undefined } {
  const start = body.indexOf('{');
  if (start === -1 || !body.includes('"choices"') || body.length <= SMALL_BYTES) {
    const json = parse(body);
    const failure = failureInAnswer(json);
    if (failure !== undefined) throw failure;
    if (!Array.isArray(json['choices'])) throw notACompletion();
    const usage = decodeUsage(json['usage']);
    const mended = mend(json['choices'] as unknown[]);
    return { bytes: mended ? Buffer.from(JSON.stringify({ ...json, provider })) : stamp(body, start, provider), usage };
  }
  if (!body.subarray(-TAIL_BYTES).toString('latin1').trimEnd().endsWith('}')) throw notACompletion();
  return { bytes: stamp(body, start, provider), usage: usageInTail(body) };
}

function parse(body: Buffer): Json {
  try {
    const json: unknown = JSON.parse(body.toString('utf8'));
    if (typeof json === 'object' && json !== null && !Array.isArray(json)) return json as Json;
  } catch {
    // Falls through: not JSON at all.
  }
  throw notACompletion();
}

function notACompletion(): SluiceError {
  return new SluiceError('upstream_invalid', 'The provider answered with something that is not a chat completion.');
}

function stamp(body: Buffer, start: number, provider: string): Buffer {
  return Buffer.concat([Buffer.from(`{"provider":${JSON.stringify(provider)},`), body.subarray(start + 1)]);
}

/** Client libraries stumble over null where they expect a field to be absent, or text. Returns whether anything changed. */
function mend(choices: readonly unknown[]): boolean {
  let changed = false;
  for (const choice of choices) {
    const message = (choice as { message?: unknown } | null)?.message;
    if (typeof message !== 'object' || message === null) continue;
    const fields = message as Json;
    for (const name of ['tool_calls', 'audio', 'reasoning']) {
      if (fields[name] !== null) continue;
      delete fields[name];
      changed = true;
    }
    if (fields['content'] === null) {
      fields['content'] = '';
      changed = true;
    }
    if (typeof fields['reasoning_content'] === 'string' && fields['reasoning'] === undefined) {
      fields['reasoning'] = fields['reasoning_content'];
      changed = true;
    }
  }
  return changed;
}

function usageInTail(body: Buffer): Usage | undefined {
  const tail = body.subarray(-TAIL_BYTES).toString('utf8');
  const at = tail.lastIndexOf('"usage"');
  const json = at === -1 ? null : /^"usage"\s*:\s*(\{[^{}]*(?:\{[^{}]*\}[^{}]*)*\})/.exec(tail.slice(at));
  if (json?.[1] === undefined) return undefined;
  try {
    return decodeUsage(JSON.parse(json[1]));
  } catch {
    return undefined;
  }
}
