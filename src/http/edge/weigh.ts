import { SluiceError } from '../../core/errors.ts';
import { endOfString } from '../../core/json.ts';

/** Up to this size a body cannot hold enough values to do harm. */
const SMALL_BYTES = 128 * 1024;
/** In one body. A chat at all its other limits (10,000 messages, 1,000 tools) has fewer. */
const MOST_VALUES = 200_000;
/** Of the outermost object. */
export const MOST_FIELDS = 1_000;

const QUOTE = 0x22;

/**
 * Looks over a large body before it is parsed. A few megabytes of `0,0,0,…` or `[[[[…` become gigabytes of objects and
 * seconds of work, while everybody else waits. The bytes may be anything; what is no JSON is found out later.
 */
export function weighJson(bytes: Buffer, limits: { readonly jsonDepth: number }): void {
  if (bytes.length <= SMALL_BYTES) return;
  let depth = 0;
  let values = 0;
  let fields = 0;
  for (let at = 0; at < bytes.length; at += 1) {
    switch (bytes[at]) {
      case QUOTE:
        at = endOfString(bytes, at) - 1;
        break;
      case 0x7b: // {
      case 0x5b: // [
        depth += 1;
        if (depth > limits.jsonDepth) throw tooDeep(limits.jsonDepth);
        break;
      case 0x7d: // }
      case 0x5d: // ]
        depth -= 1;
        break;
      case 0x2c: // ,
        values += 1;
        if (depth === 1) fields += 1;
        if (values >= MOST_VALUES)
          throw new SluiceError(
            'invalid_request',
            `The body has more than ${MOST_VALUES} values, which is a fixed limit.`,
          );
        if (fields >= MOST_FIELDS) throw tooManyFields();
    }
  }
}

/** 400. `limit` is `limits.jsonDepth`. */
export function tooDeep(limit: number): SluiceError {
  return new SluiceError('invalid_request', `The body nests deeper than ${limit} levels.`);
}

/** 400. Of the outermost object alone. */
export function tooManyFields(): SluiceError {
  return new SluiceError('invalid_request', `The body has more than ${MOST_FIELDS} fields, which is a fixed limit.`);
}
