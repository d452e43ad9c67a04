import assert from 'node:assert/strict';
import path from 'node:path';
import { describe, test } from 'node:test';
import { cleanName } from '../../src/buckets/names.ts';
import { parseId } from '../../src/http/edge/body.ts';
import { isMediaName, mediaName, nameOfStored, readMediaName, slugOf, storedName } from '../../src/media/names.ts';
import { rangeWithin } from '../../src/stores/byte-range.ts';
import { segmentsOf } from '../../src/stores/file-path.ts';
import { property } from './cases.ts';
import { orRefusal } from './refusals.ts';

describe('names and paths', () => {
  test('an id is letters, digits, _ and -, or refused', async () => {
    await property(1_000, (random) => {
      const text = random.chance(0.3)
        ? random.many(random.between(1, 70), () => random.pick([...'aZ09_-'])).join('')
        : random.text();
      const id = orRefusal(() => parseId(text, 'id'));
      if (id === undefined) return;
      assert.equal(id, text);
      assert.match(id, /^[A-Za-z0-9_-]{1,64}$/);
    });
  });

  test('a stored path stays within its folder, or is refused', async () => {
    await property(1_000, (random) => {
      const text = random
        .many(random.between(1, 6), () => random.pick(['a', 'b.txt', '..', '.', '', 'c_1', random.text(3)]))
        .join(random.pick(['/', '\\', '%2f']));
      const segments = orRefusal(() => segmentsOf(text));
      if (segments === undefined) return;
      assert.equal(segments.join('/'), text);
      const place = path.resolve('/srv/files', text);
      assert.equal(place, `/srv/files/${text}`);
    });
  });

  test('the name of an upload or of kept media is one harmless segment', async () => {
    await property(1_000, (random) => {
      const given = random.text(30);
      const name = cleanName(given);
      if (name !== undefined) {
        assert.doesNotMatch(name, /[/\\\0\r\n"<>:|?*%]|^\.|^$/);
        assert.ok(Buffer.byteLength(name) <= 100, name);
      }
      assert.match(slugOf(given), /^(?:[\p{L}\p{M}\p{N}](?:[\p{L}\p{M}\p{N}_.,+-]*[\p{L}\p{M}\p{N}])?)?$/u);
      const medium = mediaName(1_700_000_000, { alt: given, tags: [random.text(3)] }, 'ab'.repeat(32), 'png');
      const stored = storedName(medium);
      assert.deepEqual(
        orRefusal(() => segmentsOf(`${stored}.webp`)),
        [`${stored}.webp`],
      );
      assert.equal(nameOfStored(stored), medium);
      assert.ok(isMediaName(medium));
      assert.deepEqual(readMediaName(medium), { seconds: 1_700_000_000, hash: 'ab'.repeat(8) });
    });
  });

  test('a range lies within its file, or is refused', async () => {
    await property(1_000, (random) => {
      const number = (): number => random.pick([0, 1, 5, 9, 10, 11, -1, 2 ** 53, 0.5, Number.NaN, random.below(20)]);
      const size = random.below(12);
      const range = orRefusal(() => rangeWithin({ start: number(), end: number() }, size));
      if (range === undefined) return;
      assert.ok(range.start >= 0 && range.end < size && range.start <= range.end);
    });
  });
});
