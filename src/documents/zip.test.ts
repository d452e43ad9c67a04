import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { describe, test } from 'node:test';
import zlib from 'node:zlib';
import fc from 'fast-check';
import { text, zip } from '../../test/fixtures/documents/hostile.ts';
import { DEFAULT_LIMITS, openBudget, Refusal } from './conversion.ts';
import { writeZip } from './write-zip.ts';
import { openZip } from './zip.ts';

const open = (bytes: Uint8Array, limits = {}) => openZip(bytes, openBudget({ ...DEFAULT_LIMITS, ...limits }));
const read = (bytes: Uint8Array): [string, string][] => {
  const opened = open(bytes);
  return opened.entries.map((entry) => [entry.path, Buffer.from(opened.read(entry)).toString()]);
};

test('stored and packed entries are read, folders are none', () => {
  assert.deepEqual(read(zip([text('a.txt', 'one'), text('b/', ''), text('b/c.txt', 'two')])), [
    ['a.txt', 'one'],
    ['b/c.txt', 'two'],
  ]);
  assert.deepEqual(read(writeZip([['ä.txt', Buffer.from('one')]])), [['ä.txt', 'one']]);
  assert.deepEqual(read(zip([])), []);
});

test('a comment behind the end, and something before the beginning', () => {
  const plain = zip([text('a.txt', 'one')]);
  const commented = Buffer.concat([plain, Buffer.from('comment PK\x05\x06')]);
  commented.writeUInt16LE(12, plain.length - 2);
  assert.deepEqual(read(commented), [['a.txt', 'one']]);
});

test('names that are no UTF-8 are Latin-1', () => {
  const bytes = Buffer.from(
    zip([text('a_b.txt', 'one')])
      .toString('latin1')
      .replaceAll('a_b', 'aäb'),
    'latin1',
  );
  assert.deepEqual(read(bytes), [['aäb.txt', 'one']]);
});

test('a directory in the wide form', () => {
  const plain = zip([text('a.txt', 'one'), text('b.txt', 'two')]);
  const end = Buffer.from(plain.subarray(-22));
  const wide = Buffer.alloc(56 + 20);
  wide.writeUInt32LE(0x06064b50, 0);
  for (const field of [24, 32]) wide.writeBigUInt64LE(2n, field);
  wide.writeBigUInt64LE(BigInt(end.readUInt32LE(16)), 48);
  wide.writeUInt32LE(0x07064b50, 56);
  wide.writeBigUInt64LE(BigInt(plain.length - 22), 64);
  for (const field of [8, 10]) end.writeUInt16LE(0xffff, field);
  end.writeUInt32LE(0xffffffff, 16);
  assert.deepEqual(read(Buffer.concat([plain.subarray(0, -22), wide, end])), [
    ['a.txt', 'one'],
    ['b.txt', 'two'],
  ]);
});

test('sizes in the wide form', () => {
  const plain = zip([text('a.txt', 'one')]);
  const at = plain.indexOf('PK\x01\x02', 0, 'latin1');
  const extra = Buffer.alloc(4 + 24);
  extra.writeUInt16LE(1, 0);
  extra.writeUInt16LE(24, 2);
  extra.writeBigUInt64LE(3n, 4);
  extra.writeBigUInt64LE(BigInt(plain.readUInt32LE(at + 20)), 12);
  extra.writeBigUInt64LE(0n, 20);
  const entry = Buffer.from(plain.subarray(at, at + 46 + 5));
  for (const field of [20, 24, 42]) entry.writeUInt32LE(0xffffffff, field);
  entry.writeUInt16LE(extra.length, 30);
  assert.deepEqual(read(Buffer.concat([plain.subarray(0, at), entry, extra, plain.subarray(at + 51)])), [
    ['a.txt', 'one'],
  ]);
});

