import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { readName } from './media.ts';

describe('names of kept files', () => {
  const HASH = '0123456789abcdef';
  for (const [name, title, about] of [
    [`1700000000_flux+16_9+A_red_cat_${HASH}.png`, 'A red cat', 'flux · 16:9'],
    [`1700000000_A_red_cat_${HASH}.png`, 'A red cat', ''],
    [`1_audio_${HASH}.mp3`, 'audio', ''],
    ['holiday.png', 'holiday', ''],
    [`1700000000__${HASH}.png`, `1700000000__${HASH}.png`, ''],
  ] as const) {
    test(name, () => {
      assert.deepEqual(readName(name), { title, about });
    });
  }
});
