import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { keptNames, readName } from './media.ts';
import type { Message } from './model.ts';

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

test('of answers the server keeps what is at its addresses, and nothing at one that is none', () => {
  const urls = [
    '/media/a%20b.png',
    '/media/a%20b.png?x=1',
    '/media/c.mp3',
    '/media/100%.png',
    'https://example.com/media/d.png',
  ];
  const parts = urls.map((url) => ({ type: 'media', kind: 'image', url }) as const);
  const answer: Message = { id: 'm', chat: 'c', parent: null, role: 'assistant', parts, createdAt: 1 };
  assert.deepEqual([...keptNames([answer])], ['a b.png', 'c.mp3']);
});
