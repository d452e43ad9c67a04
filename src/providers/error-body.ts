/** Bytes of an error answer that are read. */
const ERROR_BYTES = 64 * 1024;

/** The beginning of an error answer; what follows is not taken in. */
export async function errorBody(body: AsyncIterable<Uint8Array> | null): Promise<Buffer> {
  const pieces: Uint8Array[] = [];
  let size = 0;
  try {
    for await (const piece of body ?? []) {
      pieces.push(piece);
      size += piece.length;
      if (size >= ERROR_BYTES) break;
    }
  } catch {
    // The status alone says enough.
  }
  return Buffer.concat(pieces).subarray(0, ERROR_BYTES);
}
