import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { asArguments } from '../core/tool-names.ts';
import { FreeformInput } from './freeform.ts';

/** Reads arguments that come in pieces of these lengths. */
function read(written: string, lengths: readonly number[] = []): { readonly text: string; readonly pieces: string[] } {
  const input = new FreeformInput();
  const pieces: string[] = [];
  let at = 0;
  for (const length of [...lengths, written.length]) {
    pieces.push(input.add(written.slice(at, at + length)));
    at += length;
  }
  pieces.push(input.end());
  return { text: pieces.join(''), pieces };
}

describe('the text of a freeform call', () => {
  test('is what the model wrote, however its arguments are cut', () => {
    fc.assert(
      fc.property(
        fc.string({
          unit: fc.oneof(
            fc.string({ unit: 'binary', minLength: 1, maxLength: 1 }),
            fc.constantFrom(...'"\\/\n\t{}u🙂'),
          ),
        }),
        fc.boolean(),
        fc.array(fc.integer({ min: 0, max: 5 })),
        (text, isAscii, lengths) => {
          const whole = asArguments(text);
          const written = isAscii
            ? whole.replace(/[^\x20-\x7e]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
            : whole;
          const { text: got, pieces } = read(written, lengths);
          assert.equal(got, text);
          // Clients decode piece by piece, and not all of them put halves together.
          if (text.isWellFormed()) for (const piece of pieces) assert.equal(piece.isWellFormed(), true);
        },
      ),
    );
  });

  test('comes as it is written', () => {
    const input = new FreeformInput();
    const pieces = ['{"in', 'put" : "', '*** Begin', ' Patch\\', 'n+ ', '\\ud83d', '\\ude42"', ' }'].map((piece) =>
      input.add(piece),
    );
    assert.deepEqual(pieces, ['', '', '*** Begin', ' Patch', '\n+ ', '', '🙂', '']);
    assert.equal(input.isOver, true);
    assert.equal(input.end(), '');
  });

  test('is over only when nothing of it can follow', () => {
    const input = new FreeformInput();
    assert.equal(input.isOver, false);
    input.add('{"input":"a\\"');
    assert.equal(input.isOver, false);
    input.add('"');
    assert.equal(input.isOver, true);
  });

  test('may hold what JSON does not allow in a string', () => {
    assert.equal(read('{"input":"a\nb\\d+\\z"}').text, 'a\nb\\d+\\z');
  });

  test('may be cut short', () => {
    assert.equal(read('{"input":"abc\\').text, 'abc');
    assert.equal(read('{"input":"abc\\u00').text, 'abc');
    assert.equal(read('{"input":"abc').text, 'abc');
    assert.equal(read('').text, '');
  });

  test('is everything where a model writes something else', () => {
    assert.equal(read('*** Begin Patch').text, '*** Begin Patch');
    assert.equal(read('{"patch":"a"}').text, '{"patch":"a"}');
    assert.equal(read('{"other":1,"input":"a"}').text, 'a');
    assert.equal(read('{"input":7}').text, '{"input":7}');
  });
});
