import type { SluiceError } from '../../core/errors.ts';
import { errorText } from '../edge/errors.ts';

/** An error as Ollama tells of it: in words. Our code stands beside them. */
export function errorBody(error: SluiceError): Record<string, unknown> {
  const { param } = error.options;
  return { error: errorText(error), code: error.code, ...(param === undefined ? {} : { param }) };
}
