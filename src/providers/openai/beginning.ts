import { SluiceError } from '../../core/errors.ts';
import type { Body } from '../../outbound/body.ts';
import { looksLikeEvents } from './events.ts';

/**
 * What has come of an answer once it says something, or all of it: some upstreams send empty lines until they know what to
 * say.
 *
 * @param limit bytes that may say nothing
 * @param onPiece told of every sign of life
 */
export async function beginningOf(body: Body, limit: number, onPiece = (): void => {}): Promise<Buffer> {
  const pieces: Buffer[] = [];
  for (let size = 0; ; ) {
    const { value, done } = await body.next();
    onPiece();
    if (done === true) return Buffer.concat(pieces);
    pieces.push(value);
    if (looksLikeEvents(value) !== undefined) return Buffer.concat(pieces);
    size += value.length;
    if (size <= limit) continue;
    await body.return();
    throw new SluiceError('upstream_invalid', 'The provider sent much, but nothing that says anything.');
  }
}
