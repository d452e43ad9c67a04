import { SluiceError } from '../core/errors.ts';

const SEGMENT = /^[A-Za-z0-9_+,=@-][A-Za-z0-9._+,=@-]{0,254}$/;
/** Segments of a path. */
export const MOST_SEGMENTS = 5;

/** The segments of a path that keeps to the rule of the port; anything else throws, nothing is cleaned. */
export function segmentsOf(path: string): readonly string[] {
  const segments = path.split('/', MOST_SEGMENTS + 1);
  if (segments.length > MOST_SEGMENTS || !segments.every(isSegment)) {
    throw new SluiceError(
      'invalid_request',
      `A stored file has a path of 1 to ${MOST_SEGMENTS} names of letters, digits and ._+,=@- (no leading dot).`,
    );
  }
  return segments;
}

/** Whether a name may stand in a path: 1 to 255 letters, digits and ._+,=@-, no dot in front. */
export function isSegment(name: string): boolean {
  return SEGMENT.test(name);
}
