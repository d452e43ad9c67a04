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
  const isLong = seen.size >= 12 && upper >= 2 * seen.size && upper > 3 * plain && inRuns > upper / 2;
  return isLong || isShiftJis(bytes.subarray(0, LOOKED_AT));
}

/**
 * Two kana in a row, in the Latin-1 of Shift-JIS: to windows-1252 a low quote before an accented letter, or a florin sign before a quote.
 * Katakana whose second byte is a plain letter are left out: a florin sign may well stand before one.
 */
const KANA = /(?:\x82[\x9f-\xf1]|\x83[\x80-\x96]){2}/;

/** Whether a text, be it a short one, is Shift-JIS. */
function isShiftJis(bytes: Uint8Array): boolean {
  if (!KANA.test(Buffer.from(bytes).toString('latin1'))) return false;
  try {
    // The last character may have been cut.
    new TextDecoder('shift_jis', { fatal: true }).decode(bytes, { stream: true });
    return true;
  } catch {
    return false;
  }
}
