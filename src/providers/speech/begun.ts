/**
 * Waits for the first bytes of a body, so that what fails before them can still become a status, and gives the body
 * from its beginning.
 */
export async function begun(body: AsyncIterator<Uint8Array>): Promise<AsyncIterable<Uint8Array>> {
  let first: IteratorResult<Uint8Array> | undefined = await body.next();
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