describe('what is wrong is refused', () => {
  test('a checksum that does not fit', () => {
    const bytes = zip([text('a.txt', 'one')]);
    const at = bytes.indexOf('PK\x01\x02', 0, 'latin1');
    bytes.writeUInt32LE(0, at + 16);
    assert.throws(() => read(bytes), { name: 'Refusal', message: 'is damaged' });
  });

  for (const claimedSize of [0, 2, 4]) {
    test(`three bytes that say they are ${claimedSize}`, () => {
      assert.throws(() => read(zip([{ ...text('a.txt', 'one'), claimedSize }])), { message: 'is damaged' });
    });
  }

  test('a bomb that says it is small is unpacked no further than that', (context) => {
    const bomb = zip([{ path: 'a.txt', bytes: Buffer.alloc(1024 * 1024), claimedSize: 4 }]);
    // Either way it is refused in the same words; zlib's own answer tells how far it went.
    const unpacking = context.mock.method(zlib, 'inflateRawSync');
    syncBuiltinESMExports();
    try {
      assert.throws(() => read(bomb), { message: 'is damaged' });
    } finally {
      unpacking.mock.restore();
      syncBuiltinESMExports();
    }
    const [call] = unpacking.mock.calls;
    assert.equal(Object(call?.error).code, 'ERR_BUFFER_TOO_LARGE');
  });

  test('a name that is longer than all that comes', () => {
    const bytes = zip([text('a.txt', 'one')]);
    bytes.writeUInt16LE(0xffff, bytes.indexOf('PK\x01\x02', 0, 'latin1') + 28);
    assert.throws(() => open(bytes), { message: 'is damaged' });
  });

  test('a method that is not supported', () => {
    const bytes = zip([text('a.txt', 'one')]);
    bytes.writeUInt16LE(14, bytes.indexOf('PK\x01\x02', 0, 'latin1') + 10);
    assert.throws(() => read(bytes), { message: 'is packed by a method that is not supported' });
  });

  test('more than the limits', () => {
    const two = zip([text('a.txt', 'one'), text('b.txt', 'two')]);
    assert.throws(() => open(two, { entries: 1 }), { message: 'holds 2 files; at most 1 are unpacked' });
    assert.equal(open(two, { entries: 2 }).entries.length, 2);
    assert.throws(() => open(two, { unpackedBytes: 5 }), { message: /unpacks to more than/ });
    assert.equal(open(two, { unpackedBytes: 6 }).entries.length, 2);
    const well = zip([{ path: 'a.txt', bytes: Buffer.alloc(2_000_000) }]);
    assert.throws(() => open(well), { message: 'unpacks to more than 100 times its size' });
    assert.equal(open(well, { ratio: 2_000 }).entries.length, 1);
    const little = zip([{ path: 'a.txt', bytes: Buffer.alloc(1_000_000) }]);
    assert.equal(open(little).entries.length, 1, 'below a megabyte nothing is a bomb');
  });

  test('entries that lie over each other', () => {
    const one = zip([{ path: 'a.txt', bytes: randomBytes(20_000) }]);
    const at = one.indexOf('PK\x01\x02', 0, 'latin1');
    const end = one.indexOf('PK\x05\x06', 0, 'latin1');
    const many = Buffer.concat([
      one.subarray(0, at),
      ...Array.from({ length: 60 }, () => one.subarray(at, end)),
      one.subarray(end),
    ]);
    many.writeUInt16LE(60, many.length - 22 + 10);
    assert.throws(() => open(many), { message: 'is damaged' });
  });

  test('zips share a budget', () => {
    const budget = openBudget({ ...DEFAULT_LIMITS, unpackedBytes: 10 });
    openZip(zip([text('a.txt', '123456')]), budget);
    assert.equal(budget.unpackedBytes, 4);
    assert.throws(() => openZip(zip([text('a.txt', '123456')]), budget), { name: 'OverLimit' });
  });
});

test('whatever is done to a zip, it is read or refused', () => {
  const honest = zip([text('a.txt', 'one'.repeat(50)), text('b.txt', 'two'), text('c/d.txt', '')]);
  const survive = (bytes: Uint8Array): void => {
    try {
      read(bytes);
    } catch (error) {
      assert.ok(error instanceof Refusal, String(error));
    }
  };
  const place = fc.integer({ min: 0, max: honest.length - 1 });
  fc.assert(
    fc.property(
      fc.array(fc.tuple(place, fc.integer({ min: 0, max: 255 })), { minLength: 1, maxLength: 6 }),
      (changes) => {
        const bytes = Buffer.from(honest);
        for (const [at, value] of changes) bytes[at] = value;
        survive(bytes);
      },
    ),
    { numRuns: 3_000 },
  );
  fc.assert(
    fc.property(place, place, (start, end) => survive(honest.subarray(Math.min(start, end), Math.max(start, end)))),
  );
});
