import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { test } from 'node:test';
import fc from 'fast-check';
import { COMPILED, SCRATCH_BYTES, scratchForText } from './plain-text.ts';

test('what is compiled is what stands in plain-text.wat', async () => {
  const { default: wabt } = await import('wabt');
  const { parseWat } = await wabt();
  const source = await readFile(new URL('./plain-text.wat', import.meta.url), 'utf8');
  const { buffer } = parseWat('plain-text.wat', source, { simd: true }).toBinary({});
  assert.equal(Buffer.from(buffer).toString('base64'), COMPILED, 'npm run build:wasm prints what belongs there');
});

test('a run of plain characters ends where a look at each byte says', () => {
  const { bytes, plainUntil } = scratchForText() ?? assert.fail();
  const byte = fc.oneof(
    { weight: 40, arbitrary: fc.integer({ min: 0x23, max: 0xff }) },
    fc.integer({ max: 0xff, min: 0 }),
  );
  fc.assert(
    fc.property(fc.array(byte, { maxLength: 120 }), fc.nat(40), fc.nat(200), (text, at, offset) => {
      // What an earlier text has left is not looked at.
      bytes.fill('"', 0, 400);
      bytes.set(text, offset);
      const end = offset + text.length;
      const from = Math.min(offset + at, end);
      const found = text.findIndex(
        (each, index) => index >= from - offset && (each < 0x20 || each === 0x22 || each === 0x5c),
      );
      assert.equal(plainUntil(from, end), found === -1 ? end : offset + found);
    }),
  );
});

test('a text may fill all of the place', () => {
  const { bytes, plainUntil } = scratchForText() ?? assert.fail();
  bytes.fill('x');
  assert.equal(plainUntil(0, SCRATCH_BYTES), SCRATCH_BYTES);
  bytes[SCRATCH_BYTES - 1] = 0x22;
  assert.equal(plainUntil(5, SCRATCH_BYTES), SCRATCH_BYTES - 1);
});
