import assert from 'node:assert/strict';
import path from 'node:path';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { SluiceError } from '../core/errors.ts';
import { segmentsOf } from './file-path.ts';

const NAME = /^(?!\.)[A-Za-z0-9._+,=@-]{1,255}$/;
const character = fc.constantFrom(...'aZ9._+,=@-/\\%\0 é~:*');

describe('the path of a stored file', () => {
  test('whatever passes stays below its folder, on any system, and is read back as it was', () => {
    const paths = fc.oneof(fc.string(), fc.string({ unit: character, maxLength: 300 }), fc.string({ unit: 'binary' }));
    fc.assert(
      fc.property(paths, (name) => {
        let segments: readonly string[];
        try {
          segments = segmentsOf(name);
        } catch (error) {
          assert.ok(error instanceof SluiceError && error.code === 'invalid_request');
          const parts = name.split('/');
          assert.ok(parts.length > 5 || !parts.every((part) => NAME.test(part)), `refused for nothing: ${name}`);
          return;
        }
        assert.equal(segments.join('/'), name);
        for (const segment of segments) assert.match(segment, NAME);
        assert.ok(path.posix.resolve('/root', name).startsWith('/root/'));
        assert.ok(path.win32.resolve('C:\\root', name).startsWith('C:\\root\\'));
      }),
      { numRuns: 5_000 },
    );
  });
});
