import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { join } from '../core/pieces.ts';
import { Gathered, Slabs } from './slabs.ts';

function bytes(size: number, start: number): Buffer {
  return Buffer.from(Array.from({ length: size }, (_, index) => (start + index * 31) % 256));
}

describe('gathered bytes', () => {
  for (const sizes of [
    [],
    [0],
    [10, 20],
    [32 * 1024, 1],
    [20_000, 20_000, 20_000],
    [300_000],
    [256 * 1024, 256 * 1024],
    [1, 700_000, 3],
  ])
    test(`are what came in pieces of ${sizes.join(', ') || 'nothing'}`, () => {
      const slabs = new Slabs();
      const pieces = sizes.map((size, index) => bytes(size, index));
      for (let round = 0; round < 2; round += 1) {
        const gathered = new Gathered(slabs);
        for (const piece of pieces) {
          const read = Buffer.from(piece);
          gathered.add(read);
          read.fill(0);
        }
        assert.ok(join(gathered.pieces).equals(Buffer.concat(pieces)));
        assert.equal(gathered.size, Buffer.concat(pieces).length);
        gathered.release();
      }
    });

  test('take blocks that others gave back, and nothing is given back twice', () => {
    const slabs = new Slabs();
    const first = new Gathered(slabs);
    first.add(bytes(600_000, 1));
    assert.equal(slabs.free, 0);
    first.release();
    first.release();
    assert.equal(slabs.free, 3);
    const second = new Gathered(slabs);
    second.add(bytes(300_000, 2));
    assert.equal(slabs.free, 1);
  });

  test('no more blocks are kept than a few large answers need', () => {
    const slabs = new Slabs();
    const gathered = new Gathered(slabs);
    for (let part = 0; part < 100; part += 1) gathered.add(Buffer.alloc(256 * 1024));
    gathered.release();
    assert.equal(slabs.free, 64);
  });
});
