/** What of a text is looked at, in bytes. */
const LOOKED_AT = 64 * 1024;
/** So many bytes of the upper half in a row are no word of a Western language. */
const LONG_RUN = 4;

/**
 * Whether bytes that could be windows-1252 are surely another encoding: Cyrillic, Greek, Chinese, Japanese and Korean ones have
 * nearly all letters in the upper half, in rows. A Western language mixes them with plain letters; rows of dashes have few
 * different ones, tables of characters have each of them once. Text that is mostly English tells nothing.
 */
export function isGarbledAsWestern(bytes: Uint8Array): boolean {
  const seen = new Set<number>();
  let [plain, upper, inRuns, run] = [0, 0, 0, 0];
  for (const byte of bytes.subarray(0, LOOKED_AT)) {
    if (byte >= 0x80) {
      upper += 1;
      run += 1;
      seen.add(byte);
      if (run >= LONG_RUN) inRuns += run === LONG_RUN ? LONG_RUN : 1;
      continue;
    }
    run = 0;
    const letter = byte | 0x20;
    if (letter >= 0x61 && letter <= 0x7a) plain += 1;
  }
  return seen.size >= 12 && upper >= 2 * seen.size && upper > 3 * plain && inRuns > upper / 2;
}
