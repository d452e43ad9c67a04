import { SluiceError } from '../../core/errors.ts';

/**
 * Waits for the first bytes of a body, so that what fails before them can still become a status, and gives the body
 * from its beginning. Throws when there are none.
 *
 * @param label who sends the body, for people
 */
export async function begun(body: AsyncIterator<Uint8Array>, label: string): Promise<AsyncIterable<Uint8Array>> {
  let first: IteratorResult<Uint8Array> | undefined = await body.next();
  if (first.done === true) throw new SluiceError('upstream_invalid', `${label} answered without any audio.`);
  // No generator: one that was never asked for anything would not pass on that nobody wants it.
  const iterator: AsyncIterator<Uint8Array> = {
    async next() {
      const result = first ?? (await body.next());
      first = undefined;
      return result;
    },
    async return() {
      await body.return?.();
      return { value: undefined, done: true };
    },
  };
  return { [Symbol.asyncIterator]: () => iterator };
}
